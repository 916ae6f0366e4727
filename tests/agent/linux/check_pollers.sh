#!/bin/bash
# What stations make of a Linux router: each asks in its own order (tests/mibs/station_requests.tsv), and from its own
# cells alone must come the links that `ip` has and each host at the port that `bridge` has it at, behind a plain bridge
# and a VLAN-aware one; then Debian's own pollers: prometheus-snmp-exporter, the monitoring plugins, MRTG's cfgmaker.
# In a network namespace of the test's own. Needs root. Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../../support/rig.sh"
. "$top/tests/support/stations.sh"
rig_namespace "$@" || { skip 'all' 'no network namespace can be made'; exit 0; }
trap 'rig_end "$exporter_pid"; rig_stop; rm -rf "$rig"' EXIT
patience=10
[ -z "${EASE_IN_QEMU:-}" ] || patience=120 # twenty times slower
for i in all default; do echo 1 >/proc/sys/net/ipv6/conf/$i/disable_ipv6; done 2>/dev/null

# ---- the router: a plain bridge, a VLAN-aware one where the kernel has such, links of other kinds ----

links() { # for `ip -batch`
	local i
	echo 'link add plain type bridge'
	echo 'link add aware type bridge'
	for i in a1 a2 b1 b2 c1; do echo "link add $i type veth peer name h$i"; done
	for i in a1 a2; do echo "link set $i master plain"; done
	for i in b1 b2; do echo "link set $i master aware"; done
	for i in plain aware a1 a2 b1 b2 ha1 ha2 hb1 hb2; do echo "link set $i up"; done
	echo 'link set a1 alias "Uplink Zürich"'
}
ip tuntap add dev tun0 mode tun 2>/dev/null
links | ip -batch - || { fail 'links' 'they cannot be made'; exit 1; }
if ip link set aware type bridge vlan_filtering 1 2>/dev/null && ip -d link show dev aware | grep -q 'vlan_filtering 1'; then
	bridge vlan add dev b2 vid 30 pvid untagged
	bridge vlan del dev b2 vid 1
else
	skip 'a VLAN-aware bridge' 'this kernel makes none'
fi
learn() { bridge fdb replace "$1" dev "$2" master dynamic 2>/dev/null; } # not before the port forwards
hosts() { # PORT NUMBER...: they are learned behind the port
	local port=$1 i
	shift
	for i; do wait_for 10 learn "02:00:00:00:00:$i" "$port"; done
}
hosts a1 01 02 03
hosts a2 04
hosts b1 05 06
hosts b2 07

rig_new
rig_linux_config
rig_snmpd
rig_agent_start
wait_for 15 if_number || { fail 'start' 'a daemon did not come up'; exit 1; }
settled() { [ "$(rows 1.3.6.1.2.1.17.4.3.1.2 | grep -c '^2\.0\.0\.0\.0\.[1-7] ')" = 7 ]; }
wait_for 10 settled || fail 'hosts' 'they do not come'

# ---- what each station makes of its own cells ----

ip -j -d link show >"$rig/links.json"
by_ip() { jq -r ".[] | \"\(.ifindex) \($1)\"" "$rig/links.json" | sort -n; }
by_hand() { # each host that was learned, once: MAC and port
	bridge -j fdb show | jq -r '.[] | select(.master and .state != "permanent") | "\(.mac) \(.ifname)"' | sort -u
}
cut_out() { sed -n "s/^\.$1\.//p" "$cells" | tr -d '"' | awk '!seen[$0]++'; } # some ask twice
letters() { perl -pe 's/^(\d+ )((?:[0-9A-F]{2} ){4,})/my ($n, $t) = ($1, $2); $t =~ y{ }{}d; $n . pack("H*", $t)/e'; } # snmpget has what is no ASCII in hexadecimal
numbers=$(by_ip .ifname | cut -d' ' -f1)
hosts_of() { # by dot1q where it has any, else by dot1d; a station that asks for neither finds none
	local table
	for table in 7.1.2.2.1 4.3.1; do
		{ cut_out 1.3.6.1.2.1.17.1.4.1.2 | sed 's/^/port /'; cut_out $if_x.1 | sed 's/^/name /'
		  cut_out 1.3.6.1.2.1.17.$table.2 | sed 's/^/at /'; cut_out 1.3.6.1.2.1.17.$table.3 | sed 's/^/is /'; } | perl -ane '
		    if ($F[0] eq "port") { $index{$F[1]} = $F[2] } elsif ($F[0] eq "name") { $name{$F[1]} = $F[2] }
		    elsif ($F[0] eq "at") { $at{$F[1]} = $F[2] } else { $is{$F[1]} = $F[2] }
		    END { for (keys %at) { next if $at{$_} == 0 || ($is{$_} // 3) != 3; my @mac = (split /\./)[-6 .. -1];
			print join(":", map { sprintf "%02x", $_ } @mac), " ", $name{$index{$at{$_}} // 0} // "?", "\n" } }' | sort -u >"$rig/hosts"
		[ ! -s "$rig/hosts" ] || break
	done
	cat "$rig/hosts"
}
! ip link show tun0 >/dev/null 2>&1 || expect 'a tun device is a tunnel' "$(rows 1.3.6.1.2.1.2.2.1.3 | sed -n 's/^2 //p')" 131
own=$(jq -r '.[].address' "$rig/links.json" | sort -u) # librenms asks for no status: a port's own address is there, too
for station in $(stations); do
	cells=$rig/$station.cells
	replay "$station" "$numbers" 2>/dev/null | there >"$cells"
	for column in $if_x.1:.ifname 1.3.6.1.2.1.2.2.1.2:.ifname 1.3.6.1.2.1.2.2.1.4:.mtu \
	    1.3.6.1.2.1.2.2.1.7:'if .flags | index("UP") then 1 else 2 end' $if_x.18:'.ifalias // ""'; do
		oid=${column%%:*}
		grep -q "^$station	need	$oid	" "$requests" || continue
		expect "$station: $(sed -n "s/^$station	need	$oid	\(\S*\).*/\1/p" "$requests") of each link" \
		    "$(cut_out "$oid" | letters | sed 's/ *$//')" "$(by_ip "${column#*:}" | sed 's/ *$//')"
	done
	grep -q "^$station	need	[0-9.]*	dot1[dq]TpFdbPort" "$requests" || continue
	expect "$station: each host at its port" "$(hosts_of | grep -vF "$own")" "$(by_hand | grep -vF "$own")"
done

# ---- Debian's pollers ----

plugins=/usr/lib/nagios/plugins
plugin() { # NAME OPTION...: its status and first word
	local name=$1 out
	shift
	out=$("$plugins/$name" -H 127.0.0.1 -p "$agent_port" -v 2 -C demo -t $patience "$@" 2>&1)
	echo "$? ${out%%[: ]*}"
}
if [ -x $plugins/check_ifoperstatus ]; then
	expect 'check_ifoperstatus by ifDescr: up' "$(plugin check_ifoperstatus -d a1)" '0 OK'
	expect 'and down' "$(plugin check_ifoperstatus -d c1 -D c)" '2 CRITICAL'
	expect 'check_ifstatus sees what is up' "$($plugins/check_ifstatus -H 127.0.0.1 -p "$agent_port" -v 2c -C demo -t $patience |
	    grep -o 'up: [0-9]*')" "up: $(rows 1.3.6.1.2.1.2.2.1.8 | grep -c ' 1$')"
else
	skip 'monitoring plugins' 'the package is not installed'
fi
if command -v cfgmaker >/dev/null; then
	cfgmaker --no-down --ifref=nr --ifdesc=name --if-filter='1' "demo@127.0.0.1:$agent_port:$patience::1:2" >"$rig/mrtg.cfg" 2>"$rig/mrtg.log"
	expect "cfgmaker finds each link" "$(sed -n 's/^\(# \)\?Target\[.*_\([0-9]*\)\]: .*/\2/p' "$rig/mrtg.cfg" | sort -nu)" "$numbers"
	expect 'with its name' "$(sed -n 's/^\(# \)\?Title\[.*_\([0-9]*\)\]: #\(.*\) -- .*/\2 \3/p' "$rig/mrtg.cfg" | sort -nu)" "$(by_ip .ifname)"
else
	skip 'cfgmaker' 'the package is not installed'
fi
if command -v prometheus-snmp-exporter >/dev/null; then
	exporter_start $patience
	expect 'prometheus-snmp-exporter names each link' "$(exporter_names)" "$(by_ip .ifname)"
else
	skip 'prometheus-snmp-exporter' 'the package is not installed'
fi
expect 'no warning' "$(grep -E ' (warn|error) ' "$rig/agent.log" | head -n 3)" ''
exit $failed
