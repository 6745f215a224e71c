"""invented_server.py - a mariadb.json as scripts/mariadb writes it, with invented numbers.

Policies exact and magazine give their pages back and add none needlessly, all others keep theirs.
Statements per second are stock's with every policy, and a tenth more without the Performance
Schema.
"""

import math

MIB = 1 << 20
POLICIES = ("stock-binary", "stock", "original", "local_scan", "random_start", "reclaiming",
            "exact", "magazine")
RETURNING = ("exact", "magazine")
ROUNDS = 8
SIZES = (50, 200, 500, 1000, 1500, 2000)
START, EACH = 136 * MIB, MIB // 8  # P_S memory at the start, and of each connection
NEEDLESS = {"thread": 1, "cond": 2, "mutex": 0}


def containers(policy, moment, connections, number):
    """What the status variables say; of the unpatched server its pages."""
    found, returns = {}, policy in RETURNING
    for name, extra in NEEDLESS.items():
        grown = 0 if moment == "start" else connections // 100
        needless = 0 if returns or moment == "start" else extra + number % 2 * (extra > 0)
        back = grown if returns and moment == "after" else 0
        found[name] = {"pages": 2 + grown + needless - back, "pages_peak": 2 + grown + needless,
                       "growths": 2 + grown + needless, "growths_needless": needless,
                       "pages_given_back": back, "page_skips": 0 if returns else 50 * grown,
                       "record_skips": 0 if returns else 700 * grown,
                       "live": connections if moment == "peak" else 10,
                       "counted": True}
        if policy == "stock-binary":
            found[name] = {"pages": found[name]["pages"], "counted": False}
    return found


def storm(policy, number, connections, kind="at_once", wave=0):
    """One storm: start, peak, and four moments after it."""
    peak = (START + connections * EACH) * (1 + 0.002 * (number % 3)
                                           + 0.02 * POLICIES.index(policy))
    kept = START * 1.01 if policy in RETURNING else peak
    moments = [("start", 0.0, START), ("peak", 3.1, peak)]
    moments += [("after", second + 0.02, peak - (peak - kept) * min(1, second / 5))
                for second in ((1, 2) if kind == "waves" and wave < 2 else (1, 2, 5, 10))]
    samples = [{"at": at, "seconds": second, "ps_bytes": round(size),
                "rss_bytes": round(size + 90 * MIB),
                "containers": containers(policy, at, connections, number)}
               for at, second, size in moments]
    return {"round": number, "policy": policy, "connections": connections, "kind": kind,
            "wave": wave, "samples": samples, "disturbed": False}


def day(policy, number):
    """24 hours of tides, a sample each half hour."""
    series, most = [], 0
    for k in range(49):
        now = round(500 + 480 * math.sin(math.pi * (k / 2 - 9) / 12)) + 3 * number
        most = max(most, now)
        held = now if policy in RETURNING else most
        series.append({"hour": k / 2, "connections": now, "ps_bytes": START + held * EACH,
                       "rss_bytes": START + held * EACH + 90 * MIB})
    return {"round": number, "policy": policy, "series": series}


def tables(policy, number):
    """Many tables and prepared statements, read meanwhile."""
    after = START * (1.02 if policy in RETURNING else 1.9)
    return {"round": number, "policy": policy, "ps_bytes_start": START,
            "ps_bytes_peak": 2 * START, "ps_bytes_after_10s": round(after),
            "reader_rows": 100000 + number, "reader_errors": 0,
            "containers": containers(policy, "after", 800, number)}


def cost(policy, number, workload, threads):
    """Statements per second, which change with the round but not with the policy."""
    rate = (20000 if workload == "point" else 3000) * (1 + 0.003 * number)
    factor = {"off": 1.1, "stock-binary": 1.0}.get(policy, 1 + 0.004 * (number % 4 - 1.5))
    return {"round": number, "policy": policy, "workload": workload, "threads": threads,
            "statements_per_second": rate * factor, "cpu_seconds": 10.0, "disturbed": False}


def side(below, of_all, of_accounts, **more):
    """The server's tables, or its box."""
    return {"sums": {"global": of_all * MIB, "account": of_accounts * MIB}, "below_zero": below,
            "accounts": [{"user": user, "host": "localhost", "bytes": MIB}
                         for user in ("app", "batch")], **more}


def box(policy, number):
    """The server's tables beside its box: rows below zero in the tables only."""
    one = {"name": "memory/sql/thd::main_mem_root", "bytes": MIB}
    row = {"table": "account", "user": "app", "name": one["name"], "bytes": -7}
    none = {"instruments": 0, "bytes": 0}
    return {"round": number, "policy": policy, "connections": 1500,
            "after": {"server": side([row] * 4, 450, 300, too_much={"instruments": 2,
                                                                    "bytes": 3 * MIB}),
                      "box": side([], 449, 299, too_much=none)},
            "kill": {"server": side(4, 460, 310, largest=[one]),
                     "box": side(0, 461, 311, largest=[one]), "missing": [], "lost": {},
                     "seconds_before": 1.0, "rss_bytes": 600 * MIB}}


def document(rounds=ROUNDS, policies=POLICIES):
    """The document of all experiments."""
    turns = [(policy, number) for number in range(rounds) for policy in policies]
    return {
        "format": 1, "policies": list(policies),
        "server": {"version": "10.11.18-MariaDB", "debian": "1:10.11.18-0+deb12u1",
                   "flags": "-O2", "instruments": "%=on"},
        "storms": [storm(*turn, size) for turn in turns for size in SIZES]
        + [storm(*turn, 800, "waves", wave) for turn in turns for wave in range(3)],
        "days": [day(*turn) for turn in turns], "tables": [tables(*turn) for turn in turns],
        "cost": [cost(policy, number, *case) for number in range(rounds)
                 for policy in ("off", *policies) for case in (("point", 2), ("point", 16),
                                                               ("connect", 16))],
        "boxes": [box("exact", number) for number in range(rounds)],
        "suite": {policy: {"passed": 255, "failed": ["perfschema.innodb"], "unstable": [],
                           "skipped": 7}
                  for policy in policies}}
