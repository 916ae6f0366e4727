# tests/support/units.sh: where unit programs and scripts of tests stand, by their names; to be sourced
# by bash with $top set.

# One that does not exist is named all the same: who builds or runs it then fails.
test_paths() { # SUFFIX NAME...
	local suffix=$1 name found
	shift
	for name; do
		found=$(cd "$top" && find tests -name "check_$name$suffix")
		echo "${found:-tests/check_$name$suffix}"
	done
}
# unit_paths NAME...: a line for each, as tests/FOLDER/check_NAME
unit_paths() { test_paths .c "$@" | sed 's,\.c$,,'; }
# script_paths NAME...: a line for each, as tests/FOLDER/check_NAME.sh
script_paths() { test_paths .sh "$@"; }
