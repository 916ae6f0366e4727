# tests/support/stations.sh: what management stations ask (tests/mibs/station_requests.tsv), replayed over a real snmpd;
# and Debian's own pollers. To be sourced behind rig.sh.
requests=$top/tests/mibs/station_requests.tsv
stations() { sed '/^#/d' "$requests" | cut -f1 | uniq; }
there() { grep -v 'No Such\|No more variables'; }
rows() { client snmpbulkwalk -Oqn "127.0.0.1:$agent_port" "$1" | there | sed "s/^\.$1\.//"; } # INDEX VALUE each
replay() { # STATION PORTS: its cells, asked for in its order: one request for neighbouring GETs, and one for each port
	local how oids port
	while read -r how oids; do
		case $how in
		walk) client snmpbulkwalk -Oqn "127.0.0.1:$agent_port" "$oids" ;;
		get) client snmpget -Oqn "127.0.0.1:$agent_port" $oids ;;
		port) for port in $2; do client snmpget -Oqn "127.0.0.1:$agent_port" ${oids//,/.$port }; done ;;
		esac
	done < <(awk -F'\t' -v station="$1" '
		function end() { if (gets) print "get" gets; gets = "" }
		$1 != station || $2 == "need" { next }
		$2 == "get" { gets = gets " ." $3; next }
		{ end() }
		$2 == "walk" { print "walk ." $3 }
		$2 == "port" { ports = ports "." $3 "," }
		END { end(); if (ports) print "port " ports }' "$requests")
}
exporter_pid='' exporter_port=''
free_tcp_port() {
	perl -MIO::Socket::INET -e 'print IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1")->sockport'
}
scrape() { # MODULE
	perl -MIO::Socket::INET -e 'my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$ARGV[0]", Timeout => 5) or exit 1;
	    print $s "GET /snmp?module=$ARGV[1]&target=127.0.0.1:$ARGV[2] HTTP/1.0\r\n\r\n"; local $/; my $all = <$s>;
	    exit 1 unless $all =~ s/^HTTP\/1\.. 200.*?\r\n\r\n//s; print $all' "$exporter_port" "$1" "$agent_port"
}
exporter_start() { # SECONDS: waits until it answers
	"$top/conf/snmp-exporter-config" "$build/agent/easeagentd" demo >"$rig/snmp.yml"
	exporter_port=$(free_tcp_port)
	prometheus-snmp-exporter --config.file="$rig/snmp.yml" --web.listen-address="127.0.0.1:$exporter_port" \
	    >"$rig/exporter.log" 2>&1 &
	exporter_pid=$!
	disown "$exporter_pid"
	wait_for "$1" scrape if_mib || fail 'prometheus-snmp-exporter' "$(tail -n 2 "$rig/exporter.log")"
}
exporter_names() { # IFINDEX IFNAME as it labels them
	scrape if_mib | sed -nE 's/^ifHCInOctets\{.*ifIndex="([0-9]+)",ifName="([^"]*)"\}.*/\1 \2/p' | sort -n
}
