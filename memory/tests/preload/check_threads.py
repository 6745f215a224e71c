#!/usr/bin/python3
"""check_threads.py - threads beyond the box's room are reported as not counted, with their bytes;
with room for all of them nothing is missing.

usage: check_threads.py PFS_MEM CROWD
Exit 0: all as expected. 1: something was not. 77: the system allows fewer threads.
"""

import json
import os
import subprocess
import sys
import tempfile

TOOL, CROWD = sys.argv[1:3]


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


def run(threads, *options):
    """What a box says of a crowd: lives lost, bytes lost, rows and bytes of its pool, top."""
    program = subprocess.Popen([TOOL, "run", *options, "--", CROWD, str(threads)], text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        if program.stdout.readline() != "ready\n":
            sys.exit(77 if program.wait() == 77 else 1)
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
    finally:
        program.stdin.close()
        program.wait(timeout=60)
        program.stdout.close()


def main():
    """A plan that is too small, and the default."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o700)
        os.environ["PFS_MEM_DIR"] = folder
        lost, pool, top = run(200, "--threads", "50")
        expect(lost["Performance_schema_thread_instances_lost"] == 151, f"{lost}")
        expect(lost["Pfs_thread_bytes_lost"] == 151 * 1000, f"{lost}")
        expect((pool["n"], pool["bytes"]) == (49, 49 * 1000), f"{pool}")
        expect("151 threads not counted" in top and "--threads" in top, top)
        lost, pool, top = run(5000)
        expect(lost["Performance_schema_thread_instances_lost"] == 0, f"{lost}")
        expect((pool["n"], pool["bytes"]) == (5000, 5000 * 1000), f"{pool}")
        expect("not counted" not in top, top)


main()
