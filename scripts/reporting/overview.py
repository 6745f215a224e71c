"""overview.py - one small picture of a result, for a page that has room for one: what to take, how
speed falls as a container fills, and which pages stay when the load goes.
"""

from common import stats
from reporting import charts, choice, figure_parts as parts, front, looks, summary
from reporting.svg import Canvas

WIDTH, HEIGHT, TOP = 860, 356, 62
RATE = "items_per_second"


def _occupancy(results, policies, threads):
    """The left half: lines of churn over occupancy, logarithmic; None without them."""
    cases = [c for c in results.cases("release", workload="churn", threads=threads)
             if c.policy in policies and c.occupancy is not None and
             results.samples("release", c, RATE)]
    series = [{"name": p, "index": looks.of(p), "points": [
        parts.point(c.occupancy, results.samples("release", c, RATE), f"{p} at {c.occupancy:g}")
        for c in cases if c.policy == p]} for p in policies]
    series = [s for s in series if len(s["points"]) > 1]
    if not series:
        return None
    return charts.line_chart({
        "title": "Speed, as a container fills",
        "subtitle": "operations a second, logarithmic; shaded: 95 %",
        "x_name": "records in use / records in pages", "y_name": "", "y_log": True,
        "xs": sorted({c.occupancy for c in cases}), "x_form": "{:g}".format, "series": series},
        WIDTH // 2, HEIGHT - TOP - 16)


def _tide(results, policies):
    """The right half: pages over time, of each policy the middle launch; None without them."""
    series, ideal = [], None
    for case, launches in results.series.items():
        if case.policy not in policies:
            continue
        middle = sorted(launches, key=lambda line: max(p["pages"] for p in line))
        line = middle[len(middle) // 2]
        series.append({"name": case.policy, "index": looks.of(case.policy),
                       "line": [(p["t_ms"] / 1000, p["pages"]) for p in line]})
        ideal = ideal or [(p["t_ms"] / 1000, p["ideal"]) for p in line]
    if not series:
        return None
    series.sort(key=lambda s: results.position(s["name"]))
    series.append({"name": "needed", "index": looks.NEUTRAL, "line": ideal})
    return charts.time_chart({
        "title": "Pages, as the load rises and falls", "subtitle": "pages that the container holds",
        "x_name": "seconds", "y_name": "", "series": series}, WIDTH // 2, HEIGHT - TOP - 16)


def overview(results):
    """The picture; None where nothing says what to take."""
    standings = choice.standings(results)
    if not standings:
        return None
    says, _, _ = choice.headline(results, standings)
    policies = choice.in_colour(results, standings)
    halves = [_occupancy(results, policies, max(s.column.case["threads"] for s in standings)),
              _tide(results, policies)]
    if None in halves:
        return None
    base = summary.base_policy(results)
    full = max(standings, key=lambda s: (s.column.case["threads"] > 1,
                                         s.column.case.get("occupancy") or 0))
    ratios = choice.to_base(results, full.column, full.best)
    interval = stats.sure_interval(ratios) if ratios else None
    span = f" ({summary.span_text(interval)})" if interval else ", undecided"
    title = (f"{says}: {summary.times(stats.median(ratios))} × as fast as {base}{span} in a "
             f"container {100 * full.column.case['occupancy']:g} % full") \
        if full.best in says and "occupancy" in full.column.case else says
    canvas = Canvas(WIDTH, HEIGHT)
    canvas.text(4, 24, title, size=19, weight="600")
    canvas.text(4, 45, f"medians of {parts.launches_text(results, 'release', 'churn')}; "
                f"{front.grade(results)[1].lower()}", size=12, tone="soft")
    canvas.head_end = (len(canvas.parts), TOP - 14.0)
    for k, half in enumerate(halves):
        canvas.parts.append(f'<g transform="translate({k * WIDTH // 2},{TOP})">')
        canvas.parts += half.parts + ["</g>"]
    return parts.Figure("overview", title, canvas, "")
