"""compare.py: verdicts, exit codes, and what it says to wrong input."""

import json
import os
import unittest

import fixture


def document(rates, name="pair/policy:exact/placement:none/threads:1/manual_time", **more):
    return json.dumps({"context": {}, "benchmarks": [
        {"name": name, "run_type": "iteration", "items_per_second": rate, **more}
        for rate in rates]})


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
        row, code = self.verdict([100, 101, 102, 99, 98], [70, 71, 69, 72, 68])
        self.assertEqual((row["verdict"], code), ("worse", 0))
        self.assertAlmostEqual(row["ratio"], 0.7)

    def test_fail_on_regression(self):
        _, code = self.verdict([100, 101, 102, 99, 98], [70, 71, 69, 72, 68],
                               "--fail-on-regression")
        self.assertEqual(code, 1)
        row, code = self.verdict([70, 71, 69, 72, 68], [100, 101, 102, 99, 98],
                                 "--fail-on-regression")
        self.assertEqual((row["verdict"], code), ("better", 0))

    def test_same(self):
        row, _ = self.verdict([100, 101, 102, 99, 98], [100.5, 101.5, 99.5, 98.5, 102])
        self.assertEqual(row["verdict"], "same")

    def test_noise_is_unclear(self):
        row, _ = self.verdict([100, 140, 70, 120, 90], [95, 60, 130, 85, 110])
        self.assertEqual(row["verdict"], "unclear")

    def test_small_effect_is_no_regression(self):
        row, _ = self.verdict([100, 100.1, 100.2, 99.9, 99.8], [97, 97.1, 96.9, 97.2, 96.8])
        self.assertNotIn(row["verdict"], ("worse", "better"))

    def test_less_is_better_for_other_metrics(self):
        paths = [self.write(f"m/{side}/{k}.json", document([1], ns_p99=v + k))
                 for side, v in (("a", 100), ("b", 50)) for k in range(5)]
        done = fixture.call("compare.py", os.path.dirname(paths[0]), os.path.dirname(paths[-1]),
                            "--json", "--metric", "ns_p99")
        self.assertEqual(json.loads(done.stdout)["cases"][0]["verdict"], "better")

    def test_repetitions_inside_a_process_count_once(self):
        a = self.write("a.json", document([100, 101, 102, 99, 98, 100, 101]))
        b = self.write("b.json", document([70, 71, 69, 72, 68, 70, 71]))
        done = fixture.call("compare.py", a, b, "--json")
        row = json.loads(done.stdout)["cases"][0]
        self.assertEqual(row["a"]["launches"], 1)
        self.assertEqual(row["verdict"], "unclear")
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
        self.assert_refused(fixture.call("compare.py", good, good, "--threshold", "x"), "share")
        self.assert_refused(fixture.call("compare.py", good, good, "--metric", "foo"), "foo",
                            "items_per_second")
        self.assert_refused(fixture.call("compare.py", good, os.path.join(
            self.folder, "nothing")), "no result")
        latin = os.path.join(self.folder, "latin.json")
        with open(latin, "wb") as file:
            file.write(b'{"a": "\xff"}')
        self.assert_refused(fixture.call("compare.py", good, latin), "UTF-8")

    def test_table(self):
        result = self.invented()
        done = fixture.call("compare.py", result, result)
        self.assertEqual(done.returncode, 0)
        self.assertIn("geometric mean of B/A: 1.000", done.stdout)
        self.assertIn("0 better, 0 worse", done.stdout)


if __name__ == "__main__":
    unittest.main()
