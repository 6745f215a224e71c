#!/usr/bin/python3
"""quoted.py - the figures that documents quote, measured and simulated: do they still hold?

usage: scripts/quoted.py [--measured | --unquoted] [--write] [--program PATH] [--docs FOLDER]
Measured numbers stand between `<!-- measured: RESULT -->` and `<!-- end -->` and are computed from
that result (a folder, or a file of keep.py) by the table of quoted_numbers.py: each must be there
as it is rounded, and each number there must be computed. What commands print of results stands
between `<!-- printed -->` and `<!-- end -->` (printed_blocks.py). For simulated ones it runs the
cases behind each block between `<!-- simulated: NAME -->` and `<!-- end -->`, some minutes on two
cores, and compares the quoted numbers with the current ones; --measured leaves them out. --write
puts the current numbers into the documents.
Exit 0: all hold (simulated ones within 10 %), or were written. 1: one does not. 2: bad usage, or a
run failed.
"""

import concurrent.futures
import glob
import json
import os
import re
import subprocess
import sys

from common import commandline, documents, judge, steady
from measuring import grid
from reporting import printed_blocks, quoted_numbers, quotes

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NEAR = 0.1
MAIN = "numa:8 core:32 pu:1"
POLICIES = ("original", "random_start", "reclaiming", "exact", "magazine")
FILLS = ("0.95", "0.99")


def runs(program, cases):
    """case (a tuple of words for pfs-sim run) -> what it printed."""
    def one(case):
        done = subprocess.run([program, "run", "--machine", MAIN, "--seed", "1", "--format", "json",
                               *case], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise documents.BadInput(f"pfs-sim run {' '.join(case)}: {done.stderr.strip()}")
        return json.loads(done.stdout)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(cases, pool.map(one, cases)))


def churn(policy, threads, fill, ops=200000):
    """The words of such a run."""
    return ("--workload", "churn", "--ops", str(ops), "--policy", policy, "--threads",
            str(threads), "--occupancy", fill)


def rate(run):
    """Million operations a second, without the start-up."""
    return {**run, **steady.metrics(run)}["items_per_second"] / 1e6


def scaling(program):
    """The block of docs/explanation/exact.md."""
    cases = [churn(p, 256, f) for p in POLICIES for f in FILLS]
    cases += [churn("exact", t, f) for t in (1, 200) for f in FILLS]
    found = {case: rate(run) for case, run in runs(program, cases).items()}
    lines = ["| occupancy | " + " | ".join(f"`{p}`" for p in POLICIES) + " | `exact`, 200 threads "
             "| one `exact` | `exact` : `original` | : `random_start` | : 256 × one |",
             "|---" * (len(POLICIES) + 6) + "|"]
    for fill in FILLS:
        each = [found[churn(p, 256, fill)] for p in POLICIES]
        exact, one = found[churn("exact", 256, fill)], found[churn("exact", 1, fill)]
        cells = [fill] + [text(v) for v in each]
        cells += [text(found[churn("exact", 200, fill)]), text(one), text(exact / each[0]),
                  text(exact / each[1]), f"{exact / 256 / one:.2f}"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


STARTS = (20000, 100000, 500000)
ENDS = {judge.MET: "steady", judge.NOT_MET: "drifts", judge.UNDECIDED: "too uneven to tell"}


def startup(program):
    """The block of docs/explanation/simulation.md."""
    fill = FILLS[-1]
    found = runs(program, [churn(p, 256, fill, ops) for p in POLICIES for ops in STARTS])
    lines = ["| policy | " + " | ".join(f"{ops:,}" for ops in STARTS) + " | the last without its "
             "start-up | rate | needless pages |", "|---" * (len(STARTS) + 4) + "|"]
    for policy in POLICIES:
        each = [found[churn(policy, 256, fill, ops)] for ops in STARTS]
        last = steady.metrics(each[-1])
        end = ENDS[steady.verdict(last["drift_low"], last["drift_high"])] if last else "not tested"
        pages = ", ".join(f"{run['excess_pages']:,}" for run in each)
        lines.append(f"| `{policy}` | " + " | ".join(
            text(run["items_per_second"] / 1e6) for run in each)
            + f" | {text(rate(each[-1]))} | {end} | {pages} |")
    return "\n".join(lines)


def text(value):
    """Three digits."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


BLOCKS = {"scaling": ("explanation/exact.md", scaling),
          "startup": ("explanation/simulation.md", startup)}


def numbers(block):
    """All numbers in a block, in order."""
    return [float(n.replace(",", "")) for n in re.findall(r"\d[\d,]*\.?\d*", block)]


def differences(old, new):
    """[(number of the document, number of now)] that are not near each other."""
    pairs = list(zip(numbers(old), numbers(new)))
    if len(numbers(old)) != len(numbers(new)):
        return pairs or [(0, 0)]
    return [(a, b) for a, b in pairs if abs(a - b) > NEAR * max(abs(a), abs(b))]


def read(path):
    """A document's text."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        raise documents.BadInput(f"{path}: {error.strerror}; name the folder by --docs") from None


def measured(arguments):
    """Check the measured numbers of all documents, or write those of now; is one at fault?"""
    known, faulty = {}, False

    def loaded(result):
        if result not in known:
            known[result] = quotes.load(os.path.join(TOP, result))
        return known[result]

    names = [quote.document for quote in quoted_numbers.QUOTES]
    names += [*quoted_numbers.WHOLE, *quoted_numbers.PRINTED]
    for name in dict.fromkeys(names):
        path = os.path.normpath(os.path.join(arguments.docs, name))
        document = read(path)
        faults, written = quotes.check(document, name, quoted_numbers.QUOTES, loaded)
        if name in quoted_numbers.WHOLE:
            faults += quotes.outside(document)
        faults_printed, written = printed_blocks.check(written, TOP)
        faults += faults_printed
        if arguments.write and written != document:
            documents.write_text(path, written)
            faults = [f for f in faults if " is now " not in f]
        for fault in faults:
            print(f"quoted.py: {path}: {fault}", file=sys.stderr)
        faulty = faulty or bool(faults)
    return faulty


def count_unquoted(docs):
    """Print how many numbers of each document no result stands behind, the most first."""
    paths = [os.path.join(TOP, "README.md"), os.path.join(TOP, "memory", "README.md"),
             *glob.glob(os.path.join(docs, "**", "*.md"), recursive=True)]
    found = {os.path.relpath(path, TOP): quotes.unquoted(read(path)) for path in paths}
    for name, count in sorted(found.items(), key=lambda item: (-item[1], item[0])):
        if count:
            print(f"{count:5} {name}")


def main(argv=None):
    """The command."""
    parser = commandline.Parser(prog="scripts/quoted.py", description="Compare the figures that "
                                "documents quote with their results and with simulations of now.")
    parser.add_argument("--measured", action="store_true", help="only measured numbers; takes "
                        "seconds")
    parser.add_argument("--unquoted", action="store_true", help="count the numbers with a unit, "
                        "or in a table, that stand in no region")
    parser.add_argument("--write", action="store_true", help="write the current numbers")
    parser.add_argument("--program", metavar="PATH", help="pfs-sim (default: the one of build/)")
    parser.add_argument("--docs", metavar="FOLDER", default=os.path.join(TOP, "docs"),
                        help="where the documents are (default: docs)")
    arguments = parser.parse_args(argv)
    if arguments.unquoted:
        count_unquoted(arguments.docs)
        return 0
    if arguments.measured:
        return 1 if measured(arguments) else 0
    program = grid.program_of(arguments.program)
    faulty = False
    for name, (path, make) in BLOCKS.items():
        path = os.path.join(arguments.docs, path)
        document = read(path)
        found = re.search(rf"(<!-- simulated: {name} -->\n)(.*?)(\n<!-- end -->)", document, re.S)
        if not found:
            raise documents.BadInput(f"{path}: no block <!-- simulated: {name} -->")
        block = make(program)
        if arguments.write:
            documents.write_text(path, document[:found.start(2)] + block + document[found.end(2):])
            continue
        for old, new in differences(found.group(2), block):
            print(f"quoted.py: {path}, {name}: {old:g} is now {new:g}", file=sys.stderr)
            faulty = True
    return 1 if faulty else 0


if __name__ == "__main__":
    commandline.run(main, "quoted.py")
