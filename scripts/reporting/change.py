"""change.py - a result against an earlier one: what changed beyond noise.

The verdicts are those of verdicts.py: a case is better or worse only where an interval that all
rows together miss with 5 % at most, without the machine's drift, lies beyond the margin. Results of
two machines, or of a machine that was disturbed, are not compared: the difference would be theirs.
"""

from common import columns, documents, stats
from common.amounts import number
from reporting import markup, verdicts

METRIC = "items_per_second"
COUNTS = ("excess_pages", "needless_growths")
NAMED = (verdicts.WORSE, verdicts.BETTER)


def refusal(new, old):
    """Lines that say why these two are not compared; [] where they are."""
    lines = verdicts.machine_differences(old, new)
    if not lines and not (old.is_real() and new.is_real()):
        lines = ["one of them was not measured on a real machine"]
    for side, name in ((old, "the earlier one"), (new, "the new one")):
        try:
            verdicts.refuse_disturbed(side, name, METRIC)
        except documents.Unfit as problem:
            lines.append(str(problem))
    return lines


def counts(new, old):
    """[(policy, metric, most of old, most of new, cases)] of the counts that were 0 in every launch
    of all cases that both have, and are no more, or the other way round. Else a count that comes by
    chance differs from one run to the next."""
    most = {}
    for build, case in old.values:
        if build != "counted" or (build, case) not in new.values:
            continue
        for metric in COUNTS:
            one, two = (side.samples("counted", case, metric) for side in (old, new))
            if one and two:
                before = most.get((case.policy, metric), (0, 0, 0))
                most[case.policy, metric] = (max(before[0], *one), max(before[1], *two),
                                             before[2] + 1)
    return [(policy, metric, *found) for (policy, metric), found in most.items()
            if (found[0] == 0) != (found[1] == 0)]


def compared(new, old):
    """The rows of verdicts.compare."""
    return verdicts.compare(old, new, METRIC, "release")


def tally_text(rows):
    """2 better, 1 worse, 40 same, 13 undecided."""
    tally = {word: sum(1 for row in rows if row["verdict"] == word) for word in verdicts.WORDS}
    return ", ".join(f"{count} {word}" for word, count in tally.items()
                     if count and word != verdicts.YARDSTICK) or "nothing to compare"


def assumed(found):
    """What the verdicts rest on, in a sentence."""
    return (f"A case counts as changed by {100 * found['margin']:.0f} % at least, without the "
            "machine's drift. Drift, by baselines, the same code in both: "
            f"{verdicts.drift_text(found['drift'])}.")


def _row(row):
    middle = f"{row['ratio']:.3g} ×" if row["ratio"] else "–"
    span = f"{row['interval'][0]:.3g}–{row['interval'][1]:.3g}" if row["interval"] else \
        f"fewer than {stats.LEAST} launches"
    return [row["case"], number(row["a"]["median"]), number(row["b"]["median"]), middle, span,
            row["verdict"]]


HEADERS = ["case", "before", "now", "now / before", "95 % without drift", "verdict"]


def tables_of(new, old):
    """(what changed, all cases, counts that changed, the comparison)."""
    found = compared(new, old)
    rows = [row for row in found["rows"] if row["verdict"] != verdicts.YARDSTICK]
    changed = sorted((r for r in rows if r["verdict"] in NAMED),
                     key=lambda r: (NAMED.index(r["verdict"]), r["case"]))
    counted = [[f"{policy}, {cases} cases", metric.replace("_", " "), number(a), number(b)]
               for policy, metric, a, b, cases in counts(new, old)]
    return [_row(r) for r in changed], [_row(r) for r in rows], counted, found


def text(new, old):
    """What changed, for a terminal."""
    if refusal(new, old):
        return "Not compared with the earlier result."
    changed, rows, counted, found = tables_of(new, old)
    lines = [f"Against {markup.shown_path(old.paths[0])}: {tally_text(found['rows'])}",
             assumed(found)]
    if changed:
        lines.append(columns.aligned(HEADERS, changed))
    elif rows:
        lines.append("No rate changed beyond noise.")
    lines += [f"{who}, {metric}: at most {a}, now {b}" for who, metric, a, b in counted]
    return "\n".join(lines)
