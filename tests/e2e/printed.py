"""printed.py TRUTH REPORT...: holds lists as easetop printed them (JSON, --layer eth) against what a capture holds,
as build/tests/truth counted it, and prints one JSON object of counts: how many limits of rows were wrong on
each side, and sums, ranks and bounds. A frame of more than 1,518 octets is counted by ports and never sampled
nor forwarded, so it is in no truth."""
import collections
import json
import sys


def truths(path):
    with open(path, encoding='utf-8') as file:
        rows = json.load(file)['mac_pairs']['rows']
    by = {name: collections.defaultdict(lambda: [0, 0]) for name in ('src', 'dst', 'pair')}
    for row in rows:
        pkts, octets = row['packets'] - row['over_1518'], row['octets'] - row['over_1518_octets']
        for name, key in (('src', row['src']), ('dst', row['dst']), ('pair', (row['src'], row['dst']))):
            by[name][key][0] += pkts
            by[name][key][1] += octets
    return by


def key_of(row):
    return (row['src'], row['dst']) if row['src'] and row['dst'] else row['src'] or row['dst']


def judge(tally, name, figure, truth):
    tally[name] += 1
    tally[name + '_low'] += truth < figure['low'] - 0.5
    tally[name + '_high'] += truth > figure['high'] + 0.5


def hold(tally, report, truth):
    rows, units = report['rows'], ('packets', 'octets')
    keys = [key_of(row) for row in rows]
    # What the report counted is the truth's sum but for frames that no station sent (oversize ones).
    order = sorted((value[0] for value in truth.values()), reverse=True)
    tally['lists'] += 1
    for u, unit in enumerate(units):
        for row, key in zip(rows, keys):
            figure = row[unit]
            judge(tally, 'rows_' + unit, figure, truth[key][u])
            tally['out_of_order'] += not 0 <= figure['low'] <= figure['estimate'] <= figure['high']
        shown = sum(truth[key][u] for key in keys)
        account = report['account']
        judge(tally, 'together_' + unit, account['rows'][unit], shown)
        # Others and keys without a sample, which truth cannot tell apart here: together.
        rest = {side: account['others'][unit][side] + account['not_seen'][unit][side]
                for side in ('low', 'estimate', 'high')}
        judge(tally, 'unshown_' + unit, rest, sum(value[u] for value in truth.values()) - shown)
        lines = sum(account[line][unit]['estimate'] for line in ('rows', 'others', 'not_seen', 'rest'))
        tally['account_off'] += lines + account['no_sample'][unit] != report['totals'][unit]
    # Ranks are by packets. Equal keys may stand in any order.
    wrong = False
    for row, key in zip(rows, keys):
        best = 1 + sum(value > truth[key][0] for value in order)
        worst = sum(value >= truth[key][0] for value in order)
        wrong |= best > row['rank'][1] or worst < row['rank'][0]
    tally['wrong_ranks'] += wrong


def main(truth_path, reports):
    by, tally = truths(truth_path), collections.Counter()
    for path in reports:
        with open(path, encoding='utf-8') as file:
            report = json.load(file)
        name = path.rsplit('.', 2)[-2]
        hold(tally, report, by[name])
    print(json.dumps(tally))


main(sys.argv[1], sys.argv[2:])
