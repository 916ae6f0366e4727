#!/bin/bash
# A Linux port whose agent is killed and ended while frames pass, and whose collector is away for a while: what is counted
# is what the kernel counted, to the frame; nobody is accused of what was nobody's fault; and reports say who was away.
# In a network namespace of the test's own. Needs root and eBPF. Takes two minutes. Prints PASS, FAIL or SKIP lines; exit 1 if
# one failed.
. "$(dirname "$0")/../support/rig.sh"
rig_namespace "$@" || { skip 'all' 'no network namespace can be made'; exit 0; }

echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6 2>/dev/null # no frames but ours
ip link add port type veth peer name far
ip link set far up
ip link set port up
is_up() { [ "$(ip -j link show port | jq -r '.[0].operstate')" = UP ]; }
wait_for 5 is_up
send() { # FRAMES: of 500 octets, some 1,000 a second
	timeout 60 python3 -c 'import socket, sys, time
out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
out.bind(("far", 0))
frame = bytes.fromhex("0200000000010200000000020800") + bytes.fromhex("4500000000000000401100000a0000010a000002") + bytes(466)
for _ in range(int(sys.argv[1])): out.send(frame); time.sleep(0.0008)' "$1"
}
kernel_rx() { ip -s -j link show port | jq '.[0].stats64.rx.packets'; }
json() { easetop "$@" --last all --format json; }
counted() { json load | jq '.rows[] | select(.port == "port") | .rx_packets'; }
is_counted() { [ "$(counted)" = "$(kernel_rx)" ]; }
# Each alone in a minute's range, as somebody looks who wonders: prints what CHECK says.
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
printf 'mean_skip = 20\nskip_by_speed = false\n' >>"$rig/agent.conf"
if ! agent; then skip 'all' "no eBPF here: $(tail -n 1 "$rig/agent.log")"; exit 0; fi
send 2000
wait_for 10 is_counted
expect 'counted' "$(counted)" "$(kernel_rx)"

rig_end "$agent_pid" KILL
send 1500
agent
send 1000
wait_for 10 is_counted
expect 'what passed while the agent was killed' "$(counted)" "$(kernel_rx)"

rig_end "$agent_pid"
send 1000
agent
send 1000
wait_for 10 is_counted
expect 'and while it was started anew' "$(counted)" "$(kernel_rx)"

rig_end "$collector_pid"
send 4000
quiet_s=75 # longer than a start takes, and across a minute's end
sleep $((quiet_s - 5))
rig_collector
send 500
wait_for 10 is_counted
send 500
wait_for 10 is_counted
expect 'and while the collector was away' "$(counted)" "$(kernel_rx)"
expect 'which lists count, too' "$(json talkers --sort packets --if port | jq '.totals.packets')" "$(kernel_rx)"
expect 'nobody is accused' "$(accusations)" ''
expect 'and what happened is told' "$(json load | jq -c '[(.away | length), (.notes | map(.id) | index("disagreement"))]')" '[1,null]'
