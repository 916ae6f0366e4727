#!/usr/bin/env python3
"""guide.py CHAPTER...: runs what the guide's chapters show, in the working directory.

A fenced block says by its first word what is done with it:
    console         lines with "$ " are run in one bash for all chapters, here-documents and commands
                    of several lines included; what stands below must be what they print
    sh              for the reader's own machines: bash only checks the syntax
    easeagentd.conf, easecapd.conf
                    the daemon's --check must take it (EASE_BUILD says where they are)
    c FILE, conf FILE
                    stands word for word in that file of the source tree (EASE_TOP)
Words must be equal, numbers only be numbers: a shown line is compared after all numbers, bars and
runs of spaces are made alike; but addresses and object identifiers are compared as they are, and so
is a line that is one number. A line "…" stands for any lines, "…" at its end for any rest. A command
must succeed; where it is to fail, it says so by `|| echo failed`. Prints PASS or FAIL lines.
"""
import os
import re
import subprocess
import sys
import tempfile

TIMEOUT_S = 300  # for all: sanitizer builds on a busy machine
MARK = "guide-command-ended"
KEPT = re.compile(  # compared as they are
    r"\.?1\.3\.6\.1[\d.]*|10\.\d+\.\d+\.\d+|192\.0\.2\.\d+|(?:[0-9a-f]{2}:){5}[0-9a-f]{2}"
    r"|2001:db8:[0-9a-f:]+|(?<!\w)(?![0-9a-f]{16}(?!\w))[A-Za-z_]\w*-?\d+(?!\w)")
NUMBER = re.compile(  # with its unit; a time; an agent's id
    r"(?<![\w-])[<±+-]?\d[\d,.:T-]*(?:\s?[kMGT](?!\w))?[sZ]?(?!\w)|(?<!\w)[0-9a-f]{16,}(?!\w)")


def alike(line):
    """The line with everything made alike that may differ from run to run."""
    line = re.sub(r"(?<=\s)[=-]{2,}(?=\s*$)|(?<=\s)-(?=\s*$)", "BAR", line)
    parts, at = [], 0
    for kept in KEPT.finditer(line):
        parts += [NUMBER.sub("N", line[at:kept.start()]), kept.group()]
        at = kept.end()
    parts.append(NUMBER.sub("N", line[at:]))
    text = re.sub(r"\s+", " ", "".join(parts)).strip()
    return re.sub(r"N \.\. N", "N..N", text)


def same(shown, printed):
    if re.fullmatch(r"\d+", shown.strip()):
        return shown.strip() == printed.strip()
    if shown.rstrip().endswith("…"):
        return alike(printed).startswith(alike(shown.rstrip()[:-1]))
    return alike(shown) == alike(printed)


def compare(shown, printed):
    """None, or the first shown line that was not printed."""
    if not shown:
        return None
    if shown[0].strip() == "…":
        if len(shown) == 1:
            return None
        rests = [compare(shown[1:], printed[i:]) for i in range(len(printed))]
        return None if None in rests else (rests[0] if rests else shown[1])
    if not printed or not same(shown[0], printed[0]):
        return shown[0]
    if len(shown) == 1 and len(printed) > 1:
        return "(nothing more, but there is) " + printed[1]
    return compare(shown[1:], printed[1:])


def blocks(path):
    """(line number, first words, lines) of each fenced block."""
    kind, start, body = None, 0, []
    for number, line in enumerate(open(path, encoding="utf-8").read().split("\n"), 1):
        if line.startswith("```") and kind is None:
            kind, start, body = line[3:].split() or ["text"], number, []
        elif line.startswith("```"):
            yield start, kind, body
            kind = None
        elif kind is not None:
            body.append(line)


def is_whole(command):
    """Not when it ends in a backslash or in the middle of a loop."""
    done = subprocess.run(["bash", "-n"], input=command, text=True, capture_output=True, timeout=60)
    return done.returncode == 0 and not command.endswith("\\")


def commands(start, body):
    """(line number, command, shown lines) of a console block."""
    found, end = [], None
    for number, line in enumerate(body, start + 1):
        if end is not None:
            found[-1][1] += "\n" + line
            end = None if line == end else end
        elif line.startswith("$ "):
            found.append([number, line[2:], []])
        elif found and not found[-1][2] and not is_whole(found[-1][1]):
            found[-1][1] += "\n" + line
        elif found:
            found[-1][2].append(line)
        here = re.search(r"<<-?'?(\w+)'?", line)
        if here and line.startswith("$ "):
            end = here.group(1)
    return found


class Shell:
    """One bash: what the first chapter sets, the others use."""

    def __init__(self):
        self.process = subprocess.Popen(
            ["timeout", str(TIMEOUT_S), "bash", "--norc"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8",
            errors="replace")

    def run(self, command):
        self.process.stdin.write(f"{{ {command}\n}} </dev/null\nprintf '\\n{MARK} %d\\n' $?\n")
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            if line.startswith(MARK):
                if lines and lines[-1] == "":
                    lines.pop()
                return int(line.split()[1]), lines
            lines.append(line.rstrip("\n"))
        print(f"FAIL guide {command}: no end of it")
        sys.exit(1)

    def end(self):
        self.process.stdin.close()
        self.process.wait(60)


def check_console(shell, start, body):
    for number, command, shown in commands(start, body):
        status, printed = shell.run(command)
        if status != 0:
            return number, f"status {status}: " + " / ".join(printed[-3:])
        missing = compare(shown, printed)
        if missing is not None:
            return number, f"shown and not printed: {missing}\n" + "\n".join(
                "    " + line for line in printed[:40])
    return None


def check_syntax(start, body):
    done = subprocess.run(["bash", "-n"], input="\n".join(body), text=True, capture_output=True, timeout=60)
    return None if done.returncode == 0 else (start, done.stderr.strip())


def check_configuration(program, start, body, own=()):
    with tempfile.NamedTemporaryFile("w", suffix=".conf", dir=".") as file:
        file.write("\n".join(body) + "\n")
        file.writelines(line + "\n" for line in own if not any(
            given.startswith(line.split()[0] + " ") for given in body))
        file.flush()
        done = subprocess.run([program, "-c", file.name, "--check"], text=True, capture_output=True, timeout=60)
    return None if done.returncode == 0 else (start, done.stderr.strip())


def check_code(path, start, body):
    text = open(os.path.join(os.environ["EASE_TOP"], path), encoding="utf-8").read()
    return None if "\n".join(body) in text else (start, f"does not stand so in {path}")


def check_patch(start, body):
    done = subprocess.run(["patch", "-s", "-p1", "--dry-run", "-d", os.environ["EASE_TOP"]], text=True, capture_output=True,
        timeout=60, input="\n".join(body) + "\n")
    return None if done.returncode == 0 else (start, "these lines do not fit: " + done.stdout.strip())


def check_block(shell, start, kind, body):
    build = os.environ["EASE_BUILD"]
    if kind[0] == "console":
        return check_console(shell, start, body)
    if kind[0] == "sh":
        return check_syntax(start, body)
    if kind[0] == "easeagentd.conf":
        return check_configuration(build + "/agent/easeagentd", start, body)
    if kind[0] == "easecapd.conf":
        return check_configuration(build + "/collector/easecapd", start, body,
            ['store = "ease.db"'])  # the default's directory is made by the package
    if kind[0] in ("c", "conf"):
        return check_code(kind[1], start, body)
    if kind[0] == "diff":
        return check_patch(start, body)
    if kind[0] in ("text", "snmpd.conf"):
        return None
    return start, f"nobody knows what a block of {kind[0]} is"


def main():
    failed, shell = False, Shell()
    for path in sys.argv[1:]:
        name, faults, n = os.path.basename(path), [], 0
        for start, kind, body in blocks(path):
            fault = check_block(shell, start, kind, body)
            n += 1
            if fault:
                faults.append(fault)
        for number, reason in faults:
            print(f"FAIL guide {name}:{number}: {reason}")
        if not faults:
            print(f"PASS guide {name}: {n} blocks")
        failed = failed or bool(faults)
    shell.end()
    return 1 if failed else 0


sys.exit(main())
