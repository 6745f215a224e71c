#!/usr/bin/python3
"""check_json.py - runs pfs-bench with tiny windows and checks what it writes.

usage: check_json.py PFS_BENCH smoke WORKLOAD POLICY
       check_json.py PFS_BENCH options | peers | replay | wrong | full
Nothing is asserted on time. Exit 0: all held. 1: not.
"""

import os
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scripts"))
from common.expect import expect, expect_refusal, faults, finish, parse

CONTEXT = ("cpu_model kernel governor smt transparent_hugepage hypervisor pressure_cpu load "
           "compiler compiler_flags build_type counted git_revision hwloc allowed_cpus "
           "numa_nodes timer timer_cost_ns timer_step_ns cpu_id cpu_microcode "
           "cache_l1d_bytes cache_l2_bytes cache_l3_bytes floor_ns").split()
TRIAL = ("ops window_ns util_min util_total nivcsw attempts disturbed oversubscribed real_time "
         "iterations").split()
PAGES = ("lost pages_peak pages_end resident_bytes occupancy_end overhead_bytes "
         "overhead_per_record").split()
COUNTED = ("page_skips record_skips flag_skips false_full_at_least needless_growths live_peak "
           "stranded stranded_peak allocations").split()
PER_CALL = "probes cas_failures remote mixed".split()
PEAK_KNOWN = ("pair", "churn", "scan", "fill", "refuse")  # so excess pages are, too
TRACES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "results", "traces")
PARTNERS = ("handoff", "exchange")  # each two threads have a ring of records
RING = 1024
RECORDS = (100, 3000)
MOVING = ("tide", "day")  # with time: they have series
THREADS = (1, 2, 4)
TINY = ["--window-ms=5", "--latency-ms=5", "--repeat-disturbed=0", "--pages=8",
        "--page-records=64", "--benchmark_color=false"]


def run(arguments, stdout=subprocess.PIPE, **environment):
    return subprocess.run([sys.argv[1]] + arguments, stdout=stdout, stderr=subprocess.PIPE,
                          text=True, check=False, env={**os.environ, **environment})


def measure(arguments):
    """The JSON document of a run that must succeed."""
    done = run(arguments + ["--benchmark_format=json"])
    if done.returncode != 0:
        print(done.stdout[-600:], done.stderr[-600:], sep="\n")
        sys.exit(f"check_json.py: {' '.join(arguments)}: exit {done.returncode}, 0 expected")
    return parse(done.stdout)


def traits_of(name, flag="--list-traits"):
    """What the program says that a policy can do, or what a workload needs and has."""
    for line in run([flag]).stdout.splitlines():
        if line.split()[0] == name:
            return set(line.split()[1:])
    return set()


def valued(traits, name):
    """The values of a workload's traits NAME:VALUE."""
    return {trait.partition(":")[2] for trait in traits if trait.startswith(name + ":")}


def name_pattern(workload, shape, policy):
    pattern = workload + (r"_[A-Za-z0-9_.-]+" if "trace" in shape else "")
    pattern += f"/policy:{policy}" if "policy" in shape else ""
    pattern += r"/occupancy:[0-9.]+" if "occupancy" in shape else ""
    pattern += r"/records:[0-9]+(/memory:touched)?" if "records" in shape else ""
    return pattern + r"/placement:(compact|none)/threads:[0-9]+/manual_time"


def only_freed(row, threads):
    """Had a busy machine no allocation in the window, but frees of what the rings held? Then no
    value of a call is there."""
    return not any(key in row for key in PER_CALL) and row["ops"] <= threads // 2 * RING


def check_row(row, workload, shape, policy, traits, counted):
    name = row["name"]
    expect(re.fullmatch(name_pattern(workload, shape, policy), name), f"name {name}")
    expect(not row.get("error_occurred"), f"{name}: {row.get('error_message')}")
    wanted = [*TRIAL, *valued(shape, "counter")]
    threads = int(re.search(r"threads:([0-9]+)", name).group(1))
    expect(row["threads"] == threads, f"{name}: threads {row['threads']}")
    if not (workload == "scan" and threads == 1):
        wanted.append("items_per_second")
    if "latency" in shape:
        wanted += ["ns_samples", "ns_step", "ns_max"]
        wanted += (["reclaimed_timed"] if "reclaim" in traits else [])
    if "policy" in shape and "index" in traits:
        wanted += PAGES + (["growths"] if "grow" in traits else [])
        wanted += COUNTED if counted else []
        none = workload == "refuse" or (workload == "scan" and threads == 1)
        none = none or (counted and workload in PARTNERS and only_freed(row, threads))
        wanted += PER_CALL if counted and not none else []
    if workload == "tide":
        # A share of the pages that came: where a busy machine let none come, there is none.
        came = row.get("pages_peak", 2) > 1
        wanted += ["returned_share"] if came else []
        expect(came or "returned_share" not in row, f"{name}: a share of nothing returned")
    if "/memory:touched/" in name:
        wanted += ["fresh_bytes"]
    if workload in PEAK_KNOWN and "index" in traits:
        wanted += ["pages_ideal", "excess_pages"]
    for key in wanted:
        expect(isinstance(row.get(key), (int, float)), f"{name}: no {key}")
    for key in COUNTED:
        expect(counted or key not in row, f"{name}: {key} in a build that does not count")
    return not faults


def check_values(row, traits, counted):
    name = row["name"]
    expect(row["ops"] > 0 and row["window_ns"] > 0, f"{name}: nothing was done")
    expect(row.get("torn", 0) == 0, f"{name}: torn reads")
    if "items_per_second" in row:
        product = row["items_per_second"] * row["real_time"]
        expect(abs(product / 1e9 - 1) < 1e-6, f"{name}: real_time is not the inverse of items")
    if "pages_peak" in row:
        expect(row["pages_peak"] >= row["pages_end"] >= 1, f"{name}: pages_peak below pages_end")
        expect(row["resident_bytes"] > 0, f"{name}: nothing resident")
        check_overhead(row)
    if name.startswith("fill/"):
        check_fill(row, traits)
    if name.startswith("refuse/"):
        expect(row["lost"] >= row["ops"] and row.get("growths", 0) == 0,
               f"{name}: every operation is a refusal, and no page is added: {row}")
    if counted and ("strict" in traits or "exact" in traits or "grow" not in traits):
        expect(row["page_skips"] == row["record_skips"] == 0, f"{name}: a strict policy skips")
    if counted and "probes" in row and "exact" not in traits:  # which may have a cache
        expect(row["probes"] >= 1, f"{name}: an allocation without a probe")


def check_overhead(row):
    """By record it is the sum over the records of the pages; by live record no less."""
    name = row["name"]
    records = row["pages_end"] * 64
    expect(0 < row["overhead_bytes"] and
           abs(row["overhead_per_record"] * records / row["overhead_bytes"] - 1) < 1e-6,
           f"{name}: overhead of {records} records: {row}")
    live = row["occupancy_end"]
    expect(("overhead_per_live" in row) == (live > 0) and
           abs(row.get("overhead_per_live", 0) * live - row["overhead_per_record"] * (live > 0))
           < 1e-6 * row["overhead_per_record"], f"{name}: overhead by live record: {row}")


def check_fill(row, traits):
    """It holds what it was asked for, or says that it does not."""
    name = row["name"]
    whole = row["filled"] == row["records"] == int(re.search("records:([0-9]+)", name).group(1))
    expect(row["finished"] == whole, f"{name}: finished: {row}")
    expect(row["ops"] == row["filled"], f"{name}: operations are records: {row}")
    if "index" in traits:
        expect(row["growths"] == row["pages_peak"] >= row["filled"] / 64,
               f"{name}: all pages were added: {row}")
    expect(row["ns_samples"] <= row["records"], f"{name}: a call is timed for each record")
    expect(row.get("fresh_bytes", 0) == 0 or row["excess_pages"] > 0,
           f"{name}: memory that was not touched: {row}")


def check_series(path, workload, policy, reclaims):
    points = parse(Path(path).read_text("utf-8"))
    expect(len(points) > 10, "a series of more than 10 points")
    last = {}
    for point in points:
        line = (point["benchmark"], point["run"])
        expect(sorted(point) == sorted(["benchmark", "run", "t_ms", "live", "pages", "ideal",
                                        "resident_bytes"]), f"keys of {point}")
        before = last.get(line)
        expect(before is None or before["t_ms"] <= point["t_ms"], "time goes forward")
        expect(reclaims or before is None or before["pages"] <= point["pages"],
               "a policy that does not reclaim keeps its pages")
        expect(point["live"] <= 8 * 64, "never more live records than the peak")
        last[line] = point
    expect({b for b, _ in last} == {f"{workload}/policy:{policy}/placement:compact/threads:{t}"
                                    for t in (1, 2, 4)}, "all benchmarks are in the series")


def smoke(workload, policy):
    arguments = TINY + [f"--workloads={workload}", f"--policies={policy}", "--occupancies=0,0.9"]
    traits, shape = traits_of(policy), traits_of(workload, "--list-workload-traits")
    # All traces: a random start is slow where all is full.
    threads = (2,) if "trace" in shape else THREADS
    arguments += ["--threads=" + ",".join(map(str, threads))]
    if "records" in shape:
        arguments += ["--records=" + ",".join(map(str, RECORDS)), "--page-memory=fresh,touched"]
    if not valued(shape, "needs") <= traits:
        one_line(arguments, "nothing to run")
        return
    with tempfile.TemporaryDirectory() as folder:
        series = os.path.join(folder, "series.json")
        if workload in MOVING:
            arguments = arguments + ["--window-ms=100", f"--series={series}"]
        if workload == "ebb":
            arguments = arguments + ["--latency-ms=40"]  # a whole cycle
        document = measure(arguments)
        if workload in MOVING:
            reclaims = any("reclaimed" in row for row in document["benchmarks"])
            check_series(series, workload, policy, reclaims)
    counted = document["context"].get("counted") == "yes"
    for key in CONTEXT:
        expect(document["context"].get(key), f"no {key} in the context")
    rows = document["benchmarks"]
    least, most = (int(max(valued(shape, name), default=default)) for name, default in (
        ("threads", 1), ("threads_max", max(THREADS))))
    wanted = len([count for count in threads if count % least == 0 and count <= most])
    wanted *= 2 if "occupancy" in shape else 1
    wanted *= len([n for n in os.listdir(TRACES) if n.endswith(".pfstrace")]) \
        if "trace" in shape else 1
    wanted *= len(RECORDS) * (2 if "index" in traits else 1) if "records" in shape else 1
    expect(len(rows) == wanted, f"{len(rows)} benchmarks, {wanted} expected")
    for row in rows:
        if check_row(row, workload, shape, policy, traits, counted):
            check_values(row, traits, counted)


def one_line(arguments, word, **environment):
    done = run(arguments, **environment)
    shown = " ".join(arguments)
    expect_refusal(done, shown, word)
    expect(done.stdout == "", f"{shown}: something on stdout")


def wrong():
    with tempfile.TemporaryDirectory() as folder:
        missing = os.path.join(folder, "missing", "out.json")
        for arguments, word in (
                (["--policies=nosuch"], "nosuch"),
                (["--policies=original,"], "''"),
                (["--policies="], "--policies"),
                (["--policies"], "--policies"),
                (["--workloads=nosuch"], "nosuch"),
                (["--apis=nosuch"], "nosuch"),
                (["--apis=public,"], "''"),
                (["--occupancies=1.5"], "1.5"),
                (["--occupancies=-0.1"], "-0.1"),
                (["--occupancies=nan"], "nan"),
                (["--occupancies=0.9x"], "0.9x"),
                (["--threads=0"], "'0'"),
                (["--threads=-1"], "-1"),
                (["--threads=4097"], "4097"),
                (["--threads=99999999999999999999"], "99999999999999999999"),
                (["--placements=node:100000"], "100000"),
                (["--placements=nosuch"], "nosuch"),
                (["--memory=node:100000"], "--memory: memory_node 100000: "),
                (["--memory=nosuch"], "nosuch"),
                (["--layout=nosuch"], "nosuch"),
                (["--full-flags=maybe"], "maybe"),
                (["--page-records=0"], "page-records"),
                (["--page-records=65537"], "65537"),
                (["--pages=0"], "pages"),
                (["--pages-each=0"], "pages-each"),
                (["--workloads=churn", "--policies=exact", "--threads=2", "--pages-each=200000"],
                 "--pages-each 200000 for 2 threads"),
                (["--record-size=7"], "record-size"),
                (["--record-size=1048576", "--page-records=65536"], "page"),
                (["--window-ms=0"], "window-ms"),
                (["--repeat-disturbed=x"], "'x'"),
                (["--list-policies=yes"], "list-policies"),
                (["--nosuch"], "--nosuch"),
                (["nosuch"], "nosuch"),
                ([f"--series={missing}"], missing),
                ([f"--benchmark_out={missing}"], missing),
                ([f"--benchmark_out={folder}"], folder),
                (["--benchmark_nosuch=1"], "nosuch"),
                (["--benchmark_filter=["], "["),
                (["--benchmark_filter=zzz"], "--benchmark_filter 'zzz': "),
                (["--benchmark_filter=-."], "--benchmark_filter '-.': "),
                (["--policies=original,malloc", "--reclaim-period-ms=5"],
                 "--reclaim-period-ms 5"),
                (["--benchmark_format=xml"], "xml"),
                (["--benchmark_min_time=0.2s"], "0.2s"),
                (["--benchmark_repetitions=0"], "'0'"),
                (["--policies=a\nb"], "a?b"),
                (["--layout=a\x7fb"], "a?b"),
                (["--placements=a\nb"], "a?b"),
                (["--workloads=replay", "--trace=/a\nb"], "a?b"),
                (["--benchmark_a\nb"], "a?b"),
                (["--workloads=ebb", "--policies=exact", "--threads=1", "--pages=4097"],
                 "give 4096 at most"),
                (["--workloads=storm", "--policies=exact", "--threads=2049", "--page-records=1"],
                 "raise --page-records"),
                (["--workloads=churn", "--policies=malloc,ck_stack", "--threads=1,2", "--pages=1",
                  "--page-records=1"], "--threads 2, --pages 1, --page-records 1"),
                (["--workloads=scan", "--policies=exact", "--threads=9", "--pages=2",
                  "--page-records=1"], "raise --pages"),
                (["--workloads=handoff", "--threads=1,3"], "nothing to run")):
            one_line(arguments, word)
    one_line(["--workloads=pair"], "another machine",
             HWLOC_SYNTHETIC="pack:2 [numa] core:4 pu:2")


def wrong_records():
    fill = ["--workloads=fill", "--policies=exact"]
    for arguments, word in (
            (["--records=0"], "'0'"), (["--records=10,x"], "'x'"),
            (["--records=268435457"], "268435457"), (["--page-memory=stale"], "stale"),
            (fill + ["--records=2000000", "--page-records=1"],
             "--records 2000000, --page-records 1: "),
            (fill + ["--records=268435456", "--page-records=65536", "--record-size=4096"],
             "--records 268435456")):
        one_line(arguments, word)


def too_large():
    """Sizes that no machine has are refused before anything is mapped."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (1 << 32, before[1]))  # should it be tried after all
    if run(["--version"]).returncode != 0:  # a sanitizer has terabytes of addresses
        resource.setrlimit(resource.RLIMIT_AS, before)
    for arguments in (["--workloads=pair"], ["--workloads=churn", "--policies=malloc"],
                      ["--workloads=pair", "--policies=original,ck_stack", "--threads=1"]):
        one_line(["--pages=262144", "--page-records=65536"] + arguments,
                 "--pages 262144, --page-records 65536: ")
    resource.setrlimit(resource.RLIMIT_AS, before)


def full():
    """What cannot be written is said, and is no success."""
    arguments = TINY + ["--workloads=floor", "--threads=1"]
    for format_ in ("json", "csv", "console"):
        done = run(arguments + ["--benchmark_out=/dev/full", f"--benchmark_out_format={format_}"])
        lines = [line for line in done.stderr.splitlines() if line.startswith("pfs-bench: ")]
        expect(done.returncode == 1 and len(lines) == 1 and "/dev/full" in lines[0],
               f"--benchmark_out=/dev/full, {format_}: exit {done.returncode}, {lines}")
        with open("/dev/full", "w", encoding="utf-8") as nowhere:
            done = run(arguments + [f"--benchmark_format={format_}"], stdout=nowhere)
        expect(done.returncode == 1 and "standard output" in done.stderr,
               f"stdout to /dev/full, {format_}: exit {done.returncode}, {done.stderr[-200:]}")


def replay():
    """A trace of one's own; damaged ones are refused before anything runs."""
    source = os.path.join(TRACES, "sqlite3.pfstrace")
    with tempfile.TemporaryDirectory() as folder:
        own = os.path.join(folder, "my own:trace.pfstrace")
        whole = Path(source).read_bytes()
        Path(own).write_bytes(whole)
        for window_ms in (100, 1000, 10000):  # until a slow machine has played it once
            row = measure(TINY + ["--workloads=replay", f"--trace={own}", "--threads=1",
                                  "--policies=mutex_list",
                                  f"--window-ms={window_ms}"])["benchmarks"][0]
            if row["cycles"] > 0:
                break
        expect(row["name"].startswith("replay_my_own_trace/policy:mutex_list/"), row["name"])
        expect(row["cycles"] > 0 and row["excess_pages"] == 0, "one thread meets the peak, and "
               f"a list wastes no page: {row}")
        rows = measure(TINY + ["--workloads=replay", f"--trace={own}", "--policies=exact",
                               "--threads=3,8"])["benchmarks"]
        expect([r["trace_copies"] for r in rows] == [3, 8], "a copy for each thread")
        for position in (3, 50, len(whole) // 2, len(whole) - 1):
            with open(own, "wb") as file:
                file.write(whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1:])
            one_line(["--workloads=replay", f"--trace={source}", f"--trace={own}"], "byte ")
        Path(own).write_bytes(whole[:-1])
        one_line(["--workloads=replay", f"--trace={own}"], "damaged at byte ")
        one_line(["--workloads=replay", f"--trace={folder}/none"], "none")
        one_line(["--workloads=pair", f"--trace={source}"], "replay")


PEERS = {"jemalloc": "libjemalloc.so.2", "mimalloc": "libmimalloc.so.2.0"}


def peers():
    """A preloaded allocator is reported by its name; one that is not there is refused."""
    one_line(["--peer=jemalloc", "--policies=malloc"], "libc.so")
    one_line(["--peer=Je/malloc", "--policies=malloc"], "Je/malloc")
    one_line(["--peer=exact", "--policies=malloc"], "exact")
    done = run(["--list-traits"])
    expect("\nck_stack       words index bounded\n" in done.stdout, f"traits: {done.stdout}")
    found = 0
    for name, library in PEERS.items():
        os.environ["LD_PRELOAD"] = library
        listed = run([f"--peer={name}", "--list-policies"])
        if listed.returncode == 2 and "cannot be preloaded" in listed.stderr:
            continue  # not installed
        found += 1
        expect(re.match(rf"{name} +baseline: {re.escape(library)} [0-9.]+", listed.stdout),
               f"--list-policies of {name}: {listed.stdout} {listed.stderr}")
        one_line([f"--peer={name}"], "--policies=malloc")
        one_line(["--peer=othermalloc", "--policies=malloc"], library)
        document = measure(TINY + [f"--peer={name}", "--policies=malloc", "--workloads=pair,storm",
                                   "--threads=2"])
        expect([r["name"].split("/")[1] for r in document["benchmarks"]] == [f"policy:{name}"] * 2,
               f"names of {name}")
        expect(document["context"]["allocator"].startswith(library), "allocator in the context")
    os.environ.pop("LD_PRELOAD", None)
    if not found:
        print("check_json.py: neither jemalloc nor mimalloc is installed")
        sys.exit(77)


def options():
    """Flags that are not part of the smoke runs."""
    for flag, word in (("--help", "--policies"), ("--version", "pfs-bench "),
                       ("--list-policies", "original"), ("--list-workloads", "churn"),
                       ("--list-workload-traits", "needs:grow")):
        done = run([flag])
        expect(done.returncode == 0 and word in done.stdout and done.stderr == "", flag)
    names = run(["--benchmark_list_tests", "--benchmark_filter=churn/policy:original/.*"])
    expect(names.returncode == 0, "--benchmark_list_tests")
    expect(len(names.stdout.split()) == 18, f"18 original churns: {names.stdout}")
    churn = TINY + ["--workloads=churn", "--policies=original", "--threads", "2",
                    "--occupancies=0.5"]
    rows = measure(churn + ["--placements=none,compact", "--layout=side-by-side",
                            "--full-flags=off", "--memory=local", "--record-size=200",
                            "--seed=7"])["benchmarks"]
    expect([r["name"].split("/")[3] for r in rows] == ["placement:none", "placement:compact"],
           "both placements, in order")
    rows = measure(TINY + ["--workloads=churn,floor", "--policies=exact,malloc", "--threads=1",
                           "--occupancies=0.5", "--apis=inlined,public"])["benchmarks"]
    expect([r["name"].split("/placement")[0] for r in rows] ==
           ["churn/policy:exact/occupancy:0.5", "churn/policy:exact/occupancy:0.5/api:public",
            "churn/policy:malloc/occupancy:0.5", "churn/policy:malloc/occupancy:0.5/api:public",
            "floor"], f"both ways to call, but where nothing is called: {rows}")
    rows = measure(TINY + ["--workloads=churn", "--policies=exact", "--threads=1,2,4",
                           "--occupancies=0.5", "--pages-each=3"])["benchmarks"]
    expect([(r["name"].split("/")[3], r["pages_ideal"]) for r in rows] ==
           [("pages_each:3", 3), ("pages_each:3", 6), ("pages_each:3", 12)],
           f"each thread has as many pages, however many there are: {rows}")
    rows = measure(TINY + ["--workloads=pair,handoff,scan,tide,storm", "--policies=magazine",
                           "--threads=2", "--occupancies=0.5", "--apis=public"])["benchmarks"]
    expect(len(rows) == 5 and all("/api:public/" in r["name"] and not r.get("error_occurred")
                                  for r in rows), f"every workload by the public API: {rows}")
    fill = ["--workloads=fill", "--threads=1", "--page-memory=touched"]
    row = measure(TINY + fill + ["--policies=mutex_list", "--records=5000", "--latency-ms=5000",
                                 "--window-ms=5000"])["benchmarks"][0]
    expect(row["finished"] == 1 and row["ns_samples"] == 5000, f"every call is timed: {row}")
    row = measure(TINY + fill + ["--policies=random_start", "--records=500000",
                                 "--page-records=32"])["benchmarks"][0]
    expect(row["finished"] == 0 and 0 < row["filled"] < 500000 and row["window_ns"] < 1e10,
           f"a fill that takes too long ends, and says so: {row}")
    rows = measure(churn + ["--benchmark_repetitions=2", "--latency-ms=0"])["benchmarks"]
    expect([r.get("aggregate_name") for r in rows] == [None, None, "mean", "median", "stddev",
                                                       "cv"], "repetitions and aggregates")
    expect({r["threads"] for r in rows} == {2}, f"aggregates state the threads, too: {rows}")
    expect("ns_samples" not in rows[0], "no latencies without a window for them")
    scan = TINY + ["--workloads=churn", "--policies=local_scan", "--threads=1", "--occupancies=0"]
    # A trial counts as a million operations, however long they take on this machine.
    trial_s = measure(scan)["benchmarks"][0]["real_time"] * 1e6 / 1e9
    row = measure(scan + [f"--benchmark_min_time={30 * trial_s}"])["benchmarks"][0]
    expect(row["iterations"] >= 2000000, "min_time adds up several trials")
    row = measure(TINY + ["--workloads=churn", "--policies=reclaiming", "--threads=2",
                          "--occupancies=0.5", "--reclaim-period-ms=1"])["benchmarks"][0]
    expect("reclaimed" in row, "a reclaiming policy says what it gave back")
    row = measure(TINY + ["--workloads=ebb", "--policies=exact", "--threads=1",
                          "--reclaim-period-ms=0", "--reclaim-decay-passes=0"])["benchmarks"][0]
    expect(row["reclaimed"] == 0, "nothing goes back without a pass")
    none = run(["--benchmark_filter=nosuch"])
    expect(none.returncode == 2 and "nosuch" in none.stderr, "a filter that matches nothing")


def main():
    mode = sys.argv[2]
    if mode == "smoke":
        smoke(sys.argv[3], sys.argv[4])
    elif mode == "options":
        options()
    elif mode == "peers":
        peers()
    elif mode == "replay":
        replay()
    elif mode == "wrong":
        wrong()
        wrong_records()
        too_large()
    elif mode == "full":
        full()
    finish()


if __name__ == "__main__":
    main()
