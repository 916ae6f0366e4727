#!/bin/bash
# hsflowd, an sFlow agent of others, samples a veth pair in a network namespace of this test, and easecapd takes it: all
# frames are counted, and as many are sampled as its rate says. Asks EASE_LONG, root, and hsflowd: an installed one, or
# its published source in the folder EASE_HSFLOWD, which is copied and built here. Prints PASS, FAIL or SKIP lines; exit 1
# if one failed.
. "$(dirname "$0")/../support/rig.sh"
[ -n "${EASE_LONG:-}" ] || { skip 'all' 'takes half a minute: set EASE_LONG'; exit 0; }
if [ "${1:-}" != inside ]; then
	[ "$(id -u)" = 0 ] || { skip 'all' 'network namespaces need root'; exit 0; }
	command -v python3 >/dev/null || { skip 'all' 'python3 is not there'; exit 0; }
	hsflowd=$(command -v hsflowd) modules=/etc/hsflowd/modules
	if [ -d "${EASE_HSFLOWD:-}" ]; then
		cp -r "$EASE_HSFLOWD" "$rig/source"
		modules=$rig/source/src/Linux hsflowd=$rig/source/src/Linux/hsflowd
		{ make -C "$rig/source" hsflowd && make -C "$modules" mod_pcap.so; } >"$rig/make.log" 2>&1 ||
		    { skip 'all' "hsflowd cannot be built: $(tail -n 1 "$rig/make.log")"; exit 0; }
	fi
	[ -x "$hsflowd" ] && [ -f "$modules/mod_pcap.so" ] ||
	    { skip 'all' 'no hsflowd with mod_pcap: install one, or name the folder of its source by EASE_HSFLOWD'; exit 0; }
	HSFLOWD=$hsflowd MODULES=$modules unshare -n bash "$0" inside
	exit
fi

frames=20000 rate=10
rig_new
ip link set lo up
unshare -n sleep 300 &
other=$!
is_apart() { [ "$(readlink "/proc/$other/ns/net")" != "$(readlink /proc/self/ns/net)" ]; }
wait_for 5 is_apart
sed -i 's/^listen = .*/sflow_listen = {"127.0.0.1:16343"}/; /communities/d' "$rig/collector.conf"
cat >"$rig/hsflowd.conf" <<-END
	sflow {
	  agentIP = 10.77.0.1
	  polling = 1
	  collector { ip = 127.0.0.1 udpport = 16343 }
	  pcap { dev = v0 sampling = $rate }
	}
END
ip link add v0 type veth peer name v1
ip link set v1 netns "$other"
ip addr add 10.77.0.1/24 dev v0
ip link set v0 up
nsenter -t "$other" -n ip addr add 10.77.0.2/24 dev v1
nsenter -t "$other" -n ip link set v1 up
"$build/collector/easecapd" -c "$rig/collector.conf" -f >"$rig/collector.log" 2>&1 &
collector_pid=$!
wait_for 10 grep -q 'listening for sFlow' "$rig/collector.log" || fail 'start' 'easecapd did not come up'
"$HSFLOWD" -d -P -l "$MODULES" -f "$rig/hsflowd.conf" -p "$rig/hsflowd.pid" \
    -u 11111111-2222-3333-4444-555555555555 >"$rig/hsflowd.log" 2>&1 &
sender=$!
rows() { sqlite3 "$rig/ease.db" "$1" 2>/dev/null; }
at_least() { [ "$(rows "$2")" -ge "$1" ] 2>/dev/null; }
wait_for 20 at_least 1 'SELECT count(*) FROM counter' || fail 'heard' "$(tail -n 3 "$rig/hsflowd.log")"
nsenter -t "$other" -n python3 -c "
import socket, time
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range($frames):
    out.sendto(b'x' * 300, ('10.77.0.1', 9999))
    if i % 200 == 0:
        time.sleep(0.02)"
wait_for 20 at_least "$frames" 'SELECT max(in_ucast) FROM counter' || fail 'counted' "$(rows 'SELECT max(in_ucast) FROM counter')"
kill "$sender" "$other"
rig_end "$collector_pid"
n=$(rows 'SELECT count(*) FROM sample WHERE direction = 1 AND length(src_ip) = 4')
expect 'the port has its name' "$(rows 'SELECT DISTINCT name FROM port')" v0
expect "1 in $rate of the frames is sampled, within four deviations" \
    "$(awk -v n="$n" -v m="$frames" -v r="$rate" 'BEGIN { d = n - m / r; print (d * d < 16 * m / r * (1 - 1 / r)) }') $((n > 0))" '1 1'
expect 'nothing is lost or refused' "$(rows "SELECT sum(expected) = sum(received) FROM account")$(rows "SELECT name FROM stat
    WHERE value > 0 AND name IN ('sflow.refused_sample', 'sflow.refused_datagram', 'sflow.no_header', 'sflow.datagrams_missing')")" 1
expect 'who sent stands first' "$("$build/collector/easetop" talkers --by src --last all --format json \
    --store "sqlite:$rig/ease.db" | jq -r '.rows[0].src')" 10.77.0.2
expect 'the audit sees that its pool is no count' "$("$build/collector/easetop" audit --last all --format json \
    --store "sqlite:$rig/ease.db" | jq -r '.rows[0].pool')" computed
exit $failed
