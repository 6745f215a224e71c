#!/usr/bin/python3
"""model.py - the simulated machine against this one: the same benchmark on both, 1 and 2 threads.

usage: scripts/model.py [--out DIR] [--quick] [--repetitions N] [--seed N] [--build-dir DIR]
Calibrates, runs pfs-bench for each policy in turn with a calibration before and after each
launch, simulates the same cases at the calibrated costs, and prints what differs. Writes
DIR/model.json, model.svg, topology.xml, costs-*.json and raw/.
Exit 0: compared. 1: a launch or a simulation failed. 2: bad usage, or one CPU only.
"""

import json
import os
import random
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from common import commandline, documents, machine
from common.progress import Progress
from measuring import launching
from reporting import model_table, results

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CASES = (("pair", None), ("churn", 0.5), ("churn", 0.95), ("churn", 0.99))
THREADS = (1, 2)
WINDOW_MS = 40
OPS = 500000          # simulated, of all threads; a fifth more before, to warm the caches up
UNSEEN = ("malloc",)  # the machine does not see the accesses inside of the process's malloc
KINDS = ("smt", "l3", "node", "package", "remote")


def call(command, limit=600):
    """stdout of a program; BadInput with its own line where it refuses."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=limit, check=False)
    except OSError as error:
        raise documents.BadInput(f"{command[0]}: cannot be run ({error.strerror}); build first: "
                                 "cmake --preset release && cmake --build --preset release") \
            from None
    except subprocess.TimeoutExpired:
        raise documents.BadInput(f"{command[0]}: no end after {limit} s") from None
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.strip()]
        raise documents.BadInput(said[-1] if said else f"{command[0]}: exit {done.returncode}")
    return done.stdout


def simulable(sim):
    """The policies that the simulated machine sees into, in its order."""
    names, inside = [], False
    for line in call([sim, "list"]).splitlines():
        if not line.startswith(" "):
            inside = line.startswith("policies")
        elif inside:
            names.append(line.split()[0])
    return [name for name in names if name not in UNSEEN]


def calibrate(sim, path, seconds):
    """A calibration as a document."""
    call([sim, "calibrate", "--seconds", str(seconds), "--out", path])
    return documents.read_json(path)


def transfer_of(document):
    """What a line transfer costs between the two PUs of two compact threads."""
    for kind in KINDS:
        series = document["measured"].get(f"{kind}_load_modified", {})
        if "median" in series:
            return series["median"]
    raise documents.BadInput("the calibration measured no line transfer; give it a second CPU")


def rows_of(path):
    """{(workload, occupancy, threads): (ns, was it disturbed)} of a benchmark's JSON."""
    document = documents.read_json(path)
    results.check_benchmark_document(path, document)
    found = {}
    for row in document["benchmarks"]:
        if row.get("error_occurred"):
            raise documents.BadInput(f"{path}: {row['name']}: {row.get('error_message')}")
        case = results.parse_name(row["name"])
        found[(case.workload, case.occupancy, case.threads)] = (
            1e9 / row["items_per_second"], bool(row.get("disturbed")))
    return found


def launch(bench, policy, path, window_ms):
    """One process with all cases of a policy."""
    fills = ",".join(f"{o:g}" for _, o in CASES if o is not None)
    call([bench, f"--policies={policy}", "--workloads=pair,churn", f"--occupancies={fills}",
          f"--threads={','.join(str(t) for t in THREADS)}", "--placements=compact",
          f"--window_ms={window_ms}", "--latency_ms=0", "--benchmark_out_format=json",
          "--benchmark_color=false", f"--benchmark_out={path}"])
    return rows_of(path)


def measure_all(arguments, sim, bench, policies):
    """[{policy, rows, before, after}] and all calibrations, launches in shuffled rounds."""
    source = random.Random(arguments.seed)
    raw = os.path.join(arguments.out, "raw")
    total = arguments.repetitions * len(policies)
    progress = Progress(total, total * 1.6)
    calibrations = [calibrate(sim, os.path.join(raw, "0000-costs.json"), 1)]
    launches = []
    for number in range(total):
        if number % len(policies) == 0:
            order = source.sample(policies, len(policies))
        policy = order[number % len(policies)]
        progress.show(number, number * 1.6, policy)
        name = os.path.join(raw, f"{number + 1:04d}-")
        rows = launch(bench, policy, f"{name}{policy}.json", arguments.window_ms)
        calibrations.append(calibrate(sim, name + "costs.json", arguments.seconds))
        launches.append({"policy": policy, "rows": rows,
                         "before": transfer_of(calibrations[-2]),
                         "after": transfer_of(calibrations[-1])})
    progress.show(total, total * 1.6, "measured")
    progress.end()
    return launches, calibrations


def real_values(launches, regimes):
    """{(workload, occupancy, threads, regime): {policy: [ns]}}. A thread alone transfers no
    line: its regime is None. Disturbed trials count only where there are no others."""
    kept, disturbed = {}, {}
    for one in launches:
        regime = model_table.regime_of(regimes, one["before"], one["after"])
        for (workload, occupancy, threads), (ns, bad) in one["rows"].items():
            if threads > 1 and regime is None:
                continue
            key = (workload, occupancy, threads, regime if threads > 1 else None)
            place = disturbed if bad else kept
            place.setdefault(key, {}).setdefault(one["policy"], []).append(ns)
    for key, policies in disturbed.items():
        for policy, values in policies.items():
            kept.setdefault(key, {}).setdefault(policy, values)
    return kept


def simulate(sim, arguments, key, policy, costs):
    """Nanoseconds of an operation on the simulated machine, or None after a line on stderr."""
    workload, occupancy, threads, _ = key
    command = [sim, "run", "--machine", arguments.machine, "--threads", str(threads), "--policy",
               policy, "--workload", workload, "--ops", str(arguments.ops), "--format", "json",
               "--costs", costs]
    if occupancy is not None:
        command += ["--occupancy", f"{occupancy:g}"]
    try:
        return 1e9 / json.loads(call(command))["items_per_second"]
    except documents.BadInput as problem:
        print(f"model.py: {policy}, {workload}: {problem}", file=sys.stderr)
        return None


def simulate_all(sim, arguments, real, costs):
    """{key: {policy: ns}}"""
    jobs = [(key, policy) for key in real for policy in real[key]]
    progress = Progress(len(jobs), len(jobs) * 1.5)
    found, done = {}, 0
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        waiting = [(key, policy, pool.submit(simulate, sim, arguments, key, policy,
                                             costs[key[3]])) for key, policy in jobs]
        for key, policy, job in waiting:
            found.setdefault(key, {})[policy] = job.result()
            done += 1
            progress.show(done, done * 1.5, f"simulated {policy}")
    progress.end()
    return found


def write_costs(folder, calibrations, regimes):
    """{regime: path}: the costs of all calibrations, and of those in each regime."""
    paths = {}
    for regime in [None, *range(len(regimes))]:
        inside = [c for c in calibrations if regime is None or
                  regimes[regime][0] <= transfer_of(c) <= regimes[regime][1]]
        paths[regime] = os.path.join(folder, "costs.json" if regime is None else
                                     f"costs-{regime}.json")
        documents.write_json(paths[regime], model_table.merged_costs(inside))
    return paths


def enough(real, policies):
    """Groups in which every policy was measured; the number of the others."""
    whole = {key: {p: real[key][p] for p in policies} for key in real
             if all(p in real[key] for p in policies)}
    return whole, len(real) - len(whole)


def arguments_of(argv):
    """The parsed command line."""
    parser = commandline.Parser(prog="scripts/model.py", description="Compare the simulated "
                                     "machine with this one, at costs measured here.")
    parser.add_argument("--out", metavar="DIR", help="where to write (default: "
                        "results/local/model-<time>)")
    parser.add_argument("--quick", action="store_true", help="2 launches a policy, short "
                        "windows, few simulated operations; not for conclusions")
    parser.add_argument("--repetitions", type=launching.positive, default=9, metavar="N",
                        help="launches of each policy (default 9)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the launch order (default 1)")
    launching.add_build_dir(parser)
    arguments = parser.parse_args(argv)
    arguments.window_ms, arguments.ops, arguments.seconds = WINDOW_MS, OPS, 0.15
    if arguments.quick:
        arguments.repetitions = min(2, arguments.repetitions)
        arguments.window_ms, arguments.ops, arguments.seconds = 5, 20000, 0.1
    arguments.out = arguments.out or os.path.join(TOP, "results", "local",
                                                  time.strftime("model-%Y%m%d-%H%M%S"))
    return arguments


def main(argv=None):
    """The command."""
    arguments = arguments_of(argv)
    sim = os.path.join(arguments.build_dir, "release", "sim", "pfs-sim")
    bench = launching.bench_path(arguments.build_dir, "release")
    policies = simulable(sim)
    launching.make_folder(arguments.out)
    if "topology.xml" not in machine.export_topology(arguments.out):
        raise documents.BadInput("lstopo: cannot be run; install Debian's hwloc-nox")
    arguments.machine = os.path.join(arguments.out, "topology.xml")
    launches, calibrations = measure_all(arguments, sim, bench, policies)
    regimes = model_table.regimes_of([transfer_of(c) for c in calibrations])
    real, poor = enough(real_values(launches, regimes), policies)
    costs = write_costs(arguments.out, calibrations, regimes)
    simulated = simulate_all(sim, arguments, real, costs)
    groups = [model_table.group_of(key, real[key], simulated[key])
              for key in sorted(real, key=lambda k: (k[2], k[3] or 0, k[0] != "pair", k[1] or 0))]
    print(model_table.text_table(groups, regimes))
    if poor:
        print(f"{poor} cases left out: not every policy was measured in them")
    steady = sum(1 for one in launches if model_table.regime_of(
        regimes, one["before"], one["after"]) is not None)
    facts = {"time": time.strftime("%Y-%m-%dT%H:%M:%S%z"), "launches": len(launches),
             "launches_in_one_regime": steady, "ops": arguments.ops,
             "window_ms": arguments.window_ms, "seed": arguments.seed, "quick": arguments.quick,
             "cases_left_out": poor, "transfer_ns": [transfer_of(c) for c in calibrations],
             "machine": machine.describe(TOP, arguments.build_dir)}
    documents.write_json(os.path.join(arguments.out, "model.json"),
                         model_table.document_of(groups, regimes, facts))
    note = (f"real: release build, medians of at most {arguments.repetitions} launches of each "
            f"policy, shuffled; simulated: {arguments.ops:,} operations at costs measured "
            f"between the launches")
    made = model_table.figure(groups, regimes, policies, note)
    if made is not None:
        documents.write_text(os.path.join(arguments.out, "model.svg"),
                             made.canvas.document(made.title, standalone=True))
    print(f"written: {arguments.out}", file=sys.stderr)
    return 1 if any(ns is None for found in simulated.values() for ns in found.values()) else 0


if __name__ == "__main__":
    commandline.run(main, "model.py")
