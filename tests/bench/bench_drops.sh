#!/bin/bash
# What a dropped packet costs: UDP to a port where nobody listens, with the drop monitor off, then with the agent
# reporting 100 a second of them, then with it reporting every one. Everything, the kernel's part and the agent's, is
# on the one processor of a virtual machine in which a nanosecond is an instruction: the ratios count. One JSON line.
# bench_drops.sh [PACKETS]
. "$(dirname "$0")/bench_tools.sh"
need perl "$build/agent/easeagentd"
[ -n "${EASE_IN_QEMU:-}" ] || exec "$(dirname "$0")/../support/qemu.sh" -i -t 900 "$0" "$@"
n=${1:-20000}
dir=$(mktemp -d)
modprobe drop_monitor
ip link set lo up
packet_ns() { # the time until all were sent, and the agent has no more to do
	perl -MSocket -MTime::HiRes=clock_gettime,CLOCK_MONOTONIC -e 'socket(my $s, AF_INET, SOCK_DGRAM, 0);
	    my $to = sockaddr_in(9, INADDR_LOOPBACK); my $start = clock_gettime(CLOCK_MONOTONIC);
	    for (1 .. $ARGV[0]) { send($s, "x" x 200, 0, $to); select(undef, undef, undef, 0) if $_ % 16 == 0 }
	    printf "%.0f", (clock_gettime(CLOCK_MONOTONIC) - $start) / $ARGV[0] * 1e9' "$n"
}
agent() { # DROPS_PER_S
	printf 'device = linux\nsampling = none\ndrops = true\ndrops_per_s = %s\nsflow_collector = "127.0.0.1:7777"\nstate_dir = "%s/state"\nagentx_socket = "unix:%s/none"\nrun_as = root\n' \
	    "$1" "$dir" "$dir" >"$dir/agent.conf"
	"$build/agent/easeagentd" -c "$dir/agent.conf" -f 2>"$dir/log" &
	agent_pid=$!
	wait_for 10 grep -q 'dropped packets are reported' "$dir/log" || die "the agent reports no drops: $(tail -n 1 "$dir/log")"
}
perl -MSocket -e 'socket(my $s, AF_INET, SOCK_DGRAM, 0); bind($s, sockaddr_in(7777, INADDR_LOOPBACK)); 1 while defined recv($s, my $x, 2000, 0)' &
receiver=$!
off=$(packet_ns)
agent 100
few=$(packet_ns)
kill "$agent_pid" && wait "$agent_pid"
agent 100000
all=$(packet_ns)
kill "$agent_pid" && wait "$agent_pid"
lost=$(sed -n 's/.*linux.drops_lost \([0-9]*\).*/\1/p' "$dir/log")
kill "$receiver"
echo "{\"bench\":\"drops\",\"packets\":$n,\"off_ns\":$off,\"limited_ns\":$few,\"all_ns\":$all,\"lost_by_kernel\":${lost:-0}}"
rm -rf "$dir"
