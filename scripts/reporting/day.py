"""day.py - a simulated day of a database's load: how many pages each policy holds, hour by hour.

Every seed is a day of its own; a time of day is the share of the window that is over.
"""

from common import stats
from common.amounts import count_noun, number, span
from common.stats import median
from reporting import charts, figure_parts as parts, looks, summary

WORKLOAD, HOURS = "day", 24
NIGHT = 6  # after three hours with few records in use
MOMENTS = {2: "2:00,\nbatch", NIGHT: "6:00,\nnight", 11: "11:00,\nnoon", 20: "20:00,\nevening",
           HOURS: "24:00"}


class Day:
    """The days of a simulated machine."""

    def __init__(self, results):
        self.view = results.simulated()
        moved = self.view.moved if self.view else {}
        self.cases = {case.policy: case for case in moved if case.workload == WORKLOAD}
        self.policies = [p for p in (self.view.policy_order if self.view else ())
                         if p in self.cases]
        self.days = {p: moved[self.cases[p]] for p in self.policies}

    def at(self, policy, hour, column="pages"):
        """A column at an hour, one value for each seed: the last sample until then."""
        found = []
        for seed, day in self.days[policy].items():
            end = hour / HOURS * day["t_ms"][-1]
            before = [v for t, v in zip(day["t_ms"], day[column]) if t <= end]
            found.append(stats.Value(("seed", seed), before[-1] if before else day[column][0],
                                     False))
        return stats.Samples(found, seeds=True)

    def over_ideal(self, policy):
        """Pages / ideal pages, both summed over the day, one value for each seed."""
        return [sum(day["pages"]) / sum(day["ideal"]) for day in self.days[policy].values()]

    def line(self, policy, column="pages"):
        """[(hour, median of the seeds)], each 5 minutes."""
        return [(k / 12, median(self.at(policy, k / 12, column))) for k in range(HOURS * 12 + 1)]

    def samples(self, policy, metric):
        """A counter of the whole run, one value for each seed."""
        return self.view.samples("counted", self.cases[policy], metric)

    def stated(self):
        """What was run, in words."""
        def all_of(metric):
            return [v for p in self.policies for v in self.samples(p, metric)]
        passes = [window / 1e3 / each for window, each in zip(all_of("window_ns"),
                                                              all_of("pass_us"))]
        seeds = sorted({seed for days in self.days.values() for seed in days})
        windows = span(number, *[v / 1e6 for v in all_of("window_ns")])
        threads = max(case.threads for case in self.cases.values())
        return (f"{self.view.stamp}; {count_noun(threads, 'thread')}; the day is {windows} ms of "
                f"it, {span('{:,.0f}'.format, *all_of('ops'))} operations without warm-up"
                + (f", {span('{:,.0f}'.format, *passes)} reclaim passes" if passes else "")
                + f"; {count_noun(len(seeds), 'seed')} ({', '.join(map(str, seeds))})")


def figure(results):
    """Records in use and the pages that each policy holds, over the day."""
    day = Day(results)
    if not day.policies:
        return None
    base = summary.base_policy(day.view)
    base = base if base in day.policies else day.policies[0]
    night = day.at(base, NIGHT)
    title = parts.holds_less("fewer pages", f"at {NIGHT}:00 of a database's day", {
        p: stats.paired(day.at(p, NIGHT), night) for p in day.policies if p != base}, base)
    lines = [{"name": p, "index": looks.of(p), "line": day.line(p)} for p in day.policies]
    ideal = {"name": "ideal", "index": looks.NEUTRAL, "dash": "3 3",
             "line": day.line(base, "ideal")}
    return parts.drawn("sim-day", charts.stacked_chart, title, {
        "subtitle": "a batch at night, a peak before noon and a higher one in the evening; lines "
        "are medians of the seeds; ideal: pages that the records of " + base + " need",
        "x_name": "hour of the day", "x_step": 3, "panels": [
            {"y_name": "records in use", "share": 0.26, "series": [
                {"name": "load", "index": looks.NEUTRAL, "dash": "",
                 "line": day.line(base, "live")}]},
            {"y_name": "pages", "share": 0.74, "series": [*lines, ideal]}],
        "note": day.stated()}, stamp=day.view.stamp)


def table(results):
    """(headers, rows): pages at moments of the day; None where no day was simulated."""
    day = Day(results)
    if not day.policies:
        return None
    rows = []
    for policy in day.policies:
        rows.append([policy, *(f"{median(day.at(policy, hour)):g}" for hour in MOMENTS),
                     f"{median(day.over_ideal(policy)):.2f}",
                     span("{:g}".format, *day.samples(policy, "needless_growths")),
                     span("{:,.0f}".format, *day.samples(policy, "ops")),
                     str(len(day.days[policy]))])
    first = day.policies[0]
    rows.append([f"ideal ({first})", *(f"{median(day.at(first, hour, 'ideal')):g}"
                                         for hour in MOMENTS), "1.00", "", "", ""])
    return ["policy", *(f"pages at\n{name}" for name in MOMENTS.values()),
            "pages / ideal\nover the day", "needless\npages", "operations", "seeds"], rows


def note(results):
    """What stands below the table."""
    return Day(results).stated() + "; pages are medians of the seeds."
