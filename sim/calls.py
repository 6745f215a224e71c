#!/usr/bin/python3
"""calls.py - all programs of gives and takes of a few threads, every schedule of each.

usage: sim/calls.py PFS_SIM [--threads T] [--operations N] [--memory M[,M]] [--shape S[,S]]
                    [--search states|exhaustive] [--bare] [--seconds S] [--jobs N]

A program says for each thread which calls it makes: g gives a record that it owns, t takes one,
or is refused where none is free. Left out are programs in which a give surely has nothing to give,
and those that are another one with its threads in other order. Shapes: one (record, which
thread 0 owns), and word, page, pages (a record for each thread, in one word, in words of one page,
in pages of their own). Searched are all states, or, with --search exhaustive, all classes of
schedules, which are many more where there are three threads. --bare: records without words of
their own, which only their owners use, so that no step of the protocol is left out. Data races are
not looked for, and with tso a free counts from its return. --jobs: programs at a time. A line a
program, in which paths are executions, or ways to a state that was seen before; and a sum.
Exit 0: all ended, and none failed. 1: one did not end in so many seconds, or failed.
"""

import concurrent.futures
import itertools
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scripts"))

from common import commandline  # pylint: disable=wrong-import-position

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
    """(the line of a search, its states or executions, did it end without a failure?)"""
    command = [arguments.pfs_sim, "explore", "--policy", "exact", "--memory", memory, "--scenario",
               f"calls_{shape}:{program}", "--no-races", "--real-time", "--quiet", "--seconds",
               str(arguments.seconds), "--jobs", "1", "--search", arguments.search]
    command += ["--layout", "bare"] if arguments.bare else []
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.search(r": (\d+) executions \((\d+) .*steps, (.*)", result.stdout)
    if found is None:
        return f"{' '.join(command)}: {result.stderr.strip() or result.stdout}", 0, False
    states = re.search(r"^states: (\d+)", result.stdout, re.MULTILINE)
    paths = int(found[1]) + (int(found[2]) if states else 0)
    number = int(states[1]) if states else paths
    line = f"{memory:6}{shape:6} {program:12} {paths:>12}{number:>12}  {found[3]}"
    good = result.returncode == 0 and found[3].startswith("all there are")
    return line + ("" if result.returncode == 0 else "\n" + result.stdout), number, good


def main():
    """Parse, and search each."""
    parser = commandline.Parser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("pfs_sim")
    parser.add_argument("--threads", type=int, choices=(2, 3), default=2)
    parser.add_argument("--operations", type=int, choices=(1, 2, 3, 4), default=2)
    parser.add_argument("--memory", default="sc,tso")
    parser.add_argument("--shape", default="one", help=", ".join(SHAPES))
    parser.add_argument("--seconds", type=int, default=600, help="for a program")
    parser.add_argument("--search", choices=("states", "exhaustive"), default="states")
    parser.add_argument("--bare", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    if not set(arguments.shape.split(",")) <= set(SHAPES):
        parser.error(f"--shape {arguments.shape}: choose from {', '.join(SHAPES)}")
    cases = [(memory, shape, program) for memory in arguments.memory.split(",")
             for shape in arguments.shape.split(",")
             for program in programs(arguments.threads, arguments.operations, shape)]
    print(f"{'memory':6}{'shape':6} {'calls':12} {'paths':>12}{arguments.search:>12}", flush=True)
    sum_of, ended = 0, 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for line, number, good in pool.map(lambda case: explore(arguments, *case), cases):
            print(line, flush=True)
            sum_of, ended = sum_of + number, ended + good
    what = "states" if arguments.search == "states" else "executions"
    print(f"{len(cases)} programs, {sum_of} {what}, {len(cases) - ended} failed or did not end")
    return 0 if ended == len(cases) else 1


if __name__ == "__main__":
    sys.exit(main())
