#!/bin/bash
# Links of kinds that a machine's kernel may lack, as stations see them on Debian's: an aggregate, a team, a VLAN, a
# bridge over it, a VRF, a tunnel of WireGuard's and a radio. Each has the row that `ip -d link` has of it, its layers are
# those of `ip`, and what LibreNMS, snmp_exporter, Zabbix and Observium need is there in every row. Prints PASS, FAIL or SKIP lines;
# exit 1 if one failed.
[ -n "${EASE_IN_QEMU:-}" ] || { echo "SKIP links: needs Debian's kernel: tests/run --kernel"; exit 0; }
. "$(dirname "$0")/../../support/rig.sh"

# ---- the links: name, ifType, ifConnectorPresent and what lies below, by hand; a VRF is a table of routes, not a layer ----

for i in all default; do echo 1 >/proc/sys/net/ipv6/conf/$i/disable_ipv6; done
modprobe bonding max_bonds=0
modprobe mac80211_hwsim radios=1
modprobe dummy numdummies=0
modprobe e1000e
links() { # for `ip -batch`
	for i in 1 2 3 4; do echo "link add m$i type dummy"; done
	cat <<-END
		link add agg type bond mode balance-rr miimon 100
		link set m1 master agg
		link set m2 master agg
		link add crew type team
		link set m3 master crew
		link add red type vrf table 10
		link set m4 master red
		link add wg1 type wireguard
		link add agg.7 link agg type vlan id 7
		link add bri type bridge vlan_filtering 1
		link set agg.7 master bri
		link set crew master bri
	END
	for i in agg crew red wg1 agg.7 bri m4; do echo "link set $i up"; done
}
links | ip -batch - || { fail 'links' 'they cannot be made'; exit 1; }
by_hand() {
	cat <<-END
		agg 161 2 m1,m2
		agg.7 135 2 agg
		bri 209 2 crew,agg.7
		crew 161 2 m3
		eth0 6 1 -
		eth1 6 1 -
		hwsim0 71 2 -
		lo 24 2 -
		m1 6 2 -
		m2 6 2 -
		m3 6 2 -
		m4 6 2 -
		red 53 2 -
		wg1 131 2 -
		wlan0 71 2 -
	END
}

rig_new
rig_linux_config
rig_snmpd
rig_agent_start
wait_for 15 if_number && wait_for 5 quick_get 1.3.6.1.2.1.31.1.6.0 || { fail 'start' 'a daemon did not come up'; exit 1; }

rows() { client snmpbulkwalk -Oqn "127.0.0.1:$agent_port" "$1" | sed "s/^\.$1\.//; s/\"//g; s/ *$//"; }
by_agent() {
	{ rows $if_x.1 | sed 's/^/name /'; rows 1.3.6.1.2.1.2.2.1.3 | sed 's/^/type /'; rows $if_x.17 | sed 's/^/plug /'
	  rows 1.3.6.1.2.1.31.1.2.1.3 | tr . ' ' | sed 's/^/stack /'; } | awk '
		$1 == "stack" { if ($2 && $3) below[$2] = below[$2] (below[$2] ? "," : "") name[$3]; next }
		{ value[$1, $2] = $3 } $1 == "name" { name[$2] = $3 }
		END { for (i in name) print name[i], value["type", i], value["plug", i], below[i] ? below[i] : "-" }' | sort
}
[ -e /sys/class/net/hwsim0 ] || skip 'a radio' 'this kernel has no mac80211_hwsim'
there() { by_hand | while read -r name row; do [ ! -e "/sys/class/net/$name" ] || echo "$name $row"; done; }
same() { [ "$(by_agent)" = "$(there)" ]; }
if wait_for 5 same; then pass "$(there | wc -l) links with type, connector and layers"; else
	fail 'types, connectors, layers' "$(diff <(by_agent) <(there) | grep '^[<>]' | paste -sd' ')"
fi
kernel() { ip -j link show | jq -r ".[] | \"\(.ifindex) \($1)\"" | sort -n; }
expect 'ifName is what ip shows, by its number' "$(rows $if_x.1)" "$(kernel .ifname)"
expect 'ifMtu' "$(rows 1.3.6.1.2.1.2.2.1.4 | sed '/^1 /d')" "$(kernel .mtu | sed '/^1 /d')"
expect 'ifAdminStatus' "$(rows 1.3.6.1.2.1.2.2.1.7)" "$(kernel 'if .flags | index("UP") then 1 else 2 end')"

# ---- the VLAN-aware bridge over an aggregate's VLAN and a team ----

index_of() { cat "/sys/class/net/$1/ifindex"; }
expect 'its ports are links of its own' "$(rows 1.3.6.1.2.1.17.1.4.1.2 | cut -d' ' -f2 | sort -n | paste -sd' ')" \
    "$(printf '%s\n' "$(index_of agg.7)" "$(index_of crew)" | sort -n | paste -sd' ')"
expect 'each with PVID 1' "$(rows 1.3.6.1.2.1.17.7.1.4.5.1.1 | cut -d' ' -f2 | paste -sd' ')" '1 1'
bridge fdb add 02:00:00:00:00:21 dev crew master static vlan 1
fdb=1.3.6.1.2.1.17.7.1.2.2.1.2
base=$(rows 1.3.6.1.2.1.17.1.4.1.2 | sed -n "s/ $(index_of crew)$//p")
has_host() { [ "$(snmp_get $fdb.1.2.0.0.0.0.33)" = "$base" ]; }
if wait_for 5 has_host; then pass 'a host behind the team'; else fail 'a host behind the team' "$(snmp_get $fdb.1.2.0.0.0.0.33)"; fi

# ---- what stations ask in every row ----

requests=$top/tests/mibs/station_requests.tsv
numbers=$(rows 1.3.6.1.2.1.2.2.1.1 | cut -d' ' -f1)
for station in $(sed '/^#/d' "$requests" | cut -f1 | uniq); do
	missing=''
	while IFS=$'\t' read -r _ _ oid name _; do
		[ "$(rows "$oid" | cut -d' ' -f1)" = "$numbers" ] || missing+="$name "
	done < <(awk -F'\t' -v s="$station" '$1 == s && $2 == "need" && $5 == "port" && $3 ~ /^1\.3\.6\.1\.2\.1\.(2|31)\./ &&
	    $4 !~ /Broadcast|OutMulticast|UnknownProtos/' "$requests")
	expect "$station has what the kernel knows for every link" "$missing" ''
done
expect 'no warning' "$(grep -E ' (warn|error) ' "$rig/agent.log" | head -n 3)" ''
rig_stop
modprobe -r mac80211_hwsim
exit $failed
