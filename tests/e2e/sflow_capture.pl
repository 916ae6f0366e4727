# sflow_capture.pl FILE AGENT...: writes a capture of sFlow for easecapd --import. Each AGENT is
# "address from until counters[,counters...]" in seconds since 10:00 of 1 November 2026 (UTC), or BEGIN in the environment: a switch with ifIndex 7
# that passes 1,000 frames a second, 8.50 Mb/s of 10.0.0.1 and 1.24 Mb/s of 10.0.0.2, of which 1 in 100 is sampled at
# random, and that sends counters at these times; "30+" is each 30 seconds from 30 on. Written by hand from the
# specification of sFlow version 5.
use strict;
use warnings;
use Socket;

my ($file, @agents) = @ARGV;
my $begin = $ENV{BEGIN} // 1793527200;
my @sent; # [time, sender, datagram]
srand 7;
for (@agents) {
	my ($address, $from, $until, $times) = split;
	# with NUMBER=N in the environment samples are numbered from behind it, and their pool begins at 100 N
	my ($first, $n, $pool, $octets, $number) = (int($from * 1000), $ENV{NUMBER} // 0, 100 * ($ENV{NUMBER} // 0), 0, 0);
	my @due = map { /(.*)\+$/ ? map { $1 + 30 * $_ } 0 .. int(($until - $1) / 30) : $_ } split /,/, $times // "";
	my $send = sub {
		my ($at, $type, $body) = @_;
		push @sent, [$at, $address, pack("NNa4NNNN NN", 5, 1, inet_aton($address), 0, ++$number, 1000 * $at, 1,
		    $type, length $body) . $body];
	};
	for (my $ms = $first; $ms <= $until * 1000; $ms++) {
		while (@due && $due[0] * 1000 <= $ms) {
			my $generic = pack("NNQ>NN Q>NNNNNN Q>NNNNN N", 7, 6, 1e9, 1, 3, $octets, $pool & 0xffffffff, 0, 0, 0, 0, 0,
			    0, 0, 0, 0, 0, 0, 0);
			$send->($ms / 1000, 2, pack("NNN NN", 1, 7, 1, 1, length $generic) . $generic);
			shift @due;
		}
		my ($host, $length) = $ms % 10 < 7 ? (1, 1518) : (2, 517);
		$pool++;
		$octets += $length;
		# with MISSES=PART in the environment it takes fewer than 1 in 100, and says nothing of it
		next if rand(100) >= 1 - ($ENV{MISSES} // 0);
		my $header = pack("H24 n CCnnnCCn C4 C4 nn", "020000000002020000000001", 0x800, 0x45, 0, $length - 18, 1, 0, 64, 17, 0,
		    10, 0, 0, $host, 10, 9, 9, 9, 4000, 443);
		$header .= "\0" x (64 - length $header);
		# with VXLAN=PORT in the environment: between 10.1.1.1 and 10.1.1.2, to that UDP port
		$header = pack("H24 n CCnnnCCn C4 C4 nnnn NN", "020000000004020000000003", 0x800, 0x45, 0, 36 + length $header,
		    1, 0, 64, 17, 0, 10, 1, 1, 1, 10, 1, 1, 2, 50000, $ENV{VXLAN}, 16 + length $header, 0, 8 << 24, 5 << 8) . $header
		    if $ENV{VXLAN};
		my $raw = pack("NNNN", 1, $length, 4, length $header) . $header . "\0" x (-length($header) % 4);
		$send->($ms / 1000, 1, pack("NNNNNNNN NN", ++$n & 0xffffffff, 7, 100, $pool & 0xffffffff, 0, 7, 8, 1, 1, length $raw) . $raw);
	}
}
open(my $out, ">", $file) or die;
binmode $out;
print $out pack("LSSlLLL", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 101); # LINKTYPE_RAW
for (sort { $a->[0] <=> $b->[0] } @sent) {
	my ($at, $address, $data) = @$_;
	my $udp = pack("nnnn", 6343, 6343, 8 + length $data, 0) . $data;
	my $ip = pack("CCnnnCCn a4 a4", 0x45, 0, 20 + length $udp, 0, 0, 64, 17, 0, inet_aton($address), inet_aton("192.0.2.1")) . $udp;
	print $out pack("LLLL", $begin + int $at, int(1e6 * ($at - int $at)), length $ip, length $ip), $ip;
}
