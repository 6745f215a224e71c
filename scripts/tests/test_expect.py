"""test_expect.py - what the tests of programs share finds what it is there to find."""

import subprocess
import sys
import unittest

import fixture
from common import expect


class ExpectTest(unittest.TestCase):
    """Each sample leaves just its fault."""

    def setUp(self):
        expect.faults.clear()

    def test_json(self):
        """Strict where json.loads is not."""
        self.assertEqual(expect.parse('{"a": [1, {"b": 2}]}'), {"a": [1, {"b": 2}]})
        self.assertEqual(expect.faults, [])
        expect.parse('{"a": {"b": 1, "c": 2, "b": 1}}')
        expect.parse('[NaN, -Infinity]')
        self.assertEqual(expect.faults, ["key b comes twice", "NaN is not JSON",
                                         "-Infinity is not JSON"])

    def test_refusal(self):
        """Exit, number of lines and word."""
        for code, errors, count in ((2, "no such word\n", 0), (1, "no such word\n", 1),
                                    (2, "no such word\nusage\n", 1), (2, "", 2), (0, "x\n", 2)):
            expect.faults.clear()
            expect.expect_refusal(subprocess.CompletedProcess([], code, "", errors), "it", "such")
            self.assertEqual(len(expect.faults), count, (code, errors))

    def test_finish(self):
        """One fault is enough for exit 1."""
        for held, code in ((True, 0), (False, 1)):
            done = subprocess.run([sys.executable, "-c", "from common import expect\n"
                                   f"expect.expect({held}, 'a fault')\nexpect.finish()"],
                                  cwd=fixture.SCRIPTS, capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout.count("failed: a fault")), (code, code))


if __name__ == "__main__":
    unittest.main()
