#!/usr/bin/python3
"""malloc_instructions.py - instructions and locked instructions of calls of malloc and free.

usage: scripts/malloc_instructions.py [--allocators A,B] [--cases A,B] [--json] [--build-dir DIR]
Counted exactly by single stepping (memory/bench/malloc/count.c), beside 500 live blocks, loop and
PLT included: 8 of a pair. "foreign" frees what another thread allocated; "first" is the first time,
without it the steady state. Exit 0: counted. 1: some could not be. 2: bad usage or no build.
"""

import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor

from common import columns, commandline, documents
from measuring import launching, malloc_peers
from reporting import instruction_table
from reporting.instruction_table import CASES

SHORT = ("pair-64", "foreign-64", "pair-4000")


def parse(text):
    """{case: calls, instructions, locked} of what pfs-malloc-count printed."""
    found = {}
    for line in text.splitlines():
        name, calls, instructions, locked = line.split()
        found[name] = {"calls": int(calls), "instructions": int(instructions),
                       "locked": int(locked)}
    return found


def count(program, allocator, cases, cpu, more=None):
    """(what was counted, why not more). On one CPU: a step between two is four times as slow.
    more: in the environment."""
    preload = [f"--preload={allocator.library}"] if allocator.library else []
    try:
        done = subprocess.run(["taskset", "-c", str(cpu), program, *preload, *cases],
                              capture_output=True, text=True, timeout=300, check=False,
                              env={**os.environ, **(more or {})})
    except (OSError, subprocess.TimeoutExpired) as error:
        return {}, str(error)
    said = done.stderr.strip().splitlines()
    return parse(done.stdout), (said or [f"exit {done.returncode}"])[-1] if done.returncode else ""


def count_all(program, allocators, cases, more=None):
    """({allocator: what was counted}, {allocator: why not}); as many at once as there are CPUs."""
    cpus = sorted(os.sched_getaffinity(0))
    with ThreadPoolExecutor(len(cpus)) as pool:
        jobs = {a.name: pool.submit(count, program, a, cases, cpus[k % len(cpus)], more)
                for k, a in enumerate(allocators)}
    counted = {name: job.result()[0] for name, job in jobs.items()}
    return counted, {name: job.result()[1] for name, job in jobs.items() if job.result()[1]}


def count_into(document, build_dir, allocators, cases, more=None):
    """Counts for a chapter of the report; what could not be counted is said in its missing."""
    try:
        program = malloc_peers.program(build_dir, "count")
    except documents.BadInput as problem:
        document["missing"]["instructions"] = str(problem)
        return
    document["instructions"], failed = count_all(program, allocators, cases, more)
    document["missing"].update({f"instructions of {name}": why for name, why in failed.items()})


def main(argv=None):
    """The command."""
    parser = commandline.Parser(prog="scripts/malloc_instructions.py", description="Instructions "
                                "and locked instructions of malloc and free, by single stepping.")
    malloc_peers.add_arguments(parser)
    launching.add_build_dir(parser)
    parser.add_argument("--cases", help=f"of {', '.join(CASES)} (default: all)")
    parser.add_argument("--json", action="store_true", help="print JSON, not a table")
    arguments = parser.parse_args(argv)
    cases = arguments.cases.split(",") if arguments.cases else list(CASES)
    unknown = [c for c in cases if c not in CASES]
    if unknown:
        parser.error(f"unknown case '{unknown[0]}'; choose from {', '.join(CASES)}")
    program = malloc_peers.program(arguments.build_dir, "count")
    allocators, missing = malloc_peers.chosen(parser, arguments)
    counted, failed = count_all(program, allocators, cases)
    if arguments.json:
        print(json.dumps(counted, indent=1))
    else:
        print(columns.aligned(*instruction_table.table(counted)))
    malloc_peers.say_missing("malloc_instructions.py", {**missing, **failed})
    return 1 if failed else 0


if __name__ == "__main__":
    commandline.run(main, "malloc_instructions.py")
