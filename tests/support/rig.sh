# tests/support/rig.sh: the whole system for an end-to-end test, to be sourced by bash: a private snmpd, an
# agent and a collector on free ports of loopback, everything below $rig, ended by process id when
# the test ends. Sets up passed and failed tests' lines too: pass, fail, skip, expect.
set -u
umask 027 # configurations hold communities and passphrases
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${EASE_BUILD:-$top/build}
. "$top/tests/support/wait_for.sh"
ease=1.3.6.1.4.1.8072.9999.9999.1
if_x=1.3.6.1.2.1.31.1.1.1
ether_stats=1.3.6.1.2.1.16.1.1.1
failed=0
suite=$(basename "$0" .sh)
suite=${suite#check_}

pass() { echo "PASS $suite $1"; }
fail() { echo "FAIL $suite $1: $2"; failed=1; rig_show_logs; }
skip() { echo "SKIP $suite $1: $2"; }
expect() { # NAME IS MUST-BE
	if [ "$2" = "$3" ]; then pass "$1"; else fail "$1" "'$2' instead of '$3'"; fi
}

for need in agent/easeagentd collector/easecapd collector/easetop tests/truth; do
	[ -x "$build/$need" ] || { echo "FAIL $suite: $build/$need was not built"; exit 1; }
done
for need in snmpd snmpget snmpset snmpwalk jq; do
	if ! PATH=$PATH:/usr/sbin command -v "$need" >/dev/null; then
		skip 'all' "$need is not there"
		exit 0
	fi
done
PATH=$PATH:/usr/sbin

rig=$(mktemp -d "${TMPDIR:-/tmp}/easeswitch-$suite.XXXXXX")
snmpd_pid='' agent_pid='' collector_pid=''
# A build may leave out the emulated switch and the dummy device; who cannot do without them ends.
rig_has_sim() { ! "$build/agent/easeagentd" --print-config | grep -q 'no emulated switch'; }
rig_needs_sim() {
	rig_has_sim || { skip 'all that follows' 'this build has no emulated switch'; exit $failed; }
}
rig_end() { # PID [SIGNAL]: ends it and waits; by force after ten seconds
	[ -n "$1" ] || return 0
	kill "-${2:-TERM}" "$1" 2>/dev/null
	local tries=0
	while kill -0 "$1" 2>/dev/null; do
		tries=$((tries + 1))
		[ $tries -lt 200 ] || kill -KILL "$1" 2>/dev/null
		sleep 0.05
	done
}
rig_rests() { # NAME: the collector does not turn in circles
	local ticks
	ticks() { awk '{ print $14 + $15 }' "/proc/$collector_pid/stat"; }
	ticks=$(ticks)
	sleep 1
	ticks=$(($(ticks) - ticks))
	if [ $ticks -lt 50 ]; then pass "$1: the collector rests"; else fail "$1: the collector rests" "$ticks ticks in a second"; fi
}
rig_stop() { rig_agent_stop; rig_end "$snmpd_pid"; rig_end "$collector_pid"; snmpd_pid='' collector_pid=''; }
trap 'rig_stop; rm -rf "$rig"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# Begins the script again in a network namespace of its own, there with loopback; false if none can be made.
rig_namespace() { # "$@"
	if [ "${1:-}" = inside ]; then ip link set lo up; return; fi
	unshare -n true 2>/dev/null || return
	rm -rf "$rig"
	exec unshare -n -- bash "$0" inside
}

rig_show_logs() {
	local log
	for log in agent collector snmpd; do
		[ -s "$rig/$log.log" ] && tail -n 5 "$rig/$log.log" | sed "s/^/    $log: /"
	done
}
# Nobody has it, of UDP or of TCP, and no test gets it while this one runs: each says in its $rig which ports it got.
# It is below those that the kernel gives to whoever asks for any.
free_port() {
	perl -MSocket -MFile::Glob=:bsd_glob -e 'for (1 .. 100) {
		my $port = 10000 + int rand 10000;
		next if -e "$ARGV[0]/.port-$port";
		open(my $mine, ">", "$ARGV[0]/.port-$port") or die;
		next if (() = glob("$ARGV[0]/../easeswitch-*/.port-$port")) > 1;
		socket(my $udp, AF_INET, SOCK_DGRAM, 0) && socket(my $tcp, AF_INET, SOCK_STREAM, 0) or die;
		my $address = sockaddr_in($port, INADDR_LOOPBACK);
		bind($udp, $address) && bind($tcp, $address) or next;
		print $port;
		exit;
	    }
	    die' "$rig"
}

# A new rig: nothing of an earlier one is left. BOARD (a file) is optional.
rig_new() {
	rig_stop
	rm -rf "${rig:?}"/*
	mkdir -p "$rig/agentx" "$rig/client"
	chmod 700 "$rig/agentx"
	export MIBS= SNMP_PERSISTENT_DIR=$rig/snmp SNMPCONFPATH=$rig/client
	agent_port=$(free_port) trap_port=$(free_port)
	board=${1:-$top/conf/boards/gt48001a-8port.conf}
	cat >"$rig/snmpd.conf" <<-END
		agentAddress udp:127.0.0.1:$agent_port
		rwcommunity demo 127.0.0.1
		sysServices 2
		master agentx
		agentXSocket unix:$rig/agentx/master
		agentXPerms 0700 0700
		trap2sink 127.0.0.1:$trap_port demo
		doNotRetainNotificationLogs 1
		maxGetbulkResponses 1000
	END
	cat >"$rig/collector.conf" <<-END
		listen = {"127.0.0.1:$trap_port"}
		communities = {"demo"}
		http_listen = "${rig_http:-}"
		run_as = root
		store = "$rig/ease.db"
		flush_interval = 200
		memory = 192
		clock_tolerance = 0
	END
}
# Before rig_snmpd: one who asks as `ours` meets what the agent serves and nothing between.
rig_own_view() {
	local root
	echo 'rocommunity ours 127.0.0.1 -V ours' >>"$rig/snmpd.conf"
	for root in $("$build/agent/easeagentd" --list-objects | cut -f2 |
	    sed -E 's/^(1\.3\.6\.1\.2\.1\.(10\.)?[0-9]+|1\.3\.6\.1\.4\.1\.8072\.9999\.9999)\..*/\1/' | sort -u); do
		echo "view ours included .$root" >>"$rig/snmpd.conf"
	done
}
rig_snmpd() {
	snmpd -f -LF w "$rig/snmpd.log" -C -c "$rig/snmpd.conf" \
	    -I -ifTable,ifXTable,dot3StatsTable,smux,mteTrigger,mteTriggerConf >/dev/null 2>&1 &
	snmpd_pid=$!
	disown "$snmpd_pid" # or bash reports its end
	wait_for 10 quick_get 1.3.6.1.2.1.1.3.0
}
rig_collector() {
	"$build/collector/easecapd" -c "$rig/collector.conf" -f >>"$rig/collector.log" 2>&1 &
	collector_pid=$!
	disown "$collector_pid" # or bash reports its end
	wait_for 10 grep -q 'listening on' "$rig/collector.log"
}
rig_linux_config() { # of an agent of this kernel's interfaces that samples nothing
	cat >"$rig/agent.conf" <<-END
		device = linux
		sampling = none
		agentx_socket = "unix:$rig/agentx/master"
		state_dir = "$rig/agent"
		run_as = root
	END
}
rig_agent_start() { # [COMMAND...]: by the command; with the configuration that is there
	"$@" "$build/agent/easeagentd" -c "$rig/agent.conf" -f >>"$rig/agent.log" 2>&1 &
	agent_pid=$!
	disown "$agent_pid" # or bash reports its end
}
# CAPTURE PACE [LINE...]: further lines of the configuration
rig_agent() {
	local capture=$1 pace=$2
	shift 2
	rig_needs_sim
	{
		cat <<-END
			device = emulated
			board = "$board"
			capture = "$capture"
			pace = $pace
			max_samples_per_s = 0
			seed = 7
			agentx_socket = "unix:$rig/agentx/master"
			state_dir = "$rig/agent"
			run_as = root
		END
		printf '%s\n' "$@"
	} >"$rig/agent.conf"
	: >"$rig/agent.log"
	rig_agent_start
	wait_for 15 if_number && wait_for 5 port_table # the master learns of one table after the other
}
rig_agent_stop() { rig_end "$agent_pid"; agent_pid=''; }
rig_start() { # CAPTURE PACE [LINE...]
	rig_collector && rig_snmpd && rig_agent "$@" || { fail 'start' 'a daemon did not come up'; return 1; }
}
replay_ended() { grep -q 'no more input' "$rig/agent.log"; }

# ---- asking ----

client() { local tool=$1; shift; "$tool" -v2c -c demo -t 2 -r 2 "$@"; }
snmp_get() { client snmpget -Oqv "127.0.0.1:$agent_port" "$@" 2>/dev/null; }
ours() { local tool=$1; shift; "$tool" -v2c -c ours -t 2 -r 1 -On "$@"; }
# Of a walk with -On, what differs from one moment to the next by its nature: data age, the agent's
# own counters.
steady() { grep -v "^.$ease.1.1\.\([4-9]\|1[01]\)\.0 \|No more variables" "$1"; }
# For polling: who is not there yet does not make it wait.
quick_get() { client snmpget -t 0.2 -r 0 -Oqv "127.0.0.1:$agent_port" "$@"; }
if_number() { quick_get 1.3.6.1.2.1.2.1.0 | grep -q '^[0-9]'; }
port_table() { quick_get $ease.1.2.1.2.1 | grep -q '^[0-9]'; }
column_sum() { client snmpwalk -Oqv "127.0.0.1:$agent_port" "$1" | awk '{ sum += $1 } END { printf "%.0f\n", sum }'; }
easetop() { "$build/collector/easetop" "$@" --store "sqlite:$rig/ease.db"; }
# Columns of easePortTable, by the agent's own list.
port_column() { "$build/agent/easeagentd" --list-objects | awk -v name="$1" '$1 == name { n = split($2, a, "."); print a[n] }'; }
