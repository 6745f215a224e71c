"""svg.py - draws charts as plain SVG: axes, lines with bands, rows of points, matrices, steps.

Colours stand in attributes, so that any program shows them; a style sheet changes them only
for dark screens. Every mark has a native tooltip. Series differ by colour, dash and marker.
"""

import math
import re
from html import escape

from reporting import looks

MORE, LESS, OPEN, NOTHING = "#0072b2", "#d55e00", "#7a7a7a", "#009e73"  # what a cell says
INK, SOFT, GRID, PAPER = "#1b1f24", "#5c6570", "#dfe3e8", "#ffffff"
FONT = "system-ui, 'Segoe UI', 'Liberation Sans', Helvetica, Arial, sans-serif"


def style(shown):
    """The style sheet of dark screens for the looks that are shown, once for each document."""
    rules = [".ink{fill:#eceff2}", ".soft{fill:#a7b0ba}", ".gridline{stroke:#353b43}",
             ".axisline{stroke:#8a939d}", ".paper{fill:#15181c}", ".shade{fill:#ffffff}",
             ".rim,.halo{stroke:#15181c}"]
    for look in sorted(shown):
        rules.append(f".l{look}{{stroke:{looks.dark(look)}}}.f{look}{{fill:{looks.dark(look)}}}")
    return "@media screen and (prefers-color-scheme: dark){" + "".join(rules) + "}"


def text_width(text, size):
    """A safe guess of the width of sans-serif text, DejaVu Sans being the widest."""
    wide = sum(1 for c in text if c in "mwMWABCDEGHKNOPQRSUVXYZ%@—")
    thin = sum(1 for c in text if c in "iljtfI.,:;'|!()[] ")
    return size * (0.615 * (len(text) - wide - thin) + 0.8 * wide + 0.345 * thin)


def wrap(text, size, width):
    """Lines of text that fit the width."""
    lines = [""]
    for word in text.split():
        longer = (lines[-1] + " " + word).strip()
        if lines[-1] and text_width(longer, size) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def linear_ticks(low, high, count=5):
    """Round steps of 1, 2 or 5 that cover low to high."""
    span = high - low or abs(high) or 1
    raw = span / count
    power = 10 ** math.floor(math.log10(raw))
    step = next(s * power for s in (1, 2, 5, 10) if s * power >= raw * 0.999)
    first = math.floor(low / step + 1e-9)
    last = math.ceil(high / step - 1e-9)
    return [i * step for i in range(first, last + 1)]


def log_ticks(low, high):
    """Powers of ten, with 2 and 5 between them when few decades are shown."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    if last - first <= 2:
        ticks = [m * 10.0 ** e for e in range(first, last + 1) for m in (1, 2, 5)]
    else:
        every = max(1, (last - first) // 6)
        ticks = [10.0 ** e for e in range(first, last + 1, every)]
    below = [t for t in ticks if t <= low * 1.0001]
    above = [t for t in ticks if t >= high * 0.9999]
    start = below[-1] if below else ticks[0]
    end = above[0] if above else ticks[-1]
    return [t for t in ticks if start <= t <= end]


class Scale:
    """Maps values to a range of pixels, linear or logarithmic."""

    def __init__(self, values, begin, end, log=False, zero=False, unit=1.0):
        values = [v for v in values if v is not None and math.isfinite(v) and (v > 0 or not log)]
        values = values or [1.0]
        low, high = min(values), max(values)
        if zero and not log:
            low = min(0.0, low)
        if low == high:
            low, high = (low / 2, high * 2) if log else (low - (not zero), high + 1)
        self.log, self.begin, self.end = log, begin, end
        self.ticks = [unit * tick for tick in (log_ticks if log else linear_ticks)(
            low / unit, high / unit)]
        self.low, self.high = min(self.ticks[0], low), max(self.ticks[-1], high)

    def at(self, value):
        """The pixel of a value; a logarithmic axis holds values below it at its foot."""
        low, high = self.low, self.high
        if self.log:
            value = math.log10(max(value, low))
            low, high = math.log10(low), math.log10(high)
        share = (value - low) / (high - low)
        return self.begin + share * (self.end - self.begin)


def spread(wanted, gap, low, high):
    """Positions as close to the wanted ones as can be, at least gap apart, inside low to high."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    # Less the gaps before them the positions need only not to fall: neighbours that would fall are
    # put at their mean.
    groups = []  # [sum, count]
    for k, index in enumerate(order):
        groups.append([wanted[index] - k * gap, 1])
        while len(groups) > 1 and \
                groups[-2][0] / groups[-2][1] > groups[-1][0] / groups[-1][1]:
            total, count = groups.pop()
            groups[-1] = [groups[-1][0] + total, groups[-1][1] + count]
    means = [total / count for total, count in groups for _ in range(count)]
    placed, last = [0.0] * len(wanted), high - (len(wanted) - 1) * gap
    for k, (index, mean) in enumerate(zip(order, means)):
        placed[index] = min(max(mean, low), last) + k * gap
    return placed


class Canvas:
    """Collects the elements of one figure; its head and foot are written by figure()."""

    def __init__(self, width, height):
        self.width, self.height = width, height
        self.parts = []
        self.marked = ""
        self.source = ""     # machine and date: the last line of a file
        self.head_end = (0, 0.0)  # how many parts are the head, and where it ends

    def text(self, x, y, content, size=12, anchor="start", tone="ink", weight="normal",
             colour=None, halo=False):
        """One line of text; colour is the look of a series; a halo sets it off from lines."""
        fill = looks.light(colour) if colour is not None else INK
        name = f"f{colour}" if colour is not None else tone
        if colour is None and tone == "soft":
            fill = SOFT
        bold = f' font-weight="{weight}"' if weight != "normal" else ""
        if halo:
            name += " halo"
            bold += f' paint-order="stroke" stroke="{PAPER}" stroke-width="4"'
        self.parts.append(f'<text class="{name}" x="{x:.1f}" y="{y:.1f}" font-size="{size}" '
                          f'text-anchor="{anchor}" fill="{fill}"{bold}>{escape(content)}</text>')

    def line(self, x1, y1, x2, y2, kind="grid", width=1.0, dash=""):
        """A straight line of the frame."""
        stroke = {"grid": GRID, "axis": SOFT}[kind]
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(f'<line class="{kind}line" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" '
                          f'y2="{y2:.1f}" stroke="{stroke}" stroke-width="{width}"{dashed}/>')

    def rect(self, x, y, width, height, fill, opacity=1.0, name="", tip="", radius=0):
        """A filled rectangle."""
        title = f"<title>{escape(tip)}</title>" if tip else ""
        rounded = f' rx="{radius}"' if radius else ""
        self.parts.append(f'<rect class="{name}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
                          f'height="{height:.1f}" fill="{fill}" fill-opacity="{opacity:.3g}"'
                          f'{rounded}>{title}</rect>')

    def path(self, points, look, width=2.0, opacity=1.0, dash=None):
        """A line through points in the colour and dash of a look."""
        if not points:
            return
        steps = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        pattern = looks.dash(look) if dash is None else dash
        dashed = f' stroke-dasharray="{pattern}"' if pattern else ""
        self.parts.append(f'<polyline class="l{look} mark" points="{steps}" fill="none" '
                          f'stroke="{looks.light(look)}" stroke-width="{width}" '
                          f'stroke-opacity="{opacity:.3g}" stroke-linejoin="round"{dashed}/>')

    def band(self, upper, lower, look):
        """The interval around a line."""
        steps = " ".join(f"{x:.1f},{y:.1f}" for x, y in upper + lower[::-1])
        self.parts.append(f'<polygon class="f{look}" points="{steps}" fill="{looks.light(look)}" '
                          'fill-opacity="0.16"/>')

    def marker(self, x, y, look, tip, shape=None, size=4.0, hollow=False):
        """A point with a tooltip; its shape is the look's unless given."""
        shape, colour = shape or looks.shape(look), looks.light(look)
        frame = (f'class="f{look} rim mark" fill="{colour}" stroke="{PAPER}" '
                 'stroke-width="1"')
        if hollow:
            frame = (f'class="l{look} paper mark" fill="{PAPER}" stroke="{colour}" '
                     'stroke-width="1.6"')
        title = f"<title>{escape(tip)}</title>"
        if shape == "circle":
            body = f'<circle {frame} cx="{x:.1f}" cy="{y:.1f}" r="{size}">{title}</circle>'
        else:
            s = size
            corners = {"square": ((-s, -s), (s, -s), (s, s), (-s, s)),
                       "triangle": ((0, -1.2 * s), (1.1 * s, 0.9 * s), (-1.1 * s, 0.9 * s)),
                       "diamond": ((0, -1.3 * s), (1.3 * s, 0), (0, 1.3 * s), (-1.3 * s, 0)),
                       "bar": ((-1, -1.6 * s), (1, -1.6 * s), (1, 1.6 * s), (-1, 1.6 * s))}[shape]
            steps = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners)
            body = f'<polygon {frame} points="{steps}">{title}</polygon>'
        self.parts.append(body)

    def head(self, title, subtitle, stamp=""):
        """Title in bold, wrapped, and a softer line under it; returns the y below them. A stamp
        stands above the title and across the figure: what is not of a real machine says so."""
        y = 22
        if stamp:
            self.text(4, y - 4, stamp.upper(), size=10.5, weight="600")
            self.marked = stamp.split(":")[0].upper()
            y += 16
        for row in wrap(title, 15.5, (self.width - 16) / 1.1):
            self.text(4, y, row, size=15.5, weight="600")
            y += 20
        for row in wrap(subtitle, 12, self.width - 16) if subtitle else []:
            self.text(4, y, row, size=12, tone="soft")
            y += 16
        self.head_end = (len(self.parts), y - 14.0)
        return y

    def foot(self, note):
        """The small line at the bottom: build, launches, spread; returns its height."""
        rows = wrap(note, 10.5, self.width - 16) if note else []
        for k, row in enumerate(rows):
            self.text(4, self.height - 6 - 13 * (len(rows) - 1 - k), row, size=10.5, tone="soft")
        return 13 * len(rows) + 8

    def looks(self):
        """The looks that its marks and names have."""
        return {int(look) for part in self.parts
                for look in re.findall(r'class="[lf](\d+)[ "]', part)}

    def _watermark(self):
        size = min(self.height * 0.3, self.width / 9)
        return (f'<text class="ink" x="{self.width / 2:.0f}" y="{self.height / 2:.0f}" '
                f'font-size="{size:.0f}" font-weight="700" text-anchor="middle" fill="{INK}" '
                f'fill-opacity="0.05" dominant-baseline="middle" transform="rotate(-14 '
                f'{self.width / 2:.0f} {self.height / 2:.0f})">{escape(self.marked)}</text>')

    def _source_lines(self):
        """The lines of the source as elements, below the figure, and their height."""
        rows = wrap(self.source, 10.5, self.width - 16) if self.source else []
        lines = [f'<text class="soft" x="4.0" y="{self.height + 7 + 13 * k:.1f}" font-size="10.5" '
                 f'fill="{SOFT}">{escape(row)}</text>' for k, row in enumerate(rows)]
        return lines, 13 * len(rows)

    def document(self, title, standalone, paper=False):
        """The finished SVG. Standalone ones carry their own style, paper and source; those for a
        paper neither title nor style."""
        parts, top, height = self.parts, 0.0, self.height
        if paper:
            parts, top = self.parts[self.head_end[0]:], max(0.0, self.head_end[1])
            standalone = True
        inner = "\n".join(([self._watermark()] if self.marked and not paper else []) + parts)
        if standalone:
            lines, more = self._source_lines()
            height += more
            inner = "\n".join([inner, *lines])
            sheet = "" if paper else f"<style>{style(self.looks())}</style>\n"
            inner = (f'{sheet}<rect class="paper" y="{top:g}" width="100%" height="100%" '
                     f'fill="{PAPER}"/>\n{inner}')
        height -= top
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 {top:g} {self.width} '
                f'{height:g}" width="{self.width}" height="{height:g}" role="img" '
                f'aria-label="{escape(title, quote=True)}" font-family="{escape(FONT)}">\n'
                f"{inner}\n</svg>\n")
