"""invented_profile.py - a profile.json as scripts/profile_cost.py writes it, with invented numbers:
a sample costs SAMPLE_NS at whichever interval, a program and a server half a percent, errors are
2 % above theory; an older build's accounts are 1 % faster, and its profile costs twice as much.
"""

import profile_cost
from common import machine
from measuring import profile_cases
from measuring.profile_cases import BEFORE, MALLOC, WALKED

SAMPLE_NS = {case.name: 300.0 + 10 * k for k, case in enumerate(profile_cases.CASES)
             if case.group == "loop"}
PAIR_NS, PAIR_BYTES, REQUEST_NS = 10.0, 264.0, 9000.0


def cost(case, way, turn):
    """{name: number} of a launch."""
    is_before, way = way.startswith(BEFORE), way.removeprefix(BEFORE)
    turn *= 0.99 if is_before else 0.8 if way == MALLOC else 1
    twice = 2 if is_before else 1
    if case.group != "loop":
        return {"cpu_ns": REQUEST_NS * turn * (1 + 0.005 * twice * way.isdigit())}
    added = twice * SAMPLE_NS[case.name] * PAIR_BYTES / 2 ** int(way) if way.isdigit() else 0
    return {"cpu_ns": PAIR_NS * turn + added, "bytes": PAIR_BYTES}


def values(case, way, number):
    """What a launch would have."""
    if case.group == "errors":
        return {f"{mix}: {n}": {"samples": n, "error": 1.02 * n ** -0.5, "theory": n ** -0.5,
                                "seeds": 1000} for mix in ("64", "64, 1K") for n in (100, 1000)}
    if way == WALKED:
        return {way: {"samples": 20000, "percent": 98.5}}
    return {way: cost(case, way, 1 + 0.001 * number)}


def document(change=None):
    """A document with all cases; change: of each launch."""
    launches = profile_cost.plan_of(profile_cases.CASES, {"loop": 7, "program": 7, "server": 7}, 3,
                                    True)
    for launch in launches:
        launch.update(status="done", seconds=1.0, values=values(
            profile_cases.BY_NAME[launch["case"]], launch["way"], launch["round"]))
        if change:
            change(launch)
    return {"format": 1, "kind": "short", "seed": 3, "complete": True, "missing": {},
            "before": "0123456789ab", "machine": machine.describe("/", "/"),
            "cases": {case.name: {"group": case.group, "says": case.says, "depth": case.depth}
                      for case in profile_cases.CASES}, "launches": launches}
