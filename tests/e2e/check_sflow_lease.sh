#!/bin/bash
# A switch of another make (sflow_switch.py behind a real snmpd) whose sampling the collector begins, steers and ends by
# SFLOW-MIB: it has no sFlow configured; a goal stands in easecapd.conf. Some seven minutes of real time. Prints PASS, FAIL
# or SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../support/rig.sh"
command -v python3 >/dev/null || { skip all 'python3 is not there'; exit 0; }
rig_new
sflow_port=$(free_port)
mib=1.3.6.1.4.1.14706.1.1
echo "pass_persist .$mib $(command -v python3) $top/tests/e2e/sflow_switch.py $rig/state" >>"$rig/snmpd.conf"
printf '%s\n' "sflow_listen = {\"127.0.0.1:$sflow_port\"}" 'precision = {"top 2 of each port within 20% every 1m"}' \
    'precision_owner = "station"' >>"$rig/collector.conf"
steer() { # AGENTS: the section
	echo "steer \"others\" { agents = {\"$1\"} port = $agent_port community = \"demo\" sflow_to = \"127.0.0.1:$sflow_port\" sflow_skip = 2000 }"
}
state() { jq -r "$1" "$rig/state" 2>/dev/null; }
rates() { state '[.samplers[].rate | tostring] | join(" ")'; }
set_object() { client snmpset "127.0.0.1:$agent_port" "$mib.$1" "$2" "$3" >/dev/null; }
source_of() { echo "11.1.3.6.1.2.1.2.2.1.1.$1.1"; }
events() { easetop events --last 1h --top 1000 --format json | jq -r '.rows[] | select(.event == "precision") | "\(.port // "-") \(.text)"'; }

cp "$rig/collector.conf" "$rig/networks.conf"
steer 127.0.0.0/8 >>"$rig/networks.conf"
"$build/collector/easecapd" -c "$rig/networks.conf" --check >"$rig/networks.out" 2>&1
expect 'a network is no switch' "$? $(grep -c 'each must be a single address' "$rig/networks.out")" '1 1'
steer 127.0.0.1 >>"$rig/collector.conf"

rig_snmpd || fail 'snmpd' 'it does not answer'
client snmpget -Oqv "127.0.0.1:$agent_port" "$mib.4.1.2.1" >/dev/null # snmpd begins the switch with the first question
# What an operator has set up: a receiver, and the third port.
set_object 4.1.2.1 s console
set_object 4.1.3.1 i 100000
set_object "5.1.3.$(source_of 3)" i 1
set_object "5.1.4.$(source_of 3)" i 777
is_set_up() { [ "$(rates)" = '0 0 777 0' ]; }
wait_for 10 is_set_up || fail 'the switch' "$(rates)"

rig_collector || fail 'the collector' 'it does not listen'
is_begun() { [ "$(rates)" = '2000 2000 777 2000' ]; }
wait_for 20 is_begun || fail 'what nobody samples is sampled' "$(rates)"
expect 'a free receiver is taken, and sends to us' "$(state '"\(.owners[1]) \(.to[1]) \(.ports[1])"')" "station 127.0.0.1 $sflow_port"
expect "what is somebody else's is left" "$(state '"\(.owners[0]) \(.samplers[2].receiver)"')" 'console 1'
is_heard() { [ "$(easetop talkers --last 5m --format json | jq .samples)" -gt 0 ]; }
wait_for 30 is_heard || fail 'its samples come' "$(events | head -3)"
is_finer() { local first; first=$(state '.samplers[0].rate'); [ "$first" -gt 0 ] && [ "$first" -lt 2000 ]; }
wait_for 170 is_finer || fail 'a goal makes the rate finer' "$(rates)"
expect 'and still leaves what is not ours' "$(state '.samplers[2].rate')" 777
is_told() { events | grep -q "^if1 skip 2000 to $(state '.samplers[0].rate'): wanted$"; }
wait_for 20 is_told || fail 'the event' "$(events | head -5)"
is_shown() { easetop precision --format json | jq -e '.rows[] | select(.port == "if1" and .skip_in_force < 2000)' >/dev/null; }
wait_for 20 is_shown || fail 'the report' "$(easetop precision)"
expect 'shares are right beside a rate that moved' "$(easetop talkers --last 2m --filter 'if if1' --sort packets --format json |
    jq '.rows[0].src == "10.0.1.1" and (.rows[0].packets.estimate / .totals.packets | . > 0.3 and . < 0.5)')" true
# SIGHUP without goals gives all back; with them again it is taken, and follows them.
is_over() { [ "$(state '"\(.owners[1])"') $(rates)" = ' 0 0 777 0' ]; }
goals=$(grep '^precision = ' "$rig/collector.conf")
sed -i 's/^precision = .*/precision = {}/' "$rig/collector.conf"
kill -HUP "$collector_pid"
wait_for 20 is_over || fail 'without goals it is given back' "$(state '.owners | join(",")') $(rates)"
sed -i "s/^precision = .*/$goals/" "$rig/collector.conf"
kill -HUP "$collector_pid"
is_sampled() { [ "$(rates | cut -d' ' -f3)" = 777 ] && ! rates | grep -q '\<0\>'; }
wait_for 20 is_sampled || fail 'with goals it is taken again' "$(rates)"
sleep 110 # its samplers are read again
wait_for 170 is_finer || fail 'and follows them' "$(rates)"
rig_end "$collector_pid"
collector_pid=''
wait_for 5 is_over || fail 'a stop ends what it began' "$(state '.owners | join(",")') $(rates)"
expect 'a stop ends what it began, and nothing else' "$(state '.owners[0]') $(rates)" 'console 0 0 777 0'
expect 'nothing was refused' "$(sqlite3 -batch "$rig/ease.db" "SELECT value FROM stat WHERE name = 'precision.refused'")" 0
exit $failed
