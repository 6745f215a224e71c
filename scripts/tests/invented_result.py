"""invented_result.py - what measure.py writes with the stand-ins for pfs-bench and for
pfs-sim, called in this process: a process for each launch would take most of the time of all tests.
Those whose memory is looked at are processes. test_measure.py tries the launching, test_grid.py
the jobs.
"""

import contextlib
import io
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# pylint: disable=wrong-import-position
import fake_bench
import fake_sim
import measure
from measuring import grid

START = subprocess.run


def run_within(command, **how):
    """As subprocess.run, but that of a launch is a call."""
    if not any(word.startswith("--benchmark_out=") for word in command):
        return START(command, **how)
    sys.argv, said = command, io.StringIO()
    with contextlib.redirect_stderr(said):
        status = fake_bench.main()
    return subprocess.CompletedProcess(command, status, None, said.getvalue())


def run_jobs(jobs, folder, _program):
    """As grid.run; no job fails."""
    found = {}
    os.makedirs(folder, exist_ok=True)
    for job in jobs:
        path = os.path.join(folder, f"{job.id}.json")
        sys.argv, said = ["pfs-sim", *grid.words_of(job, path)], io.StringIO()
        with contextlib.redirect_stdout(said):
            status = fake_sim.main()
        searched = {"exit": status, "output": said.getvalue()}
        with open(path, "w", encoding="utf-8") as file:
            file.write(json.dumps(searched) if job.words[0] == "explore" else said.getvalue())
        found[job.id] = grid.read_result(path, job)
    return found


def main(out, build):
    """measure.py's exit status."""
    subprocess.run, grid.run = run_within, run_jobs
    return measure.main(["--out", out, "--seed", "7", "--repetitions", "6", "--build-dir", build])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
