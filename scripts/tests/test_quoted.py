"""quoted.py: a figure of a document that is no longer so is found, and written anew."""

import os
import re
import unittest

import fixture
import quoted

FAKE = os.path.join(fixture.TESTS, "fake_sim.py")
EMPTY = "# x\n\n<!-- simulated: scaling -->\n\n<!-- end -->\nthe rest\n"


class Quoted(fixture.Case):
    def quoted(self, *arguments):
        return fixture.call("quoted.py", "--program", FAKE, "--docs", self.folder, *arguments)

    def test_written_figures_hold_and_others_do_not(self):
        path = self.write("exact.md", EMPTY)
        done = self.quoted("--write")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.assertIn("| 0.95 |", text)
        self.assertTrue(text.endswith("<!-- end -->\nthe rest\n"))
        self.assertEqual(self.quoted().returncode, 0)
        self.write("exact.md", re.sub(r"\| 0\.99 \| (\S+) \|", "| 0.99 | 123 |", text))
        done = self.quoted()
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"exact.md, scaling: 123 is now [\d.]+\n$")

    def test_refusals(self):
        self.assertEqual(self.quoted().returncode, 2)
        self.write("exact.md", "# x\n")
        done = self.quoted()
        self.assertEqual(done.returncode, 2)
        self.assertIn("no block", done.stderr)

    def test_a_little_is_no_difference(self):
        self.assertEqual(quoted.differences("5,811 and 1.30", "5,400 and 1.25"), [])
        self.assertEqual(quoted.differences("5,811", "5,000"), [(5811, 5000)])
        self.assertTrue(quoted.differences("1 2", "1"))


if __name__ == "__main__":
    unittest.main()
