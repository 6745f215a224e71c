"""peer_figures.py - policies and peers side by side: recorded traces, the public calls, fairness,
latency while pages go back, and the memory of the whole process.
"""

from common import judge, stats
from common.amounts import bytes_text, bytes_unit, time_text
from common.stats import median
from reporting import against, charts, figure_parts as parts, looks, summary

SURER, LESS, OPEN = "more", "less", "open"


def _ratio_cell(ratios, text):
    """(text, tone, tip) of a cell: more or less than 1, or open where it cannot be told."""
    interval = stats.sure_interval(ratios)
    tone = OPEN if interval is None or interval.low <= 1 <= interval.high else \
        SURER if interval.low > 1 else LESS
    return (summary.times(median(ratios)), tone,
            f"{text}: {summary.times(median(ratios))} × ({judge.spread_text(ratios)})")


def _surely_above(several):
    """Those ratios whose whole interval lies above 1."""
    return [ratios for ratios in several
            if (interval := stats.sure_interval(ratios)) and interval.low > 1]


def _ratio_figure(results, name, head, spec, cells, policies, columns):
    """A matrix of ratios; cells {(policy, column): ratios}."""
    made = {(policies.index(p), columns.index(c)): _ratio_cell(r, f"{p}, {c}")
            for (p, c), r in cells.items()}
    open_ones = sum(1 for cell in made.values() if cell[1] == OPEN)
    title = head + (f" ({open_ones} of {len(made)} undecided)" if open_ones else "")
    return parts.drawn(name, charts.ratio_chart, title, {
        **spec, "columns": columns, "cells": made,
        "rows": [(p, looks.of(p)) for p in policies]}, stamp=results.stamp,
        caption="Ratios are formed within a round. Blue: more, orange: less, both with their whole "
                "interval; grey: undecided.")


def replay(results):
    """Recorded traces: each policy against the base, one column for each trace."""
    base = summary.base_policy(results)
    cases = [c for build, c in results.values if build == "release" and c.policy != base and
             c.workload.startswith("replay_") and not c.api and not c.pages_each]
    threads = max((c.threads for c in cases), default=0)
    cells = {}
    for case in cases:
        ratios = results.ratio("items_per_second", case._asdict(),
                               {**case._asdict(), "policy": base})
        if ratios and case.threads == threads:
            cells[(case.policy, case.workload[len("replay_"):])] = ratios
    if not cells:
        return None
    columns = sorted({trace for _, trace in cells})
    policies = [p for p in results.policies() if any(p == q for q, _ in cells)]
    own = [p for p in policies if p not in summary.baselines(results)] or policies
    best = max(own, key=lambda p: min((median(cells[p, c]) for c in columns if (p, c) in cells)))
    mine = [cells[best, c] for c in columns if (best, c) in cells]
    sure = _surely_above(mine)
    head = (f"Recorded programs replayed, {parts.count_noun(threads, 'thread')}: {best} is faster "
            f"than {base} in {len(sure) or 'none'} of {len(mine)}"
            + (f", {parts.sure_span(sure, summary.times)} ×" if sure else ""))
    slow = [p for p in own if any(judge.verdict(cells[p, c], most=0.5) == judge.MET
                                  for c in columns if (p, c) in cells)]
    if slow:
        head += f"; {parts.listed(slow)} fall{'s' if len(slow) == 1 else ''} below half of {base}"
    return _ratio_figure(results, "replay", head, {
        "subtitle": f"throughput × {base}; columns: the recorded programs",
        "note": parts.note(results, "release", f"replay_{columns[0]}", band=False)},
        cells, policies, columns)


def calls(results):
    """The public API against the same batch inlined, pair and churn."""
    cases = [c for build, c in results.values if build == "release" and c.api == "public"]
    cells = {}
    for case in cases:
        ratios = results.ratio("items_per_second", {**case._asdict(), "api": None},
                               case._asdict())
        filled = f" {case.occupancy:g}" if case.occupancy is not None else ""
        if ratios:
            cells[(case.policy, f"{case.workload}{filled}, "
                   f"{parts.count_noun(case.threads, 'thread')}")] = ratios
    if not cells:
        return None
    columns = sorted({column for _, column in cells}, key=lambda c: (c.split(",")[0] != "pair", c))
    policies = [p for p in results.policies() if any(p == q for q, _ in cells)]
    own = [p for p in policies if p not in summary.baselines(results)] or policies
    sure = _surely_above(ratios for (p, _), ratios in cells.items() if p in own)
    count = sum(1 for p, _ in cells if p in own)
    head = (f"A call of the public API takes {parts.sure_span(sure, summary.times)} × the time of "
            f"the same batch inlined in {len(sure)} of {count} cases") if sure else \
        "In no case does a call of the public API surely take longer than the same batch inlined"
    return _ratio_figure(results, "calls", head, {
        "subtitle": "time through pfs_allocate, pfs_publish, pfs_free / time of the batch that "
        "the other figures show; a peer is called the same way in both",
        "note": parts.note(results, "release", cases[0].workload, band=False)},
        cells, policies, columns)


FAIR = 0.8


def fairness(results):
    """Operations of the slowest thread / of the fastest one, by workload and thread count."""
    cells, lows = {}, {}
    for case in results.cases("release"):
        if case.threads < 2 or case.workload not in ("pair", "churn", "storm", "handoff") or \
                case.occupancy not in (None, 0.9):
            continue
        samples = results.samples("release", case, "fairness")
        if samples:
            column = f"{case.workload}, {parts.count_noun(case.threads, 'thread')}"
            interval = stats.sure_interval(samples)
            tone = {judge.MET: SURER, judge.NOT_MET: LESS, judge.UNDECIDED: OPEN}[
                judge.verdict(samples, least=FAIR)]
            cells[(case.policy, column)] = (
                f"{median(samples):.2f}", tone,
                f"{case.policy}, {column}: {median(samples):.2f} ({judge.spread_text(samples)})")
            if interval:
                lows[(case.policy, column)] = interval.low
    if not cells:
        return None
    columns = list(dict.fromkeys(column for _, column in cells))
    policies = [p for p in results.policies() if any(p == q for q, _ in cells)]
    tones = [cell[1] for cell in cells.values()]
    title = (f"Fairness: the slowest thread does at least {FAIR} of what the fastest does in "
             f"{tones.count(SURER)} of {len(cells)} cases, less in {tones.count(LESS)}; "
             f"{tones.count(OPEN)} undecided")
    if lows:
        worst = min(lows, key=lows.get)
        title += f"; lowest bound: {lows[worst]:.2g} ({worst[0]}, {worst[1]})"
    return parts.drawn("fairness", charts.ratio_chart, title, {
        "columns": columns,
        "subtitle": "operations of the slowest thread / of the fastest one; 1 is fair; with more "
        "threads than CPUs it is the time slices that differ",
        "cells": {(policies.index(p), columns.index(c)): cell for (p, c), cell in cells.items()},
        "rows": [(p, looks.of(p)) for p in policies],
        "note": parts.note(results, "release", "churn", band=False)}, stamp=results.stamp,
        caption=f"Blue: {FAIR} or more, orange: less, both with their whole interval; grey: "
                "undecided.")


def ebb(results):
    """p99.9 of allocate while pages go back, compared with p99.9 otherwise."""
    policies = [p for p in results.policies("still", "ebb")
                if results.of("reclaiming", "ns_p999", workload="ebb", policy=p)]
    if not policies:
        return None
    rows, ratios = [], {}
    for policy in policies:
        points = []
        for build, shape, word in (("still", "circle", "without"),
                                   ("reclaiming", "square", "while pages go back")):
            found = results.of(build, "ns_p999", workload="ebb", policy=policy)
            points.append(parts.row_point(found, f"{policy} {word}, ns", shape))
        rows.append({"name": policy, "index": looks.of(policy), "points": points})
        ratios[policy] = against.ebb_ratios(results, policy)
    told = []
    for policy, found in ratios.items():
        interval = stats.sure_interval(found)
        told.append(f"{policy} {summary.span_text(interval)} ×" if interval else
                    f"{policy} undecided")
    title = f"p99.9 of allocate while pages go back / without: {', '.join(told)}"
    return parts.drawn("ebb", charts.row_chart, title, {
        "subtitle": "the load falls again and again, 2 threads; logarithmic; the clock's own cost "
        "is included, but not in the ratios", "x_name": "p99.9 of one allocate", "x_log": True,
        "x_form": time_text, "rows": rows,
        "key": [("circle", "no pages go back"), ("square", "pages go back")],
        "told": "square",
        "note": parts.note(results, "still", "ebb")}, stamp=results.stamp,
        caption=parts.clock_text(results))


def memory(results):
    """Most memory that the process held, peers included, less that of a process without records."""
    cases = results.cases("memory")
    bare = results.of("memory", "process_bytes_peak", workload="floor")
    rows, peaks = [], {}
    base = median(bare) if bare else 0
    for case in cases:
        if case.policy is None or case.workload == "floor":
            continue
        found = stats.mapped(results.samples("memory", case, "process_bytes_peak"),
                             lambda v: max(1.0, v - base))
        if not found:
            continue
        _, mid, low, high, _, single = parts.point(0, found, case.policy)
        peaks[case.policy] = found
        tip = f"{case.policy}: {bytes_text(mid)} ({len(found)} launches)"
        rows.append({"name": case.policy, "index": looks.of(case.policy),
                     "points": [(mid, low, high, tip, "circle", single)]})
    if not peaks:
        return None
    case = next(c for c in cases if c.policy)
    filled = f" at {case.occupancy:g} full" if case.occupancy is not None else ""
    title = (f"Resident memory of the process, {case.workload}{filled}: "
             f"{parts.order(peaks, 'least', 'most')}")
    return parts.drawn("memory", charts.row_chart, title, {
        "subtitle": "highest resident set of a process that does only this, less that of one "
        "that holds no record" if bare else "highest resident set of a process that does only "
        "this", "x_name": "resident bytes at most", "x_form": bytes_text, "rows": rows,
        "zero": True, "bars": True, "x_unit": bytes_unit(map(median, peaks.values())),
        "note": parts.note(results, "memory", case.workload)}, stamp=results.stamp,
        caption="What the operating system holds for the whole process: pages, caches and the "
                "allocator's own tables. The containers take their preallocated pages at the "
                "start.")
