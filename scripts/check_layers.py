#!/usr/bin/python3
"""check_layers.py - who may include whom: include <- containers <- variants; bench and stress
see include/ only, check/ sees sim/, unit tests (and the guest's probe) containers/ and bench/.

usage: scripts/check_layers.py [TOP]
Exit 0: all includes are allowed. 1: one is not.
"""

import os
import re
import sys

import sources

ALLOWED = {
    "include": {"include"},
    "containers": {"include", "containers"},
    "variants": {"include", "containers", "variants"},
    "command": {"include", "command"},
    "bench": {"include", "command", "bench"},
    "stress": {"include", "command", "stress", "sim"},
    "sim": {"include", "command", "sim", "containers", "bench", "memory"},
    "recorder": {"include", "command", "recorder"},
    "memory": {"include", "command", "containers", "memory"},
    "check": {"include", "command", "sim", "check"},
}
# The simulated machine slips under the containers through these two files, and under the
# workloads, which run on it, too, through the doors to shared memory and to the scheduler. The
# batches of bench/ are compiled together with each policy, and are over its table. A reader of the
# accounts is measured by what pfs-mem reads them with.
SEAMS = {("containers", "sim/atomic_backend.h"), ("containers", "sim/mutex_backend.h"),
         ("bench", "containers/atomic.h"), ("bench", "containers/yield.h"),
         ("bench", "containers/compiler.h"), ("bench", "containers/random.h"),
         ("bench", "containers/variant.h"), ("bench", "variants/variants.def"),
         ("bench", "memory/box/reader.h"),
         ("sim", "stress/history.h")}
# Whoever asks knows of the box its layout and its reader, and nothing of who writes it.
TOOL, TOOL_SEES = "memory/tool/", ("memory/tool/", "command/", "memory/box/reader.h",
                                   "memory/box/layout.h", "memory/box/reader_profile.h")
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


def check(top):
    """(faults, number of includes)"""
    faults, count = [], 0
    for path in sources.files(top, sources.LAYERS, (".c", ".h", ".cc", ".def")):
        own = path.split(os.sep)[0]
        text = sources.read(top, path)
        for found in INCLUDE.finditer(text):
            bracket, name = found.groups()
            line = text.count("\n", 0, found.start()) + 1
            count += 1
            layer, file = reached(top, path, bracket, name)
            allowed = set(ALLOWED[own])
            if is_unit_test(path):
                allowed |= {"containers", "bench", "memory"}
            if path.startswith(TOOL) and file and not file.startswith(TOOL_SEES):
                faults.append(f"{path}:{line}: include of {name}: {TOOL} sees the box's reader")
            if layer is None or layer in allowed or (own, name) in SEAMS:
                continue
            why = "names no file of the project" if layer == "unknown" else \
                f"{own}/ may not see {layer}/"
            faults.append(f"{path}:{line}: include of {name}: {why}")
    return faults, count


if __name__ == "__main__":
    sys.exit(sources.finish("check_layers.py", *check(sources.top_of(sys.argv[1:]))))
