"""invented_profile.py - a profile.json as scripts/profile_cost.py writes it, with invented numbers:
a sample costs SAMPLE_NS at whichever interval, a server half a percent, errors are 2 % above
theory.
"""

import profile_cost
from common import machine
from measuring import profile_cases

SAMPLE_NS = {"loop-kept": 300.0, "loop-omitted": 350.0, "loop-new": 320.0}
PAIR_NS, PAIR_BYTES, REQUEST_NS = 10.0, 264.0, 9000.0


def values(case, way, number):
    """What a launch would have: a sample costs SAMPLE_NS, at whichever interval."""
    turn = 1 + 0.001 * number
    if case.group == "errors":
        return {f"{mix}: {n}": {"samples": n, "error": 1.02 * n ** -0.5, "theory": n ** -0.5,
                                "seeds": 1000} for mix in ("64", "64, 1K") for n in (100, 1000)}
    if case.group == "server":
        return {one: {"cpu_ns": REQUEST_NS * turn * (1.005 if one == "19" else 1), "ns": 2e4}
                for one in (case.ways if way == "switched" else [way])}
    found = {}
    for one in case.ways if way == "switched" else [way]:
        added = SAMPLE_NS[case.name] * PAIR_BYTES / 2 ** int(one) if one.isdigit() else 0
        found[one] = {"cpu_ns": PAIR_NS * turn + added, "ns": PAIR_NS * turn + added,
                      "bytes": PAIR_BYTES}
    return found


def document(change=None):
    """A document with all cases; change: of each launch."""
    launches = profile_cost.plan_of(profile_cases.CASES, 7, 3)
    for launch in launches:
        launch.update(status="done", seconds=1.0, values=values(
            profile_cases.BY_NAME[launch["case"]], launch["way"], launch["round"]))
        if change:
            change(launch)
    return {"format": 1, "kind": "short", "seed": 3, "complete": True,
            "machine": machine.describe("/", "/"),
            "cases": {case.name: {"group": case.group, "says": case.says, "depth": case.depth}
                      for case in profile_cases.CASES}, "launches": launches}
