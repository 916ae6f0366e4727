#!/usr/bin/python3
"""sflow_records.py FILE [CORPUS]: a pcap file of sFlow v5 datagrams, one sample each, of every kind of record that says
something of a frame or a port. Packed here from the structures that sFlow.org publishes. With CORPUS also what
fuzzing begins with (tests/fuzz/corpus): all of them in one datagram, in CORPUS/sflow and CORPUS/sflow_input."""
import socket
import struct
import sys

RATE, PORT = 100, 7
MAC1, MAC2 = bytes.fromhex('02000a000001'), bytes.fromhex('02000a000002')
START_S = 1700000000


def words(*values):
    return struct.pack('!%dI' % len(values), *values)


def record(number, body):
    return words(number, len(body)) + body + b'\0' * (-len(body) % 4)


def opaque(octets):
    return words(len(octets)) + octets + b'\0' * (-len(octets) % 4)


def ip4(text):
    return socket.inet_pton(socket.AF_INET, text)


def ip6(text):
    return socket.inet_pton(socket.AF_INET6, text)


def header(protocol, length, octets, stripped=0):
    return record(1, words(protocol, length, stripped) + opaque(octets))


def ethernet(length, kind):
    return record(2, words(length) + MAC1 + b'\0\0' + MAC2 + b'\0\0' + words(kind))


def sampled4(length, protocol, src, dst, sport, dport, flags, tos):
    return record(3, words(length, protocol) + ip4(src) + ip4(dst) + words(sport, dport, flags, tos))


def sampled6(length, protocol, src, dst, sport, dport, flags, priority):
    return record(4, words(length, protocol) + ip6(src) + ip6(dst) + words(sport, dport, flags, priority))


def switch(vlan_in, vlan_out):
    return record(1001, words(vlan_in, 0, vlan_out, 0))


def packet4(length, protocol, src, dst, rest):
    return struct.pack('!BBHHHBBH', 0x45, 0, length, 0, 0, 64, protocol, 0) + ip4(src) + ip4(dst) + rest


def packet6(length, protocol, src, dst, rest):
    return struct.pack('!IHBB', 6 << 28, length - 40, protocol, 64) + ip6(src) + ip6(dst) + rest


def gateway(hop, source, *path):
    """extended_gateway: path of (kind, numbers)."""
    segments = b''.join(words(kind, len(numbers), *numbers) for kind, numbers in path)
    return record(1003, hop + words(64500, source, 64502, len(path)) + segments + words(1, 0xfbf40064, 100))


SET, SEQUENCE = 1, 2
HOP4, HOP6 = words(1) + ip4('10.0.0.1'), words(2) + ip6('2001:db8::9')
TCP = struct.pack('!HHIIBB', 40001, 443, 0, 0, 0x50, 2)
UDP = struct.pack('!HHHH', 40002, 53, 0, 0)
FRAME = MAC2 + MAC1 + b'\x08\x00' + packet4(986, 6, '10.9.0.1', '10.9.0.2', TCP)
TAGGED = FRAME[:12] + b'\x81\x00\x00\x2a' + FRAME[12:]

FLOWS = [
    [header(1, 1004, FRAME, 4), gateway(HOP4, 64501, (SEQUENCE, (64503, 64504)))],
    [header(1, 1004, FRAME, 4), switch(17, 18), gateway(HOP6, 64501, (SEQUENCE, (64503,)), (SEQUENCE, (64505, 64504)))],
    [gateway(HOP4, 4200000001, (SEQUENCE, (64503, 64506)), (SET, (64507,))), header(1, 1008, TAGGED, 4), switch(17, 18)],
    [gateway(HOP4, 64501, (SEQUENCE, (64503, 64506)), (SET, (64507, 64508))), header(1, 1008, TAGGED, 4), record(1012, words(2, 0x88a80065, 0x810000c8))],
    [gateway(HOP4, 64501), switch(19, 0), header(11, 1000, packet4(1000, 17, '10.1.0.1', '10.1.0.2', UDP))],
    [header(11, 1018, packet4(1000, 6, '10.1.0.3', '10.1.0.4', TCP))],
    [header(12, 40, packet6(40, 59, '2001:db8::1', '2001:db8::2', b''))],
    [header(12, 1400, packet6(1400, 6, '2001:db8::3', '2001:db8::4', TCP))],
    [ethernet(1518, 0x88f7)],
    [ethernet(64, 0x0800), sampled4(40, 6, '10.2.0.1', '10.2.0.2', 40003, 80, 2, 8)],
    [sampled4(576, 17, '10.2.0.3', '10.2.0.4', 40004, 123, 0, 0), switch(20, 20)],
    [sampled4(84, 1, '10.2.0.5', '10.2.0.6', 0, 0, 0, 0)],
    [ethernet(90, 0x86dd), sampled6(72, 58, '2001:db8::5', '2001:db8::6', 0, 0, 0, 0)],
    [sampled6(1280, 6, '2001:db8::7', '2001:db8::8', 40005, 25, 0x12, 0)],
    # with records that no report uses, before and behind
    [record(1002, words(1) + ip4('10.0.0.1') + words(24, 24)), header(1, 1004, FRAME, 4),
     record(1003, words(1) + ip4('10.0.0.1') + words(64500, 64501, 64502, 1, 2, 2, 64503, 64504, 0, 100)),
     record(1036, words(3)), record(1039, words(1500)), record(1040, words(20000)), record(1043, words(1, 2)),
     record(1030, words(5001)), record(4242 << 12 | 1, words(1))],
]

COUNTERS = [
    ('swp7', []),
    ('uplink to the roof', [record(7, MAC1 + b'\0\0' + MAC2 + b'\0\0' + words(900, 0x01020304) + words(*range(8)))]),
    (None, []),
    ('x\x1b[31m', [record(5, words(42) + struct.pack('!Q', 1) + words(2, 3, 4, 5)),
                   record(1001, words(1, 2, 3) + struct.pack('!QQ', 4, 5))]),
]


def flow(number, records):
    body = words(number, PORT, RATE, number * RATE + 3, 0, PORT, 9, len(records)) + b''.join(records)
    return words(1, len(body)) + body


def counters(number, name, records):
    interface = struct.pack('!IIQIIQ6IQ6I', PORT + number, 6, 10**9, 1, 3, 1000 * number, 10 * number, 0, 0, 0,
                            0xffffffff, 0, 0, 0, 0, 0, 0, 0, 0)
    errors = words(1 * number, 2 * number, 0, 0, 0, 0, 0, 0, 0, 0, 3 * number, 0, 0xffffffff)
    all_records = [record(1, interface), record(2, errors)] + records
    if name is not None:
        all_records.append(record(1005, opaque(name.encode())))
    body = words(number, PORT + number, len(all_records)) + b''.join(all_records)
    return words(2, len(body)) + body


def main():
    samples = [flow(n + 1, records) for n, records in enumerate(FLOWS)]
    samples += [counters(n + 1, *c) for n, c in enumerate(COUNTERS)]
    with open(sys.argv[1], 'wb') as out:
        out.write(struct.pack('!IHHIIII', 0xa1b2c3d4, 2, 4, 0, 0, 65535, 101))
        for n, sample in enumerate(samples):
            datagram = words(5, 1) + ip4('192.0.2.22') + words(0, n + 1, 10000 + n, 1) + sample
            udp = struct.pack('!HHHH', 40000, 6343, 8 + len(datagram), 0) + datagram
            ip = packet4(20 + len(udp), 17, '127.0.0.1', '127.0.0.1', udp)
            out.write(struct.pack('!IIII', START_S + n, 0, len(ip), len(ip)) + ip)
    if len(sys.argv) > 2:
        datagram = words(5, 1) + ip4('192.0.2.22') + words(0, 1, 10000, len(samples)) + b''.join(samples)
        with open(sys.argv[2] + '/sflow/records', 'wb') as out:
            out.write(datagram)
        with open(sys.argv[2] + '/sflow_input/records', 'wb') as out:
            out.write(struct.pack('!H', len(datagram)) + datagram)


main()
