"""profile_results.py - what profile.json says: what the heap profile costs, by interval and by
program, and how far estimates are off; and the bars.

A difference or a ratio is formed within a process where the profile is switched, else within a
round; its interval is of order statistics (stats.py).
"""

from common import judge, stats
from common.shapes import COUNT, EACH, TEXT
from common.stats import median
from measuring.profile_cases import MALLOC, NONE, ORDINARY, SWEEP
from reporting import suites
from reporting.suites import with_interval

CPU, WALL = "cpu_ns", "ns"
ALLOWED_PERCENT = {"loop": 2.0, "server": 1.0}
ALLOWED_SAMPLE_NS = {"loop-kept": 500.0, "loop-omitted": 500.0, "loop-new": 500.0}
DENSE = "10"  # samples are many enough there that one's cost is seen
ERROR_NEAR = 4.5  # over the root of the seeds: 6 standard deviations of a root of mean squares


class Suite(suites.Suite):
    """The launches of profile.json as samples."""

    FILE, COMMAND = "profile.json", "scripts/profile_cost.py"
    SHAPE = {"cases": {EACH: {"group": TEXT, "says": TEXT, "depth": COUNT}}}

    def sample_ns(self, case, way=DENSE):
        """CPU time that one sample takes, its free included, one for each round."""
        return stats.paired(self.added(case, way, "off"), self.samples(case, way, "bytes"),
                            lambda ns, size: ns * 2 ** int(way) / size if size else None)

    def errors(self):
        """[(mix, samples, error, theory, seeds)]"""
        return [(way.rsplit(":", 1)[0], *(self.mid(case, way, name) for name in
                                          ("samples", "error", "theory", "seeds")))
                for case in self.of_group("errors")
                for way in dict.fromkeys(way for of, way, _ in self.values if of == case)]


def error_bars(errors):
    """Is what was seen what the theory says?"""
    ratios = [(error / theory, seeds) for _, _, error, theory, seeds in errors if theory and seeds]
    if not ratios:
        return []
    far = [ratio for ratio, seeds in ratios if abs(ratio - 1) > ERROR_NEAR / seeds ** 0.5]
    near = max(ERROR_NEAR / seeds ** 0.5 for _, seeds in ratios)
    return [judge.Bar(f"errors of estimates are within {100 * near:.0f} % of what the theory says, "
                      f"{ratios[0][1]:g} seeds", f"{min(ratios)[0]:.2f} to {max(ratios)[0]:.2f} of "
                      f"it, {len(far)} of {len(ratios)} beyond",
                      judge.NOT_MET if far else judge.MET)]


def bars(suite):
    """What the profile is held to."""
    found = []
    for case in suite.of_group("loop", "server"):
        facts = suite.cases[case]
        most = ALLOWED_PERCENT[facts["group"]]
        clock = suite.more(case, ORDINARY, "off", WALL)
        detail = (f"by the clock {median(clock):+.2f} % ({judge.spread_text(clock, '{:+.2f}')})"
                  if clock else "")
        found.append(judge.bar(f"{facts['says']}: the profile at 512 KiB adds at most {most:g} % "
                               "of CPU time", suite.more(case, ORDINARY, "off"), most=most,
                               form="{:+.2f} %", detail=detail))
    for case, most in ALLOWED_SAMPLE_NS.items():
        if case in suite.cases:
            found.append(judge.bar(f"{suite.cases[case]['says']}, {suite.cases[case]['depth']:g} "
                                   f"frames: a sample takes at most {most / 1000:g} us",
                                   suite.sample_ns(case), most=most, form="{:.0f} ns"))
    found += error_bars(suite.errors())
    return found


def cost_rows(suite):
    """(headers, rows): CPU time of a pair or request, and what each step adds."""
    rows = []
    for case in suite.of_group("loop", "server"):
        bare = suite.samples(case, MALLOC, CPU)
        if bare:
            rows.append([suite.cases[case]["says"], f"{median(bare):,.1f}",
                         *(with_interval(suite.more(case, *pair), "{:+.2f}")
                           for pair in ((NONE, MALLOC), ("off", NONE), (ORDINARY, "off")))])
    return ["CPU ns a pair or request", "libpfsmalloc.so", "counted, no\nprofile: + %",
            "profile, switched\noff: + %", "on, 512 KiB:\n+ %"], rows


def interval_rows(suite):
    """(headers, rows): what is added, and a sample's cost, by interval."""
    cases = [case for case in suite.of_group("loop") if suite.samples(case, "off", CPU)]
    rows = []
    for way in SWEEP[1:]:
        if all(suite.samples(case, way, CPU) for case in cases):
            rows.append([f"{2 ** (int(way) - 10):g} KiB", *(
                with_interval(found, form) for case in cases for found, form in
                ((suite.more(case, way, "off"), "{:+.2f}"), (suite.sample_ns(case, way),
                                                             "{:.0f}")))])
    return ["between samples", *(f"{suite.cases[case]['says']}:\n{what}" for case in cases
                                 for what in ("+ % of a pair", "ns a sample"))], \
        rows if cases else []


def error_rows(suite):
    """(headers, rows): error and theory of each mix, by samples."""
    return ["mix", "samples", "error", "theory"], [
        [mix, f"{samples:.0f}", f"{100 * error:.2f} %", f"{100 * theory:.2f} %"]
        for mix, samples, error, theory, _ in suite.errors()]


TABLES = {"cost": cost_rows, "intervals": interval_rows, "errors": error_rows}


def text(suite):
    """All of it for a terminal."""
    return suites.text_of(suite, TABLES, bars(suite))
