#!/usr/bin/python3
"""adds_up.py - programs of Debian under load and under pfs-mem run: is nothing below zero, does
memory_os add up to what is resident, and how much of it is unaccounted?

usage: adds_up.py PFS_MEM NAME...      mariadb, redis, python
Each is asked once a second, by its box alone. Prints a line for each, as JSON: the largest share
of unaccounted at any tick, beyond the row resident_moved, by which the box says that it may be off;
the largest share of that row; the rows of the last tick; and the share of the heap that shipped
rules name. Exit 0: all is as it should be. 1: something is not. 77: a program is not installed.
"""

import contextlib
import json
import os
import pwd
import re
import shutil
import subprocess
import sys
import tempfile
import time

ALLOWED = 0.10
TABLES = ("thread", "account", "user", "host")
LOWEST = "SELECT min(CURRENT_NUMBER_OF_BYTES_USED), min(CURRENT_COUNT_USED) FROM "
PYTHON = """
import json, mmap, re, threading
def work(number):
    kept = []
    for i in range(200):
        text = json.dumps([{"a": list(range(200)), "b": "x" * 500} for _ in range(10)])
        kept.append(json.loads(text) if i % 3 else re.findall("[0-9]+", text))
own = mmap.mmap(-1, 40 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
for at in range(0, 30 << 20, 4096):
    own[at] = 1
for _ in range(12):
    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for one in threads: one.start()
    for one in threads: one.join()
"""


class Wrong(Exception):
    """What is not as it should be."""


def which(name):
    """The path of a command; 77 if it is not there."""
    path = shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin")
    if path is None:
        print(f"adds_up.py: skipped: no {name}", file=sys.stderr)
        sys.exit(77)
    return path


class Watched:
    """A program under pfs-mem run, and what its box says."""

    def __init__(self, tool, folder, command):
        self.tool, self.worst, self.moved, self.looks = tool, 0.0, 0.0, 0
        self.rows, self.named = {}, 0.0
        boxes = os.path.join(folder, "boxes")
        os.mkdir(boxes, 0o700)
        self.environment = {**os.environ, "PFS_MEM_DIR": boxes, "LC_ALL": "C"}
        with open(os.path.join(folder, "log"), "wb") as log:
            self.process = subprocess.Popen( # pylint: disable=consider-using-with
                [tool, "run", "--tick-ms", "500", "--", *command], env=self.environment,
                cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def ask(self, query):
        """Rows, as lists of texts; none when it has just ended."""
        done = subprocess.run(
            [self.tool, "sql", str(self.process.pid), "--format", "csv", query], check=False,
            env=self.environment, capture_output=True, text=True, timeout=60)
        if done.returncode and not self.ends(done.stderr):
            raise Wrong(done.stderr.strip())
        return [line.split(",") for line in done.stdout.strip().split("\n")[1:]]

    def ends(self, refusal):
        """A box goes some moments ahead of its process."""
        if "has no box" in refusal:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=10)
        return self.process.poll() is not None

    def look(self):
        """One moment of it."""
        rows = {name: (int(number or 0), part) for name, number, part in
                self.ask("SELECT NAME, BYTES, PART_OF FROM memory_os")}
        if rows.get("library_data", (0,))[0] == 0: # no tick yet, or it has ended
            return
        total = sum(number for number, part in rows.values() if part == "resident")
        resident = rows["resident"][0]
        if total != resident:
            raise Wrong(f"the parts are {total}, resident is {resident}")
        below = [name for name, (number, part) in rows.items() if number < 0 and
                 name not in ("unaccounted", "heap_not_resident")]
        if below:
            raise Wrong(f"below zero: {below}")
        self.rows = {name: number for name, (number, _) in rows.items()}
        moved = rows["resident_moved"][0]
        self.worst = max(self.worst, (abs(rows["unaccounted"][0]) - moved) / resident)
        self.moved = max(self.moved, moved / resident)
        self.looks += 1
        for table in (f"memory_summary_by_{kind}_by_event_name" for kind in TABLES):
            for row in self.ask(LOWEST + table):
                if any(number.startswith("-") for number in row):
                    raise Wrong(f"{table} is below zero: {row}")

    def watch(self, load):
        """Look once a second as long as a process runs."""
        while load.poll() is None:
            time.sleep(1)
            self.look()
        if load.returncode:
            raise Wrong(f"{load.args[0]}: exit {load.returncode}")

    def tell(self, command, *words):
        """Rows of a command, as dictionaries."""
        done = subprocess.run([self.tool, command, str(self.process.pid), *words, "--format",
                               "json"], check=True, env=self.environment, capture_output=True,
                              text=True, timeout=60)
        return json.loads(done.stdout)

    def names(self, least):
        """What top lists is at least nine tenths of what is resident; shipped rules name at least
        this share of the heap's bytes, whether or not its symbols are installed."""
        parts = [(row["KIND"], row["CURRENT"]) for row in self.tell("top", "--once", "--count",
                                                                    "1000")]
        known = sum(size for kind, size in parts if kind != "unknown")
        share = known / self.rows["resident"]
        if share < 1 - ALLOWED:
            raise Wrong(f"top explains {share:.3f} of what is resident: {parts}")
        lines = self.tell("profile", "--by-name", "--count", "1000")
        named = sum(row["BYTES"] for row in lines if re.fullmatch(r"memory/[\w/]+", row["WHERE"]))
        self.named = named / sum(row["BYTES"] for row in lines)
        if self.named < least:
            raise Wrong(f"rules name {self.named:.3f} of the heap: {lines}")

    def until(self, words):
        """Try a command until it succeeds."""
        end = time.monotonic() + 60
        while subprocess.run(words, check=False, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL).returncode:
            if self.process.poll() is not None or time.monotonic() > end:
                raise Wrong("it does not start")
            time.sleep(0.1)

    def result(self, status):
        """What was seen; status: of its end."""
        if status != 0:
            raise Wrong(f"exit {status}")
        if self.looks == 0:
            raise Wrong("it was never seen")
        if self.worst > ALLOWED:
            raise Wrong(f"{100 * self.worst:.1f} % unaccounted: {self.rows}")
        return {"looks": self.looks, "unaccounted_most": round(self.worst, 5),
                "moved_most": round(self.moved, 5), "rows": self.rows,
                "named": round(self.named, 3)}


def quiet(*words):
    """A load, beside."""
    return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def mariadb(tool, folder):
    """A server of its own under mysqlslap."""
    data, socket = os.path.join(folder, "data"), os.path.join(folder, "s")
    user = f"--user={pwd.getpwuid(os.getuid()).pw_name}"
    server, slap = which("mariadbd"), which("mysqlslap")
    subprocess.run([which("mariadb-install-db"), "--no-defaults", f"--datadir={data}", user,
                    "--auth-root-authentication-method=normal", "--skip-test-db"], check=True,
                   capture_output=True, timeout=180, env={**os.environ, "TMPDIR": folder})
    client = ["--no-defaults", f"--socket={socket}", "-u", "root"]
    watched = Watched(tool, folder, [server, "--no-defaults", f"--datadir={data}", user,
                                     f"--socket={socket}", "--skip-networking",
                                     f"--tmpdir={folder}"])
    try:
        watched.until(["mariadb-admin", *client, "ping"])
        watched.watch(quiet(slap, *client, "--concurrency=8", "--auto-generate-sql",
                            "--auto-generate-sql-load-type=mixed", "--number-of-queries=20000",
                            "--auto-generate-sql-add-autoincrement"))
        time.sleep(1)
        watched.look()
        watched.names(0.9)
        subprocess.run(["mariadb-admin", *client, "shutdown"], check=True, timeout=60)
        return watched.result(watched.process.wait(timeout=60))
    finally:
        watched.process.kill()


def redis(tool, folder):
    """A server (redis-check-rdb is the same file, by another name) under redis-benchmark."""
    socket, program = os.path.join(folder, "s"), os.path.join(folder, "redis-server")
    load = which("redis-benchmark")
    os.symlink(which("redis-check-rdb"), program)
    watched = Watched(tool, folder, [program, "--port", "0", "--unixsocket", socket, "--save", "",
                                     "--dir", folder])
    try:
        watched.until(["redis-cli", "-s", socket, "ping"])
        watched.watch(quiet(load, "-s", socket, "-q", "-n", "100000", "-c", "20", "-d", "200", "-t",
                            "set,get,lpush,sadd,hset", "-r", "100000"))
        time.sleep(1)
        watched.look()
        watched.names(0.9)
        subprocess.run(["redis-cli", "-s", socket, "shutdown", "nosave"], check=True, timeout=60)
        return watched.result(watched.process.wait(timeout=60))
    finally:
        watched.process.kill()


def python(tool, folder):
    """An interpreter with threads, and with mappings of its own."""
    watched = Watched(tool, folder, [which("python3"), "-c", PYTHON])
    try:
        watched.watch(watched.process)
        return watched.result(watched.process.returncode)
    finally:
        watched.process.kill()


def main():
    """The command."""
    tool, status = os.path.abspath(sys.argv[1]), 0
    for name in sys.argv[2:]:
        folder = tempfile.mkdtemp(prefix="pfslab-adds-")
        try:
            run = {"mariadb": mariadb, "redis": redis, "python": python}[name]
            print(json.dumps({"program": name, **run(tool, folder)}), flush=True)
        except (Wrong, OSError, subprocess.SubprocessError) as error:
            print(f"adds_up.py: {name}: {error}", file=sys.stderr)
            status = 1
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
