#!/bin/bash
# Links that come and go by the board file, over a real snmpd: linkDown and linkUp as snmptrapd gets
# them (objects, values, order), ifOperStatus and ifLastChange of the walk, silence of a port whose
# ifLinkUpDownTrapEnable is off, and the collector's events in easetop agents. PASS, FAIL or SKIP lines.
. "$(dirname "$0")/../support/rig.sh"

if ! command -v snmptrapd >/dev/null; then
	skip 'all' 'snmptrapd is not there'
	exit 0
fi
capture=$rig.pcap
watch_pid=''
trap 'rig_end "$watch_pid"; rig_stop; rm -rf "$rig" "$capture"' EXIT
"$top/conf/make-capture" "$capture" 4 || exit 1

if_admin=1.3.6.1.2.1.2.2.1.7 if_oper=1.3.6.1.2.1.2.2.1.8 if_last_change=1.3.6.1.2.1.2.2.1.9
link_traps=$if_x.14
uptime() { snmp_get -Ot 1.3.6.1.2.1.1.3.0; }

# A first life in which port 3 is told to be silent: a setting that the next one keeps.
rig_new
watch_port=$(free_port)
echo "trap2sink 127.0.0.1:$watch_port demo" >>"$rig/snmpd.conf"
echo 'disableAuthorization yes' >"$rig/snmptrapd.conf"
snmptrapd -f -Lf "$rig/watch.log" -Ont -C -c "$rig/snmptrapd.conf" "udp:127.0.0.1:$watch_port" >/dev/null 2>&1 &
watch_pid=$!
disown "$watch_pid"
cp "$top/conf/boards/gt48001a-8port.conf" "$rig/board.conf"
board=$rig/board.conf
rig_start '' lock_step || exit 1
expect 'ifLinkUpDownTrapEnable is on at first' "$(snmp_get $link_traps.2 $link_traps.3 | paste -sd' ')" '1 1'
client snmpset "127.0.0.1:$agent_port" $link_traps.3 i 2 >/dev/null || fail 'ifLinkUpDownTrapEnable' 'refused'
rig_agent_stop

# Links of ports 2 and 3, in seconds of the board's time, which is also ours.
flaps='link_changes = {"0.8 down", "1.6 up", "2.4 down"}'
sed -i -E "s/\"(e-[23])\" \{ speed = 10 \}/\"\1\" { speed = 10  $flaps }/" "$rig/board.conf"
: >"$rig/watch.log"
rig_agent "$capture" recorded || { fail 'restart' 'the agent did not come up'; exit 1; }
seen=$(end=$((SECONDS + 60)); until replay_ended || [ $SECONDS -ge $end ]; do # what a station sees that asks again and again
	snmp_get $if_oper.2
	sleep 0.05
done | uniq | paste -sd,)
replay_ended || fail 'replay' 'it did not end'
case $seen in
1,2,1,2 | 2,1,2 | 1,2 | 2) pass "ifOperStatus follows the link ($seen)" ;; # a loaded machine sees less of it
*) fail 'ifOperStatus follows the link' "$seen instead of 1,2,1,2" ;;
esac
both_down() { [ "$(snmp_get $if_oper.2 $if_oper.3 | paste -sd' ')" = '2 2' ]; }
wait_for 5 both_down

# TRAP ifIndex ifAdminStatus ifOperStatus of each, in order of arrival; and the sysUpTime of the last.
traps() { grep -a 'snmpTraps\|1\.3\.6\.1\.6\.3\.1\.1\.5\.[34]' "$rig/watch.log"; }
told() { # TRAP INSTANCE=VALUE...
	traps | sed -E 's/.*1\.3\.6\.1\.6\.3\.1\.1\.5\.([34])\t\.([0-9.]+) = INTEGER: ([0-9]+)\t\.([0-9.]+) = INTEGER: ([0-9]+)\t\.([0-9.]+) = INTEGER: ([0-9]+).*/\1 \2=\3 \4=\5 \6=\7/'
}
index=1.3.6.1.2.1.2.2.1.1
down="3 $index.2=2 $if_admin.2=1 $if_oper.2=1" # as it was, RFC 2863
up="4 $index.2=2 $if_admin.2=1 $if_oper.2=1"
settled() { [ "$(told)" = "$1" ]; }
wait_for 5 settled "$down
$up
$down"
expect 'linkDown and linkUp of port 2, none of port 3' "$(told)" "$down
$up
$down"

at=$(traps | tail -n 1 | sed -nE 's/.*1\.3\.6\.1\.2\.1\.1\.3\.0 = ([0-9]+).*/\1/p')
near() { [ "$1" -gt 0 ] && [ $(($1 - $2)) -le 40 ] && [ $(($2 - $1)) -le 40 ]; } # half of a flap
for port in 2 3; do
	changed=$(snmp_get -Ot $if_last_change.$port)
	if near "$changed" "${at:-0}"; then pass "ifLastChange.$port is when linkDown.2 was sent"; else
		fail "ifLastChange.$port is when linkDown.2 was sent" "$changed, not $at"
	fi
done
expect 'ifLastChange of a port that stayed' "$(snmp_get -Ot $if_last_change.1)" 0

# By a manager: ifAdminStatus down takes the link of a port that talks, and of the silent one.
: >"$rig/watch.log"
client snmpset "127.0.0.1:$agent_port" $if_admin.1 i 2 $if_admin.3 i 2 >/dev/null
down="3 $index.1=1 $if_admin.1=2 $if_oper.1=1"
wait_for 5 settled "$down"
admin_down() { [ "$(snmp_get $if_oper.1)" = 2 ]; }
wait_for 5 admin_down
expect 'ifAdminStatus down: ifOperStatus' "$(snmp_get $if_oper.1 $if_admin.1 | paste -sd' ')" '2 2'
expect 'ifAdminStatus down: linkDown of the port that talks' "$(told)" "$down"

# ---- the collector ----


# EVENT COUNT PORT of what snmpd sent the collector, too.
events() {
	easetop agents --from "$(date -u -d '-1 minute' +%FT%TZ)" --to "$(date -u -d '+1 minute' +%FT%TZ)" --format json |
	    jq -r '.events[] | select(.event | startswith("link")) | "\(.event) \(.count) \(.newest_port)"' | sort
}
arrived() { [ "$(events)" = "$1" ]; }
must='link down 3 e-1
link up 1 e-2'
wait_for 5 arrived "$must"
expect 'easetop agents has them as events' "$(events)" "$must"
exit $failed
