#!/bin/bash
# Others at the same master: lldpd's LLDP-MIB, FRR's routes (zebra, IP-FORWARD-MIB) and snmpd's own IP-MIB name
# interfaces by the same ifIndex as ours, each is seen beside the others, in any order of starting, and each comes
# back after the master's restart. In a network namespace of the test's own. Needs root. Prints PASS, FAIL or
# SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../../support/rig.sh"
rig_namespace "$@" || { skip 'all' 'no network namespace can be made'; exit 0; }

lldpd_pid='' zebra_pid='' other_pid=''
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
echo "lldpd_socket = \"$rig/lldpd.socket\"" >>"$rig/agent.conf" # asked as well; while lldpd serves LLDP-MIB itself, ours is not seen
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
# ---- lldpd that is no subagent: whom it hears is ours to tell, by its own client ----

if [ -z "$lldpd_pid" ]; then skip 'neighbours' 'lldpd is not installed'; else
rig_end "$lldpd_pid"
ip netns add "neighbour$$" # the switch at the other end, with an lldpd of its own
trap 'rig_end "$other_pid"; rig_end "$lldpd_pid"; rig_end "$zebra_pid"; rig_stop; ip netns delete "neighbour$$"; rm -rf "$rig"' EXIT
ip link set p2 netns "neighbour$$"; ip link set p4 netns "neighbour$$"
there() { ip netns exec "neighbour$$" "$@"; }
there ip link set p2 up; there ip link set p4 up
lldpd -d -u "$rig/lldpd.socket" -I 'p*' >>"$rig/lldpd.log" 2>&1 &
lldpd_pid=$!
there lldpd -d -u "$rig/other.socket" -I 'p*' >>"$rig/other.log" 2>&1 &
other_pid=$!
disown "$lldpd_pid" "$other_pid"
other() { lldpcli -u "$rig/other.socket" "$@"; }
wait_for 10 test -S "$rig/lldpd.socket" -a -S "$rig/other.socket"
other configure system hostname 'spine "one"' >/dev/null
other configure ports p4 lldp portidsubtype local 'uplink 7' >/dev/null
says_closed() { grep -q 'lldpd.socket is not open to this process' "$rig/agent.log"; }
wait_for 10 says_closed && pass 'a socket that is not open is told' || fail 'a socket that is not open is told' "$(tail -n 2 "$rig/agent.log")"
rig_agent_stop
with_groups='setpriv --groups adm,_lldpd' # who may run lldpcli, and who may use the socket; the agent has no capability to pass by
rig_agent_start $with_groups
for socket in lldpd other; do lldpcli -u "$rig/$socket.socket" resume >/dev/null; lldpcli -u "$rig/$socket.socket" update >/dev/null; done
lldp=1.0.8802.1.1.2.1
hears_two() { [ "$(lldpcli -u "$rig/lldpd.socket" -f json0 show neighbors | jq '.lldp[0].interface | length')" = 2 ]; }
wait_for 40 hears_two || fail 'neighbours' "lldpd hears nobody: $(tail -n 2 "$rig/lldpd.log")"
told() { [ "$(cells $lldp.4.1.1.9 | grep -c 'spine')" = 2 ]; } # lldpd may have sent the machine's name first
wait_for 75 told && pass 'two neighbours' || fail 'two neighbours' "$(cells $lldp.4)"
mac_of() { tr ':' ' ' <<<"$1" | tr a-f A-F; }
number_of() { ip -o link show "$1" | cut -d: -f1; }
chassis=$(other -f json0 show chassis | jq -r '."local-chassis"[0].chassis[0].id[0].value')
expect 'neighbours are who lldpd hears: port, chassis, name' \
    "$(cells $lldp.4.1.1.5 | sed 's/^0\.\([0-9]*\)\.[0-9]* /\1 /'; cells $lldp.4.1.1.9 | sed 's/^0\.\([0-9]*\)\.[0-9]* /\1 /')" \
    "$(for part in "\"$(mac_of "$chassis") \"" '"spine \"one\""'; do printf '%s %s\n' "$(number_of p1)" "$part" "$(number_of p3)" "$part"; done)"
expect 'and what their ports are called' "$(cells $lldp.4.1.1.7 | sed 's/^0\.[0-9.]* //')" \
    "$(printf '%s\n' "\"$(mac_of "$(there cat /sys/class/net/p2/address)") \"" '"uplink 7"')"
own=$(lldpcli -u "$rig/lldpd.socket" -f json0 show chassis | jq -r '."local-chassis"[0].chassis[0].id[0].value')
expect 'this machine, and its ports' "$(snmp_get $lldp.3.2.0) $(cells $lldp.3.7.1.4 | paste -sd' ')" \
    "\"$(mac_of "$own") \" $(number_of p1) \"p1\" $(number_of p3) \"p3\""
other configure ports p4 lldp portidsubtype local 'uplink 8' >/dev/null
other update >/dev/null
renamed() { cells $lldp.4.1.1.7 | grep -q '"uplink 8"'; }
wait_for 12 renamed && pass 'a change is told' || fail 'a change is told' "$(cells $lldp.4.1.1.7)"
# A client that never ends costs a counted failure, and nothing else.
mkdir "$rig/bin"
printf '#!/bin/sh\nexec sleep 1000\n' >"$rig/bin/lldpcli" && chmod 755 "$rig/bin/lldpcli"
rig_agent_stop
PATH=$rig/bin:$PATH rig_agent_start $with_groups
gave_up() { grep -q 'lldpcli -f json0 show interfaces: Connection timed out' "$rig/agent.log"; }
wait_for 30 gave_up && pass 'a client that hangs is given up after ten seconds' || fail 'a client that hangs is given up' "$(tail -n 3 "$rig/agent.log")"
nobody_left() { ! pgrep -P "$agent_pid" >/dev/null; }
wait_for 5 nobody_left && pass 'and no process of it stays' || fail 'and no process of it stays' "$(pgrep -a -P "$agent_pid")"
rig_end "$lldpd_pid"
start_lldpd
serves() { snmp_get $lldp.3.4.0 | grep -q '^"'; } # lldpLocSysDesc, which ours has not
wait_for 10 serves && pass 'lldpd serves it again: ours is not seen' || fail 'lldpd serves it again' "$(cells $lldp.3)"
fi

expect 'no table was refused' "$(grep -c 'already served' "$rig/agent.log")" 0
exit $failed
