#!/usr/bin/python3
"""keep.py - keeps what a command prints as a result, so that documents can quote its numbers.

usage: scripts/keep.py FILE.json [--times N] -- COMMAND [ARGUMENT...]
Runs the command N times (default 1) from the top of the project and writes FILE.json: the command,
what each run printed, the machine, the revision. A document quotes it between
`<!-- measured: FILE.json -->` and `<!-- end -->`; reporting/printed_numbers.py says where in the
text each number is. Exit 0: kept. 1: a run failed, and nothing was written. 2: bad usage.
"""

import subprocess
import sys

from common import commandline, documents, machine
from measuring import launching

FACTS = ("time", "cpu_model", "cpus_allowed", "kernel", "revision")


def run(command):
    """What the command prints."""
    try:
        done = subprocess.run(command, cwd=launching.TOP, stdout=subprocess.PIPE, text=True,
                              stdin=subprocess.DEVNULL, check=False)
    except OSError as error:
        raise documents.BadInput(f"{command[0]}: cannot be run ({error.strerror}); paths are from "
                                 "the top of the project") from None
    return done.stdout if done.returncode == 0 else None


def main(argv=None):
    """The command."""
    parser = commandline.Parser(prog="scripts/keep.py", description="Keep what a command prints "
                                "as a result that documents can quote.")
    parser.add_argument("file", metavar="FILE.json", help="where to keep it")
    parser.add_argument("--times", type=launching.positive, default=1, metavar="N",
                        help="how often to run it (default: 1)")
    parser.add_argument("command", nargs="+", metavar="COMMAND", help="after --")
    arguments = parser.parse_args(argv)
    if not arguments.file.endswith(".json"):
        parser.error(f"{arguments.file}: the name of a result ends in .json")
    facts = machine.describe(launching.TOP, launching.TOP)
    runs = []
    for _ in range(arguments.times):
        said = run(arguments.command)
        if said is None:
            print(f"keep.py: {' '.join(arguments.command)} failed; nothing was kept",
                  file=sys.stderr)
            return 1
        runs.append(said)
    documents.write_json(arguments.file, {"command": arguments.command, "runs": runs,
                                          "machine": {fact: facts[fact] for fact in FACTS}})
    return 0


if __name__ == "__main__":
    commandline.run(main, "keep.py")
