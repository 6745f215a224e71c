"""markup.py - what all chapters of the report are made of: tables, bars, figures, folds, and under
each the command that makes it again.

A command is given as it is typed in the project's folder, quoted for a shell, its results named
relative to that folder, so that it is the same on another machine.
"""

import os
import shlex
from html import escape

from common import columns, judge

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def shown_path(path):
    """A path as a reader types it in the project's folder."""
    return os.path.relpath(os.path.realpath(path), os.path.realpath(TOP))


def command_of(found, *words):
    """scripts/... RESULT... and more words, as a line for a shell."""
    return shlex.join([words[0], *map(shown_path, found.paths), *words[1:]])


def again(command):
    """The line under a table."""
    return f'<p class="again">Again: <code>{escape(command)}</code></p>'


def table_html(headers, rows):
    """A table of text cells; the first column is a name."""
    head = "".join(f"<th>{escape(h)}</th>" for h in headers)
    body = "".join("<tr>" + "".join(
        f'<td{" class=" + chr(34) + "name" + chr(34) if k == 0 else ""}>{escape(cell)}</td>'
        for k, cell in enumerate(row)) + "</tr>" for row in rows)
    return f'<div class="scroll"><table><tr>{head}</tr>{body}</table></div>'


def named_table(found, name, table, note=""):
    """A table with the command that prints it; empty without rows."""
    if not table or not table[1]:
        return ""
    said = f'<p class="lead">{note}</p>' if note else ""
    return (f'<div id="table-{name}">{table_html(*table)}{said}'
            f'{again(command_of(found, "scripts/report.py", "--print", name))}</div>')


def bars_html(bars):
    """Bars: what was asked, what was measured, met or not or undecided."""
    rows = [f'<tr><td>{escape(bar.says)}</td><td>{escape(bar.measured)}</td>'
            f'<td class="{judge.CSS[bar.verdict]}">{bar.verdict}</td></tr>' for bar in bars]
    return ('<div class="scroll"><table class="left"><tr><th>bar</th><th>measured</th><th></th>'
            '</tr>' + "".join(rows) + "</table></div>")


def named_bars(found, name, bars):
    """Bars with the command that prints them."""
    return (f'<div id="table-{name}">{bars_html(bars)}'
            f'{again(command_of(found, "scripts/report.py", "--print", name))}</div>') \
        if bars else ""


def fold(summary_text, inside, more=""):
    """What is opened by a click; open where no script folds it."""
    if not inside:
        return ""
    said = f" <span>{more}</span>" if more else ""
    return (f'<details class="fold" open><summary>{summary_text}{said}</summary>{inside}'
            "</details>")


def figure_html(found, figure):
    """One figure with its caption and the command that remakes it."""
    wide = " class=\"wide\"" if figure.canvas.width > 700 else ""
    command = command_of(found, "scripts/plot.py", "--figure", figure.name)
    caption = f"{escape(figure.caption)} " if figure.caption else ""
    return (f'<figure id="{figure.name}" data-figure="{figure.name}"{wide}><div class="drawing">'
            f"{figure.canvas.document(figure.title, standalone=False)}</div>"
            f"<figcaption>{caption}Again: <code>{escape(command)}</code></figcaption></figure>")


def grid_html(found, made, kind=""):
    """These figures side by side; empty without any."""
    if not made:
        return ""
    return (f'<div class="grid {kind}">' + "".join(figure_html(found, f) for f in made)
            + "</div>")


def titles_html(made):
    """The titles of figures as a list of links: what they say, before they are unfolded."""
    return '<ul class="says">' + "".join(
        f'<li><a href="#{f.name}">{escape(f.title)}</a>.</li>' for f in made) + "</ul>"


def tally_html(bars):
    """5 met, 1 not met: with the colours of verdicts."""
    counts = judge.tally(bars)
    return ", ".join(f'<span class="{judge.CSS[word]}">{count} {word}</span>'
                     for word, count in counts.items() if count)


def failed_html(document):
    """How many launches have no numbers, as an item."""
    failed = sum(1 for launch in document["launches"] if launch["status"] != "done")
    return f'<li class="missed">{failed} launches failed.</li>' if failed else ""


def bars_table(bars):
    """(headers, rows) of bars as text."""
    return ["verdict", "bar: measured"], [[bar.verdict, f"{bar.says}: {bar.measured}"]
                                          for bar in bars]


def text_of(table):
    """A table for a terminal; sentences at the left."""
    if table[0][0] == "verdict":
        return "\n".join(f"{word:12} {says}" for word, says in table[1])
    return columns.aligned(*table)
