"""test_measure.py - measure.py: order, failures, interruption, and what it refuses."""

import json
import os
import re
import signal
import subprocess
import time
import unittest
from pathlib import Path

import fixture
import measure
from common import stats
from measuring import suite


def plan_of(folder):
    return json.loads(Path(os.path.join(folder, "plan.json")).read_text("utf-8"))


class Suite(unittest.TestCase):
    def test_rounds_alternate_all_policies(self):
        plan = suite.make_plan(["a", "b", "c"], 2, seed=1, repetitions=4)
        pairs = [launch["policy"] for launch in plan if launch["label"] == "pair"]
        rounds = [pairs[k:k + 3] for k in range(0, 12, 3)]
        self.assertEqual(len(pairs), 12)
        for turn in rounds:
            self.assertEqual(sorted(turn), ["a", "b", "c"])
        self.assertGreater(len({tuple(turn) for turn in rounds}), 1)

    def test_seed_decides_the_order(self):
        one, again, other = (suite.make_plan(list("abcdef"), 2, seed=s) for s in (1, 1, 2))
        self.assertEqual(one, again)
        self.assertNotEqual([x["policy"] for x in one], [x["policy"] for x in other])

    def test_bars_have_the_rounds_to_be_decided(self):
        plan = suite.make_plan(["a"], 2, seed=1, traits={"a": {"reclaim", "index", "exact", "grow",
                                                                "bounded"}})
        for label in ("floor", "pair", "churn-threads", "churn-fill", "handoff", "tide", "replay",
                      "calls", "scaling", "ebb-reclaim", "ebb-still", "growth-exact", "refusal"):
            rounds = {launch["round"] for launch in plan if launch["label"] == label}
            self.assertGreaterEqual(len(rounds), stats.LEAST, label)

    def test_what_has_no_pages_is_not_counted(self):
        plan = suite.make_plan(["a", "malloc"], 2, seed=1, traits={"a": {"index"}, "malloc": ()})
        self.assertEqual({launch["policy"] for launch in plan if launch["build"] == "counted"
                          and launch["label"] != "counts-tide"}, {"a"})

    def test_a_row_is_for_policies_of_its_traits(self):
        traits = {"ours": {"index", "grow", "exact", "reclaim"}, "list": {"index", "grow", "exact"},
                  "scan": {"index", "grow", "reclaim"}, "malloc": {"grow"}}
        plan = suite.make_plan(list(traits), 2, seed=1, traits=traits)

        def policies(label):
            return {launch["policy"] for launch in plan if launch["label"] == label}
        self.assertEqual(policies("growth"), {"list", "scan"})
        self.assertEqual(policies("growth-exact"), {"ours"})
        self.assertEqual(policies("growth-fresh"), set(traits))

    def test_growth_alone_has_its_full_range(self):
        policies = {"a": {"index", "grow", "exact", "reclaim", "bounded"}, "b": {"index", "grow"}}
        plan = suite.make_plan(list(policies), 2, seed=1, traits=policies, growth=True)
        self.assertEqual({launch["label"] for launch in plan},
                         {"growth", "growth-exact", "growth-fresh", "growth-calls", "refusal"})
        for launch in plan:
            if launch["label"] in ("growth", "growth-exact", "growth-fresh"):
                self.assertIn("16384,65536,262144,1048576,4194304,16777216", launch["flags"])
        self.assertTrue(any("1048576" in launch["flags"] for launch in plan
                            if launch["label"] == "refusal"))

    def test_files_are_distinct(self):
        plan = suite.make_plan(list("ab"), 4, seed=1)
        self.assertEqual(len({launch["file"] for launch in plan}), len(plan))

    def test_thread_counts(self):
        self.assertEqual(suite.thread_counts("powers", 2), [1, 2, 8])
        self.assertEqual(suite.thread_counts("powers", 6), [1, 2, 4, 6, 24])
        self.assertEqual(suite.thread_counts("even", 2), [2, 8])
        self.assertEqual(suite.thread_counts("some", 1), [2])
        self.assertEqual(suite.thread_counts("1,all,8", 2), [1, 2, 8])

    def test_quick_is_short(self):
        plan = suite.make_plan(list("abcdefghi"), 2, seed=1, quick=True)
        self.assertLess(sum(launch["estimate_s"] for launch in plan), 50)


class Measure(fixture.Case):
    def measured(self, *arguments, fake=""):
        self.out = os.path.join(self.folder, "out")
        return fixture.call("measure.py", "--out", self.out, "--build-dir", self.build_dir(),
                            *arguments, environment={"PFS_FAKE": fake})

    def test_complete_run(self):
        folder = self.invented()
        plan = plan_of(folder)
        self.assertTrue(plan["complete"])
        for name in ("machine.json", "report.html", "figures/floor.svg"):
            self.assertTrue(os.path.exists(os.path.join(folder, name)), name)
        self.assertEqual([f for f in os.listdir(os.path.join(folder, "raw"))
                          if f.endswith(".partial")], [])
        self.assertEqual(fixture.call("checks/results.py", folder).returncode, 0)

    def test_memory_of_the_process_is_watched(self):
        launches = [launch for launch in plan_of(self.invented())["launches"]
                    if launch.get("results_as") == "memory" and launch["status"] == "done"]
        self.assertTrue(launches)
        peaks = [launch["process_bytes_peak"] for launch in launches]
        # A Python that started; not this one, whose memory rusage would count in.
        self.assertTrue(all(1 << 20 < peak < 1 << 30 for peak in peaks), peaks)
        grown = ["/usr/bin/python3", "-c", "x = bytearray(b'1') * (200 << 20); "
                 "import time; time.sleep(0.2)"]
        done, peak = measure.run_watched(grown, 60, None)
        self.assertEqual(done.returncode, 0)
        self.assertTrue(200 << 20 < peak < 300 << 20, peak)
        own = bytearray(b"1") * (300 << 20)  # what we hold is not the child's
        _, peak = measure.run_watched(["/usr/bin/sleep", "0.1"], 60, None)
        self.assertLess(peak, 50 << 20)
        del own

    def test_ends_by_naming_the_report(self):
        """Without the simulator, which is said and no failure."""
        self.out = os.path.join(self.folder, "out")
        build = self.build_dir()
        os.remove(os.path.join(build, "release", "sim", "pfs-sim"))
        done = fixture.call("measure.py", "--quick", "--out", self.out, "--build-dir", build)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, "nothing is simulated: .*pfs-sim: cannot be run")
        self.assertEqual(done.stdout.strip().splitlines()[-1], f"report: {self.out}/report.html")
        self.assertIn("original", done.stdout)
        self.assertNotIn("\r", done.stderr)

    def test_a_failed_launch_is_named_and_the_rest_kept(self):
        done = self.measured("--quick", fake="fail:malloc")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"launch \d+ \(\w+.* malloc, \w+\) failed: exit 1: "
                                      "pfs-bench: out of luck")
        plan = plan_of(self.out)
        states = {launch["policy"]: launch["status"] for launch in plan["launches"]}
        self.assertEqual((states["malloc"], states["original"]), ("failed", "done"))
        self.assertFalse(plan["complete"])
        self.assertTrue(os.path.exists(os.path.join(self.out, "report.html")))

    def test_damaged_output_is_a_failure(self):
        done = self.measured("--quick", fake="garbage")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("damaged JSON at offset", done.stderr)
        self.assertIn("in a row failed; stopped", done.stderr)
        self.assertEqual([f for f in os.listdir(os.path.join(self.out, "raw"))
                          if f.endswith(".json")], [])

    def test_interrupt_keeps_what_was_measured(self):
        out = os.path.join(self.folder, "out")
        process = subprocess.Popen(
            [os.path.join(fixture.SCRIPTS, "measure.py"), "--out", out, "--build-dir",
             self.build_dir()], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "PFS_FAKE": "slow"},
            # A shell that runs the tests in the background has them ignore SIGINT.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        limit = time.monotonic() + 60
        while time.monotonic() < limit:
            if os.path.exists(os.path.join(out, "plan.json")) and any(
                    launch["status"] == "done" for launch in plan_of(out)["launches"]):
                break
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertRegex(said, r"interrupted after \d+ of \d+ launches; what was measured is in")
        self.assertNotIn("Traceback", said)
        done = fixture.call("report.py", out)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        states = {launch["status"] for launch in plan_of(out)["launches"]}
        self.assertEqual(states - {"done", "interrupted", "planned", "unfit"}, set())

    def test_a_stopped_run_goes_on(self):
        """As a kill leaves it: one launch ran, others were planned, one file is not there."""
        import shutil
        out = os.path.join(self.folder, "out")
        shutil.copytree(self.invented(), out)
        plan = plan_of(out)
        done = [launch for launch in plan["launches"] if launch["status"] == "done"]
        again, kept = done[:3], done[3:]
        for launch, status in zip(again, ("running", "planned", "done")):
            launch["status"] = status
            os.remove(os.path.join(out, launch["file"]))
        half = os.path.join(out, again[0]["file"]) + ".partial"
        Path(half).write_text("half a", "utf-8")
        plan["complete"] = False
        Path(os.path.join(out, "plan.json")).write_text(json.dumps(plan), "utf-8")
        os.remove(os.path.join(out, "report.html"))
        stamps = [os.stat(os.path.join(out, launch["file"])).st_mtime_ns for launch in kept]
        went = fixture.call("measure.py", "--resume", out, "--build-dir", self.build_dir())
        self.assertEqual(went.returncode, 0, went.stderr)
        settled = len(plan["launches"]) - len(again)
        self.assertIn(f"{settled} of {len(plan['launches'])} launches are there", went.stderr)
        after = plan_of(out)
        self.assertTrue(after["complete"])
        self.assertEqual({launch["status"] for launch in after["launches"]} - {"done", "unfit"},
                         set())
        self.assertEqual(stamps, [os.stat(os.path.join(out, launch["file"])).st_mtime_ns
                                  for launch in kept])
        self.assertFalse(os.path.exists(half))
        self.assertTrue(os.path.exists(os.path.join(out, "report.html")))
        self.assertEqual(fixture.call("checks/results.py", out).returncode, 0)
        self.of_another_machine(out)

    def of_another_machine(self, out):
        path = os.path.join(out, "machine.json")
        facts = json.loads(Path(path).read_text("utf-8"))
        Path(path).write_text(json.dumps({**facts, "cpu_model": "abacus"}), "utf-8")
        went = fixture.call("measure.py", "--resume", out, "--build-dir", self.build_dir())
        self.assert_refused(went, "'abacus'")

    def test_wrong_input(self):
        blocked = self.write("file", "")
        call = fixture.call
        self.assert_refused(call("measure.py", "--out", blocked + "/x"), "cannot be written")
        self.assert_refused(call("measure.py", "--repetitions", "0"), "'0'")
        self.assert_refused(call("measure.py", "--repetitions", "two"), "'two'")
        self.assert_refused(call("measure.py", "--no-such"), "--no-such")
        self.assert_refused(call("measure.py", "--quick", "--growth"), "--growth")
        self.assert_refused(call("measure.py", "--out", self.invented()), "already")
        self.assert_refused(call("measure.py", "--build-dir", "/no", "--out",
                                 os.path.join(self.folder, "x")), "build first")
        self.assert_refused(call("measure.py", "--resume", self.folder), "no plan.json")
        self.assert_refused(call("measure.py", "--resume", self.invented(), "--quick"), "--quick")
        self.assert_refused(call("run", "--out", blocked + "/x"), "cannot be written")
        self.assert_refused(call("run", "--no-such"), "--no-such")
        self.assert_refused(call("setup", "--no-such"), "--no-such")

    def test_full_disk_is_one_line(self):
        """No traceback, and what was measured before is there."""
        disk = os.path.join(self.folder, "disk")
        os.mkdir(disk)
        for size, least in (("16k", 0), ("600k", 3)):
            script = (f'mount -t tmpfs -o size={size} none "$1" || exit 77; '
                      'shift; "$@"; code=$?; ls "$0/out/raw" | grep -c "json$"; exit $code')
            done = subprocess.run(
                ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, disk,
                 disk, os.path.join(fixture.SCRIPTS, "measure.py"), "--quick", "--out",
                 os.path.join(disk, "out"), "--build-dir", self.build_dir()],
                capture_output=True, text=True, timeout=300, check=False)
            if done.returncode == 77 or "unshare" in done.stderr:
                self.skipTest("no small disk can be made here")
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            self.assertNotIn("Traceback", done.stderr)
            said = done.stderr.strip().splitlines()[-1]
            self.assertTrue(said.startswith("run: ") and "No space left" in said, said)
            self.assertGreaterEqual(int(done.stdout.split()[-1]), least, done.stdout)

    def test_full_output_is_one_line(self):
        with open("/dev/full", "w", encoding="utf-8") as nowhere:
            done = subprocess.run([os.path.join(fixture.SCRIPTS, "compare.py"), self.invented(),
                                   self.invented()], stdout=nowhere, stderr=subprocess.PIPE,
                                  text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        self.assertIn("standard output", done.stderr)

    def test_check_leaves_nothing(self):
        path = os.path.join(self.folder, "a", "b")
        self.assertEqual(fixture.call("measure.py", "--check", "--out", path).returncode, 0)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "a")))

    def test_help(self):
        for script in ("measure.py", "run", "setup", "test", "compare.py", "plot.py",
                       "report.py", "checks/results.py"):
            with self.subTest(script):
                done = fixture.call(script, "--help")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertRegex(done.stdout, re.compile("usage", re.IGNORECASE))


class Schema(fixture.Case):
    def test_violations_are_found(self):
        import shutil
        folder = os.path.join(self.folder, "r")
        for change, word in (
                (lambda p: p.pop("seed"), "lacks seed"),
                (lambda p: p["launches"][0].update(build="debug"), "not one of release"),
                (lambda p: p["launches"][0].update(window_ms=0), "below 1"),
                (lambda p: p.update(cpus=True), "not of type integer"),
                (lambda p: p.update(policies=[]), "shorter than 1")):
            shutil.copytree(self.invented(), folder)
            plan = plan_of(folder)
            change(plan)
            self.write("r/plan.json", json.dumps(plan))
            done = fixture.call("checks/results.py", folder)
            self.assertEqual(done.returncode, 1)
            self.assertIn(word, done.stderr)
            shutil.rmtree(folder)


if __name__ == "__main__":
    unittest.main()
