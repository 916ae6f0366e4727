#!/bin/bash
# device = sonic as a management station sees it: snmpwalk over snmpd against what a generator wrote to a Redis server
# in the words of SONiC's schema (sonic_rig.h), with one port without counters in the middle; SETs, refused SETs, and
# changes by others. Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../../support/rig.sh"

. "$(dirname "$0")/databases.sh"

# ---- a switch of 128 ports ----

rig_new
sonic_databases 128 4 6 500 77
sort "$rig/generator" >"$rig/truth"

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

# ---- fans, power supplies, temperatures ----

db 6 HSET 'FAN_INFO|fan1' presence True model F-100 serial F0001 speed 57 is_replaceable True >/dev/null
db 6 HSET 'PSU_INFO|PSU 1' presence true model P-550 serial P0001 temp 31.1 voltage 12.05 current 13.4 power 161.47 >/dev/null
db 6 HSET 'TEMPERATURE_INFO|inlet' temperature -2.5 >/dev/null
chassis_is_told() { [ "$(walk $sensor.4 | grep -c "^\.$sensor")" = 6 ]; }
wait_for 25 chassis_is_told && pass 'their six sensors' || fail 'their six sensors' "$(walk $sensor.4)"
expect 'snmptable: type, scale, precision, value and status of each, the units of the first one' \
    "$(client snmptable -M "$rig" -m SENSORS -Ot -Cf , "127.0.0.1:$agent_port" 1.3.6.1.2.1.99.1.1 2>/dev/null | grep '[0-9],' | cut -d, -f1-5)" \
    "$(printf '%s\n' 8,9,3,-2500,1 1,9,0,57,1 8,9,3,31100,1 4,8,0,12050,1 5,8,0,13400,1 6,8,0,161470,1)"
unit=2147000000
expect 'a fan is a part with its sensor in it' "$(for of in 5.$unit 7.$unit 13.$unit 11.$unit 16.$unit 4.$((unit + 1)) 7.$((unit + 1)); do snmp_get $entity.$of; done | tr -d '"' | xargs)" \
    "7 fan1 F-100 F0001 1 $unit fan1 speed"
expect 'a power supply, and a temperature of the chassis' "$(snmp_get $entity.5.$((unit + 8))) $(snmp_get $entity.7.500) $(snmp_get $sensor.6.$((unit + 1)))" '6 "inlet" "percent"'
db 6 DEL 'FAN_INFO|fan1' 'PSU_INFO|PSU 1' 'TEMPERATURE_INFO|inlet' >/dev/null
wait_for 25 pulled && pass 'they go' || fail 'they go' "$(walk $sensor.4)"

# ---- LLDP: LLDP-MIB, where nobody else serves it ----

lldp=1.0.8802.1.1.2
db 0 HSET LLDP_LOC_CHASSIS lldp_loc_chassis_id_subtype 4 lldp_loc_chassis_id 52:54:00:12:34:56 lldp_loc_sys_name leaf-1 >/dev/null
neighbour() { # PORT INDEX PORT-ID NAME
	db 0 HSET "LLDP_ENTRY_TABLE:$1" lldp_rem_chassis_id_subtype 4 lldp_rem_chassis_id e6:81:a1:8d:d6:5b \
	    lldp_rem_port_id_subtype 7 lldp_rem_port_id "$3" lldp_rem_port_desc 'to "leaf"' lldp_rem_sys_name "$4" lldp_rem_index "$2" >/dev/null
}
neighbour Ethernet0 3 etp17 spine-1
neighbour Ethernet8 4 "$(printf '\033[31m\377')" "$(printf 'a\nb\033]0;\303')"
neighbours() { [ "$(walk $lldp.1.4.1.1.7 | grep -c "^\.$lldp\.1\.4")" = "$1" ]; }
wait_for 25 neighbours 2 && pass 'two neighbours' || fail 'two neighbours' "$(walk $lldp)"
lldp_tables() { # what snmptable shows, by a module that has nothing but names
	echo 'LLDP DEFINITIONS ::= BEGIN lldp OBJECT IDENTIFIER ::= { iso 0 8802 1 1 2 1 }'
	echo 'locTable OBJECT IDENTIFIER ::= { lldp 3 7 } locEntry OBJECT IDENTIFIER ::= { locTable 1 }'
	echo 'remTable OBJECT IDENTIFIER ::= { lldp 4 1 } remEntry OBJECT IDENTIFIER ::= { remTable 1 }'
	echo 'locKind OBJECT IDENTIFIER ::= { locEntry 2 } locId OBJECT IDENTIFIER ::= { locEntry 3 } locDescr OBJECT IDENTIFIER ::= { locEntry 4 }'
	local n=3 name
	for name in ChassisKind Chassis PortKind Port Descr Name; do
		n=$((n + 1))
		echo "rem$name OBJECT IDENTIFIER ::= { remEntry $n }"
	done
	echo 'END'
}
lldp_tables >"$rig/LLDP.txt"
lldp_table() { client snmptable -M "$rig" -m LLDP -Ot -Cf , "127.0.0.1:$agent_port" "$lldp.1.$1" 2>/dev/null; }
expect 'this switch' "$(snmp_get $lldp.1.3.1.0) $(snmp_get $lldp.1.3.2.0) $(snmp_get $lldp.1.3.3.0)" '4 "52 54 00 12 34 56 " "leaf-1"'
expect 'snmptable: a port of ours is what SONiC has lldpd say' "$(lldp_table 3.7 | grep '"etp[12]"' | tr '\n' ' ')" '7,"etp1","to_rack_0" 7,"etp2","to_rack_1" '
expect 'snmptable: a neighbour' "$(lldp_table 4.1 | grep spine)" '4,"E6 81 A1 8D D6 5B ",7,"etp17","to \"leaf\"","spine-1"'
expect 'octets as they are, and a name that can be shown' \
    "$(snmp_get $lldp.1.4.1.1.7.0.9.4) $(snmp_get $lldp.1.4.1.1.9.0.9.4)" '"1B 5B 33 31 6D FF " "61 3F 62 3F 5D 30 3B C3 83 "'
expect 'the walk ends, each OID larger than the one before' \
    "$(walk $lldp | sed -n "s/^\.\($lldp[0-9.]*\) .*/\1/p" | sort -V | uniq | wc -l)" "$((3 + 3 * 129 + 2 * 6))"
expect 'in the order of OIDs' "$(walk $lldp | sed -n "s/^\.\($lldp[0-9.]*\) .*/\1/p" | sort -V -c 2>&1)" ''
db 0 DEL LLDP_ENTRY_TABLE:Ethernet8 >/dev/null
wait_for 25 neighbours 1 && pass 'a neighbour goes' || fail 'a neighbour goes' "$(walk $lldp.1.4)"

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

# ---- somebody else serves LLDP-MIB: at the master, at the root and with the priority that lldpd has ----

cat >"$rig/lldp_of_others" <<'END'
#!/bin/sh
case "$1 $2" in '-g .1.0.8802.1.1.2.1.3.3.0' | '-n .1.0.8802.1.1.2') printf '.1.0.8802.1.1.2.1.3.3.0\nstring\nothers\n' ;; esac
END
chmod 755 "$rig/lldp_of_others"
rig_end "$snmpd_pid"
cp "$rig/snmpd.conf" "$rig/alone.conf"
echo "pass .1.0.8802.1.1.2 $rig/lldp_of_others" >>"$rig/snmpd.conf"
rig_snmpd || fail 'somebody else' 'snmpd did not come up'
wait_for 15 has_counters
expect 'somebody else serves LLDP-MIB: ours is not seen, in no part' "$(walk $lldp)" '.1.0.8802.1.1.2.1.3.3.0 "others"'
expect 'and nothing is refused' "$(grep -c 'already served' "$rig/agent.log")" 0
rig_end "$snmpd_pid"
cp "$rig/alone.conf" "$rig/snmpd.conf"
rig_snmpd || fail 'nobody else' 'snmpd did not come up'
wait_for 15 neighbours 1 && pass 'nobody else serves it: ours is seen again' || fail 'nobody else serves it: ours is seen again' "$(walk $lldp)"
exit $failed
