#!/usr/bin/python3
"""wrong.py - wrong input to every command: one line on stderr that names the word, the right
status, and no file.

usage: wrong.py BUILD [--list]
BUILD is the build folder. Each command runs in an empty folder of its own; what it leaves there is
a fault, and so is a signal. What is not built in BUILD is named, and left out. Exit 0: all as
expected. 1: not.
"""

import concurrent.futures
import os
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FULL = ">/dev/full"  # as the last word: standard output is a full disk
HUGE = str(2**62)
LIMIT_S = 60

# Where each program is in the build folder; scripts are in the sources.
PROGRAMS = {
    "pfs-bench": "bench", "pfs-count-calls": "bench", "pfs-malloc-load": "memory/bench/malloc",
    "pfs-malloc-run": "memory/bench/malloc", "pfs-malloc-count": "memory/bench/malloc",
    "pfs-accounts-cost": "memory/bench/accounts", "pfs-accounts-footprint": "memory/bench/accounts",
    "pfs-accounts-reader": "memory/bench/accounts",
    "pfs-accounts-preloaded": "memory/bench/accounts",
    "pfs-sim": "sim", "pfs-calibrate": "sim", "pfs-litmus": "check",
    "malloc_search": "memory/search", "accounts_search": "memory/search",
    "profile_search": "memory/search", "owners_search": "memory/search",
    "malloc_timed": "memory/search",
    "pfs-check": "check", "pfs-stress": "stress", "pfs-trace": "recorder", "pfs-mem": "memory"}
MACHINE = ("--machine", "core:2 pu:1", "--policy", "exact")
EXPLORE = ("pfs-sim", "explore", "--policy", "exact", "--scenario", "churn")

# Command, status, a word that its one line has.
TABLE = (
    # Names and values.
    (("pfs-bench", "--window-sm=5"), 2, "--window-sm"),
    (("pfs-bench", "--page"), 2, "--page-"),
    (("pfs-bench", "--pages", "many"), 2, "'many'"),
    (("pfs-bench", "--full-flags=maybe"), 2, "'maybe'"),
    (("pfs-bench", "--layout", "round"), 2, "'round'"),
    (("pfs-bench", "--list-policies=yes"), 2, "--list-policies=yes"),
    (("pfs-bench", "--policies=exact,nonesuch"), 2, "'nonesuch'"),
    (("pfs-bench", "--benchmark_filter=zzz"), 2, "'zzz'"),
    (("pfs-bench", "--benchmark_format=xml"), 2, "'xml'"),
    (("pfs-bench", "--trace", "nowhere.pfstrace", "--workloads=replay"), 2, "nowhere.pfstrace"),
    (("pfs-bench", "surplus"), 2, "'surplus'"),
    (("pfs-bench", "--peer", "a/b"), 2, "'a/b'"),
    (("pfs-sim",), 2, "--help"),
    (("pfs-sim", "explor"), 2, "explore"),
    (("pfs-sim", "explore", "--policy", "exact"), 2, "--scenario"),
    ((*EXPLORE, "--memory", "weak"), 2, "'weak'"),
    ((*EXPLORE, "--search=luck"), 2, "'luck'"),
    ((*EXPLORE, "--quiet=1"), 2, "--quiet"),
    (("pfs-sim", "check", "--memory"), 2, "--memory"),
    (("pfs-sim", "replay", "nowhere.schedule"), 2, "nowhere.schedule"),
    (("pfs-litmus", "nonesuch"), 2, "'nonesuch'"),
    (("pfs-sim", "list", "more"), 2, "'more'"),
    (("pfs-sim", "progress", "--executions=0"), 2, "'0'"),
    (("pfs-sim", "soak", "--policies", "malloc"), 2, "'malloc'"),
    (("pfs-sim", "weaken", "--executions=x"), 2, "'x'"),
    (("pfs-sim", "curves", "--fast"), 2, "--fast"),
    (("pfs-sim", "calibrate", "--preset", "abacus"), 2, "'abacus'"),
    (("pfs-sim", "run", *MACHINE, "--threads=2", "--workload", "rest"), 2, "'rest'"),
    (("pfs-sim", "run", *MACHINE, "--threads=2", "--costs", "nowhere.json"), 2, "nowhere.json"),
    (("pfs-sim", "run", "--threads=2", "--machine", "core:x", "--policy=exact"), 2, "core:x"),
    (("malloc_search", "explore", "--scenario", "nonesuch"), 2, "'nonesuch'"),
    (("accounts_search", "explore", "--jobs=0"), 2, "'0'"),
    (("profile_search", "wander"), 2, "'wander'"),
    (("owners_search", "explore", "--memory=weak"), 2, "'weak'"),
    (("malloc_timed", "--load", "nonesuch"), 2, "'nonesuch'"),
    (("pfs-check", "--looks", "often"), 2, "'often'"),
    (("pfs-check", "nowhere.so"), 2, "nowhere.so"),
    (("pfs-check",), 2, "--example"),
    (("pfs-check", "nowhere.c", "--", "-O2"), 2, "nowhere.c"),
    (("pfs-check", "--example", FULL), 1, "standard output"),
    (("pfs-check", "--help", FULL), 1, "standard output"),
    (("pfs-stress", "--faults", "memory,rain"), 2, "'rain'"),
    (("pfs-stress", "--seconds", "1e9"), 2, "'1e9'"),
    (("pfs-trace", "inof", "x"), 2, "info"),
    (("pfs-trace", "cut", "nowhere", "new", "--sizes=9-1"), 2, "'9-1'"),
    (("pfs-trace", "cut", "nowhere", "new"), 2, "nowhere"),
    (("pfs-mem", "tpo"), 2, "top"),
    (("pfs-mem", "top", "last", "--by", "moon"), 2, "'moon'"),
    (("pfs-mem", "run", "--tick-ms", "often", "--", "true"), 2, "'often'"),
    (("pfs-mem", "run", "--", "nonesuch-command"), 127, "nonesuch-command"),
    (("pfs-mem", "check", "nowhere.box"), 1, "nowhere.box"),
    (("pfs-mem", "report", "--out"), 2, "--out"),
    (("pfs-mem", "serve", "--http", "127.0.0.1:99999"), 1, "127.0.0.1:99999"),
    (("pfs-count-calls", "exact", "public", "pairs", "7"), 2, "'pairs'"),
    (("pfs-malloc-load", "nonesuch"), 2, "'nonesuch'"),
    (("pfs-malloc-run", "--sample-ms=0", "true"), 2, "'0'"),
    (("pfs-malloc-count", "nonesuch"), 2, "'nonesuch'"),
    (("pfs-accounts-cost", "--ways=all"), 2, "'all'"),
    (("pfs-accounts-footprint", "--instruments", "-1"), 2, "'-1'"),
    (("pfs-accounts-reader", "--writers"), 2, "--writers"),
    (("pfs-accounts-preloaded", "strange"), 2, "'strange'"),
    # Sizes that no machine has.
    (("pfs-bench", "--threads=1000000000"), 2, "'1000000000'"),
    (("pfs-bench", "--records", HUGE, "--workloads=fill"), 2, HUGE),
    (("pfs-bench", "--pages=262144", "--page-records=65536", "--workloads=pair"), 2, "GiB"),
    (("pfs-sim", "run", *MACHINE, "--threads", "1000000000"), 2, "'1000000000'"),
    (("pfs-sim", "run", *MACHINE, "--threads=2", "--pages=262144", "--page-records=65536"), 2,
     "GiB"),
    (("pfs-stress", "--threads=1000000000"), 2, "'1000000000'"),
    (("pfs-malloc-load", "pair", "--threads", HUGE), 2, HUGE),
    (("pfs-mem", "run", "--instruments", str(2**60), "--", "true"), 2, str(2**60)),
    # Full disks.
    (("pfs-bench", "--list-workloads", FULL), 1, "standard output"),
    (("pfs-sim", "list", FULL), 1, "standard output"),
    (("pfs-sim", "--help", FULL), 1, "standard output"),
    (("pfs-stress", "--list-policies", FULL), 1, "standard output"),
    (("pfs-trace", "--version", FULL), 1, "standard output"),
    (("pfs-mem", "--help", FULL), 1, "standard output"),
    (("pfs-count-calls", "--help", FULL), 1, "standard output"),
    (("pfs-bench", "--workloads=floor", "--threads=1", "--window-ms=1", "--benchmark_out=/dev/full",
      "--benchmark_format=json"), 1, "/dev/full"),
    (("pfs-bench", "--workloads=floor", "--threads=1", "--window-ms=1",
      "--benchmark_format=json", FULL), 1, "standard output"),
    (("pfs-bench", "--benchmark_out=new.json", "--benchmark_filter=zzz"), 2, "'zzz'"),
    (("pfs-bench", "--series=new.json", "--trace=nowhere", "--workloads=replay"), 2, "nowhere"),
    (("pfs-bench", "--series", "nowhere/series.json", "--workloads=floor"), 2,
     "nowhere/series.json"),
    (("pfs-sim", "run", *MACHINE, "--threads=2", "--workload=tide", "--window-us=200",
      "--series=/dev/full"), 1, "/dev/full"),
    (("pfs-sim", "calibrate", "--out", "nowhere/costs.json"), 2, "nowhere/costs.json"),
    (("pfs-sim", "soak", "--runs=1", "--out=nowhere/runs.json"), 2, "nowhere/runs.json"),
    # Scripts.
    (("scripts/run", "--repetitions", "0"), 2, "'0'"),
    (("scripts/run", "--out", "/dev/null/x"), 2, "/dev/null/x"),
    (("scripts/run", "--resume", "nowhere"), 2, "nowhere"),
    (("scripts/run", "--resume", "nowhere", "--seed=3"), 2, "--seed"),
    (("scripts/test", "--frobnicate"), 2, "--frobnicate"),
    (("scripts/report.py", "nowhere"), 2, "nowhere"),
    (("scripts/plot.py", "nowhere", "--figure", "floor"), 2, "nowhere"),
    (("scripts/compare.py", "nowhere", "nowhere"), 2, "nowhere"),
    (("scripts/experiments.py", "--size", "vast"), 2, "'vast'"),
    (("scripts/allocators.py", "--only", "nonesuch"), 2, "'nonesuch'"),
    (("scripts/accounts.py", "--rounds", "-3"), 2, "'-3'"),
    (("scripts/model.py", "--frobnicate"), 2, "--frobnicate"),
    (("recorder/record-traces", "oracle"), 2, "'oracle'"),
)


def find(build, name):
    """The path of a command; None: it is not built."""
    if "/" in name:
        return os.path.join(TOP, name)
    path = os.path.join(build, PROGRAMS[name], name)
    return path if os.path.exists(path) else None


def run(build, command):
    """(status, stderr, what is left in its folder)"""
    words = [word for word in command[1:] if word != FULL]
    with tempfile.TemporaryDirectory(prefix="pfslab-wrong-") as folder:
        boxes = os.path.join(folder, "boxes")
        work = os.path.join(folder, "work")
        os.mkdir(boxes, 0o700)
        os.mkdir(work)
        environment = {**os.environ, "PFS_MEM_DIR": boxes, "LC_ALL": "C", "COLUMNS": "80"}
        with open("/dev/full" if FULL in command else "/dev/null", "w", encoding="utf-8") as out:
            done = subprocess.run([find(build, command[0]), *words], cwd=work, stdout=out,
                                  stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                  env=environment, timeout=LIMIT_S, check=False)
        return done.returncode, done.stderr, os.listdir(work) + os.listdir(boxes)


def fault(build, row):
    """What is wrong with the answer to a row of the table; None: nothing."""
    command, wanted, word = row
    try:
        status, said, left = run(build, command)
    except subprocess.TimeoutExpired:
        return f"no end in {LIMIT_S} s"
    if status != wanted:
        return f"status {status}, {wanted} expected: {said!r}"
    if len(said.splitlines()) != 1 or not said.endswith("\n"):
        return f"not one line: {said!r}"
    if word not in said:
        return f"'{word}' is not in {said!r}"
    return f"left {', '.join(left)}" if left else None


def main():
    """Give them all, several at a time."""
    build = os.path.abspath(sys.argv[1])
    rows = [row for row in TABLE if find(build, row[0][0])]
    for name in sorted({row[0][0] for row in TABLE if row not in rows}):
        print(f"left out, not built: {name}")
    if "--list" in sys.argv:
        for command, status, word in rows:
            print(status, word, " ".join(command))
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(2 * (os.cpu_count() or 1)) as pool:
        for row, found in zip(rows, pool.map(lambda row: fault(build, row), rows)):
            if found:
                bad += 1
                print(f"wrong.py: {' '.join(row[0])}: {found}", file=sys.stderr)
    print(f"{len(rows)} wrong inputs, {bad} answered otherwise")
    return 1 if bad or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
