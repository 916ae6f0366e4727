#!/bin/bash
# Foreign senders: what tests/e2e/foreign_sender.pl packs by hand from the MIB's text and from sFlow's
# specification, the first sent by Net-SNMP's snmptrap, the second imported, is read as tshark reads
# the sampled frames: addresses, types, ports, lengths, samples of each source; and the port's totals
# are those of the capture. Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../support/rig.sh"
for need in snmptrap tshark sqlite3; do
	command -v "$need" >/dev/null || { skip 'all' "$need is not there"; exit 0; }
done

capture=$rig.pcap
trap 'rig_stop; rm -rf "$rig" "$capture"' EXIT

# What tshark finds in every N-th frame: number, MACs, ethertype, addresses, protocol, ports, length. In place of the
# second port ICMP has its type and code.
by_tshark() { # EVERY
	tshark -n -r "$capture" -o ip.defragment:FALSE -o tcp.desegment_tcp_streams:FALSE \
	    -o tcp.analyze_sequence_numbers:FALSE -T fields -E occurrence=f -E separator=/t -e frame.number \
	    -e eth.src -e eth.dst -e eth.type -e ip.src -e ipv6.src -e ip.dst -e ipv6.dst -e ip.proto \
	    -e ipv6.nxt -e tcp.srcport -e udp.srcport -e tcp.dstport -e udp.dstport -e frame.len \
	    -e icmp.type -e icmp.code -e icmpv6.type -e icmpv6.code 2>/dev/null |
	    awk -F '\t' -v every="$1" '$1 % every == 0 { n = $15 < 60 ? 60 : $15
	        if ($16 $18 != "") $13 = 256 * ($16 $18) + ($17 $19)
	        print $1 / every, $2, $3, $4, $5 $6, $7 $8, $9 $10, $11 $12, $13 $14, n + 4 }' |
	    perl -MSocket=inet_pton,AF_INET,AF_INET6 -ne '
	    my @f = split / /; s/://g for @f[1, 2];
	    $_ = $_ eq "" ? "" : unpack("H*", inet_pton(/:/ ? AF_INET6 : AF_INET, $_)) for @f[4, 5];
	    $f[3] = $f[3] eq "" ? "" : hex $f[3]; print join " ", @f'
}
by_us() { # STORE
	sqlite3 -batch -separator ' ' "$1" "SELECT sequence, lower(hex(src_mac)), lower(hex(dst_mac)), coalesce(ethertype, ''),
	    lower(hex(src_ip)), lower(hex(dst_ip)), coalesce(ip_proto, ''), coalesce(src_port, ''), coalesce(dst_port, ''),
	    frame_octets FROM sample ORDER BY sequence"
}
sources_by_tshark() { awk '$5 != "" { n[$5]++ } END { for (s in n) print s, n[s] }' "$rig/by-tshark" | sort; }
sources_by_us() { # STORE: samples of each source, as the report has them
	"$build/collector/easetop" talkers --by src --layer ip --last all --top 1000 --format json --store "sqlite:$1" |
	    jq -r '.rows[] | "\(.src) \(.samples)"' | perl -MSocket=inet_pton,AF_INET,AF_INET6 -ane '
	    print unpack("H*", inet_pton($F[0] =~ /:/ ? AF_INET6 : AF_INET, $F[0])), " $F[1]\n"' | sort
}
compare() { # NAME STORE: beside $rig/by-tshark
	by_us "$2" >"$rig/by-us"
	if [ -s "$rig/by-us" ] && cmp -s "$rig/by-us" "$rig/by-tshark"; then
		pass "$1: tshark reads the same of $(wc -l <"$rig/by-us") samples"
	else
		fail "$1: tshark" "$(diff "$rig/by-us" "$rig/by-tshark" | head -4)"
	fi
	expect "$1: samples of each source in easetop" "$(sources_by_us "$2")" "$(sources_by_tshark)"
}

# Sources inside tunnels: by tshark the last addresses of frames that have several, or have one behind
# PPPoE or MPLS; by us the report's rows.
inside_by_tshark() { # EVERY
	tshark -n -r "$capture" -o ip.defragment:FALSE -o tcp.desegment_tcp_streams:FALSE \
	    -o tcp.analyze_sequence_numbers:FALSE -T fields -E separator=/t -e frame.number -e ip.src \
	    -e frame.protocols 2>/dev/null | awk -F '\t' -v every="$1" '$1 % every == 0 {
	        n = split($2, sources, ",")
	        if ($3 !~ /icmp:ip/ && (n > 1 || n == 1 && $3 ~ /pppoes|mpls/)) count[sources[n]]++ }
	    END { for (s in count) print s, count[s] }' | sort
}
inside() { # NAME EVERY: of the sFlow of a capture with tunnels
	perl "$top/tests/e2e/foreign_sender.pl" "$capture" "$2" - "$rig/tunnels.pcap" >/dev/null
	rm -f "$rig"/tunnels.db*
	sed -e "s#/ease.db#/tunnels.db#" "$rig/collector.conf" >"$rig/import.conf"
	"$build/collector/easecapd" -c "$rig/import.conf" --import "$rig/tunnels.pcap" >/dev/null 2>>"$rig/collector.log"
	"$build/collector/easetop" talkers --layer inner --by src --last all --top 1000 --format json \
	    --store "sqlite:$rig/tunnels.db" | jq -r '.rows[] | "\(.src) \(.samples)"' | sort >"$rig/by-us"
	inside_by_tshark "$2" >"$rig/by-tshark"
	if [ -s "$rig/by-us" ] && cmp -s "$rig/by-us" "$rig/by-tshark"; then
		pass "inside tunnels of $1: the $(wc -l <"$rig/by-us") sources that tshark finds"
	else
		fail "inside tunnels of $1" "$(diff "$rig/by-us" "$rig/by-tshark" | head -4)"
	fi
}
networks() { # of what inside() has imported
	"$build/collector/easetop" protocols --by vni --last all --top 1000 --format json --store "sqlite:$rig/tunnels.db" |
	    jq -r '.rows[] | "\(.vni) \(.samples)"' | sort >"$rig/by-us"
	timeout 60 tshark -n -r "$capture" -o tcp.desegment_tcp_streams:FALSE -T fields -e frame.number -e vxlan.vni -e geneve.vni 2>/dev/null |
	    awk -F '\t' -v every="$1" '$1 % every == 0 && ($2 != "" || $3 != "") {
	        split($2 != "" ? $2 : $3, vni, ","); count[vni[1]]++ } END { for (v in count) print v, count[v] }' |
	    while read -r vni n; do echo "$((vni)) $n"; done | sort >"$rig/by-tshark"
	expect 'networks of VXLAN and GENEVE: those that tshark finds' "$(cat "$rig/by-us")" "$(cat "$rig/by-tshark")"
}

foreign() { # EVERY
	local samples frames octets
	rig_new
	sed -i 's/^flush_interval.*/flush_interval = 50/' "$rig/collector.conf"
	: >"$rig/collector.log"
	rig_collector || { fail 'start' 'no collector'; return; }
	read -r samples frames octets < <(perl "$top/tests/e2e/foreign_sender.pl" "$capture" "$1" "$trap_port" "$rig/sflow.pcap")
	rig_stop
	by_tshark "$1" >"$rig/by-tshark"
	compare 'notifications by hand' "$rig/ease.db"
	expect 'notifications by hand: expected, received, lost' \
	    "$(easetop loss --last all --format json | jq -c '.rows[0] | [.expected, .received, .lost]')" "[$samples,$samples,0]"
	expect 'notifications by hand: frames and octets of the capture' \
	    "$("$build/tests/collector/store/store_sql" "$rig/ease.db" 'SELECT sum(pool_pkts), sum(pool_octets) FROM window')" "$frames.0|$octets.0"
	expect 'notifications by hand: the last counters' \
	    "$(sqlite3 "$rig/ease.db" 'SELECT in_octets, in_ucast + in_mcast + in_bcast, pool_in, last_sequence FROM counter ORDER BY time_us DESC LIMIT 1')" \
	    "$octets|$frames|$frames|$samples"
	sed -e "s#/ease.db#/sflow.db#" "$rig/collector.conf" >"$rig/import.conf"
	"$build/collector/easecapd" -c "$rig/import.conf" --import "$rig/sflow.pcap" >/dev/null 2>>"$rig/collector.log"
	expect 'sFlow by hand: taken' $? 0
	compare 'sFlow by hand' "$rig/sflow.db"
	expect 'sFlow by hand: octets of the capture' \
	    "$("$build/tests/collector/store/store_sql" "$rig/sflow.db" 'SELECT sum(pool_octets) FROM window')" "$octets.0"
	# The pools are multiples of the rate: after 16 of them nobody counted these.
	expect 'sFlow by hand: tshark reads the same numbers, rates, pools and lengths' \
	    "$(tshark -n -r "$rig/sflow.pcap" -Y sflow_245.header_protocol -T fields -E separator=/s \
	    -e sflow.flow_sample.sequence_number -e sflow.flow_sample.sampling_rate \
	    -e sflow.flow_sample.sample_pool -e sflow_245.header.frame_length 2>/dev/null | awk 'NR > 16 { $3 = "made up" } { print }')" \
	    "$(sqlite3 -separator ' ' "$rig/sflow.db" 'SELECT sequence, mean_skip, iif(pool_pkts = 9223372036854775807, '"'made up'"', pool_pkts), frame_octets FROM sample ORDER BY sequence')"
}

"$top/conf/make-capture" "$capture" 4 || exit 1
foreign 500
if [ -n "${EASE_CAPTURES:-}" ]; then
	for name in vlan-vxlan tunnels-discord_mid_flow; do
		capture=$EASE_CAPTURES/$name.pcap
		inside "$name" 1
		networks 1
	done
	capture=$rig.pcap
else
	skip 'inside tunnels' 'no captures at hand (EASE_CAPTURES)'
fi
exit $failed
