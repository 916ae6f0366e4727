#!/bin/bash
# Walks over a real snmpd: what snmpwalk, snmpbulkwalk with 1, 10 and 50 repetitions, snmptable and
# GETNEXT from every prefix of every name return is the same, in strictly increasing order, of the
# type that --list-objects declares and in the range that its RFC gives it; and the port that got a
# whole capture shows, cell by cell, what an independent count of that capture says. Prints PASS,
# FAIL or SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../support/rig.sh"

capture=$rig.pcap
trap 'rig_stop; rm -rf "$rig" "$capture"' EXIT
"$top/conf/make-capture" "$capture" 12 || exit 1

rig_new
cat >"$rig/board.conf" <<END
chip "U1" { type = gt48002a }
chip "U2" { type = c84302 }
chip "U3" { type = tnetx4090 }
chip "U4" { type = eee }
port "1" { speed = 100  eee = on  capture = "$capture" }
port "2" { speed = 100  eee = on  capture = none }
END
board=$rig/board.conf
rig_own_view
rig_snmpd && rig_agent '' lock_step 'mean_skip = 1000' || { fail 'start' 'a daemon did not come up'; exit 1; }
wait_for 60 replay_ended || { fail 'replay' 'it does not end'; exit 1; }
client snmpset "127.0.0.1:$agent_port" 1.3.6.1.2.1.2.2.1.7.2 i 2 >/dev/null # time stamps that are not 0
port_down() { [ "$(snmp_get 1.3.6.1.2.1.2.2.1.8.2)" = 2 ]; }
wait_for 5 port_down

# ---- the same cells every way ----

ours snmpwalk "127.0.0.1:$agent_port" .1 | grep -v 'No more variables' >"$rig/walk"
cells=$(wc -l <"$rig/walk")
if [ "$cells" -gt 200 ]; then pass "snmpwalk: $cells cells"; else fail 'snmpwalk' "only $cells cells"; fi
for repetitions in 1 10 50; do
	ours snmpbulkwalk -Cr$repetitions "127.0.0.1:$agent_port" .1 >"$rig/bulk"
	expect "snmpbulkwalk -Cr$repetitions gives the same cells" \
	    "$(diff <(steady "$rig/walk") <(steady "$rig/bulk") | head -n 3)" ''
done
ours snmpwalk "127.0.0.1:$agent_port" .1 >"$rig/again"
expect 'a second walk gives the same cells, time stamps too' \
    "$(diff <(steady "$rig/walk") <(steady "$rig/again") | head -n 3)" ''

# snmptable asks for whole rows. It needs names: a module that has nothing but these.
"$build/agent/easeagentd" --list-objects >"$rig/objects"
modules() {
	echo 'TABLES DEFINITIONS ::= BEGIN'
	awk -F'\t' '$2 !~ /\.0$/ { n = split($2, a, "."); entry = substr($2, 1, length($2) - length(a[n]) - 1)
		if (!(entry in name)) { name[entry] = "table" ++tables; arcs = entry; gsub(/\./, " ", arcs)
			sub(/^1 /, "iso ", arcs); sub(/ 1$/, "", arcs)
			print name[entry] " OBJECT IDENTIFIER ::= { " arcs " }"
			print name[entry] "Entry OBJECT IDENTIFIER ::= { " name[entry] " 1 }" }
		print $1 " OBJECT IDENTIFIER ::= { " name[entry] "Entry " a[n] " }" }' "$rig/objects"
	echo 'END'
}
modules >"$rig/TABLES.txt"
# TABLE: its cells as snmptable shows them, "column index value" each.
table_cells() {
	client snmptable -M "$rig" -m TABLES -Ot -Cf '	' -Ci "127.0.0.1:$agent_port" "$1" 2>/dev/null |
	    awk -F'\t' 'NF > 1 && !n { n = split($0, name, "\t"); next }
		NF > 1 { for (i = 2; i <= n; i++) if ($i != "?") print name[i], $1, $i }' | sort
}
walk_cells() { # the same by snmpwalk
	client snmpwalk -M "$rig" -m TABLES -Oqt "127.0.0.1:$agent_port" "$1" 2>/dev/null |
	    sed -n 's/^TABLES::\([A-Za-z0-9]*\)\.\([0-9.]*\) /\1 \2 /p' | grep -v 'No Such\|No more' | sort
}
tables=0 cells=0 differences=
for table in $(awk -F'\t' '$2 !~ /\.0$/ { sub(/\.1\.[0-9]+$/, "", $2); print $2 }' "$rig/objects" | uniq); do
	table_cells "$table" >"$rig/table"
	walk_cells "$table" >"$rig/columns"
	tables=$((tables + 1)) cells=$((cells + $(wc -l <"$rig/columns")))
	differences+=$(diff "$rig/table" "$rig/columns" | grep '^[<>]' | head -n 2)
done
expect "snmptable shows the same $cells cells of $tables tables" "$differences" ''

# GETNEXT behind every prefix of every name, and behind names that are nobody's.
next_cells() {
	perl - "$rig/walk" "127.0.0.1:$agent_port" <<'END'
		use strict;
		use warnings;
		my ($walk, $target) = @ARGV;
		my ($seed, %asked, @ask, $bad) = (7);
		sub random { $seed = ($seed * 1103515245 + 12345) & 0x7fffffff; return ($seed >> 8) % $_[0] }
		sub key { join '', map { pack 'N', $_ } split /\./, $_[0] }
		open my $f, '<', $walk or die;
		my @names = map { /^\.([0-9.]+) = / ? $1 : () } <$f>;
		my @keys = map { key($_) } @names;
		for my $name (@names) {
			my @arcs = split /\./, $name;
			$asked{join '.', @arcs[0 .. $_]} = 1 for 1 .. $#arcs;
			my $cut = join '.', @arcs[0 .. 6 + random(@arcs - 6)];
			$asked{$cut . '.' . random(100)} = 1;
			$asked{"$name." . random(300) . '.0'} = 1;
		}
		@ask = sort { key($a) cmp key($b) } grep { key($_) lt $keys[-1] } keys %asked;
		while (my @some = splice @ask, 0, 40) {
			open my $p, '-|', 'snmpgetnext', qw(-v2c -c ours -t 2 -r 1 -On -Oq), $target, map { ".$_" } @some or die;
			my @answers = map { /^\.(1\.[0-9.]+) / ? $1 : () } <$p>;
			for my $i (0 .. $#some) {
				my ($low, $high) = (0, scalar @keys); # the first name behind
				while ($low < $high) {
					my $middle = int(($low + $high) / 2);
					if ($keys[$middle] le key($some[$i])) { $low = $middle + 1 } else { $high = $middle }
				}
				next if ($answers[$i] // '') eq $names[$low];
				print "behind $some[$i] comes ", $answers[$i] // 'nothing', "\n" if ++$bad <= 3;
			}
		}
		print "right ", scalar(keys %asked), "\n" unless $bad;
END
}
verdict=$(next_cells)
if [[ $verdict == right* ]]; then pass "GETNEXT behind ${verdict#right } names"; else
	fail 'GETNEXT behind any name' "$(tr '\n' ';' <<<"$verdict")"
fi

# ---- order, types, ranges ----

verdict=$(perl - "$rig/objects" "$rig/walk" "$top/tests/mibs/value_ranges.tsv" <<'END'
	use strict;
	use warnings;
	my ($objects, $walk, $ranges) = @ARGV;
	my (%column, %range, %seen, $last, $bad);
	sub complain { print "@_\n" if ++$bad <= 5 }
	sub key { join '', map { pack 'N', $_ } split /\./, $_[0] }
	my %type = ('Integer32' => 'INTEGER', 'OCTET STRING' => 'STRING|Hex-STRING|""',
	    'OBJECT IDENTIFIER' => 'OID', 'Counter32' => 'Counter32', 'Gauge32' => 'Gauge32',
	    'TimeTicks' => 'Timeticks', 'Counter64' => 'Counter64');
	open my $f, '<', $objects or die;
	while (<$f>) {
		chomp;
		my ($name, $oid, $syntax) = split /\t/;
		$oid =~ s/\.0$//;
		$column{$oid} = [$name, $syntax];
	}
	open $f, '<', $ranges or die;
	while (<$f>) {
		next if /^#/;
		my ($name, $low, $high) = split;
		$range{$name} = [$low, $high];
	}
	open $f, '<', $walk or die;
	while (<$f>) {
		my ($oid, $type, $value) = /^\.([0-9.]+) = (""|[A-Za-z0-9-]+)(?:: ?(.*))?$/ or next; # further lines of a string
		complain("$oid does not come behind $last") if defined $last && key($oid) le key($last);
		$last = $oid;
		my $prefix = $oid;
		$prefix =~ s/\.[0-9]+$// until exists $column{$prefix} || $prefix !~ /\./;
		my $is = $column{$prefix} or do { complain("$oid is not declared"); next };
		$seen{$is->[0]}++;
		complain("$is->[0] is $type, not $is->[1]") unless $type =~ /^(?:$type{$is->[1]})$/;
		my $range = $range{$is->[0]};
		complain("$is->[0] has no range to hold it to") if !$range && $is->[1] eq 'Integer32';
		next unless $range;
		my $number = $is->[1] eq 'OCTET STRING' ? octets($type, $value) : $value =~ /\((\d+)\)/ ? $1 : $value;
		complain("$is->[0] is $number") if $number < $range->[0] || $number > $range->[1];
	}
	sub octets { # their number
		my ($type, $value) = @_;
		return 0 if $type eq '""';
		return $type eq 'Hex-STRING' ? scalar(my @h = split ' ', $value) : length($value) - 2;
	}
	print "and further ", $bad - 5, "\n" if $bad && $bad > 5;
	print "checked ", scalar(keys %seen), " objects\n" unless $bad;
END
)
if [[ $verdict == checked* ]]; then
	pass "names strictly increase, types and ranges are right: ${verdict#checked }"
else
	fail 'names, types and ranges' "$(tr '\n' ';' <<<"$verdict")"
fi

# ---- cell by cell against the capture ----

# What the cells of port 1, which got every frame, and of port 2, which sent what a bridge floods,
# must hold: counted from the capture's records by the definitions of RFC 2819, 2863 and 3635, of
# frames padded to 60 octets and with their 4 of FCS. "OID value" each.
truth_cells() { # CAPTURE
	perl -e 'use strict; use warnings;
		open(my $f, "<:raw", $ARGV[0]) or die; read($f, my $head, 24) == 24 or die;
		my $long = unpack("V", $head) == 0xa1b2c3d4 ? "V" : "N";
		my (%n, %known);
		my @class = ([64, 64, 14], [65, 127, 15], [128, 255, 16], [256, 511, 17], [512, 1023, 18], [1024, 1518, 19]);
		$n{"1.$_"} = 0 for 4 .. 7, 10, 14 .. 19;
		$n{"x.$_"} = 0 for 6 .. 9;
		$n{"out.$_"} = 0 for 10 .. 13;
		while (read($f, my $record, 16) == 16) {
			my (undef, undef, $kept, $len) = unpack("${long}4", $record);
			read($f, my $octets, $kept) == $kept or die;
			my ($to, $from) = unpack("a6 a6", $octets);
			my $size = ($len < 60 ? 60 : $len) + 4;
			my $kind = $to eq "\xff" x 6 ? 2 : ord($to) & 1;
			$n{"1.4"} += $size;
			$n{"1.5"}++;
			$n{"1.10"}++ if $size > 1518;
			next if $size > 1518;
			$n{"1." . $_->[2]}++ for grep { $size >= $_->[0] && $size <= $_->[1] } @class;
			$n{"1.6"}++ if $kind == 2;
			$n{"1.7"}++ if $kind == 1;
			$n{"x.6"} += $size;
			$n{"x." . (7 + $kind)}++;
			$known{$from} = 1;
			next if $kind == 0 && $known{$to} or $to =~ /^\x01\x80\xc2\x00\x00[\x00-\x0f]/;
			$n{"out.10"} += $size;
			$n{"out." . (11 + $kind)}++;
		}
		my %root = ("1" => "1.3.6.1.2.1.16.1.1.1.COLUMN.1", x => "1.3.6.1.2.1.31.1.1.1.COLUMN.1",
			out => "1.3.6.1.2.1.31.1.1.1.COLUMN.2");
		my %low = ("x.6" => "10.1", "x.7" => "11.1", "out.10" => "16.2", "out.11" => "17.2");
		for (keys %n) {
			my ($table, $column) = split /\./;
			print $root{$table} =~ s/COLUMN/$column/r, " $n{$_}\n";
			print "1.3.6.1.2.1.2.2.1.$low{$_} ", $n{$_} & 0xffffffff, "\n" if $low{$_};
		}
		print "1.3.6.1.2.1.10.7.2.1.$_.1 0\n" for 2, 3, 13, 16; # no errors
		print "1.3.6.1.2.1.2.2.1.$_.2 0\n" for 10, 11;
		' "$1" | sort
}
cells_are_true() { # NAME CAPTURE: of the agent that has replayed it
	truth_cells "$2" >"$rig/truth"
	cut -d' ' -f1 "$rig/truth" | sed 's/^/./' |
	    xargs -n 60 snmpget -v2c -c demo -Oqn "127.0.0.1:$agent_port" | sed 's/^\.//' | sort >"$rig/cells"
	expect "$1: $(wc -l <"$rig/truth") cells of two ports hold the capture's truth" \
	    "$(diff "$rig/cells" "$rig/truth" | grep '^[<>]' | head -n 6 | tr '\n' ' ')" ''
}
cells_are_true 'default capture' "$capture"
if [ -n "${EASE_CAPTURES:-}" ]; then
	rig_agent_stop
	rm -rf "$rig/agent" # or the totals go on
	sed -i "s|capture = \"$capture\"|capture = \"$EASE_CAPTURES/industrial-mb2.pcap\"|" "$rig/board.conf"
	rig_agent '' lock_step 'mean_skip = 1000' && wait_for 60 replay_ended && sleep 1.1
	cells_are_true 'industrial capture' "$EASE_CAPTURES/industrial-mb2.pcap"
else
	skip 'industrial capture' 'no captures at hand (EASE_CAPTURES)'
fi
exit $failed
