# tests/support/wait_for.sh: waiting that has an end, to be sourced by bash.
wait_for() { # SECONDS COMMAND...: polls until it succeeds; false after four times that, for busy machines
	local end=$((SECONDS + 4 * $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}
