#!/usr/bin/env python3
"""server_box.py - MariaDB's own tables of memory compared with its box: after a storm, and a second
before it was killed during another one.

usage: server_box.py MARIADBD SCRIPTS PFS_MEM [CONNECTIONS [OPTION...]]
MARIADBD is a server with the adapter of server/mariadb, SCRIPTS the folder of its SQL scripts
(mysql_system_tables.sql), PFS_MEM the program. The server gets the OPTIONs, too. The result is JSON
on stdout: after is what compare_after_storm returns, kill what kill_during_storm does.
Exit 0: measured. 1: the server or a client failed. 2: bad usage.
"""

import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TABLES = ("thread", "account", "user", "host", "global")
BYTES, LARGEST = "CURRENT_NUMBER_OF_BYTES_USED", 20
WAIT_S, BEFORE_S = 60, 1.0
# The users of a storm, the share of its connections, and what each asks.
USERS = (("app", 0.6, "select sleep(0.3)"),
         ("batch", 0.3, "select sleep(0.3), repeat('x', 60000)"),
         ("report", 0.1, "select sleep(0.3), group_concat(name) from mysql.help_topic"))


class Failed(Exception):
    """Why the server, a client or pfs-mem failed, in a line."""


def output(command, seconds=WAIT_S):
    """What a program prints; Failed with its last line if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace",
                              timeout=seconds, check=False, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Failed(f"{command[0]}: {error}") from None
    if done.returncode:
        last = (done.stderr.strip() or "no message").splitlines()[-1]
        raise Failed(f"{os.path.basename(command[0])}: {last}")
    return done.stdout


def table_of(which):
    """A summary table."""
    return f"memory_summary_{'' if which == 'global' else 'by_'}{which}_by_event_name"


class Server:
    """A server that this script starts. The two measurements need: pid, boxes (the folder of its
    box) and rows(statement, user)."""

    def __init__(self, binary, scripts, folder, options):
        self.socket, self.boxes = os.path.join(folder, "s"), os.path.join(folder, "boxes")
        data = os.path.join(folder, "data")
        os.mkdir(data)
        os.mkdir(self.boxes, 0o700)
        words = [binary, "--no-defaults", "--user=root", f"--datadir={data}", "--skip-networking",
                 f"--lc-messages-dir={os.path.join(scripts, '..', 'sql', 'share')}",
                 "--default-storage-engine=Aria"]
        texts = ["create database mysql;\ncreate database test;\nuse mysql;\n"]
        for name in ("mysql_system_tables", "mysql_performance_tables", "mysql_system_tables_data"):
            with open(os.path.join(scripts, name + ".sql"), encoding="utf-8") as file:
                texts.append(file.read())
        done = subprocess.run([*words, "--bootstrap"], input="\n".join(texts), text=True,
                              capture_output=True, check=False)
        if done.returncode:
            raise Failed("the bootstrap of the data folder failed")
        with open(os.path.join(folder, "log"), "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [*words, f"--socket={self.socket}", "--skip-grant-tables",
                 "--max-connections=4000", "--performance-schema=ON",
                 "--performance-schema-instrument=%=on", "--pfslab-accounts=ON", *options],
                stdout=log, stderr=log, env=dict(os.environ, PFS_MEM_DIR=self.boxes))
        self.pid = self.process.pid
        end = time.monotonic() + WAIT_S
        while not os.path.exists(self.socket):
            if self.process.poll() is not None or time.monotonic() > end:
                raise Failed(f"the server does not start: see {folder}/log")
            time.sleep(0.05)

    def rows(self, statement, user="root"):
        """The rows of an answer, each a list of texts."""
        answer = output(["mariadb", "--no-defaults", "-S", self.socket, "-u", user, "-N", "-B",
                         "performance_schema", "-e", statement])
        return [line.split("\t") for line in answer.splitlines()]

    def end(self):
        """No process stays."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


class Box:
    """The server's box, as pfs-mem shows it."""

    def __init__(self, pfs_mem, path):
        self.pfs_mem, self.path = pfs_mem, path

    def rows(self, statement):
        """The same for the box."""
        answer = output([self.pfs_mem, "sql", self.path, "--format", "json", statement])
        return [list(row.values()) for row in json.loads(answer)]


def box_of(server, pfs_mem):
    """The box that a server has in its folder."""
    found = glob.glob(os.path.join(server.boxes, f"{server.pid}-*.box"))
    if not found:
        raise Failed(f"{server.boxes}: no box of the server; was it built with the adapter?")
    return Box(pfs_mem, found[0])


class Slaps:
    """A storm of mariadb-slap, one for each user."""

    def __init__(self, server, connections):
        self.server = server
        counts = [max(1, round(share * connections)) for _, share, _ in USERS]
        self.connections = sum(counts)
        self.processes = [subprocess.Popen(
            ["mariadb-slap", "--no-defaults", "-S", server.socket, "-u", user, "--delimiter=;",
             "--create-schema=test", "--iterations=1", f"--concurrency={count}",
             f"--number-of-queries={count * 200}", f"--query={query}"], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for count, (user, _, query) in zip(counts, USERS)]

    def rise(self):
        """Wait until all are there."""
        end = time.monotonic() + WAIT_S
        while int(self.server.rows("show global status like 'Threads_connected'")[0][1]) \
                < self.connections:
            if time.monotonic() > end:
                raise Failed("the storm does not rise")
            time.sleep(0.2)

    def end(self):
        """No client stays."""
        for process in self.processes:
            process.kill()
            process.wait()


def largest(source):
    """The largest instruments."""
    rows = source.rows(f"SELECT EVENT_NAME, {BYTES} FROM {table_of('global')} ORDER BY 2 DESC "
                       f"LIMIT {LARGEST}")
    return [{"name": name, "bytes": int(number)} for name, number in rows]


def accounts(source):
    """The accounts, largest first. A thread of the server itself has none."""
    rows = source.rows(f"SELECT USER, HOST, sum({BYTES}) FROM {table_of('account')} GROUP BY USER, "
                       "HOST ORDER BY 3 DESC")
    return [{"user": None if user in (None, "NULL") else user,
             "host": None if host in (None, "NULL") else host, "bytes": int(number)}
            for user, host, number in rows]


def totals(source):
    """{table: (bytes, rows below zero)}."""
    found = {}
    for which in TABLES:
        total, below = source.rows(
            f"SELECT sum({BYTES}), sum({BYTES} < 0 OR CURRENT_COUNT_USED < 0) FROM "
            f"{table_of(which)}")[0]
        found[which] = (int(total), int(below))
    return found


def below_zero(source):
    """The rows below zero, of accounts and of all."""
    found = []
    for which, who in (("account", "ifnull(USER, '')"), ("global", "''")):
        found += [{"table": which, "user": user, "name": name, "bytes": int(number)}
                  for user, name, number in source.rows(
                      f"SELECT {who}, EVENT_NAME, {BYTES} FROM {table_of(which)} WHERE {BYTES} < 0 "
                      "OR CURRENT_COUNT_USED < 0 ORDER BY 3")]
    return found


def too_much(source):
    """Instruments of which the accounts have more than all together: (how many, bytes)."""
    both = {}
    for which in ("account", "global"):
        both[which] = {name: int(number) for name, number in source.rows(
            f"SELECT EVENT_NAME, sum({BYTES}) FROM {table_of(which)} GROUP BY EVENT_NAME")}
    more = [number - both["global"].get(name, 0) for name, number in both["account"].items()
            if number > both["global"].get(name, 0)]
    return {"instruments": len(more), "bytes": sum(more)}


def resident_bytes(pid):
    """What the process holds."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmRSS"))


def sums_of(in_tables):
    """{table: bytes} of totals()."""
    return {which: total for which, (total, _) in in_tables.items()}


def compare_after_storm(server, pfs_mem, storm):
    """Both at the same moment: a storm is over, and another user has flushed the tables."""
    storm.rise()
    time.sleep(1)
    storm.end()
    time.sleep(2)
    server.rows("flush tables", "admin")
    time.sleep(1)
    return {name: {"sums": sums_of(totals(source)), "below_zero": below_zero(source),
                   "too_much": too_much(source), "accounts": accounts(source)}
            for name, source in (("server", server), ("box", box_of(server, pfs_mem)))}


def kill_during_storm(server, pfs_mem, storm):
    """The server's tables, and a second later its box, after kill -9. storm.rise() returns when its
    storm.connections are there."""
    storm.rise()
    at, box = time.time(), box_of(server, pfs_mem)
    in_server, rows, people = totals(server), largest(server), accounts(server)
    rss = resident_bytes(server.pid)
    time.sleep(max(0.0, at + BEFORE_S - time.time()))
    os.kill(server.pid, signal.SIGKILL)
    killed = time.time()
    if hasattr(server, "process"):
        server.process.wait()
    in_box, box_rows = totals(box), largest(box)
    names = {row[0] for row in box.rows(
        f"SELECT EVENT_NAME FROM {table_of('global')} WHERE {BYTES} > 0")}
    return {
        "at": at, "seconds_before": killed - at, "connections": storm.connections,
        "server_rows": rows, "box_rows": box_rows, "server_accounts": people,
        "accounts": accounts(box),
        "below_zero_server": sum(below for _, below in in_server.values()),
        "below_zero_box": sum(below for _, below in in_box.values()),
        "sums_server": sums_of(in_server), "sums_box": sums_of(in_box),
        "total_server": in_server["global"][0], "total_box": in_box["global"][0], "rss": rss,
        "missing": [row for row in rows if row["name"] not in names],
        "lost": {name: int(number) for name, number in box.rows(
            "SELECT VARIABLE_NAME, VARIABLE_VALUE FROM global_status WHERE VARIABLE_NAME LIKE "
            "'%lost%'") if int(number)},
        "top": output([pfs_mem, "top", box.path, "--once"]).splitlines()[:12],
    }


def main(words):
    """See above."""
    if len(words) < 3 or words[0] in ("-h", "--help"):
        is_asked = words[:1] in (["-h"], ["--help"])
        print(__doc__, file=sys.stdout if is_asked else sys.stderr)
        return 0 if is_asked else 2
    folder = tempfile.mkdtemp()
    server = storm = None
    try:
        server = Server(words[0], words[1], folder, words[4:])
        connections = int(words[3]) if len(words) > 3 else 300
        storm = Slaps(server, connections)
        after = compare_after_storm(server, words[2], storm)
        storm = Slaps(server, connections)
        print(json.dumps({"after": after, "kill": kill_during_storm(server, words[2], storm)},
                         indent=1))
    except Failed as error:
        print(f"server_box.py: {error}", file=sys.stderr)
        return 1
    finally:
        for each in (storm, server):
            if each:
                each.end()
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
