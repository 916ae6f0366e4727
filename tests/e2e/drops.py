#!/usr/bin/python3
"""drops.py FILE [--liar | CORPUS]: a pcap file of sFlow v5 with events of discarded packets and the counters of the ports,
of two switches: one tells of all its ports by one data source, as hsflowd does, the other by port. Some events are
not sent, some lost, some come twice or late. Prints what is true of it, a line each: by, key, packets; and "account",
agent, port, counted, explained, not sent, lost. Packed here from the structures that sFlow.org publishes. With CORPUS
also what fuzzing begins with, as sflow_records.py. With --liar there is a third switch, whose numbers jump and whose
counters go back, and which speaks in the first one's name, too; what is true of the two honest ones stays so."""
import collections
import socket
import struct
import sys

START_S = 1700000040  # a full minute
TRUTH = collections.Counter()


def words(*values):
    return struct.pack('!%dI' % len(values), *values)


def opaque(octets):
    return words(len(octets)) + octets + b'\0' * (-len(octets) % 4)


def record(number, body):
    return words(number, len(body)) + body


def ip4(text):
    return socket.inet_pton(socket.AF_INET, text)


def frame(src, dst):
    packet = struct.pack('!BBHHHBBH', 0x45, 0, 500, 0, 0, 64, 17, 0) + ip4(src) + ip4(dst)
    octets = bytes(6) + b'\x02\0' + ip4(src) + b'\x08\0' + packet + struct.pack('!HHHH', 1000, 53, 480, 0)
    return record(1, words(1, 518, 4) + opaque(octets))


class Switch:
    def __init__(self, address):
        self.address, self.datagrams, self.numbers, self.out = address, 0, collections.Counter(), []
        self.drops = collections.Counter()
        self.account = collections.defaultdict(collections.Counter)

    def send(self, second, *samples):
        self.datagrams += 1
        self.out.append((second, words(5, 1) + ip4(self.address) +
                         words(0, self.datagrams, int(second * 1000) + 5000, len(samples)) + b''.join(samples)))

    def counters(self, second, port, discards):
        interface = struct.pack('!IIQIIQ6IQ6I', port, 6, 10**9, 1, 3, 0, 0, 0, 0, discards[0], 0, 0, 0, 0, 0, 0,
                                discards[1], 0, 0)
        body = words(second + 1, port, 1, 1, len(interface)) + interface
        self.send(second, words(2, len(body)) + body)
        self.account[port]['counted'] = sum(discards)

    def event(self, second, source, port, reason, src, dst, told=True, further=(), out=0):
        """One event in a datagram of its own, or none that arrives."""
        self.numbers[source] += 1
        records = [frame(src, dst)] + [record(*r) for r in further]
        body = words(self.numbers[source], 0, source, self.drops[source], port, out, reason, len(records))
        body += b''.join(records)
        place = port or out
        if not told:
            self.account[source]['lost'] += 1
            self.datagrams += 1
            return
        self.send(second, words(5, len(body)) + body)
        self.account[place]['explained'] += 1
        for key in ('src', src), ('dst', dst), ('reason', reason):
            TRUTH[key] += 1

    def not_sent(self, source, n):
        self.drops[source] += n
        self.account[source]['not_sent'] += n


def trap(group, name):
    return 1041, opaque(group) + opaque(name)


def lies():
    """Of 192.0.2.25, by source address and in the name of 192.0.2.23."""
    c, forged = Switch('192.0.2.25'), Switch('192.0.2.23')
    for second, discards in (0, 40), (60, 49), (120, 5), (180, 2**32 - 1), (240, 0):
        c.counters(second, 1, (discards, discards))
    for n, drops in enumerate((0, 2**31 - 1, 3, 2**32 - 1, 0, 70000, 1, 2**31)):
        c.drops[1] = drops
        c.numbers[1] += (0, 1, 2**31, 5, 2**32 - 2**31)[n % 5]
        c.numbers[1] %= 2**32 - 1
        c.event(10 + n * 20, 1, 1, 259, '10.9.0.1', '10.9.0.9')
    for n in range(200):
        forged.drops[0] += 1000
        forged.event(20 + n / 4, 0, 1, 259, '10.9.0.1', '10.9.0.9')
    forged.counters(121, 1, (2**31, 2**31))
    return c.out + forged.out


def main():
    a, b = Switch('192.0.2.23'), Switch('192.0.2.24')
    for port in 1, 2, 3:
        a.counters(0, port, (0, 0))
    b.counters(0, 5, (0, 0))
    for n in range(40):
        a.event(1 + n / 2, 0, 1, 259, '10.0.0.1', '10.0.0.9', told=n not in (7, 20, 21))
        if n in (5, 30):
            a.not_sent(0, 3 + n // 30)
    for n in range(10):
        a.event(30 + n, 0, 1, 258, '10.0.0.2', '10.0.0.9', further=[trap(b'acl_drops', b'ingress_flow_action_drop')])
    for n in range(5):
        a.event(45 + n, 0, 0, 329, '10.0.0.1', '10.0.0.7', out=2,
                further=[(1038, opaque(b'udp_v4_rcv')), (1042, opaque(b'UDP_CSUM'))])
    a.out[5], a.out[6] = a.out[6], a.out[5]  # one overtakes another
    for i in 30, 12:  # two come again
        a.out.insert(i + 1, a.out[i])
    for n in range(6):
        b.event(20 + n, 5, 5, 33, '10.0.1.%d' % n, '10.0.0.9')  # a number that lacks its last digit
        if n == 3:
            b.not_sent(5, 4)
    for n in range(1500):  # more than an agent has rows in a minute
        b.event(65 + n / 50, 5, 5, 257, '10.1.%d.%d' % divmod(n, 250), '10.0.0.8')
    TRUTH[('reason', 332)] = TRUTH.pop(('reason', 33))
    a.counters(120, 1, (49, 11))
    a.counters(120, 2, (0, 5))
    a.counters(120, 3, (4, 0))
    b.counters(120, 5, (1512, 0))

    honest, liar = '127.0.0.1', '127.0.0.9'
    datagrams = [(honest, *d) for d in a.out + b.out]
    if sys.argv[2:] == ['--liar']:
        datagrams += [(liar, *d) for d in lies()]
    with open(sys.argv[1], 'wb') as out:
        out.write(struct.pack('!IHHIIII', 0xa1b2c3d4, 2, 4, 0, 0, 65535, 101))
        for source, second, datagram in datagrams:
            udp = struct.pack('!HHHH', 40000, 6343, 8 + len(datagram), 0) + datagram
            ip = struct.pack('!BBHHHBBH', 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0) + ip4(source) + ip4('127.0.0.1') + udp
            out.write(struct.pack('!IIII', START_S + int(second), int(second % 1 * 10**6), len(ip), len(ip)) + ip)
    for (by, key), n in TRUTH.items():
        print(by, key, n)
    for s in a, b:
        for port, of in s.account.items():
            print('account', s.address, port, of['counted'], of['explained'], of['not_sent'], of['lost'])
    if len(sys.argv) > 2 and sys.argv[2] != '--liar':
        some = [d for s in (a, b) for _, d in s.out][::100]
        with open(sys.argv[2] + '/sflow_input/drops', 'wb') as out:
            out.write(b''.join(struct.pack('!H', len(d)) + d for d in some))
        with open(sys.argv[2] + '/sflow/drops', 'wb') as out:
            out.write(some[1])


main()
