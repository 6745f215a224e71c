"""figure_parts.py - what all figures share: their words, their points, their foot."""

from collections import namedtuple

import summary
from stats import median, median_interval
from svg import number

Figure = namedtuple("Figure", "name title canvas caption")


def count_noun(amount, noun):
    """1 launch, 2 launches."""
    return f"{amount} {noun}" + ("" if amount == 1 else "s" if noun != "launch" else "es")


def listed(names):
    """a, b and c."""
    names = list(names)
    return " and ".join([", ".join(names[:-1])] * (len(names) > 1) + names[-1:])


def launches_text(results, build, workload):
    low, high = results.launches(build, workload)
    return count_noun(high, "launch") if low == high else f"{low} to {high} launches"


def note(results, build, workload, band=True):
    """Build, launches and spread: the foot of each figure."""
    if results.stamp:
        low, high = results.launches(build, workload)
        return (f"{results.stamp}; each point the median of "
                f"{count_noun(high, 'seed') if low == high else f'{low} to {high} seeds'}"
                + ("; shaded: 95 % bootstrap interval of the median" if band else ""))
    what = {"release": "times: release build, which counts nothing",
            "counted": "counts: counted build, whose times are not used"}[build]
    spread = "; shaded: 95 % bootstrap interval of the median" if band else ""
    placements = {c.placement for c in results.cases(build, workload=workload)} - {None}
    placed = f"; placement {', '.join(sorted(placements))}" if placements else ""
    return (f"{what}; each point the median of {launches_text(results, build, workload)}"
            f"{spread}{placed}")


def point(x, samples, text):
    low, high = median_interval(samples)
    mid = median(samples)
    tip = f"{text}: {number(mid)} ({number(low)} to {number(high)}, {len(samples)} launches)"
    return (x, mid, low, high, tip)


def lead(found, base):
    """Who leads in {policy: samples}, in words; those whose intervals meet the best's are level."""
    best = max(found, key=lambda p: median(found[p]))
    low = median_interval(found[best])[0]
    level = sorted((p for p in found if median_interval(found[p])[1] >= low),
                   key=lambda p: -median(found[p]))
    if len(level) > 3:
        return f"no clear leader, the intervals of {len(level)} of {len(found)} meet"
    words = f"{best} is fastest" if len(level) == 1 else f"{' and '.join(level)} lead"
    if base in found and base not in level:
        ratios = [median(found[p]) / median(found[base]) for p in level]
        least, most = summary.times(min(ratios)), summary.times(max(ratios))
        words += f", {least} × {base}" if least == most else f", {least} to {most} × {base}"
    return words
