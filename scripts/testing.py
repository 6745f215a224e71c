#!/usr/bin/python3
"""testing.py - builds everything and runs every test; scripts/test calls it after setup.

Each step adds to the counts of passed, failed and skipped; the last line sums them up. Two steps
run at a time: the first builds and tests all presets; the others need a core each: the tests of the
scripts, a file at a time, clang's build, the quick run, and last the builds of later presets.
Exit 0: none failed. 1: one did. 2: bad usage.
"""

import argparse
import concurrent.futures
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree

from common import browser, commandline, documents

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCRIPTS = os.path.join(TOP, "scripts")
TESTS = os.path.join(SCRIPTS, "tests")
PRESETS = ("release", "counted", "asan", "tsan")
RUN_PRESETS = ("release", "counted") # those that scripts/run builds
CHECKS = ("checks/layers.py", "checks/ordering.py", "checks/sizes.py", "checks/files.py",
          "checks/headers.sh")


TELLING = re.compile(r"WARNING: ThreadSanitizer|ERROR: \w+Sanitizer|runtime error|check failed|"
                     r"^FAIL|\bfailed:|not so|SUMMARY|cannot|error:")


class Tally:
    """What passed, failed and was skipped so far."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.begin = time.monotonic()
        self.lock = threading.Lock()

    def add(self, what, passed=0, failed=0, skipped=0, why="", lines=()):
        """Count a step and say so in one line; more lines below it."""
        passed, failed, skipped = int(passed), int(failed), int(skipped)
        spent = int(time.monotonic() - self.begin)
        parts = [f"{n} {word}" for n, word in ((passed, "passed"), (failed, "failed"),
                                               (skipped, "skipped")) if n]
        end = f": {why}" if why else ""
        with self.lock:
            self.passed += passed
            self.failed += failed
            self.skipped += skipped
            print(f"[{spent // 60:2}:{spent % 60:02}] {what}: {', '.join(parts) or 'nothing'}{end}",
                  *lines, sep="\n", flush=True)


def all_of(tally, steps):
    """Run steps, (name, function, arguments...), two at a time. One that breaks off has failed."""
    def one(name, function, *arguments):
        try:
            function(tally, *arguments)
        except Exception as error: # pylint: disable=broad-except
            tally.add(name, failed=1, why=f"{type(error).__name__}: {error}")

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        try:
            concurrent.futures.wait([pool.submit(one, *step) for step in steps])
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def run(command, log, seconds):
    """Run a command with its output in a log; its exit status, or 124 when it takes too long."""
    os.makedirs(os.path.dirname(log), exist_ok=True)
    with open(log, "w", encoding="utf-8") as file:
        try:
            return subprocess.run(command, cwd=TOP, stdin=subprocess.DEVNULL, stdout=file,
                                  stderr=subprocess.STDOUT, timeout=seconds,
                                  check=False).returncode
        except subprocess.TimeoutExpired:
            file.write(f"\nno end after {seconds} s\n")
            return 124
        except OSError as error:
            file.write(f"\n{command[0]}: {error.strerror}\n")
            return 127


def telling(log, pattern=None, lines=15):
    """The lines of a log that matter: those that match, or the last ones."""
    with open(log, encoding="utf-8", errors="replace") as file:
        text = file.read().splitlines()
    chosen = [line for line in text if pattern and re.search(pattern, line)][:lines]
    return ["    " + line[:200] for line in chosen or text[-lines:]]


def log_of(name):
    """Where the output of a step stands."""
    return os.path.join(TOP, "build", "logs", name + ".log")


def step(tally, name, command, seconds=600):
    """One command that is one test."""
    log = log_of(name)
    failed = run(command, log, seconds) != 0
    tally.add(name, passed=not failed, failed=failed, lines=telling(log) if failed else ())
    return not failed


def rule_checks(tally):
    """The checks of the sources; each is one test."""
    for script in CHECKS:
        step(tally, script.split(".")[0], [os.path.join(SCRIPTS, script)])
    references = [os.path.join(TOP, "results", name)
                  for name in sorted(os.listdir(os.path.join(TOP, "results")))
                  if any(documents.is_there(os.path.join(TOP, "results", name, file))
                         for file in ("plan.json", "simulated.json", "mariadb.json",
                                      "profile.json", "accounts.json"))]
    for folder in references:
        step(tally, "checks-results-" + os.path.basename(folder),
             [os.path.join(SCRIPTS, "checks/results.py"), folder])


def count_unittest(text, status):
    """(passed, failed, skipped) of what unittest said; None if no test ran."""
    ran = re.search(r"^Ran (\d+) tests?", text, re.MULTILINE)
    end = re.search(r"^(?:OK|FAILED)(?: \((.*)\))?$", text, re.MULTILINE)
    if not ran or not end or not int(ran.group(1)):
        return None
    counts = dict(re.findall(r"(\w+)=(\d+)", end.group(1) or ""))
    failed = int(counts.get("failures", 0)) + int(counts.get("errors", 0))
    skipped = int(counts.get("skipped", 0))
    failed = failed or (1 if status else 0)
    return max(0, int(ran.group(1)) - failed - skipped), failed, skipped


def script_test(tally, name):
    """A file of the scripts' tests, by unittest."""
    log = log_of("scripts-" + name)
    status = run([sys.executable, "-m", "unittest", "discover", "-s", TESTS, "-p", name + ".py",
                  "-v"], log, 3600)
    with open(log, encoding="utf-8", errors="replace") as file:
        counted = count_unittest(file.read(), status)
    if counted is None:
        tally.add("scripts " + name, failed=1, why="the tests did not run", lines=telling(log))
        return
    tally.add("scripts " + name, *counted,
              lines=telling(log, r"^(?:FAIL|ERROR|\w*Error)\b") if counted[1] else ())


def script_tests():
    """The files of the scripts' tests, the largest first."""
    names = [name for name in os.listdir(TESTS) if re.fullmatch(r"test_\w+\.py", name)]
    names.sort(key=lambda name: -os.path.getsize(os.path.join(TESTS, name)))
    return [name[:-len(".py")] for name in names]


def count_junit(path):
    """(passed, failed, skipped, {failed test: its output}) of ctest's JUnit file; None if
    unusable."""
    try:
        root = xml.etree.ElementTree.parse(path).getroot()
    except (OSError, xml.etree.ElementTree.ParseError):
        return None
    passed, skipped, failed = 0, 0, {}
    for case in root.iter("testcase"):
        status, mark = case.get("status"), case.find("skipped")
        # A test whose program is missing did not run either, and that is a failure.
        missing = mark is not None and "Unable to find executable" in mark.get("message", "")
        if missing or status == "fail" or case.find("failure") is not None:
            failed[case.get("name")] = case.findtext("system-out") or "no output"
        elif status in ("notrun", "disabled") or mark is not None:
            skipped += 1
        else:
            passed += 1
    return passed, len(failed), skipped, failed


def skipped_tests(path):
    """["name: why"] of the tests of ctest's JUnit file that were skipped."""
    said = []
    for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
        if case.find("skipped") is not None and case.get("status") != "fail":
            lines = (case.findtext("system-out") or "").strip().splitlines()
            why = next((line for line in lines if "skip" in line.lower()), "")
            said.append(f"  skipped {case.get('name')}: {why or 'it does not say why'}"[:200])
    return said


def configure_and_build(tally, name, configure, build):
    """Configure and build; a failure of either is one failed test."""
    log = log_of("build-" + name)
    for command in (configure, build):
        if run(command, log, 3600) != 0:
            tally.add("build " + name, failed=1, lines=telling(log, r"error:|Error|FAILED"))
            return False
    tally.add("build " + name, passed=1)
    return True


def ctest(tally, name, tests, seconds=7200):
    """Run tests in parallel, more than there are cores, because many sleep or wait: those of tsan
    use half a core each. tests: ctest's options that choose them. The number that failed; None if
    no test ran."""
    junit = os.path.join(TOP, "build", "logs", f"ctest-{name}.xml")
    log = log_of("ctest-" + name)
    if os.path.exists(junit):
        os.remove(junit)
    run(["ctest", *tests, "--output-on-failure", "--output-junit", junit,
         "--timeout", "1200", "-j", str(2 * len(os.sched_getaffinity(0)) + 1)], log, seconds)
    counted = count_junit(junit)
    if counted is None or sum(counted[:3]) == 0:
        tally.add("ctest " + name, failed=1, why="no test ran", lines=telling(log))
        return None
    shown = skipped_tests(junit)
    for test, output in counted[3].items():
        lines = [line for line in output.splitlines() if line.strip()]
        chosen = [line for line in lines if TELLING.search(line)][:6] or lines[-6:]
        shown += [f"  {test}:"] + ["    " + line[:200] for line in chosen]
    tally.add("ctest " + name, *counted[:3], lines=shown)
    return counted[1]


class Builds:
    """Builds each preset once: the first step that asks builds it, others wait for that."""

    def __init__(self):
        self.locks = {name: threading.Lock() for name in (*PRESETS, "delays")}
        self.built = {}

    def build(self, tally, name, *options):
        """Is this preset built? options: of cmake --build."""
        with self.locks[name]:
            if name not in self.built:
                self.built[name] = configure_and_build(
                    tally, name, ["cmake", "--preset", name],
                    ["cmake", "--build", "--preset", name, *options])
            return self.built[name]

    def ahead(self, tally, names):
        """Build presets while the tests of others run: one job, since tests wait and sleep."""
        for name in names:
            self.build(tally, name, "-j", "1")


def presets(tally, builds, ready):
    """Every preset: build, test; and the object code of release. ready: what the quick run
    needs is built, as far as it can be."""
    for name in RUN_PRESETS:
        builds.build(tally, name)
    ready.set()
    for name in PRESETS:
        built = builds.build(tally, name)
        if built:
            ctest(tally, name, ["--preset", name])
        if built and name == "release":
            for check in ("codegen", "circles"):
                step(tally, f"checks-{check}-gcc", [os.path.join(SCRIPTS, f"checks/{check}.py"),
                                                    os.path.join(TOP, "build", name)])


def delays_round(tally, seed):
    """The tests of the preset delays by one seed; did all of them pass? If not, the last line
    says how to repeat them."""
    os.environ["PFS_DELAYS_SEED"] = str(seed)
    try:
        failed = ctest(tally, f"delays seed {seed}", ["--preset", "delays"])
    finally:
        del os.environ["PFS_DELAYS_SEED"]
    if failed != 0:
        print(f"    again: PFS_DELAYS_SEED={seed} ctest --preset delays --rerun-failed",
              flush=True)
    return failed == 0


def delays(tally, builds):
    """One round by a new seed."""
    if builds.build(tally, "delays"):
        delays_round(tally, random.randrange(10**9))


def delays_for(tally, minutes):
    """Rounds by new seeds, until the time is over or a test fails."""
    end = time.monotonic() + 60 * minutes
    going_on = Builds().build(tally, "delays")
    while going_on:
        going_on = delays_round(tally, random.randrange(10**9)) and time.monotonic() < end


def clang_build(tally, name, level, *targets):
    """Build by clang, without debugging, at a level of optimisation; the folder, or None."""
    folder, flags = os.path.join(TOP, "build", name), f"-O{level} -DNDEBUG"
    built = configure_and_build(
        tally, name,
        ["cmake", "-S", TOP, "-B", folder, "-G", "Ninja", "-DCMAKE_C_COMPILER=clang",
         "-DCMAKE_CXX_COMPILER=clang++", "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
         f"-DCMAKE_C_FLAGS_RELWITHDEBINFO={flags}", f"-DCMAKE_CXX_FLAGS_RELWITHDEBINFO={flags}",
         "-DCMAKE_COMPILE_WARNING_AS_ERROR=ON"],
        ["cmake", "--build", folder, "-j", "1", "--target", *(targets or ("all",))])
    return folder if built else None


def clang(tally):
    """The whole tree by clang, whose warnings need no optimisation; then the policies as they are
    shipped, and the code that it makes of them."""
    if not shutil.which("clang") or not shutil.which("clang++"):
        for name in ("build clang", "build clang-policies", "checks-codegen-clang"):
            tally.add(name, skipped=1, why="clang is not installed")
        return
    clang_build(tally, "clang", 0)
    folder = clang_build(tally, "clang-policies", 2, "pfslab_variants", "pfs_bench_calls")
    if folder:
        step(tally, "checks-codegen-clang", [os.path.join(SCRIPTS, "checks/codegen.py"), folder])


def smoke(tally, ready):
    """A quick run of the suite into a folder that is thrown away, and its report in a browser."""
    ready.wait()
    folder = tempfile.mkdtemp(prefix="pfs-smoke-")
    out = os.path.join(folder, "result")
    try:
        if not step(tally, "run-quick", [os.path.join(SCRIPTS, "run"), "--quick", "--out", out],
                    3600):
            return
        step(tally, "run-quick-schema", [os.path.join(SCRIPTS, "checks/results.py"), out])
        if not browser.CHROMIUM:
            tally.add("run-quick-report", skipped=1, why="chromium is not installed")
            return
        drawn = 'data-ok="true"' in browser.browse(os.path.join(out, "report.html"))
        tally.add("run-quick-report", passed=drawn, failed=not drawn)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


STEPS = ("checks", "scripts", "presets", "delays", "clang", "smoke")


def test_all(tally, chosen):
    """The chosen steps."""
    ready = threading.Event()
    builds = Builds()

    def built(tally):
        try:
            if "presets" in chosen:
                presets(tally, builds, ready)
        finally:
            ready.set()
        if "delays" in chosen:
            delays(tally, builds)

    if "checks" in chosen:
        rule_checks(tally)
    steps = [("presets", built)]
    if "scripts" in chosen:
        steps += [("scripts " + name, script_test, name) for name in script_tests()]
    steps += [("clang", clang)] * ("clang" in chosen)
    steps += [("run-quick", smoke, ready)] * ("smoke" in chosen)
    later = [name for name in PRESETS if name not in RUN_PRESETS] * ("presets" in chosen)
    steps.append(("builds", builds.ahead, later + ["delays"] * ("delays" in chosen)))
    with tempfile.TemporaryDirectory(prefix="pfs-tests-") as shared:
        os.environ["PFS_TESTS_SHARED"] = shared # see fixture.py
        all_of(tally, steps)


def minutes_of(text):
    """A number of minutes."""
    if not re.fullmatch(r"\d{1,5}(\.\d+)?", text):
        raise argparse.ArgumentTypeError(f"'{text}': give minutes, from 0")
    return float(text)


def main(argv=None):
    """The command."""
    parser = commandline.Parser(prog="scripts/test", description="Install, build, and run every "
                                "test; the last line sums up.")
    parser.add_argument("--only", choices=STEPS, action="append",
                        help="only this part; may be repeated")
    parser.add_argument("--delays", type=minutes_of, metavar="MINUTES",
                        help="repeat only the tests with delays, with new seeds, until one fails")
    parser.add_argument("--check", action="store_true", help="only check the arguments")
    arguments = parser.parse_args(argv)
    if arguments.delays is not None and arguments.only:
        parser.error("--delays and --only: give one of them")
    if arguments.check:
        return 0
    tally = Tally()
    if arguments.delays is not None:
        delays_for(tally, arguments.delays)
    else:
        test_all(tally, arguments.only or STEPS)
    print(f"{tally.passed} passed, {tally.failed} failed, {tally.skipped} skipped", flush=True)
    return 1 if tally.failed else 0


if __name__ == "__main__":
    commandline.run(main, "test")
