#!/bin/bash
# A copy of the store, made by the commands of conf/guide/backup.md while samples come and are written, and put back by
# them: the copy is whole and has what was stored then, a collector goes on from it, and each sample that came in between
# is counted as lost. Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../support/rig.sh"
rig_needs_sim
command -v sqlite3 >/dev/null || { skip 'all' 'sqlite3 is not there'; exit 0; }
work=$rig
rig=$work/live # as the chapter calls it
trap 'rig_stop; rm -rf "$work"' EXIT
mkdir -p "$rig"
cd "$work" || exit 1
chapter=$top/conf/guide/backup.md
copy=$(sed -n 's/^\$ \(sqlite3 live.*\)/\1/p' "$chapter")
put_back=$(sed -n '/^Put it back/,$ { /^rm \|^install /p }' "$chapter" |
    sed "s,/var/lib/easecapd/,$rig/,g; s,/var/backups/easeswitch/ease.db,$work/copy.db,; s/-o easecapd -g easecapd //")
expect 'the chapter has the commands' "$(wc -l <<<"$copy") $(wc -l <<<"$put_back")" '1 2'

of_store() { "$build/collector/easetop" loss --last all --format json --store "sqlite:$1" | jq "[.rows[].$2] | add // 0"; }
received() { of_store "$rig/ease.db" received; }
more_than() { [ "$(received)" -gt "$1" ]; }
rig_new
"$top/conf/make-capture" "$work/live.pcap" >/dev/null &&
    rig_start "$work/live.pcap" recorded 'loop = true' 'mean_skip = 20' || exit 1
wait_for 20 more_than 300 || fail 'start' 'no samples come'
before=$(received)
expect 'the copy is made' "$(eval "$copy" 2>&1)" 1
copied=$(of_store "$work/copy.db" received)
expect 'it is whole' "$(sqlite3 "$work/copy.db" 'PRAGMA integrity_check')" ok
expect 'it has what was stored' "$([ "$copied" -ge "$before" ] && [ "$(received)" -ge "$copied" ] && echo yes)" yes
wait_for 20 more_than $((copied + 300)) || fail 'beside the copy' 'no more samples come'
rig_end "$collector_pid"
newest=$(received)
eval "$put_back"
expect 'put back: what was stored then' "$(received)" "$copied"
: >"$rig/collector.log"
rig_collector || fail 'put back' 'the collector does not start'
wait_for 20 more_than $((copied + 300)) || fail 'put back' 'no more samples come'
rig_agent_stop
rig_end "$collector_pid"
lost=$(of_store "$rig/ease.db" lost)
expect 'put back: what came in between is lost, and nothing else' "$((lost >= newest - copied)) $(($(received) + lost))" \
    "1 $(of_store "$rig/ease.db" expected)"
exit $failed
