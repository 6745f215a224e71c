"""test_quoted.py - quoted.py: a figure of a document that is no longer so is found, and written
anew."""

import os
import re
import unittest
from pathlib import Path

import fixture
import quoted
from common import documents
from reporting import figures, printed_blocks, quoted_numbers, quotes

FAKE = os.path.join(fixture.TESTS, "fake_sim.py")
EMPTY = "# x\n\n<!-- simulated: scaling -->\n\n<!-- end -->\nthe rest\n"


TOP = os.path.dirname(fixture.SCRIPTS)
CHOOSING = "how-to/choosing.md"


class Measured(fixture.Case):
    """The numbers of the README and of docs/how-to/choosing.md against the reference results."""

    documents = {}
    loaded = {}

    def setUp(self):
        super().setUp()
        for name in ("README.md", "docs/how-to/choosing.md"):
            self.documents[name] = Path(os.path.join(TOP, name)).read_text("utf-8")

    def of(self, result):
        """Each result is read once for all tests."""
        if result not in self.loaded:
            self.loaded[result] = quotes.load(os.path.join(TOP, result))
        return self.loaded[result]

    def faults(self, document, name):
        """What is wrong with a document, and its text with the numbers of now."""
        faults, written = quotes.check(document, name, quoted_numbers.QUOTES, self.of)
        return faults + (quotes.outside(document) if name in quoted_numbers.WHOLE else []), written

    def test_documents_say_what_was_measured(self):
        done = fixture.call("quoted.py", "--measured")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for name in ("README.md", "docs/how-to/choosing.md"):
            self.assertIn("<!-- measured: ", self.documents[name])

    def test_every_number_that_is_changed_is_found(self):
        """Planted, one at a time: each number of each region is another one."""
        for name, key in (("README.md", quoted_numbers.README),
                          ("docs/how-to/choosing.md", quoted_numbers.CHOOSING)):
            document, planted = self.documents[name], 0
            for region in quotes.REGION.finditer(document):
                for number in re.finditer(rf"(?<![\w.]){quotes.NUMBER}",
                                          quotes.blank(region.group(2))):
                    at = region.start(2) + number.start()
                    wrong = str(9 - int(document[at])) + document[at + 1:]
                    faults, written = self.faults(document[:at] + wrong, key)
                    self.assertNotEqual(faults, [], document[at - 40:at + 40])
                    planted += 1
                    if any(" is now " in fault for fault in faults):
                        self.assertEqual(written, document)
            self.assertGreater(planted, 5 if name == "README.md" else 100)

    def test_costs_are_checked_in_every_region_and_with_their_sign(self):
        for name, least in (("profile.md", 20), ("accounts.md", 4)):
            document = Path(os.path.join(TOP, "docs", "explanation", name)).read_text("utf-8")
            key, planted = f"explanation/{name}", 0
            numbers = [region.start(2) + number.start()
                       for region in quotes.REGION.finditer(document)
                       for number in re.finditer(r"(?<![\w.])[1-9]", quotes.blank(region.group(2)))]
            for at in numbers[::12]:
                wrong = document[:at] + str(9 - int(document[at])) + document[at + 1:]
                self.assertNotEqual(self.faults(wrong, key)[0], [], document[at - 40:at + 40])
                planted += 1
            self.assertGreater(planted, least)
            at = document.index("| +", document.index("| CPU time |")) + 2
            faults, written = self.faults(document[:at] + "-" + document[at + 1:], key)
            self.assertRegex(faults[0], r"^-[\d.]+ is now \+")
            self.assertEqual(written, document)

    def test_a_phrase_that_stands_twice_is_found(self):
        quote = quotes.Quote("x.md", "results/y", "of {} rounds", ["rounds"])
        of = type("Known", (), {"value": staticmethod(lambda expression: 7)})
        region = "<!-- measured: results/y -->\n{}\n<!-- end -->\n"
        for texts, wanted in ((("of 7 rounds", "nothing"), []), (("nothing",) * 2, ["0 times"]),
                              (("of 7 rounds",) * 2, ["2 times", "7 is of no", "7 is of no"])):
            faults, _ = quotes.check("".join(map(region.format, texts)), "x.md", [quote],
                                     lambda result: of)
            self.assertEqual(len(faults), len(wanted), faults)
            for fault, word in zip(faults, wanted):
                self.assertIn(word, fault)

    def test_each_number_that_was_not_measured_is_named(self):
        quote = quotes.Quote("x.md", "results/y", "of {} rounds and {}", ["low a / b", "rounds"])

        def value(expression):
            if expression == "rounds":
                return 7
            raise documents.BadInput(f"no {expression}")
        faults, written = quotes.check(
            "<!-- measured: results/y -->\nof 1 rounds and 2\n<!-- end -->\n", "x.md", [quote],
            lambda result: type("Known", (), {"value": staticmethod(value)}))
        self.assertEqual(faults[0], "no low a / b")
        self.assertIn("of 1 rounds and 7\n", written)

    def test_a_number_that_nobody_computes_is_found(self):
        document = self.documents["docs/how-to/choosing.md"]
        inside = document.replace("For each\n  record", "For 17\n  records")
        self.assertRegex(self.faults(inside, CHOOSING)[0][0], "17 is of no quote")
        outside = document.replace("# Choosing a policy\n", "# Choosing\n\nIt is 17.\n", 1)
        self.assertRegex(self.faults(outside, CHOOSING)[0][0], "line 3: 17 stands in no reg")
        gone = re.sub(r"churn \d+ and \d+ M/s; no index", "fast; no index", document)
        self.assertRegex(self.faults(gone, CHOOSING)[0][0], "stands 0 times")
        self.assertRegex(self.faults("no region", CHOOSING)[0][0], "no region <!-- measured")

    def test_numbers_without_a_result_are_counted(self):
        text = ("It takes 5 ns, 7 rounds of 3 %.\n| a | 12 | `13` |\n    $ took 9 ms\n"
                "<!-- measured: results/x -->\n8 ns\n<!-- end -->\n```\n4 ns\n```\n")
        self.assertEqual(quotes.unquoted(text), 3)
        self.write("a.md", text)
        done = fixture.call("quoted.py", "--unquoted", "--docs", self.folder)
        self.assertRegex(done.stdout, r"(?m)^    3 .*a\.md$")
        self.assertEqual(done.returncode, 0)

    def test_numbers_hold_as_they_are_rounded(self):
        self.assertEqual(quotes.written("1,234.50"), (1234.5, 0.005))
        self.assertEqual(quotes.as_written("1,000.0", 1234.56), "1,234.6")
        self.assertEqual(quotes.as_written("22", 21.7), "22")

    def test_what_commands_print_is_compared(self):
        shown = "<!-- printed -->\n```console\n$ echo 1 |\n    cat\n{}\n$ true\n```\n<!-- end -->\n"
        self.assertEqual(printed_blocks.check(shown.format(1), "/"), ([], shown.format(1)))
        faults, written = printed_blocks.check("x\n" + shown.format(2), "/")
        self.assertEqual(faults, ["line 4: the block is now other than printed there: $ echo 1 |"])
        self.assertEqual(written, "x\n" + shown.format(1))

    def test_the_picture_is_of_the_reference_result(self):
        made, _ = figures.make(self.of(quoted_numbers.EPYC).found, ["overview"])
        with open(os.path.join(TOP, "docs", "overview.svg"), encoding="utf-8") as file:
            self.assertEqual(file.read(), made[0].canvas.document(made[0].title, True),
                             f"scripts/plot.py {quoted_numbers.EPYC} --figure overview --out docs")


class Quoted(fixture.Case):
    def quoted(self, *arguments):
        return fixture.call("quoted.py", "--program", FAKE, "--docs", self.folder, *arguments)

    def test_written_figures_hold_and_others_do_not(self):
        path = self.write("explanation/exact.md", EMPTY)
        other = self.write("explanation/simulation.md", EMPTY.replace("scaling", "startup"))
        done = self.quoted("--write")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        text = Path(path).read_text("utf-8")
        self.assertIn("| 0.95 |", text)
        self.assertTrue(text.endswith("<!-- end -->\nthe rest\n"))
        self.assertRegex(Path(other).read_text("utf-8"), r"\| `exact` .* \| steady \| 0, 0, 0 \|")
        self.assertEqual(self.quoted().returncode, 0)
        self.write("explanation/exact.md", re.sub(r"\| 0\.99 \| (\S+) \|", "| 0.99 | 123 |", text))
        done = self.quoted()
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"exact.md, scaling: 123 is now [\d.]+\n$")

    def test_refusals(self):
        self.assertEqual(self.quoted().returncode, 2)
        self.write("explanation/exact.md", "# x\n")
        done = self.quoted()
        self.assertEqual(done.returncode, 2)
        self.assertIn("no block", done.stderr)

    def test_a_little_is_no_difference(self):
        self.assertEqual(quoted.differences("5,811 and 1.30", "5,400 and 1.25"), [])
        self.assertEqual(quoted.differences("5,811", "5,000"), [(5811, 5000)])
        self.assertTrue(quoted.differences("1 2", "1"))


if __name__ == "__main__":
    unittest.main()
