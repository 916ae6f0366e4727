#!/usr/bin/env python3
"""waits.py FILE...: waits without a limit, as far as a text shows them, one a line.

Shell: a loop that polls (it sleeps) and looks at no clock and no count; one that counts, but says nothing when it has
counted to its end (wait_for of tests/support says it); curl without --max-time; wait_for that asks but once. C, but for unit tests, each of which has
a limit of its own: such a loop, and poll without a time. Python: such a loop, and calls that take a timeout and have none.
A loop that another process ends says so: "until it is killed".
"""
import re
import sys

SLEEPS = re.compile(r"\b(?:sleep|usleep|nanosleep|read -rt)\b(?!=)")
SHELL_LIMIT = re.compile(r"SECONDS|EPOCH|date \+%s|\(\(|-(?:lt|gt|le|ge) ")
LIMIT = re.compile(r"monotonic|time\.time|clock_|now_s\(|now_us\(|[<>] ?\w")
KILLED = "until it is killed"
# Perl's and awk's have a parenthesis there.
STARTS = re.compile(r"(?:^|[;(&|{]|\bdo|\bthen|\$\()\s*(while|until|for)\s(?=\(\(|[^(])(?!my )")


def shell_loops(lines):
    """Each loop from its first line to its `done`."""
    for at, line in enumerate(lines):
        found = STARTS.search(line)
        if not found or line.lstrip().startswith("#"):
            continue
        depth, text = 0, ""
        for further in lines[at:]:
            part = further[found.start(1):] if further is line and not text else further
            part = re.sub(r"(^|\s)#(?! until it is killed).*", "", part)
            text += part + "\n"
            depth += len(re.findall(r"(?:^|[\s;({])do(?:\s|$)", part)) - len(re.findall(r"(?:^|[\s;])done\b", part))
            if depth <= 0 and "done" in part:
                break
        yield at + 1, found.group(1), text


def shell(lines):
    for at, kind, text in shell_loops(lines):
        condition = re.split(r"[\s;]do\b", text)[0]
        if not SLEEPS.search(text) or KILLED in text:
            continue
        if kind == "for":
            if re.search(r"(?:&&|\|\|)\s*(?:break|return)\b", text):
                yield at, "a loop that polls says nothing at its end: wait_for does"
        elif not SHELL_LIMIT.search(text):
            yield at, "a loop polls without a limit: wait_for has one: " + condition.strip()
    for at, line in enumerate(lines, 1):
        if re.search(r"\bwait_for \S+ (?:test|\[) [^;&']*\$\((?!\()", line):
            yield at, "what wait_for waits for is asked once, before it begins: `prints` asks each time"
        if re.search(r"(?:^|[|;(&{]|\bif|\bdo|!)\s*curl\s", line) and not re.search(r"\s(?:-m|--max-time)\s?\d|\s-\w*m \d", line):
            yield at, "curl without --max-time"


def statement(text, at):
    """From a keyword's parenthesis to the end of what it repeats."""
    depth = braces = 0
    for i in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        braces += {"{": 1, "}": -1}.get(text[i], 0)
        if depth == 0 and braces == 0 and (text[i] == ";" or text[i] == "}"):
            return text[at:i + 1]
    return text[at:]


def c(lines):
    text = "\n".join(lines)
    for found in re.finditer(r"\b(?:while|for) \(", text):
        loop = statement(text, found.end() - 1)
        if re.search(r"\b(?:usleep|sleep|nanosleep)\(", loop) and KILLED not in loop and not LIMIT.search(loop):
            yield text.count("\n", 0, found.start()) + 1, "a loop sleeps without a limit: " + loop.split("\n")[0]
    for found in re.finditer(r"\bpoll\([^;]*, -1\)", text):
        yield text.count("\n", 0, found.start()) + 1, "poll without a time"


def python(lines):
    text = "\n".join(lines)
    for found in re.finditer(r"\b(urlopen|create_connection|subprocess\.run|check_output|\.communicate|\.wait(?=\(\)))\(", text):
        call = statement(text + ";", found.end() - 1)
        call = re.match(r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)", call)
        if call and "timeout" not in call.group(0) and call.group(0) != "(timeout)":
            yield text.count("\n", 0, found.start()) + 1, found.group(1).lstrip(".") + " without a timeout"
    for at, line in enumerate(lines):
        loop = re.match(r"(\s*)while (.*):$", line)
        if not loop:
            continue
        body = []
        for further in lines[at + 1:]:
            if further.strip() and len(further) - len(further.lstrip()) <= len(loop.group(1)):
                break
            body.append(further)
        if "sleep" in "".join(body) and KILLED not in line + "".join(body) and not LIMIT.search(line + "".join(body)):
            yield at + 1, "a loop sleeps without a limit: " + line.strip()


def main():
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
        if path.endswith(".c") or path.endswith(".h"):
            found = c(lines)
        elif path.endswith(".py"):
            found = python(lines)
        else:
            found = shell(lines)
        for at, what in found:
            print(f"{path}:{at}: {what}")


main()
