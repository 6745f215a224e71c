#!/usr/bin/python3
"""nobody_test.py - what another user of the machine gets from root's servers and boxes, and what
root's own clients get: every statement and path, a table of docs/explanation/memory-threats.md.

usage: nobody_test.py SQL_LIVE PFS_MEM EXTENSION [--write]
    --write: writes the table into the document, instead of comparing it.
Exit 0: all is as it must be. 1: something is not. 77: not root, or there is no mariadb client.
"""

import http.client
import json
import os
import pwd
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import mysql_test
from harness import LIVE, PFS_MEM

DOCUMENT = Path(__file__).resolve().parents[4] / "docs/explanation/memory-threats.md"
BEGIN, END = "<!-- table: memory.sql.nobody_test -->\n", "<!-- end -->\n"
WRITES = "--write" in sys.argv
GLOBAL = "performance_schema.memory_summary_global_by_event_name"
STATEMENTS = (
    "SELECT * FROM sys.memory_global_total",
    "SHOW TABLES FROM performance_schema",
    "SELECT VARIABLE_VALUE FROM global_status WHERE VARIABLE_NAME = 'Pfs_box_command'",
    "SELECT * FROM pfs.memory_lines",
    "UPDATE pfs.memory_limits SET LIMIT_BYTES = 0 WHERE SCOPE = 'PROGRAM'",
    "UPDATE pfs.memory_trace SET LIMIT_BYTES = 0",
    "UPDATE performance_schema.setup_instruments SET ENABLED = 'NO'",
    f"TRUNCATE TABLE {GLOBAL}",
    f"DELETE FROM {GLOBAL} WHERE COUNT_ALLOC > 0",
    "INSERT INTO performance_schema.threads SELECT * FROM performance_schema.threads",
    "SELECT fts3_tokenizer('simple')",
    "SELECT load_extension('/tmp/x.so')",
    "SELECT pfs_mem_open('/etc/passwd')",
    "SELECT readfile('/etc/passwd')",
    "SELECT LOAD_FILE('/etc/passwd')",
    "SELECT randomblob(1000000000)",
    "SELECT sqlite_compileoption_get(0)",
    "SELECT * FROM sqlite_temp_master",
    "SELECT * FROM pragma_database_list",
    "SELECT * FROM json_each('[1]')",
    "SELECT * FROM dbstat",
    "PRAGMA writable_schema = 1",
    "ATTACH '/tmp/x' AS x",
    "CREATE TABLE t (a INT)",
    "DROP VIEW memory_global_total",
    "VACUUM INTO '/tmp/x'",
    "SET GLOBAL read_only = 0",
    "SELECT INSTR(REPEAT('a', 60000), CONCAT(REPEAT('a', 30000), 'b'))",
    "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c",
)
PATHS = (
    "GET /", "GET /metrics", "GET /api/boxes", "GET /api/tables/memory_os",
    "GET /api/tables/memory_lines", "GET /api/history",
    "GET /lines", "GET /flame", "GET /pprof/heap", "GET /pprof/cmdline", "GET /debug/pprof/heap",
    "POST /pprof/symbol", "POST /metrics", "DELETE /api/boxes", "GET /boxes/..%2F..%2Fetc/",
    "GET /nonesuch",
)


class Nobody(mysql_test.Served):
    """Root's program and servers."""

    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o700)
        self.other = pwd.getpwnam("nobody")
        self.rows = []
        self.open_folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.open_folder)
        os.chmod(self.open_folder, 0o755)
        self.tool = shutil.copy(PFS_MEM, self.open_folder)

    def as_nobody(self, call):
        """What call gives in a process of that user's, which knows no secret."""
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            self._cleanups.clear()  # they are root's
            os.setgroups([])
            os.setgid(self.other.pw_gid)
            os.setuid(self.other.pw_uid)
            said = call()
            os.write(write, json.dumps(said).encode())
            os._exit(0)
        os.close(write)
        with open(read, encoding="utf-8") as pipe:
            text = pipe.read()
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        return json.loads(text)

    # ---- MySQL ----

    def say(self, query):
        """As a client without the password: the server's answer."""
        try:
            client, said = self.login(proof=b"x" * 20)
        except OSError as error:
            return os.strerror(error.errno)
        if said[:1] == b"\xff":
            return f"{int.from_bytes(said[1:3], 'little')} {said[9:22].decode()}"
        self.send(client, b"\x03" + query.encode())
        return f"answered: {self.packet(client)[:20]}"

    def told(self, query):
        """As root's client: what it is told, short."""
        code, out, err = self.call(query, "performance_schema")
        if code == 0:
            return "done" if not out else "answered"
        error = re.search(r"ERROR (\d+) \(\w+\)[^:]*: (.{0,200})", err, re.S)
        short = {"1290": "read-only", "1142": "denied", "1305": "no such function",
                 "1146": "no such table", "3024": "ended after 10 s", "1235": "not supported",
                 "1064": "syntax error"}
        if error[1] == "1290" and "--allow-changes" not in error[2]:
            return "1290 refused: " + error[2].split(": ", 1)[-1].strip()[:60].replace("\n", " ")
        return f"{error[1]} {short.get(error[1], error[2][:40])}"

    def test_table(self):
        """Every statement and path tried, and what was answered."""
        self.serve_mysql()
        strangers = {query: self.as_nobody(lambda query=query: self.say(query))
                     for query in STATEMENTS}
        for query, said in strangers.items():
            self.assertEqual(said, "1045 Access denied", query)
        readers = {query: self.told(query) for query in STATEMENTS}
        self.stop()
        self.assertEqual(self.live.do("alloc", self.live.do("begin", "n", "al", "h", "YES"),
                                      "memory/a/x", 10) >= 0, True)
        self.serve_mysql("--allow-changes")
        owners = {query: self.told(query) for query in STATEMENTS}
        self.stop()
        for query in STATEMENTS:
            self.rows.append((f"`{query}`", strangers[query], readers[query], owners[query]))
        self.check_changes(readers, owners)
        self.check_http()
        self.check_files()
        self.compare()

    def serve_mysql(self, *options):
        """At a port, with a drawn password."""
        line = self.serving("--mysql", "127.0.0.1:0", *options, self.live.target)
        said = re.search(r":(\d+), password (\S+)", line)
        self.port, self.password = int(said[1]), said[2]

    def check_changes(self, readers, owners):
        """A read-only server refuses all of them."""
        for query in STATEMENTS:
            if query.split()[0] in ("UPDATE", "TRUNCATE", "DELETE", "INSERT"):
                self.assertEqual(readers[query], "1290 read-only", query)
        self.assertEqual(owners[STATEMENTS[3]], "done")

    # ---- HTTP ----

    def request(self, path, connect, **headers):
        """The status of an answer, or why there is none."""
        method, where = path.split()
        client = http.client.HTTPConnection("localhost", timeout=30)
        try:
            client.sock = connect()
            client.request(method, where, "0x1" if method == "POST" else None, headers)
            answer = client.getresponse()
            answer.read()
            return str(answer.status)
        except OSError as error:
            return os.strerror(error.errno)

    def check_http(self):
        """At a port: 401 without the token."""
        line = self.serving("--http", "127.0.0.1:0", "all")
        said = re.search(r":(\d+)/\?token=(\S+)", line)

        def connect():
            return socket.create_connection(("127.0.0.1", int(said[1])), timeout=15)

        for path in PATHS:
            none = self.as_nobody(lambda path=path: self.request(path, connect))
            wrong = self.as_nobody(lambda path=path: self.request(
                path, connect, Authorization="Bearer " + "x" * 32))
            right = self.request(path, connect, Authorization="Bearer " + said[2])
            self.assertEqual((none, wrong), ("401", "401"), path)
            self.rows.append((f"`{path}`", none, right, "the same: HTTP changes nothing"))
        self.stop()

    # ---- files and sockets ----

    def run_tool(self, *words):
        """pfs-mem's last line."""
        done = subprocess.run([self.tool, *words], capture_output=True, text=True, timeout=60,
                              check=False, env={**os.environ, "PFS_MEM_DIR": self.folder})
        return (done.stderr or done.stdout).strip().splitlines()[-1:] or [""]

    def opened(self, path, flags):
        """What open says."""
        try:
            os.close(os.open(path, flags))
            return "opened"
        except OSError as error:
            return os.strerror(error.errno)

    def connected(self, name):
        """What connect says."""
        client = socket.socket(socket.AF_UNIX)
        try:
            client.connect(f"{self.folder}/{name}")
            self.addCleanup(client.close)
            return client
        except OSError as error:
            client.close()
            return os.strerror(error.errno)

    def greeted(self):
        """What the MySQL server says first."""
        client = self.connected("mysql.sock")
        return client if isinstance(client, str) else \
            client.recv(200)[4:].decode("latin-1")[3:].replace("#28000", "1045 ")[:18]

    def asked(self):
        """What the HTTP server says."""
        client = self.connected("http.sock")
        return client if isinstance(client, str) else self.request("GET /metrics", lambda: client)

    def check_files(self):
        """The box, and the Unix sockets: as they are, and if somebody loosens their modes."""
        line = self.serving(self.live.target)
        self.assertIn("http.sock", line)
        self.assertIn("mysql.sock", self.server.stderr.readline())
        box = self.live.path
        no = "Permission denied"
        tried = [("open the box", lambda: self.opened(box, os.O_RDONLY), no),
                 ("open the box to write", lambda: self.opened(box, os.O_RDWR), no),
                 ("truncate the box", lambda: self.opened(box, os.O_WRONLY | os.O_TRUNC), no),
                 ("connect to `http.sock`", self.asked, no),
                 ("connect to `mysql.sock`", self.greeted, no)]
        for what, call, wanted in tried:
            said = self.as_nobody(call)
            self.assertEqual(said, wanted, what)
            self.rows.append((what, said, "answered", "answered"))
        os.chmod(self.folder, 0o777)
        for name in ("http.sock", "mysql.sock"):
            os.chmod(f"{self.folder}/{name}", 0o777)
        for what, call, wanted in (("the same, of mode 777: `http.sock`", self.asked, "403"),
                                   ("the same, of mode 777: `mysql.sock`", self.greeted,
                                    "1045 Access denied"),
                                   ("open the box in a folder of mode 777", tried[0][1], no)):
            said = self.as_nobody(call)
            self.assertEqual(said, wanted, what)
            self.rows.append((what, said, "answered", "answered"))
        self.assertEqual(self.asked(), "200")
        for words in (("top", box, "--once"), ("sql", box, "SELECT 1")):
            said = self.as_nobody(lambda words=words: self.run_tool(*words))[0]
            self.assertIn("belongs to user root", said)
            self.rows.append((f"`pfs-mem {words[0]} BOX`", "belongs to user root", "answered",
                              "answered"))
        os.chmod(self.folder, 0o700)

    # ---- the document ----

    def compare(self):
        """The table of the document is this one."""
        text = "| tried | by nobody | with the secret, read-only | with the secret and " \
               "`--allow-changes` |\n|---|---|---|---|\n"
        for row in self.rows:
            text += "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |\n"
        document = DOCUMENT.read_text(encoding="utf-8")
        before, rest = document.split(BEGIN)
        now, after = rest.split(END, 1)
        if WRITES:
            DOCUMENT.write_text(before + BEGIN + text + END + after, encoding="utf-8")
            return
        self.maxDiff = None
        self.assertEqual(now, text, "nobody_test.py ... --write renews it")


if __name__ == "__main__":
    if os.geteuid() != 0 or not shutil.which("mariadb"):
        print("nobody_test: needs root, to become nobody, and mariadb-client")
        sys.exit(77)
    if not os.access(LIVE, os.X_OK):
        sys.exit(1)
    unittest.main(argv=[sys.argv[0], *(word for word in sys.argv[4:] if word != "--write")])
