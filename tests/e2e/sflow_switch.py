# sflow_switch.py STATE: a switch of another make, for snmpd's pass_persist: SFLOW-MIB 1.3 with three receivers and the
# samplers of four ports, by its rules; and what it makes of them, datagrams of sFlow version 5 with samples and counters.
# Written from the MIB and from the specification of sFlow. STATE is a file into which it says what is set, as JSON.
import json, os, random, socket, struct, sys, threading, time

ROOT = (1, 3, 6, 1, 4, 1, 14706, 1, 1)
SOURCE = (11, 1, 3, 6, 1, 2, 1, 2, 2, 1, 1)
PORTS, RECEIVERS, FRAMES_A_SECOND, TURN_S = 4, 3, 3000, 0.25
TALKERS = [8, 5, 3, 2, 1, 1]  # of each port, their parts
FREE = {"owner": "", "until": 0, "size": 1400, "type": 1, "address": b"\0\0\0\0", "port": 6343, "version": 5}
lock = threading.Lock()
receivers = [dict(FREE) for _ in range(RECEIVERS)]
samplers = [{"receiver": 0, "rate": 0, "header": 128, "cp_receiver": 0, "interval": 0} for _ in range(PORTS)]
RECEIVER_COLUMNS = {2: "owner", 3: "until", 4: "size", 5: "type", 6: "address", 7: "port", 8: "version"}
SAMPLER_COLUMNS = {(5, 3): "receiver", (5, 4): "rate", (5, 5): "header", (6, 3): "cp_receiver", (6, 4): "interval"}


def left_s(receiver):
    return max(0, round(receiver["until"] - time.monotonic())) if receiver["owner"] else 0


def release(number):
    receivers[number] = dict(FREE)
    for s in samplers:
        if s["receiver"] == number + 1:
            s["receiver"] = s["rate"] = 0
        if s["cp_receiver"] == number + 1:
            s["cp_receiver"] = s["interval"] = 0


def places():  # each object's name behind the root, and where it is
    for column, key in RECEIVER_COLUMNS.items():
        for r in range(RECEIVERS):
            yield (4, 1, column, r + 1), receivers[r], key
    for (table, column), key in SAMPLER_COLUMNS.items():
        for p in range(PORTS):
            yield (table, 1, column) + SOURCE + (p + 1, 1), samplers[p], key


def value(where, key):
    if key == "owner":
        return "string", where[key]
    if key == "address":
        return "octet", " ".join(f"{octet:02X}" for octet in where[key])
    return "integer", str(left_s(where) if key == "until" else where[key])


def take(where, key, kind, text):  # as the MIB's DESCRIPTIONs have it
    if key == "owner":
        owner = text.strip('"')
        if owner and where["owner"] and where["owner"] != owner:
            return "wrong-value"
        if not owner:
            release(receivers.index(where))
        else:
            where["owner"] = owner
            where["until"] = max(where["until"], time.monotonic() + 1)
    elif key == "until":
        if not where["owner"]:
            return "inconsistent-value"
        where["until"] = time.monotonic() + int(text)
    elif key == "address":
        octets = text.strip('"')
        where[key] = bytes.fromhex(octets.replace(" ", "")) if kind == "octet" else octets.encode("latin-1")
    elif key in ("receiver", "cp_receiver"):
        number = int(text)
        if where[key] not in (0, number) and number != 0 or number and not receivers[number - 1]["owner"]:
            return "wrong-value"
        where[key] = number
    else:
        where[key] = int(text)
    return "DONE"


def say_state():
    state = {"owners": [r["owner"] for r in receivers], "to": [socket.inet_ntoa(r["address"]) if len(r["address"]) == 4 else "" for r in receivers],
             "ports": [r["port"] for r in receivers], "samplers": samplers}
    with open(sys.argv[1] + ".new", "w") as f:
        json.dump(state, f)
    os.replace(sys.argv[1] + ".new", sys.argv[1])


# ---- what it sends ----

class Port:
    def __init__(self, number):
        self.number, self.frames, self.octets, self.samples, self.counters = number, 0, 0, 0, 0
        self.to_go, self.counted_at = 1, 0.0


def frame(port, talker):
    length = 200 + 200 * talker
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, length - 18, 0, 0, 64, 17, 0, bytes([10, 0, port, talker + 1]), bytes([10, 9, 9, 9]))
    return length, b"\2\0\0\0\0\1\2\0\0\0" + bytes([port, talker]) + b"\x08\0" + ip + struct.pack(">HHHH", 4000, 443, 8, 0)


def flow_sample(port, rate, length, header):
    raw = struct.pack(">IIII", 1, length, 4, len(header)) + header + b"\0" * (-len(header) % 4)
    body = struct.pack(">IIIIIIII", port.samples, port.number, rate, port.frames & 0xffffffff, 0, port.number, 9, 1)
    body += struct.pack(">II", 1, len(raw)) + raw
    return struct.pack(">II", 1, len(body)) + body


def counter_sample(port):
    generic = struct.pack(">IIQIIQIIIIIIQIIIIII", port.number, 6, 10**9, 1, 3, port.octets, port.frames & 0xffffffff, 0, 0, 0, 0, 0,
                          0, 0, 0, 0, 0, 0, 0)
    body = struct.pack(">III", port.counters, port.number, 1) + struct.pack(">II", 1, len(generic)) + generic
    return struct.pack(">II", 2, len(body)) + body


def pass_frames(port, sampler, samples):
    for _ in range(int(FRAMES_A_SECOND * TURN_S)):
        talker = random.choices(range(len(TALKERS)), TALKERS)[0]
        length, header = frame(port.number, talker)
        port.frames += 1
        port.octets += length
        if not sampler["rate"]:
            continue
        port.to_go -= 1
        if port.to_go <= 0:
            port.to_go = random.randint(1, 2 * sampler["rate"] - 1)
            port.samples += 1
            samples.append(flow_sample(port, sampler["rate"], length, header))


def send_for_ever():
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    ports, sequence, begun = [Port(p + 1) for p in range(PORTS)], 0, time.monotonic()
    while True:
        time.sleep(TURN_S)
        with lock:
            for number, r in enumerate(receivers):
                if r["owner"] and time.monotonic() > r["until"]:
                    release(number)
            copy = [dict(s) for s in samplers]
            to = [(socket.inet_ntoa(r["address"]), r["port"]) if r["owner"] and len(r["address"]) == 4 else None for r in receivers]
            say_state()
        for port, sampler in zip(ports, copy):
            samples, now = [], time.monotonic()
            pass_frames(port, sampler, samples)
            if sampler["interval"] and now >= port.counted_at + min(5, sampler["interval"]):
                port.counted_at, port.counters = now, port.counters + 1
                samples.append(counter_sample(port))
            receiver = to[sampler["receiver"] - 1] if sampler["receiver"] else None
            for at in range(0, len(samples), 6):
                some = samples[at:at + 6]
                sequence += 1
                head = struct.pack(">II4sIIII", 5, 1, bytes([127, 0, 0, 1]), 0, sequence, int(1000 * (now - begun)) + 1000, len(some))
                if receiver:
                    out.sendto(head + b"".join(some), receiver)


# ---- what it answers ----

def answer(name, where, key):
    print("." + ".".join(str(n) for n in ROOT + name), *value(where, key), sep="\n")


def main():
    threading.Thread(target=send_for_ever, daemon=True).start()
    while line := sys.stdin.readline():
        command = line.strip()
        if command == "PING":
            print("PONG")
        elif command in ("get", "getnext", "set"):
            asked = tuple(int(n) for n in sys.stdin.readline().strip().strip(".").split("."))
            with lock:
                objects = sorted(places(), key=lambda o: o[0])
                if command == "getnext":
                    found = next((o for o in objects if ROOT + o[0] > asked), None)
                else:
                    found = next((o for o in objects if ROOT + o[0] == asked), None)
                if command == "set":
                    kind, text = sys.stdin.readline().strip().split(" ", 1)
                    print(take(found[1], found[2], kind, text) if found else "not-writable")
                elif found:
                    answer(*found)
                else:
                    print("NONE")
        sys.stdout.flush()


main()
