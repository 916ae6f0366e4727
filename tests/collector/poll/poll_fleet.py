"""The switches of check_poll_fleet.sh, on loopback; shares nothing with the collector.

poll_fleet.py answer PORT LOG
    Answers SNMPv2c at every address 127.1.x.y as the switch of that number would, and notes in LOG who was asked that is
    none of them. Every tenth says nothing; of the first ones each has a vice of its own (VICES).
poll_fleet.py send PORT AGENTS SECONDS EASE-PORT
    Sends sFlow of so many switches, one datagram a second each, with two samples and neither names nor counters; and of
    another one at 127.2.0.1. Those of EASE send notifications of their port's state instead, two of them (BOTH) beside.
    Prints how many samples it sent.
"""
import os
import socket
import struct
import sys
import time

VICES = {1: 'octets', 2: 'million rows', 3: 'other rows', 4: 'other request', 5: 'other address', 6: 'error',
         7: 'other types', 8: 'late', 9: 'cut off'}
IF_INDEX = 7
IP_PKTINFO = 8  # linux/in.h
RATE = 100


def address(number):
    return f'127.1.{number // 250}.{number % 250 + 1}'


def from_address(ip):
    return [(socket.IPPROTO_IP, IP_PKTINFO, struct.pack('=i', 0) + ip + b'\0' * 4)]  # struct in_pktinfo


def number_of(ip):
    a, b, c, d = ip
    return 250 * c + d - 1 if (a, b) == (127, 1) else None


# ---- BER: RFC 3416 ----

def tlv(tag, body):
    n = len(body)
    return bytes([tag]) + (bytes([n]) if n < 128 else b'\x83' + n.to_bytes(3, 'big')) + body


def integer(value, tag=2):
    return tlv(tag, value.to_bytes(value.bit_length() // 8 + 1, 'big'))


def read(octets, at=0):
    """Tag, body, and where the next one begins."""
    tag, n = octets[at], octets[at + 1]
    at += 2
    if n >= 128:
        more = n - 128
        n, at = int.from_bytes(octets[at:at + more], 'big'), at + more
    return tag, octets[at:at + n], at + n


def names_of(octets):
    at, names = 0, []
    while at < len(octets):
        _, binding, at = read(octets, at)
        names.append(read(binding)[1])
    return names


# ---- LLDP-MIB: 802.1AB ----

# Local port 3 is the port. 11 and 12 name each other, so do two of EASE, one of it and one of sFlow, and two that send both;
# 27 is two of EASE at one address, and 28 names it in vain; what 13 says of 11 is not so; 15 has rows without end.
LOCAL_PORT = 3
NEIGHBOURS = {11: 12, 12: 11, 13: 11, 21: 22, 22: 21, 23: 24, 24: 23, 25: 26, 26: 25, 27: 28, 28: 27}
EASE, BOTH = {21, 22, 23, 25, 26, 27, 28}, {25, 26}
LOOPS = 15
LLDP = b'\x28\xc4\x62\x01\x01\x02\x01'


def chassis(number):
    return b'\x02\0\0\0' + number.to_bytes(2, 'big')


def remote_rows(number):
    """Name and value of each object of lldpRemTable that it has, in the order of names."""
    rows = []
    for column, what in ((5, chassis), (7, lambda n: b'e%d' % n)):
        if number in NEIGHBOURS:
            rows.append((LLDP + bytes([4, 1, 1, column, 0, LOCAL_PORT, 1]), tlv(4, what(NEIGHBOURS[number]))))
    return rows


def bulk(names, number, repetitions):
    if number == LOOPS:
        return [tlv(0x30, tlv(6, LLDP + bytes([4, 1, 1, column, 0, LOCAL_PORT, 1])) + tlv(4, b'again'))
                for _ in range(repetitions) for column in (5, 7)]
    bindings = []
    for _ in range(repetitions):
        for i, name in enumerate(names):
            later = [row for row in remote_rows(number) if row[0] > name]
            names[i], value = later[0] if later else (name, b'\x82\x00')  # endOfMibView
            bindings.append(tlv(0x30, tlv(6, names[i]) + value))
    return bindings


IF, IF_X = b'\x2b\x06\x01\x02\x01\x02\x02\x01', b'\x2b\x06\x01\x02\x01\x1f\x01\x01\x01'


def value_of(name, number, seconds):
    """Of an object of the switch of that number; each counts 1,000 frames of 100 octets a second, both ways."""
    instance = bytes([IF_INDEX])
    frames = int(1000 * seconds)
    if name == b'\x2b\x06\x01\x02\x01\x01\x03\x00':
        return integer(int(100 * seconds), 0x43)
    if name == b'\x2b\x06\x01\x02\x01\x01\x05\x00':
        return tlv(4, b'switch-%d' % number)
    if name == LLDP + b'\x03\x02\x00':
        return tlv(4, chassis(number))
    if name == LLDP + bytes([3, 7, 1, 3, LOCAL_PORT]):
        return tlv(4, b'e%d' % number)
    table = {
        IF_X + b'\x01': tlv(4, b'e%d' % number), IF_X + b'\x12': tlv(4, b'alias %d' % number),
        IF + b'\x02': tlv(4, b'Ethernet'), IF_X + b'\x0f': integer(1000, 0x42), IF + b'\x05': integer(10 ** 9, 0x42),
        IF + b'\x07': integer(1), IF + b'\x08': integer(1), IF_X + b'\x13': integer(0, 0x43),
        IF_X + b'\x06': integer(100 * frames, 0x46), IF_X + b'\x0a': integer(100 * frames, 0x46),
        IF_X + b'\x07': integer(frames, 0x46), IF_X + b'\x0b': integer(frames, 0x46),
        IF_X + b'\x08': integer(0, 0x46), IF_X + b'\x09': integer(0, 0x46),
        IF_X + b'\x0c': integer(0, 0x46), IF_X + b'\x0d': integer(0, 0x46)}
    for column in (b'\x0d', b'\x0e', b'\x13', b'\x14'):
        table[IF + column] = integer(0, 0x41)
    if name.endswith(instance) and name[:-1] in table:
        return table[name[:-1]]
    return b'\x81\x00'  # noSuchInstance


def answer_to(question, number, seconds):
    vice = VICES.get(number)
    if vice == 'octets':
        return os.urandom(200)
    _, message, _ = read(question)
    _, version, at = read(message)
    _, community, at = read(message, at)
    kind, pdu, _ = read(message, at)
    _, request, at = read(pdu)
    _, repetitions, at = read(pdu, read(pdu, at)[2])
    names = names_of(read(pdu, at)[1])
    error = 5 if vice == 'error' else 0
    bindings = [tlv(0x30, tlv(6, name) + value_of(name, number, seconds)) for name in names]
    if kind == 0xa5:  # GetBulkRequest
        bindings = bulk(names, number, int.from_bytes(repetitions, 'big'))
    if vice == 'million rows':  # as many as a datagram holds
        bindings = [tlv(0x30, tlv(6, IF + b'\x02' + bytes([0x81 + row // 128, row % 128])) + tlv(4, b'row'))
                    for row in range(2500)]
    elif vice == 'other rows':
        bindings.append(tlv(0x30, tlv(6, IF_X + b'\x01\x08') + tlv(4, b'not asked for')))
    elif vice == 'other types':
        bindings = [tlv(0x30, tlv(6, name) + tlv(4, b'\x1b[2J' + b'x' * 300)) for name in names]
    elif vice == 'other request':
        request = bytes([request[0] ^ 1]) + request[1:]
    body = tlv(2, request) + integer(error) + integer(0) + tlv(0x30, b''.join(bindings))
    whole = tlv(0x30, tlv(2, version) + tlv(4, community) + tlv(0xa2, body))
    return whole[:len(whole) // 2] if vice == 'cut off' else whole


def answer(port, log_path):
    began = time.monotonic() - 1000
    late = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as here, open(log_path, 'w') as log:
        here.setsockopt(socket.IPPROTO_IP, IP_PKTINFO, 1)
        here.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        here.bind(('0.0.0.0', port))
        here.settimeout(0.1)
        print('ready', flush=True)
        while True:
            while late and late[0][0] <= time.monotonic():
                here.sendmsg(*late.pop(0)[1])
            try:
                question, ancillary, _, asker = here.recvmsg(65535, 256)
            except socket.timeout:
                continue
            local = ancillary[0][2][8:12]  # struct in_pktinfo: where it was sent to
            number = number_of(local)
            if number is None:
                print(socket.inet_ntoa(local), file=log, flush=True)
                continue
            if number % 10 == 0:
                continue
            source = socket.inet_aton('127.3.0.1') if VICES.get(number) == 'other address' else local
            reply = answer_to(question, number, time.monotonic() - began)
            message = ([reply], from_address(source), 0, asker)
            if VICES.get(number) == 'late':
                late.append((time.monotonic() + 3, message))
            else:
                here.sendmsg(*message)


# ---- sFlow version 5 ----

def flow_sample(sequence, number):
    header = b'\x02\0\0\0\0\1\x02\0\0\0\0\2\x08\0' + bytes.fromhex('4500005200010000401100000a090001') + \
        b'\x0a\x09\0\2' + struct.pack('!HHHH', 5000, 6000, 62, 0)
    record = struct.pack('!IIIIII', 1, 16 + 44, 1, 100, 4, len(header)) + header.ljust(44, b'\0')
    sample = struct.pack('!8I', sequence, IF_INDEX, RATE, sequence * RATE + number % 7, 0, IF_INDEX, 1, 1) + record
    return struct.pack('!II', 1, len(sample)) + sample


# ---- EASE: EASE-SAMPLING-MIB ----

def port_state(number, agent=0):
    """SNMPv2-Trap-PDU of easePortState: ifName, ifAlias, at the edge."""
    ease = b'\x2b\x06\x01\x04\x01\xbf\x08\xce\x0f\xce\x0f\x01'
    name, alias = b'e%d' % number, b'alias %d' % number
    state = struct.pack('!BQQBBBBIB', 1, time.time_ns() // 1000, 10 ** 9, 3, 1, 1, 1, 0, len(name)) + name + bytes([len(alias)]) + alias
    bindings = ((b'\x2b\x06\x01\x02\x01\x01\x03\x00', integer(100, 0x43)),
                (b'\x2b\x06\x01\x06\x03\x01\x01\x04\x01\x00', tlv(6, ease + b'\x00\x03')),
                (ease + b'\x01\x01\x01\x00', tlv(4, b'\x0a\0\0\0\0\0' + bytes([agent, number]))),
                (ease + b'\x01\x01\x02\x00', integer(1, 0x42)),
                (ease + b'\x01\x03\x02\x01\x02' + bytes([IF_INDEX]), tlv(4, state)))
    pdu = integer(1) + integer(0) + integer(0) + tlv(0x30, b''.join(tlv(0x30, tlv(6, name) + value) for name, value in bindings))
    return tlv(0x30, integer(1) + tlv(4, b'seen') + tlv(0xa7, pdu))


def send(port, n_agents, seconds, ease_port):
    agents = [(n, address(n)) for n in range(n_agents)] + [(n_agents, '127.2.0.1')]
    sent, began = 0, time.monotonic()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        for second in range(seconds):
            for number, agent in [(n, 0) for n in EASE] + [(27, 1)] if second % 10 == 0 else []:
                out.sendmsg([port_state(number, agent)], from_address(socket.inet_aton(address(number))), 0, ('127.0.0.1', ease_port))
            for i, (number, ip) in enumerate(agents):
                if number in EASE - BOTH:
                    continue
                samples = [flow_sample(2 * second + k, number) for k in (1, 2)]
                out.sendmsg([struct.pack('!II', 5, 1) + socket.inet_aton(ip) +
                             struct.pack('!IIII', 0, second + 1, 60000 + 1000 * second, 2) + b''.join(samples)],
                            from_address(socket.inet_aton(ip)), 0, ('127.0.0.1', port))
                sent += 2
                behind = began + second + i / len(agents) - time.monotonic()
                if behind > 0.005:
                    time.sleep(behind)
    print(sent)


if __name__ == '__main__':
    if sys.argv[1] == 'answer':
        answer(int(sys.argv[2]), sys.argv[3])
    else:
        send(*(int(argument) for argument in sys.argv[2:]))
