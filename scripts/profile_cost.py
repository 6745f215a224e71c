#!/usr/bin/python3
"""profile_cost.py - what the accounts and the heap profile cost: CPU time of loops that only
allocate, of python3, sqlite3, perl and node, and of redis and MariaDB under load, with
libpfsmalloc.so alone, counted without a profile, and with one sample per 512 KiB, 1 and 2 MiB;
the share of stacks that are walked; and how far estimates are off by the number of samples.

usage: scripts/profile_cost.py [--long | --quick] [--out DIR] [--only CASE,CASE] [--rounds N]
                               [--against BUILD_DIR]
The cases of profile_cases.py in rounds, cases and ways in random order; a ratio is formed within a
round. --against runs the libraries of another build in the same rounds. Writes profile.json (every
launch's numbers) into the result folder and prints tables and bars; scripts/report.py draws the
figures in its chapter "The heap profile". Twelve minutes; --quick, half a minute. Exit 0: every
launch succeeded. 1: some failed. 2: bad usage or no build.
"""

from common import commandline, documents, machine
from measuring import chapter, profile_cases
from reporting import profile_results

ESTIMATE_S = {"loop": 0.35, "program": 0.4, "server": 3, "walked": 2, "errors": 20}


def plan_of(cases, rounds, seed, has_before=False):
    """The launches in order. rounds: {group: how many}, one where there is none. At the end, one
    launch of each case for the share of stacks that are walked."""
    launches = chapter.make_plan(cases, {case.group: rounds.get(case.group, 1) for case in cases},
                                 seed, lambda case: profile_cases.ways(case, has_before))
    for case in cases:
        if case.group not in ("walked", "errors"):
            launches.append({"number": len(launches) + 1, "round": 1, "case": case.name,
                             "way": profile_cases.WALKED, "status": "planned"})
    return launches


def measure_suite(folder, kind, build_dir, seed, rounds=None, only=None, against=None):
    """Measure and write profile.json; the document. against: another folder of builds."""
    cases = [case for case in profile_cases.CASES if not only or case.name in only]
    bench = profile_cases.Bench(build_dir, against, profile_cases.SIZES[kind])
    missing = {case.name: why for case in cases if (why := profile_cases.absent(case))}
    cases = [case for case in cases if case.name not in missing]
    if not cases:
        raise documents.BadInput(f"nothing to measure: {'; '.join(missing.values())}")
    planned = profile_cases.LAUNCHES[kind]
    launches = plan_of(cases, dict.fromkeys(planned, rounds) if rounds else planned, seed,
                       bool(against))
    before = {"before": machine.revision(against)} if against else {}
    with chapter.document_in(
            folder, profile_results.Suite.FILE, kind, seed, build_dir, **before, missing=missing,
            cases={case.name: {"group": case.group, "says": case.says, "depth": case.depth}
                   for case in cases}, launches=launches) as (document, bench.folder):
        pace = 0.2 if kind == "quick" else 1
        chapter.run_plan("profile", launches, [
            pace * ESTIMATE_S[profile_cases.BY_NAME[l["case"]].group] for l in launches],
            lambda l: chapter.launch(l, lambda: {"values": profile_cases.measure(
                bench, profile_cases.BY_NAME[l["case"]], l["way"])}))
    return document


def main(argv=None):
    """The command."""
    parser = chapter.parser_of("scripts/profile_cost.py", "Measure what the accounts and the heap "
                               "profile cost, which stacks are walked, and how far estimates are "
                               "off.", profile_cases.BY_NAME, "longer runs, more launches")
    parser.add_argument("--against", metavar="BUILD_DIR", help="also measure the libraries of this "
                        "older build: before and after")
    arguments = chapter.parse(parser, profile_cases.BY_NAME, argv)
    return chapter.command("profile", arguments, measure_suite, profile_results, arguments.against)


if __name__ == "__main__":
    commandline.run(main, "profile")
