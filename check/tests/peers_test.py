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
import shutil
import sys
import tempfile

import gallery_test

PEERS = os.path.join(gallery_test.GALLERY, "peers")
FIGURE = re.compile(r"^ \* FIGURE N=(\d+): (\d+) sc(?:, (\d+) views)?: (\w+), (.*)$",
                    re.MULTILINE)
SCHEDULES = re.compile(r"^ \* SCHEDULES N=(\d+): (\d+)(): (\w+), (.*)$", re.MULTILINE)
TABLE = gallery_test.Table("<!-- made by check/tests/peers_test.py -->\n",
                           "| | N | theirs, `sc` | classes | executions | theirs, `views` | "
                           "classes | executions |\n|---|---|---|---|---|---|---|---|\n")
VIEWS_MAX = 20000  # executions with sc, above which those with views are not looked at


def look(pfs_check, program, memory, theirs):
    """Faults of a search, by what others counted or None; the cells of its classes and executions,
    and the executions."""
    status, executions, repeated, incomplete, extent, _, words = gallery_test.run(
        pfs_check, program, memory)
    faults = []
    if (status, extent, incomplete) != (0, "all there are", 0):
        faults.append(f"{memory}: must be complete, and hold:\n{words}")
    if theirs is not None and executions - repeated != theirs:
        faults.append(f"{memory}: {executions - repeated} classes, not {theirs}")
    return faults, [f"{executions - repeated:,}", f"{executions:,}"], executions


def judge(pfs_check, compiler, folder, name):
    """Faults of one program; its rows."""
    with open(os.path.join(PEERS, name + ".c"), encoding="utf-8") as file:
        text = file.read()
    faults, rows = [], []
    figures = [(found, True) for found in FIGURE.findall(text)]
    figures += [(found, False) for found in SCHEDULES.findall(text)]
    for (size, number, views, tool, where), classes in figures:
        program = gallery_test.build(compiler, folder, f"peers/{name}.c", f"N={size}")
        more, ours, executions = look(pfs_check, program, "sc", int(number) if classes else None)
        theirs = f"{int(number):,} {tool}" + ("" if classes else " (schedules)")
        cells = [f"`{name}`", size, theirs, *ours, f"{int(views):,} {tool}" if views else ""]
        if executions <= VIEWS_MAX:
            again, ours, _ = look(pfs_check, program, "views", int(views) if views else None)
            more += again
            cells += ours
        else:
            cells += ["", ""]
        faults += [f"{name} N={size} ({tool}, {where}) {fault}" for fault in more]
        rows.append("| " + " | ".join(cells) + " |\n")
    if not rows:
        faults.append(f"{name}: has no figure")
    return faults, rows


def main():
    """The exit status."""
    pfs_check, compiler = sys.argv[1:3]
    if shutil.which(compiler) is None:
        return 77
    names = sorted(name[:-2] for name in os.listdir(PEERS) if name.endswith(".c"))
    faults, rows = [], []
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            more, its = judge(pfs_check, compiler, folder, name)
            faults += more
            rows += its
    faults += gallery_test.show(TABLE, rows, lambda row: row.split(" | "), compiler)
    for fault in faults:
        print(fault)
    print(f"{len(rows)} figures by {compiler}, {len(faults)} faults")
    return 1 if faults or not names else 0


if __name__ == "__main__":
    sys.exit(main())
