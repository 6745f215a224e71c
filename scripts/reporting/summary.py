"""summary.py - the comparison table and the bars, computed from results."""

from common import columns, judge, stats
from common.amounts import count_noun, number, time_text
from common.judge import Bar
from common.stats import median
from reporting.results import GATED

# A result of which more is disturbed is not to be compared.
DISTURBED_LIMIT = 0.1


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


def returned_shares(results, policy):
    """Of each launch: pages given back in the trough / pages added; [] if none was added."""
    if not results.series:
        return results.of("release", "returned_share", workload="tide", policy=policy)
    shares = []
    for case, launches in results.series.items():
        if case.policy != policy:
            continue
        for line in launches:
            pages = [p["pages"] for p in line]
            top = max(pages)
            if top > pages[0]:
                after = pages[pages.index(top):]
                shares.append((top - min(after)) / (top - pages[0]))
    return stats.samples_of(shares)


def returned_share(results, policy):
    """Median over launches of what a policy gives back, or None."""
    shares = returned_shares(results, policy)
    return median(shares) if shares else None


def worst_count(results, policy, metric):
    """The largest median over the counted churn cases, or None."""
    found = [median(s) for s in (per_thousand(results, c, metric) for c in
             results.cases("counted", workload="churn", policy=policy)) if s]
    return max(found) if found else None


def times(ratio):
    """A ratio in two or three digits, never with an exponent."""
    return f"{ratio:#.2g}".rstrip(".") if ratio < 99.5 else f"{ratio:,.0f}"


def span_text(interval, form=times):
    """11–43."""
    return f"{form(interval.low)}–{form(interval.high)}"


UNSURE = ("Ratios are formed within a round or seed; in brackets their 95 % interval, or the range "
          "of all seeds. ?: fewer than six undisturbed rounds.")


def against_base(results, case, policy, base):
    """A policy's throughput in a case: a ratio to the base with its interval, ? where there is
    none; of the base the median. So no row holds a median that a paired ratio contradicts."""
    value = results.mid("release", "items_per_second", policy=policy, **case)
    if value is None:
        return "–"
    ratios = results.ratio("items_per_second", {**case, "policy": policy},
                           {**case, "policy": base}) if policy != base else []
    if not ratios:
        return f"{value / 1e6:.3g} M/s"
    interval = stats.sure_interval(ratios)
    return f"{times(median(ratios))} ×" + (f" ({span_text(interval)})" if interval else " ?")


def _plain(value, form=number):
    return "–" if value is None else form(value)


def table(results):
    """(headers, rows) of the comparison, as text cells; one row for each policy."""
    base = base_policy(results)
    chosen = churn_case(results)
    threads, occupancy = chosen or (1, 0.9)
    full = max([c.occupancy for c in results.cases("release", workload="churn", threads=threads)
                if c.occupancy is not None] or [occupancy])
    many = count_noun(threads, "thread")
    headers = ["policy", "pair\n1 thread\nns", f"pair\n{many}\nM/s",
               f"churn {occupancy:g}\n{many}\n× {base}",
               f"churn {full:g}\n{many}\n× {base}",
               f"churn {occupancy:g}\n{many}\np99",
               "pages skipped\nper 1000,\nworst", "records skipped\nper 1000,\nworst",
               "needless\npages,\nworst", "overhead\nbytes a\nrecord", "tide\npeak /\nideal",
               "tide\ngiven\nback"]
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
            _plain(rate(policy, workload="pair", threads=threads), lambda v: f"{v / 1e6:.3g}"),
            against_base(results, {**churn, "occupancy": occupancy}, policy, base),
            against_base(results, {**churn, "occupancy": full}, policy, base),
            _plain(results.mid("release", "ns_p99", policy=policy, occupancy=occupancy, **churn),
                   time_text),
            _plain(worst_count(results, policy, "page_skips")),
            _plain(worst_count(results, policy, "record_skips")),
            _plain(worst_count(results, policy, "needless_growths")),
            _plain(results.mid("release", "overhead_per_record", policy=policy,
                               occupancy=occupancy, **churn)),
            "–" if not line else f"{line:.2f}",
            "–" if share is None else f"{share * 100:.0f} %"])
        if full == occupancy:
            rows[-1].pop(4)
    return headers, rows


def table_text(results):
    """The comparison as aligned text."""
    return f"{columns.aligned(*table(results))}\n{UNSURE}"


def millions(value):
    """5.3 M/s, of a rate."""
    return f"{value / 1e6:.3g} M/s"


def ratio_bar(results, says, one, other, least=None, most=None, reason=""):
    """A bar on one / other, rates of launches of the same round; one and other say which case."""
    return judge.bar(says, results.ratio("items_per_second", one, other), least, most,
                     reason=reason)


def _bar_floor(results):
    return ratio_bar(results, "local_scan, pair, 1 thread: at most 2 × the floor",
                     {"workload": "floor"},
                     {"workload": "pair", "policy": "local_scan", "threads": 1}, most=2)


def _bar_random_start(results):
    case = {"workload": "churn", "occupancy": 0.9, "threads": 2}
    return ratio_bar(results, "random_start, churn 0.9, 2 threads: at least 5 × original",
                     {**case, "policy": "random_start"}, {**case, "policy": "original"}, least=5)


def _bar_reclaiming(results):
    shares = stats.mapped(returned_shares(results, "reclaiming"), lambda share: 100 * share)
    return judge.bar("reclaiming, tide: gives back at least 90 % of the added pages in the trough",
                     shares, least=90, form="{:.1f} %")


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
    says = "strict policies: no page and no record skipped, in any launch"
    worst = _largest(results, strict, ("page_skips", "record_skips"))
    if worst is None:
        return judge.unmeasured(says)
    cases = sum(len(results.cases("counted", workload="churn", policy=p)) for p in strict)
    return Bar(says, f"{number(worst)} at most, in {cases} cases of {', '.join(strict)}",
               judge.NOT_MET if worst else judge.MET)


def _bar_original(results):
    says = "original, 8 or more threads, 0.9 or more full: skips and needless growth are seen"
    seen = {m: _largest(results, ["original"], (m,), 8, 0.9)
            for m in ("page_skips", "record_skips", "needless_growths")}
    if any(v is None for v in seen.values()):
        return judge.unmeasured(says)
    text = ", ".join(f"{k.replace('_', ' ')} {number(v)}" for k, v in seen.items())
    return Bar(says, text, judge.MET if all(v > 0 for v in seen.values()) else judge.NOT_MET)


def bars(results):
    """[Bar], each judged by its interval; counts by the worst launch."""
    return [make(results) for make in (_bar_floor, _bar_random_start, _bar_reclaiming,
                                       _bar_strict, _bar_original)]


def disturbed(results, metric=None):
    """{"cases", "disturbed", "repeated", "left_out", "thin"} over the builds that are timed, or
    None where no counter says so. A value that stayed disturbed was repeated in vain; thin are
    the cases that have disturbed values in their medians since fewer than six others stay."""
    tally = {"cases": 0, "disturbed": 0, "repeated": 0, "left_out": 0, "thin": 0, "measured": 0}
    for (build, case), metrics in results.values.items():
        if build not in GATED or "disturbed" not in metrics:
            continue
        if metric and metric not in metrics:
            continue
        flags = [v for v in metrics["disturbed"] if v is not None]
        samples = results.samples(build, case, metric or "disturbed")
        tally["measured"] += 1
        tally["cases"] += len(flags)
        tally["disturbed"] += sum(1 for v in flags if v > 0)
        tally["repeated"] += sum(int(v) - 1 for v in metrics.get("attempts", []) if v and v > 1)
        tally["left_out"] += samples.left_out
        tally["thin"] += 1 if samples.shaken else 0
    return tally if tally["cases"] else None


def disturbed_text(results):
    """How much of what was measured was disturbed, and what follows, in one sentence."""
    shaken = disturbed(results)
    if not shaken:
        return "These results do not say how many trials were disturbed."
    share = shaken["disturbed"] / shaken["cases"]
    text = (f"{shaken['disturbed']} of {shaken['cases']} timed values ({100 * share:.2g} %) stayed "
            "disturbed: their threads did not run at the same time")
    if not shaken["disturbed"]:
        return text.split(":")[0] + "."
    text += f". {shaken['left_out']} are left out"
    if shaken["thin"]:
        text += (f"; {shaken['thin']} of {shaken['measured']} cases have fewer than {stats.LEAST} "
                 "others, so nothing is decided by them")
    return text + "."
