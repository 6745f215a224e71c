#!/usr/bin/python3
"""schedules_test.py - saved schedules, the document's example, bad input, and gdb.

usage: schedules_test.py PFS_SIM PART
  saved      every file of schedules/ still fails as it did, in under a second of CPU time, and
             does not where its defect is not
  example    the search finds the four-page example of `original` by itself, and none in `exact`;
             each search says how much it searched; who waits for a parked thread is found
  wrong      bad input: exit 2 and one line that names it
  classes    source sets and sleep sets execute as many classes of every scenario that ends soon
  gdb        the stacks of parked threads, with source lines
Exit 0: passed. 1: not. 77: gdb is not installed.
"""

import os
import re
import resource
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))
from common.expect import equal, expect, expect_refusal, finish, part_of, run, skip

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "schedules")
GDB = os.path.join(os.path.dirname(os.path.dirname(HERE)), "check", "gdb.py")
# file: what its replay says; (text, by what it is replaced so that all is well)
SAVED = {
    "original_four_pages.schedule":
        ("1 pages added, although two pages have room", ("--policy original", "--policy exact")),
    "read_publish_relaxed.schedule":
        ("a confirmed read of record 0, version 1, got the bytes of 1 and 0",
         (" --weaken pfs_lock.h:78", "")),  # the line of [L2]
}
COMMANDS = """set pagination off
set confirm off
handle SIGSEGV nostop noprint
break pfs_machine_fail
run
pfs-threads
pfs-bt all
"""


def replay(sim, text):
    """Replay the text of a file: (exit code, stdout)"""
    with tempfile.NamedTemporaryFile("w", suffix=".schedule") as file:
        file.write(text)
        file.flush()
        done = run(sim, "replay", file.name)
        return done.returncode, done.stdout


def saved(sim):
    """The saved schedules."""
    equal(sorted(os.listdir(FOLDER)), sorted(SAVED), "the files that the table knows")
    for name, (says, mend) in SAVED.items():
        text = Path(os.path.join(FOLDER, name)).read_text("utf-8")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        code, out = replay(sim, text)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        expect(seconds <= 1, f"{name}: replayed in {seconds:.1f} s of CPU time")
        expect(code == 1 and says in out, f"{name}: exit {code}, must be 1 and say: {says}")
        expect(mend[0] in text, f"{name}: no {mend[0]} in it")
        expect(replay(sim, text.replace(*mend))[0] == 0,
               f"{name}: fails with {mend[1] or 'nothing'} for {mend[0]}, too")


def example(sim):
    """The commands that docs name; a search that leaves schedules out must not say that there are
    no more."""
    def ask(options, code, *says):
        done = run(sim, *options)
        for text in says:
            expect(done.returncode == code and text in done.stdout, f"{' '.join(options)}: exit "
                   f"{done.returncode}, must be {code} and say {text.strip()!r}: {done.stdout}")
    original = ["explore", "--scenario", "four_pages", "--policy", "original"]
    ask(original, 1, "found: 1 pages added, although two pages have room",
        "shortened to 4 switches", "[allocate", "lock growth", "original.c:", "\nschedule: ")
    options = ["--full-flags off", "--layout side-by-side", "--real-time", "--no-races"]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "saved.schedule")
        run(sim, *original, "--quiet", "--save", path, *" ".join(options).split())
        head = Path(path).read_text("utf-8")
        equal([o for o in options if o not in head], [], "what a saved schedule forgets")
    ask(["explore", "--scenario", "four_pages", "--policy", "exact", "--executions", "5000"], 0,
        "5000 executions", "not all there are: no violation")
    ask(["progress", "--policy", "mutex_list", "--scenario", "full"], 1,
        "found: thread 1 waits in allocate for &list->lock")
    for options, extent in ((["--search", "bounded", "--preemptions", "0"],
                             "every schedule of up to 0 preemptions"),
                            (["--preemptions", "1"], "every schedule of up to 1 preemptions"),
                            ([], "all there are"), (["--executions", "1"], "not all there are")):
        ask(["explore", "--policy", "exact", "--scenario", "share", *options], 0,
            f" steps, {extent}: no violation\n")


def wrong(sim):
    """What bad input is answered."""
    explore = ["explore", "--policy", "exact", "--scenario", "churn"]
    with open(os.path.join(FOLDER, "original_four_pages.schedule"), encoding="utf-8") as file:
        lines = file.read().split("\n")
    texts = ["", "pfs-sim 1\n", "hello\n", "\n".join([lines[0], lines[1], "0x8 and more", ""]),
             "\n".join([lines[0], lines[1] + " --threads 0", lines[2], ""])]
    with tempfile.TemporaryDirectory() as folder:
        commands = [(["replay", os.path.join(folder, "none")], "none"),
                    (["replay", folder], folder),
                    (explore + ["--threads", "0"], "--threads '0'"),
                    (explore + ["--memory", "weak"], "--memory 'weak'"),
                    (explore + ["--search", "luck"], "--search 'luck'"),
                    (explore + ["--search", "dpor", "--preemptions", "1"], "--preemptions"),
                    (explore + ["--policy", "nobody"], "--policy 'nobody'"),
                    (explore + ["--scenario", "nothing"], "--scenario 'nothing'"),
                    (["progress", "--memory", "views"], "--memory 'views'"),
                    (["progress", "--policy", "nobody"], "--policy 'nobody'"),
                    (["progress", "--executions", "0"], "--executions '0'")]
        for i, text in enumerate(texts):
            name = os.path.join(folder, f"file{i}")
            Path(name).write_text(text, "utf-8")
            commands.append((["replay", name], ""))
        for command, named in commands:
            expect_refusal(run(sim, *command), " ".join(command), named)


def classes_of(sim, policy, scenario, kind):
    """Number of classes, or None: the search did not end, or is none for this case."""
    done = run(sim, "explore", "--policy", policy, "--scenario", scenario, "--threads", "2",
               "--operations", "1", "--search", kind, "--executions", "3000")
    found = re.search(r"(\d+) executions \((\d+) repeated.* all there are: no violation",
                      done.stdout)
    if done.returncode != 0 or not found or "not all" in done.stdout:
        return None
    return int(found.group(1)) - int(found.group(2))


def classes(sim):
    """The reduction."""
    names = run(sim, "list").stdout.split("scenarios:\n")
    policies, scenarios = ([line.split()[0] for line in half.split("\n") if line.strip()]
                           for half in (names[0].split("\n", 1)[1], names[1]))
    compared = 0
    for policy in policies:
        for scenario in scenarios:
            own = classes_of(sim, policy, scenario, "dpor")
            # Where source sets do not end, sleep sets would not either: they execute no fewer.
            sleep = classes_of(sim, policy, scenario, "sleep") if own is not None else None
            if sleep is not None:
                compared += 1
                equal(own, sleep, f"{policy} {scenario}: classes by source sets, by sleep sets")
    print(f"{compared} scenarios compared")
    expect(compared >= 30, "too few scenarios end")


def gdb(sim):
    """What gdb.py shows."""
    if shutil.which("gdb") is None:
        skip("gdb is not installed")
    with tempfile.NamedTemporaryFile("w", suffix=".gdb") as file:
        file.write(COMMANDS)
        file.flush()
        done = run("gdb", "-q", "-batch", "-nx", "-x", GDB, "-x", file.name, "--args", sim,
                   "replay", os.path.join(FOLDER, "read_publish_relaxed.schedule"))
    said = done.stdout + done.stderr
    if "not permitted" in said:
        skip("gdb may not trace here")
    for text in ("thread 0: runs, at or after", "thread 1: parked before note", "read_one (",
                 "pfs_case_give (", "rewrite_body (", "case_read.c:", "pfs_fiber_start ()"):
        expect(text in done.stdout, f"gdb does not show {text!r}:\n{said}")


if __name__ == "__main__":
    part_of({"saved": saved, "example": example, "wrong": wrong, "classes": classes,
             "gdb": gdb})(sys.argv[1])
    finish()
