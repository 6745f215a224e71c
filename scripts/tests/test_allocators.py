"""test_allocators.py - allocators.py and what is made of its results: plan, ratios, means, bars,
the chapter."""

import json
import os
import stat
import unittest
from pathlib import Path

import fixture
import allocators
import huge_pages
import invented_allocators
import malloc_instructions
from common import documents, judge, stats
from measuring import allocator_cases, malloc_peers
from reporting import allocator_quotes, allocator_results, instruction_table, page, results

# Stands in for pfs-malloc-run: believes what it is told to run, and says what workloads say.
RUNNER = """#!/usr/bin/python3
import json, sys
words = sys.argv[sys.argv.index("--") + 1:]
out = [a[6:] for a in sys.argv if a.startswith("--out=")][0]
fails = "burst" in words
json.dump({"exit": 3 if fails else 0, "signal": 0, "user_s": 0.5, "system_s": 0.25, "wall_s": 1.0,
           "peak_bytes": 4096000, "mean_bytes": 1, "minor_faults": 7}, open(out, "w"))
if fails:
    sys.exit("pfs-malloc-load: a block was overwritten")
print("idle 1\\nidle_bytes 77" if "idle" in words else "live_bytes 5")
"""


def suite(*names, change=None):
    """The invented suite, of these allocators, with a change to each launch."""
    document = invented_allocators.document(names or tuple(invented_allocators.FACTORS))
    for launch in document["launches"]:
        if change:
            change(launch)
    return allocator_results.Suite(document)


class Plan(unittest.TestCase):
    def test_rounds_alternate_all_allocators_in_another_order(self):
        cases = [allocator_cases.BY_NAME[name] for name in ("burst", "redis")]
        found = malloc_peers.PEERS
        launches = allocators.plan_of(cases, found, {"own": 3, "server": 1}, 5)
        self.assertEqual(len(launches), 4 * 4)
        self.assertEqual([l["number"] for l in launches], list(range(1, 17)))
        orders = set()
        for number in (1, 2, 3):
            turn = [l["allocator"] for l in launches
                    if (l["round"], l["case"]) == (number, "burst")]
            self.assertEqual(sorted(turn), sorted(p.name for p in found))
            orders.add(tuple(turn))
        self.assertGreater(len(orders), 1)
        self.assertEqual(launches, allocators.plan_of(cases, found, {"own": 3, "server": 1}, 5))

    def test_every_case_says_how_it_is_run(self):
        for case in allocator_cases.CASES:
            with self.subTest(case.name):
                self.assertIn(case.group, allocator_cases.SHORT_ROUNDS)
                self.assertEqual(case.group == "program", case.make is not None)
                self.assertGreaterEqual(case.long, case.short)


class Run(fixture.Case):
    def build(self):
        folder = os.path.join(self.folder, "release", "memory", "bench", "malloc")
        for name, text in (("run", RUNNER), ("load", "#!/bin/true\n")):
            path = self.write(os.path.join(folder, f"pfs-malloc-{name}"), text)
            os.chmod(path, stat.S_IRWXU)
        return self.folder

    def test_writes_every_launch(self):
        out = os.path.join(self.folder, "out")
        done = fixture.call("allocators.py", "--build-dir", self.build(), "--out", out, "--only",
                            "pair-1,idle,burst", "--allocators", "glibc", "--rounds", "2")
        self.assertEqual(done.returncode, 1, done.stderr)  # burst failed
        self.assertIn("a block was overwritten", done.stderr)
        document = json.loads(Path(os.path.join(out, "allocators.json")).read_text("utf-8"))
        by_case = {}
        for launch in document["launches"]:
            by_case.setdefault(launch["case"], []).append(launch)
        self.assertEqual({c: len(l) for c, l in by_case.items()},
                         {"pair-1": 2, "idle": 2, "burst": 2})
        self.assertEqual(by_case["idle"][0]["idle_bytes"], 77)
        self.assertEqual(by_case["pair-1"][0]["cpu_s"], 0.75)
        self.assertEqual({l["status"] for l in by_case["burst"]}, {"failed"})
        self.assertFalse(document["complete"])
        self.assertEqual(fixture.call("checks/results.py", out).returncode, 0)
        self.assertEqual(fixture.call("report.py", out).returncode, 0)

    def test_another_output_than_with_glibc_fails(self):
        launches = [{"case": "perl", "allocator": a, "status": "done", "output": o}
                    for a, o in (("pfs", "b"), ("glibc", "a"), ("mimalloc", "a"))]
        allocators.check_outputs(launches)
        self.assertEqual([l["status"] for l in launches], ["failed", "done", "done"])

    def test_wrong_input(self):
        self.assert_refused(fixture.call("allocators.py", "--only", "pear"), "'pear'")
        self.assert_refused(fixture.call("allocators.py", "--allocators", "dlmalloc"), "dlmalloc")
        self.assert_refused(fixture.call("allocators.py", "--build-dir", self.folder, "--out",
                                         os.path.join(self.folder, "out")), "build first")
        self.assert_refused(fixture.call("malloc_instructions.py", "--cases", "pair"), "'pair'")
        for folder in (self.write("file", ""), "/proc/none"):
            self.assert_refused(fixture.call("allocators.py", "--build-dir", self.build(), "--out",
                                             folder, "--only", "pair-1"), folder)

    def test_a_damaged_result_is_named_with_the_place(self):
        def broken(change):
            document = invented_allocators.document(("glibc", "pfs"))
            change(document)
            path = self.write("broken/allocators.json", json.dumps(document))
            return fixture.call("report.py", os.path.dirname(path))

        path = self.write("empty/allocators.json", "")
        self.assert_refused(fixture.call("report.py", os.path.dirname(path)), "damaged JSON")
        self.assert_refused(broken(lambda d: d.pop("launches")), "launches is not a list")
        self.assert_refused(broken(lambda d: d["launches"].insert(3, None)), "launches[3] is not")
        self.assert_refused(broken(lambda d: d["launches"][2].update(case=[])),
                            "launches[2].case is not a text")
        self.assert_refused(broken(lambda d: d["cases"]["pair-1"].pop("judged")),
                            "cases.pair-1.judged")
        self.assert_refused(broken(lambda d: d["instructions"]["pfs"]["pair-64"].update(calls=0)),
                            "instructions.pfs.pair-64.calls is not a count above 0")
        self.assert_refused(broken(lambda d: d["slabs"].update(tiny=7)), "slabs.tiny is not an obj")
        self.assertEqual(broken(lambda d: d.pop("slabs")).returncode, 0)

    def test_a_measurement_that_was_stopped_at_its_start_is_shown(self):
        document = invented_allocators.document(("glibc", "pfs"))
        document.update(cases={}, launches=[], slabs={}, instructions={}, complete=False)
        path = self.write("stopped/allocators.json", json.dumps(document))
        done = fixture.call("report.py", os.path.dirname(path))
        self.assertEqual((done.returncode, done.stderr), (1, ""))  # written, without a figure
        self.assertIn("report:", done.stdout)

    def test_a_launch_without_numbers_fails(self):
        build = self.build()
        runner = os.path.join(build, "release", "memory", "bench", "malloc", "pfs-malloc-run")
        self.write(runner, "#!/bin/sh\nfor a; do case $a in --out=*) : >\"${a#--out=}\";; esac; "
                   "done\nexit 126\n")
        os.chmod(runner, stat.S_IRWXU)
        done = fixture.call("allocators.py", "--build-dir", build, "--out",
                            os.path.join(self.folder, "out"), "--only", "pair-1", "--allocators",
                            "glibc", "--rounds", "1")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("is the disk full?", done.stderr)
        self.assertNotIn("Traceback", done.stderr)


class Quoted(unittest.TestCase):
    """Of the invented suite: ours needs 0.75 of glibc's time."""

    def test_each_word(self):
        found = suite()
        for expression, wanted in (
                ("of burst pfs cpu_s ms", 100 * 0.9 * 1.02),
                ("of tails glibc fork_p99_ns us", 500 * 1.2 * 1.02),
                ("above tiny pfs resident_bytes KiB", -0.3 * 1.02 * 1.2e6 / 1024),
                ("times burst pfs glibc cpu_s", 0.75), ("times burst pfs best cpu_s", 0.9),
                ("mean pfs cpu_s", 0.75), ("mean pfs cpu_s low", 0.75), ("rounds burst", 3),
                ("cases cpu_s", len(found.judged("cpu_s"))), ("amount tails", 1),
                ("instructions pair-64 pfs", 41)):
            with self.subTest(expression):
                value = allocator_quotes.quoted(found, expression)
                self.assertAlmostEqual(value, wanted, delta=1e-3 * abs(wanted))

    def test_what_was_not_measured(self):
        for one, expression in ((None, "rounds burst"), (suite("glibc"), "mean pfs cpu_s"),
                                (suite(), "of burst pfs idle_bytes MiB"),
                                (suite(), "instructions free-64 pfs")):
            with self.assertRaises(documents.BadInput):
                allocator_quotes.quoted(one, expression)


class HugePages(unittest.TestCase):
    def test_means_and_single_cases(self):
        def doubled(launch):
            launch.update(peak_bytes=2 * launch["peak_bytes"], cpu_s=launch["cpu_s"] / 2)
        lines = huge_pages.table(suite(change=doubled), suite()).splitlines()
        self.assertRegex(lines[2], "^peak resident +(2.000 *){5}$")
        self.assertRegex(lines[4], "^CPU time +(0.500 *){5}$")
        self.assertRegex(lines[6], "^tiny: resident, KiB with never +1434.4 .* 1075.8")
        both = huge_pages.joined([suite(), suite()])
        self.assertEqual({v.round for v in both.samples("redis", "pfs", "cpu_s").all}, {1, 2})


class Ratios(unittest.TestCase):
    def test_to_the_best_peer_within_rounds(self):
        found = suite()
        self.assertEqual(found.best_peer("burst", "cpu_s"), "tcmalloc")
        for ratio in found.to_best("burst", "pfs", "cpu_s"):
            self.assertAlmostEqual(ratio, 0.9)
        self.assertEqual(found.best_by_mean("cpu_s"), "tcmalloc")
        self.assertEqual(found.best_by_mean("peak_bytes"), "glibc")
        mean, interval = found.mean_ratio("pfs", "tcmalloc", "cpu_s")
        self.assertAlmostEqual(mean, 0.9)
        self.assertLessEqual(interval.low, mean)
        self.assertNotIn("tiny", found.judged("cpu_s"))

    def test_a_mean_has_an_interval_that_shows_the_spread(self):
        still = stats.bootstrap_mean([[1.0, 1.0, 1.0]] * 5)
        self.assertEqual((still[0], still[1].low, still[1].high), (1.0, 1.0, 1.0))
        wide = stats.bootstrap_mean([[0.5, 1.0, 2.0]] * 5)
        self.assertAlmostEqual(wide[0], 1.0)
        self.assertLess(wide[1].low, 0.9)
        self.assertGreater(wide[1].high, 1.1)
        self.assertEqual(wide, stats.bootstrap_mean([[0.5, 1.0, 2.0]] * 5))

    def test_bars_follow_the_data(self):
        self.assertEqual({bar.verdict for bar in allocator_results.bars(suite())}, {judge.MET})
        counts = judge.tally(allocator_results.bars(suite("glibc", "tcmalloc")))
        self.assertEqual(counts[judge.MET], 0)

        def slow_burst(launch):
            if launch["case"] == "burst" and launch["allocator"] == "pfs":
                launch["cpu_s"] *= 1.5
        missed = [bar for bar in allocator_results.bars(suite(change=slow_burst))
                  if bar.verdict != judge.MET]
        self.assertEqual(len(missed), 1)
        self.assertEqual(missed[0].verdict, judge.NOT_MET)
        self.assertIn("burst 1.35", missed[0].measured)

        def keeps(launch):
            if launch["case"] == "idle-foreign":
                launch["idle_bytes"] = 12 << 20
        missed = [bar for bar in allocator_results.bars(suite(change=keeps))
                  if bar.verdict != judge.MET]
        self.assertEqual([bar.says.split(":")[0] for bar in missed], ["idle-foreign"])

        def stalls(launch):
            if launch["case"] == "tails" and launch["allocator"] == "pfs":
                launch.update(malloc_longest_cpu_ns=30000000, fork_p99_ns=9000000)
        missed = [bar for bar in allocator_results.bars(suite(change=stalls))
                  if bar.verdict != judge.MET]
        self.assertEqual([bar.measured.split(" (")[0] for bar in missed], ["30 ms", "17.65"])
        found = suite()
        found.document["slabs"]["mixed"]["slabs_needless"] = 3
        self.assertEqual(allocator_results.slab_bar(found).verdict, judge.NOT_MET)
        self.assertIn("mixed 3 of", allocator_results.slab_bar(found).measured)

    def test_live_bytes_of_slabs_are_stated(self):
        found = suite()
        found.document["slabs"] = {"mixed": {"slabs_bytes": 655360, "slabs_live": 524288,
                                             "slabs_cached": 65536}, "sort": {"slabs_made": 1}}
        self.assertEqual([[row[0], row[-1]] for row in allocator_results.slab_rows(found)[1]],
                         [["mixed", "0.80"]])
        self.assertIn("live / mapped", allocator_results.text(found))

    def test_text_has_all_tables(self):
        text = allocator_results.text(suite())
        for word in ("CPU time × tcmalloc", "resident 3 s", "41.0", "46.0 (0.050)", "met"):
            self.assertIn(word, text)
        without = suite("glibc", "mimalloc")
        without.document["instructions"] = {}
        self.assertNotIn("instructions a call", allocator_results.text(without))

    def test_a_folder_without_the_file_has_no_suite(self):
        self.assertIsNone(allocator_results.Suite.load("/no/such"))


class Instructions(unittest.TestCase):
    def test_table(self):
        counted = malloc_instructions.parse("pair-64 200 9000 0\nforeign-64 1000 50000 62\n")
        headers, rows = instruction_table.table({"pfs": counted, "glibc": {}})
        self.assertEqual(headers[1:], ["pair-64", "foreign-64"])
        self.assertEqual(rows, [["pfs", "45.0", "50.0 (0.062)"], ["glibc", "–", "–"]])

    def test_what_is_not_installed_is_named(self):
        found, missing = malloc_peers.available("/no/such")
        self.assertEqual(found[0].name, "glibc")
        self.assertIn("not built", missing["pfs"])


class Chapter(fixture.Case):
    def test_stands_in_the_report(self):
        page = Path(os.path.join(self.invented(), "report.html")).read_text("utf-8")
        chapter = page[page.index('<section class="page"><h2 id="allocator">'):]
        chapter = chapter[:chapter.index("</section>")]
        for word in ("allocator-mean", "allocator-idle", "allocator-tails", "allocator-cpu",
                     "allocator-peak", "at most 45 instructions", "install &lt;nodejs&gt;",
                     "46.0 (0.050)"):
            self.assertIn(word, chapter)
        self.assertRegex(page, '<a href="#allocator">The allocator: [0-9]+ ')

    def test_is_not_there_without_data(self):
        found = results.load([self.invented()])
        found.allocators = None
        self.assertNotIn('id="allocator"', page.render(found, [], []))


if __name__ == "__main__":
    unittest.main()
