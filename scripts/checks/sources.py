"""sources.py - how the rule checks read the project's files."""

import os
import re
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LAYERS = ("include", "containers", "variants", "bench", "stress", "sim", "recorder",
          "memory", "base", "check", "server")


def files(top, folders, endings):
    """Paths relative to top, sorted; build folders are left out."""
    found = []
    for folder in folders:
        for place, inner, names in os.walk(os.path.join(top, folder)):
            inner[:] = sorted(d for d in inner if d not in ("build", "__pycache__", ".git"))
            found += [os.path.relpath(os.path.join(place, name), top)
                      for name in sorted(names) if name.endswith(endings)]
    return found


def read(top, path):
    """The text of a file."""
    with open(os.path.join(top, path), encoding="utf-8", errors="replace") as file:
        return file.read()


def without_comments(text):
    """C code with comments and strings blanked, so that lines and columns stay."""
    pattern = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\""
                         r"|'(?:\\.|[^'\\\n])*'", re.DOTALL)

    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))

    return pattern.sub(blank, text)


def only_comments(text):
    """The comments alone, everything else blanked."""
    code = without_comments(text)
    return "".join(t if c == " " or t == "\n" else " " for t, c in zip(text, code))


def finish(name, faults, looked_at):
    """Print the faults and exit 1, or say what was looked at; nothing at all is a fault."""
    if not looked_at:
        faults = faults + ["nothing to check was found"]
    for fault in faults:
        print(f"{name}: {fault}", file=sys.stderr)
    if faults:
        return 1
    print(f"{name}: {looked_at} looked at, no fault")
    return 0


def top_of(argv):
    """The folder to check: the project, or the one named (the checks' own tests do)."""
    return os.path.abspath(argv[0]) if argv else TOP
