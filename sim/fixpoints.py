#!/usr/bin/python3
"""fixpoints.py - the searches of threads that loop for ever, as a table.

usage: sim/fixpoints.py PFS_SIM [--only S[,S]] [--memory M[,M]] [--seconds S] [--mib N]

Of each scenario loop_*, bound on preemptions and memory: did the search to a fixpoint end, so that
these are all states, or was it cut? States, seconds of CPU, memory, and how many choices away the
last state is. The table of docs/explanation/search-results.md is made by it.
Exit 0: nothing failed. 1: a search did.
"""

import os
import re
import resource
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scripts"))

from common import commandline  # pylint: disable=wrong-import-position

ANY = None
# Policy, scenario, threads, preemptions between two rests.
SEARCHES = (("exact", "loop_one", 2, ANY), ("exact", "loop_pair", 2, ANY),
            ("exact", "loop_words", 2, 0), ("exact", "loop_trees", 2, 0),
            ("magazine", "loop_depot", 2, ANY),
            ("magazine", "loop_ring", 2, 0), ("magazine", "loop_ring", 2, 1),
            ("magazine", "loop_ring", 2, ANY),
            ("magazine", "loop_ring", 3, 0),
            ("magazine", "loop_passing", 2, 0), ("magazine", "loop_passing", 2, 1),
            ("magazine", "loop_one", 2, 0), ("magazine", "loop_pair", 2, 0),
            ("magazine", "loop_rings", 2, 0))
BARE = ("loop_ring", "loop_passing")
LINE = re.compile(r"(all states|all within the bound|cut|met): (\d+) states, [\d.]+ s, (\d+) MiB; "
                  r"the last is (\d+)")


def cpu_seconds():
    """Of all children so far."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


def search(arguments, case, memory):
    """Its row of the table, and did it not fail?"""
    policy, scenario, threads, preemptions = case
    command = [arguments.pfs_sim, "explore", "--policy", policy, "--scenario", scenario,
               "--memory", memory, "--search", "fixpoint", "--no-races", "--quiet",
               "--layout", "bare" if scenario in BARE else "in-record",
               "--threads", str(threads),
               "--seconds", str(arguments.seconds), "--memory-mib", str(arguments.mib)]
    if preemptions is not ANY:
        command += ["--preemptions", str(preemptions)]
    name = (f"| `{policy}` | `{scenario}` | `{memory}` | {threads} | "
            f"{'any' if preemptions is ANY else preemptions}")
    before = cpu_seconds()
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = cpu_seconds() - before
    found = LINE.search(result.stdout)
    if found is None:
        return f"{name} | {result.stderr.strip()} | | | |", False
    end, states, mib, depth = found.groups()
    how = {"cut": "cut", "met": "FAILED"}.get(end, "all")
    return (f"{name} | {how} | {int(states):,} | {seconds:.0f} | {mib} | {depth} |",
            end != "met")


def main():
    """The command line."""
    parser = commandline.Parser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("pfs_sim", metavar="PFS_SIM")
    parser.add_argument("--only", metavar="S[,S]", default="", help="scenarios; default: all")
    parser.add_argument("--memory", metavar="M[,M]", default="sc,tso", help="default sc,tso")
    parser.add_argument("--seconds", type=int, default=120, help="of each search; default 120")
    parser.add_argument("--mib", type=int, default=4096, help="of each search; default 4096")
    arguments = parser.parse_args()
    only = arguments.only.split(",") if arguments.only else [case[1] for case in SEARCHES]
    print("| policy | scenario | memory | threads | preemptions | states | | CPU, s | MiB "
          "| choices |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    fine = True
    for case in SEARCHES:
        for memory in arguments.memory.split(",") if case[1] in only else ():
            row, good = search(arguments, case, memory)
            print(row, flush=True)
            fine &= good
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
