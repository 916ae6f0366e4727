#!/bin/bash
# The whole system over Linux: conf/demo --device linux, a bridge whose four hosts know what they sent;
# sampled in the manner of EASE_SAMPLING (auto).
# Every port is sampled, no sample is lost, each pair's interval holds the hosts' own count, shares
# follow, nothing is left behind, and --here puts nothing into the kernel. Needs root. Prints PASS, FAIL
# or SKIP lines; exit 1 if one failed.
set -u
top=$(cd "$(dirname "$0")/../../.." && pwd)
build=${EASE_BUILD:-$top/build}
failed=0
pass() { echo "PASS linux $1"; }
fail() { echo "FAIL linux $1: $2"; failed=1; tail -n 12 "$dir/out" 2>/dev/null | sed 's/^/    /'; }
PATH=$PATH:/usr/sbin
for need in jq ip tc nsenter perl "$build/agent/easeagentd"; do
	command -v "$need" >/dev/null || { echo "SKIP linux: $need is not there"; exit 0; }
done
unshare -n true 2>/dev/null || { echo 'SKIP linux: no network namespace can be made'; exit 0; }
dir=$(mktemp -d "${TMPDIR:-/tmp}/easeswitch-linux-test.XXXXXX")
trap 'rm -rf "$dir"' EXIT
export EASE_BUILD=$build
limit=150
[ -z "${EASE_IN_QEMU:-}" ] || limit=600
demo() { # NAME ARGUMENT...
	local name=$1
	shift
	timeout -k 20 $limit "$top/conf/demo" --device linux --once --state "$dir/$name" --sampling "${EASE_SAMPLING:-auto}" "$@" >"$dir/out" 2>&1
}
hooks() { tc qdisc show | grep -c clsact; }

before=$(hooks)
if demo lan; then
	pass 'a bridge and its hosts'
elif grep -q 'nothing can be sampled here' "$dir/out"; then
	echo "SKIP linux sampling: $(grep -o 'no sampling: [^;]*' "$dir/lan/agent.log" | head -n 1)"
	exit 0
else
	fail 'a bridge and its hosts' "status $?"
	exit 1
fi
grep -qsE 'Sanitizer|runtime error:|Segmentation|Assertion' "$dir/out" "$dir"/lan/*.log &&
    fail 'no crash' "$(grep -hsE 'Sanitizer|runtime error:' "$dir"/lan/*.log | head -n 1)"
"$build/collector/easetop" talkers --layer eth --by pair --sort packets --last all --format json \
    --store "sqlite:$dir/lan/ease.db" >"$dir/talkers.json"
awk '!/^#/ { print $1, $2, $3 }' "$dir/lan/truth" |
    jq -R 'split(" ") | {src: .[0], dst: .[1], packets: (.[2] | tonumber)}' | jq -s . >"$dir/truth.json"
# Of the frames that a port received, the part that could be sampled: no row has what passed while samples were lost.
for port in p1 p2 p3 p4; do
	"$build/collector/easetop" load --last all --format json --port $port --store "sqlite:$dir/lan/ease.db" >"$dir/load.json"
	"$build/collector/easetop" talkers --layer eth --by pair --sort packets --last all --format json --port $port \
	    --store "sqlite:$dir/lan/ease.db" |
	    jq --arg port $port --slurpfile l "$dir/load.json" '{($port): (1 - (.lost.packets.estimate? // 0) / $l[0].rows[0].rx_packets)}'
done | jq -s add >"$dir/kept.json"
read -r n complete held close < <(jq -r -n --slurpfile r "$dir/talkers.json" --slurpfile t "$dir/truth.json" --slurpfile kept "$dir/kept.json" '
    $r[0] as $r | $t[0] as $t | ($t | map(.packets) | add) as $all |
    [$t[] | . as $p | [$r.rows[] | select(.src == $p.src and .dst == $p.dst)][0] |
        {held: (.port as $port | ($p.packets * $kept[0][$port]) as $part | .packets.low <= $part and $part <= .packets.high),
         off: (.share.estimate * $all / $p.packets - 1 | fabs)}] |
    "\(length) \($r.completeness + 0) \(map(select(.held)) | length) \(map(.off) | max < 0.25)"')
if [ "$n $complete" = '4 1' ]; then pass 'four pairs, completeness 1'; else fail 'four pairs' "$n, completeness $complete"; fi
# At 95 % a pair, fewer than two hold once in 2,000 runs.
if [ "${held:-0}" -ge 2 ]; then pass "$held of 4 intervals hold the hosts' counts"; else fail 'intervals' "$held of 4 hold"; fi
if grep -q "^$held of 4 limits hold the truth (the hosts' own counts" "$dir/out"; then
	pass 'the demo says how many'
else
	fail 'the demo says how many' "not $held of 4"
fi
if [ "$close" = true ]; then pass 'shares follow what was sent'; else fail 'shares' 'one is more than 25 % off'; fi
if [ "$(hooks)" = "$before" ]; then pass 'nothing left in the kernel'; else fail 'nothing left in the kernel' "$(hooks) hooks"; fi

links=$(ip -o link show | grep -c link/ether)
if [ "$links" = 0 ]; then
	echo 'SKIP linux the machine'\''s own interfaces: it has none'
	exit $failed
fi
if demo here --here; then
	pass 'the machine'\''s own interfaces'
else
	fail 'the machine'\''s own interfaces' "status $?"
fi
names=$(grep -c '^ifName' "$dir/out")
links=$(ip -o link show | wc -l) # also those that are no Ethernet
if [ "$names" = "$((links < 8 ? links : 8))" ]; then pass 'each is in the walk'; else fail 'each is in the walk' "$names of $links"; fi
if [ "$(hooks)" = "$before" ]; then pass 'it only read'; else fail 'it only read' "$(hooks) hooks"; fi
exit $failed
