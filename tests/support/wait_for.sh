# tests/support/wait_for.sh: waiting that has an end and says what it was for, to be sourced by bash.
wait_for() { # SECONDS COMMAND...: polls until it succeeds; false after four times that, for busy machines
	local limit=$((4 * $1)) end=$((SECONDS + 4 * $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || { echo "waited $limit s for: $*" >&2; return 1; }
		sleep 0.1
	done
}
# For it: a $(...) among its words would be asked once, before it begins.
prints() { [ "$("${@:2}" 2>/dev/null)" = "$1" ]; } # VALUE COMMAND...
