#!/usr/bin/python3
"""fuzz.py - damaged boxes for every command of pfs-mem, malformed packets and queries for its MySQL
server, malformed requests for its HTTP server: no crash, no hang, and one line where it refuses.

usage: fuzz.py boxes|packets|requests PFS_MEM [COUNT] [SEED]
    COUNT: 12 boxes, 3000 packets, 600 requests without it. The large run is 400, 150000, 30000.
A run with the same seed does the same. Exit 0: all held. 1: something did not, as it says; damaged
boxes that did not are kept. 77: /dev/shm or another need is missing.
"""

import glob
import http.client
import os
import random
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from collections import Counter

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from place import Place, expect, main, show

COUNTS = {"boxes": 12, "packets": 3000, "requests": 600}
COMMAND_S = 30
RSS_MAX = 256 << 20
AT_ONCE, SILENCE_MS = 100, 1500  # requests: one that is not whole is ended only by a deadline
PROGRAM = """
import threading, time
def work(seed):
    kept = [bytes(1000 + i * seed % 3000) for i in range(2000)]
    time.sleep(0.4)
threads = [threading.Thread(target=work, args=(i,)) for i in range(1, 8)]
for one in threads: one.start()
kept = [bytes(3000) for _ in range(3000)]
for one in threads: one.join()
print("held", flush=True)
time.sleep(36000)
"""
TABLES = ("memory_os memory_history memory_global_by_current_bytes memory_trace memory_limits "
          "memory_by_thread_by_current_bytes memory_arenas memory_arenas_history memory_mapped "
          "memory_parts memory_lines memory_stacks_history global_status global_variables threads "
          "accounts setup_instruments memory_summary_by_account_by_event_name").split()
NUMBERS = (0, 1, 2**31, 2**32 - 1, 2**62, 2**63, 2**64 - 1, 4096, 8192)


class Bench(Place):
    """A program that was sampled, its box, and random numbers."""

    def __init__(self, tool, count=None, seed="1"):
        super().__init__(tool)
        self.count = int(count or COUNTS[sys.argv[1]])
        self.chance = random.Random(int(seed))
        self.outcomes = Counter()
        self.programs = []

    def close(self):
        """They end, and nothing stays."""
        for process in self.programs:
            process.kill()
            process.communicate()
        super().close()

    def program(self):
        """It runs; its box."""
        process = self.start("/usr/bin/python3", "-c", PROGRAM, options=(
            "--lg-prof-sample", "12", "--tick-ms", "10", "--keep"))
        self.programs.append(process)
        expect(process.stdout.readline() == "held\n", "the program has begun")
        return process, glob.glob(f"{self.folder}/{process.pid}-*.box")[0]

    def serve(self, *words):
        """A server at its usual Unix socket."""
        server = subprocess.Popen([self.tool, "serve", *words], env=self.environment, text=True,
                                  stderr=subprocess.PIPE)
        said = server.stderr.readline()
        expect("serving" in said, f"it serves: {said}")
        return server

    def end(self, server):
        """It still lives, ends when asked to, and has nothing to say: no process of it crashed."""
        expect(server.poll() is None, f"the server died: {server.returncode}")
        server.terminate()
        said = server.communicate(timeout=30)[1]
        expect((server.returncode, said) == (0, ""), f"{server.returncode}: {said}")

    def connect(self, name):
        """A client of a Unix socket."""
        client = socket.socket(socket.AF_UNIX)
        client.connect(self.path(name))  # waits while too many others do
        client.settimeout(30)
        return client

    def mutated(self, data, most=8):
        """Bytes changed, removed and inserted."""
        data = bytearray(data)
        for _ in range(self.chance.choice((0, 0, 1, 2, most))):
            at, kind = self.chance.randrange(len(data) + 1), self.chance.randrange(3)
            if kind == 0 and at < len(data):
                data[at] = self.chance.randrange(256)
            elif kind == 1:
                del data[at:at + self.chance.randrange(1, 6)]
            else:
                data[at:at] = self.chance.randbytes(self.chance.randrange(1, 9))
        return bytes(data)


# ---- boxes ----

class Damage:
    """A dead program's box, as its pieces, and copies that are damaged."""

    def __init__(self, bench):
        process, self.source = bench.program()
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.chance, self.size = bench.chance, os.path.getsize(self.source)
        self.path = bench.path("1-2.box")
        file, self.pieces, at = os.open(self.source, os.O_RDONLY), [], 0
        while True:
            try:
                at = os.lseek(file, at, os.SEEK_DATA)
            except OSError:
                break
            end = os.lseek(file, at, os.SEEK_HOLE)
            self.pieces.append((at, os.pread(file, end - at, at)))
            at = end
        os.close(file)
        os.unlink(self.source)

    def place(self):
        """An offset where there is data."""
        at = self.chance.randrange(sum(len(data) for _, data in self.pieces))
        for begin, data in self.pieces:
            if at < len(data):
                return begin + at
            at -= len(data)
        return 0

    def make(self):
        """A new damaged copy; what kind it is of."""
        kind = self.chance.choice(("bit", "head", "word", "shorter", "longer", "block"))
        if os.path.exists(self.path):
            os.unlink(self.path)
        file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        os.ftruncate(file, self.size)
        for begin, data in self.pieces:
            os.pwrite(file, data, begin)
        for _ in range(self.chance.choice((1, 1, 3, 20, 200))):
            self.change(file, kind)
        if kind == "shorter":
            os.ftruncate(file, self.chance.randrange(self.size))
        if kind == "longer":
            os.ftruncate(file, self.size + self.chance.randrange(1 << 32))
        os.close(file)
        return kind

    def change(self, file, kind):
        """One place."""
        at = self.place() if kind != "head" else self.chance.randrange(8192)
        if kind == "bit":
            byte = os.pread(file, 1, at) or b"\0"
            os.pwrite(file, bytes([byte[0] ^ 1 << self.chance.randrange(8)]), at)
        elif kind in ("word", "head"):
            number = self.chance.choice((*NUMBERS, self.size, self.size - 1,
                                         self.chance.getrandbits(64), self.chance.getrandbits(32)))
            os.pwrite(file, struct.pack("<Q", number), at & ~7)
        elif kind == "block":
            os.pwrite(file, os.pread(file, self.chance.choice((64, 384, 4096)), self.place()), at)


def boxes(bench):
    """Each command, on each of them: exit 0 or 1, in time, by no signal."""
    damage = Damage(bench)
    box, queries = damage.path, "; ".join(f"SELECT * FROM {name}" for name in TABLES)
    commands = (("check", box), ("top", box, "--once"), ("show", box, "account"),
                ("sql", box, queries), ("pprof", box, "--symbolized", "--out", bench.path("o")),
                ("flame", box, "--out", bench.path("o.html")),
                ("profile", box, "--history"), ("profile", box, "--since", "1s"),
                ("report", "--out", bench.path("r.html"), box), ("list",))
    for number in range(bench.count):
        kind = damage.make()
        for words in commands:
            try:
                done = subprocess.run([bench.tool, *words], env=bench.environment,
                                      stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                      stderr=subprocess.PIPE, timeout=COMMAND_S, check=False)
                status = done.returncode
            except subprocess.TimeoutExpired:
                status = "did not end"
            bench.outcomes[words[0], status] += 1
            if status not in (0, 1):
                kept = f"/tmp/pfslab-fuzz-{sys.argv[-1]}-{number}-{words[0]}.box"
                subprocess.run(["cp", "--sparse=always", box, kept], check=True)
                expect(False, f"{words[0]}: {status} on box {number} ({kind}), kept as {kept}")


# ---- packets ----

QUERIES = (
    b"SELECT * FROM memory_limits WHERE LIMIT_BYTES > ? AND USER = ?", b"SELECT ?",
    b"SHOW TABLES LIKE ?", b"SHOW VARIABLES LIKE '%'", b"SELECT @@version, @x",
    b"DESCRIBE `memory_os`", b"SELECT '\\'' \"x\" -- c\n", b"/*!40101 SET NAMES utf8 */",
    b"SELECT `a``b`", b"USE sys", b"SELECT 1.5, x'41', 0x41", b"SHOW FULL COLUMNS FROM `users`",
    b"TRUNCATE TABLE memory_summary_by_host_by_event_name", b"SELECT * FROM x$user_summary",
    b"UPDATE setup_instruments SET ENABLED = ? WHERE NAME LIKE ?",
    b"SELECT a.USER, count(*) FROM accounts AS a JOIN users AS b ON a.USER = b.USER GROUP BY 1",
    b"WITH t AS (SELECT 1 AS x) SELECT x, sum(x) OVER () FROM t UNION SELECT 2, 3 ORDER BY 1",
    b"SELECT EVENT_NAME FROM sys.memory_global_by_current_bytes WHERE 1 IN (SELECT 1) LIMIT 3, 4")
HANDSHAKE = struct.pack("<IIB23x", 0x1 | 0x200 | 0x8000 | 0x80000, 1 << 20, 45) + \
    b"u\0" + b"\0" + b"mysql_native_password\0"


def packet(data, sequence=0):
    """With its head."""
    return struct.pack("<I", len(data) & 0xFFFFFF)[:3] + bytes([sequence]) + data


def command(bench):
    """A command of a client's, damaged or not."""
    chance, kind = bench.chance, bench.chance.random()
    if kind < 0.3:
        return b"\x16" + bench.mutated(chance.choice(QUERIES))
    if kind < 0.6:
        types = b"".join(chance.choice((b"\xfd\0", b"\x08\0", b"\x08\x80", b"\x05\0", b"\x0c\0",
                                        b"\x0b\0", b"\x06\0", b"\x01\0", chance.randbytes(2)))
                         for _ in range(chance.randrange(4)))
        data = b"\x17" + struct.pack("<IBI", chance.randrange(6), 0, 1) + b"\0\1" + types + \
            chance.randbytes(chance.randrange(40))
        return bench.mutated(data) if chance.random() < 0.3 else data
    if kind < 0.9:
        return b"\x03" + bench.mutated(chance.choice(QUERIES) + chance.choice((b"", b"", b" ")) +
                                       chance.choice((b"", chance.choice(QUERIES))))
    return bytes([chance.randrange(32)]) + chance.randbytes(chance.randrange(20))


def visit(bench, most):
    """A connection: some packets, and what comes back is read to its end. How many it sent."""
    chance, sent = bench.chance, 0
    client = bench.connect("mysql.sock")
    try:
        client.recv(4096)
        client.sendall(packet(bench.mutated(HANDSHAKE) if chance.random() < 0.1 else HANDSHAKE, 1))
        batch = b""
        for _ in range(chance.randrange(1, 40)):
            data = packet(command(bench))
            batch += bench.mutated(data, 2) if chance.random() < 0.02 else data
            sent += 1
            if sent == most:
                break
        client.sendall(batch)
        client.shutdown(socket.SHUT_WR)
        while client.recv(1 << 16):
            pass
    except ConnectionError:
        bench.outcomes["reset"] += 1
    except TimeoutError:
        expect(False, "the server does not answer")
    finally:
        client.close()
    return sent


def packets(bench):
    """The server answers after all of them, and no process of it crashed."""
    process, _ = bench.program()
    server = bench.serve("--mysql", "socket", "--allow-changes", str(process.pid))
    sent = 0
    while sent < bench.count and server.poll() is None:
        sent += visit(bench, bench.count - sent)
        bench.outcomes["connections"] += 1
    bench.outcomes["packets"] = sent
    expect(bench.connect("mysql.sock").recv(100)[5:6] == b"8", "it greets")
    bench.end(server)
    expect(process.poll() is None, "the program goes on")


# ---- requests ----

PATHS = ("/", "/metrics", "/api/boxes", "/api/tables", "/api/tables/memory_os", "/api/history",
         "/flame", "/lines", "/pprof/heap", "/pprof/symbol", "/pprof/cmdline", "/debug/pprof/heap",
         "/pprof/collapsed", "/page.css", "/boxes/1-1/", "/nonesuch")
PARTS = (b"?target=", b"?limit=1&offset=2", b"&debug=1", b"?total=1", b"%00", b"%zz", b"/../..",
         b"//", b"?token=x", b"#", b"?limit=-1", b"?offset=99999999999999999999", b"?target=last")
HEADERS = (b"Host: localhost", b"Host: ", b"Content-Length: 5", b"Content-Length: -1",
           b"Content-Length: 99999999999999999999", b"Transfer-Encoding: chunked",
           b"Expect: 100-continue", b"Connection: Upgrade", b"Cookie: pfs_token=;;=,",
           b"Authorization: Basic ====", b"Authorization: Bearer",
           b"Accept: application/openmetrics-text", b"Range: bytes=0-1", b"X: " + b"x" * 3000)


def request(bench):
    """One request, damaged or not."""
    chance = bench.chance
    path = chance.choice(PATHS).encode() + b"".join(
        chance.choice(PARTS) for _ in range(chance.choice((0, 0, 1, 2))))
    method = chance.choice((b"GET", b"GET", b"GET", b"POST", b"HEAD", b"PUT", b"get"))
    version = chance.choice((b"HTTP/1.1", b"HTTP/1.1", b"HTTP/1.0", b"HTTP/9.9", b""))
    lines = [method + b" " + path + b" " + version,
             b"Host: localhost"]
    lines += [chance.choice(HEADERS) for _ in range(chance.choice((0, 0, 1, 3)))]
    body = chance.choice((b"", b"", b"0x1+0x2", b"5\r\nabcde\r\n0\r\n\r\n", chance.randbytes(30)))
    text = b"\r\n".join(lines) + b"\r\n\r\n" + body
    return bench.mutated(text) if chance.random() < 0.6 else text


def ask(bench):
    """A client that has sent a request."""
    client = bench.connect("http.sock")
    try:
        client.sendall(request(bench))
    except ConnectionError:
        pass
    return client


def status_of(data):
    """Of an answer."""
    status = re.match(rb"HTTP/1\.[01] (\d+) ", data)
    return int(status[1]) if status else "ended without an answer"


def read_all(clients):
    """What came back to each: a status, an end, or nothing, where the server waits for more."""
    said, waiting = {client: b"" for client in clients}, select.poll()
    by_number = {client.fileno(): client for client in clients}
    for number in by_number:
        waiting.register(number, select.POLLIN)
    outcomes = []
    while by_number and (events := waiting.poll(SILENCE_MS)):
        for number, _ in events:
            client = by_number[number]
            try:
                more = client.recv(1 << 16)
            except ConnectionError:
                more = b""
            if more:
                said[client] = (said[client] + more)[:100]
                continue
            waiting.unregister(number)
            outcomes.append(status_of(said[by_number.pop(number)]))
    for client in clients:
        client.close()
    return outcomes + [status_of(said[client]) if said[client] else "waited for more"
                       for client in by_number.values()]


def resident(process):
    """Bytes."""
    with open(f"/proc/{process.pid}/status", encoding="utf-8") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("VmRSS"))


def requests(bench):
    """Each is answered or ended; the server answers after all of them, and stays small."""
    bench.program()
    server = bench.serve("--http", "socket", "all")
    most, left = 0, bench.count
    while left > 0:
        clients = [ask(bench) for _ in range(min(left, AT_ONCE))]
        left -= len(clients)
        bench.outcomes.update(read_all(clients))
        most = max(most, resident(server))
    client = http.client.HTTPConnection("localhost", timeout=30)
    client.sock = bench.connect("http.sock")
    client.request("GET", "/metrics")
    expect(client.getresponse().status == 200, "it answers afterwards")
    client.close()
    expect(most < RSS_MAX, f"{most >> 20} MiB resident")
    bench.outcomes["MiB resident at most"] = most >> 20
    bench.end(server)


def timed(part):
    """Says what came out."""
    def run(bench):
        begun = time.monotonic()
        part(bench)
        outcomes = sorted(bench.outcomes.items(), key=str)
        print(f"fuzz.py: {part.__name__}: {bench.count} in {time.monotonic() - begun:.0f} s: " +
              ", ".join(f"{key}: {value}" for key, value in outcomes))
    return run


if __name__ == "__main__":
    if not os.access("/dev/shm", os.W_OK) or not shutil.which("cp"):
        print("fuzz.py: skipped: no /dev/shm")
        sys.exit(77)
    main({one.__name__: timed(one) for one in (boxes, packets, requests)}, Bench(*sys.argv[2:]))
