# oldest_counter.py IFINDEX PORT OID SECONDS: sends 100 frames a second out of the interface, asks for its counter all 50 ms,
# and prints the longest time in seconds for which no new value came.
import socket, subprocess, sys, threading, time

frames = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
frames.bind((socket.if_indextoname(int(sys.argv[1])), 0))


def send():
    while True:  # until it is killed, with all of this
        frames.send(bytes(6) + b"\2\0\0\0\0\1\x88\xb5" + bytes(60))
        time.sleep(0.01)


threading.Thread(target=send, daemon=True).start()
last, since, worst = None, time.monotonic(), 0
end = since + float(sys.argv[4])
while time.monotonic() < end:
    now = subprocess.run(["snmpget", "-v2c", "-cdemo", "-Oqv", "127.0.0.1:" + sys.argv[2], sys.argv[3]],
                         capture_output=True, text=True, timeout=60).stdout
    worst = max(worst, time.monotonic() - since)
    if now != last:
        last, since = now, time.monotonic()
    time.sleep(0.05)
print(f"{worst:.2f}")
