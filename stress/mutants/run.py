#!/usr/bin/python3
"""run.py - every deliberate weakening in mutants.json is caught by its named test.

usage: stress/mutants/run.py [--only ID[,ID...]] [--jobs N] [--keep FOLDER] [--list] [--verbose]

Copies the sources, builds three small sets of programs (tsan: race; sim: pfs-sim, four_pages,
misuse, and stress: decay_test, with the files and flags that CMake names), runs each named test
unchanged (it must pass) and once for each mutant (it must fail, and say why: the regular
expression `expect`). A mutant whose text is not found exactly once, or that does not build,
counts as failed: the table then no longer fits the sources.
Exit 0: all as expected. 1: not. 2: bad usage.
"""

import argparse
import concurrent.futures
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.environ.get("PFS_TOP", os.path.dirname(os.path.dirname(HERE)))
NOT_COPIED = shutil.ignore_patterns(".git", "build", "results", "docs", "__pycache__")
RACE_FLAGS = ["-std=gnu11", "-g", "-fsanitize=thread", "-Iinclude", "-Icontainers", "-Ivariants",
              "-I."]
RACE_VARIANTS = ("local_scan", "reclaiming", "original", "exact", "magazine")
# The programs of a set that CMake describes.
CMAKE_SETS = {"sim": ("pfs-sim", "four_pages", "misuse"),
              "stress": ("pfs-stress", "decay_test", "reclaim_test")}
TEST_SECONDS = 100


class Build:
    """Objects and programs of one set; a mutant rebuilds only what saw its file. library and
    programs[name] map a source to its compiler flags."""

    def __init__(self, name, scratch, library, programs, link):
        self.name, self.scratch, self.link_flags = name, scratch, link
        self.library, self.programs = library, programs

    def object_of(self, source, folder):
        """The object file of a source."""
        return os.path.join(folder, source.replace("/", "_") + ".o")

    def flags_of(self, source):
        """What a source is compiled with."""
        for sources in (self.library, *self.programs.values()):
            if source in sources:
                return sources[source]
        raise KeyError(source)

    def compile(self, pool, sources, folder):
        """Compile sources into folder; the first compiler message on failure, else None."""
        os.makedirs(folder, exist_ok=True)

        def one(source):
            target = self.object_of(source, folder)
            command = ["gcc", *self.flags_of(source), "-O1", "-w", "-MMD", "-c", source, "-o",
                       target]
            return subprocess.run(command, cwd=self.scratch, capture_output=True, text=True,
                                  check=False)
        for result in pool.map(one, sources):
            if result.returncode != 0:
                return result.stderr.strip().split("\n")[0]
        return None

    def all_sources(self):
        """Library and program sources."""
        return list(self.library) + [s for p in self.programs.values() for s in p]

    def base(self):
        """Folder of the unchanged objects."""
        return os.path.join(self.scratch, "objects", self.name)

    def dependants(self, path):
        """Sources whose object depends on a file."""
        found = []
        for source in self.all_sources():
            with open(self.object_of(source, self.base())[:-1] + "d", encoding="utf-8") as file:
                names = file.read().replace("\\\n", " ").split()
            if any(os.path.normpath(os.path.join(self.scratch, name)) ==
                   os.path.join(self.scratch, path) for name in names):
                found.append(source)
        return found

    def link(self, program, changed, folder):
        """Link one program from changed objects in folder and unchanged ones."""
        objects = [self.object_of(s, folder if s in changed else self.base())
                   for s in [*self.library, *self.programs[program]]]
        target = os.path.join(folder, program)
        result = subprocess.run(["gcc", *objects, *self.link_flags, "-o", target],
                                cwd=self.scratch, capture_output=True, text=True, check=False)
        errors = [line for line in result.stderr.split("\n") if "undefined" in line or
                  "multiple" in line] + [result.stderr.strip()]
        return None if result.returncode == 0 else errors[0]


def c_files(scratch, folder, without=()):
    """The C files of a folder, but some."""
    return [f"{folder}/{name}" for name in sorted(os.listdir(os.path.join(scratch, folder)))
            if name.endswith(".c") and name not in without]


def race_build(scratch):
    """The race driver, with what it needs of the containers."""
    sources = c_files(scratch, "containers") + [f"variants/{n}.c" for n in RACE_VARIANTS]
    return Build("tsan", scratch, {s: RACE_FLAGS for s in sources},
                 {"race": {"stress/mutants/race.c": RACE_FLAGS}},
                 ["-fsanitize=thread", "-lhwloc", "-lpthread"])


def run_tool(command, folder):
    """Standard output of a command that must not fail; exits with 1 if it does."""
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"run.py: {' '.join(command)}: {(result.stderr or result.stdout)[-400:]}")
    return result.stdout


def cmake_commands(scratch, programs):
    """The words of each command that makes the programs, in order."""
    folder = os.path.join(scratch, "cmake-build")
    if not os.path.isdir(folder):
        run_tool(["cmake", "-S", scratch, "-B", folder, "-G", "Ninja", "-DCMAKE_C_COMPILER=gcc",
                  "-DPFS_BENCH=OFF"], scratch)
    lines = run_tool(["ninja", "-C", folder, "-t", "commands", *programs], scratch)
    return [shlex.split(line) for line in lines.strip().split("\n")]


def cmake_build(scratch, name):
    """One of CMAKE_SETS: the C files that are linked, their flags, the libraries."""
    compiled, archives, linked = {}, {}, {}
    for words in cmake_commands(scratch, CMAKE_SETS[name]):
        output = words[words.index("-o") + 1] if "-o" in words else ""
        if "-c" in words:
            # Dependencies go to files of ours.
            end = words.index("-MD") if "-MD" in words else words.index("-o")
            # Boost's part is C++ below, and no mutant is in it.
            flags = [word for word in words[1:end] if word != "-DPFS_BOOST"]
            compiled[output] = (os.path.relpath(words[-1], scratch), flags)
        elif output:
            linked[os.path.basename(output)] = words
        else:
            archives.update({word: words for word in words if word.endswith(".a")})
    programs, library, link = {}, {}, []
    for program in CMAKE_SETS[name]:
        own, words = {}, linked[program]
        for part in [w for at in words if at.endswith(".a") for w in archives[at]] + words:
            source, flags = compiled.get(part, ("", None))
            if source.endswith(".c") and "boost" not in source:
                (library if part not in words else own)[source] = flags
        programs[program] = own
        link += [w for w in words if w.startswith(("-l", "-Wl,--wrap=")) or
                 w == "-pthread" or ".so" in w]
    return Build(name, scratch, library, programs, link)


def builds_in(scratch):
    """The sets of programs that mutants.json names."""
    return {"tsan": race_build(scratch), "sim": cmake_build(scratch, "sim"),
            "stress": cmake_build(scratch, "stress")}


def run_test(build, folder, test):
    """(exit code or None if it hung, output) of "BUILD PROGRAM ARGUMENTS"."""
    program, *arguments = test.split()[1:]
    environment = dict(os.environ, TSAN_OPTIONS="halt_on_error=1:exitcode=66")
    try:
        result = subprocess.run([os.path.join(folder, program), *arguments], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                                timeout=TEST_SECONDS, cwd=build.scratch, env=environment,
                                errors="replace")
    except subprocess.TimeoutExpired:
        return None, "hung"
    return result.returncode, result.stdout


def edit(text, mutant):
    """The changed text, or an error."""
    count = text.count(mutant["find"])
    if not mutant["find"] or count != 1:
        return None, f"its text occurs {count} times in {mutant['file']}, must be once"
    return text.replace(mutant["find"], mutant["replace"]), None


def build_mutant(build, pool, mutant, programs):
    """Programs of the changed source, in the returned folder; or (None, error)."""
    path = os.path.join(build.scratch, mutant["file"])
    folder = os.path.join(build.scratch, "objects", "mutant")
    with open(path, encoding="utf-8") as file:
        before = file.read()
    after, error = edit(before, mutant)
    if error:
        return None, error
    shutil.rmtree(folder, ignore_errors=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(after)
    try:
        needed = {*build.library, *(s for p in programs for s in build.programs[p])}
        changed = [s for s in build.dependants(mutant["file"]) if s in needed]
        error = build.compile(pool, changed, folder)
        for program in programs:
            error = error or build.link(program, changed, folder)
    finally:
        with open(path, "w", encoding="utf-8") as file:
            file.write(before)
    return (None, f"does not build: {error}") if error else (folder, None)


def try_mutant(build, pool, mutant, verbose):
    """None if the mutant is caught, else why not."""
    folder, error = build_mutant(build, pool, mutant, [mutant["test"].split()[1]])
    if error:
        return error
    code, output = run_test(build, folder, mutant["test"])
    if verbose:
        print("\n".join("      " + line for line in output.split("\n")[:12]))
    if code == 0:
        return "not caught: the test passes"
    if not re.search(mutant["expect"], output):
        last = output.strip().split("\n")[-1] if output.strip() else "nothing said"
        return f"fails for another reason (exit {code}): {last[:100]}"
    return None


def prepare(builds, wanted, pool):
    """Build what the wanted mutants need; errors."""
    for name in sorted({m["test"].split()[0] for m in wanted}):
        build = builds[name]
        error = build.compile(pool, build.all_sources(), build.base())
        for program in build.programs:
            error = error or build.link(program, [], build.base())
        if error:
            return [f"build {name}: {error}"]
    errors = []
    for test in sorted({m["test"] for m in wanted}):
        build = builds[test.split()[0]]
        code, output = run_test(build, build.base(), test)
        if code != 0:
            errors.append(f"unchanged sources fail `{test}` (exit {code}): "
                          f"{output.strip()[-200:]}")
    return errors


def copy_sources(scratch):
    """What the programs are made of."""
    shutil.copytree(TOP, scratch, dirs_exist_ok=True, ignore=NOT_COPIED)


def choose(arguments):
    """The mutants asked for; exits with 2 on a bad name."""
    with open(os.path.join(HERE, "mutants.json"), encoding="utf-8") as file:
        mutants = json.load(file)
    if not arguments.only:
        return mutants
    names = arguments.only.split(",")
    unknown = sorted(set(names) - {m["id"] for m in mutants})
    if unknown:
        print(f"run.py: --only {unknown[0]}: no such mutant; --list names them",
              file=sys.stderr)
        sys.exit(2)
    return [m for m in mutants if m["id"] in names]


def main():
    """Parse, prepare, try each mutant."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--only", help="ids, separated by commas")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep", help="folder for the copies and objects; kept")
    parser.add_argument("--list", action="store_true", help="the table")
    parser.add_argument("--verbose", action="store_true", help="what the tests say")
    arguments = parser.parse_args()
    wanted = choose(arguments)
    if arguments.list:
        for mutant in wanted:
            print(f"{mutant['id']:24} {mutant['breaks']}\n{'':24}   {mutant['test']}")
        return 0
    scratch = arguments.keep or tempfile.mkdtemp(prefix="pfs_mutants_")
    passed, failed = 0, 0
    with concurrent.futures.ThreadPoolExecutor(max(1, arguments.jobs)) as pool:
        try:
            copy_sources(scratch)
            builds = builds_in(scratch)
            errors = prepare(builds, wanted, pool)
            for error in errors:
                print(f"FAILED  {error}")
            failed += len(errors)
            for mutant in wanted if not errors else []:
                begin = time.monotonic()
                build = builds[mutant["test"].split()[0]]
                why = try_mutant(build, pool, mutant, arguments.verbose)
                seconds = time.monotonic() - begin
                passed, failed = passed + (why is None), failed + (why is not None)
                print(f"{'caught ' if why is None else 'FAILED '} {mutant['id']:24} "
                      f"{seconds:5.1f} s  {why or mutant['breaks']}", flush=True)
        finally:
            if not arguments.keep:
                shutil.rmtree(scratch, ignore_errors=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
