#!/usr/bin/python3
"""sflow_directions.py FILE TRUTH SEEDS: sFlow v5 of switches whose ports sample on ingress, on egress, or both ways, as a
pcap file, and what passed in truth. There are SEEDS switches of each kind, with four ports; switch N of kind K (0, 1, 2)
is 10.K.0.N. Hosts talk across its ports, some of them out of the port where they came in. TRUTH has lines
"AGENT total FRAMES" for what lists must count, and "AGENT SOURCE FRAMES" for each talker."""
import bisect
import itertools
import random
import socket
import struct
import sys

RATE, PORTS, START_S, OCTETS, PER_DATAGRAM = 20, 4, 1700000000, 200, 6
INGRESS, EGRESS, BOTH = range(3)


def words(*values):
    return struct.pack('!%dI' % len(values), *values)


def frame(port, host):
    """Of a host at a port; the address of the other side does not matter."""
    mac = bytes((2, 0, 0, 0, port, host))
    ip = struct.pack('!BBHHHBBH', 0x45, 0, 182, 0, 0, 64, 17, 0) + bytes((10, 99, port, host)) + bytes((10, 98, 0, 1))
    return b'\x02\0\0\0\0\xff' + mac + b'\x08\0' + ip + b'\0' * 10


def counters(number, port, came, left):
    interface = struct.pack('!IIQIIQ6IQ6I', port, 6, 10**9, 1, 3, OCTETS * came, came, 0, 0, 0, 0, 0,
                            OCTETS * left, left, 0, 0, 0, 0, 0)
    record = words(1, len(interface)) + interface
    body = words(number, port, 1) + record
    return words(2, len(body)) + body


def flow(number, pool, source, came, left, octets):
    header = words(1, OCTETS, 4, len(octets)) + octets + b'\0' * (-len(octets) % 4)
    body = words(number, source, RATE, pool, 0, came, left, 1) + words(1, len(header)) + header
    return words(1, len(body)) + body


def sampled(chance, flows):
    """One of RATE frames at random, as (place among them, flow): where flows lie among each other does not matter."""
    ends = list(itertools.accumulate(f[3] for f in flows))
    at = -1
    while ends:
        at += 1 + int(chance.expovariate(-LOG))
        if at >= ends[-1]:
            return
        yield at + 1, flows[bisect.bisect_right(ends, at)]


LOG = __import__('math').log(1 - 1 / RATE)


def switch(kind, chance, truth, name):
    """The samples of the middle minutes and what each port counted. A talker has a port where it comes in."""
    flows = []
    for came in range(1, PORTS + 1):
        for host in range(1, 7):
            left = came if host == 6 else chance.choice([p for p in range(1, PORTS + 1) if p != came])
            flows.append((came, left, host, int(chance.paretovariate(1.1) * 150) % 9000 + 100))
    came = {p: sum(f[3] for f in flows if f[0] == p) for p in range(1, PORTS + 1)}
    left = {p: sum(f[3] for f in flows if f[1] == p) for p in range(1, PORTS + 1)}
    print(name, 'total', sum(came.values()), file=truth)
    for f in flows:
        print(name, '10.99.%d.%d' % (f[0], f[2]), f[3], file=truth)
    samples = []
    for port in range(1, PORTS + 1):
        ways = ([0] if kind != EGRESS else []) + ([1] if kind != INGRESS else [])
        taken = [s for way in ways for s in sampled(chance, [f for f in flows if f[way] == port])]
        chance.shuffle(taken)
        pool = 0
        for number, (_, f) in enumerate(taken):
            pool += 1 + int(chance.expovariate(-LOG))
            samples.append((number / len(taken), number + 1, pool, port, f))
    samples.sort(key=lambda s: s[0])
    return came, left, [(at, flow(n, pool, port, f[0], f[1], frame(f[0], f[2]))) for at, n, pool, port, f in samples]


def main():
    chance = random.Random(2)
    datagrams = []
    with open(sys.argv[2], 'w', encoding='ascii') as truth:
        for kind in (INGRESS, EGRESS, BOTH):
            for seed in range(1, int(sys.argv[3]) + 1):
                name = '10.%d.0.%d' % (kind, seed)
                came, left, samples = switch(kind, chance, truth, name)
                sent = itertools.count(1)
                tell = lambda at, some: datagrams.append((at, words(5, 1) + socket.inet_aton(name) + words(
                    0, next(sent), int(1000 * (at + 1000)), len(some)) + b''.join(some)))
               
                tell(0, [counters(1, p, 1000, 1000) for p in came])
                for i in range(0, len(samples), PER_DATAGRAM):
                    tell(60 * (0.1 + 0.8 * samples[i][0]), [s for _, s in samples[i:i + PER_DATAGRAM]])
                tell(60, [counters(2, p, 1000 + came[p], 1000 + left[p]) for p in came])
    datagrams.sort(key=lambda d: d[0])
    with open(sys.argv[1], 'wb') as out:
        out.write(struct.pack('!IHHIIII', 0xa1b2c3d4, 2, 4, 0, 0, 65535, 101))
        for at, datagram in datagrams:
            udp = struct.pack('!HHHH', 40000, 6343, 8 + len(datagram), 0) + datagram
            ip = struct.pack('!BBHHHBBH', 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0) + b'\x7f\0\0\1' * 2 + udp
            out.write(struct.pack('!IIII', START_S + int(at), int(at % 1 * 1e6), len(ip), len(ip)) + ip)


main()
