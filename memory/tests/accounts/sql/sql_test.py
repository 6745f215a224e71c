#!/usr/bin/python3
"""sql_test.py - the tables over a box, asked by SQLite's clients: Python's sqlite3, the sqlite3
shell and pfs-mem sql, of a program that does what the test says (live.c), living and killed.

usage: sql_test.py SQL_LIVE PFS_MEM EXTENSION [unittest's arguments]
Exit 0: all is as the test's own books say. 1: something is not. 77: this Python cannot load
extensions.
"""

import csv
import io
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time
import unittest

from harness import COLUMNS, EXTENSION, TABLES, Books, Case, table


class Rows(Case):
    """The five tables against the test's books."""

    def compare(self, database, books, zeroes=True):
        """Every row of every table."""
        for kind, rows in books.rows.items():
            keys = TABLES[kind] + ",EVENT_NAME" if kind in TABLES else "EVENT_NAME"
            width = keys.count(",") + 1
            seen = {row[:width]: row[width:] for row in
                    database.execute(f"SELECT {keys},{COLUMNS} FROM {table(kind)}")}
            for key, row in rows.items():
                got = seen.pop(key)
                self.assertEqual((*got[:4], got[5], got[8]), row.exact(), (kind, key))
                low, high, low_bytes, high_bytes = row.marks()
                if kind == "thread":
                    self.assertEqual((got[4], got[6], got[7], got[9]),
                                     (low, high, low_bytes, high_bytes), key)
                self.assertLessEqual(got[4], low)
                self.assertGreaterEqual(got[6], high)
                self.assertLessEqual(got[7], low_bytes)
                self.assertGreaterEqual(got[9], high_bytes)
            for key, got in seen.items():
                self.assertTrue(zeroes and not any(got), (kind, key, got))

    @staticmethod
    def play(live, books, lives, steps, seed):
        """Allocations, frees by anybody, resizes of nobody; each told to the books."""
        draw = random.Random(seed)
        for _ in range(steps):
            if books.blocks and draw.random() < 0.5:
                number, life, event, size = books.blocks.pop(draw.randrange(len(books.blocks)))
                live.do("free", draw.randrange(len(lives)), number)
                books.note(-1, life, event, size)
            else:
                who = draw.randrange(len(lives))
                event, size = f"memory/t/{draw.randrange(4)}", draw.randrange(1, 9000)
                number = live.do("alloc", who, event, size)
                books.blocks.append((number, lives[who], event, size))
                books.note(1, lives[who], event, size)

    def test_every_row(self):
        """Own and foreign frees of six lives; living, and killed."""
        live, database = self.start()
        books, lives = Books(), []
        for user, host in (("al", "h1"), ("al", "h2"), ("bo", "h1"), ("al", "h1"), (None, None),
                           ("bo", "h1")):
            live.do("begin", "x", user or "-", host or "-", "YES")
            lives.append((len(lives) + 1, user, host))
        self.play(live, books, lives, 1500, 3)
        self.compare(database, books)
        live.kill()
        self.compare(database, books)
        self.compare(self.connect(live.path), books)

    def test_source_b_example(self):
        """1M-2M and 10M-12M: the account's estimate is 11M-14M."""
        live, database = self.start()
        mega = 1000000
        for low, high in ((1, 2), (10, 12)):
            who = live.do("begin", "t", "app", "web", "YES")
            live.do("alloc", who, "memory/sql/x", low * mega)
            live.lows = getattr(live, "lows", []) + [(who, high - low)]
        for kind in (*TABLES, "global"):
            database.execute(f"DELETE FROM {table(kind)}")
        for who, more in live.lows:
            live.do("free", who, live.do("alloc", who, "memory/sql/x", more * mega))
        marks = "SELECT LOW_NUMBER_OF_BYTES_USED, HIGH_NUMBER_OF_BYTES_USED FROM "
        self.assertEqual(database.execute(marks + table("thread")).fetchall(),
                         [(1 * mega, 2 * mega), (10 * mega, 12 * mega)])
        for kind in ("account", "user", "host", "global"):
            self.assertEqual(database.execute(marks + table(kind)).fetchall(),
                             [(11 * mega, 14 * mega)], kind)

    def negatives(self, rule):
        """Rows below zero after a thread has freed what another one allocated."""
        live, database = self.start(rule)
        one = live.do("begin", "a", "u1", "h", "YES")
        two = live.do("begin", "b", "u2", "h", "YES")
        for _ in range(30):
            live.do("free", two, live.do("alloc", one, "memory/innodb/row0sel", 1000))
        found = {kind: database.execute(f"SELECT count(*), min(CURRENT_NUMBER_OF_BYTES_USED) FROM "
                                        f"{table(kind)} WHERE CURRENT_NUMBER_OF_BYTES_USED < 0"
                                        ).fetchone() for kind in (*TABLES, "global")}
        live.end()
        self.live = None
        return found

    def test_negative_values(self):
        """A thread frees a block of another: rows below zero with freer, none with exact."""
        freer = self.negatives("freer")
        for kind in ("thread", "account", "user"):
            self.assertEqual(freer[kind], (1, -30000), kind)
        self.assertEqual(self.negatives("exact"),
                         {kind: (0, None) for kind in (*TABLES, "global")})

    def test_truncate(self):
        """COUNT_FREE 0, COUNT_ALLOC what is in use, marks what is current; by Python's own
        transactions, too."""
        live, database = self.start()
        who = live.do("begin", "a", "u", "h", "YES")
        first = live.do("alloc", who, "memory/a/x", 100)
        live.do("alloc", who, "memory/a/x", 50)
        live.do("free", who, first)
        for kind in ("thread", "account", "user", "host", "global"):
            self.assertEqual(database.execute(f"SELECT {COLUMNS} FROM {table(kind)}").fetchone(),
                             (2, 1, 150, 100, 0, 1, 2, 0, 50, 150), kind)
            database.execute("BEGIN")
            database.execute(f"DELETE FROM {table(kind)}")
            database.execute("COMMIT")
            self.assertEqual(database.execute(f"SELECT {COLUMNS} FROM {table(kind)}").fetchone(),
                             (1, 0, 50, 0, 1, 1, 1, 50, 50, 50), kind)
        live.do("alloc", who, "memory/a/x", 25)
        self.assertEqual(database.execute(f"SELECT {COLUMNS} FROM {table('user')}").fetchone(),
                         (2, 0, 75, 0, 1, 2, 2, 50, 75, 75))

    def test_truncate_refused(self):
        """Some rows only, however that is said; and nothing has changed then."""
        live, database = self.start()
        who = live.do("begin", "a", "u", "h", "YES")
        live.do("free", who, live.do("alloc", who, "memory/a/x", 100))
        live.do("alloc", who, "memory/a/y", 100)
        name = table("global")
        for where in ("WHERE EVENT_NAME = 'memory/a/x'", "WHERE abs(COUNT_ALLOC) = 1",
                      "/* WHERE */ where 1",
                      f"WHERE EVENT_NAME IN (SELECT EVENT_NAME FROM {name})"):
            query, line = f"DELETE FROM {name} {where}", "DELETE without WHERE is TRUNCATE"
            self.refused(database, query, line)
            database.execute("BEGIN")
            self.refused(database, query, line)
            database.execute("COMMIT")
        self.assertEqual(database.execute(f"SELECT sum(COUNT_FREE) FROM {name}").fetchone(), (1,))
        self.assertEqual(self.truncates(live), 0)
        database.execute(f"DELETE FROM {name} /* where 'where' */ -- where")
        self.assertEqual(database.execute(f"SELECT sum(COUNT_FREE) FROM {name}").fetchone(), (0,))
        self.assertEqual(self.truncates(live), 1) # and not one for each row

    @staticmethod
    def truncates(live):
        """How often the global table was truncated: in the control page, as layout.h has it."""
        with open(live.path, "rb") as box:
            box.seek(4096 + 4 + 4 * 4)
            return int.from_bytes(box.read(4), "little")


class Objects(Case):
    """The other tables, views, keys."""

    def test_enabled(self):
        """Switched in a living program; TIMED taken and ignored."""
        live, database = self.start()
        who = live.do("begin", "a", "u", "h", "YES")
        for event in ("memory/a/x", "memory/a/y", "memory/b/x"):
            live.do("alloc", who, event, 10)
        database.execute("UPDATE setup_instruments SET ENABLED = 'NO' WHERE NAME LIKE 'memory/a/%'")
        database.execute("UPDATE setup_instruments SET TIMED = 'YES'")
        self.assertEqual(database.execute("SELECT * FROM setup_instruments").fetchall(),
                         [("memory/a/x", "NO", "NO"), ("memory/a/y", "NO", "NO"),
                          ("memory/b/x", "YES", "NO")])
        for event in ("memory/a/x", "memory/a/y", "memory/b/x"):
            live.do("alloc", who, event, 10)
        counts = f"SELECT COUNT_ALLOC FROM {table('global')}"
        self.assertEqual(database.execute(counts).fetchall(), [(1,), (1,), (2,)])
        database.execute("UPDATE setup_instruments SET ENABLED = 'yes'")
        live.do("alloc", who, "memory/a/x", 10)
        self.assertEqual(database.execute(counts).fetchall(), [(2,), (1,), (2,)])

    def test_people(self):
        """threads, accounts, users, hosts, status."""
        live, database = self.start()
        one = live.do("begin", "one", "al", "h1", "YES")
        live.do("begin", "two", "al", "h1", "NO")
        live.do("begin", "three", "-", "-", "YES")
        live.do("alloc", one, "memory/a/x", 10)
        live.do("end", one)
        self.assertEqual(database.execute(
            "SELECT THREAD_ID,NAME,TYPE,PROCESSLIST_USER,PROCESSLIST_HOST,INSTRUMENTED,"
            "THREAD_OS_ID FROM threads").fetchall(),
            [(2, "two", "FOREGROUND", "al", "h1", "NO", live.process.pid),
             (3, "three", "BACKGROUND", None, None, "YES", live.process.pid)])
        self.assertEqual(database.execute("SELECT * FROM accounts").fetchall(),
                         [("al", "h1", 1, 2), (None, None, 1, 1)])
        self.assertEqual(database.execute("SELECT * FROM users").fetchall(),
                         [("al", 1, 2), (None, 1, 1)])
        self.assertEqual(database.execute("SELECT * FROM hosts WHERE HOST = 'h1'").fetchall(),
                         [("h1", 1, 2)])
        status = dict(database.execute("SELECT * FROM global_status"))
        self.assertEqual(status["Performance_schema_memory_classes_lost"], "0")
        self.assertEqual(status["Pfs_box_state"], "living")
        for i in range(310):
            live.do("key", f"memory/many/{i}")
        self.assertEqual(database.execute("SELECT VARIABLE_VALUE FROM global_status WHERE "
                         "VARIABLE_NAME = 'performance_schema_memory_classes_lost'").fetchone(),
                         ("11",))

    def test_keys(self):
        """What is pushed down finds what a scan finds; other types and collations, too."""
        live, database = self.start()
        live.do("fill", 40, 7)
        for kind, keys in TABLES.items():
            columns = (keys + ",EVENT_NAME").split(",")
            rows = database.execute(f"SELECT {','.join(columns)} FROM {table(kind)}").fetchall()
            for key in rows[::17]:
                same = " AND ".join(f"{c} = ?" for c in columns)
                plain = " AND ".join(f"+{c} = ?" for c in columns)
                for column in range(len(columns)):
                    found = [database.execute(f"SELECT count(*), sum(COUNT_ALLOC) FROM "
                                              f"{table(kind)} WHERE {sign}{columns[column]} = ?",
                                              (key[column],)).fetchone() for sign in ("", "+")]
                    self.assertEqual(found[0], found[1])
                    self.assertGreater(found[0][0], 0)
                for where in (same, plain):
                    self.assertEqual(database.execute(f"SELECT count(*) FROM {table(kind)} WHERE "
                                                      f"{where}", key).fetchone(), (1,))
        name = table("thread")
        for where, count in (("THREAD_ID = '5'", 7), ("THREAD_ID = 5.0", 7), ("THREAD_ID = 4.5", 0),
                             ("THREAD_ID = NULL", 0), ("THREAD_ID = -1", 0),
                             ("EVENT_NAME = 'MEMORY/FILL/3' COLLATE NOCASE", 40),
                             ("EVENT_NAME = 'MEMORY/FILL/3'", 0), ("THREAD_ID IN (1, 2, 99)", 14),
                             ("THREAD_ID = 3 AND EVENT_NAME IN ('memory/fill/1', 'x')", 1),
                             ("THREAD_ID = 3 OR EVENT_NAME = 'memory/fill/1'", 46)):
            self.assertEqual(database.execute(f"SELECT count(*) FROM {name} WHERE {where}"
                                              ).fetchone(), (count,), where)
        plan = database.execute(f"EXPLAIN QUERY PLAN SELECT * FROM {name} WHERE THREAD_ID = 1 AND "
                                "EVENT_NAME = 'x'").fetchall()
        self.assertIn("INDEX 28:", plan[0][3])

    def test_views(self):
        """Columns and values as MySQL's sys has them."""
        live, database = self.start()
        one = live.do("begin", "one", "al", "h1", "YES")
        two = live.do("begin", "thread/innodb/two", "-", "-", "YES")
        live.do("alloc", one, "memory/a/x", 2048)
        live.do("alloc", one, "memory/a/y", 1024)
        live.do("alloc", two, "memory/a/x", 1)

        def ask(view):
            cursor = database.execute(f"SELECT * FROM {view}")
            return [c[0] for c in cursor.description], cursor.fetchall()
        self.assertEqual(ask("memory_global_by_current_bytes"),
                         (["event_name", "current_count", "current_alloc", "current_avg_alloc",
                           "high_count", "high_alloc", "high_avg_alloc"],
                          [("memory/a/x", 2, "2.00 KiB", "1.00 KiB", 2, "2.00 KiB", "1.00 KiB"),
                           ("memory/a/y", 1, "1.00 KiB", "1.00 KiB", 1, "1.00 KiB", "1.00 KiB")]))
        self.assertEqual(ask("memory_global_total"), (["total_allocated"], [("3.00 KiB",)]))
        sums = ["current_count_used", "current_allocated", "current_avg_alloc",
                "current_max_alloc", "total_allocated"]
        self.assertEqual(ask("memory_by_thread_by_current_bytes"),
                         (["thread_id", "user", *sums],
                          [(1, "al@h1", 2, "3.00 KiB", "1.50 KiB", "2.00 KiB", "3.00 KiB"),
                           (2, "innodb/two", 1, "1 bytes", "1 bytes", "1 bytes", "1 bytes")]))
        self.assertEqual(ask("x$memory_by_user_by_current_bytes"),
                         (["user", *sums], [("al", 2, 3072, 1536.0, 2048, 3072),
                                            ("background", 1, 1, 1.0, 1, 1)]))
        self.assertEqual(ask("x$memory_by_host_by_current_bytes")[0], ["host", *sums])
        self.assertEqual(ask("user_summary")[1][0][-2:], ("3.00 KiB", "3.00 KiB"))

    def test_adds_up(self):
        """memory_os: its rows are what is resident; memory_history: the tick's."""
        live, database = self.start()
        one = live.do("begin", "one", "al", "h1", "YES")
        number = live.do("alloc", one, "memory/a/first", 500)
        before = dict(database.execute("SELECT NAME, BYTES FROM memory_os").fetchall())
        self.assertEqual((before["tracked"], before["blocks"]), (500, 1)) # there was no tick yet
        self.assertEqual(before["resident"], before["resident_now"])
        self.assertGreater(before["resident"], 1 << 19)
        live.do("free", one, number)
        for i in range(3):
            live.do("alloc", one, f"memory/a/{i}", 1000 * (i + 1))
            live.do("tick")
        for dead in (False, True):
            self.assertEqual(database.execute(
                "SELECT (SELECT sum(BYTES) FROM memory_os WHERE PART_OF = 'resident') = "
                "(SELECT BYTES FROM memory_os WHERE NAME = 'resident')").fetchone(), (1,))
            self.assertEqual(database.execute("SELECT BYTES FROM memory_os WHERE NAME = 'tracked'"
                                              ).fetchone(), (6000,))
            self.assertEqual(database.execute("SELECT BYTES FROM memory_os WHERE NAME = 'headers'"
                                              ).fetchone(), (3 * 16,))
            self.assertEqual(database.execute("SELECT TICK, KIND, NAME, BYTES FROM memory_history "
                                              "WHERE TICK >= 2").fetchall(), [
                (2, "total", "tracked", 3000), (2, "instrument", "memory/a/1", 2000),
                (2, "instrument", "memory/a/0", 1000), (2, "pool", "al@h1", 3000),
                (3, "total", "tracked", 6000), (3, "instrument", "memory/a/2", 3000),
                (3, "instrument", "memory/a/1", 2000), (3, "instrument", "memory/a/0", 1000),
                (3, "pool", "al@h1", 6000)])
            if not dead:
                live.kill()

    def test_one_moment(self):
        """A join of a table with itself sees one moment, while two threads write."""
        live, database = self.start()
        live.do("hammer", 2)
        name = table("global")
        moved, count = 0, f"SELECT COUNT_ALLOC FROM {name}"
        while moved < 60: # the test's own limit ends what does not
            row = database.execute(
                f"SELECT a.COUNT_ALLOC, b.COUNT_ALLOC, (SELECT max(COUNT_ALLOC) FROM {name}), "
                f"(SELECT sum(COUNT_ALLOC) FROM {table('user')}) FROM {name} AS a, {name} AS b"
                ).fetchone()
            if row is None: # the hammers have not begun
                time.sleep(0.01)
                continue
            self.assertEqual(len(set(row)), 1, row)
            moved += 1
        before = database.execute(count).fetchone()
        while database.execute(count).fetchone() == before: # they write on, and others see it
            time.sleep(0.01)

    def test_many_bases(self):
        """What a TRUNCATE of many pages of rows found is each row's own."""
        live, database = self.start()
        for life in range(20):
            live.do("begin", f"t{life}", "u", "h", "YES")
            for event in range(20):
                size = 1000 * (life + 1) + event
                live.do("alloc", life, f"memory/e/{event}", size)
                live.do("free", life, live.do("alloc", life, f"memory/e/{event}", size + 500))
        name = table("thread")
        sizes = f"SELECT CURRENT_NUMBER_OF_BYTES_USED FROM {name}"
        before = database.execute(sizes).fetchall()
        database.execute(f"DELETE FROM {name}")
        wanted = [(1, 0, size, 0, 1, 1, 1, size, size, size) for size, in before]
        self.assertEqual(database.execute(f"SELECT {COLUMNS} FROM {name}").fetchall(), wanted)

    def test_open_statements(self):
        """A statement that is not finished keeps its moment; others have theirs."""
        live, database = self.start()
        live.do("fill", 3, 5)
        open_one = database.execute(f"SELECT COUNT_ALLOC FROM {table('thread')}")
        self.assertEqual(open_one.fetchone(), (1,))
        live.do("fill", 1, 5)
        count = f"SELECT count(*) FROM {table('thread')}"
        self.assertEqual(database.execute(count).fetchone(), (20,))
        self.assertEqual(len(open_one.fetchall()), 14)


class Clients(Case):
    """The shell, pfs-mem, the dead, and what is refused."""

    @unittest.skipUnless(shutil.which("sqlite3"), "no sqlite3 here")
    def test_shell(self):
        """sqlite3 with .load, and the environment's target; living and killed."""
        live, _ = self.start()
        who = live.do("begin", "one", "al", "h1", "YES")
        live.do("alloc", who, "memory/a/x", 2048)
        for _ in range(2):
            for opening in (f"SELECT pfs_mem_open('{live.path}');\n", ""):
                done = subprocess.run(
                    ["sqlite3", ":memory:"], capture_output=True, text=True, check=False, input=
                    f".load {EXTENSION}\n{opening}SELECT EVENT_NAME, current_alloc FROM "
                    "memory_global_by_current_bytes;\n",
                    env={**os.environ, "PFS_MEM_TARGET": live.target})
                self.assertEqual(done.stderr, "")
                self.assertEqual(done.stdout.splitlines()[-1], "memory/a/x|2.00 KiB")
            live.kill()

    def test_dead(self):
        """Read-only, and the line says when it died; a kept box of a clean end as well."""
        live, database = self.start()
        who = live.do("begin", "one", "al", "h1", "YES")
        live.do("alloc", who, "memory/a/x", 2048)
        live.do("tick")
        live.kill()
        self.refused(database, f"DELETE FROM {table('global')}", "read-only: its program died")
        self.refused(database, "UPDATE setup_instruments SET ENABLED = 'NO'",
                     "read-only: its program died")
        status = dict(database.execute("SELECT * FROM global_status"))
        self.assertEqual(status["Pfs_box_state"], "died")
        self.assertIn("died", status["Pfs_box_died"])
        code, out, err = self.mem("sql", "last", "SELECT EVENT_NAME, CURRENT_NUMBER_OF_BYTES_USED "
                                  f"FROM {table('global')}", "--format", "tab")
        self.assertEqual((code, out), (0, "EVENT_NAME\tCURRENT_NUMBER_OF_BYTES_USED\n"
                                          "memory/a/x\t2048\n"))
        self.assertIn("died", err)

    def test_formats(self):
        """table, csv, json and tab have the same values; standard input has many statements."""
        live, _ = self.start()
        query = "SELECT 1 AS a, 'x,\"y' AS b, NULL AS c, 2.5 AS d"
        answers = {form: self.mem("sql", live.target, query, "--format", form)
                   for form in ("table", "csv", "json", "tab")}
        for code, _, err in answers.values():
            self.assertEqual((code, err), (0, ""))
        self.assertEqual(json.loads(answers["json"][1]),
                         [{"a": 1, "b": 'x,"y', "c": None, "d": 2.5}])
        self.assertEqual(list(csv.reader(io.StringIO(answers["csv"][1]))),
                         [["a", "b", "c", "d"], ["1", 'x,"y', "", "2.5"]])
        self.assertEqual(answers["tab"][1], 'a\tb\tc\td\n1\tx,"y\tNULL\t2.5\n')
        self.assertEqual(answers["table"][1].split(), ["a", "b", "c", "d", "1", 'x,"y', "NULL",
                                                       "2.5"])
        code, out, _ = self.mem("sql", "--format=tab", live.target,
                                text="SELECT 1;\n-- more\nSELECT\n2;")
        self.assertEqual((code, out), (0, "1\n1\n2\n2\n"))
        # One statement after the other, each with its own moment.
        who = live.do("begin", "a", "u", "h", "YES")
        live.do("free", who, live.do("alloc", who, "memory/a/x", 100))
        count = f"SELECT COUNT_FREE FROM {table('global')};"
        code, out, _ = self.mem("sql", "--format=tab", live.target,
                                text=f"{count}DELETE FROM {table('global')};{count}")
        self.assertEqual((code, out), (0, "COUNT_FREE\n1\nCOUNT_FREE\n0\n"))

    def test_wrong_input(self):
        """One line each, that names the input; nothing on standard output."""
        live, database = self.start()
        short = os.path.join(self.folder, "cut.box")
        with open(live.path, "rb") as source, open(short, "wb") as cut:
            cut.write(source.read(5000))
        no_box = self.file("text.box", "no box " * 1000)
        for words, part, status in (
                (("sql",), "an argument is missing", 2),
                (("sql", "1", "2", "3"), "unexpected argument", 2),
                (("sql", "999999999", "SELECT 1"), "999999999", 1),
                (("sql", "/nonesuch", "SELECT 1"), "/nonesuch", 1),
                (("sql", short, "SELECT 1"), "cut.box", 1),
                (("sql", no_box, "SELECT 1"), "text.box", 1),
                (("sql", live.target, "SELECT * FROM nonesuch"), "nonesuch", 2),
                (("sql", live.target, "SELEKT"), "SELEKT", 2),
                (("sql", live.target, "SELECT 1", "--format=xml"), "xml", 2),
                (("sql", live.target, "INSERT INTO users VALUES (1, 2, 3)"), "inserted", 1),
                (("sql", live.target, "DROP TABLE users"), "users", 2)):
            self.one_line(words, status, part)
        self.assertEqual(self.mem("sql", live.target, "UPDATE setup_instruments SET NAME = 'x'"),
                         (0, "", ""))
        self.refused(self.connect(), "SELECT * FROM threads", "pfs_mem_open('TARGET')")
        self.refused(database, "SELECT pfs_mem_open(NULL)", "name a pid")
        self.refused(database, "SELECT pfs_mem_open('/nonesuch')", "/nonesuch")

    def test_damaged(self):
        """A box whose bytes were changed at random is answered or refused: no crash."""
        live, _ = self.start()
        live.do("fill", 20, 10)
        live.do("tick")
        live.kill()
        with open(live.path, "rb") as source:
            whole = source.read(3 << 20)
        draw = random.Random(5)
        queries = ";".join(f"SELECT count(*), sum(length(EVENT_NAME)), sum(HIGH_COUNT_USED * 1.0) "
                           f"FROM {table(kind)}" for kind in (*TABLES, "global"))
        queries += ";SELECT * FROM threads, memory_os;SELECT * FROM memory_history;" \
                   "SELECT * FROM user_summary;SELECT * FROM global_status"
        used = [at for at in range(0, len(whole), 64) if any(whole[at:at + 64])]
        answered = 0
        for _ in range(60):
            box = bytearray(whole)
            for _ in range(draw.choice((1, 4, 40))):
                at = draw.choice(used) + draw.randrange(64)
                box[at] = draw.choice((0, 255, draw.randrange(256)))
            path = os.path.join(self.folder, "damaged.box")
            with open(path, "wb") as file:
                file.write(box)
                file.truncate(os.path.getsize(live.path))
            code, _, err = self.mem("sql", path, queries)
            self.assertIn(code, (0, 1), err)
            answered += code == 0
        self.assertGreater(answered, 20)


if __name__ == "__main__":
    if not hasattr(sqlite3.Connection, "enable_load_extension"):
        print("sql_test: this Python's sqlite3 loads no extensions")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
