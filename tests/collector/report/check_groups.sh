#!/bin/bash
# Groups of addresses as rows and in filters: networks of the names' file, AS numbers and countries of MaxMind DB files.
# A capture goes through agent and collector; the list of all addresses, each looked up apart (Python's ipaddress for
# prefixes, mmdblookup for files that MaxMind's own writer made), must add up to the lists of groups, from sums and from
# kept samples, by source, destination and pair, in rows and in the rest, over easetop and over the API; names change at
# SIGHUP. Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../../support/rig.sh"
for need in python3 jq curl mmdblookup; do
	command -v "$need" >/dev/null || { skip 'all' "$need is not there"; exit 0; }
done
perl -MMaxMind::DB::Writer::Tree -e 1 2>/dev/null || { skip 'all' 'MaxMind::DB::Writer is not there'; exit 0; }
if "$build/collector/easetop" talkers --mmdb /dev/null 2>&1 | grep -q 'built without'; then
	skip 'all' 'this build has no libmaxminddb'
	exit 0
fi
capture=${EASE_CAPTURES:-}/composed-a.pcap
made=$rig.pcap
trap 'rig_stop; rm -rf "$rig" "$made"' EXIT
[ -r "$capture" ] || { "$top/conf/make-capture" "$made" 8 && capture=$made; } || exit 1

rig_http=127.0.0.1:$(free_port)
rig_new
names=$rig/names
printf 'names = "%s"\nsample_rows = 0\n' "$names" >>"$rig/collector.conf"
printf 'keep_%s = 0\n' samples 1min 5min 1h >>"$rig/collector.conf" # a capture of long ago
: >"$names"
rig_start "$capture" lock_step 'mean_skip = 20' || exit 1
wait_for 60 replay_ended || fail 'replay' 'it did not end'
rig_agent_stop
# A collector that stops has written all: every list below is of the same samples.
rig_end "$collector_pid"
: >"$rig/collector.log"
rig_collector || exit 1

# The whole minutes of which samples are kept.
range="--from $(easetop talkers --last all --format json --filter 'octets >= 1' | jq -r .from)"

# The busiest addresses are in networks, ASes and countries that overlap.
# shellcheck disable=SC2086
easetop talkers --by pair $range --top 1000000 --format json >"$rig/pairs.json"
python3 - "$rig" <<'END' || exit 1
import ipaddress, json, sys
rig = sys.argv[1]
rows = json.load(open(rig + '/pairs.json'))['rows']
seen = {}
for r in rows:
    for a in (r['src'], r['dst']):
        seen[a] = seen.get(a, 0) + r['samples']
busy = sorted(seen, key=lambda a: (-seen[a], a))
nets, v = [], {}
for i, a in enumerate(busy[:60]):
    address = ipaddress.ip_address(a)
    bits = address.max_prefixlen
    for take, length in ((3, bits // 4), (4, bits // 2), (5, 3 * bits // 4), (7, bits)):
        if i % take == 0:
            v[str(ipaddress.ip_network((address, length), strict=False))] = (i, length)
with open(rig + '/names', 'w') as names, open(rig + '/as.pl', 'w') as db:
    for net, (i, length) in v.items():
        names.write('%s customer-%d\n' % (net, i % 9)) # several prefixes of one customer
        db.write('%s %d %s\n' % (net, 64500 + i % 11, ['DE', 'FR', 'JP', 'BR'][i % 4]))
    names.write('%s host-alone\n' % busy[0]) # a host's name takes it out of no network
END
perl -MMaxMind::DB::Writer::Tree - "$rig" <<'END' || { fail 'databases' 'they cannot be made'; exit 1; }
my ($rig) = @ARGV;
my %of = (as => {autonomous_system_number => 'uint32', autonomous_system_organization => 'utf8_string'},
    country => {country => 'map', iso_code => 'utf8_string', names => 'map', en => 'utf8_string'});
my %tree = map { my $kind = $_; $kind => MaxMind::DB::Writer::Tree->new(ip_version => 6, record_size => 24,
    database_type => $kind eq "as" ? "Test-ASN" : "Test-Country", languages => ['en'], description => {en => 'test'}, remove_reserved_networks => 0,
    alias_ipv6_to_ipv4 => 0, map_key_type_callback => sub { $of{$kind}{$_[0]} }) } keys %of;
open my $in, '<', "$rig/as.pl" or die;
# the shorter prefixes first: the longer ones are then more precise
for (sort { (split m{/| }, $a)[1] <=> (split m{/| }, $b)[1] } <$in>) {
	my ($net, $as, $country) = split;
	$tree{as}->insert_network($net, {autonomous_system_number => $as, autonomous_system_organization => "Example $as"});
	$tree{country}->insert_network($net, {country => {iso_code => $country, names => {en => "Land of $country"}}});
}
for (keys %tree) { open my $out, '>:raw', "$rig/$_.mmdb" or die; $tree{$_}->write_tree($out) }
END
with="--names $names --mmdb $rig/as.mmdb --mmdb $rig/country.mmdb"

# What each address is of, by others: NAME of it, "" none.
jq -r '.rows[] | .src, .dst' "$rig/pairs.json" | sort -u >"$rig/addresses"
look_up() { mmdblookup --file "$rig/$1.mmdb" --ip "$2" "${@:3}" 2>/dev/null | sed -n 's/^ *"\{0,1\}\([A-Z0-9]*\)"\{0,1\} <.*/\1/p'; }
while read -r address; do
	as=$(look_up as "$address" autonomous_system_number)
	echo "$address ${as:+AS$as};$(look_up country "$address" country iso_code)"
done <"$rig/addresses" >"$rig/looked-up"
cat >"$rig/judge.py" <<'END'
# judge.py RIG LIST BY: whether the list of groups is what the list of pairs adds up to.
import ipaddress, json, sys
rig, listed, by = sys.argv[1:]
group = {}
for line in open(rig + '/looked-up'):
    address, rest = line.rstrip('\n').split(' ', 1)
    group[address] = dict(zip(('as', 'country'), rest.split(';')))
nets = []
for line in open(rig + '/names'):
    if '/' in line:
        net, name = line.split()
        nets.append((ipaddress.ip_network(net), name))
for address in group:
    a = ipaddress.ip_address(address)
    fits = [(n.prefixlen, name) for n, name in nets if a.version == n.version and a in n]
    group[address]['network'] = max(fits)[1] if fits else ''
kind = by.replace('dst-', '').replace('-pair', '')
want, without = {}, [0, 0, 0]
for r in json.load(open(rig + '/pairs.json'))['rows']:
    of = [group[r[side]][kind] for side in ('src', 'dst')]
    key = tuple(of) if by.endswith('-pair') else (of[1],) if by.startswith('dst-') else (of[0],)
    value = (r['samples'], r['packets']['estimate'], r['octets']['estimate'])
    if all(key):
        want[key] = [x + y for x, y in zip(want.get(key, [0, 0, 0]), value)]
    else:
        without = [x + y for x, y in zip(without, value)]
answer = json.load(open(listed))
got = {}
for r in answer['rows']:
    key = (r['src'], r['dst']) if by.endswith('-pair') else (r['dst'],) if by.startswith('dst-') else (r['src'],)
    assert key not in got, key
    got[key] = [r['samples'], r['packets']['estimate'], r['octets']['estimate']]
    if kind == 'as':
        assert (r['dst_name'] if by.startswith('dst-') else r['src_name']) == 'Example ' + (key[0])[2:], r
near = lambda a, b: abs(a - b) <= max(1, 1e-6 * abs(a)) # of the account: whole numbers
assert got.keys() == want.keys(), (got.keys() ^ want.keys())
for key in want:
    assert got[key][0] == want[key][0] and all(near(x, y) for x, y in zip(got[key], want[key])), (key, got[key], want[key])
account = answer['account']
parts = [account[k] for k in ('rows', 'others', 'not_seen', 'rest')]
for unit in ('packets', 'octets'):
    assert near(sum(p[unit]['estimate'] for p in parts if p), answer['totals'][unit]), unit
pairs = json.load(open(rig + '/pairs.json'))['account']['rest']
for i, unit in ((1, 'packets'), (2, 'octets')):
    assert near(account['rest'][unit]['estimate'], without[i] + pairs[unit]['estimate']), (account['rest'], without, pairs)
print(len(got))
END
for by in network dst-network network-pair as dst-as as-pair country dst-country country-pair; do
	# shellcheck disable=SC2086
	easetop talkers --by $by $range --top 1000000 --format json $with >"$rig/list.json" || fail "$by" 'no list'
	if n=$(python3 "$rig/judge.py" "$rig" "$rig/list.json" "$by" 2>"$rig/judge.log") && [ "${n:-0}" -gt 1 ]; then
		pass "$by: $n rows as a plain look-up adds them up"
	else
		fail "$by" "$(tail -1 "$rig/judge.log") $n rows"
	fi
	# of kept samples: a filter crosses keys
	# shellcheck disable=SC2086
	easetop talkers --by $by $range --top 1000000 --format json $with --filter 'octets >= 1' |
	    jq -c '[.rows[] | [.src, .dst, .samples]] | sort' >"$rig/kept"
	expect "$by: the same from kept samples" "$(cat "$rig/kept")" \
	    "$(jq -c '[.rows[] | [.src, .dst, .samples]] | sort' "$rig/list.json")"
done

# Filters: what passes is what the list's row says.
samples() { # FILTER
	# shellcheck disable=SC2086
	easetop talkers $range --top 1000000 --format json $with --filter "$1" | jq '[.rows[].samples] | add // 0'
}
for by in network dst-network as dst-as country; do
	side=src
	case $by in dst-*) side=dst ;; esac
	# shellcheck disable=SC2086
	easetop talkers --by $by $range --format json $with >"$rig/list.json"
	read -r name n <<<"$(jq -r ".rows[1] | \"\\(.$side) \\(.samples)\"" "$rig/list.json")"
	expect "filter $side ${by#dst-} $name" "$(samples "$side ${by#dst-} $name")" "$n"
	expect "filter $side ${by#dst-} $name, of kept samples" "$(samples "$side ${by#dst-} $name and octets >= 1")" "$n"
done
expect 'a network that there is not' "$(easetop talkers --names "$names" --filter 'network nobody' 2>&1)" \
    'easetop: filter: column 9: there is no network nobody'
expect 'an AS that is no number' "$(easetop talkers --filter 'as example' 2>&1)" \
    'easetop: filter: column 4: there is no AS number example'
# shellcheck disable=SC2086
expect 'AS numbers without a file: what samples state, and these state none' \
    "$(easetop talkers --by as $range --format json | jq -c '[(.rows | length), .account.rest.octets.estimate == .totals.octets]')" '[0,true]'
expect 'inside of tunnels they state none' "$(easetop talkers --filter 'inner as 5' 2>&1)" \
    'easetop: filter: column 10: inner as needs a file that knows AS numbers: mmdb, or --mmdb'
expect 'a file of another format' "$(easetop talkers --by as --mmdb "$names" 2>&1)" \
    "easetop: $names: The MaxMind DB file contains invalid metadata"
expect 'a file that is not there' "$(easetop talkers --by as --mmdb "$rig/none.mmdb" 2>&1)" \
    "easetop: $rig/none.mmdb: No such file or directory"

# The page's answers: names and databases of the configuration, live.
api() { curl -s --max-time 60 "http://$rig_http/api/v1/talkers?from=${range#--from }&top=1000&by=$1"; }
reloaded() { grep -q 'reload: .* read again' "$rig/collector.log"; }
expect 'API: no database yet' "$(api dst-country | jq -r .error)" '--by dst-country needs a file that knows countries: mmdb, or --mmdb'
printf 'mmdb = {"%s", "%s"}\n' "$rig/as.mmdb" "$rig/country.mmdb" >>"$rig/collector.conf"
kill -HUP "$collector_pid"
wait_for 10 reloaded || fail 'SIGHUP' 'the log does not tell of it'
for by in network as country-pair; do
	# shellcheck disable=SC2086
	expect "API: $by, as easetop says" "$(api $by | jq -c '[.rows[] | [.src, .dst, .samples]]')" \
	    "$(easetop talkers --by $by $range --top 1000000 --format json $with | jq -c '[.rows[] | [.src, .dst, .samples]]')"
done

# Samples that state AS numbers: without a file these count, with one the file alone.
# shellcheck disable=SC2086
before=$(easetop talkers --by as $range --top 1000000 --format json $with --filter 'octets >= 1' | jq -c '[.rows[] | [.src, .samples]]')
rig_end "$collector_pid"
sqlite3 "$rig/ease.db" 'UPDATE sample SET src_as = 65000 + sequence % 2, dst_as = 65002 WHERE sequence % 3 > 0'
# shellcheck disable=SC2086
easetop talkers --by as $range --format json >"$rig/list.json"
within="time_us / 1000000 BETWEEN $(jq '"\(.from | sub("[.][0-9]+";"") | fromdate) AND \(.to | sub("[.][0-9]+";"") | fromdate - 1)"' -r "$rig/list.json")"
expect 'AS numbers that samples state' "$(jq -r '.rows[] | "\(.src) \(.samples)"' "$rig/list.json" | sort)" \
    "$(sqlite3 "$rig/ease.db" "SELECT 'AS' || src_as || ' ' || count(*) FROM sample WHERE src_as > 0 AND direction = 1 AND $within GROUP BY src_as" | sort)"
# shellcheck disable=SC2086
expect 'a file goes before them' \
    "$(easetop talkers --by as $range --top 1000000 --format json $with --filter 'octets >= 1' | jq -c '[.rows[] | [.src, .samples]]')" "$before"
exit $failed
