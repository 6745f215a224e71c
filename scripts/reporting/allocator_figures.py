"""allocator_figures.py - the figures of the chapter "The allocator": CPU time and peak resident
set for each case, their means, and what stays resident after idling. See allocator_results.py.
"""

from common import stats
from common.amounts import bytes_text, time_text
from common.stats import median
from reporting import allocator_results, allocator_tails, charts, figure_parts as parts
from reporting.allocator_results import CPU, OURS, PEAK

COLOURS = {OURS: 0, "jemalloc": 4, "mimalloc": 3, "tcmalloc": 5, "glibc": 6}
INK = 7
NEAR = 1.15
SHAPES = ("circle", "square", "triangle", "diamond", "bar")


def colour(name):
    """The same for an allocator in all figures."""
    return COLOURS.get(name, 2)


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
    cells, subject = {}, _subject(suite)
    for row, case in enumerate(cases):
        for column, allocator in enumerate(suite.names):
            ratios = suite.to_best(case, allocator, metric)
            if ratios:
                cells[row, column] = _cell(ratios, f"{allocator}, {case}")
    if not cells:
        return None
    tones = [cell[1] for (_, column), cell in cells.items() if suite.names[column] == subject]
    title = (f"{what}: {subject} takes at most {NEAR} × the best peer in {tones.count('more')} of "
             f"{len(tones)} cases, more in {tones.count('less')}; {tones.count('open')} undecided")
    return parts.drawn(name, charts.ratio_chart, title, {
        "subtitle": "× the best of the peers in that case",
        "columns": suite.names, "cells": cells, "rows": [(case, INK) for case in cases],
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
        rows.append({"name": name, "index": colour(name), "points": points})
    subject = _subject(suite) if _subject(suite) in found else min(found, key=found.get)
    others = [value for name, value in found.items() if name != subject]
    title = f"The longest malloc, free or realloc takes {time_text(found[subject])} with {subject}"
    if others:
        title += f", {time_text(min(others))} to {time_text(max(others))} with the others"
    return parts.drawn("allocator-tails", charts.row_chart, title, {
        "subtitle": "time on a processor; fork copies the tables of the heap's pages",
        "x_name": "longest call, logarithmic", "x_log": True, "x_form": time_text, "rows": rows,
        "key": [(shape, allocator_tails.name_of(call)) for call, shape in zip(calls, SHAPES)],
        "lines": [(allocator_tails.LIMIT_NS, "1 ms")], "note": _note(suite)})


def mean(results):
    """Geometric means over all cases, CPU time and peak resident set."""
    suite = results.allocators
    bases = {metric: suite.best_by_mean(metric) for metric in (CPU, PEAK)} if suite else {}
    if not bases or None in bases.values():
        return None
    rows, found, subject = [], {}, _subject(suite)
    for name in suite.names:
        points = []
        for metric, shape, what in ((CPU, "circle", "CPU time"), (PEAK, "square", "peak")):
            middle, interval = suite.mean_ratio(name, bases[metric], metric)
            found[name, metric] = middle
            low, high = (interval.low, interval.high) if name != bases[metric] else (None, None)
            points.append((middle, low, high, f"{name}, {what}: {middle:.3f} × {bases[metric]}",
                           shape, []))
        rows.append({"name": name, "index": colour(name), "points": points})
    least = min(len(r) for m in (CPU, PEAK) for r in suite.ratios(subject, bases[m], m))
    title = f"Over {len(suite.judged(CPU))} programs and workloads {subject} takes "
    title += (f"{found[subject, CPU]:.2f} × the CPU time of {bases[CPU]} and "
              f"{found[subject, PEAK]:.2f} × the memory of {bases[PEAK]}, the best peers by mean"
              if least >= stats.LEAST else
              "an undecided share of the best peers' CPU time and memory: some cases have "
              f"{parts.count_noun(least, 'launch')}, {stats.LEAST} are needed")
    return parts.drawn("allocator-mean", charts.row_chart, title, {
        "subtitle": "geometric means of ratios; thick: 95 % by bootstrap of "
        f"launches ({stats.DRAWS} draws)", "x_name": "× the best peer by mean", "rows": rows,
        "key": [("circle", f"CPU time × {bases[CPU]}"),
                ("square", f"peak resident set × {bases[PEAK]}")],
        "lines": [(1, "the best peer")], "note": _note(suite)})


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
        rows.append({"name": name, "index": colour(name), "points": points})
    shown = "idle" if "idle" in cases else cases[0]
    kept = {name: suite.mid(shown, name, "idle_bytes") for name in suite.names}
    kept = {name: value for name, value in kept.items() if value is not None}
    subject = _subject(suite) if _subject(suite) in kept else min(kept, key=kept.get)
    others = [value for name, value in kept.items() if name != subject]
    title = f"3 s after the load of {shown} {subject} holds {bytes_text(kept[subject])}"
    if others:
        title += f", the others {bytes_text(min(others))} to {bytes_text(max(others))}"
    return parts.drawn("allocator-idle", charts.row_chart, title, {
        "subtitle": "8 threads fill 32 MiB each and free it, or what another one "
        "filled; 400 threads free what one allocated; redis after flushall; MariaDB",
        "x_name": "resident bytes of the process, logarithmic", "x_log": True,
        "x_form": bytes_text, "x_unit": 1 << 20, "rows": rows, "key": list(zip(SHAPES, cases)),
        "lines": [(allocator_results.IDLE_LIMIT, "10 MiB")], "note": _note(suite)})
