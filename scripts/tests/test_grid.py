"""test_grid.py - grid.py: each job once whatever is killed, whole results only, failures told."""

import contextlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest
from unittest import mock
from pathlib import Path

import fixture
from measuring import grid
from reporting import results

FAKE = os.path.join(fixture.TESTS, "fake_sim.py")
SMALL = {"policies": ["original", "exact"], "threads": [1, 64], "occupancies": [0.95],
         "seeds": [1, 2]}  # 8 jobs
MANY = {**SMALL, "occupancies": [0.5, 0.95], "seeds": [1, 2, 3]}  # 24, not over when one is killed
SEARCHES = {"searches": [["--policy", p, "--scenario", "four_pages"]
                         for p in ("original", "exact")]}


class Jobs(unittest.TestCase):
    def test_ids_are_of_the_arguments_alone(self):
        one = grid.jobs_of([{"policies": ["exact", "original"], "threads": [1, 2]}])
        other = grid.jobs_of([{"policies": ["original"], "threads": [2], "seeds": [1, 9]}])
        self.assertEqual({j.id for j in one} & {j.id for j in other}, {other[0].id})
        self.assertEqual(len({j.id for j in one + other}), 5)

    def test_grids_that_overlap_give_each_job_once(self):
        part = {"policies": ["exact"], "threads": [1, 2]}
        self.assertEqual(len(grid.jobs_of([part, {**part, "threads": [2, 4]}])), 3)


class Run(fixture.Case):
    def setUp(self):
        super().setUp()
        self.out = os.path.join(self.folder, "out")
        self.log = os.path.join(self.folder, "starts")

    def run_grid(self, *grids, fake="", program=FAKE):
        """The merged document, and what was told."""
        told, jobs = io.StringIO(), grid.jobs_of(grids)
        with mock.patch.dict(os.environ, PFS_FAKE=fake, PFS_FAKE_LOG=self.log), \
                contextlib.redirect_stderr(told):
            return grid.merge(jobs, grid.run(jobs, self.out, program)), told.getvalue()

    def starts(self):
        if not os.path.exists(self.log):
            return []
        return Path(self.log).read_text("utf-8").splitlines()

    def files(self):
        return sorted(os.path.join(place, name) for place, _, names in os.walk(self.out)
                      for name in names)

    def whole(self):
        """Without what a process wrote in part when it was killed: its job runs again."""
        return [name for name in self.files() if not name.endswith(".partial")]

    def test_whole_grid_once(self):
        before, _ = self.run_grid(SMALL)
        self.assertEqual((len(self.starts()), len(set(self.starts()))), (8, 8))
        self.assertEqual(len(before["benchmarks"]), 8)
        self.assertEqual(self.run_grid(SMALL)[0], before)
        self.assertEqual(len(self.starts()), 8)
        self.assertEqual((len(self.files()), self.whole()), (8, self.files()))

    def test_kill_and_go_on(self):
        script = (f"import sys; sys.path.insert(0, {fixture.SCRIPTS!r})\n"
                  f"from measuring import grid\n"
                  f"grid.run(grid.jobs_of([{MANY!r}]), {self.out!r}, {FAKE!r})")
        for number in (signal.SIGINT, signal.SIGKILL):
            with self.subTest(number):
                shutil.rmtree(self.out, ignore_errors=True)
                if os.path.exists(self.log):
                    os.remove(self.log)
                environment = {**os.environ, "PFS_FAKE": "slow", "PFS_FAKE_LOG": self.log}
                with subprocess.Popen(  # a shell has what it runs in the background ignore SIGINT
                        [sys.executable, "-c", script], env=environment, stderr=subprocess.DEVNULL,
                        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)) as process:
                    limit = time.monotonic() + 60
                    while len(self.starts()) < 7 and time.monotonic() < limit:
                        time.sleep(0.02)
                    process.send_signal(number)
                    self.assertEqual(process.wait(60), -number)
                there = len(self.whole())
                self.assertTrue(0 < there < 24, there)
                time.sleep(2)  # jobs that outlive the killed process, or only start, write nothing
                self.assertEqual(len(self.whole()), there)
                place = os.path.dirname(self.files()[0])
                missing = next(job for job in grid.jobs_of([MANY])
                               if not os.path.exists(os.path.join(place, f"{job.id}.json")))
                Path(place, f"{missing.id}.json.partial").write_text("{", "utf-8")
                started = len(self.starts())
                document, _ = self.run_grid(MANY)
                self.assertEqual(len(document["benchmarks"]), 24)
                self.assertEqual(len(self.starts()), started + 24 - there)
                self.assertEqual(self.files(), self.whole())

    def test_a_failed_job_is_named_and_the_rest_kept(self):
        document, told = self.run_grid(SMALL, fake="fail:exact")
        self.assertRegex(told, r"job \w{12} failed \(exit 2: pfs-sim: out of luck\): "
                               r"pfs-sim run --machine 'numa:8 core:32 pu:1' .*exact")
        self.assertEqual((len(document["benchmarks"]), document["context"]["missing"]), (4, 4))
        started = len(self.starts())
        self.assertEqual(self.run_grid(SMALL)[0]["context"], {"simulated": True, "jobs": 8,
                                                              "missing": 0})
        self.assertEqual(len(self.starts()), started + 4)

    def test_damaged_results_are_named_and_run_again(self):
        before, _ = self.run_grid(SMALL)
        names = self.files()
        text = Path(names[0]).read_text("utf-8")
        other = json.loads(text)
        other["seed"] += 100
        for name, damage in ((names[0], text[:50]), (names[1], ""), (names[2], "[]"),
                             (names[0], json.dumps(other))):
            started = len(self.starts())
            self.write(name, damage)
            document, told = self.run_grid(SMALL)
            lines = [line for line in told.splitlines() if "run again" in line]
            self.assertEqual(len(lines), 1, told)
            self.assertIn(name, lines[0])
            self.assertEqual(len(self.starts()), started + 1)
            self.assertEqual(document, before)

    def test_a_program_that_prints_half(self):
        document, told = self.run_grid({"policies": ["exact"], "threads": [2]}, fake="cut")
        self.assertEqual(document["context"]["missing"], 1)
        self.assertIn("damaged JSON at offset", told)

    def test_searches(self):
        for _ in range(2):  # the second time they are read
            found = self.run_grid(SEARCHES)[0]["searches"]
            self.assertEqual([s["exit"] for s in found], [1, 0])
            self.assertIn("load page_limit", found[0]["output"])
        self.assertEqual(len(self.starts()), 2)

    def test_another_program_has_its_own_results(self):
        self.run_grid(SMALL)
        other = self.write("pfs-sim", Path(FAKE).read_text("utf-8") + "# another\n")
        os.chmod(other, 0o755)
        self.run_grid(SMALL, program=other)
        self.assertEqual((len(self.starts()), len(set(self.starts()))), (16, 8))

    def test_program(self):
        self.assertEqual(grid.program_of(FAKE), FAKE)
        with self.assertRaisesRegex(grid.documents.BadInput, "/no/sim.*build it"):
            grid.program_of("/no/sim")

    def test_single_runs_are_read_as_a_merged_file_is(self):
        merged, _ = self.run_grid(SMALL)
        self.write("merged.json", json.dumps(merged))
        one = results.load([os.path.join(self.folder, "merged.json")])
        each = results.load([os.path.dirname(self.files()[0])])
        self.assertEqual({k: sorted(v["seed"]) for k, v in one.values.items()},
                         {k: sorted(v["seed"]) for k, v in each.values.items()})
        with self.assertRaisesRegex(grid.documents.BadInput, "without 'machine'"):
            results.load([self.write("bad.json", '{"simulated": true}')])


if __name__ == "__main__":
    unittest.main()
