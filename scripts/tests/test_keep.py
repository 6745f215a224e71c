"""test_keep.py - keep.py keeps what a command prints, and documents quote its numbers."""

import json
import os
import unittest

import fixture
from common import documents
from reporting import printed_quotes, quotes

SAID = "after 3 rounds: 1,250 kept\nbefore: -7 kept\n"


class Keep(fixture.Case):
    def keep(self, *arguments):
        return fixture.call("keep.py", *arguments)

    def test_keeps_every_run(self):
        path = os.path.join(self.folder, "x.json")
        done = self.keep(path, "--times", "2", "--", "/bin/echo", "took", "17", "ns")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(path, encoding="utf-8") as file:
            kept = json.load(file)
        self.assertEqual(kept["command"], ["/bin/echo", "took", "17", "ns"])
        self.assertEqual(kept["runs"], ["took 17 ns\n"] * 2)
        self.assertLessEqual({"time", "cpu_model", "kernel", "revision"}, set(kept["machine"]))
        self.assertEqual(quotes.load(path).value(r"most took (\d+)"), 17)

    def test_what_failed_is_not_kept(self):
        path = os.path.join(self.folder, "x.json")
        self.assertEqual(self.keep(path, "--", "/bin/false").returncode, 1)
        self.assertFalse(os.path.exists(path))
        self.assert_refused(self.keep(path, "--", "/no/such"), "/no/such")
        self.assert_refused(self.keep("x.txt", "--", "/bin/true"), ".json")


class Quotes(fixture.Case):
    def printed(self, *runs):
        return printed_quotes.Printed(self.write("x.json", json.dumps({"runs": runs})))

    def test_numbers_of_all_runs(self):
        found = self.printed(SAID, SAID.replace("1,250", "1,000"), SAID.replace("1,250", "1,300"))
        self.assertEqual([found.value(f"{form} ^after.*: (\\S+) kept")
                          for form in ("median", "least", "most")], [1250, 1000, 1300])
        self.assertEqual(found.value(r"least before: (\S+)"), -7)
        self.assertEqual(found.value("runs"), 3)

    def test_a_number_that_is_not_there_once_is_refused(self):
        found = self.printed(SAID, SAID)
        for expression, word in ((r"median (\S+) kept", "2 and 2 times"),
                                 (r"median (\S+) lost", "0 and 0 times"),
                                 ("mean x", "'mean'")):
            with self.assertRaisesRegex(documents.BadInput, word):
                found.value(expression)
        with self.assertRaisesRegex(documents.BadInput, "keep it again"):
            printed_quotes.Printed(self.write("y.json", "{}"))

    def test_a_region_may_name_it(self):
        path = self.write("x.json", json.dumps({"runs": [SAID]}))
        quote = quotes.Quote("x.md", path, "of {} kept", [r"median before: (\S+)"])
        for number, faults in (("-7", 0), ("-8", 1)):
            text = f"<!-- measured: {path} -->\nof {number} kept\n<!-- end -->\n"
            self.assertEqual(len(quotes.check(text, "x.md", [quote], quotes.load)[0]), faults)


if __name__ == "__main__":
    unittest.main()
