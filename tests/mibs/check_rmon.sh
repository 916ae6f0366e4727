#!/bin/bash
# RMON over a real snmpd: history, alarm and event rows made by snmpset, refused when they make no
# sense, kept over a restart; then a capture is replayed and every bucket must hold what its ten
# seconds of the capture hold, and every alarm must fire exactly where RFC 2819's rules put it,
# both worked out from its records. Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../support/rig.sh"

capture=$rig.pcap
trap 'rig_stop; rm -rf "$rig" "$capture"*' EXIT
"$top/conf/make-capture" "$capture" 65 || exit 1

rmon=1.3.6.1.2.1.16
control=$rmon.2.1.1
bucket=$rmon.2.2.1
hc_bucket=$rmon.2.6.1
alarm=$rmon.3.1.1
event=$rmon.9.1.1
log=$rmon.9.2.1
hc=$rmon.29.1.1.1.1
source_1=1.3.6.1.2.1.2.2.1.1.1
watched=$rmon.1.1.1.5.1 # etherStatsPkts.1

set_objects() { client snmpset -On "127.0.0.1:$agent_port" "$@" 2>&1 | grep -o 'Reason: [a-zA-Z]*' | head -1; }
cells() { client snmpwalk -Oqn "127.0.0.1:$agent_port" "$1" 2>/dev/null; }
column() { cells "$1" | grep -v 'No Such' | sed 's/^[^ ]* //'; }

# ---- the truth, from the records of the capture itself ----

# Microseconds since the first frame, and octets with padding and FCS, of each frame.
perl -e 'open(my $f, "<:raw", $ARGV[0]) or die; read($f, my $head, 24) == 24 or die;
	my $long = unpack("V", $head) == 0xa1b2c3d4 ? "V" : "N";
	while (read($f, my $record, 16) == 16) {
		my ($s, $us, $kept, $len) = unpack("${long}4", $record);
		read($f, my $octets, $kept) == $kept or die;
		my $t = $s * 1000000 + $us;
		$first //= $t;
		print $t - $first, " ", ($len < 60 ? 60 : $len) + 4, "\n";
	}' "$capture" >"$capture.frames" || exit 1
# Pkts and octets of each whole interval of SECONDS.
intervals() {
	awk -v length_us=$(($1 * 1000000)) '
		{ i = $1 == 0 ? 1 : int(($1 - 1) / length_us) + 1; pkts[i]++; octets[i] += $2; last = $1 }
		END { for (i = 1; i * length_us <= last; i++) print pkts[i] + 0, octets[i] + 0 }' "$capture.frames"
}
# RFC 2819: crossings with hysteresis, first value judged by startup risingOrFalling.
crossings() { # RISING FALLING: of the pkts of each second
	intervals 1 | awk -v rising="$1" -v falling="$2" '
		$1 >= rising && state != "up" { state = "up"; print "rises", $1 }
		$1 <= falling && state != "down" { state = "down"; print "falls", $1 }'
}

read -r rising falling < <(intervals 1 | sort -n | awk '{ n[NR] = $1 } END { print n[int(NR * 0.7)], n[int(NR * 0.3)] }')

# ---- a board whose first port gets every frame ----

rig_new
cat >"$rig/board.conf" <<END
chip "U1" { type = gt48002a }
chip "U2" { type = c84302 }
port "1" { speed = 100  capture = "$capture" }
port "2" { speed = 100  capture = none }
END
board=$rig/board.conf
rig_start '' lock_step 'mean_skip = 1000' || exit 1
wait_for 60 replay_ended || { fail 'first replay' 'it does not end'; exit 1; }

# ---- rows ----

expect 'default controls: 30 s and 1,800 s a port' "$(column $control.5 | tr '\n' ' ')" '30 1800 30 1800 '
expect 'default controls are the monitor'"'"'s' "$(column $control.6 | sort -u)" '"monitor"'
expect 'a column of a row that is not there' "$(set_objects $control.5.900 i 10)" 'Reason: inconsistentName'
expect 'valid for a row that is not there' "$(set_objects $control.7.900 i 1)" 'Reason: inconsistentValue'
expect 'an interval beyond an hour' "$(set_objects $control.7.900 i 2 $control.5.900 i 3601)" 'Reason: wrongValue'
expect 'nothing came of it' "$(cells $control.7.900 | grep -c 'No Such')" 1
expect 'a control row in two steps' "$(set_objects $control.7.900 i 2 $control.2.900 o $source_1 \
    $control.3.900 i 100 $control.5.900 i 10 $control.6.900 s tester)$(snmp_get $control.7.900)$(
    set_objects $control.7.900 i 1)$(snmp_get $control.7.900 $control.4.900 | tr '\n' ' ')" '31 100 '
expect 'a valid row is frozen' "$(set_objects $control.5.900 i 20)$(snmp_get $control.5.900)" \
    'Reason: inconsistentValue10'
expect 'a port that is not there' "$(set_objects $control.7.901 i 2 $control.2.901 o 1.3.6.1.2.1.2.2.1.1.77)$(
    set_objects $control.7.901 i 1)" 'Reason: inconsistentValue'
expect 'an unfinished row can be deleted' "$(set_objects $control.7.901 i 4)$(cells $control.7.901 | grep -c 'No Such')" 1
expect 'an event' "$(set_objects $event.7.5 i 2 $event.2.5 s crossed $event.3.5 i 4 $event.6.5 s tester)$(
    set_objects $event.7.5 i 1)" ''
expect 'an alarm on what is no integer' "$(set_objects $alarm.7.9 i 5)$(set_objects $alarm.12.9 i 2 \
    $alarm.3.9 o 1.3.6.1.2.1.2.2.1.2.1)$(set_objects $alarm.12.9 i 1)$(set_objects $alarm.12.9 i 4)" \
    'Reason: inconsistentNameReason: inconsistentValue'
expect 'an alarm of deltas' "$(set_objects $alarm.12.3 i 2 $alarm.2.3 i 1 $alarm.3.3 o $watched \
    $alarm.4.3 i 2 $alarm.6.3 i 3 $alarm.7.3 i "$rising" $alarm.8.3 i "$falling" $alarm.9.3 i 5 \
    $alarm.10.3 i 5 $alarm.11.3 s tester)$(set_objects $alarm.12.3 i 1)$(snmp_get $alarm.12.3)" 1
# The same alarm in 64 bits (RFC 3434).
hc_columns() { # INDEX STORAGE RISING_HI FALLING_SIGN FALLING_HI
	echo "$hc.2.$1 i 1 $hc.3.$1 o $watched $hc.4.$1 i 2 $hc.7.$1 i 3 $hc.8.$1 u $rising $hc.9.$1 u $3
	    $hc.10.$1 i 2 $hc.11.$1 u $falling $hc.12.$1 u $5 $hc.13.$1 i $4 $hc.14.$1 i 5 $hc.15.$1 i 5
	    $hc.17.$1 s tester $hc.18.$1 i $2"
}
expect 'what hcAlarmCapabilities says: rows can be made, and are kept' "$(client snmpget -OQv "127.0.0.1:$agent_port" $rmon.29.1.2.1.0 | tr -d ' ')" '"C0"'
expect 'an hcAlarm in one request' "$(set_objects $hc.19.7 i 4 $(hc_columns 7 3 0 2 0))$(snmp_get $hc.19.7)" 1
expect 'its value is not available before a period has passed' "$(snmp_get $hc.5.7 $hc.6.7 | tr '\n' ' ')" '0 1 '
expect 'an active hcAlarm is frozen' "$(set_objects $hc.8.7 u 5)$(snmp_get $hc.8.7)" "Reason: inconsistentValue$rising"
expect 'an hcAlarm whose rising threshold is below the falling one' \
    "$(set_objects $hc.19.8 i 4 $(hc_columns 8 2 0 2 1))" 'Reason: inconsistentValue'
expect 'a volatile hcAlarm 2^32 higher' "$(set_objects $hc.19.9 i 4 $(hc_columns 9 2 1 3 0))$(snmp_get $hc.19.9)" 1
expect 'permanent is not for managers' "$(set_objects $hc.18.10 i 4)$(set_objects $hc.10.10 i 1)" \
    'Reason: wrongValueReason: wrongValue'
expect 'an hcAlarm on what is no integer' "$(set_objects $hc.19.10 i 4 $hc.3.10 o 1.3.6.1.2.1.2.2.1.2.1)" \
    'Reason: inconsistentValue'
expect 'an hcAlarm on what does not exist now' "$(set_objects $hc.19.11 i 4 $hc.2.11 i 1 \
    $hc.3.11 o 1.3.6.1.2.1.31.1.1.1.6.99)$(snmp_get $hc.19.11)" 1
expect 'an hcAlarm on what nobody serves' "$(set_objects $hc.19.12 i 4 $hc.3.12 o 1.3.6.1.3.1.1.0)" \
    'Reason: inconsistentValue'

expect 'delete a default row' "$(set_objects $control.7.4 i 4)$(column $control.1 | tr '\n' ' ')" '1 2 3 900 '

# ---- the same rows in the next life, over the capture ----

rig_agent_stop
rig_agent '' lock_step 'mean_skip = 1000' || { fail 'restart' 'the agent did not come up'; exit 1; }
wait_for 60 replay_ended || { fail 'second replay' 'it does not end'; exit 1; }
sleep 1.1 # a snapshot is at most a second old
expect 'rows outlive a restart' "$(column $control.1 | tr '\n' ' ')$(column $alarm.7)" "1 2 3 900 $rising"

expect 'buckets of ten seconds hold what the capture holds' \
    "$(paste -d' ' <(cells $bucket.6.900 | sed 's/^[^ ]* //') <(cells $bucket.5.900 | sed 's/^[^ ]* //'))" "$(intervals 10)"
expect 'so do those of thirty' \
    "$(paste -d' ' <(cells $bucket.6.1 | sed 's/^[^ ]* //') <(cells $bucket.5.1 | sed 's/^[^ ]* //'))" "$(intervals 30)"
expect 'and the 64-bit twins' \
    "$(paste -d' ' <(cells $hc_bucket.2.900 | sed 's/^[^ ]* //') <(cells $hc_bucket.4.900 | sed 's/^[^ ]* //'))" "$(intervals 10)"
expect 'utilization of each bucket' "$(cells $bucket.15.900 | sed 's/^[^ ]* //')" \
    "$(intervals 10 | awk '{ printf "%d\n", ($2 * 8 + $1 * 160) / (100e6 * 10) * 10000 + 0.5 }')"
expect 'bucket numbers' "$(cells $bucket.2.900 | sed 's/^[^ ]* //' | tr '\n' ' ')" \
    "$(intervals 10 | awk '{ printf "%d ", NR }')"

told() { column $log.4.5 | sed -n "s/.*\"$1 \([a-z]*\): [0-9.]* = \([0-9]*\),.*/\1 \2/p"; }
expect "the alarm fires where the rules put it ($(crossings "$rising" "$falling" | wc -l) times)" \
    "$(told 'alarm 3')" "$(crossings "$rising" "$falling")"
expect 'so does the one of 64 bits' "$(told 'hcAlarm 7')" "$(crossings "$rising" "$falling")"
expect 'its last value' "$(snmp_get $hc.5.7 $hc.6.7 | tr '\n' ' ')" "$(snmp_get $alarm.5.3) 2 "
expect 'the volatile one is gone, the one that found nothing counts' \
    "$(column $hc.19 | tr '\n' ' ')$([ "$(snmp_get $hc.16.11)" -ge 60 ] && echo counts)" '1 1 counts'
stored() { sqlite3 "$rig/ease.db" "SELECT kind, count(*) FROM event WHERE kind IN (2001, 2002) GROUP BY kind"; }
arrived() { [ "$(stored | awk -F'|' '{ n += $2 } END { print n }')" = "$((2 * $(crossings "$rising" "$falling" | wc -l)))" ]; }
if wait_for 10 arrived; then pass 'risingAlarm, fallingAlarm and those of 64 bits arrive as events'; else
	fail 'risingAlarm, fallingAlarm and those of 64 bits arrive as events' "$(sqlite3 "$rig/ease.db" 'SELECT kind, count(*) FROM event GROUP BY kind')"
fi
exit $failed
