#!/bin/bash
# Figures of walks through a real snmpd: the agent as it is, over a dummy device of 48, 512 and 1,024
# ports and 32,768 and 65,536 addresses, its tables being refreshed meanwhile; beside tables of the
# same size and shape in a bare subagent (tests/bench/bare_subagent.c: Net-SNMP's table_container) at the
# same snmpd, and beside snmpd's own ifTable over as many interfaces of a network namespace.
# SIZES has other sizes. One JSON object a line: varbinds a second as the median of ROUNDS rounds, each asking one after the
# other, and best_ratio of the fastest rounds, which other work on the machine disturbs least; CPU time
# of the subagent for a varbind, and its share of what subagent and snmpd took together; and how long
# single requests waited while the tables were refreshed. And GETNEXT in the table engine alone, whose
# time for a cell must not grow with the table.
. "$(dirname "$0")/bench_tools.sh"
rounds=${ROUNDS:-3}
sizes=${SIZES:-48:32768 512:65536 1024:65536} # PORTS:ADDRESSES, rising
waits_s=${WAITS_S:-4}
peer="Net-SNMP $(net-snmp-config --version 2>/dev/null) table_container, bare subagent"
bare=1.3.6.1.4.1.8072.9999.9999.98

need snmpbulkwalk ip unshare snmpd "$build/agent/easeagentd" "$build/tests/bench/bare_subagent" \
    "$build/tests/agent/snmp/snmp_subagent"
dir=$(mktemp -d)
export SNMPCONFPATH=$dir SNMP_PERSISTENT_DIR=$dir/kept # or snmpd overwrites its configuration
snmpd_pid='' agent_pid='' bare_pid=''
stop() {
	local pid
	for pid in "$agent_pid" "$bare_pid" "$snmpd_pid"; do
		[ -z "$pid" ] || { kill "$pid" && wait "$pid"; } 2>/dev/null
	done
	exec 6>&-
	snmpd_pid='' agent_pid='' bare_pid=''
}
trap 'stop; rm -rf "$dir"' EXIT
port=$((20000 + $$ % 10000))
target=127.0.0.1:$port

start_snmpd() {
	cat >"$dir/snmpd.conf" <<-END
		rocommunity public 127.0.0.1
		master agentx
		agentXSocket unix:$dir/master
		agentXPerms 0700 0700
		maxGetbulkResponses 1000
	END
	snmpd -f -Lf /dev/null -C -c "$dir/snmpd.conf" -I -ifTable,ifXTable,dot3StatsTable "udp:$target" &
	snmpd_pid=$!
}
answers() { snmpgetnext -v2c -c public -t 0.2 -r 0 -On "$target" "$1" 2>/dev/null | grep -q "^\.$1\."; }
start_agents() { # PORTS ADDRESSES
	cat >"$dir/agent.conf" <<-END
		device = dummy
		dummy_ports = $1
		dummy_addresses = $2
		history = false
		agentx_socket = "unix:$dir/master"
		state_dir = "$dir/agent"
	END
	rm -rf "$dir/agent" "$dir/bare.in"
	"$build/agent/easeagentd" -c "$dir/agent.conf" -f >"$dir/agent.log" 2>&1 &
	agent_pid=$!
	mkfifo "$dir/bare.in"
	"$build/tests/bench/bare_subagent" "unix:$dir/master" "$1" "$2" <"$dir/bare.in" >/dev/null 2>&1 &
	bare_pid=$!
	exec 6>"$dir/bare.in"
	wait_for 7 answers $bare.2.1.1 && wait_for 7 answers 1.3.6.1.2.1.17.4.3.1.1 || die 'a subagent does not come up'
}

# Of one walk: varbinds, varbinds a second, microseconds of CPU that subagent and snmpd spent.
cpu_us() { awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); printf "%d", ($12 + $13) * 1000000 / hz }' "/proc/$1/stat"; }
walk() { # PID OID
	local agent snmpd start varbinds ns
	agent=$(cpu_us "$1") snmpd=$(cpu_us "$snmpd_pid") start=$(date +%s%N)
	varbinds=$(snmpbulkwalk -v2c -c public -On -Oq -Cr50 "$target" "$2" | wc -l)
	ns=$(($(date +%s%N) - start))
	echo "$varbinds $((varbinds * 1000000000 / ns)) $(($(cpu_us "$1") - agent)) $(($(cpu_us "$snmpd_pid") - snmpd))"
}
# A small table is walked TIMES times in a round, so that its CPU time can be read.
compare() { # FIGURE OUR-OID PEER-OID TIMES
	local round i
	: >"$dir/ours"
	: >"$dir/peer"
	for round in $(seq "$rounds"); do
		for i in $(seq "$4"); do
			walk "$agent_pid" "$2" >>"$dir/ours"
			walk "$bare_pid" "$3" >>"$dir/peer"
		done
	done
	local value other
	value=$(cut -d' ' -f2 "$dir/ours" | median)
	other=$(cut -d' ' -f2 "$dir/peer" | median)
	awk -v figure="$1" -v peer="$peer" -v value="$value" -v other="$other" '
	function share(part, rest) { return part + rest ? part / (part + rest) : 0 }
	$2 > best[FILENAME] { best[FILENAME] = $2 }
	{ n[FILENAME] += $1; agent[FILENAME] += $3; master[FILENAME] += $4 }
	END { o = ARGV[1]; p = ARGV[2]
		printf "{\"bench\":\"%s\",\"unit\":\"varbinds/s\",\"value\":%d,\"peer\":\"%s\",\"peer_value\":%d,\"ratio\":%.3f,", figure, value, peer, other, value / other
		printf "\"varbinds\":%d,\"cpu_us_per_varbind\":%.2f,\"peer_cpu_us_per_varbind\":%.2f,\"cpu_share\":%.3f,\"peer_cpu_share\":%.3f,\"best_ratio\":%.3f}\n",
		    n[o], agent[o] / n[o], agent[p] / n[p], share(agent[o], master[o]), share(agent[p], master[p]),
		    best[o] / best[p] }' \
	    "$dir/ours" "$dir/peer"
}

# Single GETs, one after the other for SECONDS: median, 99th percentile and longest wait in ms.
waits() { # OID SECONDS
	perl -MSocket -MTime::HiRes=time -e 'use strict; use warnings;
		my ($port, $oid, $seconds) = @ARGV;
		sub tlv { my ($t, $v) = @_; return pack("C", $t) . (length $v < 128 ? pack("C", length $v) : pack("CC", 0x81, length $v)) . $v }
		my (@arcs, $name) = split /\./, $oid;
		$name = pack "C", 40 * shift(@arcs) + shift @arcs;
		for my $arc (@arcs) { my $s = chr($arc & 127); $s = chr(($arc & 127) | 128) . $s while $arc >>= 7; $name .= $s }
		socket(my $s, AF_INET, SOCK_DGRAM, 0) or die;
		connect($s, sockaddr_in($port, INADDR_LOOPBACK)) or die;
		setsockopt($s, SOL_SOCKET, SO_RCVTIMEO, pack("l!l!", 10, 0)) or die;
		my ($end, @ms) = (time + $seconds);
		for (my $id = 1; time < $end; $id++) {
			my $pdu = tlv(0xa0, tlv(2, pack "N", $id) . tlv(2, "\0") . tlv(2, "\0") . tlv(0x30, tlv(0x30, tlv(6, $name) . tlv(5, ""))));
			my $start = time;
			send($s, tlv(0x30, tlv(2, "\1") . tlv(4, "public") . $pdu), 0) or die;
			defined recv($s, my $answer, 2000, 0) or die "no answer to a GET\n";
			push @ms, (time - $start) * 1000;
			select undef, undef, undef, 0.001;
		}
		@ms = sort { $a <=> $b } @ms;
		printf "\"requests\":%d,\"median_ms\":%.2f,\"p99_ms\":%.2f,\"longest_ms\":%.2f", scalar @ms, $ms[@ms / 2], $ms[@ms * 0.99], $ms[-1];
	' "$port" "$1" "$2"
}

start_snmpd
largest=${sizes##* }
for size in $sizes; do
	IFS=: read -r ports addresses <<<"$size"
	start_agents "$ports" "$addresses"
	compare "bulkwalk of ifXTable, $ports ports" 1.3.6.1.2.1.31.1.1 $bare.1 $((${largest%:*} / ports))
	[[ $size != "${sizes%% *}" && $size != "$largest" ]] || compare "bulkwalk of dot1dTpFdbTable, $addresses addresses" 1.3.6.1.2.1.17.4.3 $bare.2 1
	if [ "$size" = "$largest" ]; then
		echo "{\"bench\":\"GET while $ports ports and $addresses addresses are refreshed\",\"unit\":\"ms\",$(waits 1.3.6.1.2.1.31.1.1.1.6.1 "$waits_s")}"
		echo "{\"bench\":\"GET of sysUpTime from snmpd itself meanwhile\",\"unit\":\"ms\",$(waits 1.3.6.1.2.1.1.3.0 "$waits_s")}"
	fi
	{ kill "$agent_pid" "$bare_pid" && wait "$agent_pid" "$bare_pid"; } 2>/dev/null
	exec 6>&-
done
stop
for size in $sizes; do
	IFS=: read -r ports addresses <<<"$size"
	echo walk | "$build/tests/agent/snmp/snmp_subagent" "unix:$dir/none" "$ports" "$addresses" >"$dir/walk" 2>&1
	grep ns_per_cell "$dir/walk" >"$dir/cell" || die "the table engine does not walk: $(tail -n 1 "$dir/walk")"
	sed -n "s/.*\"ns_per_cell\":\([0-9]*\).*/{\"bench\":\"GETNEXT in the table engine, $ports ports and $addresses addresses\",\"unit\":\"ns\/cell\",\"value\":\1}/p" "$dir/cell"
done

# snmpd's own ifTable needs that many interfaces: of a network namespace.
export -f wait_for
own_if_table() { # INTERFACES
	unshare -n bash -c 'ip link set lo up
		for i in $(seq '"$(($1 / 2))"'); do echo "link add v$i type veth peer name w$i"; done | ip -batch - || exit 1
		snmpd -f -Lf /dev/null -C -c "$0/snmpd.conf" "udp:127.0.0.1:161" &
		pid=$!
		wait_for 10 snmpget -v2c -c public -t 0.2 -r 0 127.0.0.1 1.3.6.1.2.1.1.3.0 ||
		    { echo "bench_walk: snmpd does not answer" >&3; kill $pid; exit 1; }
		for round in $(seq '"$rounds"'); do
			start=$(date +%s%N)
			n=$(snmpbulkwalk -v2c -c public -On -Oq -Cr50 127.0.0.1 1.3.6.1.2.1.31.1.1 | wc -l)
			echo $((n * 1000000000 / ($(date +%s%N) - start)))
		done
		kill $pid; wait' "$dir" 3>&2 2>/dev/null
}
sed -i '/agentx\|agentX/d' "$dir/snmpd.conf"
for size in $sizes; do
	ports=${size%:*}
	rate=$(own_if_table "$ports" | median)
	[ -n "$rate" ] || die "no walk of snmpd's own ifXTable of $ports interfaces"
	echo "{\"bench\":\"bulkwalk of snmpd's own ifXTable, $ports interfaces\",\"unit\":\"varbinds/s\",\"value\":$rate}"
done
