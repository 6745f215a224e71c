"""interleave.py - runs two builds of pfs-bench in turns, so that a disturbance affects both.

A round launches every workload of every policy once with each build, all in random order, the two
of a pair directly after each other. What only one build supports is left out and named.
"""

import os
import re
import random
import subprocess
import tempfile

from common import documents, stats
from common.progress import Progress
from reporting import results, summary, verdicts

# Flags that a build may lack, and what each is given; None: the round's number.
WANTED_FLAGS = (("--repeat_disturbed", "2"), ("--latency_ms", "0"), ("--seed", None))
HOPELESS = 0.3  # share of disturbed values after ROUNDS_TO_SEE rounds at which to give up
ROUNDS_TO_SEE = 3


def program_of(path):
    """The pfs-bench of a build folder, of a folder of builds, or the program itself."""
    tried = [path, os.path.join(path, "bench", "pfs-bench"),
             os.path.join(path, "release", "bench", "pfs-bench")]
    for name in tried:
        if os.path.isfile(name) and os.access(name, os.X_OK):
            return os.path.abspath(name)
    raise documents.BadInput(f"--builds {path}: no bench/pfs-bench there; give a build folder such "
                             "as build/release")


def _ask(program, flag):
    try:
        done = subprocess.run([program, flag], capture_output=True, text=True, timeout=60,
                              check=False, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise documents.BadInput(f"{program}: cannot be run ({error}); rebuild it") from None
    if done.returncode:
        raise documents.BadInput(f"{program}: {flag} failed; rebuild it")
    return done.stdout


def listed(program, what):
    """{name: summary} of --list_policies or --list_workloads."""
    pairs = (line.split(None, 1) for line in _ask(program, f"--list_{what}").splitlines()
             if line.strip())
    return {words[0]: words[1].strip() if len(words) > 1 else "" for words in pairs}


def common(programs, what, wanted):
    """(names that both programs have, [what only one has]); refused if none is left."""
    found = [listed(program, what) for program in programs]
    if wanted is None:
        wanted = [n for n in found[1] if not found[1][n].startswith("baseline")]
        wanted += [n for n in found[0] if n not in found[1] and
                   not found[0][n].startswith("baseline")]
    missing = []
    for name in wanted:
        holders = [side for side, names in zip(("OLD", "NEW"), found) if name in names]
        if len(holders) < 2:
            who = f"only {holders[0]} has it" if holders else "neither has it"
            missing.append(f"{name} ({who})")
    names = [name for name in wanted if all(name in f for f in found)]
    if not names:
        raise documents.BadInput(f"--{what}: OLD and NEW have no common value: "
                                 f"{', '.join(missing)}")
    return names, missing


def options_in(text):
    """The options with a value that a help names, by underscores, which every build knows."""
    return {f"--{name.replace('-', '_')}" for name in re.findall(r"--([a-z][\w-]*)=", text)}


def shared_flags(programs, metric):
    """(flags that both programs know, [what only one knows]): one that one build lacks is given
    to neither, so that both do the same work."""
    known = [options_in(_ask(program, "--help")) for program in programs]
    wanted = [(flag, value) for flag, value in WANTED_FLAGS
              if flag != "--latency_ms" or not metric.startswith("ns_")]
    both = [(f, v) for f, v in wanted if all(f in options for options in known)]
    missing = [f"flag {f} (only {('OLD', 'NEW')[f in known[1]]} has it)" for f, _ in wanted
               if any(f in options for options in known) and (f, _) not in both]
    return both, missing


def command_of(program, flags, unit, plan, number, out):
    """The command line of one launch."""
    workload, policy = unit
    return [program, f"--policies={policy}", f"--workloads={workload}",
            f"--threads={plan.threads}", f"--occupancies={plan.occupancies}",
            "--placements=compact", f"--window_ms={plan.window_ms}", "--benchmark_color=false",
            "--benchmark_out_format=json", f"--benchmark_out={out}",
            *(f"{flag}={value if value is not None else number}" for flag, value in flags)]


UNFIT = "nothing to run"


def _launch(command, limit):
    """None, UNFIT, or a refusal that names what the program said."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, errors="replace", timeout=limit,
                              check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise documents.BadInput(f"{command[0]}: cannot be run ({error})") from None
    said = [line for line in done.stderr.splitlines() if line.strip()]
    if done.returncode == 2 and any(UNFIT in line for line in said):
        return UNFIT
    if done.returncode:
        raise documents.BadInput(f"{command[0]}: exit {done.returncode}: "
                                 f"{said[-1] if said else 'no message'}")
    return None


def _hopeless(sides, metric, number):
    if number < ROUNDS_TO_SEE:
        return False
    tallies = [t for t in (summary.disturbed(side, metric) for side in sides) if t]
    return any(t["disturbed"] > HOPELESS * t["cases"] for t in tallies)


def rounds_for(rows):
    """The rounds needed to decide each of this many rows although one round is an outlier."""
    return stats.rounds_needed(verdicts.level_of(rows))


class Turns:
    """Two builds, what both can do, and where their files go."""

    def __init__(self, plan):
        self.plan = plan
        self.programs = [program_of(path) for path in plan.builds]
        self.flags, self.left_out = shared_flags(self.programs, plan.metric)
        policies, missing = common(self.programs, "policies", plan.policies)
        workloads, more = common(self.programs, "workloads", plan.workloads)
        self.left_out += missing + more
        self.units = [(workload, policy) for workload in workloads for policy in policies]
        counts = len(plan.threads.split(","))
        fills = len(plan.occupancies.split(","))
        rows = sum(counts * (fills if workload in ("churn", "scan") else 1)
                   for workload, _ in self.units)
        self.rounds = plan.rounds or rounds_for(rows)
        self.pair_s = 2 * rows / len(self.units) * (0.1 + 2.2 * plan.window_ms / 1000)
        self.sides = (results.Results(), results.Results())
        self.unfit = set()

    def round(self, folder, number, source):
        """Each unit once with each build."""
        source.shuffle(self.units)
        for unit in (u for u in self.units if u not in self.unfit):
            for k in source.sample((0, 1), 2):
                out = os.path.join(folder, "AB"[k], f"{number:03d}-{'-'.join(unit)}.json")
                command = command_of(self.programs[k], self.flags, unit, self.plan, number, out)
                if _launch(command, 60 + 20 * self.pair_s) == UNFIT:
                    self.unfit.add(unit)
                    break
                self.sides[k].add_file(out, "release", {"round": number})


def run(plan):
    """((old, new) as results that share rounds, [what was left out])."""
    turns = Turns(plan)
    round_s = len(turns.units) * turns.pair_s
    progress = Progress(turns.rounds, turns.rounds * round_s)
    source = random.Random(plan.seed)
    with tempfile.TemporaryDirectory(prefix="pfs-compare-") as scratch:
        folder = plan.out or scratch
        try:
            for name in "AB":
                os.makedirs(os.path.join(folder, name), exist_ok=True)
        except OSError as error:
            raise documents.BadInput(f"--out {folder}: cannot be written ({error.strerror}); name "
                                     "a folder that you may write") from None
        for number in range(1, turns.rounds + 1):
            progress.show(number - 1, (number - 1) * round_s, f"round {number}")
            turns.round(folder, number, source)
            if _hopeless(turns.sides, plan.metric, number):
                break
        progress.end()
    return turns.sides, turns.left_out + [f"{workload} with {policy} (it cannot)"
                                          for workload, policy in sorted(turns.unfit)]
