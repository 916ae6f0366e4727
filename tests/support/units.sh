# tests/support/units.sh: where unit programs and scripts of tests stand, by their names; to be sourced
# by bash with $top set.

# unit_paths NAME...: a line for each, as tests/FOLDER/check_NAME
unit_paths() {
	local name
	for name; do
		(cd "$top" && find tests -name "check_$name.c") | sed 's,\.c$,,'
	done
}
# script_paths NAME...: a line for each, as tests/FOLDER/check_NAME.sh
script_paths() {
	local name
	for name; do
		(cd "$top" && find tests -name "check_$name.sh")
	done
}
