#!/bin/bash
# make bench: every figure of the project with a named, packaged peer on the same input in the same
# run, one JSON object a line, medians of several runs. The capture is EASE_CAPTURES/composed-a.pcap
# if that folder is there, else the demo's own. Loopback only; takes a quarter of an hour.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
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
# The emulated switch and its peers take turns, so that all meet the same machine; what a peer had of
# the processor counts, as it does for the switch. The file is a capture looped to 4 million frames.
processor_s() { # COMMAND...: user and system seconds
	local TIMEFORMAT='%U %S'
	{ time "$@" >"$dir/out" 2>&1; } 2>&1 | awk '{ print $1 + $2 }'
}
peer() { # NAME FRAMES COMMAND...
	processor_s "${@:3}" | awk -v name="$1" -v n="$2" '$1 > 0 {
	    printf "{\"bench\":\"%s\",\"frames\":%d,\"frames_per_s\":%.0f}\n", name, n, n / $1 }'
}
switch_rounds() { # BOARD
	local frames board=$top/conf/boards/$1.conf
	frames=$("$build/tests/bench/bench_switch" loop "$capture" 4000000 "$dir/loop.pcap") || return
	mkdir -p "$dir/nfcapd"
	for _ in $(seq "$runs"); do
		"$build/tests/bench/bench_switch" savefile "$dir/loop.pcap" "$board" 512 2 >>"$dir/savefile"
		"$build/tests/bench/bench_switch" libpcap "$dir/loop.pcap" 2 >>"$dir/libpcap"
		peer softflowd "$frames" softflowd -r "$dir/loop.pcap" -d >>"$dir/softflowd"
		peer nfpcapd "$frames" nfpcapd -r "$dir/loop.pcap" -l "$dir/nfcapd" >>"$dir/nfpcapd"
		"$build/tests/bench/bench_switch" memory "$capture" "$board" 512 2 >>"$dir/memory"
	done
	rm -f "$dir/loop.pcap"
	for what in savefile libpcap softflowd nfpcapd memory; do
		median_by frames_per_s <"$dir/$what"
	done | tee "$dir/medians"
	# How many times as fast as each peer, by the medians.
	awk '{ at = index($0, "\"frames_per_s\":"); per_s[NR] = substr($0, at + 15) + 0 } END {
	    printf "{\"bench\":\"switch\",\"of_libpcap\":%.2f,\"of_softflowd\":%.2f,\"of_nfpcapd\":%.2f}\n",
	    per_s[1] / per_s[2], per_s[1] / per_s[3], per_s[1] / per_s[4] }' "$dir/medians"
}

"$build/tests/bench/bench_frame" "$capture"
switch_rounds full-26port
"$build/tests/bench/bench_switch" curves "$capture"
EASE_BUILD=$build ROUNDS=$runs "$top/tests/bench/bench_snmp.sh"
EASE_BUILD=$build ROUNDS=$runs "$top/tests/bench/bench_sample.sh"
EASE_BUILD=$build "$top/tests/bench/bench_walk.sh"
"$build/tests/bench/bench_linux"
[ ! -x "$build/tests/bench/bench_sonic" ] || "$build/tests/bench/bench_sonic"
EASE_BUILD=$build "$top/tests/bench/bench_ports.sh"
EASE_BUILD=$build "$top/tests/bench/bench_psample.sh"
(cd "$build" && tests/bench/bench_collector 2)
(cd "$build" && tests/bench/bench_storm 5)
(cd "$build" && tests/bench/bench_store)
(cd "$build" && tests/bench/bench_disk "${BENCH_DISK_HOURS:-25}")
# shellcheck disable=SC2086 — "168 1440" is the whole size
(cd "$build" && tests/bench/bench_full_store ${BENCH_FULL_STORE:-})
"$build/tests/bench/bench_agents"
"$build/tests/bench/bench_estimate"
EASE_BUILD=$build ROUNDS=$runs "$top/tests/bench/bench_report.sh"
EASE_BUILD=$build ROUNDS=$runs "$top/tests/bench/bench_cluster.sh"
EASE_BUILD=$build "$top/tests/bench/bench_live.sh"
[ "$before" -ge 33554432 ] || echo 33554432 2>/dev/null >$limit ||
    echo "bench: net.core.rmem_max stays $before: sfacctd and sfcapd have smaller buffers" >&2
(cd "$build" && tests/bench/bench_sflow 4 100000 "${BENCH_LOSSLESS_RUNS:-2}")
