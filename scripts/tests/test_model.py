"""test_model.py - The model against reality: regimes, ratios, ranking, on fixed data; refusals."""

import json
import os
import unittest

import fixture
import model
from reporting import model_table

KEY = ("churn", 0.95, 2, 0)
REAL = {"original": [100.0, 102.0, 98.0], "exact": [10.0, 10.1, 9.9],
        "local_scan": [50.0, 52.0, 48.0], "reclaiming": [49.0, 53.0, 47.0]}
SIMULATED = {"original": 200.0, "exact": 15.0, "local_scan": 20.0, "reclaiming": 90.0}


class Regimes(fixture.Case):
    """Transfer costs that lie far apart are two machines."""

    def test_split_where_costs_lie_apart(self):
        self.assertEqual(model_table.regimes_of([30.1, 126.0, 29.5, 122.0, 31.0]),
                         [(29.5, 31.0), (122.0, 126.0)])
        self.assertEqual(model_table.regimes_of([70.0, 75.0, 80.0]), [(70.0, 80.0)])

    def test_a_launch_belongs_where_both_its_calibrations_lie(self):
        regimes = [(29.5, 31.0), (122.0, 126.0)]
        self.assertEqual(model_table.regime_of(regimes, 30.0, 31.0), 0)
        self.assertEqual(model_table.regime_of(regimes, 125.0, 122.0), 1)
        self.assertIsNone(model_table.regime_of(regimes, 30.0, 125.0))

    def test_values_are_sorted_into_regimes_and_disturbed_ones_left_out(self):
        def one(before, after, ns, bad):
            return {"policy": "exact", "before": before, "after": after,
                    "rows": {("pair", None, 1): (ns, bad), ("pair", None, 2): (ns / 2, bad)}}

        found = model.real_values([one(30, 30, 8.0, False), one(30, 125, 9.0, False),
                                   one(125, 125, 10.0, True), one(30, 30, 80.0, True)],
                                  [(30, 30), (125, 125)])
        self.assertEqual(found[("pair", None, 1, None)], {"exact": [8.0, 9.0]})
        self.assertEqual(found[("pair", None, 2, 0)], {"exact": [4.0]})
        self.assertEqual(found[("pair", None, 2, 1)], {"exact": [5.0]})  # there are no others

    def test_costs_of_a_regime_are_medians(self):
        documents = [{"name": "m", "preset": "epyc", "costs": {"l3_ns": v, "l3_hit_ns": v}}
                     for v in (30.0, 31.0, 90.0)]
        found = model_table.merged_costs(documents)
        self.assertEqual(found["costs"], {"l3_ns": 31.0, "l3_hit_ns": 30.0})
        self.assertEqual((found["preset"], found["calibrations"]), ("epyc", 3))


class Comparison(fixture.Case):
    """Ratios to original, and the order of the policies."""

    def setUp(self):
        super().setUp()
        self.group = model_table.group_of(KEY, REAL, SIMULATED)
        self.cells = {c.policy: c for c in self.group.cells}

    def test_ratios_and_factors(self):
        exact, scan = self.cells["exact"], self.cells["local_scan"]
        self.assertAlmostEqual(exact.ratio_real, 10.0)
        self.assertAlmostEqual(exact.ratio_simulated, 200 / 15)
        self.assertAlmostEqual(exact.factor, 4 / 3)
        self.assertAlmostEqual(scan.factor, 5.0)  # 2 times original, simulated 10 times
        found = model_table.verdict([self.group])
        self.assertEqual((found["within"], found["ratios"]), (2, 3))

    def test_policies_whose_intervals_meet_are_tied(self):
        self.assertEqual((self.group.decided, self.group.tied), (5, 1))
        self.assertEqual((self.group.tau, self.group.discordant), (1.0, []))

    def test_a_wrong_order_is_named(self):
        group = model_table.group_of(KEY, REAL, {**SIMULATED, "exact": 30.0})
        self.assertEqual(group.discordant, [("exact", "local_scan")])
        self.assertAlmostEqual(group.tau, 0.6)
        text = model_table.text_table([group], [(30, 30)])
        self.assertIn("exact is faster than local_scan, simulated slower", text)

    def test_without_a_simulated_value_there_is_no_ratio(self):
        group = model_table.group_of(KEY, REAL, {**SIMULATED, "exact": None})
        self.assertIsNone({c.policy: c for c in group.cells}["exact"].factor)
        self.assertEqual(model_table.verdict([group])["ratios"], 2)
        model_table.text_table([group], [(30, 30)])

    def test_table_json_and_figure(self):
        text = model_table.text_table([self.group], [(30, 30), (125, 125)])
        self.assertIn("churn 0.95, 2 threads, transfer 30 ns", text)
        self.assertIn("more than 2", text)
        document = model_table.document_of([self.group], [(30, 30)], {"ops": 1})
        self.assertEqual(json.loads(json.dumps(document))["verdict"]["within"], 2)
        made = model_table.figure([self.group], [(30, 30)], list(REAL), "note")
        svg = made.canvas.document(made.title, standalone=True)
        self.assertIn("2 of 3 throughput ratios", made.title)
        self.assertEqual(svg.count("real, "), 3)
        self.assertIsNone(model_table.figure([], [], [], ""))


class Refusals(fixture.Case):
    """One line, exit 2."""

    def test_nothing_built(self):
        done = fixture.call("model.py", "--out", os.path.join(self.folder, "o"), "--build-dir",
                            os.path.join(self.folder, "none"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("build first", done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1)

    def test_bad_counts(self):
        done = fixture.call("model.py", "--repetitions", "0")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(len(done.stderr.splitlines()), 1)


if __name__ == "__main__":
    unittest.main()
