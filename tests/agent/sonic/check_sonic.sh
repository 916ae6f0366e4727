#!/bin/bash
# device = sonic as a management station sees it: snmpwalk over snmpd against what a generator wrote to a Redis server
# in the words of SONiC's schema (sonic_rig.h), with one port without counters in the middle; SETs, refused SETs, and
# changes by others. Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../../support/rig.sh"

if ! [ -x "$build/tests/agent/sonic/sonic_server" ]; then
	skip 'all' 'this build has no libhiredis'
	exit 0
fi
for need in redis-server redis-cli; do
	command -v $need >/dev/null || { skip 'all' "$need is not there"; exit 0; }
done

# ---- a switch of 128 ports ----

rig_new
"$build/tests/agent/sonic/sonic_server" 128 4 6 500 77 >"$rig/generator" &
server_pid=$!
disown "$server_pid"
trap 'rig_stop; rig_end "$server_pid"; rm -rf "$rig"' EXIT
wait_for 10 grep -qx end "$rig/generator" || { fail 'start' 'redis-server was not filled'; exit 1; }
config=$(head -n 1 "$rig/generator")
sort "$rig/generator" >"$rig/truth"
socket=$(jq -r .INSTANCES.redis.unix_socket_path "$config")
db() { redis-cli -s "$socket" -n "$@"; } # NUMBER COMMAND...

rig_snmpd || { fail 'start' 'snmpd did not come up'; exit 1; }
cat >"$rig/agent.conf" <<END
device = sonic
sonic_database_config = "$config"
agentx_socket = "unix:$rig/agentx/master"
state_dir = "$rig/agent"
run_as = root
END
sed "s,$config,$rig/none.json," "$rig/agent.conf" >"$rig/wrong.conf"
expect '--check names the file that is missing' \
    "$("$build/agent/easeagentd" -c "$rig/wrong.conf" --check 2>&1 | grep -o 'sonic_database_config: .*' | sed "s,$rig,RIG,")" \
    'sonic_database_config: RIG/none.json: No such file or directory'
screen=$("$build/agent/easeagentd" -c "$rig/agent.conf" --check 2>&1 | sed -n '/^device = /,$p')
expect '--check: what is counted of 128 ports, one without counters, 4 LAGs, 6 VLANs and a management port, and sampled' \
    "$(head -n 2 <<<"$screen" | tr -s ' ' | paste -sd,), $(sed -n 's/^ *nowhere  *//p' <<<"$screen" | tr -s ' ')" \
    'device = sonic, 139 ports,COUNTS octets and packets 131 of 139 COUNTERS_DB does not have them, 129 of 139 sFlow is not enabled there'
expect '--check is one screen' "$(awk 'length > 80 { wide++ } END { print NR <= 24, wide + 0 }' <<<"$screen")" '1 0'
rig_agent_start

walk() { client snmpwalk -Oqn "127.0.0.1:$agent_port" "$1"; }
column() { # NAME OID: "NAME.INDEX VALUE"
	walk "$2" | sed "s/^\.${2//./\\.}\./$1./; s/\"//g; s/ *$//; s/^\([^ ]*\)$/\1 /"
}
has_counters() { [ "$(walk $if_x.6 | wc -l)" -ge 127 ]; }
wait_for 15 has_counters || { fail 'start' 'the agent did not come up'; exit 1; }

columns="ifName=$if_x.1 ifHighSpeed=$if_x.15 ifAlias=$if_x.18 ifHCInOctets=$if_x.6 ifHCInUcastPkts=$if_x.7
    ifHCInMulticastPkts=$if_x.8 ifHCInBroadcastPkts=$if_x.9 ifHCOutOctets=$if_x.10 ifHCOutUcastPkts=$if_x.11
    ifHCOutMulticastPkts=$if_x.12 ifHCOutBroadcastPkts=$if_x.13
    ifDescr=1.3.6.1.2.1.2.2.1.2 ifMtu=1.3.6.1.2.1.2.2.1.4 ifAdminStatus=1.3.6.1.2.1.2.2.1.7
    ifOperStatus=1.3.6.1.2.1.2.2.1.8 ifInDiscards=1.3.6.1.2.1.2.2.1.13 ifInErrors=1.3.6.1.2.1.2.2.1.14
    ifOutDiscards=1.3.6.1.2.1.2.2.1.19 ifOutErrors=1.3.6.1.2.1.2.2.1.20
    dot3StatsFCSErrors=1.3.6.1.2.1.10.7.2.1.3 dot3InPauseFrames=1.3.6.1.2.1.10.7.10.1.3
    dot3OutPauseFrames=1.3.6.1.2.1.10.7.10.1.4 dot1qTpFdbPort=1.3.6.1.2.1.17.7.1.2.2.1.2"
for pair in $columns; do
	name=${pair%%=*}
	grep "^$name\." "$rig/truth" | sed 's/^\([^ ]*\)$/\1 /' >"$rig/want"
	# Ports only: LAGs and VLANs have numbers from 1000 on.
	column "$name" "${pair#*=}" | awk -v fdb="$([ "$name" = dot1qTpFdbPort ] && echo 1)" \
	    '{ n = $1; sub(/.*\./, "", n); if (fdb || n + 0 < 1000) print }' | sort >"$rig/have"
	[ -s "$rig/want" ] || fail "$name" 'the generator has no such truth'
	expect "$name is the generator's" "$(diff "$rig/want" "$rig/have" | head -n 3)" ''
done
expect 'LAGs, VLANs and the management port have their numbers' \
    "$(column n $if_x.1 | awk -F'[. ]' '$2 >= 1000 { print $2 "=" $3 }' | paste -sd' ')" \
    "1001=PortChannel1 1002=PortChannel2 1003=PortChannel3 1004=PortChannel4 2010=Vlan10 2011=Vlan11 2012=Vlan12 2013=Vlan13 2014=Vlan14 2015=Vlan15 10000=eth0"
expect 'a row has its own index' "$(walk 1.3.6.1.2.1.2.2.1.1 | sed 's/.*\.//' | awk '$1 != $2' | wc -l)" 0
expect 'a LAG runs on its ports' "$(walk 1.3.6.1.2.1.31.1.2.1.3.1001 | sed 's/.*\.1001\.//' | paste -sd' ')" '121 1 122 1'
expect 'RMON counts the port'\''s frames' "$(snmp_get $ether_stats.5.3)" "$((1000000007 * 3 + 100003 * 20))"

# ---- what is not known is not there ----

db 0 HDEL PORT_TABLE:Ethernet5 mtu >/dev/null
no_mtu() { snmp_get 1.3.6.1.2.1.2.2.1.4.6 | grep -q 'No Such Instance'; }
wait_for 5 no_mtu && pass 'an MTU that is not there is not 0' || fail 'an MTU that is not there is not 0' "$(snmp_get 1.3.6.1.2.1.2.2.1.4.6)"
expect 'and the walk goes on behind it; eth0 has none, too' "$(walk 1.3.6.1.2.1.2.2.1.4 | awk '$2 > 0' | wc -l)" 137

# ---- transceivers ----

db 6 HSET 'TRANSCEIVER_INFO|Ethernet7' type QSFP28 manufacturer Innolight model TR-FC85S-N00 serial INKA0001 vendor_rev 1A >/dev/null
db 6 HSET 'TRANSCEIVER_DOM_SENSOR|Ethernet7' temperature -0.5 voltage 3.2928 rx1power -2.5 tx1power N/A tx1bias 6.75 >/dev/null
entity=1.3.6.1.2.1.47.1.1.1.1 sensor=1.3.6.1.2.1.99.1.1.1 module=1000000512 # 1,000,000,000 + 64 times ifIndex 8
plugged() { [ "$(walk $sensor.4 | wc -l)" = 5 ]; }
wait_for 25 plugged && pass 'five sensors come with a transceiver' || fail 'five sensors come with a transceiver' "$(walk $sensor.4)"
expect 'it is in its port, and what it is' "$(for column in 4 5 12 13 11 8 16; do snmp_get $entity.$column.$module; done | tr -d '"' | xargs)" \
    '1008 9 Innolight TR-FC85S-N00 INKA0001 1A 1'
expect 'its sensors are in it' "$(walk $entity.4 | awk '$2 == 1000000512' | wc -l) $(walk $entity.5 | awk '$2 == 8' | wc -l)" '5 5'
expect 'entPhysicalContainsTable has them, too' "$(walk 1.3.6.1.2.1.47.1.3.3.1.1.$module | wc -l)" 5
# What snmptable shows, by a module that has nothing but names.
{
	echo 'SENSORS DEFINITIONS ::= BEGIN sensors OBJECT IDENTIFIER ::= { iso 3 6 1 2 1 99 1 1 }'
	echo 'sensorEntry OBJECT IDENTIFIER ::= { sensors 1 }'
	n=0
	for name in Type Scale Precision Value Status; do
		n=$((n + 1))
		echo "sensor$name OBJECT IDENTIFIER ::= { sensorEntry $n }"
	done
	echo 'END'
} >"$rig/SENSORS.txt"
expect 'snmptable: type, scale, precision, value and status of each' \
    "$(client snmptable -M "$rig" -m SENSORS -Ot -Cf , "127.0.0.1:$agent_port" 1.3.6.1.2.1.99.1.1 2>/dev/null | grep '[0-9],' | cut -d, -f1-5)" \
    "$(printf '%s\n' 8,9,3,-500,1 4,8,1,32928,1 6,7,1,5623,1 6,7,1,0,2 5,7,0,6750,1)"
expect 'units, and a time that is not in the future' "$(snmp_get $sensor.6.$((module + 1))) $([ "$(snmp_get $sensor.7.$((module + 1)) | tr -d '()a-z. ' | cut -d: -f1)" ] && echo yes)" '"degrees Celsius" yes'
expect 'the walk ends, and each OID is larger than the one before' "$(walk 1.3.6.1.2.1.99 | awk '{ print $1 }' | sort -V | uniq | wc -l) $(walk 1.3.6.1.2.1.99 | wc -l)" '40 40'
db 6 DEL 'TRANSCEIVER_INFO|Ethernet7' 'TRANSCEIVER_DOM_SENSOR|Ethernet7' >/dev/null
pulled() { [ -z "$(walk $sensor.4 | grep -v 'No Such')" ]; }
wait_for 25 pulled && pass 'they go with it' || fail 'they go with it' "$(walk $sensor.4)"

# ---- SET ----

reason() { client snmpset "127.0.0.1:$agent_port" "$@" 2>&1 | sed -n 's/^Reason: \([a-zA-Z]*\).*/\1/p'; }
skip_of=$ease.1.2.1.2
in_force_column=$(port_column easePortMeanSkipInForce)
expect 'a port that SONiC does not sample' "$(snmp_get $ease.1.2.1.1.3)" 2
expect 'the chip forwards, and samples nothing of it' "$(snmp_get $ease.1.7.1.1.3) $(snmp_get $ease.1.7.1.2.3)" '2 1'
expect 'a VLAN is forwarded by nothing that is told' "$(walk $ease.1.7.1.1 | grep -c '\.20[0-9][0-9] ')" 0
expect 'too small a skip' "$(reason $skip_of.3 u 255)" inconsistentValue
expect 'too large a skip' "$(reason $skip_of.3 u 8388609)" wrongValue
expect 'the reason is in the log' "$(grep -c 'Ethernet2: a mean skip of 255 is refused: SONiC takes 256 to 8388608' "$rig/agent.log")" 1
expect 'both at once are refused as one' "$(reason $skip_of.3 u 300 $skip_of.4 u 255)" inconsistentValue
expect 'nothing was written' "$(db 4 EXISTS 'SFLOW_SESSION|Ethernet2')" 0
expect 'a skip is taken' "$(reason $skip_of.3 u 8192)" ''
written() { [ "$(db 4 HMGET 'SFLOW_SESSION|Ethernet2' admin_state sample_rate | paste -sd' ')" = 'up 8192' ]; }
wait_for 5 written && pass 'it is in CONFIG_DB' || fail 'it is in CONFIG_DB' "$(db 4 HGETALL 'SFLOW_SESSION|Ethernet2')"
db 0 HSET SFLOW_SESSION_TABLE:Ethernet2 admin_state up sample_rate 8192 sample_direction rx >/dev/null
in_force() { [ "$(snmp_get $ease.1.2.1.$in_force_column.3)" = "$1" ]; }
wait_for 5 in_force 8192 && [ "$(snmp_get $ease.1.2.1.1.3)" = 1 ] && pass 'it is in force' || fail 'it is in force' "$(snmp_get $ease.1.2.1.$in_force_column.3)"
expect 'the chip samples it' "$(snmp_get $ease.1.7.1.2.3)" 3
db 0 HSET SFLOW_SESSION_TABLE:Ethernet2 sample_rate 30000 >/dev/null
wait_for 5 in_force 30000 && pass 'an operator'\''s change is seen' ||
    fail 'an operator'\''s change is seen' "$(snmp_get $ease.1.2.1.$in_force_column.3)"
expect 'also as what is set' "$(snmp_get $skip_of.3)" 30000
exit $failed
