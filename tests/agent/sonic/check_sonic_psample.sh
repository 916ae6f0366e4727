#!/bin/bash
# device = sonic on a kernel of Debian's in a virtual machine: SONiC's databases in a Redis server, its port a network
# interface of that kernel whose frames `tc` samples by psample, as on SONiC's virtual switch; and the collector. The samples
# are those that the kernel told of, their frames those that were sent. Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
[ -n "${EASE_IN_QEMU:-}" ] || { echo "SKIP sonic_psample: needs Debian's kernel: tests/run --kernel"; exit 0; }
. "$(dirname "$0")/../../support/rig.sh"
. "$(dirname "$0")/databases.sh"
for need in python3 tc; do
	command -v $need >/dev/null || { skip 'all' "$need is not there"; exit 0; }
done
frames=40000 rate=256 octets=200

rig_new
sonic_databases 4 0 0 0 77
ip link add Ethernet0 type veth peer name h0
ip link set Ethernet0 up
ip link set h0 up
tc qdisc add dev Ethernet0 clsact
tc filter add dev Ethernet0 ingress matchall action sample rate $rate group 1 trunc 128 ||
    { fail 'start' 'tc samples nothing'; exit 1; }
db 6 HSET 'PORT_INDEX_TABLE|Ethernet0' ifindex "$(ip -o link show Ethernet0 | cut -d: -f1)" >/dev/null # as SONiC's portsyncd writes it
db 0 HSET SFLOW_SESSION_TABLE:Ethernet0 admin_state up sample_rate $rate sample_direction rx >/dev/null

cat >"$rig/agent.conf" <<END
device = sonic
sonic_database_config = "$config"
agentx_socket = "unix:$rig/agentx/master"
state_dir = "$rig/agent"
run_as = root
END
rig_collector && rig_snmpd || { fail 'start' 'a daemon did not come up'; exit 1; }
rig_agent_start
opened() { grep -q 'samples are taken from psample' "$rig/agent.log"; }
wait_for 20 opened && pass 'psample is opened' || fail 'psample is opened' "$(tail -n 3 "$rig/agent.log")"
in_force() { [ "$(snmp_get "$ease.1.2.1.$(port_column easePortMeanSkipInForce).1")" = $rate ]; }
wait_for 15 in_force && pass "the rate is SONiC's" || fail "the rate is SONiC's" "$(snmp_get "$ease.1.2.1.$(port_column easePortMeanSkipInForce).1")"

# Frames of 10.0.0.1, two thirds, and 10.0.0.2, at the port; what tc has seen is what was sent and what the kernel said itself.
python3 - $frames $octets <<'END'
import socket, struct, sys, time
out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
out.bind(("h0", 0))
frames, octets = int(sys.argv[1]), int(sys.argv[2])
def frame(host):
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, octets - 14, 0, 0, 64, 17, 0, bytes([10, 0, 0, host]), bytes([10, 9, 9, 9]))
    return b"\2\0\0\0\0\1\2\0\0\0\0\2\x08\0" + ip + struct.pack(">HHHH", 4000, 443, octets - 34, 0) + b"\0" * (octets - 42)
kinds = [frame(1), frame(1), frame(2)]
for i in range(frames):
    out.send(kinds[i % 3])
    if i % 400 == 399:
        time.sleep(0.05)
END
sampled() { tc -s filter show dev Ethernet0 ingress | sed -n 's/.* \([0-9]*\) pkt.*/\1/p' | head -n 1; }
seen=$(sampled)
if [ "$seen" -ge $frames ] && [ "$seen" -le $((frames + 200)) ]; then pass 'tc has seen each frame'; else fail 'tc has seen each frame' "$seen"; fi
came() { [ "$(easetop samples --last 5m --format json 2>/dev/null | wc -l)" -ge $((frames / rate / 2)) ]; }
wait_for 20 came || fail 'samples come' "$(easetop samples --last 5m --format json | wc -l)"
sleep 2 # the last notification
rig_agent_stop # its counters are in the log
n=$(sed -n 's/.*sonic\.samples \([0-9]*\).*/\1/p' "$rig/agent.log" | tail -n 1)
expect 'none was lost on the way from the kernel' "$(sed -n 's/.*sonic\.psample_lost \([0-9]*\).*/\1/p' "$rig/agent.log" | tail -n 1)" ''
expect 'the collector has each sample that the kernel told of' "$(sqlite3 -batch "$rig/ease.db" 'SELECT sum(received) FROM account')" "$n"
# A binomial count: five standard deviations.
if awk -v n="${n:-0}" -v mean=$((frames / rate)) 'BEGIN { d = n - mean; exit !(d * d < 25 * mean + 25) }'; then
	pass "they are one in $rate"; else fail "they are one in $rate" "$n of $frames"; fi
expect 'of the port and its hosts' "$(easetop talkers --last 10m --format json | jq -c '[.rows[] | select(.src | startswith("10.0.0.")) | .port] | unique')" '["Ethernet0"]'
expect 'the larger one is 10.0.0.1' "$(easetop talkers --last 10m --sort packets --format json | jq -r '.rows[0].src')" 10.0.0.1
exit $failed
