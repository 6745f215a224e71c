#!/usr/bin/python3
"""weaken_test.py - an order made weaker at run time is found, shortened, saved and replayed.

usage: weaken_test.py PFS_SIM

The release of a free ([L3]) and of the byte copies ([L5]), found by their text in the sources,
become relaxed: at most four switches may be left of the failing schedule, and its replay, from the
file alone, must fail the same way.
"""

import os
import re
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "scripts"))
from common.expect import expect, finish, run

CASES = (
    # file, text of the operation's line, scenario, words of the failure
    ("containers/pfs_lock.h", "pfs_store_release(&self->word, word - PFS_STATE_ALLOCATED)",
     "churn", "data race"),
    ("containers/read.c", "pfs_store_release(&to[i], value)", "read", "confirmed read"),
)


def line_of(path, text):
    """The number of the one line that holds the text."""
    with open(os.path.join(TOP, path), encoding="utf-8") as file:
        found = [number for number, line in enumerate(file, 1) if text in line]
    if len(found) != 1:
        sys.exit(f"weaken_test.py: {path}: '{text}' stands there {len(found)} times, not once")
    return found[0]


def check(program, case, folder):
    """One case."""
    path, text, scenario, words = case
    saved = os.path.join(folder, "saved")
    place = f"{os.path.basename(path)}:{line_of(path, text)}"
    explore = run(program, "explore", "--policy", "local_scan", "--scenario", scenario, "--memory",
                  "views", "--search", "rotate", "--executions", "20000", "--weaken", place,
                  "--save", saved)
    expect(explore.returncode == 1 and words in explore.stdout,
           f"{place}: exit {explore.returncode}, '{words}' not found")
    shortened = re.search(r"shortened to (\d+) switches", explore.stdout)
    expect(shortened and int(shortened.group(1)) <= 4,
           f"{place}: {shortened.group(0) if shortened else 'not shortened'}")
    replay = run(program, "replay", saved)
    expect(replay.returncode == 1 and words in replay.stdout,
           f"{place}: the replay ends with {replay.returncode}, without '{words}'")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as FOLDER:
        for CASE in CASES:
            check(sys.argv[1], CASE, FOLDER)
    finish()
