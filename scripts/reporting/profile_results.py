"""profile_results.py - what profile.json says: what the accounts and the heap profile cost, by
program and by interval, also against an older build; which share of stacks is walked; how far
estimates are off; and the bars.

A difference or a ratio is formed within a round; its interval is of order statistics (stats.py).
"""

from common import amounts, judge, stats
from common.shapes import COUNT, EACH, TEXT
from common.stats import median
from measuring.profile_cases import BEFORE, COARSER, MALLOC, NONE, ORDINARY, SWEEP, WALKED
from reporting import suites
from reporting.suites import with_interval

CPU = "cpu_ns"
COSTS = ("loop", "program", "server")  # the groups that have a cost
ALLOWED_PERCENT = {"loop": 2.0, "program": 1.0, "server": 1.0}
ALLOWED_SAMPLE_NS = 500.0
WALKED_PERCENT = 95.0
DENSE = "10"  # samples are many enough there that one's cost is seen
ERROR_NEAR = 4.5  # over the root of the seeds: 6 standard deviations of a root of mean squares


class Suite(suites.Suite):
    """The launches of profile.json as samples."""

    FILE, COMMAND = "profile.json", "scripts/profile_cost.py"
    SHAPE = {"cases": {EACH: {"group": TEXT, "says": TEXT, "depth": COUNT}}}

    def sample_ns(self, case, way=DENSE):
        """CPU time that one sample takes, its free included, one for each round."""
        return stats.paired(self.added(case, way, NONE), self.samples(case, way, "bytes"),
                            lambda ns, size: ns * 2 ** int(way) / size if size else None)

    def walked(self, case):
        """(stacks that were taken, % of them walked) of a case, or None."""
        percent = self.mid(case, WALKED, "percent")
        return None if percent is None else (self.mid(case, WALKED, "samples"), percent)

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


def walked_bars(suite):
    """Are the stacks walked?"""
    for case, facts in suite.cases.items():
        found = suite.walked(case)
        if found:
            yield judge.Bar(f"{facts['says']}: at least {WALKED_PERCENT:g} % of stacks are walked",
                            f"{found[1]:g} % of {found[0]:,}",
                            judge.MET if found[1] >= WALKED_PERCENT else judge.NOT_MET)


def bars(suite):
    """What the profile is held to."""
    found = []
    for case in suite.of_group(*COSTS):
        facts = suite.cases[case]
        most = ALLOWED_PERCENT[facts["group"]]
        found.append(judge.bar(f"{facts['says']}: the profile at 512 KiB adds at most {most:g} % "
                               "of CPU time", suite.more(case, ORDINARY, NONE), most=most,
                               form="{:+.2f} %"))
    for case in suite.of_group("loop"):
        found.append(judge.bar(f"{suite.cases[case]['says']}, {suite.cases[case]['depth']:g} "
                               f"frames: a sample takes at most {ALLOWED_SAMPLE_NS / 1000:g} us",
                               suite.sample_ns(case), most=ALLOWED_SAMPLE_NS, form="{:.0f} ns"))
    return [*found, *walked_bars(suite), *error_bars(suite.errors())]


def interval_text(lg):
    """512 KiB, 2 MiB; lg is a text."""
    return amounts.bytes_text(2 ** int(lg))


def cost_rows(suite):
    """(headers, rows): CPU time with the allocator alone, and what is added to it."""
    rows = []
    for case in suite.of_group(*COSTS):
        bare = suite.samples(case, MALLOC, CPU)
        if bare:
            rows.append([suite.cases[case]["says"], amounts.time_text(median(bare)),
                         str(len(bare)), *(
                             with_interval(suite.more(case, *pair), "{:+.2f}")
                             for pair in ((NONE, MALLOC), *((way, NONE) for way in
                                                            (ORDINARY, *COARSER))))])
    return ["CPU time of a pair,\na run or a request", "libpfsmalloc.so\nalone", "n",
            "accounts, no\nprofile: + %", *(f"profile, {interval_text(way)},\non top: + %"
                                            for way in (ORDINARY, *COARSER))], rows


def before_rows(suite):
    """(headers, rows): this build against an older one."""
    rows = []
    for case in suite.of_group(*COSTS):
        pairs = ((NONE, BEFORE + NONE), (ORDINARY, BEFORE + ORDINARY),
                 (BEFORE + ORDINARY, BEFORE + NONE), (ORDINARY, NONE))
        if suite.samples(case, BEFORE + NONE, CPU):
            rows.append([suite.cases[case]["says"], *(
                with_interval(suite.more(case, *pair), "{:+.2f}") for pair in pairs)])
    return [f"% of CPU time, {suite.document.get('before')} before", "accounts:\nnow to before",
            "with profile:\nnow to before", "profile adds\nbefore", "profile adds\nnow"], rows


def interval_rows(suite):
    """(headers, rows): what is added to the loops, by interval, and what a sample takes."""
    rows = [[suite.cases[case]["says"],
             *(with_interval(suite.more(case, way, NONE), "{:+.1f}") for way in SWEEP),
             with_interval(suite.sample_ns(case), "{:.0f}")]
            for case in suite.of_group("loop") if suite.sample_ns(case)]
    return ["% of CPU time that is\nadded, one sample in", *map(interval_text, SWEEP),
            f"a sample, ns,\nat {interval_text(DENSE)}"], rows


def walked_rows(suite):
    """(headers, rows): the share of stacks that were walked."""
    return ["one sample in 4 KiB", "stacks taken", "walked"], [
        [facts["says"], f"{found[0]:,}", f"{found[1]:g} %"]
        for case, facts in suite.cases.items() if (found := suite.walked(case))]


def error_rows(suite):
    """(headers, rows): error and theory of each mix, by samples."""
    return ["mix", "samples", "error", "theory"], [
        [mix, f"{samples:.0f}", f"{100 * error:.2f} %", f"{100 * theory:.2f} %"]
        for mix, samples, error, theory, _ in suite.errors()]


TABLES = {"cost": cost_rows, "before": before_rows, "intervals": interval_rows,
          "walked": walked_rows, "errors": error_rows}


def text(suite):
    """All of it for a terminal."""
    return suites.text_of(suite, TABLES, bars(suite))
