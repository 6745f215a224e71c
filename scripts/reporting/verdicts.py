"""verdicts.py - is B better, worse, or the same as A? The rows of a comparison, what it assumes.

Two results that were measured one after the other share no rounds, and the machine may have been
another one in between: other CPUs of the host, other neighbours. Baselines are the same code in
both, so what moves them is the machine's drift. With one thread, with a CPU for each, and with
more, drift is the median of the baselines' log ratios, and rows differ from it by their median
absolute deviation: one stray baseline changes neither. Only decided baselines count, those with
six undisturbed launches on both sides. A row's ratio is divided by the drift, and its interval is
wider by what Student's distribution says of one more row that drifts like the baselines. Where
fewer than six baselines are decided, UNKNOWN_DRIFT is assumed: from one to another of this
project's own reference results of one machine baselines moved by up to 18 % with one thread, and to
4.3 times with two, as the host had moved the CPUs apart. Launches of interleaved builds share
rounds: ratios are formed within a round, and the machine's drift is in both.

Many rows are many chances to be wrong: better and worse need an interval that all rows together
miss with 5 % at most (Bonferroni; half of it for launches, half for drift), wholly beyond the
margin. Same: the 95 % interval is wholly inside it. All else is undecided. The margin is the same
for all rows: MARGIN, the least effect that counts.
"""

import math
from collections import namedtuple

from common import documents, judge, stats
from reporting import results, summary

ALPHA = 0.05
MARGIN = 0.05  # see docs/reference/metrics.md
ALONE, SPREAD, CROWDED = "1 thread", "threads with a CPU each", "threads that take turns"
UNKNOWN_DRIFT = {ALONE: 0.25, SPREAD: 4.0, CROWDED: 4.0}
# factor: of the class; spread: of the logarithms around it; baselines: how many were decided
Drift = namedtuple("Drift", "factor spread baselines")
NO_DRIFT = Drift(1.0, 0.0, 0)
BETTER, WORSE, SAME, YARDSTICK = "better", "worse", "same", "yardstick"
WORDS = (BETTER, WORSE, SAME, judge.UNDECIDED, YARDSTICK)
MACHINE_FACTS = (
    ("cpu_model", "the processors differ"), ("cpu_id", "two processors of one name"),
    ("cpu_microcode", "another microcode"), ("cache_l1d_bytes", "two processors of one name"),
    ("cache_l2_bytes", "two processors of one name"),
    ("cache_l3_bytes", "two processors of one name"),
    ("kernel", "another kernel"), ("cpus_allowed", "other CPUs"))
FLOOR_RATIO = 1.5


def level_of(rows, sources=1):
    """The confidence of one row at which this many rows together are wrong with at most 5 %.
    sources: 2 where launches and drift may both be why."""
    return 1 - ALPHA / max(1, rows) / sources


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


def _intervals(a, b, level, shared, usual=stats.CONFIDENCE):
    """(ratio, its usual interval, its interval at the level); None where nothing can be said."""
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
    return middle, stats.ratio_interval(a, b, usual), stats.ratio_interval(a, b, level)


def _doubt(drift, confidence):
    """How far one more row may lie from the drift, as a factor, and with which confidence."""
    if not drift.baselines:
        return math.exp(drift.spread)
    wide = stats.student_quantile((1 + confidence) / 2, drift.baselines - 1)
    return math.exp(wide * drift.spread * math.sqrt(1 + math.pi / 2 / drift.baselines))


def _without(drift, interval, confidence):
    """The interval of a ratio without the machine's drift."""
    doubt = _doubt(drift, confidence)
    return stats.Interval(interval.low / drift.factor / doubt, interval.high / drift.factor * doubt,
                          interval.coverage + confidence - 1 if drift.baselines else
                          interval.coverage)


def compare_case(metric, a, b, margin, level, shared, drift=NO_DRIFT):
    """The numbers of one case, as --json prints them; its interval is without drift."""
    row = {name: {"median": stats.median(side), "launches": len(side),
                  "left_out": side.left_out, "disturbed": side.shaken}
           for name, side in (("a", a), ("b", b))}
    row.update(ratio=None, drift=drift.factor, interval=None, coverage=None,
               verdict=judge.UNDECIDED)
    if min(min(a), min(b)) <= 0:
        row["verdict"] = _zero_verdict(metric, a, b)
        return row
    sources = 2 if drift.baselines else 1
    sure = 1 - (1 - stats.CONFIDENCE) / sources
    row["ratio"], usual, strict = _intervals(a, b, level, shared, sure)
    if usual:
        usual = _without(drift, usual, sure)
        row.update(interval=[usual.low, usual.high], coverage=usual.coverage)
        if 1 / (1 + margin) < usual.low and usual.high < 1 + margin:
            row["verdict"] = SAME
    if strict:
        strict = _without(drift, strict, level)
        row["verdict"] = _word(metric, strict.low, strict.high, margin) or row["verdict"]
    return row


def thread_class(case, cpus):
    """Rows that the same things disturb: alone, one thread a CPU, taking turns."""
    return ALONE if case.threads == 1 else SPREAD if case.threads <= cpus else CROWDED


def _is_decided(a, b):
    """Do both sides have six undisturbed launches, and rates?"""
    return min(len(a), len(b)) >= stats.LEAST and not a.shaken and not b.shaken and \
        min(min(a), min(b)) > 0


def drift_of(pairs, yardsticks, cpus):
    """{thread class: Drift} of how the same code moved from A to B."""
    moves = {}
    for case, a, b in pairs:
        if case.policy in yardsticks and _is_decided(a, b):
            moves.setdefault(thread_class(case, cpus), []).append(
                math.log(stats.middle_ratio(a, b)))
    found = {kind: Drift(1.0, math.log(1 + share), 0) for kind, share in UNKNOWN_DRIFT.items()}
    for kind, logs in moves.items():
        if len(logs) >= stats.LEAST:
            middle, spread = stats.middle_and_spread(logs)
            found[kind] = Drift(math.exp(middle), spread, len(logs))
    return found


def drift_text(drifts):
    """1 thread 0.98 × (rows differ by ± 4 %, 23 baselines); or what is assumed without."""
    return ", ".join(
        f"{kind} {drift.factor:.3g} × (rows differ by {100 * math.expm1(drift.spread):.2g} % from "
        f"it, {drift.baselines} decided baselines)" if drift.baselines else
        f"{kind} up to {math.exp(drift.spread):.3g} × either way, which is assumed, with fewer "
        f"than {stats.LEAST} decided baselines" for kind, drift in drifts.items())


def compare(a, b, metric, build, margin=MARGIN, shared=False):
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
    kinds = {thread_class(case, cpus) for case, _, _ in pairs}
    drift = {kind: found for kind, found in drift_of(pairs, yardsticks, cpus).items()
             if kind in kinds} if measured else {}
    level = level_of(sum(1 for case, _, _ in pairs if case.policy not in yardsticks),
                     2 if measured else 1)
    rows = []
    for case, one, other in pairs:
        row = {"case": case_name(case), "metric": metric}
        row.update(compare_case(metric, one, other, margin, level, shared or build == "simulated",
                                drift.get(thread_class(case, cpus), NO_DRIFT)))
        if case.policy in yardsticks:
            row["verdict"] = YARDSTICK
        rows.append(row)
    names = [set(map(case_name, side)) for side in sides]
    return {"rows": rows, "only_a": sorted(names[0] - names[1]),
            "only_b": sorted(names[1] - names[0]), "drift": drift, "level": level, "margin": margin}


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
