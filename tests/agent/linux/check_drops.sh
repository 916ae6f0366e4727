#!/bin/bash
# Dropped packets of a real kernel, in a virtual machine: frames of known number that a bridge's VLAN filter drops, that
# go to an address nobody has, that a full queue has no room for, whose TTL runs out, that nobody listens to. Each is
# reported once, with reason, port and place, or counted as not sent; what ports count, what is explained, not sent and
# unexplained add up to the packet; and the drop monitor is shared as its one owner
# wants. Then netdevsim, of whose traps as many packets are reported as devlink counts. Prints PASS, FAIL or SKIP lines; exit 1 if
# one failed.
[ -n "${EASE_IN_QEMU:-}" ] || { echo "SKIP drops: needs Debian's kernel: tests/run --kernel"; exit 0; }
. "$(dirname "$0")/../../support/rig.sh"
modprobe -a drop_monitor bridge 8021q sch_tbf || { fail 'modules' 'they do not load'; exit 1; }

# ---- two ports of a bridge, and one that routes; whoever sends is behind each ----

for i in 1 2 3; do
	ip link add "p$i" type veth peer name "h$i"
	for link in "p$i" "h$i"; do
		echo 1 >"/proc/sys/net/ipv6/conf/$link/disable_ipv6"
		ip link set "$link" arp off
		ip link set "$link" up
	done
done
ip link add br0 type bridge vlan_filtering 1 mcast_snooping 0
echo 1 >/proc/sys/net/ipv6/conf/br0/disable_ipv6
ip link set p1 master br0
ip link set p2 master br0
ip link set br0 up
bridge link set dev p2 flood off
bridge fdb add 02:00:00:00:00:22 dev p2 master static vlan 1
tc qdisc replace dev p2 root tbf rate 8kbit burst 1600 limit 3000
echo 1 >/proc/sys/net/ipv4/ip_forward
ip address add 10.8.0.1/24 dev p3
ip route add 10.99.0.0/24 dev p3
ip neighbour add 10.8.0.2 lladdr 02:00:00:00:00:33 dev p3 nud permanent

frames() { # INTERFACE NUMBER TO-MAC TTL TO-IP [VLAN] [TYPE]: UDP to port 9
	perl -e 'my ($name, $n, $mac, $ttl, $ip, $vlan, $type) = @ARGV;
	    socket(my $s, 17, 3, 0) or die "socket: $!";
	    open my $f, "<", "/sys/class/net/$name/ifindex" or die; chomp(my $index = <$f>);
	    my $payload = "x" x 400;
	    my $udp = pack("nnnn", 5000, 9, 8 + length $payload, 0) . $payload;
	    my @head = (0x4500, 20 + length $udp, 1, 0, $ttl << 8 | 17, 0, unpack("n2", pack("C4", 10, 8, 0, 2)),
		unpack("n2", pack("C4", split /\./, $ip)));
	    my $sum = 0; $sum += $_ for @head; $sum = ($sum & 0xffff) + ($sum >> 16) for 1 .. 2; $head[5] = 0xffff - $sum;
	    my $frame = pack("H12H12", $mac =~ s/://gr, "020000000044") . ($vlan ? pack("nn", 0x8100, $vlan) : "") .
		pack("n", hex($type || "0800")) . pack("n10", @head) . $udp;
	    send($s, $frame, 0, pack("SnlSCCa8", 17, 0x0800, $index, 0, 0, 6, "")) or die "send: $!" for 1 .. $n' "$@"
}

# ---- the system ----

rig_new
sflow_port=$(free_port)
printf 'sflow_listen = {"127.0.0.1:%s"}\n' "$sflow_port" >>"$rig/collector.conf"
start_agent() { # [LINE...]
	{
		cat <<-END
			device = linux
			sampling = none
			drops = true
			counters_interval_s = 1
			trap_port = $trap_port
			sflow_collector = "127.0.0.1:$sflow_port"
			sflow_agent_address = "192.0.2.42"
			agentx_socket = "unix:$rig/agentx/master"
			state_dir = "$rig/agent"
			run_as = root
		END
		printf '%s\n' "$@"
	} >"$rig/agent.conf"
	: >"$rig/agent.log"
	rig_agent_start
	wait_for 15 grep -q "${begun:-dropped packets are reported}" "$rig/agent.log"
}
screen() { "$build/agent/easeagentd" -c "$rig/agent.conf" --check 2>&1; }
check() { screen | sed -n 's/^ *dropped packets  *//p' | tr -s ' '; } # what it says of this machine now
drops() { easetop drops --last all --top 1000 --format json "$@" 2>/dev/null; }
told() { # PORT: of each reason how many
	drops --by reason --port "$(<"/sys/class/net/$1/ifindex")" |
	    jq -r '.rows[] | select(.reason != null) | "\(.reason): \(.packets)"' | sort
}
places() { drops --by place --port "$(<"/sys/class/net/$1/ifindex")" | jq -r '[.rows[].place // empty] | sort | join(" ")'; }
new_collector() {
	rig_end "$collector_pid"
	rm -f "$rig"/ease.db*
	: >"$rig/collector.log"
	rig_collector
}
tells() { [ "$(told "$1" | paste -sd,)" = "$2" ]; }
same() { # NAME PORT MUST-BE
	wait_for 8 tells "$2" "$3"
	expect "$1" "$(told "$2" | paste -sd,)" "$3"
	[ "$(told "$2" | paste -sd,)" = "$3" ] || echo "    places: $(places "$2")"
}
line_of() { # PORT (none: of no port; all), as the agent's sFlow has it, which traps repeat: counted, not counted, explained, not sent, lost, unexplained
	local which='.counted == null'
	[ "$1" = none ] || which=".if_index == $(cat "/sys/class/net/$1/ifindex" 2>/dev/null || echo null)"
	drops --agent 192.0.2.42 | jq -c ".ports[] | select($which) | [.counted, .not_counted, .explained, .not_sent, .lost, .unexplained]"
}
is_line() { [ "$(line_of "$1")" = "$2" ]; }
adds_up() { # PORT LINE: counters come each second
	wait_for 8 is_line "$1" "$2"
	expect "${3:-the account} of $1" "$(line_of "$1")" "$2"
}
stat_of() { sed -n "s/.*$1 \([0-9]*\).*/\1/p" "$rig/agent.log" | tail -n 1; }

rig_snmpd && rig_collector && start_agent 'drops_per_s = 100000' || { fail 'start' 'a daemon did not come up'; exit 1; }
frames h1 31 ff:ff:ff:ff:ff:ff 9 10.8.0.9 77
frames h1 23 02:00:00:00:00:99 9 10.8.0.9
frames h1 60 02:00:00:00:00:22 9 10.8.0.9
full=$(tc -s qdisc show dev p2 | sed -n 's/.*(dropped \([0-9]*\),.*/\1/p' | head -n 1)
frames h3 17 "$(</sys/class/net/p3/address)" 1 10.99.0.1
frames h3 13 "$(</sys/class/net/p3/address)" 9 10.8.0.1
frames h3 11 "$(</sys/class/net/p3/address)" 9 10.8.0.1 '' 88b5 # a type that nobody takes
expect 'the queue was full' "$([ "${full:-0}" -ge 10 ] && echo yes)" yes
same 'at the bridge: a filtered VLAN, an unknown address, a full queue' p1 \
    "ingress VLAN filter: 31,traffic shaping: $full,unknown, layer 2: 23" # 6.1 gives the second no reason
same 'at the router: nobody listens, TTL, nobody takes it' p3 'TTL exceeded: 17,port unreachable: 13,protocol not handled: 11'
adds_up p1 "[0,$((31 + 23 + full)),$((31 + 23 + full)),0,0,0]"
adds_up p2 "[$full,0,0,0,0,$full]" # where the queue is
adds_up p3 '[11,30,41,0,0,0]'
expect 'all that is unexplained may be what is told of at another port' "$(drops | jq .elsewhere.packets)" "$full"
expect 'by talker' "$(drops --by src --port "$(</sys/class/net/p3/ifindex)" | jq -c '[.rows[] | select(.src != null) | [.src, .packets]]')" \
    '[["10.8.0.2",30],["02:00:00:00:00:44",11]]'
expect 'the places' "$(places p3)" '__netif_receive_skb_core __udp4_lib_rcv ip_forward'
expect 'while it runs nobody else can have it' "$(check)" \
    'no another program has the monitor'
rig_agent_stop
expect 'at its end nothing is lost' "$(stat_of linux.drops_lost)$(stat_of linux.drops_limited)" ''
expect 'at its end the monitor is free' "$(check)" 'yes the drop monitor is free'

# ---- a limit; an agent that was killed; somebody else's monitor ----

new_collector && start_agent 'drops_per_s = 10'
frames h3 50 "$(</sys/class/net/p3/address)" 9 10.8.0.1
sleep 2 # the next second of the limit
frames h3 1 "$(</sys/class/net/p3/address)" 9 10.8.0.1
account() { drops | jq -r --argjson p "$(</sys/class/net/p3/ifindex)" '.ports[] | select(.if_index == $p) | .explained + .not_sent'; }
whole() { [ "$(account)" = 51 ]; }
wait_for 8 whole
expect 'beyond the limit: what is told and what is not sent are all' "$(account)" 51
expect 'and no counter has them' "$(line_of p3 | jq -c '[.[0], .[1], .[5]]')" '[0,51,0]'
frames h3 40 "$(</sys/class/net/p3/address)" 9 10.8.0.1 '' 88b5
sleep 2
frames h3 1 "$(</sys/class/net/p3/address)" 9 10.8.0.1 '' 88b5 # the next event tells what was not sent
limited() { line_of p3 | jq -e '.[0] == 41 and .[2] + .[3] == 92' >/dev/null; }
wait_for 8 limited
expect 'beyond the limit: and 41 that the port counted, too' "$(line_of p3 | jq -c '[.[0], .[1], .[2] + .[3], .[5]]')" '[41,51,92,0]'
rig_end "$agent_pid" KILL
start_agent
expect 'what a killed agent left is taken over' "$(grep -c 'reported: those of the kernel' "$rig/agent.log")" 1
rig_agent_stop
other() { # start or stop the monitor as another program does: command 3 or 4 of the family
	perl -MSocket -e 'socket(my $s, 16, 3, 16) or die; bind($s, pack("SSLL", 16, 0, 0, 0));
	    sub ask { my ($type, $flags, $command, $attrs) = @_; my $body = pack("CCS", $command, 2, 0) . $attrs;
		send($s, pack("LSSLL", 16 + length $body, $type, $flags, 1, 0) . $body, 0); recv($s, my $answer, 8192, 0); $answer }
	    my $family = ask(16, 1, 3, pack("SSa8", 12, 2, "NET_DM\0")); my $at = 20; my $id;
	    while ($at + 4 <= length $family) { my ($n, $t) = unpack("SS", substr $family, $at); last if $n < 4;
		$id = unpack("S", substr $family, $at + 4) if $t == 1; $at += ($n + 3) & ~3 }
	    ask($id, 5, $ARGV[0], "")' "$1"
}
other 3
begun='cannot be started' start_agent
expect 'what another program has started is left alone' \
    "$(grep -c 'cannot be started: another program has started it, and there is one for all; it is tried again every 30 s' "$rig/agent.log")" 1
rig_agent_stop
expect 'also at the end' "$(check)" 'no another program has the monitor'
other 4
expect 'until that stops it' "$(check)" 'yes the drop monitor is free'

# ---- a chip's traps ----

if [ -s "${EASE_NETDEVSIM:-}" ] && modprobe psample && insmod "$EASE_NETDEVSIM"; then
	new_collector
	echo '10 1' >/sys/bus/netdevsim/new_device
	chip=netdevsim/netdevsim10
	device_there() { ls /sys/bus/netdevsim/devices/netdevsim10/net/*/ifindex; }
	wait_for 5 device_there
	port=$(basename "$(echo /sys/bus/netdevsim/devices/netdevsim10/net/*)")
	start_agent 'drops_per_s = 100000'
	expect 'chips are reported, too' "$(grep -c 'of the kernel and of switch chips' "$rig/agent.log")" 1
	ip link set "$port" up
	for trap in blackhole_route ingress_vlan_filter ttl_value_is_too_small; do devlink trap set $chip trap $trap action trap; done
	sleep 3 # it makes some packets a second of each
	ip link set "$port" down
	counted() { # by devlink; reasons have the names of reports
		local trap
		for trap in blackhole_route:'blackhole route' ingress_vlan_filter:'ingress VLAN filter' ttl_value_is_too_small:'TTL exceeded'; do
			echo "${trap#*:}: $(devlink -j -s trap show $chip trap "${trap%%:*}" | jq '[.. | .rx? // empty | .packets? // empty] | add')"
		done | sort
	}
	chips() { drops --by reason | jq -r '.rows[] | select(.reason | IN("blackhole route", "ingress VLAN filter", "TTL exceeded")) |
	    "\(.reason): \(.packets)"' | sort; }
	agree() { [ "$(chips)" = "$(counted)" ]; }
	wait_for 8 agree
	expect 'of each trap as many as devlink counts' "$(chips | paste -sd,)" "$(counted | paste -sd,)"
	expect 'and some' "$(counted | grep -vc ': [1-9]')" 0
	all=$(devlink -j -s trap show | jq '[.trap[][] | select(.type != "control") | .stats.rx.packets // 0] | add')
	adds_up "$port" "[0,$all,$all,0,0,0]" "of all traps, as devlink counts them: the account"
	expect 'their traps' "$(drops --by reason | jq -r '[.rows[].detail // empty | select(test("_route$|_filter$|_small$"))] | sort | join(" ")')" \
	    'blackhole_route ingress_vlan_filter ttl_value_is_too_small'
	screen | sed -n '/^device = /,$p' >"$rig/screen"
	reports=$(devlink -j trap show | jq '[.trap[][] | select(.type != "control") | .action] | "\(map(select(. != "drop")) | length) of \(length)"' -r)
	expect 'and in --check: how many of its traps of drops report' \
	    "$(sed -n 's/^ *drops that it reports  *\([0-9]* of [0-9]*\) .*/\1/p' "$rig/screen")" "$reports"
	expect 'which is one screen' "$(awk 'length > 80 { wide++ } END { print NR <= 24, wide + 0 }' "$rig/screen")" '1 0'
	rig_agent_stop
else
	skip 'traps of a chip' 'netdevsim could not be built or loaded'
fi
exit $failed
