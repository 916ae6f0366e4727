#!/bin/bash
# What the daemons may do to the machine, over a real snmpd and interfaces in a network namespace of
# the test's own. The agent keeps the capabilities its configuration uses and no other, in every
# thread, and they are enough; where one is missing it says so, refuses SET as notWritable before
# anything is changed, and goes on counting. Started by root, both become another user, the collector
# with no capability left and its ports below 1024 open; nobody else looks into their memory. Needs
# root. Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../support/rig.sh"
rig_namespace "$@" || { skip 'all' 'no network namespace can be made'; exit 0; }
command -v setpriv >/dev/null || { skip 'all' 'setpriv is not there'; exit 0; }

plug() { ip link add "$1" type veth peer name "peer-$1" && ip link set "$1" up; }
ip link add br0 type bridge
plug p1
ip link set p1 master br0
index_of() { ip -j link show "$1" | jq ".[0].ifindex"; } # nothing here is renamed or replugged
rig_new
chmod 755 "$rig" "$rig/agentx"
sed -i 's/^agentXPerms.*/agentXPerms 0777 0755/' "$rig/snmpd.conf"
rig_snmpd || { fail 'start' 'snmpd did not come up'; exit 1; }

# COMMAND-PREFIX -- LINE...: the agent, run by the prefix, with further lines of configuration
start_agent() {
	local prefix=()
	while [ "$1" != -- ]; do prefix+=("$1"); shift; done
	shift
	rig_agent_stop
	rm -rf "$rig/agent" "$rig/agent.log"
	mkdir -m 750 "$rig/agent"
	case ${prefix[*]-} in *--reuid=65534*) chown 65534 "$rig/agent" ;; esac # it must be the agent's own
	{
		printf 'device = linux\nrun_as = root\nagentx_socket = "unix:%s"\nstate_dir = "%s"\n' "$socket" "$rig/agent"
		printf '%s\n' "$@"
	} >"$rig/agent.conf"
	chmod 644 "$rig/agent.conf"
	rig_agent_start "${prefix[@]}"
	wait_for 15 if_number && wait_for 5 quick_get $if_x.18."$(index_of p1)"
}
socket=$rig/agentx/master
of_threads() { # PID FIELD: of all threads, each value once
	sed -n "s/^$2:[[:space:]]*//p" /proc/"$1"/task/*/status | tr '\t' ' ' | sort -u | paste -sd' '
}
capabilities() { of_threads "$agent_pid" "$1"; }
mask() { # BIT...: as /proc shows it
	local value=0 bit
	for bit; do value=$((value | 1 << bit)); done
	printf '%016x' $value
}
override=1 admin=12 perfmon=38 bpf=39 # linux/capability.h
# Why a SET was refused; nothing if it was not.
refusal() { client snmpset "127.0.0.1:$agent_port" "$@" 2>&1 | sed -n 's/^Reason: \([a-zA-Z]*\).*/\1/p'; }
alias_of() { ip -j link show "$1" | jq -r '.[0].ifalias // ""'; }
expect_refusals() { # of whatever the kernel keeps
	expect "$1: ifAlias is not writable" "$(refusal $if_x.18."$(index_of p1)" s 'mine')" notWritable
	expect "$1: nor ifAdminStatus" "$(refusal 1.3.6.1.2.1.2.2.1.7."$(index_of p1)" i 2)" notWritable
	expect "$1: nor the ageing time" "$(refusal 1.3.6.1.2.1.17.4.2.0 i 60)" notWritable
	expect "$1: and nothing was changed" \
	    "$(alias_of p1) $(ip -j -d link show br0 | jq '.[0].linkinfo.info_data.ageing_time')" ' 30000'
	# Counters go on: two frames of a ping to nobody.
	local before
	before=$(snmp_get $if_x.10."$(index_of peer-p1)")
	ip link set peer-p1 up
	ip address add 192.0.2.1/24 dev peer-p1 2>/dev/null
	perl -MSocket -e 'socket(my $s, AF_INET, SOCK_DGRAM, 0); send($s, "x", 0, pack_sockaddr_in(9, inet_aton("192.0.2.2")))'
	out_octets_grew() { [ "$(snmp_get $if_x.10."$(index_of peer-p1)")" -gt "$before" ]; }
	if wait_for 5 out_octets_grew; then pass "$1: counters go on"; else fail "$1: counters go on" "$before"; fi
}
samples() { [ -n "$(client snmpbulkwalk -Oqn "127.0.0.1:$agent_port" $ease.1.2 | grep -v 'No Such')" ]; }
set_alias() { client snmpset -Oqv "127.0.0.1:$agent_port" $if_x.18."$(index_of p1)" s "$1"; }

start_agent -- || { fail 'start' 'the agent did not come up'; exit 1; }
if grep -q 'no sampling' "$rig/agent.log"; then
	skip 'sampling' "$(grep -o 'no sampling: [^;]*' "$rig/agent.log" | head -n 1)"
	can_sample=false
else
	can_sample=true
fi
expect 'sampling and SET: three capabilities' "$(capabilities CapEff)" "$(mask $admin $perfmon $bpf)"
expect 'none is in reserve' "$(capabilities CapPrm) $(capabilities CapInh)" \
    "$(mask $admin $perfmon $bpf) $(mask)"
expect 'none can be had again' "$(capabilities CapBnd) $(capabilities CapAmb) $(capabilities NoNewPrivs)" \
    "$(mask $admin $perfmon $bpf) $(mask) 1"
expect 'they are enough for SET' "$(set_alias 'to the roof' >/dev/null; alias_of p1)" 'to the roof'
set_alias '' >/dev/null
if $can_sample; then
	plug p2
	is_sampled() { quick_get $ease.1.2.1.2."$(index_of p2)" | grep -q '^[0-9]'; }
	if wait_for 5 is_sampled; then pass 'and for an interface that comes'; else fail 'and for an interface that comes' "$(tail -n 3 "$rig/agent.log")"; fi
	ip link delete p2
fi
rig_agent_stop
expect 'nothing is left behind' "$(tc qdisc show | grep -c clsact)" 0

start_agent -- 'sampling = none' || fail 'start' 'without sampling'
expect 'SET alone: one capability' "$(capabilities CapEff)" "$(mask $admin)"
start_agent -- 'sampling = none' 'allow_set = false' || fail 'start' 'reading only'
expect 'reading only: none' "$(capabilities CapEff) $(capabilities CapBnd)" "$(mask) $(mask)"
expect_refusals 'reading only'
start_agent -- 'allow_set = false' || fail 'start' 'sampling only'
expect 'sampling without SET' "$(refusal $if_x.18."$(index_of p1)" s 'mine')" notWritable
! $can_sample || if samples; then pass 'samples'; else fail 'samples' 'no row'; fi

start_agent setpriv --bounding-set=-net_admin -- || fail 'start' 'without CAP_NET_ADMIN'
expect_refusals 'without CAP_NET_ADMIN'
expect 'it says so' "$(grep -c 'no SET of .*, which needs CAP_NET_ADMIN: these objects are notWritable' "$rig/agent.log") $(grep -c 'no sampling' "$rig/agent.log")" '1 1'
start_agent setpriv --bounding-set=-cap_$bpf,-cap_$perfmon,-sys_admin -- || fail 'start' 'without CAP_BPF'
expect 'without CAP_BPF it says what goes on' "$(grep -c 'no sampling.*CAP_BPF.*counters and addresses are served' "$rig/agent.log")" 1
expect 'and SET goes through' "$(set_alias 'to the roof' >/dev/null; alias_of p1)" 'to the roof'
set_alias '' >/dev/null
if samples; then fail 'no port is sampled' 'easePortTable has rows'; else pass 'no port is sampled'; fi
if unshare -Ur true 2>/dev/null; then
	start_agent unshare -Ur -- || fail 'start' 'in a user namespace'
	expect 'a user namespace has all capabilities, and the log says why that is not enough' \
	    "$(grep -c 'no sampling.*user namespace' "$rig/agent.log")" 1
fi
start_agent setpriv --reuid=65534 --regid=65534 --clear-groups -- || fail 'start' 'as nobody'
expect 'as nobody: no capability' "$(capabilities CapEff)" "$(mask)"
expect_refusals 'as nobody'

# Another user's socket, as agentXPerms may have it: without the override a restarted master would be
# out of reach.
rig_agent_stop
chown -R 65534 "$rig/agentx"
chmod 700 "$rig/agentx" "$rig/agentx/master"
start_agent -- 'sampling = none' 'allow_set = false' || fail 'start' "another user's socket"
expect "another user's socket: no capability but while it connects" "$(capabilities CapEff) $(capabilities CapPrm)" "$(mask) $(mask $override)"
"$build/agent/easeagentd" -c "$rig/agent.conf" --check >"$rig/check"
expect '--check says what is needed' "$(grep -c '^CAP_DAC_OVERRIDE: for .*; there$' "$rig/check")" 1

# As a package leaves it, and root checks it: the directory is that of the user that the agent will become.
mkdir -m 750 "$rig/state"
chown 65534 "$rig/state"
sed -e "s,^state_dir = .*,state_dir = \"$rig/state\"," -e 's/^run_as = .*/run_as = nobody/' "$rig/agent.conf" >"$rig/other.conf"
grep -q '^run_as' "$rig/other.conf" || echo 'run_as = nobody' >>"$rig/other.conf"
"$build/agent/easeagentd" -c "$rig/other.conf" --check >"$rig/check" 2>&1
expect '--check by root of another user'"'"'s state_dir' "$? $(grep -c state_dir "$rig/check")" '0 0'
chown 65533 "$rig/state"
"$build/agent/easeagentd" -c "$rig/other.conf" --check >"$rig/check" 2>&1
expect '--check of a third user'"'"'s state_dir' "$? $(grep -c 'belongs to uid 65533' "$rig/check")" '1 1'

# ---- started by root, with another user to become ----

# PID USER: who it is, and that nothing more than CAPABILITIES (a mask) is left or can be had
expect_user() { # NAME PID UID GID MASK
	local ids none
	none=$(mask)
	ids=$(of_threads "$2" Uid)/$(of_threads "$2" Gid)/$(of_threads "$2" Groups)
	expect "$1: user and group" "$ids" "$3 $3 $3 $3/$4 $4 $4 $4/$4 "
	expect "$1: capabilities" "$(of_threads "$2" CapEff) $(of_threads "$2" CapPrm) $(of_threads "$2" CapInh)" "$5 $5 $none"
	expect "$1: none can be had again" \
	    "$(of_threads "$2" CapBnd) $(of_threads "$2" CapAmb) $(of_threads "$2" NoNewPrivs)" "$5 $none 1"
	if grep -q __asan_init "$build/collector/easecapd"; then skip "$1: memory" 'a sanitizer reads it'; else
		expect "$1: its memory is for root alone" "$(stat -c %u /proc/"$2"/mem)" 0
	fi
	expect "$1: no secret in its command line" "$(tr '\0' ' ' </proc/"$2"/cmdline | grep -c 'demo\|unsaid')" 0
}
nobody=$(id -u nobody) nogroup=$(getent group nogroup | cut -d: -f3) games=$(getent group games | cut -d: -f3)

rig_agent_stop
rm -rf "$rig/agent" # it makes its own
printf 'run_as = nobody\ndevice = linux\nsampling = none\nagentx_socket = "unix:%s"\nstate_dir = "%s"\n' \
    "$socket" "$rig/agent" >"$rig/agent.conf"
chmod 755 "$rig/agentx"
chmod 777 "$rig/agentx/master"
: >"$rig/agent.log"
rig_agent_start
if wait_for 15 if_number && wait_for 5 quick_get $if_x.18."$(index_of p1)"; then
	expect_user 'agent' "$agent_pid" "$nobody" "$nogroup" "$(mask $admin)"
	expect 'agent: what is the kernel is set all the same' "$(set_alias 'to the roof' >/dev/null; alias_of p1)" 'to the roof'
	expect 'agent: its state is its own' "$(stat -c '%U %a' "$rig/agent") $(stat -c %U "$rig"/agent/*.db)" 'nobody 750 nobody'
else
	fail 'agent: started by root' "$(tail -n 3 "$rig/agent.log")"
fi

# Who has taken the agent's user once plants links in its directory, and waits for the next start by root. What
# they lead to is root's, in a folder where only root may look: nothing there changes, and nothing is added.
rig_agent_stop
mkdir -m 700 "$rig/roots"
for name in state state.new db db-wal db-shm db-journal; do
	echo "only root's" >"$rig/roots/$name"
	ln -sf "$rig/roots/$name" "$rig/agent/easeagentd.$name"
done
mkdir "$rig/roots/snmp"
ln -sfn "$rig/roots/snmp" "$rig/agent/snmp"
chown -hR nobody "$rig/agent"
before=$(cd "$rig/roots" && find . -type f -exec sha256sum {} + | sort; find . | sort)
timeout 10 "$build/agent/easeagentd" -c "$rig/agent.conf" -f >"$rig/agent.log" 2>&1
expect 'agent: links in its directory lead nowhere' \
    "$(cd "$rig/roots" && find . -type f -exec sha256sum {} + | sort; find . | sort)" "$before"
rm -rf "$rig/agent" "$rig/roots"
# The master's socket is root's alone, as agentXPerms 0700 0700 has it: for a connection, and for that alone,
# the agent has the right to pass.
chown -R root "$rig/agentx"
chmod 700 "$rig/agentx" "$rig/agentx/master"
: >"$rig/agent.log"
rig_agent_start
if wait_for 15 if_number; then pass "agent: root's socket: it connects"; else fail "agent: root's socket" "$(tail -n 3 "$rig/agent.log")"; fi
expect "agent: root's socket: in force and in reserve" "$(capabilities CapEff) $(capabilities CapPrm)" "$(mask $admin) $(mask $admin $override)"
rig_end "$snmpd_pid"
sed -i 's/^agentXPerms.*/agentXPerms 0700 0700/' "$rig/snmpd.conf"
rig_snmpd
if wait_for 15 if_number; then pass "agent: root's socket: and again when the master is back"; else fail "agent: root's socket" "$(tail -n 3 "$rig/agent.log")"; fi
rig_agent_stop

collector_conf() { # LINE...
	printf '%s\n' 'listen = {"127.0.0.1:162"}' 'http_listen = "127.0.0.1:80"' 'communities = {"unsaid"}' \
	    "store = \"$rig/kept/ease.db\"" "$@" >"$rig/collector.conf"
}
for threads in 1 2; do
	collector_conf 'run_as = nobody' 'run_as_group = games' "threads = $threads"
	if ! rig_collector; then fail "collector: started by root" "$(tail -n 3 "$rig/collector.log")"; break; fi
	expect_user "collector, $threads threads" "$collector_pid" "$nobody" "$games" "$(mask)"
	expect "collector: its store is its own" "$(stat -c '%U:%G %a' "$rig/kept") $(stat -c %U:%G "$rig/kept/ease.db")" \
	    'nobody:games 750 nobody:games'
	if grep -q 'built without' "$rig/collector.log"; then skip 'collector: the page' 'built without it'; else
		expect 'collector: the page at port 80' "$(grep -c '^page at http://127.0.0.1:80/' "$rig/collector.log")" 1
	fi
	rig_end "$collector_pid"
	collector_pid=''
	rm -f "$rig/collector.log"
done

refusal_of() { # PROGRAM CONF: what it says when it does not start
	timeout 20 "$1" -c "$2" -f 2>&1 | tail -n 1
}
collector_conf 'run_as = nobody-at-all'
expect 'collector: a user that there is not' "$(refusal_of "$build/collector/easecapd" "$rig/collector.conf")" \
    'easecapd: run_as: this machine has no user "nobody-at-all"'
echo 'run_as = nobody-at-all' >>"$rig/agent.conf"
sed -i '1d' "$rig/agent.conf"
expect 'agent: a user that there is not' "$(refusal_of "$build/agent/easeagentd" "$rig/agent.conf")" \
    "easeagentd: $rig/agent.conf:5: run_as: this machine has no user \"nobody-at-all\""
collector_conf 'run_as = nobody'
chown -R 0:0 "$rig/kept"
chmod 755 "$rig/kept"
refused=$(refusal_of "$build/collector/easecapd" "$rig/collector.conf")
if grep -q "$rig/kept/ease.db.*permission denied" -i <<<"$refused"; then pass "collector: a store of root's"; else
	fail "collector: a store of root's" "$refused"; fi

# Out of the box it can be reached from this machine alone: notifications and the page.
printf '%s\n' 'communities = {"unsaid"}' 'run_as = root' "store = \"$rig/own.db\"" >"$rig/collector.conf"
rm -f "$rig/collector.log"
rig_collector || fail 'collector: by default' "$(tail -n 3 "$rig/collector.log")"
expect 'collector: by default it listens on loopback alone' \
    "$(ss -Hltunp | grep "pid=$collector_pid," | awk '{ print $5 }' | grep -vc '^127\.0\.0\.1:\|^\[::1\]:')" 0
if [ "$(ss -Hltunp | grep "pid=$collector_pid," | awk '{ print $5 }' | grep -c ':162$\|:8162$')" -ge 2 ]; then pass 'collector: and it does'; else
	fail 'collector: by default' "$(ss -Hltun)"; fi
rig_end "$collector_pid"
collector_pid=''
if ! getent passwd easecapd >/dev/null; then
	rm -rf "$rig/kept" "$rig/collector.log"
	collector_conf
	rig_collector
	expect "collector: without a user of its own" "$(of_threads "$collector_pid" CapEff) $(of_threads "$collector_pid" CapBnd) $(of_threads "$collector_pid" NoNewPrivs) $(grep -c 'staying root with all capabilities dropped' "$rig/collector.log")" "$(mask) $(mask) 1 1"
fi
exit $failed
