"""steadiness.py - operations, warm-up and seeds of simulated runs, and which are steady, in words.

The test is common/steady.py's; results.py applies it to each run. Results of before runs had parts
were not tested, and say so.
"""

from common import judge, steady
from common.amounts import number
from reporting.results import ANY


def _span(values, form="{:,.0f}"):
    """a, or a to b."""
    ends = list(dict.fromkeys((form.format(min(values)), form.format(max(values)))))
    return " to ".join(ends)


def _values(view, cases, metric, build):
    return [v for c in cases for v in view.samples(build, c, metric)]


def stated(view, cases, build="counted"):
    """Operations, warm-up and seeds of cases, for a figure's foot."""
    wanted = [int(v) for v in _values(view, cases, "ops_wanted", build)]
    if not wanted:
        return ""
    # Runs of before this was recorded had the same share.
    before = _values(view, cases, "warm_up_wanted", build) or [v // 5 for v in wanted]
    cut = _values(view, cases, "start_up", build)
    seeds = sorted({int(v) for v in _values(view, cases, "seed", build)})
    return (f"; {_span(wanted)} operations after {_span(before)} to warm up, "
            + (f"of them {_span(cut, '{:.0%}')} cut as start-up" if cut else "not tested for a "
               "steady state") + f"; seed{'s' * (len(seeds) > 1)} {', '.join(map(str, seeds))}")


def _name(case):
    filled = "" if case.occupancy is None else f" {case.occupancy:g} full"
    return (f"{case.workload}{filled}, {case.policy}, {case.threads} "
            f"thread{'s' * (case.threads != 1)}")


def tested(view):
    """[(case, verdict, lowest and highest change, most late pages)] of the tested cases; a case is
    steady if each of its seeds is."""
    rows = []
    for case in view.cases("counted", page_records=ANY) if view else []:
        ends = list(zip(*(view.samples("counted", case, m) for m in ("drift_low", "drift_high"))))
        if ends:
            verdicts = {steady.verdict(*pair) for pair in ends}
            rows.append((case, verdicts.pop() if len(verdicts) == 1 else
                         judge.NOT_MET if judge.NOT_MET in verdicts else judge.UNDECIDED,
                         (min(e[0] for e in ends), max(e[1] for e in ends)),
                         max(view.samples("counted", case, "late_pages"))))
    return rows


def sentences(view):
    """What the test found, for the chapter: a list of sentences; [] without a simulated machine."""
    if view is None:
        return []
    cases = view.cases("counted", page_records=ANY)
    rows = tested(view)
    first = (stated(view, cases).removeprefix("; ") or "operations not stated")
    made = [f"{first[0].upper()}{first[1:]}."]
    if not rows:
        return made
    good = [row for row in rows if row[1] == judge.MET]
    made.append(f"{len(good)} of {len(rows)} cases have a steady rate: between the halves of what "
                f"was not cut it changes by at most {steady.MARGIN:.0%}.")
    for word, wanted in (("No steady rate within these operations", judge.NOT_MET),
                         ("Too uneven to tell", judge.UNDECIDED)):
        told = [f"{_name(case)} ({low:.2g} to {high:.2g} ×)"
                for case, found, (low, high), _ in rows if found == wanted]
        if told:
            made.append(f"{word}: {'; '.join(told)}.")
    grow = [f"{_name(case)} (+{number(pages)})" for case, _, _, pages in rows if pages]
    if grow:
        made.append("Pages still grow in the last half of what was not cut, so their number here "
                    f"is no final one: {'; '.join(grow)}.")
    return made
