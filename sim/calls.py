#!/usr/bin/python3
"""calls.py - all programs of gives and takes of a few threads, every class of schedules of each.

usage: sim/calls.py PFS_SIM [--threads T] [--operations N] [--memory M[,M]] [--shape S[,S]]
                    [--seconds S] [--jobs N]

A program says for each thread which calls it makes: g gives a record that it owns, t takes one,
or is refused where none is free. Left out are programs in which a give surely has nothing to give,
and those that are another one with its threads in other order. Shapes: one (record, which
thread 0 owns), and word, page, pages (a record for each thread, in one word, in words of one page,
in pages of their own). Data races are not looked for, and with tso a free counts from its return:
so what only the machine of a search would tell apart is one class. A line a program, and a sum.
Exit 0: all ended, and none failed. 1: one did not end in so many seconds, or failed.
"""

import argparse
import itertools
import re
import subprocess
import sys

SHAPES = ("one", "word", "page", "pages")


def can_give(calls, owned, records):
    """Is there a run of these calls in which each give has a record?"""
    for call in calls:
        if call == "g" and owned == 0:
            return False
        owned = owned - 1 if call == "g" else min(owned + 1, records)
    return True


def programs(threads, operations, shape):
    """The calls of each thread, separated by commas."""
    records = 1 if shape == "one" else threads
    words = ["".join(word) for word in itertools.product("gt", repeat=operations)]
    owners = [w for w in words if can_give(w, 1, records)]
    others = [w for w in words if can_give(w, 0, records)] if shape == "one" else owners
    for first in owners:
        for rest in itertools.combinations_with_replacement(others, threads - 1):
            if shape == "one" or first <= rest[0]:
                yield ",".join((first, *rest))


def explore(arguments, memory, shape, program):
    """(executions, did it end without a failure?) of a search; prints a line."""
    command = [arguments.pfs_sim, "explore", "--policy", "exact", "--memory", memory, "--scenario",
               f"calls_{shape}:{program}", "--no_races", "--real_time", "--quiet", "--seconds",
               str(arguments.seconds)] + (["--jobs", arguments.jobs] if arguments.jobs else [])
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.search(r": (\d+) executions .*steps, (.*)", result.stdout)
    if found is None:
        sys.exit(f"calls.py: {' '.join(command)}: {result.stderr.strip() or result.stdout}")
    print(f"{memory:6}{shape:6} {program:12} {found[1]:>10}  {found[2]}", flush=True)
    if result.returncode != 0:
        print(result.stdout)
    return int(found[1]), result.returncode == 0 and found[2].startswith("all there are")


def main():
    """Parse, and search each."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("pfs_sim")
    parser.add_argument("--threads", type=int, choices=(2, 3), default=2)
    parser.add_argument("--operations", type=int, choices=(1, 2, 3, 4), default=2)
    parser.add_argument("--memory", default="sc,tso")
    parser.add_argument("--shape", default="one", help=", ".join(SHAPES))
    parser.add_argument("--seconds", type=int, default=600, help="for a program")
    parser.add_argument("--jobs")
    arguments = parser.parse_args()
    if not set(arguments.shape.split(",")) <= set(SHAPES):
        parser.error(f"--shape {arguments.shape}: choose from {', '.join(SHAPES)}")
    executions, ended, count = 0, 0, 0
    for memory in arguments.memory.split(","):
        for shape in arguments.shape.split(","):
            for program in programs(arguments.threads, arguments.operations, shape):
                done, good = explore(arguments, memory, shape, program)
                executions, ended, count = executions + done, ended + good, count + 1
    print(f"{count} programs, {executions} executions, {count - ended} failed or did not end")
    return 0 if ended == count else 1


if __name__ == "__main__":
    sys.exit(main())
