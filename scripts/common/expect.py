"""expect.py - what the tests share that run a program and look at what it wrote.

A check that does not hold is kept as a fault and the test goes on; finish() prints the first ones.
"""

import json
import os
import subprocess
import sys

FAULTS_SHOWN = 20

faults = []


def expect(held, what):
    """Keep what does not hold."""
    if not held:
        faults.append(what)


def expect_refusal(done, shown, word):
    """The process that ended as done says must have refused: exit 2, and one line with the word."""
    expect(done.returncode == 2, f"{shown}: exit {done.returncode}, 2 expected")
    expect(len(done.stderr.splitlines()) == 1, f"{shown}: not one line: {done.stderr!r}")
    expect(word in done.stderr, f"{shown}: '{word}' is not in {done.stderr!r}")


def run(*command, **more):
    """A program at its end, with its output; more: of subprocess.run."""
    return subprocess.run(command, check=False, **{
        "capture_output": True, "text": True, "timeout": 1200, **more})


def equal(have, want, what):
    """Keep what is not as it is wanted."""
    expect(have == want, f"{what}: {have}, not {want}")


def skip(what):
    """End the test: what it needs is not here."""
    print(f"{os.path.basename(sys.argv[0])}: skipped: {what}")
    sys.exit(77)


def no_twins(pairs):
    """An object of the document; json.loads would keep the last of two equal keys."""
    keys = [key for key, _ in pairs]
    for key in set(keys):
        expect(keys.count(key) == 1, f"key {key} comes twice")
    return dict(pairs)


def no_constant(text):
    """NaN and the infinities, which json.loads would take."""
    expect(False, f"{text} is not JSON")


def parse(text):
    """The JSON document in a text, to the letter of the standard."""
    return json.loads(text, object_pairs_hook=no_twins, parse_constant=no_constant)


def part_of(parts):
    """The part that stands in the command line behind the program that is tested. Bad usage is
    answered by what the test says of itself."""
    if len(sys.argv) < 3 or sys.argv[2] not in parts:
        sys.exit(sys.modules["__main__"].__doc__)
    return parts[sys.argv[2]]


def show():
    """Print the first faults."""
    for fault in faults[:FAULTS_SHOWN]:
        print(f"{os.path.basename(sys.argv[0])}: failed: {fault}")


def finish():
    """Print the first faults and end the test: exit 0 if all held, 1 if not."""
    show()
    sys.exit(1 if faults else 0)
