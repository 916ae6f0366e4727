#!/bin/bash
# A list of many keys from a ClickHouse server: 60,000 pairs of hosts (with EASE_LONG 150,000) at 48 ports,
# made by the server itself. The servers rank them and easetop fetches those near the first rows alone; what it then
# shows must be what it shows when all are fetched, as a list of more rows than are ranked does: figures,
# limits, ranks against all keys, the others and the rest. And what a page shows of a cluster, and what is
# said where there is no answer. Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../../support/rig.sh"
. "$(dirname "$0")/../../support/clickhouse.sh"
reason=$(clickhouse_missing) && { skip 'all' "$reason"; exit 0; }
clickhouse_start 1 || { fail 'a server starts' "$(tail -n 3 "$clickhouse/0/error.log")"; exit 1; }

minute=1767225600000000
cat >"$rig/easecapd.conf" <<END
store = "$rig/ease.db"
communities = {"public"}
clickhouse = {"http://127.0.0.1:${clickhouse_http[0]}/ease"}
END
while IFS= read -r sql; do
	[ -z "$sql" ] || [[ $sql == --* ]] || ch 0 "${sql%;}"
done < <("$build/collector/easecapd" -c "$rig/easecapd.conf" --clickhouse-schema)

# Pair i of port 1 + i % 48 has a sample for every 20,000 / (i + 1), of weight 100 and some length.
agent="toFixedString('agent001', 8)"
n_pairs=${EASE_LONG:+150000}
n_pairs=${n_pairs:-60000}
pairs="(SELECT toUInt32(1 + number % 48) AS port, unhex(hex(toUInt32(167772160 + cityHash64(number) % 30000))) AS src,
    unhex(hex(toUInt32(3232235520 + number))) AS dst, toUInt64(1 + intDiv(20000, number + 1)) AS samples,
    100 + cityHash64(number, 1) % 1400 AS octets FROM numbers($n_pairs))"
sums="toUInt64(sum(samples)), sum(samples * 100.), sum(samples * 10000.), sum(samples * 100. * octets),
    sum(samples * 100. * octets * octets), sum(samples * 10000. * octets * octets), 0., 0."
summed="n, w, w2, wb, wb2, w2b2, any_pkts, any_octets"
ch 0 "INSERT INTO ease.keys (level, kind, start_us, agent, if_index, direction, key1, key2, collector, $summed,
    same_pkts, same_octets, same1_pkts, same1_octets, same2_pkts, same2_octets, revision)
    SELECT 1, 2, $minute, $agent, port, 1, src, dst, 1, $sums, 0., 0., 0., 0., 0., 0., 1 FROM $pairs
    GROUP BY port, src, dst"
# As if each frame were a SYN to port 443.
ch 0 "INSERT INTO ease.keys (level, kind, start_us, agent, if_index, direction, key1, key2, collector, $summed,
    same_pkts, same_octets, same1_pkts, same1_octets, same2_pkts, same2_octets, revision)
    SELECT 1, 12, start_us, agent, if_index, direction, key1, concat(key2, unhex('01BB')), collector, $summed,
    same_pkts, same_octets, same1_pkts, same1_octets, same2_pkts, same2_octets, revision FROM ease.keys WHERE kind = 2"
ch 0 "INSERT INTO ease.ports (level, start_us, agent, if_index, direction, collector, $summed, pool_pkts,
    pool_octets, expected, received, w_max, revision)
    SELECT 1, $minute, $agent, port, 1, 1, $sums, sum(samples * 101.), sum(samples * 101. * octets),
    sum(samples) * 1., sum(samples) * 1., 100., 1 FROM $pairs GROUP BY port"
ch 0 "INSERT INTO ease.agent VALUES ('agent001', 1, '192.0.2.1', $minute, $minute + 59000000, $minute, 1, 1)"
ch 0 "INSERT INTO ease.cover VALUES ($minute, 'agent001', 1, 1000, $minute, $minute + 59000000, 1)"
ch 0 "INSERT INTO ease.port SELECT $agent, number + 1, $minute, 1, concat('p', toString(number + 1)), '', 0, 0, 1, 1,
    0, number < 47, 1, 1 FROM numbers(48)"

export EASETOP_STORE=clickhouse:http://127.0.0.1:${clickhouse_http[0]}/ease
ask() { # REPORT OPTION...
	"$build/collector/easetop" "$@" --last all --format json
}
statements() { ch 0 "SELECT value FROM system.events WHERE event = 'Query'"; }
first_rows() { jq -c '[.rows[0:20][] | del(.rank)]'; }
# Fewer rows are fewer pairs that must be right together: ranks of 20 rows lie in those of 2,001.
ranks_lie_within() { jq -cn --slurpfile a "$1" --slurpfile b "$2" \
	'[range(20) | $a[0].rows[.].rank as $x | $b[0].rows[.].rank as $y | $x[0] >= $y[0] and $x[1] <= $y[1] and
	    $x[0] <= . + 1 and $x[1] >= . + 1] | all'; }
sum_of() { jq -c '[.samples, .totals, (.rest // {} | .samples)]'; }

compare() { # NAME REPORT OPTION...
	local name=$1 before middle after
	shift
	before=$(statements)
	ask "$@" --top 20 >"$rig/ranked.json" 2>"$rig/ranked.err"
	middle=$(statements)
	ask "$@" --top 2001 >"$rig/all.json" 2>"$rig/all.err"
	after=$(statements)
	expect "$name: ranks" "$(ranks_lie_within "$rig/ranked.json" "$rig/all.json")" true
	expect "$name: keys not seen" "$(jq -c '.account.not_seen' "$rig/ranked.json")" \
	    "$(jq -c '.account.not_seen' "$rig/all.json")"
	expect "$name: rows and limits" "$(first_rows <"$rig/ranked.json")" "$(first_rows <"$rig/all.json")"
	expect "$name: totals and rest" "$(sum_of <"$rig/ranked.json")" "$(sum_of <"$rig/all.json")"
	expect "$name: all keys are told" \
	    "$(jq '.others.keys + (.rows | length)' "$rig/ranked.json")" \
	    "$(jq '.others.keys + (.rows | length)' "$rig/all.json")"
	expect "$name: no sample is missing" \
	    "$(jq '.others.samples + ([.rows[].samples] | add)' "$rig/ranked.json")" \
	    "$(jq '.others.samples + ([.rows[].samples] | add)' "$rig/all.json")"
	if [ $((middle - before)) -gt $((after - middle)) ]; then
		pass "$name: the server ranks"
	else
		fail "$name: the server ranks" "$((middle - before)) statements, $((after - middle)) without"
	fi
}
expect 'all pairs are there' "$(ch 0 'SELECT count() FROM ease.keys WHERE kind = 2')" "$n_pairs"
compare 'pairs' talkers --by pair
before=$(statements)
"$build/collector/easetop" matrix --last all >"$rig/grid"
middle=$(statements)
expect 'grid: eight addresses, and all other pairs are told' \
    "$(grep -c '^[1-8] ' "$rig/grid") $(($(grep -o '±' "$rig/grid" | wc -l) + $(sed -n 's/,//g; s/ more pairs.*//p' "$rig/grid")))" \
    "8 $(jq '.others.keys + (.rows | length)' "$rig/all.json")"
if [ $((middle - before)) -gt 9 ]; then pass 'grid: the server ranks'; else fail 'grid: the server ranks' "$((middle - before)) statements"; fi
compare 'pairs by packets' talkers --by pair --sort packets
compare 'destinations of a prefix' talkers --by dst --addr 192.168.0.0/15
compare 'servers' connections
ask connections --addr 192.168.0.0/15 --top 5 >"$rig/servers.json"
expect 'servers of a prefix are its destinations, port 443' "$(jq -c '[.rows[] | [.dst, .dst_port, .packets]]' "$rig/servers.json")" \
    "$(ask talkers --by dst --sort packets --addr 192.168.0.0/15 --top 5 | jq -c '[.rows[] | [.dst, 443, .packets]]')"

# The page shows the cluster where it is told to, its counters stay the collector's own.
cat >>"$rig/easecapd.conf" <<END
listen = {"127.0.0.1:0"}
senders = {"127.0.0.1"}
http_listen = "127.0.0.1:0"
http_question = 60000
http_store = clickhouse
END
"$build/collector/easecapd" -c "$rig/easecapd.conf" -f >"$rig/out" 2>"$rig/collector.log" &
collector_pid=$!
wait_for 10 grep -q '^page at' "$rig/out" || fail 'the page of a cluster' 'does not start'
page=$(sed -n 's/^page at //p' "$rig/out")
what='{report, samples, totals, rows: .rows[0:5]}'
expect 'the page of a cluster' "$(curl -s --max-time 60 --noproxy '*' "${page}api/v1/talkers?last=all&by=pair&top=5" | jq -c "$what")" \
    "$(ask talkers --by pair --top 5 | jq -c "$what")"
expect 'agents of a cluster on the page' "$(curl -s --max-time 60 --noproxy '*' "${page}api/v1/status" | jq .agents)" 1
expect 'metrics have the lag that an alert is on' \
    "$(curl -s --max-time 60 --noproxy '*' "${page}metrics" | grep -c '^easeswitch_collector_ship_lag_seconds ')" 1
expect 'metrics stay the own' "$(curl -s --max-time 60 --noproxy '*' "${page}metrics" | grep -c 'agent="192.0.2.1"')" 0
rig_end "$collector_pid"
collector_pid=''

# Two ports of sFlow: 300 samples of each, of which one says that it takes 1 in 400 of twice 60,000 frames, and so does
# the other, which takes 1 in 667.
sflow="'agent002', 1700000000"
ch 0 "INSERT INTO ease.agent VALUES ($sflow, '192.0.2.2', $minute, $minute + 60000000, $minute, 1, 1)"
ch 0 "INSERT INTO ease.cover VALUES ($minute, 'agent002', 1, 600, $minute, $minute + 60000000, 1)"
for port in '1 400 120000' '2 667 200100'; do
	read -r port weight frames <<<"$port"
	ch 0 "INSERT INTO ease.port VALUES ('agent002', $port, $minute, 1, 'e$port', '', 0, 0, 1, 1, 0, 1, 1, 1)"
	ch 0 "INSERT INTO ease.ports (level, start_us, agent, if_index, direction, collector, $summed, pool_pkts, pool_octets,
	    expected, received, w_max, revision) VALUES (1, $minute, 'agent002', $port, 1, 1, 300, 300. * $weight,
	    300. * $weight * $weight, 1, 1, 1, 0, 0, $frames, 100. * $frames, 300, 300, $weight, 1)"
	ch 0 "INSERT INTO ease.sample (agent, boot, if_index, sequence, time_us, direction, skip, mean_skip, stands_for,
	    frame_octets, collector, revision) SELECT $sflow, $port, number + 1, $minute + number * 190000, 1, 399, $weight, 1,
	    100, 1, 1 FROM numbers(300)"
	ch 0 "INSERT INTO ease.counter (level, agent, boot, if_index, time_us, in_octets, in_ucast, collector, revision)
	    SELECT 1, $sflow, $port, $minute + number * 59999999, number * 100 * $frames, number * $frames, 1, 1 FROM numbers(2)"
done
expect 'CHECK is of what sFlow states' "$(ask load --agent 192.0.2.2 | jq -c '[.rows[].check]')" '["ok","mismatch -40%"]'
ch 0 'TRUNCATE TABLE ease.sample'
expect 'without samples it goes by weights' "$(ask load --agent 192.0.2.2 | jq -c '[.rows[].check]')" '["ok","ok"]'

# Eight hours of a port that loses 3 % of its samples in quiet minutes and a quarter in busy ones; of another the same part
# of all.
from=$((minute - 480 * 60000000))
for agent in '3 0.97 0.75' '4 0.85 0.85'; do
	read -r agent quiet busy <<<"$agent"
	ch 0 "INSERT INTO ease.agent VALUES ('agent00$agent', 1, '192.0.2.$agent', $from, $minute, $minute, 1, 1)"
	ch 0 "INSERT INTO ease.cover SELECT $from + number * 60000000, 'agent00$agent', 1, 800, $from + number * 60000000,
	    $from + number * 60000000 + 59000000, 1 FROM numbers(480)"
	ch 0 "INSERT INTO ease.port VALUES ('agent00$agent', 1, $from, 1, 'l', '', 0, 0, 1, 1, 0, 1, 1, 1)"
	ch 0 "INSERT INTO ease.ports (level, start_us, agent, if_index, direction, collector, $summed, pool_pkts, pool_octets,
	    expected, received, w_max, revision) WITH cityHash64(number, $agent) % 3 = 0 AS is_busy,
	    if(is_busy, 300, 100) AS numbers, toUInt64(round(numbers * if(is_busy, $busy, $quiet))) AS came
	    SELECT 1, $from + number * 60000000, 'agent00$agent', 1, 1, 1, came, came * 100., came * 10000., came * 10000.,
	    came * 1e6, came * 1e8, 0, 0, numbers * 100., numbers * 10000., numbers, came, 100., 1 FROM numbers(480)"
done
expect 'loss by load is told of a cluster' "$(for agent in 3 4; do ask talkers --agent 192.0.2.$agent; done |
    jq -c '[.completeness > 0.8, (.lost_by_load[]? | [.port, (.lost_quiet_percent | round), (.lost_busy_percent | round)])]')" \
    '[true,["l",3,25]]
[true]'

# What cannot be answered says why.
refused() { # NAME URL TEXT
	local said
	said=$("$build/collector/easetop" agents --store "$2" 2>&1)
	case $? in
	2) case $said in *"$3"*) pass "$1" ;; *) fail "$1" "$said" ;; esac ;;
	*) fail "$1" "is answered: $said" ;;
	esac
}
refused 'no such database' "clickhouse:http://127.0.0.1:${clickhouse_http[0]}/nowhere" 'no tables of easecapd in database nowhere'
refused 'no such user' "clickhouse:http://nobody@127.0.0.1:${clickhouse_http[0]}/ease" 'wrong user or password'
expect 'the guide lists all that is sent' \
    "$(clickhouse_unlisted "query LIKE '%FORMAT RowBinary' AND is_initial_query")" ''
ch 0 'INSERT INTO ease.migration VALUES (250)'
refused 'a newer schema' "$EASETOP_STORE" 'version 250 of the tables is newer than this easetop'
clickhouse_kill 0
refused 'a server that is down' "$EASETOP_STORE" "127.0.0.1:${clickhouse_http[0]}"
exit $failed
