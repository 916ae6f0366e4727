#!/bin/bash
# Standstills of known length, from the device to the report: a GalNet chip whose CPU is late (at one sample a
# frame, where a single frame too many or too few is a mismatch, and at one in 20), and an agent over Linux that
# is stopped while a known number of frames pass. easePortStalledPkts is exact, the collector has the same
# figure, and CHECK of `easetop load` says ok at each port. The part over Linux needs root and eBPF. Prints
# PASS, FAIL or SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../support/rig.sh"
rig_needs_sim
rig_namespace "$@"

# What the collector has of each port: ifIndex, frames that could have been sampled, standstills, frames in them.
# The latest counters are those of the port's end; there are none before its first frame.
in_store() {
	sqlite3 -separator ' ' "$rig/ease.db" 'SELECT if_index, max(pool_in + pool_out), max(stalls), max(stalled_pkts) FROM counter GROUP BY agent, if_index ORDER BY if_index' 2>/dev/null
}
load() { easetop load --last all --format json; }
checks() { load | jq -r '[.rows[].check] | unique | join(" ")'; }

# The report's live edge is a second or so wide, in which one frame more is a mismatch at one sample a frame; it
# goes when nothing has come for some seconds.
is_ok() { [ "$(checks)" = ok ]; }

# ---- GalNet ----

is_all() { [ "$(in_store | cut -d' ' -f "$1")" = "$(cut -d' ' -f "$1" "$rig/truth")" ]; }
galnet() { # MEAN COLUMNS: of the truth that are known
	rig_new
	rig_collector || { fail 'start' 'no collector'; return; }
	"$build/tests/e2e/standstill_sender" "$trap_port" demo "$1" "$rig/truth" >"$rig/sender" 2>&1 || { fail "GalNet, 1 in $1" "$(tail -n 1 "$rig/sender")"; return; }
	if wait_for 10 is_all "$2"; then pass "GalNet, 1 in $1: the collector has every standstill"; else
		fail "GalNet, 1 in $1: standstills" "$(in_store | diff - "$rig/truth" | head -4)"
	fi
	rig_end "$collector_pid"
	collector_pid=''
	if wait_for 10 is_ok; then pass "GalNet, 1 in $1: CHECK of every port"; else fail "GalNet, 1 in $1: CHECK" "$(checks)"; fi
	expect "GalNet, 1 in $1: ports" "$(load | jq '.rows | length')" 8
}
galnet 1 1-4
galnet 20 1-2

# ---- Linux ----

if [ "${1:-}" != inside ] || ! ip link add p1 type veth peer name h1 2>/dev/null; then
	skip 'Linux' 'no network namespace with interfaces can be made'
	exit $failed
fi
sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
ip link set p1 up && ip link set h1 up
index=$(ip -o link show dev p1 | cut -d: -f1)
send_frames() { # N SECONDS: from h1, to a station that nobody has
	perl -MSocket -MTime::HiRes=sleep -e '
		my ($n, $seconds, $index) = @ARGV;
		socket(my $out, 17, SOCK_RAW, 0) or die "socket: $!"; # AF_PACKET
		my $to = pack("SnlSCCa8", 17, 0x88b5, $index, 0, 0, 6, "\2\0\0\0\0\2");
		my $frame = pack("H*", "02000000000202000000000188b5") . "\0" x 46;
		for (1 .. $n) { send($out, $frame, 0, $to) or die "send: $!"; sleep($seconds / $n) if $seconds }
	    ' "$1" "$2" "$(ip -o link show dev h1 | cut -d: -f1)"
}
stalls=$ease.1.2.1.$(port_column easePortStalls).$index
stalled=$ease.1.2.1.$(port_column easePortStalledPkts).$index
pool=$ease.1.2.1.$(port_column easePortPoolIn).$index
figures() { snmp_get "$stalls" "$stalled" "$pool" | paste -sd' '; }
pool_is() { [ "$(snmp_get "$pool")" = "$1" ]; }

rig_new
cat >"$rig/agent.conf" <<-END
	device = linux
	mean_skip = 1
	skip_by_speed = false
	max_samples_per_s = 0
	counters_interval_s = 1
	agentx_socket = "unix:$rig/agentx/master"
	state_dir = "$rig/agent"
	run_as = root
END
rig_collector && rig_snmpd || { fail 'start' 'a daemon did not come up'; exit 1; }
rig_agent_start
wait_for 15 quick_get "$pool"
if grep -q 'no sampling' "$rig/agent.log"; then # eBPF is not there, or not allowed
	skip 'Linux' "$(grep -o 'no sampling: [^;]*' "$rig/agent.log" | head -n 1)"
	exit $failed
fi
wait_for 10 pool_is 0 || fail 'Linux: start' "the pool is $(snmp_get "$pool")"
sent=0
settled() { [ "$was" = "$(figures)" ] || { was=$(figures); false; }; } # the agent has taken all and drawn anew
for frames in 500 2000 12345; do
	send_frames 100 1
	sent=$((sent + 100))
	wait_for 10 pool_is $sent || fail 'Linux: frames' "$(snmp_get "$pool") of $sent"
	was=''
	wait_for 10 settled
	before=$(figures)
	kill -STOP "$agent_pid"
	send_frames $frames 0
	kill -CONT "$agent_pid"
	sent=$((sent + frames))
	wait_for 10 pool_is $sent
	read -r n pkts _ <<<"$before"
	expect "Linux: of $frames frames 33 are sampled, the others stood still" "$(figures)" "$((n + 1)) $((pkts + frames - 33)) $sent"
done
truth="$index $sent $(snmp_get "$stalls" "$stalled" | paste -sd' ')"
has_truth() { in_store | grep -qx "$truth"; }
rig_agent_stop
if wait_for 10 has_truth; then pass 'Linux: the collector has every standstill'; else
	fail 'Linux: the collector has every standstill' "$(in_store) instead of $truth"
fi
rig_end "$collector_pid"
collector_pid=''
if wait_for 10 is_ok; then pass 'Linux: CHECK of every port'; else fail 'Linux: CHECK' "$(checks)"; fi
exit $failed
