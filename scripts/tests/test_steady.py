"""test_steady.py - The test for a steady state, on generated series with and without a start-up and
a trend, and what reports say of it."""

import json
import os
import random
import re
import shutil
import unittest
from pathlib import Path

import fixture
from common import judge, steady
from reporting import claims, figures, results, steadiness

PARTS, SERIES = 50, 200


def noise(seed, rho=0.0, spread=0.05):
    """Factors around 1, each correlated with the one before."""
    source, last = random.Random(seed), 0.0
    for _ in range(PARTS):
        last = rho * last + source.gauss(0, spread)
        yield 1 + last


def tally(shape, **how):
    """How many series of this shape, a function of the part, get each verdict."""
    found = dict.fromkeys((judge.MET, judge.NOT_MET, judge.UNDECIDED), 0)
    for seed in range(SERIES):
        one = steady.settle([shape(k) * v for k, v in enumerate(noise(seed, **how))])
        found[steady.verdict(one.low, one.high)] += 1
    return found


class Steady(unittest.TestCase):
    def test_mser_cuts_a_start_up_by_hand(self):
        # The rest's errors: 3 even values after the cut have none, two before have some.
        self.assertEqual(steady.mser([9, 5, 1, 1, 1, 1, 1]), 2)
        self.assertEqual(steady.mser([1] * 20), 0)

    def test_steady_series_are_said_to_be_steady(self):
        for shape in (lambda k: 1, lambda k: 5 if k < 15 else 1, lambda k: 1 + 4 * 0.8 ** k):
            found = tally(shape)
            self.assertGreater(found[judge.MET], 0.95 * SERIES)
            self.assertEqual(found[judge.NOT_MET], 0)
        self.assertLess(tally(lambda k: 1, rho=0.5)[judge.NOT_MET], 0.05 * SERIES)

    def test_series_that_change_are_not(self):
        def never(shape, least):
            found = tally(shape)
            self.assertLess(found[judge.MET], 0.05 * SERIES, found)
            self.assertGreaterEqual(found[judge.NOT_MET], least * SERIES, found)
        never(lambda k: 1 / (1 + k / 10), 0.95)           # slower and slower
        never(lambda k: 1 + 0.05 * k, 0.9)                # by 23 % between the halves of the rest
        never(lambda k: 1 if k < 38 else 1.3, 0.5)        # a late step
        never(lambda k: 1 if k < 30 else 1.3, 0)          # one in the middle of a half
        never(lambda k: 1 + 0.01 * k, 0)                  # a little: seldom decided

    def test_noise_alone_decides_nothing(self):
        found = tally(lambda k: 1, spread=0.15)
        self.assertGreater(found[judge.UNDECIDED], 0.5 * SERIES)
        self.assertLess(found[judge.NOT_MET], 0.05 * SERIES)

    def test_too_few_parts_are_not_tested(self):
        self.assertIsNone(steady.settle([1.0] * (steady.LEAST - 1)))
        self.assertIsNone(steady.settle([1.0] * 20 + [0.0]))
        self.assertEqual(steady.metrics({"items_per_second": 5}), {})

    def test_the_rate_is_that_of_the_rest(self):
        # 10 parts at 4 a ns, 30 at 1: 400 allocations in 32.5 ns.
        ends = [2.5 * (k + 1) if k < 10 else 25 + 10 * (k - 9) for k in range(40)]
        pages = [k if k < 30 else 40 for k in range(40)]
        found = steady.metrics({"items_per_second": 400 / ends[-1], "parts": {
            "allocations": [10 * (k + 1) for k in range(40)], "ns": ends, "pages": pages}})
        self.assertEqual(found["start_up"], 0.25)
        self.assertAlmostEqual(found["items_per_second"], 1)
        self.assertEqual((found["drift_low"], found["drift_high"]), (1, 1))
        self.assertEqual(found["late_pages"], 40 - 24)  # the rest begins at 10, its half at 25


class Reported(fixture.Case):
    def copy(self, change):
        """The invented simulated results, each run changed."""
        folder = os.path.join(self.folder, "sim")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(self.invented(), "simulated.json"), encoding="utf-8") as file:
            document = json.load(file)
        for run in document["benchmarks"]:
            change(run)
        shutil.copy(os.path.join(self.invented(), "machine.json"), folder)
        self.write("sim/simulated.json", json.dumps(document))
        return folder

    def test_every_figure_and_table_states_operations_warm_up_and_seeds(self):
        found = results.load([self.invented()])
        drawn = {f.name: re.sub(r"</text>\n<text[^>]*>", " ", f.canvas.document(f.title, True))
                 for f in figures.make(found)[0]}
        self.assertRegex(drawn.pop("sim-day"),  # its load moves, so there is no steady state
                         r"\d operations without warm-up.*; 2 seeds \(1, 2\)")
        for name in [name for name in drawn if name.startswith("sim-")]:
            self.assertRegex(drawn[name], r"operations after [\d,]+(?: to [\d,]+)? to warm up",
                             name)
            self.assertRegex(drawn[name], r"cut as start-up; seeds? 1", name)
        page = Path(os.path.join(self.invented(), "report.html")).read_text("utf-8")
        self.assertIn("cases have a steady rate", page)
        self.assertRegex(page, "medians of the seeds; rates without the start-up.* to warm up")

    def test_a_case_without_steady_state_is_named(self):
        def slow(run):
            if run["policy"] == "exact" and run["threads"] == 256 and "occupancy" in run:
                size = len(run["parts"]["ns"])
                run["parts"]["ns"] = [10 * (k + 1) ** 3 for k in range(size)]
        before = " ".join(steadiness.sentences(results.load([self.invented()]).simulated()))
        self.assertNotIn("No steady rate", before)
        self.assertRegex(before, r"Pages still grow .*original, 256 threads \(\+\d")
        found = results.load([self.copy(slow)])
        said = " ".join(steadiness.sentences(found.simulated()))
        self.assertRegex(said, r"No steady rate [^.]*: churn 0.95 full, exact, 256 threads")

    def test_older_results_are_read_and_say_that_they_were_not_tested(self):
        found = results.load([self.copy(lambda run: [run.pop(k) for k in ("parts",
                                                                         "warm_up_wanted")])])
        said = " ".join(steadiness.sentences(found.simulated()))
        self.assertIn("not tested for a steady state", said)
        self.assertNotIn("cases have a steady rate", said)
        self.assertTrue(claims.judged(found))

    def test_damaged_parts_are_refused(self):
        for change in (lambda run: run["parts"].pop("ns"), lambda run: run.update(parts=[1])):
            folder = self.copy(change)
            self.assert_refused(fixture.call("report.py", folder, "--table"), "parts of",
                                "simulate it again")


if __name__ == "__main__":
    unittest.main()
