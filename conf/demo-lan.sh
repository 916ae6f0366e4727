# conf/demo-lan.sh: a small network for conf/demo --device linux, to be sourced by it inside a network
# namespace of its own: a bridge br0 with ports p1..p4, and at each a host in a namespace of the
# host's own that sends UDP to the next one. Everything vanishes with the processes that hold it.

lan_hosts=() # process ids, one holds each host's namespace
lan_senders=()
lan_frames=(40000 30000 20000 10000) # of each host, in lan_seconds
lan_octets=(1000 500 300 100)        # of UDP data
lan_seconds=8
lan_silence='for i in all default; do echo 1 >/proc/sys/net/ipv6/conf/$i/disable_ipv6; done 2>/dev/null'
lan_mac() { printf '02:00:5e:00:00:%02x' "$1"; }
lan_peer() { echo $(($1 % 4 + 1)); }
on_host() { # NUMBER COMMAND...
	local pid=${lan_hosts[$1 - 1]}
	shift
	nsenter -t "$pid" -n "$@"
}

exec_on_host() { # as on_host, in the place of the shell: what `&` starts is the command itself then
	local pid=${lan_hosts[$1 - 1]}
	shift
	exec nsenter -t "$pid" -n "$@"
}

lan_add_host() { # NUMBER
	local own
	own=$(readlink /proc/self/ns/net)
	unshare -n sleep infinity &
	lan_hosts+=($!)
	lan_is_apart() { [ "$(readlink "/proc/${lan_hosts[-1]}/ns/net")" != "$own" ]; }
	wait_for 60 "host $1" lan_is_apart || return 1
	on_host "$1" bash -c "$lan_silence"
	ip link add "p$1" type veth peer name eth0 netns "$!" &&
	    ip link set "p$1" master br0 up &&
	    on_host "$1" ip link set lo up &&
	    on_host "$1" ip link set eth0 address "$(lan_mac "$1")" up &&
	    on_host "$1" ip address add "10.20.1.$1/24" dev eth0 &&
	    on_host "$1" ip neigh add "10.20.1.$(lan_peer "$1")" dev eth0 \
	        lladdr "$(lan_mac "$(lan_peer "$1")")"
}
lan_up() {
	local i
	bash -c "$lan_silence"
	ip link set lo up && ip link add br0 type bridge mcast_snooping 0 && ip link set br0 up || return 1
	for i in 1 2 3 4; do lan_add_host "$i" || return 1; done
}

# Each host sends its frames, spread over lan_seconds; with `on`, again and again. It listens where
# others send to, so that nothing comes back.
lan_talk() { # [on]
	local i
	for i in 1 2 3 4; do
		exec_on_host "$i" perl -MSocket -e '
		    my ($peer, $n, $octets, $seconds, $on) = @ARGV;
		    socket(my $s, AF_INET, SOCK_DGRAM, 0) or die $!;
		    bind($s, pack_sockaddr_in(9000, INADDR_ANY)) or die $!;
		    my ($to, $data) = (pack_sockaddr_in(9000, inet_aton($peer)), "x" x $octets);
		    do {
			for my $tick (1 .. 100 * $seconds) {
				send($s, $data, 0, $to) for 1 .. $n / (100 * $seconds);
				select(undef, undef, undef, 0.01);
			}
		    } while ($on)' "10.20.1.$(lan_peer "$i")" "${lan_frames[i - 1]}" "${lan_octets[i - 1]}" \
		    $lan_seconds "${1:-}" &
		lan_senders+=($!)
	done
}
lan_wait() {
	local pid
	for pid in "${lan_senders[@]}"; do wait "$pid" || return 1; done
}
# While the hosts pause, theirs and the bridge's counts are of the same frames.
lan_pause() { kill -STOP "${lan_senders[@]}"; }
lan_go_on() { kill -CONT "${lan_senders[@]}"; }
lan_down() {
	kill "${lan_senders[@]}" "${lan_hosts[@]}"
	lan_go_on # what was told to end ends only when it is let on
} 2>/dev/null

# What the hosts themselves counted: frames sent to the next one, as lines that conf/demo-truth.awk reads.
lan_truth() {
	local i packets
	echo '# counted by the hosts'
	for i in 1 2 3 4; do
		packets=$(on_host "$i" ip -s link show eth0 | awk '/TX:/ { getline; print $2 }')
		echo "$(lan_mac "$i") $(lan_mac "$(lan_peer "$i")") $packets"
	done
}
