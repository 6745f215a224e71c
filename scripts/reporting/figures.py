"""figures.py - the figures of the report, each made from results; every claim is computed.

A figure function takes results and returns a Figure, or None where the data is missing.
"""

from common import stats, workloads
from common.amounts import bytes_text, bytes_unit, number, time_text
from common.stats import median
from reporting import (accounts_figures, allocator_figures, charts, day, figure_parts as parts,
                       fill_figures, front, growth_figures, looks, overview, peer_figures,
                       profile_figures, server_figures, summary)


def throughput_by_threads(results, workload, occupancy=None):
    """Lines over thread counts for one workload."""
    cases = [c for c in results.cases("release", workload=workload)
             if occupancy is None or c.occupancy == occupancy]
    cases = [c for c in cases if results.samples("release", c, "items_per_second")]
    if not cases:
        return None
    cpus = results.plan.get("cpus") or results.context.get("num_cpus") or max(
        c.threads for c in cases)
    xs = sorted({c.threads for c in cases})
    series = []
    for policy in results.policies("release", workload):
        points = [parts.point(c.threads, results.samples("release", c, "items_per_second"),
                         f"{policy}, {parts.count_noun(c.threads, 'thread')}")
                  for c in cases if c.policy == policy]
        series.append({"name": policy, "index": looks.of(policy), "points": points})
    place = max([x for x in xs if x <= cpus] or xs[:1])
    found = {c.policy: results.samples("release", c, "items_per_second")
             for c in cases if c.threads == place}
    where = f"{workload} at {occupancy:g} full" if occupancy is not None else workload
    title = f"{where}, {parts.count_noun(place, 'thread')}: " \
            f"{parts.lead(found, summary.base_policy(results))}"
    canvas = charts.line_chart({
        "stamp": results.stamp, "title": title,
        "subtitle": workloads.summaries().get(workload, ""),
        "note": parts.note(results, "release", workload), "x_name": "threads", "xs": xs,
        "y_name": "allocate + publish + free per second", "series": series,
        "y_log": _spans(series, 30), "shade_from": next((x for x in xs if x > cpus), None),
        "shade_text": f"more threads than the {cpus} CPUs"})
    name = f"threads-{workload}"
    return parts.Figure(name, title, canvas, "Threads that outnumber the CPUs take turns; that "
                        "side shows robustness, not scaling." if max(xs) > cpus else "")


def _spans(series, factor):
    values = [p[1] for s in series for p in s["points"] if p[1] > 0]
    return bool(values) and max(values) > factor * min(values)


def _slowdown(ratios):
    """The slowdown in words; ratios are of launches of the same round."""
    ratio, interval = median(ratios), stats.sure_interval(ratios)
    if interval is None:
        return "undecided"
    if 1 / 1.1 < interval.low and interval.high < 1.1:
        return "keeps its speed"
    if interval.high < 1:
        return f"takes {summary.times(ratio)} times as long"
    if interval.low > 1:
        return f"takes {summary.times(ratio)} times as long"
    return f"takes {interval.low:.2g} to {interval.high:.2g} times as long (undecided)"


def _occupancy_title(results, found, threads):
    """Which policies slow down between which fills, from {policy: {fill: samples}}. The title
    covers the widest range in which half of the policies were measured, and only those policies."""
    own = {p: f for p, f in found.items() if p not in summary.baselines(results)} or found
    fills = sorted({x for f in own.values() for x in f if x >= 0.5})
    ranges = [(low, high) for low in fills for high in fills if low < high and
              2 * sum(1 for f in own.values() if low in f and high in f) >= len(own)]
    if not ranges:
        return f"churn by occupancy, {parts.count_noun(threads, 'thread')}"
    low, high = max(ranges, key=lambda r: r[1] - r[0])
    start = f"churn from {low:g} to {high:g} full, {parts.count_noun(threads, 'thread')}"
    slow = {p: stats.paired(f[low], f[high]) for p, f in own.items() if low in f and high in f}
    slow = {p: ratios for p, ratios in slow.items() if ratios}
    if not slow:
        return start
    best, worst = (pick(slow, key=lambda p: median(slow[p])) for pick in (min, max))
    base = summary.base_policy(results)
    told = list(dict.fromkeys([worst, base if base in slow else worst, best]))
    return f"{start}: " + ", ".join(f"{p} {_slowdown(slow[p])}" for p in told)


def throughput_by_occupancy(results):
    """churn from empty to nearly full, at one thread for each CPU."""
    cpus = results.plan.get("cpus") or results.context.get("num_cpus")
    cases = [c for c in results.cases("release", workload="churn") if c.occupancy is not None]
    counts = sorted({c.threads for c in cases if len({
        d.occupancy for d in cases if d.threads == c.threads}) > 1})
    if not counts:
        return None
    threads = cpus if cpus in counts else counts[0]
    cases = [c for c in cases if c.threads == threads and
             results.samples("release", c, "items_per_second")]
    xs = sorted({c.occupancy for c in cases})
    series, found = [], {}
    for policy in results.policies("release", "churn"):
        points = []
        for case in (c for c in cases if c.policy == policy):
            samples = results.samples("release", case, "items_per_second")
            points.append(parts.point(case.occupancy, samples, f"{policy} at {case.occupancy:g}"))
            found.setdefault(policy, {})[case.occupancy] = samples
        if points:
            series.append({"name": policy, "index": looks.of(policy), "points": points})
    title = _occupancy_title(results, found, threads)
    canvas = charts.line_chart({
        "stamp": results.stamp, "title": title,
        "subtitle": "a random live record is replaced; logarithmic",
        "note": parts.note(results, "release", "churn"), "x_name": "occupancy: records in use / "
        "records in pages", "xs": xs, "x_form": "{:g}".format, "y_log": True, "series": series,
        "y_name": "allocate + publish + free per second"}, width=1110, height=400)
    return parts.Figure("occupancy", title, canvas,
                        "Occupancies are set side by side, not to scale.")


def _skips_title(guilty):
    """Which policies skip and which grow needlessly, from {policy: {metric: most of a launch}}."""
    skipping = {p: max(m.get("record_skips", 0), m.get("page_skips", 0))
                for p, m in guilty.items() if m.get("record_skips") or m.get("page_skips")}
    growing = {p: m["needless_growths"] for p, m in guilty.items() if m.get("needless_growths")}
    if not guilty:
        return "No policy skipped a page or a record, and none grew needlessly"
    title = "No policy skips" if not skipping else \
        f"Only {' and '.join(skipping)} skip{'s' if len(skipping) == 1 else ''}, up to " \
        f"{number(max(skipping.values()))} records per 1000 allocations"
    if not growing:
        return title + "; none grows needlessly"
    told = sorted(growing, key=lambda p: -growing[p])[:3]
    more = f" and {len(growing) - 3} more" if len(growing) > 3 else ""
    return title + "; needless pages, at most: " + ", ".join(
        f"{p} {number(growing[p])}" for p in told) + more


def _readable_columns(cases, simulated, cpus):
    """(threads, occupancy) of the matrix: at most three of each, the fullest and the fewest
    threads, because numbers must fit the cells. The title is of all cases."""
    threads = sorted({c.threads for c in cases})
    if simulated and len(threads) > 3:  # there the many threads matter
        middle = cpus if cpus in threads[1:-1] else threads[len(threads) // 2]
        threads = [threads[0], middle, threads[-1]]
    threads = threads[:3]
    fills = sorted({c.occupancy for c in cases})[-3:]
    return sorted({(c.threads, c.occupancy) for c in cases
                   if c.threads in threads and c.occupancy in fills})


def skips(results):
    """Matrix of skips and needless growth by policy, thread count and occupancy."""
    cases = [c for c in results.cases("counted", workload="churn") if c.occupancy is not None
             and results.samples("counted", c, "record_skips")]
    if not cases:
        return None
    columns = _readable_columns(cases, results.stamp, results.plan.get("cpus"))
    policies = [p for p in results.policies("counted", "churn")
                if any(c.policy == p for c in cases)]
    groups, guilty = [], {}
    for metric, label in (("page_skips", "pages skipped, per 1000 allocations"),
                          ("record_skips", "records skipped, per 1000 allocations"),
                          ("needless_growths", "pages added needlessly, per launch")):
        cells = {}
        for case in cases:
            samples = summary.per_thousand(results, case, metric)
            if not samples:
                continue
            value = median(samples)
            if max(samples) > 0:
                most = guilty.setdefault(case.policy, {})
                most[metric] = max(most.get(metric, 0), *samples)
            if (case.threads, case.occupancy) not in columns:
                continue
            key = (policies.index(case.policy), columns.index((case.threads, case.occupancy)))
            cells[key] = (value, f"{case.policy}, {parts.count_noun(case.threads, 'thread')}, "
                          f"{case.occupancy:g} full: {number(value)} "
                          f"({number(min(samples))} to {number(max(samples))}, "
                          f"{len(samples)} launches)")
        names = [(parts.count_noun(t, "thread"), f"{o:g}") for t, o in columns]
        groups.append({"name": label, "columns": names, "cells": cells})
    title = _skips_title(guilty)
    return parts.drawn("skips", charts.matrix_chart, title, {
        "subtitle": "churn; a skip is a page or record that a call never tried "
        "although it gave up or went on to grow; columns: occupancy, by thread count",
        "note": parts.note(results, "counted", "churn", band=False), "groups": groups,
        "rows": [(p, looks.of(p)) for p in policies]}, stamp=results.stamp,
        caption="A policy without pages (a baseline) skips none. Zero is green. The title covers "
                "all measured cases; the matrix shows three thread counts and the three highest "
                "occupancies.")


def _tide_lines(results, field):
    """{policy: (case, lines of all launches)} of the tide."""
    found = {}
    for case, launches in results.series.items():
        if case.policy not in found or case.threads > found[case.policy][0].threads:
            lines = [[(p["t_ms"] / 1000, p[field]) for p in line] for line in launches if line]
            if lines:
                found[case.policy] = (case, lines)
    return found


def pages_over_time(results):
    """Small multiples: pages against the ideal in a tide."""
    found = _tide_lines(results, "pages")
    ideal = _tide_lines(results, "ideal")
    order = [p for p in results.policy_order if p in found]
    if not order:
        return None
    panels, gives = [], []
    for policy in order:
        share = summary.returned_share(results, policy)
        remark = "adds no page" if share is None else f"gives back {share * 100:.0f} %"
        if share is not None and share >= 0.5:
            gives.append(f"{policy} ({share * 100:.0f} %)")
        panels.append({"name": policy, "index": looks.of(policy), "remark": remark,
                       "lines": found[policy][1], "ideal": ideal[policy][1][0]})
    title = "No policy gives pages back when the tide goes out"
    if gives:
        told = " and ".join([", ".join(gives[:-1])] * (len(gives) > 1) + gives[-1:])
        title = (f"When the tide goes out, {told} "
                 f"{'gives' if len(gives) == 1 else 'give'} back the pages that were added")
        title += "; the others keep theirs" if len(gives) < len(order) else ""
    return parts.drawn("tide-pages", charts.panel_chart, title, {
        "subtitle": "pages over time, one line for each launch; dashed: pages "
        "ideally needed at that moment", "x_name": "seconds",
        "ideal_name": "ideal", "columns": 4 if len(panels) > 6 else 3, "panels": panels,
        "note": parts.note(results, "release", "tide", band=False).replace(
            "each point the median of", "every one of")}, stamp=results.stamp,
        caption="Pages that stay empty are surplus, and a policy that reclaims lets them go along "
                "a smooth curve: the lag behind the ideal is the decay time, at hand for a load "
                "that comes back.")


def _low_after_peak(line):
    """The least value from the peak on, as a share of it."""
    values = [value for _, value in line]
    peak = max(values)
    return min(values[values.index(peak):]) / peak if peak else 1.0


def resident_over_time(results):
    """Resident bytes of all policies in a tide, the middle launch of each."""
    found = _tide_lines(results, "resident_bytes")
    order = [p for p in results.policy_order if p in found and
             any(v for _, v in found[p][1][0])]
    if not order:
        return None
    series, falls, peaks = [], {}, {}
    for policy in order:
        lines = sorted(found[policy][1], key=lambda line: sum(v for _, v in line) / len(line))
        line = lines[len(lines) // 2]
        series.append({"name": policy, "index": looks.of(policy), "line": line})
        peaks[policy] = max(v for _, v in line)
        falls[policy] = [_low_after_peak(line) for line in lines]
    back = [p for p in order if max(falls[p]) < 0.9]
    keeps = [p for p in order if min(falls[p]) > 0.9]
    title = "Resident memory: no policy gives memory back" if len(keeps) == len(order) else \
        "Resident memory: undecided which policy gives memory back"
    if back:
        most = 100 * max(max(falls[p]) for p in back)
        title = (f"Resident memory falls to {most:.0f} % of its peak or less with "
                 f"{parts.listed(back)}, in every launch")
        title += f"; {len(keeps)} of {len(order)} keep theirs" if keeps else ""
    return parts.drawn("tide-resident", charts.time_chart, title, {
        "subtitle": "as the operating system says; of the launches the one with "
        "the median mean", "x_name": "seconds", "y_name": "resident bytes of the container",
        "y_form": bytes_text, "series": series, "y_unit": bytes_unit(peaks.values()),
        "note": parts.note(results, "release", "tide", band=False).replace(
            "each point the median of", "one of")}, stamp=results.stamp)


LATENCY = (("ns_p50", "circle", "p50"), ("ns_p99", "square", "p99"),
           ("ns_p999", "triangle", "p99.9"), ("ns_max", "bar", "longest"))


def latency(results):
    """Rows of percentiles of one allocate, churn at 0.9 with one thread for each CPU."""
    chosen = summary.churn_case(results, "ns_p99")
    if chosen is None:
        return None
    threads, occupancy = chosen
    rows, tails = [], {}
    for policy in results.policies("release", "churn"):
        points = []
        for metric, shape, word in LATENCY:
            found = results.of("release", metric, workload="churn", policy=policy,
                               threads=threads, occupancy=occupancy)
            if found:
                mid, *spread, tip, _, single = parts.row_point(found, f"{policy} {word} ns")
                if metric == "ns_max":  # its spread is the machine's, not the policy's
                    spread, single = (None, None), []
                points.append((mid, *spread, tip, shape, single))
                if metric == "ns_p999":
                    tails[policy] = found
        rows.append({"name": policy, "index": looks.of(policy), "points": points})
    title = f"Latency of one allocate, churn {occupancy:g}, {parts.count_noun(threads, 'thread')}"
    if tails:
        title += f": p99.9 {parts.order(tails, 'shortest', 'longest')}"
    return parts.drawn("latency", charts.row_chart, title, {
        "subtitle": "sampled; logarithmic; the clock's own cost is included",
        "x_name": "time of one allocate", "x_log": True, "x_form": time_text, "rows": rows,
        "key": [(shape, word) for _, shape, word in LATENCY], "told": "triangle",
        "note": parts.note(results, "release", "churn")}, stamp=results.stamp,
        caption="Closed loop: an operation that waits delays the "
                "next one's start, so the tail is a lower bound. "
                + parts.clock_text(results))


def floor(results):
    """One thread, pair, in ns for each triple, against the bare loop."""
    bare = results.of("release", "items_per_second", workload="floor")
    policies = results.policies("release", "pair")
    if not bare or not policies:
        return None
    rows, times, ratios = [], {}, {}
    for policy in policies:
        found = results.of("release", "items_per_second", workload="pair", policy=policy,
                           threads=1)
        points = []
        if found:
            ns = stats.mapped(found, lambda v: 1e9 / v)
            points.append(parts.row_point(ns, f"{policy} ns"))
            times[policy] = ns
            ratios[policy] = stats.sure_interval(stats.paired(bare, found))
        rows.append({"name": policy, "index": looks.of(policy), "points": points})
    if not times:
        return None
    base = median([1e9 / v for v in bare])
    within = [p for p in times if ratios[p] and ratios[p].high <= 2]
    open_ones = [p for p in times if not ratios[p] or ratios[p].low <= 2 < ratios[p].high]
    title = (f"One thread, pair: {parts.order(times, 'fastest', 'slowest')}; "
             f"{len(within)} of {len(times)} stay within 2 × the floor"
             + (f", {len(open_ones)} undecided" if open_ones else ""))
    return parts.drawn("floor", charts.row_chart, title, {
        "subtitle": "the floor is a bare loop of one CAS and two release stores "
        "on one hot line, measured in the same run", "x_name": "nanoseconds for allocate + "
        "publish + free", "rows": rows, "zero": True, "bars": True,
        "lines": [(base, f"floor {base:.3g} ns"), (2 * base, "2 × floor")],
        "note": parts.note(results, "release", "pair")}, stamp=results.stamp)


def scan(results):
    """What a walk over all live records reads while the other threads churn."""
    cases = [c for c in results.cases("release", workload="scan")
             if results.samples("release", c, "rows_per_second")]
    if not cases:
        return None
    threads = max(c.threads for c in cases)
    occupancy = max((c.occupancy or 0) for c in cases)
    rows, rates = [], {}
    for case in cases:
        if (case.threads, case.occupancy or 0) != (threads, occupancy):
            continue
        found = results.samples("release", case, "rows_per_second")
        point = parts.row_point(found, f"{case.policy} rows/s")
        rates[case.policy] = found
        rows.append({"name": case.policy, "index": looks.of(case.policy),
                     "points": [point]})
    title = (f"Records that a walk reads per second while "
             f"{parts.count_noun(threads - 1, 'thread')} churn{'s' if threads == 2 else ''}: "
             f"{parts.order(rates, 'fewest', 'most')}")
    return parts.drawn("scan", charts.row_chart, title, {
        "subtitle": f"optimistic reads, confirmed after the copy; {occupancy:g} "
        "full", "x_name": "records read and confirmed per second", "rows": rows, "zero": True,
        "bars": True, "note": parts.note(results, "release", "scan")}, stamp=results.stamp,
        caption="Policies without record words cannot be read this way and are missing here.")


def _on_simulated(name, make):
    """A figure of the simulated machine with most cases, by the code that draws real ones."""
    def draw(results):
        view = results.simulated()
        figure = make(view) if view else None
        return figure and figure._replace(name=name, title=f"Simulated machine: {figure.title}")
    return draw


def _by_threads(workload):
    return lambda results: throughput_by_threads(results, workload)


# Workloads with figures of their own; every other one gets a figure by threads.
SHOWN = ("floor", "pair", "churn", "handoff", "storm", "scan", "replay", "tide", "day", "ebb",
         "fill", "refuse")


def _others(names):
    return {f"threads-{name}": _by_threads(name) for name in names
            if name.split("_")[0] not in SHOWN}


# Earlier results lack them.
OTHERS = _others(workloads.summaries())
FIGURES = {
    "floor": floor,
    "threads-pair": _by_threads("pair"),
    "threads-churn": lambda r: throughput_by_threads(r, "churn", 0.9),
    "threads-handoff": _by_threads("handoff"),
    "threads-storm": _by_threads("storm"),
    **OTHERS,
    "occupancy": throughput_by_occupancy,
    "latency": latency,
    "ebb": peer_figures.ebb,
    "calls": peer_figures.calls,
    "replay": peer_figures.replay,
    "fairness": peer_figures.fairness,
    "growth-touched": lambda r: fill_figures.cost_by_size(r, "growth-touched",
                                                          fill_figures.TOUCHED),
    "growth-fresh": lambda r: fill_figures.cost_by_size(r, "growth-fresh", None),
    "growth-calls": fill_figures.calls_while_growing,
    "refusal": fill_figures.refusal,
    "scan": scan,
    "skips": skips,
    "tide-pages": pages_over_time,
    "tide-resident": resident_over_time,
    "memory": peer_figures.memory,
    "sim-threads": _on_simulated("sim-threads", lambda v: throughput_by_threads(
        v, "churn", summary.fill_near(v, "release", 0.95))),
    "sim-threads-pair": _on_simulated("sim-threads-pair", _by_threads("pair")),
    "sim-threads-handoff": _on_simulated("sim-threads-handoff", _by_threads("handoff")),
    "sim-threads-storm": _on_simulated("sim-threads-storm", _by_threads("storm")),
    "sim-occupancy": _on_simulated("sim-occupancy", throughput_by_occupancy),
    "sim-excess": _on_simulated("sim-excess", growth_figures.excess_by_threads),
    "sim-growth": _on_simulated("sim-growth", growth_figures.growth_by_occupancy),
    "sim-skips": _on_simulated("sim-skips", skips),
    "sim-storm-calls": fill_figures.simulated_calls,
    "sim-machines": growth_figures.machines,
    "sim-day": lambda r: (made := day.figure(r)) and made._replace(
        title=f"Simulated machine: {made.title}"),
    "allocator-mean": allocator_figures.mean,
    "allocator-mean-peak": allocator_figures.mean_peak,
    "allocator-idle": allocator_figures.idle,
    "allocator-tails": allocator_figures.tails,
    "allocator-cpu": allocator_figures.cpu,
    "allocator-peak": allocator_figures.peak,
    "overview": overview.overview,
    **accounts_figures.FIGURES,
    **profile_figures.FIGURES,
    **server_figures.FIGURES,
}


def make(results, names=None):
    """The figures that the data allows, and the names of those it does not. The picture of the
    whole, which the report's first screen says better, is made where it is asked for."""
    made, missing = [], []
    found = _others({case.workload: None for build, case in results.values
                     if build == "release"})
    known = {**FIGURES, **found}
    for name in names or [name for name in known if name != "overview"]:
        figure = known[name](results)
        if figure is None:
            # A grid simulates only what it was asked for, and other chapters may be absent.
            if names or (results.is_real() and name not in OTHERS and
                         not name.startswith(("sim-", "allocator-", "accounts-", "server-"))):
                missing.append(name)
        else:
            figure.canvas.source = front.source_text(results, name.startswith("sim-"))
            made.append(figure)
    return made, missing
