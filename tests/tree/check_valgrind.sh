#!/bin/bash
# Agent, collector and report command under valgrind, through a short life: a replay over snmpd, a walk, a
# SET, SIGHUP, pages asked for, reports of every kind, a clean stop. Nothing may be read that was not
# written, and nothing definitely lost. Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
[ -n "${EASE_LONG:-}" ] || { echo 'SKIP valgrind: everything takes thirty times as long: tests/run --long'; exit 0; }
. "$(dirname "$0")/../support/rig.sh"
for need in valgrind curl; do
	command -v "$need" >/dev/null || { skip 'all' "$need is not there"; exit 0; }
done

capture=$rig.pcap slow=$rig-slow
trap 'rig_stop; rm -rf "$rig" "$capture" "$slow"' EXIT
"$top/conf/make-capture" "$capture" 2 || exit 1
mkdir -p "$slow"/{agent,collector}
for program in agent/easeagentd collector/easecapd collector/easetop; do
	cat >"$slow/$program" <<-END
		#!/bin/sh
		exec valgrind -q --suppressions="$top/tests/support/valgrind.supp" --leak-check=full \
		    --errors-for-leak-kinds=definite --num-callers=20 \
		    --log-file="$slow/$program.%p.found" "$build/$program" "\$@"
	END
	chmod +x "$slow/$program"
done
build=$slow
found_nothing() { # PROGRAM
	local file
	for file in "$slow/$1".*.found; do
		[ -s "$file" ] || continue
		fail "$1: nothing found" "$(head -n 12 "$file")"
		return
	done
	pass "$1: nothing found in $(ls "$slow/$1".*.found | wc -l) lives"
}

rig_http=127.0.0.1:0
rig_new
rig_start "$capture" lock_step 'mean_skip = 50' || exit 1
if wait_for 60 replay_ended; then pass 'the replay ends'; else fail 'the replay ends' 'it does not'; fi
all_came() {
	local taken
	taken=$(column_sum $ease.1.2.1.6)
	[ "${taken:-0}" -gt 0 ] && [ "$(sqlite3 "$rig/ease.db" 'SELECT total(received) FROM account')" = "$taken.0" ]
}
if wait_for 60 all_came; then pass 'every sample came'; else fail 'every sample came' 'no'; fi
client snmpwalk -t 20 -On "127.0.0.1:$agent_port" 1.3.6.1.2.1 >"$rig/walk" 2>/dev/null
expect 'a walk' "$([ "$(wc -l <"$rig/walk")" -gt 500 ] && echo whole)" whole
client snmpset -t 20 "127.0.0.1:$agent_port" "$ease.1.2.1.$(port_column easePortMeanSkip).1" u 77 >"$rig/set" 2>&1
expect 'a SET' "$(grep -c 77 "$rig/set")" 1
kill -HUP "$agent_pid" "$collector_pid"
page=$(sed -n 's,.*\(http://127[^ ]*\).*,\1,p' "$rig/collector.log" | head -n 1)
for path in '' api/v1/load api/v1/talkers metrics; do
	expect "page /$path" "$(curl -s -m 60 -o /dev/null -w '%{http_code}' "${page%/}/$path")" 200
done
for kind in talkers matrix protocols conversations connections load errors energy pause addresses loss agents; do
	easetop $kind --last all >"$rig/report" 2>&1
	expect "report $kind" "$?" 0
done
rig_stop
for program in agent/easeagentd collector/easecapd collector/easetop; do found_nothing "$program"; done
exit $failed
