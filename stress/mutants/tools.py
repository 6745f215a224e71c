#!/usr/bin/python3
"""tools.py - which tool catches which mutant of kit.patches, as a table.

usage: stress/mutants/tools.py [--only ID[,ID...]] [--tools T[,T...]] [--seconds S] [--jobs N]
                               [--found FILE] [--out PAGE] [--check PAGE]

Unlike run.py, which runs the one test that is made for a mutant, this gives each mutant to
every tool, with nothing but the policies that the mutant's own test names:
	TSan    the race driver under ThreadSanitizer, every mode
	stress  pfs-stress on real threads, with and without faults
	sc, tso, views   pfs-sim check, every scenario: an exhaustive and a rotating search
What is found goes to --found, one JSON object a line; lines that are there already count, too,
so that tools may take turns; and so do the rows of the page that --out names, so that new mutants
alone may be tried; a row may say that a tool was not tried. A tool that needs longer than --seconds
has not caught it. What a tool catches
at random it may miss in the next run. --check tries nothing: it says whether the page is the one
that its own rows make, with a row for each mutant.
Exit 0: the table is made, or right. 1: a mutant does not build, or the page is wrong. 2: bad usage.
"""

import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import run
from common import commandline  # run.py has told where it is

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


def complains(command, environment, seconds):
    """Does the command fail, or say that a scenario does, in so many seconds?"""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          env=environment, errors="replace") as process:
        stop = threading.Timer(max(seconds, 0.1), process.kill)
        stop.start()
        # pfs-sim goes on after the first scenario that fails.
        said = any("NOT EXPECTED" in line for line in process.stdout)
        if said:
            process.kill()
        code = process.wait()
        late = not stop.is_alive()
        stop.cancel()
    if code == 2:
        sys.exit(f"tools.py: {' '.join(command)}: bad usage")
    return said or (code != 0 and not late)


def ask(build, folder, tool, mutant, seconds):
    """Seconds until the tool complained, or None."""
    begin = time.monotonic()
    environment = dict(os.environ, TSAN_OPTIONS="halt_on_error=1:exitcode=66")
    for arguments in commands(tool, mutant):
        left = seconds - (time.monotonic() - begin)
        if left <= 0:
            break
        command = [os.path.join(folder, PROGRAM[build.name]), *arguments]
        if complains(command, environment, left):
            return time.monotonic() - begin
    return None


def try_everywhere(builds, pool, mutant, tools, seconds):
    """{tool: seconds or None}; None if the mutant does not build."""
    found = {}
    for name, build in builds.items():
        program = PROGRAM[name]
        folder, error = run.build_mutant(build, mutant, [program], build.scratch)
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


def rows_of(path):
    """{mutant: {tool: 0 or None}} of a page that table() made; nothing if there is none."""
    found = {}
    if not path or not os.path.exists(path):
        return found
    with open(path, encoding="utf-8") as file:
        for line in file:
            cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
            if line.startswith("| `") and len(cells) == 2 + len(TOOLS):
                found[cells[0].strip("`")] = {
                    tool: 0.0 if cell == "caught" else None
                    for tool, cell in zip(TOOLS, cells[2:]) if cell != "not tried"}
    return found


def rest_of(page):
    """What stands behind the table, from the first title on, and is written by hand."""
    at = page.find("\n## ")
    return page[at:] if at >= 0 else ""


def check(path, mutants):
    """What is wrong with a page, or None."""
    found = rows_of(path)
    extra = sorted(set(found) - {mutant["id"] for mutant in mutants})
    if extra:
        return f"{path}: {extra[0]}: no such mutant in kit.patches"
    for mutant in mutants:
        if mutant["id"] not in found:
            return (f"{path}: {mutant['id']}: no row; run "
                    f"stress/mutants/tools.py --only {mutant['id']} --out {path}")
    with open(path, encoding="utf-8") as file:
        page = file.read()
        if page != table(mutants, found) + rest_of(page):
            return f"{path}: not the page that its rows make; run stress/mutants/tools.py --out"
    return None


def table(mutants, found):
    """The table as a page."""
    mine = [found.get(mutant["id"], {}) for mutant in mutants]
    sums = ", ".join(f"{tool} {sum(f.get(tool) is not None for f in mine)}" for tool in TOOLS)
    none = sum(all(f.get(tool) is None for tool in TOOLS) for f in mine if len(f) == len(TOOLS))
    untried = sum(len(f) != len(TOOLS) for f in mine)
    head = ["# Which tool catches which mutant", "",
            "Made by `stress/mutants/tools.py --out docs/reference/mutants.md`. CI runs the",
            "test that `stress/mutants/kit.patches` names for each mutant; every mutant is caught",
            "by its own test. Here each tool searches without being told where to look: all",
            "scenarios, all modes. `-` means not caught within the time and the bounds. Races are",
            "judged by the declared orders, so `sc` and `tso` detect some reorderings that x86",
            "never performs.", "",
            f"Caught of {len(mutants)}: {sums}; {none} by their own tests alone; {untried} were "
            "not tried with every tool.", "",
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


def main():
    """Parse, build, ask every tool."""
    parser = commandline.Parser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--only", help="ids, separated by commas")
    parser.add_argument("--tools", default=",".join(TOOLS), help="default: " + ",".join(TOOLS))
    parser.add_argument("--seconds", type=int, default=30, help="for a tool and a mutant")
    parser.add_argument("--found", help="append what is found to this file, and read it first")
    parser.add_argument("--out", help="write the table to this page; its rows count, too")
    parser.add_argument("--check", help="is this page right?")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    tools = arguments.tools.split(",")
    if not set(tools) <= set(TOOLS):
        parser.error(f"--tools {arguments.tools}: choose from {', '.join(TOOLS)}")
    mutants, broken = run.choose(arguments.only), 0
    if arguments.check:
        fault = check(arguments.check, mutants)
        print(f"tools.py: {fault}" if fault else f"{len(mutants)} mutants, no fault")
        return 1 if fault else 0
    found = rows_of(arguments.out)
    for name, answers in known(arguments.found).items():
        found.setdefault(name, {}).update(answers)
    scratch = tempfile.mkdtemp(prefix="pfs_tools_")
    with concurrent.futures.ThreadPoolExecutor(max(1, arguments.jobs)) as pool:
        try:
            tree = os.path.join(scratch, "unchanged")
            run.copy_sources(tree)
            builds = run.builds_in(tree, sorted({SETS[tool] for tool in tools}))
            error = run.prepare(builds["tsan"], pool) if "tsan" in builds else None
            if error:
                sys.exit(f"tools.py: {error}")
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
        arguments.only = None
        rest = ""
        if os.path.exists(arguments.out):
            rest = rest_of(Path(arguments.out).read_text("utf-8"))
        page = table(run.choose(arguments.only), found) + rest
        Path(arguments.out).write_text(page, "utf-8")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
