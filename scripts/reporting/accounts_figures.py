"""accounts_figures.py - the figures of the chapter "The accounts": what counting adds to a pair of
malloc and free, errors of each rule, memory of the accounts themselves, and readers. See
accounts_results.py.
"""

from common import judge, stats
from common.amounts import bytes_text, number, span
from common.stats import median
from measuring.accounts_cases import ALONE, AT_ONCE, BESIDE, COPY, ERROR_RULES, HEADER, RULES
from reporting import charts, figure_parts as parts, looks
from reporting.accounts_results import CPU, SLOWED_PERCENT

COLOURS = {"exact": 4, "freer": 0, "global": 2, AT_ONCE: 1, HEADER: 6}
WAYS = {HEADER: "16 bytes more"}


def _note(suite, cases, way, name):
    """Which suite, how many launches, what their spread means."""
    counts = [len(found) for case in cases if (found := suite.samples(case, way, name))]
    text = (f"{suite.document['kind']} suite, release build; each value the median of "
            f"{parts.count_noun(min(counts), 'launch')}, formed within a round")
    return text + parts.band_text(min(counts), max(counts), "launch")


def _cost(results, group, name, what):
    """Rows of what each rule adds, by threads, and of what exact may add."""
    suite = results.accounts
    cases = [c for c in suite.of_group(group) if suite.added(c, "exact", "none")] if suite else []
    if not cases:
        return None
    rows, exact = [], []
    for case in cases:
        allowed, _ = suite.allowed(case)
        says = suite.cases[case]["says"]
        for way in (HEADER, *RULES):
            samples = suite.added(case, way, "none")
            if not samples:
                continue
            rows.append({"name": f"{says}: {WAYS.get(way, way)}", "index": COLOURS[way],
                         "points": [parts.row_point(samples, f"{way}, {says}",
                                                    form="{:+.2f} ns")]})
        exact.append(suite.added(case, "exact", "none"))
        rows.append({"name": f"{says}: allowed", "index": looks.NEUTRAL, "points": [
            (allowed, None, None, f"allowed: {allowed:.1f} ns", "bar", [])]})
    added = parts.sure_span(exact, "{:.1f}".format)
    title = f"{what}: counting exactly adds {added} ns to a pair of malloc and free" if added else \
        f"{what}: undecided what counting exactly adds to a pair of malloc and free"
    return parts.drawn(name, charts.row_chart, title, {
        "subtitle": "random sizes of 16 to 512 bytes, each block lives for some "
        "512 pairs; a pair without counting takes " + parts.listed(
            f"{suite.mid(c, 'none', CPU):.1f}" for c in cases) + " ns",
        "x_name": "nanoseconds of CPU time that are added", "x_form": lambda v: f"{v:.3g}",
        "rows": rows, "zero": True, "note": _note(suite, cases, "exact", CPU)},
        caption="Allowed to exact: 5 ns or 15 % of a pair, the larger; with foreign frees 1.3 "
                "times that.")


def preload(results):
    """What counting adds to the malloc of any program."""
    return _cost(results, "preload", "accounts-preload", "Of any program")


def cost(results):
    """What counting by the library's calls adds."""
    return _cost(results, "cost", "accounts-cost", "By the library's calls")


ERRORS = (("rows of {rows:g}", (("wrong", "wrong"), ("below 0", "below"))),
          ("totals of {instruments:g}", (("wrong", "totals"),)),
          ("error of all rows, in units of what is in use",
           (("sessions open", "open"), ("sessions ended", "bytes"), ("all freed", "left"))),
          ("% of reads", (("below 0", "reads_below"),)))
PART_OF = {"open": ("in_use", 1), "bytes": ("in_use", 1), "left": ("in_use", 1),
           "reads_below": ("reads", 100)}


def _error(suite, case, rule, name):
    """(what a cell says, its tip); None where it was not measured."""
    samples = suite.samples(case, rule, name)
    if name in PART_OF:
        base, factor = PART_OF[name]
        samples = stats.paired(samples, suite.samples(case, rule, base),
                               lambda a, b: factor * a / b if b else None)
    return samples and (median(samples), f"{rule}, {name}: {number(median(samples))} "
                        f"({judge.spread_text(samples)})")


def errors(results):
    """Loads and rules down, what is wrong across."""
    suite = results.accounts
    cases = [c for c in suite.of_group("errors") if suite.samples(c, "exact", "wrong")] \
        if suite else []
    if not cases:
        return None
    case, groups = cases[0], []
    lines = [(load, rule) for load in cases for rule in ERROR_RULES
             if suite.samples(load, rule, "wrong")]
    counts = {name: suite.mid(case, "exact", name) for name in ("rows", "instruments")}
    for name, columns in ERRORS:
        cells = {(row, k): found for row, (load, rule) in enumerate(lines)
                 for k, (_, key) in enumerate(columns)
                 if (found := _error(suite, load, rule, key))}
        groups.append({"name": name.format(**counts), "cells": cells,
                       "columns": [("", heading) for heading, _ in columns]})
    wrong = {rule: suite.samples(case, rule, "wrong") for rule in RULES}
    told = ", ".join(f"{rule} {span('{:g}'.format, *found)}"
                     for rule, found in wrong.items() if found)
    below = {suite.cases[load]["says"]: suite.samples(load, "global", "below") for load in cases}
    told_below = ", ".join(f"{span('{:g}'.format, *found)} "
                           f"{'if' if says.startswith('blocks') else 'with'} {says}"
                           for says, found in below.items() if found)
    title = (f"Rows of {counts['rows']:g} that differ from books kept by brute force, in all "
             f"launches: {told}; below zero with global: {told_below}")
    return parts.drawn("accounts-errors", charts.matrix_chart, title, {
        "subtitle": f"{parts.count_noun(suite.cases[case]['threads'], 'thread')}, sessions that "
        "come and go, blocks freed by any thread; totals include the global row",
        "groups": groups, "rows": [(f"{suite.cases[load]['says']}: {rule}", COLOURS[rule])
                                   for load, rule in lines],
        "note": f"{suite.document['kind']} suite, release build; medians of "
        f"{parts.count_noun(len(suite.samples(case, 'exact', 'wrong')), 'launch')}, each with a "
        "seed of its own"},
        caption="A 0 is right. global reuses a number after the others of its page, as MySQL "
                "does; global_at_once does so at once, which no server does. A cache: blocks live "
                "for some 500 sessions, and one session in eight only frees. Reads: cells of "
                "threads and accounts, read while these work.")


def memory(results):
    """Lines of box and private memory over threads, one for each number of instruments."""
    suite = results.accounts
    total = {}
    for case in suite.of_group("memory") if suite else ():
        samples = stats.paired(suite.samples(case, "exact", "box_bytes"),
                               suite.samples(case, "exact", "private_bytes"),
                               lambda box, own: box + own)
        if samples:
            total[suite.cases[case]["threads"], suite.cases[case]["instruments"]] = samples
    if not total:
        return None
    threads, kinds = (sorted({key[k] for key in total}) for k in (0, 1))
    series = []
    for position, many in enumerate(kinds):
        points = [(count, median(total[count, many]), None, None,
                   f"{count} × {many}: {bytes_text(median(total[count, many]))}", [])
                  for count in threads if (count, many) in total]
        series.append({"name": parts.count_noun(many, "instrument"), "index": position,
                       "points": points})
    most = max(total)
    each = [size / (most[0] * most[1]) for size in total[most]]
    title = (f"{parts.count_noun(most[0], 'thread')} with {parts.count_noun(most[1], 'instrument')}"
             f" each take {span(bytes_text, *total[most])} in all launches, "
             f"{span('{:.0f}'.format, *each)} bytes for each thread's part in one")
    return parts.drawn("accounts-memory", charts.line_chart, title, {
        "subtitle": "box and private memory of the accounts, before a block is "
        "counted; both axes logarithmic", "x_name": "threads that live", "xs": threads,
        "x_log": len(threads) > 1, "y_name": "bytes that the accounts take", "y_log": True,
        "y_form": bytes_text, "y_unit": 1 << 20, "series": series,
        "note": f"{suite.document['kind']} suite; each point the median of "
        f"{parts.count_noun(min(map(len, total.values())), 'launch')} or more; box: "
        "blocks of its file, private: Anonymous of "
        "smaps_rollup, both as the system says"},
        caption="Beside it each block has a note: 4 bytes in a tag of the allocator, 16 in a "
                "header of the library's calls.")


OWN = ((CPU, ALONE, "beside none", 1), (CPU, COPY, "beside one of a copy", 5))
CLOCK = (("wall_ns", ALONE, "beside none", 1), ("wall_ns", COPY, "beside one of a copy", 5))


def percent(value):
    """As an axis and a label say it."""
    return "0" if not value else f"{value:+.0f} %" if abs(value) >= 10 else \
        f"{value:+.1f} %" if abs(value) >= 0.95 else f"{value:+.2f} %"


def more_text(samples, what):
    """In a sentence: the interval of what a pair takes more than before, and what it decides."""
    interval = stats.sure_interval(samples)
    if interval is None:
        return f"undecided whether a pair takes more {what}"
    word = "takes more" if interval.low > 0 else "takes less" if interval.high < 0 else \
        "is not shown to take more"
    return f"a pair {word} {what} ({span(percent, *interval[:2])})"


def _slowed(suite, readings):
    """(rows of what a reader costs a pair, the cases of which there are some)."""
    cases = [c for c in suite.of_group("reader") if suite.more(c, BESIDE, ALONE)] if suite else []
    rows = []
    for case in cases:
        for name, base, against, index in readings:
            found = suite.more(case, BESIDE, base, name)
            says = f"{suite.cases[case]['says']}, {against}"
            if found:
                rows.append({"name": says, "index": index,
                             "points": [parts.row_point(found, says, form="{:+.2f} %")]})
    return rows, cases


def _reader_figure(suite, figure, name, title, slowed, caption):
    rows, cases = slowed
    return parts.drawn(figure, charts.row_chart, title, {
        "subtitle": "nothing but counting, no malloc, so that each nanosecond "
        "shows; writers pinned, one to a CPU; the reader takes what CPU is left",
        "x_name": f"additional {'CPU ' if name == CPU else ''}time of a pair while a reader runs, "
        "against the same", "x_form": percent, "rows": rows, "zero": True,
        "lines": [(SLOWED_PERCENT, f"{SLOWED_PERCENT:g} % allowed")],
        "note": _note(suite, cases, BESIDE, name)}, caption=caption)


def reader(results):
    """How much a reader that loops slows those who count, by their own CPU time."""
    suite = results.accounts
    rows, cases = _slowed(suite, OWN)
    if not rows:
        return None
    case = cases[-1]
    rows_read = parts.sure_span([suite.samples(case, BESIDE, "rows_per_cpu_s")], number)
    title = (f"{suite.cases[case]['says']} count while a reader loops: "
             f"{more_text(suite.more(case, BESIDE, ALONE), 'CPU time')}"
             + (f"; the reader sees {rows_read} rows a CPU second" if rows_read else ""))
    return _reader_figure(
        suite, "accounts-reader", CPU, title, (rows, cases), "A copy's reader does the same work "
        "on a copy of the box: against it only those lines of memory remain that writers and "
        "reader share.")


def clock(results):
    """The same by the clock, where they share CPUs."""
    suite = results.accounts
    rows, cases = _slowed(suite, CLOCK)
    if not rows:
        return None
    case, cpus = cases[-1], len(suite.document.get("machine", {}).get("cpus_allowed", []))
    title = (f"By the clock on {parts.count_noun(cpus, 'CPU')}, {suite.cases[case]['says']} and a "
             "reader that also needs a CPU: "
             f"{more_text(suite.more(case, BESIDE, ALONE, 'wall_ns'), 'time')}")
    return _reader_figure(
        suite, "accounts-clock", "wall_ns", title, (rows, cases), "Of three that run on two CPUs "
        "each gets two thirds of one, and takes half as long again, whatever the third one does.")


FIGURES = {"accounts-preload": preload, "accounts-cost": cost, "accounts-errors": errors,
           "accounts-reader": reader, "accounts-clock": clock, "accounts-memory": memory}
