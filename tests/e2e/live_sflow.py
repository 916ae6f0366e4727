"""What check_live_sflow.sh plays and what it judges by; shares nothing with agent or collector.

live_sflow.py make PCAP FRAMES SECONDS SEED
    Writes a capture and, as lines "MICROSECONDS KEY OCTETS", the truth of its frames. KEYS sources stand behind
    PORTS ports (port of key n: n mod PORTS). The load of odd ports wanders and has bursts of one key; that of even
    ports is smooth.
live_sflow.py judge FRAMES READINGS DIRECTORY [FIRST_COUNTERS]
    READINGS, lines "TIME PKTS" (microseconds since 1970): what the board had counted in all, as it said before TIME.
    Prints figures of the looks DIRECTORY/MINUTES.NUMBER.json as JSON: held against the frames that passed from the
    report's own "from" to its own "to", of reports that begin after FIRST_COUNTERS seconds.
"""
import datetime
import glob
import json
import math
import random
import statistics
import struct
import sys

PORTS, KEYS = 8, 96
FRAMES_PER_S = 160  # of a port, in the mean
TICK_US = 50000
# The first counters that are sent come after 30 s: reports that begin before them are of a part of their time only.
FIRST_S = 35
LOOK_EVERY_S = 10
NEAR_US = 3000000  # readings so near say where the board was
FCS = 4
UNITS = ('packets', 'octets')


def address(key):
    return bytes((10, 40, 0, key + 1))


def mac(key):
    return bytes((0x00, 0x1b, 0x21, 0x40, 0, key + 1))


def frame(key, length):
    to = (key + 1) % KEYS
    ip = struct.pack('!BBHHHBBH', 0x45, 0, length - 14, 1, 0x4000, 64, 17, 0) + address(key) + address(to)
    total = sum(struct.unpack('!10H', ip))
    total = (total & 0xffff) + (total >> 16)
    ip = ip[:10] + struct.pack('!H', ~((total & 0xffff) + (total >> 16)) & 0xffff) + ip[12:]
    return mac(to) + mac(key) + b'\x08\x00' + ip + struct.pack('!HHHH', 5000, 5000, length - 34, 0)


class Port:
    """What one port receives."""

    def __init__(self, number, draw):
        self.keys = list(range(number, KEYS, PORTS))
        self.bursty = number % 2 == 1
        self.draw = draw
        self.level = 0.0
        self.hot = self.keys[0]

    def n_frames(self):
        if self.bursty:
            self.level += 0.3 * self.draw.gauss(0, 1) - 0.05 * self.level
            if self.draw.random() < 0.03:
                self.hot = self.draw.choice(self.keys)
        return int(math.exp(min(self.level, 3.0)) * FRAMES_PER_S * TICK_US / 1e6 + self.draw.random())

    def key(self):
        if self.bursty and self.draw.random() < 0.33:
            return self.hot
        return self.keys[int(len(self.keys) * self.draw.random() ** 2)]

    def length(self, key):
        return 1200 if self.draw.random() < 0.1 + 0.2 * (key // PORTS % 4) else 60 + key


def make(pcap_path, frames_path, seconds, seed):
    draw = random.Random(int(seed))
    ports = [Port(n, draw) for n in range(PORTS)]
    made = {}
    with open(pcap_path, 'wb') as pcap, open(frames_path, 'w') as frames:
        pcap.write(struct.pack('<IHHIIII', 0xa1b2c3d4, 2, 4, 0, 0, 96, 1))

        def write(us, key, length):
            if (key, length) not in made:
                made[key, length] = frame(key, length)
            octets = made[key, length]
            pcap.write(struct.pack('<IIII', 1767225600 + us // 1000000, us % 1000000, len(octets), length) + octets)
            frames.write(f'{us} {key} {length + FCS}\n')

        # The board deals new sources to its ports in turn.
        for key in range(KEYS):
            write(1000 * key, key, 60)
        for start_us in range(200000, int(seconds) * 1000000, TICK_US):
            for us, key in sorted((start_us + int(draw.random() * TICK_US), port.key())
                                  for port in ports for _ in range(port.n_frames())):
                write(us, key, ports[key % PORTS].length(key))


def read_frames(path):
    with open(path) as lines:
        for line in lines:
            us, key, octets = line.split()
            yield int(us), int(key), int(octets)


class Board:
    """When the board played what of its capture. It falls behind where the machine has no time for it. What SNMP answers may
    be older than the answer, never newer: each reading says that the board began no later, and the least of some is near."""

    def __init__(self, frames_path, readings_path):
        times = [us for us, _, _ in read_frames(frames_path)]
        with open(readings_path) as readings:
            counts = [[int(word) for word in line.split()] for line in readings]
        self.lags = [(after, after - times[pkts - 1]) for after, pkts in counts if 0 < pkts <= len(times)]

    def played_until(self, us):
        """The time of the capture that it had come to."""
        near = [lag for after, lag in self.lags if abs(after - us) <= NEAR_US]
        return us - min(near) if near else None


def truth_at(frames_path, moments):
    """Of each moment, in microseconds of the capture: frames and octets of each key before it."""
    moments = sorted(set(moments))
    truth, so_far = {}, [[0, 0] for _ in range(KEYS)]
    for us, key, octets in read_frames(frames_path):
        while moments and us >= moments[0]:
            truth[moments.pop(0)] = [tuple(count) for count in so_far]
        so_far[key][0] += 1
        so_far[key][1] += octets
    if moments:
        sys.exit(f'the capture ends {moments[-1] - us} us before the last look')
    return truth


def moment(text):
    return round(datetime.datetime.fromisoformat(text.replace('Z', '+00:00')).timestamp() * 1e6)


class Tally:
    """Of the looks at one length."""

    def __init__(self):
        self.ratios = ([], [])
        self.behind_s = []
        self.seconds = []
        self.limits = [dict(n=0, low=0, high=0) for _ in UNITS]

    def look(self, report, seconds, began, ended):
        sent = [[now - then for then, now in zip(*counts)] for counts in zip(began, ended)]
        for u, unit in enumerate(UNITS):
            rate = report['totals'][unit] / report['seconds']
            self.ratios[u].append(rate / (sum(count[u] for count in sent) / seconds))
            for row in report['rows']:
                true = sent[int(row['src'].split('.')[3]) - 1][u]
                self.limits[u]['n'] += 1
                self.limits[u]['low'] += true < row[unit]['low'] - 0.5
                self.limits[u]['high'] += true > row[unit]['high'] + 0.5
        self.seconds.append(report['seconds'])
        self.behind_s.append((moment(report['newest']) - moment(report['to'])) / 1e6)

    def judged(self):
        """Looks every 10 s at S seconds see each frame S / 10 times, so they are so many times fewer trials."""
        result = dict(looks=len(self.seconds))
        if not self.seconds:
            return result
        overlap = statistics.mean(self.seconds) / LOOK_EVERY_S
        result['behind_s'] = round(statistics.mean(self.behind_s), 1)
        for unit, ratios, limits in zip(UNITS, self.ratios, self.limits):
            n = limits['n']
            noise = [3 * math.sqrt(part * (1 - part) * overlap / n) for part in (0.05, 0.025)]
            low, high = limits['low'] / n, limits['high'] / n
            result[unit] = dict(ratio=round(statistics.mean(ratios), 5), limits=n, low=round(low, 4), high=round(high, 4),
                                worst=round(max(abs(ratio - 1) for ratio in ratios), 4),
                                hold=low + high <= 0.05 + noise[0] and max(low, high) <= 0.025 + noise[1])
        return result


def judge(frames_path, readings_path, directory, first_s=FIRST_S):
    tallies, looks = {'1': Tally(), '5': Tally()}, []
    board = Board(frames_path, readings_path)
    for path in glob.glob(f'{directory}/*.json'):
        with open(path) as text:
            report = json.load(text)
        if report.get('empty') or not report.get('counted_to'):
            continue
        moments = [moment(report[name]) for name in ('from', 'to')]
        span = [board.played_until(us) for us in moments]
        if None not in span and span[0] >= int(first_s) * 1000000:
            looks.append((tallies[path.rsplit('/', 1)[1].split('.')[0]], report, span, (moments[1] - moments[0]) / 1e6))
    truth = truth_at(frames_path, [us for _, _, span, _ in looks for us in span])
    for tally, report, span, seconds in looks:
        tally.look(report, seconds, truth[span[0]], truth[span[1]])
    print(json.dumps({minutes: tally.judged() for minutes, tally in tallies.items()}))


if __name__ == '__main__':
    command, *arguments = sys.argv[1:]
    {'make': make, 'judge': judge}[command](*arguments)
