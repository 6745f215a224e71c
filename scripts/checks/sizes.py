#!/usr/bin/python3
"""sizes.py - functions of at most 70 lines, files of at most 500, lines of at most 100.

usage: scripts/checks/sizes.py [TOP]
A tab counts as 8 columns. Exit 0: all fit. 1: one does not.
"""

import ast
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from checks import sources

FUNCTION_LINES, FILE_LINES, COLUMNS = 70, 500, 100
FOLDERS = sources.LAYERS + ("scripts",)


def c_functions(text):
    """(name, first line, lines) of each function: from its head to the closing brace in column 0,
    or in that of a class's members."""
    lines = sources.without_comments(text).split("\n")
    begin = None
    for number, line in enumerate(lines):
        opened = re.match(r"(\t?)\{\s*$", line)
        if begin is None and opened:
            begin, indent = number, opened.group(1)
            while begin > 0 and lines[begin - 1].strip() and \
                    not lines[begin - 1].rstrip().endswith((";", "}")) and \
                    not lines[begin - 1].startswith("#"):
                begin -= 1
            head = " ".join(lines[begin:number])
            found = re.search(r"(\w+)\s*\(", head)
            name = found.group(1) if found else head.strip()
            if not found and re.search(r"\bclass\b|\bnamespace\b", head):
                begin = None
        elif begin is not None and line.startswith(indent + "}"):
            yield name, begin + 1, number - begin + 1
            begin = None


def python_functions(text):
    """The same for Python."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.lineno, node.end_lineno - node.lineno + 1


def check(top):
    """(faults, number of files)"""
    faults = []
    paths = sources.files(top, FOLDERS, (".c", ".h", ".cc", ".def", ".py", ".sh"))
    paths += [p for p in ("scripts/run", "scripts/setup", "scripts/test") if p in
              sources.files(top, ("scripts",), ("run", "setup", "test"))]
    for path in paths:
        text = sources.read(top, path)
        lines = text.split("\n")
        if len(lines) - 1 > FILE_LINES:
            faults.append(f"{path}: {len(lines) - 1} lines, {FILE_LINES} are the limit")
        for number, line in enumerate(lines):
            width = len(line.expandtabs(8))
            if width > COLUMNS:
                faults.append(f"{path}:{number + 1}: {width} columns, {COLUMNS} are the limit")
        functions = python_functions(text) if path.endswith(".py") else \
            c_functions(text) if path.endswith((".c", ".h", ".cc")) else ()
        for name, first, count in functions:
            if count > FUNCTION_LINES:
                faults.append(f"{path}:{first}: function {name} has {count} lines, "
                              f"{FUNCTION_LINES} are the limit")
    return faults, len(paths)


if __name__ == "__main__":
    sys.exit(sources.finish("checks/sizes.py", *check(sources.top_of(sys.argv[1:]))))
