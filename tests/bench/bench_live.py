#!/usr/bin/env python3
"""bench_live.py PAGE STORE SECONDS: looks at the page's data once a second, and tells how old it is.

What counters had reached at a time is read from the store afterwards: of each port the newest counters that had been
received by then, of all ports the oldest of these.
"""
import datetime
import json
import sqlite3
import statistics
import sys
import time
import urllib.request


def ask(page, what):
    with urllib.request.urlopen(page + "api/v1/" + what, timeout=30) as answer:
        return json.load(answer)


def look(page):
    """The end of the picture, and when it could be drawn, in seconds since 1970."""
    moment = ask(page, "moment?last=5m")["moment"]
    end = ask(page, "talkers?top=5&moment=" + moment)["to"]
    return datetime.datetime.fromisoformat(end.replace("Z", "+00:00")).timestamp(), time.time()


def reached(counters, at):
    newest = {}
    for port, seen, received in counters:
        if received <= at:
            newest[port] = max(seen, newest.get(port, 0))
    return min(newest.values())


def figures(name, values):
    return {name + "_median": round(statistics.median(values), 2), name + "_longest": round(max(values), 2)}


def main():
    page, store, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3])
    looks, took = [], []
    for _ in range(seconds):
        began = time.time()
        looks.append(look(page))
        took.append(looks[-1][1] - began)
        time.sleep(max(0.0, began + 1 - time.time()))
    time.sleep(2)  # until what was received is stored
    rows = sqlite3.connect(f"file:{store}?mode=ro", uri=True).execute(
        "SELECT if_index, time_us, received_us FROM counter JOIN (SELECT DISTINCT agent AS a, if_index AS i FROM port"
        " WHERE oper_status = 1 AND edge) ON agent = a AND if_index = i")
    counters = [(port, seen / 1e6, received / 1e6) for port, seen, received in rows]
    until = [at for _, at in looks[1:]]
    drawn = [reached(counters, at) - end for end, at in looks]
    before_next = [reached(counters, at) - end for (end, _), at in zip(looks, until)]
    print(json.dumps({"bench": "live", "looks": len(looks), **figures("behind_counters_s", drawn),
                      **figures("before_the_next_s", before_next),
                      **figures("behind_clock_s", [at - end for end, at in looks]), **figures("look_s", took)}))


main()
