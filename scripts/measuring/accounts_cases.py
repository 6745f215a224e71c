"""accounts_cases.py - what scripts/accounts.py measures: the table of cases, and how each is run.

A case is launched round by round; a launch is one process. What it prints becomes values: {way:
{name: number}}. A way is a rule of crediting, or "none": without accounts; of readers it is what
happens beside the writers. Of times in a process the median of its rounds is kept.
"""

import json
import re
from collections import namedtuple

from common.stats import median
from measuring import launching

RULES = ("exact", "freer", "global")
AT_ONCE = "global_at_once"  # as global, but numbers are reused at once: only to show errors
ERROR_RULES = (*RULES, AT_ONCE)
HEADER = "header"  # 16 bytes more, and nothing else
ALONE, BESIDE, COPY = "alone", "beside", "copy"

# says: what it is called in tables. Other fields as its group needs them.
Case = namedtuple("Case", "name group says threads foreign instruments", defaults=(False, 0))

CASES = (
    Case("cost-1", "cost", "1 thread", 1),
    Case("cost-2", "cost", "2 threads", 2),
    Case("cost-2-foreign", "cost", "2 threads, foreign frees", 2, True),
    Case("preload-1", "preload", "1 thread", 1),
    Case("preload-2", "preload", "2 threads", 2),
    Case("preload-2-foreign", "preload", "2 threads, foreign frees", 2, True),
    Case("errors", "errors", "blocks live for a session", 8),
    Case("errors-cache", "errors", "a cache", 8),
    Case("reader-1", "reader", "1 writer", 1),
    Case("reader-2", "reader", "2 writers", 2),
    *(Case(f"memory-{threads}-{many}", "memory", f"{threads} × {many}", threads, False, many)
      for threads in (1, 16, 64, 256) for many in (1, 10, 50, 250)),
)
BY_NAME = {case.name: case for case in CASES}

# rounds, ms: slices of a way in a process; operations: of the oracle; slice_ms: of a reader.
Size = namedtuple("Size", "rounds ms operations slice_ms")
SIZES = {"short": Size(3, 10, 300000, 60), "long": Size(5, 40, 4000000, 250),
         "quick": Size(1, 5, 100000, 20)}
LAUNCHES = {"short": {"cost": 7, "preload": 7, "errors": 6, "reader": 7, "memory": 1},
            "long": {"cost": 21, "preload": 21, "errors": 11, "reader": 21, "memory": 3}}
ESTIMATE_S = {"cost": 0.2, "preload": 0.06, "errors": 0.08, "reader": 0.6, "memory": 0.05}

LOADS = {"errors": "handoff", "errors-cache": "cache"}
# What the oracle says while sessions are open, after they have ended, and after all is freed.
ORACLE = re.compile(
    r"sessions open: rows wrong \d+ of \d+, below zero \d+, error of all rows (?P<open>\d+) .*\n"
    r"sessions ended: rows wrong (?P<wrong>\d+) of (?P<rows>\d+), below zero (?P<below>\d+), error "
    r"of all rows (?P<bytes>\d+) bytes of (?P<in_use>\d+) in use, totals wrong (?P<totals>\d+) of "
    r"(?P<instruments>\d+)\nall freed: rows wrong \d+ of \d+, below zero \d+, error of all rows "
    r"(?P<left>\d+) .*\ncells read meanwhile (?P<reads>\d+), below zero (?P<reads_below>\d+), ")

PROGRAMS = {"cost": ("memory", "bench", "accounts", "pfs-accounts-cost"),
            "reader": ("memory", "bench", "accounts", "pfs-accounts-reader"),
            "memory": ("memory", "bench", "accounts", "pfs-accounts-footprint"),
            "errors": ("memory", "tests", "accounts", "accounts_oracle_test")}
LIBRARIES = {"none": "libpfsmalloc.so", "counted": "libpfsmem.so"}


def library(build_dir, name):
    """A library that is preloaded."""
    return launching.built(build_dir, "memory", LIBRARIES[name])


def ways(case):
    """The processes of a launch of a case: one for each of these."""
    rules = ERROR_RULES if case.name == "errors" else RULES
    return {"preload": ("none", *RULES), "errors": rules}.get(case.group, ("all",))


def command(case, way, size, build_dir, seed):
    """(command line, what it has in its environment) of a process."""
    pairs = [f"--threads={case.threads}", f"--rounds={size.rounds}", f"--ms={size.ms}",
             *["--foreign"] * case.foreign]
    if case.group == "preload":
        kind = "none" if way == "none" else "counted"
        return [launching.built(build_dir, *PROGRAMS["cost"]), *pairs, "--ways=none"], \
            {"LD_PRELOAD": library(build_dir, kind), "PFS_MEM_RULE": way if kind != "none" else ""}
    words = {"cost": pairs, "errors": [way, str(case.threads), str(size.operations), str(seed),
                                       LOADS.get(case.name, "")],
             "reader": [f"--writers={case.threads}", f"--rounds={max(1, size.rounds - 1)}",
                        f"--ms={size.slice_ms}"],
             "memory": [f"--threads={case.threads}", f"--instruments={case.instruments}"]}
    return [launching.built(build_dir, *PROGRAMS[case.group]), *words[case.group]], {}


def values(case, way, text):
    """What a process printed; ValueError, KeyError or the like where it is not that."""
    if case.group == "errors":
        found = ORACLE.match(text)
        if not found:
            raise ValueError("it did not say how wrong the rows are")
        return {way: {name: int(count) for name, count in found.groupdict().items()}}
    try:
        document = json.loads(text)
    except ValueError:
        raise ValueError("its output is not JSON") from None
    if case.group == "memory":
        return {"exact": {name: document[name] for name in ("box_bytes", "private_bytes")}}
    if case.group == "reader":
        return {state: {name: median(found) for name, found in lists.items()}
                for state, lists in document["states"].items()}
    found = {name: {"ns": median(times), "cpu_ns": median(document["cpu"][name])}
             for name, times in document["ways"].items()}
    return {way: found["none"]} if case.group == "preload" else found
