"""tables.py - every table of the report by name, so that a command can print each alone."""

from common import judge
from reporting import (accounts_results, against, allocator_results, choice, claims,
                       instruction_table, markup, profile_results, summary)


def _claims(found):
    rows = [[claims.WORDS[verdict].lower() if verdict != judge.NOT_MEASURED else "not simulated",
             f"{claim.says}: {measured}"] for claim, measured, verdict in claims.judged(found)]
    return ["verdict", "claim: simulated"], rows


def _of(part, make):
    """A table of a chapter; None where the chapter was not measured."""
    def table(found):
        suite = getattr(found, part)
        return make(suite) if suite is not None else None
    return table


def _instructions(suite):
    counted = suite.document["instructions"]
    return instruction_table.table(counted) if counted else None


def _allocator_bars(suite):
    ours = allocator_results.OURS in suite.names
    return markup.bars_table(allocator_results.bars(suite)) if ours else None


TABLES = {
    "verdict": lambda f: choice.verdict_table(f) if f.is_real() else None,
    "matrix": lambda f: choice.matrix_table(f) if f.is_real() else None,
    "comparison": lambda f: summary.table(f) if f.is_real() else None,
    "bars": lambda f: markup.bars_table(summary.bars(f)) if f.is_real() else None,
    "peers": lambda f: markup.bars_table(against.bars(f)) if f.is_real() else None,
    "gives-up": lambda f: against.gives_up(f) if f.is_real() and against.bars(f) else None,
    "claims": _claims,
    "simulated": lambda f: claims.table(f) if f.machines() else None,
    "allocator-bars": _of("allocators", _allocator_bars),
    "allocator-means": _of("allocators", allocator_results.mean_rows),
    "allocator-ratios": _of("allocators", allocator_results.ratio_rows),
    "allocator-idle": _of("allocators", allocator_results.idle_rows),
    "allocator-slabs": _of("allocators", allocator_results.slab_rows),
    "allocator-instructions": _of("allocators", _instructions),
    "accounts-bars": _of("accounts", lambda s: markup.bars_table(accounts_results.bars(s))),
    "accounts-cost": _of("accounts", accounts_results.cost_rows),
    "accounts-instructions": _of("accounts", _instructions),
    "accounts-errors": _of("accounts", accounts_results.error_rows),
    "accounts-readers": _of("accounts", accounts_results.reader_rows),
    "accounts-memory": _of("accounts", accounts_results.memory_rows),
    "profile-bars": _of("profile", lambda s: markup.bars_table(profile_results.bars(s))),
    "profile-cost": _of("profile", profile_results.cost_rows),
    "profile-intervals": _of("profile", profile_results.interval_rows),
    "profile-errors": _of("profile", profile_results.error_rows),
}


def of(found, name):
    """(headers, rows) of a table, or None where the results have no numbers for it."""
    table = TABLES[name](found)
    return table if table and table[1] else None


def html(found, name, note=""):
    """A table of the report with its command; empty where there are no numbers."""
    return markup.named_table(found, name, of(found, name), note)
