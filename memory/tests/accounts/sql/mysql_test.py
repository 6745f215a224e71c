#!/usr/bin/python3
"""mysql_test.py - a box through pfs-mem serve --mysql: Debian's mariadb client, the queries of
mysqld_exporter's memory collectors, and packets that no client sends.

usage: mysql_test.py SQL_LIVE PFS_MEM EXTENSION [unittest's arguments]
Exit 0: all is as it must be. 1: something is not. 77: there is no mariadb client.
"""

import hashlib
import json
import os
import random
import re
import shutil
import socket
import struct
import subprocess
import sys
import unittest

from harness import COLUMNS, PFS_MEM, TABLES, Case, table

# As its collectors perf_schema.memory_events and sys.user_summary send them.
EXPORTER = {
    "memory_events": """
	SELECT
		EVENT_NAME, SUM_NUMBER_OF_BYTES_ALLOC, SUM_NUMBER_OF_BYTES_FREE,
		CURRENT_NUMBER_OF_BYTES_USED
	FROM performance_schema.memory_summary_global_by_event_name
		where COUNT_ALLOC > 0;
""",
    "user_summary": """
	SELECT
		user, statements, statement_latency, table_scans, file_ios, file_io_latency,
		current_connections, total_connections, unique_hosts, current_memory,
		total_memory_allocated
	FROM
		sys.x$user_summary
""",
    "version": "SELECT @@version;",
    "session": "SET SESSION lock_wait_timeout = 2",
}


class Served(Case):
    """A program, and a server of its box."""

    def setUp(self):
        super().setUp()
        self.live, _ = self.start()
        who = self.live.do("begin", "one", "al", "h1", "YES")
        self.live.do("alloc", who, "memory/a/x", 2048)
        self.live.do("free", who, self.live.do("alloc", who, "memory/a/y", 10))

    def serve(self, *options):
        """Its port, for changes as well; the password is the one that it prints."""
        line = self.serving("--mysql", "127.0.0.1:0", "--allow-changes", *options,
                            self.live.target)
        said = re.fullmatch(
            r"pfs-mem: serving on 127\.0\.0\.1:(\d+)(?:, password (\S{32}))?\n", line)
        self.assertTrue(said, line)
        self.port, self.password = int(said[1]), said[2]
        return self.port

    def client(self, query, *options):
        """The mariadb client's rows; AssertionError where it fails."""
        code, out, err = self.call(query, *options)
        self.assertEqual(code, 0, err)
        return [tuple(line.split("\t")) for line in out.splitlines()]

    def call(self, query, *options):
        """exit status, output, errors"""
        done = subprocess.run(["mariadb", "--no-defaults", "--protocol=tcp", "-h127.0.0.1",
                               f"-P{self.port}", "-utester", "-BN", *options, "-e", query],
                              env={**os.environ, "MYSQL_PWD": self.password or ""},
                              capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stdout, done.stderr

    def raw(self):
        """A socket that has the greeting, and the greeting."""
        client = socket.create_connection(("127.0.0.1", self.port), timeout=15)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.addCleanup(client.close)
        return client, self.packet(client)

    @staticmethod
    def packet(client):
        """The next packet; b"": the connection was closed."""
        data = b""
        while len(data) < 4 or len(data) < 4 + int.from_bytes(data[:3], "little"):
            wanted = 4 if len(data) < 4 else 4 + int.from_bytes(data[:3], "little")
            more = client.recv(wanted - len(data))
            if not more:
                return b""
            data += more
        return data[4:]

    def proof(self, scramble):
        """As mysql_native_password has it."""
        once = hashlib.sha1(self.password.encode()).digest()
        twice = hashlib.sha1(scramble + hashlib.sha1(once).digest()).digest()
        return bytes(a ^ b for a, b in zip(once, twice))

    def login(self, plugin=b"mysql_native_password", proof=None, schema=b""):
        """A connection behind its greeting, and what the server said."""
        client, greeting = self.raw()
        at = greeting.index(b"\0") + 5
        proof = self.proof(greeting[at:at + 8] + greeting[at + 27:at + 39]) if proof is None \
            else proof
        can = 0x200 | 0x8000 | 0x80000 | (8 if schema else 0)
        answer = struct.pack("<IIB23x", can, 1 << 24, 45) + b"me\0" + bytes([len(proof)]) + \
            proof + (schema + b"\0" if schema else b"") + plugin + b"\0"
        self.send(client, answer, 1)
        return client, self.packet(client)

    @staticmethod
    def send(client, data, sequence=0):
        """A packet."""
        client.sendall(struct.pack("<I", len(data))[:3] + bytes([sequence]) + data)


class Client(Served):
    """Debian's."""

    def test_tables(self):
        """Rows, TRUNCATE, ENABLED; then the program is killed."""
        self.serve()
        rows = f"SELECT {COLUMNS} FROM performance_schema.{table('global')}"
        self.assertEqual(self.client(rows), [("1", "0", "2048", "0", "0", "1", "1", "0", "2048",
                                              "2048"), ("1", "1", "10", "10", "0", "0", "1", "0",
                                                        "0", "10")])
        self.client(f"TRUNCATE TABLE performance_schema.{table('global')}")
        self.assertEqual(self.client(rows), [("1", "0", "2048", "0", "1", "1", "1", "2048", "2048",
                                              "2048"), ("0",) * 10])
        self.client("UPDATE setup_instruments SET ENABLED='NO' WHERE NAME LIKE '%x'",
                    "performance_schema")
        self.assertEqual(self.client("SELECT * FROM `performance_schema`.`setup_instruments`"),
                         [("memory/a/x", "NO", "NO"), ("memory/a/y", "YES", "NO")])
        self.live.kill()
        self.assertEqual(self.client(rows)[0][5], "1")
        code, _, err = self.call(f"DELETE FROM performance_schema.{table('global')}")
        self.assertEqual(code, 1)
        self.assertIn("ERROR 1290", err)
        self.assertIn("read-only: its program died", err)

    def test_start(self):
        """What the client sends by itself, with names completed (SHOW, COM_FIELD_LIST), too."""
        self.serve()
        done = subprocess.run(["mariadb", "--no-defaults", "--protocol=tcp", "-h127.0.0.1",
                               f"-P{self.port}", "-utester", "--auto-rehash", "performance_schema"],
                              env={**os.environ, "MYSQL_PWD": self.password},
                              input="status\nselect count(*) from users;\n",
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("8.0.0-pfslab", done.stdout)
        self.assertEqual(done.stdout.splitlines()[-1], "1")
        self.assertIn(("performance_schema",), self.client("SHOW DATABASES"))
        self.assertIn((table("thread"),), self.client("SHOW TABLES FROM performance_schema"))
        self.assertIn(("memory_global_total",), self.client("SHOW TABLES LIKE 'mem%'", "sys"))
        self.assertEqual(self.client("SHOW VARIABLES LIKE 'version\\_comment'"),
                         [("version_comment", "pfs-mem: a box of accounts")])
        self.assertEqual(self.client("select @@version_comment limit 1"),
                         [("pfs-mem: a box of accounts",)])
        self.assertEqual(self.client("SELECT DATABASE(), USER()", "sys"),
                         [("sys", "tester@127.0.0.1")])
        self.assertEqual(self.client("DESCRIBE performance_schema.users")[0],
                         ("USER", "char(128)", "YES", "", "NULL", ""))
        self.assertEqual(self.client("SHOW GLOBAL STATUS LIKE 'performance_schema_memory%'"),
                         [("Performance_schema_memory_classes_lost", "0")])
        self.assertEqual(self.client("SET NAMES utf8mb4; USE sys; BEGIN; COMMIT; SHOW WARNINGS"),
                         [])
        self.assertEqual(self.client("SELECT TABLE_NAME FROM information_schema.tables WHERE "
                                     "TABLE_SCHEMA = 'sys' AND TABLE_NAME LIKE 'x$%total'"),
                         [("x$memory_global_total",)])

    def test_words(self):
        """MySQL's strings, comments, names and functions."""
        self.serve()
        self.assertEqual(self.client(r"""SELECT 'it\'s', "a""b", CONCAT('x', "y", 1), IF(1, 2, 3),
            5--3, `EVENT_NAME`, 'a # b -- c' # '
            FROM performance_schema.memory_summary_global_by_event_name m /* " */
            WHERE m.EVENT_NAME = "memory/a/x" -- more
            LIMIT 0, 1"""),
                         [("it's", 'a"b', "xy1", "2", "8", "memory/a/x", "a # b -- c")])

    def test_exporter(self):
        """mysqld_exporter's memory collectors read what they know."""
        self.serve()
        self.assertEqual(self.client(EXPORTER["memory_events"]),
                         [("memory/a/x", "2048", "0", "2048"), ("memory/a/y", "10", "10", "0")])
        self.assertEqual(self.client(EXPORTER["user_summary"]),
                         [("al", "0", "0", "0", "0", "0", "1", "1", "1", "2048", "2058")])
        self.assertEqual(self.client(EXPORTER["version"]), [("8.0.0-pfslab",)])
        self.assertEqual(self.client(EXPORTER["session"]), [])

    def test_refused(self):
        """By the protocol's errors, one line each; the connection goes on."""
        self.serve()
        name = table("global")
        for query, code in (("SELEKT", 1064), ("SELECT * FROM nonesuch", 1146),
                            ("SELECT nocol FROM users", 1054), ("SELECT nofunc(1)", 1305),
                            ("CREATE TABLE x (a INT)", 1142), ("ATTACH '/tmp/x' AS y", 1142),
                            ("PRAGMA user_version", 1142), ("DROP TABLE users", 1142),
                            ("SELECT load_extension('x')", 1142), ("SHOW ENGINES", 1235),
                            ("SELECT pfs_mem_open('1')", 1142), ("SET GLOBAL x = 1", 1235),
                            ("USE nonesuch", 1049), ("SELECT @@nonesuch", 1193),
                            ("SHOW TABLES", 1046), (f"DELETE FROM {name} WHERE 1", 1290),
                            ("INSERT INTO users VALUES (1, 2, 3)", 1290),
                            ("WITH RECURSIVE a(b) AS (SELECT 1 UNION ALL SELECT b FROM a) "
                             "SELECT count(*) FROM a", 3024)):
            status, out, err = self.call(query)
            self.assertEqual((status, out), (1, ""), query)
            self.assertIn(f"ERROR {code}", err, query)
        self.assertEqual(self.client("SELECT 1; SELECT 2"), [("1",), ("2",)])

    def test_password(self):
        """Only who knows it: that of a file, of the environment, or the one that was printed."""
        self.serve("--password-file", self.file("password", "pass woerd\n"))
        self.assertEqual(self.client("SELECT 1", "-ppass woerd"), [("1",)])
        self.no_entry(("-pwrong",), ())
        self.stop()
        os.environ["PFS_MEM_PASSWORD"] = "of the environment"
        self.addCleanup(os.environ.pop, "PFS_MEM_PASSWORD")
        self.serve()
        self.assertEqual(self.client("SELECT 1", "-pof the environment"), [("1",)])
        self.no_entry(("-ppass woerd",), ())

    def no_entry(self, *ways):
        """The client's options do not let it in."""
        for options in ways:
            code, _, err = self.call("SELECT 1", *options)
            self.assertEqual(code, 1)
            self.assertIn("ERROR 1045 (28000)", err)

    def test_drawn(self):
        """Each server draws a password of its own."""
        self.serve()
        first = self.password
        self.no_entry(("-pwrong",), ("-p" + first[:-1],))
        _, said = self.login(proof=b"")
        self.assertEqual(said[:3], b"\xff" + struct.pack("<H", 1045))
        self.stop()
        self.serve()
        self.assertNotEqual(self.password, first)
        self.no_entry(("-p" + first,))

    def test_usage(self):
        """One line each."""
        empty = self.file("empty", "")
        taken = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(taken.close)
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        for words, part, status in (
                (("serve", "--mysql", "127.0.0.1:0"), "one TARGET", 2),
                (("serve", "--mysql", "0.0.0.0:0", "last"), "--allow-remote", 1),
                (("serve", "--mysql", "/" + "x" * 120, "last"), "shorter", 1),
                (("serve", "--mysql", "/nonesuch/x", "last"), "/nonesuch/x", 1),
                (("serve", "--http", "127.0.0.1:0", "--allow-changes", "last"), "--mysql", 2),
                (("serve", "--http", "127.0.0.1:0", "--password-file", empty, "last"),
                 "--token-file", 2),
                (("serve", "--mysql", "127.0.0.1:0", "--password-file",
                  self.file("short", "seven b\n"), "last"), "8 to", 1),
                (("serve", "--mysql", "127.0.0.1:0", "--password-file",
                  self.file("open", "long enough\n", 0o644), "last"), "chmod", 1),
                (("serve", "--mysql", "localhost:1", "last"), "in numbers", 1),
                (("serve", "--mysql", "127.0.0.1", "last"), "in numbers", 1),
                (("serve", "--mysql", address, "last"), "in use", 1),
                (("serve", "--mysql", "127.0.0.1:0", "/nonesuch"), "/nonesuch", 1),
                (("serve", "--mysql", "127.0.0.1:0", "--password-file", "/nonesuch", "last"),
                 "/nonesuch", 1),
                (("serve", "--mysql", "127.0.0.1:0", "--password-file", empty, "last"),
                 "first line", 1)):
            self.one_line(words, status, part)


class Ways(Served):
    """The five tables and the switches, by the mariadb client."""

    def rows(self, kind):
        """{who: bytes allocated} of memory/w/x, without rows of zeroes."""
        who = TABLES.get(kind, "'all'")
        return {tuple(row[:-1]): int(row[-1]) for row in self.client(
            f"SELECT {who}, SUM_NUMBER_OF_BYTES_ALLOC FROM performance_schema.{table(kind)} "
            "WHERE EVENT_NAME = 'memory/w/x' AND COUNT_ALLOC > 0")}

    def test_ways(self):
        """Threads with a user and a host; with one of them, so without an account; with neither."""
        for i, (user, host) in enumerate((("al", "h1"), ("al", "-"), ("-", "h1"), ("-", "-"),
                                          ("bo", "h2"), ("al", "h1"))):
            who = self.live.do("begin", f"t{i}", user, host, "YES")
            self.live.do("alloc", who, "memory/w/x", 10 ** i)
        self.serve()
        expected = {
            "thread": {(str(i + 2),): 10 ** i for i in range(6)},
            "account": {("al", "h1"): 100001, ("NULL", "NULL"): 1000, ("bo", "h2"): 10000},
            "user": {("al",): 100011, ("NULL",): 1000, ("bo",): 10000},
            "host": {("h1",): 100101, ("NULL",): 1000, ("h2",): 10000},
            "global": {("all",): 111111}}
        for living in (True, False):
            for kind, rows in expected.items():
                self.assertEqual(self.rows(kind), rows, (kind, living))
            self.live.kill()

    def test_instrumented(self):
        """UPDATE threads SET INSTRUMENTED: of a thread, of a user, of none; then read-only."""
        al = self.live.do("begin", "t1", "al", "h2", "YES")
        bo = self.live.do("begin", "t2", "bo", "h2", "YES")
        self.serve()
        update = "UPDATE performance_schema.threads SET INSTRUMENTED = "
        self.client(update + "'NO' WHERE NAME = 't1'")
        self.client(update + "'NO' WHERE PROCESSLIST_USER = 'nobody'")
        for life in (al, bo):
            self.live.do("alloc", life, "memory/w/x", 5)
        self.assertEqual(self.rows("user"), {("bo",): 5})
        self.client(update + "'YES' WHERE PROCESSLIST_USER = 'al'")
        self.client(update + "'NO' WHERE PROCESSLIST_HOST = 'h2' AND PROCESSLIST_USER = 'bo'")
        for life in (al, bo):
            self.live.do("alloc", life, "memory/w/x", 7)
        self.assertEqual(self.rows("user"), {("al",): 7, ("bo",): 5})
        shown = self.client("SELECT NAME, INSTRUMENTED FROM performance_schema.threads "
                            "WHERE NAME LIKE 't%' ORDER BY 1")
        self.assertEqual(shown, [("t1", "YES"), ("t2", "NO")])
        code, _, err = self.call(update + "'MAYBE'")
        self.assertEqual((code, "'YES' or 'NO'" in err), (1, True), err)
        self.stop()
        self.serve("--allow-changes")
        self.live.kill()
        code, _, err = self.call(update + "'NO'")
        self.assertEqual((code, "ERROR 1290" in err), (1, True), err)


class Lines(Served):
    """memory_lines of a program with a heap profile."""

    def test_lines(self):
        """What pfs-mem profile says, row by row; and how many stacks were walked."""
        self.live.kill()
        kept = "import time; kept = [bytes(100000) for _ in range(300)]; print(flush=True); "
        program = subprocess.Popen([PFS_MEM, "run", "--", "/usr/bin/python3", "-c",
                                    kept + "time.sleep(60)"], stdout=subprocess.PIPE)
        program.stdout.readline()
        program.kill()
        program.wait()
        program.stdout.close()
        self.live.target = str(program.pid)
        said = json.loads(subprocess.run(
            [PFS_MEM, "profile", self.live.target, "--format", "json"], check=True,
            capture_output=True).stdout)
        self.serve()
        rows = self.client("SELECT CONCAT(IF(NAME IS NULL, '', CONCAT(NAME, ': ')), LINE, "
                           "IF(CALLER IS NULL, '', CONCAT(' from ', CALLER))), BYTES, "
                           "ERROR_BYTES, BLOCKS, OLDEST <= NEWEST FROM pfs.memory_lines")
        self.assertEqual(rows, [(one["WHERE"], str(one["BYTES"]), str(one["ERROR"]),
                                 str(one["BLOCKS"]), "1") for one in said])
        self.assertGreater(int(rows[0][1]), 25000000)
        stacks = dict(self.client("SHOW STATUS LIKE 'Pfs_profile_stacks%'"))
        self.assertGreaterEqual(int(stacks["Pfs_profile_stacks_taken"]),
                                int(stacks["Pfs_profile_stacks_walked"]))
        self.assertGreater(int(stacks["Pfs_profile_stacks_walked"]), 20)


class Packets(Served):
    """What no client sends; the server goes on for others."""

    def tearDown(self):
        self.assertEqual(self.client("SELECT 1"), [("1",)])
        super().tearDown()

    def test_commands(self):
        """Known ones answered, others refused."""
        self.serve()
        client, said = self.login(schema=b"sys")
        self.assertEqual(said[0], 0)
        for command, first in ((b"\x0e", 0), (b"\x1f", 0), (b"\x02sys", 0), (b"\x02no", 0xFF),
                               (b"\x1c\1\0\0\0", 0xFF), (b"\x63", 0xFF), (b"", 0xFF),
                               (b"\x03", 0xFF), (b"\x1b\0\0", 0xFE), (b"\x03SET a = 1", 0),
                               (b"\x03SELECT 1; SELECT 2", 0xFF), (b"\x09", ord("T"))):
            self.send(client, command)
            self.assertEqual(self.packet(client)[0], first, command)
        self.send(client, b"\x01")
        self.assertEqual(self.packet(client), b"")

    def test_random(self):
        """Queries cut, doubled and mixed at random are answered or refused."""
        self.serve()
        client, _ = self.login(schema=b"sys")
        whole = [text.encode() for text in EXPORTER.values()] + [
            b"SHOW FULL COLUMNS FROM `users` FROM `sys` LIKE 'a\\_%' -- x", b"DESC sys.`a``b`",
            b"SELECT @@global.version, @@x, 'a\\'b''' /* */ # z\n FROM information_schema.tables",
            b"TRUNCATE TABLE `performance_schema`.memory_summary_global_by_event_name",
            b"SHOW STATUS WHERE Variable_name = \"Uptime\" LIKE 'x'", b"USE `s", b"\xff\x80'"]
        draw = random.Random(9)
        kinds = set()
        for _ in range(1500):
            query = b""
            for _ in range(draw.choice((1, 1, 2))):
                text = draw.choice(whole)
                begin = draw.randrange(len(text))
                query += draw.choice((text, text[:begin], text[begin:]))
            if draw.random() < 0.3:
                at = draw.randrange(len(query) + 1)
                query = query[:at] + bytes([draw.randrange(256)]) + query[at + 1:]
            self.send(client, b"\x03" + query)
            kinds.add(self.answer(client))
        self.assertEqual(kinds, {"ok", "rows", "error"})

    def answer(self, client):
        """A whole answer: what kind it is of."""
        first = self.packet(client)
        self.assertTrue(first)
        if first[0] in (0, 0xFF):
            return "error" if first[0] else "ok"
        ends = 0
        while ends < 2:
            packet = self.packet(client)
            self.assertTrue(packet)
            if packet[0] == 0xFF:
                return "error"
            ends += packet[0] == 0xFE and len(packet) < 9
        return "rows"

    def test_other_plugin(self):
        """A client of MySQL 8 proves itself otherwise, and is asked once more."""
        self.serve()
        client, said = self.login(plugin=b"caching_sha2_password")
        self.assertEqual(said[:22], b"\xfemysql_native_password")
        self.send(client, self.proof(said[23:43]), 3)
        self.assertEqual(self.packet(client)[0], 0)

    def test_bad_greetings(self):
        """Short, old, lying about lengths; and one that says nothing."""
        self.serve()
        for answer in (b"", b"x", b"\0" * 32, b"\xff" * 32, b"\0\x82\0\0" + b"\0" * 28 + b"me",
                       b"\0\x82\0\0" + b"\0" * 28 + b"me\0\xff", b"\xff" * 5000):
            client, _ = self.raw()
            self.send(client, answer, 1)
            self.assertIn(self.packet(client)[:3], (b"", b"\xff\x13\x04"), answer[:40])

    def test_large(self):
        """A packet beyond the limit, and a cut one."""
        self.serve()
        client, _ = self.login()
        client.sendall(struct.pack("<I", 1 << 21)[:3] + b"\0")
        self.assertEqual(self.packet(client)[:3], b"\xff" + struct.pack("<H", 1153))
        client, _ = self.login()
        client.sendall(struct.pack("<I", 100)[:3] + b"\0" + b"\x03SEL")
        client.shutdown(socket.SHUT_WR)
        self.assertEqual(self.packet(client), b"")

    def test_many(self):
        """64 connections; the next is refused, and has its turn when one goes."""
        self.serve()
        clients = [self.login()[0] for _ in range(64)]
        _, said = self.raw()
        self.assertEqual(said[:3], b"\xff" + struct.pack("<H", 1040))
        for one in clients:
            self.send(one, b"\x0e")
            self.assertEqual(self.packet(one)[0], 0)
        for one in clients:
            self.send(one, b"\x01")
            self.assertEqual(self.packet(one), b"")


if __name__ == "__main__":
    if not shutil.which("mariadb"):
        print("mysql_test: no mariadb client; install mariadb-client")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
