#!/usr/bin/python3
"""soak_test.py - `pfs-sim soak`: exact policies hold, others are found, and how it says so.

usage: soak_test.py PFS_SIM exact | finds | repeat | wrong
exact: policies that promise it have 0 of everything, and met growth, refusals and passes; finds: a
policy that promises nothing is found, and the line that is printed does the same again; repeat:
the same runs, however many processes; wrong: bad arguments.
Exit 0: all held. 1: not.
"""

import json
import os
import shlex
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))
from common.expect import expect, expect_refusal, finish, parse, part_of, run

BARS = ("needless_growths", "false_full", "refused_early", "grown_early")
# Few and small: seeds whose runs end soon.
EXACT = ["--runs", "60", "--seed", "3", "--seconds", "250"]
FEW = ["--policies", "original,random_start", "--runs", "24", "--seed", "5", "--seconds", "4"]


def call(words):
    return run(sys.argv[1], *words)


def soak(words):
    """(exit code, what it printed, a record for each run)."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "runs")
        done = call(["soak", "--out", out] + words)
        with open(out, encoding="utf-8") as file:
            runs = [parse(line) for line in file]
    return done.returncode, done.stdout, sorted(runs, key=lambda run: run["run"])


def exact():
    code, text, runs = soak(EXACT)
    expect(code == 0, f"exit {code}: {text}")
    expect(len(runs) == 60, f"{len(runs)} runs")
    for one in runs:
        for bar in BARS:
            expect(one.get(bar) == 0, f"{one['line']}: {bar} {one.get(bar)}")
    for met in ("growths", "lost", "reclaimed", "preemptions"):
        expect(any(run[met] or 0 for run in runs), f"no run met {met}")
    expect(text.splitlines()[-1].startswith("60 runs of seed 3, 0 failed"), text)


def finds():
    code, text, runs = soak(FEW)
    expect(code == 1, f"exit {code}: {text}")
    found = [run for run in runs if run["fault"]]
    for bar in ("needless_growths", "grown_early"):
        expect(any(run.get(bar) for run in runs), f"no run has {bar}")
    counted = [run for run in found if "needless_growths" in (run["fault"] or "")]
    expect(counted, "no fault names needless_growths")
    for one in counted[:1]:
        expect(f"pfs-sim {one['line']}\n" in text, f"not printed: {one['line']}")
        again = call(shlex.split(one["line"]) + ["--format", "json"])
        expect(again.returncode == 0, again.stderr)
        for bar in BARS:
            expect(json.loads(again.stdout).get(bar) == one[bar], f"{one['line']}: {bar}")


def repeat():
    short = ["--runs", "8", "--seed", "4"]
    one, many = soak(short + ["--jobs", "1"]), soak(short + ["--jobs", "5"])
    expect(one[2] == many[2], "other runs by more processes")
    expect(one[1].splitlines()[-1] == many[1].splitlines()[-1], "another last line")
    part = soak(["--runs", "3", "--seed", "4", "--first", "5"])
    expect(part[2] == one[2][5:], "--first")
    other = soak(["--runs", "8", "--seed", "6"])
    expect([r["line"] for r in other[2]] != [r["line"] for r in one[2]], "--seed has no effect")


def wrong():
    for words, word in ((["--runs", "0"], "'0'"), (["--runs", "x"], "'x'"), (["--runs"], "--runs"),
                        (["--jobs", "0"], "'0'"), (["--seconds", "0"], "'0'"),
                        (["--policies", "nosuch"], "nosuch"), (["--policies", ""], "--policies"),
                        (["--policies", "malloc"], "malloc"), (["--nosuch", "1"], "--nosuch"),
                        (["--trace", "/no/such"], "/no/such"),
                        (["--out", "/no/such/file"], "/no/such/file")):
        expect_refusal(call(["soak"] + words), " ".join(words), word)


if __name__ == "__main__":
    part_of({"exact": exact, "finds": finds, "repeat": repeat, "wrong": wrong})()
    finish()
