"""steady.py - has a simulated run left its start-up behind? From the rates of its parts.

1. The start-up is cut by MSER, the marginal standard error rule: of all cuts, the one with the
   smallest (sum of squared deviations of the rest) / (length of the rest) squared. At most half of
   the run is cut. K. P. White, An effective truncation heuristic for bias reduction in simulation
   output, Simulation 69 (1997); K. P. White, M. J. Cobb, S. C. Spratt, A comparison of five
   steady-state truncation heuristics for simulation, Winter Simulation Conference 2000. The parts
   are means of hundreds of operations, as the batches of MSER-5 are.
2. The rest is steady if the second half's rates are within MARGIN of the first half's: the whole
   95 % interval of their ratio must be (stats.ratio_interval). It drifts if the whole interval is
   outside. Otherwise nothing is decided. J. Geweke compares the ends of a series in the same way
   (Evaluating the accuracy of sampling-based approaches, 1992), but asks whether a difference can
   be seen, so a noisy series passes there. Here it is undecided.

What it promises, if parts are independent (tests/test_steady.py): of series whose rate still
changes by twice the margin between the halves, at most one in twenty is called steady; of steady
ones, at most one in twenty is said to drift. It cannot see a change that comes after the run, nor
one that is slower than the margin in a quarter of the run.
"""

from collections import namedtuple

from common import judge, stats

MARGIN = 0.1
LEAST = 16   # parts, or nothing is tested
RESTS = 5    # the shortest rest that MSER considers: a shorter one is even by chance

# cut: how many parts; low, high: interval of second half / first half of the rest.
Settled = namedtuple("Settled", "cut low high")


def mser(values):
    """How many values of the beginning to cut."""
    def error(cut):
        rest = values[cut:]
        mean = sum(rest) / len(rest)
        return sum((v - mean) ** 2 for v in rest) / len(rest) ** 2
    return min(range(len(values) - RESTS + 1), key=error)


def settle(rates):
    """Settled of the rates of a run's parts, all above 0; None with too few."""
    if len(rates) < LEAST or min(rates) <= 0:
        return None
    cut = min(mser(rates), len(rates) // 2)
    rest = rates[cut:]
    found = stats.ratio_interval(rest[:len(rest) // 2], rest[len(rest) // 2:])
    return Settled(cut, found.low, found.high)


def verdict(low, high):
    """MET: steady; NOT_MET: it drifts; UNDECIDED."""
    least, most = 1 / (1 + MARGIN), 1 + MARGIN
    if least <= low and high <= most:
        return judge.MET
    return judge.NOT_MET if high < least or low > most else judge.UNDECIDED


def steps(sums):
    """What each part adds to a list of sums."""
    return [b - a for a, b in zip([0] + sums, sums)]


def metrics(run):
    """Of a simulated run with parts, {} without: items_per_second without the start-up; start_up,
    the share that was cut; drift_low and drift_high, the interval of Settled; late_pages, by how
    much the most pages at a time grew in the second half of the rest."""
    parts = run.get("parts")
    if not parts or "items_per_second" not in run:
        return {}
    counts, times, pages = parts["allocations"], parts["ns"], parts["pages"]
    rates = [calls / max(ns, 1) for calls, ns in zip(steps(counts), steps(times))]
    settled = settle(rates)
    if settled is None:
        return {}
    cut = settled.cut
    begin = (counts[cut - 1], times[cut - 1]) if cut else (0, 0)
    rest = (counts[-1] - begin[0]) / (times[-1] - begin[1])
    middle = cut + (len(pages) - cut) // 2
    return {"items_per_second": run["items_per_second"] * rest * times[-1] / counts[-1],
            "start_up": begin[0] / counts[-1], "drift_low": settled.low,
            "drift_high": settled.high,
            "late_pages": max(0, max(pages[middle:]) - max(pages[:middle]))}
