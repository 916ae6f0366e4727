#!/bin/bash
# The SNMP room against a real snmpd on a private socket: tests/agent/snmp/snmp_subagent serves the tables of
# mibs/ over a made-up switch and sends samples; snmpd, walks and sets are Net-SNMP's. Prints a
# line PASS name, FAIL name: reason or SKIP name: reason for each test; exit 1 if one failed.
# Every wait has an end; what was started is ended by its process id.
set -u
top=$(cd "$(dirname "$0")/../../.." && pwd)
build=${EASE_BUILD:-$top/build}
. "$top/tests/support/wait_for.sh"
ports=26
addresses=400
failed=0
ifdescr=1.3.6.1.2.1.2.2.1.2
ifalias=1.3.6.1.2.1.31.1.1.1.18
ease=1.3.6.1.4.1.8072.9999.9999.1
served="1.0.8802.1.1.2 1.2.840.10006.300.43 1.3.6.1.2.1.2 1.3.6.1.2.1.10.7 1.3.6.1.2.1.16 1.3.6.1.2.1.17 1.3.6.1.2.1.31 1.3.6.1.2.1.47 1.3.6.1.2.1.99 $ease"

pass() { echo "PASS agentx $1"; }
fail() { echo "FAIL agentx $1: $2"; failed=1; }
expect() { # name, what is, what must be
	if [ "$2" = "$3" ]; then pass "$1"; else fail "$1" "'$2' instead of '$3'"; fi
}

for need in snmpwalk snmpbulkwalk snmpget snmpset /usr/sbin/snmpd "$build/tests/agent/snmp/snmp_subagent"; do
	if ! command -v "$need" >/dev/null; then
		echo "SKIP agentx: $need is not there"
		exit 0
	fi
done

dir=$(mktemp -d)
snmpd_pid=
export MIBS= SNMPCONFPATH=$dir/client SNMP_PERSISTENT_DIR=$dir/client
mkdir "$dir/client" "$dir/snmpd"
finish() {
	[ -n "$snmpd_pid" ] && kill -CONT "$snmpd_pid" 2>/dev/null
	[ -n "$snmpd_pid" ] && kill -9 "$snmpd_pid" 2>/dev/null
	[ -n "${helper_pid:-}" ] && kill "$helper_pid" 2>/dev/null
	wait 2>/dev/null
	rm -rf "$dir"
}
trap finish EXIT
trap '' PIPE # a helper that died is reported by the tests it fails

# ---- the two ends ----
coproc HELPER { exec "$build/tests/agent/snmp/snmp_subagent" "unix:$dir/master" $ports $addresses \
	2>"$dir/agent.log"; }
helper_pid=$HELPER_PID
exec 8<&"${HELPER[0]}" 9>&"${HELPER[1]}"
answer() { IFS= read -r -t "${1:-60}" -u 8 line || line=; printf '%s\n' "$line"; }
field() { sed -n "s/.*\"$2\":\([^,}]*\).*/\1/p" <<<"$1"; }

sink=$(field "$(answer 10)" sink_port)
port=$((20000 + $$ % 10000))
cat >"$dir/snmpd.conf" <<END
rwcommunity secret 127.0.0.1
master agentx
agentXSocket unix:$dir/master
agentXPerms 0700 0700
doNotRetainNotificationLogs 1
trap2sink 127.0.0.1:$sink public
END
start_snmpd() {
	SNMPCONFPATH=$dir/snmpd SNMP_PERSISTENT_DIR=$dir/snmpd \
	    /usr/sbin/snmpd -f -Lf "$dir/snmpd.log" -C -c "$dir/snmpd.conf" \
	    -I -ifTable,ifXTable,dot3StatsTable "udp:127.0.0.1:$port" 2>/dev/null &
	snmpd_pid=$!
	disown "$snmpd_pid" # or bash reports its death
}
is_gone() { ! kill -0 "$snmpd_pid"; }
stop_snmpd() {
	kill "-$1" "$snmpd_pid"
	wait_for 5 is_gone || { fail 'snmpd' "it does not end by SIG$1"; exit 1; }
	snmpd_pid=
}
snmp() { local tool=$1; shift; "$tool" -v2c -c secret -On -t 2 -r 1 "$@" 2>&1; }
get() { snmp snmpget -Oqv "127.0.0.1:$port" "$@"; }
set_objects() { snmp snmpset "127.0.0.1:$port" "$@" | grep -o 'Reason: [a-zA-Z]*' | head -1; }
# Until the subagent's first port is served; prints the time it took. On a busy machine that may be ten times what it
# is on a quiet one, a second or so; what must not be is that it never comes.
is_served() {
	local start=$(date +%s%N)
	while [ $((($(date +%s%N) - start) / 1000000)) -lt 30000 ]; do
		if [ "$(snmp snmpget -t 0.3 -r 0 -Oqv "127.0.0.1:$port" $ifdescr.1)" = '"fixture port 1"' ]; then
			echo $((($(date +%s%N) - start) / 1000000))
			return 0
		fi
		sleep 0.05
	done
	return 1
}

# The agent runs already and looks for a master: any order of starting must do.
start_snmpd
if took=$(is_served); then pass "connects to a master that starts later (${took} ms)"; else
	fail "connects to a master that starts later" "nothing served within 30 s"
	exit 1
fi

# ---- walks ----
walk_all() { # tool and its options
	for oid in $served; do snmp "$@" "127.0.0.1:$port" "$oid"; done
}
# What differs from one moment to the next: the agent's own counters, data age.
steady() { grep -v "^.$ease.1.1\.[4-9]\|^.$ease.1.1.1[01]" "$1"; }
walk_all snmpwalk >"$dir/walk"
echo walk >&9
expect "walk returns every cell" "$(wc -l <"$dir/walk")" "$(field "$(answer)" walk)"
expect "walk has no errors" "$(grep -c 'Error\|Timeout\|No Such\|No more' "$dir/walk")" 0
for repetitions in 1 10 50; do
	walk_all snmpbulkwalk -Cr$repetitions >"$dir/bulk"
	if diff <(steady "$dir/walk") <(steady "$dir/bulk") >"$dir/diff"; then
		pass "bulkwalk -Cr$repetitions gives the same cells"
	else
		fail "bulkwalk -Cr$repetitions gives the same cells" "$(head -3 "$dir/diff" | tr '\n' ' ')"
	fi
done
expect "names strictly increase" "$(awk -F' = ' '
	{ n = split(substr($1, 2), a, "."); key = ""
	  for (i = 1; i <= n; i++) key = key sprintf("%010d.", a[i])
	  if (key <= last && substr(key, 1, 110) == substr(last, 1, 110)) bad++
	  last = key } END { print bad + 0 }' "$dir/walk")" 0
expect "32-bit counters are the low half of their 64-bit twins" "$(awk '
	/^.1.3.6.1.2.1.2.2.1.10\./ { split($1, a, "."); low[a[12]] = $NF }
	/^.1.3.6.1.2.1.31.1.1.1.6\./ { split($1, a, "."); n++
		if ($NF % 4294967296 != low[a[13]]) bad++ }
	END { print n " " bad + 0 }' "$dir/walk")" "$ports 0"

# ---- the modules, in the master's sysORTable (RFC 3418): once each, also after restarts of the master ----
or_entry=1.3.6.1.2.1.1.9.1
modules="1.3.6.1.2.1.31 1.3.6.1.2.1.35 1.3.6.1.2.1.16.20.8 1.3.6.1.2.1.16.20.5 1.3.6.1.2.1.16.29 1.3.6.1.2.1.17
    1.3.6.1.2.1.17.6 1.3.6.1.2.1.17.7 1.3.6.1.2.1.47 1.3.6.1.2.1.99 1.2.840.10006.300.43 1.0.8802.1.1.2 $ease"
told_modules() { # how often each is told, by our descriptions
	snmp snmpwalk -Oqn "127.0.0.1:$port" $or_entry >"$dir/or"
	local module index n
	for module in $modules; do
		n=0
		for index in $(sed -n "s/^\.$or_entry\.2\.\([0-9]*\) \.${module//./\\.}$/\1/p" "$dir/or"); do
			grep -qE "^\.$or_entry\.3\.$index \"[A-Za-z0-9-]*-MIB( \((RFC|IEEE) [0-9.A-Z]+\).*)?\"$" "$dir/or" && n=$((n + 1))
		done
		printf '%s ' $n
	done
}
once_each=$(for _ in $modules; do printf '1 '; done)
modules_told() { [ "$(told_modules)" = "$once_each" ]; }
modules_are_told() { if wait_for 5 modules_told; then pass "$1"; else fail "$1" "$(told_modules)"; fi; }
modules_are_told "sysORTable has each module"

# ---- settings ----
skip=$ease.1.2.1.2
header=$ease.1.2.1.3
expect "set ifAlias" "$(set_objects $ifalias.1 s 'uplink')$(get $ifalias.1)" '"uplink"'
expect "set a mean skip" "$(set_objects $skip.1 u 512)$(get $skip.1)" 512
expect "mean skip 0 is refused" "$(set_objects $skip.1 u 0)$(get $skip.1)" "Reason: wrongValue512"
expect "mean skip of the wrong type is refused" "$(set_objects $skip.1 i 5)" "Reason: wrongType"
expect "a long alias is refused" \
    "$(set_objects $ifalias.1 s "$(printf 'x%.0s' {1..65})")" "Reason: wrongLength"
expect "an unprintable alias is refused" "$(set_objects $ifalias.1 x 0a00ff)" "Reason: wrongValue"
expect "ifDescr cannot be set" "$(set_objects $ifdescr.1 s x)" "Reason: notWritable"
expect "a port that is not there cannot be set" "$(set_objects $skip.2 u 5)" "Reason: noCreation"
expect "several objects of a table in one set" \
    "$(set_objects $skip.4 u 33 $header.4 u 64 $skip.7 u 34)$(get $skip.4 $header.4 $skip.7 | tr '\n' ' ')" \
    "33 64 34 "
expect "one wrong object leaves the others alone" \
    "$(set_objects $skip.4 u 99 $header.4 u 9999)$(get $skip.4 $header.4 | tr '\n' ' ')" \
    "Reason: wrongValue33 64 "
expect "objects of two tables, one wrong: nothing changes" \
    "$(set_objects $ifalias.4 s changed $header.4 u 9999)$(get $ifalias.4 $header.4 | tr '\n' ' ')" \
    'Reason: wrongValue"to desk 4" 64 '
expect "objects of two tables in one set" \
    "$(set_objects $ifalias.4 s both $skip.4 u 77)$(get $ifalias.4 $skip.4 | tr '\n' ' ')" \
    '"both" 77 '
expect "still alive after the refusals" "$(get $ifdescr.1)" '"fixture port 1"'

# ---- notifications ----
all_arrived() { # name, the burst's answer
	local sent arrived
	sent=$(field "$2" sent) arrived=$(field "$2" arrived)
	if [ -n "$2" ] && [ "$(field "$2" idle)" = true ] && [ "$sent" = "$arrived" ]; then
		pass "$1 ($(field "$2" notifications_per_s)/s, $(field "$2" repeated) repeated)"
	else
		fail "$1" "${2:-no answer}"
	fi
}
many=40000 # more than the ring holds twice
[ -z "${EASE_LONG:-}" ] || many=100000
echo "burst $many 1" >&9
all_arrived "$many notifications in a burst" "$(answer 60)"
echo "burst 20000 4" >&9
all_arrived "20,000 samples, four in a notification" "$(answer 60)"

# ---- the master goes and comes back ----
stop_snmpd KILL
start_snmpd
if took=$(is_served); then pass "walk works again after the master's restart (${took} ms)"; else
	fail "walk works again after the master's restart" "not within 30 s"
fi
echo "burst $many 1" >&9
sleep 0.4
stop_snmpd KILL
sleep 0.5
start_snmpd
all_arrived "a master killed in a burst loses nothing" "$(answer 60)"
echo "burst $many 1" >&9
sleep 0.3
kill -STOP "$snmpd_pid"
sleep 8
kill -CONT "$snmpd_pid"
all_arrived "a master frozen for 8 s in a burst loses nothing" "$(answer 60)"
if took=$(is_served); then pass "serves after the master thawed (${took} ms)"; else
	fail "serves after the master thawed" "not within 30 s"
fi
modules_are_told "sysORTable has each module once after a freeze"
restarts=5 slowest=0
[ -n "${EASE_LONG:-}" ] && restarts=100
for i in $(seq $restarts); do
	echo "burst 3000 1" >&9
	stop_snmpd $([ $((i % 2)) = 0 ] && echo KILL || echo TERM)
	start_snmpd
	if ! took=$(is_served); then
		fail "restart $i of the master" "not served within 30 s"
	elif [ "$took" -gt "$slowest" ]; then
		slowest=$took
	fi
	last=$(answer 30)
done
all_arrived "$restarts restarts of the master (the slowest ${slowest} ms), samples under way, lose nothing" "$last"
modules_are_told "sysORTable has each module once after $restarts restarts"
echo stats >&9
counters=$(answer)
echo "burst 100 1" >&9
all_arrived "notifications after many restarts" "$(answer 30)"

# ---- the end ----
start_helper() { # a second one, once the first has ended
	mkfifo "$dir/in"
	"$build/tests/agent/snmp/snmp_subagent" "unix:$dir/master" $ports $addresses \
	    <"$dir/in" >/dev/null 2>>"$dir/agent.log" &
	helper_pid=$!
	exec 9>"$dir/in"
}
has_ended() { ! kill -0 "$helper_pid"; }
ends() { # name: that the helper does within 8 s, cleanly
	if ! wait_for 2 has_ended; then fail "$1" "still runs after 8 s"; else
		wait "$helper_pid" 2>/dev/null
		expect "$1" $? 0
	fi
}
exec 9>&-
eval "exec ${HELPER[1]}>&-" 2>/dev/null
ends "ends when told to"
start_helper
is_served >/dev/null || fail "a second subagent" "nothing served within 30 s"
kill -STOP "$snmpd_pid"
sleep 1.5 # its next ping hangs
exec 9>&-
ends "ends while the master is frozen"
kill -CONT "$snmpd_pid"
[ $failed = 0 ] || { echo "counters: $counters"; tail -5 "$dir/agent.log"; }
exit $failed
