#!/bin/bash
# bench_ports.sh [LINKS [SECONDS]]: what many links of a Linux machine cost, in percent of a core: while nothing passes and
# nobody asks; then while 20 pairs of interfaces a second come and go as containers do, one link carries 100 frames a
# second and is asked for its counter 20 times a second: then also the longest time in which no new value came. Of
# easeagentd with the snmpd that it serves through, and in the same run of snmpd alone with tables of its own. One JSON
# object a line. Needs root; works in a network namespace of its own.
. "$(dirname "$0")/../support/rig.sh"
. "$(dirname "$0")/bench_tools.sh"
[ "${1:-}" = inside ] || { links=${1:-4000} seconds=${2:-20}; export links seconds; rm -rf "$rig"; exec unshare -n -- bash "$0" inside; }
ip link set lo up
for i in all default; do echo 1 >/proc/sys/net/ipv6/conf/$i/disable_ipv6; done 2>/dev/null
{ echo 'link add busy type veth peer name busy-peer'
  seq $((links / 2 - 1)) | sed 's/.*/link add a& type veth peer name b&/'; } | ip -batch -
ip -o link show | sed -n 's/^[0-9]*: \([^:@]*\).*/link set \1 up/p' | ip -batch -
busy=$(ip -o link show busy | cut -d: -f1)

ticks() { awk '{ ticks += $14 + $15 } END { print ticks }' $(printf '/proc/%s/stat ' "$@"); }
percent() { # TICKS
	awk -v ticks="$1" -v s="$seconds" 'BEGIN { printf "%.2f", ticks / s }'
}
churn() {
	local i
	for ((i = 1; i <= 20 * seconds; i++)); do
		echo "link add c$i type veth peer name d$i"
		[ $i -le 20 ] || echo "link del c$((i - 20))"
		read -rt 0.05 <> <(:) || true
	done | ip -force -batch - 2>/dev/null
	ip -o link show | sed -n 's/^[0-9]*: \(c[0-9]*\)@.*/link del \1/p' | ip -force -batch - 2>/dev/null
}
oldest() { python3 "$top/tests/support/oldest_counter.py" "$busy" "$agent_port" $if_x.11."$busy" "$seconds"; }
measure() { # WHO PID...
	local who=$1 before idle
	shift
	sleep "$((seconds / 2))" # it settles
	before=$(ticks "$@")
	sleep "$seconds"
	idle=$(($(ticks "$@") - before))
	churn &
	before=$(ticks "$@")
	worst=$(oldest)
	busy_ticks=$(($(ticks "$@") - before))
	wait $!
	printf '{"bench":"ports","program":"%s","links":%d,"idle_percent":%s,"churn_percent":%s,"oldest_counter_s":%s}\n' \
	    "$who" "$links" "$(percent $idle)" "$(percent $busy_ticks)" "$worst"
}

rig_new
rig_linux_config
rig_snmpd && rig_agent_start || die 'a daemon did not come up'
is_busy() { [ "$(snmp_get $if_x.1."$busy")" = "$1" ]; }
wait_for 15 is_busy '"busy"' || die 'the agent does not serve the link'
measure easeagentd "$agent_pid" "$snmpd_pid"
rig_agent_stop
rig_end "$snmpd_pid"
snmpd -f -LF w "$rig/snmpd.log" -C -c "$rig/snmpd.conf" >/dev/null 2>&1 &
snmpd_pid=$!
wait_for 15 is_busy '"busy"' || die 'snmpd does not serve the link'
measure 'snmpd alone' "$snmpd_pid"
rig_stop
