#!/usr/bin/python3
"""check_recorder.py - records programs that make it hard: what is theirs stays theirs.

usage: check_recorder.py files|ends|children|full RECORDER PFS_TRACE AWKWARD
Exit 0: all held. 1: not. 77: a full disk cannot be made here.
"""

import os
import signal
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scripts"))
from common.expect import expect, finish
from check_trace import balanced, events_of, facts, run

SIZES = "1500-1500"  # awkward's own objects
SKIPPED = 77
LINE = "a line of the user's own file\n"
LOST_MOST = 2048  # a drain is due every 1024 events; the program has one thread
CAN_MOUNT = ["unshare", "--user", "--map-root-user", "--mount"]


def shell(recorder, path, script, *arguments):
    return run(["bash", "-c", script, "bash", *arguments], LD_PRELOAD=recorder,
               PFSLAB_TRACE=path)


def check_says(pfs_trace, path, word):
    done = run([pfs_trace, "check", path])
    expect(done.returncode == 0 and done.stdout.startswith(f"{path}: {word}"),
           f"check {path}: {done.stdout!r} {done.stderr!r}, '{word}' expected")


def record(recorder, awkward, arguments, path):
    done = run([awkward] + arguments, LD_PRELOAD=recorder, PFSLAB_TRACE=path,
               PFSLAB_TRACE_SIZES=SIZES)
    words = done.stdout.split()
    expect(len(words) == 3, f"awkward {arguments}: {done}")
    return done, int(words[1]) if len(words) == 3 else 0


def check_complete(pfs_trace, path, made, what):
    check_says(pfs_trace, path, "whole")
    got = facts(pfs_trace, path)
    expect((got["allocations"], got["frees"]) == (made, made),
           f"{what}: {got['allocations']} allocations and {got['frees']} frees, {made} were made")
    expect(balanced(events_of(pfs_trace, path)) == 0, f"{what}: balanced")


def text_of(path):
    with open(path, encoding="latin-1") as file:
        return file.read()


def files(recorder, pfs_trace, awkward):
    """Whatever a program does with descriptors, its files hold what it wrote."""
    with tempfile.TemporaryDirectory() as folder:
        trace, mine = os.path.join(folder, "t.pfstrace"), os.path.join(folder, "mine.txt")
        for number in (3, 10, 255):
            done = shell(recorder, trace, f'exec {number}>"$1"; for i in {{1..3000}}; do '
                         f'x=$x.$i; echo "line $i" >&{number}; done', mine)
            expect(done.returncode == 0 and done.stderr == "", f"bash, exec {number}: {done}")
            expect(text_of(mine) == "".join(f"line {i + 1}\n" for i in range(3000)),
                   f"exec {number}>mine.txt: the file is as bash wrote it")
            check_says(pfs_trace, trace, "whole")
            expect(facts(pfs_trace, trace)["events"] > 3000, "what bash did was recorded")
        for how in ("closefrom", "close_range", "loop"):
            done, made = record(recorder, awkward, ["descriptors", how, mine], trace)
            expect(done.returncode == 0 and done.stderr == "", f"{how}: {done}")
            expect(text_of(mine) == LINE * 100, f"{how}: the file is as the program wrote it")
            check_complete(pfs_trace, trace, made, how)
        done = run(["bash", "-c", "ls -l /proc/self/fd /proc/$$/fd"], LD_PRELOAD=recorder,
                   PFSLAB_TRACE=trace)
        expect("pfstrace" not in done.stdout, f"no descriptor stays open: {done.stdout}")


def ends(recorder, pfs_trace, awkward):
    """A trace is whole where the program can be followed to its end, else readable."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "t.pfstrace")
        for how in ("exit", "_exit", "_Exit", "quick_exit", "exec", "handler"):
            done, made = record(recorder, awkward, ["end", how], path)
            expect(done.returncode == 0 and done.stderr == "", f"{how}: {done}")
            check_complete(pfs_trace, path, made, how)
        _, made = record(recorder, awkward, ["end", "crowd"], path)  # while others allocate
        check_says(pfs_trace, path, "whole")
        got = facts(pfs_trace, path)
        expect(got["allocations"] >= made and 1 <= got["threads"] <= 4, f"crowd: {got}")
        expect(balanced(events_of(pfs_trace, path)) in range(4), "crowd: one each is alive")
        for how, code in (("raw", 0), ("abort", -signal.SIGABRT), ("term", -signal.SIGTERM),
                          ("kill", -signal.SIGKILL)):
            done, made = record(recorder, awkward, ["end", how], path)
            expect(done.returncode == code, f"{how}: {done}")
            check_says(pfs_trace, path, "unfinished")
            got = facts(pfs_trace, path)
            expect(2 * made - LOST_MOST <= got["events"] <= 2 * made,
                   f"{how}: {got['events']} events of {2 * made}")
            expect(balanced(events_of(pfs_trace, path)) is not None, f"{how}: balanced")
            out = os.path.join(folder, "cut.pfstrace")
            done = run([pfs_trace, "cut", path, out])
            expect(done.returncode == 0, f"{how}: cut: {done.stderr}")
            check_says(pfs_trace, out, "whole")
            expect(facts(pfs_trace, out) == got, f"{how}: a cut holds all that is there")


def children(recorder, pfs_trace, awkward):
    """Children of any kind leave the file to its owner."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "t.pfstrace")
        for how in ("exec_fails", "vfork", "clone"):
            done, made = record(recorder, awkward, ["child", how], path)
            expect(done.returncode == 0 and done.stderr == "", f"{how}: {done}")
            check_complete(pfs_trace, path, made, how)
        # bash has an unsetenv of its own; its children look for the variable
        done = shell(recorder, path, 'x=(); for i in {1..2000}; do x+=("$i"); done; '
                     'bash -c "x=1; echo $PFSLAB_TRACE"; env | grep -c PFSLAB_TRACE; '
                     'sh -c "echo \\$PFSLAB_TRACE"; x=(); (x=2; exit 3); exit 0')
        expect((done.stdout, done.stderr) == ("\n0\n\n", ""), f"bash's children: {done}")
        check_says(pfs_trace, path, "whole")
        got = facts(pfs_trace, path)
        expect(got["program"] == "bash" and got["events"] > 4000, f"bash itself: {got}")
        # a second process with the same file: it must not touch the first one's
        done = shell(recorder, path, 'PFSLAB_TRACE="$1" bash -c "x=1"; exit 0', path)
        expect(len(done.stderr.splitlines()) == 1 and "another process" in done.stderr,
               f"two at once: {done}")
        check_says(pfs_trace, path, "whole")
        if os.geteuid() == 0:  # who may not open it any more leaves all of it but its end
            done, made = record(recorder, awkward, ["child", "nobody"], path)
            expect(done.returncode == 0 and "Permission denied" in done.stderr, f"nobody: {done}")
            check_says(pfs_trace, path, "unfinished")
            expect(facts(pfs_trace, path)["allocations"] == made, "nobody: all is there")
        # what stands at the file's name when it ends is not the recorder's
        done, made = record(recorder, awkward, ["child", "renamed", path], path)
        expect(text_of(path) == LINE, "the user's file at the trace's old name")
        expect(done.returncode == 0 and path in done.stderr, f"renamed: {done}")
        check_says(pfs_trace, path + ".moved", "unfinished")
        expect(facts(pfs_trace, path + ".moved")["allocations"] == made, "renamed: all is there")


def full(recorder, pfs_trace, awkward):
    """A full disk ends the recording, not the program; what was there before can be read."""
    with tempfile.TemporaryDirectory() as folder:
        path, kept = os.path.join(folder, "d", "t.pfstrace"), os.path.join(folder, "kept")
        os.mkdir(os.path.dirname(path))
        script = ('mount -t tmpfs -o size=128k none "$1" || exit 77; '
                  'LD_PRELOAD="$3" PFSLAB_TRACE="$2" PFSLAB_TRACE_SIZES=1500-1500 "$4" end exit; '
                  'code=$?; cp "$2" "$5"; exit $code')
        done = run(CAN_MOUNT + ["sh", "-c", script, "sh", os.path.dirname(path), path, recorder,
                                awkward, kept])
        if done.returncode == SKIPPED or not done.stdout:
            print(f"check_recorder.py: no small disk can be made here: {done.stderr}")
            sys.exit(SKIPPED)
        expect(done.returncode == 0, f"the program goes on: {done}")
        expect(len(done.stderr.splitlines()) == 1 and "No space left" in done.stderr,
               f"one line about the disk: {done.stderr!r}")
        check_says(pfs_trace, kept, "unfinished")
        expect(facts(pfs_trace, kept)["events"] > 10000, "what fitted is there")


def main():
    {"files": files, "ends": ends, "children": children, "full": full}[sys.argv[1]](*sys.argv[2:])
    finish()


if __name__ == "__main__":
    main()
