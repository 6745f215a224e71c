#!/usr/bin/python3
"""gallery_test.py - algorithms of the gallery: right, complete; with each planted bug, found.

usage: gallery_test.py PFS_CHECK COMPILER [--table]
A program says at its head which bugs it has ("BUG 1: ..."), and is compiled with -DBUG=0 .. --table
prints what docs/check.md has. Exit 77: no such compiler.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GALLERY = os.path.join(TOP, "check", "gallery")
MEMORIES = ("sc", "tso", "views")
SAID = re.compile(r": (\d+) executions \(\d+ repeated a class, 0 incomplete\), \d+ steps, "
                  r"(FAILED|all there are)")


def build(compiler, folder, name, bug):
    """The path of the shared object."""
    path = os.path.join(folder, f"{name}{bug}")
    subprocess.run([compiler, "-std=c11", "-g", "-O1", "-w",
                    "-fsanitize=thread", "-fPIC", f"-DBUG={bug}", "-I",
                    os.path.join(TOP, "include"), "-c", "-o", path + ".o",
                    os.path.join(GALLERY, name + ".c")], check=True)
    subprocess.run([compiler, "-shared", "-o", path + ".so", path + ".o"], check=True)
    return path + ".so"


def run(pfs_check, program, memory):
    """(exit status, executions, FAILED or all there are, seconds, words)"""
    begin = time.monotonic()
    done = subprocess.run([pfs_check, program, "--memory", memory, "--quiet"], check=False,
                          capture_output=True, text=True, timeout=60)
    took = time.monotonic() - begin
    found = SAID.search(done.stdout)
    words = done.stdout + done.stderr
    if found is None:
        return done.returncode, 0, "nothing", took, words
    return done.returncode, int(found.group(1)), found.group(2), took, words


def judge(pfs_check, compiler, folder, name, table):
    """Faults of one program; its row."""
    with open(os.path.join(GALLERY, name + ".c"), encoding="utf-8") as file:
        bugs = [int(bug) for bug in re.findall(r"^ \* BUG (\d+):", file.read(), re.MULTILINE)]
    faults, cells = [], []
    program = build(compiler, folder, name, 0)
    for memory in MEMORIES:
        status, executions, extent, _, words = run(pfs_check, program, memory)
        cells.append(f"{executions:,}")
        if status != 0 or extent != "all there are":
            faults.append(f"{name} {memory}: must be complete, and hold:\n{words}")
    for bug in bugs:
        status, executions, extent, _, words = run(
            pfs_check, build(compiler, folder, name, bug), "views")
        cells.append(f"{executions:,}")
        if status != 1 or extent != "FAILED":
            faults.append(f"{name} BUG {bug}: not found:\n{words}")
    if not bugs:
        faults.append(f"{name}: no bug was planted")
    table.append(f"| `{name}` | " + " | ".join(cells) + " |")
    return faults


def main():
    """The exit status."""
    pfs_check, compiler = sys.argv[1:3]
    if shutil.which(compiler) is None:
        return 77
    names = sorted(name[:-2] for name in os.listdir(GALLERY) if name.endswith(".c"))
    faults, table = [], []
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            faults += judge(pfs_check, compiler, folder, name, table)
    if "--table" in sys.argv[3:]:
        print("\n".join(table))
    for fault in faults:
        print(fault)
    print(f"{len(names)} programs by {compiler}, {len(faults)} faults")
    return 1 if faults or not names else 0


if __name__ == "__main__":
    sys.exit(main())
