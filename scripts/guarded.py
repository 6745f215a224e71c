#!/usr/bin/python3
"""guarded.py - guarded blocks: does a program that misuses its blocks meet one as often as
expected, and what does it cost to have them?

usage: scripts/guarded.py [--build-dir DIR] [--runs N] [--misused M] [--pairs N]
                          [--only found|cost]
found: N runs (10000) of a program that uses M blocks (50000) after their free, at the default rate
of one guarded block per 500000 mallocs. Each run that meets one ends by SIGSEGV, with a report: its
probability is 1 - (1 - 1/500000)^M. The count must be within 4 deviations, and no run may end
otherwise.
cost: workloads of pfs-malloc-load, N pairs (40) of a run without guarded blocks and one at the
default rate, in random order: the median of the ratios of CPU time, and its 95 % interval. A line
more has one guarded block per 5000 mallocs, which any difference should show.
A minute each. Exit 0: as expected. 1: not. 2: bad usage or no build.
"""

import argparse
import json
import math
import os
import random
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor

from common import columns, commandline, stats
from measuring import launching

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RATE = 500000
DEVIATIONS = 4
LOADS = (("pair", ("--count=40000000",)), ("burst", ("--count=600",)),
         ("mixed", ("--count=1600000",)), ("handoff", ("--count=4000000",)))
CONFS = {"none": "guard_rate:0", "default": "", "1 in 5000": "guard_rate:5000"}


def found(program, library, runs, misused):
    """True: the count of runs that met a guarded block is as expected."""
    environment = {**os.environ, "LD_PRELOAD": library, "PFS_MALLOC_CONF": ""}

    def one(_):
        done = subprocess.run([program, "misuse", str(misused)], env=environment, check=False,
                              stderr=subprocess.PIPE, text=True)
        is_named = "use after free" in done.stderr and "freed by" in done.stderr
        return done.returncode, is_named

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        ends = list(pool.map(one, range(runs)))
    met = sum(end == (-signal.SIGSEGV, True) for end in ends)
    well = sum(end == (0, False) for end in ends)
    chance = 1 - (1 - 1 / RATE) ** misused
    expected, spread = runs * chance, math.sqrt(runs * chance * (1 - chance))
    off = (met - expected) / spread if spread > 0 else 0
    print(f"{runs} runs, {misused} misused blocks each: {met} ended by a report, "
          f"{expected:.1f} expected ({off:+.2f} deviations), {runs - met - well} otherwise")
    return met + well == runs and abs(off) <= DEVIATIONS


def seconds(runner, load, library, workload, words, conf):
    """CPU time of one run."""
    said = subprocess.run([runner, f"--preload={library}", "--", load, *words, workload],
                          capture_output=True, text=True, check=True,
                          env={**os.environ, "PFS_MALLOC_CONF": conf}).stderr
    shown = json.loads(said)
    return shown["user_s"] + shown["system_s"]


def cost(build_dir, library, pairs):
    """The table of ratios to a run without guarded blocks."""
    runner = launching.built(build_dir, "memory", "bench", "malloc", "pfs-malloc-run")
    load = launching.built(build_dir, "memory", "bench", "malloc", "pfs-malloc-load")
    rows = []
    for workload, words in LOADS:
        ratios = {name: [] for name in CONFS if name != "none"}
        for _ in range(pairs):
            order = list(CONFS)
            random.shuffle(order)
            took = {name: seconds(runner, load, library, workload, words, CONFS[name])
                    for name in order}
            for name, of_name in ratios.items():
                of_name.append(took[name] / took["none"])
        for name, of_name in ratios.items():
            interval = stats.median_interval(of_name)
            rows.append([workload, name, f"{stats.median(of_name):.4f}",
                         f"{interval.low:.4f} to {interval.high:.4f}"])
    print(f"CPU time, compared with guard_rate:0, {pairs} pairs of runs")
    print(columns.aligned(["workload", "guarded", "median", "95 %"], rows))


def count(text):
    """A number of runs."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a count; give 1 or more")
    return number


def main(argv=None):
    """The command."""
    parser = commandline.Parser(prog="scripts/guarded.py", description="Guarded blocks: how many "
                                "are met, how many are expected; and what they cost.")
    launching.add_build_dir(parser)
    for name, default in (("runs", 10000), ("misused", 50000), ("pairs", 40)):
        parser.add_argument(f"--{name}", type=count, default=default, metavar="N",
                            help=f"default {default}")
    parser.add_argument("--only", choices=("found", "cost"))
    arguments = parser.parse_args(argv)
    library = launching.built(arguments.build_dir, "memory", "libpfsmalloc.so")
    is_fine = True
    if arguments.only != "cost":
        program = launching.built(arguments.build_dir, "memory", "tests", "malloc", "guarded")
        is_fine = found(program, library, arguments.runs, arguments.misused)
    if arguments.only != "found":
        cost(arguments.build_dir, library, arguments.pairs)
    return 0 if is_fine else 1


if __name__ == "__main__":
    commandline.run(main, "guarded")
