#!/usr/bin/python3
"""installed_test.py - pfs-check and pfs_check_add of an installed prefix, as their user has them.

usage: check/installed_test.py SOURCE_FOLDER PREFIX
The example project is copied from the prefix, built and tested by CMake; a second one has a test
for each way in which pfs_check_add must see that what was wanted did not happen.
Exit 0: as promised. 1: not, each fault in lines.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

FAULTS = []
WRONG = """cmake_minimum_required(VERSION 3.20)
project(wrong LANGUAGES C)
enable_testing()
find_package(pfslab REQUIRED)
set(right COMPILE_DEFINITIONS PUBLISH=memory_order_release)
pfs_check_add(found ring.c)
pfs_check_add(none ring.c ${right} EXPECT_FAILURE)
pfs_check_add(another ring.c FINDS deadlock)
pfs_check_add(cut ring.c ${right} COMPLETE OPTIONS --executions=3 --seed=1)
pfs_check_add(crash crash.c EXPECT_FAILURE)
pfs_check_add(refused refused.c EXPECT_FAILURE)
pfs_check_add(nameless ring.c SCENARIO nonesuch SEARCH dpor MEMORY sc COMPLETE)
"""
SAYS = {  # what the output of each test of it must have
    "found": r"found: data race on ring",
    "none": r"a failing schedule was expected; pfs-check ended with 0, not 1",
    "another": r"was expected that says 'deadlock'",
    "cut": r"these were not all executions",
    "crash": r"a failing schedule was expected; pfs-check ended with [^\d]",
    "refused": r"calls fork, which is not modelled(.*\n)*.*ended with 2, not 1",
    "nameless": r"nonesuch: no such scenario"}
FILES = {
    "crash.c": "__attribute__((constructor)) static void crash(void) { __builtin_trap(); }\n"
               "extern int shared; void add(void); void add(void) { shared++; }\nint shared;\n",
    "refused.c": "#include <unistd.h>\nint shared; void add(void);\n"
                 "void add(void) { shared = (int)fork(); }\n"}


def expect(is_so, what):
    """Remember what is not so."""
    if not is_so:
        FAULTS.append(what)
        print(f"not so: {what}", flush=True)


def run(folder, *command, fails=False):
    """The output of a command, which must succeed, or must not."""
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False, cwd=folder)
    expect((done.returncode != 0) == fails,
           f"{' '.join(command)}: exit {done.returncode}: {done.stdout.strip()[-1500:]}")
    return done.stdout


def wrong_project(folder, prefix, example):
    """Each test fails, and says why. By another compiler and generator, where they are there."""
    project, build = os.path.join(folder, "wrong"), os.path.join(folder, "wrong", "build")
    os.mkdir(project)
    shutil.copy(os.path.join(example, "ring.c"), project)
    for name, text in {**FILES, "CMakeLists.txt": WRONG}.items():
        with open(os.path.join(project, name), "w", encoding="utf-8") as file:
            file.write(text)
    other = ["-GNinja"] if shutil.which("ninja") else []
    if shutil.which("clang"):
        other.append("-DCMAKE_C_COMPILER=clang")
    # Flags of a project's own, which what is checked must not inherit.
    run(project, "cmake", "-B", "build", f"-DCMAKE_PREFIX_PATH={prefix}",
        "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_C_FLAGS=-fsanitize=undefined",
        "-DCMAKE_MODULE_LINKER_FLAGS=-Wl,--no-undefined", *other)
    run(project, "cmake", "--build", "build")
    said = run(build, "ctest", "--output-on-failure", fails=True)
    for name, wanted in SAYS.items():
        part = re.search(rf"^ *Start +\d+: {name}\n(.*?)(?=^ *Start |\Z)", said,
                         re.DOTALL | re.MULTILINE)
        expect(part and "Passed" not in part[1] and re.search(wanted, part[1]),
               f"{name}: says no {wanted}: {part and part[1]}")
    said = run(project, "cmake", "-B", "none", f"-DCMAKE_PREFIX_PATH={prefix}",
               "-DPFSLAB_CHECK_PROGRAM=/none/pfs-check", fails=True)
    expect("/none/pfs-check is missing: install" in said, f"without pfs-check: {said}")


def right_project(folder, prefix, example):
    """The example, as its head says."""
    project = os.path.join(folder, "project")
    shutil.copytree(example, project)
    run(project, "cmake", "-B", "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    run(project, "cmake", "--build", "build")
    said = run(project, "ctest", "--test-dir", "build", "--no-tests=error")
    expect("tests passed, 0 tests failed out of 3" in said, said)
    said = run(project, "make", f"PFSLAB={prefix}")
    expect(said.count("all there are: no violation") == 2, said)


def main():
    """The exit status."""
    prefix = os.path.abspath(sys.argv[2])
    example = os.path.join(prefix, "share", "pfslab", "examples", "check")
    with tempfile.TemporaryDirectory(prefix="pfs check ") as folder:
        right_project(folder, prefix, example)
        wrong_project(folder, prefix, example)
    return bool(FAULTS)


if __name__ == "__main__":
    sys.exit(main())
