#!/bin/bash
# A switch chip that forwards by itself: QEMU's rocker with two hosts that echo 500 frames through it. The kernel's
# counters of its ports see a few of these. The agent must say that a chip forwards and offers no samples, invent no
# talkers, and follow within five seconds when the chip no longer forwards, and when it does again. With sampling = cpu
# what reaches the CPU is a port of its own. Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
[ -n "${EASE_IN_QEMU:-}" ] || { echo "SKIP rocker: needs a machine with a switch chip: tests/run --long"; exit 0; }
. "$(dirname "$0")/../../support/rig.sh"

# ---- the switch and its hosts ----

modprobe bridge
modprobe e1000e
insmod "$EASE_ROCKER" || { fail 'the driver' 'it does not load'; exit 1; }
by_driver() { # DRIVER: its interfaces
	local link
	for link in /sys/class/net/*; do
		[ "$(basename "$(readlink "$link/device/driver")")" != "$1" ] || basename "$link"
	done
}
rename() { # DRIVER PREFIX: they become PREFIX1, PREFIX2
	local i=0 link
	for link in $(by_driver "$1"); do
		i=$((i + 1))
		ip link set "$link" name "$2$i"
	done
}
has_all() { [ "$(by_driver e1000e | wc -l) $(by_driver rocker | wc -l)" = '2 2' ]; }
wait_for 5 has_all || { fail 'the interfaces' "$(ip -o link | cut -c1-40)"; exit 1; }
rename rocker swp
rename e1000e card
unshare -n sleep infinity & first=$!
unshare -n sleep infinity & second=$!
at() { local pid=$1; shift; nsenter -t "$pid" -n "$@"; }
apart() { [ "$(readlink /proc/$first/ns/net)" != "$(readlink /proc/$second/ns/net)" ] &&
	[ "$(readlink /proc/$second/ns/net)" != "$(readlink /proc/self/ns/net)" ]; }
wait_for 5 apart
ip link add br0 type bridge mcast_snooping 0
for i in 1 2; do
	pid=$first
	[ $i = 1 ] || pid=$second
	ip link set "card$i" netns "$pid"
	at "$pid" sh -c 'echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6' 2>/dev/null
	at "$pid" ip address add "10.9.0.$i/24" dev "card$i"
	at "$pid" ip link set "card$i" up
	ip link set "swp$i" master br0
	ip link set "swp$i" up
done
ip link set br0 up
at "$second" perl -MSocket -e 'socket(my $s, AF_INET, SOCK_DGRAM, 0); bind($s, sockaddr_in(7, INADDR_ANY)) or die;
    while (defined(my $from = recv($s, my $text, 2000, 0))) { send($s, $text, 0, $from) }' &
echo_pid=$!
answered() { # NUMBER: how many of so many requests came back
	at "$first" perl -MSocket -e 'socket(my $s, AF_INET, SOCK_DGRAM, 0); my $to = sockaddr_in(7, inet_aton("10.9.0.2"));
	    my $n = 0; for (1 .. $ARGV[0]) { send($s, "x" x 200, 0, $to); my $r = ""; vec($r, fileno($s), 1) = 1;
	    $n++ if select($r, undef, undef, 0.5) && defined recv($s, my $text, 2000, 0) } print $n' "$1"
}
talks() { [ "$(answered 3)" = 3 ]; }
wait_for 15 talks || { fail 'the hosts' 'they do not reach each other'; bridge fdb; exit 1; }

# ---- the agent ----

start_agent() { # SAMPLING
	cat >"$rig/agent.conf" <<-END
		device = linux
		sampling = $1
		skip_by_speed = false
		mean_skip = 1
		max_samples_per_s = 0
		counters_interval_s = 1
		trap_port = $trap_port
		agentx_socket = "unix:$rig/agentx/master"
		state_dir = "$rig/agent"
	END
	: >"$rig/agent.log"
	rig_agent_start
	wait_for 15 if_number && wait_for 5 quick_get 1.3.6.1.2.1.31.1.6.0
}
rig_new
rig_collector && rig_snmpd && start_agent auto || { fail 'start' 'a daemon did not come up'; exit 1; }
number() { cat "/sys/class/net/$1/ifindex"; }
forwards() { # PORT SOFTWARE-1-OR-HARDWARE-2
	[ "$(snmp_get "$ease.1.7.1.1.$(number "$1")")" = "$2" ]
}
sampled_by() { snmp_get "$ease.1.7.1.2.$(number "$1")"; }
if wait_for 5 forwards swp1 2; then pass 'the chip is found to forward'; else fail 'hardware' "$(sampled_by swp1)"; fi
expect 'the log says that it offers no samples' "$(grep -c 'swp[12] is counted and not sampled: a switch chip' "$rig/agent.log")" 2
expect 'nobody samples its ports' "$(sampled_by swp1) $(sampled_by swp2)" '1 1'
expect 'nothing was put at them' "$(tc qdisc show dev swp1 | grep -c clsact)" 0
expect '--check says so, too' "$("$build/agent/easeagentd" -c "$rig/agent.conf" --check | grep -A 1 '^ *counted by nobody  *2 of 2$' | xargs)" \
    'counted by nobody 2 of 2 swp1 swp2'

packets() { ip -s -j link show "$1" | jq '.[0].stats64 | .rx.packets + .tx.packets'; }
before=$(packets swp1)
expect 'the hosts echo 500 frames' "$(answered 500)" 500
seen=$(($(packets swp1) - before))
if [ $seen -lt 200 ]; then pass "of these 1,000 the kernel's counters saw $seen"; else fail 'forwarded by the chip' "the kernel saw $seen"; fi
counted() { easetop load --last all --format json >"$rig/load.json" 2>/dev/null && [ "$(jq '[.rows[] | select(.port == "swp1")] | length' "$rig/load.json")" = 1 ]; }
wait_for 15 counted || fail 'the collector' "$(cat "$rig/load.json")"
easetop talkers --layer ip --last all --format json >"$rig/talkers.json"
expect 'no talkers are invented' "$(jq '[.rows[] | select(.port == "swp1" or .port == "swp2")] | length' "$rig/talkers.json")" 0
expect 'what nobody counts is unknown' "$(jq -r '.rows[] | select(.port == "swp1") | .rx_packets' "$rig/load.json")" null

from=$SECONDS
ip link set swp2 nomaster
if wait_for 5 forwards swp1 1; then pass "the kernel forwards again: $((SECONDS - from)) s"; else fail 'software' "after $((SECONDS - from)) s"; fi
expect 'and samples' "$(sampled_by swp1)" 2
from=$SECONDS
ip link set swp2 master br0
if wait_for 5 forwards swp1 2; then pass "the chip forwards again: $((SECONDS - from)) s"; else fail 'hardware again' "after $((SECONDS - from)) s"; fi
expect 'and nobody samples' "$(sampled_by swp1)" 1

# ---- the CPU's share ----

rig_agent_stop
start_agent cpu || { fail 'start' 'with sampling = cpu'; exit 1; }
share=$(($(number swp1) + 8388608))
has_share() { [ "$(snmp_get "$if_x.1.$share")" = '"swp1 CPU share"' ]; }
if wait_for 5 has_share; then pass "what reaches the CPU is a port of its own"; else fail 'the share' "$(snmp_get "$if_x.1.$share")"; fi
expect 'which the kernel samples' "$(snmp_get "$ease.1.7.1.2.$share")" 2
ip address add 10.9.0.9/24 dev br0
at "$first" perl -MSocket -e 'socket(my $s, AF_INET, SOCK_DGRAM, 0); my $to = sockaddr_in(9, inet_aton("10.9.0.9"));
    for (1 .. 200) { send($s, "x" x 300, 0, $to); select(undef, undef, undef, 0.005) }'
is_listed() {
	sleep 1 # or a slow machine does nothing else
	easetop talkers --layer ip --last all --port 'swp1 CPU share' --format json >"$rig/talkers.json" 2>"$rig/refusal" &&
	    [ "$(jq '[.rows[] | select(.src == "10.9.0.1")] | length' "$rig/talkers.json")" = 1 ]
}
if wait_for 15 is_listed; then pass 'its talkers are listed under that name'; else fail 'talkers of the share' "$(head -c 600 "$rig/talkers.json" "$rig/refusal")"; fi
easetop talkers --layer ip --last all --format json >"$rig/talkers.json"
expect 'and under no other' "$(jq '[.rows[] | select(.port == "swp1")] | length' "$rig/talkers.json")" 0
rig_agent_stop
expect 'nothing is left in the kernel' "$(tc qdisc show | grep -c clsact)" 0
kill "$first" "$second" "$echo_pid" 2>/dev/null
exit $failed
