"""commandline.py - what all commands of this folder share: one clear line, exit 2."""

import argparse
import sys

import results


class Parser(argparse.ArgumentParser):
    """A parser whose refusals are one line."""

    def error(self, message):
        print(f"{self.prog.split('/')[-1]}: {message}; try --help", file=sys.stderr)
        sys.exit(2)


def run(main, name):
    """Call main and exit as it says; bad input is one line and exit 2, an unfit machine exit 3."""
    try:
        sys.exit(main())
    except results.BadInput as problem:
        print(f"{name}: {problem}", file=sys.stderr)
        sys.exit(2)
    except results.Unfit as problem:
        print(f"{name}: {problem}", file=sys.stderr)
        sys.exit(3)
    except BrokenPipeError:  # the reader of a pipe left
        sys.stderr.close()
        sys.exit(0)
    except KeyboardInterrupt:
        print(f"\n{name}: interrupted", file=sys.stderr)
        sys.exit(130)
