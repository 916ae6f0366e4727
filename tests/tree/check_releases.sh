#!/bin/bash
# Releases other than the one that this is developed on, each bare, in a folder of its own (made by debootstrap, in mount
# and process namespaces): a clean clone of this tree there, the README's first command with its first minute, which
# installs and builds; and the README's second, whose last line says whether all is well. Ubuntu runs the first alone.
# Takes most of an hour and the network: a stage of its own of tests/run --long. EASE_RELEASES names other
# ones. Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
[ -n "${EASE_LONG:-}" ] || { echo "SKIP releases: other systems are fetched, and tested whole: tests/run --long"; exit 0; }
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${EASE_BUILD:-$top/build}
failed=0
pass() { echo "PASS releases $1"; }
fail() { echo "FAIL releases $1: $2"; failed=1; }
skip() { echo "SKIP releases ${2:-all}: $1"; }
PATH=$PATH:/usr/sbin
[ "$(id -u)" = 0 ] || { skip 'needs root'; exit 0; }
for need in debootstrap git unshare; do command -v "$need" >/dev/null || { skip "$need is not there"; exit 0; }; done
. "$top/tests/support/debian_tree.sh"

dir=$(mktemp -d "${TMPDIR:-/var/tmp}/easeswitch-releases.XXXXXX")
trap 'rm -rf --one-file-system "$dir"' EXIT # what is mounted ends with its namespace

inside() { # SECONDS TREE COMMAND: as root there, from the clone, with the captures if there are any
	# shellcheck disable=SC2016 # for the shell inside
	timeout -k 30 "$1" unshare --mount --pid --fork --kill-child sh -c '
	    root=$1
	    mount -t proc proc "$root/proc" && mount -t sysfs sys "$root/sys" && mount --rbind /dev "$root/dev" &&
	    mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts" &&
	    mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm" || exit
	    captures=
	    if [ -n "$3" ]; then mount --bind -o ro "$3" "$root/captures" && captures=/captures; fi
	    exec chroot "$root" env -i HOME=/root TERM=dumb PATH=/usr/sbin:/usr/bin:/sbin:/bin EASE_CAPTURES="$captures" \
		bash -c "cd /srv/easeswitch && $2"' - "$2" "$3" "${EASE_CAPTURES:-}" </dev/null
}
# The first report comes after a minute; then whoever looks at it presses Ctrl-C.
first_minute='
	. tests/support/wait_for.sh
	conf/demo --state /srv/demo >/srv/demo.out 2>&1 & demo=$!
	ended() { grep -q "^Still running" /srv/demo.out || ! kill -0 $demo; }
	wait_for 400 ended
	kill -TERM $demo
	wait $demo
	grep -E "^[45] of 5 limits hold the truth" /srv/demo.out'
try() { # RELEASE DISTRIBUTION WHAT...
	local release=$1 distribution=$2 tree=$dir/$1 line
	shift 2
	if ! tree_bare "$tree" "$release" "$distribution"; then
		skip "it could not be made (no network, no key?): $(grep '^E:' "$base.log" | head -n 1)" "$release"
		return
	fi
	mkdir "$tree/captures"
	git clone -q "$top" "$tree/srv/easeswitch"
	line=$(inside 1800 "$tree" "$first_minute")
	if [ -n "$line" ] && ! grep 'command not found' "$tree/srv/demo.out"; then pass "$release: conf/demo: $line"; else
		fail "$release: conf/demo" "$(tail -n 5 "$tree/srv/demo.out" | paste -sd' ')"
		return
	fi
	[ $# -gt 0 ] || return
	inside 5400 "$tree" 'tests/run' >"$build/$release.out" 2>&1
	line=$(tail -n 1 "$build/$release.out")
	case $line in
	*' passed, 0 failed, '*) pass "$release: tests/run: $line" ;;
	*) fail "$release: tests/run" "$line"; grep -A 3 '^FAILED' "$build/$release.out" | sed 's/^/    /' ;;
	esac
	rm -rf --one-file-system "$tree"
}
for release in ${EASE_RELEASES:-trixie noble}; do
	case $release in
	noble) try noble ubuntu ;;
	*) try "$release" debian all ;;
	esac
done
exit $failed
