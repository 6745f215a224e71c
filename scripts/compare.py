#!/usr/bin/python3
"""compare.py - compares two results case by case: is B faster, slower, or the same as A?

usage: scripts/compare.py A B [--metric M] [--build B] [--json] [--fail-on-regression]
A and B are result folders or benchmark JSON files. A difference is called real only if the
95 % bootstrap interval of the ratio of medians lies wholly beyond the threshold and the
Mann-Whitney U test gives p < 0.05; "same" if the interval lies wholly inside the threshold;
else "unclear". One process launch is one sample; repetitions inside a process count once.
Exit 0: compared. 1: a regression, with --fail-on-regression. 2: bad usage or input.
"""

import argparse
import json
import math
import sys

import commandline
import results
import stats
from svg import number

ALPHA = 0.05
BUILDS = ("release", "counted", "simulated")


def verdict(metric, ratio, interval, p, threshold):
    """better, worse, same, or unclear, for B against A."""
    beyond = interval[0] > 1 + threshold or interval[1] < 1 / (1 + threshold)
    if beyond and p < ALPHA:
        return "better" if (ratio > 1) == (metric in results.MORE_IS_BETTER) else "worse"
    inside = interval[0] > 1 / (1 + threshold) and interval[1] < 1 + threshold
    return "same" if inside else "unclear"


def compare_case(metric, a, b, threshold):
    """The numbers of one case, as --json prints them."""
    row = {"a": {"median": stats.median(a), "interval": stats.median_interval(a),
                 "launches": len(a)},
           "b": {"median": stats.median(b), "interval": stats.median_interval(b),
                 "launches": len(b)}}
    if row["a"]["median"] == 0 or row["b"]["median"] == 0:
        equal = row["a"]["median"] == row["b"]["median"]
        p = stats.mann_whitney(a, b)
        row.update(ratio=None, interval=None, p=p,
                   verdict="same" if equal and p >= ALPHA else "unclear")
        if not equal and p < ALPHA:
            grew = row["b"]["median"] > 0
            row["verdict"] = "better" if grew == (metric in results.MORE_IS_BETTER) else "worse"
        return row
    ratio = row["b"]["median"] / row["a"]["median"]
    interval = stats.ratio_interval(a, b)
    if any(math.isnan(end) for end in interval):
        interval = (0.0, math.inf)
    p = stats.mann_whitney(a, b)
    row.update(ratio=ratio, interval=[e if math.isfinite(e) else None for e in interval], p=p,
               verdict=verdict(metric, ratio, interval, p, threshold))
    return row


def compare(a, b, metric, build, threshold):
    """(rows, names only in A, names only in B)"""
    rows = []
    sides = [{case_name(c): c for c in side.cases(build) if side.samples(build, c, metric)}
             for side in (a, b)]
    for name, case in sides[0].items():
        if name in sides[1]:
            row = {"case": name, "metric": metric}
            row.update(compare_case(metric, a.samples(build, case, metric),
                                    b.samples(build, sides[1][name], metric), threshold))
            rows.append(row)
    return rows, sorted(set(sides[0]) - set(sides[1])), sorted(set(sides[1]) - set(sides[0]))


def case_name(case):
    """A case as the benchmark's name, without its fixed end."""
    parts = [case.workload]
    for field in ("policy", "occupancy", "placement", "machine", "threads"):
        value = getattr(case, field)
        if value is not None:
            parts.append(f"{field}:{value:g}" if isinstance(value, float) else
                         f"{field}:{value}")
    return "/".join(parts)


def print_table(rows, arguments):
    """The comparison for people."""
    width = max(len(row["case"]) for row in rows)
    print(f"{arguments.metric}, {arguments.build} build, B / A; median over process launches")
    print(f"{'case':{width}}  {'A':>9}  {'B':>9}  {'B/A':>6}  {'95 % interval':>15}  "
          f"{'p':>7}  {'n':>5}  verdict")
    for row in rows:
        ratio, interval = "–", "–"
        if row["ratio"] is not None:
            ratio = f"{row['ratio']:.3f}"
            ends = ["∞" if e is None else f"{e:.3f}" for e in row["interval"]]
            interval = " .. ".join(ends)
        print(f"{row['case']:{width}}  {number(row['a']['median']):>9}  "
              f"{number(row['b']['median']):>9}  {ratio:>6}  {interval:>15}  {row['p']:7.4f}  "
              f"{row['a']['launches']:>2}/{row['b']['launches']:<2}  {row['verdict']}")
    ratios = [row["ratio"] for row in rows if row["ratio"]]
    if ratios:
        mean = math.exp(sum(math.log(r) for r in ratios) / len(ratios))
        print(f"geometric mean of B/A: {mean:.3f} over {len(ratios)} cases")
    tally = {v: sum(1 for row in rows if row["verdict"] == v)
             for v in ("better", "worse", "same", "unclear")}
    print(", ".join(f"{count} {word}" for word, count in tally.items()))
    print(f"Of {len(rows)} comparisons of equal code, about {ALPHA * len(rows):.0f} would show "
          f"p < {ALPHA} by chance; that is why the interval must also clear "
          f"{arguments.threshold * 100:g} %.")


def warn(a, b, rows, only_a, only_b, build):
    """What a reader must know before trusting the table; on stderr."""
    few = [r for r in rows
           if stats.smallest_p(r["a"]["launches"], r["b"]["launches"]) >= ALPHA]
    if few:
        print(f"compare.py: {len(few)} of {len(rows)} cases have too few launches for any "
              f"p < {ALPHA} (4 on each side are the least); run with more --repetitions",
              file=sys.stderr)
    for side, names in (("A", only_a), ("B", only_b)):
        if names:
            print(f"compare.py: {len(names)} cases only in {side}, first: {names[0]}",
                  file=sys.stderr)
    if build == "counted":
        print("compare.py: the counted build is for counts; do not compare its times",
              file=sys.stderr)
    if build == "simulated":
        print("compare.py: simulated runs in virtual time; a launch is a seed", file=sys.stderr)
        return
    for key in ("cpu_model", "kernel", "cpus_allowed"):
        values = [side.machine.get(key) for side in (a, b)]
        if None not in values and values[0] != values[1]:
            print(f"compare.py: {key} differs ({values[0]} and {values[1]}): this compares "
                  "machines, not code", file=sys.stderr)


def share(text):
    """A threshold: 0 or more, below 10."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < 10:
        raise argparse.ArgumentTypeError(f"'{text}' is not a share; give 0.05 for 5 %")
    return value


def main(argv=None):
    """The command."""
    parser = commandline.Parser(prog="scripts/compare.py", description="Compare two "
                                     "results case by case.", epilog="Exit 0: compared. 1: a "
                                     "regression, with --fail-on-regression. 2: bad input.")
    parser.add_argument("a", help="result folder or benchmark JSON file")
    parser.add_argument("b", help="the one to judge against it")
    parser.add_argument("--metric", default="items_per_second",
                        help="counter to compare (default items_per_second)")
    parser.add_argument("--build", default=None, choices=BUILDS,
                        help="which launches (default: the first of these that A has)")
    parser.add_argument("--threshold", type=share, default=0.05,
                        help="least effect that counts (default 0.05 = 5 %%)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--fail-on-regression", action="store_true",
                        help="exit 1 if any case is worse")
    arguments = parser.parse_args(argv)
    a, b = results.load([arguments.a]), results.load([arguments.b])
    if arguments.build is None:
        there = {build for build, _ in a.values}
        arguments.build = next((build for build in BUILDS if build in there), BUILDS[0])
    rows, only_a, only_b = compare(a, b, arguments.metric, arguments.build, arguments.threshold)
    if not rows:
        known = sorted({m for (build, _), metrics in a.values.items()
                        if build == arguments.build for m in metrics})
        raise results.BadInput(f"{arguments.a} and {arguments.b} share no case with "
                               f"'{arguments.metric}' in the {arguments.build} build; metrics "
                               f"there: {', '.join(known) or 'none'}")
    if arguments.json:
        print(json.dumps({"metric": arguments.metric, "build": arguments.build,
                          "threshold": arguments.threshold, "cases": rows, "only_a": only_a,
                          "only_b": only_b}, indent=1, allow_nan=False))
    else:
        print_table(rows, arguments)
    warn(a, b, rows, only_a, only_b, arguments.build)
    worse = any(row["verdict"] == "worse" for row in rows)
    return 1 if worse and arguments.fail_on_regression else 0


if __name__ == "__main__":
    commandline.run(main, "compare.py")
