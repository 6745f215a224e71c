#!/usr/bin/python3
"""run_test.py - runs `pfs-sim run` on small machines and checks what it writes.

usage: run_test.py PFS_SIM matrix | repeat | large | barriers | idle | claims | scales | wrong
matrix: every workload with every policy; repeat: same arguments, same bytes, and seeds; large:
1,024 threads, and more threads than PUs; barriers: a thread that calls for them in a loop; idle:
one that has nothing to do; claims: what policies promise; scales: how exact does with 256
threads; wrong: bad arguments.
Exit 0: all held. 1: not.
"""

import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))
from common.expect import expect, expect_refusal, faults, finish, parse, part_of
from common.expect import run as execute

UNSEEN = ("ck_stack", "malloc")  # the machine does not see into them
SCALE = ("exact", "magazine")
TRACE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "results", "traces",
                     "sqlite3.pfstrace")
PLAN = ("machine machine_pus machine_nodes costs workload policy threads placement pages "
        "page_records layout memory seed").split()
COUNTED = ("page_skips record_skips flag_skips false_full needless_growths live_peak "
           "allocations").split()
PER_CALL = "probes cas_failures remote".split()  # of calls that got a record
PAGES = ("lost pages_peak pages_end growths resident_bytes occupancy_end overhead_bytes "
         "overhead_per_record").split()
TIMES = "items_per_second ops window_ns".split()
LATENCIES = "ns_p50 ns_max ns_samples".split()
UNTIMED = ("exchange",)  # allocates by pfs_allocate_many only
MACHINE = ("accesses atomics hits transfers_core transfers_l3 transfers_node transfers_remote "
           "memory_near memory_far queue_ns preemptions").split()
SMALL = ["--machine", "numa:2 core:2 pu:1", "--pages=4", "--page-records=32", "--ops=600",
         "--window-us=300", "--format", "json"]


def listed(flag, word):
    """{name: its traits} of the policies or workloads that have the trait `word`."""
    done = execute(sys.argv[1], "list", flag)
    found = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines()}
    return {name: traits for name, traits in found.items() if word in traits}


# All that the machine simulates, of whatever variants.def and workloads.def name.
POLICIES = listed("--traits", "index") if len(sys.argv) > 1 else {}
WORKLOADS = listed("--workloads", "policy") if len(sys.argv) > 1 else {}


def call(arguments, **options):
    return execute(os.path.abspath(sys.argv[1]), "run", *arguments, **options)


def run(arguments, **options):
    done = call(arguments, **options)
    expect(done.returncode == 0, f"{' '.join(arguments)}: exit {done.returncode}: {done.stderr}")
    expect(done.returncode != 0 or done.stderr == "", f"{' '.join(arguments)}: {done.stderr}")
    return done.stdout


def measure(arguments):
    text = run(arguments)
    return parse(text) if text else {}


def words(workload, policy, threads=4):
    more = ["--trace", TRACE] if "trace" in WORKLOADS[workload] else \
        ["--records=400"] if "records" in WORKLOADS[workload] else []
    return SMALL + ["--threads", str(threads), "--workload", workload, "--policy", policy] + more


def check_values(found, name, workload, policy):
    expect(found["simulated"] is True, f"{name}: not marked as simulated")
    expect(found["ops"] > 0 and found["window_ns"] > 0, f"{name}: nothing was done")
    expect(found["items_per_second"] > 0, f"{name}: no items")
    expect(found["pages_peak"] >= found["pages_end"] >= 1, f"{name}: pages_peak below pages_end")
    expect(found["needless_growths"] <= found["growths"], f"{name}: growths")
    if workload in ("pair", "churn", "fill", "refuse"):
        expect(found["ns_samples"] == found["ops"], f"{name}: not every allocation was timed")
    expect(found.get("ns_p50", 0) <= found.get("ns_max", 0), f"{name}: latencies")
    if workload in ("pair", "churn"):
        check_parts(found, name)
        expect(found["warm_up_wanted"] == 120, f"{name}: operations to warm up")
    if workload == "fill":
        expect(found["finished"] == 1 and found["filled"] == found["ops"] == 400,
               f"{name}: filled {found['filled']} of 400")
        expect(found["growths"] >= found["pages_ideal"] == 13, f"{name}: growths")
    if workload == "refuse":
        expect(found["growths"] == 0 and found["lost"] >= found["ops"] >= 600,
               f"{name}: refusals")
    expect(found.get("torn", 0) == 0, f"{name}: torn reads")
    expect(found["preemptions"] == 0, f"{name}: preemptions with a PU for each thread")
    places = sum(found[key] for key in MACHINE[2:9])
    expect(places == found["accesses"], f"{name}: {places} accesses by place, "
           f"{found['accesses']} in all")
    expect(found["traits"].split() == POLICIES[policy], f"{name}: traits")
    if "strict" in POLICIES[policy] or "exact" in POLICIES[policy]:
        expect(found["record_skips"] == found["page_skips"] == 0, f"{name}: a strict one skips")
    if "exact" in POLICIES[policy]:
        expect(found["needless_growths"] == 0, f"{name}: needless growth")
        expect(found.get("excess_pages", 0) == 0, f"{name}: excess pages")
        expect(found["false_full"] == 0, f"{name}: false full")


def check_parts(found, name):
    """The parts of a window: equally many allocations each, in order, up to nearly its end."""
    parts = found["parts"]
    counts, size = parts["allocations"], len(parts["allocations"])
    expect(all(len(column) == size for column in parts.values()), f"{name}: columns of parts")
    expect(32 <= size < 64, f"{name}: {size} parts")
    expect(counts == [counts[0] * (k + 1) for k in range(size)], f"{name}: sizes of parts")
    expect(found["ns_samples"] - counts[-1] < counts[0], f"{name}: allocations after the parts")
    for key in ("ns", "record_skips"):
        expect(parts[key] == sorted(parts[key]), f"{name}: {key} of parts runs backwards")
    expect(parts["ns"][-1] <= found["window_ns"], f"{name}: parts end after the window")
    expect(parts["record_skips"][-1] <= found["record_skips"], f"{name}: skips of parts")
    expect(max(parts["pages"]) <= found["pages_peak"], f"{name}: pages of parts")


def matrix():
    for workload in WORKLOADS:
        for policy in POLICIES:
            name = f"{workload} {policy}"
            found = measure(words(workload, policy))
            per_call = () if workload == "refuse" else PER_CALL
            times = () if workload in UNTIMED else LATENCIES
            for key in PLAN + TIMES + [*times] + PAGES + COUNTED + MACHINE + [*per_call]:
                expect(key in found, f"{name}: no {key}")
            if not faults:
                check_values(found, name, workload, policy)
    floor = measure(SMALL + ["--threads", "1", "--workload", "floor"])
    expect("policy" not in floor and floor["items_per_second"] > 0, "floor")


def repeat():
    for workload, policy in (("churn", "original"), ("storm", "magazine"), ("scan", "exact"),
                             ("tide", "reclaiming"), ("replay", "random_start"),
                             ("fill", "magazine")):
        arguments = words(workload, policy)
        one = run(arguments)
        home = os.getcwd()
        for size in range(0, 4096, 512):  # where the stack begins
            with tempfile.TemporaryDirectory() as folder:
                other = run(arguments, cwd=folder, env={"PADDING": "x" * size})
            expect(one == other, f"{workload} {policy}: same arguments, other bytes")
        expect(home not in one and "/" not in json.loads(one).get("trace", ""),
               f"{workload} {policy}: a path in the output")
        expect(run(arguments + ["--seed=2"]) != one, f"{workload} {policy}: seed has no effect")
    arguments = words("churn", "original")
    several = measure(arguments + ["--seed", "5", "--seeds", "3"])
    single = [measure(arguments + ["--seed", str(seed)]) for seed in (5, 6, 7)]
    expect(several.get("simulated") is True, "several seeds: not marked as simulated")
    expect(several.get("runs") == single, "several seeds are not what they are one by one")
    text = run([w if w != "json" else "text" for w in arguments + ["--seeds=6"]])
    expect(len([line for line in text.splitlines() if line.startswith("needless_growths")]) == 2,
           "the table of six seeds")


def large():
    most = measure(["--machine", "pack:4 numa:4 core:32 pu:2", "--threads", "1024", "--policy",
                    "exact", "--ops", "4000", "--format", "json"])
    expect(most.get("threads") == most.get("machine_pus") == 1024, "1024 threads")
    expect(most.get("needless_growths") == 0, "1024 threads: needless growth")
    with tempfile.TemporaryDirectory() as folder:
        costs = os.path.join(folder, "short.json")
        with open(costs, "w", encoding="utf-8") as file:
            json.dump({"slice_ns": 5000}, file)
        for policy in POLICIES:
            found = measure(["--machine", "core:2 pu:1", "--threads", "16", "--policy", policy,
                             "--ops", "3000", "--pages=4", "--page-records=32", "--costs", costs,
                             "--format", "json"])
            expect(found.get("oversubscribed") == 1, f"{policy}: oversubscribed")
            expect(found.get("preemptions", 0) > 0, f"{policy}: no preemption")
            if "exact" in POLICIES[policy]:
                expect(found.get("needless_growths") == 0, f"{policy}: needless growth")


def barriers():
    """Who finds no record calls membarrier again and again; the one who has it must get on."""
    found = measure(["--machine", "core:2 pu:1", "--threads", "2", "--policy", "magazine",
                     "--workload", "handoff", "--pages", "1", "--page-records", "1", "--ops",
                     "5000", "--format", "json"])
    expect(found.get("ops", 0) >= 5000, f"handoff of one record: {found.get('ops')} operations")


def idle():
    """The last thread gets no record of the fill, and idles; the clocks of those that work must
    not be left behind: none of them had made a step when it gave up after a second."""
    found = measure(["--machine", "core:6 pu:1", "--threads", "5", "--policy", "exact",
                     "--occupancy", "0.435", "--pages=20", "--page-records=63", "--page-max=14",
                     "--page-prealloc=4", "--ops", "119", "--format", "json"])
    expect(found.get("ops", 0) >= 119, f"an idle thread: {found.get('ops')} operations")
    expect(found.get("window_ns", 1e9) < 1e6, f"an idle thread: {found.get('window_ns')} ns")


def claims():
    reference = ["--machine", "numa:8 core:32 pu:1", "--threads", "256", "--workload", "churn",
                 "--occupancy", "0.95", "--ops", "20000", "--seed", "1", "--format", "json"]
    exact = [p for p, traits in POLICIES.items() if "exact" in traits]
    found = {p: measure(reference + ["--policy", p]) for p in ["original"] + exact}
    expect(found["original"].get("needless_growths", 0) > 0, "original grows needlessly")
    for policy in exact:
        expect(found[policy].get("needless_growths") == 0, f"{policy}: needless growth")
        expect(found[policy].get("pages_peak") == 64, f"{policy}: pages")
    hot = measure(reference + ["--policy", "original", "--hot", "5"])["hot"]
    expect(len(hot) == 5 and any("cursor" in h["place"] for h in hot),
           f"the cursor is no hot line: {hot}")


def scales():
    """Many times the others' throughput, and a fair share of 256 times one thread's."""
    for occupancy in ("0.95", "0.99"):
        arguments = ["--machine", "numa:8 core:32 pu:1", "--workload", "churn", "--occupancy",
                     occupancy, "--ops", "20000", "--seed", "1", "--format", "json"]

        def speed(policy, threads):
            found = measure(arguments + ["--policy", policy, "--threads", str(threads)])
            expect(policy not in SCALE or found.get("needless_growths") == 0,
                   f"{policy} at {occupancy}: needless growth")
            return found.get("items_per_second", 0)
        original, random_start = speed("original", 256), speed("random_start", 256)
        for policy in SCALE:
            many, one = speed(policy, 256), speed(policy, 1)
            shown = f"{policy} at {occupancy}: {many:.3g} a second"
            expect(many >= 50 * original, f"{shown}, original {original:.3g}")
            expect(many >= 5 * random_start, f"{shown}, random_start {random_start:.3g}")
            expect(many >= 0.2 * 256 * one, f"{shown}, one thread {one:.3g}")


def one_line(arguments, word):
    done = call(arguments)
    shown = " ".join(arguments)
    expect_refusal(done, shown, word)
    expect(done.stdout == "", f"{shown}: something on stdout")


def wrong():
    good = ["--machine", "numa:2 core:2 pu:1", "--threads", "2", "--policy", "exact"]

    def but(word, value):
        changed = list(good)
        changed[changed.index(word) + 1] = value
        return changed
    for arguments, word in (
            ([], "--machine"), (good[:2], "--threads"), (good[:4], "choose from"),
            (but("--machine", "numa:2 core"), "numa:2 core"), (but("--machine", ""), "machine"),
            (but("--machine", "/no/such.xml"), "such.xml"),
            (but("--machine", "core:2048 pu:1"), "core:2048"),
            (but("--threads", "0"), "'0'"), (but("--threads", "-1"), "-1"),
            (but("--threads", "1025"), "1025"), (but("--threads", "two"), "two"),
            (but("--policy", "nosuch"), "nosuch"),
            (good + ["--workload", "nosuch"], "nosuch"), (good + ["--format", "xml"], "xml"),
            (good + ["--occupancy", "0"], "'0'"), (good + ["--occupancy", "1.5"], "1.5"),
            (good + ["--occupancy", "nan"], "nan"), (good + ["--occupancy", "0.9x"], "0.9x"),
            (good + ["--records", "0"], "'0'"), (good + ["--records=x"], "'x'"),
            (good + ["--workload", "fill", "--records=2000000", "--page-records=1"],
             "lower --records"),
            (good + ["--ops", "0"], "'0'"), (good + ["--ops", "many"], "many"),
            (good + ["--seed", "x"], "'x'"), (good + ["--seeds", "0"], "'0'"),
            (good + ["--window-us=0"], "'0'"), (good + ["--costs", "nosuch"], "nosuch"),
            (good + ["--placement", "here"], "here"), (good + ["--layout", "round"], "round"),
            (good + ["--slice-us", "0"], "'0'"), (good + ["--pass-us", "0"], "'0'"),
            (good + ["--workload", "scan", "--layout", "bare"], "bare-words"),
            (good + ["--page-max=0"], "'0'"), (good + ["--owner-fences=maybe"], "maybe"),
            (good + ["--page-prealloc=9", "--page-max=8"], "page_prealloc"),
            (good + ["--pages=0"], "'0'"), (good + ["--nosuch"], "--nosuch"),
            (good + ["word"], "word"), (good + ["--seed"], "--seed"),
            (good + ["--policies=exact"], "--policies"),
            (good + ["--benchmark_filter=x"], "--benchmark_filter"),
            (but("--threads", "3") + ["--workload", "handoff"], "multiple of 2"),
            (but("--threads", "1") + ["--workload", "floor"], "no policy"),
            (good + ["--workload", "replay"], "--trace"), (good + ["--trace", TRACE], "replay"),
            (good + ["--workload", "replay", "--trace", __file__], "run_test.py"),
            (good + ["--workload", "tide", "--series", "/no/such/file"], "/no/such/file")):
        one_line(arguments, word)
    for policy in UNSEEN:
        one_line(but("--policy", policy), policy)


if __name__ == "__main__":
    part_of({"matrix": matrix, "repeat": repeat, "large": large, "barriers": barriers,
             "idle": idle, "claims": claims, "scales": scales, "wrong": wrong})()
    finish()
