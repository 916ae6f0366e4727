#!/bin/bash
# full_store.sh [HOURS [BUSY-MINUTES [ROUNDS]]]: bench_full_store as one table: each answer's median and longest time
# over all ranges, and what was received without readers and with them. 24 hours with 60 busy minutes, 18 million
# samples, are the default: within 25 minutes on two cores that do nothing else. The raw lines stay in full_store.json
# of the build. Exit 1 if an answer failed, a median is over one second, a time over three, or a sample was lost.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${EASE_BUILD:-$top/build}
lines=$build/full_store.json
make -C "$build" collector/easecapd collector/easetop tests/bench/bench_full_store >/dev/null || exit 1
(cd "$build" && tests/bench/bench_full_store "${1:-24}" "${2:-60}" "${3:-5}") | tee "$lines" |
    jq -rc 'select(.bench == "full_store") | "\(.hours) h, \(.samples) samples, \(.mib) MiB, filled in \(.fill_s) s"'
jq -rs '
    def bad: .status != 200 and .status != 0 or .median_s > 1 or .longest_s > 3;
    ["ASKED", "LAST", "STATUS", "MEDIAN s", "LONGEST s", "CPU s", ""],
    (map(select(.bench == "full_store_answer")) | sort_by(-.longest_s)[] |
        [.asked, .last, .status, .median_s, .longest_s, .cpu_s, (if bad then "TOO LONG" else "" end)]),
    ["RECEIVING", "READERS", "", "sent/s", "LOST", "CPU s", ""],
    (.[] | select(.bench == "full_store_received") |
        [.bench[11:], .readers, "", .sent_per_s, .kernel_drops, .collector_cpu_s,
        (if .kernel_drops > 0 then "LOST" else "" end)])
    | @tsv' "$lines" | column -t -s "$(printf '\t')"
jq -es '(map(select(.bench == "full_store_answer")) |
        length > 0 and all((.status == 200 or .status == 0) and .median_s <= 1 and .longest_s <= 3)) and
    (map(select(.bench == "full_store_received")) | length == 2 and all(.kernel_drops == 0))' "$lines" >/dev/null
