"""documents.py - JSON files: read, written in one step; and the two ways to refuse an input."""

import json
import os


class BadInput(Exception):
    """An input that cannot be used: one line, naming the file and the mend."""


class Unfit(Exception):
    """Numbers that are good, of a machine that was not: one line, exit 3."""


def read_json(path):
    """The document in a file; BadInput names the file, the place and the mend."""

    def refuse(word):
        raise BadInput(f"{path}: holds {word}, which is not JSON; measure that launch again")

    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except FileNotFoundError:
        raise BadInput(f"{path}: no such file; give a result folder or a benchmark JSON "
                       "file") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise BadInput(f"{path}: cannot be read ({reason}); check the name and its "
                       "permissions") from None
    try:
        return json.loads(text, parse_constant=refuse)
    except json.JSONDecodeError as error:
        raise BadInput(f"{path}: damaged JSON at offset {error.pos} (line {error.lineno}, column "
                       f"{error.colno}: {error.msg}); measure again or take it out") from None
    except RecursionError:
        raise BadInput(f"{path}: damaged JSON, nested too deeply; measure again or take it "
                       "out") from None


def write_text(path, text):
    """Write a file in one step: a reader sees the old one or the new one, never a half."""
    partial = f"{path}.partial"
    try:
        with open(partial, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:  # which does not say what it wrote
        if os.path.exists(partial):
            os.remove(partial)
        raise OSError(error.errno, error.strerror, path) from None
    os.replace(partial, path)


def write_json(path, document):
    """As write_text, for a JSON document; NaN is refused."""
    write_text(path, json.dumps(document, indent=1, allow_nan=False) + "\n")


def is_number(value):
    """A JSON number; JSON's true and false are not."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)
