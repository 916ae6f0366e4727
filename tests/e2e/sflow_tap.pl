#!/usr/bin/perl
# tests/e2e/sflow_tap.pl FILE PORT...: receives UDP datagrams of loopback, writes each into the pcap
# file FILE (raw IPv4, to port 6343) and passes it on to every PORT, no faster than these are read, for
# some have small buffers. Prints the port it listens on; ends at SIGTERM.
use strict;
use warnings;
use IO::Handle;
use Socket;

my ($file, @ports) = @ARGV;
socket(my $in, AF_INET, SOCK_DGRAM, 0) or die "socket: $!";
setsockopt($in, SOL_SOCKET, 33, 64 << 20) or setsockopt($in, SOL_SOCKET, SO_RCVBUF, 8 << 20);
bind($in, sockaddr_in(0, INADDR_LOOPBACK)) or die "bind: $!";
socket(my $out, AF_INET, SOCK_DGRAM, 0) or die "socket: $!";
open(my $pcap, '>:raw', $file) or die "$file: $!";
$pcap->autoflush(1);
print $pcap pack('VvvVVVV', 0xa1b2c3d4, 2, 4, 0, 0, 65535, 101);
$| = 1;
print +(sockaddr_in(getsockname($in)))[0], "\n";
$SIG{TERM} = sub { exit 0 };

my $room = 65536; # of the smallest buffer a system gives, 208 KiB, as the kernel counts
sub wait_for_room {
	my $is_port = join '|', map { sprintf '%04X', $_ } @ports;
	for (1 .. 1000) {
		open(my $udp, '<', '/proc/net/udp') or return;
		return unless grep { /^\s*\d+: [0-9A-F]{8}:(?:$is_port) \S+ \S+ [0-9A-F]+:([0-9A-F]+) / && hex $1 > $room } <$udp>;
		select(undef, undef, undef, 0.002);
	}
}

while (defined recv($in, my $octets, 65535, 0)) {
	my $udp = pack('nnnn', 40000, 6343, 8 + length $octets, 0) . $octets;
	my $ip = pack('CCnnnCCnNN', 0x45, 0, 20 + length $udp, 0, 0, 64, 17, 0, 0x7f000001, 0x7f000001);
	my $n = length($ip) + length($udp);
	print $pcap pack('VVVV', time, 0, $n, $n), $ip, $udp;
	wait_for_room();
	send($out, $octets, 0, sockaddr_in($_, INADDR_LOOPBACK)) for @ports;
}
