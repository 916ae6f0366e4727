#!/bin/bash
# The memory budget under a flood of spoofed sources (ten million with --long, EASE_LONG): the collector
# stays within `memory`, no sample is lost, reports show how many samples have no key and how many of them
# one key can lack at most, and with that the figures of the heavy sources hold. The sFlow comes from
# tests/e2e/flood_sender.pl by --import. Then the page and /metrics are asked: the victim is named, what was
# folded is said, no part of /metrics is missing. Prints PASS, FAIL or SKIP lines; exits with 1 if one failed.
. "$(dirname "$0")/../support/rig.sh"
if ! command -v sqlite3 >/dev/null; then
	skip 'all' 'sqlite3 is not there'
	exit 0
fi

sanitized=false
grep -q __asan_init "$build/collector/easecapd" && sanitized=true
spoofed=400000
[ -z "${EASE_LONG:-}" ] || $sanitized || spoofed=10000000
budget=128 # MiB
# What a program has beside what it was told to keep: its code, libraries, SQLite's page cache; and a
# sanitizer's shadow, which nobody can hold to a budget.
beside=24

rig_new
printf 'memory = %s\nsample_rows = 1000\n' "$budget" >>"$rig/collector.conf"
mkfifo "$rig/flood"
perl "$top/tests/e2e/flood_sender.pl" "$spoofed" >"$rig/flood" 2>"$rig/heavy" &
sender=$!
disown "$sender"
"$build/collector/easecapd" -c "$rig/collector.conf" --import "$rig/flood" >"$rig/import.out" 2>"$rig/collector.log" &
collector_pid=$!
most_kib=0
while kill -0 "$collector_pid" 2>/dev/null; do
	kib=$(awk '$1 == "VmHWM:" { print $2 }' "/proc/$collector_pid/status" 2>/dev/null)
	[ "${kib:-0}" -le "$most_kib" ] || most_kib=$kib
	[ $SECONDS -lt $((spoofed > 400000 ? 1600 : 600)) ] || { fail 'the import' 'it does not end'; exit 1; }
	sleep 0.05
done
wait "$collector_pid"
expect 'the import ends well' $? 0
collector_pid=''

expect 'every sample is counted' "$("$build/tests/collector/store/store_sql" "$rig/ease.db" 'SELECT sum(n) FROM window')" "$((2 * spoofed))"
if $sanitized; then
	skip 'memory' 'a sanitizer takes more than the program'
elif [ "$most_kib" -gt 0 ] && [ $((most_kib / 1024)) -le $((budget + beside)) ]; then
	pass "memory: $((most_kib / 1024)) MiB at most, of a budget of $budget and $beside beside it"
else
	fail 'memory' "$((most_kib / 1024)) MiB of a budget of $budget and $beside beside it"
fi
easetop talkers --by pair --layer ip --last all --top 20 --sort packets --format json >"$rig/talkers.json"
easetop talkers --by pair --layer ip --last all --top 5 >"$rig/talkers.text"
folded=$(jq .folded_samples "$rig/talkers.json")
most=$(jq .folded_samples_one_key_high "$rig/talkers.json")
if [ "$folded" -gt $((spoofed / 10)) ]; then pass "$folded samples found no key, one key has at most $most of them"; else
	fail 'folded' "$folded"; fi
if [ "$most" -lt $((spoofed / 20)) ]; then pass 'the bound is a small part'; else fail 'the bound' "$most"; fi
if grep -q 'up to' "$rig/talkers.text"; then pass "the report says so: $(grep 'up to' "$rig/talkers.text")"; else
	fail 'the report says so' "$(tail -2 "$rig/talkers.text")"; fi
# Of each heavy source: samples here <= samples sent <= samples here + the bound; and the frames that
# these stand for lie within the limits.
wrong=$(jq -r '.rows[] | "\(.src) \(.samples) \(.packets.low) \(.packets.high)"' "$rig/talkers.json" |
    awk -v most="$most" 'FNR == NR { sent[$1] = $2; next } $1 in sent {
	seen[$1]
	if ($2 > sent[$1] || sent[$1] > $2 + most) print $1 ": " $2 " samples of " sent[$1]
	if (1000 * sent[$1] < $3 || 1000 * sent[$1] > $4) print $1 ": " 1000 * sent[$1] " is not in " $3 " to " $4 }
	END { for (s in sent) n += s in seen; if (n < 20) print n " of 20 heavy sources are listed" }' "$rig/heavy" -)
expect 'the heavy sources hold within the bound' "$wrong" ''
expect 'the ten heaviest are the ten heaviest' \
    "$(jq -r '.rows[:10][].src' "$rig/talkers.json" | sort | tr '\n' ' ')" \
    "$(sort -k2,2nr "$rig/heavy" | head -10 | cut -d' ' -f1 | sort | tr '\n' ' ')"

# ---- page and Prometheus on that store: fewer keys than it has fit into a question's memory ----

if ! grep -q 'page at' "$build/collector/easecapd"; then
	skip 'page and metrics' 'easecapd was built without the page'
	exit $failed
fi
sed -i -e 's/^memory.*/memory = 160/' -e 's/^http_listen.*/http_listen = "127.0.0.1:0"/' "$rig/collector.conf"
echo 'http_question = 600000' >>"$rig/collector.conf" # this machine may be busy
: >"$rig/collector.log"
rig_collector || fail 'the collector starts' "$(tail -1 "$rig/collector.log")"
url=$(sed -n 's!^page at \(http://.*\)/$!\1!p' "$rig/collector.log")
ask() { curl -s --max-time 60 -o "$rig/answer" -w '%{http_code}' "$url/$1"; }
expect 'by destination: answered' "$(ask 'api/v1/talkers?last=all&by=dst&layer=ip&sort=packets')" 200
expect 'it names the victim' "$(jq -r '.rows[0].dst' "$rig/answer")" 10.9.9.9
expect 'with all samples that have a key' "$(jq '.rows[0].samples + .folded_samples' "$rig/answer")" "$((2 * spoofed))"
expect 'by source: answered' "$(ask 'api/v1/talkers?last=all&by=src&layer=ip&sort=packets&top=10')" 200
expect 'it names the heaviest' "$(jq -r '.rows[0].src' "$rig/answer")" "$(sort -k2,2nr "$rig/heavy" | head -1 | cut -d' ' -f1)"
folded=$(jq .folded_samples "$rig/answer")
if [ "$folded" -gt $((spoofed / 10)) ] && [ "$folded" -le $((2 * spoofed)) ]; then
	pass "and says what was folded: $folded"; else fail 'it says what was folded' "$folded"; fi
expect 'metrics: answered' "$(ask metrics)" 200
expect 'every part of it' "$(grep -c '^easeswitch_scrape_part_success{.*} 1$' "$rig/answer")" 10
expect 'and none failed' "$(grep -c '^easeswitch_scrape_part_success{.*} 0$' "$rig/answer")" 0
places=$("$build/tests/collector/store/store_sql" "$rig/ease.db" 'SELECT count(*) FROM place')
if [ "$places" -le $((4096 + 1024)) ]; then pass "$places places are kept of the port"; else fail 'places' "$places"; fi
exit $failed
