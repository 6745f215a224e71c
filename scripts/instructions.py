#!/usr/bin/python3
"""instructions.py - what a call costs in instructions, loads, stores and misses.

usage: scripts/instructions.py [--build-dir DIR] [--count N]
prints a table: for policies and peers, pair and churn on one thread, each as the difference of a
run of 2 N and one of N (pfs-count-calls) under valgrind's cachegrind, for one operation: allocate,
a store into the record, publish and free. Misses are those of the first cache of its model, not of
this machine; a locked instruction counts as one. So it says where time goes, not how much.
Exit 0: printed. 2: bad usage, no build, no valgrind, or a run failed.
"""

import os
import re
import shutil
import subprocess
import tempfile

from common import commandline, documents
from measuring import peers

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROWS = (("local_scan", "inlined"), ("exact", "inlined"), ("exact", "public"),
        ("magazine", "inlined"), ("magazine", "public"), ("malloc", "public"),
        ("jemalloc", "public"), ("mimalloc", "public"))
COLUMNS = ("Ir", "Dr", "Dw", "D1mr", "D1mw")


def counted(program, policy, way, workload, count):
    """{event: how often} of one run."""
    peer = policy if policy in peers.BY_NAME else None
    with tempfile.NamedTemporaryFile(prefix="pfs-count-") as out:
        command = ["valgrind", "--tool=cachegrind", "--cache-sim=yes",
                   f"--cachegrind-out-file={out.name}",
                   "--soname-synonyms=somalloc=nouserintercepts", # no allocator of valgrind's
                   program, "malloc" if peer else policy, way, workload, str(count)]
        done = subprocess.run(command, capture_output=True, text=True, check=False,
                              env=peers.environment(policy))
        text = out.read().decode()
    events = re.search(r"^events: (.*)$", text, re.MULTILINE)
    sums = re.search(r"^summary: (.*)$", text, re.MULTILINE)
    if done.returncode != 0 or events is None or sums is None:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise documents.BadInput(f"{' '.join(command)}: {last}")
    return dict(zip(events[1].split(), map(int, sums[1].split())))


def main(argv=None):
    """The command."""
    parser = commandline.Parser(prog="scripts/instructions.py", description="What a call costs in "
                                "instructions, loads, stores and misses, by cachegrind.")
    parser.add_argument("--build-dir", default=os.path.join(TOP, "build"),
                        help="where the builds are (default build)")
    parser.add_argument("--count", type=int, default=200000, help="operations (default 200000)")
    arguments = parser.parse_args(argv)
    program = os.path.join(arguments.build_dir, "release", "bench", "pfs-count-calls")
    if not os.access(program, os.X_OK):
        parser.error(f"{program}: not found; build the preset release")
    if shutil.which("valgrind") is None:
        parser.error("valgrind is not installed; install Debian's valgrind")
    if arguments.count < 1000:
        parser.error(f"--count {arguments.count}: must be at least 1000")
    there = peers.available(os.path.join(os.path.dirname(program), "pfs-bench"))
    print(f"{'':10} {'':8} {'':6} {'instructions':>13} {'loads':>6} {'stores':>7} {'misses':>7}")
    for workload in ("pair", "churn"):
        for policy, way in ROWS:
            if policy in peers.BY_NAME and policy not in there:
                continue
            runs = [counted(program, policy, way, workload, n * arguments.count) for n in (1, 2)]
            each = [(runs[1][event] - runs[0][event]) / arguments.count for event in COLUMNS]
            print(f"{policy:10} {way:8} {workload:6} {each[0]:13.1f} {each[1]:6.1f} {each[2]:7.1f} "
                  f"{each[3] + each[4]:7.2f}", flush=True)
    return 0


if __name__ == "__main__":
    commandline.run(main, "instructions.py")
