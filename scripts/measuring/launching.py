"""launching.py - what commands that measure share: programs, the result folder."""

import argparse
import os
import platform
import re
import time

from common import documents

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def bench_path(build_dir, build):
    """The benchmark program of a build."""
    return os.path.join(build_dir, build, "bench", "pfs-bench")


def built(build_dir, *parts):
    """A file of the release build; BadInput where it is not there."""
    path = os.path.abspath(os.path.join(build_dir, "release", *parts))
    if not os.path.exists(path):
        raise documents.BadInput(f"{path}: not found; build first: cmake --preset release && "
                                 "cmake --build --preset release")
    return path


def add_build_dir(parser):
    """The option that names the builds."""
    parser.add_argument("--build-dir", default=os.path.join(TOP, "build"), metavar="DIR",
                        help="where the builds are (default build)")


def must_be_writable(folder):
    """Create the folder, if it is not there; BadInput where nothing can be written in it."""
    try:
        os.makedirs(folder, exist_ok=True)
        probe = os.path.join(folder, ".probe")
        with open(probe, "w", encoding="utf-8"):
            pass
        os.remove(probe)
    except OSError as error:
        raise documents.BadInput(f"--out {folder}: cannot be written ({error.strerror}); name a "
                                 "folder that you may write") from None


def make_folder(path, keep=True):
    """Create the result folder with its raw/; BadInput where that is impossible. With keep
    False nothing that was created stays."""
    stands = os.path.abspath(os.path.join(path, "raw"))
    while not os.path.exists(stands):
        stands = os.path.dirname(stands)
    must_be_writable(path)
    if os.path.exists(os.path.join(path, "plan.json")):
        raise documents.BadInput(f"--out {path}: already holds a result; name a new folder, or go "
                                 f"on with --resume {path}")
    must_be_writable(os.path.join(path, "raw"))
    made = os.path.abspath(os.path.join(path, "raw"))
    while not keep and made != stands:
        os.rmdir(made)
        made = os.path.dirname(made)


def positive(text):
    """A count of at least 1 and at most 1000."""
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 1000:
        raise argparse.ArgumentTypeError(f"'{text}' is not a count; give 1 to 1000")
    return int(text)


def default_folder():
    """results/local/<time>-<host>, host reduced to what suits a file name."""
    host = re.sub(r"[^A-Za-z0-9.-]", "", platform.node()) or "host"
    return os.path.join(TOP, "results", "local", f"{time.strftime('%Y%m%d-%H%M%S')}-{host}")


def interrupt(_signal, _frame):
    raise KeyboardInterrupt
