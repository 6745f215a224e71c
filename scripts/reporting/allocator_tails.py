"""allocator_tails.py - how long the longest calls take, of the workload tails: a table and bars.

Elapsed time has the waiting for a processor in it, and for locks; what a call does itself is its
time on a processor.
"""

from common import judge
from common.amounts import time_text
from common.stats import median

CASE = "tails"
QUICK, SLOW = ("malloc", "free", "realloc"), ("fork", "start", "end")
CALLS = QUICK + SLOW
NAMES = {"start": "start of a thread", "end": "end of a thread"}
LIMIT_NS = 1000000
ON_CPU = "longest_cpu_ns"
WHATS = {"p99_ns": "p99", "p9999_ns": "p99.99", "longest_ns": "longest",
         ON_CPU: "longest, on a processor"}


def name_of(call):
    """In words."""
    return NAMES.get(call, call)


def metrics():
    """[(call, suffix, text)] of the rows; of few calls there is no p99.99."""
    for call in CALLS:
        for suffix, what in WHATS.items():
            if not (call in SLOW and suffix == "p9999_ns" or call == "end" and suffix == ON_CPU):
                yield call, suffix, f"{name_of(call)}: {what}"


def rows(suite):
    """(headers, rows): medians of the launches."""
    made = []
    for call, suffix, text in metrics():
        values = [suite.mid(CASE, name, f"{call}_{suffix}") for name in suite.names]
        if any(value is not None for value in values):
            made.append([text, *("–" if v is None else time_text(v) for v in values)])
    return ["one call among many", *suite.names], made


def samples_quick(suite, name):
    """The samples of that one of malloc, free and realloc whose median is the largest."""
    return max((suite.samples(CASE, name, f"{call}_{ON_CPU}") for call in QUICK), key=median)


def longest_quick(suite, name):
    """The longest of malloc, free and realloc on a processor, by medians; None: not measured."""
    found = [suite.mid(CASE, name, f"{call}_{ON_CPU}") for call in QUICK]
    return None if None in found else max(found)


def bars(suite, name):
    """What an allocator is held to: no call is long, fork no slower than the best peer's."""
    says = "tails: no malloc, free or realloc is above 1 ms on a processor"
    longest = longest_quick(suite, name)
    made = [judge.unmeasured(says) if longest is None else judge.Bar(
        says, time_text(longest), judge.MET if longest <= LIMIT_NS else judge.NOT_MET)]
    says = "tails: fork's p99 at most 1 × the best peer's"
    ratios = suite.to_best(CASE, name, "fork_p99_ns")
    made.append(judge.unmeasured(says) if not ratios else judge.Bar(
        says, f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f} in "
        f"{len(ratios)} rounds)", judge.UNDECIDED if len(ratios) < 3 else
        judge.MET if max(ratios) <= 1 else judge.NOT_MET if min(ratios) > 1 else
        judge.UNDECIDED))
    return made
