#!/usr/bin/python3
"""prepared_test.py - prepared statements of pfs-mem serve --mysql, packet by packet; and programs
that read what it serves: mysqld_exporter, DBD::MariaDB, PyMySQL.

usage: prepared_test.py SQL_LIVE PFS_MEM EXTENSION [unittest's arguments]
Exit 0: all is as it must be. 1: something is not. 77: there is no mariadb client.
"""

import importlib.util
import os
import random
import shutil
import socket
import struct
import subprocess
import sys
import time
import unittest
import urllib.request

from harness import table
from mysql_test import Served

GLOBAL = table("global")
PREPARE, EXECUTE, LONG_DATA = b"\x16", b"\x17", b"\x18"
CLOSE, RESET, PING = b"\x19", b"\x1a", b"\x0e"
LONGLONG, DOUBLE, TEXT = 8, 5, 253


def has_perl(module):
    """Is it installed?"""
    return shutil.which("perl") and subprocess.run(
        ["perl", f"-M{module}", "-e1"], capture_output=True, check=False).returncode == 0


def take_length(data, at):
    """A length, and where it ends."""
    size = {0xFC: 2, 0xFD: 3, 0xFE: 8}.get(data[at], 0)
    if size == 0:
        return data[at], at + 1
    return int.from_bytes(data[at + 1:at + 1 + size], "little"), at + 1 + size


def take_text(data, at):
    """A text with its length, and where it ends."""
    length, at = take_length(data, at)
    return data[at:at + length], at + length


class Prepared(Served):
    """A connection, and the commands of prepared statements on it."""

    def setUp(self):
        super().setUp()
        self.serve()
        self.connection, said = self.login(schema=b"performance_schema")
        self.assertEqual(said[0], 0)

    def until_end(self):
        """Packets to an EOF; the last one is an error where there was one."""
        packets = []
        while True:
            packets.append(self.packet(self.connection))
            self.assertTrue(packets[-1])
            if packets[-1][0] == 0xFF:
                return packets
            if packets[-1][0] == 0xFE and len(packets[-1]) < 9:
                return packets[:-1]

    def error(self, packet):
        """The number of an error packet."""
        self.assertEqual(packet[0], 0xFF, packet)
        return int.from_bytes(packet[1:3], "little")

    def prepare(self, query):
        """(number, columns, parameters), or the number of an error."""
        self.send(self.connection, PREPARE + query.encode())
        said = self.packet(self.connection)
        if said[0] == 0xFF:
            return self.error(said)
        number, columns, parameters = struct.unpack("<IHH", said[1:9])
        for count in (parameters, columns):
            if count:
                self.assertEqual(len(self.until_end()), count)
        return number, columns, parameters

    def execute(self, number, *values, types=None, tail=b""):
        """Rows, "ok", or the number of an error. A value is None, or (type, bytes)."""
        body = EXECUTE + struct.pack("<IBI", number, 0, 1)
        if values:
            nulls = sum(1 << i for i, value in enumerate(values) if value is None)
            body += nulls.to_bytes((len(values) + 7) // 8, "little")
            types = types or b"".join(struct.pack("<H", 6 if value is None else value[0])
                                      for value in values)
            body += (b"\1" + types if types != b"old" else b"\0")
            body += b"".join(value[1] for value in values if value is not None)
        self.send(self.connection, body + tail)
        return self.answer()

    def answer(self):
        """Of EXECUTE."""
        first = self.packet(self.connection)
        self.assertTrue(first)
        if first[0] in (0, 0xFF):
            return self.error(first) if first[0] else "ok"
        columns = self.until_end()
        self.assertEqual(len(columns), first[0])
        kinds = []
        for column in columns:
            at = 0
            for _ in range(6):
                _, at = take_text(column, at)
            kinds.append(column[at + 7])
        rows = [self.row(packet, kinds) for packet in self.until_end()]
        return rows

    def row(self, packet, kinds):
        """A row in binary; an error's number."""
        if packet[0] == 0xFF:
            return self.error(packet)
        self.assertEqual(packet[0], 0)
        at = 1 + (len(kinds) + 9) // 8
        values = []
        for i, kind in enumerate(kinds):
            if packet[1 + (i + 2) // 8] >> (i + 2) % 8 & 1:
                values.append(None)
            elif kind == TEXT:
                text, at = take_text(packet, at)
                values.append(text.decode(errors="replace"))
            else:
                values += struct.unpack_from("<d" if kind == DOUBLE else "<q", packet, at)
                at += 8
        self.assertEqual(at, len(packet))
        return tuple(values)

    def test_values(self):
        """Each type of the protocol, as what SQLite has for it."""
        cases = (
            (0x0001, b"\xfe", -2), (0x8001, b"\xfe", 254), (0x0002, b"\x00\x80", -32768),
            (0x8002, b"\x00\x80", 32768), (0x000D, b"\xea\x07", 2026), (3, b"\xff" * 4, -1),
            (0x8003, b"\xff" * 4, 2 ** 32 - 1), (9, b"\x01\0\0\x80", 1 - 2 ** 31),
            (8, struct.pack("<q", -2 ** 63), -2 ** 63), (0x8008, struct.pack("<Q", 7), 7),
            (0x8008, b"\xff" * 8, float(2 ** 64)), (4, struct.pack("<f", 0.5), 0.5),
            (5, struct.pack("<d", -1e300), -1e300), (253, b"\x04it's", "it's"), (252, b"\0", ""),
            (15, b"\xfc\x00\x01" + b"y" * 256, "y" * 256), (246, b"\x031.5", "1.5"),
            (10, b"\x04\xea\x07\x01\x1f", "2026-01-31"), (10, b"\0", "0000-00-00"),
            (12, b"\x04\xea\x07\x01\x1f", "2026-01-31 00:00:00"),
            (7, b"\x07\xea\x07\x01\x1f\x17\x3b\x3a", "2026-01-31 23:59:58"),
            (12, b"\x0b\xea\x07\x01\x1f\x17\x3b\x3a\x07\0\0\0", "2026-01-31 23:59:58.000007"),
            (11, b"\0", "00:00:00"), (11, b"\x08\x01\x01\0\0\0\x02\x03\x04", "-26:03:04"),
            (11, b"\x0c\0\0\0\0\0\x02\x03\x04\x01\0\0\0", "02:03:04"))
        number, columns, parameters = self.prepare("SELECT ?, ?, NULL")
        self.assertEqual((columns, parameters), (3, 2))
        for kind, data, value in cases:
            self.assertEqual(self.execute(number, (kind, data), None), [(value, None, None)], kind)

        nine = self.prepare("SELECT " + ", ".join("?" * 9))[0]
        values = [(1, bytes([i])) for i in range(9)]
        for null in range(9):  # of whatever type; the ninth is in a second byte
            some = [None if i == null else value for i, value in enumerate(values)]
            self.assertEqual(self.execute(nine, *some, types=b"\1\0" * 9),
                             [tuple(None if i == null else i for i in range(9))])

    def test_rows(self):
        """Again and again, with other values, of the same types; what happened is seen."""
        number, columns, parameters = self.prepare(
            f"SELECT EVENT_NAME, COUNT_ALLOC, ? FROM performance_schema.{GLOBAL} "
            "WHERE COUNT_ALLOC > ? AND EVENT_NAME LIKE ? ORDER BY 1")
        self.assertEqual((columns, parameters), (3, 3))
        half, none, like = (5, struct.pack("<d", 0.5)), (1, b"\0"), (253, b"\x09memory/a%")
        both = [("memory/a/x", 1, 0.5), ("memory/a/y", 1, 0.5)]
        self.assertEqual(self.execute(number, half, none, like), both)
        self.assertEqual(self.execute(number, half, (1, b"\1"), like, types=b"old"), [])
        self.assertEqual(self.execute(number, half, none, (253, b"\x02%y"), types=b"old"),
                         both[1:])
        self.live.do("alloc", 0, "memory/a/x", 1)
        self.assertEqual(self.execute(number, half, (1, b"\1"), like), [("memory/a/x", 2, 0.5)])
        self.send(self.connection, RESET + struct.pack("<I", number))
        self.assertEqual(self.packet(self.connection)[0], 0)
        self.assertEqual(len(self.execute(number, None, none, like)), 2)
        self.send(self.connection, CLOSE + struct.pack("<I", number))
        self.assertEqual(self.execute(number, half, none, like), 1243)
        number, columns, parameters = self.prepare(
            "UPDATE setup_instruments SET ENABLED = ? WHERE NAME = ?")
        self.assertEqual((columns, parameters), (0, 2))
        self.assertEqual(self.execute(number, (253, b"\2NO"), (253, b"\x0amemory/a/x")), "ok")
        self.assertEqual(self.client("SELECT ENABLED FROM performance_schema.setup_instruments"),
                         [("NO",), ("YES",)])
        truncate = self.prepare(f"TRUNCATE TABLE {GLOBAL}")[0]
        self.assertEqual(self.execute(truncate), "ok")
        self.assertEqual(self.client(f"SELECT sum(COUNT_FREE) FROM performance_schema.{GLOBAL}"),
                         [("0",)])
        self.live.do("begin", "idle", "idle", "h1", "YES")
        average = self.prepare("SELECT current_avg_alloc FROM "
                               "sys.x$memory_by_user_by_current_bytes ORDER BY 1")
        self.assertEqual(self.execute(average[0]), [(0.0,), (1024.5,)])

    def test_settled(self):
        """What there is nothing to do for can be prepared, too; SHOW as well."""
        self.assertEqual(self.execute(self.prepare("SET NAMES utf8mb4")[0]), "ok")
        number, columns, parameters = self.prepare("SET @a = ?, @b = '?' -- ?")
        self.assertEqual((columns, parameters), (0, 1))
        self.assertEqual(self.execute(number, (1, b"\1")), "ok")
        shown = self.prepare("SHOW VARIABLES LIKE 'performance_schema'")
        self.assertEqual(self.execute(shown[0]), [("performance_schema", "1")])
        self.assertEqual(self.execute(self.prepare("SELECT @a")[0]), [(None,)])

    def test_refused(self):
        """By the protocol's errors; the connection goes on."""
        for query, code in (("SELEKT ?", 1064), ("SELECT ? FROM nonesuch", 1146), ("USE sys", 1295),
                            ("", 1065), ("SELECT 1; SELECT 2", 1064), ("SELECT :x", 1064),
                            ("SELECT ?1", 1064), ("CREATE TABLE x (a INT)", 1142),
                            ("SET GLOBAL x = ?", 1235), ("SHOW ENGINES", 1235)):
            self.assertEqual(self.prepare(query), code, query)
        self.send(self.connection, b"\x03SELECT ?")
        self.assertEqual(self.error(self.packet(self.connection)), 1064)
        number = self.prepare("SELECT ?")[0]
        self.assertEqual(self.execute(number, (1, b"\1"), types=b"old"), 1210)
        for kind, data in ((8, b"1234567"), (253, b"\x05four"), (253, b"\xfe" + b"\xff" * 8),
                           (253, b"\xfb"), (12, b"\x05\0\0\0\0\0"), (11, b"\x08\0"), (4, b"")):
            self.assertEqual(self.execute(number, (kind, data)), 1210, kind)
        for command in (EXECUTE, RESET):
            for packet in (b"", b"\1", struct.pack("<I", 999)):
                self.send(self.connection, command + packet)
                self.assertEqual(self.error(self.packet(self.connection)), 1243)
        self.send(self.connection, EXECUTE + struct.pack("<I", number))
        self.assertEqual(self.error(self.packet(self.connection)), 1835)
        self.send(self.connection, LONG_DATA + struct.pack("<IH", number, 0) + b"part")
        self.assertEqual(self.execute(number, (253, b"")), 1235)
        self.assertEqual(self.execute(number, (253, b"\1x")), [("x",)])
        mixed = self.prepare("SELECT CASE EVENT_NAME WHEN 'memory/a/x' THEN 1 ELSE 0.5 END FROM "
                             f"{GLOBAL} ORDER BY EVENT_NAME")
        self.assertEqual(self.execute(mixed[0]), [(1,), 1105])
        for packet in (CLOSE, CLOSE + struct.pack("<I", 999), LONG_DATA):
            self.send(self.connection, packet)  # and nothing is answered
        self.send(self.connection, PING)
        self.assertEqual(self.packet(self.connection)[0], 0)

    def test_many(self):
        """256 at once; a connection that is reset has none."""
        first = [self.prepare("SELECT ?")[0] for _ in range(256)]
        self.assertEqual(len(set(first)), 256)
        self.assertEqual(self.prepare("SELECT 1"), 1461)
        self.send(self.connection, CLOSE + struct.pack("<I", first[100]))
        self.assertEqual(self.prepare("SELECT 1")[1:], (1, 0))
        self.send(self.connection, b"\x1f")
        self.assertEqual(self.packet(self.connection)[0], 0)
        self.assertEqual(self.execute(first[0], (1, b"\1")), 1243)
        self.assertEqual(self.prepare("SELECT 1")[1:], (1, 0))

    def mixed(self, draw, whole):
        """A packet of these, cut, doubled, with a byte changed."""
        data = draw.choice(whole)
        if draw.random() < 0.6:
            at = draw.randrange(1, len(data) + 1)
            data = draw.choice((data[:at], data + data[at:], data[:at] + draw.choice(whole)[at:]))
        for _ in range(draw.choice((0, 0, 1, 2))):
            at = draw.randrange(1, len(data)) if len(data) > 1 else 1
            data = data[:at] + bytes([draw.randrange(256)]) + data[at + 1:]
        return data

    def test_random(self):
        """Packets cut, doubled and mixed at random are answered or refused."""
        queries = (f"SELECT ?, EVENT_NAME FROM {GLOBAL} WHERE COUNT_ALLOC > ?", "SELECT ?",
                   "SET @a = ?", "UPDATE setup_instruments SET ENABLED = ? WHERE NAME = ?",
                   "SHOW VARIABLES", "SELECT ?1, :a, @b, '?'")
        whole = [PREPARE + query.encode() for query in queries]
        for number in range(1, 30):
            head = struct.pack("<IBI", number, 0, 1)
            for kind, data in ((1, b"\1"), (8, b"12345678"), (253, b"\x03abc"), (12, b"\x04abcd"),
                               (11, b"\x08abcdefgh"), (5, b"abcdefgh"), (253, b"\xfc\xff\xff")):
                whole += [EXECUTE + head + b"\0\1" + struct.pack("<H", kind) * n + data * n
                          for n in (1, 2)]
            whole += [EXECUTE + head, EXECUTE + head + b"\0\0" + b"\1" * 8,
                      RESET + head[:4], CLOSE + head[:4], LONG_DATA + head[:4] + b"\0\0x"]
        draw, kinds = random.Random(9), set()
        for _ in range(4000):
            packet = self.mixed(draw, whole)
            self.send(self.connection, packet)
            if packet[:1] in (CLOSE, LONG_DATA):
                continue
            if packet[:1] == PREPARE:
                kinds.add("prepared" if self.prepared() else "error")
            else:
                said = self.answer()
                kinds.add("rows" if isinstance(said, list) else "ok" if said == "ok" else "error")
        self.assertEqual(kinds, {"prepared", "rows", "ok", "error"})

    def prepared(self):
        """Whether PREPARE's answer is no error."""
        said = self.packet(self.connection)
        if said[0] == 0xFF:
            return False
        for count in struct.unpack("<HH", said[5:9])[::-1]:
            if count:
                self.until_end()
        return True


class Programs(Served):
    """As they are installed."""

    @unittest.skipUnless(shutil.which("prometheus-mysqld-exporter"),
                         "prometheus-mysqld-exporter is not installed")
    def test_exporter(self):
        """Its memory collector's metrics."""
        port = self.serve()
        with socket.create_server(("127.0.0.1", 0)) as free:
            web = free.getsockname()[1]
        exporter = subprocess.Popen(
            ["prometheus-mysqld-exporter", f"--web.listen-address=127.0.0.1:{web}",
             "--collect.perf_schema.memory_events", "--no-collect.slave_status",
             "--no-collect.info_schema.innodb_cmp", "--no-collect.info_schema.innodb_cmpmem"],
            env={**os.environ, "DATA_SOURCE_NAME": f"me:{self.password}@(127.0.0.1:{port})/"},
            stderr=subprocess.DEVNULL)
        try:
            metrics, end = "", time.monotonic() + 100
            while not metrics and time.monotonic() < end:
                try:
                    with urllib.request.urlopen(f"http://127.0.0.1:{web}/metrics") as page:
                        metrics = page.read().decode()
                except OSError:
                    time.sleep(0.1)
        finally:
            exporter.terminate()
            exporter.wait()
        memory = "mysql_perf_schema_memory_events_"
        for line in ("mysql_up 1", "mysql_exporter_last_scrape_error 0",
                     memory + 'used_bytes{event_name="a/x"} 2048',
                     memory + 'alloc_bytes_total{event_name="a/y"} 10',
                     memory + 'free_bytes_total{event_name="a/y"} 10'):
            self.assertIn(line, metrics.splitlines())

    @unittest.skipUnless(has_perl("DBD::MariaDB"), "DBD::MariaDB is not installed")
    def test_perl(self):
        """The C library of MariaDB, with statements that the server prepares."""
        script = """
my $d = DBI->connect("dbi:MariaDB:host=127.0.0.1;port=$ARGV[0];database=sys;" .
	"mariadb_server_prepare=1", "me", $ARGV[2], {RaiseError => 1});
my $s = $d->prepare("SELECT EVENT_NAME, COUNT_ALLOC, avg(COUNT_FREE), ? FROM $ARGV[1] " .
	"WHERE SUM_NUMBER_OF_BYTES_ALLOC > ? GROUP BY 1");
for my $k (5, 1000) {
	$s->execute("it's $k", $k);
	while (my @r = $s->fetchrow_array) { print join("|", map { $_ // "NULL" } @r), "\\n" }
}
"""
        done = subprocess.run(["perl", "-MDBI", "-e", script, str(self.serve()), GLOBAL,
                               self.password],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.stdout.splitlines(), done.stderr), (
            ["memory/a/x|1|0|it's 5", "memory/a/y|1|1|it's 5", "memory/a/x|1|0|it's 1000"], ""))

    @unittest.skipUnless(importlib.util.find_spec("pymysql"), "PyMySQL is not installed")
    def test_pymysql(self):
        """Python's, with values that it quotes itself."""
        import pymysql  # pylint: disable=import-outside-toplevel
        database = pymysql.connect(host="127.0.0.1", port=self.serve(), user="me",
                                   password=self.password, database="sys")
        cursor = database.cursor()
        cursor.execute(f"SELECT COUNT_ALLOC, %s, %s FROM {GLOBAL} WHERE EVENT_NAME = %s",
                       ("it's \\ \n", 1.5, "memory/a/x"))
        self.assertEqual(cursor.fetchall(), ((1, "it's \\ \n", 1.5),))
        with self.assertRaises(pymysql.err.ProgrammingError):
            cursor.execute("SELECT * FROM nonesuch")
        database.close()


if __name__ == "__main__":
    if not shutil.which("mariadb"):
        print("prepared_test: no mariadb client; install mariadb-client")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
