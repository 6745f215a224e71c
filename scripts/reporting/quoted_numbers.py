"""quoted_numbers.py - the table of quotes: each phrase of a document with measured numbers, and
what each {} in it is, as quotes.py computes it.
"""

from measuring import profile_cases
from reporting import allocator_numbers, printed_numbers
from reporting.quotes import Quote

EPYC, XEON = "results/2026-11-28-epyc-2cpu", "results/2026-11-22-xeon-2cpu"
SERVER = "results/2026-11-24-mariadb-2cpu"
COST = "results/2026-11-25-cost-2cpu"
PROFILE, ACCOUNTS = "explanation/profile.md", "explanation/accounts.md"
CHOOSING, README = "how-to/choosing.md", "../README.md"
COSTS = "explanation/call-costs.md"
RECLAIMING, MALLOC = "explanation/reclaiming.md", "explanation/malloc.md"
BENCHMARK = "../memory/bench/malloc/README.md"
WHOLE = (CHOOSING, COSTS) # every number in these is quoted, or marked as measured by hand
PRINTED = ("tutorials/comparing-policies.md",) # these have blocks that commands print


def _peers(case, peer):
    return [f"{word} {case} / {peer}" for word in ("times", "low", "high")]


_HANDOFF = ("magazine handoff", "jemalloc handoff")
_CALLS = ("magazine pair t1 api=public", "jemalloc pair t1 api=public")
_CHURN = ("magazine churn 0.9", "mimalloc churn 0.9")

_TABLE = (
    ("medians of {} rounds of", ["rounds"]),
    ("(2 virtual CPUs of an AMD EPYC", []),
    ("Measurements have 2 threads unless", []),
    ("the true ratio with at least 95 % confidence", []),
    ("no other pfslab policy is measurably faster in any of {} workloads", ["workloads"]),
    ("`magazine` is measurably the fastest in {} |", ["wins magazine"]),
    ("churn {} to {} M/s from 0.5 to 0.999 occupancy; at most {} excess page in {} cases of up "
     "to 64 threads; filling a container takes {} ns per record for 16 Mi records, {} ns for "
     "64 Ki |",
     ["lowest exact churn", "highest exact churn", "counted excess_pages exact", "cases exact",
      "ns exact fill t1 records=16777216 memory=touched",
      "ns exact fill t1 records=65536 memory=touched"]),
    ("pair on two threads {} M/s (jemalloc {}, glibc {}), churn {} to {} M/s, handoff {} M/s "
     "(jemalloc {}, `exact` {}); as few pages",
     ["rate magazine pair", "rate jemalloc pair", "rate malloc pair", "lowest magazine churn",
      "highest magazine churn", "rate magazine handoff", "rate jemalloc handoff",
      "rate exact handoff"]),
    ("churn at 0.5: {} M/s; at 0.999 it falls to {}, below `original`; in the replays of "
     "python3 and redis its throughput is {} and {} times that of `original`",
     ["rate random_start churn 0.5", "rate random_start churn 0.999",
      "times random_start replay_python3 / original replay_python3",
      "times random_start replay_redis / original replay_redis"]),
    ("churn at 0.9: {} M/s, `local_scan` {}; pair: {} and {} ns, and no interval decides",
     [f"{case} t1" for case in ("rate magazine churn 0.9", "rate local_scan churn 0.9",
                                "ns magazine pair", "ns local_scan pair")]),
    ("gives back {} % of the pages of the workload `tide`, as `exact` does",
     ["returned reclaiming"]),
    ("churn {} and {} M/s; no index", ["rate jemalloc churn 0.9", "rate mimalloc churn 0.9"]),
    ("churn at 0.9: {} M/s; in `tide` it peaks at {} times the pages",
     ["rate original churn 0.9", "peak original"]),
    ("`handoff`, 2 threads: `magazine` at least 0.9 × jemalloc | {} × ({} to {}) | undecided",
     _peers(*_HANDOFF)),
    ("public calls, 1 thread: `magazine` at least 1 × jemalloc | {} × ({} to {}) | met",
     _peers(*_CALLS)),
    ("`churn` at 0.9, 2 threads: `magazine` at least 0.9 × mimalloc | {} × ({} to {}) | "
     "missed",
     _peers(*_CHURN)),
    ("in `handoff`: {} M/s**, ahead of `ck_stack` ({}) but behind `random_start` ({})",
     ["rate exact handoff", "rate ck_stack handoff", "rate random_start handoff"]),
    ("passes 32 records at a time: {} M/s.", ["rate magazine handoff"]),
    ("one CAS and two stores take {} ns on this CPU. `exact` (two locked instructions) takes {} "
     "times as long; its interval leaves its bar of 2.5 undecided. `magazine` (no locked "
     "instruction) takes {} times as long and misses its bar of 0.7, which was set on a CPU where "
     "a CAS alone costs 8 ns",
     ["ns - floor t1", "times - floor t1 / exact pair t1", "times - floor t1 / magazine pair t1"]),
    ("one thread: {} ns, {} times as fast as jemalloc.",
     ["ns magazine pair t1", "times magazine pair t1 / jemalloc pair t1"]),
    ("the same low 12 bits", []),
    ("have equal addresses modulo 4 KiB", []),
    ("at churn 0.9 is {} ({} to {}) times `original`**: its time",
     _peers("random_start churn 0.9", "original churn 0.9")),
    ("The bar of 5 is undecided", []),
    ("from 0.5 to 0.999 full takes {} times as long ({} to {}).** By the median it is nearly flat; "
     "the interval leaves its bar of 1.5 undecided.",
     _peers("exact churn 0.5", "exact churn 0.999")),
    ("`original` {}, `local_scan` {}, `reclaiming` {}, `random_start` {}; `exact` and `magazine` "
     "{}.",
     [f"counted needless_growths {p}" for p in ("original", "local_scan", "reclaiming",
                                                "random_start", "magazine")]),
)


def _xeon_row(policy, name, unit=""):
    rates = [f"rate {policy} {case}" for case in ("pair", "churn 0.9", "churn 0.999")]
    return (f"| {name} | {{}} ns | {{}}{unit} | {{}}{unit} | {{}}{unit} |",
            [f"ns {policy} pair t1", *rates])


_XEON = (
    ("2 virtual CPUs of an Intel Xeon (family 6, model 143)", []),
    ("two stores take {} ns there. Medians of {} rounds", ["ns - floor t1", "rounds"]),
    ("| pair, 1 thread | pair, 2 threads | churn 0.9, 2 threads | churn 0.999, 2 threads |", []),
    _xeon_row("original", "`original`", " M/s"),
    *(_xeon_row(p, f"`{p}`") for p in ("local_scan", "random_start", "exact", "magazine")),
    *(_xeon_row(p, p) for p in ("jemalloc", "mimalloc")),
    ("flat to 0.999. Within rounds they are {} and {} times as fast as `original` at churn 0.9",
     ["times exact churn 0.9 / original churn 0.9",
      "times magazine churn 0.9 / original churn 0.9"]),
    ("fastest pfslab policy in {} of {} workloads, and measurably behind in {}.",
     ["wins magazine", "workloads", "behind magazine"]),
    ("faster than jemalloc ({} ×, {} to {})",
     _peers("magazine pair t1", "jemalloc pair t1")),
    ("are {} and {} times as fast as one, with intervals that reach below the bar of 1.8",
     ["times exact pair / exact pair t1", "times magazine pair / magazine pair t1"]),
    ("In one of {} cases", ["cases exact"]),
    ("had {} page more than the ideal", ["counted excess_pages exact"]),
)

_README = (
    ("In a container that is 99.9 % full, two threads together complete one allocate, publish and "
     "free every {} ns with `original`, {} ns with `random_start`, {} ns with `exact` and {} ns "
     "with `magazine` (medians).",
     [f"ns {p} churn 0.999" for p in ("original", "random_start", "exact", "magazine")]),
    ("`magazine` is {} times as fast as `original` within a round (95 % interval: {} to {})",
     _peers("magazine churn 0.999", "original churn 0.999")),
    ("measurably slower than another pfslab policy in {} of {} workloads",
     ["behind magazine", "workloads"]),
    ("`exact` takes {} times as long 99.9 % full as half full",
     ["times exact churn 0.5 / exact churn 0.999"]),
)

_EBB = (
    ("medians of the {} interleaved launches of", ["rounds"]),
    ("which has steps of {} ns", ["in reclaiming ns_step exact ebb"]),
    ("are then on {} pages instead of {}, and",
     [f"in {build} pages_end exact ebb" for build in ("reclaiming", "still")]),
    ("| | p99.9, pages stay | p99.9, pages go | pages gone meanwhile |", []),
    *((f"| `{policy}` | {{}} ns | {{}} ns | {{}} | {{}} / {{}} µs |",
       [f"in still ns_p999 {policy} ebb", f"in reclaiming ns_p999 {policy} ebb",
        f"in reclaiming reclaimed_timed {policy} ebb", f"us still ns_max {policy} ebb",
        f"us reclaiming ns_max {policy} ebb"]) for policy in ("exact", "magazine", "reclaiming")),
)

_SERVER = (
    ("A storm of {} connections, {} launches each, medians: the unpatched server has {} MiB before "
     "it, {} at its peak and {} ten seconds later",
     ["server storm", "server rounds", "server start stock-binary", "server peak stock-binary",
      "server after stock-binary"]),
    ("`original` it ends at {} MiB, with `exact` at {} and with `magazine` at {}.",
     ["server after original", "server after exact", "server after magazine"]),
    ("(storms of 50 to 2,000 connections, waves, many tables): `exact` {}, `magazine` {}, the "
     "server's own code {}, `original` {}.",
     [f"server needless {policy}" for policy in ("exact", "magazine", "stock", "original")]),
    ("the night behind it the unpatched server keeps {} MiB, `exact` {} and `magazine` {} (one day",
     [f"server night {policy}" for policy in ("stock-binary", "exact", "magazine")]),
    ("statement, `exact` reaches {} times that rate ({} to {}), `magazine` {} times ({} to {}).",
     [f"server times {policy} connect t2{word}" for policy in ("exact", "magazine")
      for word in ("", " low", " high")]),
    ("connections that stay, `exact` reaches {} times ({} to {}), `magazine` {} times ({} to {}).",
     [f"server times {policy} point t2{word}" for policy in ("exact", "magazine")
      for word in ("", " low", " high")]),
)



def _more(*rest):
    """The three numbers of a difference and its interval."""
    return [" ".join(("profile more", *rest, *end)) for end in ((), ("low",), ("high",))]


_LOOPS = [case for case in profile_cases.CASES if case.group == "loop"]
_RUN = [case for case in profile_cases.CASES if case.group in ("loop", "program", "server")]
_UNITS = {"loop": ("ns", "ns"), "program": ("ms", "ms"), "server": ("us", "µs")}
_INTERVAL = "{} ({} to {})"
_BEFORE = (("none", "before-none"), ("19", "before-19"), ("before-19", "before-none"),
           ("19", "none"))

_COSTS = (
    ("{} rounds of the loops, {} of the programs and {} of the servers",
     [f"profile rounds {case}" for case in ("loop-malloc-kept", "python3", "redis")]),
    *((f"{{}} {called}, the median is at most {most} % in {{}}, and the whole interval in {{}}",
       [f"profile cases {groups}", f"profile below {groups} {most}",
        f"profile below {groups} {most} high"])
      for called, groups, most in (("loops", "loop", 2),
                                   ("programs and servers", "program,server", 1))),
    ("| CPU time | allocator alone | profile, 512 KiB: + % | 1 MiB: + % | 2 MiB: + % |", []),
    *((f"| {case.says} | {{}} {called} | " + " | ".join([_INTERVAL] * 3) + " |",
       [f"profile {unit} {case.name} malloc",
        *(one for way in ("19", "20", "21") for one in _more(case.name, way, "none"))])
      for case in _RUN for unit, called in [_UNITS[case.group]]),
    ("| one sample per | 1 KiB: + % | 8 KiB: + % | 64 KiB: + % | a sample at 1 KiB |", []),
    *((f"| {case.says} | " + " | ".join([_INTERVAL] * 3) + " | {} ns ({} to {}) |",
       [*(one for way in ("10", "13", "16") for one in _more(case.name, way, "none")),
        *(f"profile sample {case.name}{end}" for end in ("", " low", " high"))])
      for case in _LOOPS),
    *((f"| {case.says} | " + " | ".join([_INTERVAL] * 4) + " |",
       [one for pair in _BEFORE for one in _more(case.name, *pair)]) for case in _RUN),
)
_ERRORS = (
    ("Over {} seeds and {} mixes, the root-mean-square error of the estimates is {} to {} times "
     "the theoretical one, for {} to {} samples. With {} samples of small blocks it is {} %; "
     "theory says {} %.",
     [*(f"profile error {word}" for word in ("seeds", "mixes", "lowest", "highest", "fewest",
                                              "most")),
      "profile error samples", "profile error seen", "profile error theory"]),
)
_WALKED = tuple((f"| {case.says} | {{}} | {{}} % |",
                 [f"profile taken {case.name}", f"profile walked {case.name}"])
                for case in profile_cases.CASES if case.group not in ("loop", "errors"))
_COUNTED = tuple((f"| {case.says} | {{}} {called} | {_INTERVAL} |",
                  [f"profile {unit} {case.name} malloc", *_more(case.name, "none", "malloc")])
                 for case in _RUN for unit, called in [_UNITS[case.group]])

QUOTES = ([Quote(CHOOSING, EPYC, *row) for row in _TABLE]
          + [Quote(CHOOSING, XEON, *row) for row in _XEON]
          + [Quote(README, EPYC, *row) for row in _README]
          + [Quote(RECLAIMING, EPYC, *row) for row in _EBB]
          + [Quote(MALLOC, EPYC, *row) for row in allocator_numbers.ROWS]
          + [Quote(BENCHMARK, EPYC, *row) for row in allocator_numbers.COUNTED]
          + [Quote(MALLOC, f"{EPYC}/guarded-cost.json", *row) for row in allocator_numbers.GUARDED]
          + [Quote(MALLOC, f"{EPYC}/huge.json", *row) for row in allocator_numbers.HUGE]
          + [Quote(PROFILE, COST, *row) for row in (*_COSTS, *_WALKED, *_ERRORS)]
          + [Quote(ACCOUNTS, COST, *row) for row in _COUNTED]
          + [Quote("how-to/performance-schema-grows.md", SERVER, *row) for row in _SERVER]
          + [Quote(document, result, *row) for document, result, rows in printed_numbers.TABLE
             for row in rows])
