#!/bin/bash
# conf/demo over real input: the default capture, the composed capture with its acceptance (of the
# 20 largest pairs at least 16 hold the truth in packets and octets), and every odd file and one capture of
# each kind (the first word of its name): handled, or refused with a message that names the file and the reason; no
# crash, no hang. What it prints of the truth is computed again by other means; its logs have no warnings; any path
# will do. With EASE_LONG every capture. Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${EASE_BUILD:-$top/build}
. "$top/tests/support/wait_for.sh"
if ! command -v jq >/dev/null || ! [ -x "$build/agent/easeagentd" ]; then
	echo "SKIP demo: jq or $build/agent/easeagentd is not there"
	exit 0
fi
if "$build/agent/easeagentd" --print-config | grep -q 'no emulated switch'; then
	echo 'SKIP demo: this build has no emulated switch'
	exit 0
fi
dir=$(mktemp -d "${TMPDIR:-/tmp}/easeswitch-demo-test.XXXXXX")
trap 'rm -rf "$dir"' EXIT
export EASE_BUILD=$build EASE_SEED=7 TMPDIR=$dir

# ---- several at a time: a demo waits for its daemons half of its life ----

at_once=$(($(nproc) + 1))
jobs_begun=0
begin() { # FUNCTION ARGUMENT...: in the background; what it prints comes in the order of the calls
	while [ "$(jobs -rp | wc -l)" -ge "$at_once" ]; do wait -n; done
	jobs_begun=$((jobs_begun + 1))
	"$@" >"$dir/result.$(printf %03d $jobs_begun)" 2>&1 &
}
finish() {
	wait
	cat "$dir"/result.*
	! grep -q '^FAIL' "$dir"/result.*
	exit
}
pass() { echo "PASS demo $1"; }
fail() { # WHAT REASON [OUTPUT]
	echo "FAIL demo $1: $2"
	[ -z "${3:-}" ] || tail -n 12 "$3" 2>/dev/null | sed 's/^/    /'
}

demo() { # NAME ARGUMENT...: one run in lock step; its output in $dir/NAME.out, its state in $dir/NAME
	local name=$1
	shift
	timeout -k 20 150 "$top/conf/demo" --once --state "$dir/$name" "$@" >"$dir/$name.out" 2>&1
}
made_before() { # STATE: has the capture that the first demo made, as a second run there would
	mkdir -p "$1" && cp "$dir/default/demo.pcap" "$1/"
}
no_crash() { # NAME STATUS: what a daemon that crashed leaves behind
	! grep -qsE 'Sanitizer|runtime error:|Segmentation|core dumped|Assertion' "$dir/$1.out" "$dir/$1"/*.log &&
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
	"$build/tests/truth" "$1" >"$2.truth" || return 1
	jq -r -n --slurpfile t "$2.truth" --slurpfile r "$2" --argjson top "$3" '
	    ($r[0].rows | map({key: (.src + " " + .dst), value: .}) | from_entries) as $seen |
	    def holds($f; $v): $f != null and $f.low <= $v and $v <= $f.high;
	    [$t[0].mac_pairs.rows | sort_by(-.packets)[] | select(.over_1518 * 100 <= .packets)][:$top] |
	    [.[] | . as $p | $seen[.src + " " + .dst] |
	        holds(.packets; $p.packets) and holds(.octets; $p.octets)] |
	    "\(map(select(.)) | length) \(length)"'
}
check_truth() { # NAME CAPTURE AT-LEAST TOP
	local n of pairs=$dir/$1.talkers
	report "$1" talkers --layer eth --by pair --top 60 --sort packets >"$pairs" ||
	    { fail "$1: report" 'easetop failed' "$dir/$1.out"; return; }
	read -r n of < <(holding "$2" "$pairs" "$4")
	if [ "${n:-0}" -ge "$3" ]; then
		pass "$1: $n of the $of largest pairs hold the truth in packets and octets"
	else
		fail "$1: largest pairs" "only ${n:-0} of ${of:-0} hold the truth"
	fi
	if jq -e '.completeness == 1' "$pairs" >/dev/null; then
		pass "$1: completeness is 1"
	else
		fail "$1: completeness" "$(jq .completeness "$pairs")"
	fi
}

# What stands beside the limits must be the truth in the report's unit, to three digits, and judged as the
# JSON's limits say; the last line must count that. Of a looped capture the truth is per second of a round.
beside_is_right() { # NAME CAPTURE PER: PER is "round", or "report"
	local shown wanted
	shown=$(sed -n '/^== easetop talkers/,/limits hold the truth/p' "$dir/$1.out" |
	    sed -nE 's/^ *[0-9]+(-[0-9]+)? +(([0-9a-f]{2}:){5}[0-9a-f]{2}) +(([0-9a-f]{2}:){5}[0-9a-f]{2}) .* \.\. +[0-9.]+ ?[kM]? +([0-9.]+) ?([kM]?) +(inside|OUTSIDE) .*/\2 \4 \6\7 \8/p')
	report "$1" talkers --layer eth --by pair --top 5 --sort packets >"$dir/$1.beside" # none of few samples
	"$build/tests/truth" "$2" >"$dir/$1.truth.json"
	wanted=$(jq -r -n --slurpfile t "$dir/$1.truth.json" --slurpfile r "$dir/$1.beside" --arg per "$3" \
	    --argjson round "$(capture_seconds "$2")" '
	    def scaled: if . >= 999.5 then {v: (. / 1000), unit: "k"} else {v: ., unit: ""} end;
	    $r[0] as $r | (if $per == "round" then $round else $r.seconds end) as $seconds |
	    $r.rows[] | . as $row |
	    ($t[0].mac_pairs.rows[] | select(.src == $row.src and .dst == $row.dst)) as $pair |
	    ($pair.packets - $pair.over_1518) as $n |
	    "\($row.src) \($row.dst) \($n / $seconds | scaled | "\(.v) \(.unit)") " +
	    (if $row.packets.low / $r.seconds <= $n / $seconds and $n / $seconds <= $row.packets.high / $r.seconds
	     then "inside" else "OUTSIDE" end)' |
	    awk '{ printf "%s %s %s%s %s\n", $1, $2, sprintf($3 >= 99.95 ? "%.0f" : $3 >= 9.995 ? "%.1f" : "%.2f", $3),
	        NF == 5 ? $4 : "", $NF }')
	if [ -n "$wanted" ] && [ "$shown" = "$wanted" ]; then
		pass "$1: the truth beside the limits is right"
	else
		fail "$1: the truth beside the limits" "'$shown' instead of '$wanted'" "$dir/$1.out"
	fi
	wanted="$(grep -c ' inside$' <<<"$wanted") of $(grep -c . <<<"$wanted") limits hold the truth"
	if grep -q "^$wanted" "$dir/$1.out"; then
		pass "$1: says that $wanted"
	else
		fail "$1: count of limits" "it does not say '$wanted'" "$dir/$1.out"
	fi
}
capture_seconds() { # CAPTURE: from the first to the last frame; a classic pcap of this machine's byte order
	perl -e 'open(my $f, "<:raw", $ARGV[0]) or die; local $/; my $d = <$f>; my ($at, $first, $last) = (24);
	    while ($at + 16 <= length $d) {
		my ($s, $us, $kept) = unpack("VVV", substr($d, $at, 12));
		$last = $s + $us / 1e6; $first //= $last; $at += 16 + $kept;
	    }
	    printf "%.6f", $last - $first' "$1"
}
# That the store is behind is true of a busy machine, and no fault of the demo's.
no_warnings() { # NAME: nor may others read what the demo configured
	local found
	found=$(grep -hE '^[^ ]+ ([^ ]+ )?(warn|error) |[Ww]arning' "$dir/$1"/*.log | grep -v 'store is behind')
	if [ -z "$found" ]; then pass "$1: no warnings in its logs"; else fail "$1: warnings in its logs" "$found"; fi
	found=$(find "$dir/$1" -name '*.conf' -perm /077)
	if [ -z "$found" ]; then pass "$1: its files are its owner's"; else fail "$1: others may read" "$found"; fi
}

default() {
	local words
	if demo default; then
		pass 'default capture'
		check_truth default "$dir/default/demo.pcap" 4 5
		beside_is_right default "$dir/default/demo.pcap" report
		no_warnings default
	else
		fail 'default capture' "status $?" "$dir/default.out"
	fi
	for words in '== snmpwalk' 'ifHCInOctets.8 ' 'easeSamples' 'easeAgentId' '95% LOW..HIGH  TRUTH'; do
		if grep -qF -- "$words" "$dir/default.out"; then pass "shows $words"; else fail "shows $words" 'it does not'; fi
	done
	if grep -q 'https\?://' "$dir/default.out"; then
		fail 'once: no address' "$(grep 'https\?://' "$dir/default.out")"
	else
		pass 'once: no address of a page that has ended'
	fi
	if grep -q '^== the page: it answered' "$dir/default.out"; then pass 'once: the page answered'; else fail 'once: the page' 'not a word of it'; fi
	if [ -z "$(find "$dir" -maxdepth 1 -name 'easeswitch-agentx.*' -newer "$dir/default.out")" ]; then
		pass 'no directory of a socket is left'
	else
		fail 'no directory of a socket is left' "$(ls -d "$dir"/easeswitch-agentx.*)"
	fi
}

# A socket's path has 107 octets; Net-SNMP ends a path at a blank, a comma or a colon; the configurations
# have their own quotes. Then the same once more: the earlier run is moved aside, and that is said.
paths() {
	local name="blanks, \"quotes\" it's \$HOME \${HOME} a:b\\c#d/$(printf 'long%.0s' {1..50})"
	made_before "$dir/$name"
	if timeout -k 20 150 "$top/conf/demo" --once --state "$dir/$name" >"$dir/paths.out" 2>&1 &&
	    [ -s "$dir/$name/ease.db" ]; then
		pass 'a path of 200 characters, with blanks and quotes'
	else
		fail 'a path of 200 characters, with blanks and quotes' 'it failed' "$dir/paths.out"
	fi
	if (cd "$dir/$name" && timeout -k 20 150 "$top/conf/demo" --once --state . --skip 20 "$dir/$name/demo.pcap") \
	    >"$dir/paths.out" 2>&1 && [ -s "$dir/$name/previous/ease.db" ] && grep -q '^The store and the settings of the earlier run are now in' "$dir/paths.out"; then
		pass 'a relative path, and a second run into it'
	else
		fail 'a relative path, and a second run into it' 'it failed' "$dir/paths.out"
	fi
}

arguments() {
	local option
	"$top/conf/demo" --help >"$dir/help.out" 2>&1 || fail 'help' "status $?"
	for option in CAPTURE --once --state --skip --device --sampling --here --help; do
		if grep -q "^  $option " "$dir/help.out"; then pass "help explains $option"; else fail "help explains $option" 'it does not'; fi
	done
	while read -r option; do
		# shellcheck disable=SC2086 — several arguments
		"$top/conf/demo" $option >"$dir/refusal.out" 2>&1
		if [ $? = 2 ] && grep -qF -- "${option##* }" "$dir/refusal.out" && [ "$(wc -l <"$dir/refusal.out")" = 1 ]; then
			pass "refuses $option"
		else
			fail "refuses $option" 'not by name and with status 2' "$dir/refusal.out"
		fi
	done <<-'END'
		--nonsense
		--device sonic
		--skip ten
		--state
		--here
		--sampling sometimes
		--device linux some.pcap
	END
	if demo missing /nowhere/to/be.pcap; then
		fail 'missing capture is refused' 'it succeeded'
	elif grep -q '/nowhere/to/be.pcap' "$dir/missing.out"; then
		pass 'missing capture is refused'
	else
		fail 'missing capture is refused' 'not by name'
	fi
}

# A truth outside of the limits is called so, a key that the truth does not know is none inside, and a row
# that the text leaves out does not count. Of what passed at a port while
# samples were lost each of its keys has its share.
outside() {
	local said
	printf '%s\n' '# pairs' 'a b 2400' 'c d 20' 'g h 1' >"$dir/t"
	printf '%s\n' 'src,dst,packets_low,packets_high' 'a,b,2000,2300' 'c,d,20,20' 'e,f,1,2' 'g,h,1,1' >"$dir/c"
	printf '%s\n' 'completeness' 'RANK  SOURCE  DESTINATION  95% LOW..HIGH  SHARE' \
	    '   1  a       b            20.0 .. 23.0    99.0%' '   2  c       d            0.20 .. 0.20     1.0%' \
	    '   3  e       f            0.01 .. 0.02     0.1%' '      3 others             1 .. 2           0.0%' >"$dir/x"
	said=$(awk -f "$top/conf/demo-truth.awk" -v seconds=100 -v per=100 -v counted=so "$dir/t" "$dir/c" "$dir/x")
	if [ "$said" = "completeness
RANK  SOURCE  DESTINATION  95% LOW..HIGH  TRUTH          SHARE
   1  a       b            20.0 .. 23.0   24.0   OUTSIDE  99.0%
   2  c       d            0.20 .. 0.20   0.20   inside    1.0%
   3  e       f            0.01 .. 0.02   0.00   OUTSIDE   0.1%
      3 others             1 .. 2                          0.0%
1 of 3 limits hold the truth (so)." ]; then
		pass 'a truth outside of the limits is called so'
	else
		fail 'a truth outside of the limits' "$said"
	fi
	printf '%s\n' 'src,dst,packets_low,packets_high,port' 'a,b,2000,2300,p1' 'c,d,20,20,p2' 'e,f,1,2,p1' 'g,h,1,1,p1' >"$dir/c"
	printf '%s\n' 'p1 121 2420' 'p2 0 21' >"$dir/l"
	said=$(awk -f "$top/conf/demo-truth.awk" -v seconds=100 -v per=100 -v counted=so -v lost="$dir/l" "$dir/t" "$dir/c" "$dir/x" | awk '/inside|OUTSIDE|hold|busy/')
	if [ "$said" = "   1  a       b            20.0 .. 23.0   22.8   inside   99.0%
   2  c       d            0.20 .. 0.20   0.20   inside    1.0%
   3  e       f            0.01 .. 0.02   0.00   OUTSIDE   0.1%
2 of 3 limits hold the truth (so).
This machine was too busy: 5% of the frames passed unsampled, and the truth is that of the others." ]; then
		pass 'what passed while samples were lost is in no row: 95 % of the truth at that port are compared'
	else
		fail 'the truth less what passed while samples were lost' "$said"
	fi
}

# As a person starts it, in real time. SECONDS pass before the first report; with --long it is the minute
# that the demo has, after which the top five are within 10 % and no stall was told that did not matter.
paced() { # [SECONDS]
	local pid started=$SECONDS worst told stalled page
	made_before "$dir/paced"
	EASE_DEMO_SECONDS=${1:-60} "$top/conf/demo" --state "$dir/paced" >"$dir/paced.out" 2>&1 &
	pid=$!
	until grep -q '^Still running' "$dir/paced.out"; do
		if ! kill -0 "$pid" 2>/dev/null || [ $((SECONDS - started)) -gt 120 ]; then
			kill "$pid" 2>/dev/null
			fail 'paced' 'it did not get to its end' "$dir/paced.out"
			return
		fi
		sleep 0.2
	done
	page=$(sed -n 's/^== the page: //p' "$dir/paced.out")
	if curl -sf --max-time 60 "${page}healthz" >/dev/null; then pass 'paced: the page is kept'; else fail 'paced: the page' "'$page' does not answer"; fi
	if grep -qE '^[0-5] of 5 limits hold the truth \(.* so per second of one\)\.$' "$dir/paced.out"; then
		pass 'paced: the truth per second of a round'
	else
		fail 'paced: the truth per second of a round' 'not said' "$dir/paced.out"
	fi
	if [ -z "${1:-}" ]; then
		report paced talkers --layer eth --by pair --top 5 --sort packets >"$dir/paced.talkers"
		"$build/tests/truth" "$dir/paced/demo.pcap" >"$dir/paced.truth"
		worst=$(jq -r -n --slurpfile t "$dir/paced.truth" --slurpfile r "$dir/paced.talkers" '
		    $t[0] as $t | $r[0].rows as $rows |
		    [$t.mac_pairs.rows | sort_by(-.packets)[:5][] | . as $p |
		        ([$rows[] | select(.src == $p.src and .dst == $p.dst).share.estimate][0] // 0) as $share |
		        (100 * ($share * $t.totals.packets / $p.packets - 1) | fabs)] | max')
		if jq -en "$worst <= 10" >/dev/null; then
			pass "paced: after a minute the top five are within ${worst%.*} %"
		else
			fail 'paced: top five after a minute' "one is ${worst%.*} % off"
		fi
		left=$((started + 75 - SECONDS)) # until the first minute has been judged
		[ $left -le 0 ] || sleep $left
		told=$(report paced events --top 1000 | jq '[.rows[] | select(.event == "sampling stalled")] | length')
		# The worst port's frames that passed unsampled, in percent of those that it sampled or missed.
		stalled=$(report paced loss | jq --argjson skip 50 '[.rows[] | 100 * .stalled_frames / (.expected * $skip + 1)] | max')
		if [ "$told" = 0 ] || jq -en "$stalled > 0.5" >/dev/null; then
			pass "paced: $told stalls told, $stalled % stalled at the worst port"
		else
			fail 'paced: stalls' "$told told, with $stalled % at the worst port"
		fi
	fi
	kill -TERM "$pid"
	has_ended() { ! kill -0 "$pid" 2>/dev/null; }
	wait_for 5 has_ended
	if pgrep -f "$dir/paced" >/dev/null; then
		fail 'paced: stop' 'it left processes behind'
	else
		pass 'paced: stops and leaves no process behind'
	fi
	no_warnings paced
}

# ---- real captures ----

composed() { # CAPTURE
	if demo composed --skip 20 "$1"; then
		pass 'composed capture'
		check_truth composed "$1" 16 20
		beside_is_right composed "$1" report
	else
		fail 'composed capture' "status $?" "$dir/composed.out"
	fi
	rm -rf "$dir/composed"
}

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
	local name status out
	name=$(basename "$1")
	out=$dir/$name.out
	demo "$name" --skip 20 "$1"
	status=$?
	if ! no_crash "$name" "$status"; then
		fail "$name" "status $status" "$out"
	elif must_refuse "$name"; then
		if [ "$status" = 0 ]; then fail "$name is refused" 'it succeeded' "$out"
		elif grep -q "$name.*link type\|link type.*$name\|$name.*Ethernet" "$out"; then pass "$name is refused by name"
		else fail "$name is refused" 'without file and reason' "$out"; fi
	elif [[ $name == corrupt-* || $name == cut-off-* || $name == lying-* ]] && ! grep -q "$name: " "$out"; then
		fail "$name is handled" 'its damage was passed over in silence' "$out"
	elif [ "$status" = 0 ]; then
		pass "$name is handled"
	elif [[ $name == mixed-* ]] && grep -q "$name" "$out"; then
		pass "$name is refused by name"
	else
		fail "$name is handled" "status $status" "$out"
	fi
	rm -rf "${dir:?}/$name"
}

# The first one sees to packages and build; those behind it know that this is done.
default >"$dir/result.000" 2>&1
export EASE_DEMO_BUILT=yes
if [ -n "${EASE_LONG:-}" ]; then
	begin paced
else
	begin paced 3
	echo 'SKIP demo paced: its first minute takes more than a minute (--long)' >"$dir/result.zzz"
fi
begin paths
begin arguments
begin outside
if [ -z "${EASE_CAPTURES:-}" ]; then
	echo 'SKIP demo real captures: no captures at hand (EASE_CAPTURES)' >"$dir/result.zz"
	finish
fi
begin composed "$EASE_CAPTURES/composed-a.pcap"
for capture in "$EASE_CAPTURES"/odd/*.pcap*; do begin try "$capture"; done
kinds=' composed '
for capture in "$EASE_CAPTURES"/*.pcap*; do
	kind=$(basename "$capture")
	kind=${kind%%-*}
	if [[ -n ${EASE_LONG:-} && $capture != */composed-a.pcap || $kinds != *" $kind "* ]]; then begin try "$capture"; fi
	kinds+="$kind "
done
finish
