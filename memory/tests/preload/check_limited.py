#!/usr/bin/python3
"""check_limited.py - a limit under pfs-mem run: what is refused, by which table that is said, and
that it can be changed from outside.

usage: check_limited.py PFS_MEM KNOWN
Exit 0: all is as it must be. 1: something is not.
"""

import sys

from check_preload import Place, equal, expect, places, said

ASKS = """
import ctypes, sys, threading
libc = ctypes.CDLL(None, use_errno=True)
libc.malloc.restype = libc.realloc.restype = ctypes.c_void_p
libc.realloc.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
def ask():
    for line in sys.stdin:
        ctypes.set_errno(0)
        got = libc.malloc(ctypes.c_size_t(int(line)))
        why = ctypes.get_errno()
        grown = got and libc.realloc(got, 100 << 20)
        print(bool(got), why if not got else 0, bool(grown), flush=True)
thread = threading.Thread(target=ask)
thread.start()
thread.join()
"""


def limited(place):
    """malloc and realloc have NULL and ENOMEM above a limit; which is changed while it runs."""
    program = place.start("/usr/bin/python3", "-c", ASKS, options=(
        "--keep", "--limit", "thread=4M", "--limit=user:nobody=1,program=1T"))

    def ask(size):
        program.stdin.write(f"{size}\n")
        program.stdin.flush()
        return said(program)

    def sql(query):
        return place.mem("sql", str(program.pid), query, "--format", "tab").split("\n")[1:-1]

    equal(ask(1 << 20), ["True", "0", "False"], "within the limit")
    equal(ask(4 << 20), ["False", "12", "False"], "above it")
    equal(sql("SELECT REFUSED, LAST_BYTES FROM memory_limits WHERE SCOPE = 'THREAD'"),
          [f"2\t{4 << 20}"], "what was refused")
    sql("UPDATE memory_limits SET LIMIT_BYTES = 9 << 20 WHERE SCOPE = 'THREAD'")
    equal(ask(4 << 20), ["True", "0", "False"], "a higher one")
    sql("UPDATE memory_limits SET LIMIT_BYTES = NULL WHERE SCOPE = 'THREAD'")
    equal(ask(4 << 20), ["True", "0", "True"], "and none")
    sql("UPDATE memory_limits SET LIMIT_BYTES = 0 WHERE SCOPE = 'USER' AND USER = 'nobody'")
    for wrong in ("LIMIT_BYTES = -1", "REFUSED = 0", "LIMIT_BYTES = 'much'"):
        expect("memory_limits: " in place.mem("sql", str(program.pid),
                                              f"UPDATE memory_limits SET {wrong}", status=1), wrong)
    program.stdin.close()
    equal(program.wait(timeout=60), 0, "exit status")
    equal(sql("SELECT SCOPE, USER, LIMIT_BYTES, REFUSED FROM memory_limits"),
          [f"PROGRAM\tNULL\t{1 << 40}\t0", "THREAD\t%\tNULL\t3", "ACCOUNT\t%\tNULL\t0",
           "USER\t%\tNULL\t0", "USER\tnobody\t0\t0"], "the table of one that has ended")
    expect("is not a limit" in place.mem("run", "--limit", "thread=1,x=2", "true", status=2),
           "wrong")
    done = place.run("run", "true", env={**place.environment, "PFS_MEM_LIMIT": "x"})
    equal(len(done.stderr.strip().split("\n")), 1, f"lines of a wrong limit: {done.stderr}")


if __name__ == "__main__":
    places.main({"limited": limited}, Place(*sys.argv[1:3]), part="limited")
