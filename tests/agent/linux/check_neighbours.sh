#!/bin/bash
# Others at the same master: lldpd's LLDP-MIB, FRR's routes (zebra, IP-FORWARD-MIB) and snmpd's own IP-MIB name
# interfaces by the same ifIndex as ours, each is seen beside the others, in any order of starting, and each comes
# back after the master's restart. In a network namespace of the test's own. Needs root. Prints PASS, FAIL or
# SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../../support/rig.sh"
rig_namespace "$@" || { skip 'all' 'no network namespace can be made'; exit 0; }

lldpd_pid='' zebra_pid=''
trap 'rig_end "$lldpd_pid"; rig_end "$zebra_pid"; rig_stop; rm -rf "$rig"' EXIT

ip link add p1 type veth peer name p2 && ip link set p1 up && ip link set p2 up
ip link add br0 type bridge && ip link set br0 up
ip link delete br0 # so that the numbers have a gap
ip link add p3 type veth peer name p4 && ip link set p3 up && ip link set p4 up
ip address add 192.0.2.1/24 dev p3

rig_new
sed -i 's/^agentXPerms .*/agentXPerms 0777 0777/' "$rig/snmpd.conf"
chmod 755 "$rig" "$rig/agentx"
rig_linux_config
start_lldpd() { # it wants its directory for its privileged half
	mkdir -p /run/lldpd
	lldpd -d -x -X "$rig/agentx/master" -u "$rig/lldpd.socket" -I 'p*' >>"$rig/lldpd.log" 2>&1 &
	lldpd_pid=$!
	disown "$lldpd_pid"
}
zebra=$(command -v zebra || echo /usr/lib/frr/zebra)
start_zebra() { # it finds the master as Net-SNMP's clients do, and as user root it need not leave root
	mkdir -p "$rig/frr"
	echo "agentXSocket unix:$rig/agentx/master" >"$rig/client/frr.conf"
	printf 'agentx\nip route 198.51.100.0/24 p3\n' >"$rig/frr/zebra.conf"
	"$zebra" -M snmp -u root -g root -f "$rig/frr/zebra.conf" -i "$rig/frr/zebra.pid" -z "$rig/frr/zserv" \
	    --vty_socket "$rig/frr" -P 0 -A 127.0.0.1 >>"$rig/zebra.log" 2>&1 &
	zebra_pid=$!
	disown "$zebra_pid"
}

# ---- what each says ----

lldp_descr=1.0.8802.1.1.2.1.3.7.1.4 route_port=1.3.6.1.2.1.4.24.4.1.5 address_port=1.3.6.1.2.1.4.20.1.2
cells() { client snmpbulkwalk -Oqn "127.0.0.1:$agent_port" "$1" 2>/dev/null | sed "s/^\.$1\.//"; }
ours() { cells $if_x.1 | grep -v '"lo"' | sort; } # ifIndex and ifName; the loopback is no port
theirs() { cells $lldp_descr | sed 's/^[0-9]*\.//' | sort; } # lldpLocPortDesc, by lldpLocPortNum
kernels() { ip -o link | sed -nE 's/^([0-9]+): (p[0-9])@.*/\1 "\2"/p' | sort; }
ours_are_there() { [ "$(ours)" = "$(kernels)" ]; }
lldp_is_there() { [ "$(theirs)" = "$(kernels)" ]; }
connected_route() { cells $route_port | sed -n 's/^192\.0\.2\.0\..* \([0-9]*\)$/\1/p' | head -n 1; }
route_is_there() { [ -n "$(connected_route)" ]; }
all_are_told() { # WHEN
	if wait_for 20 ours_are_there; then pass "$1: our ports have the kernel's numbers"; else
		fail "$1: our ports have the kernel's numbers" "$(ours | paste -sd' ') instead of $(kernels | paste -sd' ')"
	fi
	if [ -n "$lldpd_pid" ]; then
		if wait_for 40 lldp_is_there; then pass "$1: lldpd names the same ports"; else
			fail "$1: lldpd names the same ports" "$(theirs | paste -sd' ') instead of $(ours | paste -sd' ')"
		fi
	fi
	if [ -n "$zebra_pid" ]; then
		if wait_for 40 route_is_there; then
			expect "$1: FRR's route leaves by that port of ours" "$(snmp_get $if_x.1."$(connected_route)")" '"p3"'
		else
			fail "$1: FRR's route leaves by that port of ours" 'no route'
		fi
	fi
	expect "$1: snmpd's address is at that port of ours" \
	    "$(snmp_get $if_x.1."$(snmp_get $address_port.192.0.2.1)")" '"p3"'
}

rig_snmpd || { fail 'start' 'snmpd did not come up'; exit 1; }
if command -v lldpd >/dev/null; then start_lldpd; else skip 'lldpd' 'it is not installed (package lldpd)'; fi
if [ -x "$zebra" ] && ls /usr/lib/*/frr/modules/zebra_snmp.so >/dev/null 2>&1; then start_zebra; else
	skip 'FRR' 'it is not installed (packages frr, frr-snmp)'
fi
rig_agent_start
all_are_told 'ours last'
expect 'each module once in sysORTable, ours and lldpd'"'"'s' "$(client snmpbulkwalk -Oqv "127.0.0.1:$agent_port" 1.3.6.1.2.1.1.9.1.3 |
    grep -cE 'EASE-SAMPLING-MIB|"IF-MIB \(RFC 2863\)|lldpMIB')" "$([ -n "$lldpd_pid" ] && echo 3 || echo 2)"

rig_agent_stop
if [ -n "$lldpd_pid" ]; then expect 'lldpd stays when ours ends' "$(theirs)" "$(kernels)"; fi
rig_agent_start
all_are_told 'ours again'

rig_end "$snmpd_pid" KILL
rig_snmpd || fail 'restart' 'snmpd did not come up'
all_are_told 'the master again'
expect 'no table was refused' "$(grep -c 'already served' "$rig/agent.log")" 0
exit $failed
