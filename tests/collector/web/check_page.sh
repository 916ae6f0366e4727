#!/bin/bash
# The web page in real Chromium: an emulated switch (with hostile port names and bad frames) and a
# made-up one of 1,000 ports (tests/collector/web/sflow_wire.py) are looked at as an operator would, with pointer,
# keyboard and phone, by tests/collector/web/check_page.py. Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
# EASE_PAGE_SHOTS=DIR keeps a picture of each view there.
. "$(dirname "$0")/../../support/rig.sh"

for need in chromium python3; do
	if ! command -v $need >/dev/null; then
		skip 'all' "$need is not there"
		exit 0
	fi
done

rig_http=127.0.0.1:$(free_port)
rig_new
sed 's/^port "e-3" {/port "e-3" { errors = {"crc 200"}/; s/^port "e-8" {/port "e-8" { link = down/' \
    "$board" >"$rig/board.conf"
board=$rig/board.conf
sflow_port=$(free_port)
printf '%s\n' '10.20.1.1 <i>boss</i>' '10.20.1.0/29 <b>"one"\' '10.20.1.8/29 two' >"$rig/names"
echo "names = \"$rig/names\"" >>"$rig/collector.conf"
echo 'agent 192.0.2.11 site "<i>odd</i> & sons"' >"$rig/devices"
echo "device_names = \"$rig/devices\"" >>"$rig/collector.conf"
# The replay is of January and the live switch of now: the minutes of both stay.
printf 'keep_%s = 0\n' samples 1min 5min 1h >>"$rig/collector.conf"
# Questions run at low priority: beside four other tests an hour in steps of ten seconds takes long.
echo 'http_question = 55000' >>"$rig/collector.conf"
echo "sflow_listen = {\"127.0.0.1:$sflow_port\"}" >>"$rig/collector.conf"
"$top/conf/make-capture" "$rig/page.pcap" 20 || exit 1
# Every twentieth TCP frame becomes a SYN.
python3 - "$rig/page.pcap" <<'END' || exit 1
import struct, sys
octets = bytearray(open(sys.argv[1], 'rb').read())
at, n = 24, 0
while at < len(octets):
    frame, at = at + 16, at + 16 + struct.unpack_from('<I', octets, at + 8)[0]
    if octets[frame + 12:frame + 15] == b'\x08\0\x45' and octets[frame + 23] == 6:
        n += 1
        octets[frame + 47] = 0x02 if n % 20 == 0 else octets[frame + 47]
open(sys.argv[1], 'wb').write(octets)
END
rig_start "$rig/page.pcap" lock_step 'mean_skip = 50' || exit 1
if ! grep -q '^page at ' "$rig/collector.log"; then
	skip 'all' 'this easecapd is built without a page'
	exit 0
fi
wait_for 60 replay_ended || fail 'replay' 'it did not end'
client snmpset "127.0.0.1:$agent_port" $if_x.18.1 s '<img src=x onerror="hacked=1">' \
    $if_x.18.2 s '<script>hacked=2</script>' >/dev/null || fail 'hostile names' 'they could not be set'
hostile_stored() { easetop load --last all --format csv | grep -q '<script>'; }
wait_for 10 hostile_stored || fail 'hostile names' 'they are not in the store'

# LLDP says of the port that gets bad frames where its cable comes from.
sqlite3 -cmd '.timeout 5000' "$rig/ease.db" "INSERT INTO link SELECT id, 1, id, 3, last_us FROM agent" || fail 'a link' 'it is not in the store'

export EASE_PAGE_URL=http://$rig_http EASE_PAGE_SFLOW=$sflow_port EASE_PAGE_COLLECTOR=$collector_pid
timeout -k 5 600 python3 "$top/tests/collector/web/check_page.py" # much longer than it takes, even with sanitizers
case $? in
0) ;;
1) failed=1 ;;
*) fail 'all' 'the browser or its driver ended' ;;
esac
exit $failed
