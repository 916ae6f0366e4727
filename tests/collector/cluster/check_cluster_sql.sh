#!/bin/bash
# What `easecapd --clickhouse-sql` prints, against a real ClickHouse server: the tables are made as printed, and of all that
# a collector then sends, at its rounds and upkeep, each statement is one of those printed.
# Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../../support/rig.sh"
. "$(dirname "$0")/../../support/clickhouse.sh"
reason=$(clickhouse_missing) && { skip 'all' "$reason"; exit 0; }
clickhouse_start 1 secret || { fail 'a server starts' "$(tail -n 3 "$clickhouse/0/error.log")"; exit 1; }
cat >"$rig/easecapd.conf" <<END
listen = {"127.0.0.1:0"}
communities = {"demo"}
http_listen = ""
run_as = root
store = "$rig/ease.db"
clickhouse = {"http://127.0.0.1:${clickhouse_http[0]}"}
clickhouse_user = "ease"
clickhouse_password = "secret"
clickhouse_interval = 1
END
chmod 600 "$rig/easecapd.conf"
easecapd=("$build/collector/easecapd" -c "$rig/easecapd.conf")
"${easecapd[@]}" --clickhouse-sql >"$rig/printed"
expect 'the password is not printed' "$(grep -c secret "$rig/printed")" 0

# ---- the tables ----

refused=$(sed -n '/^-- What is sent/q; s/;$//p' "$rig/printed" | while IFS= read -r sql; do ch 0 "$sql"; done)
expect 'tables: as printed' "$refused" ''
expect 'tables: none is missing' "$("${easecapd[@]}" --clickhouse-schema | grep -c CREATE)" 0

# ---- statements of a round and of upkeep: windows to make, and to make again, and what is old ----

other=9223372036854775807 minute=60000000
first=$(($(date +%s) / 86400 * 86400 - 86400))000000
put_minutes() { # REVISION: another collector has shipped two hours
	ch 0 "INSERT INTO ease.cover (start_us, agent, collector, received, low_us, high_us, revision)
	    SELECT $first + number * $minute AS start, 'agent001', $other, 1, start, start + 1, $1 FROM system.numbers LIMIT 125"
	ch 0 "INSERT INTO ease.cursor (collector, time_us, from_us, to_us, closed_us, newest_us, revision) SELECT $other,
	    toUInt64(now()) * 1000000, $first, $first + 125 * $minute, $first + 125 * $minute, $first + 125 * $minute, $1"
}
rolled() { ch 0 "SELECT rolled_revision FROM ease.rolled FINAL WHERE level = 60 AND collector = $other"; }
ch 0 "INSERT INTO ease.ports (level, start_us, agent) SELECT 1, $first - 10 * 86400000000, 'agent001'"
ch 0 "INSERT INTO ease.account (agent, last_us) SELECT 'agent001', 1"
put_minutes 1
"${easecapd[@]}" -f >"$rig/log" 2>&1 &
collector_pid=$!
wait_for 30 prints 1 rolled
put_minutes 2
wait_for 60 prints 2 rolled
expect 'windows are made, and made again' "$(rolled)" 2
old() { ch 0 "SELECT (SELECT count() FROM ease.ports WHERE start_us < $first), (SELECT count() FROM ease.account)"; }
wait_for 60 prints $'0\t0' old
expect 'what is old is gone' "$(old)" $'0\t0'
ch 0 'SYSTEM FLUSH LOGS'
ch 0 "SELECT DISTINCT query FROM system.query_log WHERE user = 'ease'" >"$rig/sent"
# A text matches from where its pieces between the places follow each other. A server logs no values.
compared=$(perl -0777 -e '
    my ($printed, $sent) = map { open my $file, "<", $_ or die; <$file> } @ARGV;
    my ($tables, $rest) = $printed =~ /(.*?)-- What is sent(.*)/s;
    my %made = map { $_ => 1 } $tables =~ /^([A-Z].*);$/mg;
    my (%pieces, %used, @strange);
    while ($rest =~ /^-- (\w+): .*\n(?:-- .*\n)*((?s:.*?));\n/mg) {
	my ($name, $text) = ($1, $2);
	$pieces{$name} = [split /\{\w+\}/, $text =~ s/\s+/ /gr =~ s/^ //r =~ s/ VALUES \K.*//r];
    }
    sub found { # -1: it does not match
	my ($sql, $first, @others) = @_;
	my $begin = index $sql, $first;
	my $at = $begin + length $first;
	for (@others) { $at = index $sql, $_, $at; return -1 if $at < 0; $at += length }
	return $begin;
    }
    for my $sql (grep { !$made{$_} } map { s/\\n/ /gr =~ s/\\\x27/\x27/gr =~ s/\s+/ /gr =~ s/ VALUES\K.*/ /r } split /\n/, $sent) {
	my %at = map { $_ => found($sql, @{$pieces{$_}}) } keys %pieces;
	$used{$_} |= $at{$_} >= 0 for keys %at;
	push @strange, substr $sql, 0, 200 unless grep { $_ == 0 } values %at;
    }
    print join("\n", @strange, "not sent: " . join " ", grep { !$used{$_} } sort keys %pieces), "\n"' "$rig/printed" "$rig/sent")
expect 'each statement is one of those printed, and of these all but those of reports are sent' "$compared" \
    'not sent: accounts_passed_over levels'
exit $failed
