#!/bin/bash
# As many ports as the agent promises, 4,096 of the dummy device: a SET on each, a stop and a start, and all
# are kept; so are they when the agent is killed. How long starts and SETs took is printed, not judged.
# Prints PASS, FAIL or NOTE lines; exit 1 if one failed.
. "$(dirname "$0")/../support/rig.sh"
rig_needs_sim

n_ports=4096
if_alias=1.3.6.1.2.1.31.1.1.1.18
rig_new
rig_snmpd || { fail 'start' 'snmpd did not come up'; exit 1; }
printf 'device = dummy\ndummy_ports = %d\ndummy_addresses = 0\nhistory = off\nagentx_socket = "unix:%s/agentx/master"\nstate_dir = "%s/agent"\nrun_as = root\n' \
    $n_ports "$rig" "$rig" >"$rig/agent.conf"

since() { awk -v from="$1" -v to="$(date +%s.%N)" 'BEGIN { printf "%.2f s", to - from }'; }
serving() { grep -q "serving $n_ports ports" "$rig/agent.log"; }
start() { # WHAT
	local from end=$((SECONDS + 120))
	: >"$rig/agent.log"
	from=$(date +%s.%N)
	rig_agent_start
	until serving; do
		if ! kill -0 "$agent_pid" 2>/dev/null; then fail "$1" "$(tail -n 3 "$rig/agent.log")"; exit 1; fi
		[ $SECONDS -lt $end ] || { fail "$1" 'it does not say that it serves'; exit 1; }
		read -rt 0.01 <> <(:) || true
	done
	echo "NOTE $1: $(since "$from")"
	wait_for 15 quick_get $if_alias.$n_ports >/dev/null || { fail "$1" 'nothing is served'; exit 1; }
}
# What the ports are called, in the order of their numbers.
aliases() { client snmpbulkwalk -Cr50 -Oqv "127.0.0.1:$agent_port" $if_alias | tr -d '"' | paste -sd' '; }
wanted() { seq -f "$1-%.0f" $n_ports | paste -sd' '; }
set_all() { # TEXT
	local i sets=()
	for ((i = 1; i <= n_ports; i++)); do
		sets+=("$if_alias.$i" s "$1-$i")
		if [ $((i % 64)) = 0 ]; then
			client snmpset -t 10 "127.0.0.1:$agent_port" "${sets[@]}" >/dev/null || { fail 'SET' "ports up to $i"; return; }
			sets=()
		fi
	done
}
slowest_us() {
	kill -USR1 "$agent_pid"
	wait_for 5 grep -q 'slowest_answer_us' "$rig/agent.log"
	sed -n 's/.*master.slowest_answer_us \([0-9]*\).*/\1/p' "$rig/agent.log" | tail -n 1
}

start 'the first start'
from=$(date +%s.%N)
set_all first
echo "NOTE a SET on each of $n_ports ports, 64 at a time: $(since "$from"), the slowest answer of the agent $(slowest_us) us"
expect 'every SET is read back' "$(aliases)" "$(wanted first)"
from=$(date +%s.%N)
rig_agent_stop
echo "NOTE the stop: $(since "$from")"
start 'a start with a setting of each port'
from=$(date +%s.%N)
for ((i = 40; i <= n_ports; i += 40)); do client snmpget "127.0.0.1:$agent_port" $if_alias.$i >/dev/null; done
between=$(date +%s.%N)
for ((i = 40; i <= n_ports; i += 40)); do client snmpset "127.0.0.1:$agent_port" $if_alias.$i s "first-$i" >/dev/null; done
echo "NOTE a SET of one port: on average $(awk -v from="$from" -v between="$between" -v to="$(date +%s.%N)" \
    'BEGIN { printf "%.1f", (to - between - (between - from)) / 102 * 1000 }') ms more than a GET, the disk's sync among it; the slowest $(slowest_us) us"
expect 'all are kept over a stop' "$(aliases)" "$(wanted first)"
set_all second
rig_end "$agent_pid" KILL
agent_pid=''
start 'a start after a kill'
expect 'all are kept over a kill' "$(aliases)" "$(wanted second)"
expect 'nothing was refused' "$(grep -E ' (warn|error) ' "$rig/agent.log")" ''
rig_agent_stop
