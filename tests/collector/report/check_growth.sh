#!/bin/bash
# What reports cost grows with their keys and rows, and not with the square of them: instructions that valgrind counts,
# for a day of one switch and of ten, whose pairs of addresses are ten times as many. Each pair may cost half as much again.
. "$(dirname "$0")/../../support/rig.sh"
grep -q __asan_init "$build/collector/easetop" && { skip 'all' 'valgrind does not run sanitized programs'; exit 0; }
for tool in valgrind "$build/tests/bench/make_store"; do
	command -v "$tool" >/dev/null || { skip 'all' "$tool is not there"; exit 0; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

counted() { # AGENTS REPORT [OPTION...]: instructions
	local store=$work/$1.db
	shift
	timeout -k 5 300 valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null "$build/collector/easetop" "$@" \
	    --store "$store" 2>&1 >/dev/null | sed -n 's/.* I *refs: *\([0-9,]*\)$/\1/p' | tr -d ,
}
for agents in 1 10; do
	"$build/tests/bench/make_store" "$work/$agents.db" 1 1 0 $agents >/dev/null 2>&1
	pairs[agents]=$("$build/collector/easetop" talkers --by pair --last all --top 1000000 --format csv --store "$work/$agents.db" | wc -l)
	start[agents]=$(counted $agents agents)
done
expect 'pairs: ten times as many' "$((pairs[10] > 5 * pairs[1] && pairs[1] > 500))" 1
grows() { # NAME REPORT [OPTION...]
	local name=$1 one ten
	shift
	one=$(counted 1 "$@" --last all)
	ten=$(counted 10 "$@" --last all)
	echo "$name: $one and $ten instructions for ${pairs[1]} and ${pairs[10]} pairs"
	expect "$name: a pair costs at most half as much again" "$(awk -v one="$((one - start[1]))" -v ten="$((ten - start[10]))" \
	    -v n="${pairs[1]}" -v m="${pairs[10]}" 'BEGIN { print (one > 0 && ten > 0 && ten / m < 1.5 * one / n) }')" 1
}
grows 'matrix as a grid' matrix
grows 'list of all pairs' talkers --by pair --top 1000000
grows 'conversations' conversations --top 100
