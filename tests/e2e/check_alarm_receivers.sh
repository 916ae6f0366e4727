#!/bin/bash
# Alarms that act: a flood by sFlow in real time, and what a command, two web servers (one that refuses, and one that hangs
# beside it) and an SNMP manager (the real snmptrapd, with SNMPv3 and with a community) are told of it: raised once, over
# once, the same facts; nobody waits for who hangs; over for all when the collector stops, and when it is killed. What
# failures, flapping and crowds do tests/collector/alarm/check_outbox.c has. PASS, FAIL or SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../support/rig.sh"
command -v snmptrapd >/dev/null || { skip 'all' 'snmptrapd is not there'; exit 0; }
receivers() { exec python3 "$top/tests/e2e/alarm_receivers.py" "$@"; } # in the background: the process is that one
hook_pid='' trapd_pid='' traffic_pid=''
end_all() { rig_end "$traffic_pid"; rig_end "$hook_pid"; rig_end "$trapd_pid"; rig_stop; rm -rf "$rig"; }
trap end_all EXIT

rig_new
chmod 755 "$rig" # nobody runs the command
sflow_port=$(free_port) inform_port=$(free_port)
mkdir -m 777 "$rig/told"
cat >"$rig/act" <<END
#!/bin/sh
json=\$(cat)
echo "\$1 \$EASE_SOURCE \$(id -un) \$#" >>$rig/told/command
echo "\$json" >>$rig/told/command.json
env >$rig/told/environment
END
chmod 755 "$rig/act"
receivers hook "$rig/told/hook.json" >"$rig/hook.port" 2>"$rig/hook.log" &
hook_pid=$!
disown "$hook_pid"
cat >"$rig/trapd.conf" <<'END'
createUser alarms SHA-256 'authenticates us' AES 'encrypts for us'
authUser log alarms
authCommunity log seen
format2 INFORM|%V|%N|%v\n
END
snmptrapd -f -Lf "$rig/told/informs" -On -C -c "$rig/trapd.conf" "127.0.0.1:$inform_port" >"$rig/trapd.log" 2>&1 &
trapd_pid=$!
disown "$trapd_pid"
wait_for 10 test -s "$rig/hook.port"
hook=http://127.0.0.1:$(cat "$rig/hook.port")
cat >>"$rig/collector.conf" <<END
sflow_listen = {"127.0.0.1:$sflow_port"}
alarms = {"talker above 20000 pps of each port in 10.0.0.0/8 except 10.0.0.9", "destination above 20000 pps of each port in 10.9.0.0/16"}
alarm_hold = 2
alarm_command = "$rig/act"
alarm_post = {"$hook/ok", "$hook/503", "$hook/hang"}
alarm_inform "manager" {
	to = "127.0.0.1:$inform_port"
	user = alarms
	auth_passphrase = "authenticates us"
	priv_passphrase = "encrypts for us"
}
alarm_inform "old one" {
	to = "127.0.0.1:$inform_port"
	community = seen
}
END
chmod 700 "$rig/act"
expect '--check says that nobody may not run it' "$("$build/collector/easecapd" -c "$rig/collector.conf" --check 2>&1 |
    grep -c 'alarm_command: .*: nobody may not run it')" 1
chmod 755 "$rig/act"
rig_collector || { fail 'the collector starts' "$(tail -3 "$rig/collector.log")"; exit 1; }
lines() { if [ -e "$rig/told/$1" ]; then grep -c '^raised\|^over\|^{\|^INFORM' "$rig/told/$1"; else echo 0; fi; }
has() { [ "$(lines "$1")" -ge "$2" ]; }

receivers flood "$sflow_port" 30 10.1.2.3 10.8.0.1 >/dev/null 2>"$rig/traffic.log" &
traffic_pid=$!
disown "$traffic_pid"
for of in command hook.json informs; do
	if wait_for 20 has "$of" 1; then pass "a flood: $of is told, beside one that hangs"
	else fail "a flood: $of is told" "$(tail -4 "$rig/collector.log" "$rig/traffic.log")"; fi
done
wait_for 20 has informs 2 # both
nobody=nobody
[ "$(id -u)" = 0 ] || nobody=$(id -un)
expect 'the command gets its argument, facts in its environment, and runs as nobody' "$(cat "$rig/told/command")" \
    "raised 10.1.2.3 $nobody 1"
expect 'the JSON has the facts' "$(jq -c '[.event, .rule, .kind, .key, .source, .agent, .if_index]' "$rig/told/command.json")" \
    '["raised","talker above 20000 pps of each port in 10.0.0.0/8 except 10.0.0.9","talker","10.1.2.3","10.1.2.3","192.0.2.9",1]'
expect 'a web server gets the same' "$(cat "$rig/told/hook.json")" "$(cat "$rig/told/command.json")"
expect 'nothing of the collector is in its environment' "$(cut -d= -f1 "$rig/told/environment" |
    grep -vE '^(EASE_(RULE|KEY|SOURCE|DESTINATION|AGENT|PORT|EVENT|ID)|PATH|LC_ALL|PWD|SHLVL|_|OLDPWD)$')" ''
expect 'both managers are told, of the same alarm' "$(grep -c "\.1\.3\.6\.1\.4\.1\.8072\.9999\.9999\.2\.0\.1" "$rig/told/informs") $(
    grep -o '9999\.2\.1\.1\.0 = [^|]*' "$rig/told/informs" | sort -u | wc -l)" '2 1'
# The objects of a notification as the module's text lists them, against those of an inform.
listed() { # NOTIFICATION
	awk -v of="$1" '
	$2 == "OBJECT-TYPE" { name = $1 }
	/::= \{ easeCollectorObjects/ { arc[name] = $4 }
	$1 == of && $2 == "NOTIFICATION-TYPE" { found = 1 }
	found { list = list " " $0 }
	found && /}/ { gsub(/.*{|}.*|,/, "", list); n = split(list, names, " ")
		for (i = 1; i <= n; i++) printf "%s ", arc[names[i]]
		exit }' "$top/mibs/EASE-COLLECTOR-MIB.txt"
}
sent() { grep -m1 "2\.0\.$1" "$rig/told/informs" | grep -o '9999\.2\.1\.[0-9]*\.0' | cut -d. -f4 | tr '\n' ' '; }
expect 'an inform has the objects that the module lists' "$(sent 1)" "$(listed easeAlarmRaised)"
if grep -q '9999\.2\.1\.3\.0 = STRING: "10\.1\.2\.3"' "$rig/told/informs"; then pass 'an inform has the key'
else fail 'an inform has the key' "$(tail -2 "$rig/told/informs")"; fi
if wait_for 10 grep -q 'alarm_post (2) did not take an alarm: it answered with status 503' "$rig/collector.log"
then pass 'who refuses is named in the log'; else fail 'who refuses is named' "$(grep alarm "$rig/collector.log")"; fi
if wait_for 20 grep -q 'alarm_post (3) did not take an alarm: Timeout was reached' "$rig/collector.log"
then pass 'who hangs is named in the log'; else fail 'who hangs is named' "$(grep alarm "$rig/collector.log")"; fi
expect 'each is told once' "$(lines command) $(lines hook.json) $(lines informs)" '1 1 2'

# A process that tells is killed: the collector says so, and goes on, without turning in circles.
kill -KILL "$(pgrep -P "$collector_pid" easecapd-act | sed -n 3p)" # of alarm_post (2)
if wait_for 10 grep -q 'alarm_post (2): its process has ended' "$rig/collector.log"; then pass 'who tells and is killed is named'
else fail 'who tells and is killed is named' "$(tail -2 "$rig/collector.log")"; fi
rig_rests 'who tells was killed'

# Killed: no process of it is left, and whoever was told that it stands is told that it is over.
kill -KILL "$collector_pid"
for of in 'command 2' 'hook.json 2' 'informs 4'; do
	# shellcheck disable=SC2086 # a file, and how many lines
	if wait_for 20 has $of
	then pass "a collector that is killed: ${of% *} is told that it is over"; else fail "a collector that is killed: $of" "$(tail -2 "$rig/told/${of% *}")"; fi
done
expect 'with the reason' "$(tail -1 "$rig/told/command.json" | jq -c '[.event, .source, .why]')" '["over","10.1.2.3","the collector stops"]'
expect 'of the same alarm' "$(jq -r .id "$rig/told/command.json" | sort -u | wc -l)" 1
none_left() { ! pgrep -f "easecapd -c $rig/collector.conf" >/dev/null; }
if wait_for 40 none_left; then pass 'no process is left'; else fail 'no process is left' "$(pgrep -af "$rig/collector.conf")"; fi

# Again, and stopped in order; a key that is excepted raises nothing.
rig_end "$traffic_pid"
rm -f "$rig"/told/*
rig_collector || fail 'the collector starts again' "$(tail -3 "$rig/collector.log")"
receivers flood "$sflow_port" 20 10.0.0.9 10.9.0.1 >/dev/null 2>"$rig/traffic.log" &
traffic_pid=$!
disown "$traffic_pid"
wait_for 20 has command 1
expect 'an excepted talker is not told, a destination within is' "$(jq -c "[.kind, .source, .destination]" "$rig/told/command.json")" \
    '["destination",null,"10.9.0.1"]'
rig_end "$collector_pid"
collector_pid=''
wait_for 10 has command 2
expect 'a collector that stops tells that all is over' "$(tail -1 "$rig/told/command.json" | jq -c '[.event, .why]')" \
    '["over","the collector stops"]'
if wait_for 40 none_left; then pass 'no process is left'; else fail 'no process is left' "$(pgrep -af "$rig/collector.conf")"; fi
exit $failed
