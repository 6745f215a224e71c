#!/usr/bin/python3
"""calibrate_test.py - `pfs-sim calibrate` writes a file that `pfs-sim run` takes; refusals.

usage: calibrate_test.py PFS_SIM
No number is judged by its size: the machine may be busy. Exit 77: one CPU only.
"""

import json
import os
import subprocess
import sys
import tempfile


def call(*command, **more):
    """(exit code, stdout, stderr)"""
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False, **more)
    return done.returncode, done.stdout, done.stderr


def expect(condition, *what):
    """A failure ends the test."""
    if not condition:
        sys.exit("FAILED: " + " ".join(str(w) for w in what))


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
        expect(kind + "_ns" in costs, kind, "has a pair but no cost")
        for name in ("load_modified", "cas_modified", "cas_shared", "ping_pong"):
            expect(measured[f"{kind}_{name}"]["rounds"] >= 3, kind, name)
    for kind in {"smt", "l3", "node", "package", "remote"} - set(pairs):
        expect(kind + "_ns" in document["left_to_preset"], kind, "is nobody's")
    for name, series in measured.items():
        expect(series["rounds"] + series["rejected"] >= 1, name, "was never measured")
        if series["rounds"]:
            expect(0 <= series["least"] <= series["low"] <= series["median"] <= series["high"],
                   name, series)


def main(sim):
    """The test."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        return 77
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "costs.json")
        code, text, errors = call(sim, "calibrate", "--seconds", "0.1", "--out", path)
        expect(code == 0, code, errors)
        expect("load_modified" in text and "left" not in errors, text)
        check_file(path)
        run = (sim, "run", "--machine", "core:2 pu:1", "--threads", "2", "--policy", "exact",
               "--workload", "pair", "--ops", "200", "--seed", "1", "--format", "json")
        code, with_file, errors = call(*run, "--costs", path)
        expect(code == 0 and json.loads(with_file), "run does not take it:", errors)
        code, with_preset, errors = call(*run)
        expect(code == 0 and with_file != with_preset, "the costs change nothing")
        other = os.path.join(folder, "other.json")
        for arguments in (["--seconds", "0"], ["--seconds", "x"], ["--preset", "none"],
                          ["--nonsense"], ["--out"], ["--out", os.path.join(folder, "no", "f")]):
            code, _, errors = call(sim, "calibrate", *(["--out", other] * (
                arguments[0] != "--out")), *arguments)
            expect(code == 2 and len(errors.splitlines()) == 1, arguments, code, errors)
        code, _, errors = call("taskset", "-c", str(cpus[0]), sim, "calibrate", "--out", other)
        expect(code == 2 and len(errors.splitlines()) == 1 and "1 CPU" in errors, code, errors)
        code, _, errors = call(sim, "calibrate", "--out", other,
                               env={**os.environ, "HWLOC_SYNTHETIC": "core:2 pu:1"})
        expect(code == 2 and len(errors.splitlines()) == 1, code, errors)
        expect(not os.path.exists(other), "a refusal leaves a file")
    print("calibrate: all passed")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
