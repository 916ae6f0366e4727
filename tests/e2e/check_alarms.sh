#!/bin/bash
# Alarms as an operator sees them: rules of a configuration, a flood by sFlow from tests/e2e/flood_sender.pl through
# --import, and which events, lines of the log and counters come of it. What the rates mean and how often an alarm is
# wrong tests/collector/alarm has. Prints PASS, FAIL or SKIP lines; exits with 1 if one failed.
. "$(dirname "$0")/../support/rig.sh"

# 40,000 samples of 1 in 1000 in 100 s, all to 10.9.9.9: 400,000 packets/s; half of them are of 10.0.0.1 to .20, of
# which .1 sends 55,600, .2 27,800, .3 18,500.
rig_new
cat >>"$rig/collector.conf" <<'END'
alarms = {"talker above 22000 packets/s of each port", "destination above 100000 packets/s of all ports",
    "connections above 10/s of each port", "port above 1% of each port"}
END
perl "$top/tests/e2e/flood_sender.pl" 20000 >"$rig/flood" 2>"$rig/heavy"
"$build/collector/easecapd" -c "$rig/collector.conf" --import "$rig/flood" >"$rig/import.out" 2>"$rig/collector.log"
expect 'the import ends well' $? 0
told() { easetop events --last all --top 50 --format json | jq -r '.rows[] | select(.event == "alarm") | .text' | sort; }
expect 'events: who is above a rule' "$(told)" "$(printf '%s\n' \
    '10.0.0.1: talker above 22000 packets/s of each port' \
    '10.0.0.2: talker above 22000 packets/s of each port' \
    '10.9.9.9: destination above 100000 packets/s of all ports' \
    'port above 1% of each port' | sort)"
expect 'the log says so' "$(grep -c 'warn alarm: ' "$rig/collector.log")" 4
if grep -q 'alarm: 10.9.9.9: destination above 100000 packets/s of all ports' "$rig/collector.log"; then
	pass 'with the key and the rule'; else fail 'with the key and the rule' "$(grep alarm "$rig/collector.log")"; fi
expect 'they are counted' "$(grep -o 'alarm.raised [0-9]*' "$rig/collector.log")" 'alarm.raised 4'

# A rule that is not understood is refused, with what was expected.
sed -i '/^alarms/,/}$/d' "$rig/collector.conf"
echo 'alarms = {"talker over 5 packets/s of each port"}' >>"$rig/collector.conf"
"$build/collector/easecapd" -c "$rig/collector.conf" --check >"$rig/check.out" 2>&1
expect 'a wrong rule is refused' $? 1
if grep -q 'must follow "above" and a rate' "$rig/check.out"; then pass 'with what was expected'; else
	fail 'with what was expected' "$(cat "$rig/check.out")"; fi
exit $failed
