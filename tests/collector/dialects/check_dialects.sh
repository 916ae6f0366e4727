#!/bin/bash
# The table of sFlow dialects (dialects.c) as tshark reads it: of each row it finds the samples of both hosts, so what
# check_dialects asks of the collector is there to be read. Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
set -u
export LC_ALL=C
top=$(cd "$(dirname "$0")/../../.." && pwd)
build=${EASE_BUILD:-$top/build}
program=$build/tests/collector/dialects/check_dialects
failed=0
pass() { echo "PASS dialects $1"; }
fail() { echo "FAIL dialects $1: $2"; failed=1; }
[ -x "$program" ] || { echo "SKIP dialects all: $program was not built"; exit 0; }
command -v tshark >/dev/null || { echo 'SKIP dialects all: tshark is not there'; exit 0; }
dir=$(mktemp -d "${TMPDIR:-/tmp}/easeswitch-dialects.XXXXXX")
trap 'rm -rf "$dir"' EXIT

# tshark 4.0 takes a record of the switch for 16 octets, whatever its length says, and does not step over some records
# that it does not know: it is lost behind them. Octets of a packet (313) it does not show.
cannot_read() {
	case $1 in
	*'a record of 12 octets where 16 are known' | *'longer than its record' | *'(2209)'* | *'(1029, 1030)'* | *'IPFIX 313'*) return 0 ;;
	esac
	return 1
}

timeout 60 "$program" --write "$dir/all.pcap" >"$dir/rows" || { fail 'all are written' "exit $?"; exit 1; }
timeout 300 tshark -n -r "$dir/all.pcap" -T fields -e udp.srcport -e ip.src -e sflow_245.ipv4_src \
    -e cflow.data_link_frame_section \
    >"$dir/read" 2>"$dir/errors" || { fail 'tshark reads all' "exit $?: $(head -n 2 "$dir/errors")"; exit 1; }
# port, samples of one of the hosts in a header, in a record of fields or in octets of a frame
awk -F '\t' '{ n = split($2 "," $3 "," $4, a, ",")
    for (i = 1; i <= n; i++) found[$1] += a[i] ~ /^10\.0\.0\.[12]$/ || (substr(a[i], 29, 2) == "45" && substr(a[i], 53) ~ /^0a00000[12]/) }
    END { for (port in found) print port "\t" found[port] }' "$dir/read" >"$dir/found"
while IFS=$'\t' read -r port needed name; do
	found=$(awk -v port="$port" '$1 == port { print $2 }' "$dir/found")
	if [ "${found:-0}" -ge "$needed" ]; then
		pass "$name"
	elif cannot_read "$name"; then
		echo "SKIP dialects $name: tshark cannot read it"
	else
		fail "$name" "tshark finds ${found:-0} of $needed samples"
	fi
done <"$dir/rows"
[ "$(wc -l <"$dir/rows")" -ge 40 ] || fail 'the table' "$(wc -l <"$dir/rows") rows"
exit $failed
