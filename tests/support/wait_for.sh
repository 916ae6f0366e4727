# tests/support/wait_for.sh: waiting that has an end and says what it was for, to be sourced by bash.
# Polls until it succeeds, less often the longer it takes; false after four times that, for busy machines.
wait_for() { # SECONDS COMMAND...
	local limit=$((4 * $1)) end=$((SECONDS + 4 * $1)) halves
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || { echo "waited $limit s for: $*" >&2; return 1; }
		halves=$(((SECONDS + limit - end) / 2))
		sleep "0.$((halves < 8 ? halves + 1 : 9))"
	done
}
# For it: a $(...) among its words would be asked once, before it begins.
prints() { [ "$("${@:2}" 2>/dev/null)" = "$1" ]; } # VALUE COMMAND...
