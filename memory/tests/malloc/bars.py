#!/usr/bin/python3
"""bars.py - how much memory stays resident with each allocator, as a table with its limits.

usage: memory/tests/malloc/bars.py [--allocators pfs,glibc,...] [--bars idle_own,...] [--check]
                             [--repeat N]
Exit 0: measured; with --check: ours is within each limit (which is wider than the bar, for a
machine with other work). 1: it is not. 2: bad usage. The median of N runs is shown.
"""

import os
import statistics
import sys
from collections import namedtuple

import preload

MIB, KIB = 1 << 20, 1 << 10
SECONDS = 120
# value: the name in bars.c's output; bar, limit: None if nothing is required.
Bar = namedtuple("Bar", "name value what unit bar limit")
BARS = (
    Bar("idle_own", "peak", "8 threads x 32 MiB: peak RSS, MiB", MIB, None, None),
    Bar("idle_own", "at_once", "freed by themselves: at once, MiB", MIB, None, None),
    Bar("idle_own", "after_1_s", "... after 1 s", MIB, None, None),
    Bar("idle_own", "after_3_s", "... after 3 s", MIB, 10, 20),
    Bar("idle_other", "at_once", "freed by another thread: at once, MiB", MIB, None, None),
    Bar("idle_other", "after_3_s", "... after 3 s", MIB, 10, 20),
    Bar("queue", "mean_ratio", "16 allocate, 1 frees: RSS / live bytes, mean", 1, 1.2, None),
    Bar("queue", "worst_ratio", "... worst sample", 1, None, None),
    Bar("queue", "freed_blocks", "... million blocks freed", 1e6, None, None),
    Bar("parked", "at_once_each", "400 only free: KiB each, at once", KIB, None, None),
    Bar("parked", "after_3_s_each", "... after 3 s", KIB, 16, 24),
    Bar("grown", "peak_ratio", "2 blocks grow to 32 MiB: peak / their bytes", 1, None, 1.1),
    Bar("tiny", "private_dirty", "tiny program: private dirty, KiB", KIB, None, None),
    Bar("tiny", "resident", "tiny program: RSS, KiB", KIB, None, None),
    Bar("tiny", "above_glibc", "... above glibc's", KIB, 250, 400),
    Bar("tiny", "seldom", "... of our code that few programs run, KiB", KIB, 0, 0),
)
NAMES = tuple(dict.fromkeys(bar.name for bar in BARS))


def measure(chosen, name, library):
    """{value: number} of one run."""
    program = os.path.join(chosen.programs, "bars")
    done = preload.run([program, name], library, SECONDS)
    if done.code != 0:
        said = done.err.strip() or "no end" if done.code is None else f"exit {done.code}"
        raise SystemExit(f"bars.py: {name} with {library or 'glibc'}: {said}")
    return {line.split()[0]: float(line.split()[1]) for line in done.out.splitlines()}


def measure_all(chosen, found):
    """{(allocator, bar, value): median}; allocators take turns."""
    results = {}
    for name in chosen.bars:
        for _ in range(chosen.repeat):
            for allocator, library in found.items():
                values = measure(chosen, name, library)
                if name == "tiny":
                    values["above_glibc"] = values["resident"] - \
                        measure(chosen, name, None)["resident"]
                for value, number in values.items():
                    results.setdefault((allocator, name, value), []).append(number)
    return {key: statistics.median(numbers) for key, numbers in results.items()}


def parse(argv):
    """The options."""
    result = preload.parser(__doc__)
    result.add_argument("--bars", type=preload.comma_list(NAMES), default=NAMES,
                        metavar="NAME,...", help=f"of {', '.join(NAMES)}")
    result.add_argument("--repeat", type=int, default=1, metavar="N", help="runs of each")
    return result.parse_args(argv)


def main(argv):
    """The table."""
    chosen = parse(argv)
    found = preload.libraries(chosen)
    medians = measure_all(chosen, found)
    rows, beyond = [], []
    for bar in BARS:
        if bar.name not in chosen.bars:
            continue
        shown = {a: medians[a, bar.name, bar.value] / bar.unit for a in found}
        rows.append([bar.what] + [f"{shown[a]:.{2 if bar.unit == 1 else 1}f}" for a in found] +
                    ["" if bar.bar is None else f"{bar.bar}"])
        if bar.limit is not None and shown.get("pfs", 0) > bar.limit:
            beyond.append(f"{bar.name} {bar.value}: {shown['pfs']:.1f}, the limit is {bar.limit}")
    print(preload.table(["resident"] + list(found) + ["bar"], rows))
    return preload.verdict(chosen, found, "bars.py: pfs", beyond)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
