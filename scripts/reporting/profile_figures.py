"""profile_figures.py - two figures of the chapter "The accounts": what the heap profile costs a
program that only allocates, by the interval of sampling, and how far estimates are off by the
number of samples, beside the theory. See profile_results.py.
"""

from common import amounts
from common.amounts import number, span
from common.stats import median
from measuring.profile_cases import NONE, ORDINARY, SWEEP
from reporting import charts, figure_parts as parts, looks
from reporting.profile_results import ALLOWED_PERCENT, interval_text

LEAST = 0.1  # percent: less is not drawn


def above_zero(point):
    """For a logarithmic axis: an interval that reaches below it ends there."""
    x, middle, low, high, tip, values = point
    return (x, middle, low if low is None else max(low, LEAST), high, tip,
            [value for value in values if value >= LEAST])


def cost(results):
    """Lines of what is added to a pair, over the mean bytes between samples."""
    suite = results.profile
    cases = [c for c in suite.of_group("loop") if suite.more(c, ORDINARY, NONE)] if suite else []
    if not cases:
        return None
    sizes, series, told = [2 ** int(way) for way in SWEEP], [], []
    for position, case in enumerate(cases):
        says = suite.cases[case]["says"]
        points = [above_zero(parts.point(2 ** int(way), found, f"{says}, {interval_text(way)}"))
                  for way in SWEEP if (found := suite.more(case, way, NONE))
                  and median(found) >= LEAST]
        series.append({"name": says, "index": position, "points": points})
        told.append(suite.more(case, ORDINARY, NONE))
    most = ALLOWED_PERCENT["loop"]
    series.append({"name": f"{most:g} % allowed at 512 KiB", "index": looks.NEUTRAL,
                   "points": [(size, most, None, None, f"{most:g} %", []) for size in sizes]})
    counts = list(map(len, told))
    more = parts.sure_span(told, "{:+.1f}".format)
    title = "A program that only allocates, a sample each 512 KiB: " + (
        f"{more} % of CPU time" if span else "undecided how much CPU time is added")
    return parts.drawn("accounts-profile-cost", charts.line_chart, title, {
        "subtitle": "blocks of 16 to 512 bytes, stacks of "
        f"{suite.cases[cases[0]]['depth']:g} frames; against a process that counts "
        "without a profile", "x_name": "mean bytes between two samples (logarithmic)", "xs": sizes,
        "x_log": True, "x_ticks": sizes[:4] + sizes[-1:],
        "x_form": amounts.bytes_text,
        "y_name": "% of CPU time that is added (logarithmic)", "y_log": True,
        "zero": False, "series": series,
        "note": f"{suite.document['kind']} suite, release build; medians of "
        f"{parts.count_noun(min(counts), 'launch')}" +
        parts.band_text(min(counts), max(counts), "launch")}, width=620,
        caption="Half the interval is twice as many samples; the table has what one of them takes.")


def error(results):
    """Lines of errors as they were seen, over samples, and the theory's."""
    suite = results.profile
    errors = suite.errors() if suite else []
    if not errors:
        return None
    mixes, xs = list(dict.fromkeys(mix for mix, *_ in errors)), set()
    series = []
    for position, mix in enumerate(mixes):
        for says, column in ((mix, 2), (None, 3)):
            points = [(round(one[1]), 100 * one[column], None, None,
                       f"{mix}, {one[1]:.0f} samples: {100 * one[2]:.2f} %, by the theory "
                       f"{100 * one[3]:.2f} %", []) for one in errors if one[0] == mix]
            xs |= {point[0] for point in points}
            series.append({"name": says or "", "index": position, "points": points,
                           "open": [point[0] for point in points] if says is None else ()})
    ratios = [seen / theory for _, _, seen, theory, _ in errors if theory]
    title = (f"Errors of estimates by {span(number, *xs)} samples are "
             f"{span('{:.2f}'.format, *ratios)} × what the theory says")
    ordered = sorted(xs)
    decades = [x for x in (10, 100, 1000, 10000) if x in xs]
    return parts.drawn("accounts-profile-error", charts.line_chart, title, {
        "subtitle": "root of the mean square of the relative error of bytes; "
        "hollow: the theory, √(Σ Z² (1−p)/p) / Σ Z over all blocks; both axes logarithmic",
        "x_name": "samples", "xs": ordered, "x_log": True, "x_ticks": decades,
        "y_name": "% that the estimate is off", "y_log": True, "zero": False, "series": series,
        "note": f"one in 512 KiB; {errors[0][4]:g} seeds a point; names are sizes of the blocks of "
        "one stack"}, width=620,
        caption="Of small blocks it is 1/√samples. Blocks above the interval are nearly all "
                "sampled, and their bytes known.")


FIGURES = {"accounts-profile-cost": cost, "accounts-profile-error": error}
