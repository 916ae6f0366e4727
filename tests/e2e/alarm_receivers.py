"""A flood by sFlow in real time, and who is told of it, for check_alarm_receivers.sh.

alarm_receivers.py flood PORT SECONDS SOURCE DESTINATION
    Sends samples of 1 in 1000 of 80,000 frames a second from one address to another, for so long, and what a port counts of them.
alarm_receivers.py hook FILE
    Prints its port and serves POSTs: appends each body to FILE as a line. A path that begins with /STATUS is answered so;
    /hang is not answered.
"""
import http.server
import socketserver
import sys
import threading
import time
import os

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'collector', 'web'))
import sflow_wire  # noqa: E402

FRAMES_A_S, RATE, STEP_S = 80000, 1000, 0.1
LOAD = FRAMES_A_S * 1418 * 8 / 1e9


def play(port, seconds, header):
    switch = sflow_wire.Switch(('127.0.0.1', port), '192.0.2.9', 1, lambda port: LOAD, rate=RATE)
    # One process goes on where another stopped: numbers and counters follow the clock.
    began = time.time()
    switch.datagrams = switch.serial[1] = int(began * 200) % 4000000
    switch.tell_counters(began % 100000)
    while time.time() < began + seconds:
        for _ in range(int(FRAMES_A_S / RATE * STEP_S)):
            switch.tell_sample(1, header)
        switch.tell_counters(time.time() % 100000)
        time.sleep(STEP_S)


class Hook(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers['Content-Length']))
        if self.path == '/hang':
            threading.Event().wait(60)
        status = int(self.path[1:4]) if self.path[1:4].isdigit() else 204
        if status < 300:
            with open(sys.argv[2], 'ab') as out:
                out.write(body + b'\n')
        self.send_response(status)
        self.end_headers()

    def log_message(self, *args):
        pass


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True


if sys.argv[1] == 'hook':
    server = Server(('127.0.0.1', 0), Hook)
    print(server.server_address[1], flush=True)
    server.serve_forever()
else:
    play(int(sys.argv[2]), float(sys.argv[3]), sflow_wire.frame(sys.argv[4], sys.argv[5], 40000, 80))
