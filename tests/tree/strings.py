"""strings.py [--comments] [TREE]: each text in the sources that a user can meet, a line each: FILE:LINE: TEXT.

Taken are string literals with at least two words: of C (adjacent ones joined; not SQL, not headers, not
register tables), of the page's scripts and HTML, and what scripts of conf/ print. With --comments the
comments of C instead. For a person to read once more, and for tests/tree/check_words.sh.
"""
import os
import re
import subprocess
import sys

C_TOKEN = re.compile(r'''/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\n''', re.S)
JS_TOKEN = re.compile(r"""/\*.*?\*/|//[^\n]*|`(?:[^`\\]|\\.)*`|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\n""", re.S)
TWO_WORDS = re.compile(r"[A-Za-z]{2,}[,:;.)]* +\(?[A-Za-z]{2,}")
SQL = re.compile(r'\b(SELECT|INSERT|UPDATE|DELETE FROM|CREATE|DROP|ALTER|PRAGMA|WHERE|ORDER BY|GROUP BY|PRIMARY KEY|UNION)\b')


def c_strings(text, comments):
    """(line, text) of joined literals, or of comments."""
    line, start, joined, end = 1, 0, [], 0
    for match in C_TOKEN.finditer(text):
        token = match.group()
        if token == '\n':
            line += 1
            continue
        if token.startswith(('/*', '//')):
            if comments:
                yield line, ' '.join(part.strip(' */\t') for part in token.split('\n')).strip()
            line += token.count('\n')
            continue
        if token[0] != '"' or comments:
            continue
        between = text[end:match.start()]
        if joined and between.strip() and not re.fullmatch(r'\s*(PRI[a-zA-Z0-9]+)\s*', between):
            yield start, ''.join(joined)
            joined = []
        if not joined:
            start = line
        joined.append(token[1:-1])
        end = match.end()
    if joined:
        yield start, ''.join(joined)


def js_strings(text):
    line = 1
    for match in JS_TOKEN.finditer(text):
        token = match.group()
        if token[0] in '`"\'':
            yield line, token[1:-1]
        line += token.count('\n')


def texts(top, comments):
    files = subprocess.run(['git', '-C', top, 'ls-files'], capture_output=True, text=True, check=True, timeout=60).stdout.split('\n')
    for name in files:
        room = name.split('/', 1)[0]
        path = os.path.join(top, name)
        if room in ('agent', 'collector', 'common', 'mibs') and name.endswith(('.c', '.h')):
            with open(path, encoding='utf-8') as file:
                for line, text in c_strings(file.read(), comments):
                    yield name, line, text
        elif comments:
            continue
        elif name.startswith('collector/web/page/') and name.endswith('.js'):
            with open(path, encoding='utf-8') as file:
                for line, text in js_strings(file.read()):
                    yield name, line, text
        elif name.startswith('collector/web/page/') and name.endswith('.html'):
            with open(path, encoding='utf-8') as file:
                for line, text in enumerate(file, 1):
                    yield name, line, re.sub(r'<[^>]*>', ' ', text).strip()
        elif name in ('conf/demo', 'conf/build', 'conf/install-packages', 'conf/build-deb', 'conf/demo-lan.sh'):
            with open(path, encoding='utf-8') as file:
                for line, text in enumerate(file, 1):
                    for said in re.findall(r'''\b(?:echo|fail|printf)\s+(?:-n )?("(?:[^"\\]|\\.)*"|'[^']*')''', text):
                        yield name, line, said[1:-1]


def main(arguments):
    comments = '--comments' in arguments
    trees = [a for a in arguments if a != '--comments']
    top = trees[0] if trees else os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
    for name, line, text in texts(top, comments):
        if comments or (TWO_WORDS.search(text) and not SQL.search(text)):
            print(f'{name}:{line}: {text}')


main(sys.argv[1:])
