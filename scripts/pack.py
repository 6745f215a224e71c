#!/usr/bin/python3
"""pack.py - makes a result folder small enough to keep: its raw values become one compressed file,
which all commands read as they read the folder; figures go, for plot.py draws them again; the lists
of launches and of simulated runs are compressed."""

import os
import shutil
import sys

from common import commandline, documents

LISTS = ("plan.json", "simulated.json", "allocators.json", "accounts.json", "mariadb.json",
         "profile.json")


def main(argv=None):
    """The command."""
    parser = commandline.Parser(prog="scripts/pack.py", description="Pack the raw values of result "
                                "folders into one compressed file each.")
    parser.add_argument("folder", nargs="+")
    for folder in parser.parse_args(argv).folder:
        lists = [path for path in (os.path.join(folder, name) for name in LISTS)
                 if os.path.exists(path)]
        if not lists:
            raise documents.BadInput(f"{folder}: has no {' and no '.join(LISTS)}; give a folder of "
                                     "scripts/run")
        if os.path.isdir(os.path.join(folder, "raw")):
            documents.pack(os.path.join(folder, "raw"))
        shutil.rmtree(os.path.join(folder, "figures"), ignore_errors=True)
        for path in lists:
            documents.compress(path)
    return 0


if __name__ == "__main__":
    sys.exit(commandline.run(main, "pack.py"))
