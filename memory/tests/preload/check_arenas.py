#!/usr/bin/python3
"""check_arenas.py - an arena for each pool of threads: what memory_arenas and the history say,
against what the pools allocate, and when others free it; and the report of a walk.

usage: check_arenas.py PFS_MEM KNOWN arenas|walk
Exit 0: all as expected. 1: something was not.
"""

import csv
import io
import os
import sys
import time

from check_preload import POOLS, Place, end, equal, expect, go_on, places, said


def arena_rows(place, pid, until):
    """{pool: row} of memory_arenas, of the first tick of which until() is true; or the last."""
    for _ in range(100):
        found = list(csv.DictReader(io.StringIO(place.mem(
            "sql", str(pid), "SELECT * FROM memory_arenas", "--format", "csv"))))
        rows = {row["POOL"]: {name: int(value) for name, value in row.items()
                              if value and value.isdigit()} for row in found}
        if until(rows):
            break
        time.sleep(0.1)
    return rows


def arenas(place):
    """Each pool's blocks are in its arena, and stay there until they are free, whoever frees."""
    program = place.start(place.known, "pools", options=("--arenas", "pool", "--tick-ms", "100"))
    _, pid = said(program)
    asked = {}
    for (pool, _), (_, size) in POOLS.items():
        asked[pool] = asked.get(pool, 0) + size
    rows = arena_rows(place, pid, lambda rows: all(
        rows.get(pool, {}).get("ALLOCATED_BYTES", 0) >= size for pool, size in asked.items()))
    equal(set(rows), {"alpha", "beta", "gamma", "known"}, "pools with an arena")
    equal(len({row["ARENA"] for row in rows.values()}), 4, "arenas")
    for pool, size in asked.items():
        have = rows[pool]["ALLOCATED_BYTES"]
        expect(size <= have <= size * 5 // 4 + (1 << 20), f"{pool} has {have}, asked for {size}")
        expect(have <= rows[pool]["ACTIVE_BYTES"] <= rows[pool]["RESIDENT_BYTES"] <=
               rows[pool]["MAPPED_BYTES"], f"{pool}: {rows[pool]}")
    kinds = place.mem("sql", str(pid), "SELECT DISTINCT NAME FROM memory_history WHERE KIND = "
                      "'arena' AND TICK = (SELECT max(TICK) FROM memory_history)",
                      "--format", "csv")
    equal(set(kinds.split()[1:]), set(rows), "arenas of the history")
    place.check_all()
    go_on(program)
    said(program)
    end(program)
    program = place.start(place.known, "foreign", options=("--arenas", "pool", "--tick-ms", "100"))
    _, pid = said(program)
    rows = arena_rows(place, pid, lambda rows: rows.get("giver", {}).get("ALLOCATED_BYTES", 0)
                      >= 64000)
    expect(rows["giver"]["ALLOCATED_BYTES"] >= 64000, f"giver: {rows}")
    go_on(program)
    said(program)
    equal(place.current(pid, "user", USER="giver", EVENT_NAME="memory/libknown-one/heap"), (0, 0),
          "giver at the end")
    before = rows["giver"]["ALLOCATED_BYTES"]
    rows = arena_rows(place, pid, lambda rows: rows["giver"]["ALLOCATED_BYTES"] < before - 32000)
    expect(rows["giver"]["ALLOCATED_BYTES"] < before - 32000,
           f"giver's arena had {before}, and then {rows['giver']}")
    end(program)
    done = place.run("run", "--", "true", env={**place.environment, "PFS_MEM_ARENAS": "each"})
    expect("PFS_MEM_ARENAS" in done.stderr, f"a wrong value: {done}")


def walk(place):
    """The report of a walk over the blocks: to the byte what the accounts say."""
    path = place.path("report")
    program = place.start(place.known, "pools", more={"KNOWN_REPORT": path},
                          options=("--tick-ms", "100"))
    _, pid = said(program)
    with open(path, encoding="ascii") as file:
        check_walk(file)
    check_walk(io.StringIO(place.mem("walk", str(pid))))
    place.mem("walk", str(pid), "--out", path)
    with open(path, encoding="ascii") as file:
        check_walk(file)
    expect(not any(name.endswith(".walk") for name in os.listdir(place.folder)), "a file stays")
    equal(place.current(pid, "user", USER="alpha", EVENT_NAME="memory/libknown-one/heap"),
          POOLS["alpha", "one"], "alpha, after the walk")
    place.check_all()
    go_on(program)
    said(program)
    end(program)
    done = place.run("walk", str(pid), status=1)
    expect(len(done.stderr.splitlines()) == 1, f"of a dead one: {done}")


def check_walk(file):
    """A report of the program's pools."""
    rows = list(csv.DictReader(file, delimiter="\t"))
    total = rows.pop()
    for (pool, library), want in POOLS.items():
        own = [row for row in rows if (row["INSTRUMENT"], row["ACCOUNT"]) ==
               (f"memory/libknown-{library}/heap", pool)]
        have = (sum(int(row["BLOCKS"]) for row in own), sum(int(row["BYTES"]) for row in own))
        equal(have, want, f"{pool} {library}, by the walk")
        expect(all(int(row["BYTES"]) <= int(row["BLOCKS"]) * int(row["CLASS_BYTES"])
                   for row in own), f"{own}: more than their classes")
    sizes = [int(row["BYTES"]) for row in rows]
    equal(sizes, sorted(sizes, reverse=True), "the order")
    equal((int(total["BLOCKS"]), int(total["BYTES"])),
          (sum(int(row["BLOCKS"]) for row in rows), sum(sizes)), "the total")


if __name__ == "__main__":
    places.main({"arenas": arenas, "walk": walk}, Place(*sys.argv[1:3]), part=sys.argv[3])
