#!/bin/bash
# Several bridges of a kernel as stations see them: BRIDGE-MIB and Q-BRIDGE-MIB against what `bridge fdb show` has, each
# host once: two plain bridges that hear the same host, hosts that move, interfaces with large numbers, an agent that
# is started again; where the kernel filters VLANs, plain and VLAN-aware bridges beside each other, and one that
# changes. And that a walk has an end when an interface comes late. In a network namespace of the test's own. Needs root.
# Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../../support/rig.sh"
rig_namespace "$@" || { skip 'all' 'no network namespace can be made'; exit 0; }
command -v bridge >/dev/null || { skip 'all' 'bridge (iproute2) is not there'; exit 0; }
for i in all default; do echo 1 >/proc/sys/net/ipv6/conf/$i/disable_ipv6; done 2>/dev/null

dot1d=1.3.6.1.2.1.17
dot1q=$dot1d.7.1
walk() { # long values come in several lines
	client snmpbulkwalk -Oqnx "127.0.0.1:$agent_port" "$dot1d.$1" | tr '\n' ' ' | sed 's/ \.1\.3\./\n.1.3./g; s/$/\n/' | sed "s/^\.$dot1d\.$1\.//; s/\"//g; s/ *$//"
}
start_agent() {
	rig_agent_start
	wait_for 15 if_number && wait_for 5 quick_get $dot1d.1.2.0
}
add_port() { # NAME BRIDGE [INDEX]
	ip link add "$1" ${3:+index "$3"} type veth peer name "h$1" || exit 1
	ip link set "$1" master "$2" up
	ip link set "h$1" up
}
index_of() { ip -o link show dev "$1" | cut -d: -f1; }
kernel_number() { echo $(($(ip -d link show dev "$1" | grep -o 'port_no 0x[0-9a-f]*' | cut -d' ' -f2))); }
talk() { # PORT MAC...: the host behind the port sends a frame from each
	local index
	index=$(index_of "h$1")
	shift
	perl -e 'my $index = shift; socket(my $s, 17, 3, 0) or die $!;
	    for my $mac (@ARGV) { (my $from = $mac) =~ s/://g;
		send($s, pack("H12 H12 n x46", "ffffffffffff", $from, 0x88b5), 0, pack("S n l S C C x8", 17, 0x88b5, $index, 0, 0, 6)) or die $! }' "$index" "$@"
}
# "FDB.MAC PORT STATUS", as dot1qTpFdbTable (q) or dot1dTpFdbTable (d, without FDB) should have it; a bridge's own
# address is at no port, "-".
by_bridge() { # q|d
	ip -d -j link show >"$rig/links.json"
	bridge -j fdb show | jq -r --arg which "$1" --slurpfile l "$rig/links.json" '
	    ($l[0] | map({key: .ifname, value: {index: .ifindex, aware: (.linkinfo.info_data.vlan_filtering? == 1)}}) | from_entries) as $link |
	    ([$l[0][] | select(.linkinfo.info_kind? == "bridge" and .linkinfo.info_data.vlan_filtering != 1) | .ifindex] | min) as $first |
	    [.[] | select(.master and ((.flags // []) | index("self") | not)) | . + {bridge: $link[.master].index, aware: $link[.master].aware} |
		select(if $which == "q" then .aware == (.vlan != null) else .aware or .vlan == null end) |
		.fdb = if $which == "d" then "" elif .aware then "\(.vlan)." elif .bridge == $first then "1." else "\(4096 + .bridge)." end] |
	    group_by([.fdb, .mac]) | map(min_by([.bridge, .vlan]))[] |
	    "\(.fdb)\(.mac) \(if .ifname == .master then "-" else .ifname end) \(if .state == "permanent" then 4 elif .state == "static" then 5 else 3 end)"' | sort
}
by_agent() { # q|d
	local table=4.3.1
	[ "$1" = d ] || table=7.1.2.2.1
	{ walk 1.4.1.2 | sed 's/^/port /'; client snmpbulkwalk -Oqn "127.0.0.1:$agent_port" $if_x.1 | sed "s/^\.$if_x\.1\.\([0-9]*\) \"\(.*\)\"$/name \1 \2/"
	  walk $table.2 | sed 's/^/at /'; walk $table.3 | sed 's/^/is /'; } | perl -ane '
	    if ($F[0] eq "port") { $index{$F[1]} = $F[2] } elsif ($F[0] eq "name") { $name{$F[1]} = $F[2] }
	    elsif ($F[0] eq "at") { $at{$F[1]} = $F[2] == 0 ? "-" : $name{$index{$F[2]}} // "?$F[2]" } else { $is{$F[1]} = $F[2] }
	    END { for (keys %at) { my @arcs = split /\./; my @mac = splice @arcs, -6;
		print map({ "$_." } @arcs), join(":", map { sprintf "%02x", $_ } @mac), " $at{$_} $is{$_}\n" } }' | sort
}
same() { by_agent "$1" >"$rig/agents"; by_bridge "$1" >"$rig/kernels"; cmp -s "$rig/agents" "$rig/kernels"; }
compare() { # NAME
	local which
	for which in q d; do
		if wait_for 5 same $which; then
			pass "$1, dot1$which: $(wc -l <"$rig/kernels") addresses"
		else
			fail "$1, dot1$which" "$(diff "$rig/agents" "$rig/kernels" | head -6)"
		fi
	done
}
base_port() { walk 1.4.1.2 | sed -n "s/^\([0-9]*\) $(index_of "$1")$/\1/p"; }
bits() { # the numbers in the PortLists of stdin
	perl -ne 'my @octets = split " "; shift @octets; for my $i (0 .. $#octets) { for my $bit (0 .. 7) {
	    print 8 * $i + $bit + 1, "\n" if hex($octets[$i]) & 0x80 >> $bit } }' | sort -n
}

add_bridge() { ip link add "$1" type bridge && ip link set "$1" up; }
add_bridge bra
add_bridge brb
add_port pa1 bra
add_port pa2 bra
add_port pb1 brb 70000
add_port pb2 brb 16777000
ip link set bra address 02:aa:00:00:00:01
rig_new
rig_linux_config
rig_snmpd && start_agent || { fail 'start' 'a daemon did not come up'; exit 1; }

# ---- plain bridges ----

both=02:00:00:00:00:01
talk pa1 $both 02:00:00:00:00:0{2..6}
talk pb2 $both 02:00:00:00:00:07
compare 'two plain bridges'
where() { by_agent d | awk -v mac="$both" '$1 == mac { print $2 }'; }
expect 'a host on both is at the first' "$(where)" pa1
bridge fdb del $both dev pb2 master
compare 'the second forgets it'
expect 'and it stays at the first' "$(where)" pa1
talk pb2 $both
bridge fdb del $both dev pa1 master
compare 'the first forgets it'
expect 'and the second has it' "$(where)" pb2
talk pa2 02:00:00:00:00:02 $both
compare 'hosts move'
expect 'to the first bridge' "$(where)" pa2
expect 'a bridge'\''s own address is at no port' "$(snmp_get $dot1d.4.3.1.2.2.170.0.0.0.1)" 0

expect 'the first bridge has the kernel'\''s numbers' "$(base_port pa1) $(base_port pa2)" \
    "$(kernel_number pa1) $(kernel_number pa2)"
expect 'four base ports, each another in 1 to 65535' "$(walk 1.4.1.1 | awk '$1 == $2 && $1 >= 1 && $1 <= 65535 { print $1 }' | sort -u | wc -l)" 4
all=$(walk 1.4.1.1 | cut -d' ' -f1 | sort -n)
for column in 2.1.4 2.1.5 3.1.2 3.1.4; do
	expect "every port is in the list $column" "$(walk 7.1.4.$column | bits)" "$all"
done
expect 'of one VLAN' "$(walk 7.1.4.3.1.5)" '1 1'
expect 'PVID 1, all frames, no filter' "$(walk 7.1.4.5.1.1 | cut -d' ' -f2 | sort -u) $(walk 7.1.4.5.1.2 | cut -d' ' -f2 | sort -u) $(walk 7.1.4.5.1.3 | cut -d' ' -f2 | sort -u)" '1 1 2'
expect 'dot1dBase is the first bridge'\''s' "$(client snmpget -Oqvx "127.0.0.1:$agent_port" $dot1d.1.1.0 | tr -d '" ') $(snmp_get $dot1d.1.2.0)" '02AA00000001 2'

static=$dot1d.5.1.1
list=$(perl -e 'my $n = shift; print unpack("H*", pack("B*", "0" x ($n - 1) . "1" . "0" x (7 - ($n - 1) % 8)))' "$(base_port pb2)")
client snmpset "127.0.0.1:$agent_port" $static.3.2.0.0.0.0.9.0 x "$list" $static.4.2.0.0.0.0.9.0 i 3 >/dev/null
expect 'an address is tied to a port of the second bridge' "$(bridge fdb show dev pb2 | grep '^02:00:00:00:00:09.* static' | grep -cv vlan)" 1
client snmpset "127.0.0.1:$agent_port" $static.4.2.0.0.0.0.9.0 i 2 >/dev/null
expect 'and let go' "$(bridge fdb show | grep -c '^02:00:00:00:00:09')" 0

# ---- walks end ----

cells() { client snmpbulkwalk -On "127.0.0.1:$agent_port" "$1" | wc -l; }
of_vlans=$(cells $dot1q.4.2)
ip link add late type veth peer name late2
has_late() { [ "$(client snmpbulkwalk -Oqv "127.0.0.1:$agent_port" $if_x.1 | grep -c '"late"')" = 1 ]; }
wait_for 5 has_late
expect 'an interface that comes late adds no cells' "$(cells $dot1q.4.2)" "$of_vlans"
mark_of() { client snmpget -Oqv "127.0.0.1:$agent_port" "$dot1q.4.2.1.3.$1.1"; }
expect 'and is no change of a VLAN' "$(mark_of 1)" "$(mark_of 100000000)"
ip link set late master bra
is_member() { [ "$(walk 1.4.1.2 | wc -l)" = 5 ]; }
wait_for 5 is_member
expect 'a late member is one' "$(cells $dot1q.4.2) $(mark_of 1)" "$of_vlans 1"
ip link del late

# ---- an agent that is started again ----

numbers=$(walk 1.4.1.2)
wait_for 5 eval '[ "$(walk 1.4.1.2 | wc -l)" = 4 ]'
numbers=$(walk 1.4.1.2)
rig_agent_stop
start_agent || fail 'start again' 'the agent did not come up'
wait_for 5 eval '[ "$(walk 1.4.1.2)" = "$numbers" ]'
expect 'base ports stay over a restart' "$(walk 1.4.1.2)" "$numbers"
compare 'after a restart'

# ---- plain and VLAN-aware bridges ----

if ! ip link set bra type bridge vlan_filtering 1 2>/dev/null || ! ip -d link show dev bra | grep -q 'vlan_filtering 1'; then
	skip 'VLAN-aware bridges' 'this kernel makes none'
	exit $failed
fi
bridge vlan add dev pa2 vid 30 pvid untagged
bridge vlan del dev pa2 vid 1
talk pa1 02:00:00:00:00:0{2..6}
talk pa2 02:00:00:00:00:02 02:00:00:00:00:11
talk pb2 $both 02:00:00:00:00:02 02:00:00:00:00:07
compare 'an aware bridge beside a plain one'
expect 'a port of the plain one: PVID 1, all frames, no filter' \
    "$(snmp_get $dot1q.4.5.1.1."$(base_port pb1)") $(snmp_get $dot1q.4.5.1.2."$(base_port pb1)") $(snmp_get $dot1q.4.5.1.3."$(base_port pb1)")" '1 1 2'
expect 'of the aware one: its own' \
    "$(snmp_get $dot1q.4.5.1.1."$(base_port pa2)") $(snmp_get $dot1q.4.5.1.2."$(base_port pa2)") $(snmp_get $dot1q.4.5.1.3."$(base_port pa2)")" '30 1 1'
expect 'VLAN 1 has the plain ports, and the aware one'\''s' "$(walk 7.1.4.3.1.2 | grep '^1 ' | bits | paste -sd' ')" \
    "$(for p in pa1 pb1 pb2; do base_port $p; done | sort -n | paste -sd' ')"
ip link set brb type bridge vlan_filtering 1
talk pb1 02:00:00:00:00:12
talk pb2 $both 02:00:00:00:00:02 02:00:00:00:00:07
compare 'two aware bridges'
ip link set bra type bridge vlan_filtering 0
talk pa1 $both
compare 'the first is plain again'
ip link set brb type bridge vlan_filtering 0
compare 'both are'
ip link del brb
compare 'one alone'
exit $failed
