"""test_tidy.py - a result as CSV; policies and workloads chosen for run, plot and report."""

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

import fixture
from common import documents, stats
from measuring import suite
from reporting import figures, results, tidy


class Table(fixture.Case):
    def rows(self, *arguments):
        done = fixture.call("report.py", *arguments, "--csv")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return list(csv.DictReader(io.StringIO(done.stdout)))

    def test_a_row_for_each_launch_and_value(self):
        folder = self.invented()
        made = self.rows(folder)
        self.assertEqual(list(made[0]), list(tidy.COLUMNS))
        self.assertEqual({row["part"] for row in made}, {
            "containers", "simulated", "allocators", "accounts", "profile", "server"})
        plan = json.loads(Path(os.path.join(folder, "plan.json")).read_text("utf-8"))
        launch = next(l for l in plan["launches"] if l["label"] == "pair" and
                      l["policy"] == "exact" and l["round"] == 3)
        raw = json.loads(Path(os.path.join(folder, launch["file"])).read_text("utf-8"))
        rates = {row["name"].split("/threads:")[1].split("/")[0]: row["items_per_second"]
                 for row in raw["benchmarks"]}
        self.assertGreater(len(rates), 1)
        found = [row for row in made if (row["workload"], row["policy"], row["metric"], row["api"],
                                         row["build"], row["part"], row["round"]) == (
            "pair", "exact", "items_per_second", "", "release", "containers", "3")]
        self.assertEqual({row["threads"]: float(row["value"]) for row in found}, rates)
        machine = documents.read_json(os.path.join(folder, "machine.json"))
        for row in found:
            self.assertEqual((row["run"], row["machine"], row["date"], row["unit"]),
                             (os.path.basename(folder), machine["cpu_model"],
                              machine["time"][:10], "1/s"))

    def test_a_row_is_no_other(self):
        keys = [tuple(row[column] for column in tidy.COLUMNS if column != "value")
                for row in self.rows(self.invented()) if row["part"] in ("containers", "simulated")]
        self.assertEqual(len(set(keys)), len(keys))

    def test_several_results_keep_their_names(self):
        other = os.path.join(self.folder, "other")
        os.makedirs(other)
        os.symlink(os.path.join(self.invented(), "accounts.json"),
                   os.path.join(other, "accounts.json"))
        made = self.rows(self.invented(), other)
        self.assertEqual({row["run"] for row in made}, {"result", "other"})

    def test_units(self):
        self.assertEqual([tidy.unit_of(name) for name in (
            "ns_p99", "ns_samples", "items_per_second", "resident_bytes", "window_ns", "cpu_s",
            "page_skips", "process_bytes_peak")],
            ["ns", "1", "1/s", "bytes", "ns", "s", "1", "bytes"])

    def test_other_outputs_are_refused(self):
        self.assert_refused(fixture.call("report.py", self.invented(), "--csv", "--table"), "--csv")


PYPLOT = """drawn = []
def plot(xs, ys, label):
    drawn.append((label, xs, ys))
xlabel = ylabel = lambda text: None
legend = lambda: None
def savefig(name):
    import json
    open(name, "w").write(json.dumps(drawn))
"""


class Example(fixture.Case):
    def example(self, language):
        """The code of the document; pair.csv, which it reads, is in the test's folder."""
        text = Path(fixture.SCRIPTS, "..", "docs", "how-to", "own-figures.md").read_text("utf-8")
        with open(os.path.join(self.folder, "pair.csv"), "w", encoding="utf-8") as file:
            tidy.write(file, [self.invented()], None, ["pair"])
        return re.search(rf"```{language}\n(.*?)```", text, re.DOTALL)[1]

    @unittest.skipUnless(shutil.which("Rscript"), "R is not installed")
    def test_the_example_in_r_runs(self):
        code = self.example("r")
        self.assertLessEqual(len(code.splitlines()), 10)
        done = subprocess.run(["Rscript", self.write("pair.R", code)], cwd=self.folder,
                              capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(Path(self.folder, "pair.pdf").read_bytes().startswith(b"%PDF-"))

    def test_the_example_in_python_draws_each_policy(self):
        code = self.example("python")
        self.write("matplotlib/__init__.py", "")
        self.write("matplotlib/pyplot.py", PYPLOT)  # stands in for the real one
        done = subprocess.run([sys.executable, "-c", code], cwd=self.folder, capture_output=True,
                              text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        drawn = json.loads(Path(self.folder, "pair.pdf").read_text("utf-8"))
        found = results.load([self.invented()])
        self.assertEqual({label for label, _, _ in drawn}, set(found.policies("release", "pair")))
        for label, xs, ys in drawn:
            for threads, middle in zip(xs, ys):
                values = found.values["release", next(c for c in found.cases(
                    "release", workload="pair", policy=label, threads=threads))]
                self.assertEqual(middle, stats.median(values["items_per_second"]))


class Selection(fixture.Case):
    def test_bad_names_are_one_line(self):
        folder, build = self.invented(), self.build_dir()
        commands = (["plot.py", folder, "--out", self.folder], ["report.py", folder, "--table"],
                    ["report.py", folder, "--csv"],
                    ["measure.py", "--build-dir", build, "--out", self.folder + "/new"],
                    ["measure.py", "--build-dir", build, "--out", self.folder + "/new", "--check"])
        for command in commands:
            for option, known in (("--policies", "exact"), ("--workloads", "churn")):
                with self.subTest(f"{command[0]} {option}"):
                    done = fixture.call(*command, option, f"{known},nosuch")
                    self.assert_refused(done, option, "'nosuch'", "choose from", known)
                    self.assert_refused(fixture.call(*command, option, f"{known},"), option)
        self.assertFalse(os.path.exists(self.folder + "/new"))

    def test_the_table_has_what_was_chosen(self):
        out = io.StringIO()
        tidy.write(out, [self.invented()], ["exact", "magazine"], ["pair", "replay"])
        made = list(csv.DictReader(io.StringIO(out.getvalue())))
        self.assertEqual({row["policy"] for row in made}, {"exact", "magazine"})
        found = {row["workload"] for row in made}
        self.assertIn("pair", found)
        self.assertEqual({name.split("_")[0] for name in found}, {"pair", "replay"})

    def test_plot_draws_what_was_chosen(self):
        out = os.path.join(self.folder, "figures")
        done = fixture.call("plot.py", self.invented(), "--out", out, "--policies",
                            "exact,magazine", "--workloads", "pair", "--figure", "threads-pair")
        self.assertEqual(done.returncode, 0, done.stderr)
        text = Path(os.path.join(out, "threads-pair.svg")).read_text("utf-8")
        self.assertIn(">magazine</text>", text)
        self.assertNotIn(">original</text>", text)

    def test_a_report_of_a_selection_says_how_it_was_made(self):
        page = os.path.join(self.folder, "report.html")
        done = fixture.call("report.py", self.invented(), "--out", page, "--policies",
                            "reclaiming,exact", "--workloads", "churn,tide")
        self.assertEqual(done.returncode, 0, done.stderr)
        text = Path(page).read_text("utf-8")
        self.assertIn("--policies reclaiming,exact --workloads churn,tide", text)
        self.assertIn('data-figure="tide-pages"', text)
        self.assertNotIn('data-figure="threads-pair"', text)

    def test_run_measures_what_was_chosen(self):
        out = os.path.join(self.folder, "run")
        done = fixture.call("measure.py", "--quick", "--out", out, "--build-dir",
                            self.build_dir(), "--policies", "exact,original", "--workloads",
                            "churn,floor")
        self.assertEqual(done.returncode, 0, done.stderr)
        plan = json.loads(Path(os.path.join(out, "plan.json")).read_text("utf-8"))
        self.assertEqual({l["policy"] for l in plan["launches"]}, {"exact", "original", None})
        self.assertEqual({l["workloads"] for l in plan["launches"]}, {"churn", "floor"})
        for name in ("simulated.json", "allocators.json", "accounts.json"):
            self.assertFalse(os.path.exists(os.path.join(out, name)), name)

    def test_a_row_of_several_workloads_keeps_the_chosen(self):
        plan = suite.make_plan(["a"], 2, seed=1, only=["pair"])
        self.assertEqual({l["workloads"] for l in plan}, {"pair"})
        self.assertEqual({"pair", "calls", "counts-others"}, {l["label"] for l in plan})

    def test_a_new_workload_gets_its_figure(self):
        found = results.load([self.invented()])
        found.values = {(build, case._replace(workload="burst") if case.workload == "exchange"
                         else case): metrics for (build, case), metrics in found.values.items()}
        found.rounds = {(build, case._replace(workload="burst") if case.workload == "exchange"
                         else case): turns for (build, case), turns in found.rounds.items()}
        made, missing = figures.make(found)
        self.assertIn("threads-burst", [figure.name for figure in made])
        self.assertEqual(missing, [])


if __name__ == "__main__":
    unittest.main()
