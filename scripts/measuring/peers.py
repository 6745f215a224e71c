#!/usr/bin/python3
"""peers.py - the allocators that are compared with the policies, each in its own processes.

usage: scripts/measuring/peers.py [--build-dir DIR]
prints what each policy and peer can do and what it gives up, as a table. A peer is policy malloc
of the same pfs-bench with another malloc preloaded: same records, same work. pfs-bench refuses a
peer whose library did not take effect. Exit 0: printed. 2: bad usage, or no build.

For measure.py: available() says which peers are there; arguments() and environment() turn a
launch of one into a command line.
"""

import os
import subprocess
import sys
from collections import namedtuple

from common import commandline, documents
from measuring import launching

Peer = namedtuple("Peer", "name library package")
PEERS = (
    Peer("jemalloc", "libjemalloc.so.2", "libjemalloc2"),
    Peer("mimalloc", "libmimalloc.so.2.0", "libmimalloc2.0"),
)
BY_NAME = {peer.name: peer for peer in PEERS}

# (column, trait that it needs, what is given up without it)
PROPERTIES = (
    ("tight", "exact", "adds pages although a record is free"),
    ("grows", "grow", "takes all memory at the start"),
    ("gives back", "reclaim", "keeps its pages until the end"),
    ("bound", "bounded", "sets no limit on records"),
    ("index", "index", "has no index, no look-up, no walk over live records"),
    ("readers", "words", "has no versions, no optimistic reads"),
)
YES, NO, OWN, FIXED = "yes", "no", "own", "fixed"


def arguments(policy):
    """The flags of pfs-bench that choose a policy or a peer."""
    if policy in BY_NAME:
        return ["--policies=malloc", f"--peer={policy}"]
    return [f"--policies={policy}"]


def environment(policy):
    """The environment of a launch; None for this process's own."""
    if policy not in BY_NAME:
        return None
    return {**os.environ, "LD_PRELOAD": BY_NAME[policy].library}


def _ask(program, flags, policy=None):
    """The lines that a listing flag prints; none where the program refuses."""
    try:
        done = subprocess.run([program] + flags, capture_output=True, text=True, timeout=60,
                              check=False, env=environment(policy))
    except (OSError, subprocess.TimeoutExpired):
        return []
    return done.stdout.splitlines() if done.returncode == 0 else []


def available(program):
    """{name: summary} of the peers whose library is installed and takes effect."""
    found = {}
    for peer in PEERS:
        for line in _ask(program, [f"--peer={peer.name}", "--list_policies"], peer.name):
            name, _, summary = line.partition(" ")
            if name == peer.name:
                found[name] = summary.strip()
    return found


def traits(program):
    """{policy or peer: set of its traits}, policies first."""
    found = {}
    for line in _ask(program, ["--list_traits"]):
        name, *words = line.split()
        found[name] = set(words)
    for name in available(program):
        found[name] = found.get("malloc", set())
    return found


def mark(trait, words):
    """Has a policy of these traits this one? A general allocator has pages of its own, and
    what is made whole at the start adds none."""
    if trait in words:
        return YES
    if trait in ("exact", "reclaim") and "index" not in words:
        return OWN
    return FIXED if trait == "exact" and "grow" not in words else NO


def gives_up(words):
    """What a policy of these traits gives up, in words."""
    return [loss for _, trait, loss in PROPERTIES if mark(trait, words) == NO]


def table(found):
    """The table in Markdown, of what traits() found."""
    head = [column for column, _, _ in PROPERTIES]
    lines = ["| policy | " + " | ".join(head) + " |", "|---|" + "---|" * len(head)]
    for name, words in found.items():
        marks = [mark(trait, words) for _, trait, _ in PROPERTIES]
        lines.append(f"| `{name}` | " + " | ".join(marks) + " |")
    lines.append("")
    lines += [f"- {column}, no: it {loss}" for column, _, loss in PROPERTIES]
    lines += ["- own: a general allocator has pages of its own kind, which are not counted here",
              "- fixed: it adds none, all were made at the start"]
    return "\n".join(lines)


def main(argv=None):
    """The command."""
    parser = commandline.Parser(prog="scripts/measuring/peers.py",
                                description="What each policy and peer can do, as a table.")
    launching.add_build_dir(parser)
    program = os.path.join(parser.parse_args(argv).build_dir, "release", "bench", "pfs-bench")
    found = traits(program)
    if not found:
        raise documents.BadInput(f"{program}: lists no traits; build first: cmake --preset release "
                                 "&& cmake --build --preset release")
    print(table(found))
    for peer in PEERS:
        if peer.name not in found:
            print(f"peers: {peer.name} is not here; install {peer.package}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    commandline.run(main, "peers")
