#!/usr/bin/python3
"""guarded_test.py - mistakes of C and C++ programs are reported with the right block, stacks and
threads, on stderr and, with libpfsmem.so, in the box; other faults are the program's own.

usage: guarded_test.py PART PROGRAMS LIBPFSMALLOC.so PFS-MEM
PART: report (libpfsmalloc.so alone), box (pfs-mem run), passed (faults of the program's own).
Exit 0: so. 1: not.
"""

import os
import platform
import re
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from place import Place, expect, main  # pylint: disable=wrong-import-position

SEGV, ABRT = -signal.SIGSEGV, -signal.SIGABRT
PASSED_END, BEFORE = r"\d+ bytes past the end of", r"\d+ bytes before"
# Case, how it ends, kind, place, then functions: of the mistake, of malloc, of free; "" none.
CASES = (
    ("guarded", "overflow", SEGV, "overflow", PASSED_END, "write_here", "allocate_here", ""),
    ("guarded", "overflow_read", SEGV, "overflow", PASSED_END, "read_here", "allocate_here", ""),
    ("guarded", "overflow_one", ABRT, "overflow", "1 bytes past the end of", "free_here",
     "allocate_here", ""),
    ("guarded", "underflow", None, "underflow", BEFORE, "", "allocate_here", ""),
    ("guarded", "underflow_one", ABRT, "(under|over)flow", "1 bytes (before|past the end of)",
     "free_here", "allocate_here", ""),
    ("guarded", "use_after_free", SEGV, "use after free", "7 bytes into", "read_here",
     "allocate_here", "free_here"),
    ("guarded", "use_across_threads", SEGV, "use after free", "7 bytes into", "read_here",
     "allocate_here", "free_here"),
    ("guarded", "double_free", ABRT, "double free", "0 bytes into", "free_here", "allocate_here",
     "free_here"),
    ("guarded", "invalid_free", ABRT, "invalid pointer", "16 bytes into", "free_here",
     "allocate_here", ""),
    ("guarded", "realloc_freed", ABRT, "double free", "0 bytes into", "realloc_freed",
     "allocate_here", "free_here"),
    ("guarded", "use_after_realloc", SEGV, "use after free", "7 bytes into", "read_here",
     "allocate_here", "use_after_realloc"),
    ("guarded", "large", SEGV, "overflow", PASSED_END, "write_here", "allocate_here", ""),
    ("guarded_cxx", "use_closed", SEGV, "use after free", "40 bytes into", "count_request",
     "open_session", "close_session"),
    ("guarded_cxx", "overflow_vector", SEGV, "overflow", PASSED_END, "fill", "overflow_vector", ""),
    ("guarded_cxx", "use_old_reference", SEGV, "use after free", "12 bytes into", "use_reference",
     "use_old_reference", "use_old_reference"),
    ("guarded_cxx", "close_twice", ABRT, "double free", "0 bytes into", "close_session",
     "open_session", "close_session"),
)
# What the report calls each stack.
STACKS = ("(accessed|found) by", "allocated by", "freed by")
SIZES = {"underflow_one": 4000, "large": 50000, "overflow_vector": 400, "use_closed": 44,
         "use_old_reference": 400, "close_twice": 44}


def named(text, program):
    """The report with the functions of each frame of the program, by addr2line."""
    frames = re.findall(rf"^    {re.escape(program)}\+(0x[0-9a-f]+)$", text, flags=re.MULTILINE)
    for frame in sorted(set(frames)):
        said = subprocess.run(["addr2line", "-f", "-C", "-i", "-e", program,
                               frame], text=True, check=False, capture_output=True)
        text = text.replace(f"{program}+{frame}\n", " ".join(said.stdout.split("\n")[::2]) + "\n")
    return text


def stacks_of(text, prefix):
    """The lines of each stack."""
    found = []
    for what in STACKS:
        match = re.search(rf"^{prefix}{what} thread \d+ \((?P<thread>.*)\)\n"
                          r"(?P<stack>(    .*\n)*)", text, re.MULTILINE)
        found.append((match.group("thread"), match.group("stack")) if match else ("", ""))
    return found


def compare(case, text, prefix):
    """A report as text."""
    _, name, _, kind, place, *functions = case
    size = SIZES.get(name, 100)
    head = re.search(rf"{kind}.* {place} a block of {size} bytes at 0x", text)
    expect(head is not None, f"{name}: no '{kind} ... {place} ... {size}' in:\n{text}")
    stacks = stacks_of(text, prefix)
    for what, function, (_, stack) in zip(STACKS, functions, stacks):
        expect(function in stack, f"{name}: {what}: no {function} in:\n{stack}\nof:\n{text}")
        expect(function == "" or stack != "", f"{name}: {what}: nothing in:\n{text}")
    if name == "use_across_threads":
        threads = [thread for thread, _ in stacks]
        expect(threads == ["user", "maker", "dropper"], f"{name}: threads {threads}")


def ends_early(name, text):
    """Stacks end where the C library calls main or a thread's function (outermost.c)."""
    for _, stack in stacks_of(text, "pfsmalloc: "):
        *_, last_but_one, last = [" ", " ", *stack.splitlines()]
        expect("_start" not in last.split() and "libc.so" not in last_but_one or
               platform.machine() != "x86_64", f"{name}: a stack goes on behind main:\n{stack}")


def report(_place, programs, library, _tool):
    """libpfsmalloc.so alone, on stderr."""
    for case in CASES:
        program, name, end = case[:3]
        path = os.path.join(os.path.realpath(programs), program)
        done = subprocess.run([path, name], text=True, check=False,
                              capture_output=True, timeout=60,
                              env={**os.environ, "LD_PRELOAD": library,
                                   "PFS_MALLOC_CONF": "guard_rate:1"})
        expect(end is None or done.returncode == end, f"{name}: exit {done.returncode}")
        compare(case, named(done.stderr, path), "pfsmalloc: ")
        ends_early(name, named(done.stderr, path))
    for rate in (0, 1000000000): # hardly any: not noticed
        done = subprocess.run([os.path.join(programs, "guarded"), "use_after_free"], check=False,
                              env={**os.environ, "LD_PRELOAD": library,
                                   "PFS_MALLOC_CONF": f"guard_rate:{rate}"})
        expect(done.returncode == 0, f"guard_rate:{rate}: exit {done.returncode}")


def box(place, programs, _library, _tool):
    """The box tells the same of a dead program."""
    for case in CASES:
        program, name, end = case[:3]
        done = place.run("run", "--guard", "1", "--", os.path.join(programs, program), name,
                         status=end if end is not None else ABRT if name != "underflow" else SEGV)
        expect("pfsmalloc: " in done.stderr, f"{name}: nothing on stderr")
        text = place.run("corruption", "last").stdout
        compare(case, text, "")
        kind = case[3]
        expect(re.search(rf"died .* of an? {kind} of a block of {SIZES.get(name, 100)} bytes",
                         text), f"{name}: how it died:\n{text}")
    rows = place.run("sql", "--format", "csv", "last",
                     "SELECT DISTINCT KIND, CALLED, BLOCK_BYTES, STACK FROM memory_corruption"
                     ).stdout
    expect("double free,free,44,HERE" in rows and "44,FREED" in rows, f"sql: {rows}")
    listed = place.run("list", "--format", "csv").stdout
    expect("double free" in listed and "use after free" in listed, f"list: {listed}")
    done = place.run("run", "--", os.path.join(programs, "guarded"), "free_of_data", status=ABRT)
    text = place.run("corruption", "last").stdout
    expect("invalid pointer" in text and "free_of_data" in text, f"free_of_data:\n{text}")
    expect("an invalid pointer" in place.run("top", "last", "--once").stdout, "top")
    place.run("run", "--keep", "--", os.path.join(programs, "guarded"), "by_the_kernel")
    expect("no memory corruption was recorded" in place.run("corruption", "last").stdout,
           "corruption of a program that ended well")


def passed(place, programs, library, _tool):
    """No report, and what the program asked for happens; with both libraries."""
    cases = (("own_fault", 0, "handled 1, its own"), ("own_barrier", 0, "handled 1"),
             ("plain_fault", SEGV, ""), ("sent", SEGV, ""), ("ignored", 0, "ignored"),
             ("by_the_kernel", 0, "EFAULT"))
    program = os.path.join(programs, "guarded")
    for name, end, said in cases:
        for words in ([program, name],
                      [place.tool, "run", "--guard", "1", "--", program, name]):
            alone = {"LD_PRELOAD": library, "PFS_MALLOC_CONF": "guard_rate:1"}
            done = subprocess.run(words, text=True, check=False, capture_output=True, timeout=60,
                                  env={**place.environment, **(alone if len(words) == 2 else {})})
            expect(done.returncode == end, f"{name}: exit {done.returncode}")
            expect(said in done.stdout, f"{name}: said {done.stdout}")
            expect("pfsmalloc: " not in done.stderr, f"{name}: reported {done.stderr}")
    for name, end, said in (("own_action", 0, "handled 1"), ("in_child", SEGV, "")):
        done = subprocess.run([program, name], text=True, check=False, capture_output=True,
                              timeout=60, env={**place.environment, "LD_PRELOAD": library,
                                               "PFS_MALLOC_CONF": "guard_rate:1"})
        expect(done.returncode == end and said in done.stdout and
               "use after free" in done.stderr, f"{name}: {done}")


if __name__ == "__main__":
    if shutil.which("addr2line") is None:
        print("addr2line is not there (binutils)")
        sys.exit(77)
    main({"report": report, "box": box, "passed": passed}, Place(sys.argv[4]), *sys.argv[2:])
