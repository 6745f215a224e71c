#!/usr/bin/python3
"""litmus_test.py - the litmus tests of pfs-sim as C11, through a compiler and pfs-check: outcomes
and counts must be those of the built-in ones.

usage: litmus_test.py PFS_CHECK PFS_SIM COMPILER
Programs with the barrier of all threads (F) are no C11, and are left out. Exit 77: no compiler.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ORDERS = {"rlx": "relaxed", "acq": "acquire", "rel": "release", "ar": "acq_rel", "sc": "seq_cst"}
MODES = ("sc", "tso", "views")


def table():
    """(name, program, outcome, verdicts) of each, from the source."""
    with open(os.path.join(TOP, "sim", "litmus", "litmus_table.c"), encoding="utf-8") as file:
        text = file.read()
    rows = re.findall(r'\{ "([^"]+)",\s*"([^"]+)",\s*"([^"]+)",\s*"([AF]{3})"', text)
    return [row for row in rows if not re.search(r"\bF\b", row[1])]


def statement(text, registers):
    """One operation as C11; the registers so far are counted in a list."""
    words = text.split()
    kind, where, order = words[0], words[1], "memory_order_" + ORDERS[words[2]]
    if kind == "W":
        return f"atomic_store_explicit(&{where}, {words[3]}, {order});"
    register = f"r[{len(registers)}]"
    registers.append(register)
    if kind == "R":
        return f"{register} = atomic_load_explicit(&{where}, {order});"
    if kind == "C":
        return (f"{register} = {words[3]}; atomic_compare_exchange_strong_explicit(&{where}, "
                f"&{register}, {words[4]}, {order}, memory_order_relaxed);")
    name = {"A": "fetch_add", "X": "exchange"}[kind]
    return f"{register} = atomic_{name}_explicit(&{where}, {words[3]}, {order});"


def condition(outcome):
    """The outcome as C."""
    parts = []
    for part in outcome.split():
        left, right = part.split("=")
        left = f"r[{left[1:]}]" if left[0] == "r" else f"atomic_load(&{left})"
        parts.append(f"{left} == {right}")
    return " && ".join(parts)


def source(rows):
    """A scenario that counts, and one that asserts that the outcome never is, for each."""
    lines = ["#include <stdatomic.h>", "#include <pfslab/check.h>",
             "static atomic_uint x, y, z, w;", "static unsigned r[12];"]
    for number, (_, program, outcome, _) in enumerate(rows):
        registers = []
        threads = program.split("|")
        for thread, text in enumerate(threads):
            body = " ".join(statement(part, registers) for part in text.split(";"))
            lines.append(f"static void t{number}_{thread}(void *a) {{ (void)a; {body} }}")
        spawn = " ".join(f"pfs_check_thread(t{number}_{thread}, 0);"
                         for thread in range(len(threads)))
        lines.append(f"static void never{number}(void *a) {{ (void)a; "
                     f"pfs_check_assert(!({condition(outcome)})); }}")
        lines.append(f"PFS_CHECK_SCENARIO(count{number}) {{ {spawn} }}")
        lines.append(f"PFS_CHECK_SCENARIO(never{number}) "
                     f"{{ {spawn} pfs_check_at_rest(never{number}, 0); }}")
    return "\n".join(lines) + "\n"


def build(compiler, folder, text):
    """The path of the shared object."""
    path = os.path.join(folder, "litmus")
    with open(path + ".c", "w", encoding="utf-8") as file:
        file.write(text)
    subprocess.run([compiler, "-std=c11", "-g", "-O1", "-fsanitize=thread", "-fPIC", "-c", "-I",
                    os.path.join(TOP, "include"), "-o", path + ".o", path + ".c"], check=True)
    subprocess.run([compiler, "-shared", "-o", path + ".so", path + ".o"], check=True)
    return path + ".so"


def built_in(pfs_sim):
    """Executions of each with views."""
    said = subprocess.run([pfs_sim, "litmus"], capture_output=True, text=True, check=True).stdout
    return {found.group(1): int(found.group(2)) for found in re.finditer(
        r"^(\S+) .*(?:allowed|forbidden) +(?:allowed|forbidden) +(?:allowed|forbidden) +(\d+) ",
        said, re.MULTILINE)}


def check(pfs_check, program, rows, expected):
    """Faults, in all three modes."""
    faults = []
    for mode, memory in enumerate(MODES):
        said = subprocess.run([pfs_check, program, "--memory", memory, "--quiet"],
                              capture_output=True, text=True, check=False).stdout
        seen = {found.group(1): found for found in re.finditer(
            r"^(\w+) \w+ exhaustive: (\d+) executions \((\d+) repeated a class, 0 incomplete\), "
            r"\d+ steps, (FAILED|all there are)", said, re.MULTILINE)}
        for number, (name, _, _, verdicts) in enumerate(rows):
            never, count = seen.get(f"never{number}"), seen.get(f"count{number}")
            if never is None or count is None or count.group(4) == "FAILED":
                faults.append(f"{name} {memory}: no result")
                continue
            if (never.group(4) == "FAILED") != (verdicts[mode] == "A"):
                faults.append(f"{name} {memory}: {never.group(4)}, expected {verdicts[mode]}")
            executions = int(count.group(2)) - int(count.group(3))
            if memory == "views" and executions != expected[name]:
                faults.append(f"{name}: {executions} executions, built in {expected[name]}")
    return faults


def main():
    """The exit status."""
    pfs_check, pfs_sim, compiler = sys.argv[1:4]
    if shutil.which(compiler) is None:
        return 77
    rows = table()
    with tempfile.TemporaryDirectory() as folder:
        faults = check(pfs_check, build(compiler, folder, source(rows)), rows, built_in(pfs_sim))
    for fault in faults:
        print(fault)
    print(f"{len(rows)} programs by {compiler}, {len(faults)} faults")
    return 1 if faults or len(rows) < 50 else 0


if __name__ == "__main__":
    sys.exit(main())
