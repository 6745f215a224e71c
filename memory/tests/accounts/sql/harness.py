"""harness.py - the program with known accounts (live.c), and the test's own books of it."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 4,
                                "scripts"))
from common.browser import CHROMIUM, browse  # pylint: disable=wrong-import-position,unused-import

LIVE, PFS_MEM, EXTENSION = sys.argv[1:4]
COLUMNS = ("COUNT_ALLOC,COUNT_FREE,SUM_NUMBER_OF_BYTES_ALLOC,SUM_NUMBER_OF_BYTES_FREE,"
           "LOW_COUNT_USED,CURRENT_COUNT_USED,HIGH_COUNT_USED,LOW_NUMBER_OF_BYTES_USED,"
           "CURRENT_NUMBER_OF_BYTES_USED,HIGH_NUMBER_OF_BYTES_USED")
TABLES = {"thread": "THREAD_ID", "account": "USER,HOST", "user": "USER", "host": "HOST"}


def table(kind):
    """MySQL's name of one of the five tables."""
    return "memory_summary_global_by_event_name" if kind == "global" else \
        f"memory_summary_by_{kind}_by_event_name"


class Live:
    """The program, as its commands."""

    def __init__(self, folder, rule="exact"):
        self.process = subprocess.Popen([LIVE, rule], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, "PFS_MEM_DIR": folder})
        self.path = self.process.stdout.readline().split(" ", 1)[1].strip()
        self.target = str(self.process.pid)

    def do(self, *words):
        """Run a command to its end; the number that it answers."""
        self.process.stdin.write(" ".join(str(w) for w in words) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        if not answer or answer[0] != "ok":
            raise AssertionError(f"{words}: {answer}")
        return int(answer[1])

    def kill(self):
        """SIGKILL."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def end(self):
        """However it stands."""
        if self.process.poll() is None:
            self.kill()
        self.process.stdin.close()
        self.process.stdout.close()


class Row:
    """A row by brute force."""

    def __init__(self):
        self.allocs = self.frees = self.alloc_bytes = self.free_bytes = 0
        self.high = self.low = self.high_bytes = self.low_bytes = 0

    def note(self, sign, size):
        """An allocation (1) or a free (-1)."""
        if sign > 0:
            self.allocs, self.alloc_bytes = self.allocs + 1, self.alloc_bytes + size
        else:
            self.frees, self.free_bytes = self.frees + 1, self.free_bytes + size
        used, in_bytes = self.allocs - self.frees, self.alloc_bytes - self.free_bytes
        self.high, self.low = max(self.high, used), min(self.low, used)
        self.high_bytes = max(self.high_bytes, in_bytes)
        self.low_bytes = min(self.low_bytes, in_bytes)

    def exact(self):
        """The columns without marks."""
        return (self.allocs, self.frees, self.alloc_bytes, self.free_bytes,
                self.allocs - self.frees, self.alloc_bytes - self.free_bytes)

    def marks(self):
        """low, high of counts and bytes, as they truly were."""
        return self.low, self.high, self.low_bytes, self.high_bytes


class Books:
    """What the test knows of each thread, account, user, host, and all."""

    def __init__(self):
        self.rows = {kind: {} for kind in (*TABLES, "global")}
        self.blocks = []

    def note(self, sign, life, event, size):
        """To all rows that a life's block is of."""
        thread, user, host = life
        keys = {"thread": (thread,), "account": (user, host), "user": (user,), "host": (host,),
                "global": ()}
        for kind, key in keys.items():
            self.rows[kind].setdefault((*key, event), Row()).note(sign, size)


class Case(unittest.TestCase):
    """With a folder of boxes, and a connection that has the extension."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        os.chmod(self.folder, 0o700)
        os.environ["PFS_MEM_DIR"] = self.folder
        self.live = self.server = None

    def stop(self):
        """The server ends when asked to, and has nothing more to say."""
        if self.server:
            self.server.terminate()
            self.assertEqual((self.server.wait(timeout=20), self.server.stderr.read()), (0, ""))
            self.server.stderr.close()
        self.server = None

    def tearDown(self):
        self.stop()
        if self.live:
            self.live.end()
        shutil.rmtree(self.folder)

    def start(self, rule="exact"):
        """The program, and a connection to its box."""
        self.live = Live(self.folder, rule)
        return self.live, self.connect(self.live.target)

    def file(self, name, text, mode=0o600):
        """A file in the folder; its path."""
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            os.chmod(path, mode)
            file.write(text)
        return path

    def serving(self, *words):
        """pfs-mem serve until the test ends; the line that it says first."""
        self.server = subprocess.Popen([PFS_MEM, "serve", *words], stderr=subprocess.PIPE,
                                       text=True)
        return self.server.stderr.readline()

    def fits_a_telephone(self):
        """page.html is drawn in a narrow window, and needs no scrolling sideways."""
        frame = self.file("frame.html", '<iframe src="page.html" style="width:400px;height:800px" '
                          'onload="document.body.dataset.phone = this.contentDocument.body.dataset'
                          ".wide + ' ' + this.contentDocument.body.dataset.ok\"></iframe>")
        self.assertIn('data-phone="false true"', browse(frame, 900))

    def one_line(self, words, status, part, out=""):
        """pfs-mem says one line, and part of it."""
        code, said, err = self.mem(*words)
        self.assertEqual((code, said, len(err.splitlines())), (status, out, 1), (words, err))
        self.assertIn(part, err)

    def connect(self, target=None):
        """A connection; without a target that of the environment."""
        database = sqlite3.connect(":memory:", isolation_level=None)
        self.addCleanup(database.close)
        database.enable_load_extension(True)
        database.load_extension(EXTENSION)
        if target:
            database.execute("SELECT pfs_mem_open(?)", (target,)).fetchall()
        return database

    def refused(self, database, query, part):
        """One line, and part of it."""
        with self.assertRaises(sqlite3.Error) as caught:
            database.execute(query).fetchall()
        line = str(caught.exception)
        self.assertIn(part, line)
        self.assertNotIn("\n", line)

    def mem(self, *words, text=None):
        """pfs-mem: exit status, output, errors."""
        done = subprocess.run([PFS_MEM, *words], input=text, capture_output=True, text=True,
                              timeout=60, check=False)
        return done.returncode, done.stdout, done.stderr
