"""test_verdicts.py - comparisons whose truth is known: how often is a verdict right, and wrong?"""

import random
import unittest

import generated
from reporting import verdicts

COMPARISONS = 60
# 5 % promised: more than so many of 60 comparisons are wrong in one of 10,000 runs
WRONG_MOST = 10


class Verdicts(unittest.TestCase):
    def told(self, name, factor=1.0, count=3, **other):
        world = generated.WORLDS[name]._replace(**other)
        return generated.told(world, random.Random(3), count, factor)

    def test_equal_results_are_seldom_called_better_or_worse(self):
        for name in generated.WORLDS:
            with self.subTest(name):
                wrong, _ = self.told(name, count=COMPARISONS, rows=20)
                self.assertLessEqual(wrong, WRONG_MOST)

    def test_a_quarter_of_the_speed_is_worse_in_every_row(self):
        for name, world in generated.WORLDS.items():
            with self.subTest(name):
                _, said = self.told(name, factor=0.25)
                self.assertEqual(said[verdicts.WORSE], 3 * world.rows)

    def test_four_times_the_speed_is_better_in_every_row(self):
        _, said = self.told("quiet", factor=4)
        self.assertEqual(said[verdicts.BETTER], 3 * generated.WORLDS["quiet"].rows)

    def test_equal_rows_of_a_quiet_machine_are_the_same(self):
        _, said = self.told("quiet", spread=0.003, launches=12)
        self.assertGreater(said[verdicts.SAME], 0.9 * 3 * generated.WORLDS["quiet"].rows)

    def test_few_decided_baselines_prove_little(self):
        """A fifth less proves nothing: the machine may have moved. A quarter of the speed does."""
        for factor, word in ((1, verdicts.SAME), (1.15, verdicts.WORSE)):
            _, said = self.told("quiet", factor=factor, baselines=5)
            self.assertEqual(said[word], 0)
        _, said = self.told("quiet", factor=0.25, baselines=5)
        self.assertEqual(said[verdicts.WORSE], 3 * generated.WORLDS["quiet"].rows)

    def test_one_stray_baseline_hides_no_regression(self):
        """A margin as wide as the widest move of a baseline would have called this the same."""
        _, said = self.told("quiet", factor=0.5, astray=1)
        self.assertEqual(said[verdicts.WORSE], 3 * generated.WORLDS["quiet"].rows)


if __name__ == "__main__":
    unittest.main()
