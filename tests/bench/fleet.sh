# tests/bench/fleet.sh: a fleet of simulated agents straight into the tables of ClickHouse servers, to be
# sourced by bash behind clickhouse.sh with its servers running. A fleet has a database of its own.
#   fleet_make AGENTS DAYS SEED     database fleetAGENTS; prints rows and seconds as JSON
fleet_post() { # I SQL: a request whose body comes from standard input
	curl -sS --max-time 600 --noproxy '*' -H 'Expect:' -X POST -T - \
	    "http://$clickhouse_host:${clickhouse_http[$1]}/?max_insert_block_size=4194304&query=$(jq -rn --arg q "$2" '$q | @uri')"
}
# Agents' numbers by shard: the servers' own hash says where a Distributed table looks for them.
fleet_place() { # AGENTS DIR: DIR/0, DIR/1, ... have the numbers
	local list
	list=$("$build/tests/bench/make_fleet" ids "$1" | sed "s/\(.*\)\t\(.*\)/(\1,'\2')/" | paste -sd,)
	ch 0 "SELECT t.1, cityHash64(toFixedString(unhex(t.2), 8)) % ${#clickhouse_http[@]}
	    FROM (SELECT arrayJoin([$list]) AS t) ORDER BY t.1" |
	    awk -v dir="$2" '{ print $1 >(dir "/" $2) }'
}
fleet_table() { # TABLE AGENTS DAYS SEED DIR: on all shards at once; prints how many rows
	local i pids=()
	for i in "${!clickhouse_http[@]}"; do
		"$build/tests/bench/make_fleet" rows "$1" "$2" "$3" "$4" <"$5/$i" 2>"$5/$i.rows" |
		    fleet_post "$i" "$("$build/tests/bench/make_fleet" insert "$1" "fleet$2")" >&2 &
		pids+=($!)
	done
	wait "${pids[@]}"
	cat "$5"/*.rows | awk '{ n += $1 } END { print n + 0 }'
}
# The tables, as easecapd makes them.
fleet_schema() { # DATABASE
	local i sql
	for i in "${!clickhouse_http[@]}"; do
		cat >"$clickhouse/schema.conf" <<-END
			listen = {"127.0.0.1:0"}
			communities = {"fleet"}
			store = "$clickhouse/none.db"
			clickhouse = {"http://$clickhouse_host:${clickhouse_http[$i]}"}
			clickhouse_database = "$1"
			clickhouse_cluster = "ease"
		END
		chmod 600 "$clickhouse/schema.conf"
		"$build/collector/easecapd" -c "$clickhouse/schema.conf" --clickhouse-schema | grep -v '^--' |
		    while IFS= read -r -d ';' sql; do ch "$i" "$sql"; done
	done
}
# One collector has sent all of it, and every level is done up to the end.
fleet_finish() { # DATABASE DAYS
	local end=$(((20449 + $2) * 86400000000)) day=86400000000 i
	ch 0 "INSERT INTO $1.collector_local (collector, host, store, version, heard_us, revision)
	    VALUES (1, 'fleet', 'fleet.db', 'made', $end, 1)"
	ch 0 "INSERT INTO $1.cursor_local (collector, time_us, part_id, event_id, outage_id, received_us, from_us,
	    to_us, closed_us, newest_us, missed_minutes, revision)
	    VALUES (1, $end, 1, 0, 0, $end, 0, 0, $end, $end, 0, 1)"
	for i in "${!clickhouse_http[@]}"; do
		ch "$i" "INSERT INTO $1.rolled_local (level, collector, rolled_revision, done_us, kept_us, revision)
		    VALUES (1, 0, 0, $end, $((end - 2 * day)), 1), (5, 0, 0, $end, $((end - 14 * day)), 1),
		    (60, 0, 0, $end, 0, 1), (1440, 0, 0, $end, 0, 1),
		    (1, 1, 1, 0, 0, 1), (5, 1, 1, 0, 0, 1), (60, 1, 1, 0, 0, 1), (1440, 1, 1, 0, 0, 1)"
	done
}
fleet_make() { # AGENTS DAYS SEED
	local dir=$clickhouse/place table rows=() began=$SECONDS
	rm -rf "$dir"
	mkdir -p "$dir"
	fleet_schema "fleet$1"
	fleet_place "$1" "$dir"
	for table in keys ports counter cover agent port account; do
		rows+=("\"$table\":$(fleet_table "$table" "$1" "$2" "$3" "$dir")")
	done
	fleet_finish "fleet$1" "$2"
	printf '{"bench":"fleet_made","agents":%d,"ports":%d,"days":%d,"load_s":%d,%s}\n' "$1" \
	    $((48 * $1)) "$2" $((SECONDS - began)) "$(IFS=,; echo "${rows[*]}")"
}
