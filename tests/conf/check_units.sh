#!/bin/bash
# The units under a real systemd: a Debian 12 of its own is booted in a container, and there the
# packages are installed. Both daemons come up by the installation, ready and watched, as their users,
# without privileges, in their sandboxes; a daemon that hangs is started again by the watchdog, one
# that crashed too; systemctl reload has a new configuration in force; an upgrade restarts them and
# keeps what they keep; a purge leaves no unit, no file and no user. Takes minutes and the network: only
# with EASE_LONG. EASE_DEBS may name a directory with packages built before. Prints PASS, FAIL or SKIP
# lines; exit 1 if one failed.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${EASE_BUILD:-$top/build}
PATH=$PATH:/usr/sbin
failed=0
pass() { echo "PASS units $1"; }
fail() { echo "FAIL units $1: $2"; failed=1; }
skip() { echo "SKIP units ${2:-all}: $1"; }
expect() { if [ "$2" = "$3" ]; then pass "$1"; else fail "$1" "'$2' instead of '$3'"; fi; }
. "$top/tests/support/wait_for.sh"

[ -n "${EASE_LONG:-}" ] || { skip 'only with EASE_LONG'; exit 0; }
[ "$(id -u)" = 0 ] || { skip 'needs root'; exit 0; }
for need in systemd-nspawn debootstrap dpkg-buildpackage dh nsenter unshare; do
	command -v "$need" >/dev/null || { skip "$need is not there"; exit 0; }
done
. "$top/tests/support/debian_tree.sh"

dir=$(mktemp -d -p "${TMPDIR:-/var/tmp}")
container=''
end() {
	[ -z "$container" ] || { kill "$container"; wait "$container"; } 2>/dev/null
	rm -rf --one-file-system "$dir"
}
trap end EXIT
debs_built "$dir/new" || { fail 'build' 'see above'; exit 1; }
tree=$dir/tree
if ! tree_new "$tree" || ! tree_depends "$tree" "$EASE_DEBS"; then
	skip 'no Debian could be made (no network?)'
	exit 0
fi
older_debs "$EASE_DEBS" "$tree/debs/old"
cp "$EASE_DEBS"/easeswitch-agent_*.deb "$EASE_DEBS"/easeswitch-collector_*.deb "$tree/debs/"
rm "$tree/usr/sbin/policy-rc.d" # what is installed now starts, as on any machine

# ---- the machine ----

systemd-nspawn -q -D "$tree" --register=no --keep-unit --private-network \
    --capability=CAP_NET_ADMIN,CAP_NET_RAW,CAP_BPF,CAP_PERFMON --boot </dev/null >"$dir/console" 2>&1 &
container=$!
leader=''
has_leader() { leader=$(pgrep -P "$container" | head -1) && [ "$(cat "/proc/$leader/comm")" = systemd ]; }
inside() {
	nsenter -t "$leader" -m -u -i -n -p -- env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin \
	    DEBIAN_FRONTEND=noninteractive MIBS= "$@" </dev/null
}
is_up() { [ "$(inside systemctl is-system-running)" = running ]; }
if ! wait_for 5 has_leader || ! wait_for 30 is_up; then
	skip "no machine boots here: $(tr -cd '[:print:]\n' <"$dir/console" | tail -n 1)"
	exit 0
fi
pass 'systemd is up'
of() { inside systemctl show -P "$2" "$1"; } # UNIT PROPERTY
is_active() { [ "$(of "$1" ActiveState)" = active ]; }
status_of() { # UNIT FIELD: of its main process
	inside sed -n "s/^$2:[[:space:]]*//p" "/proc/$(of "$1" MainPID)/status" 2>&1 | tr '\t' ' '
}
logged() { inside journalctl -q -u "$1" --no-pager | grep -q "$2"; } # UNIT PATTERN
show_log() { inside journalctl -q -u "$1" --no-pager -n 5 | sed 's/^/    /'; }
get() { inside snmpget -v2c -c public -t 1 -r 1 -Oqv 127.0.0.1 "$@" 2>/dev/null; }
own=1.3.6.1.4.1.8072.9999.9999.1.1.1
served() { get $own.1.0 | grep -q '^"[0-9A-F ]*"$'; }
report() { inside easetop agents --last all --store sqlite:/var/lib/easecapd/ease.db --format json; }
has_report() { report | grep -q '"agent"'; }
of_users() { grep -c '^ease' "$tree/etc/passwd" "$tree/etc/group" | cut -d: -f2 | paste -sd' '; }
files() { (cd "$tree" && find etc usr lib var home -xdev \( -path var/lib/dpkg -o -path var/cache -o -path var/lib/apt -o -path var/log -o -path var/backups -o -path var/lib/systemd -o -path var/lib/snmp -o -path var/tmp \) -prune -o -print | sort); }
install() { # DEB...: as dpkg does it, with no answer to any question
	inside dpkg -i "$@" >>"$dir/dpkg.log" 2>&1 || { tail -n 5 "$dir/dpkg.log"; fail 'dpkg' 'see above'; return 1; }
}

# ---- installed ----

inside ip link add ease0 type veth peer name ease1 # something to count
inside ip link set ease0 up
inside ip link set ease1 up
cat >"$tree/etc/snmp/snmpd.conf.d/test.conf" <<-END
	rocommunity public 127.0.0.1
	view systemonly included .1.3.6.1.4.1.8072
	trap2sink 127.0.0.1:162 public
END
files >"$dir/before"
install $(cd "$tree" && ls debs/old/*.deb | sed 's,^,/,') || exit 1
inside systemctl daemon-reload
inside systemctl restart snmpd
for daemon in easeagentd easecapd; do
	if wait_for 8 is_active $daemon; then pass "$daemon: active after the installation"; else
		fail "$daemon" "$(of $daemon ActiveState)"; show_log $daemon; fi
	expect "$daemon: enabled" "$(inside systemctl is-enabled $daemon)" enabled
	# Type=notify: active means that it said READY=1.
	expect "$daemon: said that it is ready, and is watched" "$(of $daemon Type) $(of $daemon NotifyAccess) $([ "$(of $daemon WatchdogTimestampMonotonic)" -gt 0 ] && echo heard)" \
	    'notify main heard'
	uid=$(inside id -u $daemon)
	expect "$daemon: its user" "$(status_of $daemon Uid)" "$uid $uid $uid $uid"
	expect "$daemon: no new privileges, and a filter of system calls" \
	    "$(status_of $daemon NoNewPrivs) $(status_of $daemon Seccomp)" '1 2'
	exposure=$(inside systemd-analyze security $daemon.service --no-pager 2>/dev/null | sed -n 's/.*exposure level for .*: \([0-9.]*\).*/\1/p')
	if awk -v e="$exposure" 'BEGIN { exit !(e != "" && e <= 2.5) }'; then pass "$daemon: exposure $exposure of 10"; else
		fail "$daemon: exposure" "$exposure"; fi
done
expect 'easeagentd: thousands of interfaces have their time' "$(of easeagentd TimeoutStartUSec) $(of easeagentd TimeoutStopUSec)" '10min 10min'
expect 'easecapd: no capability is left' "$(status_of easecapd CapEff) $(status_of easecapd CapPrm) $(status_of easecapd CapAmb)" \
    '0000000000000000 0000000000000000 0000000000000000'
expect 'easecapd: port 162 is open' "$(inside ss -Hlun 'sport = :162' | awk '{ print $4 }' | sort | paste -sd' ')" '127.0.0.1:162 [::1]:162'
if wait_for 5 served; then pass 'a walk is served by the agent'; else fail 'a walk' "$(get $own.1.0)"; show_log easeagentd; fi
if wait_for 8 has_report; then pass 'a report knows the agent'; else fail 'a report' "$(report | head -c 200)"; show_log easecapd; fi

# ---- hung, crashed, told to read again ----

for daemon in easeagentd easecapd; do
	mkdir -p "$tree/etc/systemd/system/$daemon.service.d"
	printf '[Service]\nWatchdogSec=3\nTimeoutAbortSec=2\n' >"$tree/etc/systemd/system/$daemon.service.d/soon.conf"
done
inside systemctl daemon-reload
inside systemctl restart easeagentd easecapd
hang() { # UNIT: stopped, it says nothing any more
	local pid
	pid=$(of "$1" MainPID)
	inside kill -STOP "$pid"
	another() { local now; now=$(of "$1" MainPID) && [ "$now" != 0 ] && [ "$now" != "$2" ] && is_active "$1"; }
	if wait_for 10 another "$1" "$pid"; then pass "$1: hung, and started again by the watchdog"; else
		fail "$1: hung" "$(of "$1" ActiveState) $(of "$1" NRestarts)"; show_log "$1"; fi
	expect "$1: the watchdog says so" "$(inside journalctl -q -u "$1" --no-pager | grep -c 'Watchdog timeout')" 1
	pid=$(of "$1" MainPID)
	inside kill -KILL "$pid"
	if wait_for 5 another "$1" "$pid"; then pass "$1: killed, and started again"; else
		fail "$1: killed" "$(of "$1" ActiveState)"; show_log "$1"; fi
}
hang easeagentd
hang easecapd
if wait_for 5 served; then pass 'served again'; else fail 'served again' "$(get $own.1.0)"; fi

sed -i 's/^senders = .*/senders = {"127.0.0.0\/8", "::1\/128", "192.0.2.0\/24"}/' "$tree/etc/easeswitch/easecapd.conf"
echo 'counters_interval_s = 5' >>"$tree/etc/easeswitch/easeagentd.conf"
for daemon in easeagentd easecapd; do
	pid=$(of $daemon MainPID)
	inside systemctl reload $daemon
	if wait_for 3 logged $daemon 'read again, 1 options changed'; then pass "$daemon: systemctl reload"; else
		fail "$daemon: systemctl reload" "$(of $daemon ActiveState)"; show_log $daemon; fi
	expect "$daemon: it is the same process" "$(of $daemon MainPID)" "$pid"
done

# ---- upgraded ----

sed -i '/^counters_interval_s/d' "$tree/etc/easeswitch/easeagentd.conf" # as it came
id=$(get $own.1.0) boots=$(get $own.2.0)
agent_pid=$(of easeagentd MainPID) collector_pid=$(of easecapd MainPID)
if install $(cd "$tree" && ls debs/*.deb | sed 's,^,/,'); then pass 'an upgrade asks nothing'; fi
expect 'an upgrade: the new version' "$(inside dpkg-query -W -f '${Version}\n' easeswitch-agent easeswitch-collector | sort -u)" \
    "$(dpkg-deb -f "$(ls "$EASE_DEBS"/easeswitch-agent_*.deb)" Version)"
upgraded() { is_active easeagentd && is_active easecapd && served; }
if wait_for 10 upgraded; then pass 'an upgrade: both are active'; else
	fail 'an upgrade' "$(of easeagentd ActiveState) $(of easecapd ActiveState)"; fi
if [ "$(of easeagentd MainPID)" != "$agent_pid" ] && [ "$(of easecapd MainPID)" != "$collector_pid" ]; then
	pass 'an upgrade: both are new processes'; else fail 'an upgrade' 'a process of the old version goes on'; fi
expect 'an upgrade: the identity stays, and the starts are counted' "$(get $own.1.0) $(get $own.2.0)" "$id $((boots + 1))"
expect 'an upgrade: a configuration that was changed stays' "$(grep -c '192.0.2.0/24' "$tree/etc/easeswitch/easecapd.conf")" 1
expect 'an upgrade: one that was not is the new one' "$(grep -c '0.0.9' "$tree/etc/easeswitch/easeagentd.conf")" 0
if wait_for 5 has_report; then pass 'an upgrade: the report goes on'; else fail 'an upgrade: report' "$(report | head -c 200)"; fi

# ---- purged ----

rm -r "$tree"/etc/systemd/system/ease*.service.d
inside systemctl daemon-reload
inside dpkg --purge easeswitch-agent easeswitch-collector >>"$dir/dpkg.log" 2>&1 || fail 'purge' "$(tail -n 3 "$dir/dpkg.log")"
expect 'a purge leaves no unit' "$(inside systemctl list-units --all --no-legend --plain 'ease*' | grep -v not-found | wc -l)" 0
expect 'a purge leaves no process' "$(inside pgrep -c 'ease')" 0
files >"$dir/after"
expect 'a purge leaves no file' "$(diff "$dir/before" "$dir/after" | grep '^>' | grep -v 'etc/.*-$' | grep -v '^> var/agentx' | paste -sd' ')" ''
expect 'a purge leaves no user' "$(of_users)" '0 0'
exit $failed
