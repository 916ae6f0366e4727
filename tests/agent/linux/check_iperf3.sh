#!/bin/bash
# The Linux device under traffic of a generator we did not write: iperf3 over a bridge with four veth
# ports, offloads off, UDP one way and TCP the other, and then TCP with them, whose packets are dozens of frames. Afterwards each port's ifXTable equals `ip -s -s
# link` (plus 4 octets of FCS a frame), and each conversation's limits hold what iperf3 says it sent.
# Needs root. Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../../support/rig.sh"
rig_namespace "$@" || { skip 'all' 'no network namespace can be made'; exit 0; }
for need in iperf3 ethtool nsenter; do
	command -v $need >/dev/null || { skip 'all' "$need is not there"; exit 0; }
done

# ---- four hosts at a bridge ----

others=() # processes: one holds each host's namespace, two serve
trap 'kill "${others[@]}" 2>/dev/null; rig_stop; rm -rf "$rig"' EXIT
quiet='for i in all default; do echo 1 >/proc/sys/net/ipv6/conf/$i/disable_ipv6; done 2>/dev/null'
on_host() { # NUMBER COMMAND...
	local pid=${others[$1 - 1]}
	shift
	nsenter -t "$pid" -n "$@"
}
is_apart() { [ "$(readlink "/proc/$1/ns/net")" != "$(readlink /proc/self/ns/net)" ]; }
offloads_off() { ethtool -K "$1" tso off gso off gro off >/dev/null; }
add_host() { # NUMBER: its interface is eth0, the bridge's port pNUMBER
	unshare -n sleep infinity &
	others+=($!)
	disown $!
	wait_for 5 is_apart $! || return 1
	on_host "$1" bash -c "$quiet"
	ip link add "p$1" type veth peer name eth0 netns "${others[-1]}" &&
	    ip link set "p$1" master br0 up && offloads_off "p$1" &&
	    on_host "$1" ip link set eth0 up && on_host "$1" ethtool -K eth0 tso off gso off gro off >/dev/null &&
	    on_host "$1" ip address add "10.20.1.$1/24" dev eth0
}
bash -c "$quiet"
ip link add br0 type bridge mcast_snooping 0 && ip link set br0 up && add_host 1 && add_host 2 &&
    add_host 3 && add_host 4 || { fail 'network' 'it cannot be made'; exit 1; }

rig_new
cat >"$rig/agent.conf" <<END
device = linux
agentx_socket = "unix:$rig/agentx/master"
state_dir = "$rig/agent"
mean_skip = 100
skip_by_speed = false
max_samples_per_s = 0
END
start_agent() {
	rig_agent_start
	wait_for 15 if_number && wait_for 5 quick_get $if_x.1.1
}
rig_collector && rig_snmpd && start_agent || { fail 'start' 'a daemon did not come up'; exit 1; }
declare -A index
while read -r number name; do index[$name]=$number; done < <(client snmpbulkwalk -Oqn \
    "127.0.0.1:$agent_port" $if_x.1 | sed -n "s/^\.$if_x\.1\.\([0-9]*\) \"\(.*\)\"$/\1 \2/p")
is_sampled() { quick_get $ease.1.2.1.2."${index[p1]:-0}" | grep -q '^[0-9]'; }
if ! wait_for 5 is_sampled; then
	why=$(grep -o 'no sampling: [^;]*' "$rig/agent.log" | head -n 1)
	[ -n "$why" ] || { fail 'sampling' 'no port is sampled, and the agent does not say why'; exit 1; }
	skip 'all' "$why"
	exit 0
fi

# ---- traffic ----

for host in 2 4; do
	# not by on_host: the process to be ended is the server's own
	nsenter -t "${others[host - 1]}" -n iperf3 -s -p 5201 >/dev/null 2>&1 &
	others+=($!)
	disown $!
done
answers() { on_host "$1" bash -c "echo >/dev/tcp/10.20.1.$2/5201"; }
wait_for 5 answers 1 2 && wait_for 5 answers 3 4 || { fail 'iperf3' 'its server does not answer'; exit 1; }
on_host 1 iperf3 -c 10.20.1.2 -u -b 40M -l 1000 -t 5 --cport 40001 -J >"$rig/udp.json" 2>&1 &
udp=$!
on_host 3 iperf3 -c 10.20.1.4 -b 40M -M 1000 -t 5 --cport 40003 -J >"$rig/tcp.json" 2>&1 &
tcp=$!
if wait $udp && wait $tcp; then pass 'its traffic'; else fail 'its traffic' "$(head -c 300 "$rig/udp.json" "$rig/tcp.json")"; exit 1; fi
on_host 3 ethtool -K eth0 tso on gso on >/dev/null
on_host 3 timeout 20 iperf3 -c 10.20.1.4 -b 400M -t 3 --cport 40005 -J >"$rig/gso.json" 2>&1 || fail 'TCP with offloads' "$(head -c 300 "$rig/gso.json")"

# ---- counters ----

kernel() { # PORT: octets with FCS and multicasts received, octets sent
	ip -j -s -s link show "$1" | jq -r '.[0].stats64 |
	    "\(.rx.bytes + 4 * .rx.packets) \(.rx.multicast) \(.tx.bytes + 4 * .tx.packets) \(.tx.packets)"'
}
served() { # the same by ifHCInOctets, ifHCInMulticastPkts, ifHCOutOctets, ifHCOutUcastPkts
	local i=${index[$1]}
	snmp_get $if_x.6."$i" $if_x.8."$i" $if_x.10."$i" $if_x.11."$i" | paste -sd' '
}
is_equal() { [ "$(kernel "$1")" = "$(served "$1")" ]; }
for port in p1 p2 p3 p4 br0; do
	if wait_for 5 is_equal $port; then
		pass "$port as ip -s -s link has it"
	else
		fail "$port" "$(served $port), by ip $(kernel $port)"
	fi
done

# ---- samples ----

rig_agent_stop # its last counters close the windows
# A machine too busy to read the kernel's samples in time loses some; then the agent says how many.
all_stored() {
	[ "$(easetop loss --last all --format json | jq '[.rows[] | .expected - .received - .lost_in_agent] | add')" = 0 ]
}
if wait_for 10 all_stored; then
	pass 'each sample arrived, or the agent says that it lost it'
else
	fail 'each sample arrived' "$(easetop loss --last all)"
fi
easetop conversations --sort packets --last all --format json >"$rig/conversations.json"
# A limit of 95 % misses one time in 20, one twice as wide one time in 10,000.
holds() { # NAME SRC-PORT SENT [UNIT]
	local verdict
	verdict=$(jq -r --argjson port "$2" --argjson sent "$3" --arg unit "${4:-packets}" '
	    [.rows[] | select(.src_port == $port)][0][$unit] |
	    "\((.high - .low) as $width | .low - $width / 2 <= $sent and $sent <= .high + $width / 2) \(.low) .. \(.high)"' \
	    "$rig/conversations.json")
	case $verdict in
	true*) pass "$1: $3 ${4:-packets}, ${verdict#* } estimated" ;;
	*) fail "$1" "$3 ${4:-packets}, $verdict" ;;
	esac
}
# A skip counter that stands empty until the agent comes lets frames pass that are in no row.
unsampled=$(easetop loss --last all --format json | jq '[.rows[] | select(.port == "p1").stalled_frames] | add')
holds "UDP of iperf3, less $unsampled unsampled" 40001 $(($(jq '.end.sum.packets' "$rig/udp.json") - unsampled))
expect 'offloads were off: TCP in frames of its own' \
    "$(jq -r '[.rows[] | select(.src_port == 40003)][0] | .octets.estimate / .packets.estimate < 1518' "$rig/conversations.json")" true
# The kernel counts one header for all frames of a packet. In bursts of 45 frames no skip counter stands empty.
sent=$(jq '.end.sum_sent.bytes' "$rig/gso.json")
holds 'TCP in packets of dozens of frames' 40005 "$sent" octets
stalled=$(easetop loss --last all --format json | jq '[.rows[] | select(.port == "p3").stalled_frames] | add')
if [ "$stalled" -le $((sent / 1518 / 50)) ]; then pass "of them $stalled frames passed an empty skip counter"; else
	fail 'GSO and the skip counter' "$stalled of $((sent / 1518)) frames passed while it was empty"
fi
exit $failed
