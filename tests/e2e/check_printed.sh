#!/bin/bash
# Lists as they are printed: the whole system in lock step over captures, many seeds and several skips (conf/demo
# --once), and easetop's lists by source, destination and pair of both layers held against what a capture holds,
# counted frame by frame by a program that shares nothing with the collector. Rows are chosen by rank; low and high
# misses are judged apart; the lines of each account must add up to the counters, to the frame.
# Over composed-a.pcap with 4 seeds and two skips. With --long (EASE_LONG) 40 seeds and three skips, and over every other
# capture as many as EASE_SEEDS says (2), pooled by skip. Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../support/rig.sh"
rig_needs_sim
rig_stop
captures=() others=() seeds=4 skips=(20 100)
[ ! -r "${EASE_CAPTURES:-}/composed-a.pcap" ] || captures=("$EASE_CAPTURES/composed-a.pcap")
if [ ${#captures[@]} = 0 ]; then
	skip 'real captures' "EASE_CAPTURES is not set: the demo's own capture is used"
	"$top/conf/make-capture" "$rig/made.pcap" 8 || exit 1
	captures=("$rig/made.pcap")
fi
if [ -n "${EASE_LONG:-}" ]; then
	seeds=40 skips=(20 100 400)
	for capture in ${EASE_CAPTURES:+"$EASE_CAPTURES"/*.pcap*}; do
		[ "$capture" = "${captures[0]}" ] || others+=("$capture")
	done
fi
# EASE_ONLY, a pattern of names, chooses among the others and leaves the first one out.
[ -z "${EASE_ONLY:-}" ] || captures=()

demo() { # CAPTURE SKIP SEED: leaves its store in $rig/SEED.SKIP
	local state=$rig/$3.$2
	EASE_DEMO_BUILT=yes EASE_BUILD=$build EASE_SEED=$3 "$top/conf/demo" --once --skip "$2" --state "$state" "$1" \
	    >"$state.out" 2>&1
}
ask() { "$build/collector/easetop" "${@:2}" --last all --store "sqlite:$1/ease.db"; } # STATE REPORT OPTION...
sources() { ask "$1" talkers --layer eth --by src --top 1000000 --format csv; }
one() { # CAPTURE SKIP SEED: lists of one run in $rig/run.SKIP.SEED.LAYER.BY.json
	local state=$rig/$3.$2 run=$rig/run.$2.$3 layer by
	demo "$@" || return 1
	sources "$state" >"$run.sources.csv" || return 1
	for layer in eth ip; do
		for by in src dst pair; do
			ask "$state" talkers --layer $layer --by $by --sort packets --top 10 --format json \
			    >"$run.$layer.$by.json" || return 1
		done
	done
	rm -rf "$state" "$state.out"
}
value() { jq -r ".$1 // 0" "$rig/tally"; }
# NAME: at least HELD of the limits hold, at most LOW are above the truth; three standard deviations of noise, of a
# third of the limits, because the lists of a run are of the same samples.
held() { # NAME HELD LOW
	local n low high
	n=$(value "$1") low=$(value "${1}_low") high=$(value "${1}_high")
	[ "$n" -ge 20 ] || return 0
	if awk -v n="$n" -v low="$low" -v high="$high" -v held="$2" -v most="$3" 'BEGIN {
	    s = 3 * sqrt((1 - held) * held / (n / 3)); t = 3 * sqrt(most * (1 - most) / (n / 3))
	    exit !(1 - (low + high) / n >= held - s && low / n <= most + t) }'; then
		pass "$label: $1: $(awk -v n="$n" -v l="$low" -v h="$high" 'BEGIN {
		    printf "%.2f %% of %d hold, low %.2f %%, high %.2f %%", 100 * (n - l - h) / n, n, 100 * l / n, 100 * h / n }')"
	else
		fail "$label: $1" "of $n limits $low are above the truth, $high below it"
	fi
}
# All seeds of a capture and a skip: counts in $rig/tally.
measure() { # CAPTURE SKIP SEEDS
	local seed i run runs bad=0
	rm -f "$rig"/run.*
	for ((seed = 1; seed <= $3; seed += 4)); do
		runs=()
		for ((i = seed; i < seed + 4 && i <= $3; i++)); do
			one "$1" "$2" "$i" &
			runs+=($!)
		done
		for run in "${runs[@]}"; do wait "$run" || bad=$((bad + 1)); done
	done
	if [ $bad -gt 0 ]; then
		fail "$label" "$bad of $3 runs failed: $(grep -h '^conf/demo:' "$rig"/*.out; tail -n 3 "$rig"/*.out | head -n 20)"
		rm -f "$rig"/*.out
		return 1
	fi
	[ -e "$rig/places" ] || : >"$rig/places"
	if [ ! -s "$rig/places" ] && cat "$rig"/run.*.json | jq -es 'any(.[]; .account.no_sample.packets > 0)' >"$rig/any"; then
		demo "$1" 1 0 && sources "$rig/0.1" >"$rig/places" || return 1
		rm -rf "$rig"/0.1*
	fi
	# shellcheck disable=SC2046 # names without spaces
	python3 "$top/tests/e2e/printed.py" "$rig/truth" "$rig/places" \
	    $(for ((i = 1; i <= $3; i++)); do echo "$rig/run.$2.$i"; done) >"$rig/tally"
}
count_truth() { # CAPTURE
	rm -f "$rig/places"
	"$build/tests/truth" "$1" >"$rig/truth"
}
certain() { # what no chance can excuse
	expect "$label: limits are in order" "$(value out_of_order)" 0
	expect "$label: accounts add up to the counters" "$(value account_off)" 0
}
by_chance() {
	local lists wrong unit
	for unit in packets octets; do
		held rows_$unit 0.95 0.025
		held lower_$unit 0.95 0.025
		held together_$unit 0.92 0.06
		held unshown_$unit 0.92 0.06
	done
	lists=$(value exact) wrong=$(value wrong_ranks)
	if [ "$wrong" -le $((1 + lists / 20)) ]; then pass "$label: ranks: $wrong of $lists lists are wrong"; else
		fail "$label: ranks" "$wrong of $lists lists are wrong"
	fi
}

for capture in ${captures[@]+"${captures[@]}"}; do
	count_truth "$capture" || exit 1
	for mean in "${skips[@]}"; do
		label="$(basename "$capture"), 1 in $mean"
		measure "$capture" "$mean" $seeds || { failed=1; continue; }
		by_chance
		certain
	done
done
for capture in ${others[@]+"${others[@]}"}; do
	# shellcheck disable=SC2053 # a pattern
	[[ ${capture##*/} == ${EASE_ONLY:-*} ]] || continue
	count_truth "$capture" || exit 1
	for mean in "${skips[@]}"; do
		label="$(basename "$capture"), 1 in $mean"
		measure "$capture" "$mean" "${EASE_SEEDS:-2}" || { failed=1; continue; }
		certain
		jq -c . "$rig/tally" | tee -a "$rig/pool.$mean" | sed "s/^/     $label: /"
	done
done
for mean in "${skips[@]}"; do
	[ -s "$rig/pool.$mean" ] || continue
	label="the other captures, 1 in $mean"
	jq -s 'map(to_entries) | add | group_by(.key) | map({(.[0].key): map(.value) | add}) | add' "$rig/pool.$mean" >"$rig/tally"
	by_chance
done
exit $failed
