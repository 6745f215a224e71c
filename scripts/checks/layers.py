#!/usr/bin/python3
"""layers.py - which folder may include which: include <- containers <- variants; bench, stress and
server see only include/, sim/ sees check/'s engine, unit tests (and the guest's probe) see
containers/ and bench/. The rooms of a folder see those below them. No header includes itself, and
no module imports itself, directly or indirectly.

usage: scripts/checks/layers.py [TOP]
Exit 0: all includes are allowed. 1: one is not.
"""

import ast
import graphlib
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from checks import sources

ALLOWED = {
    "include": {"include"},
    "base": {"include", "base"},
    "containers": {"include", "base", "containers"},
    "variants": {"include", "base", "containers", "variants"},
    "check": {"include", "base", "check"},
    "bench": {"include", "base", "bench"},
    "stress": {"include", "base", "stress", "check", "sim"},
    "sim": {"include", "base", "check", "sim", "containers", "variants", "bench", "memory"},
    "recorder": {"include", "base", "recorder"},
    "memory": {"include", "base", "containers", "memory"},
    "memory/search": {"check", "sim"},
    "memory/tests": {"stress"},
    "server": {"include", "server"},
}
# The simulated machine slips under the containers through these two files, and under the
# workloads, which run on it, too, through the doors to shared memory and to the scheduler. The
# batches of bench/ are compiled together with each policy, and are over its table. A failed test
# says the seed of its waits. The allocator is compiled once more with what counts its blocks. The
# adapter is compiled inside of a server, which has headers of its own.
SEAMS = {("containers", "check/machine/atomic_backend.h"),
         ("containers", "check/machine/mutex_backend.h"),
         ("bench", "containers/atomic.h"), ("bench", "containers/yield.h"),
         ("bench", "containers/compiler.h"),
         ("bench", "containers/variant.h"), ("bench", "variants/variants.def"),
         ("stress", "containers/compiler.h"),
         ("sim", "stress/history.h"),
         ("memory", "memory/preload/counted.h"),
         ("server", "my_global.h")}
# What of server/ is a test, and may see the tests' harness.
SERVER_TESTS = ("_test.cc", "/testing.h")
# The tool knows the box's layout and reader, and nothing of its writers.
TOOL, TOOL_SEES = "memory/tool/", ("memory/tool/", "base/", "memory/box/reader.h",
                                   "memory/box/layout.h", "memory/box/reader_profile.h")
# Rooms of a folder, and what each may see besides itself: an arrow that runs up is a fault.
ROOMS = {
    "variants": {"exact": set(), "magazine": {"exact"}},
    "check": {
        "machine": set(),
        "search": {"machine"},
        "litmus": {"machine", "search"},
        "front": {"machine", "search"},
        "tests": {"machine", "search"},
        "example": set(), "gallery": set(), "others": set(), "programs": set(),
    },
    "sim": {
        "seams": set(),
        "cases": {"seams"},
        "timed": set(),
        "run": {"seams", "timed"},
        "calibrate": {"timed"},
        "command": {"seams", "cases", "timed", "run"},
        "tests": {"seams", "cases", "timed"},
    },
    "memory": {
        "malloc": set(),
        "box": set(),
        "accounts": {"box"},
        "profile": {"box", "accounts"},
        "trace": {"box", "accounts"},
        "books": {"box", "accounts", "profile", "trace"},
        "preload": {"malloc", "box", "accounts", "profile", "books"},
        "tool": {"box"},
        "bench": {"box"},
        "tests": {"malloc", "box", "accounts", "profile", "trace", "books", "preload",
                  "tool"},
        "search": {"malloc", "box", "accounts", "profile", "trace", "books"},
    },
}
OPEN = ("variants",)  # files may stand outside its rooms
# What others may see of a folder: its rooms.
SHOWN = {"check": ("machine", "search"), "sim": ("seams", "timed"), "stress": ("harness",)}
# The rooms of scripts/, likewise. Commands see all rooms, and no room sees a command.
SCRIPT_ROOMS = {
    "common": set(),
    "measuring": {"common"},
    "reporting": {"common", "measuring"},
    "checks": {"common", "reporting"},
}
INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*([<\"])([^>\"]+)[>\"]", re.MULTILINE)


def is_unit_test(path):
    """Tests look inside what they test."""
    return path.endswith(("_test.c", "_test.h", "probe.c"))


def reached(top, path, bracket, name):
    """(layer, file) that an include reaches; None for the system and other libraries."""
    if name.startswith("pfslab/"):
        return "include", None
    if bracket == "<":
        return None, None
    candidates = [os.path.join(os.path.dirname(path), name), name]
    candidates += [os.path.join(layer, name) for layer in sources.LAYERS]
    for candidate in candidates:
        candidate = os.path.normpath(candidate)
        layer = candidate.split(os.sep)[0]
        full = os.path.join(top, candidate)
        if layer in sources.LAYERS and (os.path.exists(full) or os.path.exists(full + ".in")):
            return layer, candidate  # X.h.in is what CMake makes X.h from
    return "unknown", None


def room_fault(path, file):
    """Why a file of a room may not see another file, or None."""
    own, other = path.split(os.sep), (file or "").split(os.sep)
    rooms = ROOMS.get(own[0])
    room = own[1] if len(own) > 2 else None
    if rooms and room not in rooms and not (room is None and own[0] in OPEN):
        return f"{own[0]}/ has the rooms {', '.join(rooms)}"
    if own[0] != other[0]:
        shown = SHOWN.get(other[0])
        if shown and other[1] not in shown and not is_unit_test(path):
            return f"{own[0]}/ may see only {' and '.join(shown)} of {other[0]}/"
        return None
    if rooms and room and len(other) > 2 and other[1] not in rooms[room] | {room}:
        return f"{own[0]}/{room}/ may not see {own[0]}/{other[1]}/"
    return None


def circle_of(needs):
    """A circle in {file: the files that it needs}, as a list that begins with its first name; []
    without one."""
    try:
        graphlib.TopologicalSorter(needs).prepare()
    except graphlib.CycleError as error:
        circle = error.args[1][:0:-1]
        begin = circle.index(min(circle))
        return circle[begin:] + circle[:begin]
    return []


def circles(headers):
    """A fault if a file includes itself, directly or indirectly: {file: {file}}."""
    circle = circle_of(headers)
    return [f"{circle[0]}: a circle of includes: {' -> '.join(circle + circle[:1])}"] \
        if circle else []


def check(top):
    """(faults, number of includes)"""
    faults, count, headers = [], 0, {}
    for path in sources.files(top, sources.LAYERS, (".c", ".h", ".cc", ".def")):
        own = path.split(os.sep)[0]
        text = sources.read(top, path)
        for found in INCLUDE.finditer(text):
            bracket, name = found.groups()
            line = text.count("\n", 0, found.start()) + 1
            count += 1
            layer, file = reached(top, path, bracket, name)
            allowed = ALLOWED[own] | ALLOWED.get(os.sep.join(path.split(os.sep)[:2]), set())
            if is_unit_test(path):
                allowed |= {"containers", "variants", "bench", "memory"}
            if own == "server" and path.endswith(SERVER_TESTS):
                allowed |= {"stress"}
            if path.startswith(TOOL) and file and not file.startswith(TOOL_SEES):
                faults.append(f"{path}:{line}: include of {name}: {TOOL} sees the box's reader")
            if file and path.endswith(".h"):
                headers.setdefault(path, set()).add(file)
            why = None if (own, name) in SEAMS else room_fault(path, file)
            if why:
                faults.append(f"{path}:{line}: include of {name}: {why}")
            if layer is None or layer in allowed or (own, name) in SEAMS:
                continue
            why = "names no file of the project" if layer == "unknown" else \
                f"{own}/ may not see {layer}/"
            faults.append(f"{path}:{line}: include of {name}: {why}")
    imports, count_of_scripts = script_faults(top)
    return faults + circles(headers) + imports, count + count_of_scripts


def imported(text):
    """(line, module) of all that a script imports: "room.module", or "room" alone."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, name.name) for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [name.name for name in node.names] if "." not in node.module else [None]
            yield from ((node.lineno, f"{node.module}.{name}" if name else node.module)
                        for name in names)


def script_faults(top):
    """(faults, number of imports) of the rooms of scripts/."""
    faults, count, modules = [], 0, {}
    paths = sources.files(top, ["scripts"], (".py",))
    commands = {os.path.basename(p)[:-3] for p in paths if p.count(os.sep) == 1}
    for path in paths:
        room = path.split(os.sep)[1]
        if path.count(os.sep) == 1 or room == "tests":
            continue
        if room not in SCRIPT_ROOMS:
            faults.append(f"{path}: scripts/ has the rooms {', '.join(SCRIPT_ROOMS)}")
            continue
        for line, name in imported(sources.read(top, path)):
            count += 1
            other = name.split(".")[0]
            if other in commands:
                faults.append(f"{path}:{line}: import of {name}: a command, which no room sees")
            elif other in SCRIPT_ROOMS and other != room and other not in SCRIPT_ROOMS[room]:
                faults.append(f"{path}:{line}: import of {name}: scripts/{room}/ may not see "
                              f"scripts/{other}/")
            elif other in SCRIPT_ROOMS:
                modules.setdefault(path, set()).add(
                    os.path.join("scripts", *name.split(".")[:2]) + ".py")
    return faults + circles(modules), count


if __name__ == "__main__":
    sys.exit(sources.finish("checks/layers.py", *check(sources.top_of(sys.argv[1:]))))
