#!/usr/bin/python3
"""fixpoints.py - the searches of threads that loop for ever, as a table.

usage: sim/fixpoints.py PFS_SIM [--only S[,S]] [--memory M[,M]] [--seconds S] [--mib N]

Of each scenario loop_* and memory: did the search to a fixpoint end, so that these are all states,
or was it cut? States, seconds of CPU, memory, and how many choices away the last state is. The
table of docs/simulation.md is made by it.
Exit 0: nothing failed. 1: a search did.
"""

import os
import re
import resource
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scripts"))

from common import commandline  # pylint: disable=wrong-import-position

SEARCHES = (("exact", "loop_one"), ("exact", "loop_pair"), ("exact", "loop_words"),
            ("exact", "loop_trees"), ("magazine", "loop_depot"), ("magazine", "loop_one"),
            ("magazine", "loop_pair"), ("magazine", "loop_rings"))
LINE = re.compile(r"(all states|cut|met): (\d+) states, [\d.]+ s, (\d+) MiB; the last is (\d+)")


def cpu_seconds():
    """Of all children so far."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


def search(arguments, policy, scenario, memory):
    """Its row of the table, and did it not fail?"""
    command = [arguments.pfs_sim, "explore", "--policy", policy, "--scenario", scenario,
               "--memory", memory, "--search", "fixpoint", "--no-races", "--quiet",
               "--seconds", str(arguments.seconds), "--memory-mib", str(arguments.mib)]
    before = cpu_seconds()
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = cpu_seconds() - before
    found = LINE.search(result.stdout)
    if found is None:
        return f"| `{policy}` | `{scenario}` | `{memory}` | {result.stderr.strip()} | | | |", False
    end, states, mib, depth = found.groups()
    how = {"all states": "all", "cut": "cut", "met": "FAILED"}[end]
    return (f"| `{policy}` | `{scenario}` | `{memory}` | {how} | {int(states):,} | {seconds:.0f} | "
            f"{mib} | {depth} |", end != "met")


def main():
    """The command line."""
    parser = commandline.Parser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("pfs_sim", metavar="PFS_SIM")
    parser.add_argument("--only", metavar="S[,S]", default="", help="scenarios; default: all")
    parser.add_argument("--memory", metavar="M[,M]", default="sc,tso", help="default sc,tso")
    parser.add_argument("--seconds", type=int, default=120, help="of each search; default 120")
    parser.add_argument("--mib", type=int, default=4096, help="of each search; default 4096")
    arguments = parser.parse_args()
    only = arguments.only.split(",") if arguments.only else [s for _, s in SEARCHES]
    print("| policy | scenario | memory | states | | CPU, s | MiB | choices |")
    print("|---|---|---|---|---|---|---|---|")
    fine = True
    for policy, scenario in SEARCHES:
        for memory in arguments.memory.split(",") if scenario in only else ():
            row, good = search(arguments, policy, scenario, memory)
            print(row, flush=True)
            fine &= good
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
