#!/usr/bin/python3
"""ordering.py - every memory order is argued; checks everything but the prose.

usage: scripts/checks/ordering.py [TOP]
In containers/, variants/, memory/, the adapters of server/ and bench/gate.h:
  - a label such as [B1] is defined once, as "[B1] what:" in the Ordering table that opens a
    file, and is named by a comment at an operation; a label that is named is defined
    (labels at the head of a line under "Invariant" are invariants, not orders);
  - partners name each other: if [B1] pairs with [B2], then [B2] pairs with [B1];
  - each acquire, release and seq operation has "[B1] acquire, pairs with [B2]" at it, with the
    order that it uses (or just /* [B1] ... on its line, where that is said nearby), each relaxed
    one "relaxed: why"; at it means on its lines or in the comment that ends up to 3 lines above.
Everywhere: no standalone thread fence; no <stdatomic.h>, __atomic_ or __sync_ outside
containers/atomic.h, bench/gate.h and include/pfslab/calls.h (the tests' own flags in stress/ and
*_test.c may use <stdatomic.h>). Where clang is installed, it also refuses plain accesses to
_Atomic objects.
Exit 0: all is argued. 1: something is not.
"""

import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from checks import sources

DOOR = ("containers/atomic.h", "bench/gate.h", "recorder/ring.h", "include/pfslab/calls.h")
# Tests and measurements of memory/: their orders need no argument.
NOT_CORE = ("memory/tests/", "memory/bench/", "memory/search/")
SERVER_TESTS = ("_test.cc", "/testing.h")
# What pfs-check replaces, and programs as its users write them.
USERS = ("check/programs/", "check/example/", "check/gallery/", "check/others/",
         "check/front/tsan.c")
LABEL = re.compile(r"\[([A-Z]{1,2}[0-9]+)\]")
DEFINITION = re.compile(r"\[([A-Z]{1,2}[0-9]+)\]\s+[\w/,>. -]+:")
OPERATION = re.compile(r"\b(?:pfs_(?:load|store|cas|exchange|fetch_[a-z]+)_"
                       r"(relaxed|acquire|release|acq_rel|seq)\s*\(|"
                       r"memory_order_(relaxed|acquire|release|acq_rel|seq_cst|consume)\b)")
FENCE = re.compile(r"\batomic_thread_fence\b|\b__sync_synchronize\b|\b__atomic_thread_fence\b|"
                   r"\bck_pr_(?:fence|barrier)")
RAW = re.compile(r"#\s*include\s*<stdatomic\.h>|\b__atomic_\w+|\b__sync_\w+")
IMPLICIT = re.compile(r"\batomic_(?!init\b|uint|int|bool|flag\b|signal_fence|is_lock_free)"
                      r"\w+(?<!_explicit)\s*\(")
PAIRS = re.compile(r"pairs? with|\bwith (?=\[)|\band with (?=\[)")
AT_CODE = re.compile(r"\[[A-Z]{1,2}[0-9]+\],? (?:acquire|release|acq_rel|seq|\*/)")
RUN = re.compile(r"\s*((?:\[[A-Z]{1,2}[0-9]+\](?:, and |, | and )?)+)")


class Labels:
    """Labels of all files together: where each is defined and named, and its partner."""

    def __init__(self):
        self.defined = {}
        self.invariants = set()
        self.named = {}
        self.at_code = set()
        self.partners = {}

    def pair(self, one, others):
        """one names others as its partners."""
        self.partners.setdefault(one, set()).update(others)


def line_of(text, position):
    """The line number, from 1, of a position."""
    return text.count("\n", 0, position) + 1


def opening(comments):
    """Where the opening comment ends: the table of a file stands before it."""
    found = re.search(r"\*/", comments)
    return found.end() if found else 0


def table_of(comments):
    """(begin, end) of the Ordering table in the opening comment; it ends at an empty line or
    at the next heading, such as "Source:" or "Proof."."""
    end = opening(comments)
    table = re.search(r"Ordering:", comments[:end])
    if not table:
        return end, end
    stop = re.compile(r"\n[ \t]*\*[ \t]*(?:\n|/|[A-Z][a-z]+[:.]|\(?[A-Z][\w ]+:\s)")
    found = stop.search(comments, table.end(), end)
    return table.start(), found.start() if found else end


def pairs_in(block):
    """(label, partners) of each "[B1] ..., pairs with [B2]" in a comment."""
    flat = re.sub(r"\s+\*?\s*", " ", block)
    subject = None
    for found in PAIRS.finditer(flat):
        if found.group(0).startswith("pair"):
            before = LABEL.findall(flat[:found.start()])
            subject = before[-1] if before else None
        run = RUN.match(flat, found.end())
        if subject and run:
            yield subject, LABEL.findall(run.group(1))


def gather(path, text, labels, faults):
    """Collect definitions, names and partners of one file."""
    comments = sources.only_comments(text)
    begin, end = table_of(comments)
    for found in DEFINITION.finditer(comments, begin, end):
        name = found.group(1)
        if labels.defined.get(name, path) != path:
            faults.append(f"{path}:{line_of(text, found.start())}: [{name}] is already defined "
                          f"in {labels.defined[name]}")
        labels.defined[name] = path
    after = opening(comments)
    # "Invariant:" and the lines up to the table name what always holds, not an order.
    section = re.search(r"Invariants?\b(.*?)(?=Ordering:|\*/)", comments[:after], re.DOTALL)
    if section:
        heads = re.findall(r"^[ \t*]*\[([A-Z]{1,2}[0-9]+)\]", section.group(1), re.MULTILINE)
        labels.invariants.update(heads)
    for found in LABEL.finditer(comments):
        labels.named.setdefault(found.group(1), (path, line_of(text, found.start())))
        if found.start() > after and AT_CODE.match(comments, found.start()):
            labels.at_code.add(found.group(1))
    for block in re.findall(r"/\*.*?\*/", comments[after:], re.DOTALL) + [comments[begin:end]]:
        for one, others in pairs_in(block):
            labels.pair(one, others)
    for row in re.finditer(r"([^\n]*)<->([^\n]*)", comments[begin:end]):
        left, right = (LABEL.findall(side) for side in row.groups())
        for one in left[-1:]:
            for other in right:
                labels.pair(one, [other])
                labels.pair(other, [one])


def judge_labels(labels):
    """Faults in the labels of all files together."""
    faults = []
    for name, (path, line) in sorted(labels.named.items()):
        if name not in labels.defined and name not in labels.invariants:
            faults.append(f"{path}:{line}: [{name}] is in no Ordering table")
    for name, path in sorted(labels.defined.items()):
        if name not in labels.at_code:
            faults.append(f"{path}: [{name}] stands in the Ordering table, but at no operation")
        if name not in labels.partners:
            faults.append(f"{path}: [{name}] names no partner")
    for one, others in sorted(labels.partners.items()):
        for other in sorted(others):
            if one not in labels.partners.get(other, ()):
                path, line = labels.named[one]
                faults.append(f"{path}:{line}: [{one}] pairs with [{other}], which does not "
                              f"name [{one}]")
    return faults


def argument_at(code_lines, comment_lines, number):
    """(above, own) comments of a statement: the nearest that stands alone above it, ends at most
    3 lines up and has no other ordered operation behind it; and those on its own lines."""
    last = number
    while ";" not in code_lines[last] and last + 1 < len(code_lines) and last < number + 4:
        last += 1
    while number > 0 and code_lines[number - 1].strip() and \
            not code_lines[number - 1].rstrip().endswith((";", "{", "}", ":")):
        number -= 1  # back to where the statement, or the header of its loop, begins
    own = comment_lines[number:last + 1]
    above = number - 1
    while above >= max(0, number - 3) and code_lines[above].strip():
        strong = OPERATION.search(code_lines[above])
        if strong and "relaxed" not in strong.group(0):
            return "", " ".join(own)
        above -= 1
    block = []
    while above >= max(0, number - 3) and not code_lines[above].strip() and \
            not comment_lines[above].strip():
        above -= 1
    if above < number - 3:
        return "", " ".join(own)
    while above >= 0 and comment_lines[above].strip() and not code_lines[above].strip():
        block.insert(0, comment_lines[above].strip())
        above -= 1
    return " ".join(block), " ".join(own)


def judge_operations(path, text):
    """Faults at the operations of one file."""
    faults = []
    code = sources.without_comments(text)
    code_lines = code.split("\n")
    comment_lines = sources.only_comments(text).split("\n")
    for found in OPERATION.finditer(code):
        order = (found.group(1) or found.group(2)).replace("seq_cst", "seq")
        number = line_of(code, found.start()) - 1
        if "signal_fence" in code_lines[number]:  # for the compiler only, not for threads
            continue
        above, own = argument_at(code_lines, comment_lines, number)
        argument = above + " " + own
        place = f"{path}:{number + 1}"
        if order == "relaxed":
            # The failure order of a C11 CAS is argued by the label of the CAS.
            if not re.search(r"relaxed(?:,? [\w ]{1,20})?:\s*\S", argument) and not (
                    found.group(2) and LABEL.search(argument)):
                faults.append(f"{place}: relaxed without 'relaxed: why'")
        elif not (re.search(rf"\[[A-Z]{{1,2}}[0-9]+\],? {order}\b", argument) or
                  re.search(r"/\* \[[A-Z]{1,2}[0-9]+\](?! acq| rel| seq)", own)):
            faults.append(f"{place}: {order} without '[label] {order}, pairs with [label]'")
    return faults


def judge_doors(path, text):
    """Atomics outside the door, and fences anywhere."""
    faults = []
    code = sources.without_comments(text)
    is_test = path.startswith(("stress/", "memory/tests/")) or path.endswith("_test.c")
    for found in FENCE.finditer(code):
        faults.append(f"{path}:{line_of(code, found.start())}: standalone fence "
                      f"{found.group(0)}; ThreadSanitizer does not model it")
    if path not in DOOR:
        for found in RAW.finditer(code):
            if not (is_test and "stdatomic" in found.group(0)):
                faults.append(f"{path}:{line_of(code, found.start())}: {found.group(0)} outside "
                              "containers/atomic.h")
    if not is_test:
        for found in IMPLICIT.finditer(code):
            faults.append(f"{path}:{line_of(code, found.start())}: {found.group(0).strip(' (')} "
                          "does not name its order")
    return faults


def judge_plain(top, paths):
    """Plain accesses to _Atomic objects, which clang finds; none looked for without it."""
    if not shutil.which("clang"):
        return []
    faults = []
    for path in paths:
        command = ["clang", "-fsyntax-only", "-std=gnu11", "-Wno-everything",
                   "-Watomic-implicit-seq-cst", "-I", os.path.join(top, "include"),
                   "-I", os.path.join(top, "containers"), "-I", top, os.path.join(top, path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        faults += [line.replace(top + os.sep, "") for line in done.stderr.splitlines()
                   if "atomic-implicit-seq-cst" in line]
        if done.returncode:
            first = [line for line in done.stderr.splitlines() if "error" in line][:1]
            faults.append(f"{path}: clang cannot read it: {' '.join(first)}")
    return faults


def check(top):
    """(faults, number of files)"""
    faults, labels = [], Labels()
    core = [p for p in sources.files(top, ("containers", "variants", "memory"), (".c", ".h"))
            if not p.startswith(NOT_CORE)]
    core += [p for p in sources.files(top, ("server",), (".cc", ".h"))
             if not p.endswith(SERVER_TESTS) and "/standin/" not in p]
    core += [p for p in sources.files(top, ("bench",), (".h",)) if p == "bench/gate.h"]
    every = [p for p in sources.files(top, sources.LAYERS, (".c", ".h", ".cc"))
             if not p.startswith(USERS)]
    for path in core:
        text = sources.read(top, path)
        gather(path, text, labels, faults)
        if path != "containers/atomic.h":
            faults += judge_operations(path, text)
    faults += judge_labels(labels)
    for path in every:
        if not path.startswith(("sim/", "memory/search/")):
            faults += judge_doors(path, sources.read(top, path))
    faults += judge_plain(top, [p for p in core if p.endswith(".c")])
    return faults, len(every)


if __name__ == "__main__":
    sys.exit(sources.finish("checks/ordering.py", *check(sources.top_of(sys.argv[1:]))))
