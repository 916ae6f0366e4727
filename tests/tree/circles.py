"""circles.py BUILD: prints each circle of files: files of one program part that need each other, so that none
can be read, tested or replaced without the others.

Two graphs are looked at. Headers that include each other; and objects of BUILD, where one needs another if it
uses a symbol which that one defines (a type alone is no need). Circles that stand are listed below with the
reason; one that no longer is a circle is reported, so that the list stays true.
"""
import collections
import glob
import os
import re
import subprocess
import sys

ROOMS = ('agent', 'collector', 'common', 'mibs')
# All files of the circle match the pattern.
ALLOWED = {}


def circles(graph):
    """The strongly connected components of more than one node (Tarjan's algorithm, without recursion)."""
    index, low, stack, on_stack, found = {}, {}, [], set(), []
    for root in sorted(graph):
        if root in index:
            continue
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        work = [(root, iter(sorted(graph[root])))]
        while work:
            node, others = work[-1]
            for other in others:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    on_stack.add(other)
                    work.append((other, iter(sorted(graph.get(other, ())))))
                    break
                if other in on_stack:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    members = []
                    while not members or members[-1] != node:
                        members.append(stack.pop())
                        on_stack.discard(members[-1])
                    if len(members) > 1:
                        found.append(sorted(members))
    return found


def headers(top):
    graph = collections.defaultdict(set)
    for room in ROOMS:
        for path in glob.glob(os.path.join(top, room, '**', '*.h'), recursive=True):
            name = os.path.relpath(path, top)
            with open(path, encoding='utf-8') as file:
                for included in re.findall(r'^\s*#\s*include\s*"([^"]+)"', file.read(), re.M):
                    graph[name].add(included)
    return graph


def calls(build, top):
    """File needs file, of the objects of each room whose source there still is."""
    defines, needs, names = {}, collections.defaultdict(set), {}
    for room in ROOMS:
        for path in glob.glob(os.path.join(build, room, '**', '*.o'), recursive=True):
            folder, name = os.path.split(os.path.relpath(path, build)[:-2])
            name = os.path.join(folder, name.rsplit('-', 1)[-1])  # libinput_a-v3 is of v3.c
            if os.path.exists(os.path.join(top, name + '.c')):
                names[path] = name
    listed = subprocess.run(['nm', '-A', *names], capture_output=True, text=True, check=True, timeout=60).stdout if names else ''
    for line in listed.splitlines():
        path, _, rest = line.partition('.o:')
        *_, kind, symbol = rest.split()
        name = names[path + '.o']
        if kind == 'U':
            needs[name].add(symbol)
        elif kind in 'TDBRVW':
            defines[symbol] = name
    return {name: {defines[symbol] for symbol in symbols if defines.get(symbol, name) != name}
            for name, symbols in needs.items()}


def main(build):
    top = os.environ.get('EASE_TOP') or os.path.join(os.path.dirname(__file__), '..', '..')
    graph = calls(build, top)
    if not graph:
        print(f'no objects in {build}')
    stood = set()
    for circle in circles(headers(top)) + circles(graph):
        for pattern in ALLOWED:
            if all(re.fullmatch(pattern, name) for name in circle):
                stood.add(pattern)
                break
        else:
            print('a circle: ' + ' '.join(circle))
    if 'EASE_TOP' not in os.environ:
        for pattern in sorted(set(ALLOWED) - stood):
            print(f'no longer a circle, to be taken out of the list: {pattern}')


main(sys.argv[1])
