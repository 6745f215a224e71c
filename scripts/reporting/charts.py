"""charts.py - the seven shapes of chart that the figures use, built on svg.py.

Each returns a canvas. A series is {name, index, points}; index is its look: colour, dash and
marker. A point is (x, y, low, high, tip, values); low and high are the interval, or None, and
values the single ones that are drawn where there is no interval.
"""

import math

from common.amounts import number, short
from reporting import looks
from reporting.svg import Canvas, INK, LESS, MORE, NOTHING, OPEN, Scale, spread, text_width

LABEL = 12


def _axis_y(canvas, scale, left, right, form):
    for tick in scale.ticks:
        y = scale.at(tick)
        canvas.line(left, y, right, y)
        canvas.text(left - 7, y + 4, form(tick), size=11, anchor="end", tone="soft")


def _axis_name_x(canvas, left, right, y, name):
    canvas.text((left + right) / 2, y, name, size=11.5, anchor="middle", tone="soft")


def _head(canvas, spec):
    return canvas.head(spec["title"], spec.get("subtitle", ""), spec.get("stamp", ""))


def _end_labels(canvas, ends, x, top, bottom):
    """Names at the ends of the lines, moved apart where they would touch."""
    places = spread([y for _, y, _ in ends], LABEL + 2.5, top + 4, bottom - 2)
    for (name, y, index), place in zip(ends, places):
        if abs(place - y) > 3:
            canvas.parts.append(
                f'<path class="l{index}" d="M{x + 5:.1f} {y:.1f} L{x + 14:.1f} '
                f'{place:.1f}" stroke="{looks.light(index)}" fill="none" '
                'stroke-opacity="0.55"/>')
        canvas.text(x + 17, place + 4, name, size=LABEL, colour=index)


def line_chart(spec, width=548, height=372):
    """Lines over ordered x positions, evenly spaced or by logarithm; labels stand at the line ends.

    spec: title, subtitle, note, x_name, y_name, xs (values), x_ticks (those of them that are
    named), x_log, x_form, y_form, y_log, series,
    shade_from (an x from which the background is shaded) and shade_text, zero. The points of a
    series at the xs in its "open" are hollow.
    """
    canvas = Canvas(width, height)
    top = _head(canvas, spec) + 22
    bottom = height - canvas.foot(spec.get("note", "")) - 40
    names = [s["name"] for s in spec["series"]]
    values = [v for s in spec["series"] for p in s["points"] for v in [*p[1:4], *p[5]]
              if v is not None]
    y_form = spec.get("y_form", number)
    scale = Scale(values, bottom, top, log=spec.get("y_log", False), zero=spec.get("zero", True),
                  unit=spec.get("y_unit", 1.0))
    left = 14 + max(text_width(y_form(t), 11) for t in scale.ticks)
    right = width - 26 - max([text_width(n, LABEL) for n in names] or [0])
    step = (right - left - 24) / max(1, len(spec["xs"]) - 1)
    at_x = {x: left + 12 + i * step for i, x in enumerate(spec["xs"])}
    if spec.get("x_log"):
        at_x = _by_logarithm(spec["xs"], left + 12, right - 12)
    canvas.text(4, top - 9, spec["y_name"], size=11.5, tone="soft")
    if spec.get("shade_from") in at_x:
        start = at_x[spec["shade_from"]] - step / 2
        canvas.rect(start, top, right - start, bottom - top, INK, 0.05, "shade")
        canvas.text(right, top - 9, spec["shade_text"], size=10.5, anchor="end", tone="soft")
    _axis_y(canvas, scale, left, right, y_form)
    for x, place in at_x.items():
        if x in spec.get("x_ticks", at_x):
            canvas.text(place, bottom + 16, spec.get("x_form", str)(x), size=11, anchor="middle",
                        tone="soft")
    canvas.line(left, bottom, right, bottom, "axis")
    _axis_name_x(canvas, left, right, bottom + 33, spec["x_name"])
    _draw_lines(canvas, spec, at_x, scale, (right, top, bottom))
    return canvas


def _by_logarithm(xs, begin, end):
    """{x: place}; all above 0."""
    low, span = math.log(min(xs)), math.log(max(xs) / min(xs)) or 1.0
    return {x: begin + (math.log(x) - low) / span * (end - begin) for x in xs}


def _draw_lines(canvas, spec, at_x, scale, frame):
    right, top, bottom = frame
    ends = []
    for series in spec["series"]:
        inside = [p for p in series["points"] if p[0] in at_x]
        banded = [p for p in inside if p[2] is not None]
        if len(banded) > 1:
            canvas.band([(at_x[p[0]], scale.at(p[3])) for p in banded],
                        [(at_x[p[0]], scale.at(p[2])) for p in banded], series["index"])
    for series in spec["series"]:
        inside = [p for p in series["points"] if p[0] in at_x]
        places = [(at_x[p[0]], scale.at(p[1])) for p in inside]
        canvas.path(places, series["index"])
        if places and series["name"]:
            ends.append((series["name"], places[-1][1], series["index"]))
    for series in spec["series"]:
        for p in series["points"]:
            if p[0] in at_x:
                for value in p[5]:
                    canvas.marker(at_x[p[0]], scale.at(value), series["index"], p[4], "circle",
                                  2.4)
                canvas.marker(at_x[p[0]], scale.at(p[1]), series["index"], p[4],
                              hollow=p[0] in series.get("open", ()))
    _end_labels(canvas, ends, right - 8, top, bottom)


def row_chart(spec, width=548):
    """Rows of points on one value axis: intervals as whiskers, reference values as lines.

    spec: title, subtitle, note, x_name, x_log, x_form, rows [{name, index, points
    [(value, low, high, tip, shape, values)]}], lines [(value, text)], key [(shape, text)], zero,
    bars (draw a bar from the foot of the axis to the first point), stack (equal single values stand
    one above the other, so that each is seen), told (the shape of the point whose value stands at
    the end of each row; needed where rows have several points).
    """
    rows = spec["rows"]
    canvas = Canvas(width, 10)
    top = _head(canvas, spec) + 8
    if spec.get("key"):
        x = 10
        for shape, text in spec["key"]:
            text += " (number)" if shape == spec.get("told") else ""
            canvas.marker(x, top, looks.NEUTRAL, text, shape)
            canvas.text(x + 9, top + 4, text, size=11, tone="soft")
            x += 24 + text_width(text, 11)
        top += 18
    top += 16 * len(spec.get("lines", []))
    bottom = top + 27 * len(rows) + 4
    canvas.height = int(bottom + 44 + 13 * len(spec.get("note", "")) // 95 + 22)
    values = [v for r in rows for p in r["points"] for v in [*p[:3], *p[5]] if v is not None]
    values += [v for v, _ in spec.get("lines", [])]
    left = 16 + max(text_width(r["name"], LABEL) for r in rows)
    form = spec.get("x_form", number)
    scale = Scale(values, left, width - 74, log=spec.get("x_log", False),
                  zero=spec.get("zero", False), unit=spec.get("x_unit", 1.0))
    for tick in scale.ticks:
        canvas.line(scale.at(tick), top, scale.at(tick), bottom)
        canvas.text(scale.at(tick), bottom + 16, form(tick), size=11, anchor="middle",
                    tone="soft")
    _axis_name_x(canvas, left, width - 74, bottom + 33, spec["x_name"])
    for k, (value, text) in enumerate(spec.get("lines", [])):
        y = top - 6 - 16 * (len(spec["lines"]) - 1 - k)
        canvas.line(scale.at(value), y + 3, scale.at(value), bottom, "axis", 1.5, "5 3")
        near_end = scale.at(value) + text_width(text, 11) > width - 4
        canvas.text(scale.at(value), y, text, size=11, tone="soft",
                    anchor="end" if near_end else "start")
    for k, row in enumerate(rows):
        _draw_row(canvas, row, top + 27 * k + 15, left, scale, spec, form)
    canvas.foot(spec.get("note", "").replace("shaded", "thick"))
    return canvas


def _draw_row(canvas, row, y, left, scale, spec, form):
    index = row["index"]
    canvas.text(left - 10, y + 4, row["name"], size=LABEL, anchor="end", colour=index)
    if not row["points"]:
        canvas.text(left + 6, y + 4, "not measured", size=11, tone="soft")
        return
    places = [scale.at(p[0]) for p in row["points"]]
    if spec.get("bars"):
        canvas.rect(left, y - 7, max(1.0, places[0] - left), 14, looks.light(index), 0.35,
                    f"f{index}", row["points"][0][3], 2)
    else:
        canvas.path([(min(places), y), (max(places), y)], index, 2, 0.5, "")
    for point in row["points"]:
        if point[1] is not None and point[2] > point[1]:
            canvas.path([(scale.at(point[1]), y), (scale.at(point[2]), y)], index, 5, 0.4, "")
    for point, x in zip(row["points"], places):
        for k, value in enumerate(point[5]):
            before = point[5][:k].count(value) + 1 if spec.get("stack") else 0
            aside = before // 2 * (-1) ** before * 3
            canvas.marker(scale.at(value), y + max(-12, min(aside, 12)), index, point[3], "circle",
                          2.4 if before == 0 else 1.7)
        canvas.marker(x, y, index, point[3], point[4], hollow=bool(spec.get("stack")))
    told = [p for p in row["points"] if len(row["points"]) == 1 or p[4] == spec.get("told")]
    if told:
        end = max(scale.at(v) for p in row["points"] for v in (p[0], p[2], *p[5]) if v is not None)
        canvas.text(end + 9, y + 4, form(told[0][0]), size=11, tone="soft", halo=True)


def matrix_chart(spec, width=1110):
    """Policies down, cases across, a number in each cell; darker means more.

    spec: title, subtitle, note, groups [{name, columns [(upper, lower)], cells {(row, column):
    (value, tip)}}], rows [(name, index)]. An upper heading stands once over equal neighbours.
    """
    rows, groups = spec["rows"], spec["groups"]
    canvas = Canvas(width, 10)
    top = _head(canvas, spec) + 62
    left = 16 + max(text_width(name, LABEL) for name, _ in rows)
    columns = sum(len(g["columns"]) for g in groups)
    gap = 18
    cell = (width - left - 6 - gap * (len(groups) - 1)) / columns
    x = left
    for group in groups:
        values = [v for v, _ in group["cells"].values() if v]
        high = max(values or [1])
        canvas.text(x + 2, top - 42, group["name"], size=12.5, weight="600")
        _draw_headings(canvas, group["columns"], x, top, cell)
        for column in range(len(group["columns"])):
            for row in range(len(rows)):
                _draw_cell(canvas, group["cells"].get((row, column)), x + cell * column,
                           top + 24 * row, cell, high)
        x += cell * len(group["columns"]) + gap
    for row, (name, index) in enumerate(rows):
        canvas.text(left - 10, top + 24 * row + 16, name, size=LABEL, anchor="end", colour=index)
    canvas.height = int(top + 24 * len(rows) + 26)
    canvas.foot(spec.get("note", ""))
    return canvas


def ratio_chart(spec, width=1110):
    """Policies down, cases across, a number in each cell, coloured by what can be said of it.

    spec: title, subtitle, note, columns [heading], cells {(row, column): (text, tone, tip)}, rows
    [(name, index)]. A tone is more, less or open.
    """
    rows, columns = spec["rows"], spec["columns"]
    canvas = Canvas(width, 10)
    top = _head(canvas, spec) + 34
    left = 16 + max(text_width(name, LABEL) for name, _ in rows)
    cell = min(150, (width - left - 6) / len(columns))
    tones = {"more": (MORE, 0.28), "less": (LESS, 0.32), "open": (OPEN, 0.14)}
    for column, heading in enumerate(columns):
        canvas.text(left + cell * (column + 0.5), top - 9, heading, size=11, anchor="middle",
                    tone="soft")
    for row, (name, index) in enumerate(rows):
        y = top + 24 * row
        canvas.text(left - 10, y + 16, name, size=LABEL, anchor="end", colour=index)
        for column in range(len(columns)):
            x = left + cell * column
            text, tone, tip = spec["cells"].get((row, column), ("–", None, ""))
            if tone:
                canvas.rect(x + 1, y + 1, cell - 2, 22, *tones[tone], "mark", tip, 2)
            canvas.text(x + cell / 2, y + 16, text, size=12, anchor="middle",
                        tone="ink" if tone else "soft")
    canvas.height = int(top + 24 * len(rows) + 26)
    canvas.foot(spec.get("note", ""))
    return canvas


def _draw_headings(canvas, columns, x, top, cell):
    for column, (upper, lower) in enumerate(columns):
        canvas.text(x + cell * (column + 0.5), top - 5, lower, size=9.5, anchor="middle",
                    tone="soft")
        if column and columns[column - 1][0] == upper:
            continue
        run = sum(1 for other, _ in columns if other == upper)
        canvas.text(x + cell * (column + run / 2), top - 22, upper, size=10.5, anchor="middle",
                    tone="soft")
        canvas.line(x + cell * column + 3, top - 17, x + cell * (column + run) - 3, top - 17)


def _draw_cell(canvas, found, x, y, cell, high):
    """A zero is pale and says 0; what was not measured is a dash."""
    if found is None:
        canvas.text(x + cell / 2, y + 16, "–", size=11, anchor="middle", tone="soft")
        return
    value, tip = found
    share = 0.0 if value <= 0 else 0.22 + 0.5 * (value / high) ** 0.35
    colour = NOTHING if value <= 0 else LESS
    canvas.rect(x + 1, y + 1, cell - 2, 22, colour, share or 0.10, "mark", tip, 2)
    text = short(value)
    canvas.text(x + cell / 2, y + 16, text, size=10.5 if len(text) < 4 else 9, anchor="middle")


def panel_chart(spec, width=1110, panel_height=150):
    """Small multiples over time with one scale: what is, what would be ideal, and the load.

    spec: title, subtitle, note, x_name, y_name, y_form, panels [{name, index, remark, lines
    [[(t, y)...]], ideal [(t, y)]}], ideal_name, columns.
    """
    columns = spec["columns"]
    canvas = Canvas(width, 10)
    top = _head(canvas, spec) + 12
    form = spec.get("y_form", number)
    values = [y for p in spec["panels"] for line in p["lines"] + [p["ideal"]] for _, y in line]
    times = [t for p in spec["panels"] for line in p["lines"] for t, _ in line]
    vertical = Scale(values, panel_height, 0, zero=True)
    horizontal = Scale(times, 0, 1, zero=True)
    horizontal.high = max(times)
    margin = 14 + max(text_width(form(t), 11) for t in vertical.ticks)
    panel_width = (width - 8) / columns
    for k, panel in enumerate(spec["panels"]):
        x = 4 + panel_width * (k % columns)
        y = top + (panel_height + 66) * (k // columns) + 24
        _draw_panel(canvas, spec, panel, (x + margin, x + panel_width - 18, y, panel_height),
                    (vertical, horizontal))
    rows = -(-len(spec["panels"]) // columns)
    canvas.height = int(top + (panel_height + 66) * rows + 24)
    canvas.foot(spec.get("note", ""))
    return canvas


def _draw_panel(canvas, spec, panel, box, scales):
    left, right, top, height = box
    vertical, horizontal = scales

    def place(t, y):
        return left + horizontal.at(t) * (right - left), top + vertical.at(y)

    form = spec.get("y_form", number)
    for tick in vertical.ticks:
        y = top + vertical.at(tick)
        canvas.line(left, y, right, y)
        canvas.text(left - 6, y + 4, form(tick), size=10.5, anchor="end", tone="soft")
    for tick in (t for t in horizontal.ticks if t <= horizontal.high):
        canvas.text(place(tick, 0)[0], top + height + 15, number(tick), size=10.5,
                    anchor="middle", tone="soft")
    _axis_name_x(canvas, left, right, top + height + 30, spec["x_name"])
    canvas.text(left, top - 8, panel["name"], size=12.5, weight="600", colour=panel["index"])
    canvas.text(right, top - 8, panel["remark"], size=11, anchor="end", tone="soft")
    if panel["ideal"]:
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(t, v) for t, v in panel["ideal"]))
        canvas.parts.append(f'<polyline class="axisline" points="{points}" fill="none" '
                            'stroke="#5c6570" stroke-width="1.4" stroke-dasharray="4 3">'
                            f'<title>{spec["ideal_name"]}</title></polyline>')
    for line in panel["lines"]:
        canvas.path([place(t, y) for t, y in line], panel["index"], 2,
                    0.9 if len(panel["lines"]) == 1 else 0.6, "")


def time_chart(spec, width=1110, height=360):
    """Values over time, one line a series, labels at the ends.

    spec: title, subtitle, note, x_name, y_name, y_form, series [{name, index, line}].
    """
    canvas = Canvas(width, height)
    top = _head(canvas, spec) + 22
    bottom = height - canvas.foot(spec.get("note", "")) - 40
    form = spec.get("y_form", number)
    vertical = Scale([y for s in spec["series"] for _, y in s["line"]], bottom, top, zero=True,
                     unit=spec.get("y_unit", 1.0))
    left = 14 + max(text_width(form(t), 11) for t in vertical.ticks)
    right = width - 30 - max(text_width(s["name"], LABEL) for s in spec["series"])
    times = [t for s in spec["series"] for t, _ in s["line"]]
    horizontal = Scale(times, left, right, zero=True)
    horizontal.high = max(times)
    canvas.text(4, top - 9, spec["y_name"], size=11.5, tone="soft")
    _axis_y(canvas, vertical, left, right, form)
    for tick in horizontal.ticks:
        if tick <= max(times):
            canvas.text(horizontal.at(tick), bottom + 16, number(tick), size=11,
                        anchor="middle", tone="soft")
    canvas.line(left, bottom, right, bottom, "axis")
    _axis_name_x(canvas, left, right, bottom + 33, spec["x_name"])
    ends = []
    for series in spec["series"]:
        places = [(horizontal.at(t), vertical.at(y)) for t, y in series["line"]]
        canvas.path(places, series["index"])
        ends.append((series["name"], places[-1][1], series["index"]))
    _end_labels(canvas, ends, right - 6, top, bottom)
    return canvas


def stacked_chart(spec, width=1110, height=480):
    """Panels one above the other over one time axis, each with a metric and a scale of its own.

    spec: title, subtitle, note, x_name, x_step (between ticks), panels [{y_name, y_form, share (of
    the height), series [{name, index, dash, line [(t, y)]}]}].
    """
    canvas = Canvas(width, height)
    top = _head(canvas, spec) + 22
    bottom = height - canvas.foot(spec.get("note", "")) - 40
    gap, panels = 40, spec["panels"]
    room = bottom - top - gap * (len(panels) - 1)
    series = [s for panel in panels for s in panel["series"]]
    times = [t for s in series for t, _ in s["line"]]
    forms = [panel.get("y_form", number) for panel in panels]
    scales, begin = [], top
    for panel in panels:
        end = begin + room * panel["share"]
        scales.append(Scale([y for s in panel["series"] for _, y in s["line"]], end, begin,
                            zero=True))
        begin = end + gap
    left = 14 + max(text_width(form(t), 11) for form, scale in zip(forms, scales)
                    for t in scale.ticks)
    right = width - 30 - max(text_width(s["name"], LABEL) for s in series)
    across = Scale(times, left, right)
    across.low, across.high = min(times), max(times)
    first = -(-min(times) // spec["x_step"]) * spec["x_step"]
    ticks = [first + k * spec["x_step"] for k in range(int((max(times) - first) /
                                                           spec["x_step"]) + 1)]
    for panel, form, scale in zip(panels, forms, scales):
        canvas.text(4, scale.end - 9, panel["y_name"], size=11.5, tone="soft")
        _axis_y(canvas, scale, left, right, form)
        canvas.line(left, scale.begin, right, scale.begin, "axis")
        ends = []
        for one in panel["series"]:
            places = [(across.at(t), scale.at(y)) for t, y in one["line"]]
            canvas.path(places, one["index"], dash=one.get("dash"))
            ends.append((one["name"], places[-1][1], one["index"]))
        _end_labels(canvas, ends, right - 6, scale.end, scale.begin)
    for tick in ticks:
        canvas.text(across.at(tick), bottom + 16, number(tick), size=11, anchor="middle",
                    tone="soft")
    _axis_name_x(canvas, left, right, bottom + 33, spec["x_name"])
    return canvas
