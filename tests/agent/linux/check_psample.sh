#!/bin/bash
# Sampling by psample on a kernel of Debian's in a virtual machine: the tests against the kernel; the agent
# with psample for want of eBPF, a rate set by a manager, and what a killed agent leaves; the whole system
# over a bridge whose hosts know what they sent, only with --long. (What else Linux ports need of another kernel is in
# check_kernel.sh.) Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
[ -n "${EASE_IN_QEMU:-}" ] || { echo "SKIP psample: needs Debian's kernel: tests/run --kernel"; exit 0; }
. "$(dirname "$0")/../../support/rig.sh"
out=$rig/out

# It must not leave out what it is here for.
if "$build/tests/agent/linux/check_psample_kernel" >$out 2>&1 && grep -q '^100%' $out; then
	pass "against the kernel: $(sed -n 's/^100%: //p' $out)"
	grep '^1 in \|told as lost' $out
else
	fail 'against the kernel' 'it ended so'
	grep -v ' info ' $out | tail -n 20 | sed 's/^/    /'
fi

# ---- the agent, without what eBPF needs ----

start_agent() {
	cat >"$rig/agent.conf" <<-END
		device = linux
		skip_by_speed = false
		mean_skip = 100
		trap_port = $trap_port
		agentx_socket = "unix:$rig/agentx/master"
		state_dir = "$rig/agent"
	END
	: >"$rig/agent.log"
	rig_agent_start setpriv --bounding-set -bpf,-perfmon,-sys_admin
	wait_for 15 if_number && wait_for 15 quick_get 1.3.6.1.2.1.31.1.6.0
}
rates() { # of the filters at p0, in and out
	{ tc filter show dev p0 ingress; tc filter show dev p0 egress; } | sed -n 's/.*sample rate \(1.[0-9]*\) .*/\1/p' | paste -sd' '
}
index_of() { client snmpbulkwalk -Oqn "127.0.0.1:$agent_port" $if_x.1 | sed -n "s/^\.$if_x\.1\.\([0-9]*\) \"$1\"$/\1/p"; }
set_mean() { client snmpset -Oqv "127.0.0.1:$agent_port" "$ease.1.2.1.$(port_column easePortMeanSkip).$(index_of p0)" u "$1"; }

ip link add p0 type veth peer name h0
ip link set p0 up
ip link set h0 up
rig_new
rig_snmpd && start_agent || { fail 'start' 'a daemon did not come up'; exit 1; }
expect 'taken for want of eBPF' "$(grep -c 'p0 is sampled by psample in the kernel .*eBPF: ' "$rig/agent.log")" 1
expect 'one in 100, in and out' "$(rates)" '1/100 1/100'
expect 'a manager sets one in 7' "$(set_mean 7) $(rates)" '7 1/7 1/7'
rig_end "$agent_pid" KILL
expect 'a killed agent leaves its filters' "$(rates)" '1/7 1/7'
start_agent || fail 'start' 'after it was killed'
expect 'the next one removes them' "$(grep -c 'p0: removed the tap or filters' "$rig/agent.log") $(rates)" '1 1/7 1/7'
rig_agent_stop
expect 'and leaves nothing' "$(tc qdisc show | grep -c clsact)" 0
rig_stop
ip link delete p0

# ---- the whole system ----

[ -n "${EASE_LONG:-}" ] || { skip 'system' 'minutes: tests/run --long'; exit $failed; }
EASE_SAMPLING=psample "$(dirname "$0")/check_linux.sh" >$out 2>&1 || failed=1
sed '/own interfaces\|only read\|each is in the walk/d; s/^\(PASS\|FAIL\|SKIP\) linux/\1 psample system:/' $out
exit $failed
