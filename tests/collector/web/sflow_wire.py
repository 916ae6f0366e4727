"""A made-up switch of many ports that speaks sFlow v5 (sflow.org/sflow_version_5.txt), for tests of
scale: counters of every port, and samples of made-up frames. Used by check_page.py."""
import socket
import struct

MBIT = 1000000


def _ipv4(text):
    return socket.inet_aton(text)


def frame(src, dst, src_port, dst_port, vlan=None):
    """The first octets of a TCP frame; MAC addresses are made of the IP addresses."""
    tag = struct.pack('!HH', 0x8100, vlan) if vlan else b''
    ip = struct.pack('!BBHHHBBH4s4s', 0x45, 0, 1400, 0, 0, 64, 6, 0, _ipv4(src), _ipv4(dst))
    tcp = struct.pack('!HHIIBBHHH', src_port, dst_port, 0, 0, 0x50, 0x10, 0, 0, 0)
    return b'\x02\0' + _ipv4(dst) + b'\x02\0' + _ipv4(src) + tag + b'\x08\x00' + ip + tcp


def ip_frame(src, dst, protocol, payload=b''):
    """The same of any IP protocol."""
    ip = struct.pack('!BBHHHBBH4s4s', 0x45, 0, 1400, 0, 0, 64, protocol, 0, _ipv4(src), _ipv4(dst))
    return b'\x02\0' + _ipv4(dst) + b'\x02\0' + _ipv4(src) + b'\x08\x00' + ip + payload


def length_frame():
    """One with a length instead of a type, as spanning tree has it (IEEE 802.3, 3.2.6)."""
    return b'\x01\x80\xc2\0\0\0' + b'\x02\0\0\0\0\1' + struct.pack('!H', 39) + b'\x42\x42\x03' + b'\0' * 36


class Switch:
    """Ports 1 to n of 1 Gb/s. load: by port, the share received; errors, down: sets of ports; source: whose
    address it sends from."""

    def __init__(self, to, address, n_ports, load, errors=(), down=(), rate=1000, source='127.0.0.1'):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((source, 0))
        self.to, self.address, self.n_ports, self.rate = to, address, n_ports, rate
        self.load, self.errors, self.down = load, set(errors), set(down)
        self.datagrams = 0
        self.serial = {}  # of samples, by port
        self.seconds = 0

    def _send(self, samples):
        self.datagrams += 1
        head = struct.pack('!II4sIIII', 5, 1, _ipv4(self.address), 0, self.datagrams,
                           int(self.seconds * 1000), len(samples))
        self.socket.sendto(head + b''.join(samples), self.to)

    def _counters(self, port):
        octets = int(1000 * MBIT / 8 * self.load(port) * self.seconds)
        frames = octets // 1418
        bad = int(50 * self.seconds) if port in self.errors else 0
        received = struct.pack('!QIIIIII', octets, frames % 2**32, 7, 9, 0, bad, 0)
        sent = struct.pack('!QIIIIII', octets // 10, frames // 10, 7, 9, 0, 0, 0)
        status = 0 if port in self.down else 3
        record = struct.pack('!IIQII', port, 6, 1000 * MBIT, 1, status) + received + sent
        body = struct.pack('!IIIII', int(self.seconds) + 1, port, 1, 1, len(record)) + record
        return struct.pack('!II', 2, len(body)) + body

    def _sample(self, port, octets):
        serial = self.serial[port] = self.serial.get(port, 0) + 1
        raw = struct.pack('!IIII', 1, 1418, 4, len(octets)) + octets + b'\0' * (-len(octets) % 4)
        body = struct.pack('!IIIIIIII', serial, port, self.rate, serial * self.rate, 0, port, 0, 1)
        body += struct.pack('!II', 1, len(raw)) + raw
        return struct.pack('!II', 1, len(body)) + body

    def tell_counters(self, seconds):
        """Of all ports, as they stand after so many seconds."""
        self.seconds = seconds
        for first in range(1, self.n_ports + 1, 8):
            ports = range(first, min(first + 8, self.n_ports + 1))
            self._send([self._counters(port) for port in ports])

    def tell_sample(self, port, octets):
        self._send([self._sample(port, octets)])

    def lose_sample(self, port):
        """A datagram that was sent and never comes."""
        self.datagrams += 1
        self.serial[port] = self.serial.get(port, 0) + 1
