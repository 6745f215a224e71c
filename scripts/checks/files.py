#!/usr/bin/python3
"""files.py - every source file says at its head what it is, and READMEs list files by these lines.

usage: scripts/checks/files.py [--write] [TOP]
A head is a comment that begins with the file's name: `name.h - what it is.` X.c may leave it to
X.h.
A README's lines between `<!-- files: FOLDER -->` and `<!-- end -->` are a table of the folder's
files, made of their heads; --write makes it.
Exit 0: all have a head, and the tables are right. 1: not.
"""

import collections
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from checks import sources
from common import commandline

ENDINGS = (".c", ".h", ".cc", ".py", ".sh")
FOLDERS = ("include", "base", "containers", "variants", "bench", "stress", "sim", "recorder",
           "check", "memory", "server", "scripts")
HEAD = re.compile(r"\A(?:#![^\n]*\n)?(?:(?:/\*|//|#)[^\n]*(?:SPDX|shellcheck)[^\n]*\n)*"
                  r"(?:/\*\s*\n \* |/\* |// |\"\"\"|# )[\w.]+ - (.+?)"
                  r"(?:\n \*\n|\n? \*/|\n#\n|\n[^ #/]|\n\n|\"\"\"|\Z)", re.DOTALL)
TABLE = re.compile(r"(<!-- files: (\S+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def head_of(text):
    """The first sentence of a file's head, in one line; None: it has none."""
    found = HEAD.match(text)
    if not found:
        return None
    plain = re.sub(r"\s*\n(?: \*|#|//)?\s*", " ", found.group(1)).strip()
    return re.split(r"(?<=[^.][.;:]) (?=[A-Z`(])", plain)[0].rstrip(".;:")


def heads_of(top, folder):
    """{stem: (names, head)} of the files of one folder, without those below it."""
    found = collections.defaultdict(lambda: [[], None])
    place = os.path.join(top, folder)
    for name in sorted(os.listdir(place), key=lambda name: (not name.endswith(".h"), name)):
        if name.endswith(ENDINGS) and os.path.isfile(os.path.join(place, name)):
            entry = found[name.rsplit(".", 1)[0]]
            entry[0].append(name)
            entry[1] = entry[1] or head_of(sources.read(top, os.path.join(folder, name)))
    return found


def table(top, folder):
    """A table of a folder's files."""
    rows = ["| file | what it is |", "|---|---|"]
    for stem, (names, head) in sorted(heads_of(top, folder).items()):
        shown = names[0] if len(names) == 1 else f"{stem}.*"
        rows.append(f"| `{shown}` | {(head or '').replace('|', chr(92) + '|')} |")
    return "\n".join(rows) + "\n"


def check(top, write):
    """(faults, number of files)"""
    faults, count = [], 0
    for folder in FOLDERS:
        for place, inner, _ in os.walk(os.path.join(top, folder)):
            inner[:] = [d for d in inner if d not in ("build", "__pycache__", "programs", "others")]
            where = os.path.relpath(place, top)
            for names, head in heads_of(top, where).values():
                count += len(names)
                if head is None:
                    faults.append(f"{where}/{names[0]}: no head: begin with a comment "
                                  f"'{names[0]} - what it is.'")
    for path in sources.files(top, FOLDERS, ("README.md",)):
        text = sources.read(top, path)
        made = TABLE.sub(lambda m: m[1] + table(top, m[2]) + m[4], text)
        if made != text and write:
            with open(os.path.join(top, path), "w", encoding="utf-8") as file:
                file.write(made)
        elif made != text:
            faults.append(f"{path}: a table of files is old; run scripts/checks/files.py --write")
    return faults, count


def main():
    """The command."""
    parser = commandline.Parser(
        prog="scripts/checks/files.py",
        description="Every source file has a head, and READMEs list files by these.")
    parser.add_argument("top", nargs="?", default=sources.TOP)
    parser.add_argument("--write", action="store_true", help="make the tables of the READMEs")
    arguments = parser.parse_args()
    return sources.finish("checks/files.py", *check(arguments.top, arguments.write))


if __name__ == "__main__":
    sys.exit(main())
