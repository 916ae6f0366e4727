#!/usr/bin/perl
# tests/e2e/flood_sender.pl SPOOFED: writes a pcap file of sFlow v5 to standard output: one port of one
# agent, 1 in 1000, two samples for each of SPOOFED: one from an IPv4 source that comes once, and one
# of a heavy source 10.0.0.N, N of 1 to 20 as often as 1/N says; in a hundred seconds, counters last.
# Prints to standard error the heavy ones: lines "10.0.0.N SAMPLES".
use strict;
use warnings;
use Socket;

my ($spoofed) = @ARGV;
my $each = 40; # samples a datagram
binmode STDOUT;
srand(3);
print pack('VvvVVVV', 0xa1b2c3d4, 2, 4, 0, 0, 65535, 101);

my @by_share = map { ($_) x int(840 / $_) } 1 .. 20;
my %heavy;
my ($n, $datagrams, $us) = (0, 0, 0);
my $header = pack('H*', '02000000000202000000000108004500005000010000401100000a0000010a090909') . pack('nnnn', 5, 6, 60, 0);
my $record = pack('NNNNNN', 1, 16 + length($header) + 2, 1, 98, 4, length $header) . $header . "\0\0";
my $source_at = 8 + 32 + 24 + 26; # of a sample
my $sample = pack('NN', 1, 32 + length $record) . pack('N8', 0, 3, 1000, 0, 0, 3, 4, 1) . $record;

sub datagram {
	my ($count, $samples) = @_;
	my $d = pack('NNa4NNNN', 5, 1, inet_aton('192.0.2.7'), 0, ++$datagrams, 60000 + int($us / 1000), $count) . $samples;
	my $udp = pack('nnnn', 40000, 6343, 8 + length $d, 0) . $d;
	my $ip = pack('CCnnnCCnNN', 0x45, 0, 20 + length $udp, 0, 0, 64, 17, 0, 0x7f000001, 0x7f000001);
	print pack('VVVV', 1_700_000_040 + int($us / 1_000_000), $us % 1_000_000, (length($ip) + length $udp) x 2), $ip, $udp;
}
sub counters {
	my ($k, $frames) = @_;
	my $r = pack('NNQ>NNQ>NNNNNNQ>NNNNNN', 3, 6, 10_000_000_000, 1, 3, 98 * $frames, $frames & 0xffffffff, (0) x 10);
	my $c = pack('NNNNN', $k, 3, 1, 1, length $r) . $r;
	datagram(1, pack('NN', 2, length $c) . $c);
}

counters(1, 0);
for (my $i = 0; $i < $spoofed;) {
	my $samples = '';
	for (1 .. $each / 2) {
		my $who = $by_share[rand @by_share];
		$heavy{$who}++;
		for my $source (0x20000000 + $i++, 0x0a000000 + $who) {
			my $s = $sample;
			$n++;
			substr($s, 8, 4) = pack('N', $n);
			substr($s, 20, 4) = pack('N', 1000 * $n & 0xffffffff);
			substr($s, $source_at, 4) = pack('N', $source);
			$samples .= $s;
		}
	}
	$us = int(100e6 * $i / $spoofed);
	datagram($each, $samples);
	counters(1 + $datagrams, 1000 * $n) if $datagrams % 200 == 0; # each 20 s of 20,000
}
counters(1 + $datagrams, 1000 * $n);
print STDERR "10.0.0.$_ $heavy{$_}\n" for sort { $a <=> $b } keys %heavy;
