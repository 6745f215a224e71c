"""allocator_numbers.py - the quotes of docs/explanation/malloc.md: those of allocators.json, and of
what scripts/guarded.py and scripts/huge_pages.py printed. COUNTED: those of the benchmark's README.
"""

import re

from measuring import allocator_cases
from measuring.malloc_peers import OURS, PEER_NAMES
from reporting.allocator_results import CPU, MEAN, PEAK

ALL = (*PEER_NAMES, OURS)


def _row(says, *expressions):
    """A row of a table with a number in each further cell."""
    return f"| {says} | " + " | ".join(["{}"] * len(expressions)) + " |", list(expressions)


def _each(says, expression):
    """A row with a number for each allocator."""
    return _row(says, *(f"allocators {expression.format(name)}" for name in ALL))


def _means(says, metric):
    """A row of means: of the peers, and ours with its interval."""
    peers = [name for name in PEER_NAMES if name != "glibc"]
    return (f"| {says} | " + " | ".join(["{}"] * len(peers)) + " | {} ({} to {}) |",
            [*(f"allocators mean {name} {metric}" for name in peers),
             *(f"allocators mean {OURS} {metric}{end}" for end in ("", " low", " high"))])


def _case(name):
    """The row of a case."""
    return _row(f"`{name}`", *(
        f"allocators {what}" for metric, unit in ((CPU, "s"), (PEAK, "MiB")) for what in (
            f"of {name} {OURS} {metric} {unit}", f"times {name} {OURS} glibc {metric}",
            f"times {name} {OURS} best {metric}")))


def _listed(case, metric, unit):
    """Ours, then the peers'."""
    return [f"allocators of {case} {name} {metric} {unit}" for name in (OURS, *PEER_NAMES)]


_PEERS = ": glibc {}, jemalloc {}, mimalloc {}, tcmalloc {}"
ROWS = (
    ("two threads with 16 blocks of 16 to 128 KiB each, replaces {} blocks a thread in {} s of CPU "
     "time" + _PEERS + ".", ["allocators amount buffers", *_listed("buffers", CPU, "s")]),
    ("Its peak is {} MiB" + _PEERS + ".", _listed("buffers", PEAK, "MiB")),
    ("`pthread_atfork` is in 128 KiB of", []),
    ("never had 16 MiB of free dirty memory", []),
    ("`tiny` has {} KiB resident, {} more than with glibc (medians of {} launches)",
     ["allocators of tiny pfs resident_bytes KiB", "allocators above tiny pfs resident_bytes KiB",
      "allocators rounds tiny"]),
    ("which makes 64 KiB of constants", []),
    ("another 64 KiB resident", []),
    ("runs each case with each allocator preloaded, {} times", ["allocators rounds pair-1"]),
    ("the geometric mean, over {} cases,", [f"allocators cases {CPU}"]),
    ("with its interval (95 %, by bootstrap)", []),
    _means("CPU time", CPU), _means("peak resident memory", PEAK),
    ("| average resident memory, {} cases |" + " {} |" * 3 + " {} ({} to {}) |",
     [f"allocators cases {MEAN}", *_means("", MEAN)[1]]),
    *(_case(case.name) for case in allocator_cases.CASES if case.judged),
    ("Of its {} MiB", ["allocators amount tails"]),
    _each("resident in `tiny`, KiB", "of tiny {} resident_bytes KiB"),
    ("| resident in `idle`, 3 s after its threads freed all, MiB" + " | {}" * len(ALL) + " |",
     [f"allocators of idle {name} idle_bytes MiB" for name in ALL]),
    *(_each(f"`tails`, longest {call} on a processor, µs",
            f"of tails {{}} {call}_longest_cpu_ns us") for call in ("malloc", "free", "realloc")),
    ("| `tails`, fork, 99 % take at most, µs" + " | {}" * len(ALL) + " |",
     [f"allocators of tails {name} fork_p99_ns us" for name in ALL]),
    ("| instructions of malloc and free of 64 bytes" + " | {}" * len(ALL) + " |",
     [f"allocators instructions pair-64 {name}" for name in ALL]),
    ("| ... of free of another thread's 64 bytes" + " | {}" * len(ALL) + " |",
     [f"allocators instructions foreign-64 {name}" for name in ALL]),
    ("| ... of malloc and free of 4000 bytes" + " | {}" * len(ALL) + " |",
     [f"allocators instructions pair-4000 {name}" for name in ALL]),
)

_RATIO, _ENDS = r" +([\d.]+)", (r" +[\d.]+ +([\d.]+) to", r" +[\d.]+ +[\d.]+ to ([\d.]+)")
COUNTED = (
    ("a pair of 64 bytes takes {} instructions with glibc 2.36, {} with jemalloc 5.3.0, {} with "
     "gperftools 2.10, {} with mimalloc 2.0.9, and {} with",
     [f"allocators instructions pair-64 {name}"
      for name in ("glibc", "jemalloc", "tcmalloc", "mimalloc", OURS)]),
)
GUARDED = (
    ("with `guard_rate:0`, in {} pairs of runs", [r"median (\d+) pairs of runs"]),
    ("with its 95 % interval", []),
    ("| workload | one block of 500,000 is guarded | one of 5000 |", []),
    *((f"| `{load}` |" + " {} ({} to {}) |" * 2,
       [f"median ^{load} +{rate}{end}" for rate in ("default", "1 in 5000")
        for end in (_RATIO, *_ENDS)]) for load in ("pair", "burst", "mixed", "handoff")),
)


def _printed(says, printed):
    """A row of what huge_pages.py printed, a number for each allocator."""
    start = "^" + re.escape(printed)
    return (f"| {says} |" + " {} |" * len(ALL),
            [f"median {start}" + r" +[\d.]+" * place + r" +([\d.]+)" for place in range(len(ALL))])


HUGE = (
    ("over {} cases and {} rounds each", [r"median ^(\d+) cases", r"median cases, (\d+) rounds"]),
    _printed("peak resident", "peak resident"),
    _printed("average resident", "average resident"),
    _printed("CPU time", "CPU time"),
    _printed("`tiny`, resident: KiB with `never`", "tiny: resident, KiB with never"),
    _printed("... with `always`", "tiny: resident, KiB with always"),
    _printed("`idle`, resident after 3 s: MiB with `never`",
             "idle: resident after 3 s, MiB with never"),
    _printed("... with `always`, MiB", "idle: resident after 3 s, MiB with always"),
)
