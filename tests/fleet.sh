# tests/fleet.sh: a fleet of simulated agents straight into the tables of ClickHouse servers, to be
# sourced by bash behind clickhouse.sh with its servers running. A fleet has a database of its own.
#   fleet_make AGENTS DAYS SEED     database fleetAGENTS; prints rows and seconds as JSON
fleet_post() { # I SQL: a request whose body comes from standard input
	curl -sS --noproxy '*' -H 'Expect:' -X POST -T - \
	    "http://$clickhouse_host:${clickhouse_http[$1]}/?query=$(jq -rn --arg q "$2" '$q | @uri')"
}
# Agents' numbers by shard: the servers' own hash says where a Distributed table looks for them.
fleet_place() { # AGENTS DIR: DIR/0, DIR/1, ... have the numbers
	local list
	list=$("$build/tests/make_fleet" ids "$1" | sed "s/\(.*\)\t\(.*\)/(\1,'\2')/" | paste -sd,)
	ch 0 "SELECT t.1, cityHash64(toFixedString(unhex(t.2), 8)) % ${#clickhouse_http[@]}
	    FROM (SELECT arrayJoin([$list]) AS t) ORDER BY t.1" |
	    awk -v dir="$2" '{ print $1 >(dir "/" $2) }'
}
fleet_table() { # TABLE AGENTS DAYS SEED DIR: on all shards at once; prints how many rows
	local i pids=()
	for i in "${!clickhouse_http[@]}"; do
		"$build/tests/make_fleet" rows "$1" "$2" "$3" "$4" <"$5/$i" 2>"$5/$i.rows" |
		    fleet_post "$i" "$("$build/tests/make_fleet" insert "$1" "fleet$2")" >&2 &
		pids+=($!)
	done
	wait "${pids[@]}"
	cat "$5"/*.rows | awk '{ n += $1 } END { print n + 0 }'
}
fleet_make() { # AGENTS DAYS SEED
	local dir=$clickhouse/place i table rows=() began=$SECONDS
	rm -rf "$dir"
	mkdir -p "$dir"
	for i in "${!clickhouse_http[@]}"; do fleet_schema "$i" "fleet$1" || return; done
	fleet_place "$1" "$dir"
	for table in keys ports counter cover agent port account; do
		rows+=("\"$table\":$(fleet_table "$table" "$1" "$2" "$3" "$dir")")
	done
	fleet_finish "$1" "$2" || return
	printf '{"bench":"fleet_made","agents":%d,"ports":%d,"days":%d,"load_s":%d,%s}\n' "$1" \
	    $((48 * $1)) "$2" $((SECONDS - began)) "$(IFS=,; echo "${rows[*]}")"
}
