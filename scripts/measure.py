#!/usr/bin/python3
"""measure.py - runs the suite and writes a result folder; scripts/run calls it after the build.

Exit 0: every launch succeeded. 1: some failed, the rest is kept. 2: bad usage. 130: interrupted,
what was measured is kept.
"""

import importlib
import json
import os
import re
import signal
import subprocess
import sys
import time

import experiments
from common import commandline, documents, machine, workloads
from common.progress import clock, Progress
from measuring import chapter, launching, peers, resume, suite
from reporting import results

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GIVE_UP_AFTER = 5
LEFT_OUT = ("run: left out, each a command of its own (scripts/README.md): growth over its full "
            "range, larger loads and servers, guarded blocks, the heap profile, huge pages, all "
            "experiments of the simulated machine, a real server")


def list_policies(build_dir):
    """{name: summary} in the order of --list_policies."""
    program = launching.bench_path(build_dir, "release")
    try:
        done = subprocess.run([program, "--list_policies"], capture_output=True, text=True,
                              timeout=60, check=False)
    except OSError as error:
        raise documents.BadInput(f"{program}: cannot be run ({error.strerror}); build first: "
                                 "cmake --preset release && cmake --build --preset release") \
            from None
    names = {}
    for line in done.stdout.splitlines():
        if re.match(r"\w", line):
            name, _, summary = line.partition(" ")
            names[name] = summary.strip()
    if done.returncode or not names:
        raise documents.BadInput(f"{program}: --list_policies lists no policy; rebuild it")
    return names


def command_of(launch, folder, build_dir):
    """The command line of a launch; files are written under a partial name first."""
    command = [launching.bench_path(build_dir, launch["build"]),
               f"--workloads={launch['workloads']}",
               f"--threads={launch['threads']}", f"--placements={launch['placement']}",
               f"--window_ms={launch['window_ms']}", "--benchmark_color=false",
               # Every retry costs time; repetitions average better than many retries do.
               "--repeat_disturbed=1",
               "--benchmark_out_format=json",
               f"--benchmark_out={os.path.join(folder, launch['file'])}.partial"]
    if launch["policy"]:
        command += peers.arguments(launch["policy"])
    command += launch["flags"].split()
    if launch["occupancies"]:
        command.append(f"--occupancies={launch['occupancies']}")
    if launch.get("series"):
        command.append(f"--series={os.path.join(folder, launch['series'])}.partial")
    return command


# What pfs-bench says when a policy cannot do a workload: malloc has no pages for a tide.
UNFIT = "nothing to run"


def peak_bytes(process):
    """The highest resident set of a process so far (VmHWM), or None when it has none any more."""
    try:
        with open(f"/proc/{process.pid}/status", encoding="ascii", errors="replace") as file:
            found = re.search(r"^VmHWM:\s+(\d+) kB", file.read(), re.MULTILINE)
    except OSError:
        return None
    return int(found.group(1)) * 1024 if found else None


def run_watched(command, limit, environment):
    """Run a process and look at its memory meanwhile: (what subprocess.run says, its peak). What
    rusage says will not do: it counts this program's own memory before the exec as the child's."""
    peak, end = None, time.monotonic() + limit
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, errors="replace",
                          env=environment) as process:
        while process.poll() is None:
            peak = peak_bytes(process) or peak
            if time.monotonic() > end:
                process.kill()
                raise subprocess.TimeoutExpired(command, limit)
            time.sleep(0.005)
        said = process.stderr.read()
    return subprocess.CompletedProcess(command, process.returncode, None, said), peak


def run_launch(launch, folder, build_dir):
    """Run one process and check what it wrote; the reason when it failed, UNFIT when the policy
    cannot do the workload, else None."""
    files = [os.path.join(folder, launch[key]) for key in ("file", "series") if launch.get(key)]
    limit = 60 + 20 * launch["estimate_s"]
    begin = time.monotonic()
    try:
        command, environment = command_of(launch, folder, build_dir), peers.environment(
            launch["policy"])
        if launch["results_as"] == suite.MEMORY:
            done, launch["process_bytes_peak"] = run_watched(command, limit, environment)
        else:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True, errors="replace",
                                  timeout=limit, check=False, env=environment)
    except subprocess.TimeoutExpired:
        return f"no end after {limit:.0f} s"
    except OSError as error:
        return f"cannot be started ({error.strerror})"
    launch["seconds"] = round(time.monotonic() - begin, 3)
    said = [line for line in done.stderr.splitlines() if line.strip()]
    if done.returncode == 2 and any(UNFIT in line for line in said):
        return UNFIT
    if done.returncode:
        return f"exit {done.returncode}: {said[-1] if said else 'no message'}"
    try:
        for path in files:
            document = documents.read_json(path + ".partial")
            if path == files[0]:
                results.check_benchmark_document(path, document)
                if not document["benchmarks"]:
                    return "it measured nothing"
        for path in files:
            os.replace(path + ".partial", path)
    except documents.BadInput as error:
        return str(error)
    return None


def remove_partial(launch, folder):
    """Take away what an interrupted process left half written."""
    for key in ("file", "series"):
        path = os.path.join(folder, launch.get(key, "none")) + ".partial"
        if os.path.exists(path):
            os.remove(path)


def write_plan(folder, plan, known=None):
    """plan.json, a launch in a line: it is written after each of them, and with an indent Python
    would take longer for that than some launches. known: the lines of the last time, by launch
    and status."""
    known = {} if known is None else known
    for launch in plan["launches"]:
        key = (launch["number"], launch["status"])
        if key not in known:
            known[key] = "  " + json.dumps(launch, allow_nan=False)
    lines = ",\n".join(known[l["number"], l["status"]] for l in plan["launches"])
    head = json.dumps({**plan, "launches": []}, indent=1, allow_nan=False)
    documents.write_text(os.path.join(folder, "plan.json"),
                         head.replace('"launches": []', f'"launches": [\n{lines}\n ]', 1) + "\n")


def measure(plan, folder, build_dir):
    """Run all launches that are not settled; the number that failed. plan.json is up to date after
    each."""
    launches = plan["launches"]
    progress = Progress(len(launches), sum(l["estimate_s"] for l in launches
                                           if l["status"] not in resume.SETTLED))
    failed, in_a_row, done_s = 0, 0, 0.0
    unfit = {(l["label"], l["policy"]) for l in launches if l["status"] == "unfit"}
    lines = {}
    for launch in launches:
        kind = (launch["label"], launch["policy"])
        if launch["status"] in resume.SETTLED:
            continue
        progress.show(launch["number"] - 1, done_s,
                      f"{launch['label']} {launch['policy'] or ''} ({launch['build']})")
        launch["status"] = "running"
        launch["cpu_pressure_before"] = machine.pressure()
        reason = UNFIT if kind in unfit else run_launch(launch, folder, build_dir)
        launch["status"] = {None: "done", UNFIT: "unfit"}.get(reason, "failed")
        if reason == UNFIT:
            unfit.add(kind)
            remove_partial(launch, folder)
        elif reason:
            launch["reason"] = reason
            failed, in_a_row = failed + 1, in_a_row + 1
            progress.say(f"run: launch {launch['number']} ({launch['label']} "
                         f"{launch['policy'] or ''}, {launch['build']}) failed: {reason}")
        else:
            in_a_row = 0
        done_s += launch["estimate_s"]
        write_plan(folder, plan, lines)
        if in_a_row == GIVE_UP_AFTER:
            progress.say(f"run: {in_a_row} launches in a row failed; stopped")
            break
    progress.show(len(launches), done_s, "measured")
    progress.end()
    return failed


def arguments_of(argv):
    """The parsed command line."""
    parser = commandline.Parser(prog="scripts/run", description="Measure all policies on "
                                     "this machine and write a result folder with a report.")
    parser.add_argument("--out", metavar="DIR", help="the result folder (default: "
                        "results/local/<time>-<host>)")
    extent = parser.add_mutually_exclusive_group()
    extent.add_argument("--quick", action="store_true", help="a short smoke run: few cases, "
                        "short windows; not for conclusions")
    extent.add_argument("--growth", action="store_true", help="only the cost of growth, up to 16 "
                        "Mi records and refusals up to 1 Mi pages (some 40 minutes, 6 GiB)")
    parser.add_argument("--resume", nargs="?", const="", metavar="DIR", help="continue "
                        "a stopped run by its own plan, and keep its finished launches (default: "
                        "the newest in results/local without a report)")
    parser.add_argument("--repetitions", type=launching.positive, default=None, metavar="N",
                        help="process launches for each case and policy; fewer than 6 decide "
                             "nothing (default 7)")
    parser.add_argument("--seed", type=int, default=None, help="seed of the launch order "
                        "(default: the time)")
    launching.add_build_dir(parser)
    parser.add_argument("--check", action="store_true", help="only check the arguments and the "
                        "folder, measure nothing")
    commandline.add_selection(parser)
    arguments = parser.parse_args(argv)
    commandline.must_know("--workloads", arguments.workloads, list(workloads.summaries()))
    if arguments.resume is not None:
        for name in ("out", "quick", "growth", "repetitions", "seed", "policies", "workloads"):
            if getattr(arguments, name):
                parser.error(f"--{name} with --resume: a resumed run keeps its own; leave it out")
    arguments.repetitions = arguments.repetitions or 7
    return arguments


def report(folder):
    """Table to stdout, figures and report.html into the folder."""
    import report as report_module  # needed only here, and slow to import
    return report_module.main([folder, "--table"])


def simulate(folder, arguments):
    """The experiments of the simulated machine: how many jobs failed. Where they cannot run at
    all, a line says why, and the report goes without them. A resumed run does not repeat jobs that
    are done."""
    program = os.path.join(arguments.build_dir, "release", "sim", "pfs-sim")
    try:
        return experiments.simulate(folder, "quick" if arguments.quick else "short", program,
                                    "storm" if arguments.growth else None)
    except documents.BadInput as problem:
        print(f"run: nothing is simulated: {problem}", file=sys.stderr)
    return 0


def measure_chapter(name, folder, arguments, seed):
    """The short suite of allocators or accounts: how many launches failed. Where it cannot run at
    all, a line says why, and the report goes without it."""
    try:
        return chapter.report_missing(name, importlib.import_module(name).measure_suite(
            folder, "quick" if arguments.quick else "short", arguments.build_dir, seed))
    except documents.BadInput as problem:
        print(f"run: no {name[:-1]} is measured: {problem}", file=sys.stderr)
    return 0


def summaries_of(arguments):
    """{policy or peer: summary} of those that are measured; BadInput if a chosen one is not
    there."""
    found = list_policies(arguments.build_dir)
    found.update(peers.available(launching.bench_path(arguments.build_dir, "release")))
    commandline.must_know("--policies", arguments.policies, list(found))
    return {name: summary for name, summary in found.items()
            if not arguments.policies or name in arguments.policies}


def begin(folder, arguments):
    """A new plan, in its folder."""
    summaries = summaries_of(arguments)
    policies = list(summaries)
    seed = int(time.time()) if arguments.seed is None else arguments.seed
    cpus = len(os.sched_getaffinity(0))
    traits = {name: sorted(words) for name, words in peers.traits(
        launching.bench_path(arguments.build_dir, "release")).items()}
    plan = {"format": 1, "seed": seed, "quick": arguments.quick, "policies": policies,
            "summaries": summaries, "cpus": cpus,
            "traits": traits, "growth": arguments.growth,
            "repetitions": arguments.repetitions, "complete": False,
            "selected": bool(arguments.policies or arguments.workloads),
            "launches": suite.make_plan(policies, cpus, seed, arguments.repetitions,
                                        arguments.quick, traits, arguments.growth,
                                        arguments.workloads)}
    if not plan["launches"]:
        raise documents.BadInput("--policies, --workloads: no policy has such a workload here; "
                                 "choose more")
    documents.write_json(os.path.join(folder, "machine.json"),
                         machine.describe(TOP, arguments.build_dir))
    machine.export_topology(folder)
    write_plan(folder, plan)
    total = sum(launch["estimate_s"] for launch in plan["launches"])
    print(f"run: {len(plan['launches'])} launches of {len(policies)} policies, about "
          f"{clock(total)} min, order by seed {seed}", file=sys.stderr)
    return plan


def go_on(folder, plan, arguments):
    """The plan of a run that was stopped, as far as it came."""
    list_policies(arguments.build_dir)  # says what to build
    resume.must_be_same(folder, machine.describe(TOP, arguments.build_dir))
    arguments.quick, arguments.growth = plan.get("quick", False), plan.get("growth", False)
    for launch in plan["launches"]:
        remove_partial(launch, folder)
    kept = resume.settle(plan, folder)
    write_plan(folder, plan)
    print(f"run: goes on in {folder}; {kept} of {len(plan['launches'])} launches are there",
          file=sys.stderr)
    return plan


def run_all(folder, plan, arguments):
    """Every step that is not over yet; the exit status."""
    failed = measure(plan, folder, arguments.build_dir)
    plan["complete"] = failed == 0
    write_plan(folder, plan)
    failed_runs = 0
    for name in ("allocators", "accounts"):  # each a command of its own
        if not (arguments.growth or plan.get("selected") or
                resume.has_chapter(folder, f"{name}.json")):
            failed_runs += measure_chapter(name, folder, arguments, plan["seed"])
    if not plan.get("selected"):
        failed_runs += simulate(folder, arguments)
    status = report(folder)
    if failed:
        print(f"run: {failed} of {len(plan['launches'])} launches failed; the report is made "
              "from the others", file=sys.stderr)
    print(LEFT_OUT, file=sys.stderr)
    return 1 if failed or failed_runs or status else 0


def main(argv=None):
    """The command."""
    arguments = arguments_of(argv)
    if arguments.resume is not None:
        folder = arguments.resume or resume.newest()
        plan = resume.plan_of(folder)
        launching.must_be_writable(folder)
    else:
        folder, plan = arguments.out or launching.default_folder(), None
        if arguments.policies and (not arguments.check or os.path.exists(
                launching.bench_path(arguments.build_dir, "release"))):
            summaries_of(arguments)  # an unknown name is refused before a folder is made
        launching.make_folder(folder, keep=not arguments.check)
    if arguments.check:
        return 0
    signal.signal(signal.SIGTERM, launching.interrupt)
    plan = begin(folder, arguments) if plan is None else go_on(folder, plan, arguments)
    try:
        return run_all(folder, plan, arguments)
    except KeyboardInterrupt:
        done = sum(1 for launch in plan["launches"] if launch["status"] == "done")
        for launch in plan["launches"]:
            if launch["status"] == "running":
                launch["status"] = "interrupted"
                remove_partial(launch, folder)
        write_plan(folder, plan)
        print(f"\nrun: interrupted after {done} of {len(plan['launches'])} launches; what was "
              f"measured is in {folder}, scripts/report.py {folder} draws it, scripts/run --resume "
              f"{folder} goes on", file=sys.stderr)
        return 130


if __name__ == "__main__":
    commandline.run(main, "run")
