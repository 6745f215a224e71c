#!/usr/bin/python3
"""check_cut.py - boxes that are truncated while their programs run: the programs go on, uncounted,
with their own actions for SIGBUS; readers say one line.

usage: check_cut.py PART PFS_MEM CUT
CUT: cut.c. Exit 0: all as expected. 1: something was not.
"""

import glob
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from place import Place, equal, expect, main, run

LINE = "pfslab: the box was truncated while its program runs: the program goes on, uncounted\n"
RUNS = 12
SIZES = (0, 4096, 8192, 1 << 20)  # nothing, the head, the head and the switches, some records
HOLDS = "import time; b = [bytes(3000) for _ in range(3000)]; print('held', flush=True); " \
        "time.sleep(60)"


class Cuts(Place):
    """Programs whose boxes are truncated."""

    def __init__(self, tool, cut):
        super().__init__(tool)
        self.cut = cut

    def ends(self, *words, status=0, line=LINE, said="survived\n"):
        """The program ends so, and one line says what happened to its box."""
        done = run(self.tool, "run", "--", self.cut, *words, env=self.environment, timeout=60)
        equal((done.returncode, done.stdout, done.stderr), (status, said, line), words)

    def hold(self):
        """A program that holds memory, and its box."""
        process = self.start("/usr/bin/python3", "-c", HOLDS)
        equal(process.stdout.readline(), "held\n", "it has begun")
        return process, glob.glob(f"{self.folder}/{process.pid}-*.box")[0]


def threads(cuts):
    """At any moment, to any size; then threads and a child begin."""
    for number in range(RUNS):
        done = run(cuts.tool, "run", "--", cuts.cut, "threads", str(number),
                   str(SIZES[number % len(SIZES)]), env=cuts.environment, timeout=60)
        equal((done.returncode, done.stdout), (0, "survived\n"), f"run {number}: {done.stderr}")
        expect(done.stderr in (LINE, ""), f"run {number}: {done.stderr}")


def actions(cuts):
    """The program's own handlers, and the default."""
    cuts.ends("actions")
    cuts.ends("default", status=-signal.SIGBUS, said="")
    cuts.ends("ignored")


def readers(cuts):
    """Each command says one line; one that watches ends; the program goes on."""
    process, box = cuts.hold()
    watch = subprocess.Popen([cuts.tool, "top", box], env=cuts.environment, text=True,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    time.sleep(0.7)
    os.truncate(box, 8192)
    line = watch.communicate(timeout=30)[1]
    equal((watch.returncode, line.count("\n")), (1, 1), f"top: {line}")
    expect("truncated" in line, f"top: {line}")
    for words in (("show", box, "account"), ("sql", box, "SELECT 1"), ("check", box),
                  ("pprof", box), ("report", "--out", cuts.path("page"), box)):
        done = cuts.run(*words, status=1)
        expect(done.stderr.count("\n") == 1 and "truncated" in done.stderr, f"{words}: {done}")
    equal(process.poll(), None, "the program goes on")
    process.kill()
    process.wait()


def extension(cuts):
    """A process that has the box open through the SQLite extension goes on, with an error."""
    process, box = cuts.hold()
    script = f"""
import ctypes, os, signal, sqlite3
def handler():
    action = (ctypes.c_size_t * 32)()
    ctypes.CDLL(None).sigaction(signal.SIGBUS, None, action)
    return action[0]
print(handler())
database = sqlite3.connect(":memory:")
database.enable_load_extension(True)
database.load_extension({os.path.join(os.path.dirname(cuts.tool), "pfs_mem_sqlite")!r})
database.execute("SELECT pfs_mem_open(?)", ({box!r},)).fetchall()
query = "SELECT count(*) FROM memory_summary_global_by_event_name"
print(database.execute(query).fetchall()[0][0] > 0)
os.truncate({box!r}, 8192)
try:
    print(database.execute(query).fetchall())
except sqlite3.Error as error:
    print(error)
database.close()
print(handler())
"""
    out = cuts.call(["/usr/bin/python3", "-c", script]).stdout.splitlines()
    equal(out[1], "True", "it was read")
    expect(len(out) == 4 and "truncated" in out[2], f"then refused: {out}")
    equal((out[0], out[3]), ("0", "0"), "the process has no handler before and afterwards")
    process.kill()
    process.wait()


if __name__ == "__main__":
    main({one.__name__: one for one in (threads, actions, readers, extension)},
         Cuts(*sys.argv[2:]))
