#!/usr/bin/python3 -S
"""fake_sim.py - answers like pfs-sim run and explore with invented numbers, for the tests of the
scripts. PFS_FAKE_EXTRA names one more policy, which is strict. PFS_FAKE_LOG names a file that
gets a line for each start. PFS_FAKE: slow sleeps a while, fail:POLICY exits with 2 for that
policy, cut prints half a document and succeeds.
"""

import json
import math
import os
import re
import sys
import time
import types

SPEED = {"original": 4e6, "local_scan": 9e6, "random_start": 3e7, "exact": 4e8, "magazine": 5e8,
         "reclaiming": 2e7}
PARTS = 40
EXTRA = os.environ.get("PFS_FAKE_EXTRA", "").split()


def run(given):
    threads, policy = given.threads, given.policy
    skipping = policy == "original"
    strict = policy in ("local_scan", "random_start", "reclaiming", *EXTRA)
    heat = (threads - 1) * max(given.occupancy, 0.1) ** 8
    calls = given.ops = given.ops or 2000
    extra = int(heat / 12) + min(threads - 1, 9) if skipping else int(heat / 200) if strict else 0
    rate = SPEED.get(policy, 1e7) * (1 if policy in ("original", "local_scan") else threads ** 0.9)
    skips = {"page_skips": int(heat * 10), "record_skips": int(heat * 900) + 3 * 256,
             "flag_skips": 3, "false_full": int(heat)}
    shares = [4 if k < PARTS // 4 else 1 for k in range(PARTS)]  # faster at first
    ends = [int(1e9 * calls / PARTS / rate * sum(1 / s for s in shares[:k + 1])) + k
            for k in range(PARTS)]
    parts = {"allocations": [calls * (k + 1) // PARTS for k in range(PARTS)], "ns": ends,
             "pages": [64 + extra * (k + 1) // PARTS for k in range(PARTS)],
             "record_skips": [0] * PARTS}
    return {"simulated": True, "machine": given.machine, "costs": given.costs or "default",
            "machine_pus": math.prod(int(n) for n in re.findall(r":(\d+)", given.machine)),
            "policy": policy, "workload": given.workload, "threads": threads,
            "traits": "grow" if skipping else "grow strict" if strict else "grow exact",
            "page_records": int(given.page_records or 256), "ops_wanted": given.ops,
            "warm_up_wanted": given.ops // 5, "parts": parts,
            **({"occupancy": given.occupancy} if given.workload in ("churn", "scan") else {}),
            "seed": given.seed, "window_ns": int(1e9 * calls / rate), "allocations": calls,
            "items_per_second": rate * (1 + given.seed / 50),
            **(skips if skipping else dict.fromkeys(skips, 0)),
            "growths": extra, "needless_growths": extra, "pages_peak": 64 + extra,
            "pages_end": 64 + extra, "pages_ideal": 64, "excess_pages": extra,
            "probes": 12.5 if strict or skipping else 1.1,
            "cas_failures": 0.01 * threads if policy == "local_scan" else 0.01, "remote": 0.8,
            "lost": 0, "ops": calls, "pass_us": 2, "ns_p50": 50, "ns_p99": 900, "ns_p999": 4000,
            "ns_max": 90000}


def day(given):
    """Records come until noon and go until midnight; who reclaims lets pages go with them."""
    points, gives = [], given.policy in ("reclaiming", "exact", "magazine")
    for hour in range(25):
        ideal = 4 + 5 * min(hour, 24 - hour)
        held = max(ideal + given.seed, points[-1]["pages"] if points and not gives else 0)
        points.append({"benchmark": "day", "run": 0, "t_ms": 10 * hour, "live": 256 * ideal,
                       "pages": held, "ideal": ideal, "resident_bytes": held << 14})
    return points


def explore(given):
    found = given.policy == "original"
    print(f"{given.policy} {given.scenario} sc exhaustive: 10 executions: "
          + ("FAILED" if found else "no violation"))
    if found:
        print(" step | T0\n    0 | load page_limit = 4")
    return 1 if found else 0


def main():
    if sys.argv[1:] == ["list"]:
        print("policies:", *(f"  {p:14} of the tests" for p in [*SPEED, *EXTRA]), sep="\n")
        print("scenarios:\n  churn          of the tests")
        return 0
    found = dict.fromkeys(("machine", "costs", "policy", "workload", "scenario",
                           "page_records", "series"), "")
    found.update(threads=0, ops=0, seed=0, occupancy=0.9, command=sys.argv[1])
    words = iter(sys.argv[2:])
    for word in words:
        name, sign, value = word.removeprefix("--").partition("=")
        name, value = name.replace("-", "_"), value if sign else next(words)
        found[name] = type(found.get(name, ""))(value)
    given = types.SimpleNamespace(**found)
    fault = os.environ.get("PFS_FAKE", "")
    if "PFS_FAKE_LOG" in os.environ:
        with open(os.environ["PFS_FAKE_LOG"], "a", encoding="utf-8") as file:
            file.write(" ".join(sys.argv[1:]) + "\n")
    if fault == "slow":
        time.sleep(0.4)
    if fault == "fail:" + given.policy:
        print("pfs-sim: out of luck", file=sys.stderr)
        return 2
    if given.command == "explore":
        return explore(given)
    if given.series:
        with open(given.series, "w", encoding="utf-8") as file:
            json.dump(day(given), file)
    text = json.dumps(run(given))
    print(text[:len(text) // 2] if fault == "cut" else text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
