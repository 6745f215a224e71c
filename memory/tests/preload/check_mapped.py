#!/usr/bin/python3
"""check_mapped.py - what is resident, and whose it is: programs that map memory themselves, under
pfs-mem run, against what memory_os and memory_mapped say; and boxes of programs that died.

usage: check_mapped.py PART PFS_MEM KNOWN
Exit 0: all as expected. 1: something was not.
"""

import json
import os
import re
import shutil
import sys
import tempfile
import time

from check_preload import Place, end, end_all, equal, expect, go_on, places, said


def sql(place, target, query):
    """Rows of a query, as words."""
    text = place.mem("sql", str(target), "--format", "csv", query)
    return [line.split(",") for line in text.strip().split("\n")[1:]]


def memory_os(place, target):
    """{name: bytes}; and that it adds up."""
    rows = {name: (int(number) if number else None, part) for name, number, part in
            sql(place, target, "SELECT NAME, BYTES, PART_OF FROM memory_os")}
    known = sum(number or 0 for number, part in rows.values() if part == "resident")
    if rows["resident"][0] is not None:
        equal(known, rows["resident"][0], "what memory_os adds up to")
    return {name: number for name, (number, _) in rows.items()}


def mapper(place, *words):
    """The program that maps memory itself; ticks every 50 ms."""
    program = os.path.join(os.path.dirname(place.known), "mapper")
    return place.start(program, *words, options=("--tick-ms", "50"))


def mapped(place, pid, want):
    """What the box says of the program's own mappings, when a tick has seen them."""
    have = None
    for _ in range(600):
        time.sleep(0.1)
        rows = sql(place, pid, "SELECT RANGES, MAPPED_BYTES, RESIDENT_BYTES FROM memory_mapped "
                   "WHERE NAME = 'memory/mapper/mmap'")
        have = [int(word) for word in rows[0]] if rows else [0, 0, 0]
        if have == want:
            break
    equal(have, want, "ranges, mapped, resident")
    lost = sql(place, pid, "SELECT VARIABLE_VALUE FROM global_status WHERE VARIABLE_NAME = "
               "'Pfs_mapped_lost'")
    equal(lost, [["0"]], "ranges lost")


def measured(place, pid):
    """memory_os, when a tick has measured the process for the first time."""
    rows = memory_os(place, pid)
    for _ in range(600):
        if rows["program_mapped_resident"] is not None:
            break
        time.sleep(0.1)
        rows = memory_os(place, pid)
    return rows


def maps(place):
    """What a program maps itself, to the page, whatever it does to it; and nothing is left over."""
    program = mapper(place, "maps")
    while True:
        words = said(program)
        if not words:
            break
        want, pid = [int(word) for word in words[1:4]], words[4]
        mapped(place, pid, want)
        rows = measured(place, pid)
        expect(rows["program_mapped"] >= want[1] and rows["program_mapped_resident"] >= want[2],
               f"memory_os: {rows}")
        expect(abs(rows["unaccounted"]) * 10 <= rows["resident"], f"unaccounted: {rows}")
        expect(rows["stacks"] > 0 and rows["files_changed"] > 0, f"{rows}")
        go_on(program)
    equal(program.wait(timeout=60), 0, "exit status")


def stacks(place):
    """A stack stays a thread's, also if it was mapped while somebody looked."""
    program = mapper(place, "stacks")
    words = said(program)
    for _ in range(100):
        have = memory_os(place, words[4])["stacks"]
        if have >= int(words[3]):
            break
        time.sleep(0.1)
    expect(have >= int(words[3]), f"{have} bytes of stacks, of {words[3]}")
    end(program)


def asks(place):
    """A sample that is taken while the library of C holds a lock of the thread's waits for none."""
    program = os.path.join(os.path.dirname(place.known), "mapper")
    watched = place.start(program, "asks", options=("--lg-prof-sample", "1"))
    try:
        equal(watched.wait(timeout=60), 0, "exit status")
    finally:
        watched.kill()


def signals(place):
    """mmap from signal handlers, beside threads that map, and forks: no lock is waited for."""
    program = mapper(place, "signals", "3")
    words = said(program)
    mapped(place, words[4], [0, 0, 0])
    end(program)


def locked(place):
    """mlockall has all of the program resident, and not all of the box."""
    program = mapper(place, "locked")
    words = said(program)
    if words == ["refused"]:
        print("check_preload.py: no memory may be locked here: left out")
        return
    held = os.stat(place.box_of(words[4])).st_blocks * 512
    expect(held < 8 << 20, f"the box has {held} bytes")
    mapped(place, words[4], [int(word) for word in words[1:4]])
    expect(memory_os(place, words[4])["box"] < 8 << 20, "the box is resident")
    end(program)


def moment(place):
    """The parts and their sum are of one moment, also if the program grew since it."""
    program = mapper(place, "moment")
    words = said(program)
    for _ in range(600):
        if memory_os(place, words[4])["library_data"]:
            break
        time.sleep(0.1)
    go_on(program)
    said(program)
    for _ in range(6):
        time.sleep(0.1)
        rows = memory_os(place, words[4])
        expect(abs(rows["unaccounted"]) * 20 <= rows["resident"], f"unaccounted: {rows}")
    end(program)


def on_disk(place):
    """A box on a disk is counted once."""
    place.environment["PFS_MEM_DIR"] = folder = tempfile.mkdtemp(prefix="pfslab-mem-", dir=".")
    try:
        program = mapper(place, "moment")
        words = said(program)
        for _ in range(600):
            rows = memory_os(place, words[4])
            if rows["library_data"]:
                break
            time.sleep(0.1)
        expect(rows["box"] > 100000, f"box: {rows}")
        expect(abs(rows["unaccounted"]) < 64 << 10, f"unaccounted: {rows}")
        program.kill()
        program.wait()
    finally:
        shutil.rmtree(folder)


def first(place):
    """Before the first tick memory_os has what the cells and the system say."""
    program = place.start(place.known, "calls", options=("--tick-ms", "0"))
    _, size, _, pid = said(program)
    rows = memory_os(place, pid)
    expect(rows["tracked"] >= int(size), f"tracked: {rows}")
    expect((rows["resident"] or 0) > 1 << 20 and rows["resident"] == rows["resident_now"],
           f"resident: {rows}")
    program.kill()
    program.wait()
    rows = memory_os(place, "last")
    expect(rows["tracked"] >= int(size) and rows["resident"] is None, f"when it is dead: {rows}")


def asleep(place):
    """Without any tick, a program's mappings are in its box, and stay there when it is killed."""
    program = os.path.join(os.path.dirname(place.known), "mapper")
    watched = place.start(program, "maps", options=("--tick-ms", "0"))
    query = ("SELECT RANGES, MAPPED_BYTES, RESIDENT_BYTES FROM memory_mapped "
             "WHERE NAME = 'memory/mapper/mmap' AND RANGES > 0")
    for _ in range(5):
        want = said(watched)
        rows = sql(place, want[4], query)
        equal(rows, [[want[1], want[2], ""]] if want[1] != "0" else [], "ranges, mapped, resident")
        go_on(watched)
    want = said(watched)
    watched.kill()
    watched.wait()
    equal(sql(place, "last", query), [[want[1], want[2], ""]], "when it is dead")


GROWN = """
class Session:
    def __init__(self, number):
        self.name, self.items = f"session {number}", [number] * 3
kept = [Session(number) for number in range(200000)]
print("grown", flush=True)
input()
"""


def runtime(place):
    """top begins with the largest holder, also if that is mapped past malloc; it says what would
    count that, and --for does."""
    python = "/usr/bin/python3"
    for options, kind in ((("--tick-ms", "0"), "mapped_at_most"), ((), None),
                          (("--for", "python"), "heap")):
        watched = place.start(python, "-c", GROWN, options=options)
        expect(said(watched) == ["grown"], "it did not start")
        text = place.mem("top", str(watched.pid), "--once")
        rows = json.loads(place.mem("top", str(watched.pid), "--once", "--format", "json"))
        watched.kill()
        watched.wait()
        first = rows[0]
        expect(first["CURRENT"] > 30 << 20, f"the largest is small: {rows}")
        expect(kind is None or first["KIND"] == kind, f"{options}: {rows}")
        equal("pfs-mem run --for python" in text, first["KIND"].startswith("mapped"), "advice")
        equal("PYTHONTRACEMALLOC" in text, first["KIND"] == "heap", "advice on blocks")
        expect(re.search(r"MiB are resident; these rows explain (all of it|.* \(\d+ %\))", text),
               f"the share of the resident set: {text}")
    line = place.mem("run", "--for", "cobol", "--", "true", status=2)
    expect("cobol" in line and "python, php, glib, node, java" in line and line.count("\n") == 1,
           f"an unknown runtime: {line}")


def old(place):
    """A start removes what died long ago, but for the newest ones; and never what lives."""
    program = place.start(place.known, "calls")
    said(program)
    living, old_boxes = place.boxes()[0], []
    for number in range(1, 8):
        name = place.path(f"{number}-{number}.box")
        shutil.copy(living, name)
        os.utime(name, (1000000 + number, 1000000 + number))
        old_boxes.append(name)
    os.utime(living, (1000, 1000))
    fresh = place.path("99-99.box")
    shutil.copy(living, fresh)
    strange = place.path("notes.txt")
    shutil.copy(living, strange)
    more = place.start("/bin/true", options=("--keep-dead", "4"))
    equal(more.wait(timeout=60), 0, "exit status")
    equal(place.boxes(), sorted([living, fresh, *old_boxes[-4:]]), "boxes that are left")
    expect(os.path.exists(strange), "what is no box is gone")
    end_all(program)


if __name__ == "__main__":
    places.main({part.__name__: part for part in
                 (maps, stacks, asks, signals, locked, moment, on_disk, first, asleep, runtime,
                  old)},
                Place(*sys.argv[2:4]))
