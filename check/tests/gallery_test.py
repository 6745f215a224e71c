#!/usr/bin/python3
"""gallery_test.py - algorithms of the gallery: right, complete; with each planted bug, found.

usage: gallery_test.py PFS_CHECK COMPILER [--table [--write]]
A program says at its head which bugs it has ("BUG 1: ..."), and is compiled with -DBUG=0 .. --table
prints what check/gallery/README.md has, --write puts it there. With the compiler of that table, its
numbers are compared: they belong to what a compiler makes of a program. Exit 77: no such compiler.
"""

import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import programs
from programs import TOP, expect, finish, skip

GALLERY = os.path.join(TOP, "check", "gallery")
DOCUMENT = os.path.join(GALLERY, "README.md")
END = "<!-- end of the table -->\n"
Table = collections.namedtuple("Table", "begin head")
TABLE = Table("<!-- made by check/tests/gallery_test.py -->\n",
              "| | `sc` | `tso` | `views` | classes | ms | bugs, until found |\n"
              "|---|---|---|---|---|---|---|\n")
MEASURED = "gcc 12"  # of whose programs the table tells
MEMORIES = ("sc", "tso", "views")
SECONDS_MAX = 10  # until a bug is found
SAID = re.compile(r": (\d+) executions \((\d+) repeated a class, (\d+) incomplete\), \d+ steps, "
                  r"(FAILED|all there are)")


def is_measured(compiler):
    """Is it the compiler of the document's table?"""
    name, major = MEASURED.split()
    said = subprocess.run([compiler, "-dumpversion"], check=True, capture_output=True, text=True)
    return os.path.basename(compiler) == name and said.stdout.split(".")[0].strip() == major


def build(compiler, folder, source, define):
    """The path of the shared object of a file of the gallery."""
    return programs.build(compiler, os.path.join(GALLERY, source),
                          os.path.join(folder, "program"), "-std=c11", "-I", GALLERY, "-D" + define)


def run(pfs_check, program, memory):
    """(exit status, executions, of them not of a new class, incomplete ones, FAILED or all there
    are, seconds, words), of all its scenarios, or of those that failed"""
    begin = time.monotonic()
    done = programs.run(pfs_check, program, "--memory", memory, "--quiet")
    took = time.monotonic() - begin
    found = SAID.findall(done.stdout)
    words = done.stdout + done.stderr
    if not found or len(found) != done.stdout.count(" executions ("):
        return done.returncode, 0, 0, 0, "nothing", took, words
    found = [one for one in found if one[3] == "FAILED"] or found
    extent = found[0][3]
    sums = [sum(int(one[i]) for one in found) for i in range(3)]
    return done.returncode, *sums, extent, took, words


def judge(pfs_check, compiler, folder, name):
    """One program: its row."""
    with open(os.path.join(GALLERY, name + ".c"), encoding="utf-8") as file:
        bugs = [int(bug) for bug in re.findall(r"^ \* BUG (\d+):", file.read(), re.MULTILINE)]
    cells, found, longest = [], [], 0.0
    program = build(compiler, folder, name + ".c", "BUG=0")
    for memory in MEMORIES:
        status, executions, repeated, incomplete, extent, took, words = run(
            pfs_check, program, memory)
        cells.append(f"{executions:,}")
        longest = max(longest, took)
        expect((status, extent, incomplete) == (0, "all there are", 0),
               f"{name} {memory}: must be complete, and hold:\n{words}")
    cells.append(f"{executions - repeated:,}")
    for bug in bugs:
        status, executions, _, _, extent, took, words = run(
            pfs_check, build(compiler, folder, name + ".c", f"BUG={bug}"), "views")
        found.append(f"{executions:,}")
        expect(status == 1 and extent == "FAILED" and took <= SECONDS_MAX,
               f"{name} BUG {bug}: not found in {took:.1f} s:\n{words}")
    expect(len(bugs) >= 2, f"{name}: needs two planted bugs")
    numbers = [f"`{name}`", *cells, f"{longest * 1000:.0f}", " · ".join(found)]
    return "| " + " | ".join(numbers) + " |\n"


def without_time(row):
    """A row of the table, but for what differs from run to run."""
    cells = row.split(" | ")
    return cells[:5] + cells[6:]


def compare(table, rows, of_row):
    """A table in the document, with these rows."""
    here = Path(DOCUMENT).read_text("utf-8").partition(table.begin)[2].partition(END)[0]
    old = [of_row(row) for row in here.removeprefix(table.head).splitlines(keepends=True)]
    new = [of_row(row) for row in rows]
    for row in [row for row in new if row not in old] + [row for row in old if row not in new]:
        expect(False, f"{DOCUMENT} {'has, too' if row in old else 'does not have'}: "
               f"{' | '.join(row)}; if that is right: once more with --table --write")


def write(table, rows):
    """The document with this table."""
    before, begin, rest = Path(DOCUMENT).read_text("utf-8").partition(table.begin)
    _, end, after = rest.partition(END)
    assert begin and end, "check/gallery/README.md has no place for the table"
    Path(DOCUMENT).write_text(before + begin + table.head + "".join(rows) + end + after, "utf-8")


def show(table, rows, of_row, compiler):
    """Prints a table and writes it, as the command's words say; or compares it."""
    if "--table" in sys.argv[3:]:
        print(table.head + "".join(rows), end="")
        if "--write" in sys.argv[3:]:
            write(table, rows)
    elif is_measured(compiler):
        compare(table, rows, of_row)


def each(folder, judge_one):
    """What judge_one(pfs_check, compiler, folder, name) says of every program of a folder, and the
    compiler."""
    pfs_check, compiler = sys.argv[1:3]
    if shutil.which(compiler) is None:
        skip(f"no {compiler}")
    names = sorted(name[:-2] for name in os.listdir(folder) if name.endswith(".c"))
    expect(names, f"{folder}: no program")
    with tempfile.TemporaryDirectory() as scratch:
        return [judge_one(pfs_check, compiler, scratch, name) for name in names], compiler


if __name__ == "__main__":
    ROWS, COMPILER = each(GALLERY, judge)
    show(TABLE, ROWS, without_time, COMPILER)
    finish()
