#!/usr/bin/python3
"""run.py - every deliberate weakening in kit.patches is caught by its named test.

usage: stress/mutants/run.py [--mutants FILE] [--only ID[,ID...]] [--jobs N] [--build FOLDER]
                             [--keep FOLDER] [--list] [--verbose]

Each .patches file is a list of mutants: lines `mutant:`, `breaks:`, `test:` and `expect:`, then a
patch of one file for git apply. The default is kit.patches; pfs-check, allocator, accounts,
profile, the memory trace and the server's adapter have their own. A test passes if it ends with
status 0, or, where there is a line `says:`, if its output and `exit STATUS` match that regular
expression. Takes small sets of programs (those of CMAKE_SETS, from a plain build by gcc, which is
brought up to date; tsan: race, map_probe, built here), and runs each named test once for each
mutant, which must fail and match the regular expression `expect`, and once unchanged, which must
pass. A mutant is a copy of the sources: what depends on its file is compiled anew, and linked with
the unchanged objects. One whose patch does not apply, or that does not build, counts as failed.

Each job has a copy of the sources of its own, and one process at a time. A search of a mutant ends
with the first schedule that fails; the unchanged sources are then searched three times as far (or
as long, where the bound is in seconds) as the slowest of its mutants needed, and at least
CONTROL_EXECUTIONS: they shall not fail for the same reason, and sim.check searches them for others.
What runs on real threads for a time runs for as long as RACE_SECONDS if it meets no race, so that a
busy machine is no excuse. Only what the test can execute is compiled anew: a source that were left
out wrongly would leave its mutant uncaught.
Exit 0: all as expected. 1: not. 2: bad usage.
"""

import concurrent.futures
import math
import os
import queue
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "scripts"))

from common import commandline  # pylint: disable=wrong-import-position

MUTANTS = os.path.join(HERE, "kit.patches")
TOP = os.environ.get("PFS_TOP", os.path.dirname(os.path.dirname(HERE)))
NOT_COPIED = shutil.ignore_patterns(".git", "build", "results", "docs", "__pycache__")
RACE_FLAGS = ["-std=gnu11", "-g", "-fsanitize=thread", "-DPFS_LIBRARY_IS_INSTRUMENTED",
              "-Iinclude", "-Icontainers", "-Ivariants", "-I."]
RACE_VARIANTS = ("local_scan", "reclaiming", "original", "exact", "magazine")
# The programs of a set that CMake describes.
CMAKE_SETS = {"check": ("pfs-check",),
              "sim": ("pfs-sim", "four_pages", "misuse", "steps_test"),
              "stress": ("pfs-stress", "address_test", "barrier_test", "calls_test", "decay_test",
                         "fork_ring_test", "kept_test", "own_word_test", "pass_test", "read_test",
                         "reclaim_test", "stopped_test"),
              "malloc": ("malloc_search",), "accounts": ("accounts_search",),
              "profile": ("profile_search",), "sampling": ("sampling_stacks", "sampling_samples",
                                                          "sampling_moments"),
              "owners": ("owners_search",), "extents": ("malloc_extents_test",),
              "apart": ("malloc_apart_test",),
              "locked": ("malloc_locked_test",),
              "looks": ("malloc_looks_test",), "rack": ("malloc_rack_test",),
              "racks": ("rack_search",), "slot_searches": ("slots_search",),
              "slots": ("malloc_slots_test",),
              "hidden": ("malloc_hidden_test",),
              "descriptors": ("malloc_descriptors_test",),
              "twice": ("malloc_twice_test",),
              "left": ("malloc_left_test",), "barrier": ("malloc_barrier_test",),
              "purge": ("malloc_purge_test",), "background": ("malloc_background_test",),
              "guard": ("malloc_guard_test", "malloc_choose_test"),
              "server": ("server_adapter_test", "server_pages_test", "server_status_test",
                         "server_threads_test")}
LINK_WORDS = ("-l", "-Wl,--wrap=", "-Wl,--dynamic-list=")
TEST_SECONDS = 100
# For the compiler of a checked program.
CHECKED_FLAGS = ["-w", "-Iinclude", "-include", "pfslab/check_copies.h"]
RACE_SECONDS = 20
CONTROL_EXECUTIONS = 2000


class Build:
    """Objects and programs of one set; a mutant rebuilds only what saw its file. library and
    programs[name] map a source to its compiler flags. made: of CMake, see cmake_build."""

    def __init__(self, name, scratch, library, programs, link, made=None):
        self.name, self.scratch, self.link_flags, self.made = name, scratch, link, made
        self.library, self.programs = library, programs
        self.headers = {} # of each source, what it was made of

    def object_of(self, source, folder):
        """The object file of a changed source."""
        return os.path.join(folder, source.replace("/", "_") + ".o")

    def unchanged(self, source):
        """The object file of an unchanged source."""
        if self.made:
            return os.path.join(self.made.folder, self.made.objects[source])
        return self.object_of(source, os.path.join(self.scratch, "objects"))

    def flags_of(self, source):
        """What a source is compiled with."""
        for sources in (self.library, *self.programs.values()):
            if source in sources:
                return sources[source]
        raise KeyError(source)

    def compile(self, source, target, tree):
        """Compile a source of a tree; the first compiler message on failure, else None."""
        os.makedirs(os.path.dirname(target), exist_ok=True)
        flags = self.flags_of(source)
        if self.made: # what it generated stays where it is
            flags = [flag.replace(self.made.folder, "\0").replace(TOP, tree)
                     .replace("\0", self.made.folder) for flag in flags]
        result = subprocess.run([compiler_of([source]), *flags, "-O1", "-g1", "-w", "-MMD", "-c",
                                 source, "-o", target],
                                cwd=tree, capture_output=True, text=True, check=False)
        return result.stderr.strip().split("\n")[0] if result.returncode != 0 else None

    def all_sources(self):
        """Library and program sources."""
        return list(self.library) + [s for p in self.programs.values() for s in p]

    def base(self, program):
        """Folder of an unchanged program."""
        if self.made:
            return os.path.join(self.made.folder, self.made.places[program])
        return os.path.join(self.scratch, "programs")

    def headers_of(self, source):
        """The files that the unchanged object of a source was made of."""
        if self.made:
            return self.made.headers[self.made.objects[source]]
        if source not in self.headers:
            with open(self.unchanged(source)[:-1] + "d", encoding="utf-8") as file:
                names = file.read().replace("\\\n", " ").split()
            self.headers[source] = {os.path.relpath(os.path.join(self.scratch, name), self.scratch)
                                    for name in names}
        return self.headers[source]

    def dependants(self, path):
        """Sources whose object depends on a file."""
        return [source for source in self.all_sources() if path in self.headers_of(source)]

    def link(self, program, changed, folder):
        """Link one program from changed objects in folder and unchanged ones."""
        objects = [self.object_of(s, folder) if s in changed else self.unchanged(s)
                   for s in [*self.library, *self.programs[program]]]
        target = os.path.join(folder, program)
        compiler = compiler_of([*self.library, *self.programs[program]])
        result = subprocess.run([compiler, *objects, *self.link_flags, "-o", target],
                                cwd=self.scratch, capture_output=True, text=True, check=False)
        errors = [line for line in result.stderr.split("\n") if "undefined" in line or
                  "multiple" in line] + [result.stderr.strip()]
        return None if result.returncode == 0 else errors[0]


def compiler_of(sources):
    """What compiles or links sources."""
    return "g++" if any(source.endswith(".cc") for source in sources) else "gcc"


def c_files(scratch, folder, without=()):
    """The C files of a folder, but some."""
    return [f"{folder}/{name}" for name in sorted(os.listdir(os.path.join(scratch, folder)))
            if name.endswith(".c") and name not in without]


def race_build(scratch):
    """The race drivers, with what they need of the containers."""
    sources = c_files(scratch, "containers")
    for policy in RACE_VARIANTS:
        has_folder = os.path.isdir(os.path.join(scratch, "variants", policy))
        sources += (c_files(scratch, f"variants/{policy}") if has_folder
                    else [f"variants/{policy}.c"])
    return Build("tsan", scratch, {s: RACE_FLAGS for s in sources},
                 {name: {f"stress/mutants/{name}.c": RACE_FLAGS} for name in ("race", "map_probe")},
                 ["-fsanitize=thread", "-lhwloc", "-lpthread"])


def run_tool(command, folder):
    """Standard output of a command that must not fail; exits with 1 if it does."""
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"run.py: {' '.join(command)}: {(result.stderr or result.stdout)[-400:]}")
    return result.stdout


class Made:
    """A build by CMake: where the object of each source and each program of a set are."""

    def __init__(self, folder, headers):
        self.folder, self.headers = folder, headers
        self.objects, self.places = {}, {}


def build_unchanged(folder, scratch, names):
    """Bring the programs of these sets up to date; the folder. Without one: that of the preset
    release, if it is there, or a new one."""
    folder = os.path.abspath(folder or os.path.join(TOP, "build", "release"))
    if not os.path.exists(os.path.join(folder, "build.ninja")):
        folder = os.path.join(scratch, "cmake-build")
        run_tool(["cmake", "-S", TOP, "-B", folder, "-G", "Ninja", "-DCMAKE_C_COMPILER=gcc",
                  "-DCMAKE_CXX_COMPILER=g++", "-DPFS_BENCH=OFF"], TOP)
    programs = [program for name in names for program in CMAKE_SETS.get(name, ())]
    if programs:
        run_tool(["ninja", "-C", folder, *programs], TOP)
    return folder


def headers_in(folder):
    """{object: the files of this tree that it was made of}, as ninja knows them."""
    headers, mine = {}, set()
    for line in run_tool(["ninja", "-C", folder, "-t", "deps"], TOP).split("\n"):
        if line.startswith(f"    {TOP}/"):
            mine.add(line[len(f"    {TOP}/"):])
        elif ": #deps" in line:
            mine = headers[line.split(": #deps", 1)[0]] = set()
    return headers


def cmake_build(scratch, name, folder, headers):
    """One of CMAKE_SETS: the C and C++ files that are linked, their flags, the libraries."""
    compiled, archives, linked = {}, {}, {}
    commands = run_tool(["ninja", "-C", folder, "-t", "commands", *CMAKE_SETS[name]], TOP)
    for words in map(shlex.split, commands.strip().split("\n")):
        output = words[words.index("-o") + 1] if "-o" in words else ""
        if "-c" in words:
            # Before the flags is the compiler, and maybe a launcher of it.
            begin = next(at for at, word in enumerate(words) if word.startswith("-"))
            # Dependencies go to files of ours.
            end = words.index("-MD") if "-MD" in words else words.index("-o")
            compiled[output] = (os.path.relpath(words[-1], TOP), words[begin:end])
        elif output:
            linked[os.path.basename(output)] = words, output
        else:
            archives.update({word: words for word in words if word.endswith(".a")})
    programs, library, link, made = {}, {}, [], Made(folder, headers)
    for program in CMAKE_SETS[name]:
        own, (words, output) = {}, linked[program]
        made.places[program] = os.path.dirname(output)
        for part in [w for at in words for w in archives.get(at, ())] + words:
            source, flags = compiled.get(part, ("", None))
            if source.endswith((".c", ".cc")):
                (library if part not in words else own)[source] = flags
                made.objects[source] = part
        programs[program] = own
        link += [w for w in words if w.startswith(LINK_WORDS) or
                 w == "-pthread" or ".so" in w]
    return Build(name, scratch, library, programs, link, made)


def builds_in(scratch, names, folder=None):
    """{set: its build} of these sets of programs, which tests of mutants name."""
    folder = build_unchanged(folder, scratch, names)
    headers = headers_in(folder)
    return {name: race_build(scratch) if name == "tsan" else
            cmake_build(scratch, name, folder, headers) for name in names}


def words_of(build, test, executions=None, seconds=None, race_seconds=None):
    """Program and arguments of a test: one process, and other bounds where they are given."""
    words = test.split()[1:]
    if build.name == "check":
        words += ([] if "--" in words else ["--"]) + CHECKED_FLAGS
    elif build.name == "tsan":
        words += [str(race_seconds)] if race_seconds else []
    elif words[1:2] == ["explore"]:
        words += ["--jobs", "1"]
    for flag, most in (("--executions", executions), ("--seconds", seconds)):
        if most and flag in words:
            at = words.index(flag) + 1
            words[at] = str(min(int(words[at]), most))
    return words


def run_test(build, folder, words):
    """(exit code or None if it hung, output) of the words of a test."""
    program, *arguments = words
    environment = dict(os.environ, TSAN_OPTIONS="halt_on_error=1:exitcode=66")
    try:
        result = subprocess.run([os.path.join(folder, program), *arguments], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                                timeout=TEST_SECONDS, cwd=build.scratch, env=environment,
                                errors="replace")
    except subprocess.TimeoutExpired:
        return None, "hung"
    return result.returncode, f"{result.stdout}exit {result.returncode}\n"


def passes(mutant, code, output):
    """Does the mutant's test pass?"""
    return re.search(mutant["says"], output) if "says" in mutant else code == 0


def apply_patch(mutant, tree):
    """Change the mutant's file below tree; an error, or None."""
    done = subprocess.run(["git", "apply", "--whitespace=nowarn", "-"], input=mutant["patch"],
                          cwd=tree, capture_output=True, text=True, check=False)
    return f"its patch does not apply: {done.stderr.strip()}" if done.returncode else None


def is_executed(source, test):
    """Can the test execute this source? A test that names policies runs no others; the workloads of
    bench/ are for pfs-sim run."""
    words = test.split()
    policies = {policy.removesuffix(".c") for policy in
                os.listdir(os.path.join(TOP, "variants")) if "." not in policy[:-2]}
    if source.startswith("variants/") and policies & set(words):
        policy = source.split("/")[1].removesuffix(".c")
        return policy in words or (policy == "exact" and "magazine" in words)
    return not source.startswith("bench/") or words[2:3] != ["explore"]


def build_mutant(build, mutant, programs, tree, test=""):
    """Programs of the changed source, in a folder beside the tree, which is returned; or
    (None, error). test: what they are for."""
    path = os.path.join(tree, mutant["file"])
    folder = tree + "-objects"
    before = Path(path).read_text("utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    error = apply_patch(mutant, tree)
    if error:
        return None, error
    try:
        needed = {*build.library, *(s for p in programs for s in build.programs[p])}
        changed = [s for s in build.dependants(mutant["file"])
                   if s in needed and is_executed(s, test)]
        for source in changed:
            error = error or build.compile(source, build.object_of(source, folder), tree)
        for program in programs:
            error = error or build.link(program, changed, folder)
    finally:
        Path(path).write_text(before, "utf-8")
    return (None, f"does not build: {error}") if error else (folder, None)


def try_mutant(build, tree, mutant, verbose):
    """(None if the mutant is caught, else why not; executions that it took, 0: unknown)."""
    test = mutant["test"]
    folder, error = build_mutant(build, mutant, [test.split()[1]], tree, test)
    if error:
        return error, 0
    code, output = run_test(build, folder, words_of(build, test, race_seconds=RACE_SECONDS))
    if verbose:
        print("\n".join("      " + line for line in output.split("\n")[:12]))
    took = re.search(r": (\d+) executions", output)
    if passes(mutant, code, output):
        return "not caught: the test passes", 0
    if not re.search(mutant["expect"], output):
        last = output.strip().split("\n")[-1] if output.strip() else "nothing said"
        return f"fails for another reason (exit {code}): {last[:100]}", 0
    return None, int(took.group(1)) if took else 0


def try_test(build, tree, test, mutants, verbose):
    """A test: its mutants, then the unchanged sources. (passed, failed)"""
    passed = failed = longest = 0
    furthest = CONTROL_EXECUTIONS
    for mutant in mutants:
        begin = time.monotonic()
        why, executions = try_mutant(build, tree, mutant, verbose)
        furthest = max(furthest, 3 * executions)
        passed, failed = passed + (why is None), failed + (why is not None)
        took = time.monotonic() - begin
        longest = max(longest, math.ceil(3 * took))
        print(f"{'caught ' if why is None else 'FAILED '} {mutant['id']:24} {took:5.1f} s  "
              f"{why or mutant['breaks']}", flush=True)
    code, output = run_test(build, build.base(test.split()[1]),
                            words_of(build, test, furthest, longest))
    fine = all(passes(mutant, code, output) for mutant in mutants)
    if not fine:
        print(f"FAILED  unchanged sources fail `{test}` (exit {code}): {output.strip()[-200:]}",
              flush=True)
    return passed, failed + (not fine)


def prepare(build, pool):
    """Compile and link the unchanged programs that CMake does not; an error, or None."""
    failed = next((error for error in pool.map(
        lambda source: build.compile(source, build.unchanged(source), build.scratch),
        build.all_sources()) if error), None)
    for program in build.programs:
        os.makedirs(build.base(program), exist_ok=True)
        failed = failed or build.link(program, [], build.base(program))
    return f"build {build.name}: {failed}" if failed else None


def try_all(builds, wanted, scratch, jobs, verbose):
    """All wanted mutants, each test in one job; (passed, failed)."""
    tests = {}
    for mutant in wanted:
        tests.setdefault(mutant["test"], []).append(mutant)
    trees = queue.SimpleQueue()
    for job in range(jobs):
        trees.put(os.path.join(scratch, f"job{job}"))
        copy_sources(os.path.join(scratch, f"job{job}"))

    def effort(test):
        """About what it compiles; most of the time goes there."""
        build = builds[test.split()[0]]
        return sum(len(build.dependants(m["file"])) for m in tests[test])

    def one(test):
        tree = trees.get()
        try:
            return try_test(builds[test.split()[0]], tree, test, tests[test], verbose)
        finally:
            trees.put(tree)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        counts = list(pool.map(one, sorted(tests, key=effort, reverse=True)))
    return sum(count[0] for count in counts), sum(count[1] for count in counts)


def copy_sources(scratch):
    """What the programs are made of."""
    shutil.copytree(TOP, scratch, dirs_exist_ok=True, ignore=NOT_COPIED)


def parse(section):
    """A mutant: lines `key: value`, then a patch of one file."""
    head, _, patch = section.partition("--- a/")
    mutant = dict(line.split(": ", 1) for line in head.strip().split("\n"))
    return {**mutant, "id": mutant["mutant"], "file": patch.split("\n", 1)[0],
            "patch": "--- a/" + patch.rstrip("\n") + "\n"}


def choose(only, path=MUTANTS):
    """The mutants asked for; exits with 2 on a bad name."""
    with open(path, encoding="utf-8") as file:
        mutants = [parse(section) for section in
                   re.split(r"^(?=mutant: )", file.read(), flags=re.MULTILINE) if section.strip()]
    if not only:
        return mutants
    names = only.split(",")
    unknown = sorted(set(names) - {m["id"] for m in mutants})
    if unknown:
        print(f"run.py: --only {unknown[0]}: no such mutant; --list names them",
              file=sys.stderr)
        sys.exit(2)
    return [m for m in mutants if m["id"] in names]


def main():
    """Parse, prepare, try each mutant."""
    parser = commandline.Parser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--mutants", help="the list", metavar="FILE",
                        default=MUTANTS)
    parser.add_argument("--only", help="ids, separated by commas")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--build", metavar="FOLDER",
                        help="a plain build by CMake; default build/release, or a new one")
    parser.add_argument("--keep", help="folder for the copies and objects; kept")
    parser.add_argument("--list", action="store_true", help="the table")
    parser.add_argument("--verbose", action="store_true", help="what the tests say")
    arguments = parser.parse_args()
    wanted = choose(arguments.only, arguments.mutants)
    if arguments.list:
        for mutant in wanted:
            print(f"{mutant['id']:24} {mutant['breaks']}\n{'':24}   {mutant['test']}")
        return 0
    scratch = arguments.keep or tempfile.mkdtemp(prefix="pfs_mutants_")
    jobs, passed, failed = max(1, arguments.jobs), 0, 0
    try:
        tree = os.path.join(scratch, "unchanged")
        copy_sources(tree)
        names = sorted({m["test"].split()[0] for m in wanted})
        builds, error = builds_in(tree, names, arguments.build), None
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            if "tsan" in builds:
                error = prepare(builds["tsan"], pool)
        if error:
            print(f"FAILED  {error}")
            failed = 1
        else:
            passed, failed = try_all(builds, wanted, scratch, jobs, arguments.verbose)
    finally:
        if not arguments.keep:
            shutil.rmtree(scratch, ignore_errors=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
