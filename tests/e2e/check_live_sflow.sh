#!/bin/bash
# Live sFlow, in real time for ten minutes: our own agent sends samples and, every 30 s, counters as sFlow; every 10 s
# easetop reports the last 1 and 5 minutes. Each report is held against the frames that the emulated board received
# from the report's own "from" to its own "to" (tests/e2e/live_sflow.py): the rate must be unbiased, limits of rows
# must hold. tests/collector/report/check_edge.c does the same by a stepped clock. Only with --long (EASE_LONG).
# Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../support/rig.sh"
[ -n "${EASE_LONG:-}" ] || { skip 'all' 'it takes ten minutes of real time, so it runs only with --long'; exit 0; }
seconds=600 every=10 seed=${EASE_SEED:-1}
echo "     live_sflow: EASE_SEED=$seed"
live() { python3 "$top/tests/e2e/live_sflow.py" "$@"; }

rig_new
live make "$rig/live.pcap" "$rig/frames" $((seconds + 120)) "$seed" || exit 1
sflow_port=$(free_port)
printf 'sflow_listen = {"127.0.0.1:%s"}\nsample_rows = 0\n' "$sflow_port" >>"$rig/collector.conf"
rig_start "$rig/live.pcap" recorded 'mean_skip = 20' 'counters_interval_s = 30' 'notify_samples = false' \
    "sflow_collector = \"127.0.0.1:$sflow_port\"" || exit 1

. "$top/tests/support/board_readings.sh"
mkdir "$rig/looks"
start=$SECONDS
for ((look = 1; look * every <= seconds; look++)); do
	left=$((start + look * every - SECONDS))
	[ $left -le 0 ] || sleep $left
	for minutes in 1 5; do
		easetop talkers --by src --last "${minutes}m" --top 1000 --format json >"$rig/looks/$minutes.$look.json" ||
		    fail "the look at $((look * every)) s" 'easetop failed'
	done
done
rig_agent_stop

live judge "$rig/frames" "$rig/readings" "$rig/looks" >"$rig/figures" || fail 'the judge' 'it failed'
of() { jq -r --arg minutes "$minutes" ".[\$minutes] | $*" "$rig/figures"; } # FILTER
holds() { [ "$(of "$1")" = true ]; } # FILTER
for minutes in 1 5; do
	name="last $minutes min, $(of .looks) looks"
	if holds '.looks >= 20 and .behind_s <= 30'; then pass "$name: ended $(of .behind_s) s before the newest data"
	else fail "$name" "too few, or ended $(of .behind_s) s before the newest data"; fi
	for unit in packets octets; do
		figures=$(of ".$unit | \"rate/true \(.ratio), worst look off by \(.worst); \(.limits) limits: \(.low) of" \
		    "them above the truth, \(.high) below it\"")
		if holds ".$unit | (.ratio - 1 | fabs) <= 0.02 and .hold"; then pass "$name: $unit: $figures"
		else fail "$name: $unit" "$figures"; fi
	done
done
exit $failed
