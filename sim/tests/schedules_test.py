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
import subprocess
import sys
import tempfile

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


def run(*command):
    """(exit code, stdout, stderr)"""
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    return done.returncode, done.stdout, done.stderr


def replay(sim, text):
    """Replay the text of a file: (exit code, stdout)"""
    with tempfile.NamedTemporaryFile("w", suffix=".schedule") as file:
        file.write(text)
        file.flush()
        return run(sim, "replay", file.name)[:2]


def saved(sim):
    """Faults of the saved schedules."""
    faults = [f"{name}: not in the table" for name in os.listdir(FOLDER) if name not in SAVED]
    for name, (says, mend) in SAVED.items():
        with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
            text = file.read()
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        code, out = replay(sim, text)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        if seconds > 1:
            faults.append(f"{name}: replayed in {seconds:.1f} s of CPU time")
        if says is None:
            faults += [f"{name}: exit {code} where nothing is wrong"] if code != 0 else []
            continue
        if code != 1 or says not in out:
            faults.append(f"{name}: exit {code}, must be 1 and say: {says}")
        if mend[0] not in text:
            faults.append(f"{name}: no {mend[0]} in it")
        elif replay(sim, text.replace(*mend))[0] != 0:
            faults.append(f"{name}: fails with {mend[1] or 'nothing'} for {mend[0]}, too")
    return faults


def example(sim):
    """Faults of the two commands that docs name."""
    faults = []
    command = [sim, "explore", "--scenario", "four_pages"]
    code, out, _ = run(*command, "--policy", "original")
    for text in ("found: 1 pages added, although two pages have room", "shortened to 4 switches",
                 "[allocate", "lock growth", "original.c:", "\nschedule: "):
        if code != 1 or text not in out:
            faults.append(f"original: exit {code}, must be 1 and say: {text.strip()}")
    options = ["--full-flags off", "--layout side-by-side", "--real-time", "--no-races"]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "saved.schedule")
        run(*command, "--policy", "original", "--quiet", "--save", path,
            *" ".join(options).split())
        with open(path, encoding="utf-8") as file:
            head = file.read()
        faults += [f"a saved schedule forgets {o}" for o in options if o not in head]
    code, out, _ = run(*command, "--policy", "exact", "--executions", "5000")
    if code != 0 or "5000 executions" not in out or "not all there are: no violation" not in out:
        faults.append(f"exact: exit {code}, must be 0 and say what was searched")
    code, out, _ = run(sim, "progress", "--policy", "mutex_list", "--scenario", "full")
    if code != 1 or "found: thread 1 waits in allocate for &list->lock" not in out:
        faults.append(f"progress, mutex_list: exit {code}, must be 1 and say who waits")
    return faults + extents(sim)


def extents(sim):
    """A search that leaves schedules out must not say that there are no more."""
    share = ["--policy", "exact", "--scenario", "share"]
    faults = []
    for options, extent in ((share + ["--search", "bounded", "--preemptions", "0"],
                             "every schedule of up to 0 preemptions"),
                            (share + ["--preemptions", "1"],
                             "every schedule of up to 1 preemptions"),
                            (share, "all there are"),
                            (share + ["--executions", "1"], "not all there are")):
        code, out, _ = run(sim, "explore", *options)
        if code != 0 or f" steps, {extent}: no violation\n" not in out:
            faults.append(f"explore {' '.join(options)}: exit {code}, must be 0 and say "
                          f"{extent!r}: {out!r}")
    return faults


def wrong(sim):
    """Faults of what bad input is answered."""
    explore = ["explore", "--policy", "exact", "--scenario", "churn"]
    with open(os.path.join(FOLDER, "original_four_pages.schedule"), encoding="utf-8") as file:
        lines = file.read().split("\n")
    texts = ["", "pfs-sim 1\n", "hello\n", "\n".join([lines[0], lines[1], "0x8 and more", ""]),
             "\n".join([lines[0], lines[1] + " --threads 0", lines[2], ""])]
    faults = []
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
            with open(name, "w", encoding="utf-8") as file:
                file.write(text)
            commands.append((["replay", name], ""))
        for command, named in commands:
            code, _, err = run(sim, *command)
            if code != 2 or err.count("\n") != 1 or named not in err:
                faults.append(f"{' '.join(command)}: exit {code}, stderr {err!r}; must be 2 and "
                              f"one line that names {named!r}")
    return faults


def classes_of(sim, policy, scenario, kind):
    """Number of classes, or None: the search did not end, or is none for this case."""
    code, out, _ = run(sim, "explore", "--policy", policy, "--scenario", scenario, "--threads",
                       "2", "--operations", "1", "--search", kind, "--executions", "3000")
    found = re.search(r"(\d+) executions \((\d+) repeated.* all there are: no violation", out)
    if code != 0 or not found or "not all" in out:
        return None
    return int(found.group(1)) - int(found.group(2))


def classes(sim):
    """Faults of the reduction."""
    names = run(sim, "list")[1].split("scenarios:\n")
    policies, scenarios = ([line.split()[0] for line in half.split("\n") if line.strip()]
                           for half in (names[0].split("\n", 1)[1], names[1]))
    faults, compared = [], 0
    for policy in policies:
        for scenario in scenarios:
            own = classes_of(sim, policy, scenario, "dpor")
            if own is None:
                continue # sleep sets would not end either: they execute no fewer
            sleep = classes_of(sim, policy, scenario, "sleep")
            if sleep is None:
                continue
            compared += 1
            if own != sleep:
                faults.append(f"{policy} {scenario}: {own} classes by source sets, "
                              f"{sleep} by sleep sets")
    print(f"{compared} scenarios compared")
    return faults + ([] if compared >= 30 else ["too few scenarios end"])


def gdb(sim):
    """Faults of gdb.py."""
    if shutil.which("gdb") is None:
        print("gdb is not installed: skipped")
        sys.exit(77)
    with tempfile.NamedTemporaryFile("w", suffix=".gdb") as file:
        file.write(COMMANDS)
        file.flush()
        _, out, err = run("gdb", "-q", "-batch", "-nx", "-x", GDB, "-x",
                          file.name, "--args", sim, "replay",
                          os.path.join(FOLDER, "read_publish_relaxed.schedule"))
    if "not permitted" in out + err:
        print("gdb may not trace here: skipped")
        sys.exit(77)
    wanted = ("thread 0: runs, at or after", "thread 1: parked before note", "read_one (",
              "pfs_case_give (", "rewrite_body (", "case_read.c:", "pfs_fiber_start ()")
    return [f"gdb does not show {text!r}:\n{out}\n{err}" for text in wanted if text not in out]


def main():
    """Run one part."""
    parts = {"saved": saved, "example": example, "wrong": wrong, "classes": classes,
             "gdb": gdb}
    if len(sys.argv) != 3 or sys.argv[2] not in parts:
        print(__doc__, file=sys.stderr)
        return 2
    faults = parts[sys.argv[2]](sys.argv[1])
    for fault in faults:
        print(f"FAILED: {fault}")
    print(f"{sys.argv[2]}: {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
