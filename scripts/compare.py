#!/usr/bin/python3
"""compare.py - is B faster, slower, or the same as A? Two results, or two builds run in turns.

usage: scripts/compare.py A B [--metric M] [--build B] [--json] [--fail-on-regression]
       scripts/compare.py --builds OLD NEW [--workloads W] [--policies P] [--rounds N]
A and B are result folders or benchmark JSON files; OLD and NEW build folders such as
build/release, whose launches are interleaved here and now. verdicts.py says what a verdict means
and what it assumes. One process launch is one sample; repetitions inside a process count once.
Exit 0: compared. 1: a regression, with --fail-on-regression. 2: bad usage or input. 3: more than
a tenth of the values are disturbed, so nothing was compared.
"""

import argparse
import json
import math
import sys
import time

from common import commandline, documents, judge, stats
from common.amounts import number
from reporting import interleave, results, verdicts

BUILDS = ("release", "counted", "simulated")


def print_table(found, arguments):
    """The comparison as text."""
    rows = found["rows"]
    width = max(len(row["case"]) for row in rows)
    way = "ratios within a round" if arguments.builds else "ratios across launches"
    interval = "95 % without drift" if found["drift"] else "95 % interval"
    print(f"{arguments.metric}, {arguments.build} build, B / A; medians of process launches, {way}")
    print(f"{'case':{width}}  {'A':>9}  {'B':>9}  {'B/A':>6}  {interval:>18}  "
          f"{'n':>5}  verdict")
    for row in rows:
        ratio = f"{row['ratio']:.3f}" if row["ratio"] is not None else "–"
        interval = " .. ".join(f"{end:.3f}" for end in row["interval"]) if row["interval"] else "–"
        print(f"{row['case']:{width}}  {number(row['a']['median']):>9}  "
              f"{number(row['b']['median']):>9}  {ratio:>6}  {interval:>18}  "
              f"{row['a']['launches']:>2}/{row['b']['launches']:<2}  {row['verdict']}")
    ratios = [row["ratio"] for row in rows if row["ratio"] and row["verdict"] !=
              verdicts.YARDSTICK]
    if ratios:
        mean = math.exp(sum(math.log(r) for r in ratios) / len(ratios))
        print(f"geometric mean of B/A: {mean:.3f} over {len(ratios)} cases")
    tally = {w: sum(1 for row in rows if row["verdict"] == w) for w in verdicts.WORDS}
    print(", ".join(f"{count} {word}" for word, count in tally.items()
                    if count or word != verdicts.YARDSTICK))
    print(assumptions(found, arguments))


def assumptions(found, arguments):
    """What the verdicts rest on, in a sentence or two."""
    text = (f"better, worse: an interval of {judge.percent(found['level'])} (5 % for all rows "
            f"together), or the widest there is, is beyond the margin; same: the 95 % interval is "
            f"inside it. The margin is {arguments.margin:.3g}.")
    if arguments.builds:
        return text
    if arguments.build == "simulated":
        return text + " Simulated: every seed must say so."
    return (f"{text}\nThe machine's drift, by baselines, the same code in A and B: "
            f"{verdicts.drift_text(found['drift'])}. Intervals are without it and include its "
            "doubt; --builds has no such doubt.")


def warn(a, b, found, arguments):
    """What a reader must know before trusting the table; on stderr."""
    lines = []
    rows = [row for row in found["rows"] if row["verdict"] != verdicts.YARDSTICK]
    if arguments.build != "simulated":
        few = [row for row in rows if min(row["a"]["launches"], row["b"]["launches"]) < stats.LEAST]
        if few:
            lines.append(f"{len(few)} of {len(rows)} cases have too few launches to decide "
                         f"anything; {stats.LEAST} undisturbed ones are the least")
    need = interleave.rounds_for(len(rows))
    if arguments.builds and arguments.rounds and arguments.rounds < need:
        lines.append(f"{len(rows)} rows need {need} rounds for a verdict of better or worse that "
                     "one stray round does not spoil")
    for side, names in (("A", found["only_a"]), ("B", found["only_b"])):
        if names:
            lines.append(f"{len(names)} cases only in {side}, first: {names[0]}")
    if arguments.build == "counted":
        lines.append("the counted build is for counts; do not compare its times")
    if arguments.build == "simulated":
        lines.append("simulated runs in virtual time; a launch is a seed")
    elif not arguments.builds:
        lines += verdicts.machine_differences(a, b)
    for line in lines:
        print(f"compare.py: {line}", file=sys.stderr)


def share(text):
    """A margin: 0 or more, below 10."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < 10:
        raise argparse.ArgumentTypeError(f"'{text}' is not a share; give 0.05 for 5 %")
    return value


def names(text):
    """A comma-separated list of names."""
    found = [name for name in text.split(",") if name]
    if not found:
        raise argparse.ArgumentTypeError(f"'{text}' names nothing; give names, such as pair,churn")
    return found


def count(text):
    """A whole number from 1 to 10000."""
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 10000:
        raise argparse.ArgumentTypeError(f"'{text}' is not a count; give 1 to 10000")
    return int(text)


def parser_of():
    """The command line."""
    parser = commandline.Parser(
        prog="scripts/compare.py", description="Compare two results case by case, or two builds "
        "run in turns.", epilog="Exit 0: compared. 1: a regression, with --fail-on-regression. "
        "2: bad input. 3: too much was disturbed, nothing compared.")
    parser.add_argument("a", nargs="?", help="base: a result folder or benchmark JSON file")
    parser.add_argument("b", nargs="?", help="the result that is compared with A")
    parser.add_argument("--metric", default="items_per_second",
                        help="counter to compare (default items_per_second)")
    parser.add_argument("--build", default=None, choices=BUILDS,
                        help="which launches to compare (default: the first of these that A has)")
    parser.add_argument("--margin", type=share, default=verdicts.MARGIN,
                        help="the least effect that counts (default %(default)s: 5 %%)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--fail-on-regression", action="store_true",
                        help="exit 1 if any case is worse")
    turns = parser.add_argument_group("two builds in turns")
    turns.add_argument("--builds", nargs=2, metavar=("OLD", "NEW"),
                       help="build folders such as build/release")
    turns.add_argument("--workloads", type=names, default=["pair", "churn", "handoff"],
                       metavar="A,B", help="default pair,churn,handoff")
    turns.add_argument("--policies", type=names, metavar="A,B",
                       help="default: all except baselines")
    turns.add_argument("--threads", default="1,2", metavar="N,M", help="default 1,2")
    turns.add_argument("--occupancies", default="0.9", metavar="X,Y", help="default 0.9")
    turns.add_argument("--window-ms", type=count, default=50, metavar="N", help="default 50")
    turns.add_argument("--rounds", type=count, metavar="N", help="launches of each build (default: "
                       "as many as the rows need to be decided)")
    turns.add_argument("--seed", type=int, default=None, help="seed of the order (default: the "
                       "time)")
    turns.add_argument("--out", metavar="DIR", help="keep the launches' files in DIR/A and DIR/B")
    return parser


def arguments_of(argv):
    """The parsed command line; either two results or two builds."""
    parser = parser_of()
    arguments = parser.parse_args(argv)
    if arguments.builds and arguments.a:
        parser.error("give two results, or --builds OLD NEW, not both")
    if not arguments.builds and not arguments.b:
        parser.error("two results are required, or --builds OLD NEW")
    if arguments.builds and arguments.build not in (None, "release"):
        parser.error("--build selects launches of results; leave it out with --builds")
    if arguments.seed is None:
        arguments.seed = int(time.time())
    return arguments


def sides_of(arguments):
    """(A, B) as results; arguments.build is chosen."""
    if arguments.builds:
        arguments.build = "release"
        sides, left_out = interleave.run(arguments)
        if left_out:
            print(f"compare.py: left out: {', '.join(left_out)}", file=sys.stderr)
        return sides
    sides = results.load([arguments.a]), results.load([arguments.b])
    if arguments.build is None:
        there = {build for build, _ in sides[0].values}
        arguments.build = next((build for build in BUILDS if build in there), BUILDS[0])
    return sides


def main(argv=None):
    """The command."""
    arguments = arguments_of(argv)
    a, b = sides_of(arguments)
    titles = arguments.builds or (arguments.a, arguments.b)
    if arguments.build == "release":
        for side, title in zip((a, b), titles):
            verdicts.refuse_disturbed(side, title, arguments.metric)
    found = verdicts.compare(a, b, arguments.metric, arguments.build, arguments.margin,
                             bool(arguments.builds))
    if not found["rows"]:
        known = sorted({m for (build, _), metrics in a.values.items()
                        if build == arguments.build for m in metrics})
        raise documents.BadInput(f"{titles[0]} and {titles[1]} share no case with "
                                 f"'{arguments.metric}' in the {arguments.build} build; metrics "
                                 f"there: {', '.join(known) or 'none'}")
    if arguments.json:
        print(json.dumps({"metric": arguments.metric, "build": arguments.build,
                          "margin": arguments.margin, "level": found["level"],
                          "drift": {kind: drift._asdict() for kind, drift in
                                    found["drift"].items()}, "cases": found["rows"],
                          "only_a": found["only_a"], "only_b": found["only_b"]}, indent=1,
                         allow_nan=False))
    else:
        print_table(found, arguments)
    warn(a, b, found, arguments)
    worse = any(row["verdict"] == verdicts.WORSE for row in found["rows"])
    return 1 if worse and arguments.fail_on_regression else 0


if __name__ == "__main__":
    commandline.run(main, "compare.py")
