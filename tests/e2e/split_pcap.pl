#!/usr/bin/perl
# tests/e2e/split_pcap.pl IN OUT ID EXPRESSION: of a capture of notifications those datagrams for which the
# Perl expression of $i (from 0), $n (how many there are) and chance(PROBABILITY) holds, as of the agent with
# this id (16 hexadecimal digits): octets of the first id found are put in the place of theirs.
use strict;
use warnings;

my ($in, $out, $id, $expression) = @ARGV;
my $seed = 7;
sub chance { $seed = ($seed * 1103515245 + 12345) % 2**31; return $seed / 2**31 < $_[0] }
sub contents { open my $f, '<:raw', $_[0] or die "$_[0]: $!\n"; local $/; return <$f> }

my $octets = contents($in);
my ($at, @records) = (24);
while ($at + 16 <= length $octets) {
	my $n = unpack 'V', substr $octets, $at + 8, 4;
	push @records, substr $octets, $at, 16 + $n;
	$at += 16 + $n;
}
my $n = @records;
my $wanted = eval "sub { my (\$i) = \@_; $expression }" or die $@;
# agentId, the OCTET STRING behind its OID in every notification: 8 octets
my ($old) = $octets =~ /\x06.{1,24}?\x04\x08(.{8})/s or die "$in: no agent's id\n";
open my $f, '>:raw', $out or die "$out: $!\n";
print $f substr $octets, 0, 24;
for my $i (0 .. $#records) {
	next unless $wanted->($i);
	(my $record = $records[$i]) =~ s/\Q$old\E/pack 'H*', $id/ge;
	print $f $record;
}
close $f or die "$out: $!\n";
