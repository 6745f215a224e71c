"""accounts_results.py - what accounts.json says: what counting adds, errors, memory, readers; and
the bars.

A difference or a ratio is formed within a round; its interval is of order statistics (stats.py).
"""

from common import judge, stats
from common.amounts import bytes_text
from common.shapes import COUNT, EACH, FLAG, SOME, TEXT
from common.stats import median
from measuring.accounts_cases import ALONE, AT_ONCE, BESIDE, COPY, ERROR_RULES, HEADER, RULES
from reporting import instruction_table, suites
from reporting.suites import with_interval

CPU, WALL = "cpu_ns", "ns"
ALLOWED_NS, ALLOWED_SHARE, FOREIGN_FACTOR = 5.0, 0.15, 1.3
ROWS_PER_S, SLOWED_PERCENT = 1e6, 3.0
SHORT = {"preload": "any program", "cost": "library"}
COSTS = {"preload": "malloc of any program (libpfsmem.so)", "cost": "the library's calls"}


class Suite(suites.Suite):
    """The launches of accounts.json as samples."""

    FILE, COMMAND = "accounts.json", "scripts/accounts.py"
    SHAPE = {"missing": {EACH: TEXT}, "cases": {EACH: {
        "group": TEXT, "says": TEXT, "threads": SOME, "foreign": FLAG, "instruments": COUNT}},
        "instructions": suites.COUNTED}

    def allowed(self, case):
        """(how much counting may add, the pair without it), in ns; None where it is not known."""
        bare = self.samples(case, "none", CPU)
        if not bare:
            return None
        factor = FOREIGN_FACTOR if self.cases[case]["foreign"] else 1.0
        return factor * max(ALLOWED_NS, ALLOWED_SHARE * median(bare)), median(bare)


def cost_bars(suite):
    """What counting may add to a pair of malloc and free."""
    bars = []
    for case in suite.of_group("preload", "cost"):
        facts, allowed = suite.cases[case], suite.allowed(case)
        larger = f"{ALLOWED_NS:g} ns or {100 * ALLOWED_SHARE:g} %, the larger"
        if facts["foreign"]:
            larger = f"{FOREIGN_FACTOR} × ({larger})"
        says = f"{COSTS[facts['group']]}, {facts['says']}: counting adds at most {larger}"
        bars.append(judge.unmeasured(says) if not allowed else judge.bar(
            says, suite.added(case, "exact", "none"), most=allowed[0], form="{:.1f} ns",
            detail=f"allowed {allowed[0]:.1f} ns, a pair takes {allowed[1]:.1f} without"))
    return bars


# Of each load: (what is expected, rules, what it is the sum of, whether that must be above 0).
BELOW = ("below", "reads_below")
EVERY_LOAD = (
    ("rule exact: no row wrong or below zero, at rest or while read, most frees foreign",
     ("exact",), ("wrong", *BELOW, "totals", "open", "left"), False),
    ("rules freer and global: rows are wrong", RULES[1:], ("wrong",), True),
    ("every rule: totals are right, with the global row", ERROR_RULES, ("totals",), False))
EXPECTED = {
    "errors": (*EVERY_LOAD,
               ("rule global, which reuses numbers as MySQL does: no row below zero", ("global",),
                BELOW, False),
               ("rule global_at_once, as no server does: rows are below zero", (AT_ONCE,), BELOW,
                True)),
    "errors-cache": (*EVERY_LOAD,
                     ("rule global, which reuses numbers as MySQL does: rows are below zero",
                      ("global",), BELOW, True))}


def error_bars(suite):
    """Exact is right in every launch; the others have the errors that are theirs."""
    bars = []
    for case in suite.of_group("errors"):
        for text, rules, names, is_above in EXPECTED.get(case, EVERY_LOAD):
            says = f"{text}; {suite.cases[case]['says']}"
            sums = [sum(one) for way in rules
                    for one in zip(*(suite.samples(case, way, name) for name in names))]
            bars.append(judge.Bar(says, f"{sum(1 for s in sums if s)} of {len(sums)} launches with "
                                  "one", judge.every((s > 0) == is_above for s in sums)) if sums
                        else judge.unmeasured(says))
    return bars


def reader_bars(suite):
    """Rows a second, and what a reader that loops costs the writers."""
    bars = []
    for case in suite.of_group("reader"):
        who = suite.cases[case]["says"]
        for name, what in (("rows_per_s", "by the clock"), ("rows_per_cpu_s", "of its CPU time")):
            millions = stats.mapped(suite.samples(case, BESIDE, name), lambda rate: rate / 1e6)
            bars.append(judge.bar(f"{who}: a reader of 64,000 rows sees 1 million a second {what}",
                                  millions, least=ROWS_PER_S / 1e6, form="{:.2f} M"))
        own = suite.more(case, BESIDE, COPY)
        detail = (f"to a reader of a copy, who uses none of its lines: {median(own):+.2f} % "
                  f"({judge.spread_text(own, '{:+.2f}')})") if own else ""
        bars.append(judge.bar(f"{who}: it slows counting by at most {SLOWED_PERCENT:g} % in CPU "
                              "time a pair", suite.more(case, BESIDE, ALONE),
                              most=SLOWED_PERCENT, form="{:+.2f} %", detail=detail))
        cpus = len(suite.document.get("machine", {}).get("cpus_allowed", []))
        few = (f"the reader has no CPU of its own: {suite.cases[case]['threads']} writers and it "
               f"share {cpus} CPUs" if 0 < cpus <= suite.cases[case]["threads"] else "")
        bars.append(judge.bar(f"{who}: by at most {SLOWED_PERCENT:g} % by the clock",
                              suite.more(case, BESIDE, ALONE, "wall_ns"), most=SLOWED_PERCENT,
                              form="{:+.1f} %", reason=few))
    return bars


def bars(suite):
    """What the accounts are held to."""
    return cost_bars(suite) + error_bars(suite) + reader_bars(suite)


def cost_rows(suite):
    """(headers, rows): ns a pair without, and what each way adds."""
    rows = []
    for case in suite.of_group("preload", "cost"):
        facts = suite.cases[case]
        times = {(way, name): suite.mid(case, way, name) for way in ("none", "exact")
                 for name in (CPU, WALL)}
        if None in times.values():
            continue
        rows.append([f"{SHORT[facts['group']]}, {facts['says']}", f"{times['none', CPU]:.1f}",
                     *(with_interval(suite.added(case, way, "none")) for way in (HEADER, *RULES)),
                     f"{times['none', WALL]:.1f}, {times['exact', WALL]:.1f}"])
    return ["CPU ns a pair of\nmalloc and free", "not\ncounted", "16 bytes\nmore",
            *(f"\n+ {rule}" for rule in RULES), "by the clock:\nnot counted, exact"], rows


def error_rows(suite):
    """(headers, rows): medians of what brute force found, for each rule."""
    rows = []
    for case in suite.of_group("errors"):
        for rule in ERROR_RULES:
            found = {name: suite.mid(case, rule, name) for name in
                     ("wrong", "rows", "below", "totals", "instruments", "open", "bytes", "in_use",
                      "left", "reads", "reads_below")}
            if None in found.values():
                continue
            share = found["reads_below"] / found["reads"] if found["reads"] else 0
            rows.append([f"{suite.cases[case]['says']}: {rule}",
                         f"{found['wrong']:g} of {found['rows']:g}", f"{found['below']:g}",
                         f"{found['totals']:g} of {found['instruments']:g}",
                         bytes_text(found["in_use"]), bytes_text(found["open"]),
                         bytes_text(found["bytes"]), bytes_text(found["left"]),
                         f"{100 * share:.3g} %"])
    return ["load: rule", "rows wrong", "below zero", "totals wrong", "in use",
            "error of all rows,\nsessions open", "sessions ended", "all freed",
            "reads of cells\nbelow zero"], rows


def memory_rows(suite):
    """(headers, rows): box + private memory, threads down, instruments across."""
    found, rows = {}, []
    for case in suite.of_group("memory"):
        box, own = (suite.mid(case, "exact", name) for name in ("box_bytes", "private_bytes"))
        if box is None or own is None:
            continue
        facts = suite.cases[case]
        found[facts["threads"], facts["instruments"]] = f"{bytes_text(box)} + {bytes_text(own)}"
    columns = sorted({many for _, many in found})
    for threads in sorted({threads for threads, _ in found}):
        rows.append([f"{threads:g}", *(found.get((threads, many), "–") for many in columns)])
    return ["threads; box + private", *(f"{many:g} instrument{'s' * (many != 1)}"
                                        for many in columns)], rows


def reader_rows(suite):
    """(headers, rows): ns a pair of a writer, and rows a second."""
    rows = []
    for case in suite.of_group("reader"):
        for state, says in ((ALONE, "nobody reads"), (BESIDE, "a reader loops"),
                            (COPY, "a reader of a copy loops")):
            cells = [suite.samples(case, state, name) for name in ("cpu_ns", "wall_ns")]
            rates = [suite.mid(case, state, name) for name in ("rows_per_cpu_s", "rows_per_s")]
            if all(cells):
                rows.append([f"{suite.cases[case]['says']}, {says}",
                             *(with_interval(cell, "{:.2f}") for cell in cells),
                             *(f"{rate / 1e6:.2f} M" if rate else "–" for rate in rates)])
    return ["beside", "CPU ns a pair", "ns a pair by the clock", "rows a CPU second",
            "rows a second"], rows


TABLES = {"cost": cost_rows,
          "instructions": lambda s: instruction_table.table(s.document["instructions"]),
          "errors": error_rows, "readers": reader_rows, "memory": memory_rows}


def text(suite):
    """All of it for a terminal."""
    return suites.text_of(suite, TABLES, bars(suite))
