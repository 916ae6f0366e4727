#!/bin/bash
# Compares the fields that common/frame.c reads with tshark's, value for value, for every frame of
# the fuzzer's seeds (one frame of each known kind) and of every capture: whole, then cut to several
# lengths (with EASE_LONG more of them), where no value may appear that tshark does not find in the whole frame. Known differences
# are named below (differs), checked as far as possible, and counted. Prints PASS, FAIL, SKIP lines.
set -u
export LC_ALL=C
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${EASE_BUILD:-$top/build}
failed=0
for need in tshark text2pcap "$build/tests/common/print_headers"; do
	if ! command -v "$need" >/dev/null; then
		echo "SKIP headers beside tshark: ${need##*/} is not there"
		exit 0
	fi
done
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# Fields whose values are joined in compare.awk (fields_from) stand together.
fields="eth.src eth.dst ieee8021ad.id vlan.id eth.type vlan.etype llc.type eth.len vlan.len
	mpls.label pppoe.session_id ppp.protocol ip.src ip.dst ip.proto ipv6.src ipv6.dst
	ipv6.nxt ipv6.hopopts.nxt ipv6.routing.nxt ipv6.fraghdr.nxt ipv6.dstopts.nxt
	ah.next_header mip6.proto hip.proto shim6.nxt tcp.srcport tcp.dstport
	tcp.flags udp.srcport udp.dstport sctp.srcport sctp.dstport icmp.type icmp.code
	icmpv6.type icmpv6.code gre.proto vxlan.vni geneve.vni frame.protocols"

cat >"$dir/compare.awk" <<'END'
# awk -f compare.awk -v cut=0|1 OURS THEIRS: prints what differs, then one line "=" with counts.
function join(a, b) { return a == "" ? b : b == "" ? a : a "," b }
function fields_from(first, last,   i, all) {
	for (i = at[first]; i <= at[last]; i++) all = join(all, $i)
	return all
}
function without(list, unwanted,   v, n, i, rest) {
	n = split(list, v, ",")
	for (i = 1; i <= n; i++) if (!index("," unwanted ",", "," v[i] ",")) rest = join(rest, v[i])
	return rest
}
function hex(list,   v, n, i, all) {
	n = split(list, v, ",")
	for (i = 1; i <= n; i++) all = join(all, sprintf("0x%04x", v[i]))
	return all
}
# Each value of a is in b, as often as in a; b may have more.
function within(a, b,   v, n, i, p) {
	n = split(a, v, ",")
	for (i = 1; i <= n; i++) {
		if (!(p = index("," b ",", "," v[i] ","))) return 0
		b = without_at(b, p, length(v[i]))
	}
	return 1
}
function without_at(list, p, len) { return substr(list, 1, p - 1) substr(list, p + len + 1) }
# A 1 for each SYN without ACK among hexadecimal flags.
function syns(list,   v, n, i, all) {
	n = split(list, v, ",")
	for (i = 1; i <= n; i++) if (v[i] ~ /[02468ace][2367abef]$/) all = join(all, 1)
	return all
}
# tshark has several fields for what is one here; between those their order is not known.
function theirs(column) {
	joined = 1
	if (column == "vlan.id") return fields_from("ieee8021ad.id", "vlan.id")
	if (column == "ethertype") return join(without(fields_from("eth.type", "llc.type"),
	    "0x8100,0x88a8,0x9100,0x9200"), hex(fields_from("eth.len", "vlan.len")))
	if (column == "ipv6.proto") return without(fields_from("ipv6.nxt", "shim6.nxt"),
	    "0,43,44,51,60,135,139,140")
	joined = 0
	if (column == "tcp.syn") return syns($at["tcp.flags"])
	return $at[column]
}
# Why the columns differ, "" if that is not understood.
function differs(column, a, b,   protocols) {
	protocols = $at["frame.protocols"]
	if (protocols ~ /^eth:eth:/) return "ISL frame"
	if (column == "ethertype" && protocols ~ /ieee8021ad/ && within(b, a))
		return "no field for the type behind 802.1ad"
	if (column ~ /^sctp/ && b == "" && protocols ~ /sctp$/) return "SCTP header cut off"
	if (protocols ~ /:pweth/) return "pseudo-wire, which tshark guesses"
	if (protocols ~ /ieee8021ah/ && column ~ /^eth/) return "MAC in MAC, of whose frame tshark has other fields"
	if (!within(a, b)) return ""
	if (protocols ~ /icmp(v6)?:ip/) return "packet quoted by an ICMP error"
	if (match(protocols, /:(gtp|ayiya|l2tp|teredo|capwap|lisp-data|cfp|esp)(:|$)/))
		return "tunnel not opened (" without_at(substr(protocols, RSTART + 1, RLENGTH - 1),
		    RLENGTH - 1, 1) ")"
	return ""
}
BEGIN { FS = "\t" }
FILENAME == ARGV[1] && FNR == 1 { n_columns = split($0, name); next }
FILENAME == ARGV[1] { ours[FNR] = $0; n_ours = FNR - 1; next }
FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
{
	if (!(FNR in ours)) { print "frame " FNR - 1 " is only tshark's"; next }
	pair = ours[FNR] SUBSEP $0
	if (pair in right) { values += right[pair]; next } # most frames of a flow look the same
	before = values
	alike = 1
	split(ours[FNR], o)
	split("", reasons)
	for (i = 1; i <= n_columns; i++) {
		t = theirs(name[i])
		values += o[i] != "" ? gsub(/,/, ",", o[i]) + 1 : 0
		if (o[i] == t) continue
		if ((cut || joined && length(o[i]) == length(t)) && within(o[i], t)) continue
		alike = 0
		if ((why = differs(name[i], o[i], t)) != "") reasons[why]
		else print "frame " FNR - 1 ": " name[i] " is " o[i] ", tshark: " t ", of " \
		    $at["frame.protocols"]
	}
	for (why in reasons) count[why]++
	if (alike) right[pair] = values - before
}
END {
	line = "= " n_ours + 0 " frames, " values + 0 " values"
	for (why in count) line = line "; " count[why] " " why
	print line
	if (n_ours + 0 != FNR - 1) print "tshark has " FNR - 1 " frames"
}
END

compare() { # NAME OURS CUT: beside $dir/theirs
	local out
	out=$(awk -v cut="$3" -f "$dir/compare.awk" "$2" "$dir/theirs")
	if [ "$(grep -vc '^=' <<<"$out")" = 0 ]; then
		echo "PASS headers $1: ${out#= }"
	else
		echo "FAIL headers $1: $(grep -v '^=' <<<"$out" | head -1);" \
		    "differences: $(grep -vc '^=' <<<"$out")"
		failed=1
	fi
}

read_by_tshark() { # CAPTURE
	local options=() field
	for field in $fields; do options+=(-e "$field"); done
	tshark -n -r "$1" -o ip.defragment:FALSE -o ipv6.defragment:FALSE \
	    -o tcp.desegment_tcp_streams:FALSE -o tcp.analyze_sequence_numbers:FALSE -T fields -E header=y "${options[@]}" 2>/dev/null
}
# It takes tshark longer to start than to read most captures, so it reads them joined, and what it has of each goes to
# $dir/parts, under the capture's name. Where frames are missing (mergecap stops at a damaged file) there are no
# parts, and each is read by itself.
read_joined() { # CAPTURE...
	local capture readable=() frames=0 n
	mkdir "$dir/parts"
	for capture; do
		n=$(set -o pipefail; "$build/tests/common/print_headers" "$capture" 2>/dev/null | wc -l) || continue
		readable+=("$capture")
		echo "$((n - 1)) $dir/parts/$(basename "$capture")"
		frames=$((frames + n - 1))
	done >"$dir/parts.of"
	mergecap -a -w "$dir/joined" "${readable[@]}" 2>/dev/null && read_by_tshark "$dir/joined" >"$dir/joined.fields"
	if [ "$(wc -l <"$dir/joined.fields" 2>/dev/null)" = $((frames + 1)) ]; then
		awk 'NR == FNR { left[NR] = $1; part[NR] = $2; parts = NR; next }
		    FNR == 1 { for (i = 1; i <= parts; i++) print >part[i]; i = 1; next }
		    { while (!left[i]) close(part[i++]); left[i]--; print >part[i] }' "$dir/parts.of" "$dir/joined.fields"
	fi
	rm -f "$dir/joined"
}
check() { # NAME CAPTURE CUT...
	local name=$1 capture=$2 length part
	part=$dir/parts/$(basename "$capture")
	shift 2
	if ! "$build/tests/common/print_headers" "$capture" >"$dir/ours" 2>"$dir/refused"; then
		echo "PASS headers $name: refused, $(cat "$dir/refused")"
		return
	fi
	if [ -e "$part" ]; then mv "$part" "$dir/theirs"; else read_by_tshark "$capture" >"$dir/theirs"; fi
	compare "$name" "$dir/ours" 0
	for length; do
		"$build/tests/common/print_headers" "$capture" "$length"
	done >"$dir/cut"
	[ $# = 0 ] || compare_cuts "$name"
}
compare_cuts() { # NAME: all lengths in $dir/cut, each under its own heading, in one go
	local frames heading
	heading=$(head -1 "$dir/cut")
	frames=$(grep -cxF "$heading" "$dir/cut")
	{ echo "$heading"; grep -vxF "$heading" "$dir/cut"; } >"$dir/ours"
	{
		head -1 "$dir/theirs"
		for _ in $(seq "$frames"); do tail -n +2 "$dir/theirs"; done
	} >"$dir/repeated"
	mv "$dir/repeated" "$dir/theirs"
	compare "$1, cut at $frames lengths" "$dir/ours" 1
}

for seed in "$top"/tests/fuzz/corpus/frame/*; do
	od -A x -t x1 -v "$seed"
done | text2pcap -q -F pcap - "$dir/seeds.pcap" >/dev/null 2>&1
seeds=$(find "$top/tests/fuzz/corpus/frame" -type f | wc -l)
if [ "$("$build/tests/common/print_headers" "$dir/seeds.pcap" | wc -l)" != $((seeds + 1)) ]; then
	echo "FAIL headers of each kind: text2pcap did not take all $seeds seeds"
	exit 1
fi
# shellcheck disable=SC2046 # numbers
check 'of each kind' "$dir/seeds.pcap" $(seq 0 "$([ -n "${EASE_LONG:-}" ] && echo 1 || echo 3)" 200)

if [ -z "${EASE_CAPTURES:-}" ]; then
	echo "SKIP headers of the captures: no captures at hand (EASE_CAPTURES)"
else
	cuts=(37 128)
	[ -z "${EASE_LONG:-}" ] || cuts=(17 37 66 128)
	read_joined "$EASE_CAPTURES"/*.pcap* # those in odd/ are damaged, or cannot be joined
	for capture in "$EASE_CAPTURES"/{,odd/}*.pcap*; do
		check "of $(basename "$capture")" "$capture" "${cuts[@]}"
	done
fi
exit $failed
