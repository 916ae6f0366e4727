#!/bin/bash
# Every bench at its smallest (bench.sh with BENCH_SMALL): it ends, says JSON, and has each of its figures, so that none
# rots between two runs of `make bench`. Then benches whose programs are missing, silent, or say something else: each
# fails by its name, within a minute. Those that boot a virtual machine run in that of tests/run --kernel, and these
# alone. Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
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
says() { # OUTPUT PATTERN: a bench failed so
	if grep -q "^FAILED $2" "$dir/$1.out"; then pass "$1: $2"; else
		fail "$1: $2" "$(grep -m 1 "^FAILED ${2%%:*}\|^ok     ${2%%:*}" "$dir/$1.out")"
	fi
}
in_machine=() # they boot a machine of their own, for a nanosecond that is an instruction
for file in $(cd "$top/tests/bench" && grep -l 'support/qemu\.sh' bench_*.sh); do
	file=${file#bench_}
	in_machine+=("${file%.sh}")
done
here=("${in_machine[@]}")
if [ -z "${EASE_IN_QEMU:-}" ]; then
	# It waits most of a minute, and begins first.
	another silent
	instead silent bare_subagent 'exec sleep 100'
	EASE_BUILD=$dir/silent "$top/tests/bench/bench.sh" snmp >"$dir/silent.out" 2>&1 </dev/null &
	mkdir "$dir/nothing"
	EASE_BUILD=$dir/nothing "$top/tests/bench/bench.sh" >"$dir/nothing.out" 2>&1 </dev/null
	here=()
	# shellcheck disable=SC2013 # names without spaces
	for name in $(sed -n 's/^FAILED \([a-z_]*\): .*/\1/p; s/^ok     \([a-z_]*\) .*/\1/p' "$dir/nothing.out" | sort -u); do
		says nothing "$name: "
		if [[ " ${in_machine[*]} " == *" $name "* ]]; then
			echo "SKIP bench: $name: needs a machine of its own: tests/run --kernel"
		else
			here+=("$name")
		fi
	done
fi
EASE_BUILD=$build "$top/tests/bench/bench.sh" "${here[@]}" >"$dir/out" 2>"$dir/err" </dev/null
status=$?
sed -n 's/^ok     //p' "$dir/err" >"$dir/ok"
while read -r name took; do
	if grep -q "^$name " "$dir/out"; then pass "$name $took"; else fail "$name" 'it is in no row of the table'; fi
done <"$dir/ok"
sed -n 's/^FAILED /FAIL bench: /p; s/^LEFT OUT /SKIP bench: /p' "$dir/out"
if [ $status = 0 ]; then pass 'the table'; else fail 'the table' "bench.sh ended with status $status"; tail -n 30 "$dir/err"; fi
[ -z "${EASE_IN_QEMU:-}" ] || exit $failed

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
