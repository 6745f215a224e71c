"""instruction_table.py - instructions of malloc and free, as malloc_instructions.py counts."""

CASES = ("pair-64", "malloc-64", "free-64", "foreign-64", "pair-4000", "pair-100000",
         "malloc-64-first", "free-64-first", "foreign-64-first")


def cell(found):
    """Instructions a call, and the locked ones where there are any."""
    if not found:
        return "–"
    each, locked = (found[key] / found["calls"] for key in ("instructions", "locked"))
    return f"{each:.1f}" + (f" ({locked:.3f})" if locked else "")


def table(counted):
    """(headers, rows) of what was counted."""
    cases = [c for c in CASES if any(c in found for found in counted.values())]
    return (["instructions a call (locked)", *cases],
            [[name, *(cell(found.get(case)) for case in cases)]
             for name, found in counted.items()])
