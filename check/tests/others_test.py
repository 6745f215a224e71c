#!/usr/bin/python3
"""others_test.py - code that others wrote, by Debian's packages: what pfs-check says of it.

usage: others_test.py PFS_CHECK COMPILER PACKAGE... [--table] [--only FILE]
Each program of check/others/ says at its head which package it is about, how it is compiled, and
what each search must say:
  PACKAGE libck-dev 0.7.1, /usr/include/ck_ring.h
  BUILD -DCK_MD_RMO                     of the RUNs behind it; none: no more flags
  RUN spsc --memory tso: complete
  RUN two_producers: found data race
complete: all executions, and none failed. bounded: none failed, not all. found, unchecked: what
follows is in the message of a failure, or of what cannot be checked. --table prints what
docs/reference/checked-packages.md has. A $NAME is of the environment; what lacks one is
skipped. Exit 77: no such compiler or package.
"""

import os
import re
import shlex
import shutil
import sys
import tempfile

import programs
from programs import TOP, expect, finish, run, skip

# Headers of a package are its own code; C++'s and a port's are not.
SHOWN = ["--own", "/usr/include/", "--foreign", "/c++/", "--own", "shared_ptr", "--foreign",
         "_c11.h", "--foreign", "ck_pr.h", "--quiet"]
OTHERS = os.path.join(TOP, "check", "others")
SAID = re.compile(r": (\d+) executions \(\d+ repeated a class, (\d+) incomplete\), \d+ steps, "
                  r"(.*)")


class Head:
    """What a program's head says."""

    def __init__(self, path):
        self.path = path
        self.name = os.path.basename(path)
        with open(path, encoding="utf-8") as file:
            text = file.read().split("*/")[0]
        package = re.search(r"^ \* PACKAGE (\S+) (\S+), (\S+)$", text, re.MULTILINE)
        self.package, self.version, self.proof = package.groups()
        self.proof = os.path.expandvars(self.proof)
        self.runs, flags = [], ""  # (flags, scenario, options, what must be said)
        for line in text.splitlines():
            if line.startswith(" * BUILD "):
                flags = os.path.expandvars(line[len(" * BUILD "):])
            run = re.match(r" \* RUN (\S+)(.*?): (complete|bounded|found .*|unchecked .*)$", line)
            if run is not None:
                self.runs.append((flags, *run.groups()))


def build(compiler, folder, head, flags):
    """The path of the shared object."""
    is_cxx = head.name.endswith(".cc")
    command = {"gcc": "g++", "clang": "clang++"}.get(compiler) if is_cxx else compiler
    return programs.build(command, head.path, os.path.join(folder, head.name), "-fno-builtin",
                          "-std=c++17" if is_cxx else "-std=gnu11", "-I", OTHERS,
                          *shlex.split(flags))


def search(pfs_check, program, scenario, options):
    """(exit status, executions, is complete, words)"""
    done = run(pfs_check, program, "--scenario", scenario, *SHOWN, *shlex.split(options))
    words = done.stdout + done.stderr
    said = SAID.search(done.stdout)
    if said is None:
        return done.returncode, 0, False, words
    complete = said.group(3).startswith("all there are") and said.group(2) == "0"
    return done.returncode, int(said.group(1)), complete, words


def is_as_said(expected, status, complete, words):
    """Is it what the head says?"""
    if expected == "complete":
        return status == 0 and complete
    if expected == "bounded":
        return status == 0 and not complete
    what, _, text = expected.partition(" ")
    label, wanted = ("found", 1) if what == "found" else ("cannot be checked", 2)
    found = re.search(rf"^{label}: (.*)$", words, re.MULTILINE)
    return status == wanted and found is not None and text in found.group(1)


def judge(pfs_check, compiler, folder, head, table):
    """One program."""
    expect(head.runs, f"{head.name}: no RUN")
    built = None
    for flags, scenario, options, expected in head.runs:
        if flags != built:
            program = build(compiler, folder, head, flags)
            built = flags
        status, executions, complete, words = search(pfs_check, program, scenario, options)
        table.append(f"| `{head.name}` | `{scenario}{options}` | {executions:,} | {expected} |")
        expect(is_as_said(expected, status, complete, words),
               f"{head.name}, {scenario}{options}: not {expected} with {compiler} (the head speaks "
               f"of {head.package} {head.version}):\n{words}")


def main():
    words = [word for word in sys.argv[1:] if word != "--table"]
    only = words[words.index("--only") + 1] if "--only" in words else None
    pfs_check, compiler = words[:2]
    packages = words[2:words.index("--only")] if only else words[2:]
    heads = [Head(os.path.join(OTHERS, name)) for name in sorted(os.listdir(OTHERS))
             if name.endswith((".c", ".cc")) and only in (None, name)]
    heads = [head for head in heads if head.package in packages]
    there = [head for head in heads if os.path.exists(head.proof)]
    if shutil.which(compiler) is None or (heads and not there):
        skip(f"no {compiler}, or none of {' '.join(packages)}")
    table = []
    with tempfile.TemporaryDirectory() as folder:
        for head in there:
            judge(pfs_check, compiler, folder, head, table)
    if "--table" in sys.argv:
        print("\n".join(table))
    print(f"{len(there)} programs by {compiler}, {len(heads) - len(there)} skipped")
    expect(there, "no program")
    finish()


if __name__ == "__main__":
    main()
