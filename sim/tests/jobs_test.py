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
    done = subprocess.run([sim, "explore", *options, "--quiet", "--jobs", str(jobs)],
                          capture_output=True, text=True, check=False, timeout=280)
    return done.returncode, done.stdout, done.stderr


def counts(sim):
    """Faults of searches that find nothing."""
    faults, split = [], 0
    for options, extent in ([(o, None) for o in COUNTED] + [(o, "not all there are") for o in CUT]):
        found = [explore(sim, *options, jobs=jobs) for jobs in (1, 2, 3)]
        out = found[0][1]
        ends = extent or (", every schedule of up to 2 preemptions" if "--preemptions" in options
                          else ", all there are")
        split += int(out.split(": ")[1].split()[0]) > 500
        if found[0] != found[1] or found[0] != found[2] or found[0][0] != 0 or \
                f"{ends}: no violation" not in out:
            faults.append(f"{' '.join(options)}: {found}")
    return faults + ([] if split >= 6 else [f"only {split} searches were split"])


def failure(sim):
    """Faults of searches that fail."""
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        for options in FAILING:
            found = []
            for jobs in (1, 2, 3):
                name = os.path.join(folder, "saved")
                code, out, _ = explore(sim, *options, "--save", name, jobs=jobs)
                with open(name, encoding="utf-8") as file:
                    found.append((code, out.split("shortened")[0], file.read()))
                os.remove(name)
            if any(one != found[0] for one in found) or found[0][0] != 1:
                faults.append(f"{' '.join(options)}: {found}")
    return faults


def children(pid):
    """The processes that a process has started."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
            return [int(word) for word in file.read().split()]
    except FileNotFoundError:
        return []


def killed(sim):
    """Faults of a search that loses a process."""
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
            return [f"{len(jobs)} jobs, 3 were asked for"]
        os.kill(jobs[1], signal.SIGKILL)
        _, err = process.communicate(timeout=60)
        faults = []
        if process.returncode != 1 or err.count("\n") != 1 or "ended by signal 9" not in err:
            faults.append(f"exit {process.returncode}, stderr {err!r}; must be 1 and one line")
    return faults + [f"job {job} is left" for job in jobs if os.path.exists(f"/proc/{job}")]


def wrong(sim):
    """Faults of what bad input is answered."""
    options = ["--policy", "exact", "--scenario", "churn"]
    faults = []
    for more, jobs, named in (([], "0", "--jobs '0'"), ([], "many", "--jobs 'many'"),
                              ([], "1000", "--jobs '1000'"),
                              (["--executions", "9"], "2", "--executions with --jobs")):
        code, _, err = explore(sim, *options, *more, jobs=jobs)
        if code != 2 or err.count("\n") != 1 or named not in err:
            faults.append(f"--jobs {jobs}: exit {code}, stderr {err!r}; must be 2 and one line "
                          f"that names {named!r}")
    return faults


def main():
    """Run one part."""
    parts = {"counts": counts, "failure": failure, "killed": killed, "wrong": wrong}
    if len(sys.argv) != 3 or sys.argv[2] not in parts:
        print(__doc__, file=sys.stderr)
        return 2
    faults = parts[sys.argv[2]](sys.argv[1])
    for fault in faults:
        print(f"FAILED: {fault}")
    print(f"{sys.argv[2]}: {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
