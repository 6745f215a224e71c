"""amounts.py - numbers, bytes and times as text: short, for people."""


def number(value):
    """A number as a person writes it on an axis: 0, 0.5, 20, 3k, 12M."""
    if value == 0:
        return "0"
    size = abs(value)
    for limit, suffix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if size >= limit * 0.9995:
            return f"{value / limit:.3g}{suffix}"
    if size >= 0.01:
        return f"{value:.3g}"
    return f"{value:.1e}"


def span(form, *values):
    """3 to 10, or 3 where that is all."""
    low, high = form(min(values)), form(max(values))
    return low if low == high else f"{low} to {high}"


def bytes_text(value):
    """Bytes in binary units."""
    for limit, suffix in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if abs(value) >= limit * 0.9765:  # from 1000 of the smaller unit on: no exponent
            return f"{value / limit:.3g} {suffix}"
    return f"{value:.0f} B"


def bytes_unit(values):
    """The unit in which ticks of these byte counts are round."""
    high = max(values)
    return next((float(u) for u in (1 << 30, 1 << 20, 1 << 10) if high >= u), 1.0)


def time_text(ns):
    """Nanoseconds in the unit that suits them."""
    for limit, suffix in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if abs(ns) >= limit * 0.9995:
            return f"{ns / limit:.3g} {suffix}"
    return f"{ns:.3g} ns"


def short(value):
    """A number in two digits, for narrow cells."""
    if value == int(value) and abs(value) < 1000:
        return str(int(value))
    if value < 0.95:
        return f"{value:.1f}".lstrip("0") if value >= 0.05 else "<.1"
    for limit, suffix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= limit * 0.9995:
            scaled = value / limit
            return f"{scaled:.0f}{suffix}" if scaled >= 9.95 else f"{scaled:.1f}{suffix}"
    return f"{value:.0f}" if value >= 9.95 else f"{value:.1f}"


def count_noun(amount, noun):
    """1 launch, 2 launches."""
    return f"{amount} {noun}" + ("" if amount == 1 else "s" if noun != "launch" else "es")
