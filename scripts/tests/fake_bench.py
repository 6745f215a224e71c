#!/usr/bin/python3 -S
"""fake_bench.py - answers like pfs-bench with invented numbers, for the tests of the scripts.

PFS_FAKE: fail:POLICY exits with 1 for that policy, garbage writes half a JSON file, slow sleeps
for a second, hang ignores time. PFS_FAKE_DISTURBED: the share of disturbed values.
PFS_FAKE_SLOWER: how many times slower than usual policies are that are no baselines; a file
"slower" beside the program says the same of that program alone. The numbers are a shape to draw,
not a measurement.
"""

import json
import math
import os
import random
import sys
import time
import types

POLICIES = {"original": (60, 0.35), "local_scan": (13, 0.7), "random_start": (17, 1.1),
            "reclaiming": (15, 0.9), "malloc": (10, 1.7), "ck_stack": (21, 0.3),
            "mutex_list": (30, 0.12), "exact": (14, 1.6), "magazine": (4, 1.9)}
BASELINES = ("malloc", "ck_stack", "mutex_list")
GIVES_BACK = ("reclaiming", "exact", "magazine")
FLOOR_NS = 7.9
DISTURBED = float(os.environ.get("PFS_FAKE_DISTURBED", "0"))
SLOWER = float(os.environ.get("PFS_FAKE_SLOWER", "1"))  # of a policy that is not a baseline


def row(name, rate, extra):
    fields = {"name": name, "run_name": name, "run_type": "iteration", "repetitions": 1,
              "repetition_index": 0, "threads": 1, "iterations": 1, "real_time": 6e7,
              "cpu_time": 6e7, "time_unit": "ns", "items_per_second": rate,
              "attempts": 2 if random.random() < 0.2 else 1,
              "disturbed": 1 if random.random() < DISTURBED else 0}
    fields.update(extra)
    return fields


def counts(policy, occupancy, threads, calls):
    if policy in BASELINES:
        return {}
    if policy != "original" or occupancy is None:
        return dict(page_skips=0, record_skips=0, needless_growths=0, growths=0, allocations=calls,
                    flag_skips=0, probes=calls * 2.0, cas_failures=calls * 0.01 * threads)
    heat = threads ** 1.5 * occupancy ** 8
    return dict(page_skips=int(90 * heat), record_skips=int(9000 * heat), flag_skips=int(5 * heat),
                needless_growths=int(4 * heat), growths=int(4 * heat), allocations=calls,
                probes=calls * 60.0, cas_failures=calls * 0.3)


def slower():
    place = os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), "slower")
    if not os.path.exists(place):
        return SLOWER
    with open(place, encoding="ascii") as file:
        return float(file.read())


def measure(workload, policy, occupancy, threads, counted, api="", each=""):
    if workload == "floor":
        return row("floor/threads:1", 1e9 / FLOOR_NS * random.uniform(0.97, 1.03), {})
    ns, scaling = POLICIES[policy]
    cost = {"pair": 1, "churn": 1.6, "handoff": 3, "storm": 6, "tide": 4, "ebb": 2, "scan": 2,
            "replay": 3}.get(workload, 1)
    if occupancy is not None:
        cost *= 1 + (occupancy ** 6) * {"original": 80, "local_scan": 30}.get(policy, 3)
    running = min(threads, os.cpu_count() or 2)
    rate = 1e9 / (ns * cost) * (1 + (running - 1) * (scaling - 0.5) * 0.9)
    rate *= random.uniform(0.94, 1.05) * (0.9 if threads > running else 1)
    rate /= (slower() if policy not in BASELINES else 1) * (1.6 if api else 1)
    each = f"/pages_each:{each}" if each else ""
    rate *= 0.75 if each and threads == 1 else 1  # a live set as large as that of two
    filled = f"/occupancy:{occupancy:g}" if occupancy is not None else ""
    extra = dict(fairness=random.uniform(0.7, 1), ns_p50=ns * cost, ns_p99=ns * cost * 6,
                 ns_p999=ns * cost * 40,
                 ns_max=ns * cost * 9000 * random.uniform(.5, 2), pages_peak=64, pages_ideal=60,
                 overhead_per_record=21.5)
    if workload == "scan":
        extra["rows_per_second"] = 4e7 / ns
    if workload == "tide":
        gives = policy == "reclaiming"
        extra.update(growths=60, reclaimed=58 if gives else 0, pages_trough=6 if gives else 64,
                     pages_prealloc=4)
    if workload == "ebb":
        extra["reclaimed_timed"] = 90
    if counted:
        extra.update(counts(policy, occupancy, threads, int(rate * 0.06)))
    workload += "_redis" if workload == "replay" else ""
    name = (f"{workload}/policy:{policy}{filled}{api}{each}/placement:compact/threads:{threads}/"
            "manual_time")
    return row(name, rate, extra)


def measure_size(workload, policy, threads, size, memory, timed, counted):
    """fill and refuse: scans cost more the more there is, and one does not end in its time."""
    scans = policy in ("original", "local_scan", "random_start", "reclaiming")
    ns = POLICIES[policy][0] * random.uniform(0.95, 1.05) * (size / 64 if scans else 1)
    ns *= 1 if memory else 1.8
    pages = size if workload == "refuse" else size // 256
    extra = {"records": size, "pages_peak": pages, "pages_ideal": pages, "excess_pages": 0,
             "overhead_per_record": 21.5}
    if workload == "fill":
        late = policy == "random_start" and size > 1 << 17
        extra.update(finished=int(not late), filled=size // 3 if late else size, growths=pages)
    if counted:
        extra.update(counts(policy, None, threads, size))
    if timed:
        extra.update(ns_p50=ns, ns_p99=ns * 3, ns_p999=ns * 20, ns_max=ns * 900 * threads)
    name = (f"{workload}/policy:{policy}/records:{size}{memory}/placement:compact/"
            f"threads:{threads}/manual_time")
    return row(name, 1e9 / ns, extra)


def tide_line(name, policy):
    points, peak = [], 4
    for step in range(121):
        phase = step / 60 % 1
        live = 6000 * max(0.0, min(1.0, 2.2 * math.sin(math.pi * phase)) if phase < 0.8 else 0.02)
        ideal = max(4, math.ceil(live / 100))
        peak = max(peak, int(ideal * (1.35 if policy == "original" else 1.02)))
        pages = ideal + 2 if policy == "reclaiming" else peak
        points.append({"benchmark": name, "t_ms": step * 5.0, "live": int(live), "pages": pages,
                       "ideal": ideal, "resident_bytes": pages * 65536})
    return points


def given():
    """The options by name, "" where one is not given: argparse takes longer than all else here."""
    names = ("policies", "workloads", "occupancies", "threads", "series", "benchmark_out", "apis",
             "pages_each", "records", "page_memory", "latency_ms")
    found = dict.fromkeys((*names, "list_policies", "list_workloads", "list_traits"), "")
    words = [word.removeprefix("--") for word in sys.argv[1:]]
    for place, word in enumerate(words):
        name, sign, value = word.partition("=")
        name = name.replace("-", "_")
        if name.startswith("list_"):
            found[name] = "yes"
        elif name in found:
            found[name] = value if sign else words[place + 1]
    return types.SimpleNamespace(**found)


def main():
    if "--help" in sys.argv:
        print("usage: pfs-bench with invented numbers; see fake_bench.py")
        return 0
    arguments = given()
    if arguments.list_policies:
        names = POLICIES
        place = os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), "policies")
        if os.path.exists(place):
            with open(place, encoding="ascii") as file:
                names = file.read().split()
        print("\n".join(f"{p:14} {'baseline: ' if p in BASELINES else ''}invented numbers"
                        for p in names))
        return 0
    if arguments.list_traits:
        print("\n".join(p + (" index" if p != "malloc" else "")
                        + (" reclaim" if p in GIVES_BACK else "")
                        + (" exact" if p in ("exact", "magazine", "mutex_list") else "")
                        + (" grow" if p != "ck_stack" else "")
                        + (" bounded" if p != "malloc" else "") for p in POLICIES))
        return 0
    if arguments.list_workloads:
        print("\n".join(f"{w:14} invented" for w in ("pair", "churn", "handoff")))
        return 0
    fault = os.environ.get("PFS_FAKE", "")
    if fault == "slow":
        time.sleep(1)
    if fault.startswith("fail:") and arguments.policies == fault[5:]:
        print("pfs-bench: out of luck", file=sys.stderr)
        return 1
    if arguments.workloads == "tide" and arguments.policies in BASELINES:
        print("pfs-bench: nothing to run: no pages", file=sys.stderr)
        return 2
    # The same launch draws the same numbers, so that no verdict of a test is a matter of luck.
    random.seed("/".join(arguments.benchmark_out.split("/")[-2:]))
    counted = "/counted/" in os.path.abspath(sys.argv[0])
    rows, series = [], []
    for workload in arguments.workloads.split(","):
        for threads in [int(t) for t in arguments.threads.split(",")]:
            if workload in ("fill", "refuse"):
                rows += [measure_size(workload, arguments.policies, threads, int(size), memory,
                                      arguments.latency_ms != "0", counted)
                         for size in arguments.records.split(",")
                         for memory in (("/memory:touched",) if arguments.page_memory else ("",))]
                continue
            fills = [float(o) for o in arguments.occupancies.split(",") if o] or [None]
            for occupancy in fills if workload in ("churn", "scan") else [None]:
                rows.append(measure(workload, arguments.policies, occupancy, threads, counted,
                                    "/api:public" if arguments.apis == "public" else "",
                                    arguments.pages_each))
                if workload == "tide":
                    series += tide_line(rows[-1]["name"], arguments.policies)
    text = json.dumps({"context": {"counted": str(counted).lower(), "num_cpus": os.cpu_count(),
                                   "timer_cost_ns": "20.0", "timer_step_ns": "10.0"},
                       "benchmarks": rows})
    with open(arguments.benchmark_out, "w", encoding="utf-8") as file:
        file.write(text[:len(text) // 2] if fault == "garbage" else text)
    if arguments.series:
        with open(arguments.series, "w", encoding="utf-8") as file:
            json.dump(series, file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
