#!/usr/bin/python3
"""programs.py - Debian's programs must give the right result with each allocator preloaded.

usage: memory/tests/malloc/programs.py [--allocators pfs,glibc,...] [--only NAME,...] [--long]
                                       [--check]
Each runs in a folder of its own. It is right if it exits with 0 and prints what it printed before
without a preload (or if its own tests pass). --long adds those that take minutes, and lengthens
others.
Exit 0: it ran; with --check: ours failed nowhere. 1: with --check, ours failed. 2: bad usage.
77: with --check, everything requested was skipped, because programs are missing.
"""

import glob
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import namedtuple
from pathlib import Path

import preload
import servers
from servers import Failed

SCRIPTS = os.path.join(preload.HERE, "programs")
PYTHON = "/usr/bin/python3"
PYTHON_TESTS = ("list", "dict", "json", "re", "sort", "deque", "array", "heapq", "copy", "struct",
                "memoryview", "thread", "zlib", "collections", "csv")
PYTHON_LONG = ("set", "bytes", "weakref", "itertools", "gc", "queue", "hashlib", "decimal",
               "pickle", "generators", "threading", "io", "ast", "unicode", "fork1", "ctypes",
               "subprocess")
MALLOC_OPTIONS = (("--malloc-bytes", "64M"), ("--malloc-max", "20000"), ("--malloc-touch",),
                  ("--malloc-zerofree",), ("--malloc-thresh", "65536"),
                  ("--malloc-pthreads", "4"))
STRESSORS = ("list", "hsearch", "skiplist", "tree", "bsearch", "radixsort", "str", "fork",
             "pthread", "zlib", "memfd")


class Place:
    """One run of a program: its folder, and the malloc of all its processes."""

    def __init__(self, library, folder, is_long, programs):
        self.library, self.folder = library, folder
        self.long, self.programs = is_long, programs

    def run(self, *command, seconds=120, text="", more=None):
        """The output of a command, which must exit with 0."""
        done = preload.run(command, self.library, seconds, more, self.folder, text)
        if done.code != 0:
            said = (done.err.strip() or done.out.strip() or "nothing said").split("\n")
            code = "hangs" if done.code is None else f"exit {done.code}" if done.code < 128 \
                else f"signal {done.code - 128}"
            raise Failed(f"{os.path.basename(command[0])}: {code}; {said[-1][:150]}")
        return done.out

    def script(self, command, name):
        """An interpreter with a script of programs/."""
        return self.run(*command, os.path.join(SCRIPTS, name))

    def path(self, name):
        """A file of the folder."""
        return os.path.join(self.folder, name)


def preloaded(place):
    """Is the library in use at all?"""
    maps = place.run("cat", "/proc/self/maps")
    if place.library and place.library not in maps:
        raise Failed("it is not preloaded")
    return ""


def cmake(place):
    """A project with a library, a program and a test."""
    with open(place.path("CMakeLists.txt"), "w", encoding="utf-8") as file:
        file.write("cmake_minimum_required(VERSION 3.20)\nproject(small C)\n"
                   "include(CheckSymbolExists)\ncheck_symbol_exists(malloc stdlib.h HAVE)\n"
                   "foreach(i RANGE 300)\n  string(APPEND text \"${i};\")\n"
                   "  list(APPEND sorted ${text})\n  list(REMOVE_DUPLICATES sorted)\nendforeach()\n"
                   "list(LENGTH sorted length)\nmessage(NOTICE \"${length} ${HAVE}\")\n"
                   "add_executable(small small.c)\nenable_testing()\n"
                   "add_test(NAME small COMMAND small)\n")
    Path(place.path("small.c")).write_text("int main(void) { return 0; }\n", "utf-8")
    place.run("cmake", "-S", ".", "-B", "out")
    place.run("cmake", "--build", "out")
    return str("100% tests passed" in place.run("ctest", "--test-dir", "out"))


def git(place):
    """A repository of this project's files: commits, a merge, repack, log, fsck."""
    fixed = {"GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE":
             "2026-01-01T00:00:00Z", "GIT_CONFIG_GLOBAL": "/dev/null", "HOME": place.folder}
    shutil.copytree(preload.HERE, place.path("tree"), ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(os.path.join(preload.TOP, "containers"), place.path("tree/containers"))

    def call(*arguments):
        return place.run("git", "-C", "tree", "-c", "user.name=n", "-c", "user.email=n@n",
                         *arguments, more=fixed)

    call("init", "-q", "-b", "one")
    call("add", ".")
    call("commit", "-qm", "first")
    call("checkout", "-qb", "two")
    for name in ("corner.c", "corner.h"):
        os.unlink(place.path(f"tree/{name}"))
    call("commit", "-qam", "second")
    call("checkout", "-q", "one")
    Path(place.path("tree/new.txt")).write_text("new\n" * 1000, "utf-8")
    call("add", ".")
    call("commit", "-qm", "third")
    call("merge", "-q", "--no-edit", "two")
    call("repack", "-adq")
    call("fsck", "--strict", "--full")
    return call("log", "--stat", "-p", "-M") + call("rev-parse", "HEAD") + call("grep", "-c", "a")


def gcc(place):
    """Object files are the same, byte by byte."""
    digests = []
    for name, flags in (("stamps.c", ["-O2"]), ("bars.c", ["-O3", "-g"]), ("corner_life.cc", [])):
        flags.append(f"-ffile-prefix-map={place.folder}=.")
        place.run("gcc", *flags, "-c", os.path.join(preload.HERE, name), "-o", "object.o")
        digests.append(place.run("sha256sum", "object.o"))
    return "".join(digests)


def python(place):
    """Its own tests, with malloc for each object."""
    names = PYTHON_TESTS + (PYTHON_LONG if place.long else ())
    tests = [f"test_{name}" for name in names
             if glob.glob(f"/usr/lib/python3.*/test/test_{name}*")]  # not all are packaged
    out = place.run(PYTHON, "-m", "test", "-q", *tests, seconds=900,
                    more={"PYTHONMALLOC": "malloc", "HOME": place.folder})
    if "Tests result: SUCCESS" not in out:
        raise Failed("its tests do not say SUCCESS")
    return ""


def rust(place):
    """The compiler, and a program of it."""
    place.run("rustc", "-O", "-o", "mix", os.path.join(SCRIPTS, "mix.rs"))
    return place.run("./mix")


def sort(place):
    """Many threads, little memory, and so temporary files."""
    with open(place.path("lines"), "w", encoding="utf-8") as file:
        file.writelines(f"{i * 7919 % 1000003} {'x' * (i % 60)}\n" for i in range(300000))
    place.run("sort", "--parallel=4", "-S", "8M", "-T", ".", "lines", "-o", "sorted")
    place.run("sort", "--parallel=4", "-n", "-r", "lines", "-o", "numbers")
    return place.run("sha256sum", "sorted", "numbers")


def tar(place):
    """Packed by threads, unpacked, the same."""
    place.run("tar", "-C", preload.TOP, "-cf", "a.tar", "containers", "memory/tests/malloc", "sim")
    place.run("xz", "-T2", "--block-size=256KiB", "-k", "a.tar")
    place.run("xz", "-t", "a.tar.xz")
    place.run("sh", "-c", "xz -dc a.tar.xz | cmp - a.tar")
    return str(len(place.run("tar", "-tf", "a.tar.xz").split()))


def stress_ng(place):
    """Its malloc stressor with verification, and with each of its options."""
    length = 60 if place.long else 2
    runs = [["--malloc", "4", "--verify", "-t", str(length)]]
    for option in MALLOC_OPTIONS if place.long else MALLOC_OPTIONS[-1:]:
        runs.append(["--malloc", "4", "--verify", *option, "-t", "20" if place.long else "2"])
    if place.long:
        runs += [[f"--{name}", "2", "--verify", "-t", "5"] for name in STRESSORS]
    for arguments in runs:
        done = preload.run(["stress-ng", *arguments, "--oomable"], place.library, 300, None,
                           place.folder)
        said = done.out + done.err
        bad = [line for line in said.splitlines() if "fail" in line or "error" in line]
        if done.code != 0 or bad or "successful run completed" not in said:
            raise Failed(f"stress-ng {' '.join(arguments)}: exit {done.code}; "
                         f"{(bad or said.splitlines() or [''])[-1][:150]}")
    return ""


def build(place):
    """The compiler, the linker, ninja and cmake build this project, and its unit tests pass."""
    plain = {"CMAKE_C_COMPILER_LAUNCHER": "", "CMAKE_CXX_COMPILER_LAUNCHER": ""}
    place.run("cmake", "-G", "Ninja", "-S", preload.TOP, "-B", "out", "-DPFS_BENCH=OFF",
              more=plain, seconds=300)
    place.run("cmake", "--build", "out", "-j2", "--target", "life_test", "lock_test",
              "config_test", more=plain, seconds=1200)
    place.run("ctest", "--test-dir", "out", "-R", "unit.(life|lock|config)$", seconds=300)
    return ""


# needs: commands or files without which it is skipped; alone: its own exit status decides;
# quick: part of a run without --long.
Program = namedtuple("Program", "name needs run alone quick", defaults=(False, True))
PROGRAMS = (
    Program("preloaded", ["cat"], preloaded, True),
    Program("bash", ["bash"], lambda p: p.script(["bash"], "mix.bash")),
    Program("perl", ["perl"], lambda p: p.script(["perl"], "mix.pl")),
    Program("python", [PYTHON, "/usr/lib/python3.*/test/test_list.py"], python, True),
    Program("lua", ["lua5.4"], lambda p: p.script(["lua5.4"], "mix.lua")),
    Program("node", ["node"], lambda p: p.script(["node"], "mix.js")),
    Program("cxx", [], lambda p: p.run(os.path.join(p.programs, "mix"))),
    Program("rust", ["rustc"], rust),
    Program("gcc", ["gcc"], gcc),
    Program("cmake", ["cmake", "gcc", "make"], cmake),
    Program("git", ["git"], git),
    Program("sqlite3", ["sqlite3"], lambda p: p.run("sqlite3", "-bail", ":memory:", ".read " +
                                                    os.path.join(SCRIPTS, "mix.sql"))),
    Program("sort", ["sort"], sort),
    Program("tar", ["tar", "xz"], tar),
    Program("redis", ["redis-check-rdb", "redis-cli", "redis-benchmark"], servers.redis),
    Program("mariadb", ["mariadbd", "mariadb-install-db", "mysqlslap", "mariadb"],
            servers.mariadb),
    Program("stress-ng", ["stress-ng"], stress_ng, True),
    Program("build", ["cmake", "ninja", "gcc", "g++"], build, True, False),
)
NAMES = tuple(program.name for program in PROGRAMS)


def missing(program):
    """What is missing, or None."""
    for need in program.needs:
        if not (glob.glob(need) if "/" in need else servers.which(need)):
            return need
    return None


def once(program, library, chosen):
    """The output of a program, run in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="pfs-programs-") as folder:
        return program.run(Place(library, folder, chosen.long, chosen.programs))


def difference(said, expected):
    """Where two outputs differ, or nothing."""
    for number, pair in enumerate(itertools.zip_longest(said.split("\n"), expected.split("\n")),
                                  1):
        if pair[0] != pair[1]:
            return f"prints something else: line {number} is {pair[0]!r}, not {pair[1]!r}"
    return ""


def row_of(program, found, chosen):
    """([cell for each allocator], whether ours failed)"""
    gone, cells, failed = missing(program), [], False
    if gone:
        return [f"skipped: no {gone}"] * len(found), False
    expected = "" if program.alone else once(program, None, chosen)
    for allocator, library in found.items():
        begin = time.monotonic()
        try:
            said = once(program, library, chosen)
            why = difference(said, expected)
        except (Failed, OSError, subprocess.SubprocessError) as error:
            why = str(error)
        cells.append(f"**failed**: {why}" if why else f"ok, {time.monotonic() - begin:.0f} s")
        failed |= bool(why) and allocator == "pfs"
        print(f"{program.name} {allocator}: {cells[-1]}", file=sys.stderr, flush=True)
    return cells, failed


def parse(argv):
    """The options."""
    result = preload.parser(__doc__)
    result.add_argument("--only", type=preload.comma_list(NAMES), default=None,
                        metavar="NAME,...", help=f"of {', '.join(NAMES)}")
    result.add_argument("--long", action="store_true", help="minutes instead of seconds")
    return result.parse_args(argv)


def main(argv):
    """The table."""
    chosen = parse(argv)
    found = preload.libraries(chosen)
    rows, failed = [], "pfs" in chosen.allocators and "pfs" not in found
    for program in PROGRAMS:
        if program.name in chosen.only if chosen.only else program.quick or chosen.long:
            cells, ours = row_of(program, found, chosen)
            rows.append([program.name] + cells)
            failed |= ours
    print(preload.table(["program"] + list(found), rows))
    if chosen.check and not failed and all(row[1].startswith("skipped") for row in rows):
        return 77
    return 1 if chosen.check and failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
