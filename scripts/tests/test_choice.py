"""test_choice.py - The first screen of the report: which policy to take follows from intervals
and from nothing
else; its commands work in another place; and what changed against an earlier result.
"""

import html
import json
import os
import re
import shutil
import subprocess
import unittest

import fixture
from reporting import change, choice, front, page as pages, results, summary, tables

ROUNDS = 7


def made_up(rates, rounds=ROUNDS, disturbed=0):
    """Results of {policy: {workload: rate or the rates of all rounds}}."""
    found = results.Results()
    found.policy_order = list(rates)
    found.plan = {"cpus": 2, "summaries": {"malloc": "baseline: of the process"}}
    for policy, workloads in rates.items():
        for workload, rate in workloads.items():
            case = results.Case(workload, policy, 0.9 if workload == "churn" else None, "none", 2)
            for k in range(rounds):
                value = rate[k] if isinstance(rate, (list, tuple)) else rate * (1 + 0.01 * k)
                found.add_launch(("release", case), {
                    "items_per_second": value * 1e6, "disturbed": int(k < disturbed)}, (1, k))
    return found


def cases(loads, rounds=ROUNDS):
    """Results of {(workload, threads, occupancy): {policy: rate or the rates of all rounds}}."""
    found = results.Results()
    found.policy_order = list(dict.fromkeys(p for rates in loads.values() for p in rates))
    found.plan = {"cpus": 2, "summaries": {}}
    for (workload, threads, occupancy), rates in loads.items():
        for policy, rate in rates.items():
            case = results.Case(workload, policy, occupancy, "none", threads)
            for k in range(rounds):
                value = rate[k] if isinstance(rate, (list, tuple)) else rate * (1 + 0.01 * k)
                found.add_launch(("release", case), {
                    "items_per_second": value * 1e6, "disturbed": 0}, (1, k))
    return found


WIDE_PAIR = [240, 150, 260, 170, 250, 160, 255]  # next to 230 of another one: as WIDE
WIDE = [5, 20, 6, 19, 7, 18, 8]  # as fast as 10 or not: nobody knows


class Choice(unittest.TestCase):
    def headline(self, rates, **how):
        found = made_up(rates, **how)
        return choice.headline(found, choice.standings(found))

    def test_the_only_one_that_nobody_beats_is_taken(self):
        says, who, why = self.headline({"original": {"pair": 1, "handoff": 1},
                                        "exact": {"pair": 10, "handoff": 2},
                                        "magazine": {"pair": 10.001, "handoff": 4}})
        self.assertEqual((says, who), ("Take magazine", ["magazine"]))
        self.assertIn("surely the fastest in 2", why)

    def test_what_intervals_do_not_decide_is_left_open(self):
        says, who, _ = self.headline({"original": {"pair": 1}, "exact": {"pair": 10},
                                      "magazine": {"pair": WIDE}})
        self.assertEqual((says, who), ("Take exact or magazine", ["exact", "magazine"]))

    def test_each_ahead_somewhere(self):
        says, who, why = self.headline({"original": {"pair": 1, "handoff": 1},
                                        "exact": {"pair": 10, "handoff": 2},
                                        "magazine": {"pair": 5, "handoff": 4}})
        self.assertEqual(says, "Take exact or magazine, by your load")
        self.assertEqual(sorted(who), ["exact", "magazine"])
        self.assertIn("surely behind in 1", why)

    def test_too_few_or_disturbed_rounds_decide_nothing(self):
        rates = {"original": {"pair": 1}, "exact": {"pair": 100}}
        self.assertEqual(self.headline(rates)[0], "Take exact")
        for how in ({"rounds": 5}, {"disturbed": 2}):
            self.assertEqual(self.headline(rates, **how)[:2], ("Undecided", []), how)

    def test_yardsticks_are_not_taken_but_told(self):
        found = made_up({"original": {"pair": 1}, "exact": {"pair": 10}, "malloc": {"pair": 99}})
        standings = choice.standings(found)
        self.assertEqual(choice.headline(found, standings)[0], "Take exact")
        raw = choice.needs(found, standings)[-1]
        self.assertEqual((raw.says, raw.take), ("raw memory will do", ["malloc"]))
        found = made_up({"original": {"pair": 1}, "exact": {"pair": 10}, "malloc": {"pair": 10}})
        self.assertEqual(choice.needs(found, choice.standings(found))[-1].take, [])

    def test_cells_are_grey_where_undecided(self):
        found = made_up({"original": {"pair": 10}, "slow": {"pair": 2}, "wide": {"pair": WIDE},
                         "fast": {"pair": 50}})
        _, _, rows = choice.matrix(found)
        tones = {policy: cells[0].tone for policy, cells in rows}
        self.assertEqual(tones, {"original": choice.BASE, "slow": choice.LESS,
                                 "wide": choice.OPEN, "fast": choice.MORE})
        self.assertEqual(choice.decided(rows), (2, 3))

    def test_the_badge_says_what_is_wrong(self):
        rates = {"original": {"pair": 1}, "exact": {"pair": 100}}
        self.assertEqual(front.grade(made_up(rates))[0], front.GOOD)
        for found, word in ((made_up(rates, rounds=4), "Too few rounds"),
                            (made_up(rates, disturbed=1), "Disturbed")):
            self.assertEqual(front.grade(found)[0], front.BAD)
            self.assertIn(word, front.grade(found)[1])
        quick = made_up(rates)
        quick.plan["quick"] = True
        self.assertIn("no conclusion", front.grade(quick)[1])

    def test_four_are_in_colour(self):
        found = made_up({p: {"pair": k + 1} for k, p in enumerate(
            ("original", "a", "b", "c", "malloc"))})
        self.assertEqual(choice.in_colour(found, choice.standings(found)),
                         ["original", "b", "c", "malloc"])


class Loads(unittest.TestCase):
    """What a row says of several columns, and that the matrix beside it says the same."""

    def need(self, loads, start):
        found = cases(loads)
        rows = [n for n in choice.needs(found, choice.standings(found)) if n.says.startswith(start)]
        self.assertEqual(len(rows), 1)
        return rows[0]

    def test_one_thread_is_all_its_workloads(self):
        """local_scan has the highest median of pair, but is half as fast in churn."""
        loads = {("pair", 1, None): {"original": 90, "local_scan": WIDE_PAIR, "magazine": 230},
                 ("churn", 1, 0.9): {"original": 2.3, "local_scan": 27, "magazine": 54}}
        need = self.need(loads, "one thread")
        self.assertEqual((need.take, need.sure), (["magazine"], True))
        self.assertEqual(need.says, "one thread does it all (pair, churn 0.9)")
        self.assertEqual(need.why, "2.6 to 23 × original")
        found = cases(loads)
        heads = [(c.head, c.under) for c in choice.matrix(found)[0]]
        self.assertEqual(heads, [("1 thread", "pair"), ("1 thread", "churn 0.9")])

    def test_no_policy_for_all_workloads_of_one_thread(self):
        need = self.need({("pair", 1, None): {"original": 1, "a": 20, "b": 10},
                          ("churn", 1, 0.9): {"original": 1, "a": 10, "b": 20}}, "one thread")
        self.assertEqual((sorted(need.take), need.sure), (["a", "b"], True))
        self.assertIn("a in pair; b in churn 0.9", need.why)

    def test_recorded_programs_as_the_matrix_has_them(self):
        """Two policies share four programs; none leads in each alone."""
        loads = {(f"replay_{name}", 2, None): {"original": 1, "a": 20 if first else 10,
                                               "b": 10 if first else 20}
                 for name, first in (("one", True), ("two", True), ("three", True),
                                     ("four", False))}
        need = self.need(loads, "it is one of 4 recorded programs")
        self.assertEqual((need.take, need.sure), (["a", "b"], True))
        self.assertIn("a in one, three and two; b in four", need.why)
        found = cases(loads)
        columns, standings, rows = choice.matrix(found)
        cells = {p: dict(zip((c.under for c in columns), row)) for p, row in rows}
        for policy, names in choice.leaders(standings).items():
            for name in names:
                other = "b" if policy == "a" else "a"
                self.assertEqual(cells[policy][name].text, "20 ×")
                self.assertEqual(cells[other][name].text, "10 ×")

    def test_a_rival_without_interval_decides_nothing(self):
        loads = {("replay_one", 2, None): {"original": 1, "a": 10, "b": WIDE}}
        self.assertFalse(self.need(loads, "it is one of 1 recorded program").sure)
        # The rival that is undecided in one program is surely behind in the other.
        loads["replay_two", 2, None] = {"original": 1, "a": 10, "b": 5}
        need = self.need(loads, "it is one of 2 recorded programs")
        self.assertEqual((need.take, need.sure), (["a"], True))

    def test_workloads_are_explained(self):
        found = cases({("pair", 2, None): {"original": 1, "a": 10},
                       ("replay_one", 2, None): {"original": 1, "a": 10}})
        said = dict(choice.legend(choice.standings(found)))
        self.assertEqual(list(said), ["pair", "replay", "tide"])
        self.assertIn("frees one record", said["pair"])

    def test_a_row_has_no_two_numbers_that_contradict(self):
        """The median of ratios is not the ratio of medians: only one of them is shown."""
        fast = [30, 10, 30, 10, 30, 10, 30]
        base = [10, 1, 10, 1, 10, 1, 10]
        case = {"workload": "pair", "threads": 2}
        found = cases({("pair", 2, None): {"original": base, "a": fast}})
        text = summary.against_base(found, case, "a", "original")
        self.assertEqual(text, "3.0 × (3.0–10)")
        self.assertEqual(summary.against_base(found, case, "original", "original"), "10 M/s")


class Commands(fixture.Case):
    def test_every_table_has_one_and_it_prints_that_table(self):
        found = results.load([self.invented()])
        with open(os.path.join(self.invented(), "report.html"), encoding="utf-8") as file:
            page = html.unescape(file.read())
        named = set(re.findall(r"--print ([\w-]+)", page))
        there = {name for name in tables.TABLES if tables.of(found, name)}
        self.assertEqual(there - named, set())
        self.assertGreater(len(there), 18)
        self.assertEqual(len(re.findall(r"<figure ", page)), len(re.findall(
            r"(?:Command|On that machine): <code>[^<]*</code></figcaption>", page)))

    def test_works_in_folders_with_spaces_and_elsewhere(self):
        """The report of a project in a folder with a space; the project is then moved, as to
        another machine, and the commands that the page names are typed there."""
        home = os.path.join(self.folder, "my project")
        shutil.copytree(fixture.SCRIPTS, os.path.join(home, "scripts"),
                        ignore=shutil.ignore_patterns("tests", "__pycache__"))
        shutil.copy(os.path.join(fixture.SCRIPTS, "..", "CMakeLists.txt"), home) # has the version
        shutil.copytree(os.path.join(fixture.SCRIPTS, "..", "bench"), os.path.join(home, "bench"))
        result = os.path.join(home, "results", "of 'mine'")
        shutil.copytree(self.invented(), result, ignore=shutil.ignore_patterns("figures"))
        done = subprocess.run([os.path.join(home, "scripts", "report.py"), result],
                              capture_output=True, text=True, check=False, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        moved = os.path.join(self.folder, "another machine", "pfs lab")
        os.makedirs(os.path.dirname(moved))
        os.rename(home, moved)
        with open(os.path.join(moved, "results", "of 'mine'", "report.html"),
                  encoding="utf-8") as file:
            commands = [html.unescape(c) for c in re.findall(
                r"(?:Command|The card|The matrix): <code>([^<]*)</code>", file.read())]
        self.assertEqual([c for c in commands if self.folder in c], [])
        for end, word in (("--figure floor", "floor.svg"), ("--print matrix", "magazine")):
            command = next(c for c in commands if c.endswith(end))
            done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=300,
                                  check=False, cwd=moved)
            self.assertEqual(done.returncode, 0, command + done.stderr)
            self.assertIn(word, done.stdout)


class Change(fixture.Case):
    def test_the_same_is_not_changed_and_another_is_named(self):
        old = results.load([self.invented()])
        self.assertIn("No rate changed beyond noise", change.text(old, old))
        self.assertEqual(change.counts(old, old), [])
        new = results.load([self.invented()])
        for (build, case), metrics in new.values.items():
            if case.policy == "exact" and case.workload == "handoff" and build == "release":
                metrics["items_per_second"] = [v * 9 for v in metrics["items_per_second"]]
            if build == "counted" and case.workload == "storm" and case.policy in ("magazine",
                                                                                   "original"):
                metrics["needless_growths"] = [3] * len(metrics["needless_growths"])
        text = change.text(new, old)
        self.assertRegex(text, r"handoff/policy:exact\S* .*  9 × .* better\n")
        self.assertNotIn("original", text)  # had needless pages before, too
        self.assertRegex(text, r"magazine, \d+ cases, needless growths: at most 0, now 3")
        page = pages.part("changes", new, old)
        self.assertIn('id="changes"', page)
        self.assertRegex(page, r"[12] better")

    def test_two_machines_are_not_compared(self):
        old, new = (results.load([self.invented()]) for _ in range(2))
        new.machine = {**new.machine, "cpu_model": "another one"}
        self.assertIn("cpu_model differs", change.refusal(new, old)[0])
        self.assertIn("Not compared", change.text(new, old))
        page = pages.part("changes", new, old)
        self.assertIn("the processors differ", page)
        self.assertNotIn("<table", page)

    def test_the_command(self):
        other = os.path.join(self.folder, "other")
        shutil.copytree(self.invented(), other)
        out = os.path.join(self.folder, "r.html")
        done = fixture.call("report.py", self.invented(), "--against", other, "--out", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("No rate changed beyond noise", done.stdout)
        path = os.path.join(other, "machine.json")
        with open(path, encoding="utf-8") as file:
            machine = json.load(file)
        with open(path, "w", encoding="utf-8") as file:
            json.dump({**machine, "cpu_model": "another one"}, file)
        done = fixture.call("report.py", self.invented(), "--against", other, "--out", out)
        self.assertEqual(done.returncode, 0)
        self.assertIn("not compared", done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        with open(out, encoding="utf-8") as file:
            self.assertIn("Not compared.", file.read())
        self.assert_refused(fixture.call("report.py", other, "--print", "changes"), "--against")


if __name__ == "__main__":
    unittest.main()
