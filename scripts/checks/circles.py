#!/usr/bin/python3
"""circles.py - which compiled file of a library or program needs which: no two files need each
other, directly or indirectly, and no room needs one above it.

usage: scripts/checks/circles.py [BUILD_DIR]   (default build/release)
layers.py checks includes; this checks calls and data: an object file needs the one that defines a
symbol it uses. A call through a function pointer is not a need.
Exit 0: no circle. 1: one, or there is no object file to read. 2: bad usage.
"""

import collections
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from checks import layers, sources

FOLDERS = ("base", "containers", "variants", "check", "sim", "memory")


# Searches and these files replace code below other code. The allocator's names are compiled a
# second time, on top of the code that counts their blocks.
LEFT_OUT = ("memory/search/",)
STAND_INS = ("memory/preload/policies.c", "memory/preload/memory_plain.c")
RAISED = ("memory/malloc/names.c", "memory/malloc/operators.c", "memory/malloc/jemalloc.c")


def file_of(path):
    """The source of an object, as CMake places it: X.dir/__/check/a.c.o, or X.dir/a.c.o."""
    folder, _, inner = path.partition("/CMakeFiles/")
    inner = inner.split(".dir/", 1)[1]
    parts = inner[:-2].split("/")
    up = parts.count("__")
    base = folder.split("/")
    return "/".join((base[:-up] if up else base) + parts[up:])


def targets(build):
    """{target: {source: object}} below a build, without tests, which may need anything."""
    found = collections.defaultdict(dict)
    for folder in FOLDERS:
        for place, _, names in os.walk(os.path.join(build, folder)):
            for name in sorted(names):
                path = os.path.relpath(os.path.join(place, name), build)
                if name.endswith(".c.o") and "/CMakeFiles/" in path and \
                        not path.startswith(LEFT_OUT):
                    source = file_of(path)
                    if source.startswith(tuple(f"{f}/" for f in FOLDERS)) and \
                            not layers.is_unit_test(source):
                        found[path.split(".dir/")[0]][source] = os.path.join(build, path)
    return found


def symbols(objects):
    """({symbol: source}, {source: its undefined symbols}) of the objects of one target."""
    defined, used = {}, {}
    for source, path in objects.items():
        done = subprocess.run(["nm", path], capture_output=True, text=True, check=True)
        used[source] = set()
        for words in (line.split() for line in done.stdout.splitlines()):
            if len(words) == 3 and words[1] in "BCDRTVW":
                defined[words[2]] = source
            elif len(words) == 2 and words[0] == "U":
                used[source].add(words[1])
    return defined, used


def needs_of(objects):
    """{source: {source: a symbol}} of one target."""
    defined, used = symbols(objects)
    needs = {source: {} for source in objects}
    for source, names in used.items():
        for name in sorted(names):
            if defined.get(name, source) != source:
                needs[source].setdefault(defined[name], name)
    return needs


def circle_faults(needs):
    """A fault for a circle of needs."""
    circle = layers.circle_of(needs)
    told = " ".join(f"-> {other} ({needs[file][other]})"
                    for file, other in zip(circle, circle[1:] + circle[:1]))
    return [f"{circle[0]}: a circle: {told}"] if circle else []


def check(build):
    """(faults, number of object files)"""
    faults, count = [], 0
    for _, objects in sorted(targets(build).items()):
        needs = needs_of(objects)
        count += len(objects)
        faults += circle_faults(needs)
        for file, others in needs.items():
            for other, symbol in others.items():
                is_apart = file in RAISED or other in STAND_INS
                why = None if is_apart else layers.room_fault(file, other)
                if why:
                    faults.append(f"{file}: needs {symbol}: {why}")
    return sorted(set(faults)), count


def main(argv):
    """The command."""
    build = argv[0] if argv else os.path.join(sources.TOP, "build", "release")
    if not os.path.isdir(build):
        print(f"checks/circles.py: {build}: no such build folder; build it first", file=sys.stderr)
        return 2
    return sources.finish("checks/circles.py", *check(build))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
