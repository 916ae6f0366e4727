#!/bin/bash
# Figures of the SNMP room through a real snmpd: notifications and samples a second, varbinds a
# second of a walk; beside the least that Net-SNMP's own agent library needs for the same work
# (tests/bare_subagent.c: table_container, own sending), through the same snmpd. One JSON object a
# line: value, the peer's value in the same run, their ratio; medians of ROUNDS rounds.
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
build=${EASE_BUILD:-$top/build}
rounds=${ROUNDS:-3}
ports=1024
addresses=65536
peer="Net-SNMP $(net-snmp-config --version 2>/dev/null) agent library, bare subagent"
root=1.3.6.1.4.1.8072.9999.9999
ifx=1.3.6.1.2.1.31.1.1
fdb=1.3.6.1.2.1.17.4.3

for need in snmpbulkwalk /usr/sbin/snmpd "$build/tests/snmp_subagent" "$build/tests/bare_subagent"; do
	command -v "$need" >/dev/null || { echo "bench_snmp: $need is not there" >&2; exit 1; }
done
dir=$(mktemp -d)
export MIBS= SNMPCONFPATH=$dir SNMP_PERSISTENT_DIR=$dir
pids=
finish() {
	for pid in $pids; do kill "$pid" 2>/dev/null; done
	wait 2>/dev/null
	rm -rf "$dir"
}
trap finish EXIT

start() { # name, program and its arguments: its input is fd $name.in, its answers $name.out
	local name=$1
	shift
	mkfifo "$dir/$name.in"
	"$@" <"$dir/$name.in" >"$dir/$name.out" 2>"$dir/$name.log" &
	pids="$pids $!"
}
answers() { wc -l <"$dir/$1.out"; }
ask() { # name, fd, command: prints the answer
	local before=$(answers "$1") i
	echo "$3" >&"$2"
	for i in $(seq 6000); do
		[ "$(answers "$1")" -gt "$before" ] && { tail -1 "$dir/$1.out"; return; }
		sleep 0.02
	done
}
field() { sed -n "s/.*\"$1\":\([^,}]*\).*/\1/p"; }
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

start own "$build/tests/snmp_subagent" "unix:$dir/master" "$dir/own" $ports $addresses
exec 5>"$dir/own.in"
start bare "$build/tests/bare_subagent" "unix:$dir/master" $ports
exec 6>"$dir/bare.in"
while [ "$(answers own)" -lt 1 ]; do sleep 0.05; done
port=$((20000 + $$ % 10000))
cat >"$dir/snmpd.conf" <<END
rocommunity public 127.0.0.1
master agentx
agentXSocket unix:$dir/master
agentXPerms 0700 0700
doNotRetainNotificationLogs 1
maxGetbulkResponses 1000
trap2sink 127.0.0.1:$(field sink_port <"$dir/own.out") public
END
/usr/sbin/snmpd -f -Lf /dev/null -C -c "$dir/snmpd.conf" -I -ifTable,ifXTable,dot3StatsTable \
    "udp:127.0.0.1:$port" &
pids="$pids $!"
for i in $(seq 100); do
	snmpget -v2c -c public -t 0.2 -r 0 "127.0.0.1:$port" $ifx.1.1.1 2>/dev/null |
	    grep -q STRING && break
	sleep 0.1
done

walk_rate() { # OID: varbinds a second
	local start=$(date +%s%N) cells
	cells=$(snmpbulkwalk -v2c -c public -On -Oq -Cr50 "127.0.0.1:$port" "$1" | wc -l)
	echo $((cells * 1000000000 / ($(date +%s%N) - start)))
}
for round in $(seq "$rounds"); do
	ask own 5 "burst 50000 1" | field notifications_per_s >>"$dir/notify"
	ask bare 6 "burst 50000" | field notifications_per_s >>"$dir/notify.peer"
	ask own 5 "burst 100000 4" | field samples_per_s >>"$dir/samples"
	walk_rate $ifx >>"$dir/walk"
	walk_rate $root.98 >>"$dir/walk.peer"
	walk_rate $fdb >>"$dir/fdb"
	ask own 5 walk | field ns_per_cell >>"$dir/cell"
done

report() { # figure, unit, file, peer's file
	local value=$(median <"$dir/$3") other
	if [ -n "${4:-}" ]; then
		other=$(median <"$dir/$4")
		printf '{"bench":"%s","unit":"%s","value":%s,"peer":"%s","peer_value":%s,"ratio":%s}\n' \
		    "$1" "$2" "$value" "$peer" "$other" \
		    "$(awk "BEGIN { printf \"%.3f\", $value / $other }")"
	else
		printf '{"bench":"%s","unit":"%s","value":%s}\n' "$1" "$2" "$value"
	fi
}
report "notifications of one sample through snmpd" "notifications/s" notify notify.peer
report "samples, four in a notification, through snmpd" "samples/s" samples
report "bulkwalk of ifXTable, $ports ports" "varbinds/s" walk walk.peer
report "bulkwalk of dot1dTpFdbTable, $addresses addresses" "varbinds/s" fdb walk.peer
report "GETNEXT in the table engine, all tables" "ns/cell" cell
