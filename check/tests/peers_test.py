#!/usr/bin/python3
"""peers_test.py - as many executions as other model checkers say that a program has.

usage: peers_test.py PFS_CHECK COMPILER [--table [--write]]
A program of gallery/peers/ says at its head what others counted ("FIGURE N=5: 64 sc, 64 views:
TOOL, where"), and must have as many classes here; "SCHEDULES" are those of a tool that counts no
classes, and are only shown. --table prints what check/gallery/README.md has, --write puts it
there. Exit 77: no such compiler.
"""

import os
import re

import gallery_test
from programs import expect, finish

PEERS = os.path.join(gallery_test.GALLERY, "peers")
FIGURE = re.compile(r"^ \* FIGURE N=(\d+): (\d+) sc(?:, (\d+) views)?: (\w+), (.*)$",
                    re.MULTILINE)
SCHEDULES = re.compile(r"^ \* SCHEDULES N=(\d+): (\d+)(): (\w+), (.*)$", re.MULTILINE)
TABLE = gallery_test.Table("<!-- made by check/tests/peers_test.py -->\n",
                           "| | N | theirs, `sc` | classes | executions | theirs, `views` | "
                           "classes | executions |\n|---|---|---|---|---|---|---|---|\n")
VIEWS_MAX = 20000  # executions with sc, above which those with views are not looked at


def look(pfs_check, program, memory, theirs, what):
    """A search, by what others counted or None; the cells of its classes and executions, and the
    executions."""
    status, executions, repeated, incomplete, extent, _, words = gallery_test.run(
        pfs_check, program, memory)
    expect((status, extent, incomplete) == (0, "all there are", 0),
           f"{what} {memory}: must be complete, and hold:\n{words}")
    expect(theirs is None or executions - repeated == theirs,
           f"{what} {memory}: {executions - repeated} classes, not {theirs}")
    return [f"{executions - repeated:,}", f"{executions:,}"], executions


def judge(pfs_check, compiler, folder, name):
    """The rows of one program."""
    with open(os.path.join(PEERS, name + ".c"), encoding="utf-8") as file:
        text = file.read()
    rows = []
    figures = [(found, True) for found in FIGURE.findall(text)]
    figures += [(found, False) for found in SCHEDULES.findall(text)]
    for (size, number, views, tool, where), classes in figures:
        what = f"{name} N={size} ({tool}, {where})"
        program = gallery_test.build(compiler, folder, f"peers/{name}.c", f"N={size}")
        ours, executions = look(pfs_check, program, "sc", int(number) if classes else None, what)
        theirs = f"{int(number):,} {tool}" + ("" if classes else " (schedules)")
        cells = [f"`{name}`", size, theirs, *ours, f"{int(views):,} {tool}" if views else ""]
        cells += look(pfs_check, program, "views", int(views) if views else None, what)[0] \
            if executions <= VIEWS_MAX else ["", ""]
        rows.append("| " + " | ".join(cells) + " |\n")
    expect(rows, f"{name}: has no figure")
    return rows


if __name__ == "__main__":
    FOUND, COMPILER = gallery_test.each(PEERS, judge)
    gallery_test.show(TABLE, sum(FOUND, []), lambda row: row.split(" | "), COMPILER)
    finish()
