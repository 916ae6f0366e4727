#!/bin/bash
# tests/run itself, in a small tree of its own with this tree's tests/run, conf/build and
# conf/install-packages: what was not built or not run must fail by name, whatever had been built before.
# With --long (EASE_LONG) also in a clone of this tree: built without check first, as a demo on a machine
# without it does, then tested. Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
set -u
export LC_ALL=C
top=$(cd "$(dirname "$0")/../.." && pwd)
failed=0
pass() { echo "PASS run: $1"; }
fail() { echo "FAIL run: $1: $2"; failed=1; }
dir=$(mktemp -d "${TMPDIR:-/tmp}/easeswitch-run.XXXXXX")
trap 'rm -rf "$dir"' EXIT
# Nothing of the run that this test is part of.
unset EASE_LONG_HERE EASE_BUILD MAKEFLAGS MFLAGS MAKELEVEL CK_RUN_CASE CK_RUN_SUITE
long=${EASE_LONG:-}
unset EASE_LONG

# A machine without check: pkg-config that finds everything else.
mkdir "$dir/without-check"
for folder in $(pkg-config --variable pc_path pkg-config | tr ':' ' '); do
	[ -d "$folder" ] || continue
	for file in "$folder"/*.pc; do
		[ "$(basename "$file")" = check.pc ] || ln -sf "$file" "$dir/without-check/"
	done
done

tree=$dir/tree
mkdir -p "$tree"/{conf,m4,tests/support,tests/room}
cp "$top"/conf/{build,install-packages} "$tree/conf/"
cp "$top"/tests/run "$tree/tests/"
cp "$top"/tests/support/runner.sh "$tree/tests/support/"
cp "$top"/autogen.sh "$tree/"
: >"$tree/tests/slowest"
echo 'test check' >"$tree/conf/packages"
cat >"$tree/configure.ac" <<'END'
AC_INIT([small], [1])
AC_CONFIG_AUX_DIR([build-aux])
AC_CONFIG_MACRO_DIR([m4])
AM_INIT_AUTOMAKE([1.16 foreign subdir-objects])
AC_PROG_CC
PKG_PROG_PKG_CONFIG
PKG_CHECK_MODULES([CHECK], [check >= 0.15], [have_check=yes], [have_check=no])
AM_CONDITIONAL([HAVE_CHECK], [test "x$have_check" = xyes])
AC_CONFIG_FILES([Makefile])
AC_OUTPUT
END
cat >"$tree/Makefile.am" <<'END'
ACLOCAL_AMFLAGS = -I m4
bin_PROGRAMS = program
program_SOURCES = program.c
if HAVE_CHECK
check_PROGRAMS = tests/room/check_one tests/room/check_two
TESTS = $(check_PROGRAMS)
AM_CFLAGS = $(CHECK_CFLAGS)
LDADD = $(CHECK_LIBS)
endif
END
echo 'int main(void) { return 0; }' >"$tree/program.c"
unit() { # FILE VALUE: a unit program of one check, which holds if VALUE is 1
	cat >"$tree/tests/room/$1" <<-END
		#include <check.h>
		#include <stdlib.h>
		START_TEST(one) { ck_assert_int_eq($2, 1); }
		END_TEST
		int main(void)
		{
			Suite *suite = suite_create("s");
			TCase *tcase = tcase_create("c");
			SRunner *runner = srunner_create(suite);
			int failed;
			tcase_add_test(tcase, one);
			suite_add_tcase(suite, tcase);
			srunner_run_all(runner, CK_NORMAL);
			failed = srunner_ntests_failed(runner);
			srunner_free(runner);
			return failed != 0;
		}
	END
}
script() { # FILE LINE...
	local file=$tree/tests/room/$1
	shift
	printf '%s\n' '#!/bin/bash' "$@" >"$file"
	chmod +x "$file"
}
unit check_one.c 1
unit check_two.c 1
script check_three.sh 'echo "PASS three"'

# NAME LAST-LINE PATTERN...: one run of tests/run ends with this line and prints lines of these patterns.
run() {
	local name=$1 last=$2 pattern out=$dir/out
	shift 2
	"$tree/tests/run" ${part:+"$part"} >"$out" 2>&1
	if [ "$(tail -n 1 "$out")" != "$last" ]; then
		fail "$name" "it ended with '$(tail -n 1 "$out")' instead of '$last'"
		sed 's/^/    /' "$out"
		return
	fi
	for pattern; do
		if ! grep -q -- "$pattern" "$out"; then
			fail "$name" "no line '$pattern'"
			sed 's/^/    /' "$out"
			return
		fi
	done
	pass "$name"
}

# As conf/demo does on a machine without check: a build with no unit program in it.
PKG_CONFIG_LIBDIR=$dir/without-check "$tree/conf/build" >"$dir/out" 2>&1
if [ -x "$tree/build/program" ] && grep -q "^HAVE_CHECK_TRUE='#'" "$tree/build/config.log"; then
	pass 'a build without check'
else
	fail 'a build without check' "$(tail -n 3 "$dir/out")"
fi
PKG_CONFIG_LIBDIR=$dir/without-check run 'while check is missing every unit program fails by name' \
    '3 passed, 3 failed, 0 skipped' 'FAILED build: configure did not find check' \
    'FAILED build/tests/room/check_one: it was not built' 'FAILED build/tests/room/check_two: it was not built'
run 'when check has come everything is configured again and run' '5 passed, 0 failed, 0 skipped' \
    '^ok     build/tests/room/check_one: 1 ' '^ok     build/tests/room/check_two: 1 ' '^ok     build check_three: 1 '

unit check_one.c 0
run 'a check that fails is shown' '4 passed, 1 failed, 0 skipped' 'FAILED build/tests/room/check_one: 1 of 1' "Assertion '0 == 1' failed"
# Below what a sanitizer says of many children.
unit check_one.c "system(\"seq -f 'ERROR: leak %g' 45 >&2\")"
run 'a check that fails is shown with what a sanitizer says' '4 passed, 1 failed, 0 skipped' '^    ERROR: leak 1$'
if grep -A 1 '^FAILED build/tests/room/check_one' "$dir/out" | grep -q ':F:.*Assertion'; then
	pass 'what failed is the first line shown'
else
	fail 'what failed is the first line shown' "$(grep -A 1 '^FAILED build/tests/room/check_one' "$dir/out")"
fi
unit check_one.c 'no_such_function()'
run 'a unit program that no longer links fails by name, though its last one was good' \
    '3 passed, 2 failed, 0 skipped' '^FAILED build: the build' "\(undefined reference to\|implicit declaration of function\) .no_such_function" \
    'FAILED build/tests/room/check_one: it was not built' '^ok     build/tests/room/check_two: 1 '
unit check_one.c 1
unit check_four.c 1
run 'a unit program that no Makefile names fails by name' '5 passed, 1 failed, 0 skipped' \
    'FAILED build/tests/room/check_four: it was not built'
rm "$tree/tests/room/check_four.c"
script check_three.sh
run 'a script that checks nothing fails' '4 passed, 1 failed, 0 skipped' 'FAILED build check_three: it checked nothing'
script check_three.sh 'echo "PASS three"' 'exit 3'
run 'a script that ends with a status fails' '5 passed, 1 failed, 0 skipped' 'FAILED build check_three: it ended with status 3'
script check_three.sh 'sleep 1234 >/dev/null 2>&1 &' 'echo "PASS three"'
run 'a script that leaves a process behind fails' '5 passed, 1 failed, 0 skipped' 'FAILED build check_three: it left behind: sleep 1234'
if pgrep -fx 'sleep 1234' >/dev/null; then fail 'what was left behind is ended' 'sleep 1234 is there'; else pass 'what was left behind is ended'; fi
script check_three.sh 'echo "SKIP three: no reason"'
run 'a skip is named with its reason' '4 passed, 0 failed, 1 skipped' '^SKIP build check_three: three: no reason'

# A virtual machine in which one test passes, one fails, and nothing else comes to its end.
cat >"$tree/tests/support/qemu.sh" <<'END'
#!/bin/bash
case $* in *check_bridges.sh*) ;; *) exit 0 ;; esac
printf '%s\n' 'PASS one' 'PASS two' 'ENDED tests/agent/linux/check_bridges.sh 0 1.0' 'FAIL three: why' 'ENDED tests/mibs/check_vlans.sh 1 2.0'
END
chmod +x "$tree/tests/support/qemu.sh"
part=--kernel run 'tests in a virtual machine are counted, and those that do not end fail by name' '4 passed, 13 failed, 0 skipped' \
    '^ok     kernel check_bridges: 2 (1.0 s)' 'FAILED kernel check_vlans: 1 of 1' '    FAIL three: why' \
    'FAILED kernel tests/agent/linux/check_psample.sh: it did not come to its end'
printf '%s\n' '#!/bin/bash' 'echo "SKIP x in a virtual machine: no kernel"' >"$tree/tests/support/qemu.sh"
part=--kernel run 'a machine that is not to be had is a skip with its reason' '2 passed, 0 failed, 2 skipped' \
    '^SKIP kernel: x in a virtual machine: no kernel'

rm "$tree"/tests/room/check_*
sed -i '/^if HAVE_CHECK/,/^endif/d' "$tree/Makefile.am"
run 'a stage that ran nothing fails' '2 passed, 1 failed, 0 skipped' \
    "FAILED the stage 'unit programs and scripts': it ran nothing"

if [ -n "$long" ]; then
	git clone -q "$top" "$dir/clone" && cd "$dir/clone" || exit 1
	PKG_CONFIG_LIBDIR=$dir/without-check conf/build >"$dir/out" 2>&1
	# What is asked here is which of them run; what they find is asked where this test is one of many.
	find tests -name 'check_*.sh' -delete
	EASE_CAPTURES='' EASE_QUICK=1 tests/run >"$dir/out" 2>&1
	n=$(find tests -name 'check_*.c' | wc -l)
	ran=$(grep -c '^ok     build/tests/\|^FAILED build/tests/.* of ' "$dir/out")
	if [ "$ran" = "$n" ]; then
		pass 'in a clone that was built without check all unit programs run'
	else
		fail 'in a clone that was built without check all unit programs run' "$ran of $n: $(tail -n 1 "$dir/out")"
	fi
fi
exit $failed
