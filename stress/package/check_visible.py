#!/usr/bin/python3
"""check_visible.py - a shared library shows what its headers declare, all of it and no more.

usage: check_visible.py LIBRARY.so HEADER... [--but NAME...]
NAME: what the library shows although no header declares it (malloc, say); * stands for anything.
Exit 0: the same. 1: the difference.
"""

import argparse
import fnmatch
import re
import subprocess
import sys


def shown(library):
    """The names that others see."""
    said = subprocess.run(["nm", "-D", "--defined-only", library], text=True, check=True,
                          capture_output=True).stdout
    return {line.split()[-1].split("@")[0] for line in said.splitlines()}


def declared(header):
    """The functions that a header itself declares. Those it includes do not count."""
    text = open(header, encoding="utf-8").read()
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    text = re.sub(r"^\s*#(?:.*\\\n)*.*$", "", text, flags=re.MULTILINE)
    text = text.replace('extern "C" {', "")
    while re.search(r"\{[^{}]*\}", text):
        text = re.sub(r"\{[^{}]*\}", ";", text)
    names = set()
    for statement in text.split(";"):
        found = re.match(r"(?!static|typedef)[\w\s*]+?\b(\w+)\s*\((?!\*)", statement.strip())
        if found and not found.group(1).startswith("__"): # a sanitizer's own
            names.add(found.group(1))
    return names


def main():
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("library")
    parser.add_argument("headers", nargs="+")
    parser.add_argument("--but", nargs="*", default=[])
    arguments = parser.parse_args()
    library, but = arguments.library, arguments.but
    wanted = set().union(*map(declared, arguments.headers))
    seen = shown(library)
    faults = [f"{name}: declared, but not shown" for name in sorted(wanted - seen)]
    faults += [f"{name}: shown, but not declared" for name in sorted(seen - wanted)
               if not any(fnmatch.fnmatchcase(name, pattern) for pattern in but)]
    print(*(f"{library}: {fault}" for fault in faults), sep="\n")
    if not wanted or not seen:
        print(f"{library}: nothing was found to compare")
        return 1
    print(f"{len(wanted)} functions declared, {len(seen)} shown")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
