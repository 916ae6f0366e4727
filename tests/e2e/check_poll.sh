#!/bin/bash
# A switch whose sFlow has neither names nor counters, and Net-SNMP's snmpd beside it: our own agent samples, its sFlow
# loses its counters on the way (strip_counters.py), and snmpd has the board's interfaces from it. The collector, which
# asks snmpd, must have the names within a minute, and then figures and limits as with counters that are sent
# (tests/e2e/live_sflow.py judges both). By SNMPv3 only the names, then by SNMPv2c all of it. Takes four minutes of real
# time, with --long eleven. Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../support/rig.sh"
rig_needs_sim
# Counters are asked for after a minute; then each 10 s, or as by default. Figures are of what came after that.
if [ -n "${EASE_LONG:-}" ]; then seconds=600 interval=30 first=95; else seconds=240 interval=10 first=65; fi
every=10 seed=${EASE_SEED:-1}
echo "     poll: EASE_SEED=$seed"
live() { python3 "$top/tests/e2e/live_sflow.py" "$@"; }
relay_pid=''
trap 'rig_end "$relay_pid"; rig_stop; rm -rf "$rig"' EXIT
passphrases='auth_passphrase = "maplesyrup" priv_passphrase = "syrupmaple"'

polled() { # SECTION: a rig whose collector asks snmpd so
	rig_new
	live make "$rig/live.pcap" "$rig/frames" $((seconds + 120)) "$seed" || exit 1
	sflow_port=$(free_port) relay_port=$(free_port)
	sed -i '/^listen\|^communities/d' "$rig/collector.conf"
	printf '%s\n' "sflow_listen = {\"127.0.0.1:$sflow_port\"}" 'sample_rows = 0' "poll_counters = $interval" \
	    "poll \"lab\" { agents = {\"127.0.0.1\"} port = $agent_port $1 }" >>"$rig/collector.conf"
	printf '%s\n' 'createUser reader SHA-256 maplesyrup AES syrupmaple' 'rouser reader priv' >>"$rig/snmpd.conf"
	python3 "$top/tests/e2e/strip_counters.py" "$relay_port" "$sflow_port" >"$rig/relay.log" &
	relay_pid=$!
	"$build/collector/easecapd" -c "$rig/collector.conf" -f >>"$rig/collector.log" 2>&1 &
	collector_pid=$!
	disown "$collector_pid" "$relay_pid"
	wait_for 10 grep -q 'listening for sFlow' "$rig/collector.log" && wait_for 10 grep -q ready "$rig/relay.log" &&
	    rig_snmpd && rig_agent "$rig/live.pcap" recorded 'mean_skip = 20' 'notify_samples = false' \
	    "sflow_collector = \"127.0.0.1:$relay_port\"" || { fail 'start' 'a daemon did not come up'; exit 1; }
}

count_of() { sqlite3 -batch "$rig/ease.db" "SELECT value FROM stat WHERE name = 'poll.$1'" 2>/dev/null; }
names() { # as lists have them
	sqlite3 -batch "$rig/ease.db" "SELECT if_index, name, alias FROM port p WHERE since_us = (SELECT max(since_us) FROM port
	    WHERE agent = p.agent AND if_index = p.if_index) ORDER BY if_index" 2>/dev/null
}
# The same as snmpwalk has them.
names_by_snmp() {
	for port in 1 2 3 4 5 6 7 8; do
		echo "$port|$(snmp_get "$if_x.1.$port" | tr -d '"')|$(snmp_get "$if_x.18.$port" | tr -d '"')"
	done
}
has_names() { [ "$(names)" = "$must" ]; }

check_names() { # NAME: a minute at most after the first sample
	must=$(names_by_snmp)
	wait_for 60 has_names
	expect "$1: names of the ports" "$(names)" "$must"
}

agent() { easetop agents --last 5m --format json | jq -r ".rows[0] | $*"; } # FILTER
is_named() { [ "$(agent .agent)" = "$1" ]; }

# Mistakes in the configuration are said, and nothing starts with them.
refused() { # NAME SECTION REASON
	printf 'listen = {}\nsflow_listen = {"127.0.0.1:6343"}\n%s\n' "$2" >"$rig/bad.conf"
	expect "refused: $1" "$("$build/collector/easecapd" -c "$rig/bad.conf" --check 2>&1 | grep -o "poll \"x\": .*" | head -n 1)" \
	    "poll \"x\": $3"
}
refused 'nobody' 'poll "x" { community = "a" }' 'agents: at least one address is needed'
refused 'no credentials' 'poll "x" { agents = {"10.0.0.1"} }' 'either community or user is needed'
refused 'two kinds of them' 'poll "x" { agents = {"10.0.0.1"} community = "a" user = "b" }' 'either community or user is needed'
refused 'no passphrase' 'poll "x" { agents = {"10.0.0.1"} user = "b" auth_passphrase = "maplesyrup" }' \
    'auth_passphrase and priv_passphrase are needed'

polled 'community = "wrong"'
is_silent() { [ "$(count_of silent)" -gt 0 ]; }
wait_for 20 is_silent
expect 'a wrong community: no name' "$(names | cut -d'|' -f2 | sort -u)" ''
sed -i "s/community = \"wrong\"/user = \"reader\" ${passphrases/maple/wrong}/" "$rig/collector.conf"
kill -HUP "$collector_pid"
is_refused() { [ "$(count_of refused)" -gt 0 ]; }
wait_for 20 is_refused || fail 'a wrong passphrase' "$(count_of silent) silent"
sed -i 's/wrongsyrup/maplesyrup/' "$rig/collector.conf" # of the same user
kill -HUP "$collector_pid"
check_names 'SNMPv3, after SIGHUP'
must=$(snmp_get 1.3.6.1.2.1.1.5.0 | tr -d '"')
wait_for 10 is_named "$must"
expect 'sysName' "$(agent .agent)" "$must"
expect 'what was read, and when' "$(agent '(.names_read | sub("[.][0-9]+"; "") | fromdate > now - 90), .counters_read, .silent_since' | xargs)" \
    'true null null'
# The user's names stand before those that were asked for.
printf 'agent 127.0.0.1 name core-1\nport 127.0.0.1 1 name uplink\n' >"$rig/names"
echo "device_names = \"$rig/names\"" >>"$rig/collector.conf"
kill -HUP "$collector_pid"
wait_for 10 is_named core-1
expect 'the name of the file' "$(agent .agent)" core-1
rig_stop
rig_end "$relay_pid"

polled 'community = "demo"'
start=$SECONDS
# The last minute begins with a full one. Looks are judged from the first on that begins after the first counters: five.
[ -n "${EASE_LONG:-}" ] || seconds=$((first + 60 - (EPOCHSECONDS + first) % 60 + 115))
. "$top/tests/support/board_readings.sh"
check_names 'SNMPv2c'
mkdir "$rig/looks"
for ((look = 1; look * every <= seconds; look++)); do
	left=$((start + look * every - SECONDS))
	[ $left -le 0 ] || sleep $left
	easetop talkers --by src --last 1m --top 1000 --format json >"$rig/looks/1.$look.json" ||
	    fail "the look at $((look * every)) s" 'easetop failed'
done

# The process that asks: it can do nothing but ask, another takes its place, and it ends with the collector.
asker() { pgrep -P "$(pgrep -P "$collector_pid" | head -n 1)"; }
first_asker=$(asker)
expect 'capabilities of the process that asks' "$(awk '/^Cap(Prm|Eff)/ { print $2 }' "/proc/$first_asker/status" | xargs)" \
    '0000000000000000 0000000000000000'
expect 'its files' "$(find "/proc/$first_asker/fd" -lname '*ease.db*' | wc -l)" 0
kill -KILL "$first_asker"
read_before=$(count_of counters)
reads_on() { [ "$(count_of counters)" -gt "$read_before" ]; }
wait_for 60 reads_on
if reads_on && [ "$(asker)" != "$first_asker" ]; then pass 'it was killed: another one asks'
else fail 'it was killed' "process $(asker), $(count_of counters) counters after $read_before"; fi
last_asker=$(asker)
rig_agent_stop
[ -z "${EASE_KEEP:-}" ] || cp "$rig/ease.db" "$EASE_KEEP"
expect 'when counters were read' "$(agent '.counters_read | sub("[.][0-9]+"; "") | fromdate > now - 90')" true
expect 'counters that were sent' "$(sqlite3 -batch "$rig/ease.db" "SELECT value FROM stat WHERE name = 'sflow.counters'")" \
    "$(count_of counters)"

# Who puts another in its place is killed too.
kill -KILL "$(pgrep -P "$collector_pid" easecapd-poll)"
if wait_for 10 grep -q 'who asks switches (easecapd-poll) was ended' "$rig/collector.log"; then pass 'nobody is left who asks: it is said'
else fail 'nobody is left who asks' "$(tail -2 "$rig/collector.log")"; fi
rig_rests 'nobody is left who asks'

rig_end "$collector_pid"
is_gone() { ! kill -0 "$last_asker" 2>/dev/null; }
wait_for 5 is_gone
if is_gone; then pass 'it ended with the collector'; else fail 'it ended with the collector' "$last_asker is there"; fi

live judge "$rig/frames" "$rig/readings" "$rig/looks" $first >"$rig/figures" || fail 'the judge' 'it failed'
of() { jq -r ".[\"1\"] | $*" "$rig/figures"; } # FILTER
holds() { [ "$(of "$1")" = true ]; } # FILTER
name="last minute, $(of .looks) looks"
if holds '.looks >= 4'; then pass "$name"; else fail "$name" 'too few'; fi
for unit in packets octets; do
	figures=$(of ".$unit | \"rate/true \(.ratio), worst look off by \(.worst); \(.limits) limits: \(.low) of" \
	    "them above the truth, \(.high) below it\"")
	if holds ".$unit | (.ratio - 1 | fabs) <= 0.02 and .hold"; then pass "$name: $unit: $figures"
	else fail "$name: $unit" "$figures"; fi
done
exit $failed
