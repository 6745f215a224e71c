"""commandline.py - what all commands of this folder share: one clear line, exit 2."""

import argparse
import errno
import os
import sys

import results


class Parser(argparse.ArgumentParser):
    """A parser whose refusals are one line."""

    def error(self, message):
        print(f"{self.prog.split('/')[-1]}: {message}; try --help", file=sys.stderr)
        sys.exit(2)


def run(main, name):
    """Call main and exit as it says; bad input is one line and exit 2, an unfit machine exit 3, a
    full disk exit 1."""
    try:
        status = main()
        sys.stdout.flush()
        sys.exit(status)
    except results.BadInput as problem:
        print(f"{name}: {problem}", file=sys.stderr)
        sys.exit(2)
    except results.Unfit as problem:
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
