#!/bin/bash
# Lists as they are printed: the whole system in lock step over a capture of many sources, many seeds and several skips
# (conf/demo --once), and easetop's lists by source, destination and pair held against what the capture
# holds, counted frame by frame by a program that shares nothing with the collector. Rows are chosen by rank; low
# and high misses are judged apart; the lines of each account must add up to the counters, to the frame.
# With --long (EASE_LONG) 40 seeds and three skips. Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../support/rig.sh"
rig_stop
captures=() seeds=8 skips=(20 100)
[ ! -r "${EASE_CAPTURES:-}/composed-a.pcap" ] || captures=("$EASE_CAPTURES/composed-a.pcap")
if [ ${#captures[@]} = 0 ]; then
	skip 'real captures' "EASE_CAPTURES is not set: the demo's own capture is used"
	"$top/conf/make-capture" "$rig/made.pcap" 8 || exit 1
	captures=("$rig/made.pcap")
fi
[ -z "${EASE_LONG:-}" ] || seeds=40 skips=(20 100 400)

one() { # CAPTURE SKIP SEED: lists of one run in $rig/CAPTURE.SKIP.SEED.BY.json
	local state=$rig/$3.$2 by
	EASE_DEMO_BUILT=yes EASE_BUILD=$build EASE_SEED=$3 "$top/conf/demo" --once --skip "$2" --state "$state" "$1" \
	    >"$state.out" 2>&1 || return 1
	for by in src dst pair; do
		"$build/collector/easetop" talkers --layer eth --by $by --sort packets --top 10 --last all --format json \
		    --store "sqlite:$state/ease.db" >"$rig/list.$2.$3.$by.json" || return 1
	done
	rm -rf "$state"
}
value() { jq -r ".$1 // 0" "$rig/tally"; }
share() { # NAME SIDE: misses on this side of all limits of this name
	jq -r "(.${1}_$2 // 0) / (.$1 // 0)" "$rig/tally"
}
# NAME: at least HELD of the limits hold, at most LOW are above the truth; three standard deviations of noise, of a
# third of the limits, because the three lists of a run are of the same samples.
held() { # NAME HELD LOW
	local n low high
	n=$(value "$1") low=$(share "$1" low) high=$(share "$1" high)
	if awk -v n="$n" -v low="$low" -v high="$high" -v held="$2" -v most="$3" 'BEGIN {
	    s = 3 * sqrt((1 - held) * held / (n / 3)); t = 3 * sqrt(most * (1 - most) / (n / 3))
	    exit !(n >= 20 && 1 - low - high >= held - s && low <= most + t) }'; then
		pass "$label: $1: $(awk -v l="$low" -v h="$high" 'BEGIN { printf "%.2f %%", 100 * (1 - l - h) }') of $n hold, low $low, high $high"
	else
		fail "$label: $1" "of $n limits $low are above the truth, $high below it"
	fi
}

for capture in "${captures[@]}"; do
	"$build/tests/truth" "$capture" >"$rig/truth" || exit 1
	for mean in "${skips[@]}"; do
		label="$(basename "$capture"), 1 in $mean"
		rm -f "$rig"/list.*
		bad=0
		for ((seed = 1; seed <= seeds; seed += 4)); do
			runs=()
			for ((i = seed; i < seed + 4 && i <= seeds; i++)); do
				one "$capture" "$mean" "$i" &
				runs+=($!)
			done
			for run in "${runs[@]}"; do wait "$run" || bad=$((bad + 1)); done
		done
		if [ $bad -gt 0 ]; then
			fail "$label" "$bad of $seeds runs failed: $(tail -n 3 "$rig"/*.out | head -n 20)"
			continue
		fi
		python3 "$top/tests/e2e/printed.py" "$rig/truth" "$rig"/list.*.json >"$rig/tally" || exit 1
		held rows_packets 0.95 0.025
		held rows_octets 0.95 0.025
		held together_packets 0.90 0.06
		held together_octets 0.90 0.06
		held unshown_packets 0.90 0.06
		expect "$label: limits are in order" "$(value out_of_order)" 0
		expect "$label: accounts add up to the counters" "$(value account_off)" 0
		lists=$(value lists) wrong=$(value wrong_ranks)
		if [ "$wrong" -le $((1 + lists / 20)) ]; then pass "$label: ranks: $wrong of $lists lists are wrong"; else
			fail "$label: ranks" "$wrong of $lists lists are wrong"
		fi
	done
done
exit $failed
