"""test_stats.py - The statistics against values worked out by hand or published."""

import unittest

import fixture  # noqa: F401  (finds the modules)
from common import judge, stats


class Statistics(unittest.TestCase):
    def test_median(self):
        self.assertEqual(stats.median([3, 1, 2]), 2)
        self.assertEqual(stats.median([4, 1, 2, 3]), 2.5)

    def test_coverage_is_binomial(self):
        # P(all n values on one side of the median) = 2 / 2^n.
        for count, share in ((2, 0.5), (3, 0.75), (5, 0.9375), (6, 0.96875), (7, 0.984375)):
            self.assertAlmostEqual(stats.coverage(count), share)
        # 9 values, one beyond on each side: 1 - 2 (1 + 9) / 512.
        self.assertAlmostEqual(stats.coverage(9, 1), 1 - 20 / 512)

    def test_coverage_holds_whatever_the_distribution(self):
        import random
        source, inside, rounds = random.Random(3), 0, 4000
        for _ in range(rounds):
            values = [source.expovariate(1) for _ in range(8)]
            low, high, share = stats.median_interval(values)
            inside += low <= 0.6931472 <= high  # the median of that distribution
        self.assertGreater(inside / rounds, 0.95)
        self.assertAlmostEqual(inside / rounds, share, delta=0.01)

    def test_no_interval_below_six(self):
        self.assertLess(stats.median_interval([1, 2, 3, 4, 5]).coverage, 0.95)
        self.assertIsNone(stats.drawn_interval([1, 2, 3, 4, 5]))
        self.assertEqual(stats.drawn_interval([3, 1, 2, 6, 5, 4]), (1, 6, 0.96875))
        self.assertEqual(stats.median_interval(range(1, 10))[:2], (2, 8))

    def test_disturbed_are_left_out_where_six_stay(self):
        def taken(shaken):
            return stats.Samples(stats.Value(k, 100 if k < shaken else 1, k < shaken)
                                 for k in range(8))
        self.assertEqual((list(taken(2)), taken(2).left_out, taken(2).shaken), ([1] * 6, 2, 0))
        self.assertTrue(stats.drawn_interval(taken(2)))
        self.assertEqual((len(taken(3)), taken(3).left_out, taken(3).shaken), (8, 0, 3))
        self.assertIsNone(stats.sure_interval(taken(3)))

    def test_pairs_are_of_one_round(self):
        def taken(values, rounds):
            return stats.Samples(stats.Value(r, v, False) for v, r in zip(values, rounds))
        # The machine doubles its speed from round to round; the ratio stays.
        one = taken([10, 20, 40, 80, 160, 320], range(6))
        other = taken([160, 5, 10, 20, 40, 80], (5, 0, 1, 2, 3, 4))
        self.assertEqual(list(stats.paired(one, other)), [2] * 6)
        self.assertEqual(stats.sure_interval(stats.paired(one, other))[:2], (2, 2))
        apart = stats.ratio_interval(other, one)
        self.assertTrue(apart.low < 0.5 and apart.high > 8, apart)
        self.assertEqual(list(stats.paired(one, taken([0, 5], (0, 1)))), [4])

    def test_seeds_judge_by_every_one(self):
        seeds = stats.Samples((stats.Value(k, k + 2, False) for k in range(2)), seeds=True)
        self.assertEqual(stats.sure_interval(seeds)[:2], (2, 3))
        self.assertIsNone(stats.drawn_interval(seeds))

    def test_ratio_interval_by_enumeration(self):
        import itertools
        # Of all ways to deal 1..9 to 4 and 5: the share whose U is at most u.
        tails = [0] * 21
        for chosen in itertools.combinations(range(1, 10), 4):
            others = [v for v in range(1, 10) if v not in chosen]
            tails[sum(x < y for x in chosen for y in others)] += 1 / 126
        interval = stats.ratio_interval([1, 2, 4, 8], [3, 6, 12, 24, 48], 0.9)
        ratios = sorted(b / a for a in (1, 2, 4, 8) for b in (3, 6, 12, 24, 48))
        beyond = max(k for k in range(10) if 1 - 2 * sum(tails[:k + 1]) >= 0.9)
        self.assertEqual(interval[:2], (ratios[beyond], ratios[-1 - beyond]))
        self.assertAlmostEqual(interval.coverage, 1 - 2 * sum(tails[:beyond + 1]))

    def test_rounds_that_decide(self):
        self.assertEqual(stats.rounds_needed(0.95, astray=0), 6)
        count = stats.rounds_needed(1 - 0.05 / 40)
        self.assertGreaterEqual(stats.coverage(count, 1), 1 - 0.05 / 40)
        self.assertLess(stats.coverage(count - 1, 1), 1 - 0.05 / 40)


class Judged(unittest.TestCase):
    def test_bars_are_judged_on_intervals(self):
        def word(values, **bar):
            return judge.bar("x", stats.samples_of(values), **bar).verdict
        above = [1.4, 1.5, 1.6, 1.5, 1.45, 1.55]
        self.assertEqual(word(above, least=1.3), judge.MET)
        self.assertEqual(word(above, most=1.3), judge.NOT_MET)
        self.assertEqual(word(above, least=2), judge.NOT_MET)
        # A median beyond the bar says nothing where the interval is not.
        wide = [1.61, 1.62, 1.7, 1.04, 2.06, 1.6]
        self.assertGreater(stats.median(wide), 1.3)
        self.assertEqual(word(wide, least=1.3), judge.UNDECIDED)
        self.assertEqual(word(above[:5], least=1.3), judge.UNDECIDED)
        self.assertEqual(word([], least=1.3), judge.NOT_MEASURED)

    def test_disturbed_decide_nothing(self):
        shaken = stats.Samples(stats.Value(k, 2, k == 0) for k in range(6))
        found = judge.bar("x", shaken, least=1)
        self.assertEqual(found.verdict, judge.UNDECIDED)
        self.assertIn("1 of them disturbed", found.measured)

    def test_what_an_interval_covers_is_said(self):
        self.assertIn("covers 96.9 %, 6 rounds", judge.bar("x", [2] * 6, least=1).measured)
        self.assertIn("6 are the least", judge.bar("x", [2] * 3, least=1).measured)


if __name__ == "__main__":
    unittest.main()
