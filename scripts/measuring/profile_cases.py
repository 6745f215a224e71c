"""profile_cases.py - what scripts/profile_cost.py measures: the table of cases, and what is run.

A launch is one process of a case, run one way: "malloc", under libpfsmalloc.so; "none", under
libpfsmem.so without a profile; the logarithm of the mean between samples; "before-" and one of
these, under the libraries of an older build; "walked", which only tells the share of stacks that
were walked. Its value is CPU time, user and system, of the process and of all that it started; of a
server it is that of its process during fixed numbers of requests.
"""

import json
import os
import re
import subprocess
import threading
import time
from collections import namedtuple

from common.stats import median
from measuring import accounts_cases, allocator_servers, launching, profile_programs

ORDINARY = "19"
COARSER = ("20", "21")
SWEEP = ("10", "13", "16", ORDINARY, *COARSER)
DENSE = ("10", "13", "16")  # so many samples that fewer pairs do
MALLOC, NONE, WALKED, BEFORE = "malloc", "none", "walked", "before-"
WALKED_LG = "12"
WALKED_REQUESTS = 10000
WAIT_S = 60

# says: what it is called in tables. depth: of its stacks.
Case = namedtuple("Case", "name group says depth", defaults=(0,))

CASES = (
    *(Case(f"loop-{way}-{frames}", "loop", f"{called}, {said}", 20)
      for way, called in (("malloc", "malloc"), ("new", "operator new"), ("realloc", "realloc"))
      for frames, said in (("kept", "frame pointers"), ("omitted", "no frame pointers"))),
    Case("python3", "program", "python3"),
    Case("python3-malloc", "program", "python3, PYTHONMALLOC=malloc"),
    Case("sqlite3", "program", "sqlite3"),
    Case("perl", "program", "perl"),
    Case("node", "program", "node"),
    Case("redis", "server", "redis-server"),
    Case("mariadb", "server", "mariadbd"),
    Case("rust", "walked", "a Rust program"),
    Case("c++", "walked", "a C++ program"),
    Case("errors", "errors", "estimates of five mixes"),
)
BY_NAME = {case.name: case for case in CASES}

# pairs: of a loop at most; share: of a program's amount; requests of a server's slice, and its
# slices.
Size = namedtuple("Size", "pairs share redis mariadb slices seeds")
SIZES = {"short": Size(40000000, 1, 20000, 3000, 3, 1000),
         "long": Size(100000000, 2, 40000, 6000, 5, 3000),
         "quick": Size(200000, 0.02, 1000, 100, 1, 20)}
LAUNCHES = {"short": {"loop": 15, "program": 13, "server": 11},
            "long": {"loop": 31, "program": 31, "server": 15},
            "quick": {"loop": 1, "program": 1, "server": 1}}


def ways(case, has_before):
    """The launches of a round."""
    if case.group in ("walked", "errors"):
        return (WALKED if case.group == "walked" else NONE,)
    before = (BEFORE + NONE, BEFORE + ORDINARY) if has_before else ()
    return (MALLOC, NONE, *(SWEEP if case.group == "loop" else (ORDINARY, *COARSER)), *before)


def absent(case):
    """A line where a case cannot be run for a program that is not installed."""
    if case.group == "server":
        return allocator_servers.SERVERS[case.name].absent()
    return profile_programs.absent(case.name) if case.group in ("program", "walked") else None


class Bench:
    """Where things are (folder: to work in), and how a program is started with a library."""

    def __init__(self, build_dir, against, size):
        self.build_dir, self.size, self.folder = build_dir, size, None
        self.tool = launching.built(build_dir, "memory", "pfs-mem")
        self.libraries = {before + name: accounts_cases.library(place, name)
                          for before, place in (("", build_dir), (BEFORE, against)) if place
                          for name in ("none", "counted")}

    def environment(self, way):
        """Of a program that is launched this way."""
        before = BEFORE if way.startswith(BEFORE) else ""
        way = way.removeprefix(BEFORE)
        more = {"LD_PRELOAD": self.libraries[before + ("none" if way == MALLOC else "counted")],
                "PFS_MEM_DIR": self.folder, "LC_ALL": "C"}
        if way == NONE:
            more["PFS_MEM_PROFILE"] = "off"
        elif way == WALKED:
            more.update(PFS_MEM_LG_PROF_SAMPLE=WALKED_LG, PFS_MEM_KEEP="1")
        elif way != MALLOC:
            more["PFS_MEM_LG_PROF_SAMPLE"] = way
        return {**{name: value for name, value in os.environ.items()
                   if not name.startswith("PFS_MEM_")}, **more}

    def walked(self, pid):
        """{name: number} of the stacks of a program that has ended."""
        done = subprocess.run([self.tool, "profile", str(pid)], capture_output=True, text=True,
                              check=False, timeout=WAIT_S,
                              env={**os.environ, "PFS_MEM_DIR": self.folder})
        found = re.search(r"(\d+) taken, ([\d.]+) % walked", done.stdout)
        if not found:
            raise ValueError("its box has no profile" if done.returncode == 0 else
                             done.stderr.strip().splitlines()[-1])
        return {"samples": int(found.group(1)), "percent": float(found.group(2))}


def run(command, environment):
    """(ns of CPU time, what it printed, its id) of a process and of all that it waited for."""
    with subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        late = threading.Timer(WAIT_S, process.kill)
        late.start()
        told = []
        errors = threading.Thread(target=lambda: told.append(process.stderr.read()))
        errors.start()
        said = process.stdout.read()
        errors.join()
        _, status, usage = os.wait4(process.pid, 0)
        late.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            lines = told[0].strip().splitlines()
            raise ValueError(f"exit {process.returncode}: {lines[-1] if lines else 'no message'}")
    return 1e9 * (usage.ru_utime + usage.ru_stime), said, process.pid


def of_loop(bench, case, way):
    """(values of a pair, process id)"""
    pairs = bench.size.pairs // (4 if "realloc" in case.name else 1)  # it takes as much longer
    pairs //= 8 if way in DENSE or way == WALKED else 1
    cpu_ns, said, pid = run([launching.built(
        bench.build_dir, "memory", "bench", "profile", f"pfs-profile-{case.name}"),
        str(case.depth), str(pairs)], bench.environment(way))
    return {"cpu_ns": cpu_ns / pairs, "bytes": json.loads(said)["bytes"] / pairs}, pid


def of_program(bench, case, way):
    """(values of a run, process id)"""
    share = 1 if way == WALKED else bench.size.share  # of few stacks, many are new
    command = profile_programs.command(case.name, bench.folder, bench.build_dir, share)
    cpu_ns, _, pid = run(command, {**bench.environment(way),
                                   **profile_programs.PROGRAMS[case.name].environment})
    return {"cpu_ns": cpu_ns}, pid


def server_of(bench, case, way):
    """The server of a case, prepared once in a folder of its own."""
    folder = os.path.join(bench.folder, case.name)
    os.makedirs(folder, exist_ok=True)
    amount = WALKED_REQUESTS if way == WALKED else getattr(bench.size, case.name)
    server = allocator_servers.SERVERS[case.name](folder, amount)
    if not os.listdir(folder):
        refused = server.prepare()
        if refused:
            raise ValueError(refused)
    return server


def slice_ns(server, place, pid):
    """CPU time of a server's process while its client makes its requests; also of threads that
    ended meanwhile."""
    clock = (~pid << 3) | 2  # a process's CPU-time clock, as clock_getcpuclockid has it
    before = time.clock_gettime_ns(clock)
    server.load(place)
    return time.clock_gettime_ns(clock) - before


def of_server(bench, case, way):
    """(values of a request, process id)"""
    server = server_of(bench, case, way)
    requests = server.amount * (getattr(server, "tests", "").count(",") + 1)
    place = server.place(way)
    process = subprocess.Popen(server.command(place), stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env=bench.environment(way))
    try:
        end = time.monotonic() + WAIT_S
        while not allocator_servers.answers(server.client(place) + server.ping):
            if process.poll() is not None or time.monotonic() > end:
                raise ValueError("the server does not answer")
            time.sleep(0.05)
        server.load(place)  # the first run is not like the others
        found = [slice_ns(server, place, process.pid)
                 for _ in range(1 if way == WALKED else bench.size.slices)]
        allocator_servers.call(server.client(place) + server.stop)
        process.wait(timeout=WAIT_S)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    return {"cpu_ns": median(found) / requests}, process.pid


def errors_of(bench):
    """{mix: samples: {seeds, samples, error, theory}}"""
    tested = launching.built(bench.build_dir, "memory", "tests", "sampling", "sampling_estimate")
    done = subprocess.run([tested, "errors", str(bench.size.seeds)], capture_output=True, text=True,
                          timeout=10 * WAIT_S, check=True)
    document = json.loads(done.stdout)
    return {f"{one['mix']}: {round(one['samples'])}": {
        "seeds": document["seeds"], **{name: one[name] for name in ("samples", "error", "theory")}}
            for one in document["errors"]}


OF_GROUP = {"loop": of_loop, "program": of_program, "walked": of_program, "server": of_server}


def measure(bench, case, way):
    """{way: {name: number}} of a launch."""
    if case.group == "errors":
        return errors_of(bench)
    found, pid = OF_GROUP[case.group](bench, case, way)
    return {way: bench.walked(pid) if way == WALKED else found}
