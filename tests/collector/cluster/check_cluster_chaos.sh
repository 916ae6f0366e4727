#!/bin/bash
# A cluster of two ClickHouse servers under load while what can break does, in random order (the seed is
# printed, EASE_SEED repeats it): a server killed and started again, a collector killed and started
# again, the network between collectors and servers cut and mended. One switch sends to two
# collectors all the time. At the end each collector's samples are in the cluster, none lost and none
# twice: minute by minute what the fuller of their two SQLite stores has; the agent's account adds
# up with what the collectors say their deaths cost; and the lag is the ordinary one again. 10 minutes
# with EASE_LONG, else 8 seconds. Needs root. Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../../support/rig.sh"
rig_namespace "$@" || { skip 'all' 'no network namespace can be made'; exit 0; }
. "$(dirname "$0")/../../support/clickhouse.sh"
reason=$(clickhouse_missing) && { skip 'all' "$reason"; exit 0; }
seconds=8
[ -z "${EASE_LONG:-}" ] || seconds=600
seed=${EASE_SEED:-$(date +%s)}
RANDOM=$seed
echo "     chaos: EASE_SEED=$seed"

# ---- servers in a namespace of their own, behind a cable ----

far=''
work=$rig-work
trap 'chaos_end' EXIT
mkdir "$work"
declare -A pids=()
chaos_end() {
	rig_stop
	rig_end "${pids[a]:-}"
	rig_end "${pids[b]:-}"
	clickhouse_end
	[ -z "$far" ] || kill "$far" 2>/dev/null
	rm -rf "$rig" "$work"
}
is_apart() { [ "$(readlink "/proc/$1/ns/net")" != "$(readlink /proc/self/ns/net)" ]; }
unshare -n sleep infinity &
far=$!
disown $far
wait_for 5 is_apart $far && ip link add near type veth peer name far netns $far &&
    ip address add 10.20.1.1/24 dev near && ip link set near up && nsenter -t $far -n ip link set lo up &&
    nsenter -t $far -n ip address add 10.20.1.2/24 dev far && nsenter -t $far -n ip link set far up || {
	skip 'all' 'no cable between two namespaces can be made'; exit 0; }
clickhouse_host=10.20.1.2
clickhouse_run=(nsenter -t $far -n)
clickhouse_start 2 || { fail 'servers' 'they did not start'; exit 1; }

# ---- two collectors, one switch ----

ship_config() { # NAME PORT
	cat >"$work/$1.conf" <<-END
		listen = {"127.0.0.1:$2"}
		communities = {"demo"}
		http_listen = ""
		run_as = root
		store = "$work/$1.db"
		flush_interval = 200
		clickhouse = {"http://$clickhouse_host:${clickhouse_http[0]}", "http://$clickhouse_host:${clickhouse_http[1]}"}
		clickhouse_cluster = "ease"
		clickhouse_interval = 1
	END
}
collector() { # NAME
	: >"$work/$1.log"
	"$build/collector/easecapd" -c "$work/$1.conf" -f >>"$work/$1.log" 2>&1 &
	pids[$1]=$!
	disown $!
	wait_for 10 grep -q 'listening on' "$work/$1.log"
}
sql() { # NAME STATEMENT
	"$build/tests/collector/store/store_sql" "$work/$1.db" "$2"
}
given_out() { sleep 1.1; column_sum "$ease.1.2.1.$(port_column easePortSamples)"; }

rig_new
for name in a b; do
	ports+=("$(free_port)")
	ship_config $name "${ports[-1]}"
	echo "trap2sink 127.0.0.1:${ports[-1]} demo" >>"$rig/snmpd.conf"
	collector $name || { fail "collector $name" "$(tail -n 2 "$work/$name.log")"; exit 1; }
done
"$top/conf/make-capture" "$work/load.pcap" 10 >/dev/null || exit 1
rig_snmpd && rig_agent "$work/load.pcap" recorded 'mean_skip = 5' 'loop = true' || {
	fail 'start' 'a daemon did not come up'; exit 1; }

# ---- what breaks ----

instant() { printf '0.%03d' $((RANDOM % 1000)); }
break_server() {
	local i=$((RANDOM % 2))
	clickhouse_kill $i
	sleep "$(instant)"
	clickhouse_server $i || fail "server $i" 'it does not start again'
}
break_collector() {
	local name=a
	[ $((RANDOM % 2)) = 0 ] || name=b
	rig_end "${pids[$name]}" KILL
	sleep "$(instant)"
	collector $name || fail "collector $name" 'it does not start again'
}
break_network() {
	ip link set near down
	sleep "$((RANDOM % 3 + 1))"
	ip link set near up
}
broken=(server collector network)
count=([0]=0 [1]=0 [2]=0)
first=$((RANDOM % 3)) n=0
end=$((SECONDS + seconds))
while [ $SECONDS -lt $end ] || [ $n -lt 3 ]; do # each once at least
	sleep "$(instant)"
	what=$((n < 3 ? (first + n) % 3 : RANDOM % 3))
	n=$((n + 1))
	count[what]=$((count[what] + 1))
	"break_${broken[what]}"
done
echo "     chaos: ${count[0]} servers killed, ${count[1]} collectors killed, ${count[2]} times cut off"

# ---- the end ----

sleep 2 # all that was under way arrives
for port in 1 2 3 4 5 6 7 8; do # nothing more is sampled
	client snmpset -Oq "127.0.0.1:$agent_port" "$ease.1.2.1.$(port_column easePortAdminStatus).$port" i 2 >/dev/null
done
given=$(given_out)
rig_stop
mended=$(date +%s%N)

shipped() { # NAME: minutes and samples in the cluster of this collector
	ch 0 "SELECT start_us, toUInt64(sum(received)) FROM ease.ports FINAL WHERE level = 1 AND
	    collector = $(sql "$1" 'SELECT store_id FROM life') GROUP BY start_us HAVING sum(received) > 0
	    ORDER BY start_us" | tr '\t' '|'
}
stored() { # NAME
	sql "$1" 'SELECT start_us, sum(received) FROM window_port GROUP BY start_us HAVING sum(received) > 0 ORDER BY start_us'
}
has_arrived() { [ "$(shipped "$1")" = "$(stored "$1")" ]; }
for name in a b; do
	wait_for $((30 + seconds / 2)) has_arrived $name
	expect "collector $name: what its store has of each minute is in the cluster, once" "$(shipped $name)" "$(stored $name)"
done
took_s=$((($(date +%s%N) - mended) / 1000000000))
echo "     chaos: all had arrived $took_s s after the last sample"
for name in a b; do rig_end "${pids[$name]}"; pids[$name]=''; done

# Of each minute the fuller of the two stores.
fullest=$(sort -t '|' -k 1,1 -k 2,2rn <(stored a) <(stored b) | awk -F '|' '$1 != last { n += $2; last = $1 } END { print n + 0 }')
answer=$("$build/collector/easetop" talkers --last all --format json --store "clickhouse:http://$clickhouse_host:${clickhouse_http[1]}/ease?cluster=ease")
expect 'the cluster counts each minute once' "$(jq .samples <<<"$answer")" "$fullest"
for name in a b; do
	"$build/collector/easetop" loss --last all --format json --store "sqlite:$work/$name.db" >"$work/$name.json"
	lost=$(jq '[.rows[] | .lost_in_collector + .lost_elsewhere] | add' "$work/$name.json")
	received=$(jq '[.rows[].received] | add' "$work/$name.json")
	echo "     collector $name: $given given out = $received stored + $lost lost with it or while there was none"
	expect "collector $name: its account adds up" $((received + lost)) "$given"
done
exit $failed
