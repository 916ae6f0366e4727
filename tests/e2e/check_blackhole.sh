#!/bin/bash
# The recipe of conf/guide/alarms.md as it stands there: a flood on one host, the alarm's command, GoBGP, and an FRR router
# that gets the route with the community BLACKHOLE (RFC 7999) by BGP and lets its kernel drop what is for that host; when
# the collector is killed the route goes. In a network namespace of its own. PASS, FAIL or SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../support/rig.sh"
frr=/usr/lib/frr
for need in gobgpd gobgp $frr/bgpd $frr/zebra; do
	command -v "$need" >/dev/null || { skip 'all' "$need is not there"; exit 0; }
done
rig_namespace "$@" || { skip 'all' 'no network namespace can be made here'; exit 0; }
pids=() traffic_pid=''
end_all() {
	local pid
	for pid in "$traffic_pid" "${pids[@]}"; do rig_end "$pid"; done
	rig_stop
	rm -rf "$rig"
}
trap end_all EXIT

rig_new
chmod 755 "$rig"
# What stands in the guide, from the line with these words to the next empty one.
recipe() { sed -n "/^    $1/,/^\$/ s/^    //p" "$top/conf/guide/alarms.md"; }
recipe '# gobgpd.toml' >"$rig/gobgpd.toml"
recipe '# blackhole raised|over' | sed '1i #!/bin/sh' >"$rig/blackhole"
chmod 755 "$rig/blackhole"
mkdir -m 777 "$rig/frr"
{ echo "log file $rig/frr/log"; recipe '! frr.conf'; } >"$rig/frr/frr.conf"
touch "$rig/frr/log"
chmod 644 "$rig/frr/frr.conf" # FRR is another user
chmod 666 "$rig/frr/log"
ip addr add 192.0.2.1/32 dev lo
ip addr add 192.0.2.2/32 dev lo

gobgpd -f "$rig/gobgpd.toml" --api-hosts 127.0.0.1:50051 >"$rig/gobgpd.log" 2>&1 &
pids+=($!)
frr_daemon() { # NAME OPTION...
	"$frr/$1" -f "$rig/frr/frr.conf" -i "$rig/frr/$1.pid" -z "$rig/frr/zserv" --vty_socket "$rig/frr" -u frr -g frr -P 0 "${@:2}" \
	    >>"$rig/frr/$1.log" 2>&1 &
	pids+=($!)
}
frr_daemon zebra
wait_for 10 test -S "$rig/frr/zserv"
frr_daemon staticd
frr_daemon bgpd -p 179 -l 192.0.2.2
for pid in "${pids[@]}"; do disown "$pid"; done
is_up() { gobgp neighbor 2>/dev/null | grep -q Establ; }
wait_for 20 is_up || { fail 'the router speaks BGP' "$(gobgp neighbor; tail -n 5 "$rig/gobgpd.log" "$rig/frr"/*log)"; exit 1; }
pass 'the router speaks BGP'

sflow_port=$(free_port)
cat >>"$rig/collector.conf" <<END
sflow_listen = {"127.0.0.1:$sflow_port"}
alarms = {"destination above 20000 pps of each port in 10.9.0.0/16, 2001:db8::/32 except 10.9.0.53"}
alarm_command = "$rig/blackhole"
END
rig_collector
python3 "$top/tests/e2e/alarm_receivers.py" flood "$sflow_port" 20 10.1.2.3 10.9.0.1 2>"$rig/traffic.log" &
traffic_pid=$!
disown "$traffic_pid"
drops() { ip route get "$1" 2>&1 | grep -q 'Invalid argument\|blackhole'; } # the kernel's word for a blackhole
if wait_for 20 drops 10.9.0.1; then pass 'a flood: the router drops what is for the host'
else fail 'a flood: the router drops' "$(tail -n 3 "$rig/collector.log"; gobgp global rib; ip route)"; fi
drops 10.9.0.2 && fail 'nothing else is dropped' "$(ip route)"
expect 'the route has the community' "$(gobgp global rib 10.9.0.1/32 -j | grep -o '"communities":\[[0-9]*\]' | head -1)" \
    '"communities":[4294902426]'
kill -KILL "$collector_pid"
wait_for 10 eval '! kill -0 $collector_pid 2>/dev/null'
collector_pid=''
stays() { drops 10.9.0.1; }
if wait_for 20 eval '! stays'; then pass 'a collector that is killed: the route goes'
else fail 'a collector that is killed: the route goes' "$(gobgp global rib; ip route)"; fi
exit $failed
