#!/bin/bash
# What `make dist` ships is whole: `make distcheck` unpacks it, builds it out of a tree that cannot be
# written, runs the quick unit tests there, installs, uninstalls and cleans without leaving a file; then
# `make install` into a prefix of its own gives programs that start from there, units that name them,
# pages and configurations that they take. Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${EASE_BUILD:-$top/build}
failed=0
pass() { echo "PASS dist $1"; }
fail() { echo "FAIL dist $1: $2"; failed=1; }
expect() { if [ "$2" = "$3" ]; then pass "$1"; else fail "$1" "'$2' instead of '$3'"; fi; }
[ -n "${EASE_LONG:-}" ] || { echo 'SKIP dist: two more builds: tests/run --long'; exit 0; }

. "$top/tests/support/units.sh"
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
export MIBS= EASE_QUICK=1 EASE_CAPTURES= CK_TIMEOUT_MULTIPLIER=4

# Those that take long or need a network of their own have been run in the build before.
quick='clock log frame trap_wire sflow_wire options hal bus galnet c84302 mib managed_table sequence_tracker flow_cache pack
    crash_journal estimate render address_names screen'
prefix=$dir/opt
mkdir "$dir/build"
if (cd "$dir/build" && "$top/configure" -q CC="${CC:-gcc}" --prefix="$prefix" --sysconfdir="$prefix/etc" &&
    make -s -j"$(nproc)" distcheck TESTS="$(unit_paths $quick | tr '\n' ' ')") >"$dir/distcheck" 2>&1; then
	pass "make distcheck, with $(wc -w <<<"$quick") unit test programs"
else
	fail 'make distcheck' "$(grep -m 3 -E 'error|\*\*\*|^FAIL|left in|ERROR' "$dir/distcheck")"
	tail -n 20 "$dir/distcheck" | sed 's/^/    /'
fi
expect 'it has no file that is not in the tree' "$(tar -tf "$dir"/build/easeswitch-*.tar.gz 2>/dev/null |
    grep -cE '/\.git/|\.(o|a|gcda)$|~$')" 0

if make -s -C "$dir/build" -j"$(nproc)" all >"$dir/install" 2>&1 && make -s -C "$dir/build" install >>"$dir/install" 2>&1; then
	pass 'make install'
else
	fail 'make install' "$(tail -n 3 "$dir/install")"
fi
for program in easeagentd easecapd easetop; do
	help=$("$prefix/bin/$program" --help 2>&1)
	expect "$program starts from there" "$? $(grep -c -i '^usage' <<<"$help")" '0 1'
	expect "its manual page" "$(ls "$prefix"/share/man/man*/"$program".[18] 2>/dev/null | wc -l)" 1
done
for daemon in easeagentd easecapd; do
	expect "$daemon: the unit starts that program" \
	    "$(sed -n 's/^ExecStart=\([^ ]*\).*/\1/p' "$prefix/lib/systemd/system/$daemon.service")" "$prefix/bin/$daemon"
	expect "$daemon: its configuration is there, for root and its group alone" \
	    "$(stat -c %a "$prefix/etc/easeswitch/$daemon.conf")" 640
done
make -s -C "$dir/build" uninstall >"$dir/uninstall" 2>&1
expect 'make uninstall leaves nothing' "$(find "$prefix" -type f | head -n 3)" ''
exit $failed
