#!/usr/bin/python3
"""http_test.py - pfs-mem serve --http: who may ask, what is answered against what pfs-mem sql says,
what is refused and how, what Prometheus' own tool and a browser make of it.

usage: http_test.py SQL_LIVE PFS_MEM EXTENSION [unittest's arguments]
Exit 0: all is as it must be. 1: something is not.
"""

import base64
import http.client
import itertools
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import unittest

from harness import Case, Live
from report_test import Page

PROMTOOL = shutil.which("promtool")
USER = "it's<script>alert(1)</script>&$HOME`id`"
EVENT = "memory/\"q\"\\back/<b>"
TOKEN = "a-token.of_24~characters"
PATHS = ("/", "/page.css", "/page.js", "/live.js", "/metrics", "/api/boxes", "/api/tables",
         "/api/tables/memory_os", "/api/history", "/pprof/symbol", "/pprof/cmdline")
SAMPLE = re.compile(r'([a-z_]+)\{((?:[a-z_]+="(?:[^"\\]|\\.)*",?)*)\} (-?\d+)$')


class Served(Case):
    """A program with accounts, and a server of its folder."""

    def setUp(self):
        super().setUp()
        self.port, self.token = 0, None
        self.live = Live(self.folder)
        self.life = self.live.do("begin", "one", "al", "h1", "YES")
        other = self.live.do("begin", "two", USER, "h2", "YES")
        self.live.do("alloc", self.life, "memory/a/x", 2048)
        self.live.do("free", self.life, self.live.do("alloc", self.life, "memory/a/y", 10))
        self.live.do("alloc", other, EVENT, 300)
        self.live.do("tick")

    def serve(self, *words):
        """Its port, and the token that it prints."""
        line = self.serving("--http", "127.0.0.1:0", *words)
        said = re.fullmatch(
            r"pfs-mem: serving on http://127\.0\.0\.1:(\d+)/(?:\?token=(\S{32}))?\n", line)
        self.assertTrue(said, line)
        self.port, self.token = int(said[1]), said[2]

    def bearer(self):
        """The header that lets in."""
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    def ask(self, path, method="GET", body=None, **headers):
        """status, headers, text"""
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            client.request(method, path, body, {**self.bearer(), **headers})
            answer = client.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read().decode()
        finally:
            client.close()

    def get(self, path, **headers):
        """The text of what must be there."""
        status, _, text = self.ask(path, **headers)
        self.assertEqual(status, 200, path + ": " + text)
        return text

    def line(self, answer, status, part):
        """One line, and part of it."""
        self.assertEqual(answer[0], status, answer)
        self.assertIn(part, answer[2])
        self.assertEqual(answer[2].count("\n"), 1, answer[2])

    def raw(self, text):
        """What is answered to these bytes, whole."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as client:
            client.sendall(text)
            data = b""
            while more := client.recv(65536):
                data += more
        return data

    def samples(self, text, box=""):
        """{name: {labels without box and program: value}} of /metrics; box: of this one."""
        found = {}
        for line in text.splitlines():
            if line.startswith("#") or box not in line:
                continue
            match = SAMPLE.match(line)
            self.assertTrue(match, line)
            labels = re.findall(r'([a-z_]+)="((?:[^"\\]|\\.)*)"', match[2])
            key = tuple(value for name, value in labels if name not in ("box", "program"))
            self.assertNotIn(key, found.setdefault(match[1], {}), line)
            found[match[1]][key] = int(match[3])
        return found


class Answers(Served):
    """What there is to read."""

    def test_all(self):
        """All are there, by both methods, under both names of the box, with their headers."""
        self.serve("all")
        box = os.path.basename(self.live.path)[:-4]
        for path in (*PATHS, *(f"/boxes/{box}{path}" for path in PATHS),
                     *(f"{path}?target={self.live.target}" for path in PATHS)):
            status, headers, text = self.ask(path)
            self.assertEqual(status, 200, path)
            self.assertTrue(headers["Content-Security-Policy"].startswith("default-src 'none'"))
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
            self.assertEqual(headers["Cache-Control"], "no-store")
            self.assertEqual(headers["Content-Length"], str(len(text.encode())))
            status, headers, text = self.ask(path, "HEAD")
            self.assertEqual((status, text), (200, ""), path)
            self.assertIn("Content-Length", headers)

    def test_tables(self):
        """Every table, as pfs-mem sql says it; and in parts."""
        self.serve(self.live.target)
        names = [one["name"] for one in json.loads(self.get("/api/tables"))["tables"]]
        self.assertIn("memory_history", names)
        for name in names:
            table = json.loads(self.get("/api/tables/" + name.replace("$", "%24")))
            shown = [dict(zip(table["columns"], row)) for row in table["rows"]]
            said = json.loads(self.mem("sql", "last", f'SELECT * FROM "{name}"', "--format",
                                       "json")[1])
            if name == "global_status":
                for rows in (shown, said):
                    rows[:] = [row for row in rows if row["VARIABLE_NAME"] not in
                               ("Pfs_box_taken", "Uptime")]
            if name == "memory_os":
                for rows in (shown, said):
                    rows[:] = [row for row in rows if row["NAME"] != "resident_now"]
            self.assertEqual(shown, said, name)
            self.assertIsNone(table["next_offset"])
        rows, offset = [], 0
        while offset is not None:
            part = json.loads(self.get(f"/api/tables/tables?limit=7&offset={offset}"))
            self.assertLessEqual(len(part["rows"]), 7)
            rows, offset = rows + part["rows"], part["next_offset"]
        self.assertEqual([row[0] for row in rows], names)
        self.line(self.ask("/api/tables/nonesuch"), 404, "'nonesuch'")
        self.line(self.ask("/api/tables/sqlite_master"), 404, "'sqlite_master'")

    def test_metrics(self):
        """Known numbers, escaped names, what adds up; in both formats."""
        self.serve("all")
        text = self.get("/metrics")
        found = self.samples(text)
        event = EVENT.replace("\\", "\\\\").replace('"', '\\"')
        self.assertEqual(found["pfs_memory_instrument_bytes"],
                         {("memory/a/x",): 2048, ("memory/a/y",): 0, (event,): 300})
        self.assertEqual(found["pfs_memory_instrument_allocated_bytes_total"][("memory/a/y",)], 10)
        self.assertEqual(found["pfs_memory_account_bytes"], {("al", "h1"): 2048, (USER, "h2"): 300})
        system = found["pfs_memory_os_bytes"]
        self.assertEqual(sum(value for (_, part), value in system.items() if part == "resident"),
                         system["resident", ""])
        self.assertEqual(found["pfs_memory_lost_total"][("cells",)], 0)
        self.assertEqual(found["pfs_memory_box_threads"], {(): 2})
        self.assertEqual(found["pfs_memory_box_pid"], {(): int(self.live.target)})
        _, headers, open_text = self.ask("/metrics", Accept="application/openmetrics-text")
        self.assertIn("openmetrics-text", headers["Content-Type"])
        self.assertTrue(open_text.endswith("# EOF\n"))
        self.assertIn("# TYPE pfs_memory_lost counter", open_text)
        self.assertIn("# TYPE pfs_memory_lost_total counter", text)
        names = [line.split(" ")[2] if line.startswith("#") else line.split("{")[0]
                 for line in text.splitlines()]
        families = [name for name, _ in itertools.groupby(names)]
        self.assertEqual(len(families), len(set(families)), "a family's samples are together")

    def test_trace(self):
        """Owners of a memory trace: their paths, sums and limits."""
        cache = self.live.do("owner", "cache", "-")
        blocks = self.live.do("owner", "blocks", cache)
        self.live.do("hold", cache, 40)
        self.live.do("hold", blocks, 700)
        self.assertEqual(self.mem("sql", "last", "UPDATE memory_trace SET LIMIT_BYTES = 750 WHERE "
                                  "NAME = 'cache'")[0], 0)
        self.live.do("hold", blocks, 11)
        self.serve("all")
        found = self.samples(self.get("/metrics"))
        for name, values in (("own_bytes", (40, 700)), ("bytes", (740, 700)),
                             ("high_bytes", (740, 700)), ("refused_total", (1, 0))):
            self.assertEqual(found[f"pfs_memory_trace_{name}"],
                             dict(zip((("cache",), ("cache/blocks",)), values)), name)
        self.assertEqual(found["pfs_memory_trace_limit_bytes"], {("cache",): 750})
        self.assertEqual(Page(self.get("/")).data["tables"]["owners"]["rows"],
                         [["cache", 40, 740, 740, 750, 1, 2],
                          ["cache/blocks", 700, 700, 700, None, 0, 2]])

    def test_many_names(self):
        """More names than are told by name: the sum is the same."""
        for number in range(240):
            self.live.do("alloc", self.life, f"memory/n/{number}", 100 + number)
        for number in range(300):
            who = self.live.do("begin", f"t{number}", f"user{number}", "h", "YES")
            self.live.do("alloc", who, "memory/a/x", 10)
            self.live.do("end", who)
        self.serve("all")
        found = self.samples(self.get("/metrics"))
        self.assertLessEqual(len(found["pfs_memory_account_bytes"]), 257)
        self.assertIn(("(others)", ""), found["pfs_memory_account_bytes"])
        whole = 2048 + 300 + sum(range(100, 340)) + 3000
        self.assertEqual(sum(found["pfs_memory_account_bytes"].values()), whole)
        self.assertEqual(sum(found["pfs_memory_instrument_bytes"].values()), whole)
        self.assertEqual(len(found["pfs_memory_instrument_bytes"]), 243)
        for _ in range(5):  # of more programs fewer are told by name
            self.addCleanup(Live(self.folder).end)
        time.sleep(1.2)
        box = f'box="{os.path.basename(self.live.path)[:-4]}"'
        found = self.samples(self.get("/metrics"), box)["pfs_memory_instrument_bytes"]
        self.assertEqual(len(found), 1024 // 6 + 1)
        self.assertEqual(sum(found.values()), whole)

    @unittest.skipUnless(PROMTOOL, "promtool (of Debian's package prometheus) is not installed")
    def test_promtool(self):
        """Prometheus' own tool has nothing to say against it."""
        self.serve("all")
        done = subprocess.run([PROMTOOL, "check", "metrics"], input=self.get("/metrics"),
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_fresh(self):
        """A second's answers are of one moment; then a new one is looked at."""
        self.serve("all")
        path = "/api/tables/memory_summary_global_by_event_name"
        before = self.get(path)
        self.live.do("alloc", self.life, "memory/a/new", 4096)
        time.sleep(1.2)
        after = self.get(path)
        self.assertNotIn("memory/a/new", before)
        self.assertIn("memory/a/new", after)

    def test_dead(self):
        """Of a program that was killed while it is served, and of several."""
        self.serve("all")
        self.assertIn("Programs: 1 living, 0 dead", self.get("/"))
        self.live.kill()
        second = Live(self.folder)
        self.addCleanup(second.end)
        time.sleep(1.2)
        page = self.get("/")
        self.assertIn("Programs: 1 living, 1 dead", page)
        self.assertIn(f"({second.target})</title>", page)
        page = self.get(f"/?target={self.live.target}")
        self.assertIn("; it died after", Page(page).text)
        boxes = json.loads(self.get("/api/boxes"))["boxes"]
        self.assertEqual([one["living"] for one in boxes], [True, False])
        self.assertEqual(json.loads(self.get("/boxes/%s/api/history" % boxes[1]["id"]))["box"],
                         self.live.path)
        self.assertEqual(self.samples(self.get("/metrics"))["pfs_memory_box_pid"],
                         {(): int(second.target)})
        dead = self.get(f"/metrics?target={self.live.target}")
        self.assertEqual(self.samples(dead)["pfs_memory_box_living"], {(): 0})

    def test_no_profile(self):
        """A program without a heap profile is told of as one."""
        self.serve("all")
        for path in ("/flame", "/pprof/heap", "/debug/pprof/heap", "/pprof/collapsed"):
            self.line(self.ask(path), 404, "profile")
        self.line(self.ask("/pprof/symbol", "POST", "0x12"), 404, "profile")
        self.assertNotIn("<iframe", self.get("/"))

    def test_named(self):
        """Only what was named is served."""
        second = Live(self.folder)
        self.addCleanup(second.end)
        self.serve(self.live.target)
        self.assertIn(f"({self.live.target})</title>", self.get("/"))
        self.line(self.ask(f"/?target={second.target}"), 404, second.target)
        self.line(self.ask("/?target=" + second.path.replace("/", "%2F")), 404, "no box")

    def test_truncated(self):
        """A box that is truncated while it is served: the server and the program go on."""
        self.serve(self.live.target)
        self.get("/api/tables/threads")
        os.truncate(self.live.path, 8192)
        time.sleep(1.1)
        self.line(self.ask("/api/tables/threads"), 500, "truncated")
        self.assertIn('{why="unreadable"} 1\n', self.get("/metrics"))
        self.assertEqual(json.loads(self.get("/api/boxes"))["refused"], 1)
        for number in range(100):
            self.live.do("free", self.life,
                         self.live.do("alloc", self.life, f"memory/n/{number % 7}", number))
        self.live.do("tick")

    def test_nothing_outside(self):
        """Names are no tags, and all that the page loads is this server's."""
        self.serve("all")
        page = Page(self.get("/"))
        for _, attributes in page.tags:
            for name, value in attributes.items():
                self.assertFalse(name.startswith("on"), name)
                if name in ("src", "href", "xlink:href", "action", "data"):
                    self.assertRegex(value, r"^(#|/[^/]|/$)")
        self.assertIn(f"{USER}@h2", page.cells)
        self.assertIn(EVENT, page.cells)
        self.assertEqual(page.data["tables"]["instruments"]["rows"][0][:2], ["memory/a/x", 2048])

    def test_mysql_beside(self):
        """Both at once; each ends at SIGTERM."""
        self.serve("--mysql", "127.0.0.1:0", self.live.target)
        line = self.server.stderr.readline()
        port = int(re.search(r":(\d+),", line)[1])
        with socket.create_connection(("127.0.0.1", port), 15) as client:
            self.assertIn(b"pfslab", client.recv(200))
        self.assertIn("memory/a/x", self.get("/metrics"))


class Door(Served):
    """Who is not let in."""

    def test_host(self):
        """Names of this server, and others."""
        self.serve("all")
        for host in ("127.0.0.1", "localhost", "LocalHost:80", f"127.0.0.1:{self.port}", "[::1]",
                     "[::1]:80", "127.1.2.3:1"):
            self.assertEqual(self.ask("/api/tables", Host=host)[0], 200, host)
        for host in ("evil.example", "localhost.evil.example", "127.0.0.1.evil.example",
                     "127.0.0.1@evil.example", "10.0.0.1", "[::2]", "[::1", "::1", "localhost:x",
                     "localhost:80:80", ":80", "0.0.0.0", "localhost,evil.example", "x" * 300,
                     socket.gethostname() + ".evil.example"):
            self.line(self.ask("/api/tables", Host=host), 403, "Host")
        self.assertIn(b" 403 ", self.raw(b"GET / HTTP/1.0\r\n\r\n").split(b"\n")[0])
        self.assertIn(b" 400 ", self.raw(b"GET / HTTP/1.1\r\n\r\n").split(b"\n")[0])

    def test_drawn(self):
        """Each server draws a token of its own; that of the environment comes first."""
        self.serve("all")
        drawn = self.token
        self.get("/metrics")
        self.line(self.ask("/metrics", Authorization=f"Bearer {drawn[:-1]}"), 401, "token")
        self.stop()
        os.environ["PFS_MEM_TOKEN"] = TOKEN
        self.addCleanup(os.environ.pop, "PFS_MEM_TOKEN")
        self.serve("all")
        self.assertIsNone(self.token)
        self.line(self.ask("/metrics", Authorization=f"Bearer {drawn}"), 401, "token")
        self.get("/metrics", Authorization=f"Bearer {TOKEN}")

    def test_token(self):
        """Bearer, Basic's password, and for the page its address, then a cookie."""
        self.serve("--token-file", self.file("token", TOKEN + "\n"), "all")
        for headers in ({}, {"Authorization": "Bearer "}, {"Authorization": "Bearer " + TOKEN[:-1]},
                        {"Authorization": f"Bearer {TOKEN}x"},
                        {"Authorization": f"Bearer {TOKEN[:-1]}{chr(ord(TOKEN[-1]) ^ 1)}"},
                        {"Authorization": "Basic " + TOKEN},
                        {"Authorization": "Bearer " + "x" * 1000}, {"Cookie": "pfs_token=x"},
                        {"Cookie": "other=" + TOKEN}):
            for where in ("/", "/metrics", "/nonesuch", "/?token=" + TOKEN[:-1],
                          "/metrics?token=" + TOKEN):
                answer = self.ask(where, **headers)
                self.line(answer, 401, "--token-file")
                self.assertIn("Bearer", answer[1]["WWW-Authenticate"])
                self.assertNotIn(TOKEN, str(answer))
        self.get("/metrics", Authorization="Bearer " + TOKEN)
        self.get("/metrics", Authorization="bearer " + TOKEN)
        for user in ("", "any", "a b"):
            basic = base64.b64encode(f"{user}:{TOKEN}".encode()).decode()
            self.get("/metrics", Authorization="Basic " + basic)
        for wrong in (TOKEN, f"{TOKEN}:", f"{TOKEN}:x", f"any:{TOKEN}x", "any:", ":"):
            basic = base64.b64encode(wrong.encode()).decode()
            self.line(self.ask("/metrics", Authorization="Basic " + basic), 401, "--token-file")
        self.get("/metrics", Authorization="Bearer " + TOKEN, Host=socket.gethostname())
        status, headers, _ = self.ask("/?token=" + TOKEN)
        self.assertEqual((status, headers["Location"]), (303, "/"))
        self.assertIn("HttpOnly; SameSite=Strict", headers["Set-Cookie"])
        self.get("/page.js", Cookie=headers["Set-Cookie"].split(";")[0])
        self.line(self.ask("/", Host="evil.example", Authorization="Bearer " + TOKEN), 403, "Host")

    def test_methods(self):
        """Nothing but GET and HEAD, and nothing that is sent."""
        self.serve("all")
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "CONNECT", "get", "X"):
            status, headers, _ = self.ask("/metrics", method)
            self.assertEqual((status, headers["Allow"]), (405, "GET, HEAD"), method)
        self.line(self.ask("/metrics", body="x"), 413, "too large")
        self.assertEqual(self.ask("/metrics?" + "x" * 20000)[0] // 100, 4)
        self.assertEqual(self.ask("/metrics", Cookie="x" * 20000)[0] // 100, 4)
        self.line(self.ask("/?target=" + "x" * 64), 400, "64")
        self.line(self.ask("/api/tables/threads?limit=-1"), 400, "whole")
        self.line(self.ask("/api/tables/threads?offset=1e9"), 400, "whole")
        for path in ("/nonesuch", "//", "/boxes/", "/boxes//", "/boxes/x", "/api/tables/a/b",
                     "/../etc/passwd", "/boxes/..%2F..%2Fetc%2Fpasswd/", "/page.css/"):
            self.assertEqual(self.ask(path)[0], 404, path)

    def test_beginning(self):
        """What cannot be served: one line each."""
        self.serve("all")
        short = self.file("short", "abc\n")
        other = os.path.join(self.folder, "2-2.box")
        with open(self.live.path, "rb") as file, open(other, "wb") as to:
            to.write(file.read(8) + b"\x63\0\0\0" + file.read()[4:])
        for words, status, part in (
                (("--http", f"127.0.0.1:{self.port}"), 1, "in use"),
                (("--http", "0.0.0.0:0"), 1, "--allow-remote"),
                (("--http", "[::]:0"), 1, "--allow-remote"),
                (("--http", "/" + "x" * 120), 1, "shorter"),
                (("--http", "localhost:80"), 1, "in numbers"), (("--http", "80"), 1, "in numbers"),
                (("--http", "127.0.0.1:0", "--token-file", short), 1, "16 to"),
                (("--http", "127.0.0.1:0", "--token-file", "/nonesuch"), 1, "/nonesuch"),
                (("--http", "127.0.0.1:0", "--token-file",
                  self.file("open", TOKEN + "\n", 0o604)), 1, "chmod"),
                (("--http", "127.0.0.1:0", "4194304999"), 1, "4194304999"),
                (("--http", "127.0.0.1:0", other), 1, "version"),
                (("--http", "127.0.0.1:0", self.live.target, self.live.path), 1, "once"),
                (("--http", "127.0.0.1:0", *["last"] * 17), 2, "unexpected argument"),
                (("--http", "127.0.0.1:0", "--mysql", "127.0.0.1:0", "all"), 2, "one TARGET"),
                (("--token-file", short, "--mysql", "127.0.0.1:0", "last"), 2, "--http")):
            self.one_line(("serve", *words), status, part)
        time.sleep(1.2)
        self.assertIn("1 files are not boxes", self.get("/"))
        self.assertEqual(json.loads(self.get("/api/boxes"))["refused"], 1)
        self.line(self.ask("/boxes/2-2/"), 500, "version")
        self.assertIn('{why="unreadable"} 1\n', self.get("/metrics"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
