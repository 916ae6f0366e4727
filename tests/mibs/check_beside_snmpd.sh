#!/bin/bash
# The agent beside snmpd's own tables. With conf/snmpd.conf.d and snmpd.service.d as they are shipped
# (but for socket and address): users, views, sysObjectID, and nothing of the host's interfaces. With
# an snmpd that keeps its ifTable: ours is seen as long as the agent is there. With two agents at one
# master: the first is seen, the second says why not. PASS, FAIL or SKIP lines.
. "$(dirname "$0")/../support/rig.sh"

second_pid=''
trap 'rig_end "$second_pid"; rig_stop; rm -rf "$rig"' EXIT
snmpd_with() { # ARGUMENT...: the private snmpd, from $rig/snmpd.conf
	snmpd -f -LF w "$rig/snmpd.log" -C -c "$rig/snmpd.conf" "$@" >/dev/null 2>&1 &
	snmpd_pid=$!
	disown "$snmpd_pid"
}
walk_names() { "$@" "127.0.0.1:$agent_port" .1.3.6.1 | sed -n 's/^\.\([0-9.]*\) = .*/\1/p'; }

# ---- as shipped ----

as() { # USER TOOL ARGUMENT...
	local user=$1 tool=$2
	shift 2
	"$tool" -v3 -l authPriv -u "$user" -a SHA-256 -A pass-phrase -x AES -X pass-phrase -t 2 -r 1 -On "$@" 2>&1
}
quick_get() { as easemonitor snmpget -t 0.2 -r 0 -Oqv "127.0.0.1:$agent_port" "$@"; } # the rig's way to wait

rig_new
sed "s|^agentXSocket .*|agentXSocket unix:$rig/agentx/master|" "$top/conf/snmpd.conf.d/easeswitch.conf" >"$rig/snmpd.conf"
echo "agentAddress udp:127.0.0.1:$agent_port" >>"$rig/snmpd.conf"
printf 'createUser %s SHA-256 pass-phrase AES pass-phrase\n' easemonitor easeadmin >>"$rig/snmpd.conf"
shipped_options() { # '' or '#': the lines in force, or those for a switch whose ports have other numbers than the host's
	sed -n "/^${1:-}ExecStart=.*snmpd/,/-f\$/p" "$top/conf/snmpd.service.d/easeswitch.conf" | tr -d '\\#' | tr '\n' ' ' |
	    grep -o -- '-I -[A-Za-z0-9,_]*'
}
snmpd_with $(shipped_options '#')
rig_agent '' recorded || fail 'shipped' "no answer: $(as easemonitor snmpget "127.0.0.1:$agent_port" 1.3.6.1.2.1.2.1.0)"
expect 'shipped: nothing to complain of' "$(sed 's/^[0-9T:.-]*Z //' "$rig/snmpd.log" "$rig/agent.log" | grep -iE 'error|warning|unknown|263')" ''
"$build/agent/easeagentd" --list-objects | cut -f2 | sed 's/\.0$//' >"$rig/objects"
walk_names as easemonitor snmpbulkwalk -Cr50 >"$rig/names"
expect 'shipped: of the whole tree a user sees the switch and who it is' "$(grep -vE \
    '^1\.3\.6\.1\.(2\.1\.(1|4|25\.1\.1)|6\.3\.10\.2\.1)\.' "$rig/names" | awk -v objects="$rig/objects" '
	BEGIN { while ((getline <objects) > 0) ours[$1] = 1 }
	{ for (oid = $1; !(oid in ours) && oid ~ /\./; ) sub(/\.[0-9]+$/, "", oid); if (!(oid in ours)) print $1 }' |
    head -n 3)" ''
expect 'shipped: every module is in the view' "$(sed -E 's/^(1\.3\.6\.1\.2\.1\.(10\.)?[0-9]+|1\.3\.6\.1\.4\.1\.8072)\..*/\1/' \
    "$rig/objects" | grep -v '^1\.2\.840\.10006\|^1\.3\.6\.1\.2\.1\.99$\|^1\.0\.8802' | sort -u | # a board has no aggregate, no sensor, no LLDP
    while read -r module; do grep -qE "^${module//./\\.}\." "$rig/names" || echo "$module"; done)" ''
expect 'shipped: sysObjectID, sysServices' "$(as easemonitor snmpget -Oqv "127.0.0.1:$agent_port" \
    1.3.6.1.2.1.1.2.0 1.3.6.1.2.1.1.7.0 | paste -sd' ')" ".$ease 2"
expect 'shipped: the monitor may not set' \
    "$(as easemonitor snmpset "127.0.0.1:$agent_port" $if_x.18.1 s x | grep -o 'noAccess')" noAccess
expect 'shipped: the administrator may' "$(as easeadmin snmpset -Oqv "127.0.0.1:$agent_port" $if_x.18.1 s uplink)" '"uplink"'
expect 'shipped: not without encryption' "$(as easemonitor snmpget -l authNoPriv "127.0.0.1:$agent_port" \
    1.3.6.1.2.1.2.1.0 | grep -o 'authorizationError')" authorizationError
expect 'shipped: not by a community' "$(client snmpget -r 0 -t 1 "127.0.0.1:$agent_port" 1.3.6.1.2.1.2.1.0 2>&1 |
    grep -o 'Timeout')" Timeout
# The same without our switches: what would speak of the host's interfaces, so that the test can fail.
host_tables='1.3.6.1.2.1.3 1.3.6.1.2.1.4.20 1.3.6.1.2.1.4.22 1.3.6.1.2.1.4.24 1.3.6.1.2.1.4.31.3 1.3.6.1.2.1.4.32
    1.3.6.1.2.1.4.34 1.3.6.1.2.1.4.35 1.3.6.1.2.1.4.37 1.3.6.1.2.1.55 1.3.6.1.2.1.25.3.4'
host_rows() { # how many of these tables have rows
	local table n=0
	for table in $host_tables; do
		client snmpgetnext -Oqn "127.0.0.1:$agent_port" "$table" | grep -q "^\.$table\." && n=$((n + 1))
	done
	echo $n
}
rig_stop
echo 'rocommunity demo 127.0.0.1' >>"$rig/snmpd.conf"
quick_get() { client snmpget -t 0.2 -r 0 -Oqv "127.0.0.1:$agent_port" "$@"; }
snmpd_with $(shipped_options)
wait_for 10 quick_get 1.3.6.1.2.1.1.3.0
expect 'shipped: addresses, routes, interfaces and network devices of the host stay' "$(($(host_rows) > 3)) $(
    client snmpgetnext -Oqn "127.0.0.1:$agent_port" 1.3.6.1.2.1.2.2 | grep -c '^\.1\.3\.6\.1\.2\.1\.2\.2\.') $(
    client snmpgetnext -Oqn "127.0.0.1:$agent_port" 1.3.6.1.2.1.25.3.4 | grep -c '^\.1\.3\.6\.1\.2\.1\.25\.3\.4\.')" '1 1 1'
rig_stop
snmpd_with $(shipped_options '#')
wait_for 10 quick_get 1.3.6.1.2.1.1.3.0
expect 'with other numbers: no table tells of the host'"'"'s interfaces' "$(host_rows)" 0
rig_stop

# ---- an snmpd that keeps its tables ----

rig_new
snmpd_with
wait_for 10 if_number
names() { client snmpbulkwalk -Oqv "127.0.0.1:$agent_port" 1.3.6.1.2.1.2.2.1.2; }
own=$(names)
if [ "$(host_rows)" -gt 3 ] && [ -n "$own" ]; then pass "all on: the host's interfaces are there at first"; else
	fail 'all on' "only $(host_rows) tables of the host's interfaces"
fi
rig_agent '' recorded
ours_seen() { client snmpbulkwalk -Oqv "127.0.0.1:$agent_port" 1.3.6.1.2.1.2.2.1.2 | grep -vc 'easeswitch' | grep -qx 0; }
wait_for 10 ours_seen
expect 'all on: ifTable, ifXTable and ifNumber are the switch'"'"'s' "$(snmp_get 1.3.6.1.2.1.2.1.0
    client snmpbulkwalk -Oqv "127.0.0.1:$agent_port" $if_x.1 | tr -d '"' | paste -sd' ')" '8
e-1 e-2 e-3 e-4 e-5 e-6 e-7 e-8'
expect 'all on: dot3StatsTable too' "$(client snmpbulkwalk -Oqv "127.0.0.1:$agent_port" 1.3.6.1.2.1.10.7.2.1.1 | paste -sd' ')" '1 2 3 4 5 6 7 8'
expect 'all on: no column of snmpd'"'"'s own stays between ours' "$(client snmpbulkwalk -Oqn "127.0.0.1:$agent_port" \
    1.3.6.1.2.1.2.2 | sed -E 's/^\.1\.3\.6\.1\.2\.1\.2\.2\.1\.([0-9]+)\..*/\1/' | uniq | paste -sd' ')" \
    '1 2 3 4 5 6 7 8 9 10 11 13 14 15 16 17 19 20'
expect 'all on: nothing was refused' "$(grep -E 'warn|error' "$rig/agent.log")" ''

# ---- a second agent ----

sed "s|\"$rig/agent\"|\"$rig/second\"|" "$rig/agent.conf" >"$rig/second.conf"
"$build/agent/easeagentd" -c "$rig/second.conf" -f >"$rig/second.log" 2>&1 &
second_pid=$!
wait_for 10 grep -q 'already served' "$rig/second.log"
wait_for 10 grep -q 'ifXTable (' "$rig/second.log" # in a later line, if the first is full
expect 'two agents: the second says why it is not seen' "$(grep -c 'already served by another subagent' "$rig/second.log" | grep -c '^[1-9]')" 1
expect 'two agents: the log names a table and a scalar' "$(grep -cE 'ifXTable \(1\.3\.6\.1\.2\.1\.31\.1\.1\)' "$rig/second.log" | grep -c '^[1-9]') $(grep -cE 'ifNumber \(1\.3\.6\.1\.2\.1\.2\.1\)' "$rig/second.log" | grep -c '^[1-9]')" '1 1'
expect 'two agents: the first is' "$(snmp_get $if_x.18.1)" '""'
client snmpset "127.0.0.1:$agent_port" $if_x.18.1 s first >/dev/null
expect 'two agents: settings reach it' "$(grep -alF first "$rig"/agent/easeagentd.db* "$rig"/second/easeagentd.db* | sed "s|$rig/||; s|/.*||" | sort -u)" agent
rig_end "$second_pid"
wait "$second_pid"
expect 'two agents: the second ends cleanly' $? 0
second_pid=''
expect 'two agents: counted' "$(grep -c 'registers_refused' "$rig/second.log")" 1
expect 'two agents: the first stays when the second goes' "$(snmp_get $if_x.18.1)" '"first"'

rig_agent_stop
again() { [ "$(names)" = "$own" ]; }
wait_for 5 again
expect 'all on: without the agent the host'"'"'s interfaces are back, under the same numbers' "$(names)" "$own"
exit $failed
