#!/usr/bin/python3
"""accounts.py - what the accounts cost, how wrong each rule of crediting is, what they take
themselves, and what who reads them sees and costs.

usage: scripts/accounts.py [--long | --quick] [--out DIR] [--only CASE,CASE] [--rounds N]
The cases of accounts_cases.py are launched in rounds, cases and rules in random order. Writes
accounts.json (every launch's numbers) into the result folder and prints tables and bars;
scripts/report.py draws the chapter "The accounts". scripts/run measures the short suite. Exit 0:
every launch succeeded. 1: some failed. 2: bad usage or no build.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import malloc_instructions
from common import commandline, documents, machine
from common.progress import Progress
from measuring import accounts_cases, chapter_command, launching, malloc_peers
from reporting import accounts_results

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIMIT_S = 120


def make_plan(cases, rounds, seed):
    """The launches in order: rounds, in each the cases shuffled, in each its ways. rounds: {group:
    how many}."""
    source = random.Random(seed)
    launches = []
    for number in range(1, max(rounds.values()) + 1):
        turn = [case for case in cases if number <= rounds[case.group]]
        source.shuffle(turn)
        for case in turn:
            order = list(accounts_cases.ways(case))
            source.shuffle(order)
            launches += [{"number": 0, "round": number, "case": case.name, "way": way,
                          "status": "planned"} for way in order]
    for position, launch in enumerate(launches):
        launch["number"] = position + 1
    return launches


def facts_of(cases):
    """What the document says of its cases."""
    return {case.name: {key: value for key, value in case._asdict().items() if key != "name"}
            for case in cases}


def run_launch(launch, size, build_dir, folder):
    """Run a process; the launch has its numbers then, or the reason why it has none."""
    case, begin = accounts_cases.BY_NAME[launch["case"]], time.monotonic()
    words, more = accounts_cases.command(case, launch["way"], size, build_dir, launch["round"])
    environment = {**os.environ, "LC_ALL": "C", "LD_PRELOAD": "", **more, "PFS_MEM_DIR": folder}
    try:
        done = subprocess.run(words, capture_output=True, text=True, errors="replace",
                              stdin=subprocess.DEVNULL, env=environment, timeout=LIMIT_S,
                              check=False)
        said = done.stderr.strip().splitlines()
        if done.returncode and case.group != "errors":  # there it is what was found
            raise ValueError(f"exit {done.returncode}: {said[-1] if said else 'no message'}")
        launch.update(values=accounts_cases.values(case, launch["way"], done.stdout),
                      status="done")
    except subprocess.TimeoutExpired:
        launch.update(status="failed", reason=f"no end after {LIMIT_S} s")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        launch.update(status="failed", reason=str(error) or type(error).__name__)
    launch["seconds"] = round(time.monotonic() - begin, 3)


def run_plan(launches, size, build_dir, folder):
    """All launches, one after the other."""
    rest = [accounts_cases.ESTIMATE_S[accounts_cases.BY_NAME[l["case"]].group] for l in launches]
    progress = Progress(len(launches), sum(rest))
    for k, launch in enumerate(launches):
        progress.show(k, sum(rest[:k]), f"{launch['case']} {launch['way']}")
        run_launch(launch, size, build_dir, folder)
        if launch["status"] == "failed":
            progress.say(f"accounts: {launch['case']} {launch['way']} failed: {launch['reason']}")
    progress.show(len(launches), sum(rest), "measured")
    progress.end()


def count_instructions(document, build_dir, folder):
    """Instructions of a call without and with counting, where they can be counted."""
    found = [malloc_peers.Allocator(name, accounts_cases.library(build_dir, kind), "")
             for name, kind in (("not counted", "none"), ("counted", "counted"))]
    try:
        counter = malloc_peers.program(build_dir, "count")
    except documents.BadInput as problem:
        document["missing"]["instructions"] = str(problem)
        return
    counted, failed = malloc_instructions.count_all(counter, found, malloc_instructions.SHORT,
                                                    {"PFS_MEM_DIR": folder})
    document["instructions"] = counted
    document["missing"].update({f"instructions, {name}": why for name, why in failed.items()})


def measure_suite(folder, kind, build_dir, seed, rounds=None, only=None):
    """Measure and write accounts.json; the document. rounds: None, or as many for all."""
    cases = [case for case in accounts_cases.CASES if not only or case.name in only]
    for case in cases:  # what is not built is said before anything is measured
        for way in accounts_cases.ways(case):
            accounts_cases.command(case, way, accounts_cases.SIZES[kind], build_dir, 1)
    planned = accounts_cases.LAUNCHES.get(kind, {})
    groups = {case.group: rounds or planned.get(case.group, 1) for case in cases}
    document = {"format": 1, "kind": kind, "seed": seed, "complete": False,
                "machine": machine.describe(TOP, build_dir), "missing": {},
                "cases": facts_of(cases),
                "launches": make_plan(cases, groups, seed), "instructions": {}}
    # The boxes: in memory where there is such a file system, as they are without being asked.
    shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    work = tempfile.mkdtemp(prefix="pfs-accounts-", dir=shared)
    try:
        run_plan(document["launches"], accounts_cases.SIZES[kind], build_dir, work)
        if not only:
            count_instructions(document, build_dir, work)
        document["complete"] = all(l["status"] == "done" for l in document["launches"])
    finally:
        shutil.rmtree(work, ignore_errors=True)
        documents.write_json(os.path.join(folder, accounts_results.FILE), document)
    return document


def report_missing(document):
    """What was left out or failed, on stderr; the number of failures."""
    malloc_peers.say_missing("accounts", document["missing"])
    failed = [l for l in document["launches"] if l["status"] != "done"]
    if failed:
        print(f"accounts: {len(failed)} of {len(document['launches'])} launches failed",
              file=sys.stderr)
    return len(failed)


def arguments_of(argv):
    """The parsed command line."""
    parser = chapter_command.parser_of(
        "scripts/accounts.py", "Measure what the accounts cost, how "
        "wrong each rule is, what they take, and who reads.",
        accounts_cases.BY_NAME, "longer slices, more launches (4 minutes)")
    parser.add_argument("--build-dir", default=os.path.join(TOP, "build"), metavar="DIR",
                        help="where the builds are (default build)")
    return chapter_command.parse(parser, accounts_cases.BY_NAME, argv)


def main(argv=None):
    """The command."""
    arguments = arguments_of(argv)
    folder = arguments.out or launching.default_folder()
    launching.must_be_writable(folder)
    signal.signal(signal.SIGTERM, launching.interrupt)
    kind = "long" if arguments.long else "quick" if arguments.quick else "short"
    document = measure_suite(folder, kind, arguments.build_dir,
                             int(time.time()) if arguments.seed is None else arguments.seed,
                             arguments.rounds, arguments.only)
    if not os.path.exists(os.path.join(folder, "machine.json")):
        documents.write_json(os.path.join(folder, "machine.json"), document["machine"])
    failed = report_missing(document)
    print(accounts_results.text(accounts_results.Suite(document)))
    print(json.dumps({"results": os.path.join(folder, accounts_results.FILE)}))
    return 1 if failed else 0


if __name__ == "__main__":
    commandline.run(main, "accounts")
