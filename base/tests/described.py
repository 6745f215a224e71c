#!/usr/bin/python3
"""described.py - the programs that are installed: man page and completion are what --help says, the
completion offers it, and every command has --version. (pfs-mem's: memory.mem.described.)

usage: described.py BUILD
Exit 0: all as expected. 1: something was not.
"""

import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(TOP, "base"))
sys.path.insert(0, os.path.join(TOP, "scripts"))

import describe  # pylint: disable=wrong-import-position
from common.expect import expect, faults  # pylint: disable=wrong-import-position

# Words before the cursor, and what is offered there, among others.
OFFERS = {
    "pfs-bench": ((("--policies", "mag"), "magazine"), (("--workloads", "=", "chu"), "churn"),
                  (("--full-flags", "="), "off"), (("--benchmark_fi",), "--benchmark_filter")),
    "pfs-sim": ((("expl",), "explore"), (("explore", "--scenario", "four_p"), "four_pages"),
                (("progress", "--memory", "t"), "tso"), (("run", "--memory", "lo"), "local"),
                (("soak", "--policies", "ex"), "exact")),
    "pfs-stress": ((("--policy", "loc"), "local_scan"), (("--faults", "=", "wr"), "wrap")),
    "pfs-trace": ((("c",), "cut"), (("cut", "--si"), "--sizes")),
    "pfs-check": ((("--no-r",), "--no-races"), (("--memory", "t"), "tso"))}


def say(*words):
    """What a command prints that must work."""
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    expect(done.returncode == 0 and done.stderr == "", f"{words}: {done}")
    return done.stdout


def complete(name, bash, *words):
    """What is offered for the last word."""
    quoted = " ".join("'" + word + "'" for word in words)
    return set(say("bash", "-c", f"source {bash}; COMP_WORDS=({quoted}); COMP_CWORD="
                   f"{len(words) - 1}; _{name.replace('-', '_')}; "
                   "printf '%s\\n' \"${COMPREPLY[@]}\"").split("\n")) - {""}


def check(build, name):
    """One program."""
    folder = describe.PROGRAMS[name]
    program = os.path.join(build, folder, name)
    bash = os.path.join(TOP, folder, name + ".bash")
    page = os.path.join(TOP, folder, name + ".1")
    top = describe.Help(program)
    version = say(program, "--version")
    expect(version.startswith(name + " ") and version.count("\n") == 1, f"version: {version}")
    for command in [[c] for c in top.commands] or [[]]:
        listed = {"--" + option[1] for option in describe.Help(program, *command).options}
        expect({"--help", "--version"} <= listed, f"{name} {command}: {listed}")
        offered = complete(name, bash, program, *command, "--")
        expect({o for o in offered if not o.startswith("--benchmark_")} == listed,
               f"{name} {command}: offered {offered}, --help has {listed}")
        if command != ["calibrate"]:  # it is a program of its own
            expect(say(program, *command, "--version") == version, f"{command} --version")
    for words, wanted in OFFERS[name]:
        offered = complete(name, bash, program, *words)
        expect(wanted in offered, f"{name} {words}: offered {offered}, not {wanted}")
    if shutil.which("mandoc"):
        expect(say("mandoc", "-T", "lint", "-W", "warning", page) == "", f"{page}: see mandoc")


def main():
    """All of them."""
    build = sys.argv[1]
    sys.argv[2:] = []
    expect(describe.main() == 0, "the files beside the sources are not what --help says")
    for name in describe.PROGRAMS:
        check(build, name)
    for fault in faults:
        print(f"described.py: {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
