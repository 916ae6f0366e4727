#!/bin/bash
# Both daemons under a service manager (a socket of ours stands for it): they say when they are ready,
# that they live, and that they stop; SIGHUP takes what can change and names what cannot, and a mistake
# changes nothing; no core and no secret in log or --print-config; the units are right and their
# sandbox keeps what systemd-analyze counts below a limit. Prints PASS, FAIL or SKIP lines; exit 1 if
# one failed.
. "$(dirname "$0")/../support/rig.sh"

manager_pid=''
trap 'rig_stop; rig_end "$manager_pid"; rm -rf "$rig"' EXIT
manager() { # writes what it is told to $rig/told, a line each
	perl -MSocket -e '
	    socket(my $s, AF_UNIX, SOCK_DGRAM, 0) or die;
	    bind($s, sockaddr_un($ARGV[0])) or die;
	    open(my $out, ">", $ARGV[1]); $out->autoflush(1);
	    print $out "$m\n" while defined recv($s, $m, 999, 0)' -MIO::Handle "$rig/manager" "$rig/told" &
	manager_pid=$!
	disown "$manager_pid"
	wait_for 5 test -S "$rig/manager"
	export NOTIFY_SOCKET=$rig/manager WATCHDOG_USEC=1000000
}
told() { grep -c "^$1" "$rig/told"; }
has_told() { [ "$(told "$1")" -ge "${2:-1}" ]; }
expect_told() { # NAME WHAT TIMES
	if wait_for 10 has_told "$2" "$3"; then pass "$1"; else fail "$1" "$(tr '\n' ' ' <"$rig/told")"; fi
}
logged() { wait_for 5 grep -q "$1" "$rig/$2.log"; }
expect_logged() { # NAME PATTERN WHOSE
	if logged "$2" "$3"; then pass "$1"; else fail "$1" "not in the log: $2"; fi
}

# The configuration is a pipe: so it is certain that a daemon starts, and reads it, when SIGHUP and SIGUSR1 come; then it is
# read again.
early() { # NAME PROGRAM FILE
	local pid
	mkfifo "$rig/pipe" "$rig/again" # each has one reading: else what is written for the second is of the first
	"$build/$2" -c "$rig/pipe" -f >"$rig/early.log" 2>&1 &
	pid=$!
	disown $pid
	timeout 10 bash -c 'exec 9>"$0" && mv "$3" "$0" && kill -HUP "$1" && kill -USR1 "$1" && cat "$2" >&9' "$rig/pipe" $pid "$3" "$rig/again"
	timeout 10 bash -c 'cat "$1" >"$0"' "$rig/pipe" "$3"
	expect_logged "$1: SIGHUP that comes before it has started is taken then" ' 0 options changed' early
	rig_end $pid
	rm "$rig/pipe"
}

life() { # NAME PID WHOSE-LOG CHANGE... : what a manager sees; the file's change that SIGHUP finds
	local who=$1 pid=$2 log=$3
	expect_told "$who: ready" READY=1 1
	expect_told "$who: alive, again and again" WATCHDOG=1 3
	expect "$who: no core file" "$(awk '/^Max core file size/ { print $5, $6 }' "/proc/$pid/limits")" '0 0'
	kill -HUP "$pid"
	expect_logged "$who: nothing changed" ' 0 options changed' "$log"
	sed -i "$4" "$rig/$log.conf"
	kill -HUP "$pid"
	expect_logged "$who: SIGHUP takes $5" "reload: $5 is in force" "$log"
	expect_logged "$who: SIGHUP names $6" "reload: $6 changes with the next start only" "$log"
	echo 'no_such_option = 1' >>"$rig/$log.conf"
	kill -HUP "$pid"
	expect_logged "$who: a mistake changes nothing" 'everything stays as it was' "$log"
	kill -TERM "$pid"
	expect_told "$who: stopping" STOPPING=1 1
	sed -i '/no_such_option/d' "$rig/$log.conf"
}

# Before the capture's end: a device without input has nothing to say but lives.
agent() {
	local pid
	rig_new
	printf 'device = dummy\nagentx_socket = "unix:%s/agentx/master"\nstate_dir = "%s/agent"\nlog_level = info\ntrap_sink "127.0.0.1:9" { community = hushed }\n' \
	    "$rig" "$rig" >"$rig/agent.conf"
	chmod 644 "$rig/agent.conf"
	early agent agent/easeagentd "$rig/agent.conf"
	manager
	rig_agent_start
	expect_logged 'agent: a file that all may read is told of' 'everybody may read it' agent
	life agent "$agent_pid" agent 's/^log_level.*/log_level = debug\ndummy_ports = 3/' log_level dummy_ports
	expect 'agent: no secret in the log' "$(grep -c hushed "$rig/agent.log")" 0
	rig_end "$agent_pid"
	agent_pid=''
	rig_end "$manager_pid"
}
collector() {
	rig_new
	early collector collector/easecapd "$rig/collector.conf"
	manager
	printf 'user "u" { auth_passphrase = "words unsaid" priv_passphrase = "words unsaid" }\n' >>"$rig/collector.conf"
	chmod 644 "$rig/collector.conf"
	rig_collector || { fail 'collector' 'did not start'; return; }
	expect_logged 'collector: a file that all may read is told of' 'everybody may read it' collector
	life collector "$collector_pid" collector 's/^flush_interval.*/flush_interval = 300\nthreads = 2/' flush_interval threads
	expect 'collector: no secret in the log' "$(grep -c 'unsaid' "$rig/collector.log")" 0
	expect 'collector: no secret in --print-config' \
	    "$("$build/collector/easecapd" -c "$rig/collector.conf" --print-config | grep -c 'unsaid\|"demo"')" 0
	rig_end "$collector_pid"
	collector_pid=''
	rig_end "$manager_pid"
}

units() {
	local unit exposure out
	command -v systemd-analyze >/dev/null || { skip 'units' 'systemd-analyze is not there'; return; }
	for unit in easeagentd easecapd; do
		[ -r "$build/conf/$unit.service" ] || { skip "$unit.service" 'not built'; continue; }
		sed -e "s,^ExecStart=[^ ]*,ExecStart=/bin/true," -e '/^Documentation/d' "$build/conf/$unit.service" >"$rig/$unit.service"
		out=$(systemd-analyze verify "$rig/$unit.service" 2>&1 | grep "$unit")
		expect "$unit.service: nothing to complain of" "$out" ''
		exposure=$(systemd-analyze security --offline=yes "$rig/$unit.service" 2>/dev/null |
		    sed -n 's/.*exposure level for .*: \([0-9.]*\).*/\1/p')
		if awk -v e="$exposure" 'BEGIN { exit !(e != "" && e <= 2.5) }'; then
			pass "$unit.service: exposure $exposure of 10"; else fail "$unit.service" "exposure $exposure"; fi
	done
	if command -v systemd-sysusers >/dev/null; then
		mkdir -p "$rig/tree/etc" "$rig/tree/usr/lib/sysusers.d"
		systemd-sysusers --root="$rig/tree" "$top"/conf/service/*.sysusers 2>/dev/null
		expect 'sysusers makes both users' "$(grep -c '^ease' "$rig/tree/etc/passwd")" 2
	fi
}

if rig_has_sim; then agent; else skip 'agent' 'this build has no dummy device'; fi
collector
unset NOTIFY_SOCKET WATCHDOG_USEC
units
exit $failed
