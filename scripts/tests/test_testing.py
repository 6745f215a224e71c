"""test_testing.py - testing.py: what ctest and unittest say is counted right, and the last line
sums up."""

import contextlib
import io
import os
import shutil
import subprocess
import threading
import unittest
from unittest import mock

import fixture
import testing

PROJECT = """cmake_minimum_required(VERSION 3.25)
project(sample NONE)
enable_testing()
add_test(NAME good COMMAND true)
add_test(NAME bad COMMAND sh -c "echo check failed: seven; exit 1")
add_test(NAME skip COMMAND sh -c "echo a guest was skipped; exit 77")
set_tests_properties(skip PROPERTIES SKIP_RETURN_CODE 77)
add_test(NAME missing COMMAND /no/such/program)
add_test(NAME slow COMMAND sleep 60)
set_tests_properties(slow PROPERTIES TIMEOUT 1)
add_test(NAME off COMMAND true)
set_tests_properties(off PROPERTIES DISABLED TRUE)
"""


class Counting(fixture.Case):
    @unittest.skipUnless(shutil.which("ctest"), "ctest is not installed")
    def test_ctest(self):
        self.write("CMakeLists.txt", PROJECT)
        build, junit = os.path.join(self.folder, "b"), os.path.join(self.folder, "j.xml")
        subprocess.run(["cmake", "-G", "Ninja", "-S", self.folder, "-B", build], check=True,
                       capture_output=True)
        subprocess.run(["ctest", "--test-dir", build, "--output-junit", junit],
                       capture_output=True, check=False)
        passed, failed, skipped, outputs = testing.count_junit(junit)
        self.assertEqual((passed, failed, skipped), (1, 3, 2))
        self.assertEqual(sorted(outputs), ["bad", "missing", "slow"])
        self.assertIn("check failed: seven", outputs["bad"])
        self.assertIn("  skipped skip: a guest was skipped", testing.skipped_tests(junit))

    def test_no_result_is_no_success(self):
        self.assertIsNone(testing.count_junit("/no/such.xml"))
        self.assertIsNone(testing.count_junit(self.write("half.xml", "<testsuite><test")))

    def test_failing_step_is_counted_and_shown(self):
        tally = testing.Tally()
        testing.log_of, kept = (lambda name: os.path.join(self.folder, name)), testing.log_of
        try:
            self.assertTrue(testing.step(tally, "good", ["true"]))
            self.assertFalse(testing.step(tally, "bad", ["sh", "-c", "exit 3"]))
            self.assertFalse(testing.step(tally, "missing", ["/no/such/program"]))
            self.assertFalse(testing.step(tally, "slow", ["sleep", "60"], seconds=1))
        finally:
            testing.log_of = kept
        self.assertEqual((tally.passed, tally.failed, tally.skipped), (1, 3, 0))

    def test_unittest(self):
        for text, status, counted in (
                ("Ran 3 tests in 1s\n\nOK\n", 0, (3, 0, 0)),
                ("Ran 4 tests in 1s\n\nOK (skipped=1)\n", 0, (3, 0, 1)),
                ("Ran 9 tests in 1s\n\nFAILED (failures=2, errors=1, skipped=1)\n", 1, (5, 3, 1)),
                ("Ran 2 tests in 1s\n\nOK\n", 1, (1, 1, 0)),
                ("Ran 0 tests in 0s\n\nOK\n", 0, None), ("ImportError\n", 1, None)):
            with self.subTest(text):
                self.assertEqual(testing.count_unittest(text, status), counted)

    def test_every_file_of_tests_is_run(self):
        self.assertIn("test_testing", testing.script_tests())
        self.assertEqual(set(testing.script_tests()), {
            name[:-3] for name in os.listdir(fixture.TESTS) if name.startswith("test_")
            and name.endswith(".py")})

    def test_two_steps_at_a_time(self):
        tally, both = testing.Tally(), threading.Barrier(2)
        testing.all_of(tally, [
            ("one", lambda tally: both.wait(60)), ("other", lambda tally: both.wait(60)),
            ("broken", lambda tally: [][0]),
            ("late", lambda tally, name: tally.add(name, passed=1), "late")])
        self.assertEqual((tally.passed, tally.failed, tally.skipped), (1, 1, 0))

    def test_closing_line(self):
        """The checks are two of the stand-in's, and no result is checked: scripts/test runs them
        all in a step of its own."""
        self.write("good.sh", "#!/bin/sh\n")
        self.write("bad.sh", "#!/bin/sh\necho no; exit 1\n")
        for name in ("good.sh", "bad.sh"):
            os.chmod(os.path.join(self.folder, name), 0o755)
        os.mkdir(os.path.join(self.folder, "results"))
        for checks, last, status in ((("good.sh",), "1 passed, 0 failed, 0 skipped", 0),
                                     (("good.sh", "bad.sh"), "1 passed, 1 failed, 0 skipped", 1)):
            said = io.StringIO()
            with mock.patch.multiple(testing, CHECKS=checks, SCRIPTS=self.folder,
                                     TOP=self.folder), contextlib.redirect_stdout(said):
                self.assertEqual(testing.main(["--only", "checks"]), status)
            self.assertEqual(said.getvalue().splitlines()[-1], last)

    def rounds(self, results, minutes=60):
        """What --delays does where ctest counts these failures: (seeds, said)."""
        seeds, results = [], iter(results)

        def ctest(_, name, tests, seconds=0):
            self.assertEqual(tests, ["--preset", "delays"])
            self.assertEqual(name, "delays seed " + os.environ["PFS_DELAYS_SEED"])
            seeds.append(os.environ["PFS_DELAYS_SEED"])
            return next(results)

        said = io.StringIO()
        with mock.patch.multiple(testing, ctest=ctest, configure_and_build=lambda *_: True), \
                contextlib.redirect_stdout(said):
            testing.delays_for(testing.Tally(), minutes)
        self.assertNotIn("PFS_DELAYS_SEED", os.environ)
        return seeds, said.getvalue()

    def test_delays_stop_at_a_failure_and_say_the_seed(self):
        for last in (2, None): # None: no test ran
            seeds, said = self.rounds([0, 0, last])
            self.assertEqual(len(set(seeds)), 3)
            self.assertIn(f"PFS_DELAYS_SEED={seeds[2]} ctest --preset delays", said)

    def test_delays_end_with_the_time(self):
        seeds, said = self.rounds([0], minutes=0)
        self.assertEqual((len(seeds), said), (1, ""))

    def test_each_preset_is_built_once(self):
        made = []

        def configure_and_build(_tally, name, _configure, build):
            made.append((name, build[-2:] == ["-j", "1"]))
            return name != "tsan"
        with mock.patch.object(testing, "configure_and_build", configure_and_build):
            builds = testing.Builds()
            self.assertTrue(builds.build(None, "release"))
            builds.ahead(None, ["asan", "tsan"])
            self.assertEqual([builds.build(None, name) for name in testing.PRESETS],
                             [True, True, True, False])
        self.assertEqual(made, [("release", False), ("asan", True), ("tsan", True),
                                ("counted", False)])

    def test_delays_need_a_build(self):
        with mock.patch.object(testing, "configure_and_build", lambda *_: False):
            testing.delays_for(testing.Tally(), 60)

    def test_wrong_input(self):
        self.assert_refused(fixture.call("testing.py", "--delays", "soon"), "'soon'")
        self.assert_refused(fixture.call("testing.py", "--delays", "1", "--only", "checks"),
                            "--only")
        self.assert_refused(fixture.call("testing.py", "--only", "nothing"), "'nothing'")


if __name__ == "__main__":
    unittest.main()
