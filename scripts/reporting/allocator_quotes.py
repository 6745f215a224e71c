"""allocator_quotes.py - the numbers of allocators.json that documents quote."""

from common import documents, stats
from common.stats import median
from reporting.allocator_results import CPU, Suite

BASES = {"s": 1, "ns": 1e-9, "bytes": 1}  # of a metric, by the last word of its name
UNITS = {"s": 1, "ms": 1e-3, "us": 1e-6, "MiB": 2 ** 20, "KiB": 2 ** 10}
GLIBC, BEST = "glibc", "best"


def in_unit(suite, case, name, metric, unit):
    """The median of the launches in a unit; None: it was not measured."""
    found = suite.mid(case, name, metric)
    return None if found is None else found * BASES[metric.rpartition("_")[2]] / UNITS[unit]


def ratios(suite, case, name, base, metric):
    """Within rounds, to an allocator or to the best peer."""
    if base == BEST:
        return suite.to_best(case, name, metric)
    return stats.paired(suite.samples(case, name, metric), suite.samples(case, base, metric))


def mean(suite, name, metric, what=None):
    """The geometric mean to glibc over the cases that count, or an end of its interval."""
    if what is not None:
        found = suite.mean_ratio(name, GLIBC, metric)
        return found and getattr(found[1], what)
    found = suite.ratios(name, GLIBC, metric)
    return stats.geometric_mean(found) if found else None


def above(suite, case, name, metric, unit):
    """How much more than with glibc."""
    one, other = (in_unit(suite, case, way, metric, unit) for way in (name, GLIBC))
    return None if None in (one, other) else one - other


def times(suite, case, name, base, metric):
    """The median of the ratios."""
    found = ratios(suite, case, name, base, metric)
    return median(found) if found else None


def instructions(suite, case, name):
    """Of a call."""
    found = suite.document["instructions"].get(name, {}).get(case)
    return found and found["instructions"] / found["calls"]


WORDS = {"mean": mean, "of": in_unit, "above": above, "times": times, "instructions": instructions,
         "cases": lambda suite, metric: len(suite.judged(metric)),
         "rounds": lambda suite, case: max((v.round for v in suite.samples(
             case, GLIBC, CPU).all), default=None),
         "amount": lambda suite, case: suite.cases[case].get("amount")}


def quoted(suite, expression):
    """A number of allocators.json that a document quotes; metrics as in that file, such as cpu_s.

    of CASE NAME METRIC UNIT      an allocator's median
    above CASE NAME METRIC UNIT   how much more than glibc's
    times CASE NAME BASE METRIC   ratio within rounds to another one's, or to the best peer's
    mean NAME METRIC [low|high]   geometric mean of the cases' ratios to glibc
    cases METRIC                  how many are in that mean
    rounds CASE                   its launches of each allocator
    amount CASE                   its load, as the workload counts it
    instructions CASE NAME        of a call, by single stepping
    """
    if suite is None:
        raise documents.BadInput("allocator_quotes.py: the result has no allocators.json; measure "
                                 f"again ({Suite.COMMAND})")
    word, *rest = expression.split()
    found = WORDS[word](suite, *rest)
    if found is None:
        raise documents.BadInput(f"allocator_quotes.py: nothing was measured for '{expression}'")
    return found
