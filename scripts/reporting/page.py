"""page.py - the report as a page: templates/ filled in, with their style sheet and script inside.

Policies are in colour by check boxes before everything else and by style rules alone, so a click
works without the script. The script counts the figures that were drawn, folds what is folded at
first and opens it for the printer; without it all is open.
"""

import functools
import os
import re

from common import documents, judge
from reporting import (against, change, chapters, choice, claims, day, front, looks, markup,
                       results, steadiness, summary, svg, tables)

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "templates")


def file_text(name):
    """What stands in a file of the templates."""
    return documents.read_text(os.path.join(FOLDER, name))


def _source(name):
    """A template without what is for its readers only: comments, line breaks and indentation, but
    for a space between words."""
    text = re.sub(r"\s*\{# .*?#\}\s*", "", file_text(name), flags=re.DOTALL)
    return re.sub(r"\n\s*", " ", re.sub(r"(?<=[>}])\n\s*|\n\s*(?=[<{])", "", text)).strip()


@functools.cache
def _templates():
    try:
        import jinja2
    except ImportError:
        raise documents.BadInput("jinja2 is missing; install Debian's python3-jinja2") from None
    made = jinja2.Environment(loader=jinja2.FunctionLoader(_source), autoescape=True,
                              undefined=jinja2.StrictUndefined)
    made.globals.update(against=against, change=change, chapters=chapters, choice=choice,
                        claims=claims, day=day, front=front, judge=judge,
                        steadiness=steadiness, markup=markup, results=results,
                        summary=summary, tables=tables)
    return made


def part(name, *arguments):
    """A part of the page alone: a macro of parts.html."""
    return getattr(_templates().get_template("parts.html").module, name)(*arguments)


def picked(look):
    """The rules of one policy: grey unless its box is checked."""
    name, off, colour = f"#p{look}", f"#p{look}:not(:checked)~main .policies ", looks.light(look)
    return (f"{off}.l{look}{{stroke:var(--faint)}}{off}.f{look}{{fill:var(--faint)}}"
            f"{off}polygon.f{look}:not(.mark){{fill-opacity:.07}}"
            f"{off}text.f{look}{{fill:var(--dim)}}"
            f"{name}:checked~main .chips label[for=p{look}]{{color:var(--ink);"
            f"border-color:{colour};box-shadow:inset 5px 0 0 {colour}}}"
            f"{name}:focus-visible~main .chips label[for=p{look}]{{outline:2px solid "
            "var(--accent)}")


def render(found, made, missing, old=None):
    """The whole document; old: an earlier result that it is held against."""
    style = "\n" + file_text("report.css").replace("FONT", svg.FONT) + svg.style(
        set().union(*(figure.canvas.looks() for figure in made)))
    words = ["--against", markup.shown_path(old.paths[0])] if old else []
    return _templates().get_template("report.html").render(
        found=found, old=old, missing=missing, script="\n" + file_text("report.js"),
        style=style + "".join(picked(k) for k, _ in chapters.picks(found)),
        coloured=choice.in_colour(found, choice.standings(found)) or found.policy_order[:4],
        made_by=markup.command_of(found, "scripts/report.py", *words),
        figures={name: [figure for figure in made if chapters.chapter_of(figure) == name]
                 for name in ("policies", "simulated", *tables.PREFIX.values())})
