#!/bin/bash
# VLANs as a management station sees them (dot1qVlanCurrentTable, dot1qVlanStaticTable, dot1qPortVlanTable of
# RFC 4363), walked with snmpwalk: those of the dummy device against the rule by which it makes them
# (agent/sim/dummy.h), and those of a VLAN-aware bridge of this kernel against what `bridge vlan` shows. Nothing
# of it can be set. The kernel's part needs root and CONFIG_BRIDGE_VLAN_FILTERING. Prints PASS, FAIL or SKIP lines;
# exit 1 if one failed.
. "$(dirname "$0")/../support/rig.sh"
rig_namespace "$@"

dot1q=1.3.6.1.2.1.17.7.1.4
walk() { client snmpwalk -Oqnx "127.0.0.1:$agent_port" "$dot1q.$1" | sed "s/^\.$dot1q\.$1\.//; s/\"//g; s/ *$//"; }
start_agent() { # LINE...
	printf '%s\n' "agentx_socket = \"unix:$rig/agentx/master\"" "state_dir = \"$rig/agent\"" 'run_as = root' "$@" >"$rig/agent.conf"
	rig_agent_start
	wait_for 15 if_number && wait_for 5 quick_get $dot1q.1.0 && wait_for 5 has_ports
}
has_ports() { [ -n "$(walk 5.1.2)" ]; }
# VLAN: PORT... : a PortList as snmpwalk -Ox shows it, for 20 ports
port_lists() { # of "VLAN PORT" lines
	awk '{ member[$1, $2] = 1; vlans[$1] = 1 }
	    END { for (v in vlans) { line = v; for (o = 0; o < 3; o++) { x = 0; for (b = 0; b < 8; b++) x = 2 * x + ((v, 8 * o + b + 1) in member); line = line sprintf(" %02X", x) } print line } }' | sort -n
}

# ---- the dummy device: 20 ports, 5 VLANs ----

reason() { client snmpset "127.0.0.1:$agent_port" "$@" 2>&1 | sed -n 's/^Reason: \([a-zA-Z]*\).*/\1/p'; }
dummy_vlans() {
	local port pvid vlan
	rig_new
	rig_snmpd && start_agent 'device = dummy' 'dummy_ports = 20' 'dummy_addresses = 40' 'dummy_vlans = 5' ||
	    { fail 'start' 'a daemon did not come up'; exit 1; }
	for port in {1..20}; do
		pvid=$(((port - 1) % 5 + 1))
		echo "$pvid $port" >>"$rig/untagged"
		echo "$port $pvid" >>"$rig/pvid"
		for vlan in {1..5}; do
			if [ "$vlan" = "$pvid" ] || [ $((port % 2)) = 0 ]; then echo "$vlan $port"; fi
		done >>"$rig/egress"
	done
	expect 'PVIDs' "$(walk 5.1.1)" "$(cat "$rig/pvid")"
	expect 'egress ports, current' "$(walk 2.1.4 | sed 's/^[0-9]*\.//')" "$(port_lists <"$rig/egress")"
	expect 'untagged ports, current' "$(walk 2.1.5 | sed 's/^[0-9]*\.//')" "$(port_lists <"$rig/untagged")"
	expect 'egress ports, static' "$(walk 3.1.2)" "$(port_lists <"$rig/egress")"
	expect 'untagged ports, static' "$(walk 3.1.4)" "$(port_lists <"$rig/untagged")"
	expect 'no port is forbidden' "$(walk 3.1.3 | cut -d' ' -f2- | sort -u)" '00 00 00'
	expect 'rows are active' "$(walk 3.1.5 | paste -sd' ' )" '1 1 2 1 3 1 4 1 5 1'
	expect 'each port takes all frames, and filters' "$(walk 5.1.2 | cut -d' ' -f2 | sort -u) $(walk 5.1.3 | cut -d' ' -f2 | sort -u)" '1 1'
	expect 'the FDB of a VLAN has its number' "$(walk 2.1.3 | sed 's/^[0-9]*\.//' | paste -sd' ')" '1 1 2 2 3 3 4 4 5 5'
	expect 'addresses are in the VLANs of their ports' \
	    "$(client snmpwalk -Oqn "127.0.0.1:$agent_port" 1.3.6.1.2.1.17.7.1.2.2.1.2 | sed 's/.*\.17\.7\.1\.2\.2\.1\.2\.//; s/\.[^ ]*//' | awk '{ print $1, ($2 - 1) % 5 + 1 }' | awk '$1 != $2' | wc -l)" 0
	expect 'VLANs are five' "$(snmp_get 1.3.6.1.2.1.17.7.1.1.4.0)" 5
	expect 'nothing can be set' "$(reason $dot1q.5.1.1.3 u 2) $(reason $dot1q.3.1.2.1 x FF0000) $(reason $dot1q.3.1.5.2 i 6)" \
	    'notWritable notWritable notWritable'
	rig_agent_stop
}
if rig_has_sim; then dummy_vlans; else skip 'the dummy device' 'this build has none'; fi

# ---- a bridge of this kernel ----

if [ "${1:-}" != inside ]; then skip 'the kernel'\''s bridge' 'no network namespace can be made'; exit $failed; fi
if ! why=$(ip link add br0 type bridge vlan_filtering 1 2>&1) || ! ip -d link show dev br0 | grep -q 'vlan_filtering 1'; then
	skip 'the kernel'\''s bridge' "this kernel makes no VLAN-aware bridge (${why:-no vlan_filtering})"
	exit $failed
fi
command -v bridge >/dev/null || { skip 'the kernel'\''s bridge' 'bridge (iproute2) is not there'; exit $failed; }
for i in 1 2 3; do
	ip link add "p$i" type veth peer name "h$i"
	ip link set "p$i" master br0 up
	ip link set "h$i" up
done
ip link set br0 up
bridge vlan add dev p1 vid 10-20
bridge vlan add dev p2 vid 30 pvid untagged
bridge vlan del dev p2 vid 1
bridge vlan del dev p3 vid 1
bridge vlan add dev p3 vid 30
start_agent 'device = linux' || { fail 'start over Linux' 'the agent did not come up'; exit 1; }
base_of() { # INTERFACE: its dot1dBasePort
	client snmpbulkwalk -Oqn "127.0.0.1:$agent_port" 1.3.6.1.2.1.17.1.4.1.2 | sed -n "s/.*\.\([0-9]*\) $(ip -o link show dev "$1" | cut -d: -f1)$/\1/p"
}
# "VLAN PORT", of what `bridge vlan` has for ports; with a flag: of those that have it
by_bridge() { # [FLAG]
	bridge -j vlan show | jq -r --arg flag "${1:-}" '.[] | select(.ifname != "br0") | .ifname as $n | .vlans[] |
	    select($flag == "" or ((.flags // []) | index($flag))) | range(.vlan; (.vlanEnd // .vlan) + 1) | "\(.) \($n)"' |
	    while read -r vlan name; do echo "$vlan $(base_of "$name")"; done | sort -n
}
by_walk() { # COLUMN: the bits of each PortList
	walk "$1" | while read -r vlan octets; do
		port=1
		for octet in $octets; do
			for ((bit = 128; bit; bit /= 2, port++)); do
				[ $((16#$octet & bit)) = 0 ] || echo "$vlan $port"
			done
		done
	done | sort -n
}
is_same() { [ "$(by_walk 3.1.2)" = "$(by_bridge)" ]; }
if wait_for 5 is_same; then pass 'egress ports are those of bridge vlan'; else fail 'egress ports' "$(by_walk 3.1.2 | diff - <(by_bridge) | head -4)"; fi
expect 'untagged ports' "$(by_walk 3.1.4)" "$(by_bridge 'Egress Untagged')"
expect 'PVIDs' "$(walk 5.1.1 | awk '{ print $2, $1 }' | sort -n)" "$(by_bridge PVID)"
expect 'a port without a PVID takes tagged frames alone' "$(snmp_get "$dot1q.5.1.2.$(base_of p3)")" 2
bridge vlan add dev p3 vid 40 pvid
if wait_for 5 is_same; then pass 'a change shows'; else fail 'a change shows' "$(by_walk 3.1.2 | diff - <(by_bridge) | head -4)"; fi
ip link set br0 type bridge vlan_filtering 0
one_vlan() { [ "$(walk 3.1.5)" = '1 1' ]; }
if wait_for 5 one_vlan; then pass 'without filtering there is one VLAN'; else fail 'without filtering there is one VLAN' "$(walk 3.1.5)"; fi
exit $failed
