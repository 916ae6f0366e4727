#!/bin/bash
# The collector is killed (SIGKILL) at random times while a switch sends to it, and started again. Each time
# its file is intact, and at the end the samples given out by the agent are those stored, those lost with
# the collector and those sent while there was none. Then its disk, a small one of its own, runs full and
# is emptied again: nothing is lost. Prints PASS, FAIL or SKIP lines; exits with 1 if one failed.
. "$(dirname "$0")/../support/rig.sh"

capture=$rig.pcap
seconds=15 # some twenty crashes; with EASE_LONG two hundred
[ -z "${EASE_LONG:-}" ] || seconds=150
"$top/conf/make-capture" "$capture" 10 || exit 1
trap 'rig_stop; umount "$rig-disk" 2>/dev/null; rm -rf "$rig" "$capture" "$rig-disk"' EXIT
seed=${EASE_SEED:-$(date +%s)}
RANDOM=$seed
echo "     crash: EASE_SEED=$seed"

sql() { sqlite3 -batch "$rig/ease.db" "$1"; }
loss() { easetop loss --last all --format json; }
place() { loss | jq --arg place "$1" '[.places[] | select(.place == $place) | .count] | add // 0'; }
given_out() { sleep 1.1; column_sum "$ease.1.2.1.$(port_column easePortSamples)"; }
in_samples() { sql 'SELECT count(*) FROM sample'; }

killed_at_random() {
	local crashes=0 whole=0 end port told given received lost_here on_the_way
	rig_new
	printf 'sample_rows = 0\n' >>"$rig/collector.conf"
	rig_start "$capture" recorded 'mean_skip = 5' 'loop = true' || return
	end=$((SECONDS + seconds))
	while [ $SECONDS -lt $end ]; do
		sleep "$(printf '0.%03d' $((RANDOM % 700)))"
		rig_end "$collector_pid" KILL
		crashes=$((crashes + 1))
		[ "$(sql 'PRAGMA integrity_check')" = ok ] && whole=$((whole + 1))
		: >"$rig/collector.log"
		rig_collector || { fail "start after crash $crashes" 'does not start'; return; }
	done
	expect "crash: the file is whole each of $crashes times" "$whole" "$crashes"
	for port in 1 2 3 4 5 6 7 8; do # nothing more is sampled
		client snmpset -Oq "127.0.0.1:$agent_port" "$ease.1.2.1.$(port_column easePortAdminStatus).$port" i 2 >/dev/null
	done
	given=$(given_out)
	rig_stop
	loss >"$rig/loss.json"
	received=$(jq '[.rows[].received] | add' "$rig/loss.json")
	lost_here=$(jq '[.rows[].lost_in_collector] | add' "$rig/loss.json")
	on_the_way=$(jq '[.rows[].lost_elsewhere] | add' "$rig/loss.json")
	echo "     crash: $given given out = $received stored + $lost_here lost in the collector + $on_the_way sent while there was none"
	expect 'crash: what was given out is stored or said to be lost' "$((received + lost_here + on_the_way + $(place agent)))" "$given"
	expect 'crash: every sample stored once' "$(in_samples)" "$received"
	expect 'crash: what its outages cost is what is lost in the collector' \
	    "$(easetop events --last all --top 1000 --format json |
		jq '[.rows[] | select(.event == "collector crash") | .count] | add')" "$lost_here"
	told=$(place 'collector crash') # of one that was killed before its first flush the next one tells
	if [ "$told" -gt $((crashes / 2)) ] && [ "$told" -le "$crashes" ]; then pass "crash: $told outages are told"; else
		fail 'crash: outages told' "$told of $crashes"; fi
	if [ "$lost_here" -gt 0 ]; then pass 'crash: something was lost in the collector'; else
		fail 'crash: lost in the collector' "$lost_here"; fi
	expect 'crash: completeness says so' "$(jq ".completeness * $given | round" "$rig/loss.json")" "$received"
}

full_disk() {
	local given
	mkdir -p "$rig-disk"
	if ! mount -t tmpfs -o size=3m,mode=700 tmpfs "$rig-disk" 2>/dev/null; then
		skip 'full disk' 'no disk can be mounted here'
		return
	fi
	rig_new
	printf 'sample_rows = 0\n' >>"$rig/collector.conf"
	sed -i "s#^store.*#store = \"$rig-disk/ease.db\"#" "$rig/collector.conf"
	rig_collector && rig_snmpd && rig_agent "$capture" recorded 'mean_skip = 20' 'speed_factor = 2' || {
		fail 'full disk' 'a daemon did not come up'; return; }
	dd if=/dev/zero of="$rig-disk/filler" bs=64k >/dev/null 2>&1
	wait_for 20 grep -q 'disk is full' "$rig/collector.log"
	expect 'full disk: the log says so' $? 0
	wait_for 30 replay_ended
	rm "$rig-disk/filler"
	given=$(given_out)
	mount -o remount,size=64m "$rig-disk"
	rig_stop
	cp "$rig-disk"/ease.db* "$rig"
	expect 'full disk: the file is whole' "$(sql 'PRAGMA integrity_check')" ok
	expect 'full disk: nothing was lost' "$(loss | jq '[.rows[].received] | add') $(in_samples)" "$given $given"
	umount "$rig-disk"
}

killed_at_random
full_disk
exit $failed
