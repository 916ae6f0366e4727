#!/bin/bash
# bench_cost.sh [FRAMES [ROUNDS [TIMES]]]: where the tap's nanoseconds go, and what that makes of a processor at 1, 10 and 100
# Gb/s. bench_linux with frames of 64, 512 and 1,500 octets at tcx (before kernel 6.6 clsact), with the least at clsact, too,
# and beside another processor that sends to the same port; the least of TIMES runs each. One JSON object a line. The last has
# the table that stands in conf/guide/linux-switches.md:
#   tests/bench/bench_cost.sh | jq -r 'select(.bench == "sampling_cost").table[]'
. "$(dirname "$0")/bench_tools.sh"
program=$build/tests/bench/bench_linux
need "$program"
frames=${1:-32000} rounds=${2:-21} times=${3:-3}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

least() { # NAME OCTETS [VARIABLE]: of the runs that in which the program added least, with its name
	local i pinned=(taskset -c 0)
	[ "${3:-}" != BENCH_BESIDE=1 ] || pinned=() # it finds its processors by itself
	for ((i = 0; i < times; i++)); do
		env ${3:+"$3"} "${pinned[@]}" "$program" "$frames" 1000 "$rounds" "$2" 2>>"$dir/err" || return
	done | jq -cs --arg name "$1" 'min_by(.program_adds_ns) + {bench: "sampling_ns", name: $name}'
}
{
	least 'frames of 64 octets' 60 && least 'frames of 512 octets' 508 && least 'frames of 1,500 octets' 1496 &&
	    least 'at clsact' 60 BENCH_CLASSIC=1 &&
	    if [ "$(nproc)" -gt 1 ]; then least 'beside another processor' 60 BENCH_BESIDE=1; fi
} >"$dir/lines" || die "bench_linux: $(tail -n 1 "$dir/err")"
grep -h 'left out' "$dir/err" >&2
[ -s "$dir/lines" ] && jq -e 'select(.octets)' "$dir/lines" >/dev/null || exit 0
cat "$dir/lines"

# Processor time of a second: what each frame costs, and what each sample costs beyond that. A frame takes 20 octets more of
# the wire than it has, for preamble and gap.
jq -cs '
	def percent: if . < 9.95 then . * 10 | round / 10 else round end | "\(.) %";
	def spaced: tostring | [while(. != ""; .[:-3]) | .[-3:]] | reverse | join(",");
	def cost($frames; $skip): ($frames * .program_adds_ns + $frames / $skip * .sample_ns) / 1e7 | percent;
	[.[] | select(.name | startswith("frames"))] as $sizes |
	{bench: "sampling_cost", table: ([
	    "| link | frames of | frames/s | not sampled | 1 in 1,000 | 1 in 10,000 |", "| --- | --- | --- | --- | --- | --- |"] +
	    [(1, 10, 100) as $gbit | $sizes[] | (.octets + 4) as $size | ($gbit * 1e9 / (($size + 20) * 8)) as $frames |
		"| \($gbit) Gb/s | \($size | spaced) octets | \($frames | floor | spaced) | \($frames * .program_adds_ns / 1e7 | percent) " +
		    "| \(cost($frames; 1000)) | \(cost($frames; 10000)) |"])}' "$dir/lines"
