#!/usr/bin/python3
"""http_page_test.py - pfs-mem serve --http: its page in a browser, and its arenas against what
memory_arenas and its history say.

usage: http_page_test.py SQL_LIVE PFS_MEM EXTENSION [unittest's arguments]
Exit 0: all is as it must be. 1: something is not.
"""

import json
import re
import subprocess
import sys
import time
import unittest

from harness import CHROMIUM, PFS_MEM, browse
from http_test import Served
from report_test import Page


class Looked(Served):
    """By a browser."""

    def look(self):
        """What a browser leaves of the page, which is drawn as a whole at both widths."""
        wide = browse(f"http://127.0.0.1:{self.port}/?token={self.token}")
        self.assertIn('data-ok="true"', wide)
        self.assertNotIn("<label hidden", wide)
        # A frame of another origin cannot look inside, so what the server says is put here.
        text = self.get("/")
        for kind, name in (("style", "page.css"), ("script", "page.js")):
            part = f"<{kind}>{self.get('/' + name)}</{kind}>"
            text = re.sub(rf"<(link|script)[^>]*/{name}\"[^>]*>(</script>)?",
                          lambda _, part=part, kind=kind: part if kind == "style" else "", text)
            text = text if kind == "style" else text.replace("</body>", part + "</body>")
        self.file("page.html", text.replace('<script defer src="/live.js"></script>', ""))
        self.fits_a_telephone()
        return wide


class Browser(Looked):
    """What a browser makes of a page."""

    @unittest.skipUnless(CHROMIUM, "chromium is not installed")
    def test_browser(self):
        """All is drawn under the page's own policy; a telephone need not scroll sideways."""
        owner = "-"
        for depth in range(5):
            owner = self.live.do("owner", f"an_owner_of_a_name_that_is_long_{depth}", owner)
        self.live.do("hold", owner, 4096)
        self.live.do("tick")
        self.serve("all")
        self.look()
        followed = browse(f"http://127.0.0.1:{self.port}/?token={self.token}#follow")
        self.assertRegex(followed, r'data-renewed="[1-9]')
        self.assertNotIn("data-failed", followed)
        self.assertIn('data-ok="true"', followed)
        self.assertEqual(followed.count("<main>"), 1)


PROGRAM = """import threading, time
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()  # so there are ticks
blocks = [bytes(1000 + i % 3000) for i in range(30000)]
time.sleep(0.3)
del blocks[::3]
time.sleep(0.3)
print("held", flush=True)
time.sleep(60)"""
PAGES = ("ALLOCATED", "CACHED", "ACTIVE", "RESIDENT", "MAPPED", "RETAINED")


class Arenas(Looked):
    """A program by libpfsmem.so, each pool with an arena, that was killed: so nothing moves."""

    def start(self):
        """Runs it until it holds what it says, and ends it."""
        self.live.kill()
        program = subprocess.Popen(
            [PFS_MEM, "run", "--arenas", "pool", "--tick-ms", "50", "--", sys.executable, "-c",
             PROGRAM], stdout=subprocess.PIPE, text=True)
        self.assertEqual(program.stdout.readline(), "held\n")
        time.sleep(0.2)
        program.kill()
        program.wait()
        program.stdout.close()
        self.serve(str(program.pid))

    def table(self, name):
        """Its rows, by column."""
        table = json.loads(self.get("/api/tables/" + name))
        return [dict(zip(table["columns"], row)) for row in table["rows"]]

    def test_arenas(self):
        """The page, JSON and metrics are what memory_arenas and its history say."""
        self.start()
        rows = self.table("memory_arenas")
        self.assertIn("python3", rows[0]["POOL"])
        self.assertGreater(rows[0]["ALLOCATED_BYTES"], 30 << 20)
        page = Page(self.get("/")).data
        self.assertCountEqual(page["tables"]["arenas"]["rows"],
                              [[row["POOL"], row["THREADS"],
                                *(row[f"{one}_BYTES"] for one in PAGES)] for row in rows])
        found = self.samples(self.get("/metrics?target=last"))
        for one in PAGES:
            self.assertEqual(found[f"pfs_memory_arena_{one.lower()}_bytes"],
                             {(str(row["ARENA"]), row["POOL"]): row[f"{one}_BYTES"]
                              for row in rows}, one)
        beside = {row[0]: row[1:3] for row in page["tables"]["owners-arenas"]["rows"]}
        held = sum(row["CURRENT_NUMBER_OF_BYTES_USED"]
                   for row in self.table("memory_summary_by_account_by_event_name")
                   if row["USER"] == rows[0]["POOL"])
        have = sum(row["ALLOCATED_BYTES"] for row in rows if row["POOL"] == rows[0]["POOL"])
        self.assertEqual(beside[rows[0]["POOL"]], [held, have])
        self.assertTrue(30 << 20 < held < have, beside)
        self.assertEqual(json.loads(self.get("/api/history"))["histories"], page["histories"])
        ticks = {}
        for row in self.table("memory_arenas_history"):
            ticks.setdefault(row["TICK"], []).append(row)
        for name, column in (("history-arenas", "ALLOCATED"), ("history-resident", "RESIDENT"),
                             ("history-states", "MAPPED")):
            one = page["histories"][name]
            self.assertGreater(len(one["ticks"]), 5)
            for at, tick in enumerate(one["ticks"]):
                self.assertEqual(one["tracked"][at],
                                 sum(row[f"{column}_BYTES"] for row in ticks[tick]))
                self.assertEqual(one["tracked"][at],
                                 sum(series["bytes"][at] for series in one["series"]))
                self.assertEqual(one["rss"][at], ticks[tick][0]["RSS"])
        self.assertEqual([one["name"] for one in page["histories"]["history-states"]["series"]],
                         ["allocated", "active, not allocated", "resident, not active",
                          "mapped, not resident"])
        self.assertEqual(rows, [{name: value for name, value in row.items()
                                 if name not in ("TICK", "TIME", "RSS")}
                                for row in ticks[max(ticks)]])

    @unittest.skipUnless(CHROMIUM, "chromium is not installed")
    def test_browser(self):
        """All charts are drawn, also on a telephone."""
        self.start()
        self.assertEqual(self.look().count('class="plot"'), 5)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
