#!/usr/bin/python3
"""check_trace.py - runs pfs-trace and a recorded program and checks what comes out.

usage: check_trace.py tool PFS_TRACE FOLDER_OF_TRACES
       check_trace.py program|fork|limits|wrong RECORDER PFS_TRACE RECORDED [PFS_BENCH]
Exit 0: all held. 1: not.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scripts"))
from common.expect import expect, expect_refusal, finish

SIZES = "1000-1999"  # of recorded's own objects
NOWHERE = "/dev/null/x"  # no file can be there, for nobody


def run(command, **environment):
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=100,
                          env={**os.environ, **environment})


def one_line(command, word, **environment):
    """The command must refuse in one line and exit 2."""
    expect_refusal(run(command, **environment), f"{' '.join(command)} {environment}", word)


def facts(pfs_trace, path):
    """What info says: numbers by name."""
    done = run([pfs_trace, "info", path])
    expect(done.returncode == 0, f"info {path}: {done.stderr}")
    found = re.search(r"program +(.*)\n +events +(\d+) \(prelude (\d+), allocations (\d+), frees "
                      r"(\d+)\)\n +threads +(\d+), .*\n +objects +(\d+)", done.stdout)
    if not found:
        expect(False, f"info {path} said {done.stdout!r} {done.stderr!r}")
        finish()
    names = ("events", "prelude", "allocations", "frees", "threads", "objects")
    return {"program": found.group(1), **dict(zip(names, map(int, found.groups()[1:])))}


def events_of(pfs_trace, path):
    """The dump as tuples (time, thread, what, id, size)."""
    done = run([pfs_trace, "dump", path])
    expect(done.returncode == 0, f"dump {path}: {done.stderr}")
    pattern = r"(\d+) ns thread (\d+) (allocate|free) (\d+)(?: size (\d+))?"
    found = [re.fullmatch(pattern, line) for line in done.stdout.splitlines()]
    expect(all(found), "lines of a dump")
    return [(int(f.group(1)), int(f.group(2)), f.group(3), int(f.group(4)), int(f.group(5) or 0))
            for f in found if f]


def balanced(events):
    """Each free ends an object that lives; the number alive at the end, or None."""
    alive, last = set(), 0
    for moment, _, what, number, _ in events:
        if (what == "free") != (number in alive) or moment < last:
            return None
        alive ^= {number}
        last = moment
    return len(alive)


def damage(path, position):
    with open(path, "r+b") as file:
        file.seek(position)
        byte = file.read(1)
        file.seek(position)
        file.write(bytes([byte[0] ^ 0x10]))


def cuts(pfs_trace, path, folder):
    """Windows of a trace are traces that begin as the whole one stands there."""
    whole = events_of(pfs_trace, path)
    before = facts(pfs_trace, path)
    start = before["events"] // 3
    out = os.path.join(folder, "cut.pfstrace")
    done = run([pfs_trace, "cut", path, out, f"--from={start}", "--events=200"])
    expect(done.returncode == 0, f"cut: {done.stderr}")
    events, after = events_of(pfs_trace, out), facts(pfs_trace, out)
    old = balanced(whole[:start])
    expect(after["prelude"] == old, f"prelude of {after['prelude']} objects, not {old}")
    expect(after["events"] == old + 200, "a window of 200 events")
    expect(balanced(events) == balanced(whole[:start + 200]), "the window ends as the whole does")
    expect([e[2] for e in events[old:]] == [e[2] for e in whole[start:start + 200]],
           "the window's events are those of the whole")
    expect(after["threads"] == len({e[1] for e in events}), "threads are dense")
    size = sorted(e[4] for e in whole if e[2] == "allocate")[before["allocations"] // 2]
    done = run([pfs_trace, "cut", path, out, f"--sizes=0-{size}", "--bytes=30000"])
    expect(done.returncode == 0, f"cut by size: {done.stderr}")
    expect(os.path.getsize(out) <= 30000, "a cut of 30000 bytes at most")
    small = events_of(pfs_trace, out)
    expect(balanced(small) is not None, "a cut by size is balanced")
    expect(max(e[4] for e in small) <= size, "no object larger than asked for")
    one_line([pfs_trace, "cut", path, out, "--from=999999999"], "events is left")
    one_line([pfs_trace, "cut", path, NOWHERE], NOWHERE)
    expect(not os.path.exists(out + ".partial"), "nothing half written stays")


def tool(pfs_trace, traces):
    paths = sorted(os.path.join(traces, name) for name in os.listdir(traces)
                   if name.endswith(".pfstrace"))
    expect(len(paths) >= 3, f"three traces at least, not {len(paths)}")
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            expect(os.path.getsize(path) < 300000, f"{path}: larger than 300 KB")
            expect(run([pfs_trace, "check", path]).stdout == f"{path}: whole\n", f"check {path}")
            expect(balanced(events_of(pfs_trace, path)) is not None, f"{path} is balanced")
        cuts(pfs_trace, paths[0], folder)
        bad = os.path.join(folder, "bad.pfstrace")
        with open(paths[0], "rb") as source, open(bad, "wb") as copy:
            copy.write(source.read())
        damage(bad, os.path.getsize(bad) - 3)
        for command in ("info", "dump", "check"):
            one_line([pfs_trace, command, bad], "damaged at byte ")
        one_line([pfs_trace, "cut", bad, bad + ".out"], "damaged at byte ")
        one_line([pfs_trace, "info", folder], folder)
        shorter = run([pfs_trace, "dump", paths[0], "--events=3"])
        expect(len(shorter.stdout.splitlines()) == 3, "dump --events=3")
    for arguments, word in ((["nosuch"], "nosuch"), ([], "command"), (["info"], "FILE..."),
                            (["info", NOWHERE], NOWHERE),
                            (["cut", "a"], "IN OUT"), (["dump", "a", "--nosuch"], "--nosuch"),
                            (["cut", "a", "b", "--sizes=9"], "--sizes '9'"),
                            (["cut", "a", "b", "--sizes=9-1"], "9-1"),
                            (["cut", "a", "b", "--from=x"], "--from 'x'")):
        one_line([pfs_trace] + arguments, word)
    for flag in ("--help", "--version"):
        expect(run([pfs_trace, flag]).returncode == 0, flag)


def record(recorder, recorded, arguments, path, **environment):
    done = run([recorded] + arguments, LD_PRELOAD=recorder, PFSLAB_TRACE=path,
               PFSLAB_TRACE_SIZES=SIZES, **environment)
    expect(done.returncode == 0, f"recorded {arguments}: exit {done.returncode} {done.stderr}")
    return [int(word) for word in done.stdout.split("\n")[-2].split()], done.stdout


def check_complete(pfs_trace, path, said):
    threads, allocations, frees = said
    got = facts(pfs_trace, path)
    expect(got["program"] == "recorded", f"program {got['program']}")
    expect(got["allocations"] == allocations, f"{got['allocations']} allocations, {allocations} "
                                              "were made")
    expect(got["frees"] == frees, f"{got['frees']} frees, {frees} were made")
    expect(got["threads"] == threads, f"{got['threads']} threads, there were {threads}")
    events = events_of(pfs_trace, path)
    expect(balanced(events) == allocations - frees, "what was left alive is alive at the end")
    expect(len({e[1] for e in events}) == threads, "each thread has its number")
    expect(all(1000 <= e[4] <= 1999 for e in events if e[2] == "allocate"), "sizes")
    expect({e[3] for e in events} == set(range(got["objects"])), "ids are dense")
    return events


def program(recorder, pfs_trace, recorded, bench=None):
    with tempfile.TemporaryDirectory() as folder:
        for threads in (1, 2, 40):
            path = os.path.join(folder, f"{threads}.pfstrace")
            said, _ = record(recorder, recorded, ["threads", str(threads)], path)
            events = check_complete(pfs_trace, path, said)
            owner, foreign = {}, 0
            for _, thread, what, number, _ in events:
                foreign += what == "free" and owner[number] != thread
                owner[number] = thread
            wanted = 500 * threads if threads > 1 else 0
            expect(foreign == wanted, f"{foreign} frees by a neighbour, {wanted} were made")
        if bench:
            done = run([bench, "--workloads=replay", f"--trace={path}", "--policies=local_scan",
                        "--threads=2", "--window-ms=5", "--repeat-disturbed=0"])
            expect(done.returncode == 0 and "replay_40/policy:local_scan" in done.stdout,
                   f"replay of the recorded program: {done.stdout} {done.stderr}")


def fork(recorder, pfs_trace, recorded, _bench=None):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "fork.pfstrace")
        said, stdout = record(recorder, recorded, ["fork"], path)
        expect(stdout.startswith("2 "), "the child that became another program has run")
        check_complete(pfs_trace, path, said)
        expect(os.listdir(folder) == ["fork.pfstrace"], "children write no files")


def limits(recorder, pfs_trace, recorded, _bench=None):
    """At most N events; a program that is killed then still leaves a whole file."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "max.pfstrace")
        environment = {**os.environ, "LD_PRELOAD": recorder, "PFSLAB_TRACE": path,
                       "PFSLAB_TRACE_SIZES": SIZES}
        for most in ("5000", None):
            if most:
                environment["PFSLAB_TRACE_MAX"] = most
            else:
                del environment["PFSLAB_TRACE_MAX"]
            with subprocess.Popen([recorded, "endless"], env=environment) as endless:
                time.sleep(1)
                endless.send_signal(signal.SIGKILL)
            if most:
                expect(facts(pfs_trace, path)["events"] == 5000, "5000 events and no more")
        said = run([pfs_trace, "info", path]).stdout
        expect("  unfinished " in said, f"a program that is killed leaves what is there: {said}")
        expect(facts(pfs_trace, path)["events"] > 5000, "and that is all but its last moment")
        other = run([recorded, "threads", "1"], LD_PRELOAD=recorder,
                    PFSLAB_TRACE=os.path.join(folder, "other"), PFSLAB_TRACE_PROGRAM="nosuch")
        expect(other.returncode == 0 and not os.path.exists(os.path.join(folder, "other")),
               "a program of another name is not recorded")


def wrong(recorder, pfs_trace, recorded, _bench=None):
    one_line([pfs_trace, "a\nb"], "a?b")
    command = [recorded, "threads", "1"]
    common = {"LD_PRELOAD": recorder, "PFSLAB_TRACE": "/tmp/never-written.pfstrace"}
    for name, value in (("PFSLAB_TRACE", NOWHERE), ("PFSLAB_TRACE_SIZES", "12"),
                        ("PFSLAB_TRACE_SIZES", "9-1"), ("PFSLAB_TRACE_SIZES", "x-9"),
                        ("PFSLAB_TRACE_MAX", "0"), ("PFSLAB_TRACE_MAX", "many")):
        one_line(command, value, **{**common, name: value})
    expect(not os.path.exists("/tmp/never-written.pfstrace"), "nothing is written")


def main():
    {"tool": tool, "program": program, "fork": fork, "limits": limits,
     "wrong": wrong}[sys.argv[1]](*sys.argv[2:])
    finish()


if __name__ == "__main__":
    main()
