"""verdicts.py - is B better, worse, or the same as A? The rows of a comparison, what it assumes.

Two results that were measured one after the other share no rounds, and the machine may have been
another one in between: other CPUs of the host, other neighbours. Baselines are the same code in
both, so what moved them moved the machine: no difference counts that is not larger than the
largest one of a baseline with as many threads. Where there is no baseline in both, UNKNOWN_DRIFT
is assumed: from one to another of this project's own reference results of one machine baselines
moved by up to 18 % with one thread, and to 4.3 times with two, as the host had moved the CPUs
apart. Launches of interleaved builds share rounds: ratios are formed within a round, and the
machine's drift is in both.

Many rows are many chances to be wrong: better and worse need an interval that all rows together
miss with 5 % at most (Bonferroni), wholly beyond the margin. Same: the 95 % interval is wholly
inside it. All else is undecided.
"""

import math

from common import documents, judge, stats
from reporting import results, summary

ALPHA = 0.05
ALONE, SPREAD, CROWDED = "1 thread", "threads with a CPU each", "threads that take turns"
UNKNOWN_DRIFT = {ALONE: 0.25, SPREAD: 4.0, CROWDED: 4.0}
BETTER, WORSE, SAME, YARDSTICK = "better", "worse", "same", "yardstick"
WORDS = (BETTER, WORSE, SAME, judge.UNDECIDED, YARDSTICK)
MACHINE_FACTS = (
    ("cpu_model", "the processors differ"), ("cpu_id", "two processors of one name"),
    ("cpu_microcode", "another microcode"), ("cache_l1d_bytes", "two processors of one name"),
    ("cache_l2_bytes", "two processors of one name"),
    ("cache_l3_bytes", "two processors of one name"),
    ("kernel", "another kernel"), ("cpus_allowed", "other CPUs"))
FLOOR_RATIO = 1.5


def level_of(rows):
    """The confidence of one row at which this many rows together are wrong with at most 5 %."""
    return 1 - ALPHA / max(1, rows)


def case_name(case):
    """A case as the benchmark's name, without its fixed end."""
    parts = [case.workload]
    for field in ("policy", "occupancy", "records", "memory", "api", "pages_each", "placement",
                  "machine", "threads"):
        value = getattr(case, field)
        if value is not None:
            parts.append(f"{field}:{value:g}" if isinstance(value, float) else
                         f"{field}:{value}")
    return "/".join(parts)


def refuse_disturbed(side, name, metric):
    """Refuse to compare if more than a tenth is disturbed: the machine had other work."""
    shaken = summary.disturbed(side, metric)
    if shaken and shaken["disturbed"] > summary.DISTURBED_LIMIT * shaken["cases"]:
        raise documents.Unfit(
            f"{name}: {shaken['disturbed']} of {shaken['cases']} values are disturbed; above "
            f"{100 * summary.DISTURBED_LIMIT:.0f} % nothing is compared: measure again on an idle "
            "machine")


def _word(metric, low, high, margin):
    """better or worse if the interval is wholly beyond the margin, else None."""
    if low > 1 + margin:
        return BETTER if metric in results.MORE_IS_BETTER else WORSE
    if high < 1 / (1 + margin):
        return WORSE if metric in results.MORE_IS_BETTER else BETTER
    return None


def _zero_verdict(metric, a, b):
    """The verdict if zeros leave no ratio: only sides that do not overlap differ."""
    if max(a) == min(a) == max(b) == min(b):
        return SAME
    if min(len(a), len(b)) >= stats.LEAST and (min(a) > max(b) or min(b) > max(a)):
        return BETTER if (min(b) > max(a)) == (metric in results.MORE_IS_BETTER) else WORSE
    return judge.UNDECIDED


def _intervals(a, b, level, shared):
    """(ratio, its 95 % interval, its interval at the level); None where nothing can be said."""
    if shared:
        ratios = stats.paired(b, a)
        if not ratios:
            return None, None, None
        middle = stats.median(ratios)
        if ratios.seeds:  # nothing disturbs them: every seed must say so
            return middle, *[stats.median_interval(ratios, 1.0)] * 2
        wide = stats.median_interval(ratios, level)
        return middle, stats.drawn_interval(ratios), \
            wide if not ratios.shaken and wide.coverage >= level else None
    middle = stats.middle_ratio(a, b)
    if min(len(a), len(b)) < stats.LEAST or a.shaken or b.shaken:
        return middle, None, None
    return middle, stats.ratio_interval(a, b), stats.ratio_interval(a, b, level)


def compare_case(metric, a, b, margin, level, shared):
    """The numbers of one case, as --json prints them."""
    row = {name: {"median": stats.median(side), "launches": len(side),
                  "left_out": side.left_out, "disturbed": side.shaken}
           for name, side in (("a", a), ("b", b))}
    row.update(ratio=None, interval=None, coverage=None, margin=margin,
               verdict=judge.UNDECIDED)
    if min(min(a), min(b)) <= 0:
        row["verdict"] = _zero_verdict(metric, a, b)
        return row
    row["ratio"], usual, strict = _intervals(a, b, level, shared)
    if usual:
        row.update(interval=[usual.low, usual.high], coverage=usual.coverage)
        if 1 / (1 + margin) < usual.low and usual.high < 1 + margin:
            row["verdict"] = SAME
    if strict:
        row["verdict"] = _word(metric, strict.low, strict.high, margin) or row["verdict"]
    return row


def thread_class(case, cpus):
    """Rows that the same things disturb: alone, one thread a CPU, taking turns."""
    return ALONE if case.threads == 1 else SPREAD if case.threads <= cpus else CROWDED


def drift_of(pairs, yardsticks, cpus):
    """{thread class: how far the same code moved from A to B, at most}; {} without baselines."""
    found = {}
    for case, a, b in pairs:
        if case.policy in yardsticks and min(min(a), min(b)) > 0:
            moved = math.exp(abs(math.log(stats.middle_ratio(a, b)))) - 1
            kind = thread_class(case, cpus)
            found[kind] = max(found.get(kind, 0.0), moved)
    return found


def compare(a, b, metric, build, threshold, shared=False):
    """{"rows", "only_a", "only_b", "drift", "level"} of all cases that both sides have."""
    sides = [{case: samples for case, samples in (
        (case, side.samples(build, case, metric)) for case in
        sorted({c for t, c in side.values if t == build}, key=case_name)) if samples}
        for side in (a, b)]
    pairs = [(case, found, sides[1][case]) for case, found in sides[0].items()
             if case in sides[1]]
    measured = not shared and build != "simulated"
    yardsticks = set(summary.baselines(a)) & set(summary.baselines(b)) if measured else set()
    cpus = a.plan.get("cpus") or a.context.get("num_cpus") or 1
    drift = drift_of(pairs, yardsticks, cpus) if measured else {}
    level = level_of(sum(1 for case, _, _ in pairs if case.policy not in yardsticks))
    rows = []
    for case, one, other in pairs:
        kind = thread_class(case, cpus)
        moved = drift.get(kind, UNKNOWN_DRIFT[kind]) if measured else 0.0
        row = {"case": case_name(case), "metric": metric}
        row.update(compare_case(metric, one, other, max(threshold, moved), level,
                                shared or build == "simulated"))
        if case.policy in yardsticks:
            row["verdict"] = YARDSTICK
        rows.append(row)
    names = [set(map(case_name, side)) for side in sides]
    return {"rows": rows, "only_a": sorted(names[0] - names[1]),
            "only_b": sorted(names[1] - names[0]), "drift": drift, "level": level}


def facts_of(side):
    """The facts on a side's processor, from machine.json or else from the benchmark file."""
    found = {key: side.machine.get(key, side.context.get(key)) for key, _ in MACHINE_FACTS}
    caches = side.context.get("caches", [])
    for cache in caches if isinstance(caches, list) else []:
        if cache.get("type") != "Instruction" and documents.is_number(cache.get("size")):
            level = cache.get("level")
            name = f"cache_l{level}{'d' if level == 1 else ''}_bytes"
            found[name] = found.get(name) or cache["size"]
    return {key: int(value) if str(value).isdigit() else value for key, value in found.items()}


def machine_differences(a, b):
    """Lines that say why A and B are not of one machine."""
    facts, lines = (facts_of(a), facts_of(b)), []
    for key, meaning in MACHINE_FACTS:
        values = [side.get(key) for side in facts]
        if not {None, "absent", "ABSENT"} & set(map(str, values)) and values[0] != values[1] \
                and None not in values:
            lines.append(f"{key} differs ({values[0]} and {values[1]}), {meaning}: this compares "
                         "machines, not code")
    floors = [float(side.context.get("floor_ns", "nan")) for side in (a, b)]
    if max(floors) > FLOOR_RATIO * min(floors):
        lines.append(f"floor_ns differs ({floors[0]:g} and {floors[1]:g}), a bare CAS and two "
                     "stores: this compares machines, not code")
    return lines
