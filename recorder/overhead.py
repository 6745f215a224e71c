#!/usr/bin/python3
"""overhead.py - what recording costs: programs with and without the recorder, in turns.

usage: recorder/overhead.py [--build DIR] [--rounds N]
Each round runs each program once plain and once recorded; the ratio is that of the two, in CPU
time of the whole process (a busy machine takes the CPU away from both), and in the brackets stand
the smallest and the largest ratio of all rounds. The last column is the CPU time of one event.
Exit 0: all measured. 1: a program failed or its trace is not whole. 2: bad usage.
"""

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scripts"))

from common import commandline  # pylint: disable=wrong-import-position

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PYTHON = ("import json; f = lambda n: [{'key': i, 'list': [str(i), i / 7]} for i in range(n)]; "
          "[json.loads(json.dumps(f(n % 500))) for n in range(0, 20000, 97)]")
SQL = ("create table t(a integer primary key, b text); create index i on t(b); with recursive "
       "c(x) as (select 1 union all select x + 1 from c where x < 60000) insert into t select x, "
       "printf('row %d', x * 7919 % 20000) from c; select count(*), max(b) from t;")


def programs(build):
    """(name, command, environment) of what is there"""
    pairs = os.path.join(build, "recorder", "recorded")
    every = [("malloc and free, 1 thread", [pairs, "pairs", "1"], {}),
             ("malloc and free, 2 threads", [pairs, "pairs", "2"], {}),
             ("python3, all by malloc", ["/usr/bin/python3", "-c", PYTHON],
              {"PYTHONMALLOC": "malloc"}),
             ("sqlite3", ["sqlite3", ":memory:", SQL], {})]
    for name, command, environment in every:
        if shutil.which(command[0]):
            yield name, command, environment
        else:
            print(f"overhead.py: {command[0]} is not installed: left out", file=sys.stderr)


def cpu_seconds(command, environment):
    with subprocess.Popen(command, env={**os.environ, **environment},
                          stdout=subprocess.DEVNULL) as child:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"overhead.py: {command[0]}: exit {child.returncode}")
    return usage.ru_utime + usage.ru_stime


def events_of(pfs_trace, trace):
    said = subprocess.run([pfs_trace, "info", trace], capture_output=True, text=True, check=False)
    found = re.search(r"^  events +(\d+)", said.stdout, re.MULTILINE)
    if not found or "  unfinished " in said.stdout:
        sys.exit(f"overhead.py: the trace is not whole: {said.stdout}{said.stderr}")
    return int(found.group(1))


def measure(build, rounds):
    recorder = os.path.join(build, "recorder", "librecorder.so")
    pfs_trace = os.path.join(build, "recorder", "pfs-trace")
    print(f"{'program':<28} {'plain':>8} {'recorded':>9}   {'ratio':<22} {'events':>9} "
          f"{'ns/event':>9}")
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "t.pfstrace")
        for name, command, environment in programs(build):
            seconds = [(cpu_seconds(command, environment),
                        cpu_seconds(command, {**environment, "LD_PRELOAD": recorder,
                                              "PFSLAB_TRACE": trace})) for _ in range(rounds)]
            events = events_of(pfs_trace, trace)
            plain, recorded = (statistics.median(column) for column in zip(*seconds))
            ratios = [after / before for before, after in seconds]
            shown = f"{statistics.median(ratios):.2f} [{min(ratios):.2f}, {max(ratios):.2f}]"
            each = statistics.median((after - before) / events for before, after in seconds)
            print(f"{name:<28} {plain:>6.2f} s {recorded:>7.2f} s   {shown:<22} {events:>9} "
                  f"{each * 1e9:>9.0f}", flush=True)


def main():
    parser = commandline.Parser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(TOP, "build", "release"))
    parser.add_argument("--rounds", type=int, default=9)
    given = parser.parse_args()
    if given.rounds < 1:
        parser.error(f"--rounds {given.rounds}: give a whole number from 1")
    if not os.path.exists(os.path.join(given.build, "recorder", "librecorder.so")):
        parser.error(f"--build '{given.build}': no recorder there; build the preset release")
    measure(os.path.abspath(given.build), given.rounds)


if __name__ == "__main__":
    main()
