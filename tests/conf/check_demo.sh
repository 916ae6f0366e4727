#!/bin/bash
# conf/demo over real input: the default capture, the composed capture with its acceptance (of the
# 20 largest pairs at least 16 hold the truth in packets and octets), and every capture and odd
# file: handled, or refused with a message that names the file and the reason; no crash, no hang.
# With EASE_LONG every ordinary capture too. Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${EASE_BUILD:-$top/build}
failed=0
pass() { echo "PASS demo $1"; }
fail() { echo "FAIL demo $1: $2"; failed=1; tail -n 12 "$dir/out" 2>/dev/null | sed 's/^/    /'; }
if ! command -v jq >/dev/null || ! [ -x "$build/agent/easeagentd" ]; then
	echo "SKIP demo: jq or $build/agent/easeagentd is not there"
	exit 0
fi
dir=$(mktemp -d "${TMPDIR:-/tmp}/easeswitch-demo-test.XXXXXX")
trap 'rm -rf "$dir"' EXIT
export EASE_BUILD=$build EASE_SEED=7

demo() { # NAME ARGUMENT...: one run in lock step; its output in $dir/out, its state in $dir/NAME
	local name=$1
	shift
	timeout -k 20 150 "$top/conf/demo" --once --state "$dir/$name" "$@" >"$dir/out" 2>&1
}
no_crash() { # NAME STATUS: what a daemon that crashed leaves behind
	! grep -qsE 'Sanitizer|runtime error:|Segmentation|core dumped|Assertion' "$dir/out" "$dir/$1"/*.log &&
	    [ "$2" != 124 ] && [ "$2" -lt 128 ]
}
report() { # NAME REPORT...
	local name=$1
	shift
	"$build/collector/easetop" "$@" --last all --format json --store "sqlite:$dir/$name/ease.db"
}

# How many of the TOP largest pairs hold the truth in packets and octets, and of how many. Pairs with
# more than 1 % of their frames oversize are left out: a switch drops those.
holding() { # CAPTURE REPORT TOP
	"$build/tests/truth" "$1" >"$dir/truth.json" || return 1
	jq -r -n --slurpfile t "$dir/truth.json" --slurpfile r "$2" --argjson top "$3" '
	    ($r[0].rows | map({key: (.src + " " + .dst), value: .}) | from_entries) as $seen |
	    def holds($f; $v): $f != null and $f.low <= $v and $v <= $f.high;
	    [$t[0].mac_pairs.rows | sort_by(-.packets)[] | select(.over_1518 * 100 <= .packets)][:$top] |
	    [.[] | . as $p | $seen[.src + " " + .dst] |
	        holds(.packets; $p.packets) and holds(.octets; $p.octets)] |
	    "\(map(select(.)) | length) \(length)"'
}
check_truth() { # NAME CAPTURE AT-LEAST TOP
	local n of
	report "$1" talkers --layer eth --by pair --top 60 --sort packets >"$dir/talkers.json" ||
	    { fail "$1: report" 'easetop failed'; return; }
	read -r n of < <(holding "$2" "$dir/talkers.json" "$4")
	if [ "${n:-0}" -ge "$3" ]; then
		pass "$1: $n of the $of largest pairs hold the truth in packets and octets"
	else
		fail "$1: largest pairs" "only ${n:-0} of ${of:-0} hold the truth"
	fi
	if [ "$(jq .completeness "$dir/talkers.json")" = 1 ]; then
		pass "$1: completeness is 1"
	else
		fail "$1: completeness" "$(jq .completeness "$dir/talkers.json")"
	fi
}

if demo default; then
	pass 'default capture'
	check_truth default "$dir/default/demo.pcap" 4 5
else
	fail 'default capture' "status $?"
fi
for words in '== snmpwalk' 'ifHCInOctets.8 ' 'easeSamples' 'easeAgentId' '95% LOW..HIGH' '== the truth'; do
	if grep -qF -- "$words" "$dir/out"; then pass "shows $words"; else fail "shows $words" 'it does not'; fi
done

# As a person starts it: a minute in real time, then the top five within 10 %, then Ctrl-C.
paced() {
	local pid started=$SECONDS worst
	"$top/conf/demo" --state "$dir/paced" >"$dir/out" 2>&1 &
	pid=$!
	disown "$pid"
	until grep -q '^Still running' "$dir/out"; do
		if ! kill -0 "$pid" 2>/dev/null || [ $((SECONDS - started)) -gt 120 ]; then
			kill "$pid" 2>/dev/null
			fail 'paced' 'it did not get to its end'
			return
		fi
		sleep 0.5
	done
	report paced talkers --layer eth --by pair --top 5 --sort packets >"$dir/talkers.json"
	"$build/tests/truth" "$dir/paced/demo.pcap" >"$dir/truth.json"
	worst=$(jq -r -n --slurpfile t "$dir/truth.json" --slurpfile r "$dir/talkers.json" '
	    $t[0] as $t | $r[0].rows as $rows |
	    [$t.mac_pairs.rows | sort_by(-.packets)[:5][] | . as $p |
	        ([$rows[] | select(.src == $p.src and .dst == $p.dst).share.estimate][0] // 0) as $share |
	        (100 * ($share * $t.totals.packets / $p.packets - 1) | fabs)] | max')
	if jq -en "$worst <= 10" >/dev/null; then
		pass "paced: after a minute the top five are within ${worst%.*} %"
	else
		fail 'paced: top five after a minute' "one is ${worst%.*} % off"
	fi
	kill -TERM "$pid"
	started=$SECONDS
	while kill -0 "$pid" 2>/dev/null && [ $((SECONDS - started)) -lt 20 ]; do sleep 0.1; done
	if pgrep -f "$dir/paced" >/dev/null; then
		fail 'paced: stop' 'it left processes behind'
	else
		pass 'paced: stops and leaves no process behind'
	fi
}
if [ -n "${EASE_LONG:-}" ]; then paced; else echo 'SKIP demo paced: takes more than a minute (--long)'; fi

if demo missing /nowhere/to/be.pcap; then
	fail 'missing capture is refused' 'it succeeded'
elif grep -q '/nowhere/to/be.pcap' "$dir/out"; then
	pass 'missing capture is refused'
else
	fail 'missing capture is refused' 'not by name'
fi

if [ -z "${EASE_CAPTURES:-}" ]; then
	echo 'SKIP demo real captures: no captures at hand (EASE_CAPTURES)'
	exit $failed
fi

composed=$EASE_CAPTURES/composed-a.pcap
if demo composed --skip 20 "$composed"; then
	pass 'composed capture'
	check_truth composed "$composed" 16 20
else
	fail 'composed capture' "status $?"
fi
rm -rf "$dir/composed"

# What must be refused: no Ethernet in it. Everything else must be handled, damage and all.
refused='linux-cooked-* ppp-hdlc-null-* raw-ip-* wlan-*'
must_refuse() {
	local pattern
	for pattern in $refused; do
		# shellcheck disable=SC2053 — patterns on purpose
		[[ $1 == $pattern ]] && return 0
	done
	return 1
}
try() { # CAPTURE
	local name status
	name=$(basename "$1")
	demo any --skip 20 "$1"
	status=$?
	if ! no_crash any "$status"; then
		fail "$name" "status $status"
	elif must_refuse "$name"; then
		if [ "$status" = 0 ]; then fail "$name is refused" 'it succeeded'
		elif grep -q "$name.*link type\|link type.*$name\|$name.*Ethernet" "$dir/out"; then pass "$name is refused by name"
		else fail "$name is refused" 'without file and reason'; fi
	elif [[ $name == corrupt-* || $name == cut-off-* || $name == lying-* ]] && ! grep -q "$name: " "$dir/out"; then
		fail "$name is handled" 'its damage was passed over in silence'
	elif [ "$status" = 0 ]; then
		pass "$name is handled"
	elif [[ $name == mixed-* ]] && grep -q "$name" "$dir/out"; then
		pass "$name is refused by name"
	else
		fail "$name is handled" "status $status"
	fi
	rm -rf "$dir/any"
}
for capture in "$EASE_CAPTURES"/odd/*.pcap*; do
	try "$capture"
done
for capture in "$EASE_CAPTURES"/*.pcap*; do
	[[ $capture == "$composed" ]] || try "$capture"
done
exit $failed
