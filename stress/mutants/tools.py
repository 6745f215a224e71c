#!/usr/bin/python3
"""tools.py - which tool catches which mutant of mutants.json, as a table.

usage: stress/mutants/tools.py [--only ID[,ID...]] [--tools T[,T...]] [--seconds S] [--jobs N]
                               [--found FILE] [--out FILE]

Unlike run.py, which runs the one test that is made for a mutant, this gives each mutant to
every tool, with nothing but the policies that the mutant's own test names:
	TSan    the race driver under ThreadSanitizer, every mode
	stress  pfs-stress on real threads, with and without faults
	sc, tso, views   pfs-sim check, every scenario: an exhaustive and a rotating search
What is found goes to --found, one JSON object a line; lines that are there already count, too,
so that tools may take turns. A tool that needs longer than --seconds has not caught it. What a
tool catches at random it may miss in the next run. Exit 0: the table is made. 1: a mutant does
not build. 2: bad usage.
"""

import argparse
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import run

POLICIES = ("original", "local_scan", "reclaiming", "exact", "magazine")
RACE_MODES = ("reuse", "lookup", "pages", "attach")
TOOLS = ("TSan", "stress", "sc", "tso", "views")
SETS = {"TSan": "tsan", "stress": "stress", "sc": "sim", "tso": "sim", "views": "sim"}
PROGRAM = {"tsan": "race", "stress": "pfs-stress", "sim": "pfs-sim"}


def policies_of(mutant):
    """The policies that the mutant's own test names, else all."""
    named = [policy for policy in POLICIES if policy in mutant["test"].split()]
    return named or list(POLICIES)


def commands(tool, mutant):
    """Argument lists of a tool for one mutant."""
    policies = policies_of(mutant)
    if tool == "TSan":
        return [[mode, policy, "1"] for policy in policies if policy in run.RACE_VARIANTS
                for mode in RACE_MODES]
    if tool == "stress":
        return [["--policy", policy, "--seconds", "1", "--faults", faults]
                for policy in policies for faults in ("none", "all")]
    return [["check", "--memory", tool, "--policy", policy, "--executions", "1500"]
            for policy in policies]


def ask(build, folder, tool, mutant, seconds):
    """Seconds until the tool complained, or None."""
    begin = time.monotonic()
    environment = dict(os.environ, TSAN_OPTIONS="halt_on_error=1:exitcode=66")
    for arguments in commands(tool, mutant):
        left = seconds - (time.monotonic() - begin)
        if left <= 0:
            break
        try:
            result = subprocess.run([os.path.join(folder, PROGRAM[build.name]), *arguments],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                    timeout=left, check=False, env=environment)
        except subprocess.TimeoutExpired:
            break
        if result.returncode == 2:
            sys.exit(f"tools.py: {PROGRAM[build.name]} {' '.join(arguments)}: bad usage")
        if result.returncode != 0:
            return time.monotonic() - begin
    return None


def try_everywhere(builds, pool, mutant, tools, seconds):
    """{tool: seconds or None}; None if the mutant does not build."""
    found = {}
    for name, build in builds.items():
        program = PROGRAM[name]
        folder, error = run.build_mutant(build, pool, mutant, [program])
        if error:
            print(f"{mutant['id']}: {error}", file=sys.stderr)
            return None
        if not os.path.exists(os.path.join(folder, program)):
            continue
        mine = [tool for tool in tools if SETS[tool] == name]
        answers = pool.map(lambda tool, at=(build, folder): ask(*at, tool, mutant, seconds), mine)
        found.update(zip(mine, answers))
    return found


def row(mutant, found):
    """A line of the table."""
    cells = ["not tried" if tool not in found else "-" if found[tool] is None else "caught"
             for tool in TOOLS]
    return f"| `{mutant['id']}` | {mutant['breaks']} | " + " | ".join(cells) + " |"


def table(mutants, found, seconds):
    """The table as a page."""
    sums = ", ".join(f"{tool} {sum(f.get(tool) is not None for f in found.values())}"
                     for tool in TOOLS)
    head = ["# Which tool catches which mutant", "",
            f"Made by `stress/mutants/tools.py --seconds {seconds} --out docs/mutants.md`. Every",
            "mutant is caught by the test that `mutants.json` names for it, which CI runs; here",
            "each tool meets it without being told where to look: all scenarios, all modes. `-`:",
            "not caught, in that time and by those bounds. Races are judged by the declared",
            "orders, so `sc` and `tso` see some orders that x86 keeps anyway.", "",
            f"Caught of {len(mutants)}: {sums}.", "",
            "| mutant | what breaks | " + " | ".join(TOOLS) + " |",
            "|---|---|" + "---|" * len(TOOLS)]
    return "\n".join(head + [row(m, found.get(m["id"], {})) for m in mutants]) + "\n"


def known(path):
    """{mutant: {tool: seconds or None}} of the lines of a file that may not be there."""
    found = {}
    if path and os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            for line in file:
                for name, answers in json.loads(line).items():
                    found.setdefault(name, {}).update(answers)
    return found


def build_all(builds, pool):
    """The unchanged programs; exits with 1 if one does not build."""
    for build in builds.values():
        error = build.compile(pool, build.all_sources(), build.base())
        error = error or build.link(PROGRAM[build.name], [], build.base())
        if error:
            sys.exit(f"tools.py: {build.name}: {error}")


def main():
    """Parse, build, ask every tool."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--only", help="ids, separated by commas")
    parser.add_argument("--tools", default=",".join(TOOLS), help="default: " + ",".join(TOOLS))
    parser.add_argument("--seconds", type=int, default=30, help="for a tool and a mutant")
    parser.add_argument("--found", help="append what is found to this file, and read it first")
    parser.add_argument("--out", help="write the table to this file")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    tools = arguments.tools.split(",")
    if not set(tools) <= set(TOOLS):
        parser.error(f"--tools {arguments.tools}: choose from {', '.join(TOOLS)}")
    mutants, found, broken = run.choose(arguments), known(arguments.found), 0
    scratch = tempfile.mkdtemp(prefix="pfs_tools_")
    with concurrent.futures.ThreadPoolExecutor(max(1, arguments.jobs)) as pool:
        try:
            run.copy_sources(scratch)
            wanted = {SETS[tool] for tool in tools}
            builds = {n: b for n, b in run.builds_in(scratch).items() if n in wanted}
            build_all(builds, pool)
            for mutant in mutants:
                answers = try_everywhere(builds, pool, mutant, tools, arguments.seconds)
                broken += answers is None
                found.setdefault(mutant["id"], {}).update(answers or {})
                line = json.dumps({mutant["id"]: answers or {}})
                print(line, flush=True)
                if arguments.found:
                    with open(arguments.found, "a", encoding="utf-8") as file:
                        file.write(line + "\n")
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    if arguments.out:
        with open(arguments.out, "w", encoding="utf-8") as file:
            file.write(table(mutants, found, arguments.seconds))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
