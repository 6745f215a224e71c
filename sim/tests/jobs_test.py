#!/usr/bin/python3
"""jobs_test.py - a search by several processes is the search of one.

usage: jobs_test.py PFS_SIM PART
  counts   the same executions and classes with 1, 2 and 3 jobs, in each memory mode and search
  failure  the same failing schedule, found after as many executions
  killed   a job that is killed: exit 1, one line that says so, and no process is left
  wrong    what --jobs does not take
Exit 0: passed. 1: not.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))
from common.expect import equal, expect, expect_refusal, finish, part_of, run

# Each is split, also above what was split before, and ends soon.
COUNTED = [
    ["--policy", "exact", "--scenario", "churn", "--threads", "2", "--operations", "2"],
    ["--policy", "random_start", "--scenario", "churn", "--threads", "2", "--operations", "2",
     "--memory", "views"],
    ["--policy", "local_scan", "--scenario", "churn", "--threads", "2", "--operations", "3",
     "--memory", "tso"],
    ["--policy", "original", "--scenario", "share", "--threads", "3", "--operations", "1"],
    ["--policy", "exact", "--scenario", "churn", "--threads", "2", "--operations", "1",
     "--memory", "views", "--search", "sleep"],
    ["--policy", "random_start", "--scenario", "churn", "--threads", "2", "--operations", "2",
     "--search", "sleep"],
    ["--policy", "exact", "--scenario", "share", "--preemptions", "2"],
]
CUT = [["--policy", "original", "--scenario", "churn", "--search", "rotate", "--executions",
        "2500"],
       ["--policy", "exact", "--scenario", "churn", "--memory", "views", "--search", "urw",
        "--executions", "1900"]]
FAILING = [
    ["--policy", "original", "--scenario", "four_pages"],
    ["--policy", "exact", "--scenario", "read", "--memory", "views", "--weaken",
     "pfs_lock.h:78", "--search", "urw", "--seed", "5"],
]


def explore(sim, *options, jobs):
    """(exit code, stdout, stderr)"""
    done = run(sim, "explore", *options, "--quiet", "--jobs", str(jobs))
    return done.returncode, done.stdout, done.stderr


def counts(sim):
    """Searches that find nothing."""
    split = 0
    for options, extent in ([(o, None) for o in COUNTED] + [(o, "not all there are") for o in CUT]):
        found = [explore(sim, *options, jobs=jobs) for jobs in (1, 2, 3)]
        out = found[0][1]
        ends = extent or (", every schedule of up to 2 preemptions" if "--preemptions" in options
                          else ", all there are")
        split += int(out.split(": ")[1].split()[0]) > 500
        expect(found[0] == found[1] == found[2] and found[0][0] == 0 and
               f"{ends}: no violation" in out, f"{' '.join(options)}: {found}")
    expect(split >= 6, f"only {split} searches were split")


def failure(sim):
    """Searches that fail."""
    with tempfile.TemporaryDirectory() as folder:
        for options in FAILING:
            found = []
            for jobs in (1, 2, 3):
                name = os.path.join(folder, "saved")
                code, out, _ = explore(sim, *options, "--save", name, jobs=jobs)
                with open(name, encoding="utf-8") as file:
                    found.append((code, out.split("shortened")[0], file.read()))
                os.remove(name)
            expect(all(one == found[0] for one in found) and found[0][0] == 1,
                   f"{' '.join(options)}: {found}")


def children(pid):
    """The processes that a process has started."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
            return [int(word) for word in file.read().split()]
    except FileNotFoundError:
        return []


def killed(sim):
    """A search that loses a process."""
    command = [sim, "explore", "--policy", "magazine", "--scenario", "full", "--threads", "3",
               "--jobs", "3", "--seconds", "100"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as process:
        until = time.monotonic() + 60
        while len(children(process.pid)) < 3 and time.monotonic() < until:
            time.sleep(0.05)
        jobs = children(process.pid)
        if len(jobs) != 3:
            process.kill()
            sys.exit(f"{len(jobs)} jobs, 3 were asked for")
        os.kill(jobs[1], signal.SIGKILL)
        _, err = process.communicate(timeout=60)
        expect(process.returncode == 1 and err.count("\n") == 1 and "ended by signal 9" in err,
               f"exit {process.returncode}, stderr {err!r}; must be 1 and one line")
    equal([job for job in jobs if os.path.exists(f"/proc/{job}")], [], "jobs that are left")


def wrong(sim):
    """What bad input is answered."""
    for more, jobs, named in (([], "0", "--jobs '0'"), ([], "many", "--jobs 'many'"),
                              ([], "1000", "--jobs '1000'"),
                              (["--executions", "9"], "2", "--executions with --jobs")):
        expect_refusal(run(sim, "explore", "--policy", "exact", "--scenario", "churn", *more,
                           "--quiet", "--jobs", jobs), f"--jobs {jobs}", named)


if __name__ == "__main__":
    part_of({"counts": counts, "failure": failure, "killed": killed, "wrong": wrong})(sys.argv[1])
    finish()
