#!/bin/bash
# Ports that come and go, over a real snmpd and the kernel's interfaces in a network namespace of the
# test's own: each is an event in the tables and no restart; one plugged in again has its settings, and its
# number if these are stable, else the kernel's; its counters begin with a discontinuity; the others go on. Needs root. Prints PASS,
# FAIL or SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../../support/rig.sh"
rig_namespace "$@" || { skip 'all' 'no network namespace can be made'; exit 0; }

plug() { ip link add "$1" type veth peer name "peer-$1" && ip link set "$1" up; }
plug p1
plug p2
index_of() { # NAME: its ifIndex
	client snmpbulkwalk -Oqn "127.0.0.1:$agent_port" $if_x.1 | sed -n "s/^\.$if_x\.1\.\([0-9]*\) \"$1\"$/\1/p"
}
is_named() { [ -n "$(index_of "$1")" ]; } # tables are registered one after the other
start_agent() {
	cat >"$rig/agent.conf" <<-END
		device = linux
		agentx_socket = "unix:$rig/agentx/master"
		state_dir = "$rig/agent"
		$1
	END
	rig_agent_start
	wait_for 15 if_number && wait_for 5 quick_get $stack_last_change && wait_for 5 is_named p1
}
interfaces=1.3.6.1.2.1.2 stack=1.3.6.1.2.1.31.1.2.1.3
table_last_change=1.3.6.1.2.1.31.1.5.0 stack_last_change=1.3.6.1.2.1.31.1.6.0
rig_new
rig_snmpd && start_agent 'ifindex = stable' || { fail 'start' 'a daemon did not come up'; exit 1; }

number() { snmp_get $interfaces.1.0; }
ticks() { snmp_get -Ot "$1"; }
discontinuity() { ticks $if_x.19."$(index_of "$1")"; }
layers() { client snmpbulkwalk -Oqn "127.0.0.1:$agent_port" $stack | sed "s/^\.$stack\.//" | paste -sd' '; }
is_number() { [ "$(number)" = "$1" ]; }

expect 'four interfaces, and lo' "$(number)" 5
expect 'lo is a loopback without address and connector' "$(snmp_get $interfaces.2.1.3.1 $interfaces.2.1.6.1 $if_x.17.1 | paste -sd' ')" '24 "" 2'
promiscuous() { snmp_get $if_x.16."$(index_of p1)"; }
is_promiscuous() { [ "$(promiscuous)" = "$1" ]; }
ip link set p1 promisc on
if wait_for 5 is_promiscuous 1; then pass 'ifPromiscuousMode is what ip set'; else fail 'promiscuous' "$(promiscuous)"; fi
ip link set p1 promisc off
if wait_for 5 is_promiscuous 2; then pass 'and not any more'; else fail 'not promiscuous' "$(promiscuous)"; fi
client snmpset "127.0.0.1:$agent_port" $interfaces.2.1.7."$(index_of p1)" i 2 >/dev/null
expect 'down by a SET is down at once' "$(snmp_get $interfaces.2.1.8."$(index_of p1)")" 2
is_down() { [ "$(snmp_get $interfaces.2.1.8."$(index_of peer-p1)")" = 2 ]; }
ip link set peer-p1 up
if wait_for 5 is_down; then pass 'its peer is down, for nothing is below it'; else fail 'its peer' "$(snmp_get $interfaces.2.1.8."$(index_of peer-p1)")"; fi
ip link set peer-p1 down
ip link set p1 up
expect 'nothing has changed yet' "$(ticks $table_last_change) $(ticks $stack_last_change)" '0 0'
first=$(index_of p1) second=$(index_of p2)
client snmpset "127.0.0.1:$agent_port" $if_x.14."$second" i 2 $if_x.18."$second" s 'to the roof' >/dev/null
expect 'each interface has a layer above and below' "$(layers | wc -w)" 20
ip link delete p2
if wait_for 5 is_number 3; then pass 'two are unplugged'; else fail 'two are unplugged' "$(number) are left"; fi
expect 'their rows are gone' "$(index_of p2)$(snmp_get $interfaces.2.1.1."$second" | grep -v 'No Such')" ''
expect 'and their layers' "$(layers | wc -w)" 12
gone_at=$(ticks $table_last_change)
expect 'the tables tell when' "$((gone_at > 0)) $(($(ticks $stack_last_change) > 0))" '1 1'
plug p2
if wait_for 5 is_number 5; then pass 'they are plugged in again'; else fail 'they are plugged in again' "$(number)"; fi
expect 'with the number they had' "$(index_of p2)" "$second"
expect 'and the settings' "$(snmp_get $if_x.14."$second" $if_x.18."$second" | paste -sd' ')" '2 "to the roof"'
expect 'counters begin there' "$(($(discontinuity p2) >= gone_at))" 1
expect 'those of others go on' "$(discontinuity p1)" 0
expect 'the agent is the same' "$(grep -c 'serving' "$rig/agent.log")" 1
kept_at=$(discontinuity p2)
rig_agent_stop
start_agent 'ifindex = stable' || { fail 'restart' 'the agent did not come up'; exit 1; }
expect 'numbers stay over a restart' "$(index_of p1) $(index_of p2)" "$first $second"
expect 'and discontinuities' "$(discontinuity p1) $(($(discontinuity p2) - kept_at < 100 && kept_at - $(discontinuity p2) < 100))" '0 1'

# ---- the kernel's numbers: the default; and what runs on what ----

kernel_index() { ip -o link show dev "$1" | cut -d: -f1; }
rig_agent_stop
start_agent '' || { fail 'restart with the numbers of the kernel' 'the agent did not come up'; exit 1; }
expect 'every number is the kernel'"'"'s' "$(index_of p1) $(index_of p2)" "$(kernel_index p1) $(kernel_index p2)"
expect 'settings follow the name' "$(snmp_get $if_x.18."$(index_of p2)")" '"to the roof"'
ip link delete p2
wait_for 5 is_number 3 || fail 'unplugged' "$(number) are left"
plug p2
wait_for 5 is_number 5 || fail 'plugged in' "$(number) are there"
expect 'plugged in again: the new number' "$(index_of p2)" "$(kernel_index p2)"
is_ours() { [ "$(snmp_get $if_x.18."$(kernel_index p2)")" = '"to the roof"' ]; }
if wait_for 5 is_ours; then pass 'with the settings of the name'; else
	fail 'with the settings of the name' "$(snmp_get $if_x.18."$(kernel_index p2)")"
fi
ip link add br0 type bridge && ip link set p1 master br0
under_bridge() { [ "$(snmp_get $stack."$(kernel_index br0).$(kernel_index p1)")" = 1 ]; }
if wait_for 5 under_bridge; then pass 'a bridge runs on its port'; else fail 'a bridge runs on its port' "$(layers)"; fi
expect 'nothing but the bridge runs on it, and nothing on the bridge' "$(layers | tr ' ' '\n' |
    grep -cE "^(0\.$(kernel_index p1)|$(kernel_index br0)\.0)$") $(snmp_get $stack."0.$(kernel_index br0)")" '0 1'
ip link delete br0
ip link set p2 down && ip link set p2 name wan && ip link set wan up
renamed() { [ "$(index_of wan)" = "$(kernel_index wan)" ] && [ "$(snmp_get $if_x.18."$(index_of wan)")" = '"to the roof"' ]; }
if wait_for 5 renamed; then pass 'renamed: the number stays, and the settings'; else
	fail 'renamed: the number stays, and the settings' "$(index_of wan)"
fi
exit $failed
