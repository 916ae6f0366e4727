#!/bin/bash
# Collectors that ship to a cluster of two ClickHouse servers, two shards on loopback. Notifications of
# one real switch's run are recorded once; copies with other agents' ids go to two collectors: of one
# agent all to both (duplicate sinks), of one the first half here and the second there (failover in
# the middle of a minute), of one the middle third there, too (and back), of one all there and four
# fifths here, of one all to one. A store of
# SQLite that got every datagram once says what is right: every report of the cluster must equal its.
# Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../../support/rig.sh"
. "$(dirname "$0")/../../support/clickhouse.sh"
reason=$(clickhouse_missing) && { skip 'all' "$reason"; exit 0; }
work=$rig-work
trap 'cluster_end; rig_stop; clickhouse_end; rm -rf "$rig" "$work"' EXIT
mkdir "$work"
collector_pids=()
cluster_end() {
	local pid
	for pid in "${collector_pids[@]}"; do rig_end "$pid"; done
	collector_pids=()
}

# ---- the feed ----

capture=${EASE_CAPTURES:-}/composed-a.pcap
if [ ! -r "$capture" ]; then
	skip 'real capture' 'EASE_CAPTURES is not set: the demo'"'"'s own is used'
	capture=$work/demo.pcap
	# Its 8 seconds are stretched to 20 minutes, because what is compared are minutes.
	"$top/conf/make-capture" "$work/8s.pcap" 8 >/dev/null && perl -e '
	    local $/ = \24; print scalar <STDIN>;
	    for ($/ = \16; my $head = <STDIN>; $/ = \16) {
		my ($s, $us, $kept, $octets) = unpack("V4", $head);
		$first //= $s * 1e6 + $us;
		my $t = $first + 150 * ($s * 1e6 + $us - $first);
		$/ = \$kept;
		print pack("V4", $t / 1e6, $t % 1e6, $kept, $octets), scalar <STDIN>;
	    }' <"$work/8s.pcap" >"$capture" || exit 1
fi
record() { # FILE: the notifications of one run of the capture
	local port
	rig_new
	port=$(free_port)
	perl "$top/tests/e2e/catch_datagrams.pl" "$port" "$1" &
	local catcher=$!
	disown $catcher
	wait_for 5 test -e "$1.ready"
	echo "trap2sink 127.0.0.1:$port demo" >>"$rig/snmpd.conf"
	rig_snmpd && rig_agent "$capture" lock_step 'mean_skip = 40' && wait_for 60 replay_ended || return 1
	rig_stop # the agent sends its last counters
	rig_end $catcher
}
cut() { # ID COLLECTOR EXPRESSION: a part of the feed for a collector
	perl "$top/tests/e2e/split_pcap.pl" "$work/feed.pcap" "$work/$2-$1.pcap" "$1" "$3"
}
import() { # STORE-NAME CAPTURE...
	local name=$1 file
	shift
	write_config "$name"
	for file in "$@"; do
		"$build/collector/easecapd" -c "$work/$name.conf" --import "$file" >>"$work/$name.log" 2>&1
	done
}

# ---- collectors ----

write_config() { # NAME [LINE...]
	local name=$1
	shift
	{
		cat <<-END
			listen = {"127.0.0.1:0"}
			communities = {"demo"}
			http_listen = ""
			run_as = root
			memory = 192
			store = "$work/$name.db"
			flush_interval = 100
			clock_tolerance = 0
			device_names = "$work/devices"
		END
		[ $# = 0 ] || printf '%s\n' "$@"
	} >"$work/$name.conf"
	chmod 600 "$work/$name.conf"
}
ship_config() { # NAME DATABASE
	local servers
	servers=$(printf '"http://127.0.0.1:%s", ' "${clickhouse_http[@]}")
	write_config "$1" "clickhouse = {${servers%, }}" "clickhouse_database = \"$2\"" \
	    'clickhouse_cluster = "ease"' 'clickhouse_user = "ease"' 'clickhouse_password = "secret"' \
	    'clickhouse_interval = 1' 'cluster_keep = {"samples 0h"}'
}
collector() { # NAME: starts it
	"$build/collector/easecapd" -c "$work/$1.conf" -f >>"$work/$1.log" 2>&1 &
	collector_pids+=($!)
	disown $!
	wait_for 10 grep -q 'listening on' "$work/$1.log"
}
# ---- what must be equal ----

samples_of() { "$build/tests/collector/store/store_sql" "$work/$1.db" 'SELECT sum(n) FROM window'; }
shipped_of() { # NAME DATABASE: samples of the minutes that have arrived
	local id
	id=$(sqlite3 "$work/$1.db" 'SELECT store_id FROM life')
	ch 0 "SELECT toUInt64(sum(n)) FROM $2.ports FINAL WHERE level = 1 AND collector = $id"
}
has_arrived() { [ "$(shipped_of "$1" "$2")" = "$3" ]; } # NAME DATABASE SAMPLES
cluster_url() { # DATABASE
	echo "clickhouse:http://ease@127.0.0.1:${clickhouse_http[1]}/$1?cluster=ease"
}
# A line for each value. What differs by nature is left out: the collectors' own counts, when they heard,
# what a boot gave out before its collector, which no cluster knows, and that a cluster has whole minutes.
easetop=$build/collector/easetop
ask() { # STORE REPORT [OPTION...]
	local store=$1
	shift
	"$easetop" "$@" "${range[@]}" --format json --store "$store" |
	    jq -r 'del(.. | .last_seen?, .clock_behind_s?, .before_collector?, .places?) | del(.collector, .store_work, .kept_since) |
	        del(.notes[] | select(.id | IN("store_work", "kept_since", "whole_minutes"))) | paths(scalars) as $p |
	        "\($p | map(tostring) | join("."))\t\(getpath($p))"'
}
# To nine digits, as sums come in another order.
differences() { # FILE FILE
	awk -v within="${within:-1e-9}" -F '\t' 'function apart(a, b) {
		if (a == b) return 0
		if (a !~ /^-?[0-9.e+-]+$/ || b !~ /^-?[0-9.e+-]+$/) return 1
		d = a - b; m = a < 0 ? -a : +a
		return (d < 0 ? -d : d) > within * (m > 1 ? m : 1) }
	    NR == FNR { is[$1] = $2; next }
	    !($1 in is) { print $1 ": missing, " $2; next }
	    { if (apart(is[$1], $2)) print $1 ": " is[$1] " instead of " $2; delete is[$1] }
	    END { for (k in is) print k ": " is[k] " too much" }' "$1" "$2"
}
equal_report() { # DATABASE REFERENCE REPORT [OPTION...]
	local database=$1 reference=$2 n
	shift 2
	ask "$(cluster_url "$database")" "$@" >"$work/is" 2>"$work/is.err"
	ask "sqlite:$work/$reference.db" "$@" >"$work/must" 2>/dev/null
	n=$(wc -l <"$work/must")
	differences "$work/is" "$work/must" >"$work/apart"
	if [ "$n" -gt 5 ] && [ ! -s "$work/apart" ]; then pass "report: $* ($n values)"; else
		fail "report: $*" "$(wc -l <"$work/apart") of $n differ: $(head -n 3 "$work/apart") $(head -n 2 "$work/is.err")"
	fi
}
export CLICKHOUSE_PASSWORD=secret

both=ea05000000000001 misses=ea05000000000002 alone=ea05000000000003 moves=ea05000000000004 returns=ea05000000000005
printf '%s\n' "agent $both name first site one" "agent $misses site one" "agent $alone name \"the third\" site two" \
    "port * e-* name x*" "port $alone e-2 site one" >"$work/devices"
clickhouse_start 2 secret || { fail 'servers' 'they did not start'; exit 1; }
record "$work/feed.pcap" || { fail 'feed' 'no notifications were recorded'; exit 1; }
cut $both a 1; cut $both b 1
cut $misses a '!chance(0.2)'; cut $misses b 1
cut $alone a 1
cut $moves c '$i < $n / 2'; cut $moves d '$i >= $n / 2'
cut $returns c '$i < $n / 3 || $i >= 2 * $n / 3'; cut $returns d '$i >= $n / 3 && $i < 2 * $n / 3'
import a "$work"/a-*.pcap &
import b "$work"/b-*.pcap &
import one "$work/b-$both.pcap" "$work/b-$misses.pcap" "$work/a-$alone.pcap" &
import c "$work"/c-*.pcap &
import d "$work"/d-*.pcap &
import moved "$work/c-$moves.pcap" "$work/d-$moves.pcap" &
wait

# A clock that is corrected, and records refused: 7 in all, of them 4 by b, which refused the newest.
put_identities() { # STORE REFUSED REASON SOURCE NEWEST
	sqlite3 "$work/$1.db" "INSERT INTO agent_clock SELECT id, -7200000000, 1 FROM agent WHERE agent_id = x'$alone';
	    INSERT INTO agent_refused SELECT id, $2, '$4', $3, 1000000, $5 FROM agent WHERE agent_id = x'$both'"
}
put_identities a 3 1 192.0.2.7 2000000
put_identities b 4 2 192.0.2.8 3000000
put_identities one 7 2 192.0.2.8 3000000

# Packets that were dropped: of one agent both collectors were told, of one only one.
put_drops() { # STORE AGENT-ID N MINUTE
	local minute="(SELECT (last_us / 60000000 - $4) * 60000000 FROM agent WHERE agent_id = x'$2')"
	sqlite3 "$work/$1.db" "INSERT INTO discard SELECT id, $minute, 1, kind, 2, reason, detail, 'ip_rcv', 'l3', src, dst,
	    n * $3, last_received_us FROM agent, (SELECT 1 AS kind, 258 AS reason, 'acl' AS detail, x'0a000001' AS src,
	    x'0a000002' AS dst, 3 AS n UNION ALL SELECT 1, 259, '', x'', x'', 4 UNION ALL SELECT 1, 258, 'acl',
	    x'020000000001', x'020000000002', 5 UNION ALL SELECT 2, 0, '', x'', x'', 6 UNION ALL
	    SELECT 3, 0, '', x'', x'', 7 UNION ALL SELECT 4, 0, '', x'', x'', 8) WHERE agent_id = x'$2';
	    INSERT INTO discard SELECT id, $minute, 103079215104, kind, 2, 0, '', '', '', x'', x'', 9 * $3, last_received_us
	    FROM agent, (SELECT 3 AS kind UNION ALL SELECT 4) WHERE agent_id = x'$2'" # of a source that is no port
}
for minute in 1 2 4; do
	for name in a b one; do put_drops $name $both $minute $minute; done
	for name in a one; do put_drops $name $alone 10 $minute; done
done

# What cannot be (EASE_ODD_NO_RATE), and a port that samples only a part of its frames (AUDIT_FILTERED). What the first
# collector heard of, the second did, too.
for name in a b one; do
	sqlite3 "$work/$name.db" "INSERT OR REPLACE INTO oddity SELECT id, k.if_index, k.kind, k.n, last_us - 60000000, last_us
	    FROM agent, (SELECT 0 AS if_index, 7 AS kind, 5 AS n UNION ALL SELECT 1, 18, 3
	    UNION ALL SELECT 1, 71, 1) k WHERE agent_id = x'$both'"
done

# Links by LLDP: the first two collectors know of one each, the second of both its ends; the newest word on a port counts.
put_link() { # STORE AGENT PORT OTHER-AGENT OTHER-PORT SECONDS-AGO
	sqlite3 "$work/$1.db" "INSERT OR REPLACE INTO link SELECT a.id, $3, b.id, $5, a.last_us - $6 * 1000000 FROM agent a, agent b
	    WHERE a.agent_id = x'$2' AND b.agent_id = x'$4'"
}
for name in a one; do put_link $name $both 1 $alone 2 60; done
for name in b one; do put_link $name $both 2 $misses 1 60; put_link $name $misses 1 $both 2 90; done
put_link a $both 2 $alone 1 3600 # as it was an hour before

# What routers state of each sample.
for name in a b one; do
	sqlite3 "$work/$name.db" 'UPDATE sample SET src_as = 64496 + ifnull(src_port, 0) % 4, dst_as = 64500 + ifnull(dst_port, 0) % 4,
	    queue = if_index % 3, depth_octets = sequence * 7919 % 100000, delay_ns = nullif(sequence * 104729 % 1000003, 0)'
done

# ---- shipping ----

for name in a b; do ship_config $name ease; done
for name in c d; do ship_config $name moved; done
schema=$("$build/collector/easecapd" -c "$work/a.conf" --clickhouse-schema 2>&1)
expect 'schema: printed before there is one' \
    "$(grep -o '[a-z_]*_local (' <<<"$schema" | sort -u | wc -l)" 24
expect 'schema: without the password' "$(grep -c secret <<<"$schema")" 0
# Tables from before the first release are refused.
for statement in 'CREATE DATABASE older' 'CREATE TABLE older.migration (number UInt32) ENGINE = MergeTree ORDER BY number' \
    'INSERT INTO older.migration VALUES (6)'; do ch 0 "$statement"; done
older=$("$build/collector/easetop" agents --store "clickhouse:http://ease@127.0.0.1:${clickhouse_http[0]}/older" 2>&1)
expect 'tables from before the first release are refused' "$(grep -c 'before the first release' <<<"$older")" 1
ship() { # DATABASE COLLECTOR...: these, started
	local name n
	for name in "${@:2}"; do
		collector "$name" || { fail "collector $name" "it does not start: $(tail -n 2 "$work/$name.log")"; exit 1; }
	done
	for name in "${@:2}"; do
		n=$(samples_of "$name")
		wait_for 20 has_arrived "$name" "$1" "$n"
		expect "collector $name: all its samples are in the cluster" "$(shipped_of "$name" "$1")" "$n"
	done
}
ship ease a b
ship moved c d
for i in 0 1; do
	n=$(ch $i 'SELECT uniq(agent) FROM ease.ports_local')
	if [ "$n" -ge 1 ]; then pass "shard $i has $n agents"; else fail "shard $i" "it has $n agents"; fi
done

# ---- every report ----

grid() { # STORE: behind the line of totals
	"$build/collector/easetop" matrix "${range[@]}" --utc --store "$1" | tail -n +2
}
minute() { # TIME N: N minutes later
	date -u -d "@$(($(date -u -d "$1" +%s) / 60 * 60 + $2 * 60))" +%FT%TZ
}
reports() { # DATABASE REFERENCE
	local by span whole minutes
	span=$("$build/collector/easetop" talkers --last all --format json --store "sqlite:$work/$2.db")
	range=(--from "$(jq -r .from <<<"$span")" --to "$(jq -r .to <<<"$span")")
	whole=("${range[@]}")
	# A cluster has no steps below a minute.
	for report in talkers matrix protocols conversations connections 'history --step 1m' load errors addresses events alarms; do
		equal_report "$1" "$2" $report --top 20
	done
	for report in load energy pause agents loss audit billing 'billing --by site' drops 'drops --by reason' 'drops --by port' delay 'delay --by pair' links; do
		# Ends of five minutes lie between two counters, of which each store keeps fewer when it has the time for it.
		[[ $report != billing* ]] || local within=1e-3
		equal_report "$1" "$2" $report
		unset within
	done
	# Within: what was counted up to an end lies between two counters, of which each collector has kept others.
	for minutes in 1-2 3-5 10-12; do
		range=(--from "$(minute "${whole[1]}" "${minutes%-*}")" --to "$(minute "${whole[1]}" "${minutes#*-}")")
		for report in load pause; do equal_report "$1" "$2" $report; done
	done
	range=("${whole[@]}")
	equal_report "$1" "$2" talkers --by pair --versus 1m
	equal_report "$1" "$2" conversations --versus 1m
	equal_report "$1" "$2" connections --by src --addr 10.0.0.0/8
	equal_report "$1" "$2" connections --addr 10.0.0.0/8
	equal_report "$1" "$2" talkers --per site
	equal_report "$1" "$2" talkers --by as-pair
	equal_report "$1" "$2" talkers --by dst-as --filter 'src as 64497'
	equal_report "$1" "$2" talkers --filter 'site two and not if e-1'
	equal_report "$1" "$2" conversations --filter 'icmp-type icmp-echo or dst port < 1024' --top 20
	equal_report "$1" "$2" protocols --filter 'icmp and not (icmp-type 0 and icmp-code 0)'
	expect 'report: matrix as a grid' "$(grid "$(cluster_url "$1")")" "$(grid "sqlite:$work/$2.db")"
	"$easetop" samples "${range[@]}" --store "$(cluster_url "$1")" | sort >"$work/lines"
	"$easetop" samples "${range[@]}" --store "sqlite:$work/$2.db" | sort >"$work/must-lines"
	if [ "$(wc -l <"$work/lines")" -gt 100 ] && cmp -s "$work/lines" "$work/must-lines"; then
		pass "samples: $(wc -l <"$work/lines") lines"
	else
		fail 'samples as lines' "$(wc -l <"$work/lines") lines: $(diff "$work/lines" "$work/must-lines" | head -2)"
	fi
	printf '10.0.0.0/%d net-%d\n' 8 8 12 12 16 16 25 25 >"$work/networks"
	equal_report "$1" "$2" talkers --by network-pair --names "$work/networks"
	equal_report "$1" "$2" talkers --by dst --filter 'src network net-25' --names "$work/networks"
	[ -n "${EASE_LONG:-}" ] || return
	for by in src dst pair subnet vlan; do equal_report "$1" "$2" talkers --by $by --top 100; done
	equal_report "$1" "$2" talkers --layer eth --sort packets
	equal_report "$1" "$2" talkers --agent $misses --top 20
	equal_report "$1" "$2" talkers --agent $alone --port e-2
	equal_report "$1" "$2" talkers --addr 10.0.0.0/8 --by dst
	equal_report "$1" "$2" talkers --proto udp
	for by in service proto ethertype vlan; do equal_report "$1" "$2" protocols --by $by; done
	for by in src service; do equal_report "$1" "$2" history --by $by --step 5m; done
}
reports ease one
equal_report ease one links --agent $misses
expect 'verdicts and oddities: told of a cluster' "$(for report in talkers agents loss; do
	"$easetop" $report "${range[@]}" --store "$(cluster_url ease)"
done | grep -c 'samples only a part of its frames\|an uptime that cannot be\|samples refused: rate 0')" 3

# ---- one that changed over in the middle of a minute ----

# What was counted between the last counters here and the first there is nobody's: a few frames. What was
# given out before the second collector's first word of a port counts in the account, and in no minute.
answer=$("$build/collector/easetop" talkers --agent $moves --last all --format json --store "$(cluster_url moved)")
must=$("$build/collector/easetop" talkers --agent $moves --last all --format json --store "sqlite:$work/moved.db")
expect 'failover: every sample once' "$(jq .samples <<<"$answer")" "$(jq .samples <<<"$must")"
expect 'failover: octets counted, but for a hundredth' \
    "$(jq -n "$(jq .totals.octets <<<"$answer") / $(jq .totals.octets <<<"$must") | . <= 1 and . > 0.99")" true
for agent in $moves $returns; do
	for report in talkers load agents history matrix loss; do
		expect "failover: completeness of $report of $agent" "$("$build/collector/easetop" $report --agent $agent --last all \
		    --format json --store "$(cluster_url moved)" | jq -c '[.completeness, .rows[]?.completeness?] |
		    map(numbers) | unique')" '[1]'
	done
done
for agent in $moves $returns; do
	expect "failover: lost samples of $agent" "$("$build/collector/easetop" loss --agent $agent --last all --format json \
	    --store "$(cluster_url moved)" | jq -c '[([.rows[].received] | add > 1000), ([.rows[].lost] | add)]')" '[true,0]'
done

# ---- what is no longer so, and a refusal of an agent that says nothing more ----

agents_of() { "$easetop" agents --last all --format json --store "$(cluster_url ease)" | jq -c "[.rows[] | $1]"; }
expect 'agents: a corrected clock' "$(agents_of .clock_corrected_s)" '[0,0,-7200]'
expect 'agents: records refused' "$(agents_of '.refused, .refused_reason')" '[7,"boot",0,null,0,null]'
sqlite3 "$work/a.db" "DELETE FROM agent_clock; UPDATE agent_refused SET records = 5"
clock_is_right() { [ "$(agents_of '.clock_corrected_s, .refused')" = '[0,9,0,0,0,0]' ]; }
wait_for 20 clock_is_right
expect 'agents: the clock is right again, more were refused' "$(agents_of '.clock_corrected_s, .refused')" '[0,9,0,0,0,0]'

# ---- what a third collector counted over an hour in which it received nothing ----

# A frame a millisecond; the minutes that another collector has are counted by that one.
first=$(ch 0 "SELECT min(start_us) FROM moved.cover WHERE agent = unhex('$moves')")
minute=60000000
has=$(ch 0 "SELECT uniq(start_us) FROM moved.cover WHERE agent = unhex('$moves') AND start_us < $first + 40 * $minute")
ch 0 "INSERT INTO moved.gap (agent, if_index, from_us, until_us, received_us, in_pkts, in_octets, out_pkts, out_octets,
    collector, revision) SELECT agent, min(if_index), toInt64($first - 20 * $minute), toInt64($first + 40 * $minute), 0, 3600000, 0,
    0, 0, 999, 1 FROM moved.account WHERE agent = unhex('$moves') GROUP BY agent"
in_gaps() { # FROM TO, in minutes from the first
	"$build/collector/easetop" loss --from "$(date -u -d "@$(((first + $1 * minute) / 1000000))" +%FT%TZ)" \
	    --to "$(date -u -d "@$(((first + $2 * minute) / 1000000))" +%FT%TZ)" --agent $moves --format json \
	    --store "$(cluster_url moved)" | jq '[.places[] | select(.place | startswith("not sampled")).count] | add // 0'
}
wait_for 10 prints 1 ch 0 'SELECT count() FROM moved.gap WHERE collector = 999'
expect 'gap: minutes that no other collector has' "$(in_gaps -30 60)" $(((60 - has) * 60000))
expect 'gap: its beginning' "$(in_gaps -15 -5)" 600000
expect 'gap: a minute that another collector has' "$(in_gaps 0 1)" 0

# ---- rows without partitions that are older than the sums of days (cluster_keep_1d: 800 days) ----

# Of 1970, of a port that an agent had then and one that it still has; the keepers look every 20 seconds.
in_1970=$(ch 0 "SELECT min(if_index) FROM moved.port WHERE agent = unhex('$moves')")
ch 0 "INSERT INTO moved.account (agent, boot, if_index, last_us, collector, revision) SELECT agent, -1, min(if_index), 1, 1, 1
    FROM moved.account GROUP BY agent"
ch 0 "INSERT INTO moved.gone (agent, boot, if_index, samples, collector, revision) SELECT agent, -1, min(if_index), 1, 1, 1
    FROM moved.account GROUP BY agent"
for since in 1 2; do
	ch 0 "INSERT INTO moved.port (agent, if_index, since_us, collector, revision) VALUES (unhex('$moves'), $in_1970, $since, 1, 1)"
done
ch 0 "INSERT INTO moved.port (agent, if_index, since_us, collector, revision) VALUES (unhex('$both'), 1, 1, 1, 1)"
ch 0 "INSERT INTO moved.agent (agent, last_us, collector, revision) VALUES (unhex('$both'), 1, 1, 1)"
ch 0 "INSERT INTO moved.error_source (agent, if_index, mac, last_us, collector, revision) VALUES (unhex('$moves'), 1, 'abcdef', 1, 1, 1)"
# An agent that was silent since; and one that was not, and says it is 1970.
for column in agent:last_us agent_identity:last_received_us port:since_us account:last_us; do
	ch 0 "INSERT INTO moved.${column%:*} (agent, ${column#*:}, collector, revision) VALUES (unhex('1970197019701970'), 1, 1, 1)"
done
ch 0 "INSERT INTO moved.agent (agent, last_us, last_received_us, collector, revision)
    SELECT unhex('1970197019701971'), 1, max(last_received_us), 1, 1 FROM moved.agent"
counts() { # TABLE-AND-CONDITION...: of each how many rows, in one question
	local what sql=''
	for what; do sql+="${sql:+, }(SELECT count() FROM moved.$what)"; done
	ch 0 "SELECT $sql" | tr '\t' ' '
}
rows_of_silent() { # agents, identities, and the other agent
	counts "agent WHERE agent = unhex('1970197019701970')" "agent_identity WHERE agent = unhex('1970197019701970')" \
	    "agent WHERE agent = unhex('1970197019701971')"
}
ch 0 'INSERT INTO moved.outage (id, until_us, collector, revision) VALUES (1, 1, 1, 1)'
of_1970() { # rows of each table
	counts 'account WHERE last_us < 1000' 'gone WHERE boot < 1000' 'port WHERE since_us < 1000' \
	    'error_source WHERE last_us < 1000' 'outage WHERE until_us < 1000'
}
younger() { counts 'account FINAL WHERE revision > 1' 'port FINAL WHERE revision > 1' 'outage FINAL WHERE revision > 1'; }
has_1970() { prints '3 2 4 1 1' of_1970 && prints '1 1 1' rows_of_silent; }
wait_for 5 has_1970
before=$(younger)
wait_for 60 prints '0 0 1' rows_of_silent # they leave after the others
wait_for 60 prints '0 0 1 0 0' of_1970
expect 'old rows: all but the state of a port that is still there' "$(of_1970)" '0 0 1 0 0'
expect 'old rows: an agent that was silent since leaves when nothing hangs on it' "$(rows_of_silent)" '0 0 1'
for i in 0 1; do ch $i "ALTER TABLE moved.agent_local DELETE WHERE agent = unhex('1970197019701971')"; done
expect 'old rows: younger ones stay' "$(younger)" "$before"

# ---- SIGHUP takes how long the cluster keeps what ----

# One of ten days before; the keepers look every 20 seconds.
newest=$(ch 0 'SELECT max(time_us) FROM moved.sample')
ch 0 "INSERT INTO moved.sample (agent, boot, if_index, sequence, time_us, collector, revision)
    SELECT agent, boot, if_index, 1, toInt64($newest - 864000000000), 1, 1 FROM moved.account LIMIT 1"
old_samples() { ch 0 "SELECT count() FROM moved.sample WHERE time_us < $newest - 800000000000"; }
has_old() { [ "$(old_samples)" = 1 ]; }
has_none() { [ "$(old_samples)" = 0 ]; }
wait_for 10 has_old
expect 'kept for ever' "$(old_samples)" 1
for i in 2 3; do
	name=$([ $i = 2 ] && echo c || echo d)
	sed -i 's/^cluster_keep.*/cluster_keep = {"samples 1d"}/' "$work/$name.conf"
	kill -HUP "${collector_pids[$i]}"
	wait_for 5 grep -q 'reload: cluster_keep: samples is in force' "$work/$name.log"
	expect "SIGHUP: $name keeps samples for a day" "$(grep -c 'cluster_keep: samples is in force' "$work/$name.log")" 1
done
if [ -n "${EASE_LONG:-}" ]; then
	wait_for 90 has_none
	expect 'kept for a day' "$(old_samples)" 0
fi
for i in 2 3; do # or they go on asking the servers each second
	rig_end "${collector_pids[$i]}"
	collector_pids[i]=''
done

# ---- once more: what is there already stays as it is; what was wiped comes again ----

state() {
	ch 0 'SELECT sum(n), sum(w), sum(wb), count() FROM ease.keys FINAL WHERE level = 1'
	ch 0 'SELECT sum(received), count() FROM ease.cover FINAL'
	ch 0 'SELECT sum(received), count() FROM ease.account FINAL'
}
before=$(state)
rig_end "${collector_pids[0]}"
# The tables as version 8 had them: what one of them lacks comes with the next collector that starts.
for i in 0 1; do
	for statement in 'DROP TABLE ease.oddity' 'DROP TABLE ease.oddity_local' 'DROP TABLE ease.link' 'DROP TABLE ease.link_local' 'TRUNCATE TABLE ease.migration' \
	    'ALTER TABLE ease.sample DROP COLUMN vni, DROP COLUMN src_as, DROP COLUMN dst_as, DROP COLUMN queue, DROP COLUMN depth_octets, DROP COLUMN delay_ns' \
	    'ALTER TABLE ease.sample_local DROP COLUMN vni, DROP COLUMN src_as, DROP COLUMN dst_as, DROP COLUMN queue, DROP COLUMN depth_octets, DROP COLUMN delay_ns' \
	    'INSERT INTO ease.migration VALUES (8)'; do ch $i "$statement"; done
done
collector a
wait_for 20 has_arrived a ease "$(samples_of a)"
has_oddities() { [ "$(ch 0 "SELECT count() FROM ease.oddity FINAL WHERE agent = unhex('$both')" 2>/dev/null)" -ge 3 ]; }
wait_for 20 has_oddities
expect 'tables of the version before: brought up' "$(ch 0 'SELECT max(number) FROM ease.migration')" 13
expect 'sent again after a start: nothing is doubled' "$(state)" "$before"
schema=$("$build/collector/easecapd" -c "$work/a.conf" --clickhouse-schema 2>&1)
expect 'schema: nothing is missing' "$(grep -c 'CREATE' <<<"$schema")" 0
for i in 0 1; do ch $i 'DROP DATABASE ease'; done
is_back() { [ "$(state)" = "$before" ]; }
wait_for 30 is_back
expect 'wiped: all comes again' "$(state)" "$before"
cluster_end

# ---- a range that ends now: both are asked at the same moment ----

easetop=$build/tests/collector/cluster/easetop_at
newest=$(sqlite3 "$work/one.db" 'SELECT max(last_us) FROM agent')
export EASE_NOW_US=$((newest + 30000000))
range=(--last 2m)
end_of() { ask "$1" talkers | grep -P '^to\t'; } # STORE
ends_alike() { [ "$(end_of "$(cluster_url ease)")" = "$(end_of "sqlite:$work/one.db")" ]; }
wait_for 30 ends_alike # what was wiped comes again table by table
# Of the last hour a store has steps of ten seconds, a cluster minutes.
for report in talkers load 'history --step 1m'; do equal_report ease one $report; done
# With memory for fewer keys a history fetches fewer of its steps at once, or each by itself.
range=(--last 20m)
of_few() { EASE_KEYS=$1 "$easetop" history --step 1m --by proto "${range[@]}" --format json --store "$(cluster_url ease)"; }
of_few 2000 >"$work/at-once"
for keys in 400 150; do
	if [ "$(jq '[.rows[].top[]?] | length' "$work/at-once")" -gt 20 ] && of_few $keys | cmp -s - "$work/at-once"; then
		pass "history with memory for $keys keys"
	else fail "history with memory for $keys keys" "$(of_few $keys | diff - "$work/at-once" | head -n 3)"; fi
done
range=(--last 2m)
rfc3339() { date -u -d "@$(($1 / 1000000))" +%FT%TZ; }
# The cluster's answer must end at this moment, say so, and be what the store says of those minutes.
ends_at() { # WHAT TIME_US
	local end=$2 report
	for report in talkers conversations 'history --step 1m' load; do
		range=(--last 2m)
		ask "$(cluster_url ease)" $report >"$work/live" 2>"$work/is.err"
		range=(--from "$(rfc3339 $((end - 120000000)))" --to "$(rfc3339 "$end")")
		ask "sqlite:$work/one.db" $report | grep -v -P '^newest\t' >"$work/must"
		grep -v -P '^(newest|counted_to)\t' "$work/live" >"$work/is"
		expect "$1: $report ends where it must" "$(awk '$1 == "to" || $1 == "counted_to" { print $2 }' "$work/live")" \
		    "$(rfc3339 "$end")"$'\n'"$(rfc3339 "$end")"
		expect "$1: $report is what the store says" "$(differences "$work/is" "$work/must" | head -n 3; wc -l <"$work/must")" \
		    "$(wc -l <"$work/is")"
	done
	expect "$1: the report says why" "$("$easetop" talkers --last 2m --store "$(cluster_url ease)" |
	    grep -c 'last minute that the cluster has')" 1
}
# Counters that are 20 seconds older than the samples.
columns=$(ch 0 'DESCRIBE TABLE ease.account' | awk '{ print $1 }' | paste -sd ,)
ch 0 "INSERT INTO ease.account ($columns) SELECT $(sed 's/base_us/base_us - 20000000/; s/revision/revision + 1/' <<<"$columns")
    FROM ease.account FINAL"
edge=$(ch 0 'SELECT intDiv(min(base_us), 60000000) * 60000000 FROM (SELECT max(base_us) AS base_us FROM ease.account FINAL
    GROUP BY agent, if_index)')
ends_at 'counters in the middle of a minute' "$edge"
# The minute that the agents are in is not there yet.
open=$((newest / 60000000 * 60000000))
for i in 0 1; do
	for table in keys ports folded cover; do ch $i "ALTER TABLE ease.${table}_local DELETE WHERE start_us >= $open"; done
done
is_open() { [ "$(ch 0 "SELECT (SELECT count() FROM ease.cover WHERE start_us >= $open) +
    (SELECT count() FROM ease.keys WHERE start_us >= $open) + (SELECT count() FROM ease.folded WHERE start_us >= $open) +
    (SELECT count() FROM ease.ports WHERE start_us >= $open)")" = 0 ]; }
wait_for 30 is_open
ends_at 'the open minute is not in the cluster' "$((open < edge ? open : edge))"

# ---- counters that come seldom ----

# Of one port all but three: the newest is older than a minute, the one before it by 45 seconds or more.
rare=$(ch 0 "SELECT min(if_index) FROM ease.account WHERE agent = unhex('$both')")
of_rare="agent = unhex('$both') AND if_index = $rare"
counters_until() { ch 0 "SELECT max(time_us) FROM ease.counter WHERE $of_rare AND time_us <= $1"; }
last=$(counters_until $((open - 70000000)))
before=$(counters_until $((last - 45000000)))
first=$(counters_until $((before - 45000000)))
keep_counters() { # TIME...: and no others
	local i n=$# times
	times=$(IFS=,; echo "$*")
	for i in 0 1; do ch $i "ALTER TABLE ease.counter_local DELETE WHERE $of_rare AND NOT (time_us IN ($times))"; done
	are_kept() { [ "$(ch 0 "SELECT uniq(time_us) FROM ease.counter WHERE $of_rare")" = "$n" ]; }
	wait_for 30 are_kept
}
silent() { "$easetop" talkers --last 10m --format json --store "$(cluster_url ease)" | jq -c '[.silent[]? | [.agent, .port]]'; }
keep_counters "$last" "$before" "$first"
ch 0 "INSERT INTO ease.account ($columns) SELECT $(sed "s/base_us/toInt64($last)/; s/revision/revision + 1/" <<<"$columns")
    FROM ease.account FINAL WHERE $of_rare"
expect 'counters that come seldom: the port is not silent' "$(silent)" '[]'
keep_counters "$last"
expect 'no more counters: the port is silent' "$(silent | jq length)" 1

# ---- what was sent, and who may only read ----

expect 'one who may only read can ask' "$("$easetop" talkers --last all --format json --store "$(cluster_url ease |
    sed 's/ease@/reader@/')" | jq '.rows | length')" "$("$easetop" talkers --last all --format json --store "$(cluster_url ease)" |
    jq '.rows | length')"
expect 'the guide lists all that is sent' "$(clickhouse_unlisted "user = 'ease' AND is_initial_query")" ''
exit $failed
