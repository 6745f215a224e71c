"""test_compare.py - compare.py: verdicts, exit codes, and what it says to wrong input."""

import json
import os
import shutil
import unittest
from unittest import mock
from pathlib import Path

import fixture
from reporting import interleave, results, verdicts


def document(rates, name="pair/policy:exact/placement:none/threads:1/manual_time", **more):
    return json.dumps({"context": {}, "benchmarks": [
        {"name": name, "run_type": "iteration", "items_per_second": rate, **more}
        for rate in rates]})


FAST = [100, 101, 102, 99, 98, 100.5, 99.5]
SLOW = [70, 71, 69, 72, 68, 70.5, 69.5]


class Compare(fixture.Case):
    def folder_of(self, name, rates):
        """A folder with one file, that is one launch, for each rate."""
        for position, rate in enumerate(rates):
            self.write(f"{name}/{position}.json", document([rate]))
        return os.path.join(self.folder, name)

    def verdict(self, a, b, *arguments):
        done = fixture.call("compare.py", self.folder_of("a", a), self.folder_of("b", b),
                            "--json", *arguments)
        return json.loads(done.stdout)["cases"][0], done.returncode

    def test_slower_is_worse(self):
        row, code = self.verdict(FAST, SLOW)
        self.assertEqual((row["verdict"], code), ("worse", 0))
        self.assertAlmostEqual(row["ratio"], 0.7)

    def test_fail_on_regression(self):
        _, code = self.verdict(FAST, SLOW,
                               "--fail-on-regression")
        self.assertEqual(code, 1)
        row, code = self.verdict(SLOW, FAST,
                                 "--fail-on-regression")
        self.assertEqual((row["verdict"], code), ("better", 0))

    def test_what_hides_in_an_unknown_drift_is_undecided(self):
        row, _ = self.verdict(FAST, [100.5, 101.5, 99.5, 98.5, 102, 99, 101])
        self.assertEqual(row["verdict"], "undecided")

    def test_noise_is_undecided(self):
        row, _ = self.verdict([100, 140, 70, 120, 90, 60], [95, 60, 130, 85, 110, 150])
        self.assertEqual(row["verdict"], "undecided")

    def test_few_launches_decide_nothing(self):
        row, _ = self.verdict(FAST[:5], SLOW[:5])
        self.assertEqual((row["verdict"], row["interval"]), ("undecided", None))

    def test_small_effect_is_no_regression(self):
        row, _ = self.verdict([100, 100.1, 100.2, 99.9, 99.8, 100],
                              [97, 97.1, 96.9, 97.2, 96.8, 97])
        self.assertNotIn(row["verdict"], ("worse", "better"))

    def test_less_is_better_for_other_metrics(self):
        paths = [self.write(f"m/{side}/{k}.json", document([1], ns_p99=v + k))
                 for side, v in (("a", 100), ("b", 50)) for k in range(6)]
        done = fixture.call("compare.py", os.path.dirname(paths[0]), os.path.dirname(paths[-1]),
                            "--json", "--metric", "ns_p99")
        self.assertEqual(json.loads(done.stdout)["cases"][0]["verdict"], "better")

    def test_repetitions_inside_a_process_count_once(self):
        a = self.write("a.json", document([100, 101, 102, 99, 98, 100, 101]))
        b = self.write("b.json", document([70, 71, 69, 72, 68, 70, 71]))
        done = fixture.call("compare.py", a, b, "--json")
        row = json.loads(done.stdout)["cases"][0]
        self.assertEqual(row["a"]["launches"], 1)
        self.assertEqual(row["verdict"], "undecided")
        self.assertIn("too few launches", done.stderr)

    def test_aggregates_and_errors_are_left_out(self):
        text = json.dumps({"benchmarks": [
            {"name": "pair/threads:1", "run_type": "iteration", "items_per_second": 5},
            {"name": "pair/threads:1_mean", "run_type": "aggregate", "items_per_second": 500},
            {"name": "pair/threads:2", "error_occurred": True, "error_message": "x"}]})
        path = self.write("a.json", text)
        row = json.loads(fixture.call("compare.py", path, path, "--json").stdout)["cases"]
        self.assertEqual([r["a"]["median"] for r in row], [5])

    def test_zero_is_no_ratio(self):
        row, _ = self.verdict([0, 0, 0, 0, 0], [0, 0, 0, 0, 0])
        self.assertEqual((row["ratio"], row["verdict"]), (None, "same"))

    def test_damaged_json(self):
        good = self.write("good.json", document([1]))
        for name, text, words in (
                ("half.json", document([1])[:40], ("offset", "half.json", "again")),
                ("empty.json", "", ("offset 0", "empty.json")),
                ("nan.json", document([float("nan")]), ("NaN", "nan.json")),
                ("list.json", "[1]", ("benchmarks", "list.json")),
                ("wrong.json", '{"benchmarks": [{"x": 1}]}', ("benchmarks[0]", "name")),
                ("deep.json", "[" * 100000, ("nested", "deep.json"))):
            with self.subTest(name):
                bad = self.write(name, text)
                self.assert_refused(fixture.call("compare.py", good, bad), *words)
                self.assert_refused(fixture.call("compare.py", bad, good), *words)
                self.assert_refused(fixture.call("report.py", bad), *words)
                self.assert_refused(fixture.call("plot.py", bad), *words)

    def test_wrong_input(self):
        good = self.write("good.json", document([1]))
        os.makedirs(os.path.join(self.folder, "nothing"))
        self.assert_refused(fixture.call("compare.py", good, "/no/such.json"), "/no/such.json",
                            "no such file")
        self.assert_refused(fixture.call("compare.py", good), "required")
        self.assert_refused(fixture.call("compare.py", good, good, "--margin", "x"), "share")
        self.assert_refused(fixture.call("compare.py", good, good, "--metric", "foo"), "foo",
                            "items_per_second")
        self.assert_refused(fixture.call("compare.py", good, os.path.join(
            self.folder, "nothing")), "no result")
        latin = os.path.join(self.folder, "latin.json")
        Path(latin).write_bytes(b'{"a": "\xff"}')
        self.assert_refused(fixture.call("compare.py", good, latin), "UTF-8")

    def test_table(self):
        result = self.invented()
        done = fixture.call("compare.py", result, result)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("geometric mean of B/A: 1.000", done.stdout)
        self.assertIn("0 better, 0 worse", done.stdout)

    def test_a_row_of_many_needs_more(self):
        """40 rows of equal code: at 95 % each, two would be off by chance."""
        import random
        source = random.Random(5)
        sides = [results.Results(), results.Results()]
        for side in sides:
            for k in range(40):
                for turn in range(12):
                    side.add_launch(("release", results.Case("pair", f"p{k}", None, None, 1)),
                                     {"items_per_second": source.lognormvariate(0, 0.3)},
                                     (0, turn))
        rows = verdicts.compare(*sides, "items_per_second", "release", 0.0, True)["rows"]
        beyond = [row for row in rows if not row["interval"][0] <= 1 <= row["interval"][1]]
        self.assertGreater(len(beyond), 0)  # what the rows' own 95 % would have said
        self.assertEqual({row["verdict"] for row in rows}, {"undecided"})

    def test_a_machine_that_moved_is_no_regression(self):
        """All code, baselines too, runs at 0.6 of its speed in the second result."""
        folder = self.copied(lambda case: 0.6)
        done = fixture.call("compare.py", self.invented(), folder, "--fail-on-regression")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("0 better, 0 worse", done.stdout)
        self.assertRegex(done.stdout, r"1 thread 0\.6 × \(rows differ by 0 % from it, \d+ decided")

    def test_what_moves_no_baseline_is_a_regression(self):
        folder = self.copied(lambda name: 0.3 if "policy:exact" in name else 1)
        done = fixture.call("compare.py", self.invented(), folder, "--fail-on-regression",
                            "--json")
        self.assertEqual(done.returncode, 1, done.stderr)
        worse = {row["case"] for row in json.loads(done.stdout)["cases"]
                 if row["verdict"] == "worse"}
        self.assertTrue(worse)
        self.assertEqual({"policy:exact" in case for case in worse}, {True})

    def test_disturbed_results_are_refused(self):
        folder = self.copied(lambda name: 1, disturbed=0.2)
        for pair in ((self.invented(), folder), (folder, self.invented())):
            done = fixture.call("compare.py", *pair)
            self.assertEqual((done.returncode, done.stdout), (3, ""))
            self.assertEqual(len(done.stderr.splitlines()), 1)
            self.assertIn("values are disturbed; above 10 % nothing is compared", done.stderr)

    def test_two_processors_of_one_name(self):
        folder = self.copied(lambda name: 1)
        path = os.path.join(folder, "machine.json")
        facts = json.loads(Path(path).read_text("utf-8"))
        facts.update(cache_l1d_bytes=12345, cpu_id="another")
        self.write("copy/machine.json", json.dumps(facts))
        done = fixture.call("compare.py", self.invented(), folder)
        self.assertRegex(done.stderr,
                         "cache_l1d_bytes differs .*12345.*, two processors of one name")
        self.assertIn("cpu_id differs", done.stderr)

    def copied(self, factor, disturbed=0.0):
        """The invented result once more, its rates changed by a factor of the name."""
        folder = os.path.join(self.folder, "copy")
        shutil.copytree(self.invented(), folder)
        os.remove(os.path.join(folder, "simulated.json"))
        for position, name in enumerate(sorted(os.listdir(os.path.join(folder, "raw")))):
            path = os.path.join(folder, "raw", name)
            document = json.loads(Path(path).read_text("utf-8"))
            if not isinstance(document, dict):
                continue
            for row in document["benchmarks"]:
                row["items_per_second"] *= factor(row["name"])
                row["disturbed"] = int(position % 100 < 100 * disturbed)
            self.write(path, json.dumps(document))
        return folder


class Builds(fixture.Case):
    """Two builds in turns."""

    def build(self, name, slower=None, policies=None):
        """A build folder with the stand-in, so many times slower, that knows these policies."""
        place = os.path.join(self.folder, name, "bench")
        os.makedirs(place)
        shutil.copy(os.path.join(fixture.TESTS, "fake_bench.py"), os.path.join(place, "pfs-bench"))
        if slower:
            self.write(f"{name}/bench/slower", str(slower))
        if policies:
            self.write(f"{name}/bench/policies", policies)
        return os.path.join(self.folder, name)

    def compare(self, old, new, *arguments, **environment):
        return fixture.call("compare.py", "--builds", old, new, "--policies", "exact,original",
                            "--workloads", "pair", "--seed", "1", *arguments,
                            environment=environment)

    def test_a_build_and_itself(self):
        done = self.compare(self.build("a"), self.build("b"), "--fail-on-regression",
                            "--margin", "0.1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("0 better, 0 worse", done.stdout)
        self.assertIn("4 same", done.stdout)

    def test_a_slower_build(self):
        done = self.compare(self.build("a"), self.build("b", 1.3), "--fail-on-regression")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("0 better, 4 worse", done.stdout)
        self.assertIn("4 better, 0 worse", self.compare(
            self.build("c", 1.3), self.build("d")).stdout)

    def test_too_few_rounds_decide_nothing_and_say_so(self):
        done = self.compare(self.build("a"), self.build("b", 2), "--rounds", "6")
        self.assertIn("0 better, 0 worse, 0 same, 4 undecided", done.stdout)
        self.assertRegex(done.stderr, r"4 rows need \d+ rounds")

    def test_a_busy_machine_is_refused(self):
        done = self.compare(self.build("a"), self.build("b"), PFS_FAKE_DISTURBED="0.6")
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn("are disturbed", done.stderr)

    def test_what_only_one_build_has_is_named(self):
        done = self.compare(self.build("a", policies="exact"), self.build("b"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("left out: original (only NEW has it)", done.stderr)
        self.assertNotIn("policy:original", done.stdout)

    def test_flags_that_both_builds_know_are_given_however_they_are_spelled(self):
        texts = {"old": "  --repeat_disturbed=N\n  --latency_ms=N\n",
                 "new": "      --repeat-disturbed=N   so often\n      --seed=N   of all\n"}
        with mock.patch.object(interleave, "_ask", lambda program, _: texts[program]):
            both, missing = interleave.shared_flags(["old", "new"], "items_per_second")
        self.assertEqual(both, [("--repeat_disturbed", "2")])
        self.assertEqual(missing, ["flag --latency_ms (only OLD has it)",
                                   "flag --seed (only NEW has it)"])

    def test_files_are_kept(self):
        out = os.path.join(self.folder, "my results")
        done = self.compare(self.build("a"), self.build("b"), "--out", out, "--rounds", "6")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(os.listdir(os.path.join(out, "A"))), 12)
        again = fixture.call("compare.py", os.path.join(out, "A"), os.path.join(out, "B"))
        self.assertEqual(again.returncode, 0, again.stderr)

    def test_wrong_input(self):
        old = self.build("a")
        self.assert_refused(fixture.call("compare.py", "--builds", old, "/no/such"), "/no/such")
        self.assert_refused(fixture.call("compare.py", "--builds", old), "expected 2")
        self.assert_refused(fixture.call("compare.py", "x", "y", "--builds", old, old), "not both")
        self.assert_refused(self.compare(old, old, "--rounds", "0"), "'0'")
        self.assert_refused(fixture.call("compare.py", "--builds", old, old, "--policies", "nope"),
                            "nope (neither has it)")


if __name__ == "__main__":
    unittest.main()
