"""printed_numbers.py - the quotes of results that scripts/keep.py kept, and of the counts of
scripts/accounts.py beside them.
"""

import re

FOLDER = "results/2026-11-25-counts-2cpu"
ROWS, ESTIMATES, CALLS, GUARDED = (f"{FOLDER}/{name}.json" for name in (
    "server-rows", "estimates", "instructions", "guarded-found"))

# ---- MariaDB's own tables ----
START, LOADED = r"(?s)^at the start.*?", r"(?s)^after \d+ queries.*?"
RESIZED = r"(?s)^after the b.*?"
WHENS = (START, LOADED, RESIZED)
TOTAL, POOL = r"total (\d+) MiB", r"of which (\d+) MiB"
RESIDENT, REST = r"resident (\d+) MiB", r"buf_buf_pool is (\d+) MiB"
COUNTED = r"; (\d+) MiB in use from malloc"


def _below(table, what=r"below zero +(\d+)"):
    return rf"\n  {table} +rows {what}"


def _lowest(table):
    return _below(table, r"below zero +\d+, the lowest +(-?\d+)")


_SERVER = (
    ("10.11.19, {} runs:", ["runs"]),
    ("| | at the start | after 6000 queries of 16 clients |", []),
    ("| rows below zero by thread | {} to {} | {} to {}, the lowest {} | the same |",
     [f"{form} {when}{_below('thread')}" for when in (START, LOADED) for form in ("least", "most")]
     + [f"least {LOADED}{_lowest('thread')}"]),
    ("| by account, by user, by host | {} | {} each, {} to {} | the same |",
     [f"most {START}{_below('account')}", f"most {LOADED}{_below('account')}",
      f"most {LOADED}{_lowest('account')}", f"least {LOADED}{_lowest('account')}"]),
    ("| in the global table | {} | {} | {} |",
     [f"most {when}{_below('global')}" for when in WHENS]),
    *((f"| {says} | {{}} MiB | {{}} MiB | {{}} MiB |",
       [f"median {when}{pattern}" for when in WHENS])
      for says, pattern in (("total", TOTAL), ("of which the buffer pool", POOL),
                            ("resident", RESIDENT), ("total without the pool", REST),
                            ("malloc, counted by `libpfsmem.so`", COUNTED))),
)

# ---- estimates of the heap profile ----
_SIZES = ("64", "99 % 64, 1 % 64K", "90 % 64, 10 % 1M", "1K, 64K, 512K", "64, 1K, 64K, 1M")
_ESTIMATES = tuple(
    (f"| {sizes} | {{}} % | {{}} % | {{}} % | {{}} % |",
     [rf"median ^{re.escape(sizes)} +{what} +{number}" for what in ("objects", "bytes")
      for number in (r"mean error (\S+) %", r"mean error \S+ %, in the interval (\S+) %")])
    for sizes in _SIZES)

# ---- instructions of a call ----
_WAYS = (("`exact`, inlined", "exact +inlined"), ("`exact`, by calls", "exact +public"),
         ("`magazine`, inlined", "magazine +inlined"), ("`magazine`, by calls", "magazine +public"),
         ("glibc", "malloc +public"), ("jemalloc", "jemalloc +public"),
         ("mimalloc", "mimalloc +public"))


def _column(way, workload, place):
    return rf"median ^{way} +{workload}" + r" +[\d.]+" * place + r" +([\d.]+)"


_CALLS = tuple((f"| {says} | {{}}, {{}}, {{}} | {{}}, {{}}, {{}} | {{}} |",
                [_column(way, "pair", place) for place in range(3)]
                + [_column(way, "churn", place) for place in range(4)]) for says, way in _WAYS)

# ---- guarded blocks ----
_GUARDED = (
    ("a program {} times that misuses {} blocks: {} runs ended by a report, {} are expected",
     [r"median ^(\d+) runs", r"median runs, (\d+) misused", r"median (\d+) ended by",
      r"median (\S+) expected"]),
)

# ---- how wrong the rules of servers are ----
_LOADS = (("handoff", "errors", ("freer", "global", "global_at_once")),
          ("cache", "errors-cache", ("freer", "global")))
_ERRORS = (
    ("Medians of {} launches, of 8 accounts × 5 instruments", ["accounts launches errors exact"]),
    ("| both, `exact` | {} of {} | {} | {}, {}, {} |",
     [f"accounts {name} errors exact" for name in ("wrong", "rows", "below", "open", "bytes",
                                                   "left")]),
    *((f"| {load}, `{rule}` | {{}} | {{}} | {{}}, {{}}, {{}} |",
       [*(f"accounts {name} {case} {rule}" for name in ("wrong", "below")),
        *(f"accounts share {name} {case} {rule}" for name in ("open", "bytes", "left"))])
      for load, case, rules in _LOADS for rule in rules),
)

TABLE = [("explanation/accounts.md", ROWS, _SERVER), ("explanation/accounts.md", FOLDER, _ERRORS),
         ("explanation/malloc.md", GUARDED, _GUARDED),
         ("explanation/profile.md", ESTIMATES, _ESTIMATES),
         ("explanation/call-costs.md", CALLS, _CALLS)]
