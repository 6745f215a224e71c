"""growth_figures.py - figures of needless pages, and of several simulated machines."""

from common.amounts import number
from common.stats import median
from reporting import charts, figure_parts as parts, looks, steadiness, summary
from reporting.results import ANY


def _excess_lines(results, cases, key):
    """{name: [points over threads]} of excess pages; key names the line of a case."""
    lines = {}
    for case in cases:
        samples = results.samples("counted", case, "excess_pages")
        if samples:
            name = key(case)
            lines.setdefault(name, []).append(parts.point(
                case.threads, samples, f"{name}, {parts.count_noun(case.threads, 'thread')}"))
    return {name: sorted(points) for name, points in lines.items()}


def _pages_figure(results, name, title, subtitle, series):
    cpus = results.plan.get("cpus")
    xs = sorted({p[0] for s in series for p in s["points"]})
    return parts.drawn(name, charts.line_chart, title, {
        "subtitle": subtitle, "xs": xs,
        "note": parts.note(results, "counted", "churn"), "x_name": "threads", "series": series,
        "y_name": "pages beyond the ideal",
        "shade_from": next((x for x in xs if cpus and x > cpus), None),
        "shade_text": f"more threads than the {cpus} CPUs"}, stamp=results.stamp)


def excess_by_threads(results):
    """Excess pages of each policy over thread counts, churn at the fill of the title."""
    fill = summary.fill_near(results, "counted", 0.95)
    cases = results.cases("counted", workload="churn", occupancy=fill)
    lines = _excess_lines(results, cases, lambda c: c.policy)
    if fill is None or not lines:
        return None
    series = [{"name": p, "index": looks.of(p), "points": points}
              for p, points in lines.items()]
    worst = {p: max(v for c in cases if c.policy == p  # of any launch or seed
                    for v in results.samples("counted", c, "excess_pages")) for p in lines}
    tight = [p for p, most in worst.items() if not most]
    guilty = max(worst, key=worst.get)
    title = f"churn at {fill:g} full: " + (
        f"{guilty} adds up to {number(worst[guilty])} needless pages"
        if worst[guilty] else "no policy adds a needless page")
    if worst[guilty] and tight:
        title += f"; {parts.listed(tight)} {'adds' if len(tight) == 1 else 'add'} none"
    return _pages_figure(results, "excess", title, "peak of pages minus the pages that the peak of "
                         "records in use would fill", series)


def growth_by_occupancy(results, policy="original"):
    """Excess pages of one policy over thread counts, one line for each occupancy."""
    cases = [c for c in results.cases("counted", workload="churn", policy=policy)
             if c.occupancy is not None]
    lines = _excess_lines(results, cases, lambda c: f"{c.occupancy:g}")
    if len(lines) < 2:
        return None
    series = [{"name": name, "index": k, "points": points}
              for k, (name, points) in enumerate(lines.items())]
    every = [(v, f"{c.occupancy:g}", c.threads) for c in cases
             for v in results.samples("counted", c, "excess_pages")]
    most, name, _ = max(every)
    alone = max((v for v, _, threads in every if threads == 1), default=0)
    title = (f"{policy} grows with threads, whatever the occupancy: up to {number(most)} needless "
             f"pages, at {name} full; {number(alone)} with one thread") if most else \
        f"{policy} adds no needless page"
    return _pages_figure(results, "growth", title, f"churn, policy {policy}, one line for each "
                         "occupancy", series)


def _seeds_text(results):
    """How many seeds the cases of churn have on the simulated machines."""
    counts = sorted({len(results.rounds[build, case]) for build, case in results.values
                     if build == "simulated" and case.workload == "churn"})
    return parts.count_noun(counts[-1], "seed") if len(counts) == 1 else \
        f"{counts[0]} to {counts[-1]} seeds"


def machines(results):
    """Throughput and excess pages of the policies on each simulated machine, all CPUs busy."""
    rows, groups = [], [{"name": "churn, million operations per second", "cells": {}},
                        {"name": "needless pages", "cells": {}}]
    policies = results.policies("simulated", "churn")
    for machine in sorted(results.machines()):
        view = results.simulated(machine)
        fill = summary.fill_near(view, "counted", 0.95)
        threads = summary.busy_threads(view, fill)
        if threads is None:
            continue
        rows.append((machine, None))
        for column, policy in enumerate(policies):
            case = {"workload": "churn", "policy": policy, "threads": threads, "occupancy": fill}
            for group, metric, scale in ((groups[0], "items_per_second", 1e6),
                                         (groups[1], "excess_pages", 1)):
                value = view.mid("counted", metric, **case)
                if value is not None:
                    group["cells"][(len(rows) - 1, column)] = (
                        value / scale, f"{machine}, {policy}, "
                        f"{parts.count_noun(threads, 'thread')}, {fill:g} full: {number(value)}")
    if len(rows) < 2:
        return None
    for group in groups:
        group["columns"] = [("", policy.replace("_", " ")) for policy in policies]
    title = f"{len(rows)} machines, one thread for each CPU: {_machines_lead(results)}"
    canvas = charts.matrix_chart({
        "stamp": "simulated: virtual time", "title": title, "subtitle": "churn, about 0.95 full",
        "note": f"median of {_seeds_text(results)}" + steadiness.stated(results, results.cases(
            "simulated", workload="churn", machine=ANY), "simulated"), "groups": groups,
        "rows": rows})
    return parts.Figure("sim-machines", f"Simulated machines: {title}", canvas, "")


def _machines_lead(results):
    """Which policy is the fastest where, in words."""
    wins, undecided = {}, 0
    for machine in results.machines():
        view = results.simulated(machine)
        fill = summary.fill_near(view, "counted", 0.95)
        case = {"workload": "churn", "threads": summary.busy_threads(view, fill),
                "occupancy": fill}
        rates = {p: view.of("release", "items_per_second", policy=p, **case)
                 for p in view.policies("release", "churn")}
        rates = {p: samples for p, samples in rates.items() if samples}
        best = max(rates, key=lambda p: median(rates[p]), default=None)
        if best and parts.level_with(rates, best) == [best]:
            wins[best] = wins.get(best, 0) + 1
        else:
            undecided += 1
    told = [f"{p} is fastest on {n}" for p, n in sorted(wins.items(), key=lambda item: -item[1])]
    return ", ".join(told + [f"undecided on {undecided}"] * bool(undecided))
