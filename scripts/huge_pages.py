#!/usr/bin/python3
"""huge_pages.py - what transparent huge pages change for each allocator: memory and CPU time with
the kernel's mode `always`, relative to `never`.

usage: scripts/huge_pages.py [--rounds N] [--build-dir DIR]
Runs the short suite of scripts/allocators.py in both modes, in turns, N rounds each (2), and prints
a table. Needs root (scripts/huge_pages.sh); the former mode is back at the end. Exit 0: measured.
1: a launch failed. 2: bad usage, no build or no rights.
"""

import os
import subprocess
import sys
import tempfile

from common import columns, commandline, documents, stats
from measuring import launching
from reporting.allocator_results import CPU, MEAN, PEAK, Suite

MODES = ("always", "never")
KIB, MIB = 1 << 10, 1 << 20
MEANS = ((PEAK, "peak resident"), (MEAN, "average resident"), (CPU, "CPU time"))
SINGLE = (("tiny", "resident_bytes", KIB, "tiny: resident, KiB"),
          ("idle", "idle_bytes", MIB, "idle: resident after 3 s, MiB"))


def ratio(always, never, name, metric):
    """The geometric mean of the ratios of medians, over the cases that count in both."""
    cases = [case for case in always.judged(metric) if case in never.judged(metric)]
    return stats.geometric_mean([[always.mid(case, name, metric) / never.mid(case, name, metric)]
                                 for case in cases])


def table(always, never):
    """What is printed of two suites."""
    rows = [[what, *(f"{ratio(always, never, name, metric):.3f}" for name in always.names)]
            for metric, what in MEANS]
    for case, metric, unit, what in SINGLE:
        for mode, suite in zip(MODES, (always, never)):
            rows.append([f"{what} with {mode}", *(f"{suite.mid(case, name, metric) / unit:.1f}"
                                                  for name in always.names)])
    return columns.aligned(["always / never", *always.names], rows)


def joined(suites):
    """One suite of the launches of several, each a round of its own."""
    document = suites[0].document
    launches = [{**launch, "round": number} for number, suite in enumerate(suites, 1)
                for launch in suite.document["launches"]]
    return Suite({**document, "launches": launches})


def measure(mode, build_dir):
    """A suite of one round in a mode."""
    with tempfile.TemporaryDirectory(prefix="pfs-huge-") as folder:
        done = subprocess.run(
            [os.path.join(launching.TOP, "scripts", "huge_pages.sh"), mode,
             os.path.join(launching.TOP, "scripts", "allocators.py"), "--rounds", "1",
             "--build-dir", build_dir, "--out", folder], stdout=subprocess.DEVNULL, check=False)
        if done.returncode == 2:
            raise documents.BadInput("scripts/huge_pages.sh cannot set the mode; run as root, with "
                                     "the programs built")
        return done.returncode == 0 and Suite.load(folder)


def main(argv=None):
    """The command."""
    parser = commandline.Parser(prog="scripts/huge_pages.py", description="What transparent huge "
                                "pages change for each allocator.")
    parser.add_argument("--rounds", type=launching.positive, default=2, metavar="N",
                        help="of the suite, in each mode (default: 2)")
    launching.add_build_dir(parser)
    arguments = parser.parse_args(argv)
    found = {mode: [] for mode in MODES}
    for _ in range(arguments.rounds):
        for mode in MODES:
            found[mode].append(measure(mode, arguments.build_dir))
    if not all(all(suites) for suites in found.values()):
        print("huge_pages: a launch failed", file=sys.stderr)
        return 1
    print(table(*(joined(found[mode]) for mode in MODES)))
    print(f"{len(found['never'][0].judged(PEAK))} cases, {arguments.rounds} rounds in each mode")
    return 0


if __name__ == "__main__":
    commandline.run(main, "huge_pages")
