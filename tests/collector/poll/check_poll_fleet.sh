#!/bin/bash
# Nine hundred switches that the collector asks by SNMP (tests/collector/poll/poll_fleet.py), a tenth of them silent, one
# that answers garbage, one with rows without end, others with other vices, and seven that speak EASE: reception, memory and page are as they are
# when nobody is asked, who answers is read, and an address that sFlow states and nobody wrote down gets no question.
# Takes three minutes. Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../../support/rig.sh"
for need in python3 sqlite3 curl jq; do
	command -v "$need" >/dev/null || { skip 'all' "$need is not there"; exit 0; }
done
sanitized=false answer_s=10 # a sanitizer's shadow is nobody's memory, and all takes several times as long with it
! grep -q __asan_init "$build/collector/easecapd" || sanitized=true answer_s=60
agents=900 silent=90 vicious=9 ease=5 both=2 shared=1 # both: each is an agent of sFlow, too; shared: two agents at one address, which is not asked
# An array and no function, so that what is ended is the program and not a shell around it.
fleet=(python3 "$top/tests/collector/poll/poll_fleet.py")
responder=''
trap 'rig_end "$responder"; rig_stop; rm -rf "$rig"' EXIT
snmp_port=$(free_port)
"${fleet[@]}" answer "$snmp_port" "$rig/strangers" >"$rig/answer.log" 2>&1 &
responder=$!
disown "$responder"
wait_for 10 grep -q ready "$rig/answer.log"

of_store() { sqlite3 -batch "$rig/$name.db" "$1"; } # SQL
count_of() { of_store "SELECT value FROM stat WHERE name = '$1'"; }
own_kib() { awk '/^RssAnon/ { print $2 }' "/proc/$1/status"; } # PID
# How many of 11 questions the page answers.
page_answers() {
	for top in $(seq 11); do # never the same question
		timeout "$answer_s" curl -s --max-time 60 --noproxy '*' -o /dev/null -w '%{http_code}\n' \
		    "http://127.0.0.1:$page_port/api/v1/talkers?last=5m&top=$top"
	done | grep -c '^200$'
}

collect() { # NAME SECONDS [LINE]: the fleet's sFlow for so long; sets sent, kib, answers
	name=$1 sflow_port=$(free_port) ease_port=$(free_port) page_port=$(free_port)
	cat >"$rig/$name.conf" <<-END
		sflow_listen = {"127.0.0.1:$sflow_port"}
		listen = {"127.0.0.1:$ease_port"}
		communities = {"seen"}
		http_listen = "127.0.0.1:$page_port"
		run_as = root
		store = "$rig/$name.db"
		${3:-}
	END
	"$build/collector/easecapd" -c "$rig/$name.conf" -f >"$rig/$name.log" 2>&1 &
	collector_pid=$!
	disown "$collector_pid"
	wait_for 10 grep -q 'listening for sFlow' "$rig/$name.log" || { fail 'start' 'no collector'; exit 1; }
	"${fleet[@]}" send "$sflow_port" "$agents" "$2" "$ease_port" >"$rig/$name.sent" &
	local sender=$!
	# While it sends: the page, and memory at the end.
	sleep $(($2 - 20))
	answers=$(page_answers)
	wait "$sender"
	kib=$(own_kib "$collector_pid")
	sent=$(cat "$rig/$name.sent")
}

collect without 40
without_kib=$kib
rig_end "$collector_pid"
expect 'nobody is asked: every sample counts' "$(count_of accounting.samples), $(count_of input.kernel_drops) lost" "$sent, 0 lost"

collect with 80 "poll \"lab\" { agents = {\"127.1.0.0/16\"} port = $snmp_port community = \"secret\" }"
askers=$(pgrep -P "$collector_pid" | head -n 1)
asker=$(pgrep -P "${askers:-0}" | head -n 1)
asker_kib=$(own_kib "${asker:-0}")
rig_end "$collector_pid"
expect 'asked: every sample counts' "$(count_of accounting.samples), $(count_of input.kernel_drops) lost" "$sent, 0 lost"
if $sanitized; then skip 'memory' 'it is that of a sanitizer'
elif [ $((kib - without_kib)) -le 6144 ] && [ "${asker_kib:-99999}" -le 16384 ]; then
	pass "memory: $kib KiB instead of $without_kib, and $asker_kib of the process that asks"
else fail 'memory' "$kib KiB instead of $without_kib, and $asker_kib of the process that asks"; fi
expect 'the page answers' "$answers" 11

good=$((agents - silent - vicious))
expect 'names' "$(of_store "SELECT count(DISTINCT agent) FROM port WHERE name LIKE 'e%' AND alias LIKE 'alias %'")" \
    $((good + both + shared))
# The two at one address are not asked; but the one may be, before the other is heard.
named=$(of_store "SELECT count(*) FROM polled WHERE name LIKE 'switch-%' AND names_us > 0 AND silent_us = 0")
if [ "$named" -ge $((good - shared)) ] && [ "$named" -le $((good + shared)) ]; then pass "names of the switches: $named"
else fail 'names of the switches' "$named, and not $((good - shared)) to $((good + shared))"; fi
expect 'counters, but of EASE' "$(of_store "SELECT count(DISTINCT agent) FROM counter")" $((good - ease))
expect 'who does not answer' "$(of_store "SELECT count(*) FROM polled WHERE silent_us > 0 AND names_us = 0")" $((silent + vicious - 1))
# After 5 s and a minute: no more than three times each.
for counter in silent:$((silent + 3)) garbage:5 refused:1; do
	asked=$(count_of "poll.${counter%:*}") most=$((3 * ${counter#*:}))
	if [ "$asked" -ge "${counter#*:}" ] && [ "$asked" -le $most ]; then pass "poll.${counter%:*}: $asked"
	else fail "poll.${counter%:*}" "$asked, and not ${counter#*:} to $most"; fi
done
expect 'uplinks: who names each other' "$(of_store "SELECT DISTINCT name FROM port WHERE NOT edge ORDER BY name" | xargs)" 'e11 e12 e21 e22 e23 e24 e25 e26'
expect 'links: both ends of the one that both confirm, and no other' "$(of_store "SELECT count(*), count(DISTINCT agent), sum(EXISTS(SELECT 1 FROM link o
    WHERE o.agent = l.other_agent AND o.if_index = l.other_if_index AND o.other_agent = l.agent AND o.other_if_index = l.if_index)) FROM link l" | tr '|' ' ')" \
    "$(of_store "SELECT count(*), count(*), count(*) FROM (SELECT DISTINCT agent, if_index FROM port WHERE NOT edge)" | tr '|' ' ')"
expect 'who is not written down is not asked' "$(wc -l <"$rig/strangers")" 0
exit $failed
