#!/usr/bin/python3
"""report_test.py - pfs-mem report: each figure against the command that it names, names that try to
be HTML or shell, sums, what a browser makes of it, and what is refused.

usage: report_test.py SQL_LIVE PFS_MEM EXTENSION [unittest's arguments]
Exit 0: all is as it must be. 1: something is not.
"""

import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import time
import unittest
from pathlib import Path

from harness import CHROMIUM, Case, Live, PFS_MEM, browse, table

USER = "it's<script>alert(1)</script>&$HOME`id`"
EVENT = "memory/<b>\"x\"/$(id)'y"
HISTORIES = {"history-instruments": "instrument", "history-pools": "pool",
             "history-resident": "arena", "history-states": "state", "history-arenas": "arena"}


class Page(html.parser.HTMLParser):
    """What stands in a page: its tags, and the commands and cells as a reader sees them."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.commands, self.cells, self.text = [], {}, [], ""
        self.figure = self.inside = self.data = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "figure":
            self.figure = dict(attrs)["id"]
        if tag in ("code", "td", "script", "style"):
            self.inside = tag
            self.cells.append("")

    def handle_endtag(self, tag):
        if tag == self.inside:
            self.inside = None

    def handle_data(self, data):
        if self.inside == "code":
            self.commands[self.figure] = self.commands.get(self.figure, "") + data
        elif self.inside == "script" and self.data is None:
            self.data = json.loads(data)
        elif self.inside == "td":
            self.cells[-1] += data
        if self.inside not in ("script", "style"):
            self.text += data


def ticks_of(words):
    """Where the first of four ticks of today is in a box, and how long one is, in words."""
    now = time.time_ns()
    found = [(words[at], at) for at in range(len(words) - 1)
             if 1 <= words[at] <= 4 and now - 3600e9 < words[at + 1] <= now]
    for one in (at for number, at in found if number == 1):
        for length in (at - one for number, at in found if number == 2 and at > one + 100):
            if {(3, one + 2 * length), (4, one + 3 * length)} <= set(found):
                return one, length
    raise AssertionError("no four ticks")


class Report(Case):
    """A program with three accounts, four ticks."""

    def setUp(self):
        super().setUp()
        self.live = Live(self.folder)
        lives = [self.live.do("begin", name, user, host, "YES") for name, user, host in
                 (("one", "al", "h1"), ("two", USER, "h2"), ("three", "-", "-"))]
        for number, life in enumerate(lives):
            self.live.do("alloc", life, "memory/a/x", 100000 * (number + 1))
            self.live.do("tick")
            self.live.do("alloc", life, EVENT, 5000)
            self.live.do("free", life, self.live.do("alloc", life, "memory/a/gone", 900000))
        for number in range(20):
            self.live.do("alloc", lives[0], f"memory/small/{number}", 10 + number)
        self.live.do("tick")

    def report(self, *words, name="page.html"):
        """The page's text."""
        path = os.path.join(self.folder, name)
        self.assertEqual(self.mem("report", "--out", path, *words), (0, "", ""))
        return Path(path).read_text("utf-8")

    def ask(self, command):
        """What the command says that stands in a page, as rows."""
        path = f"{os.path.dirname(os.path.abspath(PFS_MEM))}:{os.environ['PATH']}"
        done = subprocess.run(["sh", "-c", command + " --format json"], capture_output=True,
                              text=True, timeout=60, env={**os.environ, "PATH": path,
                                                          "PFS_MEM_DIR": "/nonesuch"}, check=False)
        self.assertEqual(done.returncode, 0, command + done.stderr)
        return json.loads(done.stdout)

    def check_history(self, rows, shown, kind):
        """Rows of a history, against the series of the page."""
        totals = [row for row in rows if row["KIND"] == "total"]
        self.assertEqual([row["TICK"] for row in totals], shown["ticks"])
        self.assertEqual([row["TIME"] for row in totals], shown["times"])
        self.assertEqual([row["RSS"] for row in totals], shown["rss"])
        self.assertEqual([row["BYTES"] for row in totals], shown["tracked"])
        for series in shown["series"]:
            if series["name"] == "others":
                continue
            by_tick = {row["TICK"]: row["BYTES"] for row in rows
                       if row["KIND"] == kind and row["NAME"] == series["name"]}
            self.assertEqual([by_tick.get(tick, 0) for tick in shown["ticks"]], series["bytes"])
        for moment, tracked in enumerate(shown["tracked"]):
            self.assertEqual(sum(one["bytes"][moment] for one in shown["series"]), tracked)

    def check_commands(self, page):
        """Every figure has a command, and it gives the figure's numbers."""
        data = page.data
        figures = {tag[1]["id"] for tag in page.tags if tag[0] == "figure"}
        self.assertEqual(figures, set(page.commands))
        self.assertEqual(figures, set(data["tables"]) | set(data["histories"]))
        for name, command in page.commands.items():
            rows = self.ask(command)
            if name in HISTORIES:
                self.check_history(rows, data["histories"][name], HISTORIES[name])
                continue
            one = data["tables"][name]
            shown = [dict(zip(one["columns"], row)) for row in one["rows"]]
            if name == "program":
                rows, shown = ([row for row in two if row["VARIABLE_NAME"] not in
                                ("Pfs_box_taken", "Uptime")] for two in (rows, shown))
            self.assertEqual(rows, shown, name)

    def test_commands(self):
        """Of a program that lives and rests, and of a dead one; and what they say."""
        page = Page(self.report(self.live.target))
        self.assertIn("; living at 20", page.text)
        first = page.data["tables"]["instruments"]["rows"][0]
        self.assertEqual(first[:5], ["memory/a/x", 600000, 600000, 3, 3])
        self.assertEqual({row[0] for row in page.data["tables"]["accounts"]["rows"]},
                         {"al@h1", f"{USER}@h2", "background"})
        self.assertEqual(page.data["tables"]["users"]["rows"][0][:2], ["background", 305000])
        self.assertEqual(page.data["tables"]["instruments"]["rows"][0][5], 23)
        rest = page.cells.index("8 more")
        self.assertEqual(page.cells[rest + 1], "91 B")
        self.assertEqual(page.data["histories"]["history-instruments"]["tracked"],
                         [100000, 305000, 610000, 615390])
        tables = {name: one for name, one in page.data["tables"].items()
                  if name not in ("adds-up", "program")}
        self.live.kill()
        page = Page(self.report())
        self.assertIn("; it died after 20", page.text)
        self.check_commands(page)
        self.assertEqual({name: page.data["tables"][name] for name in tables}, tables)

    def test_one_moment(self):
        """All figures are of one, while two threads write."""
        self.live.do("hammer", 2)
        seen = set()
        for _ in range(40):
            tables = json.loads(self.report(self.live.target, name="x.json"))["tables"]
            sums = {tables[name]["rows"][0][6] for name in ("instruments", "accounts", "pairs",
                                                            "users", "threads")}
            self.assertEqual(len(sums), 1, sums)
            seen |= sums
        self.assertGreater(len(seen), 1)

    def test_odd_file_name(self):
        """A box whose name a shell would take apart."""
        self.live.kill()
        path = os.path.join(self.folder, "it's a $(box) & more.box")
        shutil.copyfile(self.live.path, path)
        self.check_commands(Page(self.report(path)))

    def test_nothing_outside(self):
        """Names are no tags; nothing is loaded from anywhere."""
        text = self.report()
        page = Page(text)
        self.assertEqual([tag for tag, _ in page.tags].count("script"), 2)
        self.assertEqual([tag for tag, _ in page.tags].count("b"), 3)  # of what the figures say
        for _, attributes in page.tags:
            for name, value in attributes.items():
                self.assertFalse(name.startswith("on"), name)
                if name in ("src", "href", "xlink:href", "action", "data"):
                    self.assertTrue(value.startswith("#"), value)
        self.assertNotRegex(text, r"url\(|@import|https?://")
        self.assertIn(USER, page.cells)
        self.assertIn(EVENT, page.cells)

    def test_adds_up(self):
        """The parts that are shown are what is resident, to the byte."""
        page = Page(self.report())
        rows = page.data["tables"]["adds-up"]["rows"]
        parts = sum(row[1] or 0 for row in rows if row[2])
        self.assertEqual([row[1] for row in rows if row[0] == "resident"], [parts])
        self.assertGreater(parts, 0)
        self.assertIn(f"{parts:,}", page.cells)
        for row in rows:
            self.assertIn(row[0], page.cells)
            self.assertTrue(row[1] is None or f"{row[1]:,}" in page.cells, row)
        self.assertNotIn("not what is resident", page.text)

    def test_time_labels(self):
        """The labels of the time axis are whole seconds, where these are, and equally far apart."""
        for _ in range(4):
            time.sleep(0.83)
            self.live.do("tick")
        text = self.report()
        axis = text[text.index('data-history="history-instruments"'):]
        labels = re.findall(r'left:([\d.]+)%">\d\d:(\d\d):(\d\d)<',
                            axis[:axis.index("</div></div>")])
        places = [float(place) for place, _, _ in labels]
        seconds = [60 * int(minute) + int(second) for _, minute, second in labels]
        data = Page(text).data["histories"]["history-instruments"]["times_ms"]
        self.assertEqual(len(set(seconds)), len(seconds), labels)
        for place, second in zip(places, seconds):
            at = (data[0] + place / 100 * (data[-1] - data[0])) / 1000
            self.assertLess(abs(at - (at // 3600 * 3600 + second)), 0.01, labels)

    def test_other_forms(self):
        """JSON, a picture, standard output."""
        data = json.loads(self.report(name="data.json"))
        self.assertEqual(data["histories"]["history-pools"]["series"][0]["name"], "background")
        picture = self.report(name="picture.svg")
        self.assertTrue(picture.startswith("<svg ") and picture.endswith("</svg>\n"))
        self.assertEqual(picture.count('class="area'), 9)  # eight names, and the others
        code, out, err = self.mem("report", "--out", "-", self.live.target)
        self.assertEqual((code, out[:15], err), (0, "<!DOCTYPE html>", ""))

    def test_refused(self):
        """One line each; what is cut does not stay."""
        self.live.kill()
        small = os.path.join(self.folder, "cut.box")
        with open(self.live.path, "rb") as file, open(small, "wb") as to:
            to.write(file.read(9000))
        page = os.path.join(self.folder, "x.html")
        for words, status, part in (
                ((), 2, "--out FILE"), (("last",), 2, "--out FILE"), (("--out", ""), 2, "--out"),
                (("--out",), 2, "needs a value"),
                (("--out", page, "last", "last"), 2, "unexpected argument"),
                (("--out", page, "--nonesuch"), 2, "'--nonesuch'"),
                (("--out", "/nonesuch/x.html"), 1, "/nonesuch/x.html cannot be written"),
                (("--out", self.folder), 1, "cannot be written"),
                (("--out", "/dev/full"), 1, "No space left"),
                (("--out", self.live.path), 1, "is the box itself"),
                (("--out", page, "/nonesuch"), 1, "/nonesuch"),
                (("--out", page, "4194304999"), 1, "4194304999"),
                (("--out", page, small), 1, "cut")):
            self.one_line(("report", *words), status, part)
        self.assertFalse(os.path.exists(page))
        limited = subprocess.run(["sh", "-c", f"ulimit -f 1; trap '' XFSZ; exec {PFS_MEM} report "
                                  f"--out {page}"], capture_output=True, text=True, check=False)
        self.assertEqual((limited.returncode, len(limited.stderr.splitlines())), (1, 1))
        self.assertFalse(os.path.exists(page))

    def test_damaged(self):
        """Ticks of a time that is none, and of more bytes than there are."""
        self.live.kill()
        box = Path(self.live.path).read_bytes()
        tick, length = ticks_of(memoryview(box).cast("Q"))
        path = os.path.join(self.folder, "damaged.box")
        for first, last, value in ((1, 1, 0), (2, length - 1, 2 ** 64 - 1)):
            damaged = bytearray(box)
            with memoryview(damaged).cast("Q") as words:
                for word in range(tick + length + first, tick + length + last + 1):
                    words[word] = value
            Path(path).write_bytes(damaged)
            data = Page(self.report(path)).data["histories"]["history-instruments"]
            self.assertEqual(data["ticks"], [1, 2, 3, 4])
            self.assertNotEqual((data["times"][1] == "", data["rss"][1] > 2 ** 58), (False, False))
            self.assertIn("</svg>", self.report(path, name="picture.svg"))

    @unittest.skipUnless(CHROMIUM, "chromium is not installed")
    def test_browser(self):
        """All is drawn, a telephone has no need to scroll sideways, and charts are read by keys."""
        text = self.report()
        wide = browse(self.file("keys.html", text + "<script>document.querySelectorAll('.plot')"
                                ".forEach(function (one) {one.dispatchEvent(new KeyboardEvent("
                                "'keydown', {key: 'Home'}));});</script>"))
        self.assertIn('data-ok="true"', wide)
        page = Page(wide[wide.index("<body"):])
        first = page.data["histories"]["history-instruments"]["times"][0]
        self.assertEqual(wide.count(f'class="moment">{first}<'), 2)
        self.assertIn('data-of="tracked">97.7 KiB<', wide)
        self.fits_a_telephone()


class Held(Case):
    """The moment that a report is of."""

    def test_hold(self):
        """Statements see one moment between pfs_mem_hold(1) and pfs_mem_hold(0)."""
        live, database = self.start()
        live.do("fill", 3, 5)
        count = f"SELECT count(*) FROM {table('thread')}"
        self.assertEqual(database.execute("SELECT pfs_mem_hold(1)").fetchall(), [(1,)])
        self.assertEqual(database.execute(count).fetchall(), [(15,)])
        live.do("fill", 1, 5)
        self.assertEqual(database.execute(count).fetchall(), [(15,)])
        self.assertEqual(database.execute("SELECT count(*) FROM threads").fetchall(), [(3,)])
        open_one = database.execute(f"SELECT COUNT_ALLOC FROM {table('thread')}")
        self.assertEqual(open_one.fetchone(), (1,))
        self.refused(database, "SELECT pfs_mem_hold(0)", "finish it first")
        self.assertEqual(len(open_one.fetchall()), 14)
        database.execute("SELECT pfs_mem_hold(1)").fetchall()
        self.assertEqual(database.execute(count).fetchall(), [(20,)])
        live.do("fill", 1, 5)
        database.execute("SELECT pfs_mem_hold(0)").fetchall()
        self.assertEqual(database.execute(count).fetchall(), [(25,)])


class Empty(Case):
    """A program that did nothing yet."""

    def test_no_ticks(self):
        """Its page says what is not known, and a picture there is none."""
        self.live = Live(self.folder)
        path = os.path.join(self.folder, "page.html")
        self.assertEqual(self.mem("report", "--out", path), (0, "", ""))
        page = Page(Path(path).read_text("utf-8"))
        self.assertEqual(page.text.count("Not known: no tick was written."), 2)
        self.assertIn("from the system, now: there was no tick yet", page.text)
        self.assertIn("No memory is in use.", page.text)
        self.one_line(("report", "--out", os.path.join(self.folder, "x.svg")), 1,
                      "no tick was written")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
