#!/usr/bin/perl
# tests/collector/web/web_attack.pl PORT KIND N: N clients of the kind at a time against a web server on loopback,
# until it is told to end (SIGTERM) or its input ends. Says "ready" when all are connected, and at the
# end how many of them the server has closed and how many times it gave what status.
#   drip    each sends a request line, an octet in half a second, and never its end; one that is
#           closed comes again
#   unread  each asks for a long answer and never reads it
#   burst   each asks a question of its own at once, and reads the answer; then ends
use strict;
use warnings;
use IO::Handle;
use IO::Select;
use Socket;

my ($port, $kind, $n) = @ARGV;
$| = 1;
my $stop = 0;
$SIG{TERM} = sub { $stop = 1 };
$SIG{PIPE} = 'IGNORE';
my ($closed, %status) = (0);

sub client {
	socket(my $s, AF_INET, SOCK_STREAM, 0) or die "socket: $!";
	setsockopt($s, SOL_SOCKET, SO_RCVBUF, 4096) if $kind eq 'unread';
	connect($s, sockaddr_in($port, INADDR_LOOPBACK)) or die "connect: $!";
	$s->blocking(0);
	return $s;
}

sub drip {
	my @clients = map { client() } 1 .. $n;
	print "ready\n";
	my $at = 0;
	my $line = 'GET /' . ('x' x 100000);
	until ($stop) {
		for my $c (@clients) {
			next if defined syswrite($c, substr($line, $at, 1)) and !closed($c);
			$closed++;
			close($c);
			$c = client();
		}
		$at++;
		select(undef, undef, undef, 0.5);
	}
}

sub closed {
	my ($c) = @_;
	my $got = sysread($c, my $octets, 4096);
	return defined $got && $got == 0;
}

sub unread {
	my @clients = map { client() } 1 .. $n;
	syswrite($_, "GET /chart.js HTTP/1.1\r\nHost: localhost\r\n\r\n") for @clients;
	print "ready\n";
	select(undef, undef, undef, 0.2) until $stop;
}

sub burst {
	my @clients = map { client() } 1 .. $n;
	my $i = 0;
	my %text;
	for my $c (@clients) {
		$i++;
		syswrite($c, "GET /api/v1/talkers?last=all&top=$i HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
	}
	print "ready\n";
	my $open = IO::Select->new(@clients);
	while ($open->count && !$stop) {
		for my $c ($open->can_read(1)) {
			my $got = sysread($c, my $octets, 65536);
			$text{$c} .= $octets if $got;
			next if $got;
			$open->remove($c);
			my ($status) = ($text{$c} // '') =~ m!^HTTP/1\.1 (\d+)!;
			$status .= ' retry' if ($text{$c} // '') =~ /^Retry-After: \d/m;
			$status{$status // 'none'}++;
		}
	}
}

{ drip => \&drip, unread => \&unread, burst => \&burst }->{$kind}->();
print "closed $closed\n";
print "status $_: $status{$_}\n" for sort keys %status;
