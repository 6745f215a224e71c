"""against.py - the page "against the peers": our own policies held to their bars.

Every bar is on ratios of launches of the same round, or a count. One that was not measured, is
not met, or is undecided, stays in the table.
"""

from common import judge, stats
from common.amounts import span
from measuring import peers
from reporting.results import ANY
from reporting.summary import ratio_bar

OURS = ("exact", "magazine")
PAGES_EACH = 64  # as suite.py has it

# Why a bar can be out of reach; shown with what was measured if the bar is not surely met.
REASONS = {
    "floor_exact": "exact takes and gives a bit by one locked instruction each, and writes the "
                   "record's word three times; the floor has one locked instruction",
    "floor_magazine": "the ring has no locked instruction, so this bar is in reach only where one "
                      "is dear: the floor is {floor:.2g} ns here, some loads and stores",
    "jemalloc": "one thread alone takes one of two times, by the record that its ring holds; see "
                "docs/how-to/choosing.md",
    "ebb_exact": "a pass gathers the load on few pages, where threads meet more often: part of "
                 "this is not the pass but the density",
    "ebb_magazine": "a pass takes the rings back, and what a thread takes next is cold: dear where "
                    "other processes fill the caches; see docs/explanation/reclaiming.md",
}


def _rate(results, workload, policy, threads, occupancy=None):
    case = {"workload": workload, "threads": threads}
    if policy:
        case["policy"] = policy
    if occupancy is not None:
        case["occupancy"] = occupancy
    return results.mid("release", "items_per_second", **case)


def _churn(policy, occupancy):
    return {"workload": "churn", "policy": policy, "threads": 2, "occupancy": occupancy}


def _churn_bars(results):
    return [ratio_bar(results, "exact, churn 0.99, 2 threads: at least 50 × original",
                      _churn("exact", 0.99), _churn("original", 0.99), least=50),
            ratio_bar(results, "exact, churn, 2 threads: its cost at 0.999 at most 1.5 × its cost "
                      "at 0.5", _churn("exact", 0.5), _churn("exact", 0.999), most=1.5)]


def _pair(policy, threads=1):
    return {"workload": "pair", "policy": policy, "threads": threads}


def _pair_bars(results):
    bare = {"workload": "floor"}
    floor = results.mid("release", "items_per_second", **bare)
    reason = REASONS["floor_magazine"].format(floor=1e9 / floor if floor else 0)
    return [ratio_bar(results, "exact, pair, 1 thread: at most 2.5 × the floor", bare,
                      _pair("exact"), most=2.5, reason=REASONS["floor_exact"]),
            ratio_bar(results, "magazine, pair, 1 thread: at most 0.7 × the floor", bare,
                      _pair("magazine"), most=0.7, reason=reason),
            ratio_bar(results, "magazine, pair, 1 thread: at least 1.3 × as fast as jemalloc",
                      _pair("magazine"), _pair("jemalloc"), least=1.3,
                      reason=REASONS["jemalloc"])]


def _scaling_bars(results):
    """A live set of one size for each thread: shared ones halve, and fit a nearer cache."""
    rows = []
    for policy in OURS:
        rows.append(ratio_bar(results, f"{policy}, pair: 2 threads at least 1.8 × 1 thread",
                              _pair(policy, 2), _pair(policy), least=1.8))
        case = {"workload": "churn", "policy": policy, "occupancy": 0.9, "pages_each": PAGES_EACH}
        rows.append(ratio_bar(results, f"{policy}, churn 0.9, {PAGES_EACH} pages for each thread: "
                              "2 threads at least 1.8 × 1 thread", {**case, "threads": 2},
                              {**case, "threads": 1}, least=1.8))
    return rows


def _tight_bars(results):
    rows = []
    for policy in OURS:
        cases = [c for c in results.cases("counted", policy=policy, records=ANY)
                 if c.threads >= 2]
        bar = f"{policy}: no excess page, no needless growth, in every workload and thread count"
        worst = {metric: max((v for c in cases for v in results.samples("counted", c, metric)),
                             default=None) for metric in ("excess_pages", "needless_growths")}
        if None in worst.values():
            rows.append(judge.unmeasured(bar))
            continue
        workloads = ", ".join(sorted({c.workload for c in cases}))
        threads = sorted({c.threads for c in cases})
        text = (f"at most {worst['excess_pages']:g} and {worst['needless_growths']:g}, in "
                f"{len(cases)} cases of {workloads}, {span(str, *threads)} threads")
        rows.append(judge.Bar(bar, text, judge.NOT_MET if any(worst.values()) else judge.MET))
    return rows


def trough_excess(results, policy):
    """Of each launch, pages beyond the ideal at the end of the last trough."""
    return stats.samples_of([line[-1]["pages"] - line[-1]["ideal"]
                             for case, launches in results.series.items()
                             if case.policy == policy for line in launches if line])


def _tide_bars(results):
    rows = [judge.bar(f"{policy}, tide: after the trough at most 2 pages more than ideal",
                      trough_excess(results, policy), most=2, form="{:g} pages more")
            for policy in OURS]
    return rows + [_ebb_bar(results, policy) for policy in OURS]


def ebb_ratios(results, policy, metric="ns_p999"):
    """Of each round, a latency while pages go back / that without. Only a launch in whose timed
    window pages really went says anything. The cost of reading the clock is in both numbers and
    would flatter their ratio, so it is taken off."""
    case = {"workload": "ebb", "policy": policy, "threads": 2}
    timer = float(results.context.get("timer_cost_ns", 0))
    during = stats.paired(results.of("reclaiming", metric, **case),
                          results.of("reclaiming", "reclaimed_timed", **case),
                          lambda ns, gone: ns if gone else None)
    return stats.paired(during, results.of("still", metric, **case),
                        lambda a, b: (a - timer) / (b - timer) if b > timer else None)


def _ebb_bar(results, policy):
    says = (f"{policy}, ebb, 2 threads: p99.9 of allocate while pages go back at most 2 × "
            "that without")
    case = {"workload": "ebb", "policy": policy, "threads": 2}
    ratios = ebb_ratios(results, policy)
    if not ratios:
        return judge.unmeasured(says)
    timer = float(results.context.get("timer_cost_ns", 0))
    ns = {(build, metric): results.mid(build, metric, **case)
          for build in ("reclaiming", "still") for metric in ("ns_p999", "ns_max")}
    gone = results.mid("reclaiming", "reclaimed_timed", **case)
    detail = (f"medians {ns['reclaiming', 'ns_p999'] - timer:.3g} ns, without "
              f"{ns['still', 'ns_p999'] - timer:.3g} ns; {gone:.3g} pages went meanwhile; the "
              f"longest call {ns['reclaiming', 'ns_max'] / 1e3:.3g} µs, without "
              f"{ns['still', 'ns_max'] / 1e3:.3g} µs")
    return judge.bar(says, ratios, most=2, detail=detail, reason=REASONS[f"ebb_{policy}"])


def _handoff_bars(results):
    return [ratio_bar(results, f"{policy}, handoff, 2 threads: at least the speed of ck_stack",
                      {"workload": "handoff", "policy": policy, "threads": 2},
                      {"workload": "handoff", "policy": "ck_stack", "threads": 2}, least=1)
            for policy in OURS]


def _peer_bars(results):
    """Where the peers were ahead: records that one thread allocates and another frees, records in
    random order, and a call of the public functions, which a peer's are, too."""
    calls = {**_pair("magazine"), "api": "public"}
    return [ratio_bar(results, "magazine, handoff, 2 threads: at least 0.9 × jemalloc",
                      {"workload": "handoff", "policy": "magazine", "threads": 2},
                      {"workload": "handoff", "policy": "jemalloc", "threads": 2}, least=0.9),
            ratio_bar(results, "magazine, churn 0.9, 2 threads: at least 0.9 × mimalloc",
                      _churn("magazine", 0.9), _churn("mimalloc", 0.9), least=0.9),
            ratio_bar(results, "magazine, pair by the public calls, 1 thread: at least as fast as "
                      "jemalloc", calls, {**calls, "policy": "jemalloc"}, least=1)]


def _fill(policy, records):
    return {"workload": "fill", "policy": policy, "threads": 1, "records": records,
            "memory": "touched"}


def _growth_bars(results):
    """The time of a record while a container grows, and of a refusal, against their sizes."""
    rows = []
    for policy in OURS:
        small, large = (_fill(policy, records) for records in (1 << 16, 1 << 24))
        bar = ratio_bar(results, f"{policy}, fill, touched memory: a record of 16 Mi costs at most "
                        "1.5 × one of 64 Ki", small, large, most=1.5)
        rows.append(_of_ends(bar, results.of("release", "finished", **large)))
    for policy in OURS:
        few, many = ({"workload": "refuse", "policy": policy, "threads": 1, "records": pages}
                     for pages in (64, 1 << 20))
        rows.append(ratio_bar(results, f"{policy}: a refusal at 1 Mi pages costs at most 2 × one "
                              "at 64", few, many, most=2))
    return rows


def _of_ends(bar, finished):
    """A fill that did not end would have cost more than the mean so far: that cannot meet a bar."""
    late = sum(1 for v in finished if v == 0)
    if not late:
        return bar
    return bar._replace(measured=f"{bar.measured}; {late} of {len(finished)} fills did not end in "
                        "time, and count as far as they came",
                        verdict=judge.UNDECIDED if bar.verdict == judge.MET else bar.verdict)


def bars(results):
    """[judge.Bar]; [] if none of OURS was measured."""
    if not any(policy in results.policy_order for policy in OURS):
        return []
    rows = []
    for make in (_churn_bars, _pair_bars, _scaling_bars, _tight_bars, _tide_bars, _handoff_bars,
                 _peer_bars, _growth_bars):
        rows += make(results)
    return rows


def gives_up(results):
    """(headers, rows): speed, and what is given up for it; [] without traits in the plan."""
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
