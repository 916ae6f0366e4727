#!/bin/bash
# Every bench at its smallest (bench.sh with BENCH_SMALL): it ends, says JSON, and has each of its figures, so that none
# rots between two runs of `make bench`. Then benches whose programs are missing, silent, or say something else: each
# fails by its name, within a minute. Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
set -u
export LC_ALL=C BENCH_SMALL=1
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${EASE_BUILD:-$top/build}
if grep -qs '^EASE_CFLAGS.*-fsanitize\|^CFLAGS.*-fsanitize' "$build/Makefile"; then
	echo 'SKIP bench: sanitizers in the build'
	exit 0
fi
failed=0
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
pass() { echo "PASS bench: $1"; }
fail() { echo "FAIL bench: $1: $2"; failed=1; }

# A build of links, whose tests/bench is a folder of its own.
another() { # NAME
	mkdir -p "$dir/$1/tests/bench"
	ln -s "$build"/* "$dir/$1/" 2>/dev/null
	ln -s "$build"/tests/* "$dir/$1/tests/" 2>/dev/null
	ln -s "$build"/tests/bench/* "$dir/$1/tests/bench/"
}
instead() { # BUILD PROGRAM LINE...: a script instead of a bench's program
	rm -f "$dir/$1/tests/bench/$2"
	printf '%s\n' '#!/bin/sh' "${@:3}" >"$dir/$1/tests/bench/$2"
	chmod +x "$dir/$1/tests/bench/$2"
}
# They wait most of a minute, and begin first.
another silent
instead silent bare_subagent 'exec sleep 100'
EASE_BUILD=$dir/silent "$top/tests/bench/bench.sh" snmp >"$dir/silent.out" 2>&1 </dev/null &

EASE_BUILD=$build "$top/tests/bench/bench.sh" >"$dir/out" 2>"$dir/err" </dev/null
status=$?
sed -n 's/^ok     //p' "$dir/err" >"$dir/ok"
while read -r name took; do
	if grep -q "^$name " "$dir/out"; then pass "$name $took"; else fail "$name" 'it is in no row of the table'; fi
done <"$dir/ok"
sed -n 's/^FAILED /FAIL bench: /p; s/^LEFT OUT /SKIP bench: /p' "$dir/out"
if [ $status = 0 ]; then pass 'the table'; else fail 'the table' "bench.sh ended with status $status"; tail -n 30 "$dir/err"; fi

says() { # OUTPUT PATTERN: a bench failed so
	if grep -q "^FAILED $2" "$dir/$1.out"; then pass "$1: $2"; else
		fail "$1: $2" "$(grep -m 1 "^FAILED ${2%%:*}\|^ok     ${2%%:*}" "$dir/$1.out")"
	fi
}
mkdir "$dir/nothing"
EASE_BUILD=$dir/nothing "$top/tests/bench/bench.sh" >"$dir/nothing.out" 2>&1 </dev/null
for name in $(cut -d" " -f1 "$dir/ok"); do says nothing "$name: "; done
another wrong
mv "$dir/wrong/tests/bench/bare_subagent" "$dir/wrong/tests/bench/subagent"
instead wrong bench_frame 'echo "{\"bench\":\"frame\",\"outer_ns_per_frame\":0}"'
instead wrong bench_estimate 'echo "0 ms"'
instead wrong bench_agents 'exit 3'
EASE_BUILD=$dir/wrong "$top/tests/bench/bench.sh" frame estimate agents snmp walk >"$dir/wrong.out" 2>&1 </dev/null
says wrong "frame: no figure 'keys of a header'"
says wrong 'estimate: it says no JSON'
says wrong 'agents: it ended with status 3'
says wrong 'snmp: it ended with status 1: .*/bare_subagent is not there'
says wrong 'walk: it ended with status 1: .*/bare_subagent is not there'
wait
says silent "snmp: it ended with status 1: .*no answer of the subagent 'bare'"
exit $failed
