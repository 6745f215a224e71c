#!/usr/bin/python3
"""profile_cost.py - what the heap profile costs: a loop that only allocates, by the interval of
sampling, with frame pointers and without; redis and MariaDB under load; and how far estimates are
off by the number of samples.

usage: scripts/profile_cost.py [--long | --quick] [--out DIR] [--only CASE,CASE] [--rounds N]
The cases of profile_cases.py in rounds, in random order. Writes profile.json (every launch's
numbers) into the result folder and prints tables and bars; scripts/report.py draws the figures in
its chapter "The accounts". Five minutes. Exit 0: every launch succeeded. 1: some failed.
2: bad usage or no build.
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

from common import commandline, documents, machine
from common.progress import Progress
from measuring import allocator_servers, chapter_command, launching, profile_cases
from reporting import profile_results

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def make_plan(cases, rounds, seed):
    """The launches in order; errors once, for they are many seeds each time."""
    source = random.Random(seed)
    launches = []
    for number in range(1, rounds + 1):
        turn = [(case, way) for case in cases for way in profile_cases.ways(case)
                if number == 1 or case.group != "errors"]
        source.shuffle(turn)
        launches += [{"number": 0, "round": number, "case": case.name, "way": way,
                      "status": "planned"} for case, way in turn]
    for position, launch in enumerate(launches):
        launch["number"] = position + 1
    return launches


def run_plan(launches, bench, seed):
    """All launches, one after the other."""
    source = random.Random(seed + 1)
    progress = Progress(len(launches), 3 * len(launches))
    for k, launch in enumerate(launches):
        progress.show(k, 3 * k, f"{launch['case']} {launch['way']}")
        begin, case = time.monotonic(), profile_cases.BY_NAME[launch["case"]]
        try:
            launch.update(values=profile_cases.measure(bench, case, launch["way"], source),
                          status="done")
        except (OSError, ValueError, KeyError, TypeError, subprocess.SubprocessError,
                allocator_servers.Failed) as error:
            launch.update(status="failed", reason=str(error) or type(error).__name__)
            progress.say(f"profile: {launch['case']} {launch['way']} failed: {launch['reason']}")
        launch["seconds"] = round(time.monotonic() - begin, 3)
    progress.show(len(launches), 3 * len(launches), "measured")
    progress.end()


def measure_suite(folder, kind, build_dir, seed, rounds=None, only=None):
    """Measure and write profile.json; the document."""
    cases = [case for case in profile_cases.CASES if not only or case.name in only]
    shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    work = tempfile.mkdtemp(prefix="pfs-profile-", dir=shared)
    try:
        bench = profile_cases.Bench(build_dir, work, profile_cases.SIZES[kind])
    except documents.BadInput:
        os.rmdir(work)
        raise
    document = {"format": 1, "kind": kind, "seed": seed, "complete": False,
                "machine": machine.describe(TOP, build_dir),
                "cases": {case.name: {"group": case.group, "says": case.says,
                                      "depth": case.depth} for case in cases},
                "launches": make_plan(cases, rounds or profile_cases.LAUNCHES[kind], seed)}
    try:
        run_plan(document["launches"], bench, seed)
        document["complete"] = all(l["status"] == "done" for l in document["launches"])
    finally:
        documents.write_json(os.path.join(folder, profile_results.FILE), document)
        shutil.rmtree(work, ignore_errors=True)
    return document


def arguments_of(argv):
    """The parsed command line."""
    parser = chapter_command.parser_of(
        "scripts/profile_cost.py", "Measure what the heap profile "
        "costs, and how far its estimates are off.",
        profile_cases.BY_NAME, "longer slices, more launches")
    parser.add_argument("--build-dir", default=os.path.join(TOP, "build"), metavar="DIR",
                        help="where the builds are (default build)")
    return chapter_command.parse(parser, profile_cases.BY_NAME, argv)


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
    failed = [l for l in document["launches"] if l["status"] != "done"]
    if failed:
        print(f"profile: {len(failed)} of {len(document['launches'])} launches failed",
              file=sys.stderr)
    print(profile_results.text(profile_results.Suite(document)))
    print(json.dumps({"results": os.path.join(folder, profile_results.FILE)}))
    return 1 if failed else 0


if __name__ == "__main__":
    commandline.run(main, "profile")
