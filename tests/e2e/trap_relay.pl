#!/usr/bin/perl
# tests/e2e/trap_relay.pl FILE SEED LOSE DUPLICATE REORDER PORT...: a bad network between a switch and
# collectors at ports of loopback. Each notification is lost or doubled with these probabilities,
# for all receivers alike, and each copy is late by up to eight notifications with the third one, for
# each receiver in an order of its own; the first eight pass in their order. After SIGUSR1 all easeSamples are lost and what else comes
# passes at once, as when the end of a transmission is lost. Prints the port that it listens on. At
# SIGTERM FILE has what passed, found in the octets without decoding them: lines "RECEIVER BOOT
# IFINDEX NUMBERS DUPLICATES REORDERED", by receivers counted from 0, and "datagrams RECEIVER COUNT".
# A number is reordered if a higher one, or a snapshot that knew of it, passed before.
use strict;
use warnings;
use IO::Handle;
use Socket;

my ($file, $seed, $lose, $duplicate, $reorder, @ports) = @ARGV;
srand($seed);
socket(my $in, AF_INET, SOCK_DGRAM, 0) or die "socket: $!";
setsockopt($in, SOL_SOCKET, 33, 64 << 20) or setsockopt($in, SOL_SOCKET, SO_RCVBUF, 64 << 20);
bind($in, sockaddr_in(0, INADDR_LOOPBACK)) or die "bind: $!";
socket(my $out, AF_INET, SOCK_DGRAM, 0) or die "socket: $!";
STDOUT->autoflush(1);
print +(sockaddr_in(getsockname($in)))[0], "\n";

my $root = "\x2b\x06\x01\x04\x01\xbf\x08\xce\x0f\xce\x0f\x01"; # 1.3.6.1.4.1.8072.9999.9999.1
my $arc = qr/[\x80-\xff]*[\x00-\x7f]/;
my ($stop, $tail) = (0, 0);
$SIG{TERM} = sub { $stop = 1 };
$SIG{USR1} = sub { $tail = 1 };

sub number { my $n = 0; $n = $n << 7 | ord($_) & 0x7f for split //, $_[0]; return $n }
sub kind { return $_[0] =~ /\Q$root\E\x00($arc)/s ? number($1) : 0 }
sub boot { return $_[0] =~ /\Q$root\E\x01\x01\x02\x00\x42(.)/s ? hex unpack('H*', substr($_[0], $+[0], ord $1)) : 0 }
# Of each easeSampleDatagram ifIndex and number, of each easeSnapshot (layout 1) ifIndex, the newest
# number, and 1; in their order.
sub numbers {
	my @told;
	while ($_[0] =~ /\Q$root\E\x01\x03(?:\x01\x01\x03($arc)($arc)\x04|\x02\x01\x01($arc)\x04\x81\xa5(\x01.{164}))/gs) {
		push @told, defined $1 ? [number($1), number($2), 0] : [number($3), unpack('N', substr($4, 121)), 1];
	}
	return @told;
}

my (%seen, %highest, %count, %sent);
sub deliver {
	my ($to, $octets) = @_;
	my $boot = boot($octets);
	for (kind($octets) <= 2 ? numbers($octets) : ()) { # what else has a snapshot is an event
		my ($port, $n, $is_snapshot) = @$_;
		my $who = "$to $boot $port";
		if ($is_snapshot) {
			$highest{$who} = $n if $n > ($highest{$who} // 0);
			next;
		}
		$count{$who} //= [0, 0, 0];
		if ($seen{$who}{$n}++) { $count{$who}[1]++; next }
		$count{$who}[0]++;
		if ($n <= ($highest{$who} // 0)) { $count{$who}[2]++ } else { $highest{$who} = $n }
	}
	$sent{$to}++;
	send($out, $octets, 0, sockaddr_in($ports[$to], INADDR_LOOPBACK)) or warn "send: $!";
}

my ($turn, @held) = (0); # [when, receiver, octets]
sub deliver_due {
	my ($all) = @_;
	deliver(@$_[1, 2]) for grep { $all || $$_[0] <= $turn } @held;
	@held = $all ? () : grep { $$_[0] > $turn } @held;
}

sub pass {
	my ($octets) = @_;
	my $kind = kind($octets);
	if ($tail) {
		deliver_due(1);
		$kind == 1 or map { deliver($_, $octets) } 0 .. $#ports;
		return;
	}
	$turn++;
	deliver_due(0);
	if ($turn <= 8) { # a collector that misses the beginning does not know what was lost of it
		deliver($_, $octets) for 0 .. $#ports;
		return;
	}
	my $copies = (rand() >= $lose) + (rand() < $duplicate && rand() >= $lose);
	for (1 .. $copies) {
		for my $to (0 .. $#ports) {
			if (rand() < $reorder) { push @held, [$turn + 1 + int rand 8, $to, $octets] }
			else { deliver($to, $octets) }
		}
	}
}

until ($stop) {
	my $ready = '';
	vec($ready, fileno($in), 1) = 1;
	my $n = select($ready, undef, undef, 0.2);
	if ($n > 0 && defined recv($in, my $octets, 65535, 0)) { pass($octets) }
	elsif ($n == 0) { deliver_due(1) }
}
deliver_due(1);
open(my $truth, '>', $file) or die "$file: $!";
print $truth "$_ @{$count{$_}}\n" for sort keys %count;
print $truth "datagrams $_ ", $sent{$_} // 0, "\n" for 0 .. $#ports;
