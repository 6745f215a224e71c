"""allocator_results.py - what allocators.json says: ratios, means over all cases, and the bars.

A ratio is formed within a round, to the best peer of that case: the one with the lowest median.
A mean is the geometric one of the cases' median ratios; its interval is a bootstrap of launches.
"""

from common import documents, judge, stats
from common.amounts import bytes_text
from common.shapes import COUNT, EACH, FLAG, TEXT
from common.stats import median
from measuring import malloc_peers
from reporting import allocator_tails, instruction_table, suites

OURS = malloc_peers.OURS
CPU, PEAK, WALL, MEAN = "cpu_s", "peak_bytes", "wall_s", "mean_bytes"
IDLE_LIMIT = 10 << 20


class Suite(suites.Suite):
    """The launches of allocators.json as samples; a way is an allocator."""

    FILE, COMMAND, WAY = "allocators.json", "scripts/allocators.py", "allocator"
    SHAPE = {"allocators": {EACH: {"version": TEXT}}, "missing": {EACH: TEXT},
             "cases": {EACH: {"judged": FLAG}}, "instructions": suites.COUNTED,
             "slabs": {EACH: {EACH: COUNT}}}
    DEFAULTS = {"slabs": {}}  # without our allocator there are none

    def __init__(self, document):
        super().__init__(document)
        self.names = list(document["allocators"])
        self.peers = [name for name in self.names if name in malloc_peers.PEER_NAMES]
        self.means = {}   # of mean_ratio: a bootstrap takes its time

    @staticmethod
    def found(launch):
        return {launch["allocator"]: {name: value for name, value in launch.items()
                                      if documents.is_number(value)}}

    def best_peer(self, case, metric):
        """The peer with the lowest median, or None."""
        found = {name: median(s) for name in self.peers if (s := self.samples(case, name, metric))}
        return min(found, key=found.get) if found else None

    def to_best(self, case, name, metric):
        """Ratios to the best peer of the case, one for each round."""
        best = self.best_peer(case, metric)
        if best is None:
            return stats.Samples()
        return stats.paired(self.samples(case, name, metric), self.samples(case, best, metric))

    def judged(self, metric):
        """The cases that count in means, and that all allocators did; of wall time those that do
        not idle, of what is resident on average those that are long enough for a sample."""
        def counts(case):
            found = [self.samples(case, name, metric) for name in self.names]
            idles = any(self.samples(case, name, "idle_bytes") for name in self.names)
            return (self.cases[case]["judged"] and not (metric == WALL and idles) and
                    all(s and min(s) > 0 for s in found))
        return [case for case in self.cases if counts(case)]

    def ratios(self, name, base, metric):
        """Ratios name / base, one for each round, of each case that counts in means."""
        ratios = [stats.paired(self.samples(case, name, metric), self.samples(case, base, metric))
                  for case in self.judged(metric)]
        return [r for r in ratios if r]

    def mean_ratio(self, name, base, metric):
        """(geometric mean, its interval) of name / base over all cases; None without cases."""
        key = (name, base, metric)
        if key not in self.means:
            ratios = self.ratios(*key)
            self.means[key] = stats.bootstrap_mean(ratios) if ratios else None
        return self.means[key]

    def best_by_mean(self, metric):
        """The peer with the lowest geometric mean, or None."""
        found = {name: stats.geometric_mean(ratios) for name in self.peers
                 if (ratios := self.ratios(name, self.peers[0], metric))}
        return min(found, key=found.get) if found else None


def mean_bar(suite, metric, what, most):
    """A bar on the geometric mean, against the best peer by mean."""
    says = f"{what}: geometric mean at most {most} × the best peer by mean"
    base = suite.best_by_mean(metric)
    found = suite.mean_ratio(OURS, base, metric) if base else None
    if not found:
        return judge.unmeasured(says)
    mean, interval = found
    rounds = max(len(ratios) for ratios in suite.ratios(OURS, base, metric))
    verdict = judge.UNDECIDED if rounds < 3 else judge.MET if interval.high <= most else \
        judge.NOT_MET if interval.low > most else judge.UNDECIDED
    return judge.Bar(says, f"{mean:.3f} × {base} ({interval.low:.3f} to {interval.high:.3f} by "
                     f"bootstrap, {len(suite.judged(metric))} cases)", verdict)


def single_bar(suite, most=1.15):
    """No case above so much of the best peer in it; fewer than three rounds decide nothing."""
    says = f"CPU time: no case above {most} × the best peer in it"
    found = {case: r for case in suite.judged(CPU) if (r := suite.to_best(case, OURS, CPU))}
    if not found:
        return judge.unmeasured(says)
    above = sorted((c for c in found if median(found[c]) > most), key=lambda c: -median(found[c]))
    told = ", ".join(f"{case} {median(found[case]):.2f} ({min(found[case]):.2f} to "
                     f"{max(found[case]):.2f})" for case in above) or \
        f"highest: {max(median(r) for r in found.values()):.2f}"
    sure = [case for case in above if len(found[case]) > 2 and min(found[case]) > most]
    few = max(len(ratios) for ratios in found.values()) < 3
    return judge.Bar(says, told, judge.NOT_MET if sure else judge.UNDECIDED if above or few else
                     judge.MET)


def limit_bar(says, value, limit, text):
    """A bar on a number that hardly varies."""
    if value is None:
        return judge.unmeasured(says)
    return judge.Bar(says, text(value), judge.MET if value <= limit else judge.NOT_MET)


def count_bar(suite, case, says, most, locked_most):
    """A bar on counted instructions."""
    found = suite.document["instructions"].get(OURS, {}).get(case)
    if not found:
        return judge.unmeasured(says)
    each, locked = (found[key] / found["calls"] for key in ("instructions", "locked"))
    return judge.Bar(says, f"{each:.1f}, {locked:.3f} locked", judge.MET if
                     round(each, 1) <= most and locked <= locked_most else judge.NOT_MET)


def memory_bars(suite):
    """Bars on bytes of single cases."""
    tiny, base = (suite.mid("tiny", name, "resident_bytes") for name in (OURS, "glibc"))
    bars = [limit_bar("a tiny program: at most 250 KiB over glibc",
                      tiny - base if tiny and base else None, 250 << 10, bytes_text)]
    for case in ("idle", "idle-foreign"):
        bars.append(limit_bar(f"{case}: below 10 MiB 3 s after 8 threads freed 256 MiB",
                              suite.mid(case, OURS, "idle_bytes"), IDLE_LIMIT, bytes_text))
    peak, live, own = (suite.mid("drain", OURS, metric)
                       for metric in (PEAK, "live_bytes", "own_bytes"))
    bars.append(limit_bar("drain: one thread frees for 16, peak at most 1.2 × live bytes (less "
                          "the program's own and a tiny program's)",
                          (peak - own - tiny) / live if peak and live and tiny else None, 1.2,
                          lambda v: f"{v:.2f} ×"))
    before, after = (suite.mid("free-only", OURS, m) for m in ("before_bytes", "idle_bytes"))
    bars.append(limit_bar("free-only: 400 threads park below 16 KiB each 3 s later",
                          (after - before) / 400 if before and after else None, 16 << 10,
                          bytes_text))
    bars.append(slab_bar(suite))
    return bars


def slab_bar(suite):
    """No slab was made while rings held a slab's worth, in any program that was looked at."""
    says = "no slab made while a slab's worth of its regions was free"
    found = {case: counts for case, counts in suite.document.get("slabs", {}).items()
             if "slabs_needless" in counts}
    if not found:
        return judge.unmeasured(says)
    guilty = {case: c["slabs_needless"] for case, c in found.items() if c["slabs_needless"]}
    made = sum(counts.get("slabs_made", 0) for counts in found.values())
    told = ", ".join(f"{case} {count}" for case, count in guilty.items()) or "none"
    return judge.Bar(says, f"{told} of {made} slabs in {len(found)} programs",
                     judge.NOT_MET if guilty else judge.MET)


def bars(suite):
    """What our allocator is held to; nothing where it was not measured."""
    return [] if OURS not in suite.names else [
        count_bar(suite, "pair-64", "malloc + free of 64 bytes: at most 45 instructions, none "
                  "locked", 45, 0),
        count_bar(suite, "foreign-64", "1000 frees of another thread's blocks: at most 50 "
                  "instructions, 0.06 locked each", 50, 0.06),
        mean_bar(suite, CPU, "CPU time", 0.92), single_bar(suite),
        mean_bar(suite, PEAK, "peak resident set", 0.95), *memory_bars(suite),
        *allocator_tails.bars(suite, OURS)]


MEANS = ((CPU, "CPU time"), (WALL, "wall time"), (PEAK, "peak resident"),
         (MEAN, "average resident"))


def mean_text(found):
    """A mean with its interval, which one round does not have."""
    if not found:
        return "–"
    interval = f" ({found[1].low:.2f}–{found[1].high:.2f})" if found[1].low < found[1].high else ""
    return f"{found[0]:.3f}{interval}"


def mean_rows(suite):
    """(headers, rows): geometric means over all cases, to the best peer by that mean."""
    rows = []
    for metric, what in MEANS:
        base = suite.best_by_mean(metric)
        if base:
            rows.append([f"{what} × {base}", *(mean_text(suite.mean_ratio(name, base, metric))
                                               for name in suite.names)])
    return ["geometric means (95 % by bootstrap)", *suite.names], rows


def ratio_rows(suite):
    """(headers, rows): CPU / peak ratios to the best peer of each case, for each allocator."""
    rows = []
    for case in suite.cases:
        cells = [case]
        for name in suite.names:
            pair = [suite.to_best(case, name, metric) for metric in (CPU, PEAK)]
            cells.append(" / ".join(f"{median(r):.2f}" if r else "–" for r in pair))
        best = suite.best_peer(case, CPU)
        cells.append(f"{median(suite.samples(case, best, CPU)):.3f} {best}" if best else "–")
        rows.append(cells)
    return ["CPU / peak resident, × best peer", *suite.names, "best, CPU s"], rows


def idle_rows(suite):
    """(headers, rows): what is resident after idling."""
    cases = [case for case in suite.cases
             if any(suite.samples(case, name, "idle_bytes") for name in suite.names)]
    return (["resident 3 s after the load", *suite.names],
            [[case, *(bytes_text(value) if (value := suite.mid(case, name, "idle_bytes")) else "–"
                      for name in suite.names)] for case in cases])


def slab_rows(suite):
    """(headers, rows): what was alive in our slabs when they had the most bytes of a program."""
    rows = []
    for case, counts in suite.document.get("slabs", {}).items():
        live, cached, mapped = (counts.get("slabs_" + what) for what in
                                ("live", "cached", "bytes"))
        if mapped and None not in (live, cached):
            rows.append([case, bytes_text(live), bytes_text(cached), bytes_text(mapped),
                         f"{live / mapped:.2f}"])
    return ["slabs at their most bytes", "live", "in rings", "mapped", "live / mapped"], rows


TABLES = {"means": mean_rows, "ratios": ratio_rows, "idle": idle_rows,
          "tails": allocator_tails.rows, "slabs": slab_rows,
          "instructions": lambda s: instruction_table.table(s.document["instructions"])}


def text(suite):
    """All of it for a terminal."""
    return suites.text_of(suite, TABLES, bars(suite))
