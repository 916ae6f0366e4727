#!/bin/bash
# The agent under fire from its master, a real snmpd, at some 2,000 samples a second: restarted at
# random instants (SIGTERM and SIGKILL) while a manager walks; stopped and continued. Every sample is
# accounted for: what the agent gave out is what the collector has and what fell out of the agent's
# ring, to a sample; the agent comes back, answers in time, waits for nobody and does not grow.
# EASE_LONG: 100 restarts, stopped for 60 s. Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../../support/rig.sh"

capture=$rig.pcap
restarts=3 stopped_s=2
[ -z "${EASE_LONG:-}" ] || { restarts=100 stopped_s=60; }
"$top/conf/make-capture" "$capture" 4 || exit 1
walker_pid=''
trap 'kill -CONT $snmpd_pid 2>/dev/null; rig_end "$walker_pid"; rig_stop; rm -rf "$rig" "$capture"' EXIT
seed=${EASE_SEED:-$(date +%s)}
RANDOM=$seed
echo "     fire: EASE_SEED=$seed"
sanitized=false
grep -q __asan_init "$build/agent/easeagentd" && sanitized=true

loss() { easetop loss --last all --format json; }
place() { loss | jq --arg place "$1" '[.places[] | select(.place == $place) | .count] | add // 0'; }
lost_outside() { echo $(($(place network) + $(place 'before the collector'))); }
random_s() { printf '%d.%03d' $(($1 / 1000 * RANDOM / 32768)) $((RANDOM % 1000)); } # MILLISECONDS at most, about
memory_kib() { awk '$1 == "RssAnon:" { print $2 }' "/proc/$agent_pid/status"; } # pages of files come and go as the kernel likes
descriptors() { find "/proc/$agent_pid/fd" -mindepth 1 | wc -l; }
connects() { grep -c 'connected to the master' "$rig/agent.log"; }
now_ms() { echo $(($(date +%s%N) / 1000000)); }

# The agent's own counters, by SIGUSR1; needs no master.
stats() {
	local before
	before=$(grep -c 'stat: board.frames' "$rig/agent.log")
	kill -USR1 "$agent_pid"
	wait_for 5 stats_after "$before"
	sleep 0.2 # they are lines, written one after the other, and this is of the first
}
stats_after() { [ "$(grep -c 'stat: board.frames' "$rig/agent.log")" -gt "$1" ]; }
stat() { stats; grep -o "stat: $1 [0-9]*" "$rig/agent.log" | tail -1 | cut -d' ' -f3 | grep . || echo 0; }

sampling() { # 1 on, 2 off
	local port
	for port in 1 2 3 4 5 6 7 8; do # after a restart not all is registered yet
		wait_for 20 client snmpset -Oq "127.0.0.1:$agent_port" "$ease.1.2.1.$(port_column easePortAdminStatus).$port" i "$1" ||
		    fail "sampling of port $port" 'it cannot be set'
	done
}
walk_on() {
	while :; do # until it is killed
		client snmpbulkwalk -t 0.3 -r 0 -Cr20 "127.0.0.1:$agent_port" 1.3.6.1.2.1 >/dev/null 2>&1
		sleep 0.02
	done &
	walker_pid=$!
	disown "$walker_pid"
}
acknowledged() { [ "$(stat notify.acknowledged)" = "$(stat notify.pushed)" ]; }
all_stored() { [ "$(received)" = "$1" ]; }
received() { loss | jq '[.rows[].received] | add // 0'; }

account() { # NAME
	local given drops
	sampling 2
	wait_for 20 acknowledged || fail "$1: the ring" 'is not emptied'
	sleep 1.1 # what is served is at most a second old
	given=$(column_sum "$ease.1.2.1.$(port_column easePortSamples)")
	drops=$(column_sum "$ease.1.2.1.$(port_column easePortDrops)")
	wait_for 10 all_stored $((given - drops))
	echo "     fire: $1: $given given out = $(received) received + $drops fallen out of the ring + $(lost_outside) lost in the network"
	expect "$1: all that was given out is received or fell out of the ring" "$(received)" $((given - drops))
	expect "$1: the collector says where" "$(place agent) $(lost_outside)" "$drops 0"
	expect "$1: the master refused nothing" "$(stat notify.refused)" 0
}

# ---- restarts ----

restart() { # appends to $rig/reconnects how long the agent took after the master was there again
	local before up
	before=$(connects)
	rig_end "$snmpd_pid" "$([ $((RANDOM % 2)) = 0 ] && echo KILL || echo TERM)"
	[ $((RANDOM % 2)) = 0 ] || sleep "$(random_s 600)"
	: >"$rig/snmpd.log"
	snmpd -f -Lf "$rig/snmpd.log" -C -c "$rig/snmpd.conf" \
	    -I -ifTable,ifXTable,dot3StatsTable,smux,mteTrigger,mteTriggerConf >/dev/null 2>&1 &
	snmpd_pid=$!
	disown "$snmpd_pid"
	wait_for 10 grep -q 'NET-SNMP version' "$rig/snmpd.log" || return 1
	up=$(now_ms)
	wait_for 10 connected_after "$before" || return 1
	echo $(($(date +%s%3N -d "$(grep 'connected to the master' "$rig/agent.log" | tail -1 | cut -d' ' -f1)") - up)) >>"$rig/reconnects"
}
connected_after() { [ "$(connects)" -gt "$1" ]; }

restarted_at_random() {
	local i kib fds slowest grown
	rig_new
	rig_start "$capture" recorded 'mean_skip = 4' 'loop = true' || return
	sleep 1
	walk_on
	restart || { fail 'restarts' 'the first one'; return; } # what is made once is made then
	kib=$(memory_kib) fds=$(descriptors)
	: >"$rig/reconnects"
	for ((i = 1; i <= restarts; i++)); do
		sleep "$(random_s 1000)"
		restart || { fail "restart $i" 'the agent did not come back'; return; }
	done
	rig_end "$walker_pid"
	walker_pid=''
	expect "restarts: the agent came back after each of $restarts" "$(wc -l <"$rig/reconnects")" "$restarts"
	sort -n "$rig/reconnects" >"$rig/sorted"
	echo "     fire: reconnected after ms: $(awk '{ v[NR] = $1 } END { printf "least %d, median %d, 90 %% %d, most %d", v[1], v[int((NR + 1) / 2)], v[int((9 * NR + 9) / 10)], v[NR] }' "$rig/sorted")"
	slowest=$(stat master.slowest_answer_us) # of GETs; SETs wait for the disk, too
	account restarts
	echo "     fire: $(stat master.answers) answers, the slowest after $slowest us; $(stat notify.resent) notifications sent again, $(stat notify.timeouts) unanswered at an end"
	judge_slowest "$slowest"
	expect 'restarts: descriptors' "$(descriptors)" "$fds"
	grown=$(($(memory_kib) - kib))
	judge_memory restarts $grown
	rig_agent_stop
	expect 'restarts: no alarm of the library is left over' "$(grep -c 'attempted to be re-opened' "$rig/agent.log")" 0
}
# The bar is 50 ms. A thread that does not get a processor for a while cannot help it, so what fails is
# ten times that; how long it was is said.
judge_slowest() { # US
	if $sanitized; then skip 'restarts: the slowest answer' 'a sanitizer slows it'
	elif [ "$1" -le 500000 ]; then pass "restarts: the slowest answer took $1 us, the bar is 50000"
	else fail 'restarts: the slowest answer' "$1 us"; fi
}
judge_memory() { # PART KIB
	if $sanitized; then skip "$1: memory" 'a sanitizer keeps what is freed'
	elif [ "$2" -lt 8192 ]; then pass "$1: $2 KiB more"
	else fail "$1: memory" "$2 KiB more"; fi
}

# ---- stopped ----

more_acknowledged() { [ "$(stat notify.acknowledged)" -gt "$1" ]; }
stopped() {
	local pushed overflows frames kib grown
	rig_new
	rig_start "$capture" recorded 'mean_skip = 4' 'loop = true' 'queue_notifications = 256' || return
	sleep 1
	kib=$(memory_kib)
	kill -STOP "$snmpd_pid"
	sleep 1
	pushed=$(stat notify.pushed) overflows=$(stat notify.ring_overflow) frames=$(stat board.frames)
	sleep "$stopped_s"
	frames=$(($(stat board.frames) - frames))
	if [ $frames -gt $((4000 * stopped_s)) ]; then pass "stopped: the board goes on: $frames frames in $stopped_s s"; else
		fail 'stopped: the board' "$frames frames"; fi
	if [ "$(stat notify.ring_overflow)" -gt "$overflows" ]; then
		pass "stopped: sampling goes on: $(($(stat notify.ring_overflow) - overflows)) notifications fell out of the full ring"; else
		fail 'stopped: sampling' "$(stat notify.pushed) after $pushed, $(stat notify.ring_overflow) fell out"; fi
	kill -CONT "$snmpd_pid"
	if wait_for 10 quick_get "$ease.1.2.1.2.1"; then pass 'stopped: served again'; else fail 'stopped' 'not served again'; fi
	if wait_for 10 more_acknowledged "$pushed"; then pass 'stopped: notifications go on'; else
		fail 'stopped: notifications' "$(stat notify.acknowledged) acknowledged"; fi
	account stopped
	grown=$(($(memory_kib) - kib))
	judge_memory stopped $grown
}

# ---- past the master ----

# A sink that takes little and one where nobody listens; a master that stands still; a collector that
# is away for a second.
past_the_master() {
	local given
	rig_new
	rig_start "$capture" recorded 'mean_skip = 4' 'loop = true' \
	    "trap_sink \"127.0.0.1:$(free_port)\" { community = dead }" \
	    "trap_sink \"127.0.0.1:$(free_port)\" { community = slow max_per_s = 10 }" \
	    "trap_sink \"127.0.0.1:$trap_port\" { community = demo }" || return
	sleep 1
	kill -STOP "$snmpd_pid"
	sleep 2
	given=$(received)
	sleep 0.5
	if [ "$(received)" -gt "$given" ]; then pass 'past the master: samples do not wait for it'; else
		fail 'past the master' "still $given samples"; fi
	kill -CONT "$snmpd_pid"
	rig_end "$collector_pid"
	sleep 1
	: >"$rig/collector.log"
	rig_collector
	sleep 1
	sampling 2
	sleep 1.1
	given=$(column_sum "$ease.1.2.1.$(port_column easePortSamples)")
	sleep 0.5
	echo "     fire: past the master: $given given out = $(received) received + $(lost_outside) while there was no collector"
	expect 'past the master: all that was given out is received or told as lost' \
	    $(($(received) + $(lost_outside))) "$given"
	expect 'past the master: nothing else is lost' "$(place agent) $(stat direct.kernel_refused)" '0 0'
	expect 'past the master: the dead and the slow one are counted' \
	    "$([ "$(stat direct.unreachable)" -gt 0 ] && echo dead) $([ "$(stat direct.over_rate)" -gt 0 ] && echo slow)" 'dead slow'
}

restarted_at_random
stopped
past_the_master
exit $failed
