"""summary.py - the comparison table and the bars, computed from results."""

from stats import median
from svg import number, time_text

WORKLOADS = {
    "pair": "each thread allocates, publishes and frees one record",
    "churn": "each thread replaces a random record of its own",
    "handoff": "one thread allocates, another frees",
    "storm": "connections come and go, as in a database server",
    "scan": "a reader walks all live records while others churn",
    "tide": "the load rises, holds and falls",
    "ebb": "the load falls again and again, and pages go back",
}


def base_policy(results):
    """What the others are compared to."""
    return "original" if "original" in results.policy_order else (
        results.policy_order[0] if results.policy_order else None)


def baselines(results):
    """Policies that --list_policies calls baselines: yardsticks, not subjects."""
    summaries = results.plan.get("summaries", {})
    return [p for p in results.policy_order if summaries.get(p, "").startswith("baseline")]


def churn_case(results, metric="items_per_second"):
    """(threads, occupancy) of the churn that table and latency use: all CPUs, near 0.9."""
    cases = [c for c in results.cases("release", workload="churn")
             if c.occupancy is not None and results.samples("release", c, metric)]
    if not cases:
        return None
    cpus = results.plan.get("cpus") or results.context.get("num_cpus") or 1
    threads = max([c.threads for c in cases if c.threads <= cpus] or
                  [min(c.threads for c in cases)])
    fills = {c.occupancy for c in cases if c.threads == threads}
    return threads, min(fills, key=lambda o: abs(o - 0.9))


def fill_near(results, build, wanted):
    """The occupancy of churn next to the wanted one, or None."""
    fills = {c.occupancy for c in results.cases(build, workload="churn")} - {None}
    return min(fills, key=lambda o: (abs(o - wanted), -o)) if fills else None


def busy_threads(results, fill):
    """The most threads of churn at this fill that have a CPU each, or None."""
    counts = {c.threads for c in results.cases("release", workload="churn", occupancy=fill)}
    cpus = results.plan.get("cpus") or max(counts, default=1)
    return max((t for t in counts if t <= cpus), default=min(counts, default=None))


def per_thousand(results, case, metric):
    """Counts of each launch: skips per 1000 allocations, needless growths as they are."""
    counts = results.samples("counted", case, metric)
    calls = results.samples("counted", case, "allocations")
    if metric == "needless_growths" or len(calls) != len(counts):
        return counts
    return [1000 * c / n if n else 0.0 for c, n in zip(counts, calls)]


def returned_share(results, policy):
    """Median over launches: pages given back in the trough / pages added; None if none."""
    shares = []
    if not results.series:
        return results.mid("release", "returned_share", workload="tide", policy=policy)
    for case, launches in results.series.items():
        if case.policy != policy:
            continue
        for line in launches:
            pages = [p["pages"] for p in line]
            top = max(pages)
            if top > pages[0]:
                after = pages[pages.index(top):]
                shares.append((top - min(after)) / (top - pages[0]))
    return median(shares) if shares else None


def worst_count(results, policy, metric):
    """The largest median over the counted churn cases, or None."""
    found = [median(s) for s in (per_thousand(results, c, metric) for c in
             results.cases("counted", workload="churn", policy=policy)) if s]
    return max(found) if found else None


def times(ratio):
    """A ratio in two or three digits, never with an exponent."""
    return f"{ratio:.2g}" if ratio < 99.5 else f"{ratio:,.0f}"


def rate_text(value, base):
    """Millions a second, with the ratio to a base if there is one."""
    if value is None:
        return "–"
    text = f"{value / 1e6:.3g}"
    return text if not base else f"{text} ({times(value / base)} ×)"


def _plain(value, form=number):
    return "–" if value is None else form(value)


def table(results):
    """(headers, rows) of the comparison, as text cells; one row for each policy."""
    base = base_policy(results)
    chosen = churn_case(results)
    threads, occupancy = chosen or (1, 0.9)
    full = max([c.occupancy for c in results.cases("release", workload="churn", threads=threads)
                if c.occupancy is not None] or [occupancy])
    headers = ["policy", "pair\n1 thread\nns", f"pair\n{threads} threads\nM/s",
               f"churn {occupancy:g}\n{threads} threads\nM/s (× {base})",
               f"churn {full:g}\n{threads} threads\nM/s (× {base})",
               f"churn {occupancy:g}\n{threads} threads\np99",
               "pages skipped\nper 1000,\nworst", "records skipped\nper 1000,\nworst",
               "needless\npages,\nworst", "tide\npeak /\nideal", "tide\ngiven\nback"]
    if full == occupancy:  # nothing fuller was measured
        headers.pop(4)
    rows = []

    def rate(policy, **case):
        return results.mid("release", "items_per_second", policy=policy, **case)

    for policy in results.policies():
        one = rate(policy, workload="pair", threads=1)
        churn = {"workload": "churn", "threads": threads}
        line = results.series and max(
            (max(p["pages"] for p in l) / max(1, max(p["ideal"] for p in l))
             for c, ls in results.series.items() if c.policy == policy for l in ls), default=None)
        share = returned_share(results, policy)
        rows.append([
            policy, "–" if not one else f"{1e9 / one:.3g}",
            rate_text(rate(policy, workload="pair", threads=threads), None),
            rate_text(rate(policy, occupancy=occupancy, **churn),
                  rate(base, occupancy=occupancy, **churn)),
            rate_text(rate(policy, occupancy=full, **churn), rate(base, occupancy=full, **churn)),
            _plain(results.mid("release", "ns_p99", policy=policy, occupancy=occupancy, **churn),
                   time_text),
            _plain(worst_count(results, policy, "page_skips")),
            _plain(worst_count(results, policy, "record_skips")),
            _plain(worst_count(results, policy, "needless_growths")),
            "–" if not line else f"{line:.2f}",
            "–" if share is None else f"{share * 100:.0f} %"])
        if full == occupancy:
            rows[-1].pop(4)
    return headers, rows


def table_text(results):
    """The comparison as aligned text."""
    return aligned(*table(results))


def aligned(headers, rows):
    """A table of text cells as aligned lines; a header may have several."""
    split = [h.split("\n") for h in headers]
    depth = max(len(s) for s in split)
    lines = [[s[k] if k < len(s) else "" for s in split] for k in range(depth)] + rows
    widths = [max(len(line[k]) for line in lines) for k in range(len(headers))]
    out = []
    for number_of_line, line in enumerate(lines):
        cells = [line[0].ljust(widths[0])]
        cells += [c.rjust(w) for c, w in zip(line[1:], widths[1:])]
        out.append("  ".join(cells).rstrip())
        if number_of_line == depth - 1:
            out.append("-" * (sum(widths) + 2 * (len(widths) - 1)))
    return "\n".join(out)


def _bar_floor(results):
    bare = results.mid("release", "items_per_second", workload="floor")
    own = results.mid("release", "items_per_second", workload="pair", policy="local_scan",
                      threads=1)
    bar = "local_scan, pair, 1 thread: at most 2 × the floor"
    if not bare or not own:
        return bar, "not measured", None
    return bar, (f"{1e9 / own:.3g} ns against {1e9 / bare:.3g} ns: {bare / own:.3g} ×"), \
        bare / own <= 2


def _bar_random_start(results):
    bar = "random_start, churn 0.9, 2 threads: at least 5 × original"
    case = {"workload": "churn", "occupancy": 0.9, "threads": 2}
    own = results.mid("release", "items_per_second", policy="random_start", **case)
    base = results.mid("release", "items_per_second", policy="original", **case)
    if not own or not base:
        return bar, "not measured", None
    return bar, f"{own / 1e6:.3g} M/s against {base / 1e6:.3g} M/s: {own / base:.3g} ×", \
        own / base >= 5


def _bar_reclaiming(results):
    bar = "reclaiming, tide: gives back at least 90 % of the added pages in the trough"
    share = returned_share(results, "reclaiming")
    if share is None:
        return bar, "not measured", None
    return bar, f"{share * 100:.1f} %", share >= 0.9


def _largest(results, policies, metrics, least_threads=0, least_occupancy=0.0):
    """The largest count of any launch over the policies' counted churn, or None."""
    found = [v for policy in policies for case in
             results.cases("counted", workload="churn", policy=policy)
             if case.threads >= least_threads and (case.occupancy or 0) >= least_occupancy
             for metric in metrics for v in results.samples("counted", case, metric)]
    return max(found) if found else None


def _bar_strict(results):
    strict = [p for p in results.policies("counted", "churn")
              if p != "original" and p not in baselines(results) and
              _largest(results, [p], ("page_skips",)) is not None]
    bar = "strict policies: no page and no record skipped"
    worst = _largest(results, strict, ("page_skips", "record_skips"))
    if worst is None:
        return bar, "not measured", None
    cases = sum(len(results.cases("counted", workload="churn", policy=p)) for p in strict)
    return bar, f"{number(worst)} at most, in {cases} cases of {', '.join(strict)}", worst == 0


def _bar_original(results):
    bar = "original, 8 or more threads, 0.9 or more full: skips and needless growth are seen"
    seen = {m: _largest(results, ["original"], (m,), 8, 0.9)
            for m in ("page_skips", "record_skips", "needless_growths")}
    if any(v is None for v in seen.values()):
        return bar, "not measured", None
    text = ", ".join(f"{k.replace('_', ' ')} {number(v)}" for k, v in seen.items())
    return bar, text, all(v > 0 for v in seen.values())


def bars(results):
    """[(bar, measured, met: True, False or None)]"""
    return [make(results) for make in (_bar_floor, _bar_random_start, _bar_reclaiming,
                                       _bar_strict, _bar_original)]


def disturbed(results):
    """{"cases", "disturbed", "repeated"} of the release build, summed over its launches, or
    None where no counter says so. A case that stayed disturbed was repeated in vain."""
    tally = {"cases": 0, "disturbed": 0, "repeated": 0}
    for (build, _), metrics in results.values.items():
        if build == "release" and "disturbed" in metrics:
            tally["cases"] += len(metrics["disturbed"])
            tally["disturbed"] += sum(1 for v in metrics["disturbed"] if v > 0)
            tally["repeated"] += sum(int(v) - 1 for v in metrics.get("attempts", []) if v > 1)
    return tally if tally["cases"] else None
