"""tables.py - every table of the report by name, so that a command can print each alone."""

from reporting import against, choice, claims, day, markup, results, summary


def _claims(found):
    rows = [[claims.word(verdict), f"{claim.says}: {measured}"]
            for claim, measured, verdict in claims.judged(found)]
    return ["verdict", "claim: simulated"], rows


# How a chapter is called in names of tables and figures, and in the page.
PREFIX = {"allocators": "allocator", "accounts": "accounts", "profile": "profile",
          "server": "server"}


def _of(part, make):
    """A table of a chapter; None where the chapter was not measured."""
    def table(found):
        suite = getattr(found, part)
        return make(suite) if suite is not None else None
    return table


def _of_chapters():
    """Of each chapter its bars and its tables: allocator-bars, accounts-cost, and so on."""
    made = {}
    for part, module in results.CHAPTERS.items():
        prefix = PREFIX[part]
        made[f"{prefix}-bars"] = _of(part, lambda s, module=module: markup.bars_table(
            module.bars(s)))
        made.update({f"{prefix}-{name}": _of(part, make) for name, make in module.TABLES.items()})
    return made


TABLES = {
    "verdict": lambda f: choice.verdict_table(f) if f.is_real() else None,
    "matrix": lambda f: choice.matrix_table(f) if f.is_real() else None,
    "comparison": lambda f: summary.table(f) if f.is_real() else None,
    "bars": lambda f: markup.bars_table(summary.bars(f)) if f.is_real() else None,
    "peers": lambda f: markup.bars_table(against.bars(f)) if f.is_real() else None,
    "gives-up": lambda f: against.gives_up(f) if f.is_real() and against.bars(f) else None,
    "claims": _claims,
    "simulated": lambda f: claims.table(f) if f.machines() else None,
    "day": day.table,
    **_of_chapters(),
}


def of(found, name):
    """(headers, rows) of a table, or None where the results have no numbers for it."""
    table = TABLES[name](found)
    return table if table and table[1] else None
