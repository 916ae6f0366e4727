#!/usr/bin/perl
# tests/e2e/uncounted_sender.pl PORT: two agents that send sFlow v5 without counters to a UDP port of loopback, packed
# by hand from the specification. 192.0.2.8, ifIndex 3, counts in its pool what passed. 192.0.2.9, ifIndex 4, makes
# its pool up as Open vSwitch does: samples times rate. Each sends 600 samples of 1 in 100: three quarters of
# 10.9.0.1 > 10.9.0.2, of 1,000 octets, one quarter of 10.9.0.3 > 10.9.0.2, of 200.
use strict;
use warnings;
use Socket;

socket(my $out, AF_INET, SOCK_DGRAM, 0) or die "socket: $!";
my $to = sockaddr_in($ARGV[0], INADDR_LOOPBACK);

sub flow {
	my ($n, $port, $pool) = @_;
	my ($from, $octets) = $n % 4 ? (1, 1000) : (3, 200);
	my $header = pack('H*', "02000000000202000000000${from}0800450000be0001000040110000") .
	    inet_aton("10.9.0.$from") . inet_aton('10.9.0.2') . pack('nnnn', 5000, 6000, 100, 0);
	my $record = pack('NNNNNNa*', 1, 16 + 44, 1, $octets, 4, length $header, $header . "\0" x (44 - length $header));
	my $sample = pack('NNNNNNNN', $n, $port, 100, $pool, 0, $port, 1, 1) . $record;
	return pack('NN', 1, length $sample) . $sample;
}

for my $k (1 .. 100) {
	my @n = (6 * $k - 5 .. 6 * $k);

	# Around 100 frames pass for each sample, not exactly so many.
	my @samples = ([8, map { flow($_, 3, $_ * 100 + $_ * 37 % 61) } @n], [9, map { flow($_, 4, $_ * 100) } @n]);
	for (@samples) {
		my ($host, @flows) = @$_;
		my $head = pack('NNa4NNNN', 5, 1, inet_aton("192.0.2.$host"), 0, $k, 60000 + 10 * $k, scalar @flows);
		send($out, $head . join('', @flows), 0, $to) or die "send: $!";
	}
	select(undef, undef, undef, 0.0005);
}
