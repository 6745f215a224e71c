"""commandline.py - what all commands of this folder share: one clear line, exit 2."""

import argparse
import difflib
import errno
import os
import re
import sys

from common import documents

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# What argparse says, and how the programs in C say it.
WORDINGS = ((r"argument (\S+): invalid choice: '(.*)' \(choose from (.*)\)$",
             lambda m: f"{m[1]} '{m[2]}': choose from {m[3].replace(chr(39), '')}"),
            (r"argument (\S+): expected (?:one|at least one) argument$",
             lambda m: f"{m[1]} needs a value"),
            (r"argument (\S+): ignored explicit argument '(.*)'$",
             lambda m: f"option '{m[1]}={m[2]}': {m[1]} takes no value"),
            (r"argument (\S+): invalid int value: '(.*)'$",
             lambda m: f"{m[1]} '{m[2]}': give a whole number"),
            (r"argument (\S+): invalid float value: '(.*)'$",
             lambda m: f"{m[1]} '{m[2]}': give a number"),
            (r"argument (\S+): (.*)$", lambda m: f"{m[1]} {m[2]}"))


def version():
    """The project's, as CMake has it."""
    with open(os.path.join(TOP, "CMakeLists.txt"), encoding="utf-8") as file:
        found = re.search(r"^project\(\w+ VERSION (\S+)", file.read(), re.MULTILINE)
    return found[1] if found else "unknown"


class Parser(argparse.ArgumentParser):
    """A parser of the one dialect: refusals are one line, underscores are taken for dashes."""

    def __init__(self, **more):
        super().__init__(**more)
        self.add_argument("--version", action="version", help="the version and exit",
                          version=f"{os.path.basename(self.prog)} {version()}")

    def parse_known_args(self, args=None, namespace=None):
        words = list(sys.argv[1:] if args is None else args)
        for k, word in enumerate(words):
            name, equals, value = word.partition("=")
            if word == "--":
                break
            if name.startswith("--") and name.replace("_", "-") in self._option_string_actions:
                words[k] = name.replace("_", "-") + equals + value
        return super().parse_known_args(words, namespace)

    def error(self, message):
        unknown = re.match(r"unrecognized arguments: (\S+)", message)
        if unknown:
            name = unknown[1].partition("=")[0]
            near = difflib.get_close_matches(name, self._option_string_actions, 1)
            message = f"unexpected argument '{unknown[1]}'"
            if name.startswith("-"):
                message = f"unknown option '{unknown[1]}'"
            message += f": did you mean {near[0]}?" if near else ""
        for pattern, say in WORDINGS:
            found = re.match(pattern, message, re.DOTALL)
            if found:
                message = say(found)
                break
        message = re.sub(r"\s+", " ", message)
        more = "" if message.endswith("?") else "; try --help"
        print(f"{self.prog.split('/')[-1]}: {message}{more}", file=sys.stderr)
        sys.exit(2)


def _names(text):
    """The names of a list with commas."""
    names = text.split(",")
    if not all(names):
        raise argparse.ArgumentTypeError(f"'{text}': has an empty name; give NAME,NAME")
    return names


def add_selection(parser):
    """The options that choose policies and workloads."""
    for kind in ("policies", "workloads"):
        parser.add_argument(f"--{kind}", type=_names, metavar="NAME,...",
                            help=f"only these {kind}")


def must_know(option, wanted, known):
    """BadInput if a wanted name is not among the known ones."""
    for name in wanted or ():
        if name not in known:
            raise documents.BadInput(f"{option} '{name}': choose from {', '.join(known)}")


def run(main, name):
    """Call main and exit as it says; bad input is one line and exit 2, an unfit machine exit 3, a
    full disk exit 1."""
    try:
        status = main()
        sys.stdout.flush()
        sys.exit(status)
    except documents.BadInput as problem:
        print(f"{name}: {problem}", file=sys.stderr)
        sys.exit(2)
    except documents.Unfit as problem:
        print(f"{name}: {problem}", file=sys.stderr)
        sys.exit(3)
    except BrokenPipeError:  # the reader of a pipe left
        sys.stderr.close()
        sys.exit(0)
    except OSError as problem:
        if problem.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        print(f"{name}: {problem.filename or 'standard output'}: cannot be written "
              f"({problem.strerror}); free some space and run again", file=sys.stderr)
        sys.stderr.flush()
        os._exit(1)  # the end of Python would try standard output once more
    except KeyboardInterrupt:
        print(f"\n{name}: interrupted", file=sys.stderr)
        sys.exit(130)
