#!/bin/bash
# Notifications past the master (trap_sink): the same run sent through snmpd, by the agent itself as
# SNMPv2c and as SNMPv3 leaves the same samples in a collector's store; Net-SNMP's snmptrapd takes
# them too; engine ID and boots go on over restarts, so that what was recorded before is refused; and
# samples do not wait for a master that stands still. Prints PASS, FAIL or SKIP lines; exit 1 if one
# failed.
. "$(dirname "$0")/../../support/rig.sh"
rig_needs_sim
for need in snmptrapd sqlite3; do
	command -v "$need" >/dev/null || { skip 'all' "$need is not there"; exit 0; }
done

capture=$rig.pcap
trapd_pid=''
trap 'rig_stop; rig_end "$trapd_pid"; rm -rf "$rig" "$capture" "$capture".*' EXIT
"$top/conf/make-capture" "$capture" 4 || exit 1

ask() { sqlite3 "$rig/ease.db" "$1" 2>/dev/null; }
# Every sample of the run, by port and number: what it is, and nothing of who sent it when.
samples() { ask 'SELECT * FROM sample ORDER BY if_index, sequence' | cut -d'|' -f3-; }
sampled() { ask "SELECT total(received) FROM account"; }
received_all() { [ "$(sampled)" = "$(given_out).0" ]; }
counter() { ask "SELECT value FROM stat WHERE name = '$1'"; }
direct() { # COUNTER: as SIGUSR1 has the agent log it
	kill -USR1 "$agent_pid"
	wait_for 5 grep -q "direct.sent" "$rig/agent.log"
	grep -o "$1 [0-9]*" "$rig/agent.log" | tail -1 | cut -d' ' -f2
}
v2c_sink() { printf 'trap_sink "127.0.0.1:%s" { community = demo }\n' "$1"; }
v3_sink() {
	printf 'trap_sink "127.0.0.1:%s" { user = switch auth_passphrase = "authentic words" priv_passphrase = "private words" %s }\n' "$1" "${2:-}"
}
engine() { grep -o 'of engine 0x[0-9a-f]*' "$rig/agent.log" | head -1 | cut -d' ' -f3; }

run() { # LINE...: a whole run in lock step; true if all samples came
	rig_start "$capture" lock_step 'mean_skip = 30' 'counters_interval_s = 1' "$@" || return 1
	wait_for 60 replay_ended
	wait_for 20 received_all
}

# ---- the same by every way ----

through_snmpd() {
	rig_new
	run || { fail 'through snmpd' "$(sampled) samples"; return; }
	samples >"$capture.snmpd"
	expect 'through snmpd: samples' "$([ "$(wc -l <"$capture.snmpd")" -gt 300 ] && echo some)" some
}
by_v2c() {
	rig_new
	run "$(v2c_sink "$trap_port")" || { fail 'SNMPv2c' "$(sampled) samples"; return; }
	samples >"$capture.v2c"
	expect 'SNMPv2c: the samples are those that came through snmpd' "$(cmp "$capture.snmpd" "$capture.v2c")" ''
	expect 'SNMPv2c: taken by the strict decoder' "$(counter slow_path.by_netsnmp)" 0
	expect 'SNMPv2c: nothing refused by the kernel' "$(direct direct.kernel_refused)" ''
	expect 'SNMPv2c: the master got none of it' \
	    "$(snmp_get "$ease.1.1.5.0")" 0 # easeNotifySent
}
# The engine is made of the agent's id and boot, which it keeps: a known agent that started six times.
known_agent() {
	mkdir -p "$rig/agent"
	printf '%10u %10u %s%10s' 0 6 1122334455667788 $'\n' >"$rig/agent/easeagentd.lock"
}
known_engine=0x80001f88051122334455667788
by_v3() {
	rig_new
	known_agent
	cat >>"$rig/collector.conf" <<-END
		user "switch" { engine_ids = {"$known_engine"} auth_passphrase = "authentic words" priv_passphrase = "private words" }
	END
	run "$(v3_sink "$trap_port")" || { fail 'SNMPv3' "$(sampled) samples"; return; }
	samples >"$capture.v3"
	expect 'SNMPv3: the samples are those that came through snmpd' "$(cmp "$capture.snmpd" "$capture.v3")" ''
	expect 'SNMPv3: the log tells the engine' "$(engine)" "$known_engine"
	expect 'SNMPv3: boots are the agent'"'"'s' "$(ask 'SELECT boots FROM engine')" 7
	rig_agent_stop
	rig_agent "$capture" lock_step 'mean_skip = 30' "$(v3_sink "$trap_port")" || { fail 'SNMPv3: restart' 'no agent'; return; }
	if wait_for 10 boots_are 8; then pass 'SNMPv3: taken again after a restart, with higher boots'; else
		fail 'SNMPv3: restart' "boots $(ask 'SELECT boots FROM engine')"; fi
	expect 'SNMPv3: the engine stays over a restart' "$(engine)" "$known_engine"
	expect 'SNMPv3: nothing refused' "$(ask "SELECT total(value) FROM stat WHERE name IN ('v3.wrong_digest', 'v3.replayed', 'v3.not_in_time_window', 'v3.decryption')")" 0.0
}
boots_are() { [ "$(ask 'SELECT boots FROM engine')" = "$1" ]; }

# ---- Net-SNMP's own receiver ----

trapd() { # LINE...: a configuration
	printf '%s\n' "$@" >"$rig/trapd.conf"
	snmptrapd -f -Lo -On -Ox -C -c "$rig/trapd.conf" "udp:127.0.0.1:$trap_port" >"$rig/trapd.log" 2>&1 &
	trapd_pid=$!
	disown "$trapd_pid"
	wait_for 10 grep -q 'NET-SNMP version' "$rig/trapd.log"
}
logged() { grep -o "\.$ease\.1\.3\.1\.1\.3\.[0-9]*\.[0-9]*" "$rig/trapd.log" | sort -u | wc -l; }
given_out() { column_sum "$ease.1.2.1.$(port_column easePortSamples)"; }
logged_all() { [ "$(logged)" = "$(given_out)" ]; }
by_snmptrapd() { # NAME PROTOCOLS-OF-THE-SINK AUTH PRIV
	rig_new
	known_agent
	trapd "createUser -e $known_engine switch $3 \"authentic words\" $4 \"private words\"" 'authUser log switch priv'
	rig_snmpd && rig_agent "$capture" recorded 'mean_skip = 30' 'speed_factor = 4' "$(v3_sink "$trap_port" "$2")" ||
	    { fail "$1" 'did not start'; return; }
	wait_for 30 replay_ended
	wait_for 20 logged_all
	expect "snmptrapd takes every sample by $1" "$(logged)" "$(given_out)"
	rig_end "$trapd_pid"
	trapd_pid=''
}

# ---- a master that stands still ----

master_frozen() {
	local before
	rig_new
	rig_start "$capture" recorded 'loop = true' 'mean_skip = 10' "$(v2c_sink "$trap_port")" || return
	wait_for 10 more_than 0
	kill -STOP "$snmpd_pid"
	sleep 2
	before=$(sampled)
	if wait_for 5 more_than "$before"; then pass 'a frozen master: samples go on'; else
		fail 'a frozen master' "still $before samples"; fi
	kill -CONT "$snmpd_pid"
}
more_than() { [ "$(sampled | cut -d. -f1)" -gt "${1%.*}" ]; }

# ---- a Linux switch that sends by the interfaces it samples ----

# Every frame is sampled but those that carry samples: each would make the next one, for ever.
loop_guard() {
	local frames own sent
	rig_new
	printf 'device = linux\nsampling = ebpf\nskip_by_speed = false\nmean_skip = 1\nmessage_wait_ms = 1\nagentx_socket = "unix:%s/agentx/master"\nstate_dir = "%s/agent"\n%s\n' \
	    "$rig" "$rig" "$(v2c_sink 9999 | sed 's/127.0.0.1/192.0.2.2/')" >"$rig/agent.conf"
	export -f wait_for
	unshare --net bash -c '
		unshare --net sleep 60 & # the other end: what comes back in would be sampled as anybody else'"'"'s
		other=$!
		is_apart() { [ "$(readlink /proc/$other/ns/net)" != "$(readlink /proc/self/ns/net)" ]; }
		wait_for 5 is_apart || { echo "the other network namespace does not come"; exit 9; }
		ip link add e0 type veth peer name e1 netns $other && nsenter -t $other -n ip link set e1 up &&
		    ip addr add 192.0.2.1/24 dev e0 && ip link set e0 up || exit 9
		ip neigh add 192.0.2.2 lladdr 02:00:00:00:00:02 nud permanent dev e0
		"$1" -c "$2/agent.conf" -f >"$2/agent.log" 2>&1 &
		wait_for 3 grep -q serving "$2/agent.log"
		for i in $(seq 20); do echo x >/dev/udp/192.0.2.2/5555; done
		sleep 2
		kill $! $other
		wait' - "$build/agent/easeagentd" "$rig" || { skip 'loop guard' 'no network namespace'; return; }
	if ! grep -q 'is sampled by eBPF' "$rig/agent.log"; then skip 'loop guard' 'no eBPF here'; return; fi
	frames=$(grep -o 'linux.samples [0-9]*' "$rig/agent.log" | tail -1 | cut -d' ' -f2)
	own=$(grep -o 'linux.own_frames [0-9]*' "$rig/agent.log" | tail -1 | cut -d' ' -f2)
	sent=$(grep -o 'direct.sent [0-9]*' "$rig/agent.log" | tail -1 | cut -d' ' -f2)
	expect 'loop guard: the sink'"'"'s port is known' "$([ "${own:-0}" -ge 1 ] && echo yes)" yes
	if [ "${sent:-0}" -lt 300 ]; then pass "loop guard: $sent notifications of $frames samples, $own of them our own"; else
		fail 'loop guard' "$sent notifications, $own own frames"; fi
}

# ---- configuration ----

configuration() {
	local out
	rig_new
	{
		echo 'device = dummy'
		v3_sink 1
		echo 'trap_sink "127.0.0.1:3" { community = hushed }'
	} >"$rig/agent.conf"
	out=$("$build/agent/easeagentd" -c "$rig/agent.conf" --print-config)
	expect '--print-config hides community and passphrases' "$(grep -c 'words\|hushed' <<<"$out")" 0
	expect '--print-config shows both sinks' "$(grep -c '^trap_sink "127' <<<"$out")" 2
	printf 'trap_sink "127.0.0.1:2" { user = short auth_passphrase = "seven77" }\n' >>"$rig/agent.conf"
	out=$("$build/agent/easeagentd" -c "$rig/agent.conf" --check 2>&1)
	expect 'a short passphrase is named' "$(grep -c 'agent.conf:[0-9]*: trap_sink: auth_passphrase' <<<"$out")" 1
}

through_snmpd
by_v2c
by_v3
by_snmptrapd 'SHA-512 and AES-256' 'auth_protocol = SHA-512 priv_protocol = AES-256' SHA-512 AES-256
by_snmptrapd 'MD5 and AES' 'auth_protocol = MD5' MD5 AES
master_frozen
loop_guard
configuration
exit $failed
