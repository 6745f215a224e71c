"""figure_parts.py - what all figures share: their words, their points, their foot."""

from collections import namedtuple

from common import judge, stats
from common.amounts import count_noun, number, span
from common.stats import median
from reporting import steadiness, summary

Figure = namedtuple("Figure", "name title canvas caption")


def drawn(name, chart, title, spec, caption="", stamp="", **size):
    """The figure of a chart of charts.py."""
    return Figure(name, title, chart({"stamp": stamp, "title": title, **spec}, **size), caption)


def listed(names, word="and"):
    """a, b and c."""
    names = list(names)
    return f" {word} ".join([", ".join(names[:-1])] * (len(names) > 1) + names[-1:])


def launches_text(results, build, workload, **variant):
    low, high = results.launches(build, workload, **variant)
    return count_noun(high, "launch") if low == high else f"{low} to {high} launches"


def band_text(low, high, word):
    """What the shading of points of low to high launches says."""
    if high < stats.LEAST:
        return (f"; small dots: each launch ({stats.LEAST} are the least for an interval)"
                if word == "launch" else "; small dots: each seed")
    covers = " to ".join(judge.percent(stats.median_interval(range(n)).coverage)
                         for n in sorted({max(low, stats.LEAST), high}))
    few = "; small dots where fewer ran undisturbed" if low < stats.LEAST else ""
    return f"; shaded: interval of the median by order statistics, covers {covers}{few}"


def note(results, build, workload, band=True, **variant):
    """Build, launches and spread: the foot of each figure."""
    low, high = results.launches(build, workload, **variant)
    if results.stamp:
        return (f"{results.stamp}; each point the median of "
                f"{count_noun(high, 'seed') if low == high else f'{low} to {high} seeds'}"
                + (band_text(low, high, "seed") if band else "")
                + steadiness.stated(results, results.cases(build, workload=workload, **variant)))
    what = {"release": "times: release build, which counts nothing",
            "counted": "counts: from the counted build; its times are not used",
            "memory": "memory: release build, one case a process",
            "still": "times: release build, which counts nothing"}[build]
    spread = band_text(low, high, "launch") if band else ""
    placements = {c.placement for c in results.cases(build, workload=workload, **variant)} - {None}
    placed = f"; placement {', '.join(sorted(placements))}" if placements else ""
    return (f"{what}; each point the median of {launches_text(results, build, workload, **variant)}"
            f"{spread}{placed}")


def point(x, samples, text, form=None):
    """(x, median, low, high, tip, single values): the interval, or the values where none holds."""
    mid = median(samples)
    said = form.format(mid) if form else number(mid)
    tip = f"{text}: {said} ({judge.spread_text(samples, form or number)})"
    interval = stats.drawn_interval(samples)
    if interval is None:
        return (x, mid, None, None, tip, list(samples) if len(samples) > 1 else [])
    return (x, mid, interval.low, interval.high, tip, [])


def row_point(samples, text, shape="circle", form=None):
    """(median, low, high, tip, shape, single values): the same for a row."""
    _, mid, low, high, tip, single = point(0, samples, text, form)
    return (mid, low, high, tip, shape, single)


def clock_text(results):
    """The resolution of latencies, if the results state it."""
    step = results.context.get("timer_step_ns")
    return f"The clock advances in steps of {float(step):.3g} ns; no latency is finer." \
        if step else ""


def level_with(found, end):
    """The names that are not surely apart from one of {name: samples} in the same rounds, itself
    the first; None where too few rounds say."""
    sure = {p: stats.sure_interval(stats.paired(found[p], found[end])) for p in found if p != end}
    if None in sure.values():
        return None
    return [end] + [p for p, interval in sure.items() if interval.low <= 1 <= interval.high]


def order(found, low, high):
    """Who has the least and the most of {name: samples}, in words (low and high: fastest and
    slowest), and the interval of most / least within rounds; names only where intervals decide."""
    least, most = (pick(found, key=lambda p: median(found[p])) for pick in (min, max))
    if len(found) == 1:
        return f"measured with {least} only"
    level = [level_with(found, p) for p in (least, most)]
    if None in level:
        return f"order undecided, fewer than {stats.LEAST} undisturbed rounds"
    if set(level[0]) & set(level[1]):
        return "order undecided"
    names = [listed(names) if len(names) < 4 else f"{len(names)} that are level"
             for names in level]
    ratio = stats.sure_interval(stats.paired(found[most], found[least]))
    return f"{low} with {names[0]}, {high} with {names[1]} ({summary.span_text(ratio)} × {least})"


def sure_span(several, form):
    """From the lowest to the highest end of the intervals of several samples, in words; None where
    one of them has no interval."""
    sure = [stats.sure_interval(samples) for samples in several]
    if not sure or None in sure:
        return None
    return span(form, min(one.low for one in sure), max(one.high for one in sure))


def lead(found, base):
    """The leaders in {policy: samples}, in words: the best policy, and those not measurably slower
    in the same rounds."""
    best = max(found, key=lambda p: median(found[p]))
    sure = {p: stats.sure_interval(stats.paired(found[best], found[p]))
            for p in found if p != best}
    if None in sure.values():
        return (f"{best} has the highest median; undecided, fewer than {stats.LEAST} undisturbed "
                "rounds")
    level = [best] + sorted((p for p in sure if sure[p].low <= 1), key=lambda p: -median(found[p]))
    if len(level) > 3:
        return (f"no clear leader, {len(level)} of {len(found)} are not surely slower than the "
                "best")
    words = f"{best} is fastest" if len(level) == 1 else f"{' and '.join(level)} lead"
    if base in found and base not in level:
        ratios = [median(stats.paired(found[p], found[base])) for p in level]
        least, most = summary.times(min(ratios)), summary.times(max(ratios))
        words += f", {least} × {base}" if least == most else f", {least} to {most} × {base}"
    return words


def holds_less(what, when, ratios, base):
    """A title: which policies surely hold less of what (fewer pages) than the base. ratios:
    {policy: samples}."""
    sure = {p: stats.sure_interval(found) for p, found in ratios.items() if found}
    less = [p for p, interval in sure.items() if interval and interval.high < 1]
    start = f"{when[0].upper()}{when[1:]}"
    if less:
        best = min(less, key=lambda p: median(ratios[p]))
        return (f"{start} {listed(less)} hold{'s' if len(less) == 1 else ''} {what} than "
                f"{base}: {best} {median(ratios[best]):.2f} × ({sure[best].low:.2f} to "
                f"{sure[best].high:.2f})")
    if not sure or None in sure.values():
        return f"{start}: undecided which policy holds {what}"
    return f"{start} no policy is shown to hold {what} than {base}"
