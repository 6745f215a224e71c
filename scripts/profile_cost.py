#!/usr/bin/python3
"""profile_cost.py - what the heap profile costs: a loop that only allocates, by the interval of
sampling, with frame pointers and without; redis and MariaDB under load; and how far estimates are
off by the number of samples.

usage: scripts/profile_cost.py [--long | --quick] [--out DIR] [--only CASE,CASE] [--rounds N]
The cases of profile_cases.py in rounds, in random order. Writes profile.json (every launch's
numbers) into the result folder and prints tables and bars; scripts/report.py draws the figures in
its chapter "The accounts". Five minutes. Exit 0: every launch succeeded. 1: some failed.
2: bad usage or no build.
"""

import random

from common import commandline
from measuring import chapter, profile_cases
from reporting import profile_results


def plan_of(cases, rounds, seed):
    """The launches in order; errors once, for they are many seeds each time."""
    return chapter.make_plan(cases, {case.group: 1 if case.group == "errors" else rounds
                                     for case in cases}, seed, profile_cases.ways)


def measure_suite(folder, kind, build_dir, seed, rounds=None, only=None):
    """Measure and write profile.json; the document."""
    cases = [case for case in profile_cases.CASES if not only or case.name in only]
    bench = profile_cases.Bench(build_dir, profile_cases.SIZES[kind])
    launches = plan_of(cases, rounds or profile_cases.LAUNCHES[kind], seed)
    source = random.Random(seed + 1)

    def values_of(launch):
        return {"values": profile_cases.measure(bench, profile_cases.BY_NAME[launch["case"]],
                                                launch["way"], source)}
    with chapter.document_in(
            folder, profile_results.Suite.FILE, kind, seed, build_dir, cases={
                case.name: {"group": case.group, "says": case.says, "depth": case.depth}
                for case in cases}, launches=launches) as (document, bench.folder):
        chapter.run_plan("profile", launches, [3] * len(launches),
                         lambda l: chapter.launch(l, lambda: values_of(l)))
    return document


def main(argv=None):
    """The command."""
    parser = chapter.parser_of("scripts/profile_cost.py", "Measure what the heap profile costs, "
                               "and how far its estimates are off.", profile_cases.BY_NAME,
                               "longer slices, more launches")
    arguments = chapter.parse(parser, profile_cases.BY_NAME, argv)
    return chapter.command("profile", arguments, measure_suite, profile_results)


if __name__ == "__main__":
    commandline.run(main, "profile")
