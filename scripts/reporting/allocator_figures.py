"""allocator_figures.py - the figures of the chapter "The allocator": CPU time and peak resident
set for each case, their means, and what stays resident after idling. See allocator_results.py.
"""

from common import stats
from common.amounts import bytes_text, time_text
from common.stats import median
from reporting import allocator_results, allocator_tails, charts, figure_parts as parts, looks
from reporting.allocator_results import CPU, OURS, PEAK

NEAR = 1.15
SHAPES = ("circle", "square", "triangle", "diamond", "bar")


def _subject(suite):
    """Whom a title speaks of: ours, or the best peer by mean where ours is not there."""
    return OURS if OURS in suite.names else suite.best_by_mean(CPU)


def _note(suite):
    counts = [len(suite.samples(case, name, CPU)) for case in suite.cases for name in suite.names]
    low, high = min(counts), max(counts)
    return (f"{suite.document['kind']} suite; each value the median of {low} to "
            f"{parts.count_noun(high, 'launch')}, ratios formed within a round")


def _cell(ratios, text):
    """Blue: near the best in every round, orange: in none, of three at least; grey: undecided."""
    near = [ratio <= NEAR for ratio in ratios]
    tone = "open" if len(near) < 3 or any(near) != all(near) else "more" if all(near) else "less"
    return (f"{median(ratios):.2f}", tone,
            f"{text}: {median(ratios):.3f} × ({min(ratios):.3f} to {max(ratios):.3f} in "
            f"{parts.count_noun(len(ratios), 'round')})")


def _matrix(suite, metric, name, what):
    cases = [case for case in suite.cases if suite.best_peer(case, metric)]
    cells, tally = {}, []
    for row, case in enumerate(cases):
        for column, allocator in enumerate(suite.names):
            ratios = suite.to_best(case, allocator, metric)
            if ratios:
                cells[row, column] = _cell(ratios, f"{allocator}, {case}")
        interval = stats.sure_interval(suite.to_best(case, _subject(suite), metric))
        tally.append("undecided" if interval is None or interval.low <= 1 <= interval.high else
                     "less" if interval.high < 1 else "more")
    if not cells:
        return None
    title = (f"{what}: {_subject(suite)} needs less than the best peer in {tally.count('less')} of "
             f"{len(cases)} cases, more in {tally.count('more')}; "
             f"{tally.count('undecided')} undecided")
    return parts.drawn(name, charts.ratio_chart, title, {
        "subtitle": "× the best of the peers in that case",
        "columns": suite.names, "cells": cells, "rows": [(case, None) for case in cases],
        "note": _note(suite)}, width=548,
        caption=f"Blue: at most {NEAR} × the best peer in every round; orange: above it in every "
                "round; grey: in some, or in less than three rounds.")


def cpu(results):
    """CPU time by case and allocator."""
    return results.allocators and _matrix(results.allocators, CPU, "allocator-cpu", "CPU time")


def peak(results):
    """Peak resident set by case and allocator."""
    return results.allocators and _matrix(results.allocators, PEAK, "allocator-peak",
                                          "Peak resident set")


def tails(results):
    """The longest calls on a processor."""
    suite = results.allocators
    found = {name: value for name in suite.names
             if (value := allocator_tails.longest_quick(suite, name)) is not None} if suite else {}
    if not found:
        return None
    calls = [call for call in allocator_tails.CALLS if call != "end"]
    rows = []
    for name in found:
        points = []
        for call, shape in zip(calls, SHAPES):
            middle = suite.mid(allocator_tails.CASE, name, f"{call}_{allocator_tails.ON_CPU}")
            points.append((middle, None, None, f"{name}, {allocator_tails.name_of(call)}: "
                           f"{time_text(middle)}", shape, []))
        rows.append({"name": name, "index": looks.of(name), "points": points})
    title = "The longest malloc, free or realloc: " + parts.order(
        {name: allocator_tails.samples_quick(suite, name) for name in found}, "shortest", "longest")
    return parts.drawn("allocator-tails", charts.row_chart, title, {
        "subtitle": "time on a processor; fork copies the tables of the heap's pages",
        "x_name": "longest call, logarithmic", "x_log": True, "x_form": time_text, "rows": rows,
        "key": [(shape, allocator_tails.name_of(call)) for call, shape in zip(calls, SHAPES)],
        "told": SHAPES[0], "lines": [(allocator_tails.LIMIT_NS, "1 ms")], "note": _note(suite)})


def _mean(results, metric, name, what):
    """Geometric means of one metric over all cases."""
    suite = results.allocators
    base = suite.best_by_mean(metric) if suite else None
    if base is None:
        return None
    rows, intervals = [], {}
    for allocator in suite.names:
        middle, interval = suite.mean_ratio(allocator, base, metric)
        low, high = (interval.low, interval.high) if allocator != base else (None, None)
        intervals[allocator] = (middle, low, high)
        rows.append({"name": allocator, "index": looks.of(allocator), "points": [
            (middle, low, high, f"{allocator}, {what}: {middle:.3f} × {base}", "circle", [])]})
    subject = _subject(suite)
    middle, low, high = intervals[subject]
    least = min(map(len, suite.ratios(subject, base, metric)))
    where = f"Over {len(suite.judged(metric))} programs and workloads"
    title = (f"{where} {subject} takes {middle:.2f} × the {what} of {base}, the best peer by mean"
             + ("" if low is None else f" ({low:.2f} to {high:.2f})"))
    if low is not None and (least < stats.LEAST or low <= 1 <= high):
        title = f"{where}: undecided how the {what} of {subject} compares with {base}'s"
        title += f"; some cases have {parts.count_noun(least, 'launch')}" \
            if least < stats.LEAST else ""
    return parts.drawn(name, charts.row_chart, title, {
        "subtitle": "geometric means of ratios; thick: 95 % by bootstrap of "
        f"launches ({stats.DRAWS} draws)", "x_name": f"{what} × {base}", "rows": rows,
        "lines": [(1, "the best peer")], "note": _note(suite)})


def mean(results):
    """CPU time over all cases."""
    return _mean(results, CPU, "allocator-mean", "CPU time")


def mean_peak(results):
    """Peak resident set over all cases."""
    return _mean(results, PEAK, "allocator-mean-peak", "peak memory")


def idle(results):
    """What is resident 3 s after the load ended."""
    suite = results.allocators
    cases = [case for case in suite.cases if any(suite.samples(case, name, "idle_bytes")
                                                 for name in suite.names)] if suite else []
    if not cases:
        return None
    rows = []
    for name in suite.names:
        points = []
        for case, shape in zip(cases, SHAPES):
            samples = suite.samples(case, name, "idle_bytes")
            if samples:
                middle = median(samples)
                points.append((middle, None, None, f"{name}, {case}: {bytes_text(middle)} "
                               f"({parts.count_noun(len(samples), 'launch')})", shape, []))
        rows.append({"name": name, "index": looks.of(name), "points": points})
    shown = "idle" if "idle" in cases else cases[0]
    kept = {name: suite.samples(shown, name, "idle_bytes") for name in suite.names}
    title = (f"Resident memory 3 s after the load of {shown}: "
             f"{parts.order({n: v for n, v in kept.items() if v}, 'least', 'most')}")
    return parts.drawn("allocator-idle", charts.row_chart, title, {
        "subtitle": "8 threads fill 32 MiB each and free it, or what another one "
        "filled; 400 threads free what one allocated; redis after flushall; MariaDB",
        "x_name": "resident bytes of the process, logarithmic", "x_log": True,
        "x_form": bytes_text, "x_unit": 1 << 20, "rows": rows, "key": list(zip(SHAPES, cases)),
        "told": SHAPES[cases.index(shown)] if shown in cases[:len(SHAPES)] else "",
        "lines": [(allocator_results.IDLE_LIMIT, "10 MiB")], "note": _note(suite)})
