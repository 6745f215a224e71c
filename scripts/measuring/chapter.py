"""chapter.py - how a chapter of the report is measured: what accounts.py, allocators.py and
profile_cost.py share, from the command line to the exit status.
"""

import contextlib
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
from measuring import allocator_servers, launching, malloc_peers

TOP = launching.TOP


def parser_of(prog, description, names, long, quick="a smoke run, each case once",
              rounds="launches of each case"):
    """A parser of --long, --quick, --out, --rounds, --only and --seed. names: of the cases."""
    parser = commandline.Parser(prog=prog, description=description)
    extent = parser.add_mutually_exclusive_group()
    extent.add_argument("--long", action="store_true", help=long + "; for conclusions")
    extent.add_argument("--quick", action="store_true", help=quick)
    parser.add_argument("--out", metavar="DIR", help="the result folder (default: "
                        "results/local/<time>-<host>)")
    parser.add_argument("--rounds", type=launching.positive, metavar="N", help=rounds)
    parser.add_argument("--only", metavar="CASE,CASE", help="of " + ", ".join(names))
    parser.add_argument("--seed", type=int, default=None, help="of the order (default: the time)")
    return parser


def parse(parser, names, argv):
    """The arguments, --build-dir among them; only: a list of names, or None."""
    launching.add_build_dir(parser)
    arguments = parser.parse_args(argv)
    arguments.only = arguments.only.split(",") if arguments.only else None
    for name in arguments.only or ():
        if name not in names:
            parser.error(f"unknown case '{name}'; see --help")
    return arguments


def make_plan(cases, rounds, seed, ways, key="way"):
    """The launches in order: rounds, in each the cases shuffled, in each its ways. rounds: {group:
    how many}; ways(case): the processes of a round, which a launch names as key."""
    source = random.Random(seed)
    launches = []
    for number in range(1, max(rounds.values()) + 1):
        turn = [case for case in cases if number <= rounds[case.group]]
        source.shuffle(turn)
        for case in turn:
            order = list(ways(case))
            source.shuffle(order)
            launches += [{"number": 0, "round": number, "case": case.name, key: way,
                          "status": "planned"} for way in order]
    for position, launch in enumerate(launches):
        launch["number"] = position + 1
    return launches


def launch(one, measure):
    """Measure a launch, which then has what measure() gives, or the reason why it failed."""
    begin = time.monotonic()
    try:
        one.update(measure(), status="done")
    except subprocess.TimeoutExpired as error:
        one.update(status="failed", reason=f"no end after {error.timeout:g} s")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, subprocess.SubprocessError,
            documents.BadInput, allocator_servers.Failed) as error:
        one.update(status="failed", reason=str(error) or type(error).__name__)
    one["seconds"] = round(time.monotonic() - begin, 3)


def run_plan(name, launches, seconds, run, wait=lambda: None):
    """run(launch) of each, one after the other, then wait() for background work. seconds: about how
    long each takes."""
    progress = Progress(len(launches), sum(seconds))
    for k, one in enumerate(launches):
        who = f"{one['case']} {one.get('way') or one['allocator']}"
        progress.show(k, sum(seconds[:k]), who)
        run(one)
        if one["status"] == "failed":
            progress.say(f"{name}: {who} failed: {one['reason']}")
    wait()
    progress.show(len(launches), sum(seconds), "measured")
    progress.end()


@contextlib.contextmanager
def document_in(folder, file_name, kind, seed, build_dir, place="/dev/shm", **fields):
    """(A new document, a folder to work in); at the end, whatever happened, the document stands in
    the result folder, with a machine.json. The work is in memory, as boxes are without being asked,
    where there is such a file system."""
    document = {"format": 1, "kind": kind, "seed": seed, "complete": False,
                "machine": machine.describe(TOP, build_dir), **fields}
    work = tempfile.mkdtemp(prefix="pfs-chapter-", dir=place if os.access(place, os.W_OK) else None)
    try:
        yield document, work
        document["complete"] = all(one["status"] == "done" for one in document["launches"])
    finally:
        shutil.rmtree(work, ignore_errors=True)
        documents.write_json(os.path.join(folder, file_name), document)
        if not os.path.exists(os.path.join(folder, "machine.json")):
            documents.write_json(os.path.join(folder, "machine.json"), document["machine"])


def report_missing(name, document):
    """What was left out or failed, on stderr; the number of failures."""
    malloc_peers.say_missing(name, document.get("missing", {}))
    failed = sum(1 for one in document["launches"] if one["status"] != "done")
    if failed:
        print(f"{name}: {failed} of {len(document['launches'])} launches failed", file=sys.stderr)
    return failed


def command(name, arguments, measure_suite, results, *more):
    """Measure, write, print; the exit status. results: the module that reads the document."""
    begin = time.monotonic()
    folder = arguments.out or launching.default_folder()
    launching.must_be_writable(folder)
    signal.signal(signal.SIGTERM, launching.interrupt)
    kind = "long" if arguments.long else "quick" if arguments.quick else "short"
    seed = int(time.time()) if arguments.seed is None else arguments.seed
    document = measure_suite(folder, kind, arguments.build_dir, seed, arguments.rounds,
                             arguments.only, *more)
    failed = report_missing(name, document)
    print(results.text(results.Suite(document)))
    print(json.dumps({"results": os.path.join(folder, results.Suite.FILE),
                      "seconds": round(time.monotonic() - begin, 1)}))
    return 1 if failed else 0
