#!/bin/bash
# easecapd --import and --tap: what the collector got live and what it takes from a capture of the same
# datagrams are the same: notifications over Ethernet with IPv4 and over VLAN tags with IPv6, and sFlow.
# Frames written to the tap are what tshark reads there, and a reader who sleeps costs frames but no
# sample. Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../support/rig.sh"

capture=$rig.pcap
"$top/conf/make-capture" "$capture" 4 || exit 1
trap 'rig_stop; rm -rf "$rig" "$capture" "$rig-keep"' EXIT
mkdir "$rig-keep"
keep=$rig-keep

sums() { # STORE: samples, their sums, and true totals
	"$build/tests/collector/store/store_sql" "$1" "SELECT (SELECT sum(received) FROM account), (SELECT count(*) FROM window_key),
	    (SELECT printf('%.0f %.0f', sum(w), sum(wb)) FROM window),
	    (SELECT printf('%.0f %.0f', sum(pool_pkts), sum(pool_octets)) FROM window)" 2>/dev/null
}
# Datagrams to PORT, written as two captures: $keep/v4.pcap and $keep/v6.pcap. Ends with SIGTERM.
catch() { # PORT
	perl -MSocket -e '
	    socket(my $s, AF_INET, SOCK_DGRAM, 0) or die; bind($s, sockaddr_in($ARGV[0], INADDR_LOOPBACK)) or die;
	    setsockopt($s, SOL_SOCKET, 33, pack("i", 64 << 20));
	    my %f; for my $n ("v4", "v6") {
	        open($f{$n}, ">", "$ARGV[1]/$n.pcap"); binmode $f{$n};
	        print {$f{$n}} pack("LSSlLLL", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1) }
	    sub frame { my ($n, $bytes) = @_;
	        print {$f{$n}} pack("LLLL", 1700000000, 5, length $bytes, length $bytes), $bytes }
	    my $stop; $SIG{TERM} = sub { $stop = 1 };
	    open(my $ready, ">", "$ARGV[1]/ready"); close $ready;
	    until ($stop) {
	        my $rin = ""; vec($rin, fileno $s, 1) = 1;
	        next if select($rin, undef, undef, 0.05) <= 0;
	        recv($s, my $d, 65535, 0);
	        my $udp = pack("nnnn", 40000, 162, 8 + length $d, 0) . $d;
	        frame("v4", "\0" x 12 . pack("n", 0x0800) . pack("CCnnnCCn", 0x45, 0, 20 + length $udp, 1, 0x4000, 64, 17, 0)
	            . pack("C8", 127, 0, 0, 1, 127, 0, 0, 1) . $udp . "\0\0\0\0");
	        frame("v6", "\0" x 12 . pack("nnn", 0x8100, 7, 0x86dd) . pack("NnCC", 0x60000000, length $udp, 17, 64)
	            . ("\0" x 15 . "\1") x 2 . $udp);
	    }
	    my $frag = pack("nnnn", 1, 162, 100, 0) . "x" x 20;
	    frame("v4", "\0" x 12 . pack("n", 0x0800) . pack("CCnnnCCn", 0x45, 0, 20 + length $frag, 1, 0x2000, 64, 17, 0)
	        . pack("C8", 127, 0, 0, 1, 127, 0, 0, 1) . $frag);
	    frame("v4", "\xff" x 12 . pack("n", 0x0806) . "\0" x 46);' "$1" "$keep" &
	catcher=$!
	disown $catcher
	wait_for 5 test -e "$keep/ready"
}
import() { # CAPTURE STORE [OPTION...]
	local file=$1
	sed -e "s#^store = .*#store = \"$2\"#" -e 's#^listen = .*#listen = {"127.0.0.1:1"}#' \
	    "$rig/collector.conf" >"$rig/import.conf"
	shift 2
	"$build/collector/easecapd" -c "$rig/import.conf" --import "$file" "$@" 2>>"$rig/collector.log"
}
tap_sees() { [ "$(stat_of tap.readers)" = 1 ]; }
stat_of() { sqlite3 "$rig/ease.db" "SELECT value FROM stat WHERE name = '$1'" 2>/dev/null; }

live_and_imported() {
	local catch_port live out
	rig_new
	catch_port=$(free_port)
	echo "trap2sink 127.0.0.1:$catch_port demo" >>"$rig/snmpd.conf"
	catch "$catch_port"
	rig_start "$capture" lock_step 'mean_skip = 20' || return
	wait_for 60 replay_ended
	rig_stop # the agent sends its last counters, the collector writes everything
	live=$(sums "$rig/ease.db")
	sleep 0.3
	rig_end $catcher
	echo "    live: $live"
	for family in v4 v6; do
		out=$(import "$keep/$family.pcap" "$rig/$family.db")
		expect "import over $family: exits 0" $? 0
		expect "import over $family: same samples, sums and totals as live" "$(sums "$rig/$family.db")" "$live"
		expect "import over $family: says how many samples" "$(sed -n 's/ samples counted$//p' <<<"$out")" "${live%%|*}"
	done
	out=$(import "$keep/v4.pcap" "$rig/v4.db")
	expect 'import again: totals are the same' "$(sums "$rig/v4.db")" "$live"
	expect 'import again: all samples are duplicates' "$(sed -n 's/ duplicate samples$//p' <<<"$out")" "${live%%|*}"
	echo 'senders = {"192.0.2.0/24"}' >>"$rig/collector.conf"
	out=$(import "$keep/v4.pcap" "$rig/none.db")
	expect 'import of what senders do not have: exits 1' $? 1
	expect 'import of what senders do not have: says so' "$(sed -n 's/ refused: their sender is .*//p' <<<"$out")" \
	    "$(sed -n 's/ notifications and sFlow .*//p' <<<"$out")"
	sed -i '/^senders/d' "$rig/collector.conf"
	out=$(import "$keep/v4.pcap" "$rig/v4.db")
	expect 'import: a fragment is counted' "$(sed -n 's/ fragments of datagrams, whose .*//p' <<<"$out")" 1
	expect 'import: what is no datagram is counted' "$(sed -n 's/ frames of other protocols$//p' <<<"$out")" 1
}
# Stopped by a signal, and killed, in the middle: what was taken is stored, and the whole import after
# it gives what one import gives. The capture comes through a pipe that stands still in the middle.
interrupted() { # SIGNAL
	local name=$1 pid writer live status octets taken
	live=$(sums "$rig/v4.db")
	octets=$(stat -c %s "$keep/v4.pcap")
	rm -f "$keep/pipe"
	mkfifo "$keep/pipe"
	{ # behind the datagrams, so many of them again that it looks whether to go on
		head -c $((octets / 2)) "$keep/v4.pcap"
		touch "$keep/half"
		wait_for 20 test -e "$keep/go"
		tail -c +$((octets / 2 + 1)) "$keep/v4.pcap"
		for _ in $(seq 20); do tail -c +25 "$keep/v4.pcap"; done
	} >"$keep/pipe" 2>/dev/null &
	writer=$!
	sed -e "s#^store = .*#store = \"$rig/$name.db\"#" -e 's#^listen = .*#listen = {"127.0.0.1:1"}#' \
	    "$rig/collector.conf" >"$rig/import.conf"
	rm -f "$keep/go"
	"$build/collector/easecapd" -c "$rig/import.conf" --import "$keep/pipe" >"$rig/import.out" 2>"$rig/import.err" &
	pid=$!
	wait_for 10 test -e "$keep/half"
	kill "-$name" $pid
	touch "$keep/go"
	wait $pid 2>/dev/null
	status=$?
	kill $writer 2>/dev/null # it may not have seen yet that it may go on
	wait $writer 2>/dev/null
	rm -f "$keep/pipe" "$keep/go" "$keep/half"
	taken=$(sqlite3 "$rig/$name.db" 'SELECT sum(received) FROM account')
	if [ "$name" = INT ]; then
		expect 'import interrupted: exits 1' $status 1
		expect 'import interrupted: says so' "$(grep -c 'stopped after' "$rig/import.err")" 1
		expect 'import interrupted: what it says it counted is stored' "$(sed -n 's/ samples counted$//p' "$rig/import.out")" "$taken"
	elif [ "${taken:-0}" -lt "${live%%|*}" ]; then
		pass "import killed: ${taken:-0} samples of ${live%%|*} were stored"
	else
		fail 'import killed' 'too late'
	fi
	import "$keep/v4.pcap" "$rig/$name.db" >/dev/null
	expect "import after SIG$name: same samples, sums and totals" "$(sums "$rig/$name.db")" "$live"
	expect "import after SIG$name: nothing is gone any more" "$(sqlite3 "$rig/$name.db" 'SELECT ifnull(sum(samples), 0) FROM gone')" 0
}
wrong_files() {
	local out status
	head -c 60000 "$keep/v4.pcap" >"$keep/cut.pcap"
	out=$(import "$keep/cut.pcap" "$rig/cut.db")
	expect 'a capture cut in the middle: exits 1' $? 1
	if [ "$(sed -n 's/ samples counted$//p' <<<"$out")" -gt 0 ]; then pass 'a capture cut in the middle: the rest is taken'; else
		fail 'a capture cut in the middle' "$out"; fi
	import /dev/null "$rig/cut.db" >/dev/null
	expect 'no capture at all: exits 1' $? 1
}

# What a stranger tries first: a short capture, whose counters do not reach its ends. Its totals are within 6 % of what
# passed, the limits of both hosts hold, load accuses no sampler, and the last step of a history is whole.
short_capture() { # NAME SECONDS-OF-ALL-AGENTS AGENT...
	local name=$1 passed=$2 ask="$build/collector/easetop"
	shift 2
	perl "$top/tests/e2e/sflow_capture.pl" "$keep/short.pcap" "$@"
	rm -f "$rig/short.db"*
	import "$keep/short.pcap" "$rig/short.db" >/dev/null
	expect "$name: totals and hosts within what passed" "$("$ask" talkers --last all --format json --store "sqlite:$rig/short.db" |
	    jq -c --argjson s "$passed" '[(.totals.octets / (1217700 * $s) | . > 0.94 and . < 1.06)] + [.rows[] |
		((if .src == "10.0.0.1" then 1062600 else 155100 end) * $s) as $true | .octets.low <= $true and $true <= .octets.high]')" \
	    '[true,true,true]'
	expect "$name: no sampler is accused" "$("$ask" load --last all --format json --store "sqlite:$rig/short.db" |
	    jq -c '[.rows[].check // "" | select(startswith("mismatch"))]')" '[]'
	expect "$name: the last step is whole" "$("$ask" history --last all --step 60s --format json --store "sqlite:$rig/short.db" |
	    jq -c '[.rows[-2:] | .[] | .octets / .seconds] | .[-1] / .[0] | . > 0.8 and . < 1.2')" true
}
short_captures() {
	rig_new
	printf 'sflow_listen = {"127.0.0.1:1"}\nsenders = {"192.0.2.0/24"}\n' >>"$rig/collector.conf"
	short_capture 'a minute, counters at 0 and 30 s' 60 '192.0.2.10 0 60 0,30'
	expect 'a minute: it says what was counted' "$("$build/collector/easetop" talkers --last all --utc --store "sqlite:$rig/short.db" |
	    grep -c '^Counted in a part of the range: 192.0.2.10 if7 (.*10:00-10:00:30 +0000); what passed there before and after')" 1
	short_capture 'a minute, first counters late' 60 '192.0.2.10 0 60 30,59'
	short_capture 'a minute, one counter' 60 '192.0.2.10 0 60 20'
	short_capture 'a minute, no counters' 60 '192.0.2.10 0 60'
	short_capture 'five minutes' 300 '192.0.2.10 0 299.9 0+'
	short_capture 'agents that end at different times' 320 '192.0.2.10 10 160 12+' '192.0.2.11 0 170 5+'
}

# Samplers are judged while a capture is taken, too.
judged_imported() {
	rig_new
	printf 'sflow_listen = {"127.0.0.1:1"}\nsenders = {"192.0.2.0/24"}\n' >>"$rig/collector.conf"
	for misses in 0 0.3; do
		MISSES=$misses perl "$top/tests/e2e/sflow_capture.pl" "$keep/judged.pcap" '192.0.2.10 0 4000 0+'
		rm -f "$rig/judged.db"*
		import "$keep/judged.pcap" "$rig/judged.db" >/dev/null
		expect "$misses of the samples are not taken: a list accuses the port" "$("$build/collector/easetop" talkers --last all \
		    --utc --store "sqlite:$rig/judged.db" 2>&1 | grep -c 'does not sample at the rate that it says')" "$([ "$misses" = 0 ] && echo 0 || echo 1)"
	done
}

# VXLAN to a port of its own: opened where the option names it.
vxlan_imported() {
	rig_new
	printf 'sflow_listen = {"127.0.0.1:1"}\nsenders = {"192.0.2.0/24"}\nvxlan_port = 8472\n' >>"$rig/collector.conf"
	VXLAN=8472 perl "$top/tests/e2e/sflow_capture.pl" "$keep/vxlan.pcap" '192.0.2.10 0 30 0,30'
	import "$keep/vxlan.pcap" "$rig/vxlan.db" >/dev/null
	expect 'VXLAN to port 8472: the addresses inside' "$("$build/collector/easetop" talkers --layer inner --last all --format json \
	    --store "sqlite:$rig/vxlan.db" | jq -c '[.rows[].src]')" '["10.0.0.1","10.0.0.2"]'
	expect 'VXLAN to port 8472: its networks, as tshark finds them' "$("$build/collector/easetop" talkers --by vni --last all \
	    --format json --store "sqlite:$rig/vxlan.db" | jq -r '.rows[] | "\(.samples) \(.vni)"')" \
	    "$(timeout 60 tshark -n -r "$keep/vxlan.pcap" -d udp.port==8472,vxlan -T fields -e vxlan.vni 2>/dev/null | tr , '\n' |
	        grep . | sort | uniq -c | sort -rn | awk '{ print $1, $2 }')"
}

# The headers that are kept, as pcapng, are those that tshark finds in the capture's sFlow; lengths without FCS.
headers_written() {
	local kept
	rig_new
	printf 'sflow_listen = {"127.0.0.1:1"}\nsenders = {"192.0.2.0/24"}\nkeep = {"headers 1h"}\nmemory = 256\n' >>"$rig/collector.conf"
	perl "$top/tests/e2e/sflow_capture.pl" "$keep/headers.pcap" '192.0.2.10 0 60 0+' '192.0.2.11 0 60 0+'
	import "$keep/headers.pcap" "$rig/headers.db" >/dev/null
	"$build/collector/easetop" samples --last all --format pcapng --store "sqlite:$rig/headers.db" >"$keep/headers.pcapng"
	kept=$(timeout 60 tshark -n -r "$keep/headers.pcapng" -T fields -e frame.interface_name -e frame.len -e ip.src \
	    -e frame.comment -e frame.packet_flags_direction 2>/dev/null | tr '\t' ' ' | sort | uniq -c) # newer ones mask other separators
	expect 'pcapng: its packets are the samples that tshark finds' "$kept" "$(timeout 60 tshark -n -r "$keep/headers.pcap" -T fields \
	    -E separator=' ' -e ip.src -e sflow_245.header.frame_length 2>/dev/null | sed -n 's/^\([^,]*\),\([^ ]*\) \(.*\)/\1 \3 \2/p' |
	    awk '{ print $1, "if7", $2 - 4, $3, "1 in 100 0x00000001" }' | sort | uniq -c)"
	sed -i '/^keep/d' "$rig/collector.conf"
	import "$keep/headers.pcap" "$rig/none.db" >/dev/null
	"$build/collector/easetop" samples --last all --format pcapng --store "sqlite:$rig/none.db" >"$keep/none.pcapng" 2>"$keep/none"
	expect 'pcapng of a store without headers: says what to do' "$? $(wc -c <"$keep/none.pcapng") $(cat "$keep/none")" \
	    '2 0 easetop: no sample of this range has its header: easecapd keeps them with headers in the option keep, in its own store'
}

# Numbers, pools and counts of packets of 32 bits that wrap in the middle.
wrapped_imported() {
	rig_new
	printf 'sflow_listen = {"127.0.0.1:1"}\nsenders = {"192.0.2.0/24"}\n' >>"$rig/collector.conf"
	NUMBER=4294966696 short_capture 'numbers that wrap' 180 '192.0.2.10 0 179.9 0+'
	expect 'numbers that wrap: the sampler is sound, and nothing is lost' "$("$build/collector/easetop" audit --last all \
	    --format json --store "sqlite:$rig/short.db" | jq -c '.rows[0] | [.verdict, .lost_percent]')" '["sound",0]'
}

# Other versions and protocols by their names, and fragments; here over IPv6, whose header of fragments is another.
foreign_imported() {
	local out
	rig_new
	perl -e 'my @sent = map { my $d = pack("H*", $_->[0]); $d . "\0" x ($_->[1] - length $d) } (["0000000200000001", 100],
		["0000000400000001", 100], ["00050001", 72], ["00090001", 80], ["000a0028" . "00" x 12 . "0002000c01000001000800040100000c01020304c0000201", 40], ["00000006", 50]);
	    print pack("LSSlLLL", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 101);
	    for (@sent) { my $udp = pack("nnnn", 1, 6343, 8 + length $_, 0) . $_;
		my $ip = pack("NnCC", 0x60000000, length $udp, 17, 64) . ("\0" x 15 . "\1") x 2 . $udp;
		print pack("LLLL", 1700000000, 0, length $ip, length $ip), $ip }
	    my $ip = pack("NnCC", 0x60000000, 16, 44, 64) . ("\0" x 15 . "\1") x 2 . pack("CCnN", 17, 0, 1, 1) . "x" x 8;
	    print pack("LLLL", 1700000000, 0, length $ip, length $ip), $ip' >"$keep/foreign.pcap"
	out=$(import "$keep/foreign.pcap" "$rig/foreign.db")
	for what in 'sFlow version 2: set' 'sFlow version 4: set' 'NetFlow version 5: another' 'NetFlow version 9: another'; do
		expect "import: $what ..." "$(grep -c "^1 datagrams of $what " <<<"$out")" 1
	done
	expect "import: IPFIX's flows ..." "$(grep -c "^2 records of IPFIX's flows, which are no samples; have" <<<"$out")" 1
	expect 'import: a fragment over IPv6' "$(grep -c '^1 fragments of datagrams, whose samples are not read: ' <<<"$out")" 1
	expect 'import: what is of no known protocol' "$(grep -c '^1 frames of other protocols$' <<<"$out")" 1
}

# sFlow in a capture: what the foreign sender of check_sflow.sh sends, live and imported.
sflow_imported() {
	local sflow_port tap_port tap counts="SELECT (SELECT group_concat(expected || ' ' || received || ' ' || duplicates)
	    FROM account), (SELECT printf('%d %.0f %.0f', sum(n), sum(w), sum(wb)) FROM window),
	    (SELECT printf('%.0f %.0f', sum(pool_pkts), sum(pool_octets)) FROM window)"
	rig_new
	sflow_port=$(free_port)
	printf 'sflow_listen = {"127.0.0.1:%s"}\n' "$sflow_port" >>"$rig/collector.conf"
	rig_collector || return
	perl "$top/tests/e2e/sflow_tap.pl" "$keep/sflow.pcap" "$sflow_port" >"$rig/tap.port" &
	tap=$!
	disown $tap
	wait_for 5 test -s "$rig/tap.port"
	tap_port=$(<"$rig/tap.port")
	perl "$top/tests/e2e/sflow_sender.pl" "$tap_port"
	wait_for 10 eval '[ "$(stat_of sflow.refused_datagram)" = 1 ]'
	sleep 0.3
	rig_end $tap
	rig_stop
	import "$keep/sflow.pcap" "$rig/sflow.db" >/dev/null
	expect 'import of sFlow: exits 0' $? 0
	expect 'import of sFlow: same samples, sums and totals as live' \
	    "$("$build/tests/collector/store/store_sql" "$rig/sflow.db" "$counts")" "$("$build/tests/collector/store/store_sql" "$rig/ease.db" "$counts")"
	expect 'import of sFlow: expected, received, duplicates' \
	    "$(sqlite3 "$rig/sflow.db" 'SELECT expected, received, duplicates FROM account')" '1194|1080|144'
	if command -v tshark >/dev/null; then
		expect 'import of sFlow: taken, twice there or refused are all that tshark finds' \
		    "$(sqlite3 "$rig/sflow.db" "SELECT received + duplicates + (SELECT value FROM stat WHERE
			name = 'sflow.refused_datagram') FROM account")" \
		    "$(tshark -n -r "$keep/sflow.pcap" -T fields -e sflow_245.sampletype 2>/dev/null |
			tr ',' '\n' | grep -cx 1)"
	else
		skip 'import of sFlow: tshark' 'tshark is not there'
	fi
}

tapped() {
	local reader samples frames
	rig_new
	mkfifo "$rig/fifo"
	cat "$rig/fifo" >"$keep/tap.pcap" &
	reader=$!
	disown $reader
	sed -i 's/^flush_interval.*/flush_interval = 100/' "$rig/collector.conf"
	: >"$rig/collector.log"
	"$build/collector/easecapd" -c "$rig/collector.conf" -f --tap "$rig/fifo" >>"$rig/collector.log" 2>&1 &
	collector_pid=$!
	disown $collector_pid
	wait_for 10 grep -q 'listening on' "$rig/collector.log"
	rig_snmpd && rig_agent "$capture" recorded 'mean_skip = 50' || { fail 'tap' 'a daemon did not come up'; return; }
	wait_for 60 replay_ended
	rig_stop
	samples=$(sqlite3 "$rig/ease.db" 'SELECT sum(received) FROM account')
	frames=$(stat_of tap.frames)
	expect "tap: every sample of $samples" "$frames" "${samples:-some}"
	if command -v tshark >/dev/null; then
		expect 'tap: tshark reads as many frames' "$(tshark -n -r "$keep/tap.pcap" -T fields -e frame.number 2>/dev/null | wc -l)" "$frames"
		expect 'tap: and none is malformed before its cut' "$(tshark -n -r "$keep/tap.pcap" -Y 'eth.src == 00:00:00:00:00:00' 2>/dev/null | wc -l)" 0
	else
		skip 'tap: read back' 'tshark is not there'
	fi
	wait_for 5 eval "! kill -0 $reader 2>/dev/null"
	# A reader that opens and sleeps.
	rig_new
	mkfifo "$rig/fifo"
	perl -e 'open(my $f, "<", $ARGV[0]); sleep 100' "$rig/fifo" &
	reader=$!
	disown $reader
	: >"$rig/collector.log"
	"$build/collector/easecapd" -c "$rig/collector.conf" -f --tap "$rig/fifo" >>"$rig/collector.log" 2>&1 &
	collector_pid=$!
	disown $collector_pid
	wait_for 10 grep -q 'listening on' "$rig/collector.log"
	rig_snmpd && rig_agent "$capture" lock_step 'mean_skip = 10' || { fail 'tap: slow' 'a daemon did not come up'; return; }
	wait_for 60 replay_ended
	samples=$(column_sum $ease.1.2.1.6)
	rig_stop
	rig_end $reader
	expect 'tap, the reader sleeps: no sample is lost' "$(sqlite3 "$rig/ease.db" 'SELECT sum(received) FROM account')" "${samples:-some}"
	if [ "$(stat_of tap.lost)" -gt 0 ] 2>/dev/null; then pass "tap, the reader sleeps: $(stat_of tap.lost) frames are counted as lost"; else
		fail 'tap, the reader sleeps' 'nothing is counted'; fi
	expect 'tap, the reader sleeps: written and lost are all' "$(($(stat_of tap.frames) + $(stat_of tap.lost)))" "$samples"
	touch "$keep/file"
	"$build/collector/easecapd" -c "$rig/collector.conf" -f --tap "$keep/file" >/dev/null 2>&1
	expect 'tap: a file that is no FIFO is refused' $? 1
}

# A FIFO of another user would show him every sampled frame: refused at the start, by a link too, and when it
# has taken the place of ours.
tapped_by_a_stranger() {
	local reader status
	[ "$(id -u)" = 0 ] || { skip 'tap: a stranger' 'only root can make another user'"'"'s FIFO'; return; }
	rig_new
	mkfifo -m 0666 "$keep/foreign" && chown nobody "$keep/foreign"
	ln -sf "$keep/foreign" "$keep/link"
	for path in foreign link; do
		timeout 20 "$build/collector/easecapd" -c "$rig/collector.conf" -f --tap "$keep/$path" >"$rig/refused" 2>&1
		status=$?
		expect "tap: a stranger's FIFO ($path) is refused" "$status $(grep -c "tap $keep/$path: it" "$rig/refused")" '1 1'
	done
	: >"$rig/collector.log"
	"$build/collector/easecapd" -c "$rig/collector.conf" -f --tap "$rig/fifo" >>"$rig/collector.log" 2>&1 &
	collector_pid=$!
	disown $collector_pid
	wait_for 10 grep -q 'listening on' "$rig/collector.log"
	mv "$keep/foreign" "$rig/fifo"
	cat "$rig/fifo" >"$keep/stolen" &
	reader=$!
	disown $reader
	wait_for 10 grep -q 'no longer a FIFO' "$rig/collector.log"
	expect 'tap: a FIFO put in its place is refused' $? 0
	rig_stop
	rig_end $reader
	expect 'tap: and its reader gets nothing' "$(wc -c <"$keep/stolen")" 0
	expect 'tap: the refusals are counted' "$([ "$(stat_of tap.refused)" -gt 0 ] && echo yes)" yes
}

live_and_imported
interrupted INT
interrupted KILL
wrong_files
short_captures
judged_imported
wrapped_imported
foreign_imported
vxlan_imported
headers_written
sflow_imported
tapped
tapped_by_a_stranger
exit $failed
