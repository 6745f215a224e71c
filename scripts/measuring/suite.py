"""suite.py - what scripts/run measures: the table, and the launches made from it.

A launch is one process: one row of the table for one policy. Repetitions are further launches,
never repetitions inside a process. The order of policies is shuffled anew in each round, with
a seed that plan.json records; rounds alternate all policies (ABAB, not AABB).
"""

import os
import random
import re
from collections import namedtuple

from common import workloads

Row = namedtuple("Row", "label build workloads threads occupancies placement window_ms "
                        "repetitions quick flags results_as only unless full",
                 defaults=("", "", "", "", ""))

FULL_RECORDS = "--records=16384,65536,262144,1048576,4194304,16777216"
FULL_TOUCHED = f"--page_memory=touched --latency_ms=0 {FULL_RECORDS}"
FULL_FRESH = f"--latency_ms=0 {FULL_RECORDS}"

# Thread counts: a number; "all" = one for each CPU; "powers" = 1, 2, 4 ... up to all, then once
# 4 for each CPU; "even" = those of powers that are even; "some" = all, but at least 2.
# repetitions None: as --repetitions says (default 7: six decide, one may be disturbed). What is
# shown and not judged needs fewer. quick: is the row part of --quick?
# times come from release, counts from counted. flags: more of them for pfs-bench. results_as:
# under which name the results are kept, where it is not the build's. only: the traits that a
# policy must have for this row; unless: those that it must not have, all together. full: the
# flags of --growth, where growth alone is measured, up to the largest sizes.
SUITE = (
    #   label            build      workloads  threads      occupancies
    #                    placement  window_ms  repetitions  quick
    Row("floor",         "release", "floor",   "1",         "",
                         "compact", 60,        None,        True),
    Row("pair",          "release", "pair",    "powers",    "",
                         "compact", 36,        None,        True),
    Row("churn-threads", "release", "churn",   "powers",    "0.9",
                         "compact", 36,        None,        True),
    Row("churn-fill",    "release", "churn",   "all",       "0,0.5,0.99,0.999",
                         "compact", 36,        None,        False),
    Row("handoff",       "release", "handoff", "even",      "",
                         "compact", 36,        None,        False),
    Row("storm",         "release", "storm",   "1,some",    "",
                         "compact", 36,        None,        False),
    Row("scan",          "release", "scan",    "some",      "0.9",
                         "compact", 60,        3,           False),
    Row("replay",        "release", "replay",  "some",      "",
                         "compact", 30,        None,        False),
    Row("tide",          "release", "tide",    "all",       "",
                         "compact", 800,       6,           True),
    # The same batches by calls of the public functions, as a user's program makes them.
    Row("calls",         "release", "pair,churn", "1,some", "0.9",
                         "compact", 25,        None,        True,
        "--apis=public --latency_ms=0"),
    # Is a second thread worth it? With live sets that do not shrink as threads come.
    Row("scaling",       "release", "churn",   "1,2",       "0.9",
                         "compact", 36,        None,        False,
        "--pages_each=64 --latency_ms=0", only="index"),
    # One case per process: its peak resident set is used, its times are not.
    Row("memory",        "release", "churn",   "some",      "0.9",
                         "compact", 36,        3,           True,
        "--repeat_disturbed=0", "memory"),
    Row("memory-floor",  "release", "floor",   "1",         "",
                         "compact", 36,        3,           True,
        "--repeat_disturbed=0", "memory"),
    # A pass takes a CPU from the threads: every such trial is disturbed, on purpose.
    Row("ebb-reclaim",   "release", "ebb",     "2",         "",
                         "compact", 160,       None,        False,
        "--reclaim_period_ms=1 --repeat_disturbed=0", "reclaiming", "reclaim"),
    Row("ebb-still",     "release", "ebb",     "2",         "",
                         "compact", 160,       None,        False,
        "--reclaim_period_ms=0 --repeat_disturbed=0", "still", "reclaim"),
    # What growth costs, by size. A fill that does not end in the window says so; one call is
    # timed for each record only where latencies are asked for.
    Row("growth",        "release", "fill",    "1",         "",
                         "compact", 120,       6,           True,
        "--page_memory=touched --latency_ms=0 --records=16384,65536,262144,1048576",
        only="grow index", unless="exact reclaim", full=FULL_TOUCHED),
    Row("growth-exact",  "release", "fill",    "1",         "",
                         "compact", 2000,      6,           False,
        "--page_memory=touched --latency_ms=0 --records=16384,65536,262144,1048576,16777216",
        only="exact reclaim", full=FULL_TOUCHED),
    Row("growth-fresh",  "release", "fill",    "1",         "",
                         "compact", 120,       6,           False,
        "--latency_ms=0 --records=16384,262144", only="grow", full=FULL_FRESH),
    Row("growth-calls",  "release", "fill",    "2,8",       "",
                         "compact", 120,       6,           False,
        "--records=131072 --repeat_disturbed=0", only="grow",
        full="--records=131072,4194304 --repeat_disturbed=0"),
    Row("refusal",       "release", "refuse",  "1",         "",
                         "compact", 10,        None,        False,
        "--page_records=1 --records=64,512,4096 --latency_ms=0", only="bounded",
        full="--page_records=1 --records=64,4096,65536,1048576 --latency_ms=0"),
    Row("counts-growth", "counted", "fill",    "2,8",       "",
                         "compact", 200,       1,           False,
        "--records=65536 --latency_ms=0", only="grow index"),
    # A policy without an index has no pages, so there is nothing to count.
    Row("counts",        "counted", "churn",   "1,all,64",  "0.5,0.9,0.99,0.999",
                         "compact", 30,        1,           True,
        "--latency_ms=0", only="index"),
    Row("counts-others", "counted", "pair,handoff,storm,scan", "2,64", "0.9",
                         "compact", 30,        1,           False,
        "--latency_ms=0", only="index"),
    Row("counts-replay", "counted", "replay",  "2",         "",
                         "compact", 15,        1,           False,
        "--latency_ms=0", only="index"),
    Row("counts-tide",   "counted", "tide",    "2,64",      "",
                         "compact", 300,       1,           False),
    Row("counts-day",    "counted", "day",     "8",         "",
                         "compact", 240,       1,           False,
        only="grow index"),
)

# Workloads that the table does not name.
OTHERS = tuple(Row(name, "release", name, "1,even", "0.9", "compact", 36, None, False)
               for name in workloads.summaries()
               if not any(name in row.workloads.split(",") for row in SUITE))

FULL_WINDOW_MS = 10000  # the time limit of a fill of --growth
MEMORY = "memory"  # results_as of launches whose process is watched

TRACES = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))),
                      "results", "traces")
QUICK_REPETITIONS = 2
QUICK_WINDOW_MS = 20


def thread_counts(text, cpus):
    """The thread counts that a cell of the table stands for on this machine."""
    counts = set()
    for part in text.split(","):
        powers = {1 << k for k in range(cpus.bit_length()) if 1 << k < cpus} | {cpus, cpus * 4}
        if part == "powers":
            counts |= powers
        elif part == "even":
            counts |= {count for count in powers if count % 2 == 0}
        elif part in ("all", "some"):
            counts.add(cpus if part == "all" else max(2, cpus))
        else:
            counts.add(int(part))
    return sorted(counts)


def _cases(row, cpus):
    names = row.workloads.split(",")
    if "replay" in names and os.path.isdir(TRACES):  # once for each trace
        names += [name for name in os.listdir(TRACES) if name.endswith(".pfstrace")][1:]
    fills = len(row.occupancies.split(",")) if row.occupancies else 1
    return len(names) * fills * len(thread_counts(row.threads, cpus)) * len(_sizes(row))


def _sizes(row):
    """The records that containers are filled with, of rows that have them."""
    found = re.search(r"--records=(\S+)", row.flags)
    return [int(size) for size in found.group(1).split(",")] if found else [0]


def estimate_seconds(row, cpus):
    """Wall time of one launch: windows of the trials, fill and drain, start of the process."""
    # A trial has a window to warm up and one for latencies besides its own; a tide has not.
    windows = 1.05 if row.workloads in ("tide", "day") else 2.0
    if row.workloads in ("fill", "refuse"):
        # Some 200 ns for each record to prepare, fill, look through and free it; a page that has
        # one record takes some µs. Few fills last as long as they may.
        record_s = 2e-7 if row.workloads == "fill" else 1e-5
        return 0.1 + _cases(row, cpus) / len(_sizes(row)) * sum(
            0.1 * row.window_ms / 1000 + record_s * size for size in _sizes(row))
    return 0.1 + _cases(row, cpus) * (windows * row.window_ms / 1000 + 0.03)


def _fits(row, words):
    """Is a row for policies of these traits?"""
    return set(row.only.split()) <= set(words) and not (
        row.unless and set(row.unless.split()) <= set(words))


def _of_workloads(rows, wanted):
    """The rows that have some of the wanted workloads, with those alone."""
    kept = [row._replace(workloads=",".join(name for name in row.workloads.split(",")
                                            if name in wanted)) for row in rows]
    return [row for row in kept if row.workloads]


def make_plan(policies, cpus, seed, repetitions=7, quick=False, traits=None, growth=False,
              only=None):
    """The launches in the order in which they run: a list of dictionaries for plan.json. growth:
    only what growth costs, over the full range. only: the workloads that are measured, or all."""
    source = random.Random(seed)
    rows = [r for r in SUITE + OTHERS if (r.quick or not quick) and (r.full or not growth)]
    rows = _of_workloads(rows, only) if only else rows
    if growth:
        rows = [r._replace(flags=r.full, window_ms=FULL_WINDOW_MS if r.workloads == "fill"
                           else r.window_ms) for r in rows]
    if quick:
        rows = [r._replace(window_ms=max(QUICK_WINDOW_MS, r.window_ms // 6)) for r in rows]
        repetitions = min(repetitions, QUICK_REPETITIONS)
    launches = []
    rounds = max([repetitions] + [r.repetitions or 0 for r in rows])
    for number in range(rounds):
        turn = [r for r in rows if number < min(r.repetitions or repetitions, rounds)]
        if quick:
            turn = [r for r in turn if number == 0 or r.repetitions is None]
        source.shuffle(turn)
        for row in turn:
            order = list(policies) if row.workloads != "floor" else [None]
            source.shuffle(order)
            if (row.only or row.unless) and traits is not None:
                order = [policy for policy in order if _fits(row, traits.get(policy, ()))]
            launches += [_launch(row, policy, number + 1, cpus) for policy in order]
    for position, launch in enumerate(launches):
        launch["number"] = position + 1
        launch["file"] = f"raw/{position + 1:04d}-{launch['build']}-{launch['label']}-" \
                         f"{launch['policy'] or 'none'}-{launch['round']}.json"
        if launch["label"] == "tide":
            launch["series"] = launch["file"].replace(".json", ".series.json")
    return launches


def _launch(row, policy, number, cpus):
    return {"number": 0, "round": number, "build": row.build, "label": row.label,
            "policy": policy, "workloads": row.workloads,
            "threads": ",".join(str(t) for t in thread_counts(row.threads, cpus)),
            "occupancies": row.occupancies, "placement": row.placement,
            "window_ms": row.window_ms, "flags": row.flags,
            "results_as": row.results_as or row.build,
            "estimate_s": round(estimate_seconds(row, cpus), 2),
            "file": "", "status": "planned"}
