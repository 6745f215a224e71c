"""malloc_peers.py - the allocators that are measured as malloc of whole programs: which are here,
and what to preload. Ours is there once it is built.
"""

import os
import subprocess
import sys
from collections import namedtuple

from measuring import launching, peers

# library: what LD_PRELOAD gets, "" for the allocator that programs have anyway.
Allocator = namedtuple("Allocator", "name library package")
OURS = "pfs"
PEERS = (
    Allocator("glibc", "", "libc6"),
    Allocator("jemalloc", peers.BY_NAME["jemalloc"].library, peers.BY_NAME["jemalloc"].package),
    Allocator("mimalloc", peers.BY_NAME["mimalloc"].library, peers.BY_NAME["mimalloc"].package),
    Allocator("tcmalloc", "libtcmalloc_minimal.so.4", "libtcmalloc-minimal4"),
)
PEER_NAMES = tuple(peer.name for peer in PEERS)


def takes_effect(library):
    """Is the library in a process that it was preloaded into?"""
    try:
        done = subprocess.run(["cat", "/proc/self/maps"], capture_output=True, text=True,
                              timeout=60, check=False,
                              env={**os.environ, "LD_PRELOAD": library})
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and os.path.basename(library).split(".so")[0] in done.stdout


def available(build_dir):
    """(the allocators that are here, {name of another: why it is not})."""
    ours = os.path.abspath(os.path.join(build_dir, "release", "memory", "libpfsmalloc.so"))
    found, missing = [], {}
    for one in (*PEERS, Allocator(OURS, ours, "")):
        if one.library and not takes_effect(one.library):
            missing[one.name] = f"{one.name} is not here; " + (
                f"install {one.package}" if one.package else f"{ours} is not built or does not "
                "load")
        else:
            found.append(one)
    return found, missing


def version(allocator):
    """Which of that name, by its package; ours by the revision that is measured."""
    if not allocator.package:
        return "of this build"
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", allocator.package],
                          capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def add_arguments(parser):
    """--allocators, of all commands about them."""
    parser.add_argument("--allocators", metavar="A,B", help="only these (default: glibc, "
                        f"jemalloc, mimalloc, tcmalloc and {OURS}, those that are here)")


def chosen(parser, arguments):
    """What available says, of the allocators that were asked for."""
    found, missing = available(arguments.build_dir)
    if not arguments.allocators:
        return found, missing
    wanted = arguments.allocators.split(",")
    unknown = [name for name in wanted if name not in (*PEER_NAMES, OURS)]
    if unknown:
        parser.error(f"unknown allocator '{unknown[0]}'; choose from "
                     f"{', '.join((*PEER_NAMES, OURS))}")
    return ([one for one in found if one.name in wanted],
            {name: why for name, why in missing.items() if name in wanted})


def program(build_dir, name):
    """A program of bench/malloc; BadInput where it is not built."""
    return launching.built(build_dir, "memory", "bench", "malloc", f"pfs-malloc-{name}")


def say_missing(command, missing):
    """A line on stderr for each that is left out."""
    for name, why in missing.items():
        print(f"{command}: {name} is left out: {why}", file=sys.stderr)
