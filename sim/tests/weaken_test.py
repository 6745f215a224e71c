#!/usr/bin/python3
"""weaken_test.py - an order made weaker at run time is found, shortened, saved and replayed.

usage: weaken_test.py PFS_SIM

The release of a free ([L3]) and of the byte copies ([L5]), found by their text in the sources,
become relaxed: at most four switches may be left of the failing schedule, and its replay, from the
file alone, must fail the same way in less than a second.
"""

import os
import re
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
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
    """What is wrong with this case, or None."""
    path, text, scenario, words = case
    saved = os.path.join(folder, "saved")
    place = f"{os.path.basename(path)}:{line_of(path, text)}"
    explore = subprocess.run(
        [program, "explore", "--policy", "local_scan", "--scenario", scenario, "--memory", "views",
         "--search", "rotate", "--executions", "20000", "--weaken", place, "--save", saved],
        capture_output=True, text=True, check=False)
    if explore.returncode != 1 or words not in explore.stdout:
        return f"{place}: exit {explore.returncode}, '{words}' not found"
    shortened = re.search(r"shortened to (\d+) switches", explore.stdout)
    if shortened is None or int(shortened.group(1)) > 4:
        return f"{place}: {shortened.group(0) if shortened else 'not shortened'}"
    begin = time.monotonic()
    replay = subprocess.run([program, "replay", saved], capture_output=True, text=True,
                            check=False)
    took = time.monotonic() - begin
    if replay.returncode != 1 or words not in replay.stdout:
        return f"{place}: the replay ends with {replay.returncode}, without '{words}'"
    print(f"{place}: {shortened.group(0)}, replayed in {took:.3f} s")
    return None


def main():
    """Run all cases."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        faults = [check(sys.argv[1], case, folder) for case in CASES]
    for fault in filter(None, faults):
        print(f"weaken_test.py: {fault}")
    return 1 if any(faults) else 0


if __name__ == "__main__":
    sys.exit(main())
