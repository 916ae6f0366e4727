#!/bin/bash
# The bridge over a real snmpd: addresses that a manager ties to ports (dot1dStaticTable) are made,
# moved, refused, deleted and kept over a restart as RFC 4188 says; BRIDGE-MIB and Q-BRIDGE-MIB tell the
# same of addresses; and counters, time stamps and indexes go on over a restart of the subagent.
# Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../support/rig.sh"

capture=$rig.pcap
trap 'rig_stop; rm -rf "$rig" "$capture"' EXIT
"$top/conf/make-capture" "$capture" 12 || exit 1
rig_new
rig_snmpd && rig_agent "$capture" lock_step || { fail 'start' 'a daemon did not come up'; exit 1; }
wait_for 60 replay_ended || { fail 'replay' 'it does not end'; exit 1; }
sleep 1.1 # a snapshot is at most a second old

bridge=1.3.6.1.2.1.17
allowed=$bridge.5.1.1.3 status=$bridge.5.1.1.4
permanent=3 on_reset=4 invalid=2
fdb() { # STATION: port and status in dot1dTpFdbTable, then in dot1qTpFdbTable
	snmp_get $bridge.4.3.1.2.2.0.0.0.0."$1" $bridge.4.3.1.3.2.0.0.0.0."$1" \
	    $bridge.7.1.2.2.1.2.1.2.0.0.0.0."$1" $bridge.7.1.2.2.1.3.1.2.0.0.0.0."$1" | paste -sd' '
}
# STATION PORTS-IN-HEX [STATUS]: ties 02:00:00:00:00:STATION; ok, or the reason
tie() {
	local index=2.0.0.0.0.$1.0 answer
	set -- $allowed."$index" x "$2" ${3:+$status.$index i $3}
	if answer=$(client snmpset "127.0.0.1:$agent_port" "$@" 2>&1); then echo ok; else sed -n 's/^Reason: \([a-zA-Z]*\).*/\1/p' <<<"$answer"; fi
}

# ---- addresses tied to ports ----

expect 'an address is tied to port 3' "$(tie 1 20 $permanent) $(fdb 1)" 'ok 3 5 3 5'
expect 'and moved to port 8' "$(tie 1 01) $(fdb 1)" 'ok 8 5 8 5'
expect 'another one, until the agent stops' "$(tie 2 80 $on_reset) $(fdb 2)" 'ok 1 5 1 5'
expect 'two ports are refused' "$(tie 3 c0 $permanent)" inconsistentValue
expect 'a port that is not there is refused' "$(tie 3 0001 $permanent)" inconsistentValue
expect 'no status, no row' "$(tie 3 80)" inconsistentName
expect 'deleteOnTimeout(5) is refused' "$(tie 3 80 5)" wrongValue
expect 'rows' "$(client snmpwalk -Oqn "127.0.0.1:$agent_port" $status | paste -sd' ')" \
    ".$status.2.0.0.0.0.1.0 3 .$status.2.0.0.0.0.2.0 4"
answer=$(client snmpset "127.0.0.1:$agent_port" $status.2.0.0.0.0.1.0 i $invalid \
    $bridge.4.2.0 i 5 2>&1 | sed -n 's/^Reason: \([a-zA-Z]*\).*/\1/p')
expect 'a wrong ageing time leaves the row alone' "$answer $(fdb 1)" 'wrongValue 8 5 8 5'

# ---- over a restart of the subagent ----

# Of each port: number, name, alias, 64-bit octets, discontinuity.
lasting() {
	client snmpbulkwalk -Oqn "127.0.0.1:$agent_port" $if_x.6
	client snmpbulkwalk -Oqn "127.0.0.1:$agent_port" $if_x.1
	client snmpbulkwalk -Oqn "127.0.0.1:$agent_port" $if_x.18
	client snmpbulkwalk -Oqn "127.0.0.1:$agent_port" $if_x.19
}
client snmpset "127.0.0.1:$agent_port" $if_x.18.2 s 'to the roof' >/dev/null
sleep 1.1
lasting >"$rig/before"
rig_agent_stop
rig_agent '' recorded || { fail 'restart' 'the agent did not come up'; exit 1; }
lasting >"$rig/after"
expect 'counters, names and aliases go on' "$(diff "$rig/before" "$rig/after" | head -n 4)" ''
expect 'a permanent address is tied again' "$(fdb 1)" '8 5 8 5'
expect 'one to be deleted on reset is not' "$(client snmpwalk -Oqn "127.0.0.1:$agent_port" $status)" \
    ".$status.2.0.0.0.0.1.0 3"
rig_end "$agent_pid" KILL
rig_agent '' recorded || { fail 'restart' 'the agent did not come up'; exit 1; }
lasting >"$rig/after"
stamps=$(grep -c "^.$if_x.19.[0-9]* 0:0:0:0.00" "$rig/after")
expect 'after a kill every port has a discontinuity' "$stamps" 0
expect 'names and aliases are the same' "$(grep "^.$if_x.1[.8]" "$rig/after")" \
    "$(grep "^.$if_x.1[.8]" "$rig/before")"

# ---- over an edited board file: e-3 is taken out, so that others move up ----

sed '/port "e-3"/d' "$board" >"$rig/shorter.conf"
rig_agent_stop
board=$rig/shorter.conf
rig_agent '' recorded || { fail 'restart' 'the agent did not come up'; exit 1; }
expect 'ports keep their numbers' "$(client snmpbulkwalk -Oqn "127.0.0.1:$agent_port" $if_x.1 | paste -sd' ')" \
    "$(for i in 1 2 4 5 6 7 8; do echo ".$if_x.1.$i \"e-$i\""; done | paste -sd' ')"
expect 'and aliases' "$(snmp_get $if_x.18.2)" '"to the roof"'
expect 'and tied addresses' "$(fdb 1)" '8 5 8 5'
expect 'invalid(2) lets the address go' "$(client snmpset -Oqv "127.0.0.1:$agent_port" \
    $status.2.0.0.0.0.1.0 i $invalid >/dev/null && client snmpwalk -Oqn "127.0.0.1:$agent_port" $status |
    grep -c "^.$status\.2")" 0
exit $failed
