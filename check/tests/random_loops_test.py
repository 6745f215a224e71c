#!/usr/bin/python3
"""random_loops_test.py - random programs with loops: pruning loses no outcome.

An exhaustive search of programs/random.c finds each outcome that the naive search finds, which
prunes nothing.

usage: random_loops_test.py PFS_CHECK COMPILER [--thousands N] [--memory M[,M...]]
Programs of which the naive search sees all are compared both ways. Exit 77: no such compiler.
"""

import argparse
import os
import re
import shutil
import tempfile

from programs import PROGRAMS, build, equal, expect, finish, run, skip

STEPS = 16  # of an execution of the naive search: it follows a waiting loop no further
EXECUTIONS = 300
HEAD = re.compile(r"^(p\d+) \S+ \S+: (\d+) executions .* (\d+) incomplete\), \d+ steps, (.*)$")
OUTCOME = re.compile(r"^ +\d+  (.*)$")


def outcomes(said):
    """By program: its outcomes, executions, how many of them were given up, and the extent."""
    programs, last = {}, None
    for line in said.splitlines():
        head, outcome = HEAD.match(line), OUTCOME.match(line)
        if head:
            last = set()
            programs[head.group(1)] = (last, int(head.group(2)), int(head.group(3)),
                                       head.group(4))
        elif outcome and last is not None:
            last.add(outcome.group(1))
    return programs


def compare(pfs_check, program, memory, seed):
    """The number of programs, and of those that were compared both ways."""
    ours = outcomes(run(pfs_check, program, "--memory", memory, "--jobs", "1", "--quiet").stdout)
    naive = outcomes(run(pfs_check, program, "--memory", memory, "--jobs", "1", "--quiet",
                         "--search", "naive", "--looks", "0", "--steps", str(STEPS),
                         "--executions", str(EXECUTIONS)).stdout)
    whole = 0
    equal((len(ours), len(naive)), (1000, 1000), f"{memory}, seed {seed}: programs")
    for name, (found, executions, incomplete, extent) in ours.items():
        wanted, tried, cut, _ = naive[name]
        what = f"{memory}, seed {seed}, {name}"
        expect(extent == "all there are: no violation" and incomplete == 0, f"{what}: {extent}")
        expect(wanted <= found, f"{what}: misses {wanted - found} in {executions} executions")
        if tried < EXECUTIONS and cut == 0:
            whole += 1
            expect(found <= wanted, f"{what}: not in the naive search: {found - wanted}")
    return len(ours), whole


def main():
    """All thousands."""
    parser = argparse.ArgumentParser()
    parser.add_argument("pfs_check")
    parser.add_argument("compiler")
    parser.add_argument("--thousands", type=int, default=1)
    parser.add_argument("--memory", default="sc,views", help="of sc, tso, views")
    arguments = parser.parse_args()
    if shutil.which(arguments.compiler) is None:
        skip(f"no {arguments.compiler}")
    models = arguments.memory.split(",")
    programs, both = dict.fromkeys(models, 0), dict.fromkeys(models, 0)
    with tempfile.TemporaryDirectory() as folder:
        for thousand in range(arguments.thousands):
            seed = 1 + 1000 * thousand
            program = build(arguments.compiler, os.path.join(PROGRAMS, "random.c"),
                            os.path.join(folder, "random"), f"-DPFS_RANDOM_SEED={seed}")
            for memory in models:
                more, whole = compare(arguments.pfs_check, program, memory, seed)
                programs[memory], both[memory] = programs[memory] + more, both[memory] + whole
    for memory in models:
        said = f"{programs[memory]} programs, {memory}: {both[memory]} compared both ways"
        expect(both[memory] > programs[memory] // 10, said)
        print(said)
    finish()


if __name__ == "__main__":
    main()
