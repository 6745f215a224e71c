#!/usr/bin/python3
"""server_rows.py - what a server's own memory tables say: rows below zero, and the total compared
with the resident memory, at the start, after a load, and after the buffer pool was resized.

usage: scripts/server_rows.py [--server PROGRAM] [--queries N] [--counted [--build-dir DIR]]
Starts MariaDB on a socket in a temporary folder, with all memory instruments on, loads it with
mysqlslap, and reads the five tables memory_summary_..._by_event_name of its performance_schema.
Prints one table for each moment. With --counted the server runs under libpfsmem.so, and each table
says what that counted at the same moment. Half a minute. Exit 0: all was read. 1: the server or a
client failed. 2: bad usage, or a program is missing.
"""

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections import namedtuple

from common import commandline
from measuring import allocator_servers as servers, launching

TABLES = ("thread", "account", "user", "host", "global")
POOL_MIB, LARGER_POOL_MIB = 256, 512
SETTLE_S = 2.0
NAMES = {name: f"memory_summary_{'' if name == 'global' else 'by_'}{name}_by_event_name"
         for name in TABLES}
BELOW = """SELECT count(*), coalesce(min(CURRENT_NUMBER_OF_BYTES_USED), 0)
  FROM performance_schema.{}
  WHERE CURRENT_NUMBER_OF_BYTES_USED < 0 OR CURRENT_COUNT_USED < 0"""
# An instrument with its bytes: the lowest of an account, the largest of all.
LOWEST, LARGEST = (f"""SELECT EVENT_NAME, CURRENT_NUMBER_OF_BYTES_USED
  FROM performance_schema.{NAMES[table]}
  ORDER BY CURRENT_NUMBER_OF_BYTES_USED {order} LIMIT 1"""
                   for table, order in (("account", ""), ("global", "DESC")))
TOTAL = """SELECT sum(CURRENT_NUMBER_OF_BYTES_USED)
  FROM performance_schema.memory_summary_global_by_event_name"""

# rows: {table: (rows below zero, the lowest)}; total: what the server says; resident: what the
# system says; lowest, largest: (instrument, bytes).
Seen = namedtuple("Seen", "rows total resident lowest largest")

# The same of libpfsmem.so: rows below zero of all five tables, and bytes in use from malloc.
BOX = "SELECT {}, (SELECT sum(CURRENT_NUMBER_OF_BYTES_USED) FROM {})".format(
    " + ".join(f"(SELECT count(*) FROM {name} WHERE CURRENT_NUMBER_OF_BYTES_USED < 0)"
               for name in NAMES.values()), NAMES["global"])


class Instrumented(servers.Mariadb):
    """MariaDB with its own memory instruments on."""

    def __init__(self, folder, queries, program):
        super().__init__(folder, queries)
        self.program = program

    def command(self, place):
        return [self.program, *self.flags, f"--user={servers.user()}", f"--datadir={place}",
                f"--socket={place}/socket", f"--pid-file={place}/pid", f"--tmpdir={place}-tables",
                "--performance-schema=ON", "--performance-schema-instrument=memory/%=ON",
                f"--innodb-buffer-pool-size={POOL_MIB}M"]

    def load(self, place):
        servers.call(["mysqlslap", "--no-defaults", "-u", "root", "-S", f"{place}/socket",
                      "--concurrency=16", f"--number-of-queries={self.amount}",
                      "--auto-generate-sql", "--auto-generate-sql-load-type=mixed",
                      "--auto-generate-sql-add-autoincrement"])


def ask(place, query):
    """The answer's first line, as a list of words."""
    said = servers.call(["mysql", "--no-defaults", "-u", "root", "-S", f"{place}/socket", "-N",
                         "-e", query])
    return said.split()


def look(place, pid):
    """What the tables say now, and what the system says."""
    rows = {name: tuple(map(int, ask(place, BELOW.format(table))))
            for name, table in NAMES.items()}
    lowest, largest = ((name, int(count)) for name, count in
                       (ask(place, query) for query in (LOWEST, LARGEST)))
    return Seen(rows, int(ask(place, TOTAL)[0]), servers.resident_bytes(pid), lowest, largest)


def mib(size):
    """Bytes in MiB, as documents give them."""
    return f"{size / (1 << 20):.0f} MiB"


def text_of(when, seen):
    """A moment's table."""
    lines = [f"{when}: the server's total {mib(seen.total)}, of which {mib(seen.largest[1])} "
             f"{seen.largest[0]}; resident {mib(seen.resident)}"]
    for name, (count, lowest) in seen.rows.items():
        lines.append(f"  {name:8} rows below zero {count:4}, the lowest {lowest:10}")
    if seen.lowest[1] < 0:
        lines.append(f"  the lowest of an account is {seen.lowest[0]}")
    return "\n".join(lines)


def box_text(box, pid, seen):
    """What libpfsmem.so counted of a process. box: as of observe."""
    command, folder, _ = box
    said = servers.call([command, "sql", str(pid), "--format", "csv", BOX],
                        environment={**os.environ, "PFS_MEM_DIR": folder})
    below, counted = (int(word) for word in said.split()[-1].split(","))
    rest = seen.total - seen.largest[1]
    return (f"  libpfsmem.so: rows below zero {below}; {mib(counted)} in use from malloc, "
            f"where the server's total without {seen.largest[0]} is {mib(rest)}")


@contextlib.contextmanager
def started(server, place, environment):
    """The running server's process."""
    with open(f"{place}-log", "wb") as log, subprocess.Popen(
            server.command(place), stdout=log, stderr=log, stdin=subprocess.DEVNULL,
            env={**os.environ, **environment}) as process:
        end = time.monotonic() + servers.WAIT_S
        try:
            while not servers.answers(server.client(place) + server.ping):
                if process.poll() is not None or time.monotonic() > end:
                    raise servers.Failed(f"{server.program} does not answer")
                time.sleep(0.1)
            yield process
            servers.call(server.client(place) + server.stop)
        except BaseException:
            process.kill()
            raise


def observe(server, box, say):
    """The three moments. box: None, or pfs-mem, the folder of boxes, and the library."""
    place = server.place("rows")
    with started(server, place, {"PFS_MEM_DIR": box[1], "LD_PRELOAD": box[2]} if box
                 else {}) as process:
        def tell(when):
            time.sleep(SETTLE_S)
            seen = look(place, process.pid)
            say(text_of(when, seen))
            if box:
                say(box_text(box, process.pid, seen))
        say(" ".join(ask(place, "SELECT version()")))
        tell("at the start")
        server.load(place)
        tell(f"after {server.amount} queries of 16 clients")
        ask(place, f"SET GLOBAL innodb_buffer_pool_size = {LARGER_POOL_MIB << 20}")
        tell(f"after the buffer pool was resized from {POOL_MIB} to {LARGER_POOL_MIB} MiB")


def main(argv=None):
    """The command."""
    parser = commandline.Parser(prog="scripts/server_rows.py", description="Rows below zero and "
                                "totals of a server's own memory tables.",
                                formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--server", default="mariadbd", help="the program")
    parser.add_argument("--queries", type=int, default=6000, help="of the load")
    parser.add_argument("--counted", action="store_true", help="by libpfsmem.so, too")
    launching.add_build_dir(parser)
    arguments = parser.parse_args(argv)
    if arguments.queries < 1:
        parser.error(f"argument --queries: {arguments.queries}: at least 1")
    with tempfile.TemporaryDirectory() as folder:
        server = Instrumented(folder, arguments.queries, arguments.server)
        box = None
        if arguments.counted:
            box = (launching.built(arguments.build_dir, "memory", "pfs-mem"), folder,
                   launching.built(arguments.build_dir, "memory", "libpfsmem.so"))
        missing = server.prepare()
        if missing:
            print(f"server_rows: {missing}", file=sys.stderr)
            return 2
        try:
            observe(server, box, lambda text: print(text, flush=True))
        except (servers.Failed, OSError) as problem:
            print(f"server_rows: {problem}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    commandline.run(main, "server_rows")
