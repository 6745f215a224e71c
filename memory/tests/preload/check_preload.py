#!/usr/bin/python3
"""check_preload.py - programs that know nothing of the accounts, under pfs-mem run: what their
boxes say, against what they allocate.

usage: check_preload.py PART PFS_MEM KNOWN
       check_preload.py programs PFS_MEM KNOWN NAME...   of memory/tests/malloc/programs.py
       check_preload.py corners PFS_MEM KNOWN THEME...   of memory/tests/malloc/corners.py
Exit 0: all as expected. 1: something was not.
"""

import csv
import glob
import io
import itertools
import os
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import place as places
from place import equal, expect


class Place(places.Place):
    """With a program whose allocations are known."""

    def __init__(self, tool, known):
        super().__init__(tool)
        self.known = os.path.abspath(known)

    def mem(self, *words, status=0):
        done = self.run(*words, status=status)
        return done.stdout + done.stderr if status else done.stdout

    def rows(self, target, table):
        """[{column: value}] with numbers as such, only rows that were ever used."""
        found = list(csv.DictReader(io.StringIO(
            self.mem("show", str(target), table, "--format", "csv"))))
        for row in found:
            for name, value in row.items():
                if value is not None and value.lstrip("-").isdigit():
                    row[name] = int(value)
                    below = "CURRENT" in name and row[name] < 0
                    expect(not below, f"{row} is below zero")
        return [row for row in found if row["COUNT_ALLOC"] or row["COUNT_FREE"]]

    def current(self, target, table, **where):
        """(blocks, bytes) in use, of rows with these columns."""
        rows = [row for row in self.rows(target, table)
                if all(str(row[name]) == value for name, value in where.items())]
        return (sum(row["CURRENT_COUNT_USED"] for row in rows),
                sum(row["CURRENT_NUMBER_OF_BYTES_USED"] for row in rows))

    def boxes(self):
        return sorted(glob.glob(os.path.join(self.folder, "*.box")))

    def is_listed(self, pid):
        """Is its box made? The file is there before that."""
        return str(pid) in self.mem("list").split()

    def check_all(self):
        for box in self.boxes():
            self.mem("check", box)

    def box_of(self, pid):
        found = [box for box in self.boxes() if os.path.basename(box).startswith(f"{pid}-")]
        return found[0] if found else None


def said(program):
    """Its next line, as words."""
    return program.stdout.readline().split()


def go_on(program):
    program.stdin.write("x")
    program.stdin.flush()


def end(program, status=0):
    go_on(program)
    program.stdout.read()
    equal(program.wait(timeout=60), status, "exit status")


def calls(place):
    """Every call counts what was asked for."""
    program = place.start(place.known, "calls")
    _, size, count, pid = said(program)
    have = place.current(pid, "global", EVENT_NAME="memory/libknown-calls/heap")
    equal(have, (int(count), int(size)), "left")
    place.check_all()
    go_on(program)
    said(program)
    have = place.current(pid, "global", EVENT_NAME="memory/libknown-calls/heap")
    equal(have, (0, 0), "all freed")
    end(program)
    equal(place.boxes(), [], "boxes after a clean end")


POOLS = {("alpha", "one"): (1500, 150000), ("beta", "two"): (300, 1500000),
         ("beta", "one"): (4000, 96000), ("gamma", "two"): (797, 20 * 300000 + 777 * 7)}


def pools(place):
    """Two libraries, three pools."""
    program = place.start(place.known, "pools")
    _, pid = said(program)
    for (pool, library), want in POOLS.items():
        have = place.current(pid, "user", USER=pool, EVENT_NAME=f"memory/libknown-{library}/heap")
        equal(have, want, f"{pool} {library}")
    users = {row["USER"] for row in place.rows(pid, "user")}
    equal(users, {"alpha", "beta", "gamma", "known"}, "pools")
    hosts = {row["HOST"] for row in place.rows(pid, "account")}
    equal(hosts, {"localhost"}, "hosts")
    place.check_all()
    go_on(program)
    said(program)
    for library in ("one", "two"):
        have = place.current(pid, "global", EVENT_NAME=f"memory/libknown-{library}/heap")
        equal(have, (0, 0), f"{library}, at the end")
    end(program)


def foreign(place):
    """A thread that ended has what it allocated, whoever frees it."""
    program = place.start(place.known, "foreign")
    _, pid = said(program)
    name = "memory/libknown-one/heap"
    equal(place.current(pid, "user", USER="giver", EVENT_NAME=name), (1000, 64000), "giver")
    equal(place.current(pid, "user", USER="taker", EVENT_NAME=name), (0, 0), "taker")
    go_on(program)
    said(program)
    equal(place.current(pid, "user", USER="giver", EVENT_NAME=name), (0, 0), "giver at the end")
    equal(place.current(pid, "global", EVENT_NAME=name), (0, 0), "all at the end")
    place.check_all()
    end(program)


def renamed(place):
    """What a thread allocates after it got its name is its new pool's, after a tick."""
    program = place.start(place.known, "renamed", options=("--tick-ms", "100"))
    _, pid = said(program)
    late = place.current(pid, "user", USER="late", EVENT_NAME="memory/libknown-two/heap")
    all_of = place.current(pid, "global", EVENT_NAME="memory/libknown-two/heap")
    equal(all_of, (400, 400000), "all")
    expect(late[0] >= 360, f"late has {late[0]} of 400 blocks")
    end(program)


def threads(place):
    """Threads that end and hand over: nothing is left in the end."""
    program = place.start(place.known, "threads", "40", options=("--tick-ms", "5"))
    for _ in range(10):
        time.sleep(0.1)
        if place.is_listed(program.pid):
            place.rows(program.pid, "global")
    _, pid = said(program)
    for library in ("one", "two"):
        have = place.current(pid, "global", EVENT_NAME=f"memory/libknown-{library}/heap")
        equal(have, (0, 0), library)
    have = place.current(pid, "global", EVENT_NAME="memory/known/heap") # realloc's caller
    equal(have, (0, 0), "known")
    place.check_all()
    end(program)


def site(place):
    """By call site; and more sites than there is room for are the module's."""
    program = place.start(place.known, "calls", options=("--by", "site"))
    _, size, count, pid = said(program)
    rows = [row for row in place.rows(pid, "global")
            if row["EVENT_NAME"].startswith("memory/libknown-calls/+0x")]
    expect(len(rows) > 30, f"{len(rows)} sites")
    equal(sum(row["CURRENT_NUMBER_OF_BYTES_USED"] for row in rows), int(size), "sum of sites")
    end_all(program)
    program = place.start(place.known, "calls", options=("--by", "site", "--instruments", "12"))
    _, size, count, pid = said(program)
    rows = [row for row in place.rows(pid, "global")
            if row["EVENT_NAME"].startswith(("memory/libknown-calls", "memory/other"))]
    equal(sum(row["CURRENT_NUMBER_OF_BYTES_USED"] for row in rows), int(size), "with 12")
    equal(sum(row["CURRENT_COUNT_USED"] for row in rows), int(count), "blocks")
    end_all(program)


def end_all(program):
    go_on(program)
    said(program)
    end(program)


def rules(place):
    """The other rules run, with their defects: a thread that only frees has less than nothing."""
    for rule in ("freer", "global"):
        program = place.start(place.known, "foreign", options=("--rule", rule))
        _, pid = said(program)
        text = place.mem("show", pid, "user", "--format", "csv")
        found = {(row["USER"], row["EVENT_NAME"]): int(row["CURRENT_NUMBER_OF_BYTES_USED"])
                 for row in csv.DictReader(io.StringIO(text))}
        if rule == "freer":
            equal(found.get(("taker", "memory/libknown-one/heap")), -64000, "freer's taker")
        end_all(program)


def forked(place, what):
    """The child's box is its own, and begins with what it inherited; the parent's is as it was."""
    program = place.start(place.known, what, options=("--tick-ms", "20"))
    pids = {}
    for _ in range(2):
        who, pid = said(program)
        pids[who] = pid
    one, two = "memory/libknown-one/heap", "memory/libknown-two/heap"
    equal(place.current(pids["parent"], "global", EVENT_NAME=one), (10, 2000), "parent")
    if what != "fork_threaded":
        equal(place.current(pids["parent"], "global", EVENT_NAME=two), (0, 0), "parent, two")
    expect(place.box_of(pids["child"]) is not None, "the child has no box")
    if place.box_of(pids["child"]) is not None:
        equal(place.current(pids["child"], "global", EVENT_NAME=one), (6, 1200), "child")
        equal(place.current(pids["child"], "global", EVENT_NAME=two), (3, 3000), "child, two")
    place.check_all()
    go_on(program)
    go_on(program)
    equal(said(program)[0], "alone", "after the child")
    equal(place.current(pids["parent"], "global", EVENT_NAME=one), (10, 2000), "parent after")
    equal(place.box_of(pids["child"]), None, "the child's box after its end")
    end(program)
    equal(place.boxes(), [], "boxes after the end")


def fork(place):
    forked(place, "fork")


def fork_threaded(place):
    forked(place, "fork_threaded")


def fork_deep(place):
    forked(place, "fork_deep")


def exec_(place):
    """An exec of the same process replaces its box; one of a child has its own."""
    program = place.start("/bin/sh", "-c", f"{place.known} calls; exec {place.known} calls")
    child = said(program)[-1]
    expect(place.box_of(child) is not None, "the child has no box")
    go_on(program)
    said(program)
    go_on(program)
    shell = said(program)[-1]
    equal(int(shell), program.pid, "the shell's process")
    listed = place.mem("list", "--format", "csv")
    expect(place.known in listed and "/bin/sh" not in listed.split(",")[0], listed)
    equal(len(place.boxes()), 1, "boxes")
    end_all(program)
    equal(place.boxes(), [], "boxes after the end")


def killed(place):
    """kill -9 leaves a box that says what there was."""
    program = place.start(place.known, "pools", options=("--tick-ms", "50"))
    _, pid = said(program)
    before = {(row["USER"], row["EVENT_NAME"]): row["CURRENT_NUMBER_OF_BYTES_USED"]
              for row in place.rows(pid, "user")}
    program.kill()
    program.wait()
    after = {(row["USER"], row["EVENT_NAME"]): row["CURRENT_NUMBER_OF_BYTES_USED"]
             for row in place.rows("last", "user")}
    equal(after, before, "after the kill")
    place.check_all()
    equal(len(place.boxes()), 1, "boxes")
    for number in range(20): # at any moment
        program = place.start(place.known, "threads", "1000", options=("--tick-ms", "1"))
        while not place.box_of(program.pid):
            time.sleep(0.001)
        time.sleep(0.003 * number)
        program.kill()
        program.wait()
        box = place.box_of(program.pid)
        shown = subprocess.run([place.tool, "show", box, "global"], capture_output=True, text=True,
                               env=place.environment, check=False)
        if "was never completed" in shown.stderr:
            continue # killed while the box was being made, and that is said
        for row in place.rows(box, "global"):
            expect(row["CURRENT_COUNT_USED"] >= 0, f"{row}")


def ended(place):
    """A clean end removes the box, by exit, _exit and return; unless it is to be kept."""
    script = "import os, sys\nif sys.argv[1] == '_exit':\n    os._exit(5)\nsys.exit(5)"
    for how in ("_exit", "exit"):
        for options, left in (((), 0), (("--keep",), 1)):
            program = place.start(sys.executable, "-c", script, how, options=options)
            equal(program.wait(timeout=60), 5, f"{how}: exit status")
            equal(len(place.boxes()), left, f"{how} {options}: boxes")
            for box in place.boxes():
                place.mem("check", box)
                expect("ended" in place.mem("list", "--format", "csv"), "it has not ended")
                os.unlink(box)
    quick = os.path.join(os.path.dirname(place.known), "mapper")
    equal(place.start(quick, "quick", "6").wait(timeout=60), 6, "quick_exit: exit status")
    equal(place.boxes(), [], "quick_exit: boxes")


def one_line(done, what):
    lines = done.stderr.strip().split("\n")
    expect(len(lines) == 1 and "libpfsmem: " in lines[0] and
           "allocations are not counted" in lines[0],
           f"{what}: {lines}")


def limits(place):
    """Where no box can be, the program runs, and one line says so."""
    command = [place.tool, "run", "--", "/bin/echo", "fine"]

    def run(more, before=""):
        return subprocess.run(["/bin/sh", "-c", before + ' exec "$@"', "sh", *command], text=True,
                              capture_output=True, env={**place.environment, **more}, check=False)

    for what, more, before in (("no folder", {"PFS_MEM_DIR": "/proc/no/such"}, ""),
                               ("open folder", {"PFS_MEM_DIR": "/tmp"}, ""),
                               ("small files", {}, "ulimit -f 100;"),
                               ("few addresses", {}, "ulimit -v 60000;")):
        done = run(more, before)
        equal((done.returncode, done.stdout), (0, "fine\n"), what)
        one_line(done, what)
    done = run({"PFS_MEM_TICK_MS": "x", "PFS_MEM_BY": "y"})
    equal((done.returncode, done.stdout), (0, "fine\n"), "wrong options")
    equal(len(done.stderr.strip().split("\n")), 2, f"lines for wrong options: {done.stderr}")
    full_disk(place)


def full_disk(place):
    """A file system that fills while the program runs, or forks: it goes on, and what is lost is
    counted."""
    small = place.path("small")
    os.mkdir(small, 0o700)
    forks = ["bash", "-c", "(echo 1); (echo 2); /bin/true"]
    for size, command in itertools.product((16, 64, 128, 200), ([place.known, "pools"], forks)):
        done = subprocess.run(
            ["unshare", "-rm", "/bin/sh", "-c",
             f"mount -t tmpfs -o size={size}k,mode=700 none {small} && shift && exec \"$@\"",
             "sh", "x", place.tool, "run", "--dir", small, "--", *command],
            input="xx", text=True, capture_output=True, env=place.environment, check=False)
        if "unshare" in done.stderr or "mount" in done.stderr:
            print("check_preload.py: no file system can be mounted here: left out")
            return
        equal(done.returncode, 0, f"{size} KiB, {command}: {done.stderr}")


def refused(place):
    """Programs that nothing can be preloaded into."""
    copy = place.path("copy")
    expect("not found" in place.mem("run", "no-such-program", status=127), "no such program")
    expect("an argument is missing" in place.mem("run", status=2), "no program")
    expect("--by" in place.mem("run", "--by", "x", "true", status=2), "a wrong value")
    static = place.path("static")
    built = subprocess.run(["cc", "-static", "-o", static, place.file(
        "s.c", "int main(void) { return 0; }\n")], check=False, capture_output=True)
    if built.returncode == 0:
        expect("statically" in place.mem("run", static, status=1), "static")
    shutil.copy("/bin/true", copy)
    os.chmod(copy, 0o4755)
    if os.geteuid() == 0:
        os.chown(copy, 1, 1)
        os.chmod(copy, 0o6755)
        expect("set-uid" in place.mem("run", copy, status=1), "set-uid")


def disabled(place):
    """An instrument that is switched off is counted no more; what was counted is freed rightly."""
    program = place.start(place.known, "pools")
    _, pid = said(program)
    place.mem("disable", pid, "memory/libknown-%")
    end_all(program)
    program = place.start(place.known, "renamed", options=("--tick-ms", "50", "--keep"))
    while not place.box_of(program.pid):
        time.sleep(0.01)
    time.sleep(1)
    place.mem("disable", str(program.pid), "memory/libknown-two/heap")
    _, pid = said(program)
    have = place.current(pid, "global", EVENT_NAME="memory/libknown-two/heap")
    expect(have[0] < 300, f"{have} of 400 blocks counted")
    asked = ("sql", place.box_of(pid), "SELECT VARIABLE_VALUE FROM global_status WHERE "
             "VARIABLE_NAME = 'Pfs_frees_from_before'", "--format", "tab")
    before = int(place.mem(*asked).split()[-1])
    go_on(program)
    program.stdout.read()
    program.wait()
    uncounted = int(place.mem(*asked).split()[-1]) - before
    expect(400 - have[0] <= uncounted < 500, f"{uncounted} frees of {400 - have[0]} uncounted")


def run(place):
    """The exit status is the command's; its options reach it."""
    for status in (0, 3, 77):
        program = place.start("/bin/sh", "-c", f"exit {status}")
        equal(program.wait(timeout=60), status, "exit status")
    program = place.start("/bin/sh", "-c", "kill -TERM $$")
    equal(program.wait(timeout=60), -signal.SIGTERM, "signal")
    program = place.start(place.known, "calls", options=("--keep", "--tick-ms=10", "--dir",
                                                         place.folder))
    said(program)
    time.sleep(0.2)
    end_all(program)
    equal(len(place.boxes()), 2, "kept, and of the one that was killed")


def outside(place, script, *flags):
    """A runner of memory/tests/malloc, with this library for malloc, and all boxes kept."""
    build = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(place.known))))
    done = subprocess.run(
        [os.path.join(places.TOP, "memory", "tests", "malloc", script), "--check", "--allocators",
         "pfs", "--pfs", os.path.join(build, "memory", "libpfsmem.so"), "--programs",
         os.path.join(build, "memory", "tests", "malloc"), *flags],
        env={**place.environment, "PFS_MEM_KEEP": "1", "PFS_MEM_KEEP_DEAD": "100000"}, check=False)
    if done.returncode == 77:
        sys.exit(77)
    equal(done.returncode, 0, f"{script} {flags}")
    boxes = place.boxes()
    expect(len(boxes) > 0, "no boxes")
    print(f"{len(boxes)} boxes")
    for box in boxes[:200]:
        place.mem("check", box)


def programs(place):
    """Programs of Debian run to the right result, and their boxes add up."""
    outside(place, "programs.py", "--only", ",".join(sys.argv[4:]))


def corners(place):
    """So do the corner programs of the allocator."""
    outside(place, "corners.py", "--jobs", "4", "--themes", ",".join(sys.argv[4:]))


PARTS = {part.__name__.rstrip("_"): part for part in (
    calls, pools, foreign, renamed, threads, site, rules, fork, fork_threaded, fork_deep, exec_,
    killed, ended, limits, refused, disabled, run, programs, corners)}

if __name__ == "__main__":
    places.main(PARTS, Place(*sys.argv[2:4]))
