"""results.py - reads result folders and Google Benchmark files.

A result folder is what scripts/run writes: plan.json, machine.json, raw/*.json, and
simulated.json, what scripts/experiments.py merged. A case is one benchmark: workload, policy,
occupancy, placement, threads, and the machine where it is a simulated one. A value list holds one
value for each process launch (what one process repeated is first reduced to its median), or for
each seed of a simulated run, or None where a launch did not say.
"""

import math
import os
import re
from collections import namedtuple

from common import commandline, steady, stats
from common.documents import is_number, is_there, read_json, BadInput
from common.stats import median
from measuring import grid
from reporting import accounts_results, allocator_results, profile_results, server_results

# api: how the policy is called where it is not inlined; pages_each: the pages that each thread
# has for itself, where they are not all threads' together; records: how many a container is filled
# with, memory: how its pages are, where they are not fresh; page_records: of simulated runs that
# have other pages. Variants of a case are asked for.
Case = namedtuple("Case", "workload policy occupancy placement threads machine api pages_each "
                          "records memory page_records", defaults=(None,) * 6)
VARIANTS = dict.fromkeys(("api", "pages_each", "records", "memory", "page_records"))
ANY = object()  # where a case may be of any variant
SIMULATED_FILE = "simulated.json"
# The chapters beside that of the policies: the suites of a result folder, each or None.
CHAPTERS = {"allocators": allocator_results, "accounts": accounts_results,
            "profile": profile_results, "server": server_results}

# Builds whose disturbed values are left out. Counts stay: what was skipped was skipped. A pass of
# reclaim takes a CPU from the threads, so every trial of "reclaiming" is disturbed, and meant so.
GATED = ("release", "still")

# Metrics that are better when they grow; for all others smaller is better.
MORE_IS_BETTER = ("items_per_second", "reclaimed", "rows_per_second", "walks_per_second",
                  "returned_share", "fairness", "util_min", "util_total")


def parse_name(name):
    """The Case in a benchmark name, or None if it is not one of ours."""
    parts = name.split("/")
    fields = dict(p.split(":", 1) for p in parts[1:] if ":" in p)
    try:
        occupancy = float(fields["occupancy"]) if "occupancy" in fields else None
        threads = int(fields.get("threads", "1"))
        each, records, page_records = (int(fields[key]) if key in fields else None
                                       for key in ("pages_each", "records", "page_records"))
    except ValueError:
        return None
    return Case(parts[0], fields.get("policy"), occupancy, fields.get("placement"), threads,
                fields.get("machine"), fields.get("api"), each, records, fields.get("memory"),
                page_records)


def is_of(workload, wanted):
    """Is a workload one of the wanted ones? replay stands for each trace's."""
    return any(workload == name or name == "replay" and workload.startswith("replay_")
               for name in wanted)


def results_of_process(launch):
    """What the plan says of a launch's process as a whole, as metrics of its case."""
    peak = launch.get("process_bytes_peak")
    return {"process_bytes_peak": peak} if is_number(peak) else {}


def synthetic_cpus(machine):
    """The CPUs of a machine given as a synthetic string, which names its levels; 0 for others."""
    counts = [int(n) for n in re.findall(r"\w:(\d+)", machine or "")]
    return math.prod(counts) if counts else 0


def check_benchmark_document(path, document):
    """Refuse what does not look like the JSON of Google Benchmark."""
    if not isinstance(document, dict) or not isinstance(document.get("benchmarks"), list):
        raise BadInput(f'{path}: it has no list "benchmarks"; give the JSON that pfs-bench '
                       "--benchmark_out wrote, or a result folder")
    if not isinstance(document.get("context", {}), dict):
        raise BadInput(f'{path}: "context" is not an object; give the JSON that pfs-bench wrote')
    for position, row in enumerate(document["benchmarks"]):
        if not isinstance(row, dict) or not isinstance(row.get("name"), str):
            raise BadInput(f"{path}: benchmarks[{position}] has no name; measure again or remove "
                           "the file")


def document_of_run(path, run):
    """What pfs-sim run --format json printed, as a document of one benchmark."""
    try:
        return {"context": {"simulated": True},
                "benchmarks": [{**run, "name": grid.run_name(run, run["machine"])}]}
    except KeyError as error:
        raise BadInput(f"{path}: a simulated run without {error}; simulate it again") from None


def _settled(path, row):
    """What the parts of a simulated run say; {} of any other row, and where the load moves."""
    if "parts" not in row or "series" in row:
        return {}
    try:
        return steady.metrics(row)
    except (KeyError, TypeError, IndexError, ZeroDivisionError):
        raise BadInput(f"{path}: the parts of {row['name']} are damaged; simulate it "
                       "again") from None


class Results:
    """One or more result folders or files, as cases with values."""

    def __init__(self):
        self.paths = []
        self.values = {}       # (build, Case) -> metric -> [value of each launch]
        self.rounds = {}       # (build, Case) -> [round of each launch]
        self.errors = []       # (file, benchmark, message)
        self.series = {}       # Case -> [points of each launch]
        self.moved = {}        # Case of a simulated machine -> {seed: columns of its samples}
        self.machine = {}
        self.sources = []      # the machine of each folder
        self.plan = {}
        self.context = {}
        self.policy_order = []
        self.traits = {}       # policy -> what it can do, where simulated runs said so
        self.folder = None
        self.searches = []     # searches of schedules: words, exit, output
        self.missing = 0       # simulated jobs without a result
        self.stamp = ""        # what marks figures of a simulated machine
        self.allocators = self.accounts = self.profile = None  # of the first folder that has one
        self.server = None
        self.seeds = False     # launches are seeds of a simulated machine
        self.selection = []    # the options that chose policies and workloads

    def add(self, path):
        """Read a result folder or a file."""
        self.paths.append(path)
        if not os.path.isdir(path):
            self.add_file(path, None)
            return self
        self.folder = self.folder or path
        plan_path = os.path.join(path, "plan.json")
        found = 0
        simulated = os.path.join(path, SIMULATED_FILE)
        for name, module in CHAPTERS.items():
            suite = module.Suite.load(path)
            setattr(self, name, getattr(self, name) or suite)
            if suite:
                found += 1
                self._add_machine(path)
        if is_there(plan_path):
            found += self._add_planned(path, plan_path)
        if is_there(simulated):
            self.add_file(simulated, None)
            self._add_machine(path)
            found += 1
        elif not found:
            for name in sorted(os.listdir(path)):
                if name.endswith(".json") and name != "machine.json":
                    self.add_file(os.path.join(path, name), None)
                    found += 1
        if not found:
            raise BadInput(f"{path}: no result in this folder; run scripts/run --out {path}")
        return self

    def _add_planned(self, path, plan_path):
        self.plan = read_json(plan_path)
        if not isinstance(self.plan, dict) or not isinstance(self.plan.get("launches"), list):
            raise BadInput(f'{plan_path}: it has no list "launches"; measure again')
        self._add_machine(path)
        for name in self.plan.get("policies", []):
            self._know(name)
        done = [launch for launch in self.plan["launches"] if launch.get("status") == "done"]
        for launch in done:
            self.add_file(os.path.join(path, launch["file"]),
                           launch.get("results_as", launch["build"]), launch)
            if launch.get("series"):
                self._add_series(os.path.join(path, launch["series"]))
        return len(done)

    def _add_machine(self, path):
        machine = os.path.join(path, "machine.json")
        if os.path.exists(machine):
            facts = read_json(machine)
            self.machine = self.machine or facts  # that of the first folder
            if facts not in self.sources:
                self.sources.append(facts)

    def _know(self, policy):
        if policy and policy not in self.policy_order:
            self.policy_order.append(policy)

    def add_file(self, path, build, planned=None):
        """Read one file; build None: as it says; planned: what the plan says of the launch."""
        document = read_json(path)
        if isinstance(document, dict) and document.get("simulated") is True:
            document = document_of_run(path, document)
        check_benchmark_document(path, document)
        context = document.get("context", {})
        if context.get("simulated") is not True:
            self.context = self.context or context
        if context.get("simulated") is True:
            build = "simulated"
            self._add_searches(path, document)
        elif build is None:
            build = "counted" if str(context.get("counted")).lower() in ("true", "1", "yes") \
                else "release"
        launch = {}  # Case -> [row inside this process]
        for row in document["benchmarks"]:
            if row.get("run_type", "iteration") != "iteration":
                continue
            if row.get("error_occurred"):
                self.errors.append((path, row["name"], row.get("error_message", "")))
                continue
            case = parse_name(row["name"])
            if case is None:
                raise BadInput(f"{path}: benchmark name '{row['name']}' cannot be understood; "
                               "give results of pfs-bench")
            self._know(case.policy)
            if isinstance(row.get("traits"), str):
                self.traits[case.policy] = row["traits"].split()
            numbers = {m: v for m, v in row.items() if is_number(v)}
            launch.setdefault(case, []).append({**numbers, **_settled(path, row)})
            if isinstance(row.get("series"), dict):
                self.moved.setdefault(case, {})[row.get("seed")] = row["series"]
        for case, rows in launch.items():
            if build == "simulated":  # each run is a launch of its own, with a seed of its own
                for position, row in enumerate(rows):
                    self.add_launch((build, case), row, ("seed", row.get("seed", position)))
                continue
            inside = {m: median([row[m] for row in rows if m in row])
                      for m in {m for row in rows for m in row}}
            inside.update(results_of_process(planned or {}))
            turn = (len(self.paths), planned["round"]) if planned and "round" in planned else \
                (len(self.paths), len(self.rounds.get((build, case), [])))
            self.add_launch((build, case), inside, turn)

    def add_launch(self, key, metrics, turn):
        """One launch of a case: its metrics stand at the same place of every list."""
        kept = self.values.setdefault(key, {})
        rounds = self.rounds.setdefault(key, [])
        for metric in {**kept, **metrics}:
            kept.setdefault(metric, [None] * len(rounds)).append(metrics.get(metric))
        rounds.append(turn)

    def _add_searches(self, path, document):
        searches = document.get("searches", [])
        if not isinstance(searches, list) or not all(
                isinstance(s, dict) and isinstance(s.get("words"), list) and
                isinstance(s.get("exit"), int) and isinstance(s.get("output"), str)
                for s in searches):
            raise BadInput(f"{path}: searches are damaged; run scripts/experiments.py again")
        self.searches += searches
        self.missing += document["context"].get("missing", 0)

    def select(self, policies=None, workloads=None):
        """Keep only these policies and workloads; BadInput if one of them is not there."""
        server = self.server.policies if self.server else []
        there = [case.workload for _, case in self.values]
        there += ["replay"] * any(is_of(name, ["replay"]) for name in there)
        commandline.must_know("--policies", policies,
                              list(dict.fromkeys(self.policy_order + server)))
        commandline.must_know("--workloads", workloads, sorted(set(there)))
        for option, names in (("--policies", policies), ("--workloads", workloads)):
            self.selection += [option, ",".join(names)] if names else []

        def kept(case):
            return (not policies or case.policy in (None, *policies)) and (
                not workloads or is_of(case.workload, workloads))
        for part in (self.values, self.rounds):
            for key in [key for key in part if not kept(key[1])]:
                del part[key]
        self.series, self.moved = ({case: lines for case, lines in part.items() if kept(case)}
                                   for part in (self.series, self.moved))
        if policies:
            self.policy_order = [p for p in self.policy_order if p in policies]
            if self.server:
                self.server.select(policies)
        return self

    def machines(self):
        """The simulated machines, the one with the most cases first."""
        tally = {}
        for build, case in self.values:
            if build == "simulated":
                tally[case.machine] = tally.get(case.machine, 0) + 1
        return sorted(tally, key=lambda m: (-tally[m], -synthetic_cpus(m), m or ""))

    def simulated(self, machine=None):
        """The results of one simulated machine as if it were the real one, so that whatever
        reads results reads them, too; the first of machines() by default, None without one. A
        simulated run counts without cost: it stands for both builds."""
        names = self.machines()
        if not names or (machine and machine not in names):
            return None
        machine = machine or names[0]
        view = Results()
        view.paths, view.folder, view.searches = self.paths, self.folder, self.searches
        view.policy_order, view.traits = self.policy_order, self.traits
        view.plan = {"summaries": self.plan.get("summaries", {})}
        view.stamp = f"simulated: {machine}, virtual time"
        view.seeds, view.selection = True, self.selection
        for (build, case), metrics in self.values.items():
            if build == "simulated" and case.machine == machine:
                if any(metrics.get("oversubscribed", [])) and \
                        not max(metrics.get("fairness", [1])):
                    # Shorter than a time slice: some thread never had a CPU, so no rate is known.
                    metrics = {m: v for m, v in metrics.items()
                               if m != "items_per_second" and not m.startswith("ns_")}
                for name in ("release", "counted"):
                    view.values[(name, case._replace(machine=None))] = metrics
                    view.rounds[(name, case._replace(machine=None))] = \
                        self.rounds.get((build, case), [])
                if metrics.get("machine_pus"):
                    view.plan["cpus"] = int(metrics["machine_pus"][0])
        view.moved = {case._replace(machine=None): lines for case, lines in self.moved.items()
                      if case.machine == machine}
        if "cpus" not in view.plan and synthetic_cpus(machine):
            view.plan["cpus"] = synthetic_cpus(machine)
        return view

    def is_real(self):
        """Is there anything that was measured on a real machine?"""
        return any(build != "simulated" for build, _ in self.values)

    def _add_series(self, path):
        document = read_json(path)
        if not isinstance(document, list):
            raise BadInput(f"{path}: not a list of points; repeat that launch")
        lines = {}  # (Case, run) -> points; a run that was repeated gives way to the next
        for position, point in enumerate(document):
            fields = ("t_ms", "live", "pages", "ideal", "resident_bytes")
            if not isinstance(point, dict) or not isinstance(point.get("benchmark"), str) or \
                    not all(is_number(point.get(field)) for field in fields):
                raise BadInput(f"{path}: point {position} lacks one of benchmark, "
                               f"{', '.join(fields)}; repeat that launch")
            case = parse_name(point["benchmark"])
            if case is None:
                raise BadInput(f"{path}: benchmark name '{point['benchmark']}' is not a case of "
                               "pfs-bench; repeat that launch")
            self._know(case.policy)
            runs = lines.setdefault(case, {})
            runs.setdefault(point.get("run", 0), []).append(point)
        for case, runs in lines.items():
            line = sorted(runs[max(runs)], key=lambda p: p["t_ms"])
            self.series.setdefault(case, []).append(line)

    def cases(self, build, **wanted):
        """The cases of a build that match, in a stable order; of variants those asked for, any
        of them with ANY."""
        wanted = {**VARIANTS, **wanted}
        found = [case for b, case in self.values if b == build and
                 all(getattr(case, field) == value for field, value in wanted.items()
                     if value is not ANY)]
        return sorted(found, key=lambda c: (c.workload, self.position(c.policy),
                                            -1 if c.occupancy is None else c.occupancy,
                                            c.records or 0, c.placement or "", c.threads))

    def position(self, policy):
        """Where a policy stands in the order of --list_policies; it fixes the colour."""
        return self.policy_order.index(policy) if policy in self.policy_order else -1

    def samples(self, build, case, metric):
        """One value for each launch, or []; disturbed ones are left out where six others stay."""
        metrics = self.values.get((build, case), {})
        values = metrics.get(metric, [])
        rounds = self.rounds.get((build, case), [])
        if len(rounds) != len(values):
            rounds = range(len(values))
        shaken = metrics.get("disturbed", []) if build in GATED else []
        if len(shaken) != len(values):
            shaken = [0] * len(values)
        return stats.Samples(map(stats.Value, rounds, values, shaken),
                             self.seeds or build == "simulated")

    def of(self, build, metric, **wanted):
        """Samples of the only case that matches; [] if none has the metric. Where several
        placements match, the first one with the metric."""
        for case in self.cases(build, **wanted):
            found = self.samples(build, case, metric)
            if found:
                return found
        return stats.Samples()

    def ratio(self, metric, one, other, builds=("release", "release")):
        """one / other in each round that has both; each a dictionary of what the case must be."""
        return stats.paired(self.of(builds[0], metric, **one), self.of(builds[1], metric, **other))

    def mid(self, build, metric, **wanted):
        """Median of the launches, or None."""
        found = self.of(build, metric, **wanted)
        return median(found) if found else None

    def policies(self, build=None, workload=None):
        """Policies that were measured, in order."""
        seen = {case.policy for b, case in self.values
                if (build is None or b == build) and
                (workload is None or case.workload == workload)}
        return [p for p in self.policy_order if p in seen]

    def launches(self, build, workload, **variant):
        """Least and most launches behind a workload's cases, those left out not counted."""
        counts = []
        for case in self.cases(build, workload=workload, **variant):
            metrics = self.values[(build, case)]
            counts.append(max((len(self.samples(build, case, metric)) for metric in metrics),
                              default=0))
        return (min(counts), max(counts)) if counts else (0, 0)


def load(paths):
    """Results of all paths together."""
    results = Results()
    for path in paths:
        results.add(path)
    return results
