"""stats.py - the few statistics that tables, bars and figures use; standard library only: numpy has
none of the exact intervals.

One sample is one process launch: repetitions inside a process share its memory layout and its
CPUs and are not independent. Launches of a run are interleaved in rounds, so two cases are
compared within a round: one ratio for each round, and then an interval of the ratios' median.

Every interval except bootstrap_mean's is of order statistics and exact: for any distribution, the
k-th smallest and the k-th largest of n independent values enclose the true median with a
probability that depends on n and k alone. With fewer than LEAST values no interval reaches 95 %.
"""

import functools
import math
import random
from collections import namedtuple
from itertools import accumulate
from statistics import geometric_mean as mean_of_ratios, median

CONFIDENCE = 0.95
LEAST = 6  # the fewest values whose range covers the median with 95 %

Interval = namedtuple("Interval", "low high coverage")
Value = namedtuple("Value", "round value disturbed")


class Samples(list):
    """One value for each launch. all: every value with its round; left_out and shaken: how many
    disturbed values were left out and how many remain; seeds: launches are seeds of a simulated
    machine, which nothing disturbs."""

    def __init__(self, found=(), seeds=False):
        self.all = [v for v in found if v.value is not None]
        calm = [v for v in self.all if not v.disturbed]
        kept = calm if len(calm) >= LEAST else self.all
        super().__init__(v.value for v in kept)
        self.seeds = seeds
        self.left_out = len(self.all) - len(kept)
        self.shaken = sum(1 for v in kept if v.disturbed)


def samples_of(values):
    """Plain values as samples, each a round of its own."""
    return values if isinstance(values, Samples) else Samples(
        Value(k, v, False) for k, v in enumerate(values))


def coverage(count, beyond=0):
    """P(the median lies between two of count values), with this many values beyond each."""
    tail = sum(math.comb(count, k) for k in range(beyond + 1)) / 2 ** count
    return max(0.0, 1 - 2 * tail)


def median_interval(values, confidence=CONFIDENCE):
    """The narrowest exact interval that covers the median with this confidence; with too few
    values, their whole range and its coverage."""
    ordered = sorted(values)
    beyond = 0
    while 2 * (beyond + 2) <= len(ordered) and coverage(len(ordered), beyond + 1) >= confidence:
        beyond += 1
    return Interval(ordered[beyond], ordered[-1 - beyond], coverage(len(ordered), beyond))


def drawn_interval(values):
    """The interval that a figure draws; None with too few values, or with disturbed ones."""
    if len(values) < LEAST or getattr(values, "shaken", 0):
        return None
    return median_interval(values)


def sure_interval(values):
    """The interval that a bar is judged on, or None if nothing can be judged. On a simulated
    machine every seed must agree: the whole range counts."""
    if getattr(values, "seeds", False):
        return median_interval(values, 1.0) if values else None
    return drawn_interval(values)


def rounds_needed(confidence, astray=1):
    """The fewest rounds whose interval still has this confidence if this many outliers lie on each
    side."""
    count = LEAST
    while coverage(count, astray) < confidence:
        count += 1
    return count


def paired(one, other, combine=lambda a, b: a / b if b else None):
    """One value for each round that both sides have, by default one / other. A round whose value is
    None is left out."""
    first, second = ({v.round: v for v in samples_of(side).all} for side in (one, other))
    return Samples((Value(key, combine(v.value, second[key].value),
                          bool(v.disturbed or second[key].disturbed))
                    for key, v in first.items() if key in second),
                   getattr(one, "seeds", False))


def mapped(samples, change):
    """The same launches with each value changed."""
    samples = samples_of(samples)
    return Samples((v._replace(value=change(v.value)) for v in samples.all), samples.seeds)


@functools.lru_cache(maxsize=256)
def _tails(count_a, count_b):
    """P(U <= u) of the Mann-Whitney statistic for each u, by counting arrangements."""
    # Those of each u are the coefficients of the Gaussian binomial, the product over i = 1 to
    # count_a of (1 - q^(count_b + i)) / (1 - q^i).
    ways = [1] + [0] * (count_a * count_b)
    for i in range(1, count_a + 1):
        for u in range(len(ways) - 1, count_b + i - 1, -1):
            ways[u] -= ways[u - count_b - i]
        for u in range(i, len(ways)):
            ways[u] += ways[u - i]
    total = math.comb(count_a + count_b, count_a)
    return [amount / total for amount in accumulate(ways)]


def ratio_interval(base, other, confidence=CONFIDENCE):
    """Interval of other / base for two samples of launches that share no rounds: Hodges and
    Lehmann's, of the Mann-Whitney test; exact if the samples differ by one factor only. With too
    few launches for the confidence, the widest interval. All values above 0."""
    ratios = sorted(b / a for a in base for b in other)
    tails = _tails(len(base), len(other))
    beyond = 0
    while 2 * (beyond + 2) <= len(ratios) and 1 - 2 * tails[beyond + 1] >= confidence:
        beyond += 1
    return Interval(ratios[beyond], ratios[-1 - beyond], max(0.0, 1 - 2 * tails[beyond]))


def middle_ratio(base, other):
    """The estimate that belongs to ratio_interval: the median of all ratios."""
    return median([b / a for a in base for b in other])


@functools.lru_cache(maxsize=None)
def student_quantile(share, freedom):
    """Of Student's distribution, for a share of at least 1/2: by bisection of its integral."""
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) \
        / math.sqrt(freedom * math.pi)

    def area(angle):  # of the density between 0 and root(freedom) tan(angle), by Simpson's rule
        step = angle / 200
        heights = [math.cos(k * step) ** (freedom - 1) for k in range(201)]
        return scale * math.sqrt(freedom) * step / 3 * (
            heights[0] + heights[-1] + 4 * sum(heights[1:-1:2]) + 2 * sum(heights[2:-1:2]))

    low, high = 0.0, math.pi / 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if area(middle) < share - 0.5 else (low, middle)
    return math.sqrt(freedom) * math.tan(low)


NORMAL_MAD = 1.4826  # a normal distribution's deviation over its median absolute deviation


def middle_and_spread(values):
    """(median, the deviation that a normal distribution of this median absolute deviation has):
    up to half of the values may be astray."""
    middle = median(values)
    return middle, NORMAL_MAD * median([abs(value - middle) for value in values])


DRAWS = 1000


def geometric_mean(groups):
    """Of the medians of groups of values above 0."""
    return mean_of_ratios([median(values) for values in groups])


def bootstrap_mean(groups, draws=DRAWS, seed=1):
    """(geometric mean of the groups' medians, its interval): the middle 95 % of bootstrap means,
    for which each group is resampled with replacement. All values above 0. Unlike the intervals
    above it is not exact, and with few values in a group it is too narrow."""
    source = random.Random(seed)
    drawn = sorted(geometric_mean([source.choices(values, k=len(values)) for values in groups])
                   for _ in range(draws))
    tail = int(draws * (1 - CONFIDENCE) / 2)
    return geometric_mean(groups), Interval(drawn[tail], drawn[-1 - tail], CONFIDENCE)
