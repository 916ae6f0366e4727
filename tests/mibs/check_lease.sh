#!/bin/bash
# Requests of a station over a real snmpd: off unless configured; a lease with an owner and a time to live; who else may
# not ask; what is in force, and why; a skip set by hand ends requests and holds the port over a restart; requests end with
# the lease, when the station leaves and when the agent starts. Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../support/rig.sh"

rig_new
rig_own_view
column() { echo "$ease.1.2.1.$(port_column "$1").${2:-1}"; }
owner=$ease.1.1.12.0 ttl=$ease.1.1.13.0
value() { snmp_get "$(column "$1" "${2:-1}")"; }
ask() { # VARBIND...: ok, or the reason
	local answer
	if answer=$(client snmpset -On "127.0.0.1:$agent_port" "$@" 2>&1); then echo ok; return; fi
	sed -n 's/^Reason: \([a-zA-Z]*\).*/\1/p' <<<"$answer"
}
request() { # OWNER TTL SKIP [PORT]
	ask $owner s "$1" $ttl u "$2" "$(column easePortRequestedSkip "${4:-1}")" u "$3"
}

rig_snmpd && rig_agent '' recorded || { fail 'start' 'a daemon did not come up'; exit 1; }
expect 'off by default' "$(request station 300 64)" notWritable
rig_agent_stop

rig_agent '' recorded 'mean_skip = 400' 'requests = true' || { fail 'start' 'the agent did not come up'; exit 1; }
expect 'a request without its owner' "$(ask "$(column easePortRequestedSkip)" u 64)" inconsistentValue
expect 'a time to live without an owner' "$(ask $ttl u 300)" inconsistentValue
expect 'an owner and a request in one PDU' "$(request station 300 64)" ok
expect 'it is in force' "$(value easePortMeanSkipInForce) $(value easePortMeanSkipReason)" '64 2'
expect 'the configured skip is as it was' "$(value easePortMeanSkip)" 400
expect 'other ports are as they were' "$(value easePortMeanSkipInForce 2) $(value easePortMeanSkipReason 2)" '400 1'
left=$(snmp_get $ttl)
if [ "$left" -ge 290 ] && [ "$left" -le 300 ]; then pass 'the time to live counts down'; else fail 'the time to live' "$left"; fi
expect 'nobody else asks meanwhile' "$(request other 300 128 2)" inconsistentValue
expect 'the owner asks without renewing' "$(ask $owner s station "$(column easePortRequestedSkip 2)" u 128)" ok
expect 'below the least skip of the configuration' "$(request station 300 2 3)" ok
expect 'it gets the least skip' "$(value easePortMeanSkipInForce 3) $(value easePortMeanSkipReason 3)" '16 3'
expect 'a wrong value takes the lease with it' "$(request other2 300 9999999)" wrongValue

expect 'a skip set by hand' "$(ask "$(column easePortMeanSkip)" u 50)" ok
expect 'holds the port' "$(value easePortRequestsHeld) $(value easePortRequestedSkip) $(value easePortMeanSkipInForce) \
$(value easePortMeanSkipReason)" '1 0 50 1'
expect 'a held port takes no request' "$(request station 300 64)" inconsistentValue
expect 'others do' "$(request station 300 256 2)" ok

rig_end "$agent_pid" KILL
rig_agent '' recorded 'mean_skip = 400' 'requests = true' || { fail 'restart' 'the agent did not come up'; exit 1; }
expect 'a restart ends requests' "$(snmp_get $owner) $(snmp_get $ttl) $(value easePortMeanSkipInForce 2)" '"" 0 400'
expect 'and keeps what was set by hand' "$(value easePortMeanSkip) $(value easePortRequestsHeld)" '50 1'
expect 'until it is told otherwise' "$(ask "$(column easePortRequestsHeld)" i 2) $(request other 2 64)" 'ok ok'
expect 'the request is in force again' "$(value easePortMeanSkipInForce)" 64
is_configured() { [ "$(value easePortMeanSkipInForce)" = 50 ]; }
if wait_for 10 is_configured; then pass 'it ends with its time to live'; else fail 'time to live' 'still in force'; fi
expect 'another one may ask then' "$(request station 300 64)" ok
expect 'a station that leaves' "$(ask $owner s station $ttl u 0)" ok
expect 'leaves the configured skip' "$(value easePortMeanSkipInForce) $(snmp_get $owner) $(snmp_get $ttl)" '50 "" 0'
expect 'each change is in the log' "$(grep -c 'easePortRequestedSkip set from [0-9]* to [0-9]* by a manager$' "$rig/agent.log")" 2
exit $failed
