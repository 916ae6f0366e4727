#!/bin/bash
# Figures of the SNMP room through a real snmpd: notifications and samples a second, beside the least
# that Net-SNMP's own agent library needs for the same work (tests/bench/bare_subagent.c: its own sending),
# through the same snmpd. One JSON object a line: value, the peer's value in the same run, their ratio;
# medians of ROUNDS rounds, each a BURST of notifications.
. "$(dirname "$0")/bench_tools.sh"
rounds=${ROUNDS:-3}
burst=${BURST:-50000}
ports=8
addresses=8
peer="Net-SNMP $(net-snmp-config --version 2>/dev/null) agent library, bare subagent"
ifx=1.3.6.1.2.1.31.1.1

need snmpget snmpd "$build/tests/agent/snmp/snmp_subagent" "$build/tests/bench/bare_subagent"
dir=$(mktemp -d)
export SNMPCONFPATH=$dir SNMP_PERSISTENT_DIR=$dir
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
has_answered() { [ "$(answers "$1")" -gt "$2" ]; } # name, number of answers before
ask() { # name, fd, command: its answer into $dir/answer
	local before=$(answers "$1")
	(trap '' PIPE; echo "$3" >&"$2") 2>/dev/null || die "the subagent '$1' has ended: $(tail -n 1 "$dir/$1.log")"
	wait_for 10 has_answered "$1" "$before" || die "no answer of the subagent '$1' to '$3'"
	tail -n 1 "$dir/$1.out" >"$dir/answer"
}
field() { sed -n "s/.*\"$1\":\([^,}]*\).*/\1/p"; }

start own "$build/tests/agent/snmp/snmp_subagent" "unix:$dir/master" $ports $addresses
exec 5>"$dir/own.in"
start bare "$build/tests/bench/bare_subagent" "unix:$dir/master" $ports 0
exec 6>"$dir/bare.in"
wait_for 5 grep -q . "$dir/own.out" || die 'the subagent does not say its port'
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
snmpd -f -Lf /dev/null -C -c "$dir/snmpd.conf" -I -ifTable,ifXTable,dot3StatsTable \
    "udp:127.0.0.1:$port" &
master=$!
pids="$pids $master"
is_served() { snmpget -v2c -c public -t 0.2 -r 0 "127.0.0.1:$port" $ifx.1.1.1 | grep -q STRING; }
wait_for 10 is_served || die 'the subagent is not served'

# Microseconds of CPU time for a notification by every process that sends: one line of the helper's,
# and the ticks of 10 ms that the master had.
ticks() { awk '{ print $14 + $15 }' "/proc/$master/stat"; }
cpu_us() { # NOTIFICATIONS TICKS-BEFORE <ANSWER
	field sender_cpu_us | awk -v n="$1" -v t="$(($(ticks) - $2))" '{ printf "%.2f\n", $1 + t * 10000 / n }'
}

for round in $(seq "$rounds"); do
	before=$(ticks)
	ask own 5 "burst $burst 1"
	field notifications_per_s <"$dir/answer" >>"$dir/notify"
	cpu_us "$burst" "$before" <"$dir/answer" >>"$dir/notify.cpu"
	for version in 2 3; do
		before=$(ticks)
		ask own 5 "direct $burst 1 $version"
		field notifications_per_s <"$dir/answer" >>"$dir/direct.$version"
		cpu_us "$burst" "$before" <"$dir/answer" >>"$dir/direct.$version.cpu"
	done
	ask bare 6 "burst $burst"
	field notifications_per_s <"$dir/answer" >>"$dir/notify.peer"
	ask own 5 "burst $((2 * burst)) 4"
	field samples_per_s <"$dir/answer" >>"$dir/samples"
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
for version in 2 3; do
	peer="the same through snmpd"
	report "notifications of one sample past the master, SNMPv$version" "notifications/s" direct.$version notify
	report "CPU of all senders for one of them, SNMPv$version" "us" direct.$version.cpu notify.cpu
done
report "samples, four in a notification, through snmpd" "samples/s" samples
