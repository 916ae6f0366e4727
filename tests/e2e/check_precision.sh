#!/bin/bash
# Precision on request, whole: a collector with a goal sets skips of our own agent by SNMPv3 SETs through a real snmpd, and
# says in events and in the report what it did and why. Then a skip set by hand, SIGHUP without goals, and a stop: skips
# are as configured again. Some eight minutes of real time. Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../support/rig.sh"
rig_needs_sim
rig_new
live() { python3 "$top/tests/e2e/live_sflow.py" "$@"; }
live make "$rig/live.pcap" "$rig/frames" 720 "${EASE_SEED:-1}" || exit 1
passphrases='auth_passphrase = "maplesyrup" priv_passphrase = "syrupmaple"'
printf '%s\n' 'createUser setter SHA-256 maplesyrup AES syrupmaple' 'rwuser setter priv' >>"$rig/snmpd.conf"
printf '%s\n' 'precision = {"top 2 of each port within 20% every 1m"}' 'precision_owner = "station"' \
    "steer \"lab\" { agents = {\"127.0.0.1\"} port = $agent_port user = \"setter\" ${passphrases/maple/wrong} }" >>"$rig/collector.conf"
column() { echo "$ease.1.2.1.$(port_column "$1").${2:-1}"; }
value() { snmp_get "$(column "$1" "${2:-1}")"; }
events() { easetop events --last 1h --top 1000 --format json | jq -r '.rows[] | select(.event == "precision") | "\(.port // "-") \(.text)"'; }
of_ports() { for port in 1 2 3 4 5 6 7 8; do value "$1" $port; done | xargs; }

# Off: neither the agent nor a collector without goals does anything; a wrong goal is refused.
printf 'communities = {"a"}\nprecision = {"top of each port"}\n' >"$rig/bad.conf"
"$build/collector/easecapd" -c "$rig/bad.conf" --check >"$rig/bad.out" 2>&1
expect 'a wrong goal is refused' "$? $(grep -c 'behind "top" a number of rows' "$rig/bad.out")" '1 1'

rig_start "$rig/live.pcap" recorded 'mean_skip = 400' 'requests = true' 'requests_least_skip = 4' || exit 1
# A wrong passphrase is told; the right one holds from SIGHUP on, not an hour later.
refused() { sqlite3 -batch "$rig/ease.db" "SELECT value FROM stat WHERE name = 'precision.refused'"; }
is_refused() { [ "$(refused)" = 1 ]; }
wait_for 30 is_refused || fail 'a wrong passphrase' "$(refused) refused"
sed -i 's/wrongsyrup/maplesyrup/' "$rig/collector.conf"
kill -HUP "$collector_pid"
expect 'before the first whole minute nothing is set' "$(of_ports easePortMeanSkipInForce)" '400 400 400 400 400 400 400 400'
is_requested() { [ "$(snmp_get $ease.1.1.12.0)" = '"station"' ] && [ "$(value easePortMeanSkipReason)" != 1 ]; }
wait_for 170 is_requested || fail 'skips are requested' "$(of_ports easePortMeanSkipInForce)"
expect 'the lease is ours' "$(snmp_get $ease.1.1.12.0)" '"station"'
requested=$(value easePortRequestedSkip)
if [ "$requested" -gt 0 ] && [ "$requested" -lt 400 ]; then pass 'a port with few samples gets a finer skip'; else
	fail 'a finer skip' "$requested"; fi
expect 'the configured skip is as it was' "$(value easePortMeanSkip)" 400
has_event() { events | grep -q "$1"; }
wait_for 10 has_event '^e-1 skip 400 to [0-9]*: wanted$' || fail 'the event' "$(events | head -3)"
expect 'the event says from what, to what and why' "$(events | grep -c "^e-1 skip 400 to $requested: wanted$")" 1

# By hand.
client snmpset "127.0.0.1:$agent_port" "$(column easePortMeanSkip)" u 77 >/dev/null
wait_for 130 has_event '^e-1 skips are not set: held: set by hand$' || fail 'held' "$(events | head -5)"
expect 'what was set by hand is in force' "$(value easePortMeanSkipInForce) $(value easePortRequestsHeld)" '77 1'
is_shown() { easetop precision --format json | jq -e '.rows[] | select(.port == "e-1" and (.reason | startswith("held")))' >/dev/null; }
wait_for 100 is_shown || fail 'the report says who is held' "$(easetop precision)"
expect 'the report has each port that is asked for' "$(easetop precision --format json | jq '.rows | length > 1')" true

# The goal is gone, and comes again; then the collector stops.
sed -i 's/^precision = .*/precision = {}/' "$rig/collector.conf"
kill -HUP "$collector_pid"
is_free() { [ "$(snmp_get $ease.1.1.12.0)" = '""' ]; }
wait_for 20 is_free || fail 'without a goal skips are returned' "$(of_ports easePortMeanSkipInForce)"
expect 'without a goal skips are as configured' "$(of_ports easePortMeanSkipInForce)" '77 400 400 400 400 400 400 400'
wait_for 10 has_event 'returned$' || fail 'returned' "$(events | head -5)"
sed -i 's/^precision = .*/precision = {"top 2 of port 127.0.0.1:e-2 within 20% every 1m"}/' "$rig/collector.conf"
kill -HUP "$collector_pid"
is_leased() { [ "$(snmp_get $ease.1.1.12.0)" = '"station"' ] && [ "$(value easePortRequestedSkip 2)" -gt 0 ]; }
wait_for 150 is_leased || fail 'a new goal' 'nothing is set'
expect 'of its port alone' "$(of_ports easePortRequestedSkip | cut -d' ' -f1,3-)" '0 0 0 0 0 0 0'
# A goal of ports that are not there asks for nothing, either.
sed -i 's/^precision = .*/precision = {"top 2 of port 127.0.0.1:nowhere within 20% every 1m"}/' "$rig/collector.conf"
kill -HUP "$collector_pid"
wait_for 150 is_free || fail 'a goal without ports' "$(of_ports easePortRequestedSkip)"
sed -i 's/^precision = .*/precision = {"top 2 of port 127.0.0.1:e-2 within 20% every 1m"}/' "$rig/collector.conf"
kill -HUP "$collector_pid"
wait_for 150 is_leased || fail 'the goal from before' 'nothing is set'
rig_end "$collector_pid"
expect 'a stop returns all skips' "$(of_ports easePortMeanSkipInForce) $(snmp_get $ease.1.1.12.0)" '77 400 400 400 400 400 400 400 ""'
expect 'no SET was refused, and one question' "$(refused)" 1

# Nobody is left who asks and sets.
: >"$rig/collector.log"
rig_collector || fail 'the collector starts again' "$(tail -3 "$rig/collector.log")"
kill -KILL "$(pgrep -P "$collector_pid" easecapd-poll)"
if wait_for 10 grep -q 'who asks switches (easecapd-poll) was ended' "$rig/collector.log"; then pass 'nobody is left who sets: it is said'
else fail 'nobody is left who sets' "$(tail -2 "$rig/collector.log")"; fi
rig_rests 'nobody is left who sets'
exit $failed
