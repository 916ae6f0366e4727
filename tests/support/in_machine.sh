#!/bin/bash
# tests/support/in_machine.sh SECONDS ABREAST TEST...: in a virtual machine (qemu.sh) runs unit programs and scripts, none
# longer than SECONDS: one after the other, or ABREAST at once, each in a network namespace of its own. Behind what a
# test printed stands a line "ENDED TEST STATUS SECONDS". tests/run reads that.
set -u
out=$(mktemp -d)
limit=$1 abreast=$2 apart=()
shift 2
[ "$abreast" = 1 ] || apart=(unshare -n sh -c 'ip link set lo up; exec "$0"')
srcdir=$(cd "$(dirname "$0")/../.." && pwd)
export srcdir CK_TIMEOUT_MULTIPLIER=10

no_links() { # what a test left would be the next one's
	local link
	for link in /sys/devices/virtual/net/*; do
		[ "${link##*/}" = lo ] || ip link delete "${link##*/}" 2>/dev/null
	done
}
one() { # TEST
	local began=${EPOCHREALTIME/./} program=$EASE_BUILD/$1 file=$out/${1//\//-} status took
	[[ $1 != *.sh ]] || program=$srcdir/$1
	(cd "$EASE_BUILD" && exec timeout -k 10 "$limit" ${apart[@]+"${apart[@]}"} "$program") </dev/null >"$file" 2>&1
	status=$?
	took=$(((${EPOCHREALTIME/./} - began) / 100000))
	printf '\nENDED %s %s %s\n' "$1" $status $((took / 10)).$((took % 10)) >>"$file"
	flock "$out" cat "$file"
	[ "$abreast" -gt 1 ] || no_links
}
for test; do
	while [ "$(jobs -rp | wc -l)" -ge "$abreast" ]; do wait -n; done
	one "$test" &
done
wait
