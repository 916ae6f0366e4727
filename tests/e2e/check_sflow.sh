#!/bin/bash
# sFlow v5 both ways. Out: what the agent exports is read by tshark and by sfcapd and compared with
# what it sent as notifications in the same run. In: the collector takes the same run by both ways
# and must count the same; and it takes a foreign sender's story with losses, duplicates and
# disorder (tests/e2e/sflow_sender.pl). Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../support/rig.sh"

capture=$rig.pcap
"$top/conf/make-capture" "$capture" 8 || exit 1
tap_pid='' sfcapd_pid='' sfacctd_pid=''
# sfacctd waits for processes of its own when asked to end: it is not asked.
trap 'rig_stop; rig_end "$tap_pid"; rig_end "$sfcapd_pid"
    [ -z "$sfacctd_pid" ] || kill -9 $(pgrep -P "$sfacctd_pid") "$sfacctd_pid"
    rm -rf "$rig" "$capture"' EXIT

sql() { "$build/tests/collector/store/store_sql" "$rig/ease.db" "$1"; }
store_has() { [ "$(sql "$1" 2>/dev/null)" = "$2" ]; } # SQL RESULT

rig_new
sflow_port=$(free_port)
sfcapd_port=$(free_port)
printf 'sflow_listen = {"127.0.0.1:%s"}\nsample_rows = 0\n' "$sflow_port" >>"$rig/collector.conf"
# The replay is of January and sFlow of now: what is of both stays.
printf 'keep_%s = 0\n' samples 1min 5min 1h >>"$rig/collector.conf"
sfcapd_listens() { grep -qi ":$(printf %04X "$sfcapd_port") " /proc/net/udp; }
# None waits at one of these ports, nor is on its way from one to the next: looked at several times.
none_queued() { # PORT...
	local port
	for port in "$@" "$@" "$@" "$@"; do
		! awk -v at="$(printf ':%04X$' "$port")" '$2 ~ at && $5 !~ /:0+$/ { found = 1 } END { exit !found }' /proc/net/udp || return 1
	done
}
start_sfcapd() {
	mkdir "$rig/nf"
	sfcapd -b 127.0.0.1 -p "$sfcapd_port" -l "$rig/nf" -t 3600 >"$rig/sfcapd.log" 2>&1 &
	sfcapd_pid=$!
	disown "$sfcapd_pid"
	wait_for 10 sfcapd_listens
}
! command -v sfcapd >/dev/null || start_sfcapd
sfacctd_port=$(free_port)
if command -v sfacctd >/dev/null; then
	cat >"$rig/sfacctd.conf" <<END
daemonize: false
logfile: $rig/sfacctd.log
sfacctd_ip: 127.0.0.1
sfacctd_port: $sfacctd_port
plugins: memory[keys]
aggregate[keys]: src_mac,dst_mac,src_host,dst_host
imt_path[keys]: $rig/imt
imt_mem_pools_number[keys]: 0
plugin_pipe_size: 16777216
END
	sfacctd -f "$rig/sfacctd.conf" >/dev/null 2>&1 &
	sfacctd_pid=$!
	disown "$sfacctd_pid"
	wait_for 10 test -S "$rig/imt"
fi
start_tap() { # PORT...: it waits for readers with small buffers
	: >"$rig/tap.port"
	perl "$top/tests/e2e/sflow_tap.pl" "$rig/sflow.pcap" "$@" >"$rig/tap.port" &
	tap_pid=$!
	disown "$tap_pid"
	wait_for 5 test -s "$rig/tap.port"
	tap_port=$(<"$rig/tap.port")
}
start_tap "$sflow_port" "$sfcapd_port" "$sfacctd_port"

# ---- the same run by both ways ----

rig_start "$capture" lock_step 'mean_skip = 20' "sflow_collector = \"127.0.0.1:$tap_port\"" \
    'sflow_agent_address = "192.0.2.42"' || exit 1
wait_for 60 replay_ended || fail 'replay' 'it did not end'
# An agent of notifications counts its starts; one of sFlow is known by its start's second.
noted="(SELECT id FROM agent WHERE boot < 1000)"
flowed="(SELECT id FROM agent WHERE boot >= 1000)"
taken=$(column_sum $ease.1.2.1.6)
wait_for 20 store_has "SELECT count(*) FROM sample WHERE agent = $noted" "$taken"
wait_for 20 store_has "SELECT count(*) FROM sample WHERE agent = $flowed" "$taken"
expect "all $taken samples came as sFlow" \
    "$(sql "SELECT count(*) FROM sample WHERE agent = $flowed")" "$taken"
expect 'the agent is known by the address it says' \
    "$(sql "SELECT address FROM agent WHERE id = $flowed")" 192.0.2.42

differ() { # SELECT-LIST FROM-AND-GROUP: rows that only one of the two agents has
	sql "SELECT count(*) FROM (
	    SELECT * FROM (SELECT $1 FROM ${2//AGENT/$noted} EXCEPT SELECT $1 FROM ${2//AGENT/$flowed})
	    UNION ALL
	    SELECT * FROM (SELECT $1 FROM ${2//AGENT/$flowed} EXCEPT SELECT $1 FROM ${2//AGENT/$noted}))"
}
expect 'the same samples by both ways' "$(differ \
    'if_index, sequence, direction, mean_skip, frame_octets, src_mac, dst_mac, vlan, ethertype, src_ip, dst_ip, ip_proto, src_port, dst_port' \
    'sample WHERE agent = AGENT')" 0
expect 'the same sums of every pair' "$(differ \
    'kind, if_index, direction, key1, key2, sum(n), sum(w), sum(wb)' \
    'window_key WHERE agent = AGENT GROUP BY kind, if_index, direction, key1, key2')" 0
# What only variances are made of is summed in seven digits, in the order of arrival.
expect 'the same variances of every pair' "$(sql "WITH s AS (SELECT agent = $noted AS noted, kind,
    if_index, direction, key1, key2, sum(w2) AS w2, sum(wb2) AS wb2, sum(w2b2) AS w2b2 FROM window_key
    GROUP BY 1, 2, 3, 4, 5, 6) SELECT count(*) FROM s AS a JOIN s AS b
    USING (kind, if_index, direction, key1, key2) WHERE a.noted AND NOT b.noted AND
    max(abs(a.w2 - b.w2) / a.w2, abs(a.wb2 - b.wb2) / a.wb2, abs(a.w2b2 - b.w2b2) / a.w2b2) > 1e-4")" 0
same_totals() {
	[ "$(differ 'if_index, direction, sum(pool_pkts), sum(pool_octets), sum(n), sum(w)' \
	    'window WHERE agent = AGENT GROUP BY if_index, direction')" = 0 ]
}
if wait_for 10 same_totals; then pass 'the same true totals of every port'
else fail 'the same true totals of every port' "$(sql 'SELECT agent, if_index, direction, sum(pool_pkts), sum(pool_octets), sum(n) FROM window GROUP BY 1, 2, 3')"; fi
talkers() { # AGENT-SQL: the report's rows without what names the agent
	easetop talkers --by pair --last all --format json --agent "$(sql "SELECT lower(hex(agent_id)) FROM agent WHERE id = $1")" |
	    jq -cS '.completeness, (.rows[] | {src, dst, samples, packets, octets, share})'
}
talkers "$noted" >"$rig/talkers.noted"
talkers "$flowed" >"$rig/talkers.flowed"
same_talkers=$(jq -n --slurpfile a "$rig/talkers.noted" --slurpfile b "$rig/talkers.flowed" '
    def near($b): if type == "number" then . == $b or ((. - $b) | fabs) < 1e-4 * fabs
	elif type == "object" then . as $a | keys == ($b | keys) and all(keys[]; . as $k | $a[$k] | near($b[$k]))
	else . == $b end;
    ($a | length) == ($b | length) and all(range($a | length); . as $i | $a[$i] | near($b[$i]))')
if [ -s "$rig/talkers.noted" ] && [ "$same_talkers" = true ]; then
	pass "easetop talkers: the same $(wc -l <"$rig/talkers.noted") lines by both ways"
else
	fail 'easetop talkers by both ways' "$(diff "$rig/talkers.noted" "$rig/talkers.flowed" | head -4)"
fi

# ---- tshark and sfcapd on the datagrams ----

rig_agent_stop
sleep 0.2 # the last datagram through the tap
rig_end "$tap_pid"
tap_pid=''
tshark -n -r "$rig/sflow.pcap" -V -O sflow >"$rig/tshark.txt" 2>/dev/null
# (A header that is cut off is malformed inside, at its own level.)
expect 'tshark finds no malformed sFlow' "$(grep -ciE 'malformed packet: sflow' "$rig/tshark.txt")" 0
# ifIndex, number, direction, rate, length, kept, source, destination of each flow sample
awk '
/^    [A-Z]/ { flow = /^    Flow sample/; if (flow) { out = ""; src = dst = "" } }
!flow { next }
/ = Index: / { index_ = $NF }
/ Sequence number: / { n = $NF }
/ Sampling rate: / { rate = $(NF - 1) }
/ Input interface .ifIndex.: / { dir = $NF == index_ ? 1 : 2 }
/ Frame Length: / { octets = $NF }
/ Sampled header length: / { kept = $NF }
/ Destination: [0-9a-f:]+$/ && length($NF) == 17 && dst == "" { dst = $NF }
/ Source: [0-9a-f:]+$/ && length($NF) == 17 && src == "" { src = $NF; print index_, n, dir, rate, octets, src, dst }
' "$rig/tshark.txt" | tr -d ':' | sort >"$rig/by-tshark"
sql "SELECT if_index || ' ' || sequence || ' ' || direction || ' ' || mean_skip || ' ' || frame_octets
    || ' ' || lower(hex(src_mac)) || ' ' || lower(hex(dst_mac)) FROM sample WHERE agent = $noted" |
    sort >"$rig/by-notification"
if [ -s "$rig/by-tshark" ] && cmp -s "$rig/by-tshark" "$rig/by-notification"; then
	pass "tshark reads the $(wc -l <"$rig/by-tshark") samples that the notifications told"
else
	fail 'tshark against notifications' "$(diff "$rig/by-tshark" "$rig/by-notification" | head -4)"
fi
# Every header is what a frame of the capture begins with.
tshark -r "$rig/sflow.pcap" -T fields -e sflow_245.header 2>/dev/null |
    tr ',' '\n' | grep . >"$rig/headers"
expect 'headers, octet for octet frames of the capture' "$(perl -e '
	local $/; open my $headers, "<", $ARGV[1]; my @headers = split /\n/, <$headers>;
	my %lengths = map { length($_) / 2 => 1 } @headers; my (%seen, $bad, $n);
	open my $pcap, "<:raw", $ARGV[0]; my $all = <$pcap>;
	for (my $at = 24; $at < length $all; $at += 16 + $n) {
		$n = unpack("V", substr($all, $at + 8, 4));
		my $frame = substr($all, $at + 16, $n);
		$frame .= "\0" x (60 - $n) if $n < 60;
		$frame .= "\0" x (-length($frame) % 4); # as tshark shows it, with its XDR padding
		$seen{unpack("H*", substr($frame, 0, $_))} = 1 for grep { $_ <= length $frame } keys %lengths;
	}
	$seen{$_} or $bad++ for @headers;
	print $bad // 0' "$capture" "$rig/headers") of $(wc -l <"$rig/headers")" "0 of $taken"
# Pools only rise, and over a whole run samples x rate come near them.
expect 'pools, drops and rate agree' "$(awk '
/^    Flow sample/ { flow = 1 } /^    Counters sample/ { flow = 0 }
flow && / = Index: / { i = $NF }
flow && / Sample pool: / { if ($3 < pool[i]) bad = "pool falls"; pool[i] = $3; n[i]++ }
flow && / Dropped packets: / && $NF != 0 { bad = "drops" }
END { for (i in pool) { total += pool[i]; samples += n[i] }
	off = samples * 20 / total - 1; if (off * off * samples > 25) bad = "rate off by " off
	print bad == "" ? "yes" : bad }' "$rig/tshark.txt")" yes
# The last counters of each port.
awk '
/^    Counters sample/ { counters = 1 } /^    Flow sample/ { counters = 0 }
!counters { next }
/ Interface index: / { i = $NF }
/ Input Octets: / { in_octets[i] = $NF } / Output Octets: / { out_octets[i] = $NF }
/ Input Packets: / { ucast[i] = $NF } / Output Broadcast Packets: / { bcast[i] = $NF }
END { for (i in ucast) print i, in_octets[i], ucast[i], out_octets[i], bcast[i] }
' "$rig/tshark.txt" | sort >"$rig/counters.tshark"
sql "SELECT if_index || ' ' || max(in_octets) || ' ' || max(in_ucast) || ' ' || max(out_octets) || ' ' ||
    max(out_bcast) FROM counter WHERE agent = $noted GROUP BY if_index" | sort >"$rig/counters.noted"
if [ -s "$rig/counters.tshark" ] && cmp -s "$rig/counters.tshark" "$rig/counters.noted"; then
	pass 'tshark reads the counters that the notifications told'
else
	fail 'counters' "$(diff "$rig/counters.tshark" "$rig/counters.noted" | head -4)"
fi
# What sfcapd has counted, beside the collector's samples.
hold_sfcapd() { # NAME WHERE
	[ -n "$sfcapd_pid" ] || { skip "$1" 'sfcapd is not there'; return; }
	rig_end "$sfcapd_pid"
	sfcapd_pid=''
	nfdump -r "$rig"/nf/nfcapd.2* -I >"$rig/nfdump" 2>&1
	expect "$1: samples, frames and octets that they stand for" \
	    "$(awk '$1 == "Flows:" || $1 == "Packets:" || $1 == "Bytes:" { printf "%s ", $2 }' "$rig/nfdump")" \
	    "$(sql "SELECT count(*) || ' ' || sum(mean_skip) || ' ' || sum(mean_skip * frame_octets) || ' ' FROM sample $2")"
}
hold_sfcapd sfcapd "WHERE agent = $noted"
# sfacctd, another project's reader: samples and octets of each pair of MAC and IP addresses.
if [ -n "$sfacctd_pid" ]; then
	by_sfacctd() {
		pmacct -p "$rig/imt" -s -O json | jq -r 'select(.ip_src // "" != "") |
		    "\(.mac_src) \(.mac_dst) \(.ip_src) \(.ip_dst) \(.packets) \(.bytes)"' |
		    perl -MSocket=inet_pton,AF_INET,AF_INET6 -lane '
			s/://g for @F[0, 1];
			$_ = unpack("H*", inet_pton(/:/ ? AF_INET6 : AF_INET, $_)) for @F[2, 3];
			print "@F" unless $F[2] =~ /^0+$/' | sort
	}
	sql "SELECT lower(hex(src_mac) || ' ' || hex(dst_mac) || ' ' || hex(src_ip) || ' ' || hex(dst_ip))
	    || ' ' || count(*) || ' ' || sum(frame_octets) FROM sample WHERE agent = $flowed AND
	    src_ip IS NOT NULL GROUP BY src_mac, dst_mac, src_ip, dst_ip" | sort >"$rig/by-us"
	agrees() { by_sfacctd >"$rig/by-sfacctd"; [ -s "$rig/by-us" ] && cmp -s "$rig/by-us" "$rig/by-sfacctd"; }
	if wait_for 10 agrees; then pass "sfacctd: samples and octets of $(wc -l <"$rig/by-us") pairs"
	else fail 'sfacctd: samples and octets of pairs' "$(diff "$rig/by-us" "$rig/by-sfacctd" | head -4)"; fi
else
	skip 'sfacctd' 'sfacctd is not there'
fi
sums=$(sql "SELECT sum(n) || ' ' || sum(wb) FROM window WHERE agent = $flowed")

# ---- instead of notifications ----

rig_new
printf 'sflow_listen = {"127.0.0.1:%s"}\nsample_rows = 0\n' "$sflow_port" >>"$rig/collector.conf"
if command -v sfcapd >/dev/null; then # it stands behind the collector, which sends on what comes
	start_sfcapd
	rig_end "$tap_pid"
	start_tap "$sfcapd_port"
	printf 'forward = {"127.0.0.1:%s"}\n' "$tap_port" >>"$rig/collector.conf"
fi
rig_start "$capture" lock_step 'mean_skip = 20' 'notify_samples = false' \
    "sflow_collector = \"127.0.0.1:$sflow_port\"" || exit 1
wait_for 60 replay_ended || fail 'replay of sFlow only' 'it did not end'
rig_agent_stop
wait_for 20 store_has "SELECT sum(n) || ' ' || sum(wb) FROM window" "$sums"
expect 'sFlow only: the same sums from the same seed' \
    "$(sql "SELECT sum(n) || ' ' || sum(wb) FROM window")" "$sums"
expect 'sFlow only: no sample came as notification, and none is missed' \
    "$(sql "SELECT count(*) FROM account WHERE agent = $noted"
    easetop loss --last all --format json | jq '.completeness + 0')" $'0\n1'
if [ -n "$sfcapd_pid" ]; then
	wait_for 20 none_queued "$tap_port" "$sfcapd_port"
	rig_end "$collector_pid" # the last thing that it does is to say its counters, which the store has as of the last batch
	expect 'sent on: all datagrams, once' "$(sed -n 's/.* stat: \(forward\.[a-z_]*\|sflow\.datagrams\) \([1-9][0-9]*\) .*/\1 \2/p' \
	    "$rig/collector.log")" "$(printf '%s\n' "sflow.datagrams $(sql "SELECT value FROM stat WHERE name = 'sflow.datagrams'")" \
	    "forward.sent $(sql "SELECT value FROM stat WHERE name = 'sflow.datagrams'")")"
fi
hold_sfcapd 'sfcapd behind the collector' ''

# ---- a foreign sender ----

rig_new
printf 'sflow_listen = {"127.0.0.1:%s"}\nsample_rows = 0\n' "$sflow_port" >>"$rig/collector.conf"
rig_collector || exit 1
perl "$top/tests/e2e/sflow_sender.pl" "$sflow_port"
wait_for 10 store_has "SELECT value FROM stat WHERE name = 'sflow.refused_datagram'" 1
# Of 200 datagrams of six 20 were lost, the last of them unheard of, and 24 came twice.
expect 'foreign: expected, received, duplicates' \
    "$(sql 'SELECT expected, received, duplicates FROM account')" '1194|1080|144'
expect 'foreign: true totals, over the wrap of 32 bits' \
    "$(sql 'SELECT sum(pool_pkts), sum(pool_octets) FROM window WHERE direction = 1')" '120000.0|96000000.0'
expect 'foreign: refused, and missing datagrams' "$(sql "SELECT group_concat(value) FROM stat WHERE name IN
    ('sflow.refused_version', 'sflow.refused_datagram', 'sflow.agent_restarts')")" '0,1,1'
# What flowed while datagrams were lost is a line of its own, as wide as the sender was slow just then.
share=$(easetop talkers --by src --last all --format json | jq '.lost.packets.high as $lost |
    .rows[] | select(.src == "10.9.0.1") | (.packets.low <= 90000 and .packets.high + $lost >= 90000)')
expect 'foreign: the interval, and what flowed while samples were lost, hold the truth' "$share" true

# Its samples as lines: every one that counted, as it was sent; a filter, a limit.
lines() { easetop samples --last all "$@"; }
expect 'samples as JSON lines: each once, with what it said' "$(lines | jq -sc '[length, (map(.time) | . == sort),
    (map(select(.src == "10.9.0.1" and .dst == "10.9.0.2" and .octets == 1000 and .rate == 100 and .agent == "192.0.2.7"
	and .if_index == 3 and .direction == "ingress" and .protocol == 17 and .src_port == 5000 and .dst_port == 6000
	and .src_mac == "02:00:00:00:00:01" and .ethertype == "0x0800")) | length), (map(.src) | unique)]')" \
    "$(sql 'SELECT json_array(count(*), json("true"), sum(src_ip = x'"'0a090001'"'), json_array("10.9.0.1", "10.9.0.3")) FROM sample')"
expect 'samples of a filter' "$(lines --filter 'src host 10.9.0.3 and octets < 500' | jq -c .src | sort | uniq -c | tr -s ' ')" \
    " $(sql "SELECT count(*) FROM sample WHERE src_ip = x'0a090003'") \"10.9.0.3\""
expect 'samples up to a number' "$(lines --top 7 | wc -l)" 7

# ---- agents without counters ----

rig_new
printf 'sflow_listen = {"127.0.0.1:%s"}\nsample_rows = 0\n' "$sflow_port" >>"$rig/collector.conf"
rig_collector || exit 1
perl "$top/tests/e2e/uncounted_sender.pl" "$sflow_port"
wait_for 10 store_has 'SELECT sum(n) FROM window' 1200
list() { easetop talkers --by src --last all "$@"; }
about='About: fewer than two counters came from 192.0.2.8 if3, 192.0.2.9 if4, so their traffic is estimated from samples alone; let the agent send counters, or ask it for them (poll in easecapd.conf).'
list --utc >"$rig/uncounted.txt"
expect 'no counters: the first line says about, and nothing is called counted' \
    "$(head -1 "$rig/uncounted.txt" | grep -c 'about .*, by samples alone') $(grep -c counted "$rig/uncounted.txt")" '1 0'
expect 'no counters: the ports, what to do, and the rows' "$(grep -A1 '^About' "$rig/uncounted.txt")" \
    "$about"$'\nRows that rest on such ports, wholly or partly: 2 of 2.'
expect 'no counters: load says so of each port, and shows no figure' \
    "$(easetop load --last all --format json | jq -c '.rows[] | [.check, .rx_octets]')" \
    $'["no counters",null]\n["no counters",null]'
expect 'no names: load says of how many ports, and what to do' "$(easetop load --last all --format json |
    jq -r '.nameless.ports, (.notes[] | select(.id == "nameless").text)' | xargs)" \
    '2 No name is known of 2 ports: agents of EASE send names each state_interval_s; let other switches send them, or ask them (poll in easecapd.conf).'
easetop agents --last all >"$rig/agents.txt"
expect 'no counters: agents names them' "$(grep '^About' "$rig/agents.txt")" "$about"
expect 'no counters: what the samples stand for, and all lines add up to it' "$(list --format json | jq -c '
    [.uncounted.n_ports, .uncounted.packets, .uncounted.octets, .totals.packets, .totals.octets, .uncounted.rows,
     ([.account | .rows, .others, .not_seen, .rest | .packets.estimate] | add),
     ([.account | .rows, .others, .not_seen, .rest | .octets.estimate] | add)]')" \
    '[2,120000,96000000,120000,96000000,2,120000,96000000]'
expect 'no counters: limits hold what was sent, and are of a count of samples' "$(list --format json | jq -c '
    .rows[] | select(.src == "10.9.0.1") | .packets | [.low < 88000, .low > 80000, .high > 92000, .high < 100000]')" \
    '[true,true,true,true]'
expect 'no counters: CSV has how many samples of a row are of such ports' \
    "$(list --format csv | sed 's/.*,//')" $'uncounted_samples\n900\n300'
perl "$top/tests/e2e/sflow_sender.pl" "$sflow_port"
wait_for 10 store_has 'SELECT sum(pool_pkts) FROM window WHERE direction = 1' 120000.0
list --utc >"$rig/mixed.txt"
expect 'some ports without counters: the first line says how much' \
    "$(head -1 "$rig/mixed.txt" | grep -cE 'about [0-9.]+ [kMG]b/s( \([0-9.]+ [kMG]b/s \.\. [0-9.]+ [kMG]b/s\))?, [0-9.]+ [kMG]b/s of it by samples alone')" 1
expect 'some ports without counters: of how much traffic, and how many samples of each row' \
    "$(list --format json | jq -c '[.totals.octets, .uncounted.octets, (.rows[] | .uncounted_samples)]')" \
    '[192000000,96000000,900,300]'
expect 'some ports without counters: of the others nothing is said' \
    "$(list --agent 192.0.2.7 --utc | grep -cE 'about|About|NO COUNTERS')" 0

exit $failed
