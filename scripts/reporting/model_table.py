"""model_table.py - the model against reality: regimes, ratios, ranking, the table, the figure.

A launch is one process on the real machine with a calibration before and after it. Where a
hypervisor moves virtual CPUs, what a line transfer costs changes between launches: launches are
sorted into regimes by it, and each regime is compared with a simulation at its own costs.
"""

from collections import namedtuple

from common.stats import median, median_interval
from reporting.figure_parts import Figure
from reporting import looks
from reporting.svg import text_width, Canvas, Scale

BASE = "original"
WITHIN = 2.0
APART = 1.6  # transfer costs that differ by more are two regimes

Cell = namedtuple("Cell", "workload occupancy threads policy regime real low high launches "
                          "simulated ratio_real ratio_simulated factor")
Group = namedtuple("Group", "workload occupancy threads regime cells tau decided tied "
                            "discordant")


def regimes_of(costs):
    """[(low, high)] of transfer costs, one for each regime: split where they lie far apart."""
    ordered = sorted(costs)
    found = []
    for cost in ordered:
        if found and cost <= found[-1][1] * APART:
            found[-1][1] = cost
        else:
            found.append([cost, cost])
    return [tuple(pair) for pair in found]


def regime_of(regimes, before, after):
    """The number of the regime that both calibrations lie in, or None: it changed meanwhile."""
    for number, (low, high) in enumerate(regimes):
        if low <= before <= high and low <= after <= high:
            return number
    return None


def merged_costs(documents):
    """One document of costs: each field the median of the calibrations that have it."""
    fields = {}
    for document in documents:
        for name, value in document["costs"].items():
            fields.setdefault(name, []).append(value)
    costs = {name: median(values) for name, values in fields.items()}
    if "l3_hit_ns" in fields:  # the least: others use an L3, too
        costs["l3_hit_ns"] = min(fields["l3_hit_ns"])
    return {"name": documents[0]["name"], "preset": documents[0]["preset"], "costs": costs,
            "calibrations": len(documents)}


def cells_of(key, real, simulated):
    """The rows of one group. real: {policy: [ns of each launch]}, simulated: {policy: ns}."""
    workload, occupancy, threads, regime = key
    cells = []
    base_real = median(real[BASE]) if real.get(BASE) else None
    base_simulated = simulated.get(BASE)
    for policy, values in real.items():
        mid = median(values)
        low, high, _ = median_interval(values)
        ns = simulated.get(policy)
        ratios = (None, None, None)
        if ns and base_real and base_simulated:
            ratio_real, ratio_simulated = base_real / mid, base_simulated / ns
            factor = max(ratio_real / ratio_simulated, ratio_simulated / ratio_real)
            ratios = (ratio_real, ratio_simulated, factor)
        cells.append(Cell(workload, occupancy, threads, policy, regime, mid, low, high,
                          len(values), ns, *ratios))
    return cells


def rank(cells):
    """(tau, decided, tied, discordant) over all pairs of policies. Policies whose real
    intervals meet are tied: reality does not say which is faster, nor need the model."""
    known = [c for c in cells if c.simulated]
    decided, tied, discordant = 0, 0, []
    for i, one in enumerate(known):
        for other in known[i + 1:]:
            if one.low <= other.high and other.low <= one.high:
                tied += 1
                continue
            decided += 1
            if (one.real < other.real) != (one.simulated < other.simulated):
                faster, slower = sorted((one, other), key=lambda c: c.real)
                discordant.append((faster.policy, slower.policy))
    tau = (decided - 2 * len(discordant)) / decided if decided else None
    return tau, decided, tied, discordant


def group_of(key, real, simulated):
    """A group of cells with its ranking."""
    cells = cells_of(key, real, simulated)
    return Group(*key, cells, *rank(cells))


def verdict(groups):
    """Counts for the summary: {within, ratios, agreeing, groups, decided, discordant}."""
    factors = [c.factor for g in groups for c in g.cells if c.factor and c.policy != BASE]
    return {"within": sum(1 for f in factors if f <= WITHIN), "ratios": len(factors),
            "agreeing": sum(1 for g in groups if not g.discordant), "groups": len(groups),
            "decided": sum(g.decided for g in groups),
            "discordant": sum(len(g.discordant) for g in groups)}


def _where(group, regimes):
    text = group.workload
    if group.occupancy is not None:
        text += f" {group.occupancy:g}"
    text += f", {group.threads} thread" + ("s" if group.threads > 1 else "")
    if group.regime is not None and len(regimes) > 1:
        text += f", transfer {median(regimes[group.regime]):.0f} ns"
    return text


def text_table(groups, regimes):
    """The comparison as lines of text."""
    lines = [f"{'policy':14} {'real ns':>9} {'interval':>17} {'launches':>8} {'simulated':>9} "
             f"{'sim/real':>8} {'x original':>10} {'simulated':>9} {'factor':>6}"]
    for group in groups:
        lines += ["", _where(group, regimes)]
        for c in sorted(group.cells, key=lambda c: c.real):
            line = (f"{c.policy:14} {c.real:9.1f} {f'{c.low:.1f} - {c.high:.1f}':>17} "
                    f"{c.launches:8}")
            if c.simulated:
                line += f" {c.simulated:9.1f} {c.simulated / c.real:8.2f}"
            if c.factor:
                line += (f" {c.ratio_real:10.3g} {c.ratio_simulated:9.3g} {c.factor:6.2f}"
                         f"{'' if c.factor <= WITHIN else '  more than 2'}")
            lines.append(line)
        if group.tau is None:
            lines.append(f"  ranking: all {group.tied} pairs are tied in reality")
        else:
            lines.append(f"  ranking: tau {group.tau:.2f} over {group.decided} pairs, "
                         f"{group.tied} tied in reality" + ("".join(
                             f"; {a} is faster than {b}, simulated slower"
                             for a, b in group.discordant) or "; agrees"))
    found = verdict(groups)
    lines += ["", headline(found)]
    return "\n".join(lines)


def headline(found):
    """The result in one sentence."""
    pairs = found["decided"] - found["discordant"]
    return (f"{found['within']} of {found['ratios']} throughput ratios to {BASE} within a factor "
            f"of {WITHIN:g}; {pairs} of {found['decided']} decided pairs of policies in the same "
            f"order, the whole ranking in {found['agreeing']} of {found['groups']} cases")


def document_of(groups, regimes, facts):
    """The comparison as JSON."""
    return {"format": 1, **facts, "regimes_transfer_ns": [list(r) for r in regimes],
            "verdict": verdict(groups),
            "groups": [{**{k: v for k, v in g._asdict().items() if k != "cells"},
                        "cells": [c._asdict() for c in g.cells]} for g in groups]}


SHAPES = ("circle", "square", "triangle", "diamond")


def _panel(canvas, groups, box, scale_values, order, shapes):
    left, right, top, bottom = box
    across = Scale(scale_values, left, right, log=True)
    down = Scale(scale_values, bottom, top, log=True)
    for tick in across.ticks:
        canvas.line(across.at(tick), top, across.at(tick), bottom)
        canvas.line(left, down.at(tick), right, down.at(tick))
        canvas.text(across.at(tick), bottom + 16, f"{tick:g}", size=11, anchor="middle",
                    tone="soft")
        canvas.text(left - 6, down.at(tick) + 4, f"{tick:g}", size=11, anchor="end", tone="soft")
    low, high = across.low, across.high
    for shift, dash in ((1, ""), (WITHIN, "5 3"), (1 / WITHIN, "5 3")):
        x1, x2 = max(low, low / shift), min(high, high / shift)
        canvas.line(across.at(x1), down.at(x1 * shift), across.at(x2), down.at(x2 * shift),
                    "axis", 1.2, dash)
    for group in groups:
        for c in group.cells:
            if not c.factor or c.policy == BASE:
                continue
            index = looks.of(c.policy)
            x, y = across.at(c.ratio_real), down.at(c.ratio_simulated)
            base = next(b.real for b in group.cells if b.policy == BASE)
            canvas.path([(across.at(base / c.high), y), (across.at(base / c.low), y)], index, 4,
                        0.35, "")
            canvas.marker(x, y, index, f"{c.policy}, {_where(group, [(1, 1)])}: {c.ratio_real:.3g} "
                          f"real, {c.ratio_simulated:.3g} simulated", shapes[
                              (group.workload, group.occupancy)], 4.5)
    canvas.text((left + right) / 2, bottom + 34, f"real: times {BASE}", size=11.5,
                anchor="middle", tone="soft")
    canvas.text(left - 34, top - 10, f"simulated: times {BASE}", size=11.5, tone="soft")


def _key(canvas, x, y, order, shapes):
    for name in order:
        if name != BASE:
            canvas.marker(x, y, looks.of(name), name, "circle", 4.5)
            canvas.text(x + 11, y + 4, name, colour=looks.of(name))
            y += 19
    y += 10
    for (workload, occupancy), shape in shapes.items():
        canvas.marker(x, y, looks.NEUTRAL, workload, shape, 4.5)
        canvas.text(x + 11, y + 4, workload + (f" {occupancy:g}" if occupancy is not None else ""),
                    tone="soft")
        y += 19
    return y


def figure(groups, regimes, order, note):
    """Real against simulated throughput ratios, one panel for each thread count and regime."""
    panels = {}
    for group in groups:
        if any(c.factor for c in group.cells):
            panels.setdefault((group.threads, group.regime), []).append(group)
    if not panels:
        return None
    cases = list(dict.fromkeys((g.workload, g.occupancy) for g in groups))
    shapes = {case: SHAPES[i % len(SHAPES)] for i, case in enumerate(cases)}
    values = [v for g in groups for c in g.cells if c.factor
              for v in (c.ratio_real, c.ratio_simulated)]
    order = [name for name in order if any(c.policy == name for g in groups for c in g.cells)]
    key_width = 40 + max(text_width(name, 12) for name in order)
    canvas = Canvas(1110, 480)
    title = f"Simulated against real: {headline(verdict(groups))}"
    top = canvas.head(title, "each point one policy in one case; on the line the simulated "
                      "machine tells what the real one does, between the dashed lines within a "
                      "factor of 2; bars: interval of the real "
                      "median, all launches where they are fewer than six") + 46
    width = (1110 - key_width) / len(panels)
    size = min(width - 80, 360)
    for number, (where, inside) in enumerate(sorted(panels.items(), key=str)):
        left = 48 + number * width
        canvas.text(left, top - 28, _where(inside[0]._replace(workload="", occupancy=None),
                                           regimes).lstrip(", "), weight="600", size=12.5)
        _panel(canvas, inside, (left, left + size, top, top + size), values, order, shapes)
    _key(canvas, 1110 - key_width + 10, top + 8, order, shapes)
    canvas.height = int(top + size + 70)
    canvas.foot(note)
    return Figure("model", title, canvas, "")
