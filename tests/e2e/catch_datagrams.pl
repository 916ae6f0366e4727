#!/usr/bin/perl
# tests/e2e/catch_datagrams.pl PORT FILE: writes the datagrams that come to a port of loopback as a capture
# (Ethernet, IPv4, UDP), until SIGTERM. FILE.ready is there when it listens.
use strict;
use warnings;
use Socket;

my ($port, $file) = @ARGV;
socket(my $s, AF_INET, SOCK_DGRAM, 0) or die "socket: $!\n";
setsockopt($s, SOL_SOCKET, 33, pack('i', 64 << 20)); # SO_RCVBUFFORCE, where we may
bind($s, sockaddr_in($port, INADDR_LOOPBACK)) or die "port $port: $!\n";
open(my $out, '>:raw', $file) or die "$file: $!\n";
print $out pack('LSSlLLL', 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1);
my $stop;
$SIG{TERM} = sub { $stop = 1 };
open(my $ready, '>', "$file.ready") or die "$file.ready: $!\n";
close $ready;
while (1) {
	my $rin = '';
	vec($rin, fileno $s, 1) = 1;
	if (select($rin, undef, undef, 0.05) <= 0) {
		last if $stop;
		next;
	}
	recv($s, my $payload, 65535, 0);
	my $udp = pack('nnnn', 40000, 162, 8 + length $payload, 0) . $payload;
	my $frame = "\0" x 12 . pack('n', 0x0800) .
	    pack('CCnnnCCn', 0x45, 0, 20 + length $udp, 1, 0x4000, 64, 17, 0) .
	    pack('C8', 127, 0, 0, 1, 127, 0, 0, 1) . $udp;
	print $out pack('LLLL', 1700000000, 5, length $frame, length $frame), $frame;
}
close $out or die "$file: $!\n";
