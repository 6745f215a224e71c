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
        rounds = {"loop": 4, "program": 3, "server": 2}
        launches = profile_cost.plan_of(profile_cases.CASES, rounds, 1)
        # 6 loops 8 ways, 5 programs and 2 servers 5 ways; walked: these and two; errors
        self.assertEqual(len(launches), 6 * 8 * 4 + 5 * 5 * 3 + 2 * 5 * 2 + 13 + 2 + 1)
        self.assertEqual([l["number"] for l in launches], list(range(1, len(launches) + 1)))
        turns = [[l["case"] for l in launches if l["round"] == number and l["way"] == "none"]
                 for number in (1, 2)]
        self.assertNotEqual(*([case for case in turn if case.startswith("loop")]
                              for turn in turns))

    def test_a_pair_is_shuffled_and_in_one_place(self):
        launches = profile_cost.plan_of(profile_cases.CASES, {"loop": 20}, 1, True)
        mine = [k for k, l in enumerate(launches) if l["case"] == "loop-new-kept"
                and l["way"] != "walked"]
        first = set()
        for begin in range(0, len(mine), 10):
            turn = mine[begin:begin + 10]
            self.assertEqual(turn, list(range(turn[0], turn[0] + 10)))
            ways = [launches[k]["way"] for k in turn]
            first.add(ways.index("none") < ways.index("19"))
            self.assertIn("before-none", ways)
        self.assertEqual(first, {True, False})


class Run(fixture.Case):
    def test_cpu_time_is_that_of_the_whole_tree(self):
        burn = "t=0; while [ $t -lt 60000 ]; do t=$((t+1)); done"
        alone, said, _ = profile_cases.run(["sh", "-c", f"{burn}; echo said"], dict(os.environ))
        tree, _, _ = profile_cases.run(["sh", "-c", f"sh -c '{burn}'; sh -c '{burn}'; :"],
                                       dict(os.environ))
        self.assertEqual(said, "said\n")
        self.assertGreater(alone, 1e6)
        self.assertGreater(tree, 1.3 * alone)

    def test_what_fails_says_why(self):
        with self.assertRaisesRegex(ValueError, "^exit 3: no room$"):
            profile_cases.run(["sh", "-c", "echo no room >&2; exit 3"], dict(os.environ))

    def test_what_is_not_installed_names_the_package(self):
        before = os.environ["PATH"]
        os.environ["PATH"] = self.folder
        try:
            said = {case.name: profile_cases.absent(case) for case in profile_cases.CASES}
        finally:
            os.environ["PATH"] = before
        self.assertEqual(said["mariadb"], "mariadbd is not here; install mariadb-server")
        self.assertEqual(said["sqlite3"], "sqlite3 is not here; install sqlite3")
        self.assertEqual(said["node"], "node is not here; install nodejs")
        self.assertEqual((said["loop-new-kept"], said["c++"], said["errors"]), (None,) * 3)


class Bars(unittest.TestCase):
    def test_all_are_met_by_what_was_invented(self):
        found = verdicts()
        # cost of 13, samples of 6 loops, walked 15, errors
        self.assertEqual(len(found), 13 + 6 + 15 + 1)
        self.assertEqual(set(found.values()), {judge.MET})

    def missed(self, change):
        return [says for says, verdict in verdicts(change).items() if verdict == judge.NOT_MET]

    def test_a_dear_sample_misses_its_bar(self):
        def dear(launch):
            if launch["case"] == "loop-malloc-kept" and launch["way"] == "10":
                launch["values"]["10"]["cpu_ns"] += 200
        missed = self.missed(dear)
        self.assertEqual(len(missed), 1)
        self.assertIn("a sample takes at most 0.5 us", missed[0])

    def test_a_slower_server_misses_its_bar(self):
        def slow(launch):
            if launch["case"] == "redis" and launch["way"] == "19":
                launch["values"]["19"]["cpu_ns"] *= 1.02
        missed = self.missed(slow)
        self.assertEqual(len(missed), 1)
        self.assertIn("redis-server", missed[0])

    def test_unwound_stacks_miss_their_bar(self):
        def unwound(launch):
            if launch["case"] == "perl" and launch["way"] == "walked":
                launch["values"]["walked"]["percent"] = 94.9
        missed = self.missed(unwound)
        self.assertEqual(missed, ["perl: at least 95 % of stacks are walked"])

    def test_before_and_after(self):
        head, rows = profile_results.before_rows(profile_results.Suite(document()))
        self.assertIn("0123456789ab", head[0])
        redis = next(row for row in rows if row[0] == "redis-server")
        # 1/0.99; 1.005/(0.99 1.01); twice half a percent; half a percent
        self.assertEqual([cell.split("\u00a0")[0] for cell in redis[1:]],
                         ["+1.01", "+0.51", "+1.00", "+0.50"])

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
        self.assertIn("+1.5 to +1.8 % of CPU time", titles["accounts-profile-cost"])
        self.assertIn("1.02 × what the theory says",
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
