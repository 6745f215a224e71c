"""test_profile.py - profile_cost.py and what is made of its results: plan, bars, damaged files,
the figures."""

import json
import os
import unittest

import fixture
import profile_cost
from common import judge, machine
from measuring import profile_cases
from reporting import profile_figures, profile_results, results
from invented_profile import SAMPLE_NS, document


def verdicts(change=None):
    """{bar: verdict}"""
    suite = profile_results.Suite(document(change))
    return {bar.says: bar.verdict for bar in profile_results.bars(suite)}


class Plan(unittest.TestCase):
    def test_each_way_in_each_round_and_errors_once(self):
        launches = profile_cost.plan_of(profile_cases.CASES, 4, 1)
        self.assertEqual(len(launches), 5 * 4 * 3 + 1)
        self.assertEqual([l["number"] for l in launches], list(range(1, 62)))
        self.assertNotEqual([l["case"] for l in launches[:16]],
                            [l["case"] for l in launches[16:32]])


class Bars(unittest.TestCase):
    def test_all_are_met_by_what_was_invented(self):
        found = verdicts()
        self.assertEqual(len(found), 9)
        self.assertEqual(set(found.values()), {judge.MET})

    def missed(self, change):
        return [says for says, verdict in verdicts(change).items() if verdict == judge.NOT_MET]

    def test_a_dear_sample_misses_its_bar(self):
        def dear(launch):
            if launch["case"] == "loop-kept" and launch["way"] == "switched":
                launch["values"]["10"]["cpu_ns"] += 200
        missed = self.missed(dear)
        self.assertEqual(len(missed), 1)
        self.assertIn("a sample takes at most 0.5 us", missed[0])

    def test_a_slower_server_misses_its_bar(self):
        def slow(launch):
            if launch["case"] == "redis" and launch["way"] == "switched":
                launch["values"]["19"]["cpu_ns"] *= 1.02
        missed = self.missed(slow)
        self.assertEqual(len(missed), 1)
        self.assertIn("redis-benchmark", missed[0])

    def test_an_error_beyond_the_theory_is_not_right(self):
        def off(launch):
            if launch["case"] == "errors":
                launch["values"]["64: 100"]["error"] *= 1.3
        missed = self.missed(off)
        self.assertEqual(len(missed), 1)
        self.assertIn("theory", missed[0])

    def test_a_samples_cost_is_found_again(self):
        suite = profile_results.Suite(document())
        for case, cost in SAMPLE_NS.items():
            for way in ("10", "21"):
                for found in suite.sample_ns(case, way):
                    self.assertAlmostEqual(found, cost, 3)


class Files(fixture.Case):
    def test_report_has_its_figures_and_bars(self):
        out = os.path.dirname(self.write("out/profile.json", json.dumps(document())))
        self.write("out/machine.json", json.dumps(machine.describe("/", "/")))
        self.assertEqual(fixture.call("checks/results.py", out).returncode, 0)
        done = fixture.call("report.py", out, "--table")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertIn("a sample takes at most 0.5 us", done.stdout)
        with open(os.path.join(out, "report.html"), encoding="utf-8") as file:
            page = file.read()
        for name in profile_figures.FIGURES:
            self.assertIn(f'<figure id="{name}"', page)
        titles = {name: make(results.load([out])).title
                  for name, make in profile_figures.FIGURES.items()}
        self.assertIn("+1.5 %, +1.8 % and +1.6 %", titles["accounts-profile-cost"])
        self.assertIn("off by 10.2 %, and the theory says 10.0 %",
                      titles["accounts-profile-error"])

    def test_what_is_damaged_is_named(self):
        for change, word in ((lambda d: d.pop("launches"), "launches is not a list"),
                             (lambda d: d["launches"][2].pop("values"),
                              "launches[2].values is not an object"),
                             (lambda d: d["launches"][1].update(case="pear"),
                              "launches[1].case is not one of its cases")):
            damaged = document()
            change(damaged)
            path = self.write("bad/profile.json", json.dumps(damaged))
            self.assert_refused(fixture.call("report.py", os.path.dirname(path)), path, word)

    def test_wrong_input(self):
        self.assert_refused(fixture.call("profile_cost.py", "--only", "pear"), "'pear'")
        self.assert_refused(fixture.call("profile_cost.py", "--build-dir", self.folder, "--out",
                                         os.path.join(self.folder, "out")), "build first")


if __name__ == "__main__":
    unittest.main()
