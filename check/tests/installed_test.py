#!/usr/bin/python3
"""installed_test.py - pfs-check and pfs_check_add of an installed prefix, as their user has them.

usage: check/tests/installed_test.py SOURCE_FOLDER BUILD_FOLDER
   or: check/tests/installed_test.py SOURCE_FOLDER --prefix PREFIX
A build folder's component pfs-check is installed, and moved to a prefix with a space in its name.
The commands of the pages on pfs-check (reference, tutorial, CI) are done in empty folders, the
example project's among them, and must say what stands there. A second project has a test for each
way in which pfs_check_add must see that what was wanted did not happen; --prefix leaves it out.
Exit 0: as promised. 1: not, each fault in lines.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))
from common.expect import expect, finish

WRONG = """cmake_minimum_required(VERSION 3.20)
project(wrong LANGUAGES C)
enable_testing()
find_package(pfs-check REQUIRED)
set(right COMPILE_DEFINITIONS PUBLISH=memory_order_release)
pfs_check_add(found ring.c)
pfs_check_add(none ring.c ${right} EXPECT_FAILURE)
pfs_check_add(another ring.c FINDS deadlock)
pfs_check_add(cut ring.c ${right} COMPLETE OPTIONS --executions=3 --seed=1)
pfs_check_add(crash crash.c EXPECT_FAILURE)
pfs_check_add(refused refused.c EXPECT_FAILURE)
pfs_check_add(two_sizes two_sizes.c FINDS "to one place")
pfs_check_add(nameless ring.c SCENARIO nonesuch SEARCH dpor MEMORY sc COMPLETE)
"""
SAYS = {  # what the output of each test of it must have
    "found": r"found: data race on ring",
    "none": r"a failing schedule was expected; pfs-check ended with 0, not 1",
    "another": r"was expected that says 'deadlock'",
    "cut": r"these were not all executions",
    "crash": r"a failing schedule was expected; pfs-check ended with [^\d]",
    "refused": r"calls fork, which is not modelled(.*\n)*.*ended with 2, not 1",
    "two_sizes": r"cannot be checked: atomic accesses of (.*\n)*.*ended with 2, not 1",
    "nameless": r"nonesuch: no such scenario"}
FILES = {
    "two_sizes.c": "#include <stdatomic.h>\n#include <pfslab/check.h>\n"
                   "union { atomic_int i; atomic_long l; } both;\n"
                   "static void body(void *x) { (void)x; atomic_store(&both.i, 1);\n"
                   "atomic_store(&both.l, 2); }\n"
                   "PFS_CHECK_SCENARIO(two_sizes) { pfs_check_thread(body, 0); }\n",
    "crash.c": "__attribute__((constructor)) static void crash(void) { __builtin_trap(); }\n"
               "extern int shared; void add(void); void add(void) { shared++; }\nint shared;\n",
    "refused.c": "#include <unistd.h>\nint shared; void add(void);\n"
                 "void add(void) { shared = (int)fork(); }\n"}


def run(folder, *command, fails=False, env=None):
    """The output of a command, which must succeed, or must not."""
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False, cwd=folder, env=env)
    expect((done.returncode != 0) == fails,
           f"{' '.join(command)}: exit {done.returncode}: {done.stdout.strip()[-1500:]}")
    return done.stdout


def wrong_project(folder, prefix, example):
    """Each test fails, and says why. By another compiler and generator, where they are there."""
    project, build = os.path.join(folder, "wrong"), os.path.join(folder, "wrong", "build")
    os.mkdir(project)
    shutil.copy(os.path.join(example, "ring.c"), project)
    for name, text in {**FILES, "CMakeLists.txt": WRONG}.items():
        Path(os.path.join(project, name)).write_text(text, "utf-8")
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


def is_known(compiler):
    """Is it the one whose schedules and counts the pages show?"""
    said = subprocess.run([compiler, "--version"], text=True, capture_output=True, check=False)
    return re.search(r"Free Software(.*\n)*", said.stdout) and re.search(r"\) 12\.", said.stdout)


def plain(line, known):
    """Without what may differ: how many tests, spaces, and with another compiler the counts."""
    line = re.sub(r"(100% .* out of) \d+", r"\1 N", line)
    if " executions (" in line and not known:
        line = re.sub(r"\d+ (executions|repeated|incomplete|steps)", r"N \1", line)
    return " ".join(line.split())


def is_said(wanted, said, known):
    """Are these the lines? Any may stand for "..."; schedules and counts are one compiler's."""
    lines, skips = [plain(line, known) for line in said.splitlines()], False
    for line in (plain(line, known) for line in wanted):
        if line == "..." or (not known and re.match(r"\d+ \||schedule:", line)):
            skips = True
            continue
        while skips and lines and lines[0] != line:
            lines.pop(0)
        if not lines or lines.pop(0) != line:
            return False
        skips = False
    return skips or not lines


def fenced(text):
    """(commands, lines of output) of a page's ```sh blocks, whose output is in the indented block
    behind, and of its ```console blocks; ("> NAME", text) for what a ```c block is saved as."""
    for found in re.finditer(r"(?:[Ss]ave\s+(?:it|this)\s+as\s+`([^`]+)`:\n\n)?^```(sh|console|c)\n"
                             r"(.*?)^```\n(?:\n((?:    [^\n]*\n)*))?", text, re.M | re.S):
        name, kind, block, said = found.groups()
        if kind == "sh":
            yield block, (said or "").splitlines()
        elif kind == "console":
            for command in re.finditer(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.M):
                yield command[1], command[2].splitlines()
        elif name:
            yield f"> {name}", block


def pages(source, folder, prefix):
    """The commands of each page on pfs-check, done in an empty folder, say what stands there."""
    environment = {**os.environ, "PREFIX": prefix,
                   "PATH": os.path.join(prefix, "bin") + os.pathsep + os.environ["PATH"]}
    known = is_known("cc")
    for page, least in (("reference/check", 2), ("tutorials/check-your-ring", 11),
                        ("how-to/check-in-your-ci", 1)):
        text = Path(os.path.join(source, "docs", page + ".md")).read_text("utf-8")
        empty, count = os.path.join(folder, os.path.basename(page)), 0
        os.mkdir(empty)
        for command, wanted in fenced(text):
            if command.startswith("> "):
                Path(os.path.join(empty, command[2:])).write_text(wanted, "utf-8")
                continue
            command = command.replace("/usr/share", shlex.quote(prefix) + "/share")
            done = subprocess.run(["sh", "-c", command], text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, cwd=empty, check=False, env=environment)
            expect(is_said(wanted, done.stdout, known), f"docs/{page}.md: {command}\ndoes not say\n"
                   + "\n".join(wanted) + f"\nbut\n{done.stdout}")
            count += 1
        expect(count >= least, f"docs/{page}.md: only {count} commands")
        shown(text, page, os.path.join(prefix, "share", "pfslab", "examples", "check"))
        if page.startswith("how-to"):
            workflows(text, os.path.join(empty, "project"), environment)


def shown(text, page, example):
    """The lines of a block below <!-- file: NAME --> are in that file, in this order."""
    count = 0
    for found in re.finditer(r"^<!-- file: check/example/(\S+) -->\n(?:<!-- c:.*?-->\n)?\n?"
                             r"(?:```c\n(.*?)^```|((?:(?:    [^\n]*)?\n)+))", text, re.M | re.S):
        lines = (found[2] or re.sub("^    ", "", found[3], flags=re.M)).splitlines()
        whole = iter(Path(os.path.join(example, found[1])).read_text("utf-8").splitlines())
        missing = [line for line in filter(None, lines) if line not in whole]
        expect(lines and not missing, f"docs/{page}.md: not in {found[1]}: {missing[:1]}")
        count += 1
    expect(count == text.count("<!-- file: "), f"docs/{page}.md: {count} blocks of files")


def workflows(text, project, environment):
    """GitLab's commands succeed in the project, without the installation; GitHub's are the same."""
    script = re.search(r"^      script:\n((?:        - .*\n)+)", text, re.M)[1]
    commands = [line.split("- ", 1)[1] for line in script.splitlines()]
    github = re.sub(r"\$\{\{.*?\}\}", "60", text[text.index("## GitHub"):text.index("## GitLab")])
    for command in commands:
        expect(command in github, f"docs/how-to/check-in-your-ci.md: not in both: {command}")
        if not command.startswith("apt-get"):
            run(project, "sh", "-c", command, env=environment)
    expect(os.path.getsize(os.path.join(project, "build", "schedules.xml")), "no schedules.xml")


def main():
    with tempfile.TemporaryDirectory(prefix="pfs check ") as folder:
        prefix = os.path.abspath(sys.argv[-1])
        is_build = sys.argv[2] != "--prefix"
        if is_build:
            run(folder, "cmake", "--install", prefix, "--prefix", os.path.join(folder, "staged"),
                "--component", "pfs-check")
            prefix = os.path.join(folder, "a prefix")
            os.rename(os.path.join(folder, "staged"), prefix)
        example = os.path.join(prefix, "share", "pfslab", "examples", "check")
        pages(os.path.abspath(sys.argv[1]), folder, prefix)
        if is_build:
            wrong_project(folder, prefix, example)
    finish()


if __name__ == "__main__":
    main()
