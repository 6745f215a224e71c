"""mariadb_box.py - MariaDB's own tables of memory compared with its box: after a storm, and a
second before the server was killed during another one.
"""

import glob
import json
import os
import subprocess
import threading
import time

from measuring.mariadb_client import Connection, Crowd, Failed

TABLES = ("thread", "account", "user", "host", "global")
BYTES, LARGEST = "CURRENT_NUMBER_OF_BYTES_USED", 20
WAIT_S, BEFORE_S = 60, 1.0
# The users of a storm, the share of its connections, and what each asks.
USERS = (("app", 0.6, b"select sleep(0.3)"),
         ("batch", 0.3, b"select sleep(0.3), repeat('x', 60000)"),
         ("report", 0.1, b"select sleep(0.3), group_concat(name) from mysql.help_topic"))


def output(*command):
    """What a program prints; Failed with its last line if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace",
                              timeout=WAIT_S, check=False, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Failed(f"{command[0]}: {error}") from None
    if done.returncode:
        last = (done.stderr.strip() or "no message").splitlines()[-1]
        raise Failed(f"{os.path.basename(command[0])}: {last}")
    return done.stdout


class Tables:
    """The server's own tables."""

    def __init__(self, server, user="root"):
        self.connection = Connection(server.path("s"), user, "performance_schema")

    def rows(self, statement):
        """The rows of an answer."""
        return self.connection.rows(statement)


class Box:
    """The box of a server's process, as pfs-mem shows it."""

    def __init__(self, server):
        self.tool = server.built.tool()
        found = glob.glob(os.path.join(server.boxes, f"{server.process.pid}-*.box"))
        if not found:
            raise Failed(f"{server.boxes}: no box of the server; was it built with the adapter?")
        self.path = found[0]

    def rows(self, statement):
        """The same for the box."""
        answer = output(self.tool, "sql", self.path, "--format", "json", statement)
        return [list(row.values()) for row in json.loads(answer)]


class Storm:
    """Connections of all users that ask again and again, served by a thread until the end."""

    def __init__(self, server, connections):
        self.statements = {user: statement for user, _, statement in USERS}
        users = [user for user, share, _ in USERS
                 for _ in range(max(1, round(share * connections)))]
        self.connections, self.began, self.is_over = len(users), set(), False
        self.crowd = Crowd(server.path("s"), self.when_idle, lambda number: users[number])
        self.thread = threading.Thread(target=self.serve, daemon=True)

    def when_idle(self, guest):
        """The next statement."""
        if guest.answers:
            self.began.add(guest)
        guest.ask(self.statements[guest.user])

    def serve(self):
        """Until the end, or until the server is killed."""
        try:
            self.crowd.open(self.connections)
            while not self.is_over:
                self.crowd.serve(0.05)
        except (Failed, OSError):
            pass

    def rise(self):
        """Until all are here and have had an answer."""
        self.thread.start()
        end = time.monotonic() + WAIT_S
        while len(self.began) < self.connections:
            if time.monotonic() > end or not self.thread.is_alive():
                raise Failed("the storm does not rise")
            time.sleep(0.05)

    def end(self):
        """No connection stays."""
        self.is_over = True
        if self.thread.is_alive():
            self.thread.join()
        self.crowd.close_all()


def table_of(which):
    """A summary table."""
    return f"memory_summary_{'' if which == 'global' else 'by_'}{which}_by_event_name"


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


def sums_of(in_tables):
    """{table: bytes} of totals()."""
    return {which: total for which, (total, _) in in_tables.items()}


def after_storm(server, connections):
    """Both at the same moment: a storm is over, and another user has flushed the tables."""
    storm = Storm(server, connections)
    try:
        storm.rise()
        time.sleep(1)
    finally:
        storm.end()
    time.sleep(2)
    server.connect("admin").rows("flush tables")
    time.sleep(1)
    return {name: {"sums": sums_of(totals(source)), "below_zero": below_zero(source),
                   "too_much": too_much(source), "accounts": accounts(source)}
            for name, source in (("server", Tables(server)), ("box", Box(server)))}


def at_kill(server, connections):
    """The server's tables, and a second later its box, after kill -9 during a storm."""
    storm = Storm(server, connections)
    try:
        storm.rise()
        begin, box, tables = time.monotonic(), Box(server), Tables(server)
        in_server, rows, people = totals(tables), largest(tables), accounts(tables)
        rss = server.rss_bytes()
        time.sleep(max(0.0, begin + BEFORE_S - time.monotonic()))
        server.process.kill()
        seconds = time.monotonic() - begin
        server.process.wait()
    finally:
        storm.end()
    in_box = totals(box)
    names = {row[0] for row in box.rows(
        f"SELECT EVENT_NAME FROM {table_of('global')} WHERE {BYTES} > 0")}
    return {
        "seconds_before": round(seconds, 3), "rss_bytes": rss,
        "server": {"sums": sums_of(in_server), "accounts": people, "largest": rows,
                   "below_zero": sum(below for _, below in in_server.values())},
        "box": {"sums": sums_of(in_box), "accounts": accounts(box), "largest": largest(box),
                "below_zero": sum(below for _, below in in_box.values())},
        "missing": [row for row in rows if row["name"] not in names],
        "lost": {name: int(number) for name, number in box.rows(
            "SELECT VARIABLE_NAME, VARIABLE_VALUE FROM global_status WHERE VARIABLE_NAME LIKE "
            "'%lost%'") if int(number)}}


def compare(server, connections):
    """Both comparisons; the server is dead after it."""
    return {"connections": connections, "after": after_storm(server, connections),
            "kill": at_kill(server, connections)}
