#!/bin/bash
# A ClickHouse cluster of two shards on this machine, as JSON lines: reports over fleets (FLEETS) of 100, 300 and (with
# EASE_LONG, a quarter of an hour to load) 1,000 switches of 48 ports and 30 days (DAYS; fleet.sh), so that the
# cost of an agent can be compared, and top 100 of these days beside SQLite's on the samples of the first fleet; octets
# that rows take on the disk; and how fast a collector's store of two days (SHIP_DAYS) is shipped (make_store). Processor
# time of the servers and of easetop counts beside the time waited, as the machine may be busy.
. "$(dirname "$0")/../support/rig.sh"
[ -n "${BENCH_SMALL:-}" ] || clickhouse_on_disk=yes
. "$(dirname "$0")/../support/clickhouse.sh"
. "$(dirname "$0")/fleet.sh"
. "$(dirname "$0")/bench_tools.sh"
reason=$(clickhouse_missing) && { echo "bench_cluster: left out: $reason" >&2; exit 0; }
need "$build/tests/bench/make_fleet" "$build/tests/bench/make_store"
fleets=${FLEETS:-100 300${EASE_LONG:+ 1000}}
first=${fleets%% *}
days=${DAYS:-30}
ship_days=${SHIP_DAYS:-2}
rounds=${ROUNDS:-3}
clickhouse_memory=6000000000
work=$rig-work
mkdir "$work"
trap 'rig_stop; clickhouse_end; rm -rf "$rig" "$work"' EXIT

servers_ms() { # processor time of all servers so far
	local pid
	for pid in "${clickhouse_pids[@]}"; do cat "/proc/$pid/stat"; done |
	    awk -v hz="$(getconf CLK_TCK)" '{ n += $14 + $15 } END { printf "%.0f\n", n * 1000 / hz }'
}
merges_are_over() { [ "$(ch 0 'SELECT count() FROM system.merges')$(ch 1 'SELECT count() FROM system.merges')" = 00 ]; }

# ---- questions ----

timed() { # COMMAND...: prints milliseconds waited, of its own, of the servers
	local TIMEFORMAT='%R %U %S' before after
	before=$(servers_ms)
	{ time "$@" >"$work/answer" 2>"$work/error"; } 2>&1 | tail -n 1 >"$work/time"
	after=$(servers_ms)
	awk -v servers=$((after - before)) '{ printf "%.0f %.0f %d\n", $1 * 1000, ($2 + $3) * 1000, servers }' "$work/time"
}
question() { # AGENTS NAME EASETOP-ARGUMENT...
	local agents=$1 name=$2 i
	shift 2
	: >"$work/times"
	for ((i = 0; i < rounds; i++)); do
		timed "$build/collector/easetop" "$@" --format json \
		    --store "$(clickhouse_url 0 "fleet$agents")" >>"$work/times"
	done
	awk -v name="$name" -v agents="$agents" -v ms="$(cut -d ' ' -f 1 "$work/times" | median)" \
	    -v own="$(cut -d ' ' -f 2 "$work/times" | median)" -v servers="$(cut -d ' ' -f 3 "$work/times" | median)" \
	    -v samples="$(jq '.samples // 0' "$work/answer")" 'BEGIN {
	    printf "{\"bench\":\"cluster_question\",\"question\":\"%s\",\"agents\":%d,\"samples\":%.0f,\"ms\":%d," \
		"\"servers_processor_ms\":%d,\"easetop_processor_ms\":%d,\"processor_us_an_agent\":%.0f}\n",
		name, agents, samples, ms, servers, own, (servers + own) * 1000 / agents }'
	[ ! -s "$work/error" ] || echo "bench_cluster: $name: $(head -n 1 "$work/error")" >&2
}
questions() { # AGENTS
	question "$1" 'talkers, top 100 of all days' talkers --last all --top 100
	question "$1" 'talkers, top 100 of an hour' talkers --top 100 "${last_hour[@]}"
	question "$1" 'conversations, top 20 of a day' conversations --top 20 "${last_day[@]}"
	question "$1" 'protocols of all days' protocols --last all
	question "$1" 'matrix of all days' matrix --last all
	question "$1" 'history of all days' history --last all
	question "$1" 'history of a port, all days' history --last all --agent 10.255.0.9 --port ge-7
	question "$1" 'talkers of a switch, all days' talkers --last all --agent 10.255.0.9
	question "$1" 'load of an hour' load "${last_hour[@]}"
	question "$1" 'agents' agents --last all
}
last_us=$(((20449 + days) * 86400))
last_hour=(--from "$(date -u -d "@$((last_us - 3600))" +%FT%TZ)" --to "$(date -u -d "@$last_us" +%FT%TZ)")
last_day=(--from "$(date -u -d "@$((last_us - 86400))" +%FT%TZ)" --to "$(date -u -d "@$last_us" +%FT%TZ)")

sizes() { # AGENTS
	local table
	for table in keys ports counter; do
		for i in 0 1; do
			ch $i "SELECT sum(rows), sum(bytes_on_disk) FROM system.parts WHERE active AND
			    database = 'fleet$1' AND table = '${table}_local'"
		done | awk -v table=$table -v agents="$1" '{ rows += $1; octets += $2 } END {
		    printf "{\"bench\":\"cluster_size\",\"agents\":%d,\"table\":\"%s\",\"rows\":%.0f,\"octets\":%.0f,\"octets_a_row\":%.1f}\n",
			agents, table, rows, octets, octets / (rows ? rows : 1) }'
	done
}
beside_sqlite() { # the same switches in a store
	local made
	made=$("$build/tests/bench/make_store" "$work/fleet.db" "$days" 1 0 "$first" 2>/dev/null | tail -n 1)
	for _ in $(seq "$rounds"); do
		timed "$build/collector/easetop" talkers --last all --top 100 --format json --store "sqlite:$work/fleet.db"
	done >"$work/times"
	jq -S '[.samples, [.rows[] | [.src, .samples]]]' "$work/answer" >"$work/must"
	"$build/collector/easetop" talkers --last all --top 100 --format json --store "$(clickhouse_url 0 "fleet$first")" |
	    jq -S '[.samples, [.rows[] | [.src, .samples]]]' >"$work/is"
	awk -v agents="$first" -v same="$(cmp -s "$work/is" "$work/must" && echo true || echo false)" \
	    -v ms="$(cut -d ' ' -f 1 "$work/times" | median)" -v own="$(cut -d ' ' -f 2 "$work/times" | median)" 'BEGIN {
	    printf "{\"bench\":\"sqlite_question\",\"question\":\"talkers, top 100 of all days\",\"agents\":%d," \
		"\"ms\":%d,\"easetop_processor_ms\":%d,\"same_answer\":%s}\n", agents, ms, own, same }'
	rm -f "$work"/fleet.db*
}

# ---- shipping ----

shipped() { ch 0 'SELECT toUInt64(sum(n)) FROM ship.ports FINAL WHERE level = 1' 2>/dev/null; }
is_shipping() { [ "$(shipped)" -gt 0 ]; }
is_shipped() { [ "$(shipped)" = "$1" ]; }
shipping() { # of a store that has some days of the first fleet
	local made samples began_ms took_ms pid servers own
	made=$("$build/tests/bench/make_store" "$work/ship.db" "$ship_days" 1 0 "$first" 2>/dev/null | tail -n 1)
	samples=$(jq .samples <<<"$made")
	[ -n "$samples" ] || die 'make_store says nothing'
	cat >"$work/ship.conf" <<-END
		listen = {"127.0.0.1:0"}
		communities = {"fleet"}
		http_listen = ""
		run_as = root
		store = "$work/ship.db"
		clickhouse = {"http://127.0.0.1:${clickhouse_http[0]}", "http://127.0.0.1:${clickhouse_http[1]}"}
		clickhouse_database = "ship"
		clickhouse_cluster = "ease"
		clickhouse_interval = 1
	END
	chmod 600 "$work/ship.conf"
	servers=$(servers_ms)
	began_ms=$(date +%s%3N)
	"$build/collector/easecapd" -c "$work/ship.conf" -f >"$work/ship.log" 2>&1 &
	pid=$!
	disown $pid
	wait_for 15 is_shipping && wait_for 75 is_shipped "$samples" || die "not all of $samples samples arrived"
	took_ms=$(($(date +%s%3N) - began_ms))
	servers=$(($(servers_ms) - servers))
	own=$(awk -v hz="$(getconf CLK_TCK)" '{ printf "%.0f", ($14 + $15) * 1000 / hz }' "/proc/$pid/stat")
	rig_end $pid
	ship() { sed -n "s/.*stat: ship\.$1 \([0-9]*\).*/\1/p" "$work/ship.log" | tail -n 1; }
	awk -v ms="$took_ms" -v samples="$samples" -v rows="$(ship rows)" -v octets="$(ship octets)" \
	    -v sent="$(ship compressed_octets)" -v own="$own" -v servers="$servers" 'BEGIN {
	    printf "{\"bench\":\"shipping\",\"samples\":%d,\"rows\":%d,\"s\":%.1f,\"samples_per_s\":%.0f,\"rows_per_s\":%.0f," \
		"\"octets_a_row\":%.1f,\"sent_octets_a_row\":%.1f,\"collector_processor_s\":%.1f," \
		"\"servers_processor_s\":%.1f}\n", samples, rows, ms / 1000, samples * 1000 / ms,
		rows * 1000 / ms, octets / rows, sent / rows, own / 1000, servers / 1000 }'
}

clickhouse_start 2 || die 'the servers do not start'
shipping
for agents in $fleets; do
	fleet_make "$agents" "$days" 1
	wait_for 75 merges_are_over || die 'merges do not end'
	sizes "$agents"
	questions "$agents"
	[ "$agents" != "$first" ] || beside_sqlite
	for i in 0 1; do ch $i "DROP DATABASE fleet$agents"; done
done
