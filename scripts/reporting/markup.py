"""markup.py - a table of the report for a terminal, and the command that makes a part of it again.

A command is given as it is typed in the project's folder, quoted for a shell, its results named
relative to that folder, so that it is the same on another machine.
"""

import os
import shlex

from common import columns

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def shown_path(path):
    """A path as a reader types it in the project's folder."""
    return os.path.relpath(os.path.realpath(path), os.path.realpath(TOP))


def command_of(found, *words):
    """scripts/... RESULT... and more words, as a line for a shell."""
    return shlex.join([words[0], *map(shown_path, found.paths), *found.selection, *words[1:]])


def bars_table(bars):
    """(headers, rows) of bars as text."""
    return ["verdict", "bar: measured"], [[bar.verdict, f"{bar.says}: {bar.measured}"]
                                          for bar in bars]


def text_of(table):
    """A table for a terminal; sentences at the left."""
    if table[0][0] == "verdict":
        return "\n".join(f"{word:12} {says}" for word, says in table[1])
    return columns.aligned(*table)
