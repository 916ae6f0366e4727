"""What tests/collector/web/check_page.sh does with the page. Figures on it are compared with those of /api/v1,
written out by code of this file; what is asked of the document stands in page_probes.js."""
import csv
import datetime
import io
import json
import math
import os
import re
import signal
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

from browser import Browser
from sflow_wire import Switch, frame, ip_frame, length_frame

URL = os.environ['EASE_PAGE_URL']
SHOTS = os.environ.get('EASE_PAGE_SHOTS')
LIVE_SWITCH = '192.0.2.9'
ODD_SWITCH = '192.0.2.11'
ODD_SITE = '<i>odd</i> & sons'  # as check_page.sh names it
# Between two hosts by several protocols, none of which has ports: ICMP, GRE, ESP, and a later fragment of TCP.
ODD_PROTOCOLS = {1: b'\x08\0\0\0\0\1\0\1', 47: b'\0\0\x88\xbe', 50: b'\0\0\0\1', 89: b''}
SECTIONS = {'ports', 'load', 'sources', 'destinations', 'conversations', 'connections', 'protocols', 'matrix',
            'trouble'}
failed = False


def check(name, right, otherwise=''):
    global failed
    if right:
        print(f'PASS page {name}')
    else:
        print(f'FAIL page {name}: {otherwise}')
        failed = True
    sys.stdout.flush()


def equal(name, is_, must_be):
    check(name, is_ == must_be, f'{is_!r} instead of {must_be!r}')


# ---- the API, and figures as easetop writes them ----

def api(report, **asked):
    question = f'{URL}/api/v1/{report}?{urllib.parse.urlencode(asked)}'
    with urllib.request.urlopen(question, timeout=20) as answer:
        return json.load(answer)


def in_scale(value):
    power = 0
    while power < 5 and value / 1000 ** power >= 999.5:
        power += 1
    return 1000 ** power, ' kMGTP'[power].strip()


def three(value):
    if value <= 0:
        return '0'
    return f'{value:.0f}' if value >= 99.95 else f'{value:.1f}' if value >= 9.995 else f'{value:.2f}'


def rate(value):
    divisor, unit = in_scale(value)
    return three(value / divisor) + unit


def limits(figure, factor):
    divisor, unit = in_scale((figure['estimate'] or figure['high']) * factor)
    low, high = (three(figure[name] * factor / divisor) for name in ('low', 'high'))
    return f'{low}–{high}{unit}'


def percent(value):
    return '<0.1%' if 0 < value < 0.05 else f'{value:.1f}%'


def figures(result, unit='octets'):
    """Of each row of a list, and of the sums below it."""
    factor = (8 if unit == 'octets' else 1) / result['seconds']
    rows = result['rows'] + [result[name] for name in ('others', 'not_seen', 'rest', 'no_sample', 'lost') if name in result]
    return [[rate(row[unit]['estimate'] * factor), limits(row[unit], factor),
             percent(100 * row['share']['estimate']), f"{row['samples']:,}"] for row in rows]


def state_of(port):
    if port['status'] == 'down':
        return 'down'
    return 'silent' if (port['check'] or '').startswith('silent') else 'up'


# ---- the page in a browser, and what a reader does with it ----

def quoted(text):
    return json.dumps(text)


class Page:
    def __init__(self, browser):
        self.browser, self.js, self.wait = browser, browser.js, browser.wait

    def open(self, **asked):
        self.browser.open(f'{URL}/?{urllib.parse.urlencode(asked)}')
        self.settle()

    def settle(self):
        time.sleep(0.05)  # what was done is begun
        self.wait('probe.settled()')

    def click(self, selector):
        self.js(f'document.querySelector({quoted(selector)}).click()')
        self.settle()

    def text(self, selector):
        return self.js(f'document.querySelector({quoted(selector)})?.innerText ?? ""')

    def texts(self, selector):
        return self.js(f'probe.texts({quoted(selector)})')

    def rows(self, section):
        return self.js(f'probe.rows({quoted(section)})')

    def table(self, name):
        """The table that stands for a picture: it is filled when it is opened."""
        self.click(f'#{name} summary')
        rows = self.js(f'probe.table({quoted(name)})')
        self.click(f'#{name} summary')
        return rows

    def asked(self):
        """What the address asks for."""
        return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.js('location.href')).query))

    def press(self, *keys):
        for key in keys:
            self.browser.key(key)

    def focused(self):
        return self.js('probe.focused()')

    def shot(self, name):
        if SHOTS:
            self.browser.screenshot(os.path.join(SHOTS, name + '.png'))


# ---- what is looked at ----

class LiveSwitch:
    """1,000 ports: 10 is down, 20 has errors, 2 a VLAN, some lose samples, one address moves."""

    def __init__(self):
        self.switch = Switch(('127.0.0.1', int(os.environ['EASE_PAGE_SFLOW'])), LIVE_SWITCH, 1000,
                             lambda port: (port * 37 % 100) / 100 if port % 3 else 0.002,
                             errors={20}, down={10})
        self.began = time.monotonic()
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self._run)

    def tell(self):
        for i in range(120):
            port = 1 + i % 5
            self.switch.tell_sample(port, frame(f'10.9.0.{port}', f'10.9.1.{i % 7}', 40000 + port,
                                                (443, 80, 22)[i % 3], 12 if port == 2 else None))
        for port in (3, 4, 5):
            self.switch.lose_sample(port)
        self.switch.tell_counters(time.monotonic() - self.began + 1)

    def _run(self):
        while not self.stop.wait(1):
            self.tell()

    def _has_rates(self):
        rows = api('load', last='5m')['rows']
        rates = [row for row in rows if row['agent'] == LIVE_SWITCH and row['rx_bps'] is not None]
        return len(rows) == 1008 and len(rates) >= 999  # one port is down

    def start(self):
        """Returns when all that was told is in the reports."""
        self.tell()
        time.sleep(1.1)  # counters are rates between two of them
        self.tell()
        for port in (40, 3):
            self.switch.tell_sample(port, frame('10.9.0.3', '10.9.1.1', 40003, 443))
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and not self._has_rates():
            time.sleep(0.1)

    def close(self):
        self.stop.set()
        if self.thread.is_alive():
            self.thread.join()


def replayed():
    """The capture that the emulated switch replayed, as parameters: it is shorter than a minute."""
    row = next(row for row in api('agents', last='all')['rows'] if row['agent'] != LIVE_SWITCH)
    first = datetime.datetime.fromisoformat(row['first_data'].replace('Z', '+00:00'))
    end, form = first + datetime.timedelta(minutes=1), '%Y-%m-%dT%H:%M:00Z'
    return {'from': first.strftime(form), 'to': end.strftime(form), 'agent': row['agent']}


# ---- the tests ----

def check_first_view(page):
    began = time.monotonic()
    page.browser.open(URL + '/')
    shown = page.wait("document.querySelectorAll('.tile').length === 1008 &&"
                      " ['#sources .sure', '.cell', '#load-key li'].every((selector) =>"
                      " document.querySelector(selector))")
    seconds = time.monotonic() - began
    check(f'first view of 1,008 ports, {seconds:.2f} s', shown, page.text('body')[:300])
    page.settle()
    page.shot('ports-1000')
    must = {'up': 0, 'down': 0, 'silent': 0}
    for row in api('load', last='5m')['rows']:
        must[state_of(row)] += 1
    equal('tiles are up, down or silent as load says', page.js('probe.tileStates()'), must)
    equal('errors have their dot', page.js("probe.tile('if20').dataset.errors"), 'yes')
    check('the grid of 1,000 ports takes half the screen at most',
          page.js("document.getElementById('tiles').offsetHeight <= innerHeight / 2"))
    equal('completeness below 99 % is red', page.js("document.getElementById('complete').dataset.bad"),
          'yes')
    equal('lost samples are named', page.text('#trouble-loss .sum')[-12:], 'samples lost')
    moved = page.text('#trouble-addresses')
    check('a moved address is named', '10.9.0.3' in moved, moved)


def check_refused(page):
    """Somebody else speaks in the live switch's name."""
    other = Switch(('127.0.0.1', int(os.environ['EASE_PAGE_SFLOW'])), LIVE_SWITCH, 1, lambda port: 0, source='127.0.0.2')
    for _ in range(3):
        other.tell_sample(1, frame('10.9.0.1', '10.9.1.1', 40001, 443))
    shown = page.wait("document.querySelector('#trouble-agents .filter')")
    check('who speaks in a switch\'s name is named', shown, page.text('#trouble-agents'))
    equal('with the switch, how much and from where',
          (page.text('#trouble-agents .filter'), page.text('#trouble-agents .where')),
          (f'{LIVE_SWITCH}, 3 records', 'from 127.0.0.2'))


def check_figures(page, asked):
    page.open(**asked)
    page.shot('figures')
    for section, report, extra in (('sources', 'talkers', {'by': 'src'}),
                                   ('destinations', 'talkers', {'by': 'dst'}),
                                   ('conversations', 'conversations', {}),
                                   ('protocols', 'protocols', {})):
        must = figures(api(report, **asked, **extra, top=5))
        equal(f'{section} are those of the API', page.rows(section), must)
    connections = api('connections', **asked, top=5)
    equal('connections are those of the API', page.rows('connections'), figures(connections, 'packets'))
    equal('servers have address and port', page.texts('#connections .key .filter'),
          [' '.join(filter(None, (f"{row['dst']}:{row['dst_port']}" if ':' not in row['dst'] else
                                  f"[{row['dst']}]:{row['dst_port']}", row['dst_name'], row['name'])))
           for row in connections['rows']])
    check('connections have rows', len(connections['rows']) == 5, connections['rows'])
    result = api('talkers', **asked, by='src', top=5)
    equal('keys are those of the API', page.texts('#sources .key .filter'),
          [' '.join(filter(None, (row['src'], row['src_name']))) for row in result['rows']])
    bound = f"more than {math.ceil(result['unseen_packets_high']):,} frames (95%)"
    check('what was not seen has its bound', bound in page.text('#sources .note'), bound)
    said = [note['text'] for note in result['notes'] if note['severity'] != 'hint' and not re.search(r'\dZ', note['text'])]
    check('remarks are those of the API', said and all(text in page.text('#sources .note') for text in said), said)
    newest = max(api('errors', **asked, top=100)['sources'], key=lambda row: row['last'])
    shown = page.texts('#trouble-errors .filter')[0]
    check('the newest source of bad frames is named first',
          shown.startswith(f"{newest['source']} {newest['kind']}"), shown)
    check_ports(page, asked)
    check_matrix(page, asked)
    check_chart(page, asked)


def check_ports(page, asked):
    load, shown = api('load', **asked)['rows'], page.texts('.tile .figure')
    must = []
    for row in load:
        rx, tx = row['utilization_rx'], row['utilization_tx']
        must.append(percent(max(rx, tx)) if state_of(row) == 'up' else state_of(row))
    equal('utilisation of tiles is that of the API', shown, must)
    first, table = load[0], page.table('ports-table')
    equal('what is not known is - and not 0', (load[-1]['rx_bps'], table[-1][6]), (None, '-'))
    equal('the attributes of a port are those of the API', table[0][6:12],
          [rate(first['rx_bps']), rate(first['tx_bps']), f"{first['frames_per_s']:,.0f}",
           f"{first['broadcasts_per_s']:.1f}", f"{first['multicasts_per_s']:.1f}",
           f"{first['errors_per_s']:.0f}"])


def check_matrix(page, asked):
    result = api('matrix', **asked, top=60)
    must = {f"{row['src']} → {row['dst']}: {rate(row['octets']['estimate'] * 8 / result['seconds'])}"
            for row in result['rows']}
    titles = page.js("[...document.querySelectorAll('.cell')].map((cell) => cell.title)")
    shown = {title.replace('\u202f', '').split(' (')[0] for title in titles}
    check('cells of the matrix are those of the API', shown and shown <= must, f'{shown} {must}')


def check_chart(page, asked):
    result, table = api('history', **asked, top=5), page.table('load-table')
    must = [rate(row['octets'] * 8 / row['seconds']) if row['seconds'] else '-'
            for row in result['rows']]
    equal('the counted load is that of the API', [row[2] for row in table], must)
    step = next(i for i, row in enumerate(result['rows']) if row['top'])
    entry, factor = result['rows'][step]['top'][0], 8 / result['rows'][step]['seconds']
    equal('and the largest source, with its limits', table[step][3 + entry['key']],
          f"{rate(entry['octets']['estimate'] * factor)} ({limits(entry['octets'], factor)})")
    check('the chart is drawn', page.js('probe.chartColours()') > 20)


def service(row):
    name = {6: 'tcp', 17: 'udp', 132: 'sctp'}.get(row['protocol'])
    return (f'{name} port' if name else f"proto {row['protocol']} and port") + f" {row['server_port']}"


def check_filters(page, asked):
    page.open(**asked)
    before = page.js('location.href')
    page.js("probe.tile('e-2').click()")
    page.settle()
    equal('a tile filters by its port', page.asked(), {**asked, 'port': 'e-2'})
    equal('and is shown pressed', page.texts('.tile[aria-pressed=true] .name'), ['e-2'])
    result = api('talkers', **asked, port='e-2', by='src', top=5)
    equal('figures are those of the port', page.rows('sources'), figures(result))
    page.shot('filtered')
    page.click('#sources .filter')
    equal('a source filters by its address', page.asked().get('addr'), result['rows'][0]['src'])
    page.js('history.back()')
    page.wait("!new URLSearchParams(location.search).get('addr')")
    page.js('history.back()')
    page.wait(f'location.href === {quoted(before)}')
    page.settle()
    equal('back takes the filters away',
          page.texts('#chips button') + page.texts('.tile[aria-pressed=true]'),
          [f"agent {asked['agent']} ✕"])
    page.click('.cell')
    check('a cell of the matrix filters', 'addr' in page.asked())
    page.click('#chips li:last-child button')
    check('a chip takes its filter away', 'addr' not in page.asked())
    page.click('#protocols .filter')
    first = api('protocols', **asked, top=1)['rows'][0]
    equal('a service filters by protocol and port', page.asked().get('filter'), service(first))
    page.settle()
    result = api('protocols', **asked, filter=service(first), top=100)
    equal('and only its frames are left', len(page.texts('#protocols .key .filter')), min(5, len(result['rows'])))


def check_choices(page, asked):
    page.open(**asked)
    page.click('#sort [data-sort=packets]')
    must = figures(api('talkers', **asked, by='src', top=5, sort='packets'), 'packets')
    equal('ranked by frames', page.rows('sources'), must)
    page.click('#layer [data-layer=eth]')
    key = page.texts('#sources .filter')[0]
    check('MAC addresses', re.fullmatch('([0-9a-f]{2}:){5}[0-9a-f]{2}', key), key)
    choose(page, 'protocols', 'proto')
    equal('IP protocols', page.texts('#protocols .key .filter')[0],
          api('protocols', **asked, by='proto')['rows'][0]['name'])
    page.click('#sources .more')
    n = len(api('talkers', **asked, by='src', layer='eth', top=100)['rows'])
    equal('up to a hundred rows', (len(page.texts('#sources .key .filter')), n > 5), (n, True))
    page.shot('expanded')
    view = page.asked()
    page.open(**view)
    equal('a link that was sent shows the same',
          (page.asked(), len(page.texts('#sources .key .filter'))), (view, n))


def check_csv(page, asked):
    """The button saves what the API says."""
    page.open(**asked)
    with tempfile.TemporaryDirectory() as folder:
        page.browser.call('Page.setDownloadBehavior', behavior='allow', downloadPath=folder)
        page.click('#sources .csv')
        path = os.path.join(folder, 'talkers.csv')
        for _ in range(200):
            if os.path.exists(path):
                break
            time.sleep(0.05)
        with open(path) as file:
            saved = file.read()
    rows = list(csv.DictReader(io.StringIO(saved)))
    must = api('talkers', **asked, by='src', top=100)['rows']
    equal('CSV has the rows of the API', [(row['src'], row['samples']) for row in rows],
          [(row['src'], str(row['samples'])) for row in must])


def choose(page, section, value):
    page.js(f"(() => {{ const by = document.querySelector('#{section} select'); by.value = {quoted(value)};"
            " by.dispatchEvent(new Event('change')); })()")
    page.settle()


def check_groups(page, asked):
    """Networks in place of addresses, in both lists and in the chart; a network filters."""
    page.open(**asked)
    offered = page.js("[...document.querySelector('#sources select').options].filter((o) => !o.hidden).map((o) => o.value)")
    equal('groups are offered for which there are names', offered, ['', 'network', 'as'])
    choose(page, 'sources', 'network')
    for section, by, key in (('sources', 'network', 'src'), ('destinations', 'dst-network', 'dst')):
        rows = api('talkers', **asked, by=by, top=5)['rows']
        equal(f'{section} by network', page.texts(f'#{section} .key .filter'), [row[key] for row in rows])
        check(f'{section} by network: both are there', len(rows) == 2, rows)
    top = api('history', **asked, by='network', top=5)['top']
    equal('the chart is of networks', page.texts('#load .filter')[1:3], [row['src'] for row in top])
    page.shot('groups')
    view = page.asked()
    page.open(**view)
    equal('a link to networks shows them', page.texts('#sources .key .filter'), [row['src'] for row in top])
    hostile = '<b>"one"\\'
    i = page.texts('#sources .key .filter').index(hostile)
    page.js(f"document.querySelectorAll('#sources .key .filter')[{i}].click()")
    page.settle()
    equal('a network filters by its name, quoted', page.asked().get('filter'), 'src network "<b>\\"one\\"\\\\"')
    equal('and is all that is left', page.texts('#sources .key .filter'), [hostile])
    choose(page, 'sources', '')
    equal('its addresses', page.texts('#sources .key .filter'),
          [' '.join(filter(None, (row['src'], row['src_name'])))
           for row in api('talkers', **asked, by='src', top=5, filter=page.asked()['filter'])['rows']])


def check_ranges(page):
    page.open()
    page.click('[data-last="15m"]')
    equal('a preset', page.asked(), {'last': '15m'})
    page.click('#earlier')
    earlier = page.asked()
    equal('earlier: a range of its own, and not live',
          (sorted(earlier), page.js("document.getElementById('live').ariaPressed")),
          (['from', 'to'], 'false'))
    page.click('#later')
    check('later', page.asked()['from'] > earlier['from'])
    page.js("document.getElementById('custom').open = true")
    time.sleep(0.1)  # its fields are filled first
    page.js("for (const [id, minute] of [['from', 5], ['to', 6]])"
            " document.getElementById(id).value = `2001-02-03T04:0${minute}`")
    page.click('#custom-form button')
    equal('from and to, in local time', page.asked(),
          {'from': '2001-02-03T03:05:00Z', 'to': '2001-02-03T03:06:00Z'})
    message = page.text('#message-text')
    check('an empty range says where the newest data is', 'newest data' in message, message)
    page.shot('empty')
    equal('ports of which nothing is known are outlines',
          page.js("getComputedStyle(probe.tile('if1')).borderTopWidth + probe.plain(probe.tile('if1'))"),
          '1pxif1-')
    page.click('#message-do')
    equal('and goes there', page.js("document.getElementById('message').hidden"), True)
    page.click('#live')
    check('live again', 'from' not in page.asked())


def check_hostile(page, asked):
    page.open(**asked)
    equal('names with markup are text',
          page.js("[typeof hacked, document.querySelectorAll('body :is(img, script, i)').length,"
                  " probe.tile('e-1').ariaLabel.includes('<img src=x onerror='),"
                  " probe.texts('#sources .filter')[0]]"),
          ['undefined', 0, True, '10.20.1.1 <i>boss</i>'])
    page.open(**{**asked, 'agent': '<b onclick=x>"\'&'})
    message = page.text('#message-text')
    check('a filter that is refused says why', message.startswith('The collector cannot answer this: '), message)
    equal('and stays text', page.js("document.querySelectorAll('b').length"), 0)
    equal('the reason is shown once', page.js("document.body.innerText").count(message.split(': ', 1)[1]), 1)


def submit_filter(page, text):
    page.js(f"document.getElementById('filter-text').value = {quoted(text)};"
            " document.querySelector('#filter button').click()")
    time.sleep(0.5)  # the collector is asked first
    page.settle()


def check_typed_filters(page, asked):
    page.open(**asked)
    taken = page.js("document.getElementById('filter-text').placeholder")
    submit_filter(page, taken)
    equal('filters as the placeholder shows them', page.asked(), {**asked, 'filter': taken})
    equal('figures are of what the filter lets pass', page.rows('sources'),
          figures(api('talkers', **asked, filter=taken, by='src', top=5)))
    equal('a filter that is taken leaves the field',
          page.js("document.getElementById('filter-text').value"), '')
    submit_filter(page, 'port nosuch')
    equal('a filter that is refused is no chip', page.asked(), {**asked, 'filter': taken})
    equal('but stays in the field', page.js("document.getElementById('filter-text').value"),
          'port nosuch')
    message = page.text('#message-text')
    check('and the message says why and where', 'column 6: expected a port' in message, message)
    submit_filter(page, 'vlan 1')
    equal('a good one after it is taken', page.texts('#chips button')[-2:], [f'{taken} ✕', 'vlan 1 ✕'])
    equal('and the message goes', page.js("document.getElementById('message').hidden"), True)


def tell_odd_frames():
    """What has neither ports nor, partly, a type; returns when it is in the reports."""
    switch = Switch(('127.0.0.1', int(os.environ['EASE_PAGE_SFLOW'])), ODD_SWITCH, 2, lambda port: 0.01)
    switch.tell_counters(1)
    time.sleep(1.1)
    switch.tell_counters(2)
    for _ in range(3):
        for protocol, payload in ODD_PROTOCOLS.items():
            switch.tell_sample(1, ip_frame('10.8.0.1', '10.8.0.2', protocol, payload))
        switch.tell_sample(1, length_frame())
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if any(row['agent'] == ODD_SWITCH for row in api('agents', last='1h')['rows']) and \
                sum(row['samples'] for row in api('conversations', last='1h', agent=ODD_SWITCH)['rows']) == 12:
            break
        time.sleep(0.1)


def check_odd_frames(page):
    tell_odd_frames()
    page.open(last='1h', agent=ODD_SWITCH, by='ethertype')
    shown = "document.querySelectorAll('#conversations td.key[data-prefix]').length"
    equal('conversations that differ in protocol only have a row each',
          sorted(page.js("[...document.querySelectorAll('#conversations td.key[data-prefix]')]"
                         ".map((key) => key.dataset.prefix)")),
          sorted(row['name'] or f"protocol {row['protocol']}"
                 for row in api('conversations', last='1h', agent=ODD_SWITCH)['rows']))
    equal('and so many', page.js(shown), len(ODD_PROTOCOLS))
    for unit in ('packets', 'octets', 'packets'):
        page.click(f'#sort [data-sort={unit}]')
    equal('also when it was drawn anew', page.js(shown), len(ODD_PROTOCOLS))
    equal('who has no port is not shown with port 0',
          sorted(set(page.texts('#conversations .key .filter'))), ['10.8.0.1', '10.8.0.2'])
    check('ICMP is named by its message', 'icmp echo request' in
          page.js("[...document.querySelectorAll('#conversations td.key[data-prefix]')]"
                  ".map((key) => key.dataset.prefix)"))
    equal('frames with a length of 802.3 are named',
          [text for text in page.texts('#protocols .key .filter') if not text.startswith('0x0800')],
          [row['name'] for row in api('protocols', last='1h', agent=ODD_SWITCH, by='ethertype')['rows']
           if not row['ethertype']])
    equal('and their key filters nothing',
          page.js("[...document.querySelectorAll('#protocols .key .filter')].map((key) => key.disabled)").count(True), 1)
    page.open(last='1h', agent=ODD_SWITCH)
    equal('a list of services has it, too, and filters by it',
          page.js("[...document.querySelectorAll('#protocols .key .filter')].map((key) => [key.textContent, key.title])"),
          [['icmp echo request', 'Only icmp echo request']])
    page.click('#protocols .key .filter')
    equal('which leaves the echo requests alone',
          page.js("[...document.querySelectorAll('#conversations td.key[data-prefix]')]"
                  ".map((key) => key.dataset.prefix)"), ['icmp echo request'])
    page.open(last='1h', agent=ODD_SWITCH, by='ethertype')
    check('nothing that is not known is shown as null or undefined',
          not re.search(r'\b(null|undefined|NaN)\b', page.text('main')),
          re.findall(r'.*\b(?:null|undefined|NaN)\b.*', page.text('main')))


def check_sites(page):
    page.open(last='1h')
    heading = f'{ODD_SITE} · {ODD_SWITCH}'
    check('the site stands over the tiles of its switch', heading in page.texts('#tiles h3'), page.texts('#tiles h3'))
    option = f'{ODD_SWITCH} · {ODD_SITE}'
    check('and in the list of agents', option in page.texts('#agent option'), page.texts('#agent option'))
    submit_filter(page, f'site "{ODD_SITE}"')
    equal('a filter by site has its addresses alone', sorted(set(page.texts('#conversations .key .filter'))),
          ['10.8.0.1', '10.8.0.2'])


def check_outage(page):
    """What happened to the collector is no switch's."""
    rows = [{'time': '2026-01-05T10:00:00Z', 'event': 'collector crash', 'agent': None, 'port': None, 'count': 15,
             'text': 'samples lost in the collector'},
            {'time': '2026-01-05T10:00:00Z', 'event': 'link down', 'agent': '192.0.2.77', 'port': 'if4711'}]
    page.open()
    page.browser.answer('*/api/v1/events*', 200, json.dumps({'report': 'events', 'empty': False, 'rows': rows}))
    page.click('#sort [data-sort=packets]')
    equal('an outage of the collector has its place, a port that of its switch', page.texts('#trouble-events .where'),
          ['collector', '192.0.2.77 if4711'])
    equal('and only the port filters',
          page.js("[...document.querySelectorAll('#trouble-events .filter')].map((line) => line.disabled)"), [True, False])
    page.browser.answer_no_more()


def check_links(page, asked):
    """A link that disagrees stands among the troubles, whatever its ends are called."""
    page.open(**asked)
    rows = [row for row in api('links', **asked)['rows'] if row['disagrees']]
    check('a cable that breaks frames is named', rows[0]['says'].startswith('bad cable: ') and rows[0]['to_port'] == 'e-3', rows)
    equal('also on the page, with what its other way lacks', (page.text('#trouble-links .sum'), page.texts('#trouble-links .filter')),
          ('2 ways wrong', [row['says'] for row in rows]))
    equal('with the ways', page.texts('#trouble-links .where'),
          [f"{asked['agent']} {a} → {asked['agent']} {b}" for a, b in (('e-1', 'e-3'), ('e-3', 'e-1'))])
    hostile = '<img src=x onerror="hacked=4">'
    rows = [{'from_agent': hostile, 'from_port': '<b>1</b>', 'to_agent': 'x', 'to_port': hostile, 'says': f'bad cable: 9 bad frames at {hostile}',
             'disagrees': 1}, {'from_agent': 'x', 'from_port': 'y', 'to_agent': 'z', 'to_port': 'a', 'says': 'ok', 'disagrees': 0}]
    page.browser.answer('*/api/v1/links*', 200, json.dumps({'report': 'links', 'empty': False, 'rows': rows}))
    page.click('#sort [data-sort=packets]')
    equal('names with markup are text', page.texts('#trouble-links :is(.filter, .where)'),
          [f'bad cable: 9 bad frames at {hostile}', f'{hostile} <b>1</b> → x {hostile}'])
    equal('and do nothing', page.js("[typeof hacked, document.querySelectorAll('#trouble-links :is(img, b)').length]"), ['undefined', 0])
    page.browser.answer_no_more()


def check_alarms(page):
    """Alarms stand above all else, and only while there are any."""
    page.open(last='1h')
    check('without alarms there is no section of them', page.js("document.getElementById('alarms').hidden"))
    rows = [{'state': 'stands', 'since': '2026-01-05T10:00:00Z', 'until': None, 'agent': '192.0.2.77', 'port': '<i>p</i>',
             'key': '2001:db8::1', 'rule': 'talker above 5% of each port'},
            {'state': 'over', 'since': '2026-01-05T09:00:00Z', 'until': '2026-01-05T09:30:00Z', 'agent': '192.0.2.77',
             'port': 'ge-2', 'key': None, 'rule': 'port above 90% of each port'}]
    page.browser.answer('*/api/v1/alarms*', 200, json.dumps({'report': 'alarms', 'empty': False, 'rows': rows}))
    page.click('#sort [data-sort=packets]')
    check('an alarm brings the section', page.wait("!document.getElementById('alarms').hidden"))
    check('it is the first of the page', page.js("document.querySelector('main section:not([hidden])').id === 'alarms'"))
    equal('alarms have key and rule', page.texts('#alarms .filter'),
          ['2001:db8::1: talker above 5% of each port', 'port above 90% of each port'])
    equal('one that stands is marked', page.js("[...document.querySelectorAll('#alarms li')].map((li) => li.dataset.stands ?? '')"),
          ['yes', ''])
    equal('and counted', page.text('#alarms-sum'), '1 alarm now')
    page.click('#utc')
    equal('times are in UTC where that was chosen', page.wait("document.querySelectorAll('#alarms .where')[1].textContent.endsWith('09:30')"),
          True)
    page.click('#utc')
    page.shot('alarms')
    page.click('#alarms .filter')
    check('an alarm filters by its key and port', page.wait("new URLSearchParams(location.search).get('addr') === '2001:db8::1'"),
          page.js('location.search'))
    page.browser.answer_no_more()


# What browsers have since 2022 or later: Safari 15.4, Firefox ESR 91 and Chrome 92 have none of it.
NEWER = ('AbortSignal.any AbortSignal.timeout AbortSignal.prototype.throwIfAborted Array.prototype.findLast'
         ' Array.prototype.findLastIndex Array.prototype.toSorted Array.prototype.toReversed Array.prototype.toSpliced'
         ' Array.prototype.with Array.fromAsync Object.groupBy Map.groupBy Object.hasOwn structuredClone'
         ' Promise.withResolvers Promise.try Set.prototype.union Set.prototype.difference Set.prototype.intersection'
         ' URL.canParse URL.parse Iterator CompressionStream String.prototype.isWellFormed navigation Response.json'
         ' Element.prototype.checkVisibility HTMLElement.prototype.showPopover Intl.DurationFormat').split()


def check_old_browser(page, asked):
    page.open(**asked)
    must, before = page.rows('sources'), len(page.browser.console)
    script = page.browser.call('Page.addScriptToEvaluateOnNewDocument',
                               source=''.join(f'try {{ delete globalThis.{name}; }} catch {{}}' for name in NEWER))
    page.open(**asked)
    equal('an old browser is one', page.js("[typeof AbortSignal.any, typeof AbortSignal.timeout, typeof structuredClone]"),
          ['undefined'] * 3)
    equal('it shows the same', page.rows('sources'), must)
    page.click('#sources .filter')
    check('and filters', 'addr' in page.asked())
    equal('without a word to the console', page.browser.console[before:], [])
    page.browser.answer('*/api/v1/*', 503, '{"error": "too much is asked"}')
    page.click('#sort [data-sort=packets]')
    check('and says why it has no answer', 'too much is asked' in page.text('#message-text'), page.text('#message-text'))
    page.browser.answer_no_more()
    page.browser.call('Page.removeScriptToEvaluateOnNewDocument', identifier=script['identifier'])
    del page.browser.console[before:]  # the answer of 503


def check_tooltips(page, asked):
    page.open(**asked)
    services = api('protocols', **asked, top=5)['rows']
    equal('tooltips of services say what the filter does',
          page.js("[...document.querySelectorAll('#protocols .key .filter')].map((key) => key.title)"),
          [f'Only {text}' for text in page.texts('#protocols .key .filter')])
    check('which are services', len(services) > 0 and all('server_port' in row for row in services))
    pairs = api('conversations', **asked, top=5)['rows']
    names = [f"host {row[side]} and {service({'protocol': row['protocol'], 'server_port': row[f'{side}_port']})}"
             if row['src_port'] or row['dst_port'] else ' '.join(filter(None, (row[side], row[f'{side}_name'])))
             for row in pairs for side in ('src', 'dst')]
    equal('and those of conversations',
          page.js("[...document.querySelectorAll('#conversations .key .filter')].map((key) => key.title)"),
          [f'Only {name}' for name in names])


def check_keyboard(page, asked):
    page.open(**asked)
    page.press('Tab')
    equal('Tab first reaches the skip link', page.focused()['classes'], ['skip'])
    page.press('Enter', 'Tab')
    equal('which leads to the first tile', page.focused()['first'], 'e-1')
    page.press('ArrowRight', 'ArrowRight', 'ArrowLeft')
    equal('arrows move among tiles', page.focused()['first'], 'e-2')
    check('the focus is seen', page.focused()['outlined'])
    equal('the line below tells of it',
          page.text('#readout').startswith(f"{asked['agent']} · e-2 · <script>"), True)
    page.shot('keyboard')
    page.press('Enter')
    page.settle()
    equal('Enter filters, and the focus stays', (page.asked().get('port'), page.focused()['first']),
          ('e-2', 'e-2'))
    page.press('End')
    equal('End goes to the last', page.focused()['first'], 'e-8')
    reached = set()
    for _ in range(80):
        page.press('Tab')
        reached.add(page.focused()['section'])
    equal('Tab reaches every section', SECTIONS - reached, set())
    equal('all that can be used has a name', page.browser.nameless(), [])


def check_claims(page, asked):
    """The ? of a section, by keyboard: each of its sentences is one of `easetop claims`."""
    page.open(**asked)
    claims = {(claim['printed'], claim['claim']) for claim in api('claims')}
    equal('each section has its ?', sorted(page.js(
        "[...document.querySelectorAll('.claims')].map((claims) => claims.closest('section').id)")), sorted(SECTIONS))
    page.js("document.querySelector('#sources .claims summary').focus()")
    page.press('Enter')
    page.wait("document.querySelector('#sources .claims dd')")
    told = set(zip(page.texts('#sources .claims dt'), page.texts('#sources .claims dd')))
    check('the ? tells what is claimed', len(told) > 5 and told <= claims, told - claims)
    equal('nothing is beyond the edge with it', page.js('probe.beyondEdge()'), [])
    page.shot('claims')
    page.press('Enter')
    equal('and closes', page.js("document.querySelector('#sources .claims').open"), False)
    for section in SECTIONS:
        page.click(f'#{section} .claims summary')
        page.wait(f"document.querySelector('#{section} .claims dd')")
    check('every ? tells something', all(page.texts(f'#{section} .claims dt') for section in SECTIONS))


def check_looks(page, asked):
    views = (('range', asked), ('live', {}))
    for theme in ('light', 'dark'):
        page.browser.media(prefers_color_scheme=theme)
        for name, view in views:
            page.open(**view)
            equal(f'texts have contrast: {theme}, {name}', page.js('probe.poorContrast()'), [])
            page.shot(f'{theme}-{name}')
    page.click('#theme')
    equal('the switch of themes', page.js('document.documentElement.dataset.theme'), 'light')
    page.js('localStorage.clear()')
    page.browser.media(prefers_color_scheme='light', prefers_reduced_motion='reduce')
    page.open(**asked)
    equal('no motion where none is wanted',
          page.js("getComputedStyle(probe.tile('e-1')).transitionDuration"), '0s')
    for width, height in ((360, 740), (768, 1024), (1920, 1080)):
        page.browser.size(width, height, mobile=width < 500)
        for name, view in views:
            page.open(**view)
            equal(f'{width} px: nothing is beyond the edge, {name}', page.js('probe.beyondEdge()'),
                  [])
            page.shot(f'{width}-{name}')
    page.browser.size(1400, 900)


def first_step(page):
    """The first minute with data: its number and place, and how the address asks for it alone."""
    page.open(last='15m')
    number, x, y, start = page.js('probe.firstStep()')
    began, form = datetime.datetime.utcfromtimestamp(start / 1000), '%Y-%m-%dT%H:%M:00Z'
    end = began + datetime.timedelta(minutes=1)
    return number, x, y, {'from': began.strftime(form), 'to': end.strftime(form)}


def check_steps(page):
    _, x, y, must = first_step(page)
    page.browser.click(x, y)
    page.wait("location.search.includes('from=')")  # the chart hears of a click with the next picture only
    page.settle()
    equal('a click on the chart looks into a step', page.asked(), must)
    number, _, _, must = first_step(page)
    page.js("document.querySelector('#load-table summary').click()")
    page.settle()
    page.click(f'#load-rows tbody tr:nth-child({number + 1}) button')
    equal('and so does its time in the table', page.asked(), must)


def check_zones(page, asked):
    page.open(**asked)
    local = page.text('#range')
    page.click('#utc')
    utc = page.text('#range')
    page.click('#utc')
    first = datetime.datetime.fromisoformat(asked['from'].replace('Z', '+00:00'))
    for text, hours, zone in ((local, 1, '+0100'), (utc, 0, '+0000')):
        wall = (first + datetime.timedelta(hours=hours)).strftime('%Y-%m-%d %H:%M')
        equal(f'times in {zone}', (text[:16], text[-5:]), (wall, zone))


def check_moment(page):
    """All questions of a look are put to one moment; an hour can have steps of ten seconds."""
    page.open(last='1h', addr='10.9.0.0/24')
    note = page.text('#load-note')
    check('an hour has steps of a minute', 'Each step is 1 min' in note, note)
    page.browser.requests.clear()
    page.click('#step [data-step="10s"]')
    page.settle()
    note = page.text('#load-note')
    check('or of ten seconds', 'Each step is 10 s' in note, note)
    asked = [url for url in page.browser.requests if '/api/v1/' in url]
    moments = [url for url in asked if '/moment?' in url]
    given = {parameters.get('moment', [''])[0] for parameters in
             (urllib.parse.parse_qs(urllib.parse.urlsplit(url).query) for url in asked if url not in moments)}
    check('a look has one moment', moments and len(given) <= len(moments) and '' not in given, f'{asked}')


def check_live(page, live):
    page.open(last='1h', addr='10.9.0.0/24')  # what was told first is in it on any machine
    page.js("document.querySelector('#sources .filter').focus(); scrollTo(0, 300)")
    where = ("[document.activeElement.textContent,"
             " document.getElementById('sources').getBoundingClientRect().top, scrollY]")
    first = "document.querySelector('#sources td.samples').textContent"
    before = page.js(where)
    page.js(f'window.first = {first}')  # gone if the document is loaded again
    live.thread.start()
    check('live figures move on by themselves',
          page.wait(f'window.first && {first} !== window.first', 20))
    after = page.js(where)
    # A remark that comes or goes above moves the document. Where it is out of sight the browser scrolls as far, in whole
    # pixels, and what is looked at stays; where it is in sight nothing scrolls. The page itself scrolls nowhere.
    seen, scrolled = after[1] - before[1], after[2] - before[2]
    moved = abs(seen + scrolled) + 1
    check('focus and scroll stay', after[0] == before[0] and abs(seen) <= moved and abs(scrolled) <= moved,
          f'{after}, {before} before')
    page.js("Object.defineProperty(document, 'hidden', {get: () => true, configurable: true});"
            " document.dispatchEvent(new Event('visibilitychange'))")
    page.settle()
    page.browser.requests.clear()
    time.sleep(5.5)  # longer than it waits between two looks
    page.js('1')     # takes what the browser has to say
    equal('a hidden page asks nothing', page.browser.requests, [])
    page.js("delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))")
    check('and asks at once when it is seen again',
          page.wait("document.body.hasAttribute('data-busy')", 2))
    page.settle()
    live.close()


def check_refusals(page, asked):
    page.open(**asked)
    before = page.rows('sources')
    page.browser.answer('*/api/v1/*')
    page.js("document.querySelector('#sort [data-sort=packets]').click()")
    check('a slow report is told', page.wait("document.getElementById('message-text')"
                                             ".textContent.startsWith('Still reading')", 5))
    page.browser.answer_no_more()
    page.open(**asked)
    page.browser.answer('*/api/v1/*', 503, '{"error": "too much is asked"}')
    page.click('#sort [data-sort=packets]')
    message = page.text('#message-text')
    check('a collector that is busy is told', 'busy (too much is asked)' in message, message)
    equal('and what was there stays, paler', (page.rows('sources'), page.js(
        "getComputedStyle(document.getElementById('sources')).opacity")), (before, '0.5'))
    page.browser.answer('*/api/v1/*', 401, '{"error": "token"}')
    page.click('#sort [data-sort=octets]')
    hidden = "document.getElementById('token-form').hidden"
    equal('a collector that wants a token: the reader is asked', page.js(hidden), False)
    page.browser.answer_no_more()
    page.js("document.getElementById('token').value = 'open sesame'")
    page.click('#token-form button')
    equal('the token goes along', page.browser.headers.get('Authorization'), 'Bearer open sesame')
    equal('and opens the page', (page.js(hidden), page.rows('sources')), (True, before))


def check_gone(page):
    page.open()
    n_tiles = len(page.texts('.tile'))
    os.kill(int(os.environ['EASE_PAGE_COLLECTOR']), signal.SIGTERM)
    told = page.wait("document.getElementById('message-text').textContent"
                     ".includes('does not answer')", 20)
    check('a collector that is gone is told', told, page.text('#message'))
    equal('and what was there stays', len(page.texts('.tile')), n_tiles)
    page.shot('gone')


def check_all(page, live):
    asked, browser = replayed(), page.browser
    check_first_view(page)
    check_refused(page)
    check_figures(page, asked)
    check_filters(page, asked)
    check_tooltips(page, asked)
    check_old_browser(page, asked)
    check_choices(page, asked)
    check_groups(page, asked)
    check_csv(page, asked)
    check_ranges(page)
    check_keyboard(page, asked)
    check_claims(page, asked)
    check_looks(page, asked)
    check_steps(page)
    check_zones(page, asked)
    requests = list(browser.requests)
    check_moment(page)
    check_live(page, live)
    page.js('1')
    equal('no error in the console', browser.console, [])
    check_hostile(page, asked)
    check_odd_frames(page)
    check_sites(page)
    check_outage(page)
    check_links(page, asked)
    check_alarms(page)
    check_typed_filters(page, asked)
    check_refusals(page, asked)
    check_gone(page)
    requests += browser.requests
    outside = {url for url in requests if not url.startswith((URL + '/', 'about:', 'data:'))}
    equal('no request goes elsewhere', outside, set())


def main():
    live = LiveSwitch()
    live.start()
    browser = Browser(zone='Europe/Berlin')
    try:
        with open(os.path.join(os.path.dirname(__file__), 'page_probes.js')) as probes:
            browser.call('Page.addScriptToEvaluateOnNewDocument', source=probes.read())
        browser.size(1400, 900)
        browser.media(prefers_color_scheme='light')
        check_all(Page(browser), live)
    finally:
        live.close()
        browser.close()
    sys.exit(1 if failed else 0)


main()
