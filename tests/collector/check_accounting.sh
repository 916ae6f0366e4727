#!/bin/bash
# Every number an agent gave out is received, received again or lost, and the collector says which,
# by agent, boot and port, and where: a bad network (tests/e2e/trap_relay.pl, which counts for itself)
# before two collectors, a restart of the agent, a tail that only easeCounters tell of, clocks that
# are wrong, an agent whose ring is too short, a collector that does not read for a while. Prints
# PASS, FAIL or SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../support/rig.sh"

capture=$rig.pcap
"$top/conf/make-capture" "$capture" 8 || exit 1
relay_pid='' other_pid=''
trap 'rig_stop; rig_end "$relay_pid"; rig_end "$other_pid" KILL; rm -rf "$rig" "$capture"' EXIT
sql() { "$build/tests/collector/store/store_sql" "$rig/${2:-ease}.db" "$1"; }
loss() { "$build/collector/easetop" loss --last all --format json --store "sqlite:$rig/${1:-ease}.db"; }
place() { loss | jq --arg place "$1" '.places[] | select(.place == $place) | .count'; }
# Before the collector first hears a port, nobody can tell a lost sample from an earlier one.
lost_outside() { echo $(($(place network) + $(place 'before the collector'))); }

relay() { # LOSE DUPLICATE REORDER PORT...
	rm -f "$rig/relay.port"
	perl "$top/tests/e2e/trap_relay.pl" "$rig/passed" 5 "$@" >"$rig/relay.port" &
	relay_pid=$!
	disown "$relay_pid"
	wait_for 5 test -s "$rig/relay.port"
	sed -i "s/^trap2sink.*/trap2sink 127.0.0.1:$(<"$rig/relay.port") demo/" "$rig/snmpd.conf"
}
relay_stop() { rig_end "$relay_pid"; relay_pid=''; }
# Numbers given out, by the agent: lines "BOOT IFINDEX NUMBER" to $rig/given.
note_given_out() { # BOOT
	sleep 1.1 # what is served is at most a second old
	local port
	for port in 1 2 3 4 5 6 7 8; do
		echo "$1 $port $(snmp_get "$ease.1.2.1.$(port_column easePortSamples).$port")"
	done >>"$rig/given"
}

# ---- a bad network, two collectors, two boots ----

accounts() { # STORE: BOOT IFINDEX EXPECTED RECEIVED DUPLICATES REORDERED LATE, ports with samples
	loss "$1" | jq -r '.rows[] | select(.expected > 0) | "\(.boot) \(.port | ltrimstr("e-")) \(.expected) \(.received) \(.duplicates) \(.reordered) \(.late)"' | sort
}
true_accounts() { # RECEIVER: the same by what the relay passed and the agent says
	awk -v to="$1" 'FNR == NR { given[$1 " " $2] = $3; next }
	$1 == to { print $2, $3, given[$2 " " $3], $4, $5, $6, 0; seen[$2 " " $3] }
	END { for (k in given) if (given[k] > 0 && !(k in seen)) print k, given[k], 0, 0, 0, 0 }' \
	    "$rig/given" "$rig/passed" | sort
}
# What no order of arrival may change: all but how true totals are divided between two minutes.
totals() { # STORE
	sql 'SELECT sum(expected), sum(received), sum(agent_drops), count(*) FROM account' "$1"
	sql 'SELECT if_index, direction, sum(pool_pkts), sum(pool_octets) FROM window GROUP BY 1, 2' "$1"
	sql 'SELECT start_us, if_index, direction, n, w, wb FROM window WHERE n > 0 ORDER BY 1, 2, 3' "$1"
	sql 'SELECT start_us, if_index, direction, kind, hex(key1), hex(key2), n, w, wb FROM window_key ORDER BY 1, 2, 3, 4, 5, 6' "$1"
}

bad_network() {
	local other_port samples behind report all
	rig_new
	other_port=$(free_port)
	# the capture's January is too old to be kept, once later records are stamped by their reception
	printf 'keep_%s = 0\n' 1min 5min 1h 1d >>"$rig/collector.conf"
	relay 0.2 0.1 0.3 "$trap_port" "$other_port"
	sed -e "s/:$trap_port\"/:$other_port\"/" -e 's#/ease.db#/other.db#' "$rig/collector.conf" >"$rig/other.conf"
	"$build/collector/easecapd" -c "$rig/other.conf" -f >"$rig/other.log" 2>&1 &
	other_pid=$!
	disown "$other_pid"
	wait_for 10 grep -q 'listening on' "$rig/other.log"
	rig_start "$capture" lock_step 'mean_skip = 20' || return
	wait_for 60 replay_ended
	note_given_out 1
	behind=$(($(date +%s) - $(date -d '2026-01-01 00:00:00 UTC' +%s)))
	all=$(easetop agents --last all --format json | jq ".rows[0].clock_behind_s - $behind | fabs < 60")
	expect 'a clock of the capture: as far behind as it is' "$all" true
	rig_agent_stop
	rig_agent "$capture" recorded 'mean_skip = 20' 'speed_factor = 4' || { fail 'second boot' 'no agent'; return; }
	sleep 1
	kill -USR1 "$relay_pid"
	wait_for 30 replay_ended
	note_given_out 2
	rig_stop # the agent's last easeCounters
	sleep 0.5
	relay_stop
	rig_end "$other_pid"
	other_pid=''
	samples=$(awk '$1 == "0" { n += $4 } END { print n }' "$rig/passed")
	echo "     accounting: of $(awk '{ n += $3 } END { print n }' "$rig/given") samples $samples passed"
	expect 'bad network: expected, received, duplicate, reordered, late of each port and boot' "$(accounts ease)" "$(true_accounts 0)"
	expect 'bad network: the same at the other collector, in its own order' "$(accounts other)" "$(true_accounts 1)"
	expect 'bad network: the order was another one' "$([ "$(accounts ease)" != "$(accounts other)" ] && echo yes)" yes
	expect 'bad network: both have the same totals, sums by minute and keys' "$(totals ease | md5sum)" "$(totals other | md5sum)"
	# a device whose time runs four times as fast is ahead, and no report looks beyond now
	is_past() { [ "$(date +%s%6N)" -gt "$(sql 'SELECT max(last_us) FROM agent')" ]; }
	wait_for 20 is_past
	# what was given out before the contact is expected of no minute
	all=$(loss | jq '.rows | (map(.received) | add) / (map(.expected - .before_collector) | add)')
	for report in agents talkers matrix protocols conversations connections addresses load errors; do
		expect "bad network: completeness of $report is that of the accounts" \
		    "$(easetop $report --last all --format json | jq -c "if ((.completeness - $all) | fabs < 1e-6) then true else [.completeness, $all, .from, .to, .counted_to, .silent] end")" true
	done
	expect 'bad network: nothing of it is lost in the agent' "$(place agent)" 0
	expect 'bad network: all of it in the network' "$(lost_outside)" "$(loss | jq '.rows | map(.expected - .received) | add')"
}

# ---- where else ----

short_ring() {
	rig_new
	rig_start "$capture" recorded 'mean_skip = 5' 'queue_notifications = 64' 'message_octets = 720' || return
	sleep 2
	rig_end "$snmpd_pid"
	sleep 4
	rig_snmpd
	wait_for 30 replay_ended
	note_given_out 1
	clock_is_right() { easetop agents --last 5m | grep -q ' ok *$'; }
	if wait_for 10 clock_is_right; then pass 'a clock that is right'; else fail 'a clock that is right' "$(easetop agents --last 5m)"; fi
	drops=$(column_sum "$ease.1.2.1.$(port_column easePortDrops)")
	rig_stop
	if [ "${drops:-0}" -gt 0 ]; then pass "short ring: $drops samples fell out"; else fail 'short ring' 'nothing fell out'; fi
	expect 'short ring: lost in the agent is what it dropped' "$(place agent)" "$drops"
	expect 'short ring: all else arrived' "$(lost_outside) $(loss | jq '.rows | map(.received) | add')" \
	    "0 $(($(awk '{ n += $3 } END { print n }' "$rig/given") - drops))"
}

busy_collector() {
	local passed dropped
	rig_new
	relay 0 0 0 "$trap_port"
	echo 'receive_buffer = 65536' >>"$rig/collector.conf"
	rig_start "$capture" recorded 'mean_skip = 20' 'speed_factor = 2' || return
	sleep 1
	kill -STOP "$collector_pid"
	sleep 2
	kill -CONT "$collector_pid"
	wait_for 30 replay_ended
	note_given_out 1
	rig_agent_stop
	sleep 0.5
	rig_stop
	relay_stop
	passed=$(awk '$1 == "datagrams" { print $3 }' "$rig/passed")
	dropped=$(place 'receive buffer')
	if [ "${dropped:-0}" -gt 0 ]; then pass "busy collector: $dropped datagrams were lost at its socket"; else
		fail 'busy collector' 'nothing was lost'; fi
	expect 'busy collector: read and lost are all that were sent' \
	    "$(($(sql "SELECT value FROM stat WHERE name = 'input.datagrams'") + dropped))" "$passed"
	expect 'busy collector: the samples in them are missed' "$(loss | jq '.rows | map(.expected) | add')" \
	    "$(awk '{ n += $3 } END { print n }' "$rig/given")"
	if [ "$(lost_outside)" -ge "$dropped" ]; then pass 'busy collector: they count as lost in the network'; else
		fail 'busy collector: in the network' "$(lost_outside)"; fi
}

bad_network
short_ring
busy_collector
exit $failed
