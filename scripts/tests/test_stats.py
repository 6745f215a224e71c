"""The statistics against values worked out by hand or published."""

import unittest

import fixture  # noqa: F401  (finds the modules)
import stats


class Statistics(unittest.TestCase):
    def test_median(self):
        self.assertEqual(stats.median([3, 1, 2]), 2)
        self.assertEqual(stats.median([4, 1, 2, 3]), 2.5)

    def test_exact_p_of_separated_samples(self):
        # All of one side below the other: 2 of C(n + m, n) arrangements.
        self.assertAlmostEqual(stats.mann_whitney([1, 2, 3], [4, 5, 6]), 2 / 20)
        self.assertAlmostEqual(stats.mann_whitney([1, 2, 3, 4, 5], [6, 7, 8, 9, 10]), 2 / 252)

    def test_exact_p_by_enumeration(self):
        import itertools
        a, b = [1, 4, 6, 7], [2, 3, 5, 8, 9]
        u = sum(x < y for x in a for y in b)
        far = min(u, 20 - u)
        count = 0
        for chosen in itertools.combinations(range(1, 10), 4):
            others = [v for v in range(1, 10) if v not in chosen]
            other_u = sum(x < y for x in chosen for y in others)
            count += other_u <= far
        self.assertAlmostEqual(stats.mann_whitney(a, b), min(1, 2 * count / 126))

    def test_ties_use_the_normal_approximation(self):
        # scipy.stats.mannwhitneyu(method="asymptotic") gives this.
        self.assertAlmostEqual(stats.mann_whitney([1, 2, 2, 3, 5, 5], [2, 5, 6, 6, 7, 8]),
                               0.0419658, places=6)
        self.assertEqual(stats.mann_whitney([1, 1], [1, 1]), 1.0)

    def test_intervals(self):
        self.assertEqual(stats.median_interval([5.0] * 5), (5.0, 5.0))
        low, high = stats.median_interval([1, 2, 3, 4, 5])
        self.assertLessEqual(low, 3)
        self.assertGreaterEqual(high, 3)
        low, high = stats.ratio_interval([100, 101, 99, 100, 102], [200, 201, 199, 202, 198])
        self.assertTrue(1.9 < low <= 2 <= high < 2.1, (low, high))
        self.assertEqual(stats.ratio_interval([1, 2, 3], [2, 3, 4]),
                         stats.ratio_interval([1, 2, 3], [2, 3, 4]))

    def test_least_launches(self):
        self.assertGreater(stats.smallest_p(3, 3), 0.05)
        self.assertLess(stats.smallest_p(4, 4), 0.05)


if __name__ == "__main__":
    unittest.main()
