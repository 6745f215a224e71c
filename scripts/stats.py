"""stats.py - the few statistics that tables and figures use; standard library only.

One sample is one process launch: repetitions inside a process share its memory layout and its
CPUs and are not independent.
"""

import math
import random

RESAMPLES = 2000


def median(values):
    """The middle value, or the mean of the two middle ones."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2


def _percentile_interval(values, confidence):
    ordered = sorted(values)
    tail = (1 - confidence) / 2
    low = ordered[int(math.floor(tail * (len(ordered) - 1)))]
    high = ordered[int(math.ceil((1 - tail) * (len(ordered) - 1)))]
    return low, high


def median_interval(values, confidence=0.95):
    """Bootstrap percentile interval of the median; the seed is fixed: same data, same figure."""
    if len(set(values)) == 1:
        return values[0], values[0]
    source = random.Random(1)
    medians = [median(source.choices(values, k=len(values))) for _ in range(RESAMPLES)]
    return _percentile_interval(medians, confidence)


def ratio_interval(base, other, confidence=0.95):
    """Bootstrap percentile interval of median(other) / median(base); base medians above 0."""
    source = random.Random(2)
    ratios = []
    for _ in range(RESAMPLES):
        below = median(source.choices(base, k=len(base)))
        above = median(source.choices(other, k=len(other)))
        if below > 0:
            ratios.append(above / below)
    if not ratios:
        return math.nan, math.nan
    return _percentile_interval(ratios, confidence)


def _exact_tail(count_a, count_b, statistic):
    """P(U <= statistic) with no ties, by counting arrangements."""
    # ways[i][u]: arrangements of i values of a and j of b whose U is u, built up over j.
    limit = count_a * count_b
    ways = [[0] * (limit + 1) for _ in range(count_a + 1)]
    for row in ways:
        row[0] = 1
    for j in range(1, count_b + 1):
        fresh = [[0] * (limit + 1) for _ in range(count_a + 1)]
        fresh[0][0] = 1
        for i in range(1, count_a + 1):
            for u in range(limit + 1):
                last_is_b = ways[i][u]
                last_is_a = fresh[i - 1][u - j] if u >= j else 0
                fresh[i][u] = last_is_b + last_is_a
        ways = fresh
    total = math.comb(count_a + count_b, count_a)
    return sum(ways[count_a][: int(statistic) + 1]) / total


def mann_whitney(a, b):
    """Two-sided p of the Mann-Whitney U test: exact without ties up to 20, else normal."""
    merged = sorted((value, side) for side, values in ((0, a), (1, b)) for value in values)
    rank_sum_a = 0.0
    tie_term = 0
    position = 0
    while position < len(merged):
        end = position
        while end < len(merged) and merged[end][0] == merged[position][0]:
            end += 1
        rank = (position + 1 + end) / 2
        rank_sum_a += rank * sum(1 for item in merged[position:end] if item[1] == 0)
        tie_term += (end - position) ** 3 - (end - position)
        position = end
    n, m = len(a), len(b)
    u = rank_sum_a - n * (n + 1) / 2
    if tie_term == 0 and max(n, m) <= 20:
        return min(1.0, 2 * _exact_tail(n, m, min(u, n * m - u)))
    total = n + m
    variance = n * m / 12 * (total + 1 - tie_term / (total * (total - 1)))
    if variance <= 0:
        return 1.0
    z = max(0.0, abs(u - n * m / 2) - 0.5) / math.sqrt(variance)
    return math.erfc(z / math.sqrt(2))


def smallest_p(n, m):
    """The smallest p that the exact test can give with so many samples."""
    return 2 / math.comb(n + m, n)
