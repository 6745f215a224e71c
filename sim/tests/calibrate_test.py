#!/usr/bin/python3
"""calibrate_test.py - `pfs-sim calibrate` writes a file that `pfs-sim run` takes; refusals.

usage: calibrate_test.py PFS_SIM
No number is judged by its size: the machine may be busy. Exit 77: one CPU only.
"""

import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))
from common.expect import expect, expect_refusal, finish, run, skip


def check_file(path):
    """The file says what it measured, how often, and what it left to the preset."""
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    costs, measured = document["costs"], document["measured"]
    for field in ("load_ns", "store_ns", "rmw_ns", "memory_near_ns", "futex_wake_ns", "fault_ns"):
        expect(costs[field] >= 0 and document["taken_from"][field], field)
    expect(set(costs) == set(document["taken_from"]), "each cost says where it is from")
    expect(not set(costs) & set(document["left_to_preset"]), "measured and left to the preset")
    pairs = [k for k in ("smt", "l3", "node", "package", "remote")
             if document["machine"]["pair_" + k]]
    expect(pairs, "some pair of PUs")
    for kind in pairs:
        expect(kind + "_ns" in costs, f"{kind} has a pair but no cost")
        for name in ("load_modified", "cas_modified", "cas_shared", "ping_pong"):
            expect(measured[f"{kind}_{name}"]["rounds"] >= 3, f"{kind} {name}")
    for kind in {"smt", "l3", "node", "package", "remote"} - set(pairs):
        expect(kind + "_ns" in document["left_to_preset"], f"{kind} is nobody's")
    for name, series in measured.items():
        expect(series["rounds"] + series["rejected"] >= 1, f"{name} was never measured")
        if series["rounds"]:
            expect(0 <= series["least"] <= series["low"] <= series["median"] <= series["high"],
                   f"{name}: {series}")


def main(sim):
    """The test."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        skip("one CPU only")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "costs.json")
        done = run(sim, "calibrate", "--seconds", "0.1", "--out", path)
        expect(done.returncode == 0 and "load_modified" in done.stdout and
               "left" not in done.stderr, f"{done}")
        check_file(path)
        plain = (sim, "run", "--machine", "core:2 pu:1", "--threads", "2", "--policy", "exact",
                 "--workload", "pair", "--ops", "200", "--seed", "1", "--format", "json")
        with_file, with_preset = run(*plain, "--costs", path), run(*plain)
        expect(with_file.returncode == 0 and json.loads(with_file.stdout),
               f"run does not take it: {with_file.stderr}")
        expect(with_preset.returncode == 0 and with_file.stdout != with_preset.stdout,
               "the costs change nothing")
        other = os.path.join(folder, "other.json")
        for arguments in (["--seconds", "0"], ["--seconds", "x"], ["--preset", "none"],
                          ["--nonsense"], ["--out"], ["--out", os.path.join(folder, "no", "f")]):
            expect_refusal(run(sim, "calibrate", *(["--out", other] * (arguments[0] != "--out")),
                               *arguments), str(arguments), "")
        expect_refusal(run("taskset", "-c", str(cpus[0]), sim, "calibrate", "--out", other),
                       "one CPU", "1 CPU")
        expect_refusal(run(sim, "calibrate", "--out", other,
                           env={**os.environ, "HWLOC_SYNTHETIC": "core:2 pu:1"}), "synthetic", "")
        expect(not os.path.exists(other), "a refusal leaves a file")
    finish()


if __name__ == "__main__":
    main(sys.argv[1])
