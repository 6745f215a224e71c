"""test_claims.py - Claims and figures of the simulated machine: judged by the data, marked, and
checked."""

import json
import os
import shutil
import unittest
from pathlib import Path

import fixture
from common import judge
from reporting import claims, figures, results


class Claims(fixture.Case):
    def verdicts(self, found):
        return {claim.name: holds for claim, _, holds in claims.judged(found)}

    def test_each_claim_is_judged_and_can_fail(self):
        found = results.load([self.invented()])
        before = self.verdicts(found)
        self.assertEqual(set(before.values()), {judge.MET}, before)
        for (build, case), metrics in found.values.items():
            if build != "simulated":
                continue
            size = len(metrics["seed"])
            for metric in ("excess_pages", "needless_growths", "record_skips", "flag_skips"):
                metrics[metric] = [0] * size
            if case.policy in ("exact", "reclaiming"):
                metrics["needless_growths" if case.policy == "exact" else "page_skips"] = [1] * size
            if case.workload == "storm" and case.policy in ("exact", "magazine"):
                metrics["ns_max"] = metrics["ns_p999"] = [1e7] * size
            if case.policy == "random_start":
                metrics["cas_failures"] = [99] * size
            metrics["items_per_second"] = [1e6] * size
        for search in found.searches:
            search["exit"] = 0
        after = self.verdicts(found)
        # Nothing else is needlessly added now, so the strict scans are cleared of that claim.
        self.assertEqual(set(after.values()), {judge.NOT_MET}, after)

    def test_seeds_that_differ_decide_nothing(self):
        found = results.load([self.invented()])
        for (build, case), metrics in found.values.items():
            if build == "simulated" and case.policy == "exact" and case.threads > 1:
                metrics["items_per_second"][0] = 1.0  # one seed of several
        after = self.verdicts(found)
        self.assertEqual(after["exact-original"], judge.UNDECIDED)
        self.assertEqual(after["growth"], judge.MET)

    def test_what_was_not_simulated_is_not_judged(self):
        self.assertEqual(claims.judged(results.Results()), [])
        found = results.load([self.invented()])
        found.values = {key: value for key, value in found.values.items() if key[1].threads != 1}
        verdicts = self.verdicts(found)
        self.assertEqual(verdicts["efficiency"], judge.NOT_MEASURED)
        self.assertEqual(verdicts["growth"], judge.NOT_MEASURED)
        found.values, found.searches = {}, found.searches[:1]
        self.assertEqual(set(self.verdicts(found).values()), {judge.NOT_MEASURED})

    def test_figures_are_marked_and_real_ones_are_not(self):
        found = results.load([self.invented()])
        for figure in figures.make(found)[0]:
            with self.subTest(figure.name):
                drawn = figure.canvas.document(figure.title, True)
                simulated = figure.name.startswith("sim-")
                self.assertEqual("SIMULATED" in drawn, simulated)
                self.assertEqual(figure.title.startswith("Simulated machine"), simulated)

    def test_simulated_values_do_not_mix_with_measured_ones(self):
        both = results.load([self.invented()])
        shutil.copytree(self.invented(), os.path.join(self.folder, "real"))
        os.remove(os.path.join(self.folder, "real", "simulated.json"))
        real = results.load([os.path.join(self.folder, "real")])
        self.assertEqual({k: v for k, v in both.values.items() if k[0] != "simulated"},
                         real.values)
        self.assertTrue(both.machines())
        self.assertEqual((real.machines(), real.simulated(), claims.judged(real)), ([], None, []))

    def test_a_run_in_which_a_thread_never_ran_has_no_rate(self):
        found = results.load([self.invented()])
        key = next(key for key in found.values if key[0] == "simulated" and
                   key[1].threads == 256 and key[1].policy == "exact")
        case = key[1]._replace(machine=None)
        found.values[key].update(oversubscribed=[1, 1], fairness=[0.2, 0])
        self.assertTrue(found.simulated().samples("release", case, "items_per_second"))
        found.values[key].update(fairness=[0, 0])
        view = found.simulated()
        self.assertEqual(view.samples("release", case, "items_per_second"), [])
        self.assertTrue(view.samples("counted", case, "excess_pages"))

    def simulated_only(self):
        folder = os.path.join(self.folder, "sim")
        os.makedirs(folder)
        for name in ("simulated.json", "machine.json"):
            shutil.copy(os.path.join(self.invented(), name), folder)
        return folder

    def test_report_of_simulated_results_alone(self):
        folder = self.simulated_only()
        done = fixture.call("report.py", folder, "--table")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("holds", done.stdout)
        self.assertIn("× original", done.stdout)
        page = Path(os.path.join(folder, "report.html")).read_text("utf-8")
        self.assertIn("Simulated:", page)
        self.assertIn("load page_limit", page)
        self.assertNotIn('id="bars"', page)
        self.assertEqual(fixture.call("checks/results.py", folder).returncode, 0)
        same = fixture.call("compare.py", folder, folder)
        self.assertEqual(same.returncode, 0, same.stderr)
        self.assertIn("machine:numa:8 core:32 pu:1", same.stdout)
        self.assertIn("simulated build", same.stdout)

    def test_damaged_simulated_file(self):
        folder = self.simulated_only()
        path = os.path.join(folder, "simulated.json")
        text = Path(path).read_text("utf-8")
        Path(path).write_text(text[:len(text) // 2], "utf-8")
        for script in ("report.py", "plot.py", "checks/results.py"):
            self.assert_refused(fixture.call(script, folder), path, "damaged JSON at offset")
        for change, word in ((lambda d: d["benchmarks"][0].pop("excess_pages"), "lacks excess"),
                             (lambda d: d["benchmarks"][3].update(simulated=False), "not True"),
                             (lambda d: d["context"].pop("missing"), "lacks missing")):
            document = json.loads(text)
            change(document)
            self.write("sim/simulated.json", json.dumps(document))
            done = fixture.call("checks/results.py", folder)
            self.assertEqual(done.returncode, 1)
            self.assertIn(word, done.stderr)
        document = json.loads(text)
        document["searches"] = [{"words": "x"}]
        self.write("sim/simulated.json", json.dumps(document))
        self.assert_refused(fixture.call("report.py", folder), "searches are damaged")

    def test_experiments_command(self):
        out = os.path.join(self.folder, "out")
        program = os.path.join(fixture.TESTS, "fake_sim.py")
        done = fixture.call("experiments.py", "--size", "quick", "--out", out, "--program",
                            program)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(fixture.call("checks/results.py", out).returncode, 0)
        self.assertNotIn("DOES NOT HOLD", done.stdout)  # 8 threads say nothing of 256
        with open(os.path.join(out, "claims.md"), encoding="utf-8") as file:
            self.assertEqual(file.read().count("experiments.py --only"), len(claims.CLAIMS))
        self.assert_refused(fixture.call("experiments.py", "--only", "x"), "--only x")

    def test_a_new_policy_is_simulated_and_judged(self):
        out = os.path.join(self.folder, "new")
        program = os.path.join(fixture.TESTS, "fake_sim.py")
        done = fixture.call("experiments.py", "--size", "quick", "--out", out, "--program",
                            program, environment={"PFS_FAKE_EXTRA": "newcomer"})
        self.assertEqual(done.returncode, 0, done.stderr)
        found = results.load([out])
        self.assertIn("newcomer", found.policy_order)
        strict = next(text for claim, text, _ in claims.judged(found) if claim.name == "strict")
        self.assertIn("newcomer", strict)

    def test_experiments_refuse(self):
        out = os.path.join(self.folder, "refused")
        self.assert_refused(fixture.call("experiments.py", "--size", "huge"), "'huge'")
        self.assert_refused(fixture.call("experiments.py", "--out", out + "2", "--program",
                                         "/no/sim"), "/no/sim")


if __name__ == "__main__":
    unittest.main()
