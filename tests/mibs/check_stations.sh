#!/bin/bash
# What LibreNMS, snmp_exporter, Zabbix, Observium and Akvorado ask a switch, replayed from
# tests/mibs/station_requests.tsv over a real snmpd: every object they need is there in every row, and
# IF, EtherLike, BRIDGE, Q-BRIDGE and ENTITY number the same ports. Then Debian's
# prometheus-snmp-exporter scrapes us, and its metrics are ours. PASS, FAIL or SKIP lines.
. "$(dirname "$0")/../support/rig.sh"
. "$top/tests/support/stations.sh"

capture=$rig.pcap
trap 'rig_end "$exporter_pid"; rig_stop; rm -rf "$rig" "$capture"' EXIT
"$top/conf/make-capture" "$capture" 5 || exit 1
rig_new "$top/conf/boards/stack-26port.conf"
rig_snmpd && rig_agent "$capture" lock_step 'mean_skip = 100' || { fail 'start' 'a daemon did not come up'; exit 1; }
wait_for 60 replay_ended || { fail 'replay' 'it does not end'; exit 1; }
sleep 1.1 # a snapshot is at most a second old

ports=$(rows 1.3.6.1.2.1.2.2.1.1 | cut -d' ' -f1)
expect 'the board has 26 ports' "$(wc -w <<<"$ports")" 26

# ---- the stations' requests ----

missing() { # STATION CELLS: of each need not met, its name
	awk -F'\t' -v ports="$ports" -v station="$1" '
	function suffixes(oid,   found, i, at) { # of the cells below oid, sorted as they came
		found = ""
		at = length(oid) + 3
		for (i = 1; i <= cells; i++)
			if (index(cell[i], "." oid ".") == 1) found = found substr(cell[i], at) "\n"
		return found
	}
	FNR == NR { sub(/ .*/, ""); if (!($0 in seen)) cell[++cells] = $0; seen[$0] = 1; next }
	$1 != station || $2 != "need" { next }
	$5 == "one" { if (!("." $3 in seen)) print $4; next }
	{ got = suffixes($3) }
	$5 == "port" { if (got != ports "\n") print $4 }
	$5 == "some" { if (got == "") print $4 }
	$5 == "fdb" || $5 == "entity" {
		if (!($5 in first)) first[$5] = got
		if (got == "" || got != first[$5]) print $4
	}' "$2" "$requests" | paste -sd' '
}
for station in $(stations); do
	replay "$station" "$ports" 2>&1 | there >"$rig/$station.cells"
	expect "$station finds what it needs ($(grep -c "^$station	need" "$requests") objects)" \
	    "$(missing "$station" "$rig/$station.cells")" ''
done

# ---- the same ports everywhere ----

expect 'the first ifIndex has 64-bit counters' "$(client snmpget -On "127.0.0.1:$agent_port" \
    "$if_x.6.${ports%%$'\n'*}" "$if_x.10.${ports%%$'\n'*}" | grep -c 'Counter64')" 2
expect 'dot3StatsIndex is ifIndex' "$(rows 1.3.6.1.2.1.10.7.2.1.1 | awk '$1 != $2')" ''
expect 'etherStatsDataSource names each port once' \
    "$(rows 1.3.6.1.2.1.16.1.1.1.2 | sed 's/.* .1.3.6.1.2.1.2.2.1.1.//')" "$ports"
expect 'dot1dBasePortIfIndex names each port once' "$(rows 1.3.6.1.2.1.17.1.4.1.2 | cut -d' ' -f2)" "$ports"
base_ports=$(rows 1.3.6.1.2.1.17.1.4.1.1 | cut -d' ' -f2)
strangers() { grep -vxF "$1"; }
expect 'addresses stand behind base ports' "$(rows 1.3.6.1.2.1.17.4.3.1.2 | cut -d' ' -f2 | strangers "$base_ports")" ''
expect 'dot1qPortVlanTable has the base ports' "$(rows 1.3.6.1.2.1.17.7.1.4.5.1.1 | cut -d' ' -f1)" "$base_ports"
expect 'ports of VLAN 1 are the base ports' "$(rows 1.3.6.1.2.1.17.7.1.4.2.1.4 | head -n 1 | cut -d' ' -f2- |
    perl -ne 's/[" ]//g; my $n = 0; for my $bit (split //, unpack("B*", pack("H*", $_ =~ s/\s//gr))) { $n++; print "$n\n" if $bit }')" "$base_ports"
expect 'entAliasMappingIdentifier names each port once' \
    "$(rows 1.3.6.1.2.1.47.1.3.2.1.2 | sed 's/.* .1.3.6.1.2.1.2.2.1.1.//' | sort -n)" "$ports"
expect 'entities are contained in entities' "$(rows 1.3.6.1.2.1.47.1.1.1.1.4 |
    awk '{ at[$1] = 1; in_[$1] = $2 } END { for (i in in_) if (in_[i] != 0 && !(in_[i] in at)) print i, in_[i] }')" ''

# ---- prometheus-snmp-exporter ----

# NAME INDEX VALUE of each number, from the metrics, and the same from a walk of ours.
metrics() { # without those that are strings
	sed -E '/^#|^snmp_/d; /^ifIndex\{/!{/^([A-Za-z0-9]+)\{.*\<\1="/d}; s/\{.*ifIndex="([0-9]+)".*\}/ \1/' |
	    awk '{ printf "%s %s %.0f\n", $1, NF == 3 ? $2 : 0, $NF }' | sort
}
ours_of() { # MODULE
	# in the newer form modules are one level further in
	"$top/conf/snmp-exporter-config" "$build/agent/easeagentd" | sed '/^modules:/,$s/^  //' | sed -n "/^$1:/,/^[a-z]/p" |
	    awk '$2 == "name:" { name = $3 } $1 == "oid:" && name { oid = $2 } $1 == "type:" && name {
		if ($2 != "DisplayString" && $2 != "PhysAddress48") print name, oid; name = "" }' |
	    while read -r name oid; do
		client snmpbulkwalk -OqnteU "127.0.0.1:$agent_port" "$oid" | there |
		    sed -E "s/^\.$oid\.([0-9]+) /$name \1 /"
	    done | sort
}
if command -v prometheus-snmp-exporter >/dev/null; then
	exporter_start 10
	for module in if_mib easeswitch; do
		scrape "$module" | metrics >"$rig/metrics"
		ours_of "$module" >"$rig/walked"
		expect "prometheus-snmp-exporter: $(wc -l <"$rig/walked") metrics of $module are ours" \
		    "$(diff "$rig/metrics" "$rig/walked" | grep '^[<>]' | head -n 5 | tr '\n' ' ')" ''
	done
	expect 'its labels are our names' "$(exporter_names)" "$(rows $if_x.1 | tr -d '"')"
else
	skip 'prometheus-snmp-exporter' 'the package is not installed'
fi
exit $failed
