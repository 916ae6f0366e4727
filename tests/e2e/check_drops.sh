#!/bin/bash
# Packets that switches discarded and told of by sFlow (tests/e2e/drops.py): easetop drops has each event once, by
# source, destination, reason, place, group and port, whatever comes twice, late or not at all; and of each port
# what it counted + not counted = explained + not sent + lost + unexplained. Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../support/rig.sh"
command -v python3 >/dev/null || { skip 'all' 'python3 is not there'; exit 0; }
rig_new
python3 "$top/tests/e2e/drops.py" "$rig/drops.pcap" >"$rig/truth" || exit 1
"$build/collector/easecapd" -c "$rig/collector.conf" --import "$rig/drops.pcap" >"$rig/collector.log" 2>&1
expect 'taken' $? 0

drops() { "$build/collector/easetop" drops --from "${from:-2023-11-14T00:00:00Z}" --to "${to:-2023-11-15T00:00:00Z}" --top 2000 --format json --store "sqlite:$rig/ease.db" "$@"; }
truth() { awk -v by="$1" '$1 == by { print $2, $3 }' "$rig/truth" | sort; }
rows() { jq -r ".rows[] | select(.$1 != null) | \"\(.$1) \(.packets)\"" | sort; }
account() { jq -r '.ports[] | "\(.agent) \(.if_index // "all") \(.counted // 0) \(.explained) \(.not_sent) \(.lost)"' | sort; }

# 1,506 of the second switch came in two minutes, of which each has rows for 1,024.
expect 'by destination: each event once' "$(drops --by dst | rows dst)" "$(truth dst | sed 's/^10.0.0.8 1500$/10.0.0.8 1024/')"
expect 'by destination: what has no row is counted' "$(drops --by dst | jq '[.rows[].packets] | add')" \
    "$(truth dst | awk '{ n += $2 } END { print n }')"
expect 'by source, of one switch' "$(drops --agent 192.0.2.23 | rows src)" "$(truth src | grep -v '^10\.0\.1\.\|^10\.1\.')"
expect 'by reason, with its name' "$(drops --by reason --agent 192.0.2.23 | jq -c '[.rows[] | [.reason, .detail, .packets]]')" \
    '[["no buffer space",null,37],["access list","ingress_flow_action_drop",10],["checksum","UDP_CSUM",5]]'
expect 'by reason: a number that lacks its last digit is known' \
    "$(drops --by reason | jq -r '.rows[] | select(.reason == "device header") | .packets')" 6
expect 'by place' "$(drops --by place | rows place)" 'udp_v4_rcv 5'
expect 'by group' "$(drops --by group | rows group)" 'acl_drops 10'
expect 'by port' "$(drops --by port | rows port)" "$(printf 'if1 47\nif2 5\nif5 1506')"
expect 'of one port' "$(drops --by dst --agent 192.0.2.23 --port 2 | rows dst)" '10.0.0.7 5'
expect 'the account: counted, explained, not sent and lost of each port' "$(drops | account | grep -v ' all ' | sed 's/ 103079215104 / 0 /' | sort)" \
    "$(sed -n 's/^account //p' "$rig/truth" | sort)"
expect 'the account: counted, not counted, explained, not sent, lost and unexplained, of all' \
    "$(drops | jq -c '[.ports[] | select(.if_index == null) | [.counted, .not_counted, .explained, .not_sent, .lost, .unexplained]]')" \
    '[[69,10,52,7,3,17],[1512,0,1506,4,0,2]]'
expect 'the account: each line adds up, and all lines to the last' "$(drops | jq -c '
    def sums: [.counted // 0, .not_counted, .explained, .not_sent, .lost, .unexplained // 0];
    [(.ports[] | sums | .[0] + .[1] - .[2] - .[3] - .[4] - .[5]), (.ports | group_by(.agent)[] |
	(map(select(.if_index != null) | sums) | transpose | map(add)) == (map(select(.if_index == null) | sums)[0]))] | unique')" '[true,0]'
expect 'the account: nothing is below 0' "$(drops | jq '[.ports[][] | numbers] | min')" 0
expect 'the account: what was told without a port is in a line of its own, which no counter has' \
    "$(drops | jq -c '[.ports[] | select(.counted == null) | [.not_counted, .not_sent, .lost, .unexplained]]')" '[[10,7,3,null]]'
expect 'the account: it may be what a port has unexplained' "$(drops | jq -c .elsewhere)" '{"packets":10}'
expect 'a range: the first minute alone' \
    "$(to=2023-11-14T22:15:00Z drops --by dst | jq '[.rows[].packets] | add')" 58
expect 'what came twice is known' "$(sqlite3 "$rig/ease.db" "SELECT value FROM stat WHERE name = 'sflow.discards_again'")" 2
expect 'what had no row' "$(sqlite3 "$rig/ease.db" "SELECT value FROM stat WHERE name = 'accounting.discards_folded'")" 476

# Beside a switch whose numbers jump and whose counters go back, and which speaks in another's name.
of_two() { jq -cS '[.ports[] | select(.agent == "192.0.2.23" or .agent == "192.0.2.24")]'; }
alone=$(drops | of_two)
python3 "$top/tests/e2e/drops.py" "$rig/liar.pcap" --liar >/dev/null
mv "$rig/ease.db" "$rig/alone.db"
rm -f "$rig"/ease.db*
"$build/collector/easecapd" -c "$rig/collector.conf" --import "$rig/liar.pcap" >"$rig/collector.log" 2>&1
expect 'beside a liar: the account of the others is what it was' "$(drops | of_two)" "$alone"
expect 'beside a liar: its own lines add up, too, and none is below 0' "$(drops --agent 192.0.2.25 | jq -c '[.ports[] |
    (.counted // 0) + .not_counted - .explained - .not_sent - .lost - (.unexplained // 0), ([.[] | numbers] | min < 0)] | unique')" '[false,0]'
expect 'beside a liar: its counters that go back count from there anew: 40 to 49, both ways, and nothing for the rest' \
    "$(drops --agent 192.0.2.25 | jq '.ports[0].counted')" 18
expect 'beside a liar: which is named' "$("$build/collector/easetop" agents --format json --store "sqlite:$rig/ease.db" --last all |
    jq -r '[.. | strings | select(test("counters that frames or time refute"))] | unique | length')" 1
mv "$rig/alone.db" "$rig/ease.db"

# What upkeep does when minutes are no longer kept (tests/collector/store/check_squeeze.c), here by another's SQL.
by_port=$(drops --by port | rows port)
reasons=$(drops --by reason | jq -c '[.rows[] | [.reason, .packets]] | group_by(.[0]) | map([.[0][0], (map(.[1]) | add)]) | sort')
before=$(drops | account)
sqlite3 "$rig/ease.db" "INSERT INTO discard_hour SELECT agent, start_us / 3600000000 * 3600000000, if_index, kind, reason, sum(n)
    FROM discard GROUP BY 1, 2, 3, 4, 5; DELETE FROM discard"
expect 'by the hour: by port as before' "$(drops --by port | rows port)" "$by_port"
expect 'by the hour: by reason as before' "$(drops --by reason | jq -c '[.rows[] | [.reason, .packets]] | sort')" "$reasons"
expect 'by the hour: the account as before' "$(drops | account)" "$before"
expect 'by the hour: no source, and the same sum' "$(drops | jq -c '[([.rows[].src] | unique), ([.rows[].packets] | add)]')" \
    "[[null],$(truth dst | awk '{ n += $2 } END { print n }')]"
expect 'by the hour: a range begins with an hour' \
    "$(from=2023-11-14T22:15:00Z drops | jq -c '[.from, ([.rows[].packets] | add)]')" \
    "$(drops | jq -c '["2023-11-14T22:00:00Z", ([.rows[].packets] | add)]')"
expect 'by the hour: and ends with it, or with what was heard last' \
    "$(to=2023-11-14T22:15:00Z drops | jq '[.rows[].packets] | add')" "$(drops | jq '[.rows[].packets] | add')"
exit $failed
