"""measures.py [--list MEASURE] [TREE]: the house in figures, a table with a row for each room and one for all.

  files, lines   .c and .h files of agent, collector, common and mibs, and their lines
  functions      how many there are
  per 1k code    functions for 1,000 lines that are neither blank nor comment only
  once per 1k    static functions that are named at one place, to be called or handed on, for 1,000 lines
  one client %   of the functions that are not static: those that one other file uses, of all
  one word       functions whose name is one word (main is none of them)
  shared %       functions whose name another file's function has, too, of all
  comments       in bodies of functions, for 100 lines of bodies
  asserts        assert() and assert_hot()

With --list the places that a measure counts, a line each; --list long names functions of more than 40 lines without a
comment in their body. Read is our own style, in which a function's brace stands alone at the beginning of a line;
tests/tree/check_house.sh holds the figures to limits.
"""
import collections
import os
import re
import sys

ROOMS = ('agent', 'collector', 'common', 'mibs')
TOKEN = re.compile(r'''/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*\'''', re.S)
USE = re.compile(r'([A-Za-z_]\w*)(\s*\()?')
NAMES = re.compile(r'[A-Za-z_]\w*')
BODY = re.compile(r'^\{\n(.*?)^\}', re.M | re.S)
HEAD = re.compile(r'^(?:[A-Za-z_][\w \t*]*[ \t*])?([A-Za-z_]\w*)\(', re.M)
ASSERT = re.compile(r'\bassert(?:_hot)?\s*\(')
LONG = 40


class Function:
    def __init__(self, path, name, static, line, length, comments):
        self.path, self.name, self.static, self.line, self.length, self.comments = path, name, static, line, length, comments

    def place(self):
        return '%s:%d: %s' % (self.path, self.line, self.name)


class Source:
    """One file: its functions, and how often it uses which name."""

    def __init__(self, path, text):
        self.path, self.functions = path, []
        comments = []

        def blank(match):
            token = match.group()
            if token[0] in '"\'':
                return '""'
            comments.append(match.start())
            return ' ' + '\n' * token.count('\n')
        code = TOKEN.sub(blank, text)
        self.lines = text.count('\n')
        self.code = sum(1 for line in code.split('\n') if line.strip())
        self.asserts = len(ASSERT.findall(re.sub(r'^#.*', '', code, flags=re.M)))
        self.body_lines = self.body_comments = 0
        outside, bodies, end = [], [], 0
        for body in BODY.finditer(code):
            head_at = max(code.rfind('\n\n', 0, body.start()), code.rfind('\n}', 0, body.start()), code.rfind(';\n', 0, body.start()), 0)
            head = '\n'.join(line for line in code[head_at:body.start()].split('\n') if not line.startswith(('}', '#', ';')))
            names = HEAD.findall(head)
            if not names:
                continue
            line = code.count('\n', 0, body.start()) + 1
            length = body.group(1).count('\n')
            self.functions.append(Function(path, names[-1], bool(re.search(r'\bstatic\b', head)), line, length, 0))
            outside.append(code[end:head_at])
            bodies.append(body.group(1))
            end = body.end()
        outside.append(code[end:])
        self.count_comments(text, comments)
        self.uses = collections.Counter()
        self.uses.update(NAMES.findall(''.join(bodies)))
        # Outside of bodies a name before a parenthesis is declared; in a macro it is used.
        for line in ''.join(outside).split('\n'):
            self.uses.update(NAMES.findall(line) if line.startswith('#') else
                             [name for name, call in USE.findall(line) if not call])

    def count_comments(self, text, comments):
        starts, line, at = [], 1, 0
        for comment in comments:
            line += text.count('\n', at, comment)
            at = comment
            starts.append(line)
        for function in self.functions:
            function.comments = sum(1 for start in starts if function.line < start <= function.line + function.length)
            self.body_lines += function.length
            self.body_comments += function.comments


def read(top):
    sources = []
    for room in ROOMS:
        for folder, folders, names in os.walk(os.path.join(top, room)):
            folders.sort()
            for name in sorted(names):
                if name.endswith(('.c', '.h')):
                    path = os.path.join(folder, name)
                    with open(path, encoding='utf-8') as file:
                        sources.append(Source(os.path.relpath(path, top), file.read()))
    return sources


def room_of(path):
    return os.path.dirname(path)


def select(sources):
    """Measure -> the functions that it counts."""
    functions = [function for source in sources for function in source.functions]
    files = collections.defaultdict(set)
    clients = collections.Counter()
    public = {function.name: function.path for function in functions if not function.static and function.name != 'main'}
    for source in sources:
        for function in source.functions:
            files[function.name].add(source.path)
        for name in source.uses:
            if name in public and public[name] != source.path:
                clients[name] += 1
    by_path = {source.path: source for source in sources}
    once = []
    for function in functions:
        uses = by_path[function.path].uses
        if function.static and function.path.endswith('.c') and uses[function.name] == 1:
            once.append(function)
    return {
        'functions': functions,
        'once': once,
        'public': [function for function in functions if not function.static and function.name != 'main'],
        'client': [function for function in functions if not function.static and clients[function.name] == 1],
        'word': [function for function in functions if '_' not in function.name and function.name != 'main'],
        'shared': [function for function in functions if len(files[function.name]) > 1 and function.name != 'main'],
        'long': [function for function in functions if function.length > LONG and function.comments == 0],
    }


def row(room, sources, selected):
    def count(measure):
        return sum(1 for function in selected[measure] if room in ('all', room_of(function.path)))

    def per(many, of, unit):
        return '%.1f' % (unit * many / of if of else 0)
    sources = [source for source in sources if room in ('all', room_of(source.path))]
    lines = sum(source.lines for source in sources)
    return [room, len(sources), lines, count('functions'), per(count('functions'), sum(source.code for source in sources), 1000),
            per(count('once'), lines, 1000), per(count('client'), count('public'), 100), count('word'),
            per(count('shared'), count('functions'), 100),
            per(sum(source.body_comments for source in sources), sum(source.body_lines for source in sources), 100),
            sum(source.asserts for source in sources)]


def main():
    arguments = sys.argv[1:]
    measure = ' '.join(arguments[1:2]) if arguments[:1] == ['--list'] else None
    if measure is not None:
        arguments = arguments[2:]
    sources = read(arguments[0] if arguments else os.path.join(os.path.dirname(__file__), '..', '..'))
    selected = select(sources)
    if measure is not None:
        if measure not in selected:
            sys.exit('measures.py --list ' + '|'.join(selected))
        for function in selected[measure]:
            print(function.place())
        return
    rows = [['room', 'files', 'lines', 'functions', 'per 1k code', 'once per 1k', 'one client %', 'one word', 'shared %', 'comments', 'asserts']]
    for room in sorted({room_of(source.path) for source in sources}) + ['all']:
        rows.append(row(room, sources, selected))
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(rows[0]))]
    for cells in rows:
        print('  '.join(str(cell).ljust(width) if i == 0 else str(cell).rjust(width)
                        for i, (cell, width) in enumerate(zip(cells, widths))))


if __name__ == '__main__':
    main()
