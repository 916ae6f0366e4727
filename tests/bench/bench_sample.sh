#!/bin/bash
# bench_sample.sh [BUILD...]: CPU time of a sample from the emulated switch's registers to the datagram: the
# whole agent, in lock step, each notification with one sample and sent by the agent itself (trap_sink), as
# SNMPv2c and as SNMPv3 authPriv. The builds (default: EASE_BUILD) take turns, so that an older one can be
# compared in the same run. What the same frames cost unsampled is taken off. One JSON object a line; medians
# of ROUNDS rounds.
. "$(dirname "$0")/bench_tools.sh"
[ $# -gt 0 ] || set -- "$build"
need "${@/%//agent/easeagentd}"
rounds=${ROUNDS:-5}
frames=${FRAMES:-100000}
dir=$(mktemp -d)
pids=
finish() {
	for pid in $pids; do kill "$pid" 2>/dev/null; done
	wait 2>/dev/null
	rm -rf "$dir"
}
trap finish EXIT

# Frames of 400 octets between eight stations, 20 us apart: no port is ever full, and no second sample fits
# a message of 720 octets.
perl -e '
	my $n = shift;
	print pack("LSSlLLL", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1);
	for my $i (0 .. $n - 1) {
		my ($from, $to) = ($i % 8, ($i + 1 + int($i / 8) % 7) % 8);
		my $us = $i * 20;
		my $frame = pack("CCCCCC CCCCCC n", 2, 0, 0, 0, 0, $to + 1, 2, 0, 0, 0, 0, $from + 1, 0x88b5);
		$frame .= "\xa5" x (400 - length $frame);
		print pack("LLLL", 1 + int($us / 1000000), $us % 1000000, 400, 400), $frame;
	}' "$frames" >"$dir/frames.pcap" || exit 1
# The receiver lets everything lie.
perl -e 'use Socket; socket(S, PF_INET, SOCK_DGRAM, 0); bind(S, sockaddr_in(0, INADDR_LOOPBACK)); $| = 1;
	print +(sockaddr_in(getsockname S))[0], "\n"; sleep' >"$dir/port" &
pids=$!
wait_for 5 test -s "$dir/port" || die 'the receiver does not say its port'
port=$(<"$dir/port")

sink() { # VERSION
	echo "trap_sink \"127.0.0.1:$port\" { max_per_s = 1000000"
	if [ "$1" = 3 ]; then
		echo 'user = bench auth_passphrase = "authentic words" priv_passphrase = "private words" }'
	else
		echo 'community = public }'
	fi
}
is_over() { grep -q 'no more input' "$dir/log" || ! kill -0 "$1" 2>/dev/null; }
run() { # BUILD VERSION MEAN-SKIP: prints the process's CPU time in us, and its samples
	local pid
	rm -rf "$dir/state"
	mkdir "$dir/state"
	cat >"$dir/agent.conf" <<-END
		device = emulated
		board = "$top/conf/boards/gt48001a-8port.conf"
		capture = "$dir/frames.pcap"
		pace = lock_step
		mean_skip = $3
		draw = uniform
		header_octets = 256
		message_octets = 720
		max_samples_per_s = 0
		counters_interval_s = 3600
		state_dir = "$dir/state"
		agentx_socket = "$dir/no-master"
		run_as = root
		$(sink "$2")
	END
	"$1/agent/easeagentd" -f -c "$dir/agent.conf" >"$dir/log" 2>&1 &
	pid=$!
	wait_for 15 is_over "$pid" && kill -0 "$pid" || { cat "$dir/log" >&2; return 1; }
	awk '{ printf "%d ", $1 / 1000 }' "/proc/$pid/schedstat" # the main thread: in lock step the board, too
	kill "$pid" # it says all that it counted, then ends
	wait "$pid" 2>/dev/null
	grep -o 'sampling.samples [0-9]*' "$dir/log" | tail -1 | cut -d' ' -f2
}

for _ in $(seq "$rounds"); do
	for build in "$@"; do
		for version in 2 3; do
			unsampled=$(run "$build" "$version" 524288 | cut -d' ' -f1) || exit 1
			sampled=$(run "$build" "$version" 1) || exit 1
			echo "$sampled $unsampled" | awk '{ printf "%.3f\n", ($1 - $3) / $2 }' \
			    >>"$dir/us.$version.${build//\//_}"
		done
	done
done
for version in 2 3; do
	for build in "$@"; do
		printf '{"bench":"a sample by a notification of its own, SNMPv%s","build":"%s","unit":"us","value":%s}\n' \
		    "$version" "$build" "$(median <"$dir/us.$version.${build//\//_}")"
	done
done
