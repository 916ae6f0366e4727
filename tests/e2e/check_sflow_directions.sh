#!/bin/bash
# sFlow of switches that sample on ingress, on egress, or both ways (sflow_directions.py): lists count each frame once,
# totals are those of the ports' counters, and intervals hold what each talker sent in truth. Prints PASS, FAIL or SKIP
# lines; exit 1 if one failed. EASE_LONG tries ten times as many switches.
. "$(dirname "$0")/../support/rig.sh"
command -v python3 >/dev/null || { skip 'all' 'python3 is not there'; exit 0; }
rig_new
sed -i 's/^memory = .*/memory = 1024/' "$rig/collector.conf" # all switches have their minutes at one time
seeds=${EASE_LONG:+200}
seeds=${seeds:-20}
python3 "$top/tests/e2e/sflow_directions.py" "$rig/directions.pcap" "$rig/truth" "$seeds" || exit 1
"$build/collector/easecapd" -c "$rig/collector.conf" --import "$rig/directions.pcap" >"$rig/collector.log" 2>&1
expect 'taken' $? 0
ask() { "$build/collector/easetop" "$@" --last all --store "sqlite:$rig/ease.db" --format json; }
total() { awk -v of="$1" '$2 == "total" && index($1, of) == 1 { sum += $3 } END { print sum + 0 }' "$rig/truth"; }

kinds=(ingress egress both)
ask agents >"$rig/agents.json"
for kind in 0 1 2; do
	expect "each switch is known for what it samples: ${kinds[kind]}" \
	    "$(jq --arg of "10.$kind." '[.rows[] | select(.address | startswith($of)).sampled_on] | unique | join(" ")' "$rig/agents.json")" "\"${kinds[kind]}\""
	for ((n = 1; n <= seeds; n++)); do
		ask talkers --by src --sort packets --top 100 --agent "10.$kind.0.$n" |
		    jq -r --arg name "10.$kind.0.$n" '"\($name) total \(.totals.packets)",
		        (.rows[] | "\($name) \(.src) \(.packets.estimate) \(.packets.low) \(.packets.high)")'
	done >"$rig/told"
	awk -v of="10.$kind." -v kind="${kinds[kind]}" '
	    index($1, of) != 1 { next }
	    FNR == NR { truth[$1, $2] = $3; next }
	    $2 == "total" { totals++; good += $3 == truth[$1, "total"]; next }
	    { rows++; held += $4 <= truth[$1, $2] && truth[$1, $2] <= $5; error += $3 - truth[$1, $2]; sum += truth[$1, $2] }
	    END {
		printf "%s %d\n", (good == totals ? "exact" : good " of " totals), totals
		printf "%s\n", (held / rows >= 0.95 - 3 * sqrt(0.95 * 0.05 / rows) ? "held" : held " of " rows)
		printf "%s\n", (error * error < sum * sum / 10000 ? "unbiased" : error / sum)
		printf "    %s: %d of %d intervals hold\n", kind, held, rows >"/dev/stderr"
	    }' "$rig/truth" "$rig/told" >"$rig/verdict"
	expect "totals are counted, intervals hold, nothing is counted twice: ${kinds[kind]}" \
	    "$(paste -sd' ' "$rig/verdict")" "exact $seeds held unbiased"
done
ask talkers --by src >"$rig/all.json"
expect 'of all three kinds together each frame counts once' "$(jq .totals.packets "$rig/all.json")" "$(total 10.)"
expect 'lists say what they are of' "$(jq .sampled_on_egress.n_agents "$rig/all.json")" "$seeds"
expect 'and so does the audit' "$(ask audit --agent 10.1.0.1 | jq -r '[.rows[].sampled_on // empty] | unique | join(" ")')" egress
expect 'as text, too' "$("$build/collector/easetop" loss --last all --agent 10.1.0.1 --store "sqlite:$rig/ease.db" | grep -c '^Sampled on egress: 10.1.0.1\.')" 1
# a filter that only kept samples answer
expect 'kept samples are counted the same way' \
    "$(ask talkers --by src --agent 10.1.0.1 --filter 'src host 10.99.1.1 and dst 10.98.0.1 and proto udp' | jq -c '[.rows[].src]')" '["10.99.1.1"]'
exit $failed
