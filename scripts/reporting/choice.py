"""choice.py - which policy to take: the matrix of policies and workloads, and what follows from it.

A column is a load that a user may have, and the case that stands for it. The best policy of a
column is the pfslab policy with the highest median. A policy is level with it unless it is
measurably slower in the same rounds. If no other policy is level, the best one is surely the best;
otherwise it is undecided between them. All comparisons use intervals of ratios within a round
(stats.py).
"""

from collections import namedtuple

from common import judge, stats, workloads
from common.stats import median
from reporting import figure_parts as parts, summary
from reporting.results import ANY

RATE = "items_per_second"
MORE, LESS, OPEN, BASE = "more", "less", "open", "base"
RECORDED = "recorded programs"
RETURNED = 0.9  # of the tide's added pages, from which on a policy is said to give them back

Column = namedtuple("Column", "head under need case")
# best: of ours; level: that and those not surely slower; unknown: those without an interval; sure:
# there are others, and none is unknown
Standing = namedtuple("Standing", "column best level unknown sure")
Cell = namedtuple("Cell", "text span tone tip")
Need = namedtuple("Need", "says take sure why")


def _threads(results):
    """The most threads that have a CPU each, of those that were measured."""
    cpus = results.plan.get("cpus") or results.context.get("num_cpus") or 1
    counts = {c.threads for c in results.cases("release")} - {1}
    return max((t for t in counts if t <= cpus), default=min(counts, default=1))


def _case_name(case):
    """pair, churn 0.9, replay_redis."""
    fill = case.get("occupancy")
    return case["workload"] + ("" if fill is None else f" {fill:g}")


def _alone(results):
    """A column for each workload that was measured with one thread."""
    order = [*workloads.summaries()]
    found = {(c.workload, c.occupancy) for c in results.cases("release", threads=1)
             if c.policy and c.workload != "floor"}
    found = sorted(found, key=lambda f: (order.index(f[0]) if f[0] in order else len(order),
                                         f[0], f[1] or 0))
    cases = [{"workload": w, "threads": 1} | ({} if o is None else {"occupancy": o})
             for w, o in found]
    return [Column("1 thread", _case_name(case), "", case) for case in cases]


def _together(results, many):
    """The columns of many threads, without recorded programs."""
    fills = sorted({c.occupancy for c in results.cases("release", workload="churn", threads=many)}
                   - {None})
    full = [f for f in (0.5, 0.9) if f in fills and f != fills[-1]] + fills[-1:]
    loads = [("each thread frees its own", {"workload": "pair"})]
    loads += [("" if fill == 0.5 else "random records go",
               {"workload": "churn", "occupancy": fill}) for fill in full]
    loads += [("one allocates, another frees", {"workload": "handoff"}),
              ("connections come and go", {"workload": "storm"})]
    return [Column(parts.count_noun(many, "thread"), _case_name(case), need,
                   {**case, "threads": many}) for need, case in loads]


def columns(results):
    """The columns for which there are numbers, in order."""
    many = _threads(results)
    wanted = _alone(results)
    if many > 1:
        wanted += _together(results, many)
        head = f"{RECORDED}, {parts.count_noun(many, 'thread')}"
        wanted += [Column(head, trace[len("replay_"):], "", {"workload": trace, "threads": many})
                   for trace in sorted({c.workload for c in results.cases("release", threads=many)
                                        if c.workload.startswith("replay_")})]
    return [c for c in wanted if any(rates(results, c).values())]


def legend(found):
    """[(workload, what it does)] of the columns and of the tide, in one line each."""
    names = [s.column.case["workload"].split("_")[0] for s in found] + ["tide"]
    said = workloads.summaries()
    return [(name, said[name]) for name in dict.fromkeys(names) if name in said]


def rates(results, column, policies=None):
    """{policy: samples} of a column."""
    found = {p: results.of("release", RATE, policy=p, **column.case)
             for p in policies or results.policies("release")}
    return {p: s for p, s in found.items() if s}


def ours(results):
    """The policies that are compared, without yardsticks."""
    apart = summary.baselines(results)
    return [p for p in results.policies("release") if p not in apart] or \
        results.policies("release")


def standing(results, column, policies=None):
    """How the policies (ours by default) stand in a column; None where none was measured."""
    found = rates(results, column, policies or ours(results))
    if not found:
        return None
    best = max(found, key=lambda p: median(found[p]))
    gaps = {p: stats.sure_interval(stats.paired(found[best], found[p])) for p in found
            if p != best}
    level = [p for p in found if p == best or gaps[p] is None or gaps[p].low <= 1]
    level.sort(key=lambda p: -median(found[p]))
    unknown = [p for p in gaps if gaps[p] is None]
    return Standing(column, best, level, unknown, bool(gaps) and not unknown)


def standings(results):
    """One for each column of the matrix."""
    return [s for s in (standing(results, c) for c in columns(results)) if s]


def to_base(results, column, policy):
    """Ratios of a policy to the one that all are compared with, within rounds."""
    return results.ratio(RATE, {**column.case, "policy": policy},
                         {**column.case, "policy": summary.base_policy(results)})


def cell(results, column, policy):
    """What the matrix says of a policy in a column; None where it was not measured."""
    found = results.of("release", RATE, policy=policy, **column.case)
    if not found:
        return None
    rate, base = summary.millions(median(found)), summary.base_policy(results)
    tip = f"{policy}, {column.head} {column.under}: {rate}"
    if policy == base:
        return Cell(rate.split(" ")[0], "M/s", BASE, tip)
    ratios = to_base(results, column, policy)
    if not ratios:
        return Cell(rate.split(" ")[0], "M/s", OPEN, tip + f"; {base} was not measured")
    interval = stats.sure_interval(ratios)
    tip += f", {summary.times(median(ratios))} × {base} ({judge.spread_text(ratios)})"
    tone = OPEN if interval is None or interval.low <= 1 <= interval.high else \
        MORE if interval.low > 1 else LESS
    return Cell(f"{summary.times(median(ratios))} ×", summary.span_text(interval) if interval else
                f"{len(ratios)} round{'s' * (len(ratios) > 1)}", tone, tip)


def matrix(results):
    """(columns, standings, [(policy, [Cell or None])]): ours first, then the yardsticks."""
    found = standings(results)
    shown = [s.column for s in found]
    own = ours(results)
    order = own + [p for p in results.policies("release") if p not in own]
    rows = [(p, [cell(results, c, p) for c in shown]) for p in order]
    return shown, found, [(p, cells) for p, cells in rows if any(cells)]


def decided(rows):
    """(cells whose interval lies on one side of 1, cells that could)."""
    tones = [c.tone for _, cells in rows for c in cells if c and c.tone != BASE]
    return sum(1 for tone in tones if tone != OPEN), len(tones)


def tally(found):
    """{policy: (columns where it is surely the best, where it is level, where it is behind)}."""
    names = dict.fromkeys(p for s in found for p in s.level)
    return {p: (sum(1 for s in found if s.sure and s.level == [p]),
                sum(1 for s in found if p in s.level and not (s.sure and s.level == [p])),
                sum(1 for s in found if p not in s.level)) for p in names}


def headline(results, found):
    """(what to take, who, why): the shortest answer that the intervals carry."""
    counts = tally(found)
    if not any(s.sure for s in found):
        return ("Undecided", [], f"No case has the {stats.LEAST} undisturbed rounds of each "
                "policy that an interval needs: measure again, longer.")
    unbeaten = [p for p, (_, _, behind) in counts.items() if behind == 0]
    workloads = parts.count_noun(len(found), "workload")
    if len(unbeaten) == 1:
        best = unbeaten[0]
        wins, level, _ = counts[best]
        second = max((p for p in counts if p != best), key=lambda p: counts[p][1], default=None)
        tied = f"; level with {second} in {counts[second][1]}" if second and level else ""
        return (f"Take {best}", [best], f"No other policy is surely faster in any of {workloads}. "
                f"It is surely the fastest in {wins}{tied}.")
    if unbeaten:
        return (f"Take {' or '.join(unbeaten[:3])}", unbeaten[:3], "Nothing measured here decides "
                f"between them, and none is surely slower than another policy in any of "
                f"{workloads}.")
    order = sorted(counts, key=lambda p: (counts[p][2], -counts[p][0]))[:2]
    told = "; ".join(f"{p} is surely behind in {counts[p][2]}" for p in order)
    return (f"Take {' or '.join(order)}, by your load", order,
            f"No policy leads in all of {workloads}: {told}.")


def _why(results, standings_, policy):
    """12 × original (11–13), of a policy in a column; 1.6 to 5.3 × original, in several."""
    base = summary.base_policy(results)
    found = [to_base(results, s.column, policy) for s in standings_] if policy != base else []
    found = [ratios for ratios in found if ratios]
    if not found:
        return ""
    low, high = (summary.times(f(map(median, found))) for f in (min, max))
    if len(standings_) > 1:
        return f"{low} × {base}" if low == high else f"{low} to {high} × {base}"
    interval = stats.sure_interval(found[0])
    return f"{low} × {base}" + (f" ({summary.span_text(interval)})" if interval else "")


def leaders(standings_):
    """{policy: columns}: as few policies as cover all columns, each in those where it is level with
    the best; one alone if it is so in all."""
    left, chosen = list(standings_), {}
    while left:
        def worth(policy):
            return sum(policy in s.level for s in left), sum(policy == s.best for s in left)
        policy = max(dict.fromkeys(p for s in left for p in s.level), key=worth)
        chosen[policy] = [s.column.under for s in left if policy in s.level]
        left = [s for s in left if policy not in s.level]
    return chosen


def _need(results, says, standings_):
    """The row of one column, or of several that one policy is to serve; [] of none."""
    if not standings_:
        return []
    common = [p for p in standings_[0].level if all(p in s.level for s in standings_)]
    if common:
        name = f"{common[0]} " if len(common) > 1 else ""
        known = all(common[0] not in s.unknown for s in standings_)
        why = _why(results, standings_, common[0])
        return [Need(says, common, len(common) == 1 and known and any(s.sure for s in standings_),
                     why and name + why)]
    told = [f"{p} in {parts.listed(columns_)}" for p, columns_ in leaders(standings_).items()]
    return [Need(says, [*leaders(standings_)], all(s.sure for s in standings_),
                 f"none is level with the best in all: {'; '.join(told)}")]


def _tight_need(results):
    """Who never has a page too many, by the counts of every launch."""
    worst, cases = {}, 0
    for policy in ours(results):
        counted = [c for c in results.cases("counted", policy=policy, records=ANY)
                   if c.threads >= 2]
        values = [v for c in counted for m in ("excess_pages", "needless_growths")
                  for v in results.samples("counted", c, m)]
        if values:
            worst[policy], cases = max(values), max(cases, len(counted))
    if not worst:
        return []
    least = min(worst.values())
    best = [p for p, value in worst.items() if value == least]
    return [Need("no page may be too many", best, least == 0,
                 f"{least:g} in {cases} cases, counted" if least == 0 else
                 f"at most {least:g} in {cases} cases, counted")]


def _tide_need(results):
    """Who gives memory back when the load falls."""
    shares = {p: stats.sure_interval(summary.returned_shares(results, p)) for p in ours(results)
              if summary.returned_shares(results, p)}
    if not shares:
        return []
    gives = [p for p, interval in shares.items() if interval and interval.low >= RETURNED]
    open_ones = [p for p, interval in shares.items() if interval is None]
    why = f"at least {100 * RETURNED:.0f} % of a tide's pages" if gives else ""
    return [Need("memory must go back (tide)", gives, bool(gives) and not open_ones,
                 why)]


def _raw_need(results, found):
    """Yardsticks that are surely faster than all of ours somewhere."""
    apart = [p for p in summary.baselines(results) if p in results.policies("release")]
    wins = {}
    for s in found:
        ours_best = results.of("release", RATE, policy=s.best, **s.column.case)
        for p, samples in rates(results, s.column, apart).items() if apart else ():
            gap = stats.sure_interval(stats.paired(samples, ours_best))
            if gap and gap.low > 1:
                wins.setdefault(p, []).append(s)
    if not apart:
        return []
    says = "raw memory will do"
    if not wins:
        return [Need(says, [], False, "no allocator is surely faster here")]
    best = max(wins, key=lambda p: len(wins[p]))
    return [Need(says, [best], True, f"surely faster than ours in {len(wins[best])} of "
                 f"{len(found)}")]


def _load_needs(results, found):
    """The rows of the loads in the matrix."""
    alone = [s for s in found if s.column.case["threads"] == 1]
    traces = [s for s in found if s.column.head.startswith(RECORDED)]
    rows = _need(results, "one thread does it all "
                 f"({', '.join(s.column.under for s in alone)})", alone)
    for s in found:
        if s.column.need:
            rows += _need(results, f"{s.column.need} ({s.column.under})", [s])
    return rows + _need(results, "it is one of "
                        f"{parts.count_noun(len(traces), 'recorded program')}", traces)


def needs(results, found):
    """The rows of "take X if": each with who, whether that is decided, and the ratio behind it."""
    return (_load_needs(results, found) + _tight_need(results) + _tide_need(results)
            + _raw_need(results, found))


def doubt(need):
    """What stands before why a policy is to be taken."""
    if need.sure or not need.take or need.why.startswith("at most"):
        return ""
    return "undecided; " if len(need.take) > 1 else "not sure; "


def in_colour(results, found):
    """The four policies that figures show in colour: the base, the best of ours and the best
    yardstick, by their ratios over all columns."""
    def mean(policy):
        medians = [median(r) for r in (to_base(results, s.column, policy) for s in found) if r]
        return stats.geometric_mean([[m] for m in medians]) if medians and min(medians) > 0 else 0
    base = summary.base_policy(results)
    own = sorted((p for p in ours(results) if p != base), key=mean, reverse=True)
    apart = sorted(summary.baselines(results), key=mean, reverse=True)
    chosen = [base] * bool(base) + own[:2] + apart[:1]
    chosen += [p for p in own[2:] + apart[1:] if p not in chosen][:4 - len(chosen)]
    return [p for p in results.policy_order if p in chosen]


def take_text(need):
    """Whom a need names: one, or those that it is undecided between."""
    if len(need.take) > 3:
        return f"{', '.join(need.take[:2])} or {len(need.take) - 2} more"
    return parts.listed(need.take, "or")


def verdict_table(results):
    """(headers, rows) of the verdict card."""
    found = standings(results)
    head = headline(results, found)
    rows = [[head[0], "", head[2]]] if found else []
    return ["if", "take", "because"], rows + [
        [n.says, take_text(n) or "–", (doubt(n) + n.why).rstrip("; ")]
        for n in needs(results, found)]


def matrix_table(results):
    """(headers, rows) of the matrix as text."""
    shown, _, rows = matrix(results)
    mark = {MORE: "", LESS: "", OPEN: " ?", BASE: ""}
    return (["policy", *(f"{c.head}\n{c.under}" for c in shown)],
            [[p, *(f"{c.text} ({c.span}){mark[c.tone]}" if c else "–" for c in cells)]
             for p, cells in rows])
