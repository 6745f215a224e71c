#!/usr/bin/python3
"""http_crowd.py - pfs-mem serve --http under a crowd: clients that ask in parallel, clients that
say or read a byte now and then, requests that are none; the server answers all the while, and
stays below a bound of memory.

usage: http_crowd.py SQL_LIVE PFS_MEM EXTENSION [CLIENTS MALFORMED]
    Without numbers a small crowd, which takes seconds; 200 10000 is the full one, which also waits
    until the server ends with the slow ones.
Exit 0: it held. 1: it did not.
"""

import http.client
import os
import random
import socket
import sys
import threading
import time
import unittest

from http_test import Served

RSS_MAX = 64 << 20
CLIENTS, MALFORMED = (int(word) for word in (sys.argv[4:6] or ("40", "300")))
PATHS = ("/", "/metrics", "/api/history", "/api/boxes", "/page.js",
         "/api/tables/memory_summary_by_thread_by_event_name?limit=100000",
         "/api/tables/memory_summary_by_account_by_event_name?limit=100000",
         "/api/tables/memory_history?limit=100000")
PARTS = (b"GET ", b"POST ", b"/", b"/metrics", b"/api/tables/", b" HTTP/1.1\r\n", b" HTTP/9.9\r\n",
         b"Host: localhost\r\n", b"Host: ", b"\r\n", b"\r\n\r\n", b"\0", b"%", b"%zz", b"?a=&&=",
         b"Content-Length: 99999999999999999999\r\n", b"Content-Length: -1\r\n",
         b"Transfer-Encoding: chunked\r\n", b"ffffffffffffffff\r\n", b"5\r\nabcde\r\n", b":",
         b"Cookie: ;;=;\r\n", b"Expect: 100-continue\r\n", b"x" * 9000, b"\xff\xfe", b"\n\n")


class Crowd(Served):
    """A program with many names and accounts."""

    def setUp(self):
        super().setUp()
        for number in range(230):
            self.live.do("alloc", self.life, f"memory/n/{number}", 1000 + number)
        for number in range(60):
            who = self.live.do("begin", f"t{number}", f"user{number}", "h", "YES")
            self.live.do("alloc", who, "memory/a/x", 10)
        for _ in range(5):
            self.live.do("tick")
        self.faults, self.statuses, self.most = [], {}, 0
        self.done = threading.Event()

    def rss(self):
        """Of the server."""
        with open(f"/proc/{self.server.pid}/status", encoding="utf-8") as file:
            return next(int(line.split()[1]) << 10 for line in file if line.startswith("VmRSS"))

    def watch(self):
        """The most that was resident."""
        while not self.done.wait(0.02):
            self.most = max(self.most, self.rss())

    def client(self, seed, until):
        """Asks for this and that, and reads the answer."""
        chance = random.Random(seed)
        while time.monotonic() < until:
            path = chance.choice(PATHS)
            try:
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
                connection.request("GET", path, headers=self.bearer())
                answer = connection.getresponse()
                answer.read()
                self.statuses[answer.status] = self.statuses.get(answer.status, 0) + 1
                if answer.status not in (200, 503):
                    self.faults.append(f"{path}: {answer.status}")
                connection.close()
            except (OSError, http.client.HTTPException) as error:
                self.faults.append(f"{path}: {error!r}")

    def connect(self):
        """A connection; a server that has no room for it may end it at once."""
        one = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        self.addCleanup(one.close)
        return one

    def malformed(self, seed, count):
        """Requests that are none; what they get is an error's status, or an end, or no answer, for
        the server waits for the rest."""
        chance = random.Random(seed)
        for number in range(count):
            text = b"".join(chance.choice(PARTS) for _ in range(chance.randrange(1, 9)))
            try:
                with socket.create_connection(("127.0.0.1", self.port), timeout=0.2) as client:
                    client.sendall(text)
                    while client.recv(65536):
                        pass
            except OSError:
                pass
            if number % 500 == 499:
                self.get("/api/tables")

    def test_crowd(self):
        """All at once."""
        self.serve("all")
        self.get("/")
        slow = [self.connect() for _ in range(CLIENTS // 4)]
        threads = [threading.Thread(target=self.watch, daemon=True)]
        until = time.monotonic() + (4 if CLIENTS < 100 else 45)
        threads += [threading.Thread(target=self.client, args=(seed, until), daemon=True)
                    for seed in range(CLIENTS - len(slow))]
        threads += [threading.Thread(target=self.malformed, args=(seed, MALFORMED // 10),
                                     daemon=True) for seed in range(10)]
        # Half of the slow ones never end their request, half never take their answer.
        for number, one in enumerate(slow):
            if number % 2:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                one.sendall(b"GET /api/tables/memory_summary_by_account_by_event_name?limit=%d "
                            b"HTTP/1.1\r\nHost: localhost\r\n\r\n" % (99000 + number))
        begun = time.monotonic()
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads[1:]):
            for one in slow[::2]:
                try:
                    one.sendall(b"G" if time.monotonic() - begun < 1 else b"x")
                except OSError:
                    pass
            time.sleep(1)
        self.done.set()
        threads[0].join()
        print(f"{CLIENTS} clients, {len(slow)} of them slow, {MALFORMED} malformed requests, "
              f"{time.monotonic() - begun:.0f} s: answers by status {self.statuses}, at most "
              f"{self.most / 2**20:.1f} MiB resident", file=sys.stderr)
        self.assertEqual(self.faults[:5], [])
        self.assertGreaterEqual(self.statuses.get(200, 0), CLIENTS - len(slow))
        self.assertLess(self.most, RSS_MAX)
        self.assertIn("memory/a/x", self.get("/metrics"))
        if CLIENTS >= 100:
            self.wait_for_the_end_of(len(slow))

    def sockets(self):
        """How many the server has."""
        folder = f"/proc/{self.server.pid}/fd"
        return sum(os.path.islink(f"{folder}/{one}") and
                   os.readlink(f"{folder}/{one}").startswith("socket:")
                   for one in os.listdir(folder))

    def wait_for_the_end_of(self, slow):
        """The server ends with them, though they do not end."""
        until = time.monotonic() + 60
        while self.sockets() > 1 and time.monotonic() < until:
            time.sleep(1)
        self.assertEqual(self.sockets(), 1, f"of {slow} slow clients")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "Crowd"])
