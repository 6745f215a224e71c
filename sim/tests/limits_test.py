#!/usr/bin/python3
"""limits_test.py - the simulator at the edges of what it accepts, and beyond them.

usage: limits_test.py PFS_SIM wide | wrong | same
wide: as many threads and operations as a scenario takes, and no policy is blamed for it, nor
praised where no execution came to its end; wrong: input that cannot be simulated gets
one line; same: the same bytes, whatever allocator is below.
Exit 0: all held. 1: not.
"""

import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))
from common.expect import expect, expect_refusal, finish, part_of, run

WIDE = (  # policy, scenario, threads, operations, search, executions
    ("exact", "section", 8, 8, "random", 100),
    ("mutex_list", "growth", 8, 8, "random", 20),
    ("exact", "token", 4, 8, "random", 10),
)
ENDLESS = ["explore", "--policy", "mutex_list", "--scenario", "token", "--threads", "8",
           "--operations", "8", "--memory", "tso", "--search", "random", "--executions", "2"]


def call(arguments, **environment):
    return run(sys.argv[1], *arguments, env={**os.environ, **environment})


def wide():
    for policy, scenario, threads, operations, search, executions in WIDE:
        done = call(["explore", "--policy", policy, "--scenario", scenario, "--threads",
                     str(threads), "--operations", str(operations), "--search", search,
                     "--executions", str(executions), "--quiet"])
        expect(done.returncode == 0, f"{policy} {scenario}: exit {done.returncode}: {done.stdout}")
    done = call(ENDLESS)
    expect(done.returncode == 1, f"nothing was checked: exit {done.returncode}: {done.stdout}")
    expect("2 incomplete" in done.stdout and "no violation" not in done.stdout, done.stdout)
    expect(len(done.stderr.splitlines()) == 1 and "lower --threads" in done.stderr, done.stderr)


def one_line():
    """What was given is quoted, and the line stays one."""
    good = ["run", "--machine", "core:2 pu:1", "--threads", "2", "--policy", "exact"]
    for arguments in (["explore", "--policy", "a\nb", "--scenario", "token"], ["explore", "a\nb"],
                      ["replay", "a\nb"], ["explore", "--policy", "exact", "--scenario", "a\nb"],
                      ["explore", "--threads", "a\nb"], ["progress", "--memory", "a\nb"],
                      ["curves", "a\nb"], ["speed", "a\nb"], ["weaken", "a\nb"],
                      ["run", "a\nb"], good + ["--pages=a\nb"], good + ["--layout=a\nb"],
                      good + ["--machine", "a\nb"], good + ["--costs", "/a\nb"],
                      good + ["--workload", "replay", "--trace", "/a\nb"],
                      good + ["--workload", "tide", "--series", "/no/a\nb"]):
        expect_refusal(call(arguments), str(arguments), "a?b")


def wrong():
    one_line()
    good = ["run", "--machine", "numa:2 core:2 pu:1", "--policy", "exact", "--threads"]
    for arguments, word in (
            (["2", "--memory=node:2"], "node:2"),
            (["2", "--memory=node:4294967294"], "node:4294967294"),
            (["1024", "--workload", "tide"], "--threads 1024"),
            (["1024", "--reclaim-period-ms=1"], "--threads 1024"),
            (["2", "--pages=4097", "--workload", "ebb"], "--pages 4097"),
            (["5", "--pages=1", "--page-records=1"], "--threads 5, --pages 1, --page-records 1"),
            (["9", "--pages=2", "--page-records=1", "--workload", "scan", "--seeds", "8"],
             "raise --pages"),
            (["2", "--workload", "churn", "--series=f.json"], "--series f.json"),
            (["2", "--workload", "tide", "--seeds=2", "--series=f.json"], "--series f.json")):
        done = call(good + arguments)
        expect_refusal(done, " ".join(arguments), word)
        expect(done.stdout == "", f"{' '.join(arguments)}: something on stdout")
    with tempfile.TemporaryDirectory() as folder:
        endless = os.path.join(folder, "endless")
        os.mkfifo(endless)
        file = os.open(endless, os.O_RDWR)  # never closed before the other end is
        os.write(file, bytes(65536))
        for option, kind in (("--trace", ["--workload", "replay"]), ("--machine", [])):
            expect_refusal(call(good + ["2"] + kind + [option, endless]), option, "endless")
        os.close(file)


# What an allocator of the host may do differently.
ALLOCATORS = ({}, {"GLIBC_TUNABLES": "glibc.malloc.mmap_threshold=4096"},
              {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}, {"MALLOC_PERTURB_": "165"},
              {"LD_PRELOAD": "libjemalloc.so.2"}, {"LD_PRELOAD": "libmimalloc.so.2.0"})


def same():
    costs = {"slice_ns": 200000, "jitter": 0.5, "switch_ns": 0, "map_ns": 0, "barrier_ns": 0}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(costs, file)
        file.flush()
        trace = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "results",
                             "traces", "sqlite3.pfstrace")
        for more in (["--policy", "exact", "--workload", "storm", "--costs", file.name],
                     ["--policy", "magazine", "--workload", "tide", "--window-us=200"],
                     ["--policy", "reclaiming", "--workload", "replay", "--trace", trace]):
            # jansson orders what it frees by a seed of its own, another one each time.
            done = [call(["run", "--machine", "core:21 pu:2", "--threads", "42", "--ops", "1000",
                          *more], **environment) for environment in 2 * ALLOCATORS]
            expect(done[0].returncode == 0, f"exit {done[0].returncode}: {done[0].stderr}")
            for one, environment in zip(done, 2 * ALLOCATORS):
                expect((one.returncode, one.stdout) == (0, done[0].stdout),
                       f"{more} with {environment}: exit {one.returncode}, {one.stderr}"
                       f"{one.stdout} and not {done[0].stdout}")


if __name__ == "__main__":
    part_of({"wide": wide, "wrong": wrong, "same": same})()
    finish()
