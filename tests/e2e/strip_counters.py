"""strip_counters.py LISTEN TO: passes sFlow v5 datagrams on from one UDP port of loopback to another, without their
counter samples, as an agent would send them that has none. Written from the specification; shares nothing with agent
or collector."""
import socket
import struct
import sys

COUNTERS, EXPANDED_COUNTERS = 2, 4


def stripped(datagram):
    n_address = {1: 4, 2: 16}[struct.unpack_from('!I', datagram, 4)[0]]
    at = 8 + n_address + 12
    n, = struct.unpack_from('!I', datagram, at)
    head, at, samples = datagram[:at], at + 4, []
    for _ in range(n):
        kind, octets = struct.unpack_from('!II', datagram, at)
        if kind not in (COUNTERS, EXPANDED_COUNTERS):
            samples.append(datagram[at:at + 8 + octets])
        at += 8 + octets
    return head + struct.pack('!I', len(samples)) + b''.join(samples)


def main(listen, to):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as here:
        here.bind(('127.0.0.1', listen))
        print('ready', flush=True)
        while True:
            here.sendto(stripped(here.recv(65535)), ('127.0.0.1', to))


main(*(int(port) for port in sys.argv[1:]))
