#!/bin/bash
# make bench: every figure of the project with a named, packaged peer on the same input in the same
# run, one JSON object a line, medians of several runs. The capture is EASE_CAPTURES/composed-a.pcap
# if that folder is there, else the demo's own. Loopback only; takes a quarter of an hour.
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
build=${EASE_BUILD:-$top/build}
runs=${BENCH_RUNS:-5}
dir=$(mktemp -d)
# Peers cannot have a large socket buffer unless everybody may: for this run everybody may.
limit=/proc/sys/net/core/rmem_max
before=$(<$limit)
trap 'echo "$before" 2>/dev/null >$limit; rm -rf "$dir"' EXIT

"$top/conf/install-packages" test || exit 1
captures=${EASE_CAPTURES:-$top/../shared/captures}
capture=$captures/composed-a.pcap
if [ ! -r "$capture" ]; then
	capture=$dir/demo.pcap
	"$top/conf/make-capture" "$capture" || exit 1
fi

median_by() { # KEY: of JSON lines, the one in the middle by that number
	awk -v key="\"$1\":" '{ at = index($0, key); rest = substr($0, at + length(key)); print rest + 0 "\t" $0 }' |
	    sort -g | cut -f2- | awk '{ line[NR] = $0 } END { print line[int((NR + 1) / 2)] }'
}
switch() { # BOARD SKIP
	for _ in $(seq "$runs"); do
		"$build/tests/bench_switch" "$capture" "$top/conf/boards/$1.conf" "$2" 2
	done | median_by ratio
}

"$build/tests/bench_frame" "$capture"
switch gt48001a-8port 512
switch stack-26port 512
EASE_BUILD=$build ROUNDS=$runs "$top/tests/bench_snmp.sh"
EASE_BUILD=$build "$top/tests/bench_walk.sh"
(cd "$build" && tests/bench_collector 2)
[ "$before" -ge 33554432 ] || echo 33554432 2>/dev/null >$limit ||
    echo "bench: net.core.rmem_max stays $before: sfacctd and sfcapd have smaller buffers" >&2
(cd "$build" && tests/bench_sflow 4 100000 "${BENCH_LOSSLESS_RUNS:-2}")
