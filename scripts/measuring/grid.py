"""grid.py - grids of simulated runs: a grid becomes jobs, jobs run on all cores, and their results
become one file.

A job is one call of pfs-sim. Its id is a hash of its arguments, so a result file always belongs to
the same job, whichever grid asks for it.

A grid is {"machines", "policies", "workloads", "threads", "occupancies", "seeds": lists,
"costs": a list, "ops": a count, "options": more words for pfs-sim run}, or {"searches": [lists
of words for pfs-sim explore]}.
"""

import concurrent.futures
import hashlib
import itertools
import json
import os
import shlex
import subprocess
import sys
from collections import namedtuple

from common import documents
from common.progress import Progress

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# id: 12 hex digits; words: the arguments of pfs-sim; label: the machine as figures call it.
Job = namedtuple("Job", "id words label")

POINT = ("t_ms", "live", "pages", "ideal", "resident_bytes")  # what a sample over time has
LISTS = ("machines", "costs", "policies", "workloads", "threads", "occupancies", "seeds")
FILLED = ("churn", "scan")  # workloads that have an occupancy
MOVING = ("tide", "day")  # those that move with time, not with operations, and have a series
DEFAULTS = {"machines": ["numa:8 core:32 pu:1"], "costs": [None], "workloads": ["churn"],
            "occupancies": [0.9], "seeds": [1], "ops": 20000, "options": []}


def program_of(given):
    """The path of pfs-sim: the given one, or of several builds the newest. BadInput where it
    cannot be run."""
    places = [given] if given else [os.path.join(TOP, "build", preset, "sim", "pfs-sim")
                                    for preset in ("sim", "release")]
    there = [os.path.abspath(place) for place in places if os.access(place, os.X_OK)]
    if not there:
        raise documents.BadInput(f"{places[0]}: cannot be run; build it (cmake --preset sim && "
                                 "cmake --build --preset sim) or name it by --program")
    return max(there, key=os.path.getmtime)


def make_job(words, label=None):
    """The job of these words."""
    words = [str(word) for word in words]
    digest = hashlib.sha256("\0".join(words).encode("utf-8")).hexdigest()
    return Job(digest[:12], words, label)


def _jobs_of(grid):
    for words in grid.get("searches", ()):
        yield make_job(["explore", *words])
    if "policies" not in grid:
        return
    grid = {**DEFAULTS, **grid}
    for values in itertools.product(*(grid[key] for key in LISTS)):
        machine, costs, policy, workload, threads, occupancy, seed = values
        words = ["run", "--machine", machine]
        if costs:
            words += ["--costs", costs]
        words += ["--threads", threads, "--policy", policy, "--workload", workload]
        if workload in FILLED:
            words += ["--occupancy", f"{occupancy:g}"]
        if workload not in MOVING:
            words += ["--ops", grid["ops"]]
        words += ["--seed", seed, *grid["options"], "--format", "json"]
        yield make_job(words, f"{machine} ({costs})" if costs else machine)


def jobs_of(grids):
    """The jobs of several grids, each once, in their order."""
    return list({job.id: job for grid in grids for job in _jobs_of(grid)}.values())


def folder_of(program, folder):
    """Where the results of this pfs-sim go, made here: those of another build never mix in."""
    with open(program, "rb") as file:
        build = hashlib.sha256(file.read()).hexdigest()[:16]
    place = os.path.join(folder, build)
    os.makedirs(place, exist_ok=True)
    return place


def read_result(path, job):
    """The result of a job, checked against what the job asked for; BadInput if it is not there or
    not whole."""
    document = documents.read_json(path)
    if job.words[0] == "explore":
        if not isinstance(document, dict) or document.get("exit") not in (0, 1):
            raise documents.BadInput(f"{path}: not a result of pfs-sim explore")
        return document
    given = dict(zip(job.words[1::2], job.words[2::2]))
    if not isinstance(document, dict) or document.get("simulated") is not True:
        raise documents.BadInput(f'{path}: not a result of pfs-sim run ("simulated" is not true)')
    for key, convert in (("policy", str), ("workload", str), ("threads", int), ("seed", int)):
        if document.get(key) != convert(given[f"--{key}"]):
            raise documents.BadInput(f"{path}: has {key} {json.dumps(document.get(key))}, but its "
                                     f"job asks for {given[f'--{key}']}")
    if not documents.is_number(document.get("items_per_second")):
        raise documents.BadInput(f"{path}: no items_per_second in it")
    if document["workload"] in MOVING:
        points = documents.read_json(series_of(path))
        document["series"] = {key: [point[key] for point in points] for key in POINT}
    return document


def words_of(job, path):
    """The arguments of a job whose result goes to path."""
    moves = any(name in job.words for name in MOVING)
    return [*job.words, *(["--series", series_of(path)] if moves else [])]


def series_of(path):
    """Where the samples over time of a result stand."""
    return path.removesuffix(".json") + ".series.json"


def run_job(program, path, job, running):
    """Run a job, write its result to path in one step, and read it. BadInput says why it failed."""
    with subprocess.Popen([program, *words_of(job, path)], stdin=subprocess.DEVNULL, text=True,
                          errors="replace", stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        running.add(process)
        said, errors = process.communicate()
        running.discard(process)
    status = process.returncode
    searched = job.words[0] == "explore"
    if status and not (searched and status == 1):  # 1: it found what it searched for
        reason = errors.strip().splitlines() or ["no message"]
        raise documents.BadInput(f"exit {status}: {reason[-1]}")
    documents.write_text(path, json.dumps({"exit": status, "output": said}) if searched else said)
    return read_result(path, job)


def run(jobs, folder, program):
    """{job id: result} of all jobs, by as many processes as there are CPUs. A job whose result is
    in the folder is not run again. The others' failures are told, a line each."""
    results, failures, running, place = {}, [], set(), folder_of(program, folder)

    def result_of(job):
        path = os.path.join(place, f"{job.id}.json")
        if os.path.exists(path):
            try:
                return read_result(path, job)
            except documents.BadInput as problem:
                progress.say(f"simulation: {problem}; run again")
        return run_job(program, path, job, running)

    progress = Progress(len(jobs), len(jobs))
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        futures = {pool.submit(result_of, job): job for job in jobs}
        try:
            for done, future in enumerate(concurrent.futures.as_completed(futures), 1):
                job = futures[future]
                try:
                    results[job.id] = future.result()
                except (documents.BadInput, OSError) as problem:
                    failures.append(f"simulation: job {job.id} failed ({problem}): "
                                    f"pfs-sim {shlex.join(job.words)}")
                progress.show(done, done, "simulating")
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in list(running):
                process.terminate()
            raise
    progress.show(len(jobs), len(jobs), "simulated")
    progress.end()
    if len(failures) > 10:
        failures[10:] = [f"simulation: and {len(failures) - 10} more jobs"]
    print("".join(f"{line}\n" for line in failures), end="", file=sys.stderr)
    return results


def run_name(document, label, words=()):
    """A benchmark name for a simulated run, as results.parse_name reads it; words: of its job."""
    occupancy = document.get("occupancy")
    filled = f"/occupancy:{occupancy:g}" if documents.is_number(occupancy) else ""
    sized = f"/page_records:{document['page_records']}" if "--page_records" in words else ""
    return (f"{document['workload']}/policy:{document['policy']}{filled}{sized}/machine:{label}/"
            f"threads:{document['threads']}")


def merge(jobs, found):
    """All results as one document that results.py reads; the same results, the same bytes."""
    rows, searches = [], []
    for job in jobs:
        result = found.get(job.id)
        if result and job.words[0] == "run":
            rows.append({"name": run_name(result, job.label, job.words), "run_type": "iteration",
                         "job": job.id, **result})
        elif result:
            searches.append({"job": job.id, "words": job.words, **result})
    return {"context": {"simulated": True, "jobs": len(found), "missing": len(jobs) - len(found)},
            "benchmarks": rows, "searches": searches}
