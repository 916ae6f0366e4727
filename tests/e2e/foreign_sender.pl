#!/usr/bin/perl
# tests/e2e/foreign_sender.pl CAPTURE EVERY PORT|- SFLOW-FILE: a switch that nobody of this project wrote.
# Samples every EVERY-th frame of a classic pcap file as it comes, and tells it twice: as
# notifications through Net-SNMP's snmptrap to a port of loopback (-: not at all), packed here by the offsets of
# EASE-SAMPLING-MIB's text, one or two samples each, with the port's counters at the end as an
# easeCounters; and as sFlow v5 into a pcap file (raw IPv4), packed here from the specification, one
# sample a datagram, compact and expanded in turn, framed by counter samples.
use strict;
use warnings;
use Socket;

my ($capture, $every, $port, $sflow_file) = @ARGV;
my $root = '1.3.6.1.4.1.8072.9999.9999.1';
my ($if_index, $kept_most) = (21, 128);
my $start_us = 1_700_000_040_000_000;

open(my $in, '<:raw', $capture) or die "$capture: $!";
read($in, my $file_header, 24) == 24 or die "$capture: short";
unpack('V', $file_header) == 0xa1b2c3d4 or die "$capture: another byte order";
my (@samples, @totals);
my ($pool, $octets, $ucast, $mcast, $bcast) = (0) x 5;
while (read($in, my $record, 16) == 16) {
	my ($captured, $length) = unpack('x8VV', $record);
	read($in, my $frame, $captured) == $captured or die "$capture: short";
	$frame .= "\0" x (60 - $length) if $length < 60 && $captured == $length;
	my $wire = ($length < 60 ? 60 : $length) + 4;
	$pool++;
	$octets += $wire;
	if (substr($frame, 0, 6) eq "\xff" x 6) { $bcast++ } elsif (ord($frame) & 1) { $mcast++ } else { $ucast++ }
	next if $pool % $every;
	push @samples, { pool => $pool, octets => $octets, ucast => $ucast, mcast => $mcast,
	    bcast => $bcast, wire => $wire, header => substr($frame, 0, $kept_most),
	    time => $start_us + 1000 * $pool };
}

# ---- notifications ----

sub snapshot { # of the counters at a sample, or at the end
	my ($at, $last) = @_;
	return 'easeSnapshot' => pack('CQ>Q>4Q>2Q>4Q>2Q>Q>NQ>Q>Q>Q>Q>', 1, $$at{time}, $$at{octets},
	    $$at{ucast}, $$at{mcast}, $$at{bcast}, 0, 0, (0) x 6, 0, $last, $last, $$at{pool}, 0, 0, 0, 0);
}
sub notify {
	my ($kind, @varbinds) = @_;
	system('snmptrap', '-v', '2c', '-c', 'demo', "127.0.0.1:$port", '4711', "$root.0.$kind",
	    "$root.1.1.1.0", 'x', '0a0b0c0d0e0f1011', "$root.1.1.2.0", 'u', '3', @varbinds) == 0 or die 'snmptrap';
}
sub snapshot_varbind {
	my (undef, $value) = snapshot(@_);
	return ("$root.1.3.2.1.1.$if_index", 'x', unpack('H*', $value));
}

my $end = { pool => $pool, octets => $octets, ucast => $ucast, mcast => $mcast, bcast => $bcast,
    time => $start_us + 1000 * $pool + 1 };
sub notify_all {
	notify(2, snapshot_varbind({ pool => 0, octets => 0, ucast => 0, mcast => 0, bcast => 0, time => $start_us }, 0));
	for (my $i = 0; $i < @samples; $i += 2) {
		my ($last, @varbinds) = ($i);
		for my $n ($i + 1, $i + 2) {
			next if $n > @samples;
			my $s = $samples[$n - 1];
			my $value = pack('CCQ>NNNNQ>Q>NNn', 1, 1, $$s{time}, $if_index, 0, $every - 1, $every,
			    $$s{pool}, 0, 0, $$s{wire}, length $$s{header}) . $$s{header};
			push @varbinds, "$root.1.3.1.1.3.$if_index.$n", 'x', unpack('H*', $value);
			$last = $n;
		}
		notify(1, @varbinds, snapshot_varbind($samples[$last - 1], $last));
	}
	notify(2, snapshot_varbind($end, scalar @samples));
}
notify_all() unless $port eq '-';

# ---- sFlow ----

open(my $out, '>:raw', $sflow_file) or die "$sflow_file: $!";
print $out pack('VvvVVVV', 0xa1b2c3d4, 2, 4, 0, 0, 65535, 101);
my $datagrams = 0;
sub datagram {
	my ($sample) = @_;
	my $d = pack('NNa4NNNN', 5, 1, inet_aton('192.0.2.21'), 0, ++$datagrams, 10000 + $datagrams, 1) . $sample;
	my $udp = pack('nnnn', 40000, 6343, 8 + length $d, 0) . $d;
	my $ip = pack('CCnnnCCna4a4', 0x45, 0, 20 + length $udp, 0, 0, 64, 17, 0, (inet_aton('127.0.0.1')) x 2);
	print $out pack('VVVV', 1_700_000_000, $datagrams, (length $ip . $udp) x 2), $ip, $udp;
}
sub counters {
	my ($n, $at) = @_;
	my $record = pack('NNQ>NNQ>NNNNNNQ>NNNNNN', $if_index, 6, 100_000_000, 1, 3, $$at{octets}, $$at{ucast},
	    $$at{mcast}, $$at{bcast}, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	my $sample = pack('NNNNN', $n, $if_index, 1, 1, length $record) . $record;
	datagram(pack('NN', 2, length $sample) . $sample);
}
counters(1, { octets => 0, ucast => 0, mcast => 0, bcast => 0 });
for my $n (1 .. @samples) {
	my $s = $samples[$n - 1];
	my $h = $$s{header};
	my $header = pack('NNNN', 1, $$s{wire}, 4, length $h) . $h . "\0" x (-length($h) % 4);
	my $record = pack('NN', 1, length $header) . $header;
	my $sample = $n % 2
	    ? pack('N8', $n, $if_index, $every, $$s{pool}, 0, $if_index, 0, 1) . $record
	    : pack('N11', $n, 0, $if_index, $every, $$s{pool}, 0, 0, $if_index, 0, 0, 1) . $record;
	datagram(pack('NN', $n % 2 ? 1 : 3, length $sample) . $sample);
}
counters(2, $end);
printf "%d %d %d\n", scalar @samples, $pool, $octets;
