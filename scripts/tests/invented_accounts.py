"""invented_accounts.py - an accounts.json as scripts/accounts.py writes it, with invented numbers:
counting adds 4 ns to a pair of 20, exact is right, a reader costs 1 % of CPU time and 50 % of the
clock's.
"""

import accounts
from common import machine
from measuring import accounts_cases, chapter

ADDS = {"none": 0.0, "header": 1.0, "exact": 4.0, "freer": 6.0, "global": 7.0}
WRONG = {"exact": 0, "freer": 30, "global": 40, "global_at_once": 40}


def times_of(way, turn):
    """Of a pair: its CPU time grows a little with the round."""
    return {"cpu_ns": (20 + ADDS[way]) * turn, "ns": (22 + ADDS[way]) * turn}


def values(case, way, number):
    """{way: {name: number}} of a launch."""
    turn = 1 + 0.001 * number
    if case.group == "errors":
        off = WRONG[way]
        below = (35 if case.name == "errors-cache" else 0) if way == "global" else off // 2
        return {way: {"wrong": off, "rows": 40, "below": below, "totals": 0, "instruments": 5,
                      "open": 8000 * off, "bytes": 10000 * off, "in_use": 250000,
                      "left": 9000 * off, "reads": 100000, "reads_below": 1000 * below}}
    if case.group == "memory":
        return {"exact": {"box_bytes": 100000 + 500 * case.threads * case.instruments,
                          "private_bytes": 260000}}
    if case.group == "reader":
        rates = {"rows_per_s": 2e6 * turn, "rows_per_cpu_s": 3e6 * turn}
        return {"alone": {"cpu_ns": 5.0, "wall_ns": 6.0},
                "beside": {"cpu_ns": 5.05 * turn, "wall_ns": 9.0 * turn, **rates},
                "copy": {"cpu_ns": 5.01 * turn, "wall_ns": 9.0 * turn, **rates}}
    ways = [way] if case.group == "preload" else list(ADDS)
    return {one: times_of(one, turn) for one in ways}


def document():
    """The document of all cases."""
    launches = chapter.make_plan(accounts_cases.CASES, accounts_cases.LAUNCHES["short"], 7,
                                 accounts_cases.ways)
    for launch in launches:
        launch.update(status="done", seconds=0.1, values=values(
            accounts_cases.BY_NAME[launch["case"]], launch["way"], launch["round"]))
    return {"format": 1, "kind": "short", "seed": 7, "complete": True,
            "machine": {**machine.describe("/", "/"), "cpus_allowed": [0, 1]},
            "missing": {"instructions": "pfs-malloc-count is not built"},
            "cases": accounts.facts_of(accounts_cases.CASES), "launches": launches,
            "instructions": {"counted": {"pair-64": {"calls": 1000, "instructions": 121000,
                                                     "locked": 0}}}}
