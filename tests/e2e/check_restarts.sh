#!/bin/bash
# A Linux port whose agent is killed and ended while data passes, and whose collector is away for a while: what is counted is
# what the kernel counted, to the octet; nobody is accused of what was nobody's fault; and reports say who was away. TCP comes
# in packets of many frames (GSO), so that what the agent counts begins at another number with each start. In network
# namespaces of the test's own. Needs root and eBPF. Takes four minutes. Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../support/rig.sh"
rig_namespace "$@" || { skip 'all' 'no network namespace can be made'; exit 0; }

sink_pid=''
unshare -n sleep 900 &
other_pid=$!
trap 'rig_end "$other_pid" KILL; rig_end "$sink_pid"; rig_stop; rm -rf "$rig"' EXIT
echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6 2>/dev/null # no frames but ours
ip link add port type veth peer name far
is_apart() { ip link set far netns "$other_pid" 2>/dev/null; }
wait_for 5 is_apart
nsenter -t "$other_pid" -n sh -c 'echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
	ip addr add 10.9.9.2/24 dev far; ip link set far up'
ip addr add 10.9.9.1/24 dev port
ip link set port up
timeout 900 python3 -c 'import socket
take = socket.create_server(("10.9.9.1", 5001))
while True:
    one = take.accept()[0]
    while one.recv(1 << 20): pass' &
sink_pid=$!
send() { # MIB, within some seconds
	timeout 60 nsenter -t "$other_pid" -n python3 -c 'import socket, sys, time
out = socket.create_connection(("10.9.9.1", 5001), timeout=10)
for _ in range(16 * int(sys.argv[1])): out.sendall(bytes(1 << 16)); time.sleep(0.01)' "$1"
}
# Received, without FCS, as the kernel has them, and as reports have them.
kernel_rx() { ip -s -j link show port | jq -c '.[0].stats64.rx | [.packets, .bytes]'; }
json() { easetop "$@" --last all --format json; }
counted() { json load | jq -c '.rows[] | select(.port == "port") | [.rx_packets, .rx_octets - 4 * .rx_packets]'; }
is_counted() { [ "$(counted)" = "$(kernel_rx)" ]; }
# Each minute alone, as somebody looks who wonders: prints what CHECK says.
accusations() {
	local from
	for from in $(sqlite3 "$rig/ease.db" "SELECT DISTINCT time_us / 60000000 * 60 FROM counter"); do
		easetop load --from "$(date -u -d "@$from" +%FT%TZ)" --to "$(date -u -d "@$((from + 60))" +%FT%TZ)" --format json |
		    jq -r '.rows[] | select(.port == "port") | .check // "" | select(startswith("mismatch"))'
	done
}
agent() { # starts it, and waits until it samples
	: >"$rig/agent.log"
	rig_agent_start
	wait_for 15 grep -q 'port is sampled by eBPF' "$rig/agent.log"
}

rig_new
rig_snmpd
rig_collector
rig_linux_config
sed -i 's/^sampling = none/sampling = ebpf/' "$rig/agent.conf"
printf 'mean_skip = 200\nskip_by_speed = false\n' >>"$rig/agent.conf"
if ! agent; then skip 'all' "no eBPF here: $(tail -n 1 "$rig/agent.log")"; exit 0; fi
sleep 3 # counters from before the first data
send 8
wait_for 10 is_counted
expect 'counted' "$(counted)" "$(kernel_rx)"

rig_end "$agent_pid" KILL
send 4
agent
send 8
wait_for 10 is_counted
expect 'what passed while the agent was killed' "$(counted)" "$(kernel_rx)"

rig_end "$agent_pid"
send 4
agent
send 8
wait_for 10 is_counted
expect 'and while it was started anew' "$(counted)" "$(kernel_rx)"

rig_end "$collector_pid"
send 8
sleep 70 # longer than a start takes, and over a minute's end
rig_collector
sleep 40 # nothing passes until the next sample
send 4
wait_for 10 is_counted
expect 'and while the collector was away' "$(counted)" "$(kernel_rx)"
expect 'nobody is accused' "$(accusations)" ''
expect 'and what happened is told' "$(json history | jq -c '.away | length') $(json load | jq -c '[(.away | length), (.notes | map(.id) | index("disagreement"))]')" '1 [1,null]'
