"""server_figures.py - the figures of the chapter "The real server": P_S memory through a storm, by
connections and over a day, needless growths, statements per second. See server_suite.py.

A title states only what intervals decide; otherwise it says that nothing is decided.
"""

from common import judge, stats
from common.stats import median
from reporting import charts, figure_parts as parts, looks, server_suite as server
from reporting.server_results import shown
from reporting.server_suite import MIB, OFF, WITHIN


def mebibytes(value):
    """A tick of an axis in MiB."""
    return f"{value:g} MiB"


def _foot(results, counts, band=True):
    """Launches and server version."""
    low, high = min(counts), max(counts)
    launches = parts.count_noun(high, "launch") if low == high else f"{low} to {high} launches"
    return (f"MariaDB {results.server.version}; each point the median of {launches}"
            + (parts.band_text(low, high, "launch") if band else ""))


def storm(results):
    """P_S memory before, at the peak of, and after a storm."""
    suite = results.server
    policies = [p for p in suite.policies if suite.memory(p, "start")] if suite else []
    if not policies:
        return None
    places = {"start": "start", "peak": "peak", **{second: f"+{second} s"
                                                   for second in server.AFTER
                                                   if second <= suite.last}}
    series, counts = [], []
    for policy in policies:
        points = []
        for at, name in places.items():
            samples = stats.mapped(suite.memory(policy, at), lambda v: v / MIB)
            if samples:
                counts.append(len(samples))
                points.append(parts.point(name, samples, f"{policy}, {name}", "{:.1f} MiB"))
        series.append({"name": policy, "index": looks.of(policy), "points": points})
    return parts.drawn("server-storm", charts.line_chart, _storm_title(suite), {
        "subtitle": "all connect at once and leave when all have run statements; seconds after "
        "the last one has left", "x_name": "moment of the storm", "xs": list(places.values()),
        "y_name": "P_S memory", "y_form": mebibytes, "series": series,
        "note": _foot(results, counts)}, height=420,
        caption="The axis is in order of time, not to scale.")


def _storm_title(suite):
    """Which policies return to the start, and which surely do not."""
    verdicts = {p: judge.verdict(found, most=WITHIN) for p in suite.policies
                if (found := suite.kept(p))}
    back, kept = ([p for p, verdict in verdicts.items() if verdict == word]
                  for word in (judge.MET, judge.NOT_MET))
    when, near = f"{suite.last} s after {suite.size:,} connections", \
        f"within {100 * (WITHIN - 1):.0f} % of the start"
    if back:
        rest = ", and with no other policy" if len(back) + len(kept) == len(verdicts) else \
            f"; not with {parts.listed(kept, 'or')}"
        return f"{when} P_S memory is {near} with {parts.listed(back)}" + \
            (rest if kept else "")
    if kept:
        return f"{when} P_S memory is not {near} with " + (
            "any of the policies" if len(kept) == len(verdicts) else parts.listed(kept, "or"))
    return f"P_S memory through {suite.size:,} connections; undecided whether it returns"


def connections(results):
    """P_S memory ten seconds after storms of several sizes."""
    suite = results.server
    if not suite or len(suite.sizes) < 2:
        return None
    series, counts = [], []
    for policy in suite.policies:
        points = []
        for size in suite.sizes:
            samples = stats.mapped(suite.memory(policy, suite.last, size), lambda v: v / MIB)
            if samples:
                counts.append(len(samples))
                points.append(parts.point(size, samples, f"{policy}, {size:,} connections",
                                          "{:.1f} MiB"))
        if points:
            series.append({"name": policy, "index": looks.of(policy), "points": points})
    if not series:
        return None
    most, base = suite.sizes[-1], suite.base()
    ends = {p: suite.memory(p, suite.last, most) for p in suite.policies}
    ratios = {p: stats.paired(found, ends[base]) for p, found in ends.items() if p != base} \
        if base else {}
    return parts.drawn("server-connections", charts.line_chart, parts.holds_less(
        "less P_S memory", f"{suite.last} s after {most:,} connections", ratios, base), {
            "subtitle": "each size of storm at once; logarithmic over connections",
            "x_name": "connections of the storm", "xs": suite.sizes, "x_log": True,
            "x_ticks": _apart(suite.sizes), "x_form": lambda v: f"{v:,}",
            "y_name": f"P_S memory {suite.last} s after", "y_form": mebibytes, "series": series,
            "note": _foot(results, counts)}, height=420)


def _apart(sizes):
    """The sizes whose names do not touch on a logarithmic axis, the last one among them."""
    kept = [sizes[-1]]
    for size in reversed(sizes[:-1]):
        if size * 1.6 <= kept[-1]:
            kept.append(size)
    return kept


def _day_lines(days, name):
    """[(hour, median over the days)] by position in the series."""
    return [(median([point["hour"] for point in points]), median([point[name] for point in points]))
            for points in zip(*days)]


def day(results):
    """Connections and P_S memory over a day of tides: one panel for each."""
    suite = results.server
    policies = [p for p in suite.policies if suite.days(p)] if suite else []
    if not policies:
        return None
    base = next((p for p in (server.UNPATCHED, server.STOCK) if p in policies), policies[0])
    load = {"name": "load", "index": looks.NEUTRAL, "dash": "",
            "line": _day_lines(suite.days(base), "connections")}
    memory = [{"name": p, "index": looks.of(p),
               "line": [(hour, value / MIB)
                        for hour, value in _day_lines(suite.days(p), "ps_bytes")]}
              for p in policies]
    ratios = {p: stats.paired(suite.at_hour(p, -1), suite.at_hour(base, -1))
              for p in policies if p != base}
    counts = [len(suite.days(p)) for p in policies]
    return parts.drawn("server-day", charts.stacked_chart,
                       parts.holds_less("less P_S memory", "at the end of a day of tides", ratios,
                                        base), {
        "subtitle": "connections come and go in tides; 24 hours of load in minutes",
        "x_name": "hour of the day", "x_step": 3, "panels": [
            {"y_name": "connections", "share": 0.26, "series": [load]},
            {"y_name": "P_S memory", "y_form": mebibytes, "share": 0.74, "series": memory}],
        "note": _foot(results, counts, band=False)})


def needless(results):
    """Rows of containers and policies: pages added while a record was free, of each launch."""
    suite = results.server
    if not suite:
        return None
    found = {}
    for policy in suite.policies:
        for container in server.containers_of(suite, policy):
            samples = server.storm_counts(suite, policy, "growths_needless", container)
            if samples:
                found[container, policy] = samples
    guilty = list(dict.fromkeys(c for c, _ in found if any(
        max(s) for (name, _), s in found.items() if name == c)))
    policies = [p for p in suite.policies if any(policy == p for _, policy in found)]
    if not policies:
        return None
    rows = [{"name": f"{container}: {policy}", "index": looks.of(policy),
             "points": [_dots(found[container, policy], f"{container}, {policy}")]}
            for container in guilty for policy in policies if (container, policy) in found]
    if not rows:  # nothing to tell apart: one row for each policy
        rows = [{"name": policy, "index": looks.of(policy), "points": [_dots(
            server.storm_counts(suite, policy, "growths_needless"), policy)]}
            for policy in policies]
    totals = {p: server.storm_counts(suite, p, "growths_needless") for p in policies}
    counts = [len(samples) for samples in totals.values()]
    unknown = [p for p in suite.policies if p not in policies and suite.memory(p, "start")]
    silent = f"; {parts.listed(unknown)} do{'es' if len(unknown) == 1 else ''} not count them" \
        if unknown else ""
    return parts.drawn("server-needless", charts.row_chart, _needless_title(suite, totals), {
        "subtitle": "all containers in which any policy added a needless page; hollow: the "
        f"median, small dots: each launch{silent}",
        "x_name": "pages added while a record of the container was free", "x_form": lambda v:
        f"{v:g}", "rows": rows, "zero": True, "stack": True,
        "note": _foot(results, counts, band=False)})


def _dots(samples, text):
    """A row's point: the median, and every launch as a dot."""
    return (median(samples), None, None, f"{text}: {median(samples):g} ({min(samples):g} to "
            f"{max(samples):g} in {parts.count_noun(len(samples), 'launch')})", "circle",
            list(samples))


def _needless_title(suite, totals):
    """Which policies never add a needless page, and which surely do."""
    never = [p for p, samples in totals.items() if not max(samples) and
             len(samples) >= stats.LEAST]
    sure = {p: stats.sure_interval(samples) for p, samples in totals.items()}
    always = [p for p, interval in sure.items() if interval and interval.low > 0]
    said = []
    if never:
        launches = sum(len(totals[p]) for p in never)
        said.append(f"{parts.listed(never)} add{'s' if len(never) == 1 else ''} no needless page "
                    f"in {parts.count_noun(launches, 'launch')}")
    if always:
        low = min(sure[policy].low for policy in always)
        high = max(sure[policy].high for policy in always)
        said.append(f"{parts.listed(always)} add{'s' if len(always) == 1 else ''} {low:g}"
                    + (f" to {high:g}" if high > low else ""))
    return f"Storms of {suite.size:,}: " + ("; ".join(said) if said else
                                            "undecided which policies add needless pages")


def _cost(results, workload):
    """Statements per second × the base's, P_S off first, by threads."""
    suite = results.server
    base = suite.base("cost") if suite else None
    cases = [c for c in suite.cases() if c[0] == workload] if base else []
    rows, counts, ratios = [], [], {}
    for case in cases:
        for policy in [OFF, *suite.policies]:
            samples = suite.relative(policy, case)
            if policy == base or not samples:
                continue
            name = shown(policy)
            if len(cases) > 1:
                name = f"{parts.count_noun(case[1], 'thread')}: {name}"
            counts.append(len(samples))
            ratios[policy, case] = samples
            rows.append({"name": name, "index": looks.of(policy), "points": [
                parts.row_point(samples, name, form="{:.3f} ×")]})
    if not rows:
        return None
    bases = [suite.rates(base, case) for case in cases]
    return parts.drawn(f"server-{workload}", charts.row_chart,
                       _cost_title(workload, ratios, base), {
        "subtitle": f"{base}: " + parts.listed(
            f"{median(found):,.0f}/s with {parts.count_noun(case[1], 'thread')}"
            for found, case in zip(bases, cases)) + "; all instruments on except in the first row",
        "x_name": f"statements per second × {base}", "x_form": lambda v: f"{v:.4g}", "rows": rows,
        "lines": [(1, base)], "note": _foot(results, counts)})


def _cost_title(workload, ratios, base):
    """Who is surely slower or faster than the base in some case."""
    what = server.WORKLOADS.get(workload, workload).capitalize()
    verdicts = {}
    for (policy, _), samples in ratios.items():
        interval = stats.sure_interval(samples)
        verdicts.setdefault(policy, []).append(
            None if interval is None else -1 if interval.high < 1 else int(interval.low > 1))
    own = {p: found for p, found in verdicts.items() if p != OFF}
    if not own or any(None in found for found in own.values()):
        return f"{what}: undecided how the policies compare with {base}"
    slower, faster = ([p for p, found in own.items() if sign in found] for sign in (-1, 1))
    said = [f"{parts.listed(found)} {'is' if len(found) == 1 else 'are'} {word} than {base}"
            for word, found in (("slower", slower), ("faster", faster)) if found]
    if not slower:
        said.insert(0, f"no policy is shown to be slower than {base}")
    return f"{what}: " + "; ".join(said)


FIGURES = {"server-storm": storm, "server-connections": connections, "server-day": day,
           "server-needless": needless, "server-point": lambda r: _cost(r, "point"),
           "server-connect": lambda r: _cost(r, "connect")}
