"""profile_cases.py - what scripts/profile_cost.py measures: the table of cases, and what is run.

A launch is one process of a subject, under libpfsmem.so with its profile, under the same without
one, or under libpfsmalloc.so. It works in slices of equal work. Where it has a profile that is
switched between slices, from outside, so that ways are compared in one process: whichever
addresses it got, all ways have them. What is kept of a way is the median of its slices. A way is
"malloc", "none" (started without a profile), "off", or the logarithm of the mean between samples.
"""

import json
import os
import subprocess
import time
from collections import namedtuple

from common.stats import median
from measuring import accounts_cases, allocator_servers, launching

ORDINARY = "19"
SWEEP = ("off", *map(str, range(10, 22)))
MALLOC, NONE, SWITCHED = "malloc", "none", "switched"
LAUNCHED = (MALLOC, NONE, SWITCHED)
# As in earnest: a program of one thread ticks from its slow calls, which it hardly has without
# samples, so what is compared would be ticks. A switch is seen at a thread's next allocation.
TICK_MS = 1000
WAIT_S = 60

# says: what it is called in tables. ways: between which it is switched. depth: of its stacks.
Case = namedtuple("Case", "name group says ways depth", defaults=(("off", ORDINARY), 0))

CASES = (
    Case("loop-kept", "loop", "allocation alone, frame pointers", SWEEP, 20),
    Case("loop-omitted", "loop", "allocation alone, no frame pointers", SWEEP, 20),
    Case("loop-new", "loop", "allocation alone, operator new", SWEEP, 20),
    Case("redis", "server", "redis-benchmark"),
    Case("mariadb", "server", "MariaDB, mysqlslap"),
    Case("errors", "errors", "estimates of five mixes", ()),
)
BY_NAME = {case.name: case for case in CASES}

# pairs: of a slice of a loop; slices: of each way in a process; requests of a server's slice.
Size = namedtuple("Size", "pairs slices redis mariadb seeds")
SIZES = {"short": Size(3000000, 5, 12000, 1500, 1000), "long": Size(5000000, 15, 40000, 4000, 3000),
         "quick": Size(100000, 1, 2000, 200, 50)}
LAUNCHES = {"short": 7, "long": 15, "quick": 1}


def ways(case):
    """The launches of a round."""
    return (NONE,) if case.group == "errors" else LAUNCHED


class Bench:
    """Where things are (folder: to work in), and how a program is started with a library."""

    def __init__(self, build_dir, size):
        self.build_dir, self.size, self.folder = build_dir, size, None
        self.tool = launching.built(build_dir, "memory", "pfs-mem")
        self.libraries = {name: accounts_cases.library(build_dir, name)
                          for name in ("none", "counted")}

    def environment(self, way):
        """Of a program that is launched this way."""
        more = {"PFS_MEM_DIR": self.folder, "PFS_MEM_TICK_MS": str(TICK_MS), "LC_ALL": "C",
                "LD_PRELOAD": self.libraries["none" if way == MALLOC else "counted"]}
        if way == NONE:
            more["PFS_MEM_PROFILE"] = "off"
        return {**os.environ, **more}

    def switch(self, pid, way):
        """The profile of a program off, or on with a mean."""
        words = ["off"] if way == "off" else ["on", "--lg-prof-sample", way]
        done = subprocess.run([self.tool, "profile", str(pid), *words], capture_output=True,
                              text=True, timeout=WAIT_S, check=False,
                              env={**os.environ, "PFS_MEM_DIR": self.folder})
        if done.returncode:
            raise ValueError(done.stderr.strip().splitlines()[-1])


class Loop:
    """pfs-profile-loop: a line to it is a slice."""

    def __init__(self, bench, case, way):
        name = f"pfs-profile-{case.name}"
        self.pairs = bench.size.pairs
        self.process = subprocess.Popen(
            [launching.built(bench.build_dir, "memory", "bench", "profile", name), str(case.depth),
             str(self.pairs)],
            env=bench.environment(way), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = self.process.pid

    def slice(self):
        """{name: number} of one pair."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise ValueError(f"it ended with {self.process.wait(timeout=WAIT_S)}")
        return {name: number / self.pairs for name, number in json.loads(line).items()}

    def settle(self):
        """The first slice of a way finds its stacks."""
        self.slice()

    def close(self):
        """To its end."""
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(timeout=WAIT_S)


class Server:
    """redis-server or mariadbd; a slice is a run of its client."""

    def __init__(self, bench, case, way):
        amount = getattr(bench.size, case.name)
        folder = os.path.join(bench.folder, case.name)
        os.makedirs(folder, exist_ok=True)
        self.server = allocator_servers.SERVERS[case.name](folder, amount)
        tests = getattr(self.server, "tests", "").count(",") + 1
        self.requests = amount * tests
        if not os.listdir(folder):
            refused = self.server.prepare()
            if refused:
                raise ValueError(refused)
        self.place = self.server.place(way)
        self.process = subprocess.Popen(self.server.command(self.place), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        env=bench.environment(way))
        self.pid = self.process.pid
        end = time.monotonic() + WAIT_S
        while not allocator_servers.answers(self.server.client(self.place) + self.server.ping):
            if self.process.poll() is not None or time.monotonic() > end:
                self.process.kill()
                self.process.wait()
                raise ValueError("the server does not answer")
            time.sleep(0.05)

    def slice(self):
        """{name: number} of one request; CPU time is that of all the server's threads, also of
        those that ended."""
        clock = (~self.pid << 3) | 2  # a process's CPU-time clock, as clock_getcpuclockid has it
        cpu_ns, ns = time.clock_gettime_ns(clock), time.monotonic_ns()
        self.server.load(self.place)
        return {"cpu_ns": (time.clock_gettime_ns(clock) - cpu_ns) / self.requests,
                "ns": (time.monotonic_ns() - ns) / self.requests}

    def settle(self):
        """Nothing: a slice has many requests, and the first of them see the switch."""

    def close(self):
        """It is asked to end."""
        try:
            allocator_servers.call(self.server.client(self.place) + self.server.stop)
            self.process.wait(timeout=WAIT_S)
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()


def errors_of(bench):
    """{mix: samples: {seeds, samples, error, theory}}"""
    tested = launching.built(bench.build_dir, "memory", "tests", "sampling", "sampling_estimate")
    done = subprocess.run([tested, "errors", str(bench.size.seeds)], capture_output=True, text=True,
                          timeout=10 * WAIT_S, check=True)
    document = json.loads(done.stdout)
    return {f"{one['mix']}: {round(one['samples'])}": {
        "seeds": document["seeds"], **{name: one[name] for name in ("samples", "error", "theory")}}
            for one in document["errors"]}


def measure(bench, case, way, source):
    """{way: {name: number}} of a launch. source: of the order of the slices."""
    if case.group == "errors":
        return errors_of(bench)
    subject = (Loop if case.group == "loop" else Server)(bench, case, way)
    found = {}
    try:
        subject.slice()
        order = list(case.ways) if way == SWITCHED else [way]
        for _ in range(bench.size.slices):
            source.shuffle(order)
            for one in order:
                if way == SWITCHED:
                    bench.switch(subject.pid, one)
                    subject.settle()
                found.setdefault(one, []).append(subject.slice())
    finally:
        subject.close()
    return {one: {name: median(value[name] for value in slices) for name in slices[0]}
            for one, slices in found.items()}
