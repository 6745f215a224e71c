#!/usr/bin/python3
"""accounts.py - what the accounts cost, how wrong each rule of crediting is, how much memory they
take, and what a reader sees and costs.

usage: scripts/accounts.py [--long | --quick] [--out DIR] [--only CASE,CASE] [--rounds N]
The cases of accounts_cases.py are launched in rounds, cases and rules in random order. Writes
accounts.json (every launch's numbers) into the result folder and prints tables and bars;
scripts/report.py draws the chapter "The accounts". scripts/run measures the short suite. Exit 0:
every launch succeeded. 1: some failed. 2: bad usage or no build.
"""

import os
import subprocess

import malloc_instructions
from common import commandline
from measuring import accounts_cases, chapter, malloc_peers
from reporting import accounts_results

LIMIT_S = 120


def facts_of(cases):
    """What the document says of its cases."""
    return {case.name: {key: value for key, value in case._asdict().items() if key != "name"}
            for case in cases}


def values_of(launch, size, build_dir, folder):
    """Run a process; what it printed."""
    case = accounts_cases.BY_NAME[launch["case"]]
    words, more = accounts_cases.command(case, launch["way"], size, build_dir, launch["round"])
    environment = {**os.environ, "LC_ALL": "C", "LD_PRELOAD": "", **more, "PFS_MEM_DIR": folder}
    done = subprocess.run(words, capture_output=True, text=True, errors="replace",
                          stdin=subprocess.DEVNULL, env=environment, timeout=LIMIT_S, check=False)
    said = done.stderr.strip().splitlines()
    if done.returncode and case.group != "errors":  # there the status is the finding
        raise ValueError(f"exit {done.returncode}: {said[-1] if said else 'no message'}")
    return {"values": accounts_cases.values(case, launch["way"], done.stdout)}


def measure_suite(folder, kind, build_dir, seed, rounds=None, only=None):
    """Measure and write accounts.json; the document. rounds: None, or as many for all."""
    cases = [case for case in accounts_cases.CASES if not only or case.name in only]
    size = accounts_cases.SIZES[kind]
    for case in cases:  # refuse before measuring if something is not built
        for way in accounts_cases.ways(case):
            accounts_cases.command(case, way, size, build_dir, 1)
    planned = accounts_cases.LAUNCHES.get(kind, {})
    groups = {case.group: rounds or planned.get(case.group, 1) for case in cases}
    launches = chapter.make_plan(cases, groups, seed, accounts_cases.ways)
    with chapter.document_in(folder, accounts_results.Suite.FILE, kind, seed, build_dir, missing={},
                             cases=facts_of(cases), launches=launches,
                             instructions={}) as (document, work):
        chapter.run_plan("accounts", launches, [
            accounts_cases.ESTIMATE_S[accounts_cases.BY_NAME[l["case"]].group] for l in launches],
            lambda l: chapter.launch(l, lambda: values_of(l, size, build_dir, work)))
        if not only:
            malloc_instructions.count_into(document, build_dir, [
                malloc_peers.Allocator(name, accounts_cases.library(build_dir, library), "")
                for name, library in (("not counted", "none"), ("counted", "counted"))],
                malloc_instructions.SHORT, {"PFS_MEM_DIR": work})
    return document


def main(argv=None):
    """The command."""
    parser = chapter.parser_of(
        "scripts/accounts.py", "Measure what the accounts cost, how "
        "wrong each rule is, what they take, and who reads.",
        accounts_cases.BY_NAME, "longer slices, more launches (4 minutes)")
    arguments = chapter.parse(parser, accounts_cases.BY_NAME, argv)
    return chapter.command("accounts", arguments, measure_suite, accounts_results)


if __name__ == "__main__":
    commandline.run(main, "accounts")
