#!/bin/bash
# The Debian packages in a Debian 12 of their own (a folder made by debootstrap, in mount, process and
# network namespaces): they install without a question, the commands of their units start as their
# users, serve a walk and a report; an upgrade from 0.1.0, as this history has it, keeps what they keep (samples, sums,
# names, what managers set), brings the store up to date and asks nothing; going back changes nothing either, and is
# refused by name where it must be; and a purge leaves nothing. Under a real systemd:
# check_units.sh. Takes minutes and the network: only with EASE_LONG. EASE_DEBS may name a directory with packages built
# before. Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${EASE_BUILD:-$top/build}
failed=0
pass() { echo "PASS package $1"; }
fail() { echo "FAIL package $1: $2"; failed=1; }
skip() { echo "SKIP package all: $1"; exit 0; }
expect() { if [ "$2" = "$3" ]; then pass "$1"; else fail "$1" "'$2' instead of '$3'"; fi; }

[ -n "${EASE_LONG:-}" ] || skip 'only with EASE_LONG'
[ "$(id -u)" = 0 ] || skip 'needs root'
for need in debootstrap dpkg-buildpackage dh lintian unshare perl jq sqlite3; do
	PATH=$PATH:/usr/sbin command -v "$need" >/dev/null || skip "$need is not there"
done
PATH=$PATH:/usr/sbin

. "$top/tests/support/debian_tree.sh"
. "$top/tests/support/wait_for.sh"

# Outside: packages and the folder; then this script again, inside namespaces without a network, where
# all it mounts and starts ends with it.
if [ -z "${EASE_PACKAGE_ROOT:-}" ]; then
	dir=$(mktemp -d -p "${TMPDIR:-/var/tmp}")
	trap 'rm -rf --one-file-system "$dir"' EXIT
	given=${EASE_DEBS:-}
	debs_built "$dir/new" || { fail 'build' 'see above'; exit 1; }
	[ -n "$given" ] || pass 'built, and lintian has nothing to say'
	if ! tree_new "$dir/tree" || ! tree_depends "$dir/tree" "$EASE_DEBS"; then
		skip 'no Debian could be made (no network?)'
	fi
	first_debs=$EASE_DEBS
	if first_release; then export EASE_FIRST=yes; else echo "SKIP package 0.1.0: it is not in this tree's history"; first_debs=$EASE_DEBS; fi
	older_debs "$first_debs" "$dir/tree/debs/old"
	export BEGIN=$(($(date +%s) / 60 * 60 - 3600)) # a whole minute, an hour ago
	perl "$top/tests/e2e/sflow_capture.pl" "$dir/tree/sflow.pcap" '192.0.2.10 0 299.9 0+'
	cp "$EASE_DEBS"/easeswitch-agent_*.deb "$EASE_DEBS"/easeswitch-collector_*.deb \
	    "$EASE_DEBS"/easeswitch-doc_*.deb "$EASE_DEBS"/easeswitch-sim_*.deb "$dir/tree/debs/"
	export EASE_PACKAGE_ROOT=$dir/tree
	unshare --mount --pid --net --fork --kill-child "$0"
	exit
fi

root=$EASE_PACKAGE_ROOT
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
debs() { (cd "$root" && ls debs"$1"/*.deb | sed 's,^,/,'); } # /old or "", as they are called inside
inside() { chroot "$root" env DEBIAN_FRONTEND=noninteractive MIBS= PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"; }
installing() { inside apt-get install -q -y --no-install-recommends -o Dpkg::Use-Pty=0 "$@" </dev/null >>"$root/apt.log" 2>&1; }
# Everything that is not the packaging system's own memory.
files() { (cd "$root" && find etc usr lib var home root run tmp -xdev \( -path var/lib/dpkg -o -path var/cache -o -path var/lib/apt -o -path var/log -o -path var/lib/systemd -o -name '*.cache' -o -name 'ld.so.cache' \) -prune -o -print | sort); }
of_users() { grep -c '^ease' "$root/etc/passwd" "$root/etc/group" | cut -d: -f2 | paste -sd' '; }

files >"$root/before"

if installing $(debs /old); then pass 'installs without a question'; else
	tail -5 "$root/apt.log"
	fail 'installs' 'see above'
	exit 1
fi
expect 'both users' "$(of_users)" '2 2'
expect 'configurations are for their daemons alone' \
    "$(inside stat -c '%A %U:%G' /etc/easeswitch/easeagentd.conf /etc/easeswitch/easecapd.conf | paste -sd' ')" \
    '-rw-r----- root:easeagentd -rw-r----- root:easecapd'

# The units' own command lines, as the units' users; ports are private: the network is ours.
command_of() { sed -n 's/^ExecStart=//p' "$root/lib/systemd/system/$1.service"; }
start() { # UNIT CAPABILITIES
	inside setpriv --reuid "$1" --regid "$1" --clear-groups --inh-caps "$2" --ambient-caps "$2" --bounding-set "$2" \
	    $(command_of "$1") >"$root/$1.log" 2>&1 &
}
stop() { inside pkill -x "$1"; wait_for 5 not_there "$1"; }
not_there() { ! inside pgrep -x "$1"; }
walk() { inside snmpget -v2c -c public -t 1 -r 1 -Oqv 127.0.0.1 "$@" 2>/dev/null; }
served() { walk 1.3.6.1.4.1.8072.9999.9999.1.1.1.1.0 | grep -q '^"[0-9A-F ]*"$'; }
daemons() {
	start easecapd +net_bind_service,+net_admin
	wait_for 5 grep -q 'listening on' "$root/easecapd.log" || fail 'easecapd starts' "$(tail -3 "$root/easecapd.log")"
	start easeagentd +net_admin,+bpf,+perfmon,+net_raw
	wait_for 5 grep -q 'serving' "$root/easeagentd.log" || fail 'easeagentd starts' "$(tail -3 "$root/easeagentd.log")"
}
# In a network of its own, with an interface that carries something.
ip link add ease0 type veth peer name ease1 && ip link set ease0 up && ip link set ease1 up
ip link set lo up
cat >"$root/etc/snmp/snmpd.conf.d/test.conf" <<-END
	rocommunity public 127.0.0.1
	rwcommunity manager 127.0.0.1
	view systemonly included .1.3.6.1.4.1.8072
	trap2sink 127.0.0.1:162 public
END
inside sh -c "$(sed -n 's/^ExecStart=\(.\)/\1/p' "$root/lib/systemd/system/snmpd.service.d/easeswitch.conf" | head -1 | sed 's/\\$//') -f" >"$root/snmpd.log" 2>&1 &
daemons
if wait_for 5 served; then pass 'a walk is served by the agent'; else fail 'a walk' "$(tail -3 "$root/easeagentd.log" "$root/snmpd.log")"; fi
boots() { walk 1.3.6.1.4.1.8072.9999.9999.1.1.1.2.0; }
expect 'a first boot' "$(boots)" 1
reports() { inside easetop agents --last all --store sqlite:/var/lib/easecapd/ease.db --format json | grep -q '"agent"'; }
if wait_for 5 reports; then pass 'a report knows the agent'; else fail 'a report' "$(inside easetop agents --last all --store sqlite:/var/lib/easecapd/ease.db 2>&1 | tail -3)"; fi
id=$(walk 1.3.6.1.4.1.8072.9999.9999.1.1.1.1.0)
# What a manager sets, and a store with a switch of an hour ago, named by a file.
if_index=$(ip -o link show ease0 | cut -d: -f1)
set_objects() { inside snmpset -v2c -c manager -t 1 -r 1 -Oqv 127.0.0.1 "$@" >/dev/null; }
event=1.3.6.1.2.1.16.9.1.1
set_objects 1.3.6.1.2.1.31.1.1.1.18.$if_index s uplink || fail 'a manager names a port' 'refused'
set_objects $event.7.5 i 2 $event.2.5 s crossed $event.3.5 i 2 $event.6.5 s tester && set_objects $event.7.5 i 1 ||
    fail 'a manager makes a row' 'refused'
settings() {
	inside snmpget -v2c -c manager -t 1 -r 1 -Oqv 127.0.0.1 1.3.6.1.2.1.31.1.1.1.18.$if_index $event.2.5 $event.6.5 $event.7.5 |
	    paste -sd' '
}
expect 'what a manager sets' "$(settings)" '"uplink" "crossed" "tester" 1'
stop easeagentd
stop easecapd
echo 'agent 192.0.2.10 name core-1 site berlin' >"$root/etc/easeswitch/devices"
{
	sed '/^senders/d' "$root/etc/easeswitch/easecapd.conf"
	printf '%s\n' 'sflow_listen = {"127.0.0.1:6343"}' 'senders = {"127.0.0.0/8", "::1/128", "192.0.2.0/24"}' \
	    'device_names = "/etc/easeswitch/devices"'
} >"$root/changed.conf"
cat "$root/changed.conf" >"$root/etc/easeswitch/easecapd.conf"
inside setpriv --reuid easecapd --regid easecapd --clear-groups easecapd -c /etc/easeswitch/easecapd.conf \
    --import /sflow.pcap >"$root/import.log" 2>&1 || fail 'a store is filled' "$(tail -n 3 "$root/import.log")"
ask() { inside easetop "$@" --utc --format json --store sqlite:/var/lib/easecapd/ease.db; }
second() { date -u -d "@$((BEGIN + $1))" +%FT%T+00:00; }
# Samples of all its five minutes; and of four, which have 1,000 frames a second, what counters say.
known() {
	ask loss --last all | jq -r '.rows[] | select(.agent == "core-1") | "\(.site) \(.expected) \(.received)"'
	ask load --from "$(second 0)" --to "$(second 240)" | jq -r '.rows[] | select(.agent == "core-1") | "\(.rx_packets) \(.rx_octets)"'
	ask talkers --last all --agent core-1 | jq -r '.rows[] | select(.src) | "\(.src) \(.samples)"'
}
samples=$(sed -n 's/^\([0-9]*\) samples counted$/\1/p' "$root/import.log") before=$(known)
expect 'its store: the switch by its name' "$(sed -n '1,2p' <<<"$before" | paste -sd' ')" \
    "berlin $samples $samples 240000 $((240 * 1217700))"

# An upgrade from an earlier version, with a configuration that its user changed, and one that only the
# package did: no question, and each as it must be.
echo '# ours' >>"$root/etc/easeswitch/easecapd.conf"
installing $(debs '') || fail 'upgrade' "$(tail -3 "$root/apt.log")"
expect 'an upgrade: the new version' "$(inside dpkg-query -W -f '${Version}\n' easeswitch-agent easeswitch-collector easeswitch-doc easeswitch-sim | sort -u | wc -l)" 1
expect 'an upgrade keeps the configuration' "$(tail -1 "$root/etc/easeswitch/easecapd.conf")" '# ours'
expect 'an upgrade renews a configuration that nobody changed' "$(grep -c '0.0.9' "$root/etc/easeswitch/easeagentd.conf")" 0
expect 'the guide comes by its own package' "$(inside ls /usr/share/doc/easeswitch/guide | grep -c '\.md$')" \
    "$(ls "$top"/conf/guide/*.md | wc -l)"
board=/usr/share/easeswitch/boards/gt48001a-8port.conf
printf 'device = emulated\nboard = "%s"\nstate_dir = "/tmp/sim"\nrun_as = root\n' "$board" >"$root/sim.conf"
expect 'the agent has no emulated switch, and says so' \
    "$(inside easeagentd -c /sim.conf --check 2>&1 | grep -c 'sim.conf:1: device: this build has no emulated switch')" 1
expect 'easeagentd-sim draws its board' "$(inside easeagentd-sim -c /sim.conf --check 2>&1 | grep -c 'GT-48001A, device 0')" 1
rm "$root/sim.conf"
daemons
wait_for 5 served
expect 'an upgrade keeps the identity' "$(walk 1.3.6.1.4.1.8072.9999.9999.1.1.1.1.0)" "$id"
expect 'an upgrade counts on' "$(boots)" 2
expect 'an upgrade keeps what a manager has set' "$(settings)" '"uplink" "crossed" "tester" 1'
expect 'an upgrade keeps names, samples and sums' "$(known)" "$before"
store_version() { sqlite3 "$root/var/lib/easecapd/ease.db" 'PRAGMA user_version'; }
newest=$(sed -n 's/.*STORE_VERSION = \([0-9]*\).*/\1/p' "$top/collector/store/schema.h")
expect 'an upgrade: the store is of this version' "$(store_version)" "$newest"
stop easeagentd
stop easecapd

# And back: the old collector refuses the store and leaves it as it is, the old agent goes on; then forward again.
if [ -n "${EASE_FIRST:-}" ]; then
	inside apt-get remove -q -y easeswitch-sim </dev/null >>"$root/apt.log" 2>&1 # 0.1.0 has none
	installing --allow-downgrades $(debs /old) || fail 'going back' "$(tail -n 3 "$root/apt.log")"
	sum=$(sha256sum <"$root/var/lib/easecapd/ease.db")
	inside setpriv --reuid easecapd --regid easecapd --clear-groups $(command_of easecapd) >"$root/easecapd.log" 2>&1
	expect 'going back: the old collector does not start' "$?" 1
	expect 'going back: it says why' "$(grep -c "the store has version $newest, and this program supports versions up to 24" "$root/easecapd.log")" 1
	expect 'going back: the store is left as it is' "$(sha256sum <"$root/var/lib/easecapd/ease.db")" "$sum"
	: >"$root/easeagentd.log"
	start easeagentd +net_admin,+bpf,+perfmon,+net_raw
	wait_for 10 served
	expect 'going back: the agent goes on' "$(walk 1.3.6.1.4.1.8072.9999.9999.1.1.1.1.0) $(boots) $(settings)" \
	    "$id 3 \"uplink\" \"crossed\" \"tester\" 1"
	stop easeagentd
	installing $(debs '') || fail 'forward again' "$(tail -n 3 "$root/apt.log")"
	daemons
	expect 'forward again: names, samples and sums' "$(known)" "$before"
	stop easeagentd
	stop easecapd
fi
inside pkill -x snmpd
rm "$root/etc/easeswitch/devices"

rm "$root/etc/snmp/snmpd.conf.d/test.conf"
inside apt-get purge -q -y easeswitch-sim easeswitch-agent easeswitch-collector easeswitch-doc </dev/null >>"$root/apt.log" 2>&1
files >"$root/after"
expect 'a purge leaves no file' "$(diff "$root/before" "$root/after" | grep '^>' | grep -v -e 'run/' -e 'tmp/' -e var/lib/snmp -e var/agentx -e 'etc/.*-$' | paste -sd' ')" ''
expect 'a purge leaves no user' "$(of_users)" '0 0'
exit $failed
