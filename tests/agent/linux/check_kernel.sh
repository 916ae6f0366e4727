#!/bin/bash
# What the kernel of a test machine may lack, in a virtual machine with Debian's: link aggregates, whose
# members are sampled and whose load and matrix are their sums; a bridge that keeps addresses by VLAN,
# against `bridge fdb`; the eBPF taps at clsact, for want of tcx; flow control of a network card's
# driver. Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
[ -n "${EASE_IN_QEMU:-}" ] || { echo "SKIP kernel: needs Debian's kernel: tests/run --kernel"; exit 0; }
. "$(dirname "$0")/../../support/rig.sh"

# ---- the unit tests of the Linux device, as far as they are quick ----

unit() { # PROGRAM CASE
	local out
	out=$(CK_RUN_CASE=$2 CK_VERBOSITY=normal CK_TIMEOUT_MULTIPLIER=10 "$build/tests/agent/linux/$1" 2>&1)
	if echo "$out" | grep -q '^100%: Checks: [1-9]'; then
		pass "$1, $2"
	else
		fail "$1, $2" "$(echo "$out" | grep -E ':[FE]:|^[0-9]+%' | head -n 3)"
	fi
	echo "$out" | grep '^SKIP' | grep -v 'no tcx\|no tap'
}
if [ -x "$build/tests/agent/linux/check_linux" ]; then
	unit check_linux kernel # the taps' tests are check_psample's
else
	skip 'unit tests' 'they are not built'
fi

# ---- a link aggregate of two links to a host that talks ----

far() { nsenter -t "$far_pid" -n "$@"; }
unshare -n sleep infinity &
far_pid=$!
own=$(readlink /proc/self/ns/net)
is_apart() { [ "$(readlink "/proc/$far_pid/ns/net")" != "$own" ]; }
wait_for 5 is_apart
quiet='for i in all default; do echo 1 >/proc/sys/net/ipv6/conf/$i/disable_ipv6; done 2>/dev/null'
bash -c "$quiet"
far bash -c "$quiet"
bundle() { # NAME LINK...
	local name=$1 link
	shift
	ip link add "$name" type bond mode balance-rr miimon 100 || return 1
	for link; do ip link set "$link" down && ip link set "$link" master "$name" || return 1; done
	ip link set "$name" up
}
modprobe bonding max_bonds=0 2>/dev/null
for i in 1 2; do ip link add "p$i" type veth peer name "h$i" netns "$far_pid"; done
bundle lag p1 p2 || { fail 'an aggregate' 'it cannot be made'; exit 1; }
far bash -c "$(declare -f bundle); bundle lag h1 h2"
ip address add 10.9.0.1/24 dev lag
far ip address add 10.9.0.2/24 dev lag
ip neigh replace 10.9.0.2 dev lag lladdr "$(far ip -j link show lag | jq -r '.[0].address')"
far ip neigh replace 10.9.0.1 dev lag lladdr "$(ip -j link show lag | jq -r '.[0].address')"

rig_new
start_agent() {
	cat >"$rig/agent.conf" <<-END
		device = linux
		skip_by_speed = false
		mean_skip = 20
		max_samples_per_s = 0
		seed = 7
		counters_interval_s = 1
		trap_port = $trap_port
		agentx_socket = "unix:$rig/agentx/master"
		state_dir = "$rig/agent"
	END
	: >"$rig/agent.log"
	rig_agent_start
	wait_for 15 if_number && wait_for 5 quick_get 1.3.6.1.2.1.31.1.6.0
}
rig_collector && rig_snmpd && start_agent || { fail 'start' 'a daemon did not come up'; exit 1; }
expect 'taps are at clsact' "$(grep -c 'no sampling' "$rig/agent.log") $(tc qdisc show dev p1 | grep -c clsact)" '0 1'
index_of() { client snmpbulkwalk -Oqn "127.0.0.1:$agent_port" $if_x.1 | sed -n "s/^\.$if_x\.1\.\([0-9]*\) \"$1\"$/\1/p"; }
stack=1.3.6.1.2.1.31.1.2.1.3
lag=$(index_of lag) p1=$(index_of p1) p2=$(index_of p2)
layers() { client snmpbulkwalk -Oqn "127.0.0.1:$agent_port" $stack | sed "s/^\.$stack\.\([0-9.]*\) .*/\1/"; }
expect 'members lie below it' "$(layers | grep "^$lag\." | sort -n -t. -k2 | paste -sd' ')" "$lag.$p1 $lag.$p2"
expect 'and nothing else above them' "$(layers | grep -c "^[0-9]*\.\($p1\|$p2\)$")" 2
attached=1.2.840.10006.300.43.1.2.1.1.13
expect 'IEEE8023-LAG-MIB has the same' "$(client snmpbulkwalk -Oqn "127.0.0.1:$agent_port" $attached | sed "s/^\.$attached\.//" | paste -sd,)" "$p1 $lag,$p2 $lag"
expect 'it is an aggregate' "$(snmp_get 1.3.6.1.2.1.2.2.1.3."$lag")" 161
expect 'members are sampled, it is not' \
    "$(client snmpbulkwalk -Oqn "127.0.0.1:$agent_port" $ease.1.2.1.2 | sed 's/.*\.\([0-9]*\) .*/\1/' | grep "^\($lag\|$p1\|$p2\)$" | sort -n | paste -sd' ')" \
    "$p1 $p2"

frames=3000
far perl -MSocket -e 'socket(my $s, AF_INET, SOCK_DGRAM, 0); my $to = pack_sockaddr_in(9, inet_aton("10.9.0.1"));
    for (1 .. $ARGV[0]) { send($s, "x" x 200, 0, $to); select(undef, undef, undef, 0.002) }' $frames
came() { # all of them, in the table
	[ $(($(snmp_get $if_x.7."$p1") + $(snmp_get $if_x.7."$p2"))) -ge $frames ]
}
wait_for 10 came
counted() { ip -s -j link show "$1" | jq '.[0].stats64.rx.packets'; }
expect 'both carry' "$(($(counted p1) > frames / 3 && $(counted p2) > frames / 3))" 1
report_load() { easetop load --last all --format json >"$rig/load.json" 2>/dev/null; }
of_port() { jq -r ".rows[] | select(.port == \"$1\") | .$2" "$rig/load.json"; }
is_in_load() { report_load && [ "$(of_port lag rx_packets)" -ge $frames ]; }
if wait_for 15 is_in_load; then pass 'load shows it'; else fail 'load shows it' "$(cat "$rig/load.json")"; fi
beside_sum() { echo $(($(of_port lag "$1") - $(of_port p1 "$1") - $(of_port p2 "$1"))); } # each is rounded by itself
expect 'as the sum of its members' "$(of_port lag check)$(beside_sum rx_packets; beside_sum rx_octets)" \
    "sum of 2$(beside_sum rx_packets | grep -x -e '-\?[01]'; beside_sum rx_octets | grep -x -e '-\?[01]')"
expect 'frames are what the kernel counted' "$(of_port lag rx_packets)" "$(counted lag)"
expect 'what the kernel does not count is unknown' "$(of_port p1 broadcasts_per_s)" null
easetop matrix --layer ip --by pair --last all --port lag --format json >"$rig/matrix.json"
# One list in twenty may miss: of limits 1.6 times as wide one in some 500 does.
expect 'the matrix, too' "$(jq ".rows[] | select(.src == \"10.9.0.2\").packets |
    .estimate - 1.6 * (.estimate - .low) <= $frames and .estimate + 1.6 * (.high - .estimate) >= $frames" "$rig/matrix.json")" true

ip link set p1 nomaster
has_left() { ! layers | grep -q "^$lag\.$p1$"; }
if wait_for 5 has_left; then pass 'one that leaves is below nothing'; else fail 'one that leaves' "$(layers | paste -sd' ')"; fi
ip link add crew type team 2>/dev/null && ip link set p1 down && ip link set p1 master crew
crew=$(</sys/class/net/crew/ifindex) # the agent may not know it yet
has_joined() { layers | grep -q "^$crew\.$p1$"; }
if wait_for 5 has_joined; then pass 'a team is an aggregate'; else fail 'a team' "$(layers | paste -sd' ')"; fi
ip link set p1 nomaster
ip link delete crew

# ---- a bridge that keeps addresses by VLAN ----

ip link add br0 type bridge vlan_filtering 1 mcast_snooping 0
ip link set br0 up
ip link set lag nomaster
for i in 3 4; do
	ip link add "p$i" type veth peer name "h$i" netns "$far_pid"
	ip link set "p$i" master br0 up
	far ip link set "h$i" up
	bridge vlan delete dev "p$i" vid 1
	bridge vlan add dev "p$i" vid "${i}0" pvid untagged
done
for i in 3 4; do # one address in two VLANs, and one of each
	for mac in 02:00:00:00:00:01 "02:00:00:00:00:0$i"; do
		far ip link set "h$i" address "$mac"
		far ip address replace "10.$i.0.1/24" dev "h$i"
		far ip neigh replace "10.$i.0.2" dev "h$i" lladdr ff:ff:ff:ff:ff:ff
		far perl -MSocket -e 'socket(my $s, AF_INET, SOCK_DGRAM, 0);
		    send($s, "x", 0, pack_sockaddr_in(9, inet_aton($ARGV[0])))' "10.$i.0.2"
	done
done
bridge fdb add 02:77:00:00:00:01 dev p3 master static vlan 30
fdb=1.3.6.1.2.1.17.7.1.2.2.1
base_ports=1.3.6.1.2.1.17.1.4.1.2
base_of() { # INTERFACE: its dot1dBasePort; 0: it is none
	local number
	number=$(client snmpbulkwalk -Oqn "127.0.0.1:$agent_port" $base_ports | sed -n "s/^\.$base_ports\.\([0-9]*\) $(index_of "$1")$/\1/p")
	echo "${number:-0}"
}
addresses_served() { # VLAN.MAC port status, as the table of Q-BRIDGE-MIB has them
	client snmpbulkwalk -Oqn "127.0.0.1:$agent_port" $fdb.2 | sed "s/^\.$fdb\.2\.//" | sort >"$rig/fdb.ports"
	client snmpbulkwalk -Oqn "127.0.0.1:$agent_port" $fdb.3 | sed "s/^\.$fdb\.3\.//" | sort >"$rig/fdb.states"
	join "$rig/fdb.ports" "$rig/fdb.states"
}
addresses_shown() { # the same of `bridge fdb`, statuses learned(3), self(4), mgmt(5)
	bridge -j fdb show br br0 | jq -r '.[] | select((.flags // []) | index("self") | not) | select(.vlan) |
	    "\(.vlan) \(.mac) \(.ifname) \(if .state == "permanent" then 4 elif .state == "static" then 5 else 3 end)"' |
	    while read -r vlan mac name state; do
		echo "$vlan.$(printf '%d.%d.%d.%d.%d.%d' $(echo "0x${mac//:/ 0x}")) $(base_of "$name") $state"
	done | sort
}
same_addresses() { addresses_served >"$rig/served"; addresses_shown >"$rig/shown"; cmp -s "$rig/served" "$rig/shown"; }
if wait_for 10 same_addresses; then
	pass "$(grep -c . "$rig/shown") addresses by VLAN are what bridge shows"
else
	fail 'addresses by VLAN' "$(diff "$rig/served" "$rig/shown" | head -n 6 | paste -sd' ')"
fi
expect 'one of them in two VLANs' "$(grep -c '^[34]0\.2\.0\.0\.0\.0\.1 .* 3$' "$rig/served")" 2
client snmpset "127.0.0.1:$agent_port" 1.3.6.1.2.1.17.5.1.1.3.2.0.0.0.0.9.0 x \
    "$(perl -e 'my $n = shift; print unpack("H*", pack("B*", "0" x ($n - 1) . "1" . "0" x (7 - ($n - 1) % 8)))' "$(base_of p4)")" \
    1.3.6.1.2.1.17.5.1.1.4.2.0.0.0.0.9.0 i 3 >/dev/null
expect 'an address tied by a manager' "$(bridge fdb show dev p4 | grep -c '^02:00:00:00:00:09.* static')" "$(bridge -j vlan show dev p4 | jq '.[0].vlans | length + 1')"
if wait_for 10 same_addresses; then pass 'is served in its VLAN'; else fail 'is served' "$(diff "$rig/served" "$rig/shown" | head -n 6 | paste -sd' ')"; fi
client snmpset "127.0.0.1:$agent_port" 1.3.6.1.2.1.17.5.1.1.4.2.0.0.0.0.9.0 i 2 >/dev/null
expect 'and let go' "$(bridge fdb show | grep -c '^02:00:00:00:00:09')" 0

# ---- a network card, whose driver has flow control ----

modprobe e1000e
card=$(basename "$(ls -d /sys/class/net/*/device | head -n 1 | xargs dirname)")
refusal() { client snmpset "127.0.0.1:$agent_port" "$@" 2>&1 | sed -n 's/^Reason: \([a-zA-Z]*\).*/\1/p'; }
says() { ethtool -a "$card" | sed -n 's/^\(RX\|TX\):[[:space:]]*//p' | paste -sd' '; }
pause=1.3.6.1.2.1.10.7.10.1
is_served() { [ -n "$(index_of "$card")" ]; }
if [ -n "$card" ] && ip link set "$card" up && wait_for 10 is_served; then
	card_index=$(index_of "$card")
	is_mode() { [ "$(snmp_get $pause.1."$card_index" $pause.2."$card_index" | paste -sd' ')" = "$1 $1" ]; }
	ethtool -A "$card" autoneg off rx on tx off
	if wait_for 5 is_mode 3; then pass 'the driver tells flow control'; else fail 'flow control' "$(snmp_get $pause.1."$card_index")"; fi
	expect 'and duplex' "$(snmp_get 1.3.6.1.2.1.10.7.2.1.19."$card_index")" 3
	expect 'flow control is set' "$(refusal $pause.1."$card_index" i 4)$(says)" 'on on'
	expect 'and off' "$(refusal $pause.1."$card_index" i 1)$(says)" 'off off'
	ethtool -A "$card" autoneg on # and this driver then sets what it likes
	before=$(says)
	expect 'a driver that stays as it is' "$(refusal $pause.1."$card_index" i 1) $(says)" "commitFailed $before"
	expect 'what it does not count is absent' \
	    "$(client snmpwalk -Oqn "127.0.0.1:$agent_port" 1.3.6.1.2.1.16.1 | grep -c "\.$card_index ")" 0
else
	skip 'flow control' 'no network card'
fi
rig_agent_stop
expect 'nothing is left in the kernel' "$(tc qdisc show | grep -c clsact)" 0
kill "$far_pid"
exit $failed
