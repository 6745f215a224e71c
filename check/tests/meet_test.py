"""meet_test.py - counts the classes of programs/meet.c, and names what is found in wrong.c.

Arguments: pfs-check, a C compiler. docs/explanation/searches.md compares both with GenMC's.
"""

import os
import re
import sys
import tempfile

from programs import PROGRAMS, Checked, equal, expect, finish

CLASSES = {
    "once_2": 1, "once_3": 1, "once_4": 1, "twice_2": 1, "twice_3": 1, "twice_4": 1,
    "beside_swaps_2": 2, "serial_3": 3, "pairs": 24, "rounds_2": 1, "lives": 1,
    "ticket_2": 2, "ticket_3": 6, "ticket_4": 24, "ttas_2": 4, "ttas_3": 36,
    "seqlock_2": 15, "seqlock_3": 225, "yield_3": 1, "sleeps_2": 1,
}
FAIL = ["serial_first_fails", "serial_second_fails", "serial_third_fails", "told_always_fails",
        "pairs_fails"]
WRONG = {
    "destroyed_barrier": "pthread_barrier_wait: the barrier barrier .*, after it was destroyed",
    "barrier_begun_twice": "pthread_barrier_init: the barrier barrier .*, but was already init",
    "unset_barrier": "pthread_barrier_wait: the barrier unset .*, but was not initialized",
    "lock_order": "livelock: thread 0 .*; thread 1 ",
    "alone": "livelock: thread 0 ",
    "alone_exchange": "livelock: thread 0 ",
    "unanswered": "livelock: thread 0 ",
    "both_want": "livelock: thread 0 .*; thread 1 ",
    "unlocked_by_other": "thread 1 unlocks a mutex that it does not hold",
    "relaxed_dekker": "assertion .* == mark",
    "freed": "use after free: write at writes_freed ",
}
LINE = re.compile(r"^(\w+) views exhaustive: (\d+) executions "
                  r"\((\d+) repeated a class, 0 incomplete\), "
                  r"\d+ steps, (all there are: no violation|FAILED)$", re.MULTILINE)


def look_for_wrong(test):
    """Each fault, and nothing else."""
    done = test.run(test.build(os.path.join(PROGRAMS, "wrong.c")))
    found = dict(re.findall(r"^(\w+) views exhaustive: .*\nfound: (.*)$", done.stdout + done.stderr,
                            re.MULTILINE))
    equal(sorted(found), sorted(WRONG), "scenarios in which a fault is found")
    for name, wanted in WRONG.items():
        expect(re.match(wanted, found.get(name, "")), f"{name}: {found.get(name)}")


def look_for_saved(test, program):
    """A schedule holds which threads meet."""
    saved = test.path("saved")
    test.run(program, "--scenario", "told_always_fails", "--save", saved)
    test.expect("a saved meeting", test.run(program, "--schedule", saved), 1,
                r"assertion pthread_barrier_wait\(&barrier\) == ")


def main():
    """All scenarios of a program at once, in one run."""
    with tempfile.TemporaryDirectory() as folder:
        test = Checked(sys.argv[1], sys.argv[2], folder)
        look_for_wrong(test)
        program = test.build(os.path.join(PROGRAMS, "meet.c"), name="meet")
        look_for_saved(test, program)
        done = test.run(program)
    classes, failed = {}, []
    for name, ran, repeated, end in LINE.findall(done.stdout + done.stderr):
        if end == "FAILED":
            failed.append(name)
        else:
            classes[name] = int(ran) - int(repeated)
    equal(classes, CLASSES, "classes")
    equal(failed, FAIL, "scenarios that fail")
    expect(done.returncode == 1, f"exit {done.returncode}")
    finish()


if __name__ == "__main__":
    main()
