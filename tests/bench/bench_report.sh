#!/bin/bash
# The report of a month beside nfdump on the same traffic: a store and NetFlow of the same flows by
# tests/bench/make_store, then top 100 sources of all days from each in turns. Prints JSON lines with
# medians; processor time, so that a busy machine counts less. The sizes: the store's pages in use,
# with all levels, counters, and samples' own rows of the last day as the defaults keep them.
. "$(dirname "$0")/bench_tools.sh"
need nfcapd nfdump sqlite3 "$build/tests/bench/make_store" "$build/collector/easetop"
rounds=${ROUNDS:-5}
days=${DAYS:-30}
agents=${AGENTS:-100}
dir=$(mktemp -d)
pid=''
trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null; rm -rf "$dir"' EXIT
port=$((20000 + RANDOM % 20000))

mkdir "$dir/flows"
nfcapd -p "$port" -b 127.0.0.1 -l "$dir/flows" -t 3600 -B 33554432 >"$dir/log" 2>&1 &
pid=$!
has_read() { awk -v port="$(printf ':%04X$' "$port")" '$2 ~ port && $5 ~ /:00000000$/ { n++ } END { exit !n }' /proc/net/udp; }
wait_for 10 has_read || die "nfcapd does not listen: $(tail -n 1 "$dir/log")"
made=$("$build/tests/bench/make_store" "$dir/ease.db" "$days" 1 "$port" "$agents" 2>/dev/null | tail -1)
[ -n "$made" ] || die 'make_store says nothing'
wait_for 10 has_read || die 'nfcapd does not read'
kill -TERM "$pid"
wait "$pid" 2>/dev/null
pid=''

processor_ms() { # COMMAND...
	local TIMEFORMAT='%U %S'
	{ time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ print ($1 + $2) * 1000 }'
}
"$build/collector/easetop" talkers --store "$dir/ease.db" --last all --top 100 >/dev/null
for _ in $(seq "$rounds"); do
	processor_ms "$build/collector/easetop" talkers --store "$dir/ease.db" --last all --top 100 \
	    --format json >>"$dir/ours"
	processor_ms nfdump -q -R "$dir/flows" -s srcip/bytes -n 100 -o csv >>"$dir/theirs"
done
ours=$(median <"$dir/ours")
theirs=$(median <"$dir/theirs")
samples=$(sed 's/.*"samples":\([0-9]*\).*/\1/' <<<"$made")
flows=$(nfdump -q -R "$dir/flows" -I 2>/dev/null | sed -n 's/^Flows: *//p')
used=$(sqlite3 "$dir/ease.db" 'SELECT (page_count - freelist_count) * page_size FROM
    pragma_page_count, pragma_freelist_count, pragma_page_size')
theirs_used=$(du -sb "$dir/flows" | cut -f1)
jq -c '{bench: "made_store"} + .' <<<"$made"
awk -v o="$ours" -v t="$theirs" 'BEGIN {
    printf "{\"bench\":\"top_100\",\"ms\":%.0f,\"nfdump_ms\":%.0f,\"ratio\":%.1f}\n", o, t, t / o }'
awk -v s="$samples" -v u="$used" -v t="$theirs_used" -v f="${flows:-0}" 'BEGIN {
    printf "{\"bench\":\"store_size\",\"octets_a_sample\":%.1f,\"nfdump_octets_a_sample\":%.1f,", u / s, t / s
    printf "\"octets\":%.0f,\"nfdump_octets\":%.0f,\"nfdump_flows\":%d}\n", u, t, f }'
