#!/usr/bin/perl
# tests/e2e/sflow_sender.pl PORT: sends a fixed story as sFlow v5 to a UDP port of loopback, packed here
# by hand from the specification: agent 192.0.2.7, ifIndex 3, 1 in 100, 1,200 samples of two pairs
# of stations (three quarters 10.9.0.1 > 10.9.0.2 of 1,000 octets, one quarter 10.9.0.3 >
# 10.9.0.2 of 200), six a datagram. Every tenth datagram is lost, every seventh comes twice, and
# some come behind their successor. Interface counters frame it: 120,000 frames, 96,000,000 octets,
# over a wrap of their 32 bits. Last comes what must be refused: version 4, a datagram cut off.
use strict;
use warnings;
use Socket;

socket(my $out, AF_INET, SOCK_DGRAM, 0) or die "socket: $!";
my $to = sockaddr_in($ARGV[0], INADDR_LOOPBACK);
my $sequence = 0;

sub datagram {
	my $head = pack('NNa4NNNN', 5, 1, inet_aton('192.0.2.7'), 0, ++$sequence, 60000 + 10 * $sequence, scalar @_);
	return $head . join '', @_;
}
sub give { send($out, $_[0], 0, $to) or die "send: $!"; select(undef, undef, undef, 0.0005) }
sub flow {
	my ($n) = @_;
	my ($from, $octets) = $n % 4 ? (1, 1000) : (3, 200);
	my $header = pack('H*', "02000000000202000000000${from}0800450000be0001000040110000") .
	    inet_aton("10.9.0.$from") . inet_aton('10.9.0.2') . pack('nnnn', 5000, 6000, 100, 0);
	my $record = pack('NNNNNNa*', 1, 16 + 44, 1, $octets, 4, length $header, $header . "\0" x (44 - length $header));
	my $sample = pack('NNNNNNNN', $n, 3, 100, $n * 100, 0, 3, 4, 1) . $record;
	return pack('NN', 1, length $sample) . $sample;
}
sub counters {
	my ($n, $octets, $frames) = @_;
	my $record = pack('NNQ>NNQ>NNNNNNQ>NNNNNN', 3, 6, 1_000_000_000, 1, 3, $octets,
	    ($frames + 0xfffffff0) & 0xffffffff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	my $sample = pack('NNNNN', $n, 3, 1, 1, length $record) . $record;
	return pack('NN', 2, length $sample) . $sample;
}

give(datagram(counters(1, 0, 0)));
my $behind;
for my $k (1 .. 200) {
	my $d = datagram(map { flow($_) } 6 * $k - 5 .. 6 * $k);
	next if $k % 10 == 0;
	if ($k % 11 == 5) { $behind = $d; next }
	give($d);
	give($d) if $k % 7 == 0;
	if (defined $behind) { give($behind); undef $behind }
}
give(datagram(counters(2, 96_000_000, 120_000)));
give(pack('N', 4) . 'x' x 40);
give(substr(datagram(flow(9999)), 0, 60));
