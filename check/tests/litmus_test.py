#!/usr/bin/python3
"""litmus_test.py - the litmus tests of pfs-litmus as C11, through a compiler and pfs-check:
executions and outcomes must be those of the built-in ones, with each memory.

usage: litmus_test.py PFS_CHECK PFS_LITMUS COMPILER [OPTION...]
  without    the table's programs, but for those with the barrier of all threads (F), which are no
             C11
  --random   N random programs besides, with compare-and-swap, read-modify-writes and fences
  --seed     of --random; default 1
  --flags    of the compiler; default -O1
  --keep     a folder: leave the C files there
Exit 0: all the same. 1: not. 77: no such compiler.
"""

import argparse
import os
import re
import shutil
import tempfile
from pathlib import Path

from programs import TOP, build, expect, finish, run, skip

ORDERS = {order: "memory_order_" + name for order, name in (
    ("rlx", "relaxed"), ("acq", "acquire"), ("rel", "release"), ("ar", "acq_rel"),
    ("sc", "seq_cst"))}
PART = 1000  # programs in one shared object
REGISTERS = 12


def table():
    """{program: (name, outcome looked for, verdicts)}, from the source."""
    text = Path(os.path.join(TOP, "check", "litmus", "litmus_table.c")).read_text("utf-8")
    rows = re.findall(r'\{ "([^"]+)",\s*"([^"]+)",\s*"([^"]+)",\s*"([AF]+)[ "]', text)
    return {program: (name, outcome, verdicts) for name, program, outcome, verdicts in rows}


def statement(text, registers):
    """One operation as C11; the registers so far are counted in a list."""
    kind, *words = text.split()
    if kind == "T":
        return f"atomic_thread_fence({ORDERS[words[0]]});"
    where, order, values = words[0], ORDERS[words[1]], words[2:]
    if kind == "W":
        return f"atomic_store_explicit(&{where}, {values[0]}, {order});"
    register = f"r[{len(registers)}]"
    registers.append(register)
    if kind == "R":
        return f"{register} = atomic_load_explicit(&{where}, {order});"
    if kind == "C":
        failure = ORDERS[values[2] if len(values) == 3 else "rlx"]
        return (f"{register} = {values[0]}; atomic_compare_exchange_strong_explicit(&{where}, "
                f"&{register}, {values[1]}, {order}, {failure});")
    name = {"A": "fetch_add", "X": "exchange"}[kind]
    return f"{register} = atomic_{name}_explicit(&{where}, {values[0]}, {order});"


def head():
    """What all scenarios of a file share: at rest, registers and final values are the outcome."""
    lines = ["#include <stdatomic.h>", "#include <pfslab/check.h>",
             "static atomic_uint x, y, z, w;", f"static unsigned r[{REGISTERS}];"]
    for count in range(REGISTERS + 1):
        names = "".join(f"r{i}=%u " for i in range(count))
        values = "".join(f"r[{i}], " for i in range(count))
        lines.append(f"static void rest{count}(void *a) {{ (void)a; pfs_check_outcome("
                     f'"{names}x=%u y=%u z=%u w=%u", {values}atomic_load(&x), atomic_load(&y), '
                     "atomic_load(&z), atomic_load(&w)); }")
    used = "".join(f"(void)rest{count};" for count in range(REGISTERS + 1))
    return lines + [f"void use(void); void use(void) {{ {used} }}"]


def source(programs):
    """A scenario for each."""
    lines = head()
    for number, program in enumerate(programs):
        registers = []
        threads = program.split(" | ")
        lines.append(f"/* {program} */")
        for thread, text in enumerate(threads):
            body = " ".join(statement(part, registers) for part in text.split("; "))
            lines.append(f"static void t{number}_{thread}(void *a) {{ (void)a; {body} }}")
        spawn = " ".join(f"pfs_check_thread(t{number}_{thread}, 0);"
                         for thread in range(len(threads)))
        lines.append(f"PFS_CHECK_SCENARIO(p{number}) {{ {spawn} "
                     f"pfs_check_at_rest(rest{len(registers)}, 0); }}")
    return "\n".join(lines) + "\n"


def built_in(*command):
    """{program: {memory: (executions, outcomes)}}"""
    said = run(*command).stdout
    found = {}
    for block in re.split(r"^(?=\S)", said, flags=re.MULTILINE):
        program, *parts = re.split(r"^ (\w+): (\d+) executions, \d+ outcomes\n", block,
                                   flags=re.MULTILINE)
        if parts:
            found[program.strip()] = {
                parts[i]: (int(parts[i + 1]), frozenset(parts[i + 2].split("\n")[:-1]))
                for i in range(0, len(parts), 3)}
    return {program: {memory: (count, frozenset(line.strip() for line in outcomes))
                      for memory, (count, outcomes) in modes.items()}
            for program, modes in found.items()}


def checked(pfs_check, program, memory):
    """{scenario: (executions, outcomes)} of those whose search was complete."""
    said = run(pfs_check, program, "--memory", memory, "--quiet").stdout
    found = {}
    for block in re.split(r"^(?=\S)", said, flags=re.MULTILINE):
        first = re.match(r"(\w+) \w+ exhaustive: (\d+) executions \((\d+) repeated a class, "
                         r"0 incomplete\), \d+ steps, all there are: no violation\n", block)
        if first:
            found[first.group(1)] = (int(first.group(2)) - int(first.group(3)), frozenset(
                re.findall(r"^ +\d+  (\S.*)$", block[first.end():], flags=re.MULTILINE)))
    return found


def compare(pfs_check, program, programs, expected):
    """One shared object, with what is built in."""
    for memory in expected[programs[0]]:
        seen = checked(pfs_check, program, memory)
        for number, text in enumerate(programs):
            count, outcomes = seen.get(f"p{number}", (0, frozenset()))
            wanted, wanted_outcomes = expected[text][memory]
            expect(count == wanted, f"{text}, {memory}: {count} executions, built in {wanted}")
            for outcome in sorted(outcomes ^ wanted_outcomes):
                expect(False, f"{text}, {memory}: {outcome} "
                       f"{'not there' if outcome in wanted_outcomes else 'not built in'}")


def verdicts(rows, expected):
    """Is the outcome that is looked for among those that there are, where it should?"""
    for program, (name, outcome, allowed) in rows.items():
        for judged, memory in zip(allowed, expected[program]):
            met = any(set(outcome.split()) <= set(one.split())
                      for one in expected[program][memory][1])
            expect(met == (judged == "A"), f"{name}, {memory}: {outcome}, expected {judged}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", nargs=3)
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--flags", default="-O1")
    parser.add_argument("--keep")
    arguments = parser.parse_args()
    pfs_check, pfs_litmus, compiler = arguments.programs
    if shutil.which(compiler) is None:
        skip(f"no {compiler}")
    rows = table()
    expected = built_in(pfs_litmus, "--outcomes")
    verdicts(rows, expected)
    if arguments.random != 0:
        expected.update(built_in(pfs_litmus, "--random", str(arguments.random), "--seed",
                                 str(arguments.seed)))
    programs = [text for text in expected if not re.search(r"\bF\b", text)]
    expect(len(programs) >= 50, f"{len(programs)} programs")
    with tempfile.TemporaryDirectory() as folder:
        for first in range(0, len(programs), PART):
            part = programs[first:first + PART]
            path = os.path.join(arguments.keep or folder, f"litmus{first // PART}")
            Path(path + ".c").write_text(source(part), "utf-8")
            # gcc warns of fences that libtsan does not know.
            compare(pfs_check, build(compiler, path + ".c", path, "-std=c11",
                                     *arguments.flags.split()), part, expected)
    finish()


if __name__ == "__main__":
    main()
