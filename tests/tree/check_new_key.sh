#!/bin/bash
# What conf/guide/new-key.md adds is all that a new kind of key needs: its lines go into a copy of the sources, and the
# tests of windows, lists, filters and levels ask for the new kind there. Prints PASS, FAIL or SKIP lines.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
[ -n "${EASE_LONG:-}" ] || { echo 'SKIP new_key: another build: tests/run --long'; exit 0; }
failed=0
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

mkdir "$dir/build"
(cd "$top" && find . -maxdepth 1 ! -name . ! -name .git ! -exec test -e '{}/config.status' \; -print0 |
    xargs -0 cp -a -t "$dir")
sed -n '/^```diff$/,/^```$/p' "$top/conf/guide/new-key.md" | sed '1d; $d' >"$dir/lines"
if (cd "$dir" && patch -s -p1 <lines) >"$dir/out" 2>&1; then
	echo 'PASS new_key: the lines of the guide fit'
else
	echo "FAIL new_key: the lines of the guide fit: $(head -n 3 "$dir/out" | tr '\n' ' ')"
	exit 1
fi
tests='tests/collector/window/check_window tests/collector/report/check_lists tests/collector/report/check_filter_frames
    tests/collector/report/check_rollup'
# shellcheck disable=SC2086 # several names
if ! (cd "$dir/build" && timeout 60 ../configure -q --enable-werror && timeout 600 make -s -j"$(nproc)" $tests) \
    >"$dir/out" 2>&1; then
	echo "FAIL new_key: it compiles: $(grep -m 2 -E 'error|warning' "$dir/out" | tr '\n' ' ')"
	exit 1
fi
for test in $tests; do
	if (cd "$dir/build" && env -u EASE_LONG srcdir="$dir" timeout 600 "$test") >"$dir/out" 2>&1; then
		echo "PASS new_key: $(basename "$test"): $(sed -n 's/^100%: Checks: \([0-9]*\).*/\1/p' "$dir/out") tests"
	else
		echo "FAIL new_key: $(basename "$test"): $(grep -m 1 ':[FE]:' "$dir/out")"
		failed=1
	fi
done
exit $failed
