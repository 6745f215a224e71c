#!/usr/bin/python3
"""guard_test.py - what clients of pfs-mem serve may do, and how much it may cost: allow-lists,
single opcodes, compiling, memory, idle and slow clients, strangers that take connections.

usage: guard_test.py SQL_LIVE PFS_MEM EXTENSION [unittest's arguments]
Exit 0: all is as it must be. 1: something is not. 77: there is no mariadb client.
"""

import http.client
import os
import shutil
import signal
import socket
import sqlite3
import struct
import sys
import time
import unittest

import http_test
import mysql_test

# SQLite's functions that give what MySQL's give, as they are or replaced.
ALLOWED = set("""abs avg ceil ceiling coalesce concat concat_ws count cume_dist dense_rank exp
first_value floor format group_concat hex if ifnull instr lag last_value lead length like ln log
log10 log2 lower ltrim max min mod nullif ntile octet_length percent_rank pi pow power rank replace
round row_number rtrim sign sqrt substr substring sum trim upper""".split())
LONG = "REPEAT('a', 60000)"
OTHER = "CONCAT(REPEAT('a', 30000), 'b')"
# Each takes one opcode of SQLite's as long as texts of the greatest length allow.
OPCODES = (
    f"SELECT INSTR({LONG}, {OTHER})",
    f"SELECT LOCATE({OTHER}, {LONG})",
    f"SELECT REPLACE({LONG}, {OTHER}, 'c')",
    f"SELECT LENGTH(SUBSTRING_INDEX({LONG}, {OTHER}, 1))",
    f"SELECT LENGTH(TRIM({LONG}, CONCAT(REPEAT('b', 5000), 'a')))",
    f"SELECT {LONG} LIKE '{'%a' * 200}b'",
    f"SELECT {LONG} LIKE '{'%_' * 200}b'",
    f"SELECT LENGTH(HEX({OTHER}))",
    f"SELECT LENGTH(LPAD('a', 60000, {OTHER}))",
    f"SELECT UPPER({LONG}) = LOWER({LONG})",
)
TOO_LARGE = (
    f"SELECT CONCAT({LONG}, {LONG})",
    "SELECT REPEAT('a', 1000000000)",
    "SELECT LPAD('a', 1000000000, 'b')",
    f"WITH RECURSIVE c(n, s) AS (SELECT 1, {OTHER} UNION ALL SELECT n + 1, CONCAT(s, n) FROM c "
    "LIMIT 1000000) SELECT s FROM c ORDER BY s",
    f"SELECT 1 WHERE 'a' LIKE '{'a' * 600}'",
)
DOUBLING = "WITH c0 AS (SELECT 1 AS x)" + "".join(
    f", c{i} AS (SELECT x FROM c{i - 1} UNION ALL SELECT x FROM c{i - 1})"
    for i in range(1, 31)) + " SELECT sum(x) FROM c30"


class Lists(mysql_test.Served):
    """Functions, tables, pragmas: what is on no list is denied."""

    def test_functions(self):
        """Each function that this SQLite has."""
        self.serve()
        for name, count in sqlite3.connect(":memory:").execute(
                "SELECT name, max(narg) FROM pragma_function_list GROUP BY name"):
            if name in ALLOWED or name in ("->", "->>"):
                continue
            words = ", ".join(["1"] * (1 if count < 0 else count))
            _, _, err = self.call(f"SELECT {name}({words})")
            self.assertRegex(err, "ERROR 1142|ERROR 1064", name)
        for query in ("SELECT '{}' -> 'a'", "SELECT pfs_mem_open('/etc/passwd')",
                      "SELECT fts3_tokenizer('simple', CAST('AAAAAAAA' AS BLOB))"):
            self.assertIn("ERROR 1142", self.call(query)[2], query)

    def test_bound(self):
        """Nor by a prepared statement, whose arguments are bound."""
        self.serve()
        client, _ = self.login(schema=b"sys")
        for query in (b"SELECT fts3_tokenizer(?)", b"SELECT fts3_tokenizer(?, ?)"):
            self.send(client, b"\x16" + query)
            self.assertEqual(self.packet(client)[:3], b"\xff" + struct.pack("<H", 1142))

    def test_tables(self):
        """SQLite's own tables and modules, by every way to name them."""
        self.serve()
        for name in ("sqlite_master", "sqlite_temp_master", "sqlite_schema", "pragma_function_list",
                     "PRAGMA_database_list", "pragma_module_list", "json_each", "dbstat",
                     "sqlite_dbpage", "sqlite_stmt", "fts3tokenize", "generate_series",
                     "\"pragma_compile_options\""):
            for query in (f"SELECT * FROM {name}", f"SELECT count(*) FROM {name}",
                          f"SELECT 1 FROM {name} AS users", f"SELECT (SELECT 1 FROM {name})"):
                self.assertRegex(self.call(query)[2], "ERROR (1142|1146)", query)
        for query in ("PRAGMA trusted_schema = 1", "PRAGMA table_list",
                      "PRAGMA hard_heap_limit = 0", "ATTACH '/tmp/x' AS x", "DETACH main",
                      "VACUUM", "VACUUM INTO '/tmp/x'",
                      "CREATE TEMP TABLE t(a)", "CREATE VIRTUAL TABLE t USING fts3(a)",
                      "DROP VIEW memory_global_total", "ANALYZE main", "SAVEPOINT a",
                      "UPDATE sqlite_temp_master SET sql = ''", "DELETE FROM sqlite_master",
                      "CREATE TEMP TRIGGER t INSTEAD OF UPDATE ON users BEGIN SELECT 1; END"):
            self.assertRegex(self.call(query)[2], "ERROR (1142|1064|1105)", query)

    def test_asked(self):
        """What a box is asked goes on: joins, WITH, windows, subqueries, names of both schemas."""
        self.serve()
        for query in ("WITH t AS (SELECT 1) SELECT count(*) FROM t",
                      "SELECT count(*) FROM (SELECT 1) AS users",
                      "SELECT count(*) FROM sys.memory_global_total",
                      "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 3) "
                      "SELECT sum(n) OVER () FROM c LIMIT 1",
                      "SELECT count(*) FROM threads AS a JOIN users AS b ON 1",
                      "SELECT count(*) FROM information_schema.tables"):
            self.client(query, "performance_schema")


class ReadOnly(mysql_test.Served):
    """Without --allow-changes."""

    def serve(self, *options):
        line = self.serving("--mysql", "socket", *options, self.live.target)
        self.assertIn("mysql.sock", line)
        self.path, self.port, self.password = f"{self.folder}/mysql.sock", 0, None

    def call(self, query, *options):
        return super().call(query, "-hlocalhost", f"--socket={self.path}", "--protocol=socket",
                            *options)

    def test_changes(self):
        """One clear error for each; and nothing has changed."""
        self.serve()
        for query in ("UPDATE pfs.memory_limits SET LIMIT_BYTES = 0",
                      "UPDATE pfs.memory_trace SET LIMIT_BYTES = 0",
                      "UPDATE performance_schema.setup_instruments SET ENABLED = 'NO'",
                      "TRUNCATE TABLE performance_schema.memory_summary_global_by_event_name",
                      "DELETE FROM performance_schema.memory_summary_by_host_by_event_name",
                      "INSERT INTO performance_schema.threads VALUES (1)"):
            _, _, err = self.call(query)
            self.assertIn("ERROR 1290", err)
            self.assertIn("--allow-changes", err)
        self.assertEqual(self.client("SELECT DISTINCT ENABLED FROM setup_instruments",
                                     "performance_schema"), [("YES",)])
        self.assertEqual(self.client("SELECT @@read_only, @@wait_timeout"), [("1", "600")])
        self.live.do("alloc", self.live.do("begin", "x", "al", "h1", "YES"), "memory/a/x", 10)

    def test_password(self):
        """One that is given is asked for at a Unix socket, too."""
        self.serve("--password-file", self.file("password", "long enough\n"))
        self.assertIn("ERROR 1045", self.call("SELECT 1")[2])
        self.assertEqual(self.client("SELECT 1", "-plong enough"), [("1",)])

    def test_folder(self):
        """Others cannot have put a socket into the usual folder."""
        os.chmod(self.folder, 0o755)
        self.one_line(("serve", "--mysql", "socket", self.live.target), 1, "only you can enter")
        os.chmod(self.folder, 0o700)

    def test_left_over(self):
        """The socket of a killed server is replaced; that of a living one is not."""
        self.serve()
        self.one_line(("serve", "--mysql", "socket", self.live.target), 1, "a server listens there")
        self.server.kill()
        self.server.wait()
        self.server.stderr.close()
        self.wait_refused() # the process of a connection may live for a moment longer
        self.serve()
        self.assertEqual(self.client("SELECT 1"), [("1",)])

    def wait_refused(self):
        """Until nobody listens."""
        for _ in range(1000):
            with socket.socket(socket.AF_UNIX) as probe:
                if probe.connect_ex(self.path) != 0:
                    return
            time.sleep(0.01)


class Bounds(mysql_test.Served):
    """Time, memory, connections."""

    def timed(self, query):
        """Seconds, and what the client said."""
        begun = time.monotonic()
        code, _, err = self.call(query)
        return time.monotonic() - begun, code, err

    def test_opcodes(self):
        """None takes long, whatever its arguments."""
        self.serve()
        for query in OPCODES:
            seconds, code, err = self.timed(query)
            self.assertEqual(code, 0, f"{query[:60]}: {err[-200:]}")
            self.assertLess(seconds, 9, query[:60])

    def test_memory(self):
        """What is too large is refused, and the connections of others do not notice."""
        self.serve()
        for query in TOO_LARGE:
            seconds, code, err = self.timed(query)
            self.assertEqual(code, 1, query[:60])
            self.assertRegex(err, "too big|out of memory|too complex|larger than|3024", query[:60])
            self.assertLess(seconds, 14, query[:60])

    def test_compile(self):
        """A statement whose compilation does not end: it ends all the same."""
        self.serve()
        seconds, code, err = self.timed(DOUBLING)
        self.assertEqual(code, 1, err)
        self.assertLess(seconds, 14)
        self.assertEqual(self.client("SELECT 1"), [("1",)])

    def test_overdue(self):
        """The process of a statement that SQLite does not interrupt ends, and says so: here its
        timer is made to end early."""
        self.serve()
        client, _ = self.login()
        self.send(client, b"\x03WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) "
                          b"SELECT count(*) FROM c")
        time.sleep(0.5)
        with open(f"/proc/{self.server.pid}/task/{self.server.pid}/children",
                  encoding="ascii") as file:
            os.kill(int(file.read().split()[0]), signal.SIGALRM)
        said = self.packet(client)
        self.assertEqual(said[:3], b"\xff" + struct.pack("<H", 3024), said)
        self.assertEqual(self.packet(client), b"")
        self.assertEqual(self.client("SELECT 1"), [("1",)])

    def test_idle(self):
        """A connection that asks nothing ends; so does one that sends a byte now and then."""
        self.serve("--idle-seconds", "1")
        client, _ = self.login()
        slow, _ = self.login()
        begun = time.monotonic()
        self.assertEqual(self.packet(client), b"")
        self.assertLess(time.monotonic() - begun, 5)
        slow, _ = self.login()
        begun = time.monotonic()
        slow.sendall(struct.pack("<I", 1000)[:3] + b"\0")
        with self.assertRaises(OSError):
            for _ in range(200):
                slow.sendall(b"x")
                time.sleep(0.2)
        self.assertLess(time.monotonic() - begun, 15)

    def test_strangers(self):
        """Connections without the password do not keep out the one who knows it."""
        self.serve()
        strangers = [self.raw()[0] for _ in range(64)]
        for _ in range(3):
            self.assertEqual(self.client("SELECT 1"), [("1",)])
        self.assertEqual(len(strangers), 64)


class Cut(mysql_test.Served):
    """A box that is truncated while it is served."""

    def test_truncated(self):
        """A connection says so, and goes on; a new one says the same."""
        self.serve()
        client, _ = self.login(schema=b"sys")
        self.send(client, b"\x03SELECT count(*) FROM threads")
        while self.packet(client)[:1] != b"\xfe":
            pass
        os.truncate(self.live.path, 8192)
        client, _ = self.login(schema=b"sys")
        self.send(client, b"\x03SELECT count(*) FROM threads")
        self.assertIn(b"truncated", self.packet(client))
        self.live.do("alloc", self.live.do("begin", "x", "al", "h1", "YES"), "memory/a/x", 10)


class Http(http_test.Served):
    """The same by HTTP."""

    def test_strangers(self):
        """Nor here; and the kernel's backlog is theirs, too."""
        self.serve("all")
        strangers = []
        for _ in range(300):
            strangers.append(socket.create_connection(("127.0.0.1", self.port), timeout=15))
            self.addCleanup(strangers[-1].close)
        for _ in range(5):
            self.get("/api/boxes")

    def test_full(self):
        """Where nobody is a stranger, a newcomer is told that there are too many."""
        line = self.serving("--http", "socket", "all")
        self.assertIn("curl --unix-socket", line)
        idle = []
        for _ in range(242):
            idle.append(socket.socket(socket.AF_UNIX))
            idle[-1].connect(f"{self.folder}/http.sock")
            self.addCleanup(idle[-1].close)
        client = http.client.HTTPConnection("localhost", timeout=15)
        client.sock = socket.socket(socket.AF_UNIX)
        client.sock.connect(f"{self.folder}/http.sock")
        client.request("GET", "/metrics")
        answer = client.getresponse()
        self.assertEqual((answer.status, answer.getheader("Retry-After")), (503, "1"))
        self.assertIn(b"too many connections", answer.read())
        client.close()


if __name__ == "__main__":
    if not shutil.which("mariadb"):
        print("guard_test: no mariadb client; install mariadb-client")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
