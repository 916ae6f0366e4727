# shellcheck shell=bash
# tests/support/runner.sh: what tests/run is made of, to be sourced by bash with $top set: stages that must
# run something, builds that must make everything, and a pool of test programs whose ends are counted.
#
# Which tests there are is read from the sources, never from what a build made of them: tests/**/check_*.c
# are unit programs, tests/**/check_*.sh are scripts. One that is missing from a build fails by its name.

jobs=$(nproc)
at_once=$((5 * jobs / 2)) # tests: more than half of their time they wait for a daemon
units_at_once=$at_once    # of them unit programs, which wait less

# ---- counting ----

passed=0 failed=0 skipped=0
skips=()   # "NAME: reason" of each skipped test
seconds=() # "SECONDS NAME" of each program that was run
stages=()  # a line for each stage that ended
pass() { passed=$((passed + ${1:-1})); }
fail() { # WHAT [LOG]
	failed=$((failed + 1))
	echo "FAILED $1"
	[ -n "${2:-}" ] || return 0
	# What failed may stand far above the end, or below much else that is harmless.
	{
		grep -aE '^FAIL|:[0-9]+:[FE]:' "$2" | head -n 40
		grep -a 'ERROR: \|runtime error: ' "$2" | head -n 10
		echo '...'
		tail -n 40 "$2"
	} | sed 's/^/    /'
}
skip() { skipped=$((skipped + 1)); skips+=("$1"); }

# ---- stages: each must run something ----

stage='' stage_from=0 stage_ran=0
ran() { stage_ran=$((stage_ran + 1)); } # this stage did one thing more
stage_end() {
	[ -n "$stage" ] || return 0
	[ "$stage_ran" -gt 0 ] || fail "the stage '$stage': it ran nothing"
	stages+=("$(printf '%5d s  %s: %d run' $((SECONDS - stage_from)) "$stage" "$stage_ran")")
	stage=''
}
heading() { # STAGE: ends the one before
	stage_end
	stage=$1 stage_from=$SECONDS stage_ran=0
	printf '\n== %s (%d s)\n' "$1" "$SECONDS"
}
summary() { # stages, the slowest programs, skipped tests and their reasons, and the line that counts
	stage_end
	printf '\n== done (%d s)\n' "$SECONDS"
	printf '%s\n' ${stages[@]+"${stages[@]}"}
	echo 'the slowest:'
	[ ${#seconds[@]} = 0 ] || printf '%s\n' "${seconds[@]}" | sort -rn | head -n 10 | sed 's/^/  /'
	[ ${#skips[@]} = 0 ] || printf 'SKIP %s\n' "${skips[@]}"
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" = 0 ]
}

# ---- what there is to run ----

unit_programs() { (cd "$top" && find tests -name 'check_*.c' | sed 's,\.c$,,' | slowest_first); }
script_tests() { (cd "$top" && find tests -name 'check_*.sh' | slowest_first); }
fuzz_targets() { (cd "$top" && find tests -name 'fuzz_*.c' | sed 's,\.c$,,' | LC_ALL=C sort); }
# tests/slowest names those that take longest: they start first, so that none is left alone at the end. Behind a name
# "waits": it does nothing but wait for minutes of real time.
slowest_first() {
	LC_ALL=C sort | awk '!tests { place[$1] = FNR; next }
	    { print ($1 in place ? place[$1] : 1000000) "\t" NR "\t" $1 }' "$top/tests/slowest" tests=1 - |
	    sort -n | cut -f3
}

# ---- builds ----

variable() { # DIR NAME: what the Makefile there calls so
	printf 'include Makefile\neaseswitch-variable:\n\t@echo $(%s)\n' "$2" |
	    make -s -C "$top/$1" -f - easeswitch-variable
}
# Makes everything, and for TARGET check every unit program too; the log is DIR/tests-build.log. False if
# something failed; the rest is made all the same, and what could not be made anew is taken away, so that no
# old program passes for it.
build() { # DIR TARGET CONFIGURE-OPTION...
	local dir=$1 target=$2 log=$top/$1/tests-build.log program status=0
	shift 2
	mkdir -p "$top/$dir"
	"$top/conf/build" "$top/$dir" --enable-werror "$@" >"$log" 2>&1 || status=1
	[ -e "$top/$dir/Makefile" ] || return 1
	# One after the other: given both, make would run two makes over the same objects at once.
	[ $status = 0 ] || make -C "$top/$dir" -k -j"$jobs" all >>"$log" 2>&1
	[ "$target" = all ] || build_tests "$dir" >>"$log" 2>&1 || status=1
	[ $status = 0 ] && return
	for program in $(variable "$dir" bin_PROGRAMS) $(variable "$dir" noinst_PROGRAMS) \
	    $(variable "$dir" check_PROGRAMS); do
		make -s -C "$top/$dir" -q "$program" >/dev/null 2>&1 || rm -f "$top/$dir/$program"
	done
	return 1
}
# Optimizing most tests takes longer than running them; with sanitizers, whose checks hide what values may be, the compiler
# would then warn of what cannot happen. What is measured by `make bench`, and what draws for long, is made as all else.
build_tests() { # DIR
	local optimized flags links status=0
	flags="$(variable "$1" CFLAGS) -g1 -O0" links="$(variable "$1" LDFLAGS) $(quick_linker "$1")"
	[[ $(variable "$1" EASE_CFLAGS) != *-fsanitize* ]] || flags=$(variable "$1" CFLAGS)
	# shellcheck disable=SC2016 # make's own
	optimized="$(variable "$1" BENCHES) $(variable "$1" 'filter $(check_PROGRAMS),$(DRAWING_CHECKS)')"
	# shellcheck disable=SC2086 # names without spaces
	make -C "$top/$1" -k -j"$jobs" $optimized LDFLAGS="$links" || status=1
	make -C "$top/$1" -k -j"$jobs" check TESTS= CFLAGS="$flags" LDFLAGS="$links" || status=1
	return $status
}
quick_linker() { # DIR: the option for one that takes half as long as GNU's, where its compiler has one
	local linker
	for linker in gold lld; do
		echo 'int main(void) { return 0; }' |
		    $(variable "$1" CC) -fuse-ld=$linker -x c -o /dev/null - 2>/dev/null && { echo "-fuse-ld=$linker"; return; }
	done
}
build_stage() { # DIR CONFIGURE-OPTION...: builds all, and fails by name each unit program that was not built
	build_or_fail "$1" check "${@:2}"
	if ! grep -q "^HAVE_CHECK_TRUE=''" "$top/$1/config.log" 2>/dev/null; then
		fail "$1: configure did not find check, which the unit programs need"
	fi
	# shellcheck disable=SC2046 # names without spaces
	expect_built "$1" $(unit_programs)
}
build_or_fail() { # DIR TARGET CONFIGURE-OPTION...
	if build "$@"; then
		pass
		ran
	else
		fail "$1: the build"
		grep -E -A 4 'error|Error|undefined|No rule' "$top/$1/tests-build.log" | head -n 60 | sed 's/^/    /'
	fi
}
expect_built() { # DIR PROGRAM...
	local dir=$1 program
	shift
	for program; do
		if [ -x "$top/$dir/$program" ]; then ran; else fail "$dir/$program: it was not built"; fi
	done
}

# ---- a pool of programs ----

# Of each process: how its end is judged, its name, its log, the seconds it may take, when it began, and what all that it
# starts have in their environment.
declare -A running=() waits=()
waiting=0   # of those that run: scripts that tests/slowest says wait, which take no place from others
units_run=0 # and unit programs
while read -r script how; do [ "$how" != waits ] || waits[$script]=1; done < <(cat "$top/tests/slowest" 2>/dev/null)
has_place() { # JUDGE: one more can run
	[ $((${#running[@]} - waiting)) -lt "$at_once" ] && { [ "$1" != unit ] || [ "$units_run" -lt "$units_at_once" ]; }
}
start() { # JUDGE NAME SECONDS FOLDER LOG COMMAND...
	local judge=$1 name=$2 limit=$3 folder=$4 log=$5 beside=${beside:-0}
	shift 5
	while [ "$beside" = 0 ] && ! has_place "$judge"; do reap; done
	waiting=$((waiting + beside))
	[ "$judge" != unit ] || units_run=$((units_run + 1))
	ran
	mkdir -p "$(dirname "$log")"
	local mark=EASE_TEST=$$.$SRANDOM
	(cd "$folder" && exec env "$mark" timeout -k 30 "$limit" "$@" >"$log" 2>&1) &
	running[$!]="$judge|$name|$log|$limit|${EPOCHREALTIME/[.,]/}|$mark|$beside"
}
# A process that outlives its test takes time from all others, and stays when the tests have ended. What a test has
# told to end has five seconds for it.
end_left_behind() { # NAME MARK
	local pid pids=()
	for _ in {1..51}; do
		mapfile -t pids < <(grep -lszxF "$2" /proc/[0-9]*/environ | cut -d/ -f3)
		if [ ${#pids[@]} = 0 ]; then return; fi
		sleep 0.1
	done
	fail "$1: it left behind: $(for pid in "${pids[@]}"; do tr '\0' ' ' <"/proc/$pid/cmdline"; done 2>/dev/null)"
	kill -KILL "${pids[@]}" 2>/dev/null
}
reap() { # waits for the next one that ends, and judges it
	local pid status judge name log limit began mark beside took
	wait -n -p pid
	status=$?
	IFS='|' read -r judge name log limit began mark beside <<<"${running[$pid]}"
	unset "running[$pid]"
	waiting=$((waiting - beside))
	[ "$judge" != unit ] || units_run=$((units_run - 1))
	took=$(((${EPOCHREALTIME/[.,]/} - began) / 100000))
	took=$((took / 10)).$((took % 10))
	seconds+=("$took $name")
	"judge_$judge" "$name" "$log" "$limit" "$status" "$took"
	end_left_behind "$name" "$mark"
}
finish() { while [ ${#running[@]} -gt 0 ]; do reap; done; }

judge() { # NAME LOG LIMIT STATUS TOOK CHECKS FAILURES: checks that were left out are among those counted
	local name=$1 log=$2 limit=$3 status=$4 took=$5 n=$6 bad=$7 line left_out=0
	while IFS= read -r line; do
		skip "$name: ${line#SKIP }"
		left_out=$((left_out + 1))
	done < <(grep '^SKIP ' "$log")
	[ $((n - bad)) -lt "$left_out" ] || pass $((n - bad - left_out))
	if [ "$bad" -gt 0 ]; then
		failed=$((failed + bad - 1))
		fail "$name: $bad of $n" "$log"
	elif [ "$status" = 124 ]; then
		fail "$name: it took more than $limit s" "$log"
	elif [ "$status" != 0 ]; then
		fail "$name: it ended with status $status" "$log"
	elif [ $((n + left_out)) = 0 ]; then
		fail "$name: it checked nothing" "$log"
	else
		echo "ok     $name: $n ($took s)"
	fi
}
# What check prints at the end, once for each suite run: the sum of checks, and of those that failed.
judge_unit() {
	local n bad
	read -r n bad < <(sed -n 's/^[0-9]*%: Checks: \([0-9]*\), Failures: \([0-9]*\), Errors: \([0-9]*\).*/\1 \2 \3/p' "$2" |
	    awk '{ n += $1; bad += $2 + $3 } END { print n + 0, bad + 0 }')
	judge "$@" "$n" "$bad"
}
# Lines PASS name, FAIL name: reason, SKIP name: reason.
judge_script() { judge "$@" "$(grep -c '^PASS \|^FAIL \|^SKIP ' "$2")" "$(grep -c '^FAIL ' "$2")"; }
judge_fuzz() {
	if [ "$4" = 0 ]; then
		pass
		echo "ok     $1: $(sed -n 's/^Done \([0-9]*\) runs.*/\1/p' "$2") inputs ($5 s)"
	else
		fail "$1: it ended with status $4" "$2"
	fi
}

# Start unit programs of a build, by the names given; one that is not there has failed in its build stage.
start_units() { # DIR SECONDS COMMAND-PREFIX... -- PROGRAM...
	local dir=$1 limit=$2 prefix=() program
	shift 2
	while [ "$1" != -- ]; do prefix+=("$1"); shift; done
	shift
	for program; do
		[ -x "$top/$dir/$program" ] || continue
		srcdir=$top start unit "$dir/$program" "$limit" "$top/$dir" "$top/$dir/$program.out" \
		    ${prefix[@]+"${prefix[@]}"} "./$program"
	done
}
start_scripts() { # DIR SECONDS SCRIPT...
	local dir=$1 limit=$2 script beside
	shift 2
	for script; do
		beside=${waits[$script]:-0}
		EASE_BUILD=$top/$dir start script "$dir $(basename "$script" .sh)" "$limit" "$top" \
		    "$top/$dir/${script%.sh}.script.out" "$top/$script"
	done
}

# What a sanitizer or valgrind wrote of daemons that scripts started, to files of this prefix, whatever
# becomes of their output.
judge_findings() { # NAME PREFIX
	local file found=0
	for file in "$2".*; do
		[ -s "$file" ] || continue
		found=$((found + 1))
		fail "$1: $file" "$file"
	done
	if [ $found = 0 ]; then pass; echo "ok     $1: nothing found"; fi
}

# ---- tests in virtual machines ----

declare -A in_machine=() # of each machine its tests
start_machine() { # NAME SECONDS ABREAST QEMU-OPTIONS TEST...: one boot for all of these, none longer than SECONDS
	local name=$1 limit=$2 abreast=$3 options=$4
	shift 4
	in_machine[$name]=$*
	# shellcheck disable=SC2086 # options are several words
	EASE_BUILD=$top/build start machine "$name" $((3 * limit)) "$top" "$top/build/${name// /-}.out" \
	    tests/support/qemu.sh $options -t $((2 * limit)) tests/support/in_machine.sh "$limit" "$abreast" "$@"
}
judge_machine() { # NAME LOG LIMIT STATUS TOOK: each test in it is judged as if it had run here
	local test kind out status took ended=true
	if grep -q '^SKIP .* in a virtual machine: ' "$2"; then # there is none to be had
		skip "$1: $(sed -n 's/^SKIP //p' "$2" | head -n 1)"
		ran
		return
	fi
	for test in ${in_machine[$1]}; do
		read -r status took < <(sed -n "s,^ENDED $test ,,p" "$2")
		if [ -z "$status" ]; then
			fail "$1 $test: it did not come to its end"
			ended=false
			continue
		fi
		out=$top/build/${test%.sh}.machine.out kind=unit
		[[ $test != *.sh ]] || kind=script
		mkdir -p "$(dirname "$out")"
		awk -v test="$test" '$1 != "ENDED" { text = text $0 "\n"; next } $2 == test { printf "%s", text } { text = "" }' "$2" >"$out"
		seconds+=("$took $1 $test")
		"judge_$kind" "$1 $(basename "$test" .sh)" "$out" $(($3 / 3)) "$status" "$took"
	done
	$ended || awk '{ text = text $0 "\n" } $1 == "ENDED" { text = "" } END { printf "%s", text }' "$2" | tail -n 40 | sed 's/^/    /'
}
