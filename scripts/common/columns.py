"""columns.py - a table as text."""


def aligned(headers, rows):
    """A table of text cells as aligned lines; a header may have several."""
    split = [h.split("\n") for h in headers]
    depth = max(len(s) for s in split)
    lines = [[s[k] if k < len(s) else "" for s in split] for k in range(depth)] + rows
    widths = [max(len(line[k]) for line in lines) for k in range(len(headers))]
    out = []
    for number_of_line, line in enumerate(lines):
        cells = [line[0].ljust(widths[0])]
        cells += [c.rjust(w) for c, w in zip(line[1:], widths[1:])]
        out.append("  ".join(cells).rstrip())
        if number_of_line == depth - 1:
            out.append("-" * (sum(widths) + 2 * (len(widths) - 1)))
    return "\n".join(out)
