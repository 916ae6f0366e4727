#!/bin/bash
# Names of devices from end to end: five sites that all use 10.0.0.0/8 send sFlow to one collector, whose file of names
# changes at SIGHUP. easetop, the API and /metrics must tell the sites apart and agree; a file with a mistake changes nothing.
# Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../../support/rig.sh"
for need in python3 jq sqlite3 curl; do
	command -v "$need" >/dev/null || { skip 'all' "$need is not there"; exit 0; }
done
rig_http=127.0.0.1:$(free_port)
rig_new
sflow_port=$(free_port)
{
	echo "sflow_listen = {\"127.0.0.1:$sflow_port\"}"
	echo "device_names = \"$rig/devices\""
} >>"$rig/collector.conf"
cat >"$rig/devices" <<'END'
# five sites
agent 192.0.2.1     name core  site berlin
agent 192.0.2.2     site "New York"
agent 192.0.2.3     site rome
agent 192.0.2.4/30  site oslo
agent 192.0.2.5     site lima
port  192.0.2.1 1   name uplink
END

rows() { easetop talkers --last all --format json "$@" | jq -r '.rows[] | [.site, .samples] | @csv' | sort | tr '\n' ' '; }
reloaded() { # NUMBER: so many reloads were logged
	[ "$(grep -c 'reload: .* read again\|everything stays' "$rig/collector.log")" -ge "$1" ]
}
reload() { # NUMBER
	kill -HUP "$collector_pid"
	wait_for 5 reloaded "$1" || fail 'SIGHUP' 'the log does not tell of it'
}
names_are() { [ "$(sqlite3 "$rig/ease.db" 'SELECT count(*) FROM naming WHERE line > 0' 2>/dev/null)" = "$1" ]; }
samples_are() { [ "$(easetop agents --last all --format json | jq '[.rows[].samples] | add')" = "$1" ]; }

check() { "$build/collector/easecapd" -c "$rig/collector.conf" --check 2>&1; }
expect '--check takes the file' "$(check)" ''
echo 'agent 192.0.2.9 nam x' >>"$rig/devices"
expect '--check names file and line' "$(check)" \
    "easecapd: $rig/collector.conf: device_names: $rig/devices:8: expected name or site, each once, not \"nam\""
sed -i '$d' "$rig/devices"
refused_row() { # ROW REASON
	echo "$1" >>"$rig/devices"
	expect "--check: $1" "$(check)" "easecapd: $rig/collector.conf: device_names: $rig/devices:8: $2"
	sed -i '$d' "$rig/devices"
}
refused_row 'uplink sw1 49' "uplink: it must begin with an agent's ADDRESS or ADDRESS/BITS, or with \"any\""
refused_row 'uplink * 52-49' 'uplink: an ifIndex is from 1 to 4294967295, and a range begins with the smaller one'
refused_row 'uplink *' 'expected a port, not the end of the line'
refused_row 'uplink * 49 50' 'expected the end of the line, not "50"'
refused_row 'source 10.0.0.1 10.0.0.2' "source: it must begin with an agent's id, 16 hexadecimal digits, or with \"any\""
expect '--print-config has the option' \
    "$("$build/collector/easecapd" -c "$rig/collector.conf" --print-config | grep -c "^device_names = \"$rig/devices\"")" 1

: >"$rig/collector.log"
rig_collector || { fail 'start' 'no collector'; exit 1; }
wait_for 5 names_are 6 || fail 'start' 'the names are not in the store'
python3 - "$top/tests/collector/web" "$sflow_port" <<'END' || exit 1
import sys
sys.path.insert(0, sys.argv[1])
import sflow_wire
for site in range(1, 6):
    switch = sflow_wire.Switch(('127.0.0.1', int(sys.argv[2])), '192.0.2.%d' % site, 1, lambda port: 0.5)
    for _ in range(10 * site):
        switch.tell_sample(1, sflow_wire.frame('10.0.0.1', '10.0.0.2', 50000, 443))
END
wait_for 10 samples_are 150 || fail 'samples' "they are not in the store: $(easetop agents --last all)"

apart='"New York",20 "berlin",10 "lima",50 "oslo",40 "rome",30 '
expect 'a list has one row of the address' "$(rows)" ',150 '
expect 'a list per site has five' "$(rows --per site)" "$apart"
expect 'text shows the sites' "$(easetop talkers --last all --per site | grep -c 'berlin\|New York\|rome\|oslo\|lima')" 5
expect '--site is one of them' "$(rows --site 'New York')" '"New York",20 '
expect 'a filter joins sites and frames' "$(rows --per site --filter 'not site rome and not site "New York" and dst port 443')" \
    '"berlin",10 "lima",50 "oslo",40 '
expect 'names of agent and port' "$(easetop load --last all --format json |
    jq -r '.rows[] | select(.site == "berlin") | .agent + " " + .port')" 'core uplink'
expect 'the agent by its name' "$(rows --agent core)" '"berlin",10 '
api() { curl -s --max-time 60 "http://$rig_http/api/v1/talkers?last=all&$1"; }
if grep -q '^page at ' "$rig/collector.log"; then
	expect 'the API lists per site' "$(api per=site | jq -r '.rows[] | [.site, .samples] | @csv' | sort | tr '\n' ' ')" "$apart"
	expect 'the API filters by site' "$(api 'filter=site%20oslo' | jq -r '.rows[0].samples')" 40
	expect 'the API refuses an unknown site' "$(api site=nowhere | jq -r .error | grep -c 'no site nowhere in the names')" 1
	expect '/metrics has the site' "$(curl -s --max-time 60 "http://$rig_http/metrics" |
	    grep -c 'agent_last_heard_timestamp_seconds{agent="core",site="berlin"}')" 1
else
	skip 'the API' 'this easecapd is built without a page'
fi

sed -i 's/berlin/bern/; s/name core/name heart/' "$rig/devices"
reload 1
renamed() { easetop agents --last all | grep -q 'bern .*heart'; }
wait_for 5 renamed || fail 'SIGHUP' 'the new name is not shown'
expect 'after SIGHUP the site has its new name' "$(rows --site bern)" '"bern",10 '
expect 'and the old one is refused' "$(easetop talkers --last all --site berlin 2>&1 | grep -c 'no site berlin in the names')" 1

echo 'agent 192.0.2.1 site x' >>"$rig/devices"
reload 2
expect 'a mistake is logged with its line' "$(grep -c "reload: device_names: $rig/devices:8: expected another agent: line 2 has it already; everything stays as it was" "$rig/collector.log")" 1
expect 'and changes nothing' "$(rows --site bern)" '"bern",10 '
rig_end "$collector_pid"
: >"$rig/collector.log"
rig_collector || fail 'restart' 'no collector'
expect 'a mistake stops no start' "$(grep -c "device_names: $rig/devices:8: .*the names that the store has stay" "$rig/collector.log")" 1
expect 'the names are those of before' "$(rows --site bern)" '"bern",10 '
rig_end "$collector_pid"
"$build/collector/easecapd" -c "$rig/collector.conf" --forget 192.0.2.3 2>/dev/null || fail '--forget' "it ended with $?"
expect 'a forgotten switch leaves the names' "$(rows --per site) $(names_are 6 && echo 6)" \
    '"New York",20 "bern",10 "lima",50 "oslo",40  6'
collector_pid=
sed -i '$d' "$rig/devices"
: >"$rig/collector.log"
sed -i '/device_names/d' "$rig/collector.conf"
rig_collector || fail 'restart' 'no collector'
wait_for 5 names_are 0 || fail 'without the option' 'the names stay'
expect 'without the option there are no sites' "$(rows --per site)" ',120 '
exit $failed
