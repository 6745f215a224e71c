"""invented_allocators.py - an allocators.json as scripts/allocators.py writes it, with invented
numbers: ours needs 0.9 of the CPU time of the best peer and 0.8 of its memory.
"""

import allocators
from common import machine
from measuring import allocator_cases, malloc_peers
from reporting import allocator_tails

FACTORS = {"glibc": 1.2, "jemalloc": 1.1, "mimalloc": 1.05, "tcmalloc": 1.0, "pfs": 0.9}
COUNTS = {"pair-64": 41, "foreign-64": 46}


def launch_done(launch):
    """A planned launch with numbers that depend on its round a little."""
    factor = FACTORS[launch["allocator"]] * (1 + 0.01 * launch["round"])
    launch.update(status="done", cpu_s=0.1 * factor, user_s=0.08 * factor, system_s=0.02 * factor,
                  wall_s=0.1, peak_bytes=int(20e6 * (2.2 - factor if launch["allocator"] != "pfs"
                                                     else 0.8)),
                  mean_bytes=15e6, minor_faults=1000, seconds=0.1)
    if "idle" in launch["case"] or launch["case"] in ("free-only", "redis", "mariadb"):
        launch["idle_bytes"] = int(4e6 if launch["allocator"] == "pfs" else 200e6 * factor)
    if launch["case"] == "tails":
        launch.update({f"{call}_{suffix}": int(5e5 * factor)
                       for call, suffix, _ in allocator_tails.metrics()})
    launch.update({"tiny": {"resident_bytes": int(1.2e6 * factor)},
                   "drain": {"live_bytes": 14000000, "own_bytes": 1900000},
                   "free-only": {"before_bytes": 3000000}}.get(launch["case"], {}))
    return launch


def document(names=tuple(FACTORS), cases=allocator_cases.CASES):
    """The document of these allocators."""
    found = [malloc_peers.Allocator(name, "", "") for name in names]
    plan = allocators.plan_of(cases, found, allocator_cases.SHORT_ROUNDS, 7)
    return {"format": 1, "kind": "short", "seed": 7, "complete": True,
            "machine": machine.describe("/", "/"),
            "allocators": {name: {"library": "", "version": "1.0"} for name in names},
            "missing": {"node": "node is not here; install <nodejs>"},
            "cases": {case.name: {"group": case.group, "judged": case.judged, "amount": 1,
                                  "command": case.name} for case in cases},
            "launches": [launch_done(launch) for launch in plan],
            "slabs": {case.name: {"slabs_made": 10, "slabs_needless": 0, "slabs_bytes": 655360,
                                  "slabs_live": 524288, "slabs_cached": 65536}
                      for case in cases if "pfs" in names},
            "instructions": {name: {case: {"calls": 1000, "instructions": 1000 * count,
                                           "locked": 50 if case == "foreign-64" else 0}
                                    for case, count in COUNTS.items()} for name in names}}
