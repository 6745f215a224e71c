"""test_sweep.py - sweep.py: each job once whatever is killed, whole results only, hosts, Slurm,
refusals."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
import unittest

import fixture
from measuring import grid

FAKE = os.path.join(fixture.TESTS, "fake_sim.py")
MANY = ("--policies", "original,exact", "--threads", "1,64", "--seeds", "1-3",
        "--occupancies", "0.5,0.95") # 24 jobs, of which some are left when a sweep is killed
SMALL = (*MANY, "--seeds", "1-2", "--occupancies", "0.95") # 8


class Grid(unittest.TestCase):
    def test_ids_are_of_the_arguments_alone(self):
        one = grid.jobs_of({"policies": ["exact", "original"], "threads": [1, 2]}, "x")
        other = grid.jobs_of({"policies": ["original"], "threads": [2], "seeds": [1, 9]}, "x")
        self.assertEqual({j.id for j in one} & {j.id for j in other}, {other[0].id})
        self.assertEqual(len({j.id for j in one + other}), 5)

    def test_grids_that_overlap_give_each_job_once(self):
        part = {"policies": ["exact"], "threads": [1, 2]}
        jobs = grid.jobs_of({"grids": [part, {**part, "threads": [2, 4]}]}, "x")
        self.assertEqual(len(jobs), 3)

    def test_words_survive_the_list(self):
        job = grid.make_job(["run", "--machine", "numa:8 core:2 pu:1", "--x", "it's $HOME"], "m")
        done = subprocess.run(["sh", "-c", f"printf '%s|' {grid.line_of(job).split(chr(9))[1]}"],
                              capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout.split("|")[:-1], job.words)


@unittest.skipUnless(fixture.PARALLEL, "GNU parallel or flock is not installed")
class Sweep(fixture.Case):
    def setUp(self):
        super().setUp()
        self.out = os.path.join(self.folder, "out")
        self.log = os.path.join(self.folder, "starts")

    def sweep(self, *arguments, fake="", out=None):
        return fixture.call("sweep.py", "--out", out or self.out, "--program", FAKE, *arguments,
                            environment={"PFS_FAKE": fake, "PFS_FAKE_LOG": self.log})

    def text(self, path):
        with open(path, encoding="utf-8") as file:
            return file.read()

    def starts(self):
        return self.text(self.log).splitlines() if os.path.exists(self.log) else []

    def merged(self, out=None):
        return self.text(os.path.join(out or self.out, "simulated.json"))

    def test_whole_grid_once(self):
        done = self.sweep(*SMALL)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((len(self.starts()), len(set(self.starts()))), (8, 8))
        self.assertEqual(len(json.loads(self.merged())["benchmarks"]), 8)
        before = self.merged()
        self.assertEqual(self.sweep(*SMALL).returncode, 0)
        self.assertEqual(len(self.starts()), 8)
        self.assertEqual(self.merged(), before)
        self.assertEqual([n for n in os.listdir(self.out + "/raw") if "partial" in n], [])

    def killed(self, who):
        """Kill a process of a sweep in its middle by SIGKILL; how many jobs had started."""
        process = subprocess.Popen(
            [os.path.join(fixture.SCRIPTS, "sweep.py"), "--out", self.out, "--program", FAKE,
             "--jobs", "4", *MANY], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "PFS_FAKE": "slow", "PFS_FAKE_LOG": self.log})
        limit = time.monotonic() + 60
        while len(self.starts()) < 7 and time.monotonic() < limit:
            time.sleep(0.02)
        victim = process.pid
        if who == "parallel":
            found = subprocess.run(["ps", "-o", "pid=,comm=", "--ppid", str(process.pid)],
                                   capture_output=True, text=True, check=True).stdout
            victim = int(re.search(r"(\d+) (?:parallel|perl)", found).group(1))
        os.kill(victim, signal.SIGKILL)
        process.communicate(timeout=60)
        self.assertNotEqual(process.returncode, 0)
        return len(self.starts())

    def test_kill_and_go_on(self):
        for who in ("parallel", "sweep"):
            with self.subTest(who):
                shutil.rmtree(self.out, ignore_errors=True)
                if os.path.exists(self.log):
                    os.remove(self.log)
                # Jobs that outlive the killed process are still at work when this goes on.
                self.assertLess(self.killed(who), 24)
                done = self.sweep(*MANY)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(len(json.loads(self.merged())["benchmarks"]), 24)
                time.sleep(0.5)
                self.assertEqual((len(self.starts()), len(set(self.starts()))), (24, 24))

    def test_a_failed_job_is_named_and_the_rest_kept(self):
        done = self.sweep(*SMALL, fake="fail:exact")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"job \w{12} failed \(exit 2: pfs-sim: out of luck\): "
                                      r"pfs-sim run --machine 'numa:8 core:32 pu:1' .*exact")
        document = json.loads(self.merged())
        self.assertEqual((len(document["benchmarks"]), document["context"]["missing"]), (4, 4))
        started = len(self.starts())
        self.assertEqual(self.sweep(*SMALL).returncode, 0)
        self.assertEqual(len(self.starts()), started + 4)

    def test_damaged_results_are_named_and_run_again(self):
        self.assertEqual(self.sweep(*SMALL).returncode, 0)
        names = sorted(os.listdir(self.out + "/raw"))
        before = self.merged()
        with open(f"{self.out}/raw/{names[0]}", encoding="utf-8") as file:
            text = file.read()
        other = json.loads(text)
        other["seed"] += 100
        for name, damage in ((names[0], text[:50]), (names[1], ""), (names[2], "[]"),
                             (names[0], json.dumps(other))):
            started = len(self.starts())
            with open(f"{self.out}/raw/{name}", "w", encoding="utf-8") as file:
                file.write(damage)
            done = self.sweep(*SMALL)
            self.assertEqual(done.returncode, 0, done.stderr)
            told = [line for line in done.stderr.splitlines() if "run again" in line]
            self.assertEqual(len(told), 1, done.stderr)
            self.assertIn(name, told[0])
            self.assertEqual(len(self.starts()), started + 1)
            self.assertEqual(self.merged(), before)

    def test_a_program_that_prints_half(self):
        done = self.sweep("--policies", "exact", "--threads", "2", fake="cut")
        self.assertEqual(done.returncode, 1)
        self.assertIn("damaged JSON at offset", done.stderr)

    def test_searches(self):
        path = self.write("grid.json", json.dumps({"grids": [{"searches": [
            ["--policy", p, "--scenario", "four_pages"] for p in ("original", "exact")]}]}))
        done = self.sweep(path)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(self.merged())["searches"]
        self.assertEqual([s["exit"] for s in found], [1, 0])
        self.assertIn("load page_limit", found[0]["output"])

    def test_another_program_is_refused(self):
        self.assertEqual(self.sweep(*SMALL).returncode, 0)
        other = self.write("pfs-sim", self.text(FAKE) + "# another\n")
        os.chmod(other, 0o755)
        arguments = ("sweep.py", "--out", self.out, "--program", other, *SMALL)
        self.assert_refused(fixture.call(*arguments), "a pfs-sim other than", "--anew")
        self.assertEqual(fixture.call(*arguments, "--anew").returncode, 0)

    def test_slurm_array(self):
        done = self.sweep("--slurm", *SMALL)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(re.search(r"--array=0-(\d+)", done.stdout).group(1), "7")
        script = self.write("array.sbatch", done.stdout)
        for task in range(8):
            run = subprocess.run(["sh", script], capture_output=True, text=True, check=False,
                                 env={**os.environ, "SLURM_ARRAY_TASK_ID": str(task),
                                      "PFS_FAKE": "", "PFS_FAKE_LOG": self.log})
            self.assertEqual(run.returncode, 0, run.stderr)
        merge = self.sweep("--merge")
        self.assertEqual(merge.returncode, 0, merge.stderr)
        self.assertEqual((len(self.starts()), len(set(self.starts()))), (8, 8))
        local = os.path.join(self.folder, "local")
        self.assertEqual(self.sweep(*SMALL, out=local).returncode, 0)
        self.assertEqual(self.merged(), self.merged(local))

    def test_slurm_arrays_are_bounded_and_failures_seen(self):
        done = self.sweep("--slurm", "--policies", "exact", "--threads", "1", "--seeds", "1-2500")
        self.assertEqual(re.search(r"--array=0-(\d+)", done.stdout).group(1), "833")
        script = self.write("array.sbatch", done.stdout)
        run = subprocess.run(["sh", script], capture_output=True, text=True, check=False,
                             env={**os.environ, "SLURM_ARRAY_TASK_ID": "833",
                                  "PFS_FAKE": "fail:exact", "PFS_FAKE_LOG": self.log})
        self.assertEqual((run.returncode, len(self.starts())), (1, 1))
        self.assertIn("failed: pfs-sim run", run.stderr)
        merge = self.sweep("--merge")
        self.assertEqual(merge.returncode, 1)
        self.assertIn("has no result", merge.stderr)

    @unittest.skipUnless(shutil.which("rsync"), "rsync is not installed")
    def test_many_hosts(self):
        ssh = self.write("ssh", f"""#!/bin/sh
while [ "${{1#-}}" != "$1" ]; do shift; done
HOME={self.folder}/home-$1
mkdir -p "$HOME" && cd "$HOME" || exit
export HOME
unset SHELL
echo "$1" >>{self.folder}/hosts
shift
[ "$1" = -- ] && shift
exec sh -c "$*"
""")
        os.chmod(ssh, 0o755)
        logins = self.write("logins", f"1/{ssh} hostA\n1/{ssh} hostB\n1/:\n")
        done = self.sweep("--sshloginfile", logins, *SMALL)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((len(self.starts()), len(set(self.starts()))), (8, 8))
        with open(os.path.join(self.folder, "hosts"), encoding="utf-8") as file:
            self.assertEqual(set(file.read().split()), {"hostA", "hostB"})
        with open(os.path.join(self.out, "joblog"), encoding="utf-8") as file:
            hosts = [line.split("\t")[1] for line in file]
        self.assertEqual((len(hosts), len(set(hosts))), (8, 3))
        local = os.path.join(self.folder, "local")
        self.assertEqual(self.sweep(*SMALL, out=local).returncode, 0)
        self.assertEqual(self.merged(), self.merged(local))

    def test_wrong_input(self):
        def refused(*arguments, words):
            self.assert_refused(self.sweep(*arguments), *words)
        refused("--threads", "1", words=("no policies",))
        refused("--policies", "exact", words=("no threads",))
        refused("--policies", "exact", "--threads", "0", words=("0 is not a count",))
        refused("--policies", "exact", "--threads", "x", words=("'x'",))
        refused("--policies", "exact", "--threads", "1", "--occupancies", "2", words=("2",))
        refused("--policies", "exact", "--threads", "1", "--jobs", "0", words=("--jobs 0",))
        refused("--policies", "exact", "--threads", "1", "--sshloginfile", "/no", words=("/no",))
        refused("/no/such.json", words=("/no/such.json",))
        refused(self.write("a.json", '{"polices": ["exact"]}'), words=("'polices'",))
        refused(self.write("b.json", '{"policies": ["exact"'), words=("damaged JSON",))
        refused(words=("no grid",))
        blocked = self.write("file", "")
        self.assert_refused(self.sweep("--policies", "exact", "--threads", "1",
                                       out=blocked + "/x"), "cannot be written")
        self.assert_refused(fixture.call("sweep.py", "--out", self.out, "--program", "/no/sim",
                                         *SMALL), "/no/sim", "build it")


if __name__ == "__main__":
    unittest.main()
