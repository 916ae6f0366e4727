#!/bin/bash
# End to end over a real snmpd: counters of a walk against the capture's truth; a burst as fast as
# snmpd takes it; snmpd stopped and started again under way; settings by snmpset; quiet, down and
# dead ports told apart; wrong configurations. Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../support/rig.sh"
rig_needs_sim

capture=$rig.pcap
"$top/conf/make-capture" "$capture" 8 || exit 1
trap 'rig_stop; rm -rf "$rig" "$capture"' EXIT

# ---- accounting: every sample the agent took is stored or counted as lost ----

accounting() { # prints: samples taken by the agent, expected, received, lost, rows in the store
	local taken
	taken=$(column_sum $ease.1.2.1.6)
	easetop loss --last all --format json | jq -r --arg taken "$taken" \
	    '[.rows[] | {e: .expected, r: .received, l: .lost}] |
	    "\($taken) \(map(.e) | add) \(map(.r) | add) \(map(.l) | add)"'
}
accounted() {
	local taken expected received lost
	read -r taken expected received lost < <(accounting)
	[ "${taken:-0}" -gt 0 ] && [ "$taken" = "$expected" ] && [ $((received + lost)) = "$expected" ]
}
expect_accounted() { # NAME
	local rows taken expected received lost
	if ! wait_for 40 accounted; then
		fail "$1" "taken, expected, received, lost: $(accounting)"
		return
	fi
	read -r taken expected received lost < <(accounting)
	rows=$(sqlite3 "$rig/ease.db" 'SELECT count(*) FROM sample')
	expect "$1: of $taken samples $received arrived, $lost are counted as lost" "$rows" "$received"
}

# ---- counters ----

counters() { # NAME CAPTURE
	local truth="$rig/truth.json" name=$1
	rig_new
	rig_start "$2" lock_step 'mean_skip = 20' || return
	wait_for 120 replay_ended || { fail "$name: replay" 'it does not end'; return; }
	sleep 1.1 # a snapshot is at most a second old
	"$build/tests/truth" "$2" >"$truth"
	expect "$name: etherStatsPkts" "$(column_sum $ether_stats.5)" "$(jq .totals.packets "$truth")"
	expect "$name: etherStatsOctets" "$(column_sum $ether_stats.4)" \
	    "$(jq .totals.octets_padded_to_60_plus_fcs "$truth")"
	expect "$name: etherStatsOversizePkts" "$(column_sum $ether_stats.10)" "$(jq .totals.over_1518 "$truth")"
	expect "$name: ifHCInOctets, without oversize frames" "$(column_sum $if_x.6)" \
	    "$(jq '.totals | .octets_padded_to_60_plus_fcs - .over_1518_octets' "$truth")"
	expect "$name: ifHCIn*Pkts, without oversize frames" \
	    "$(($(column_sum $if_x.7) + $(column_sum $if_x.8) + $(column_sum $if_x.9)))" \
	    "$(jq '.totals | .packets - .over_1518' "$truth")"
	expect_accounted "$name"
}
size_classes() { # NAME TRUTH-FILE: of the rig as counters left it
	local column bucket
	while read -r column bucket; do
		expect "$1: etherStats column $column, $bucket" "$(column_sum $ether_stats.$column)" \
		    "$(jq "$bucket" "$2")"
	done <<-'END'
		6 .destination_kind.broadcast.packets
		7 .destination_kind.multicast.packets
		14 .size_buckets_short_frames_padded["64"]
		15 .size_buckets_short_frames_padded["65_127"]
		16 .size_buckets_short_frames_padded["128_255"]
		17 .size_buckets_short_frames_padded["256_511"]
		18 .size_buckets_short_frames_padded["512_1023"]
		19 .size_buckets_short_frames_padded["1024_1518"]
		10 .size_buckets_short_frames_padded.over_1518
	END
}

# ---- easetop, over the store that counters left ----

# Rows of the windows, and of the kept samples, which a filter that all frames pass asks for.
rows_of() { easetop "$@" --last all --top 1000 --format json | jq -c '[.rows[] | del(.rank)]'; }
# Windows keep sums of squares with 24 bits, so limits may differ in the fifth digit.
same_rows() { # ROWS ROWS
	jq -en --argjson a "$1" --argjson b "$2" '($a | length) > 0 and
	    [$a | paths(scalars)] == [$b | paths(scalars)] and
	    ([[$a | .. | scalars], [$b | .. | scalars]] | transpose | all(.[];
	        if (.[0] | type) == "number" then (.[0] - .[1] | fabs) <= 1e-4 * (.[0] | fabs) + 1e-9
	        else .[0] == .[1] end))' >/dev/null
}
reports() {
	local report list
	for report in $("$build/collector/easetop" --help | awk '/^Options/ { exit } /^  / { print $1 }'); do
		expect "easetop $report: JSON" "$(easetop "$report" --last all --format json | jq -r .report)" "$report"
		expect "easetop $report: text and CSV" "$(easetop "$report" --last all >/dev/null && easetop "$report" --last all --format csv >/dev/null; echo $?)" 0
	done
	for list in 'talkers --by src' 'talkers --by subnet' 'protocols --by proto' 'protocols --by port' conversations; do
		if same_rows "$(rows_of $list)" "$(rows_of $list --addr 00:1b)"; then
			pass "easetop $list: kept samples say what windows do"
		else
			fail "easetop $list: kept samples say what windows do" \
			    "$(rows_of $list | head -c 300) $(rows_of $list --addr 00:1b | head -c 300)"
		fi
	done
	easetop talkers --last all --warn 1k >/dev/null
	expect 'easetop --warn: above' $? 1
	easetop talkers --last all --warn 1T >/dev/null
	expect 'easetop --warn: below' $? 0
	easetop talkers --last all --by port 2>/dev/null
	expect 'easetop: what a list cannot be by is refused' $? 2
	easetop talkers --last all --mask 40 2>/dev/null
	expect 'easetop: a wrong value is refused' $? 2
}

# ---- runs ----

burst() {
	local taken
	rig_new
	rig_start "$capture" lock_step 'mean_skip = 1' || return
	wait_for 120 replay_ended || { fail 'burst: replay' 'it does not end'; return; }
	expect_accounted 'burst'
	taken=$(column_sum $ease.1.2.1.6)
	if [ "$taken" -ge 20000 ]; then pass "burst: $taken samples"; else fail 'burst' "only $taken samples"; fi
}

master_away() {
	local began ms
	rig_new
	rig_start "$capture" recorded 'mean_skip = 20' || return
	sleep 2
	rig_end "$snmpd_pid"
	sleep 5
	began=$(date +%s%N)
	rig_snmpd
	wait_for 10 if_number
	ms=$((($(date +%s%N) - began) / 1000000))
	if [ $ms -le 2000 ]; then pass "snmpd away for 5 s: served again after $ms ms"; else fail 'snmpd away for 5 s' "served again only after $ms ms"; fi
	wait_for 30 replay_ended || { fail 'snmpd away: replay' 'it does not end'; return; }
	expect_accounted 'snmpd away for 5 s'
}

refused() { # NAME REASON OID TYPE VALUE
	local answer
	answer=$(client snmpset "127.0.0.1:$agent_port" "${@:3}" 2>&1 | sed -n 's/^Reason: \([a-zA-Z]*\).*/\1/p')
	expect "snmpset: $1 is $2" "$answer" "$2"
}
settings() {
	local column=$ease.1.2.1 before
	rig_new
	mkdir -p "$rig/watch"
	watch_port=$(free_port)
	echo "trap2sink 127.0.0.1:$watch_port demo" >>"$rig/snmpd.conf"
	echo 'disableAuthorization yes' >"$rig/snmptrapd.conf"
	snmptrapd -f -Lf "$rig/watch.log" -On -C -c "$rig/snmptrapd.conf" "udp:127.0.0.1:$watch_port" \
	    >/dev/null 2>&1 &
	local watch_pid=$!
	rig_start "$capture" recorded 'mean_skip = 50' 'header_octets = 128' 'loop = true'
	sleep 1
	before=$(snmp_get $column.7.1)
	client snmpset "127.0.0.1:$agent_port" $column.2.1 u 10 $column.3.1 u 40 >/dev/null || fail 'snmpset' 'refused'
	sleep 2
	expect 'snmpset: mean skip reads back' "$(snmp_get $column.2.1)" 10
	expect 'snmpset: header octets read back' "$(snmp_get $column.3.1)" 40
	# Two skip counts drawn before are in the chip; they and their sample tell the old mean.
	expect 'snmpset: mean skip travels in the samples that follow' "$(sqlite3 "$rig/ease.db" \
	    "SELECT group_concat(DISTINCT mean_skip) FROM sample WHERE if_index = 1 AND sequence > $((before + 50))")" 10
	expect 'snmpset: the samples before have the old one' "$(sqlite3 "$rig/ease.db" \
	    "SELECT group_concat(DISTINCT mean_skip) FROM sample WHERE if_index = 1 AND sequence < $before")" 50
	rig_end "$watch_pid"
	expect 'snmpset: so many octets are kept' "$(longest_kept "$((before + 50))")" 40
	refused 'a mean skip of 0' wrongValue $column.2.1 u 0
	refused 'a mean skip beyond the chip' wrongValue $column.2.1 u 524289
	refused 'a header of 13 octets' wrongValue $column.3.1 u 13
	refused 'a header of 257 octets' wrongValue $column.3.1 u 257
	refused 'an edge flag of 3' wrongValue $column.5.1 i 3
	refused 'text as mean skip' wrongType $column.2.1 s ten
	refused 'a counter' notWritable $column.6.1 i 1
	expect 'snmpset: wrong values change nothing' "$(snmp_get $column.2.1)" 10
	rig_agent_stop
	rig_agent "$capture" recorded 'mean_skip = 50' 'loop = true'
	expect 'snmpset: survives a restart of the agent' "$(snmp_get $column.2.1) $(snmp_get $column.3.1)" '10 40'
	expect 'restart: the boot is counted' "$(snmp_get $ease.1.1.2.0)" 2
}
longest_kept() { # AFTER: the most frame octets in port 1's samples with a higher number
	perl -e 'my $after = shift; local $/; my $t = <STDIN>; my $most = -1;
	    while ($t =~ /\.1\.3\.1\.1\.3\.1\.(\d+) = Hex-STRING: ([0-9A-F\s]+)/g) {
	        my ($n, $hex) = ($1, $2); $hex =~ s/\s//g; my $kept = length($hex) / 2 - 52;
	        $most = $kept if $n > $after && $kept > $most }
	    print $most' "$1" <"$rig/watch.log"
}

port_field() { jq -r --arg port "$1" ".rows[] | select(.port == \$port) | $2" "$rig/load.json"; }
told_apart() {
	rig_new "$rig.board"
	sed -e 's/"e-7" { speed = 10 }/"e-7" { speed = 10 capture = none }/' \
	    -e 's/"e-8" { speed = 10 }/"e-8" { speed = 10 link = down }/' \
	    "$top/conf/boards/gt48001a-8port.conf" >"$rig.board"
	rig_start "$capture" recorded 'mean_skip = 20' 'counters_interval_s = 1' || return
	sleep 4
	easetop load --last 5m --format json >"$rig/load.json"
	expect 'load: a port with traffic is up' "$(port_field e-1 .status)" up
	expect 'load: its samples agree with its counters' "$(port_field e-1 .check)" ok
	expect 'load: a port that receives nothing is up' "$(port_field e-7 .status)" up
	expect 'load: and counts that nothing' "$(port_field e-7 .rx_packets)" 0
	expect 'load: a port without link is down' "$(port_field e-8 '"\(.status) \(.check)"')" 'down down'
	rig_end "$agent_pid" KILL
	agent_pid=''
	# As it would be seen five minutes later.
	easetop load --from "$(date -u -d '-1 minute' +%FT%TZ)" --to "$(date -u -d '+5 minutes' +%FT%TZ)" \
	    --format json >"$rig/load.json"
	if [[ $(port_field e-1 .check) == silent* ]]; then pass 'load: a dead agent is silent'; else
		fail 'load: a dead agent is silent' "$(port_field e-1 .check)"
	fi
	expect 'load: and shows no load' "$(port_field e-1 .rx_bps)" null
	rm -f "$rig.board"
}

wrong_files() {
	local out status
	rig_new
	printf '# a comment\ndevice = dummy\nmean_skip = 0\n' >"$rig/agent.conf"
	out=$("$build/agent/easeagentd" -c "$rig/agent.conf" --check 2>&1)
	status=$?
	expect 'easeagentd --check names file, line and reason' "$status $(grep -c "$rig/agent.conf:3: mean_skip: must be a whole number from 1 to 524288 frames per sample, not \"0\"" <<<"$out")" '1 1'
	printf 'device = emulated\nstate_dir = "%s"\nboard = "%s"\n' "$rig" "$top/conf/boards/eee-8port.conf" >"$rig/agent.conf"
	expect 'easeagentd --check ends with what the board can: all eight ports count and sample, none tells of drops' \
	    "$("$build/agent/easeagentd" -c "$rig/agent.conf" --check 2>&1 | grep -E '^device = |octets and|idle .EEE|in the device|dropped' | tr -s ' ' | paste -sd,)" \
	    'device = emulated, 8 ports,COUNTS octets and packets 8 of 8, low-power idle (EEE) 8 of 8,SAMPLES in the device 8 of 8, dropped packets no only device = linux tells them'
	printf 'device = emulated\nstate_dir = "%s"\nboard = "/nope.conf"\n' "$rig" >"$rig/agent.conf"
	out=$("$build/agent/easeagentd" -c "$rig/agent.conf" --check 2>&1)
	status=$?
	expect 'easeagentd --check names the option whose file is missing' "$status $(tail -n 1 <<<"$out")" \
	    "1 easeagentd: $rig/agent.conf:3: board: /nope.conf: No such file or directory"
	expect 'easeagentd says the same at the start' "$("$build/agent/easeagentd" -c "$rig/agent.conf" -f 2>&1 | tail -n 1)" \
	    "easeagentd: $rig/agent.conf:3: board: /nope.conf: No such file or directory"
	printf 'device = dummy\nstate_dir = "%s/absent/below"\n' "$rig" >"$rig/agent.conf"
	out=$("$build/agent/easeagentd" -c "$rig/agent.conf" --check 2>&1)
	status=$?
	expect 'easeagentd --check finds a state directory that cannot be made' "$status $(tail -n 1 <<<"$out")" \
	    "1 easeagentd: $rig/agent.conf:2: state_dir: $rig/absent/below: No such file or directory"
	sed -i 's/^listen.*/listen = {"127.0.0.1:99999"}/' "$rig/collector.conf"
	out=$("$build/collector/easecapd" -c "$rig/collector.conf" --check 2>&1)
	status=$?
	expect 'easecapd --check names file, line and reason' "$status $(grep -c "$rig/collector.conf:1: listen: " <<<"$out")" '1 1'
}

# What is no good notification: each adds to a counter and to nothing else.
malformed() {
	rig_new
	rig_collector || { fail 'malformed' 'no collector'; return; }
	perl -MSocket -e '
	    socket(my $s, AF_INET, SOCK_DGRAM, 0) or die;
	    my $to = sockaddr_in($ARGV[0], INADDR_LOOPBACK);
	    sub tlv { my ($t, $v) = @_; my $n = length $v;
	        return pack("C", $t) . ($n < 128 ? pack("C", $n) : pack("Cn", 0x82, $n)) . $v }
	    sub message { my ($community, $varbinds) = @_;
	        return tlv(0x30, tlv(2, "\1") . tlv(4, $community) . tlv(0xa7, tlv(2, "\1") . tlv(2, "\0") .
	            tlv(2, "\0") . tlv(0x30, $varbinds))) }
	    my $root = "\x2b\x06\x01\x04\x01\xbf\x08\xce\x0f\xce\x0f\x01";
	    my $head = tlv(0x30, tlv(6, "\x2b\x06\x01\x02\x01\x01\x03\0") . tlv(0x43, "\1")) .
	        tlv(0x30, tlv(6, "\x2b\x06\x01\x06\x03\x01\x01\x04\x01\0") . tlv(6, "$root\0\1")) .
	        tlv(0x30, tlv(6, "$root\1\1\1\0") . tlv(4, "12345678")) .
	        tlv(0x30, tlv(6, "$root\1\1\2\0") . tlv(0x42, "\1"));
	    my $good = "\1\1" . pack("NN", 400000, 0) . pack("N4", 1, 2, 3, 20) . pack("N4", 0, 9, 0, 0) .
	        pack("NNn", 5, 64, 14) . "\0" x 14;
	    my $bad = tlv(0x30, tlv(6, "$root\1\3\1\1\3\1\1") . tlv(4, substr($good, 0, -1)));
	    my $whole = message("demo", $head . $bad);
	    my $other = message("nobody", $head . tlv(0x30, tlv(6, "$root\1\3\1\1\3\1\1") . tlv(4, $good)));
	    for my $octets ("", "\x30", "hello", substr($whole, 0, 60), $whole, $other, "\x30\x84\xff\xff\xff\xff") {
	        for (1 .. 50) { defined send($s, $octets, 0, $to) or die $! }
	    }' "$trap_port"
	sleep 1
	rig_end "$collector_pid"
	collector_pid=''
	expect 'malformed: nothing is stored' "$(sqlite3 "$rig/ease.db" 'SELECT (SELECT count(*) FROM sample) + (SELECT count(*) FROM agent)')" 0
	local refused
	refused=$(sqlite3 "$rig/ease.db" "SELECT sum(value) FROM stat WHERE name LIKE 'input.refused%' OR name LIKE 'input.bad%'")
	expect 'malformed: each is counted' "$refused" 350
	if [ "$(wc -l <"$rig/collector.log")" -lt 60 ]; then pass 'malformed: the log is limited'; else
		fail 'malformed: the log is limited' "$(wc -l <"$rig/collector.log") lines"
	fi
}

counters 'default capture' "$capture"
reports
if [ -n "${EASE_CAPTURES:-}" ]; then
	counters 'composed capture' "$EASE_CAPTURES/composed-a.pcap"
	size_classes 'composed capture' "$EASE_CAPTURES/composed-a.truth.json"
else
	skip 'composed capture' 'no captures at hand (EASE_CAPTURES)'
fi
burst
master_away
settings
told_apart
wrong_files
malformed
exit $failed
