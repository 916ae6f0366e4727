"""printed.py TRUTH PLACES RUN...: holds lists as easetop printed them (JSON) against what a capture holds, as
build/tests/truth counted it, and prints one JSON object of counts: how many limits of rows were wrong on each side, and
sums, ranks and bounds. RUN is a prefix: RUN.sources.csv has all sources seen, and so all ports that had a sample,
RUN.LAYER.BY.json are the lists.

A frame of more than 1,518 octets is counted by ports and never sampled nor forwarded, so it is in no truth. Figures
are of the ports that had a sample. PLACES says at which port each source is (talkers --by src of a run that
samples every frame, CSV; empty: all ports had samples in all runs). Of IP addresses it does not tell that: where a
port had no sample only their lower limits are judged, which hold for all traffic."""
import collections
import csv
import glob
import json
import sys

UNITS = ('packets', 'octets')


class Truth:
    """What each key of a list sent at ports that had a sample, and at all."""
    def __init__(self, rows, by, place, sampled):
        self.covered, self.all = (collections.defaultdict(lambda: [0, 0]) for _ in range(2))
        for row in rows:
            counts = (row['packets'] - row['over_1518'], row['octets'] - row['over_1518_octets'])
            key = (row['src'], row['dst']) if by == 'pair' else row[by]
            for u, count in enumerate(counts):
                self.all[key][u] += count
                if sampled is None or place.get(row['src']) in sampled:
                    self.covered[key][u] += count


def judge(tally, name, figure, truth, both=True):
    tally[name] += 1
    tally[name + '_low'] += truth < figure['low'] - 0.5
    tally[name + '_high'] += both and truth > figure['high'] + 0.5


def key_of(row):
    return (row['src'], row['dst']) if row['src'] and row['dst'] else row['src'] or row['dst']


def check_account(tally, report):
    account = report['account']
    for u, unit in enumerate(UNITS):
        lines = sum(account[line][unit]['estimate'] for line in ('rows', 'others', 'not_seen', 'rest'))
        lines += account['no_sample'][unit] + account['lost'][unit]
        tally['account_off'] += lines != report['totals'][unit]


def hold_sums(tally, report, truth, shown):
    """Rows together; others and keys without a sample, which the truth cannot tell apart here."""
    for u, unit in enumerate(UNITS):
        account, together = report['account'], sum(truth.covered[key][u] for key in shown)
        judge(tally, 'together_' + unit, account['rows'][unit], together)
        rest = {side: account['others'][unit][side] + account['not_seen'][unit][side]
                for side in ('low', 'estimate', 'high')}
        judge(tally, 'unshown_' + unit, rest, sum(value[u] for value in truth.covered.values()) - together)


def hold_ranks(tally, rows, truth):
    """Ranks are by packets. Equal keys may stand in any order."""
    order, wrong = [value[0] for value in truth.covered.values()], False
    for row in rows:
        own = truth.covered[key_of(row)][0]
        best, worst = 1 + sum(value > own for value in order), sum(value >= own for value in order)
        wrong |= best > row['rank'][1] or worst < row['rank'][0]
    tally['wrong_ranks'] += wrong


def hold(tally, report, truth, is_exact):
    tally['lists'] += 1
    check_account(tally, report)
    for row in report['rows']:
        for u, unit in enumerate(UNITS):
            figure = row[unit]
            tally['out_of_order'] += not 0 <= figure['low'] <= figure['estimate'] <= figure['high']
            judge(tally, ('rows_' if is_exact else 'lower_') + unit, figure,
                  (truth.covered if is_exact else truth.all)[key_of(row)][u], is_exact)
    if is_exact and report['rows']:
        tally['exact'] += 1
        hold_sums(tally, report, truth, [key_of(row) for row in report['rows']])
        hold_ranks(tally, report['rows'], truth)


def read(path):
    with open(path, encoding='utf-8') as file:
        return json.load(file)


def places_of(path):
    with open(path, encoding='utf-8') as file:
        return {row['src']: row['port'] for row in csv.DictReader(file)}


def main(truth_path, places_path, runs):
    counted, place, tally = read(truth_path), places_of(places_path), collections.Counter()
    for run in runs:
        sampled = set(places_of(run + '.sources.csv').values())
        for path in sorted(glob.glob(glob.escape(run) + '.*.json')):
            layer, by = path.rsplit('.', 3)[-3:-1]
            report = read(path)
            complete = report['account']['no_sample']['packets'] == 0
            if not complete and not place:
                sys.exit(path + ': a port had no sample, and no PLACES say whose it is')
            truth = Truth(counted['mac_pairs' if layer == 'eth' else 'ip_pairs']['rows'], by, place,
                          None if complete or layer == 'ip' else sampled)
            hold(tally, report, truth, complete or layer == 'eth')
    print(json.dumps(tally))


main(sys.argv[1], sys.argv[2], sys.argv[3:])
