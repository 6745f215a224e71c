#!/usr/bin/python3
"""examples.py - the examples in README.md, CONTRIBUTING.md and docs/ are of this project.

usage: scripts/checks/examples.py BUILD_FOLDER [FILE.md...]
Blocks of C and C++ must compile without a warning: ```c and ```cpp hold a whole file, ```c part the
inside of a function; further declarations are in a comment <!-- c: ... --> before the block.
Commands (lines of ```sh and ```console blocks, indented blocks, and `code`) that begin with a
program or script of ours: it exists, and its --help knows each option that the line has.
```python must compile, ```r be parsed where R is installed.
```cmake stands in the README alone: the test readme_example builds it. Where … stands
for some words, options are not asked for. Other languages: none.
Exit 0: no fault. 1: each fault in a line. 2: bad usage.
"""

import glob
import os
import re
import shlex
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from common import commandline

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FENCE = re.compile(r"(?:<!-- c:(?P<before>.*?)-->\s*)?^```(?P<kind>[^\n]*)\n(?P<text>.*?)^```$",
                   re.DOTALL | re.MULTILINE)
INDENTED = re.compile(r"(?:(?<=\n\n)|\A)(?:    [^\n]*\n(?:\n(?=    ))?)+")
SPAN = re.compile(r"`([^`\n]+)`")
OURS = re.compile(r"(?:\./)?(?:build/\w+/[\w/-]+/|scripts/|stress/|sim/|bench/|recorder/)[\w./-]+$"
                  r"|pfs-(?:bench|mem|sim|stress|trace|check)$")
BUILT = re.compile(r"(?:^|[=L])(?:\$PWD/)?build/(\w+)/([\w./+-]+)$")
FLAGS = ["-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", "-fsyntax-only"]
HEADERS = "".join(f"#include <pfslab/{os.path.basename(path)}>\n"
                  for path in sorted(glob.glob(os.path.join(TOP, "include", "pfslab", "*.h"))))


class Check:
    """What was checked, and what is wrong."""

    def __init__(self, build):
        self.build, self.faults, self.looked, self.helps = build, [], 0, {}
        with open(os.path.join(TOP, "CMakePresets.json"), encoding="utf-8") as file:
            self.presets = set(re.findall(r'"name": "(\w+)"', file.read()))

    def fault(self, where, what):
        """One more."""
        self.faults.append(f"{where}: {what}")

    def compile(self, where, kind, before, text):
        """A block of C or C++."""
        self.looked += 1
        language, standard = ("c", "-std=gnu11") if kind[0] == "c" else ("c++", "-std=c++11")
        include = ["-I", os.path.join(TOP, "include")]
        if '#include "' in text: # of the project's own: a policy, say
            include += ["-I", TOP, "-I", os.path.join(TOP, "variants")]
        if before and kind[1:] != ["part"]:
            text = before + "\n" + text
        if kind[1:] == ["part"]:
            text = HEADERS + f"void part(void);\nvoid part(void)\n{{\n{before or ''}\n{text}\n}}\n"
        done = subprocess.run(["cc" if language == "c" else "c++", "-x", language, standard, *FLAGS,
                               *include, "-"], input=text, text=True, capture_output=True,
                              check=False)
        if done.returncode:
            error = re.search(r"(?:error|warning): (.*)", done.stderr)
            self.fault(where, f"the {kind[0]} block does not compile: "
                              f"{error[1] if error else done.stderr[:200]}")

    def script(self, where, kind, text):
        """A block of Python or R."""
        self.looked += 1
        if kind == "python":
            try:
                compile(text, where, "exec")
            except SyntaxError as error:
                self.fault(where, f"the python block does not compile: {error.msg}")
        elif shutil.which("Rscript"):
            done = subprocess.run(["Rscript", "-e", 'invisible(parse(file("stdin")))'], text=True,
                                  input=text, capture_output=True, check=False)
            if done.returncode:
                self.fault(where, f"R cannot parse the block: {done.stderr[:200]}")

    def help_of(self, program, words):
        """What --help says of a program, and of its subcommand."""
        key = (program, words[0] if words and re.match(r"[a-z]", words[0]) else "")
        if key not in self.helps:
            said = ""
            for command in {(program, "--help"), (program, *filter(None, key[1:]), "--help")}:
                done = subprocess.run(command, text=True, capture_output=True, check=False,
                                      stdin=subprocess.DEVNULL, timeout=60, cwd=self.build)
                said += done.stdout + done.stderr
            self.helps[key] = said
        return self.helps[key]

    def program(self, where, word):
        """The file that a command's first word means; None: there is none."""
        built = BUILT.search(word.removeprefix("./"))
        if built and built[1] not in self.presets:
            self.fault(where, f"{word}: there is no preset {built[1]}")
        elif built:
            path = os.path.join(self.build, built[2])
            if glob.glob(path + "*"):
                return path
            self.fault(where, f"{word}: no such thing is built")
        elif word.startswith("pfs-"):
            found = [path for path in glob.glob(os.path.join(self.build, "*", word))
                     if os.path.isfile(path)]
            return found[0] if found else None
        elif os.path.exists(os.path.join(TOP, word)):
            return os.path.join(TOP, word)
        else:
            self.fault(where, f"{word}: there is no such file")
        return None

    def command(self, where, line):
        """A command line, if it is one of ours."""
        try:
            words = shlex.split(line.split(" # ")[0].split(" | ")[0].replace("\\\n", " "))
        except ValueError:
            return
        for word in words:
            if BUILT.search(word) and not OURS.match(word):
                self.program(where, word)
        while words and re.match(r"[A-Z_]+=|\$$|sudo$", words[0]):
            words.pop(0)
        if not words or not OURS.match(words[0]):
            return
        self.looked += 1
        path = self.program(where, words[0])
        if path is None or "…" in words or not os.access(path, os.X_OK):
            return
        words = words[1:words.index("--")] if "--" in words else words[1:]
        for option in [word.split("=")[0] for word in words if re.match(r"--\w", word)]:
            if not re.search(re.escape(option) + r"(?![\w-])", self.help_of(path, words)):
                self.fault(where, f"{line.strip()[:70]}: --help does not know {option}")

    def lines(self, where, text):
        """The commands of a block."""
        for line in text.replace("\\\n", " ").splitlines():
            self.command(where, line.strip())

    def page(self, path):
        """One file."""
        name = os.path.relpath(path, TOP)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for found in FENCE.finditer(text):
            kind = found["kind"].split()
            where = f"{name}:{text.count(chr(10), 0, found.start('kind')) + 1}"
            if not kind:
                continue
            if kind[0] in ("c", "cpp"):
                self.compile(where, kind, found["before"], found["text"])
            elif kind[0] in ("python", "r"):
                self.script(where, kind[0], found["text"])
            elif kind[0] in ("sh", "console"):
                self.lines(where, found["text"])
            elif kind[0] != "cmake" or name != "README.md":
                self.fault(where, f"a block of '{found['kind']}', which nothing checks")
        rest = FENCE.sub(lambda found: "\n" * found[0].count("\n"), text)
        for found in INDENTED.finditer(rest):
            self.lines(f"{name}:{rest.count(chr(10), 0, found.start()) + 1}", found[0])
        for found in SPAN.finditer(INDENTED.sub(lambda found: "\n" * found[0].count("\n"), rest)):
            self.command(f"{name}: `{found[1][:40]}`", found[1])


def main(argv=None):
    """The command."""
    parser = commandline.Parser(prog="scripts/checks/examples.py", description="Do the documents' "
                                "examples compile, and do their commands exist?")
    parser.add_argument("build", metavar="BUILD_FOLDER", help="where the programs are")
    parser.add_argument("files", metavar="FILE.md", nargs="*", help="default: all")
    arguments = parser.parse_args(argv)
    check = Check(os.path.abspath(arguments.build))
    for path in arguments.files or [os.path.join(TOP, name) for name in (
            "README.md", "CONTRIBUTING.md")] + sorted(
            glob.glob(os.path.join(TOP, "docs", "*", "*.md"))
            + glob.glob(os.path.join(TOP, "*", "README.md"))
            + glob.glob(os.path.join(TOP, "*", "*", "README.md"))):
        check.page(path)
    for fault in check.faults:
        print(f"checks/examples.py: {fault}")
    if not check.looked:
        print("checks/examples.py: no example was found")
        return 1
    if not check.faults:
        print(f"checks/examples.py: {check.looked} looked at, no fault")
    return 1 if check.faults else 0


if __name__ == "__main__":
    commandline.run(main, "checks/examples.py")
