#!/usr/bin/python3
"""accounts.py - what the accounts cost, and how wrong each rule of crediting is.

usage: scripts/accounts.py [--rounds N] [--ms N] [--operations N] [--json] [--build-dir DIR]
Cost: nanoseconds a pair of malloc and free without accounts, with 16 bytes more, and counted under
each rule, in turns (bench/accounts/cost.c); medians, and the difference to none round by round with
its exact interval. Errors: rows that differ from books kept by brute force, where half of all frees
are of others' blocks (stress/accounts/oracle_test.c). Exit 0: measured. 1: something could not be.
2: bad usage or no build.
"""

import json
import os
import re
import subprocess
import sys

import commandline
import stats
import summary

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHAPES = ((1, False), (2, False), (2, True))
RULES = ("exact", "freer", "global")
ALLOWED_NS, ALLOWED_SHARE = 5.0, 0.15
ERRORS = re.compile(r"rows wrong (\d+) of (\d+), below zero (\d+), bytes credited to others (\d+)\n"
                    r"cells read meanwhile (\d+), below zero (\d+)")


def cost(program, threads, foreign, rounds, ms):
    """{way: [ns a pair, by round]}"""
    words = [program, f"--threads={threads}", f"--rounds={rounds}", f"--ms={ms}"]
    done = subprocess.run(words + ["--foreign"] * foreign, capture_output=True, text=True,
                          timeout=600, check=True)
    return json.loads(done.stdout)["ways"]


def added(ways, way):
    """(median of what counting adds to a pair in ns, its interval or None)."""
    differences = [a - b for a, b in zip(ways[way], ways["none"])]
    return stats.median(differences), stats.drawn_interval(stats.samples_of(differences))


def verdict(ways):
    """Is the larger of 5 ns and 15 % kept? By the interval; undecided where it spans the bar."""
    bar = max(ALLOWED_NS, ALLOWED_SHARE * stats.median(ways["none"]))
    middle, interval = added(ways, "exact")
    if interval is None or interval[0] <= bar < interval[1]:
        return "undecided", bar, middle
    return ("met" if interval[1] <= bar else "not met"), bar, middle


def errors(program, rule, operations):
    """What the oracle's books say of a rule."""
    done = subprocess.run([program, rule, "8", str(operations), "1"], capture_output=True,
                          text=True, timeout=600, check=False)
    found = ERRORS.search(done.stdout)
    if done.returncode or not found:
        raise subprocess.CalledProcessError(done.returncode, program, done.stdout, done.stderr)
    names = ("wrong", "rows", "below", "bytes", "reads", "reads_below")
    return dict(zip(names, (int(group) for group in found.groups())))


def cost_rows(measured):
    """One row for each shape: ns a pair without, what 16 bytes add, and each rule."""
    rows = []
    for (threads, foreign), ways in measured:
        row = [f"{threads} thread{'s' * (threads > 1)}{', foreign frees' * foreign}",
               f"{stats.median(ways['none']):.1f}"]
        for way in ("header",) + RULES:
            middle, interval = added(ways, way)
            spread = f" ({interval[0]:+.1f} to {interval[1]:+.1f})" if interval else ""
            row.append(f"{middle:+.1f}{spread}")
        rows.append(row)
    return rows


def main(argv=None):
    """The command."""
    parser = commandline.Parser(prog="scripts/accounts.py", description="What the accounts cost, "
                                "and how wrong each rule of crediting is.")
    parser.add_argument("--rounds", type=int, default=11, help="slices of each way (default 11)")
    parser.add_argument("--ms", type=int, default=50, help="a slice (default 50)")
    parser.add_argument("--operations", type=int, default=4000000, help="of the oracle")
    parser.add_argument("--json", action="store_true", help="print JSON, not tables")
    parser.add_argument("--build-dir", default=os.path.join(TOP, "build"))
    arguments = parser.parse_args(argv)
    for name in ("rounds", "ms", "operations"):
        if getattr(arguments, name) < 1:
            parser.error(f"--{name} {getattr(arguments, name)}: must be at least 1")
    release = os.path.join(arguments.build_dir, "release")
    bench = os.path.join(release, "bench", "accounts", "pfs-accounts-cost")
    oracle = os.path.join(release, "stress", "accounts", "accounts_oracle_test")
    for program in (bench, oracle):
        if not os.access(program, os.X_OK):
            parser.error(f"no {program}: build the preset release first")
    try:
        measured = [(shape, cost(bench, *shape, arguments.rounds, arguments.ms))
                    for shape in SHAPES]
        wrong = {rule: errors(oracle, rule, arguments.operations) for rule in RULES}
    except (subprocess.SubprocessError, OSError, ValueError) as error:
        print(f"accounts.py: {error}", file=sys.stderr)
        return 1
    if arguments.json:
        print(json.dumps({"cost": [{"threads": t, "foreign": f, "ways": w}
                                   for (t, f), w in measured], "errors": wrong}, indent=1))
        return 0
    print(summary.aligned(["ns a pair", "none", "16 bytes more", *RULES], cost_rows(measured)))
    for (threads, foreign), ways in measured:
        says, bar, middle = verdict(ways)
        print(f"{says:12s}  {threads} thread{'s' * (threads > 1)}{', foreign frees' * foreign}: "
              f"counting adds {middle:.1f} ns a pair, {bar:.1f} are allowed")
    print()
    print(summary.aligned(["rule", "rows wrong", "below zero", "bytes credited to others",
                           "reads below zero"],
                          [[rule, f"{e['wrong']} of {e['rows']}", str(e["below"]), str(e["bytes"]),
                            f"{e['reads_below']} of {e['reads']}"] for rule, e in wrong.items()]))
    return 0


if __name__ == "__main__":
    commandline.run(main, "accounts.py")
