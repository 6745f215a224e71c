"""meet_test.py - how many classes each scenario of check/programs/meet.c has.
Arguments: pfs-check, a C compiler. docs/explanation/searches.md has the counts beside GenMC's.
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
    "seqlock_2": 15, "seqlock_3": 225, "yield_3": 1,
}
FAIL = ["serial_first_fails", "serial_second_fails", "serial_third_fails", "told_always_fails",
        "pairs_fails"]
LINE = re.compile(r"^(\w+) views exhaustive: (\d+) executions "
                  r"\((\d+) repeated a class, 0 incomplete\), "
                  r"\d+ steps, (all there are: no violation|FAILED)$", re.MULTILINE)


def main():
    """All scenarios at once, in one run."""
    with tempfile.TemporaryDirectory() as folder:
        test = Checked(sys.argv[1], sys.argv[2], folder)
        done = test.run(test.build(os.path.join(PROGRAMS, "meet.c")))
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
