#!/usr/bin/python3
"""killed_test.py - programs that leak are killed for the memory that they hold, and their boxes are
asked whose it was: the leak's line stands first.

usage: killed_test.py PART PFS_MEM
       killed_test.py picture PFS_MEM FILE.svg     the flame graph of docs/tutorials/killed.md
PART: c, cxx: each as three compilers' flags make it, killed from outside and out of memory; wanted:
what is wanted is first where it is more; document: each command of
docs/tutorials/killed.md says what stands there.
Exit 0: all as expected. 1: something was not. 77: a tool is missing, which is named.
"""

import datetime
import html
import json
import os
import re
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import place as places
from place import SVG, TOP, expect

HERE = os.path.dirname(os.path.abspath(__file__))
MIB = 1 << 20

# What a compiler is told: {name: (flags, does it leave lines)}.
WAYS = {"debug": (["-g", "-O0", "-fno-omit-frame-pointer"], True),
        "optimised": (["-g", "-O2", "-fomit-frame-pointer"], True),
        "bare": (["-O2", "-fomit-frame-pointer"], False)}
# The compiler, the source, who leaks; and who, where only what was not inlined has a name.
PROGRAMS = {"c": ("cc", "journal.c", "keep_line", "follow"),
            "cxx": ("c++", "sessions.cc", "(anonymous namespace)::Desk::open",
                    "(anonymous namespace)::Server::answer")}


class Place(places.Place):
    """A folder with a program and its boxes."""

    def __init__(self, tool):
        super().__init__(tool)
        if not os.path.exists(os.path.join(os.path.dirname(self.tool), "libpfsmem.so")):
            places.skip("no libpfsmem.so in this build")

    def compile(self, language, way, *more):
        compiler, source, *_ = PROGRAMS[language]
        program = self.path(source.split(".", maxsplit=1)[0])
        subprocess.run([compiler, *WAYS[way][0], *more, "-o", program, os.path.join(HERE, source)],
                       check=True)
        return program

    def die(self, program, death):
        """Run it to its death; the seconds between which that was."""
        begin = time.time()
        words = [self.tool, "run", "--", program]
        if death == "killed":
            words = [sys.executable, os.path.join(HERE, "kill_at.py"), "96", *words]
        else:  # malloc says no; the program, or its language, aborts
            words = ["prlimit", f"--as={400 * MIB}", "--core=0", *words]
        self.call(words, 128 + signal.SIGKILL if death == "killed" else -signal.SIGABRT)
        return begin, time.time()


# ---- what a box says ----

def stacks_of(text):
    """[(bytes, frames)] of collapsed stacks, the largest first"""
    pairs = [line.rsplit(" ", 1) for line in text.splitlines()]
    return sorted(((int(count), stack.split(";")) for stack, count in pairs), reverse=True)


def without_parameters(name):
    """A function of C++ as its symbol has it, without what stands behind its name."""
    return name[:name.rindex("(")] if name.endswith(")") else name


def first_leaf(path):
    """(label, width in percent) of the frame at the end of the first, and so widest, branch."""
    frames = [(int(frame.get("y")), frame.find(SVG + "text").text, float(frame.get("width")[:-1]))
              for frame in xml.etree.ElementTree.parse(path).getroot().iter(SVG + "svg")
              if frame.get("class").startswith("f ")]
    last = next(i for i in range(len(frames))
                if i + 1 == len(frames) or frames[i + 1][0] <= frames[i][0])
    return frames[last][1:]


def said_death(text, begin, end):
    """Does it say when the program died, and is that so?"""
    found = re.search(r"^pfs-mem: \w+ \(\d+\) died (?:after|between) (\S+ \S+)(?: and \S+)?$",
                      text, re.M)
    if not found:
        return False
    after = datetime.datetime.strptime(found.group(1), "%Y-%m-%d %H:%M:%S").timestamp()
    return begin - 2 < after <= end + 1


def answers_name(place, what, label):
    """The table, top and the page name the leak first, with its line; also at the peak."""
    for options in ((), ("--at-peak",)):
        rows = json.loads(place.run("profile", "last", *options, "--format", "json").stdout)
        expect(rows[0]["WHERE"].startswith(label + " from "), f"{what}: profile {options}: {rows}")
    top = place.run("top", "last", "--once").stdout
    lines = top[top.index("Of heap, by line"):].splitlines()
    expect(label in lines[1], f"{what}: top has {lines[1]!r}")
    place.run("report", "--out", place.path("page.html"), "last")
    with open(place.path("page.html"), encoding="utf-8") as file:
        page = file.read()
    first = re.search(r'id="lines".*?<summary>(.*?)</summary><pre>(.*?)</pre>', page, re.S)
    expect(first and html.unescape(first.group(1)).startswith(label) and
           "main" in first.group(2), f"{what}: the page has {first and first.groups()}")
    expect('<svg class="flame"' in page or 'class="flame"' in page, f"{what}: no graph on the page")


def leak_is_first(place, language, way, death):
    """A program is compiled, and dies; who held most?"""
    _, source, inlined, outer = PROGRAMS[language]
    what, has_lines = f"{source} {way}, {death}", WAYS[way][1]
    name = inlined if has_lines else outer
    program = place.compile(language, way)
    begin, end = place.die(program, death)
    done = place.run("pprof", "last", "--format", "collapsed", "--symbolized")
    text, said = done.stdout, done.stderr
    expect(said_death(said, begin, end), f"{what}: when it died: {said!r}")
    stacks = [(size, [without_parameters(frame) for frame in frames])
              for size, frames in stacks_of(text)]
    every, (count, frames) = sum(count for count, _ in stacks), stacks[0]
    expect(frames[-1] == name and "main" in frames, f"{what}: first is {count} {frames}")
    expect(count > every / 2, f"{what}: {count} of {every}")
    place.run("flame", "last", "--out", place.path("flame.svg"))
    label, width = first_leaf(place.path("flame.svg"))
    with open(os.path.join(HERE, source), encoding="utf-8") as file:
        line = 1 + next(i for i, line in enumerate(file) if "/* the leak's line */" in line)
    expect(label == (f"{name} {source}:{line}" if has_lines else name), f"{what}: leaf {label}")
    expect(width > 50, f"{what}: {width} % wide")
    head = next(xml.etree.ElementTree.parse(place.path("flame.svg")).getroot().iter(SVG + "text"))
    expect("pfs-mem: " + head.text == said.strip(), f"{what}: its head is {head.text!r}")
    answers_name(place, what, label)
    # Named once, it needs neither the program nor its box.
    place.run("pprof", "last", "--symbolized", "--out", place.path("named.heap"))
    os.remove(program)
    again = stacks_of(place.run("pprof", place.path("named.heap"), "--format",
                                "collapsed").stdout)
    same = again[0][0] == count and without_parameters(again[0][1][-1]) == name
    expect(same, f"{what}: of the dump {again[0]}")


def of_language(place, language):
    for way in WAYS:
        for death in ("killed", "limit"):
            leak_is_first(place, language, way, death)


def c(place):
    of_language(place, "c")


def cxx(place):
    of_language(place, "cxx")


def wanted(place):
    """Where the table of 8 MiB is more than what is lost, it is first: order says something."""
    program = place.compile("c", "optimised")
    done = place.run("run", "--keep", "--lg-prof-sample", "12", "--", program, "4", status=1)
    expect("nobody killed it" in done.stderr, f"{done}")
    done = place.run("pprof", "last", "--format", "collapsed")
    text, said = done.stdout, done.stderr
    leaves = [(frames[-1], count) for count, frames in stacks_of(text)]
    expect([name for name, _ in leaves] == ["load_table", "keep_line"], f"{leaves}")
    expect("died" not in said, f"it ended: {said}")
    place.run("flame", "last", "--out", place.path("flame.svg"))
    label, _ = first_leaf(place.path("flame.svg"))
    expect(label.startswith("load_table journal.c:"), f"the first leaf: {label}")


# ---- the document ----

def commands_of(text):
    """[(command, lines below it)] of the fenced blocks."""
    found = []
    for block in re.findall(r"^```console\n(.*?)^```", text, re.M | re.S):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return found


def alike(line):
    """Without its numbers and its widths; whether there was a tick is as it comes."""
    line = re.sub(r"died between (\S+ \S+) and [\d:]+", r"died after \1", line)
    return re.sub(r"\d+(\.\d+)?", "0", " ".join(line.replace("-", " ").split()))


def is_said(wanted_lines, said):
    """The first line that a command does not say, in this order; "..." stands for lines, or for the
    begin or the rest of one."""
    rest = [alike(line) for line in said.splitlines()]
    for line in wanted_lines:
        want = alike(line)
        if want == "...":
            continue
        middle = re.escape(want.removeprefix("...").removesuffix("...").strip())
        pattern = ".*" * want.startswith("...") + middle + ".*" * want.endswith("...")
        at = next((i for i, have in enumerate(rest) if re.fullmatch(pattern, have)), None)
        if at is None:
            return line
        rest = rest[at + 1:]
    return None


def document(place):
    """A reader who types each command sees what stands below it, but for numbers."""
    os.makedirs(place.path("memory"))
    for name in ("memory/tests", "docs"):
        os.symlink(os.path.join(TOP, name), place.path(name))
    os.makedirs(place.path("build/release"))
    os.symlink(os.path.dirname(place.tool), place.path("build/release/memory"))
    with open(os.path.join(TOP, "docs", "tutorials", "killed.md"), encoding="utf-8") as file:
        commands = commands_of(file.read())
    expect(len(commands) > 5, f"{len(commands)} commands")
    exported = "".join(command + "\n" for command, _ in commands if command.startswith("export "))
    for command, lines in commands:
        done = subprocess.run(["bash", "-c", exported + command], cwd=place.folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60,
                              check=False, env=place.environment)
        missed = is_said(lines, done.stdout)
        expect(missed is None, f"$ {command}\n{done.stdout}... has no line {missed!r}")
        expect(lines or done.stdout == "", f"$ {command}\n{done.stdout}... is not in the document")


def picture(place, path):
    """The flame graph of the document, in which no path is of this machine."""
    place.compile("cxx", "optimised", f"-ffile-prefix-map={HERE}=memory/tests/killed")
    place.die(place.path("sessions"), "killed")
    place.run("flame", "last", "--out", path)


PARTS = {part.__name__: part for part in (c, cxx, wanted, document, picture)}


if __name__ == "__main__":
    places.main(PARTS, Place(sys.argv[2]), *sys.argv[3:])
