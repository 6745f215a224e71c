"""grid.py - grids of simulated runs: a grid becomes jobs, the results of jobs become one file.

A job is one call of pfs-sim. Its id is a hash of its arguments, so that a result file is of one
job for ever, whatever grid asks for it and in whatever order.

A grid is {"machines", "policies", "workloads", "threads", "occupancies", "seeds": lists,
"costs": a list, "ops": a count, "options": more words for pfs-sim run}, or {"searches": [lists
of words for pfs-sim explore]}; {"grids": [...]} holds several.
"""

import hashlib
import itertools
import json
import os
import re
import shlex
from collections import namedtuple

from common import documents

# id: 12 hex digits; words: the arguments of pfs-sim; label: the machine as figures call it.
Job = namedtuple("Job", "id words label")

LISTS = ("machines", "costs", "policies", "workloads", "threads", "occupancies", "seeds")
FILLED = ("churn", "scan")  # workloads that have an occupancy
DEFAULTS = {"machines": ["numa:8 core:32 pu:1"], "costs": [None], "workloads": ["churn"],
            "occupancies": [0.9], "seeds": [1], "ops": 20000, "options": [], "searches": []}


def _refuse(source, text):
    raise documents.BadInput(f"{source}: {text}")


def _checked(source, given):
    """A grid with its defaults, after a look at each field."""
    if not isinstance(given, dict):
        _refuse(source, 'a grid is an object, such as {"policies": ["exact"], "threads": [256]}')
    for key in given:
        if key not in DEFAULTS and key not in LISTS:
            _refuse(source, f"'{key}' is not a field of a grid; there are "
                    f"{', '.join(LISTS + ('ops', 'options', 'searches'))}")
    grid = {**DEFAULTS, **given}
    if "policies" not in grid and not grid["searches"]:
        _refuse(source, "no policies in the grid; name some, pfs-sim list has them")
    if grid["searches"] and len(given) > 1:
        _refuse(source, "a grid has either searches or runs; write two grids")
    if grid["searches"]:
        for words in grid["searches"]:
            if not isinstance(words, list) or not all(isinstance(w, str) for w in words):
                _refuse(source, "a search is a list of words for pfs-sim explore")
        return grid
    if "threads" not in grid:
        _refuse(source, "no threads in the grid; give their counts")
    for key in LISTS:
        if not isinstance(grid[key], list) or not grid[key]:
            _refuse(source, f"{key} must be a list that is not empty")
    for key, low in (("threads", 1), ("seeds", 0)):
        bad = [v for v in grid[key] if not isinstance(v, int) or isinstance(v, bool) or v < low]
        if bad:
            _refuse(source, f"{key}: {json.dumps(bad[0])} is not a count of at least {low}")
    for value in grid["occupancies"]:
        if not documents.is_number(value) or not 0 <= value <= 1:
            _refuse(source, f"occupancies: {json.dumps(value)} is not between 0 and 1")
    if not isinstance(grid["ops"], int) or grid["ops"] < 1:
        _refuse(source, f"ops: {json.dumps(grid['ops'])} is not a count of at least 1")
    return grid


def machine_label(machine, costs):
    """A machine as names and figures call it; a file by its name without the folder."""
    label = os.path.basename(machine)
    return label if not costs else f"{label} ({os.path.basename(costs)})"


def _path(name):
    """A file by its whole path, since a job runs elsewhere; anything else as it is."""
    return os.path.abspath(name) if os.path.isfile(name) else name


def make_job(words, label=None):
    """The job of these words."""
    words = [str(word) for word in words]
    digest = hashlib.sha256("\0".join(words).encode("utf-8")).hexdigest()
    return Job(digest[:12], words, label)


def _jobs_of(grid):
    if grid["searches"]:
        return [make_job(["explore", *words], None) for words in grid["searches"]]
    jobs = []
    for values in itertools.product(*(grid[key] for key in LISTS)):
        machine, costs, policy, workload, threads, occupancy, seed = values
        words = ["run", "--machine", _path(machine)]
        if costs:
            words += ["--costs", _path(costs)]
        words += ["--threads", threads, "--policy", policy, "--workload", workload]
        if workload in FILLED:
            words += ["--occupancy", f"{occupancy:g}"]
        words += ["--ops", grid["ops"], "--seed", seed, *grid["options"], "--format", "json"]
        jobs.append(make_job(words, machine_label(machine, costs)))
    return jobs


def jobs_of(document, source):
    """The jobs of a grid document, each once, in the order of the grid."""
    grids = document["grids"] if isinstance(document, dict) and "grids" in document \
        else [document]
    if not isinstance(grids, list) or not grids:
        _refuse(source, '"grids" must be a list that is not empty')
    jobs = {}
    for grid in grids:
        for job in _jobs_of(_checked(source, grid)):
            jobs.setdefault(job.id, job)
    for job in jobs.values():
        if any(re.search(r"[\t\n\0]", word) for word in job.words):
            _refuse(source, f"a tab or a line break in {job.words!r}; leave it out")
    return list(jobs.values())


def line_of(job):
    """A job as a line of the job list: id, tab, its words as a shell reads them."""
    return f"{job.id}\t{shlex.join(job.words)}\n"


def file_of(job):
    """The result file of a job, inside the folder."""
    return f"raw/{job.id}.{'json' if job.words[0] == 'run' else 'txt'}"


def _read_run(path, job):
    """What pfs-sim run printed, checked against what the job asked for."""
    document = documents.read_json(path)
    given = dict(zip(job.words[1::2], job.words[2::2]))
    if not isinstance(document, dict) or document.get("simulated") is not True:
        raise documents.BadInput(f'{path}: not a result of pfs-sim run ("simulated" is not true)')
    for key, convert in (("policy", str), ("workload", str), ("threads", int), ("seed", int)):
        if document.get(key) != convert(given[f"--{key}"]):
            raise documents.BadInput(f"{path}: has {key} {json.dumps(document.get(key))}, but its "
                                     f"job asks for {given[f'--{key}']}")
    if not documents.is_number(document.get("items_per_second")):
        raise documents.BadInput(f"{path}: no items_per_second in it")
    return document


def _read_search(path):
    """{"exit", "output"} of pfs-sim explore; the last line is its exit status."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except FileNotFoundError:
        raise documents.BadInput(f"{path}: no such file") from None
    except (OSError, UnicodeDecodeError):
        raise documents.BadInput(f"{path}: cannot be read as text") from None
    found = re.search(r"(?:^|\n)exit ([01])\n\Z", text)
    if not found:
        raise documents.BadInput(f"{path}: cut off, no exit status at its end")
    return {"exit": int(found.group(1)), "output": text[:found.start()].rstrip("\n") + "\n"}


def read_result(folder, job):
    """The result of a job; BadInput if it is not there or not whole."""
    path = os.path.join(folder, file_of(job))
    return _read_run(path, job) if job.words[0] == "run" else _read_search(path)


def run_name(document, label, words=()):
    """A benchmark name for a simulated run, as results.parse_name reads it; words: of its job."""
    occupancy = document.get("occupancy")
    filled = f"/occupancy:{occupancy:g}" if documents.is_number(occupancy) else ""
    sized = f"/page_records:{document['page_records']}" if "--page_records" in words else ""
    return (f"{document['workload']}/policy:{document['policy']}{filled}{sized}/machine:{label}/"
            f"threads:{document['threads']}")


def merge(folder, jobs, missing=0):
    """All results as one document that results.py reads; the same results, the same bytes."""
    rows, searches = [], []
    for job in jobs:
        found = read_result(folder, job)
        if job.words[0] == "run":
            rows.append({"name": run_name(found, job.label, job.words), "run_type": "iteration",
                         "job": job.id, **found})
        else:
            searches.append({"job": job.id, "words": job.words, **found})
    return {"context": {"simulated": True, "jobs": len(jobs),
                        "missing": missing}, "benchmarks": rows,
            "searches": searches}
