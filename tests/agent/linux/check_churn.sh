#!/bin/bash
# Interfaces that come and go as containers do, 60 pairs a second beside 2,000 others: the counters of the others are
# never older than two seconds, and nothing of that is a warning. Then more interfaces than are served: one that was
# refused is there when there is room. In a network namespace of the test's own. Needs root. Prints PASS, FAIL or
# SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../../support/rig.sh"
rig_namespace "$@" || { skip 'all' 'no network namespace can be made'; exit 0; }

pairs() { # COMMAND FIRST LAST: `add` or `del`
	seq "$2" "$3" | if [ "$1" = add ]; then sed 's/.*/link add a& type veth peer name b&/'; else sed 's/.*/link del a&/'; fi |
	    ip -batch -
}
ip link add busy type veth peer name busy-peer
ip link set busy-peer up
ip link set busy up
pairs add 1 1000
rig_new
rig_snmpd
rig_linux_config
rig_agent_start
busy=$(ip -o link show busy | cut -d: -f1)
is_busy() { [ "$(snmp_get $if_x.1."$busy")" = '"busy"' ]; }
wait_for 20 is_busy || { fail 'start' 'a daemon did not come up'; exit 1; }

churn() { # TIMES
	for ((i = 1; i <= $1; i++)); do
		echo "link add c$i type veth peer name d$i"
		[ $i -le 20 ] || echo "link del c$((i - 20))"
		read -rt 0.0167 -u 3 || true
	done | timeout 60 ip -force -batch - 2>/dev/null
}
exec 3<> <(:)
# Two seconds, and as long as asking takes anyway; what the agent does takes several times as long with sanitizers.
limit_s=$(python3 "$top/tests/support/oldest_counter.py" "$busy" "$agent_port" $if_x.11."$busy" 3 | awk '{ print 2 + $1 }')
! grep -q __asan_init "$build/agent/easeagentd" || limit_s=10
churn 600 &
churn_pid=$!
python3 "$top/tests/support/oldest_counter.py" "$busy" "$agent_port" $if_x.11."$busy" 10 >"$rig/worst"
if awk -v limit=$limit_s '{ exit !($1 < limit) }' "$rig/worst"; then pass "counters go on while interfaces come and go, every $(cat "$rig/worst") s at the latest"; else
	fail 'counters while interfaces come and go' "nothing new for $(cat "$rig/worst") s"
fi
wait "$churn_pid"
expect 'that is no warning' "$(grep -E ' (warn|error) ' "$rig/agent.log" | head -n 3)" ''
merged() { kill -USR1 "$agent_pid"; grep -q 'hal.rounds_merged' "$rig/agent.log"; }
# Only an interface that comes while a round reads is merged, so more of them come until one did.
for ((round = 0; round < 10; round++)); do
	! wait_for 1 merged || break
	churn 120
done
if merged; then pass 'a statistic counts it'; else fail 'a statistic' 'hal.rounds_merged is not there'; fi

pairs add 1001 2100
refused() { grep -q 'there are too many interfaces' "$rig/agent.log"; }
if wait_for 10 refused; then pass 'more interfaces than are served are refused'; else fail 'refused' "$(snmp_get 1.3.6.1.2.1.2.1.0) are served"; fi
last=$(ip -o link show a2100 | cut -d: -f1)
pairs del 1 500
is_served() { [ "$(snmp_get $if_x.1."$last")" = '"a2100"' ]; }
if wait_for 10 is_served; then pass 'and served when there is room'; else fail 'when there is room' "$(snmp_get $if_x.1."$last")"; fi
rig_stop

# Many at once, of which each takes a while where taps are put to them: the main loop goes on beside them. A service manager of ours
# notes when it hears that the agent lives, as it must each half second.
for ((i = 501; i <= 2100; i++)); do echo "link del a$i"; done | ip -force -batch - 2>/dev/null
rig_linux_config
sed -i 's/^sampling = none/sampling = ebpf/' "$rig/agent.conf"
: >"$rig/agent.log"
perl -MSocket -MIO::Handle -MTime::HiRes=time -e 'socket(my $s, AF_UNIX, SOCK_DGRAM, 0) or die;
    bind($s, sockaddr_un($ARGV[0])) or die;
    open(my $out, ">", $ARGV[1]); $out->autoflush(1);
    while (defined recv($s, my $m, 99, 0)) { printf $out "%.2f\n", time if $m =~ /^WATCHDOG/ }' "$rig/manager" "$rig/beats" &
manager_pid=$!
disown "$manager_pid"
wait_for 5 test -S "$rig/manager"
rig_agent_start env WATCHDOG_USEC=1000000 NOTIFY_SOCKET="$rig/manager"
is_sampled() { [ "$(grep -c ' is sampled by eBPF' "$rig/agent.log")" -ge "$1" ]; }
if wait_for 10 is_sampled 2; then
	began=$(date +%s.%N)
	pairs add 3001 3150
	wait_for 60 is_sampled 302
	ended=$(date +%s.%N)
	took=$(awk -v a="$began" -v b="$ended" 'BEGIN { print b - a }')
	beats=$(awk -v a="$began" -v b="$ended" '$1 > a + 0.5 && $1 < b - 0.5 { n++ } END { print n + 0 }' "$rig/beats")
	if awk -v t="$took" 'BEGIN { exit !(t < 3) }'; then skip 'many at once' "they took $took s alone"
	elif [ "$beats" -ge 1 ]; then pass "the main loop goes on while 300 interfaces come: $beats times in $took s"
	else fail 'the main loop goes on while 300 interfaces come' "$beats times in $took s"
	fi
else
	skip 'many at once' 'no eBPF here'
fi
rig_end "$manager_pid"
rig_stop
