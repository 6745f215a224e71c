"""claims.py - the claims about the policies, and whether they hold on the simulated machine.

A claim is judged from results alone, so a later report judges it again. It holds if every seed
confirms it, does not hold if none does, and is undecided if seeds differ. A claim that does not
hold stays in the table.
"""

import re
from collections import namedtuple

from common import judge, stats
from common.amounts import number, time_text
from reporting import summary
from reporting.figure_parts import count_noun
from reporting.fill_figures import STORM_PAGE_RECORDS, STORM_THREADS

# experiment: which of experiments.py gives the numbers; source: who says so.
Claim = namedtuple("Claim", "name experiment source says judge")
# For older results, whose runs did not state traits. Newer policies are not listed here.
TRAITS = {"strict": ("local_scan", "random_start", "reclaiming"), "exact": ("exact", "magazine")}
NOT_SIMULATED = ("not simulated", judge.NOT_MEASURED)
MANY = 64  # claims about many threads are not judged with fewer


def _word(holds):
    return judge.MET if holds else judge.NOT_MET


def _search(results, policy):
    """The search for the four-page schedule of a policy, or None."""
    return next((s for s in results.searches if "four_pages" in s["words"] and
                 policy in s["words"]), None)


def _four_pages(results):
    found, other = _search(results, "original"), _search(results, "exact")
    if not found or not other:
        return NOT_SIMULATED
    told = []
    for policy, search in (("original", found), ("exact", other)):
        count = re.search(r"(\d+) executions", search["output"])
        number_of = f"{int(count.group(1)):,} executions" if count else "a search"
        bound = ", not all there are" if "not all there are" in search["output"] else ""
        told.append(f"{policy}: " + (f"found in {number_of}" if search["exit"] == 1 else
                                     f"none in {number_of}{bound}"))
    return "; ".join(told), _word(found["exit"] == 1 and other["exit"] == 0)


def _threads_of(view, policy):
    return sorted({c.threads for c in view.cases("counted", workload="churn", policy=policy)})


def _seeds(view, metric, policy, threads, fill):
    """A metric of churn, one value for each seed."""
    return view.of("counted", metric, workload="churn", policy=policy, threads=threads,
                   occupancy=fill)


def _churn(view, metric, policy, threads, fill):
    found = _seeds(view, metric, policy, threads, fill)
    return summary.median(found) if found else None


def _against(view, metric, one, other):
    """Does one exceed other, at the same seed? Each is (policy, threads, fill)."""
    return judge.every(v > 0 for v in stats.paired(
        _seeds(view, metric, *one), _seeds(view, metric, *other), lambda a, b: a - b))


def _with(found, trait):
    """The policies with a trait, but for baselines and those that did no churn; found are results
    or a view of them."""
    churned = {case.policy for _, case in found.values if case.workload == "churn"}
    said = [p for p in found.policy_order if trait in found.traits.get(p, ()) and p in churned
            and not found.plan.get("summaries", {}).get(p, "").startswith("baseline")]
    return said if found.traits else list(TRAITS[trait])


def _worst(view, policies, metric, threads=None):
    """The largest value of any seed over churn, or None; and how many cases were looked at."""
    cases = [c for p in policies for c in view.cases("counted", workload="churn", policy=p)
             if threads is None or c.threads == threads]
    values = [v for c in cases for v in view.samples("counted", c, metric)]
    return (max(values) if values else None), len(cases)


def _per_thousand_skips(view, threads, fill):
    """[(by cursors, by full flags)]: records that original skipped per 1000 allocations, of each
    seed. A search that a flag refused skips all records of its page."""
    columns = [_seeds(view, m, "original", threads, fill) for m in
               ("record_skips", "flag_skips", "page_records", "allocations")]
    return [(1000 * (r - f * p) / a, 1000 * f * p / a) for r, f, p, a in zip(*columns)]


def _skips(results):
    view = results.simulated()
    fill = summary.fill_near(view, "counted", 0.95)
    seeds = {t: _per_thousand_skips(view, t, fill) for t in _threads_of(view, "original")}
    seeds = {t: v for t, v in seeds.items() if v}
    if 1 not in seeds or len(seeds) < 2:
        return NOT_SIMULATED
    found = {t: [summary.median(column) for column in zip(*v)] for t, v in seeds.items()}
    most = max(found, key=lambda t: found[t][0])
    return (f"records per 1000 allocations at {fill:g} full, by cursors: {number(found[1][0])} "
            f"with 1 thread, {number(found[most][0])} with {most}; by the full flags of the real "
            f"system, which the document leaves out: {number(found[1][1])} and "
            f"{number(found[most][1])}",
            judge.every(alone[0] == 0 and many[0] > 0 and alone[1] > 0
                        for alone in seeds[1] for many in seeds[most]))


def _growth(results):
    view = results.simulated()
    counts = _threads_of(view, "original")
    fills = sorted({c.occupancy for c in view.cases("counted", workload="churn",
                                                    policy="original")})
    found = {(t, f): _churn(view, "excess_pages", "original", t, f) for t in counts
             for f in fills}
    found = {key: value for key, value in found.items() if value is not None}
    if not found or 1 not in counts or counts[-1] < MANY:
        return NOT_SIMULATED
    alone = max(v for (t, _), v in found.items() if t == 1)
    worst = max(found, key=found.get)
    ideal = _churn(view, "pages_ideal", "original", *worst)
    return (f"{number(alone)} pages too many with 1 thread; {number(found[worst])} above an ideal "
            f"of {number(ideal)} with {count_noun(worst[0], 'thread')} at {worst[1]:g} full",
            judge.every(v > alone for v in _seeds(view, "excess_pages", "original", *worst)))


def _occupancy(results):
    view = results.simulated()
    fills = sorted({c.occupancy for c in view.cases("counted", workload="churn",
                                                    policy="original")})
    threads = summary.busy_threads(view, fills[-1]) if fills else None
    values = [(f, _churn(view, "excess_pages", "original", threads, f)) for f in fills]
    values = [(f, v) for f, v in values if v is not None]
    if len(values) < 2:
        return NOT_SIMULATED
    return (f"{count_noun(threads, 'thread')}: "
            + ", ".join(f"{number(v)} pages at {f:g}" for f, v in values),
            judge.every(v > 0 for f, _ in values
                        for v in _seeds(view, "excess_pages", "original", threads, f)))


def _strict(results):
    view = results.simulated()
    strict = _with(view, "strict")
    worst = {m: _worst(view, strict, m) for m in ("page_skips", "record_skips")}
    if any(v is None for v, _ in worst.values()):
        return NOT_SIMULATED
    return (f"at most {number(worst['page_skips'][0])} pages and "
            f"{number(worst['record_skips'][0])} records in {worst['page_skips'][1]} cases of "
            f"{', '.join(strict)}", _word(all(v == 0 for v, _ in worst.values())))


def _pair_of(view, metric, one, other):
    """((threads, fill), value of one, value of the other) with all CPUs busy, near 0.95."""
    fill = summary.fill_near(view, "counted", 0.95)
    threads = summary.busy_threads(view, fill)
    return ((threads, fill), _churn(view, metric, one, threads, fill),
            _churn(view, metric, other, threads, fill))


def _collisions(results):
    view = results.simulated()
    (threads, fill), local, spread = _pair_of(view, "cas_failures", "local_scan",
                                              "random_start")
    if local is None or spread is None:
        return NOT_SIMULATED
    return (f"claims lost per call, {count_noun(threads, 'thread')}, {fill:g} full: "
            f"{number(local)} with local_scan, {number(spread)} with random_start",
            _against(view, "cas_failures", ("local_scan", threads, fill),
                     ("random_start", threads, fill)))


def _random_start(results):
    view = results.simulated()
    (threads, fill), local, spread = _pair_of(view, "items_per_second", "local_scan",
                                              "random_start")
    if not local or not spread:
        return NOT_SIMULATED
    return (f"{count_noun(threads, 'thread')}, {fill:g} full: {spread / 1e6:.3g} against "
            f"{local / 1e6:.3g} million a second, {summary.times(spread / local)} ×",
            _against(view, "items_per_second", ("random_start", threads, fill),
                     ("local_scan", threads, fill)))


def _needless(results):
    view = results.simulated()
    threads = summary.busy_threads(view, summary.fill_near(view, "counted", 0.95))
    values = {p: _worst(view, [p], "needless_growths", threads)[0] for p in _with(view, "strict")}
    values = {p: v for p, v in values.items() if v is not None}
    if not values or threads < MANY:
        return NOT_SIMULATED
    return (f"{threads} threads, the worst seed and occupancy: "
            + ", ".join(f"{p} {number(v)}" for p, v in values.items()),
            _word(any(v > 0 for v in values.values())))


def _tight(results):
    worst, cases = None, 0
    for machine in results.machines():
        view = results.simulated(machine)
        for metric in ("needless_growths", "excess_pages"):
            value, count = _worst(view, _with(view, "exact"), metric)
            cases += count if metric == "excess_pages" else 0
            if value is not None:
                worst = max(worst or 0, value)
    if worst is None:
        return NOT_SIMULATED
    return (f"at most {number(worst)} in {cases} cases of {', '.join(_with(results, 'exact'))} on "
            f"{count_noun(len(results.machines()), 'machine')}", _word(worst == 0))


def _together(found, least):
    """One verdict of several samples, each of which must reach the bar."""
    return judge.every(v >= least for samples in found for v in samples)


def _ratios(other, least):
    def check(results):
        view = results.simulated()
        found = []
        for wanted in (0.95, 0.99):
            fill = summary.fill_near(view, "release", wanted)
            threads = summary.busy_threads(view, fill)
            ratios = stats.paired(_seeds(view, "items_per_second", "exact", threads, fill),
                                  _seeds(view, "items_per_second", other, threads, fill))
            if not ratios or threads < MANY or abs(fill - wanted) > 0.001:
                return NOT_SIMULATED
            found.append((wanted, threads, ratios))
        return ("; ".join(f"{summary.times(summary.median(r))} × at {w:g}" for w, _, r in found)
                + f", {found[0][1]} threads, {_seeds_text(found[0][2])}",
                _together([r for _, _, r in found], least))
    return check


def _seeds_text(samples):
    return f"every one of {count_noun(len(samples), 'seed')} counts"


def _efficiency(results):
    view = results.simulated()
    found = []
    for wanted in (0.95, 0.99):
        fill = summary.fill_near(view, "release", wanted)
        threads = summary.busy_threads(view, fill)
        shares = stats.paired(_seeds(view, "items_per_second", "exact", threads, fill),
                              _seeds(view, "items_per_second", "exact", 1, fill),
                              lambda many, one: many / threads / one)
        if not shares or threads < MANY:
            return NOT_SIMULATED
        found.append((fill, threads, shares))
    return ("; ".join(f"{summary.median(s):.2g} at {f:g}" for f, _, s in found)
            + f", {found[0][1]} threads, {_seeds_text(found[0][2])}",
            _together([s for _, _, s in found], 0.2))


def _storm(metric, word):
    def check(results):
        view = results.simulated()
        case = {"workload": "storm", "threads": STORM_THREADS, "page_records": STORM_PAGE_RECORDS}
        found = {p: view.of("release", metric, policy=p, **case)
                 for p in ("mutex_list", "exact", "magazine")}
        if not all(found.values()):
            return NOT_SIMULATED
        held = [stats.paired(found[p], found["mutex_list"], lambda a, b: a <= b)
                for p in ("exact", "magazine")]
        return (f"{word}: " + ", ".join(f"{p} {time_text(summary.median(v))}"
                                        for p, v in found.items())
                + f", {_seeds_text(found['exact'])}", judge.every(v for s in held for v in s))
    return check


DOCUMENT, OWN = "source document", "pfslab"
CLAIMS = (
    Claim("four-pages", "four-pages", DOCUMENT, "Four pages, the first and the last full, four "
          "threads: some thread skips both pages with room and adds a page; under exact none can",
          _four_pages),
    Claim("skips", "growth", DOCUMENT, "original: shared cursors make calls skip records "
          "only if several threads run; full flags, counted apart, with one thread, too", _skips),
    Claim("growth", "growth", DOCUMENT, "original: the more threads, the more needless "
          "pages", _growth),
    Claim("occupancy", "growth", OWN, "original: needless pages at every occupancy, half empty or "
          "nearly full", _occupancy),
    Claim("strict", "strict", DOCUMENT, "Strict scans skip no page and no record", _strict),
    Claim("collisions", "strict", DOCUMENT, "Scans that all start at the last success collide",
          _collisions),
    Claim("random-start", "strict", DOCUMENT, "A random start avoids the collisions",
          _random_start),
    Claim("needless", "strict", OWN, "Strict scans still add needless pages: a scan does not see a "
          "record that is freed at a place it has passed", _needless),
    Claim("tight", "strict", OWN, "exact and magazine: no needless page and no excess page, "
          "anywhere", _tight),
    Claim("exact-original", "strict", OWN, "exact at least 50 × original", _ratios("original", 50)),
    Claim("exact-random", "strict", OWN, "exact at least 5 × random_start",
          _ratios("random_start", 5)),
    Claim("efficiency", "strict", OWN, "exact: throughput / (threads × that of one thread) at "
          "least 0.2", _efficiency),
    Claim("storm-longest", "storm", OWN, "exact and magazine, storm with 256 threads and pages of "
          "32 records: the longest call under growth at most mutex_list's",
          _storm("ns_max", "longest call")),
    Claim("storm-tail", "storm", OWN, "exact and magazine, the same storm: p99.9 of the calls at "
          "most mutex_list's", _storm("ns_p999", "p99.9")),
)
WORDS = {judge.MET: "holds", judge.NOT_MET: "DOES NOT HOLD", judge.UNDECIDED: "undecided",
         judge.NOT_MEASURED: "–"}


def word(verdict):
    """A verdict as tables have it."""
    return "not simulated" if verdict == judge.NOT_MEASURED else WORDS[verdict].lower()


def judged(results):
    """[(claim, measured, verdict)]; [] where nothing was simulated."""
    if not results.machines() and not results.searches:
        return []
    made = []
    for claim in CLAIMS:
        needs_runs = claim.judge is not _four_pages
        made.append((claim, *(claim.judge(results) if results.machines() or not needs_runs
                              else NOT_SIMULATED)))
    return made


def trace(results):
    """The schedule of the four-page example as the search printed it, or None."""
    found = _search(results, "original")
    return found["output"] if found and found["exit"] == 1 else None


def table(results):
    """(headers, rows) of the simulated machine with most cases, as text cells."""
    view = results.simulated()
    fills = [summary.fill_near(view, "release", wanted) for wanted in (0.95, 0.99)]
    fills = list(dict.fromkeys(f for f in fills if f is not None))
    if not fills:
        return None
    threads = summary.busy_threads(view, fills[0])
    base = summary.base_policy(view)
    headers = ["policy"]
    for fill in fills:
        headers += [f"churn {fill:g}\n{count_noun(threads, 'thread')}\n× {base}",
                    f"churn {fill:g}\nefficiency", f"churn {fill:g}\nexcess\npages"]
    headers += ["records skipped\nper 1000,\nworst", "needless\npages,\nworst"]
    rows = []
    for policy in view.policies("release", "churn"):
        row = [policy]
        for fill in fills:
            one, many = (_churn(view, "items_per_second", policy, t, fill) for t in (1, threads))
            case = {"workload": "churn", "threads": threads, "occupancy": fill}
            excess = _churn(view, "excess_pages", policy, threads, fill)
            row += [summary.against_base(view, case, policy, base),
                    f"{many / threads / one:.2g}" if one and many else "–",
                    "–" if excess is None else number(excess)]
        row += ["–" if value is None else number(value) for value in
                (summary.worst_count(view, policy, m) for m in ("record_skips",
                                                                "needless_growths"))]
        rows.append(row)
    return headers, rows
