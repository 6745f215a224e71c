#!/usr/bin/python3
"""check_threads.py - many threads: those beyond the box's room are reported as not counted, with
their bytes; HIGH is near the truth after many short lives, and never above a limit that held.

usage: check_threads.py PART PFS_MEM CROWD
Exit 0: all as expected. 1: something was not. 77: the system allows fewer threads.
"""

import json
import os
import subprocess
import sys
import tempfile

PART, TOOL, CROWD = sys.argv[1:4]


def expect(is_fine, what):
    """Or the test fails."""
    if not is_fine:
        print(f"check_threads: {what}")
        sys.exit(1)


def ask(pid, query):
    """Rows of a query."""
    done = subprocess.run([TOOL, "sql", "--format", "json", str(pid), query], check=True,
                          capture_output=True, text=True)
    return json.loads(done.stdout)


def look(threads, mode, options, read):
    """What read() finds in the box of a crowd."""
    program = subprocess.Popen([TOOL, "run", *options, "--", CROWD, str(threads), mode], text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        if program.stdout.readline() != "ready\n":
            sys.exit(77 if program.wait() == 77 else 1)
        return read(program)
    finally:
        program.stdin.close()
        program.wait(timeout=60)
        program.stdout.close()


def run(threads, *options):
    """What a box says of a crowd: lives lost, bytes lost, rows and bytes of its pool, top."""
    def read(program):
        lost = {row["VARIABLE_NAME"]: int(row["VARIABLE_VALUE"]) for row in ask(
            program.pid, "SELECT * FROM global_status WHERE VARIABLE_NAME LIKE '%lost'")}
        pool = ask(program.pid, "SELECT count(*) AS n, sum(CURRENT_NUMBER_OF_BYTES_USED) AS bytes "
                   "FROM memory_summary_by_thread_by_event_name JOIN threads USING (THREAD_ID) "
                   "WHERE EVENT_NAME = 'memory/crowd/heap' AND TYPE = 'FOREGROUND' "
                   f"AND THREAD_OS_ID <> {program.pid}")[0]
        top = subprocess.run([TOOL, "top", "--once", str(program.pid)], check=True, text=True,
                             capture_output=True)
        check = subprocess.run([TOOL, "check", str(program.pid)], check=False, text=True,
                               capture_output=True)
        expect(check.returncode == 0, check.stdout + check.stderr)
        return lost, pool, top.stdout + top.stderr
    return look(threads, "together", options, read)


def highs(threads, mode, *options):
    """USER, CURRENT, HIGH and HIGH_IS of the crowd's own instrument, by account; None: global."""
    columns = ("CURRENT_NUMBER_OF_BYTES_USED AS used, HIGH_NUMBER_OF_BYTES_USED AS high, "
               "HIGH_IS AS h")
    where = "WHERE EVENT_NAME = 'memory/crowd/heap'"

    def read(program):
        rows = ask(program.pid, f"SELECT USER AS who, {columns} FROM "
                   f"memory_summary_by_account_by_event_name {where} UNION ALL SELECT NULL, "
                   f"{columns} FROM memory_summary_global_by_event_name {where}")
        top = subprocess.run([TOOL, "top", "--once", str(program.pid)], check=True, text=True,
                             capture_output=True).stdout
        return {row["who"]: (row["used"], row["high"], row["h"]) for row in rows}, top
    return look(threads, mode, options, read)


def high():
    """HIGH and its mark."""
    rows, top = highs(4000, "after")
    used, most, mark = rows[None]
    expect(used >= 2000 * 1000 and used <= most <= used * 1.15, f"one after the other: {rows}")
    expect(mark == "at most" and f"≤ {most}" in top, f"{rows} {top}")
    rows, top = highs(6, "hungry", "--limit", "program=300000")
    expect(rows[None][1] <= 300000 and rows[None][2] == "at most", f"a limit: {rows}")
    rows, top = highs(6, "hungry", "--limit", "account:crowd@localhost=300000")
    expect(rows["crowd"][1] <= 300000 and rows[None][1] <= 300000, f"an account's limit: {rows}")
    rows, top = highs(0, "after")
    expect(all(row[2] == "exact" for row in rows.values()), f"one thread: {rows}")
    expect("≤" not in top, top)


def room():
    """A plan that is too small, and the default."""
    lost, pool, top = run(200, "--threads", "50")
    expect(lost["Performance_schema_thread_instances_lost"] == 151, f"{lost}")
    # The allocator's own thread may begin in one of them, and its thread-local storage.
    expect(151 * 1000 <= lost["Pfs_thread_bytes_lost"] < 152 * 1000, f"{lost}")
    expect((pool["n"], pool["bytes"]) == (49, 49 * 1000), f"{pool}")
    expect("151 threads not counted" in top and "--threads" in top, top)
    lost, pool, top = run(5000)
    expect(lost["Performance_schema_thread_instances_lost"] == 0, f"{lost}")
    expect((pool["n"], pool["bytes"]) == (5000, 5000 * 1000), f"{pool}")
    expect("not counted" not in top, top)


def main():
    """One part, with a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o700)
        os.environ["PFS_MEM_DIR"] = folder
        {"room": room, "high": high}[PART]()


main()
