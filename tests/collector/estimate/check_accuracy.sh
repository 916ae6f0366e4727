#!/bin/bash
# Do 95 % intervals hold the truth, and are lower limits not above it too often? Runs build/tests/accuracy
# over every ordinary capture at several skips, pools what it counted, and holds that to the bars: straight, then
# with notifications lost, doubled and out of order, with rate changes in mid window and periodic
# traffic. With --long (EASE_LONG) all skips and 1,000 seeds each, 100 where notifications are
# disturbed unless EASE_SEEDS says how many. PASS, FAIL, SKIP lines.
set -u
export LC_ALL=C
top=$(cd "$(dirname "$0")/../../.." && pwd)
build=${EASE_BUILD:-$top/build}
failed=0
for need in jq "$build/tests/accuracy"; do
	if ! command -v "$need" >/dev/null; then
		echo "SKIP accuracy: ${need##*/} is not there"
		exit 0
	fi
done
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

sanitized=false # then some are enough: figures are the same, and take ten times as long
grep -q __asan_init "$build/tests/accuracy" && sanitized=true
if [ -n "${EASE_CAPTURES:-}" ]; then
	captures=("$EASE_CAPTURES"/*.pcap*)
	seeds=20 impaired_seeds=5 skips=(10 100)
	[ -z "${EASE_LONG:-}" ] || $sanitized || seeds=1000 impaired_seeds=${EASE_SEEDS:-100} skips=(10 30 100 300 1000)
else
	echo 'SKIP accuracy over real captures: no captures at hand (EASE_CAPTURES)'
	"$top/conf/make-capture" "$dir/made.pcap" 8 || exit 1
	captures=("$dir/made.pcap")
	seeds=200 impaired_seeds=50 skips=(10 100)
fi

# NAME SEEDS OPTION...: one line for each class and figure, pooled: trials, part covered, root mean
# square of error by theory, largest error of port totals, largest error of the reported loss.
measure() {
	local runs=$1 capture options
	shift
	mapfile -t options < <(printf -- '--skip\n%s\n' "${skips[@]}")
	for capture in "${captures[@]}"; do
		"$build/tests/accuracy" "$capture" "${options[@]}" --runs "$runs" --seed 1 "$@" || echo '{"failed":true}'
	done 2>>"$dir/errors" | jq -rs '
	    if any(.failed) then "failed" else
	    group_by(.class, .figure)[] | (map(.trials) | add) as $trials | select($trials > 0) |
	    [.[0].class, .[0].figure, $trials,
	    (map((.covered // 0) * .trials) | add) / $trials,
	    ((map(.rms_ratio * .rms_ratio * .trials) | add) / $trials | sqrt),
	    (map(.port_total_error | fabs) | max), (map(.loss_error_max // 0) | max),
	    (map((.below_low // 0) * .trials) | add) / $trials] | @tsv end'
}

# NAME LOW-PACKETS HIGH-PACKETS LOW-OCTETS HIGH-OCTETS RMS BELOW: of measure's lines on standard input. BELOW: of so
# many trials at most the truth is below the lower limit. Limits that are - are not held to; a bar has room for the
# noise of few seeds.
judge() {
	awk -F '\t' -v name="$1" -v low_packets="$2" -v high_packets="$3" -v low_octets="$4" \
	    -v high_octets="$5" -v rms="$6" -v below="$7" '
	$1 == "failed" { print "FAIL accuracy " name ": the command failed"; bad = 1; exit }
	{
		low = $2 == "packets" ? low_packets : low_octets
		high = $2 == "packets" ? high_packets : high_octets
		noise = 3 * sqrt(0.05 * 0.95 / $3)
		why = ""
		if (low != "-" && ($4 < low - noise || $4 > high + noise)) why = why " coverage"
		if (rms != "-" && ($5 < 1 - rms - noise || $5 > 1 + rms + noise)) why = why " error"
		if (below != "-" && $8 > below + 3 * sqrt(0.025 * 0.975 / $3)) why = why " below"
		if ($6 != 0) why = why " port-totals"
		if ($7 > 0.01) why = why " reported-loss"
		line = sprintf("%s, %s %s: %.2f %% of %d hold the truth, %.2f %% below, error %.3f of theory, " \
		    "port totals off by %g, loss by %.4f", name, $1, $2, 100 * $4, $3, 100 * $8, $5, $6, $7)
		if (why == "") print "PASS accuracy " line
		else { print "FAIL accuracy " line ": beyond the bar:" why; bad = 1 }
		all[$2] += $3; held[$2] += $3 * $4
	}
	END {
		for (figure in all)
			printf "     accuracy %s, all classes, %s: %.2f %%\n", name, figure, 100 * held[figure] / all[figure]
		exit bad + (NR == 0)
	}' || failed=1
}

measure $seeds | judge 'straight' 0.94 0.97 0.93 0.97 0.05 0.028
measure $seeds --expected-least 3 --expected-most 10 |
    judge 'straight, 3 to 10 samples expected' 0.94 0.98 0.93 0.98 - 0.028
measure $seeds --draw uniform | judge 'uniform skips' - - - - - -
for lose in 0.05 0.3; do
	impaired=(--lose $lose --duplicate 0.1 --reorder 0.3)
	measure $impaired_seeds "${impaired[@]}" |
	    judge "$lose lost, doubled, out of order" 0.93 0.97 0.93 0.97 - 0.035
	measure $impaired_seeds "${impaired[@]}" --rate-change |
	    judge "$lose lost, rate changes" 0.93 0.97 0.93 0.97 - 0.035
	measure $impaired_seeds "${impaired[@]}" --periodic |
	    judge "$lose lost, periodic traffic" 0.93 0.97 0.93 0.97 - 0.035
done

# New connections, of servers and sources of 5 expected SYNs and more. Their truth is counted beside tshark's.
if [ -z "${EASE_CAPTURES:-}" ]; then
	echo 'SKIP accuracy of new connections: no captures at hand (EASE_CAPTURES)'
else
	capture=$EASE_CAPTURES/composed-a.pcap
	"$build/tests/truth" "$capture" | jq -r '.syn_servers.rows[] | "\(.src) \(.dst) \(.packets)"' | sort >"$dir/ours"
	if command -v tshark >/dev/null; then
		tshark -n -r "$capture" -Y 'tcp.flags.syn == 1 && tcp.flags.ack == 0' -T fields -E occurrence=f \
		    -e frame.protocols -e ip.dst -e ipv6.dst -e tcp.dstport 2>/dev/null |
		    awk -F '\t' '$1 ~ /^eth:ethertype(:(vlan|ieee8021ad):ethertype)*:ip(v6)?(:ipv6[.][a-z]*)*:tcp/ { n[$2 $3 " " $4]++ }
			END { for (key in n) print key, n[key] }' | sort >"$dir/theirs"
		if [ -s "$dir/ours" ] && cmp -s "$dir/ours" "$dir/theirs"; then
			echo "PASS accuracy: the truth has the SYNs of $(wc -l <"$dir/ours") servers, as tshark has"
		else
			echo "FAIL accuracy: SYNs of the truth and of tshark: $(diff "$dir/ours" "$dir/theirs" | sed -n 2p)"
			failed=1
		fi
	fi
	captures=("$capture") skips=(4 10)
	measure $((5 * seeds)) --syn --expected-least 5 | grep -v octets | judge 'new connections' 0.94 0.97 - - 0.05 0.028
fi
if [ -s "$dir/errors" ]; then
	echo "FAIL accuracy: $(head -1 "$dir/errors")"
	failed=1
fi
exit $failed
