"""fixture.py - what the tests of the scripts share: a stand-in benchmark and temporary folders."""

import atexit
import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

TESTS = os.path.dirname(os.path.abspath(__file__))
SCRIPTS = os.path.dirname(TESTS)
sys.path.insert(0, SCRIPTS)


def call(script, *arguments, environment=None):
    """Run a script as a user would."""
    return subprocess.run([os.path.join(SCRIPTS, script), *arguments], capture_output=True,
                          text=True, timeout=1800, check=False, stdin=subprocess.DEVNULL,
                          env={**os.environ, **(environment or {})})


class Case(unittest.TestCase):
    """A test with a folder of its own and one set of invented results for all tests."""

    shared = None

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="pfs-scripts-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def write(self, name, text):
        """A file in the test's folder; its path."""
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def build_dir(self):
        """A build folder whose programs are the stand-in."""
        for build in ("release", "counted"):
            place = os.path.join(self.folder, "build", build, "bench")
            os.makedirs(place, exist_ok=True)
            shutil.copy(os.path.join(TESTS, "fake_bench.py"), os.path.join(place, "pfs-bench"))
        place = os.path.join(self.folder, "build", "release", "sim")
        os.makedirs(place, exist_ok=True)
        shutil.copy(os.path.join(TESTS, "fake_sim.py"), os.path.join(place, "pfs-sim"))
        return os.path.join(self.folder, "build")

    def invented(self):
        """A complete result folder with invented numbers, made once, and once for all processes
        where PFS_TESTS_SHARED names a folder that they share; nobody changes it."""
        folder = os.environ.get("PFS_TESTS_SHARED") or Case.shared
        if folder is None:
            folder = Case.shared = tempfile.mkdtemp(prefix="pfs-scripts-shared-")
            atexit.register(Case.forget)
        result, made = os.path.join(folder, "result"), os.path.join(folder, "made")
        with open(os.path.join(folder, "lock"), "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not os.path.exists(made):
                shutil.rmtree(result, ignore_errors=True)
                done = subprocess.run(
                    [sys.executable, os.path.join(TESTS, "invented_result.py"), result,
                     self.build_dir()], capture_output=True, text=True, timeout=1800, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                import invented_accounts
                import invented_allocators
                import invented_profile
                import invented_server
                for name, made_up in (("allocators", invented_allocators),
                                      ("accounts", invented_accounts),
                                      ("profile", invented_profile),
                                      ("mariadb", invented_server)):
                    with open(os.path.join(result, f"{name}.json"), "w",
                              encoding="utf-8") as file:
                        json.dump(made_up.document(), file)
                done = call("report.py", result)
                self.assertEqual(done.returncode, 0, done.stderr)
                os.mkdir(made)
        return result

    @classmethod
    def forget(cls):
        """Remove the shared folder."""
        shutil.rmtree(Case.shared, ignore_errors=True)
        Case.shared = None

    def assert_refused(self, done, *words):
        """Exit 2, nothing on stdout, one line that holds all words."""
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
