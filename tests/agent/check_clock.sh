#!/bin/bash
# The machine's clock is set back an hour, forward a day and right again while the agent samples traffic on
# Linux: samples, counters, states, RMON's alarms and SETs go on each time. In a network namespace of the
# test's own; the agent alone sees the clock that is set (clock_set.c). Needs root. Prints PASS, FAIL or
# SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../support/rig.sh"
rig_namespace "$@" || { skip 'all' 'no network namespace can be made'; exit 0; }
rig_new
"${CC:-cc}" -D_GNU_SOURCE -shared -fPIC -o "$rig/clock_set.so" "$top/tests/agent/clock_set.c" -ldl || { fail 'start' 'clock_set.c'; exit 1; }
set_clock() { perl -e 'print pack("q", $ARGV[0])' -- "$1" 1<>"$rig/ahead"; } # SECONDS that it is ahead
set_clock 0

ip link add p1 type veth peer name p2 && ip link set p1 up && ip link set p2 up
ip address add 10.9.9.1/24 dev p1
ip neighbour add 10.9.9.2 lladdr 02:00:00:00:00:02 dev p1
snmptrapd -f -Lo -On -C -c /dev/null --disableAuthorization=yes "udp:127.0.0.1:$trap_port" >"$rig/traps" 2>&1 &
traps_pid=$!
disown "$traps_pid"
(exec 3<> <(:); while :; do echo load >/dev/udp/10.9.9.2/9; read -rt 0.002 -u 3; done) 2>/dev/null & # until it is killed
load_pid=$!
disown "$load_pid"
trap 'kill "$load_pid" "$traps_pid" 2>/dev/null; rig_stop; rm -rf "$rig"' EXIT

printf 'device = linux\nmean_skip = 10\nskip_by_speed = off\ncounters_interval_s = 1\nstate_interval_s = 10\nagentx_socket = "unix:%s/agentx/master"\nstate_dir = "%s/agent"\nrun_as = root\n' \
    "$rig" "$rig" >"$rig/agent.conf"
rig_snmpd || { fail 'start' 'snmpd did not come up'; exit 1; }
before='' # a sanitizer's library wants to be the first
! grep -q __asan_init "$build/agent/easeagentd" || before=$("${CC:-cc}" -print-file-name=libasan.so):
CLOCK_SET_FILE=$rig/ahead LD_PRELOAD=$before$rig/clock_set.so rig_agent_start
wait_for 15 if_number || { fail 'start' 'the agent did not come up'; exit 1; }
p1=$(client snmpbulkwalk -Oqn "127.0.0.1:$agent_port" $if_x.1 | sed -n "s/^\.$if_x\.1\.\([0-9]*\) \"p1\"$/\1/p")

# An alarm compares what p1 has sent every second; its value is the latest reading.
alarm=1.3.6.1.2.1.16.3.1.1
client snmpset "127.0.0.1:$agent_port" $alarm.12.1 i 2 $alarm.2.1 i 1 $alarm.3.1 o 1.3.6.1.2.1.2.2.1.16."$p1" \
    $alarm.4.1 i 1 $alarm.7.1 i 2000000000 $alarm.8.1 i 0 $alarm.9.1 i 0 $alarm.10.1 i 0 $alarm.11.1 s test >/dev/null
client snmpset "127.0.0.1:$agent_port" $alarm.12.1 i 1 >/dev/null
alarm_value() { snmp_get $alarm.5.1; }
traps() { grep -cE "\.1\.3\.6\.1\.6\.3\.1\.1\.4\.1\.0 = OID: \.$ease\.0\.$1([^0-9]|\$)" "$rig/traps"; }
grew() { [ "$(traps "$1")" -gt $(($2 + 2)) ]; }
compared() { [ "$(alarm_value)" -gt "$1" ]; }
samples=1 counters=2 states=3
sampled=1
wait_for 5 grew $samples 0 || { sampled=''; skip 'samples' 'nothing is sampled here'; }

goes_on() { # WHAT
	local before
	if [ -n "$sampled" ]; then
		before=$(traps $samples)
		if wait_for 5 grew $samples "$before"; then pass "$1: samples"; else fail "$1: samples" "$(traps $samples), before $before"; fi
	fi
	before=$(traps $counters)
	if wait_for 8 grew $counters "$before"; then pass "$1: counters"; else fail "$1: counters" "$(traps $counters), before $before"; fi
	before=$(alarm_value)
	if wait_for 5 compared "$before"; then pass "$1: alarms"; else fail "$1: alarms" "$(alarm_value), before $before"; fi
	before=$(traps $states)
	if wait_for 40 grew $states $((before - 2)); then pass "$1: states"; else fail "$1: states" "$(traps $states), before $before"; fi
	client snmpset "127.0.0.1:$agent_port" $if_x.18."$p1" s "$1" >/dev/null
	expect "$1: a SET" "$(snmp_get $if_x.18."$p1")" "\"$1\""
}
goes_on 'at first'
set_clock -3600
goes_on 'back an hour'
set_clock 86400
goes_on 'forward a day'
set_clock 0
goes_on 'right again'
rig_agent_stop
exit $failed
