#!/usr/bin/python3
"""peers_test.py - as many executions as other model checkers say that a program has.

usage: peers_test.py PFS_CHECK COMPILER [--table [--write]]
A program of gallery/peers/ says at its head what others counted ("FIGURE N=5: 64 TOOL, where"), and
must have as many classes here, with sc; "SCHEDULES" are those of a tool that counts no classes, and
are only shown. --table prints what docs/check.md has, --write puts it there. Exit 77: no such
compiler.
"""

import os
import re
import shutil
import sys
import tempfile

import gallery_test

PEERS = os.path.join(gallery_test.GALLERY, "peers")
FIGURE = re.compile(r"^ \* (FIGURE|SCHEDULES) N=(\d+): (\d+) (\w+), (.*)$", re.MULTILINE)
TABLE = gallery_test.Table("<!-- made by check/peers_test.py -->\n",
                           "| | N | theirs | classes, `sc` | executions | classes, `views` | "
                           "executions |\n|---|---|---|---|---|---|---|\n")
VIEWS_MAX = 20000  # executions with sc, above which those with views are not looked at


def judge(pfs_check, compiler, folder, name):
    """Faults of one program; its rows."""
    with open(os.path.join(PEERS, name + ".c"), encoding="utf-8") as file:
        figures = FIGURE.findall(file.read())
    faults, rows = [], []
    for kind, size, number, tool, where in figures:
        program = gallery_test.build(compiler, folder, f"peers/{name}.c", f"N={size}")
        theirs = f"{int(number):,} {tool}" + (" (schedules)" if kind == "SCHEDULES" else "")
        cells = [f"`{name}`", size, theirs]
        for memory in ("sc", "views"):
            status, executions, repeated, incomplete, extent, _, words = gallery_test.run(
                pfs_check, program, memory)
            classes = executions - repeated
            cells += [f"{classes:,}", f"{executions:,}"]
            if (status, extent, incomplete) != (0, "all there are", 0):
                faults.append(f"{name} N={size} {memory}: must be complete, and hold:\n{words}")
            if kind == "FIGURE" and memory == "sc" and classes != int(number):
                faults.append(f"{name} N={size}: {classes} classes, but {number}: {tool}, {where}")
            if executions > VIEWS_MAX:
                cells += ["", ""]
                break
        rows.append("| " + " | ".join(cells[:7]) + " |\n")
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
