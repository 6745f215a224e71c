"""test_accounts.py - accounts.py and what is made of its results: plan, runs, damaged files,
bars, the chapter."""

import json
import os
import stat
import unittest
from pathlib import Path

import fixture
import invented_accounts
from common import judge
from measuring import accounts_cases, chapter
from reporting import accounts_figures, accounts_results, page, results

# Stand in for the programs: the first three print JSON, the oracle as oracle_test.c does.
COST = """#!/usr/bin/python3
import json, os, sys
ways = ["none"] if "--ways=none" in sys.argv else ["none", "header", "exact", "freer", "global"]
if "--threads=2" in sys.argv:
    sys.exit("pfs-accounts-cost: no books")
counts = 3.0 if os.environ.get("PFS_MEM_RULE") else 0.0
times = {way: [20.0 + k + counts, 90, 1] for k, way in enumerate(ways)}
print(json.dumps({"threads": 1, "foreign": False, "ways": times, "cpu": times}))
"""
ORACLE = """#!/usr/bin/python3
import sys
off = {"exact": 0, "freer": 12, "global": 40, "global_at_once": 39}[sys.argv[1]]
line = f"rows wrong {off} of 40, below zero {off // 2}, error of all rows {100 * off} " \\
       "bytes of 5000 in use, totals wrong 0 of 5"
print(*(f"{when}: {line}" for when in ("sessions open", "sessions ended", "all freed")),
      f"cells read meanwhile 77, below zero {off}, torn 3; the global one below zero 5",
      "sessions 9, with 4 numbers", sep="\\n")
sys.exit(1 if sys.argv[1] == "global" or sys.argv[5] not in ("handoff", "cache") else 0)
"""
READER = """#!/bin/sh
echo '{"writers": 1, "bad": 0, "states": {"alone": {"wall_ns": [6, 5, 7], "cpu_ns": [5, 5, 5]}}}'
"""
FOOTPRINT = """#!/bin/sh
echo '{"threads": 1, "instruments": 1, "box_bytes": 4096}'
"""


def suite(change=None):
    """The invented suite, with a change to each launch."""
    document = invented_accounts.document()
    for launch in document["launches"]:
        if change:
            change(launch)
    return accounts_results.Suite(document)


def verdicts(found):
    """{bar: verdict}"""
    return {bar.says: bar.verdict for bar in accounts_results.bars(found)}


class Plan(unittest.TestCase):
    def test_rounds_alternate_all_ways_in_another_order(self):
        cases = [accounts_cases.BY_NAME[name] for name in ("preload-1", "cost-1")]
        rounds = {"preload": 4, "cost": 2}
        launches = chapter.make_plan(cases, rounds, 5, accounts_cases.ways)
        self.assertEqual(len(launches), 4 * 4 + 2)
        self.assertEqual([l["number"] for l in launches], list(range(1, 19)))
        orders = {tuple(l["way"] for l in launches if (l["round"], l["case"]) == (n, "preload-1"))
                  for n in range(1, 5)}
        self.assertGreater(len(orders), 1)
        self.assertEqual({tuple(sorted(o)) for o in orders},
                         {("exact", "freer", "global", "none")})
        self.assertEqual(launches, chapter.make_plan(cases, rounds, 5, accounts_cases.ways))

    def test_every_group_has_its_launches_and_its_time(self):
        for case in accounts_cases.CASES:
            for kind in ("short", "long"):
                self.assertIn(case.group, accounts_cases.LAUNCHES[kind])
            self.assertIn(case.group, accounts_cases.ESTIMATE_S)

    def test_the_short_suite_fits_into_its_seconds(self):
        plan = chapter.make_plan(accounts_cases.CASES, accounts_cases.LAUNCHES["short"], 1,
                                 accounts_cases.ways)
        spent = sum(accounts_cases.ESTIMATE_S[accounts_cases.BY_NAME[l["case"]].group]
                    for l in plan)
        self.assertLess(spent, 22)


class Run(fixture.Case):
    def build(self):
        release = os.path.join(self.folder, "release")
        for name, text in (("cost", COST), ("errors", ORACLE), ("reader", READER),
                           ("memory", FOOTPRINT)):
            path = self.write(os.path.join(release, *accounts_cases.PROGRAMS[name]), text)
            os.chmod(path, stat.S_IRWXU)
        for name in accounts_cases.LIBRARIES.values():
            self.write(os.path.join(release, "memory", name), "")
        return self.folder

    def measure(self, only, status):
        out = os.path.join(self.folder, "out")
        done = fixture.call("accounts.py", "--build-dir", self.build(), "--out", out, "--only",
                            only, "--rounds", "2")
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return out, done, json.loads(Path(os.path.join(out, "accounts.json")).read_text("utf-8"))

    def test_writes_every_launch_and_its_values(self):
        out, done, document = self.measure("cost-1,errors,reader-1", 0)
        self.assertTrue(document["complete"])
        self.assertEqual(len(document["launches"]), 2 * (1 + 4 + 1))
        found = accounts_results.Suite.load(out)
        self.assertEqual(list(found.samples("cost-1", "exact", "cpu_ns")), [22.0, 22.0])
        self.assertEqual(list(found.added("cost-1", "exact", "none")), [2.0, 2.0])
        self.assertEqual(found.mid("errors", "freer", "reads_below"), 12)
        self.assertEqual(found.mid("errors", "global", "wrong"), 40)  # whatever its exit status
        self.assertEqual(found.mid("reader-1", "alone", "wall_ns"), 6)
        self.assertIn("rows wrong", done.stdout)
        self.assertEqual(fixture.call("checks/results.py", out).returncode, 0)
        self.assertEqual(fixture.call("report.py", out).returncode, 0)

    def test_what_fails_says_why_and_the_rest_is_kept(self):
        _, done, document = self.measure("cost-1,cost-2,memory-1-1", 1)
        reasons = {l["case"]: l["reason"] for l in document["launches"] if l["status"] == "failed"}
        self.assertEqual(set(reasons), {"cost-2", "memory-1-1"})
        self.assertIn("no books", reasons["cost-2"])
        self.assertIn("private_bytes", reasons["memory-1-1"])
        self.assertFalse(document["complete"])
        self.assertIn("4 of 6 launches failed", done.stderr)

    def test_wrong_input(self):
        self.assert_refused(fixture.call("accounts.py", "--only", "pear"), "'pear'")
        self.assert_refused(fixture.call("accounts.py", "--rounds", "0"), "'0'")
        self.assert_refused(fixture.call("accounts.py", "--build-dir", self.folder, "--out",
                                         os.path.join(self.folder, "out")), "build first")
        self.assert_refused(fixture.call("accounts.py", "--build-dir", self.build(), "--out",
                                         "/proc/none"), "/proc/none")

    def test_a_damaged_result_is_named_with_the_place(self):
        def broken(change):
            document = invented_accounts.document()
            change(document)
            path = self.write("broken/accounts.json", json.dumps(document))
            return fixture.call("report.py", os.path.dirname(path))

        for text, word in (("", "damaged JSON"), ("[]", "is not an object"),
                           ('{"kind": "short"}', "missing is not an object")):
            path = self.write("empty/accounts.json", text)
            self.assert_refused(fixture.call("report.py", os.path.dirname(path)), path, word)
        self.assert_refused(broken(lambda d: d.pop("launches")), "launches is not a list")
        self.assert_refused(broken(lambda d: d["launches"].insert(3, None)), "launches[3] is not")
        self.assert_refused(broken(lambda d: d["launches"][2].pop("values")),
                            "launches[2].values is not an object")
        self.assert_refused(broken(lambda d: d["launches"][0].update(values={"exact": 7})),
                            "launches[0].values.exact is not an object")
        self.assert_refused(broken(lambda d: d["launches"][1].update(
            values={"exact": {"ns": "7"}})), "launches[1].values.exact.ns is not a count")
        self.assert_refused(broken(lambda d: d["launches"][4].update(case="pear")),
                            "launches[4].case is not one of its cases")
        self.assert_refused(broken(lambda d: d["cases"]["cost-1"].update(threads=0)),
                            "cases.cost-1.threads is not a count above 0")

    def test_a_measurement_that_was_stopped_is_shown(self):
        document = invented_accounts.document()
        for launch in document["launches"]:
            launch.update(status="planned")
            del launch["values"]
        path = self.write("stopped/accounts.json", json.dumps(document))
        done = fixture.call("report.py", os.path.dirname(path), "--table")
        self.assertEqual((done.returncode, done.stderr), (1, ""))  # written, without a figure
        self.assertIn("report:", done.stdout)


class Bars(unittest.TestCase):
    def test_follow_the_data(self):
        found = verdicts(suite())
        missed = [says for says, verdict in found.items() if verdict != judge.MET]
        self.assertEqual(missed, [says for says in found if "by the clock" in says and
                                  "at most" in says])
        self.assertEqual({found[says] for says in missed}, {judge.NOT_MET})

    def test_a_dear_rule_misses_its_bar(self):
        def dear(launch):
            if launch["case"] == "preload-2":
                if launch["way"] == "exact":
                    launch["values"]["exact"]["cpu_ns"] += 5
        missed = [says for says, verdict in verdicts(suite(dear)).items()
                  if verdict == judge.NOT_MET and "by the clock" not in says]
        self.assertEqual(len(missed), 1)
        self.assertIn("libpfsmem.so), 2 threads:", missed[0])

    def test_foreign_frees_may_cost_more(self):
        found = suite()
        self.assertAlmostEqual(found.allowed("cost-2-foreign")[0],
                               1.3 * found.allowed("cost-2")[0])

    def test_one_wrong_row_of_exact_is_enough(self):
        def once(launch):
            if launch["case"] == "errors" and launch["round"] == 2 and launch["way"] == "exact":
                launch["values"]["exact"]["reads_below"] = 1
        found = verdicts(suite(once))
        self.assertEqual([v for says, v in found.items() if says.startswith("rule exact")],
                         [judge.UNDECIDED, judge.MET])

    def test_a_rule_without_errors_was_not_tested(self):
        def right(launch):
            if launch["case"] == "errors":
                for name in ("wrong", "below", "totals", "left", "reads_below"):
                    launch["values"][launch["way"]][name] = 0
        found = verdicts(suite(right))
        self.assertEqual([v for says, v in found.items() if says.startswith("rules freer")],
                         [judge.NOT_MET, judge.MET])
        self.assertEqual([v for says, v in found.items() if says.startswith("rule global_at_once")],
                         [judge.NOT_MET])

    def test_global_is_below_zero_only_with_a_cache(self):
        def swapped(launch):
            if launch["way"] == "global" and launch["case"].startswith("errors"):
                is_cache = launch["case"] == "errors-cache"
                launch["values"]["global"].update(below=0 if is_cache else 1, reads_below=0)
        for change, right in ((None, judge.MET), (swapped, judge.NOT_MET)):
            found = verdicts(suite(change))
            self.assertEqual([v for says, v in found.items() if says.startswith("rule global,")],
                             [right, right])

    def test_a_wrong_total_is_an_error_of_the_test(self):
        def lost(launch):
            if launch["case"] == "errors-cache" and launch["way"] == "freer":
                launch["values"]["freer"]["totals"] = 1
        found = verdicts(suite(lost))
        self.assertEqual([v for says, v in found.items() if says.startswith("every rule")],
                         [judge.MET, judge.UNDECIDED])

    def test_a_reader_that_slows_misses_its_bar(self):
        def slow(launch):
            if launch["case"] == "reader-2":
                launch["values"]["beside"]["cpu_ns"] *= 1.04
                launch["values"]["beside"]["rows_per_s"] = 9e5
        found = verdicts(suite(slow))
        missed = [says for says, verdict in found.items() if verdict == judge.NOT_MET and
                  says.startswith("2 writers")]
        self.assertEqual(len(missed), 3)

    def test_few_launches_decide_nothing(self):
        def few(launch):
            if launch["round"] > 3:
                launch["status"] = "planned"
        found = verdicts(suite(few))
        self.assertEqual({v for says, v in found.items() if "counting adds" in says},
                         {judge.UNDECIDED})

    def test_a_folder_without_the_file_has_no_suite(self):
        self.assertIsNone(accounts_results.Suite.load("/no/such"))


class Chapter(fixture.Case):
    def test_stands_in_the_report(self):
        page = Path(os.path.join(self.invented(), "report.html")).read_text("utf-8")
        chapter = page[page.index('<section class="page"><h2 id="accounts">'):]
        chapter = chapter[:chapter.index("</section>")]
        for name in accounts_figures.FIGURES:
            self.assertIn(f'<figure id="{name}"', chapter)
            self.assertIn(f"--figure {name}</code>", chapter)
        for word in ("5 ns or 15 %", "is not built", "121.0", "+4.0", "+1."):
            self.assertIn(word, chapter)
        self.assertRegex(page, '<a href="#accounts">The accounts: [0-9]+ met')
        self.assertEqual(page.count('<figure id="accounts-cost"'), 1)

    def test_titles_say_what_the_data_says(self):
        found = results.load([self.invented()])
        titles = {name: make(found).title for name, make in accounts_figures.FIGURES.items()}
        self.assertIn("adds 4.0 ns", titles["accounts-cost"])
        self.assertIn("exact 0, freer 30, global 40", titles["accounts-errors"])
        self.assertIn("below zero with global: 0 if blocks live for a session, 35 with a cache",
                      titles["accounts-errors"])
        self.assertIn("a pair takes more CPU time (+1.1 % to +1.7 %)", titles["accounts-reader"])
        self.assertIn("a pair takes more time (+50 % to +51 %)", titles["accounts-clock"])
        self.assertIn("506 bytes", titles["accounts-memory"])

    def test_is_not_there_without_data(self):
        found = results.load([self.invented()])
        found.accounts = None
        self.assertNotIn('id="accounts"', page.render(found, [], []))
        self.assertEqual([make(found) for make in accounts_figures.FIGURES.values()], [None] * 6)


if __name__ == "__main__":
    unittest.main()
