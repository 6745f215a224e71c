"""fill_figures.py - figures of growth: what a record costs by size, how long calls wait while
pages are added, what a refusal costs by the number of pages.
"""

from common import stats
from common.amounts import time_text
from common.stats import median
from reporting import charts, figure_parts as parts, looks, summary
from reporting.results import ANY

TOUCHED = "touched"


def size_text(count):
    """16 Ki, 1 Mi: sizes are powers of two, or nearly."""
    for unit, word in ((1 << 20, "Mi"), (1 << 10, "Ki")):
        if count >= unit:
            return f"{count / unit:.3g} {word}"
    return str(count)


def finished(results, build, case):
    """Did every fill of the case end in time?"""
    said = results.values.get((build, case), {}).get("finished", [])
    return all(v != 0 for v in said if v is not None)


def _costs(results, case):
    """ns a record of each launch; of a fill that did not end, up to where it came."""
    return stats.mapped(results.samples("release", case, "items_per_second"),
                        lambda v: 1e9 / v if v else None)


def _reached(results, case):
    """The records that the fills of a case reached: all, or their median."""
    if finished(results, "release", case):
        return case.records
    return int(median(results.samples("release", case, "filled") or [case.records]))


def _cost_line(results, policy, cases):
    """Points of a policy, in ns a record. What did not finish stands where it came to, hollow, and
    once: larger sizes come no further."""
    ends = [c for c in cases if finished(results, "release", c)]
    late = min((c for c in cases if c not in ends), key=lambda c: c.records, default=None)
    points = [parts.point(c.records, _costs(results, c),
                          f"{policy}, {size_text(c.records)} records, ns") for c in ends]
    came = _reached(results, late) if late else None
    if late:
        points.append(parts.point(came, _costs(results, late), f"{policy}, not finished: "
                                  f"{size_text(came)} of {size_text(late.records)} records, ns"))
    return {"name": policy, "index": looks.of(policy), "points": sorted(points),
            "open": {came}}


def _dearer(results, low, high):
    """How many times dearer a record is at one size than at another, in words; or None."""
    ratios = stats.paired(*(results.samples("release", case, "items_per_second")
                            for case in (low, high)))
    if not ratios:
        return None
    interval = stats.sure_interval(ratios)
    return f"{summary.span_text(interval)} ×" if interval else None


def _cost_title(results, cases):
    """How much dearer a record gets with each policy, between the sizes at which most policies were
    measured, and which policies did not finish."""
    sizes = sorted({c.records for c in cases})
    shared = [n for n in sizes
              if 2 * sum(c.records == n for c in cases) >= len({c.policy for c in cases})]
    low, high = (shared or sizes)[0], (shared or sizes)[-1]
    by = {(c.policy, c.records): c for c in cases}
    own = [p for p in dict.fromkeys(c.policy for c in cases)
           if p not in summary.baselines(results)]
    late = [p for p in own if any(not finished(results, "release", c) for c in cases
                                  if c.policy == p and c.records <= high)]
    told = {p: _dearer(results, by[p, low], by[p, high]) for p in own if p not in late and
            (p, low) in by and (p, high) in by and low != high}
    told = parts.listed(f"{p} {word}" for p, word in told.items() if word)
    title = f"A container grows to {size_text(high)} records"
    if told:
        title += f": a record costs {told} what it costs up to {size_text(low)}"
    return title + (f"; {parts.listed(late)} did not finish in time" if late else "")


def cost_by_size(results, name, memory):
    """Lines of ns a record over the records that a container grows to."""
    cases = [c for c in results.cases("release", workload="fill", threads=1, records=ANY,
                                      memory=memory) if _costs(results, c)]
    if not cases:
        return None
    series = [_cost_line(results, p, [c for c in cases if c.policy == p])
              for p in results.policies("release", "fill") if any(c.policy == p for c in cases)]
    title = _cost_title(results, cases)
    kind = "memory that was touched before" if memory else "fresh memory, whose first touch counts"
    canvas = charts.line_chart({
        "stamp": results.stamp, "title": title,
        "subtitle": f"one thread, nothing is freed, from no page on; {kind}; both axes logarithmic",
        "note": parts.note(results, "release", "fill", threads=1, records=ANY, memory=memory),
        "x_name": "records that the container grows to",
        "xs": sorted({p[0] for s in series for p in s["points"]} | {c.records for c in cases}),
        "x_ticks": {c.records for c in cases}, "x_log": True, "x_form": size_text, "y_log": True,
        "y_form": time_text, "series": series, "y_name": "time of allocate + publish, a record"},
        height=420)
    late = any(s["open"] != {None} for s in series)
    return parts.Figure(name, title, canvas, "Hollow: its time was over there, before it had all "
                        "the records of the next size." if late else "")


def _tail_rows(results, build, cases, columns):
    """Rows of p99.9 and longest call; columns [(case of a policy, words, shapes)]."""
    rows, longest = [], {}
    for policy in dict.fromkeys(c.policy for c in cases):
        points = []
        for threads, shapes in columns:
            case = next((c for c in cases if (c.policy, c.threads) == (policy, threads)), None)
            for metric, shape in zip(("ns_p999", "ns_max"), shapes):
                found = results.samples(build, case, metric) if case else []
                if not found:
                    continue
                word = "p99.9" if metric == "ns_p999" else "longest"
                _, mid, low, high, tip, single = parts.point(
                    0, found, f"{policy}, {parts.count_noun(threads, 'thread')}, {word}, ns")
                if metric == "ns_max":  # its spread is the machine's
                    low, high, single = None, None, []
                    if mid >= median(longest.get(policy, found)):
                        longest[policy] = found
                points.append((mid, low, high, tip, shape, single))
        rows.append({"name": policy, "index": looks.of(policy), "points": points})
    return rows, longest


SHAPES = (("circle", "square"), ("triangle", "diamond"))


def _tail_figure(results, name, spec, cases, build="release"):
    columns = list(zip(sorted({c.threads for c in cases})[-2:], SHAPES))
    rows, longest = _tail_rows(results, build, cases, columns)
    if not longest:
        return None
    title = f"{spec.pop('head')}, the longest call: " \
            f"{parts.order(longest, 'shortest', 'longest')}"
    canvas = charts.row_chart({
        "stamp": results.stamp, "title": title, "x_name": "time of one allocate", "x_log": True,
        "x_form": time_text, "rows": rows,
        "key": [(shape, f"{word}, {parts.count_noun(threads, 'thread')}")
                for threads, shapes in columns for shape, word in zip(shapes,
                                                                      ("p99.9", "longest"))],
        "told": columns[-1][1][1],
        **spec})
    return parts.Figure(name, title, canvas, "" if results.stamp else parts.clock_text(results))


def calls_while_growing(results):
    """p99.9 and the longest of all allocate calls of a fill, by threads."""
    cases = [c for c in results.cases("release", workload="fill", records=ANY)
             if results.samples("release", c, "ns_max")]
    size = max((c.records for c in cases), default=0)
    cases = [c for c in cases if c.records == size]
    return _tail_figure(results, "growth-calls", {
        "head": f"While a container grows to {size_text(size)} records",
        "subtitle": "every call is timed; fresh memory; logarithmic; with more threads than CPUs a "
        "call may wait for a time slice; the clock's own cost is included",
        "note": parts.note(results, "release", "fill", records=size)},
        cases)


STORM_THREADS, STORM_PAGE_RECORDS = 256, 32


def storm_cases(view):
    """The simulated storm in which thousands of small pages are added."""
    return view.cases("release", workload="storm", threads=STORM_THREADS,
                      page_records=STORM_PAGE_RECORDS)


def simulated_calls(results):
    """The same of the simulated storm, in which pages are added all the time."""
    view = results.simulated()
    cases = storm_cases(view) if view else []
    figure = _tail_figure(view, "sim-storm-calls", {
        "head": f"storm, {STORM_THREADS} threads, pages of {STORM_PAGE_RECORDS} records",
        "subtitle": "every call is timed; five containers grow from one page each; logarithmic",
        "note": parts.note(view, "release", "storm", page_records=STORM_PAGE_RECORDS)},
        cases) if cases else None
    return figure and figure._replace(title=f"Simulated machine: {figure.title}")


def refusal(results):
    """Lines of ns a refusal over the pages that are full."""
    cases = [c for c in results.cases("release", workload="refuse", threads=1, records=ANY)
             if _costs(results, c) and results.samples("release", c, "pages_peak")]
    if not cases:
        return None
    pages = {c: int(median(results.samples("release", c, "pages_peak"))) for c in cases}
    series, slow = [], {}
    low, high = min(pages.values()), max(pages.values())
    for policy in results.policies("release", "refuse"):
        mine = [c for c in cases if c.policy == policy]
        points = [parts.point(pages[c], _costs(results, c), f"{policy}, {pages[c]} pages, ns")
                  for c in mine]
        series.append({"name": policy, "index": looks.of(policy), "points": points})
        ends = [next((c for c in mine if pages[c] == n), None) for n in (low, high)]
        if low != high and all(ends) and policy not in summary.baselines(results):
            slow[policy] = _dearer(results, *ends)
    title = f"A refusal where all records of {size_text(high)} pages are in use"
    if any(slow.values()):
        told = parts.listed(f"{p} {word}" for p, word in slow.items() if word)
        title += f", compared with {low}: {told}"
    return parts.drawn("refusal", charts.line_chart, title, {
        "subtitle": "one thread, pages of one record, no page may be added; both axes logarithmic",
        "note": parts.note(results, "release", "refuse", records=ANY), "x_name": "pages, all full",
        "xs": sorted(set(pages.values())), "x_log": True, "x_form": size_text, "y_log": True,
        "y_form": time_text, "series": series, "y_name": "time of one allocate that is refused"},
        stamp=results.stamp)
