#!/bin/bash
# Every record of sFlow that says something of a frame or a port, from an encoder in Python (sflow_records.py):
# what easecapd stores of each sample is what tshark prints of the same datagram. Prints PASS, FAIL or SKIP lines;
# exit 1 if one failed.
. "$(dirname "$0")/../support/rig.sh"
for need in tshark sqlite3 python3; do
	command -v "$need" >/dev/null || { skip 'all' "$need is not there"; exit 0; }
done
rig_new
pcap=$rig/records.pcap
python3 "$top/tests/e2e/sflow_records.py" "$pcap" || exit 1
"$build/collector/easecapd" -c "$rig/collector.conf" --import "$pcap" >"$rig/collector.log" 2>&1
expect 'taken' $? 0

fields() { # FILTER FIELD...: of each datagram, in the order of the fields; the last where there are several
	local filter=$1 names=()
	shift
	for name; do names+=(-e "$name"); done
	tshark -n -r "$pcap" -d udp.port==6343,sflow -Y "$filter" -T fields -E occurrence=l -E separator=' ' "${names[@]}" 2>/dev/null
}
rows() { sqlite3 -separator ' ' "$rig/ease.db" "$1"; }
mac() { echo "lower(substr(hex($1),1,2)||':'||substr(hex($1),3,2)||':'||substr(hex($1),5,2)||':'||substr(hex($1),7,2)||':'||substr(hex($1),9,2)||':'||substr(hex($1),11,2))"; }
ip4() { echo "(SELECT group_concat(d, '.') FROM (SELECT (instr('123456789ABCDEF', substr(hex($1), 2*n-1, 1))) * 16 + instr('123456789ABCDEF', substr(hex($1), 2*n, 1)) AS d FROM (SELECT 1 AS n UNION SELECT 2 UNION SELECT 3 UNION SELECT 4)))"; }
same() { # WHAT TSHARK OURS
	if [ -n "$2" ] && [ "$2" = "$3" ]; then
		pass "$1: the $(wc -l <<<"$2") that tshark reads"
	else
		fail "$1" "$(diff <(echo "$2") <(echo "$3") | head -6)"
	fi
}

number=sflow.flow_sample.sequence_number
same 'sampled Ethernet: MACs and type' \
    "$(fields sflow_245.ethernet.packet_type $number sflow_245.ethernet.source_mac_address sflow_245.ethernet.destination_mac_address sflow_245.ethernet.packet_type)" \
    "$(rows "SELECT sequence, $(mac src_mac), $(mac dst_mac), ethertype FROM sample WHERE sequence IN (9, 10, 13) ORDER BY 1")"
same 'sampled IPv4: addresses, protocol, ports' \
    "$(fields 'sflow_245.ipv4_src && sflow.flow_sample.sequence_number < 15' $number sflow_245.ipv4_src sflow_245.ipv4_dst sflow.ip_protocol sflow_245.ip.source_port sflow.ip.destination_port)" \
    "$(rows "SELECT sequence, $(ip4 src_ip), $(ip4 dst_ip), ip_proto, ifnull(src_port, 0), ifnull(dst_port, 0) FROM sample WHERE sequence IN (10, 11, 12) ORDER BY 1")"
same 'sampled IPv6: protocol and ports' \
    "$(fields sflow_245.ipv6_src $number sflow.ip_protocol sflow_245.ip.source_port sflow.ip.destination_port)" \
    "$(rows "SELECT sequence, ip_proto, ifnull(src_port, 0), ifnull(dst_port, 0) FROM sample WHERE sequence IN (13, 14) ORDER BY 1")"
expect 'sampled IPv6: addresses' "$(rows "SELECT hex(src_ip), hex(dst_ip) FROM sample WHERE sequence IN (13, 14) ORDER BY sequence")" \
    "$(printf '20010DB80000000000000000000000%02d 20010DB80000000000000000000000%02d\n' 5 6 7 8)"
same 'headers that begin with IPv4: addresses and protocol' \
    "$(fields 'sflow_245.header_protocol == 11' $number ip.src ip.dst ip.proto)" \
    "$(rows "SELECT sequence, $(ip4 src_ip), $(ip4 dst_ip), ip_proto FROM sample WHERE sequence IN (5, 6) ORDER BY 1")"
same 'headers that begin with IPv6: length of the packet' \
    "$(fields 'sflow_245.header_protocol == 12' $number ipv6.plen)" \
    "$(rows "SELECT sequence, iif(frame_octets = 64, 0, frame_octets - 58) FROM sample WHERE sequence IN (7, 8) ORDER BY 1")"
same 'VLANs of untagged frames' "$(fields 'sflow_245.vlan.in && sflow.flow_sample.sequence_number != 3' $number sflow_245.vlan.in)" \
    "$(rows "SELECT sequence, vlan FROM sample WHERE sequence IN (2, 5, 11) ORDER BY 1")"
expect 'a tag goes before the VLAN told beside it, a stripped one before that' \
    "$(rows 'SELECT sequence, vlan FROM sample WHERE sequence IN (3, 4) ORDER BY 1')" "$(printf '3 42\n4 101')"
expect 'lengths: a packet has a frame around it, of 64 octets at least' \
    "$(rows 'SELECT group_concat(frame_octets, " ") FROM (SELECT frame_octets FROM sample ORDER BY sequence)')" \
    '1004 1004 1008 1008 1018 1018 64 1418 1518 64 594 102 90 1298 1004'
expect 'a packet alone has no MACs' "$(rows 'SELECT group_concat(sequence) FROM (SELECT sequence FROM sample WHERE src_mac IS NULL ORDER BY 1)')" \
    '5,6,7,8,11,12,14'
expect 'only a SYN without ACK asks for a connection' \
    "$("$build/collector/easetop" connections --last all --by src --format json --store "sqlite:$rig/ease.db" | jq -c '[.rows[].samples] | add')" 8
# sequence, AS of the source, the last of the path; tshark calls communities behind the path by the same name
gateways() {
	tshark -n -r "$pcap" -d udp.port==6343,sflow -Y "sflow_245.srcAS && $number != 4" -T fields -e $number -e sflow_245.srcAS \
	    -e sflow_245.dstAS -e sflow_245.communityEntries 2>/dev/null |
	    awk -F '\t' '{ n = split($3, as, ",") - $4; print $1, $2, (n > 0 ? as[n] : 0) }'
}
same 'gateways: AS numbers of the source, and the last of the path' "$(gateways)" \
    "$(rows 'SELECT sequence, src_as, ifnull(dst_as, 0) FROM sample WHERE src_as > 0 AND sequence <> 4 ORDER BY 1')"
expect 'the way through the switch: queue, depth and delay' \
    "$(rows 'SELECT sequence, queue, depth_octets, delay_ns FROM sample WHERE coalesce(queue, depth_octets, delay_ns) IS NOT NULL')" \
    '15 3 20000 1500'
expect 'gateways: of several in a set none is the last' "$(rows 'SELECT src_as, dst_as FROM sample WHERE sequence = 4')" '64501 '
easetop() { "$build/collector/easetop" "$@" --last all --format json --store "sqlite:$rig/ease.db"; }
same 'rows by AS: what samples state, counted' \
    "$(gateways | awk '$3 > 0 { n["AS" $2 " AS" $3]++ } END { for (pair in n) print pair, n[pair] }' | sort)" \
    "$(easetop talkers --by as-pair | jq -r '.rows[] | "\(.src) \(.dst) \(.samples)"' | sort)"
expect 'filter by AS: either end, the source, both, no end' \
    "$(for f in 'as 64504' 'src as 64501' 'src as 64501 and dst as 64504' 'dst as 64501'; do
        easetop protocols --by proto --filter "$f" | jq '[.rows[].samples] | add // 0'; done | xargs)" '3 5 3 0'
same 'LACP: the aggregate' "$(fields sflow.lag_port.attached_agg_id sflow_245.ifindex sflow.lag_port.attached_agg_id)" \
    "$(rows 'SELECT if_index, lag_parent FROM port WHERE lag_parent > 0')"
same "Ethernet's kinds of errors stand in for errors that are not counted" \
    "$(fields sflow_245.dot3StatsFCSErrors sflow_245.ifindex sflow_245.dot3StatsAlignmentErrors sflow_245.dot3StatsFCSErrors sflow_245.dot3StatsFrameTooLongs | awk '{ print $1, $2 + $3 + $4 }')" \
    "$(rows 'SELECT if_index, in_errors FROM counter ORDER BY 1')"
expect 'names of ports, cleaned' "$(rows 'SELECT if_index, name FROM port ORDER BY 1')" \
    "$(printf '8 swp7\n9 uplink to the roof\n10 \n11 x?[31m')"
expect 'what is not used is counted by number' \
    "$(rows "SELECT group_concat(replace(name, 'sflow.unread_', '') || '=' || value, ' ') FROM (SELECT * FROM stat WHERE name LIKE 'sflow.unread%' AND value > 0 ORDER BY name)")" \
    'counters_1001=1 counters_5=1 flow_1002=1 flow_1030=1 flow_1043=1 flow_other=1'
expect 'nothing is refused' "$(rows "SELECT group_concat(name) FROM stat WHERE name IN ('sflow.refused_sample', 'sflow.no_header', 'sflow.unknown') AND value > 0")" ''
exit $failed
