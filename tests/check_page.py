"""What tests/check_page.sh does with the page. Figures on it are compared with /api/v1, written out by
code of this file; the contrast of texts is reckoned as WCAG 2.1 has it."""
import datetime
import json
import os
import re
import signal
import sys
import threading
import time
import urllib.parse
import urllib.request

from browser import MODIFIERS, Browser
from sflow_wire import Switch, frame

URL = os.environ['EASE_PAGE_URL']
SHOTS = os.environ.get('EASE_PAGE_SHOTS')
SETTLED = "document.readyState == 'complete' && !document.body.hasAttribute('aria-busy')"
failed = False


def check(name, right, otherwise=''):
    global failed
    if right:
        print(f'PASS page {name}')
    else:
        print(f'FAIL page {name}: {otherwise}')
        failed = True
    sys.stdout.flush()
    return right


def equal(name, is_, must_be):
    return check(name, is_ == must_be, f'{is_!r} instead of {must_be!r}')


# ---- the API, and figures as easetop writes them ----

def api(report, **asked):
    with urllib.request.urlopen(f'{URL}/api/v1/{report}?{urllib.parse.urlencode(asked)}', timeout=20) as answer:
        return json.load(answer)


def in_scale(value):
    power = 0
    while power < 5 and value / 1000 ** power >= 999.5:
        power += 1
    return 1000 ** power, ' kMGTP'[power].strip()


def three(value):
    return '0' if value <= 0 else f'{value:.0f}' if value >= 99.95 else f'{value:.1f}' if value >= 9.995 \
        else f'{value:.2f}'


def rate(value):
    divisor, unit = in_scale(value)
    return three(value / divisor) + unit


def limits(figure, factor):
    divisor, unit = in_scale(figure['estimate'] * factor)
    return f"{three(figure['low'] * factor / divisor)}–{three(figure['high'] * factor / divisor)}{unit}"


def percent(value):
    return '<0.1%' if 0 < value < 0.05 else f'{value:.1f}%'


def expected_row(row, result, unit='octets'):
    factor = (8 if unit == 'octets' else 1) / result['seconds']
    return [rate(row[unit]['estimate'] * factor), limits(row[unit], factor),
            percent(100 * row['share']['estimate']), f"{row['samples']:,}"]


class Page:
    """The page in a browser, and what a reader does with it."""

    def __init__(self, browser):
        self.browser, self.js, self.wait = browser, browser.js, browser.wait

    def open(self, path):
        self.browser.open(URL + path)
        return self.settle()

    def settle(self):
        time.sleep(0.05)
        return self.wait(SETTLED)

    def click(self, selector):
        self.js(f'document.querySelector({json.dumps(selector)}).click()')
        return self.settle()

    def text(self, selector):
        return self.js(f'document.querySelector({json.dumps(selector)})?.innerText ?? null')

    def texts(self, selector):
        """Of each element, without the narrow spaces before units."""
        return self.js(f'[...document.querySelectorAll({json.dumps(selector)})]'
                       ".map((e) => e.textContent.replace(/\\u202f/g, ''))")

    def asked(self):
        return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.js('location.href')).query))

    def rows(self, section):
        """Of a list: the figures of each row."""
        return self.js(f"""[...document.querySelectorAll('#{section} tbody tr')].map((row) =>
            ['rate', 'limits', 'share', 'samples'].map((name) =>
                row.querySelector('.' + name).textContent.replace(/\\u202f/g, '')))""")

    def shot(self, name):
        if SHOTS:
            self.browser.screenshot(os.path.join(SHOTS, name + '.png'))


# ---- what is looked at ----

class LiveSwitch:
    """1,000 ports, of which one is down and one has errors, a VLAN, losses, and an address that moves."""

    def __init__(self):
        self.switch = Switch(('127.0.0.1', int(os.environ['EASE_PAGE_SFLOW'])), '192.0.2.9', 1000,
                             lambda port: (port * 37 % 100) / 100 if port % 3 else 0.002, errors={20}, down={10})
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

    def start(self):
        self.tell()
        time.sleep(1.1)
        self.tell()
        self.switch.tell_sample(40, frame('10.9.0.3', '10.9.1.1', 40003, 443))
        self.switch.tell_sample(3, frame('10.9.0.3', '10.9.1.1', 40003, 443))
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and len(api('load', last='5m')['rows']) < 1008:
            time.sleep(0.1)

    def close(self):
        self.stop.set()
        if self.thread.is_alive():
            self.thread.join()


def replayed_range():
    """The capture that the emulated switch replayed, as parameters: it is shorter than a minute."""
    row = next(row for row in api('agents', last='all')['rows'] if row['agent'] != '192.0.2.9')
    first = datetime.datetime.fromisoformat(row['first_data'].replace('Z', '+00:00'))
    form = '%Y-%m-%dT%H:%M:00Z'
    return row['agent'], {'from': first.strftime(form),
                          'to': (first + datetime.timedelta(minutes=1)).strftime(form)}


# ---- the tests ----

def check_first_view(page):
    began = time.monotonic()
    page.browser.open(URL + '/')
    shown = page.wait("document.querySelectorAll('.tile').length == 1008 && document.querySelector('#sources .sure')"
                      " && document.querySelector('#load-note').textContent && document.querySelector('.cell')")
    check(f'first view of 1,008 ports, {time.monotonic() - began:.2f} s', shown, page.text('body')[:300])
    page.settle()
    page.shot('ports-1000')
    states = page.js("Object.fromEntries(['up', 'down', 'silent'].map((state) =>"
                     " [state, document.querySelectorAll(`.tile[data-state=${state}]`).length]))")
    must = {'up': 0, 'down': 0, 'silent': 0}
    for row in api('load', last='5m')['rows']:
        must['down' if row['status'] == 'down' else 'silent' if row['check'].startswith('silent') else 'up'] += 1
    equal('tiles are up, down or silent as load says', states, must)
    check('a port with errors has its dot', page.js("Boolean([...document.querySelectorAll('.tile[data-errors]')]"
                                                    ".find((tile) => tile.textContent.startsWith('if20')))"))
    check('the grid of 1,000 ports fits the screen', page.js("document.getElementById('tiles').offsetHeight <= innerHeight / 2"))
    check('completeness below 99 % is red', page.js("document.getElementById('complete').dataset.bad == 'yes'"))
    equal('lost samples are named', page.text('#trouble-loss .sum')[-12:], 'samples lost')
    check('a moved address is named', '10.9.0.3' in page.text('#trouble-addresses'), page.text('#trouble-addresses'))


def check_figures(page, asked):
    query = '?' + urllib.parse.urlencode(asked)
    page.open('/' + query)
    page.shot('figures')
    for section, report, extra in (('sources', 'talkers', {'by': 'src'}), ('destinations', 'talkers', {'by': 'dst'}),
                                   ('conversations', 'conversations', {}), ('protocols', 'protocols', {})):
        result = api(report, **asked, **extra, top=5)
        rows = result['rows'] + [result[name] for name in ('others', 'rest') if name in result]
        equal(f'{section} are those of the API', page.rows(section), [expected_row(row, result) for row in rows])
    result = api('talkers', **asked, by='src', top=5)
    equal('keys are those of the API', page.texts('#sources .key .filter'), [row['src'] for row in result['rows']])
    bound = int(result['unseen_packets_high']) + 1
    check('what was not seen has its bound', f'fewer than {bound:,} frames (95%)' in page.text('#sources .note'))
    check_ports(page, asked)
    check_matrix(page, asked)
    check_chart(page, asked)


def check_ports(page, asked):
    load = [row for row in api('load', **asked)['rows'] if row['agent'] == asked['agent']]
    must = []
    for row in load:
        both = [row[name] for name in ('utilization_rx', 'utilization_tx') if row[name] is not None]
        must.append('down' if row['status'] == 'down' else 'silent' if row['check'].startswith('silent')
                    else percent(max(both)) if both else '-')
    equal('utilisation of tiles is that of the API', page.texts('.tile .figure'), must)
    page.click('#ports-table summary')
    equal('what is not known is - and not 0', page.js("""[...document.querySelectorAll('#ports-table tbody tr')].at(-1)
        .children[6].textContent"""), '-' if load[-1]['rx_bps'] is None else rate(load[-1]['rx_bps']))
    equal('five attributes of a port are those of the API',
          [text.replace('\u202f', '') for text in page.js(
              "[...document.querySelectorAll('#ports-table tbody tr')][0].innerText.split('\\t')")][6:12],
          [rate(load[0]['rx_bps']), rate(load[0]['tx_bps']), f"{load[0]['frames_per_s']:,.0f}",
           f"{load[0]['broadcasts_per_s']:.1f}", f"{load[0]['multicasts_per_s']:.1f}", f"{load[0]['errors_per_s']:.0f}"])
    page.click('#ports-table summary')


def check_matrix(page, asked):
    result = api('matrix', **asked, top=60)
    must = sorted(f"{row['src']} → {row['dst']}: {rate(row['octets']['estimate'] * 8 / result['seconds'])}"
                  for row in result['rows'])
    shown = sorted(re.sub(r' \(.*', '', text.replace('\u202f', '')) for text in
                   page.js("[...document.querySelectorAll('.cell')].map((cell) => cell.title)"))
    check('cells of the matrix are those of the API', shown and set(shown) <= set(must), f'{shown} {must}')


def check_chart(page, asked):
    result = api('history', **asked, top=5)
    page.click('#load-table summary')
    table = page.js("[...document.querySelectorAll('#load-table tbody tr')].map((row) => row.innerText.split('\\t'))")
    must = [rate(row['octets'] * 8 / row['seconds']) if row['octets'] is not None and row['seconds'] else '-'
            for row in result['rows']]
    equal('the counted load is that of the API', [row[2].replace('\u202f', '') for row in table], must)
    first = next(row for row in result['rows'] if row['top'])
    entry, factor = first['top'][0], 8 / first['seconds']
    equal('and the largest source, with its limits',
          table[result['rows'].index(first)][3 + entry['key']].replace('\u202f', ''),
          f"{rate(entry['octets']['estimate'] * factor)} ({limits(entry['octets'], factor)})")
    check('the chart is drawn', page.js("""(() => { const c = document.getElementById('load-chart');
        return new Set(c.getContext('2d').getImageData(0, 0, c.width, c.height).data).size > 20; })()"""))
    page.click('#load-table summary')


def check_filters(page, agent, asked):
    page.open('/?' + urllib.parse.urlencode(asked))
    before = page.js('location.href')
    page.js("[...document.querySelectorAll('.tile')].find((tile) => tile.textContent.startsWith('e-2')).click()")
    page.settle()
    equal('a tile filters by its port', {k: page.asked().get(k) for k in ('agent', 'port')}, {'agent': agent, 'port': 'e-2'})
    equal('and is shown pressed', page.texts('.tile[aria-pressed=true] .name'), ['e-2'])
    result = api('talkers', **asked, port='e-2', by='src', top=5)
    rows = result['rows'] + [result[name] for name in ('others', 'rest') if name in result]
    equal('figures are those of the port', page.rows('sources'), [expected_row(row, result) for row in rows])
    page.shot('filtered')
    page.click('#sources .filter')
    equal('a source filters by its address', page.asked().get('addr'), result['rows'][0]['src'])
    page.js('history.back()')
    page.wait('!new URLSearchParams(location.search).get("addr")')
    page.js('history.back()')
    page.wait(f'location.href == {json.dumps(before)}')
    page.settle()
    equal('back takes the filters away', (page.texts('#chips button'), page.texts('.tile[aria-pressed=true]')),
          ([f'agent {agent} ✕'], []))
    page.click('.cell')
    check('a cell of the matrix filters', 'addr' in page.asked())
    page.click('#chips li:last-child button')
    check('a chip takes its filter away', 'addr' not in page.asked())
    page.click('#protocols .filter')
    equal('a protocol filters', page.asked().get('proto'), str(api('protocols', **asked, top=1)['rows'][0]['protocol']))
    page.open('/?' + urllib.parse.urlencode(asked))


def check_choices(page, asked):
    page.open('/?' + urllib.parse.urlencode(asked))
    page.click('#sort [data-sort=packets]')
    result = api('talkers', **asked, by='src', top=5, sort='packets')
    rows = result['rows'] + [result[name] for name in ('others', 'rest') if name in result]
    equal('ranked by frames', page.rows('sources'), [expected_row(row, result, 'packets') for row in rows])
    page.click('#layer [data-layer=eth]')
    check('MAC addresses', re.fullmatch(r'([0-9a-f]{2}:){5}[0-9a-f]{2}', page.texts('#sources .filter')[0]))
    page.js("(() => { const s = document.querySelector('#protocols select'); s.value = 'proto';"
            " s.dispatchEvent(new Event('change')); })()")
    page.settle()
    equal('IP protocols', page.texts('#protocols .key .filter')[0], api('protocols', **asked, by='proto')['rows'][0]['name'])
    page.click('#sources .more')
    equal('a hundred rows', (len(page.texts('#sources .key .filter')), page.asked()['open']),
          (len(api('talkers', **asked, by='src', layer='eth', top=100)['rows']), 'sources'))
    page.shot('expanded')
    view = page.js('location.search')
    page.open('/' + view)
    equal('a link that was sent shows the same', page.js('location.search'), view)
    equal('and as many rows', len(page.texts('#sources .key .filter')) > 5, True)


def check_ranges(page):
    page.open('/')
    page.click('[data-last="15m"]')
    equal('a preset', page.asked(), {'last': '15m'})
    page.click('#earlier')
    asked = page.asked()
    equal('earlier: a range of its own, and not live', (sorted(asked), page.js("document.getElementById('live').ariaPressed")),
          (['from', 'to'], 'false'))
    page.click('#later')
    check('later', page.asked()['from'] > asked['from'])
    page.js("document.getElementById('custom').open = true")
    time.sleep(0.1)
    page.js("document.getElementById('from').value = '2001-02-03T04:05'; document.getElementById('to').value = '2001-02-03T04:06';"
            "document.querySelector('#custom-form button').click()")
    page.settle()
    equal('from and to, in local time', page.asked(), {'from': '2001-02-03T03:05:00Z', 'to': '2001-02-03T03:06:00Z'})
    check('an empty range says where the newest data is',
          page.wait("document.getElementById('message-text').textContent.includes('newest data')"), page.text('#message'))
    page.shot('empty')
    page.click('#message-do')
    check('and goes there', page.wait("document.getElementById('message').hidden"), page.text('#message'))
    page.click('#live')
    check('live again', 'from' not in page.asked())


def check_hostile(page, asked):
    page.open('/?' + urllib.parse.urlencode(asked))
    equal('names with markup are text', page.js("""[typeof hacked, document.querySelectorAll('body img, body script').length,
        document.querySelector('.tile').ariaLabel.includes('<img src=x onerror=')]"""), ['undefined', 0, True])
    page.open('/?' + urllib.parse.urlencode({**asked, 'agent': '<b onclick=x>"\'&'}))
    page.wait("!document.getElementById('message').hidden")
    check('a filter that is refused says why', page.text('#message-text').startswith('The collector refuses:'),
          page.text('#message-text'))
    equal('and stays text', page.js("document.querySelectorAll('b').length"), 0)


def check_keyboard(page, agent, asked):
    page.open('/?' + urllib.parse.urlencode(asked))
    key, active = page.browser.key, "document.activeElement"
    key('Tab')
    equal('Tab first reaches the skip link', page.js(f'{active}.className'), 'skip')
    page.shot('skip-link')
    key('Enter')
    for _ in range(4):
        key('Tab')
        if page.js(f"{active}.classList.contains('tile')"):
            break
    equal('then the first tile', page.js(f'{active}.children[0]?.textContent'), 'e-1')
    for name in ('ArrowRight', 'ArrowRight', 'ArrowLeft'):
        key(name)
    equal('arrows move among tiles', page.js(f'{active}.children[0].textContent'), 'e-2')
    outline = page.js(f'(({{outlineStyle, outlineWidth}}) => [outlineStyle, parseFloat(outlineWidth) >= 2])(getComputedStyle({active}))')
    equal('the focus is seen', outline, ['solid', True])
    equal('the line below tells of it', page.text('#readout').startswith(f'{agent} · e-2 · <script>'), True)
    page.shot('keyboard')
    key('Enter')
    page.settle()
    equal('Enter filters', page.asked().get('port'), 'e-2')
    equal('and the focus stays', page.js(f'{active}.children[0]?.textContent'), 'e-2')
    key('End')
    equal('End goes to the last', page.js(f'{active}.children[0].textContent'), 'e-8')
    reached = set()
    for _ in range(60):
        key('Tab')
        reached.add(page.js(f"{active}.closest('section, header')?.id || {active}.closest('header, section')?.tagName || ''"))
    sections = {'ports', 'load', 'sources', 'destinations', 'conversations', 'protocols', 'matrix'}
    check('Tab reaches every section', sections <= reached, f'{sections - reached} missing')
    key('Tab', modifiers=MODIFIERS['Shift'])


TEXT_CONTRAST = """(() => {
    const parse = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number);
    const light = ([r, g, b]) => [r, g, b].map((c) => c / 255).map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    const ground = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor);
        if (c.length == 3 || c[3] == 1) return c; } return [255, 255, 255]; };
    const poor = new Set();
    for (const e of document.querySelectorAll('body *')) {
        if (![...e.childNodes].some((n) => n.nodeType == 3 && n.data.trim()) || !e.offsetParent || e.disabled) continue;
        const style = getComputedStyle(e), a = light(parse(style.color)), b = light(ground(e));
        const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (contrast < 4.5) poor.add(`${e.tagName}.${e.className} ${e.textContent.slice(0, 20)} ${contrast.toFixed(1)}`);
    }
    return [...poor]; })()"""


def check_looks(page, asked):
    address = '/?' + urllib.parse.urlencode(asked)
    for theme in ('light', 'dark'):
        page.browser.media(prefers_color_scheme=theme)
        for where in (address, '/'):
            page.open(where)
            equal(f'texts have contrast: {theme}, {"live" if where == "/" else "range"}', page.js(TEXT_CONTRAST), [])
        page.shot(theme)
    page.click('#theme')
    equal('the switch of themes', page.js('document.documentElement.dataset.theme'), 'light')
    page.js('localStorage.clear()')
    page.browser.media(prefers_color_scheme='light', prefers_reduced_motion='reduce')
    page.open(address)
    equal('no motion where none is wanted', page.js("getComputedStyle(document.querySelector('.tile')).transitionDuration"), '0s')
    for width, height in ((360, 740), (768, 1024), (1920, 1080)):
        page.browser.size(width, height, mobile=width < 500)
        for where in (address, '/'):
            page.open(where)
            equal(f'{width} px wide: nothing is beyond the edge, {"live" if where == "/" else "range"}', page.js("""
                [...document.querySelectorAll('header *, main *')].filter((e) => !e.closest('.scroll, .menu form, .skip')
                    && e.offsetParent && e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
                    .map((e) => e.tagName + '.' + e.className).slice(0, 5)"""), [])
            page.shot(f'{width}{"-live" if where == "/" else ""}')
    page.browser.size(1400, 900)


def check_zones(page, asked):
    page.open('/?' + urllib.parse.urlencode(asked))
    local = page.text('#range')
    page.click('#utc')
    utc = page.text('#range')
    page.click('#utc')
    equal('times are local with offset, and UTC at a switch', (local[-5:], utc[-5:]), ('+0100', '+0000'))
    hour = int(re.search(r' (\d\d):', ' ' + local.split('–')[0])[1]), int(re.search(r' (\d\d):', ' ' + utc.split('–')[0])[1])
    equal('an hour apart', (hour[0] - hour[1]) % 24, 1)


def check_live(page, live):
    page.open('/?addr=10.9.0.0/24')
    page.js("document.querySelector('#sources .filter').focus(); scrollTo(0, 300)")
    before = page.js("[document.activeElement.textContent, scrollY]")
    page.js("window.still = true; window.first = document.querySelector('#sources .samples:not(th)').textContent")
    live.thread.start()
    check('live figures move on by themselves', page.wait("""window.still &&
        document.querySelector('#sources .samples:not(th)').textContent != window.first""", 20))
    equal('focus and scroll stay', page.js("[document.activeElement.textContent, scrollY]"), before)
    page.js("Object.defineProperty(document, 'hidden', {get: () => true, configurable: true});"
            " document.dispatchEvent(new Event('visibilitychange'))")
    page.settle()
    page.browser.requests.clear()
    time.sleep(5.5)
    page.js('1')
    equal('a hidden page asks nothing', page.browser.requests, [])
    page.js("delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))")
    check('and asks at once when it is seen again', page.wait("document.body.hasAttribute('aria-busy')", 2))
    page.settle()
    live.close()


def check_gone(page):
    page.open('/')
    os.kill(int(os.environ['EASE_PAGE_COLLECTOR']), signal.SIGTERM)
    check('a collector that is gone is told', page.wait(
        "document.getElementById('message-text').textContent.includes('does not answer')", 20), page.text('#message'))
    check('and what was there stays', len(page.texts('.tile')) == 1008)
    page.shot('gone')


def expect_quiet(name, browser):
    browser.js('1')
    equal(f'no error in the console: {name}', browser.console, [])
    browser.console.clear()


def main():
    live = LiveSwitch()
    live.start()
    agent, asked = replayed_range()
    asked = {**asked, 'agent': agent}
    browser = Browser(zone='Europe/Berlin')
    page = Page(browser)
    requests = []
    try:
        browser.size(1400, 900)
        browser.media(prefers_color_scheme='light')
        check_first_view(page)
        check_figures(page, asked)
        check_filters(page, agent, asked)
        check_choices(page, asked)
        check_ranges(page)
        check_keyboard(page, agent, asked)
        check_looks(page, asked)
        check_zones(page, asked)
        requests += browser.requests
        check_live(page, live)
        expect_quiet('all views', browser)
        check_hostile(page, asked)
        check_gone(page)
        requests += browser.requests
        outside = {url for url in requests if not url.startswith((URL + '/', 'about:', 'data:'))}
        equal('no request goes elsewhere', outside, set())
    finally:
        live.close()
        browser.close()
    sys.exit(1 if failed else 0)


main()
