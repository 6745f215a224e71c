"""against.py - the page "against the peers": our own policies held to their bars.

Every bar is a ratio of medians of interleaved launches, or a count. One that was not measured,
or is not met, stays in the table.
"""

from statistics import median

import peers

OURS = ("exact", "magazine")

def _ratio(own, other, form="{:.3g} ×"):
    return None if not own or not other else (own / other, form.format(own / other))


def _at_least(bar, pair, least):
    return (bar, "not measured", None) if pair is None else (bar, pair[1], pair[0] >= least)


def _at_most(bar, pair, most):
    return (bar, "not measured", None) if pair is None else (bar, pair[1], pair[0] <= most)


# Why a bar can be out of reach; shown beside what was measured, where it is not met.
REASONS = {
    "floor_exact": "exact takes and gives a bit by one locked instruction each, and writes the "
                   "record's word three times; the floor has one locked instruction",
    "floor_magazine": "the ring has no locked instruction, so this bar is in reach only where one "
                      "is dear: the floor is {floor:.2g} ns here, some loads and stores",
    "jemalloc": "one thread alone takes one of two times, by the record that its ring holds: 3.9 "
                "or 5.2 ns on the reference machine; see docs/choosing.md",
    "ebb_exact": "a pass gathers the load on few pages, where threads meet more often: part of "
                 "this is not the pass but the density",
    "ebb_magazine": "a pass takes the rings back, and what a thread takes next is cold: dear where "
                    "other processes fill the caches; see docs/reclaiming.md",
}


def _explained(row, reason):
    bar, measured, met = row
    return (bar, f"{measured}. {reason[0].upper()}{reason[1:]}.", met) if met is False else row


def _rate(results, workload, policy, threads, occupancy=None):
    case = {"workload": workload, "threads": threads}
    if policy:
        case["policy"] = policy
    if occupancy is not None:
        case["occupancy"] = occupancy
    return results.mid("release", "items_per_second", **case)


def _churn_bars(results):
    own = _rate(results, "churn", "exact", 2, 0.99)
    base = _rate(results, "churn", "original", 2, 0.99)
    half = _rate(results, "churn", "exact", 2, 0.5)
    full = _rate(results, "churn", "exact", 2, 0.999)
    return [_at_least("exact, churn 0.99, 2 threads: at least 50 × original",
                      _ratio(own, base), 50),
            _at_most("exact, churn, 2 threads: its cost at 0.999 at most 1.5 × its cost at 0.5",
                     _ratio(half, full), 1.5)]


def _pair_bars(results):
    floor = results.mid("release", "items_per_second", workload="floor")
    rate = {policy: _rate(results, "pair", policy, 1)
            for policy in OURS + ("jemalloc", "malloc")}
    return [_explained(_at_most("exact, pair, 1 thread: at most 2.5 × the floor",
                                _ratio(floor, rate["exact"]), 2.5), REASONS["floor_exact"]),
            _explained(_at_most("magazine, pair, 1 thread: at most 0.7 × the floor",
                                _ratio(floor, rate["magazine"]), 0.7),
                       REASONS["floor_magazine"].format(floor=1e9 / floor if floor else 0)),
            _explained(_at_least("magazine, pair, 1 thread: at least 1.3 × as fast as jemalloc",
                                 _ratio(rate["magazine"], rate["jemalloc"]), 1.3),
                       REASONS["jemalloc"])]


def _scaling_bars(results):
    rows = []
    for policy in OURS:
        for workload, occupancy in (("pair", None), ("churn", 0.9)):
            one = _rate(results, workload, policy, 1, occupancy)
            two = _rate(results, workload, policy, 2, occupancy)
            rows.append(_at_least(f"{policy}, {workload}: 2 threads at least 1.8 × 1 thread",
                                  _ratio(two, one), 1.8))
    return rows


def _tight_bars(results):
    rows = []
    for policy in OURS:
        cases = [c for c in results.cases("counted", policy=policy) if c.threads >= 2]
        bar = f"{policy}: no excess page, no needless growth, in every workload and thread count"
        worst = {metric: max((v for c in cases for v in results.samples("counted", c, metric)),
                             default=None) for metric in ("excess_pages", "needless_growths")}
        if None in worst.values():
            rows.append((bar, "not measured", None))
            continue
        workloads = ", ".join(sorted({c.workload for c in cases}))
        most = max(c.threads for c in cases)
        text = (f"at most {worst['excess_pages']:g} and {worst['needless_growths']:g}, in "
                f"{len(cases)} cases of {workloads}, 2 to {most} threads")
        rows.append((bar, text, not any(worst.values())))
    return rows


def trough_excess(results, policy):
    """Median over launches of pages beyond the ideal at the end of the last trough."""
    ends = [line[-1]["pages"] - line[-1]["ideal"] for case, launches in results.series.items()
            if case.policy == policy for line in launches if line]
    return median(ends) if ends else None


def _tide_bars(results):
    rows = []
    for policy in OURS:
        bar = f"{policy}, tide: after the trough at most 2 pages more than ideal"
        excess = trough_excess(results, policy)
        rows.append((bar, "not measured", None) if excess is None else
                    (bar, f"{excess:g} pages more", excess <= 2))
    return rows + [_ebb_bar(results, policy) for policy in OURS]


def _ebb_bar(results, policy):
    """Only a launch in whose timed window pages really went says anything. The cost of reading
    the clock is in both numbers and would flatter their ratio, so it is taken off."""
    bar = (f"{policy}, ebb, 2 threads: p99.9 of allocate while pages go back at most 2 × "
           "that without")
    case = {"workload": "ebb", "policy": policy, "threads": 2}
    gone = results.mid("reclaiming", "reclaimed_timed", **case)
    during = results.mid("reclaiming", "ns_p999", **case)
    without = results.mid("still", "ns_p999", **case)
    timer = float(results.context.get("timer_cost_ns", 0))
    if not gone or not during or not without or without <= timer:
        return (bar, "not measured", None)
    during, without = during - timer, without - timer
    longest = [results.mid(build, "ns_max", **case) for build in ("reclaiming", "still")]
    row = (bar, f"{during / without:.3g} ×: {during:.3g} ns, without {without:.3g} ns; "
           f"{gone:.3g} pages went meanwhile; the longest call {longest[0] / 1e3:.3g} µs, "
           f"without {longest[1] / 1e3:.3g} µs", during <= 2 * without)
    return _explained(row, REASONS[f"ebb_{policy}"])


def _handoff_bars(results):
    return [_at_least(f"{policy}, handoff, 2 threads: at least the speed of ck_stack",
                      _ratio(_rate(results, "handoff", policy, 2),
                             _rate(results, "handoff", "ck_stack", 2)), 1)
            for policy in OURS]


def bars(results):
    """[(bar, measured, met: True, False or None)]; [] where none of ours was measured."""
    if not any(policy in results.policy_order for policy in OURS):
        return []
    rows = []
    for make in (_churn_bars, _pair_bars, _scaling_bars, _tight_bars, _tide_bars, _handoff_bars):
        rows += make(results)
    return rows


def gives_up(results):
    """(headers, rows): speed beside what is given up for it; [] without traits in the plan."""
    headers = ["policy", "pair, 1 thread, ns", "churn 0.9, 2 threads, M/s", "handoff, M/s",
               "gives up"]
    rows = []
    for policy, traits in results.plan.get("traits", {}).items():
        one = _rate(results, "pair", policy, 1)
        churn = _rate(results, "churn", policy, 2, 0.9)
        handoff = _rate(results, "handoff", policy, 2)
        rows.append([policy, f"{1e9 / one:.3g}" if one else "–",
                     f"{churn / 1e6:.3g}" if churn else "–",
                     f"{handoff / 1e6:.3g}" if handoff else "–",
                     "; ".join(peers.gives_up(set(traits))) or "nothing of these"])
    return headers, rows
