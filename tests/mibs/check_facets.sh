#!/bin/bash
# What ports count beside traffic, over a real snmpd: low-power idle, buffers, PAUSE and sources of
# bad frames of a board that has them all, as tables, in easetop's reports against the times and
# lengths of the frames played, and as notifications at a limited rate in snmptrapd's reading.
# Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../support/rig.sh"

capture=$rig.pcap
trap 'rig_stop; rm -rf "$rig" "$capture"' EXIT
start=1700000040 # the first second of a minute, as ranges begin with one

# GAP_US OCTETS SECOND COUNT SOURCE per line: so many frames of a length, with these gaps, from a
# second of the capture on; to a station that nobody has heard of.
make_frames() {
	perl -e 'open(my $f, ">:raw", $ARGV[0]) or die;
		print $f pack("VvvVVVV", 0xa1b2c3d4, 2, 4, 0, 0, 96, 1);
		while (<STDIN>) {
			my ($gap, $octets, $second, $count, $source) = split;
			for my $i (0 .. $count - 1) {
				my $us = $second * 1000000 + $i * $gap;
				print $f pack("V4", $ARGV[1] + int($us / 1000000), $us % 1000000, 60, $octets),
				    pack("H12H12n", "020000000002", $source, 0x0800), "\0" x 46;
			}
		}' "$capture" "$start"
}
# A gigabit port that gets every frame, and one at a tenth of that, which sends them.
make_board() {
	cat >"$rig/board.conf" <<-END
		flow = on
		chip "switch" { type = gt48002a }
		chip "mac" { type = c84302 }
		chip "pool" { type = tnetx4090 }
		chip "energy" { type = eee }
		port "fast" { speed = 1000  eee = on  eee_idle = 100  capture = "$capture" }
		port "slow" { speed = 100  eee = on  eee_idle = 100  capture = none }
	END
	board=$rig/board.conf
}
oid_of() { "$build/agent/easeagentd" --list-objects | awk -v name="$1" '$1 == name { print $2 }'; }
at() { date -u -d "@$((start + $1))" +%FT%TZ; }
field() { jq -r --arg port "$1" "[.rows[] | select(.port == \$port) | $2] | first" "$rig/report.json"; }
within() { # NAME IS LOW HIGH
	if jq -en "${2:-null} >= $3 and ${2:-null} <= $4" >/dev/null; then pass "$1"; else fail "$1" "$2 is not in $3..$4"; fi
}

# ---- reports ----

# For 130 s a frame every 10 ms; five bursts that the slow port cannot take; seven frames too long.
make_frames <<-'END'
	10000 1000 0 13000 020000000001
	13 1500 140 2000 020000000001
	13 1500 150 2000 020000000001
	13 1500 160 2000 020000000001
	13 1500 170 2000 020000000001
	13 1500 180 2000 020000000001
	1000000 1515 190 7 020000000099
END
rig_new
make_board
rig_start '' lock_step 'mean_skip = 20' 'counters_interval_s = 1' || exit 1
wait_for 60 replay_ended || { fail 'replay' 'it does not end'; exit 1; }
sleep 1.1 # a snapshot is at most a second old
stored() {
	[ "$(sqlite3 "$rig/ease.db" "SELECT max(time_us) FROM resource")" -ge $((start + 196))000000 ] &&
	    easetop errors --last all --format json | jq -e '.sources[0].frames == 7'
}
wait_for 20 stored || fail 'reports' 'the last counters are not stored'

easetop energy --from "$(at 60)" --to "$(at 120)" --format json >"$rig/report.json"
# Of 10 ms: the frame with preamble and gap (1,024 octets), 100 us until it sleeps, and waking up.
within 'energy: the gigabit port sleeps between frames' "$(field fast .asleep_rx)" 98.74 98.76
within 'energy: so does the other, which sends them slower' "$(field slow .asleep_tx)" 97.87 97.89
within 'energy: a hundred times a second' "$(field fast .events_per_s_rx)" 99 101
expect 'energy: what nothing passes sleeps on' "$(field fast '"\(.asleep_tx) \(.events_tx)"')" '100 0'
expect 'energy: the report says how complete it is' "$(jq '.completeness == 1' "$rig/report.json")" true
easetop energy --last all --format json >"$rig/report.json"
expect 'energy: all of it is easeEnergyTable' "$(field fast .events_rx)" \
    "$(($(snmp_get "$(oid_of easeEnergyInEvents).1") - $(sqlite3 "$rig/ease.db" \
    'SELECT in_events FROM resource WHERE if_index = 1 ORDER BY time_us LIMIT 1')))"

easetop pause --last all --format json >"$rig/report.json"
expect 'pause: episodes are as easeBufferTable has them' "$(field fast .episodes)" \
    "$(snmp_get "$(oid_of easeBufferPressedEpisodes).1")"
within 'pause: there are some in each burst' "$(field fast .episodes)" 5 10000
expect 'pause: each began and ended with a PAUSE frame' "$(field fast .pauses_tx)" \
    "$((2 * $(field fast .episodes)))"
expect 'pause: nothing is lost' "$(field fast .ingress_drops)" 0
# Each burst takes the slow port 2,000 times 121.76 us; its last frames wait in the pool by then.
within 'pause: time under back pressure' "$(field fast .back_pressure_s)" 1.1 1.22
expect 'pause: what waited came in the end' "$(snmp_get $if_x.11.2)" 23000
expect 'pause: frames at the MAC are no stalls of the sampler' \
    "$(column_sum "$(oid_of easePortStalledPkts)")" 0
easetop errors --last all --format json >"$rig/report.json"
expect 'errors: frames too long are errors of their port' "$(field fast '"\(.rx_errors) \(.rx_discards)"')" '7 0'
expect 'errors: and their source is below' \
    "$(jq -r '.sources[] | "\(.port) \(.source) \(.kind) \(.frames) \(.first) \(.last)"' "$rig/report.json")" \
    "fast 02:00:00:00:00:99 too long 7 $(at 190) $(at 196)"
for report in energy pause errors; do
	expect "$report: as text, with the completeness line" \
	    "$(easetop $report --last all | sed -n '1s/ .*//p; 2,$s/^\(PORT\|fast\) .*/\1/p' | head -3 | tr '\n' ' ')" \
	    'completeness PORT fast '
	expect "$report: as CSV" "$(easetop $report --last all --format csv | sed -n '1s/,if_index.*//p; 2s/^[^,]*,[^,]*,\([a-z]*\),.*/\1/p' | tr '\n' ' ')" \
	    'site,agent,port fast '
done

# ---- notifications ----

# A burst every half second for 30 s, each of which stops the fast port and is more than a CPU can
# follow that is to take every frame as a sample; then a frame when the minute is over.
{
	for i in $(seq 0 59); do echo "13 1500 $((i / 2)).$((i % 2 * 5)) 300 020000000001"; done
	echo '13 1500 62.0 1 020000000001'
} | make_frames
rig_new
make_board
watch_port=$(free_port)
echo "trap2sink 127.0.0.1:$watch_port demo" >>"$rig/snmpd.conf"
echo 'disableAuthorization yes' >"$rig/snmptrapd.conf"
snmptrapd -f -Lf "$rig/watch.log" -On -C -c "$rig/snmptrapd.conf" "udp:127.0.0.1:$watch_port" >/dev/null 2>&1 &
watch_pid=$!
rig_start '' recorded 'speed_factor = 10' 'mean_skip = 1' 'max_samples_per_s = 0' || exit 1
wait_for 30 replay_ended || fail 'notifications: replay' 'it does not end'
sleep 1.1
fast=$(client snmpbulkwalk -Oqn "127.0.0.1:$agent_port" $if_x.1 | sed -n "s/^\.$if_x\.1\.\([0-9]*\) \"fast\"$/\1/p")
client snmpset "127.0.0.1:$agent_port" "$(oid_of easePortMeanSkip).$fast" u 40 "$(oid_of easePortEdge).$fast" i 2 \
    "$(oid_of easePortHeaderOctets).$fast" u "$(snmp_get "$(oid_of easePortHeaderOctets).$fast")" >/dev/null
changed() { grep -aq "\.$ease\.0\.8\>.*" "$rig/watch.log" && [ "$(grep -ac "\.$ease\.0\.8\>" "$rig/watch.log")" -ge 2 ]; }
wait_for 5 changed
rig_end "$watch_pid"

# A kind's notifications in snmptrapd's reading; the objects that these have, without a port's number.
told() { grep -a "\.1\.3\.6\.1\.6\.3\.1\.1\.4\.1\.0 = OID: \.$ease\.0\.$1\>" "$rig/watch.log"; }
objects() { grep -ao "\.$ease\.1\.[0-9.]* = " | sed -E "s/\.$ease\.(1\.[0-9]+\.[0-9]+\.[0-9]+).*/\1/" | sort -u | tr '\n' ' '; }
# Growth every half second, but back pressure is told of a port every ten seconds only, at 0, 10 and 20, and
# stalls by the minute.
ports_of() { grep -ao "\.$ease\.1\.3\.2\.1\.1\.[0-9]* = " | sort | uniq -c | sort -rn; } # with how many of each
within 'notifications: easeBackPressure at its limited rate' "$(told 6 | ports_of | awk 'NR == 1 { print $1 }')" 2 4
expect 'notifications: easeBackPressure is of one port each' "$(told 6 | ports_of | awk '{ n += $1 } END { print n }')" "$(told 6 | wc -l)"
expect 'notifications: easeSamplingStalled once a minute for each of the two ports' "$(told 7 | wc -l)" 2
expect 'notifications: easeSamplingChanged for each value that a SET changed' "$(told 8 | wc -l)" 2
for kind in '6 easeBackPressure 1' '7 easeSamplingStalled 1' '8 easeSamplingChanged 5'; do
	read -r number name column <<<"$kind"
	expect "notifications: $name has agent, boot and its object" "$(told "$number" | objects)$(told "$number" |
	    grep -ao "\.$ease\.1\.3\.2\.1\.[0-9]*" | sed 's/.*\.//' | sort -u)" "1.1.1.0 1.1.2.0 1.3.2.1 $column"
done
changes() { easetop events --last all --top 1000 --format json |
	jq -r '[.rows[] | select(.event == "sampling changed") | "\(.port): \(.text)"] | sort | join("; ")'; }
both_stored() { [ "$(changes)" = 'fast: easePortEdge from true to false; fast: easePortMeanSkip from 1 to 40' ]; }
if wait_for 5 both_stored; then pass 'notifications: the event says what changed, from what to what'; else
	fail 'notifications: the event says what changed' "$(changes)"; fi
expect 'notifications: they are stored as events' "$(sqlite3 "$rig/ease.db" \
    "SELECT count(DISTINCT kind) FROM event WHERE kind IN (6, 7)")" 2
expect 'notifications: each of its own port' "$(easetop events --last all --top 1000 --format json |
    jq -r '[.rows[] | select(.event == "sampling stalled").port] | sort | join(" ")')" 'fast slow'
# Of every frame a sample, or it passed while the counter stood still. What passed between the last
# look at the counters and the skip written then is not known yet: of one burst at most.
pool=$(($(column_sum "$(oid_of easePortPoolIn)") + $(column_sum "$(oid_of easePortPoolOut)")))
within "stalls: samples and frames that none could be taken of make all $pool" \
    "$(($(column_sum "$(oid_of easePortSamples)") + $(column_sum "$(oid_of easePortStalledPkts)")))" \
    $((pool - 600)) "$pool"
exit $failed
