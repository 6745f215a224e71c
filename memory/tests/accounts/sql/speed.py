#!/usr/bin/python3
"""speed.py - how fast rows are read while two threads of the program write all the time.

usage: speed.py SQL_LIVE PFS_MEM EXTENSION [bar]
64,000 rows (256 threads, 250 instruments) by count and sums through SQLite, a snapshot each time.
Prints rows a second by the clock and by the reader's own CPU time, the latter is what a machine
with a CPU to spare would show. Exit 1: a row is missing or below zero; with bar also under a
million a second by CPU time.
"""

import os
import shutil
import sqlite3
import sys
import tempfile
import time

from harness import EXTENSION, Live, table

QUERY = ("SELECT count(*), sum(COUNT_ALLOC), sum(CURRENT_NUMBER_OF_BYTES_USED), "
         f"min(CURRENT_NUMBER_OF_BYTES_USED) FROM {table('thread')}")
TIMES, BAR = 15, 1e6


def main():
    """Measure, print."""
    folder = tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    os.environ["PFS_MEM_DIR"] = folder
    live = Live(folder)
    try:
        database = sqlite3.connect(":memory:", isolation_level=None)
        database.enable_load_extension(True)
        database.load_extension(EXTENSION)
        database.execute("SELECT pfs_mem_open(?)", (live.target,)).fetchall()
        live.do("fill", 256, 250)
        live.do("hammer", 2)
        clock, cpu, rows = [], [], 0
        for _ in range(TIMES):
            began, cpu_began = time.perf_counter(), time.thread_time()
            rows, _, _, least = database.execute(QUERY).fetchone()
            clock.append(time.perf_counter() - began)
            cpu.append(time.thread_time() - cpu_began)
            if rows < 64000 or least < 0:
                print(f"speed: {rows} rows, the least is {least}")
                return 1
        by_clock, by_cpu = (rows / sorted(times)[TIMES // 2] for times in (clock, cpu))
        print(f"speed: {rows} rows, two writers: {by_clock / 1e6:.2f} M rows/s by the clock, "
              f"{by_cpu / 1e6:.2f} by CPU time (medians of {TIMES})")
        return "bar" in sys.argv[4:] and by_cpu < BAR
    finally:
        live.end()
        shutil.rmtree(folder)


if __name__ == "__main__":
    if not hasattr(sqlite3.Connection, "enable_load_extension"):
        sys.exit(77)
    sys.exit(main())
