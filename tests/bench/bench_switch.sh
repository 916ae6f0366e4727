#!/bin/bash
# bench_switch.sh CAPTURE [FRAMES [SECONDS]]: the emulated switch and its peers take turns, so that all meet the same
# machine; what a peer had of the processor counts, as it does for the switch. The file is the capture looped to FRAMES
# (4 million); medians of ROUNDS rounds. One JSON object a line.
. "$(dirname "$0")/bench_tools.sh"
capture=$1 n=${2:-4000000} seconds=${3:-2}
board=$top/conf/boards/full-26port.conf switch=$build/tests/bench/bench_switch
need softflowd nfpcapd jq "$switch"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/nfcapd"

peer() { # NAME COMMAND...
	local TIMEFORMAT='%U %S'
	{ time "${@:2}" >"$dir/out" 2>&1; } 2>"$dir/time"
	awk -v name="$1" -v n="$frames" '{ s = $1 + $2 } END { if (s <= 0) s = 0.001 # it reads no shorter time
	    printf "{\"bench\":\"%s\",\"frames\":%d,\"frames_per_s\":%.0f}\n", name, n, n / s }' "$dir/time"
}
frames=$("$switch" loop "$capture" "$n" "$dir/loop.pcap") || die 'no loop can be made'
for _ in $(seq "${ROUNDS:-5}"); do
	"$switch" savefile "$dir/loop.pcap" "$board" 512 "$seconds" >>"$dir/savefile" || exit 1
	"$switch" libpcap "$dir/loop.pcap" "$seconds" >>"$dir/libpcap" || exit 1
	peer softflowd softflowd -r "$dir/loop.pcap" -d >>"$dir/softflowd"
	peer nfpcapd nfpcapd -r "$dir/loop.pcap" -l "$dir/nfcapd" >>"$dir/nfpcapd"
	"$switch" memory "$capture" "$board" 512 "$seconds" >>"$dir/memory" || exit 1
done
for what in savefile libpcap softflowd nfpcapd memory; do
	jq -sc 'sort_by(.frames_per_s)[(length - 1) / 2 | floor]' "$dir/$what"
done
