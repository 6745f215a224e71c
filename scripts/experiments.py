#!/usr/bin/python3
"""experiments.py - the claims about the policies as experiments on the simulated machine.

usage: scripts/experiments.py [--out FOLDER] [--size quick|short|full] [--only NAME]
Each experiment is a list of grids (measuring/grid.py), run on all cores; claims.py judges the
claims from the results. Writes FOLDER/simulated.json, claims.md, figures and report.html. After a
kill, the same command continues. scripts/run includes the short size.
Exit 0: every job has its result. 1: a job failed. 2: bad usage. 130: interrupted.
"""

import os
import signal
import subprocess
import sys
import time

from common import commandline, documents, machine
from measuring import grid as grids
from reporting import claims, results, steadiness

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MAIN, COSTS = "numa:8 core:32 pu:1", "two-socket"
POLICIES = ["all but baselines"]  # stands for those that pfs-sim list names
QUICK_ONES = POLICIES + ["but local_scan"]
# Other machines with their costs, and as many threads as they have CPUs.
OTHERS = (("core:8 pu:2", "desktop", 16), ("pack:2 core:24 pu:2", "two-socket", 96),
          ("pack:2 numa:4 l3:2 core:8 pu:1", "epyc", 128), ("core:64 pu:1", "graviton", 64))
COUNTS = [1, 4, 16, 64, 128, 256, 512]
# Operations of a run; common/steady.py tests whether they are enough. With 256 threads on a nearly
# full container reclaiming needs 80,000 to get there.
SHORT, LONG = 200000, 500000
SLOW = 100000  # of local_scan: its threads meet at each record that they look at; 15 s for 256

FOUND = ["--policy", "original", "--scenario", "four_pages"]
NOT_FOUND = ["--policy", "exact", "--scenario", "four_pages", "--seconds"]  # how many

AT_MAIN = {"machines": [MAIN], "costs": [COSTS]}
# 24 hours in 24 ms, a reclaim pass in each minute of them.
DAY = {**AT_MAIN, "workloads": ["day"], "policies": POLICIES, "threads": [32],
       "options": ["--window-us", "24000", "--pass-us", "16"]}
# Pages are added all the time: up to 2,080 of 32 records, in five containers.
STORM = {**AT_MAIN, "workloads": ["storm"], "threads": [256], "options": ["--page_records", "32"]}


def _others(seeds, policies, ops):
    return [{"machines": [name], "costs": [costs], "policies": policies, "threads": [threads],
             "occupancies": [0.95], "seeds": seeds, "ops": ops} for name, costs, threads in OTHERS]


def _workloads(threads, seeds, policies, ops):
    return [{**AT_MAIN, "policies": policies, "workloads": [name], "threads": counts,
             "seeds": seeds, "ops": ops} for name, counts in
            (("pair", threads), ("handoff", [t for t in threads if t > 1]))]


# One thread alone meets nobody: its seeds differ by at most 6 %.
ALONE = {"threads": [1], "seeds": [1]}

# Size -> experiment -> grids. quick shows that all works; short is part of scripts/run and takes
# under two minutes on two cores; full makes the reference results.
EXPERIMENTS = {
    "quick": {
        "four-pages": [{"searches": [FOUND]}],
        "strict": [{"machines": ["numa:2 core:4 pu:1"], "policies": POLICIES, "threads": [1, 8],
                    "occupancies": [0.95], "ops": 2000}],
        "day": [{**DAY, "machines": ["numa:2 core:4 pu:1"], "threads": [8],
                 "options": ["--window-us", "2400", "--pass-us", "2"]}],
    },
    "short": {
        "four-pages": [{"searches": [FOUND, [*NOT_FOUND, "5"]]}],
        "growth": [{**AT_MAIN, "policies": ["original"], "ops": SHORT,
                    "occupancies": [0.5, 0.95, 0.99], **threads}
                   for threads in (ALONE, {"threads": [64, 256], "seeds": [1, 2]})],
        "strict": [{**AT_MAIN, "policies": ["local_scan"], "threads": [256], "ops": SLOW,
                    "occupancies": [0.95]},
                   {**AT_MAIN, "policies": ["reclaiming"], "threads": [1, 256], "ops": SHORT,
                    "occupancies": [0.95]}, # at 0.99 it needs 25 s
                   *({**AT_MAIN, "policies": QUICK_ONES + ["but reclaiming"], "ops": SHORT,
                      "occupancies": [0.95, 0.99], **threads}
                     for threads in (ALONE, {"threads": [256], "seeds": [1, 2]}))],
        "machines": [grid for grid in _others([1], QUICK_ONES, SHORT)
                     if grid["costs"] != [COSTS]],
        "workloads": _workloads([1, 256], [1], QUICK_ONES, SHORT),
        "storm": [{**STORM, "policies": ["mutex_list", "exact", "magazine", "original"],
                   "seeds": [1, 2]}],
        # reclaiming shows what a policy without an index does; random_start takes as long.
        "day": [{**DAY, "policies": POLICIES + ["but random_start"], "seeds": [1, 2]}],
    },
    "full": {
        "four-pages": [{"searches": [FOUND, [*NOT_FOUND, "15"]]}],
        "growth": [{**AT_MAIN, "policies": ["original"], "threads": COUNTS, "ops": LONG,
                    "occupancies": [0.5, 0.8, 0.9, 0.95, 0.99], "seeds": [1, 2, 3]}],
        "strict": [{**AT_MAIN, "policies": ["local_scan"], "threads": [1, 16, 64, 256],
                    "occupancies": [0.95, 0.99], "seeds": [1, 2, 3], "ops": SLOW},
                   {**AT_MAIN, "policies": QUICK_ONES,
                    "threads": COUNTS, "ops": LONG, "occupancies": [0.5, 0.95, 0.99],
                    "seeds": [1, 2, 3]}],
        "machines": _others([1, 2, 3], POLICIES, SLOW),
        # storm is slow to simulate where a scan is strict: a full container is searched whole.
        "workloads": _workloads(COUNTS[:-1], [1], POLICIES, SLOW) + [
            {**AT_MAIN, "policies": POLICIES, "workloads": ["storm"], "threads": [1, 4, 16]}],
        # Some minutes for each strict scan.
        "storm": [{**STORM, "policies": ["mutex_list", "exact", "magazine", "original"],
                   "seeds": [1, 2, 3]}, {**STORM, "policies": POLICIES}],
        "day": [{**DAY, "seeds": [1, 2, 3]}],
    },
}


def policies_of(program):
    """The policies of pfs-sim list, without baselines."""
    try:
        done = subprocess.run([program, "list"], capture_output=True, text=True, timeout=60,
                              check=True)
    except (OSError, subprocess.SubprocessError):
        raise documents.BadInput(f"{program}: lists no policies; rebuild it") from None
    names = []
    for line in done.stdout.partition("scenarios:")[0].splitlines()[1:]:
        name, _, summary = line.strip().partition(" ")
        if not summary.strip().startswith("baseline"):
            names.append(name)
    return names


def _chosen(grid, policies):
    """A grid with the policies that its words stand for."""
    if grid.get("policies", [])[:1] != POLICIES:
        return grid
    left_out = [word.removeprefix("but ") for word in grid["policies"][1:]]
    return {**grid, "policies": [p for p in policies if p not in left_out]}


def grids_of(size, policies, only=None):
    """The grids of a size, or of one experiment of it."""
    chosen = EXPERIMENTS[size]
    if only and only not in chosen:
        raise documents.BadInput(f"--only {only}: no such experiment in size {size}; choose from "
                                 f"{', '.join(chosen)}")
    return [_chosen(g, policies) for name, several in chosen.items()
            if only in (None, name) for g in several]


def simulate(folder, size, program, only=None):
    """Run the experiments into a result folder: the number of jobs that failed."""
    program = grids.program_of(program)
    jobs = grids.jobs_of(grids_of(size, policies_of(program), only))
    print(f"simulation: {len(jobs)} jobs of pfs-sim, size {size}", file=sys.stderr)
    begin = time.monotonic()
    found = grids.run(jobs, os.path.join(folder, "simulation"), program)
    if found:
        documents.write_json(os.path.join(folder, results.SIMULATED_FILE),
                             grids.merge(jobs, found))
    print(f"simulation: {len(found)} of {len(jobs)} jobs done, "
          f"{time.monotonic() - begin:.0f} s", file=sys.stderr)
    return len(jobs) - len(found)


def write_claims(folder, size):
    """FOLDER/claims.md: each claim, what was simulated, and the command that makes its numbers."""
    found = results.load([folder])
    lines = ["# Claims on the simulated machine", "", "Written by "
             f"`scripts/experiments.py --size {size}`; the numbers are from `simulated.json` in "
             "the same folder.", "",
             "| claim | of | simulated | | remade by |", "|---|---|---|---|---|"]
    for claim, measured, holds in claims.judged(found):
        lines.append(f"| {claim.says} | {claim.source} | {measured} | {claims.WORDS[holds]} | "
                     f"`scripts/experiments.py --only {claim.experiment}` |")
    made = claims.table(found) if found.machines() else None
    if made:
        headers, rows = made
        lines += ["", *steadiness.sentences(found.simulated()), "",
                  f"{found.simulated().stamp}; medians of the seeds; rates without the start-up:",
                  "",
                  "| " + " | ".join(h.replace("\n", " ") for h in headers) + " |",
                  "|---" * len(headers) + "|"]
        lines += ["| " + " | ".join(row) + " |" for row in rows]
    documents.write_text(os.path.join(folder, "claims.md"), "\n".join(lines) + "\n")


def main(argv=None):
    """The command."""
    parser = commandline.Parser(prog="scripts/experiments.py", description="The claims about "
                                "the policies as experiments on the simulated machine.")
    parser.add_argument("--out", metavar="FOLDER", help="the result folder (default: "
                        "results/local/simulated)")
    parser.add_argument("--size", choices=list(EXPERIMENTS), default="full")
    parser.add_argument("--only", metavar="NAME", help="only this experiment: "
                        f"{', '.join(EXPERIMENTS['full'])}")
    parser.add_argument("--program", metavar="PATH", help="pfs-sim (default: the one of build/)")
    arguments = parser.parse_args(argv)
    folder = arguments.out or os.path.join(TOP, "results", "local", "simulated")
    grids_of(arguments.size, [], arguments.only)
    program = grids.program_of(arguments.program)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise documents.BadInput(f"--out {folder}: cannot be written ({error.strerror}); name a "
                                 "folder that you may write") from None
    failed = simulate(folder, arguments.size, program, arguments.only)
    if not os.path.exists(os.path.join(folder, "plan.json")):
        documents.write_json(os.path.join(folder, "machine.json"),
                             machine.describe(TOP, os.path.join(TOP, "build")))
    import report  # needed only here, and slow to import
    if not os.path.exists(os.path.join(folder, results.SIMULATED_FILE)):
        return 1
    write_claims(folder, arguments.size)
    status = report.main([folder, "--table"])
    return 1 if failed or status else 0


if __name__ == "__main__":
    commandline.run(main, "experiments.py")
