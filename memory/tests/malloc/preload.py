"""preload.py - which allocators there are, and how a program is run with one of them."""

import argparse
import glob
import os
import signal
import subprocess
import sys
from collections import namedtuple

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
PROGRAMS = os.path.join(TOP, "build", "release", "memory", "tests", "malloc")
OURS = os.path.join(TOP, "build", "release", "memory", "libpfsmalloc.so")

# library: the name below /usr/lib; None needs no preload, "" is built here.
Allocator = namedtuple("Allocator", "name library package")
ALLOCATORS = (
    Allocator("pfs", "", "this project"),
    Allocator("glibc", None, "libc6"),
    Allocator("jemalloc", "libjemalloc.so.2", "libjemalloc2"),
    Allocator("mimalloc", "libmimalloc.so.2.0", "libmimalloc2.0"),
    Allocator("tcmalloc", "libtcmalloc_minimal.so.4", "libtcmalloc-minimal4"),
)
NAMES = [one.name for one in ALLOCATORS]

# code: exit status, 128 + signal; None if it did not end in time.
Done = namedtuple("Done", "code out err")


def library_of(name, pfs=OURS):
    """The path to preload, None for glibc; LookupError where it is not installed or built."""
    one = ALLOCATORS[NAMES.index(name)]
    if one.library is None:
        return None
    found = [pfs] if one.library == "" else sorted(glob.glob(f"/usr/lib/*/{one.library}") +
                                                    glob.glob(f"/usr/lib/{one.library}"))
    if not found or not os.path.exists(found[0]):
        raise LookupError(f"{name} is not there ({one.package})")
    return os.path.abspath(found[0])


def environment(library, more=None):
    """The environment of a child with that malloc; this process keeps its own."""
    result = {**os.environ, "LC_ALL": "C", **(more or {})}
    result.pop("LD_PRELOAD", None)
    if library:
        result["LD_PRELOAD"] = library
    return result


def run(command, library=None, seconds=60, more=None, directory=None, text=""):
    """A child in a session of its own, so that all its processes end when its time is over."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env=environment(library, more),
                          start_new_session=True, cwd=directory) as child:
        try:
            out, err = child.communicate(text.encode(), timeout=seconds)
            code = child.returncode if child.returncode >= 0 else 128 - child.returncode
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            out, err = child.communicate()
            code = None
    return Done(code, out.decode(errors="replace"), err.decode(errors="replace"))


def comma_list(allowed):
    """An argparse type: names from a list."""
    def convert(text):
        names = text.split(",")
        for name in names:
            if name not in allowed:
                raise argparse.ArgumentTypeError(f"{name}: not one of {', '.join(allowed)}")
        return names
    return convert


def parser(description):
    """The flags that the runners share."""
    result = argparse.ArgumentParser(description=description.split("\n")[0], allow_abbrev=False)
    result.add_argument("--allocators", type=comma_list(NAMES), default=NAMES,
                        metavar="NAME,...", help=f"of {', '.join(NAMES)}")
    result.add_argument("--pfs", default=OURS, metavar="FILE", help="our library")
    result.add_argument("--programs", default=PROGRAMS, metavar="DIR",
                        help="where the programs of this folder were built")
    result.add_argument("--check", action="store_true", help="exit 1 where ours fails")
    return result


def libraries(chosen):
    """{name: path} of the allocators that were asked for and exist; reports the others."""
    found = {}
    for name in chosen.allocators:
        try:
            found[name] = library_of(name, chosen.pfs)
        except LookupError as error:
            print(f"left out: {error}", flush=True)
    return found


def table(head, rows):
    """Markdown."""
    rows = [[str(cell).replace("|", "/") for cell in row] for row in rows]
    lines = [head, ["---"] * len(head)] + rows
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def verdict(chosen, found, name, faults):
    """The exit status of a runner: its faults, each a line on stderr, and our library not being
    there fail a check."""
    for line in faults:
        print(f"{name}: {line}", file=sys.stderr)
    missing = "pfs" in chosen.allocators and "pfs" not in found
    return 1 if chosen.check and (faults or missing) else 0
