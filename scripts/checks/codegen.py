#!/usr/bin/python3
"""codegen.py - no indirect call or jump is left in the policies' object files: those
of the library, and those of the benchmarks, where each policy is compiled into the batches.

usage: scripts/checks/codegen.py [BUILD_DIR...]   (default build/release)
A policy is a constant struct of hooks that the compiler must see through; a forgotten const
leaves calls through a register, which this reads in the disassembly. Jump tables count, too.
And nothing of the waits for tests (containers/delays.h) is in any object file or library.
Exit 0: none left. 1: one is left, or there is no object file to read. 2: bad usage.
"""

import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from checks import sources

# x86: "call *%rax", "notrack jmp *..."; arm64: "blr x8", "br x16".
INDIRECT = re.compile(r"\b(?:call|jmp)[qlw]?\s+\*|\bblra?\w*\s+x\d+|\bbra?\w*\s+x\d+")
FUNCTION = re.compile(r"^[0-9a-f]+ <(.+)>:$")


def is_own_file(place, name):
    """Is it the file of a policy, and not another one of its folder?"""
    folder = os.path.basename(place)
    return folder.endswith(".dir") or name == folder + ".c.o"


def objects(build):
    """All object files of policies below a build: [those of the library, those of batches]."""
    found = [[], []]
    for part, folder, name in ((0, "variants", ""), (1, "bench", "pfs_calls_")):
        for place, _, names in os.walk(os.path.join(build, folder)):
            if name in place:
                found[part] += [os.path.join(place, n) for n in sorted(names)
                                if n.endswith(".o") and is_own_file(place, n)]
    return [sorted(part) for part in found]


def scan(listing):
    """(function, instruction) of each indirect branch in a disassembly."""
    function = "?"
    for line in listing.splitlines():
        head = FUNCTION.match(line)
        if head:
            function = head.group(1)
        elif "\t" in line and INDIRECT.search(line.split("\t", 1)[1]):
            yield function, " ".join(line.split("\t", 1)[1].split())


def waits(build):
    """Faults: symbols of containers/delays.h below a build, which must not have any."""
    paths = [os.path.join(place, name) for place, _, names in os.walk(build)
             for name in sorted(names)
             if re.search(r"\.(?:o|so|so\.[\d.]+)$", name) and
             os.path.isfile(os.path.join(place, name))]
    said = subprocess.run(["nm", "-A", *paths], capture_output=True, text=True, check=False)
    found = sorted({line.split(":", 1)[0] for line in said.stdout.splitlines()
                    if re.search(r"\bpfs_(?:delays_|place_\.)", line)})
    return [f"{path}: has the waits of containers/delays.h: build without PFS_DELAYS"
            for path in found]


def check(builds):
    """(faults, number of object files)"""
    faults, count = [], 0
    for build in builds:
        library, batches = objects(build)
        faults += waits(build)
        if not library:
            faults.append(f"{build}: no object file below variants/; build it first")
        if not batches:
            faults.append(f"{build}: no object file of pfs_calls_* below bench/; build it first")
        for path in library + batches:
            count += 1
            done = subprocess.run(["objdump", "-d", "--no-show-raw-insn", path],
                                  capture_output=True, text=True, check=False)
            if done.returncode:
                faults.append(f"{path}: objdump: {done.stderr.strip()}")
            faults += [f"{path}: {function}: {instruction}"
                       for function, instruction in scan(done.stdout)]
    return faults, count


def main(argv):
    """The command."""
    builds = argv or [os.path.join(sources.TOP, "build", "release")]
    for build in builds:
        if not os.path.isdir(build):
            print(f"checks/codegen.py: {build}: no such build folder; build it first",
                  file=sys.stderr)
            return 2
    return sources.finish("checks/codegen.py", *check(builds))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
