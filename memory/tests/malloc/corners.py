#!/usr/bin/python3
"""corners.py - runs each corner in a process of its own, with each allocator, and prints a matrix.

usage: memory/tests/malloc/corners.py [--allocators pfs,glibc,...] [--themes fork,...] [--only TEXT]
                                [--check] [--notes] [--jobs N]
Exit 0: it ran; with --check: ours failed nowhere. 1: with --check, ours failed. 2: bad usage.
A cell: ok; late (a misuse is detected, but only after the pointer was returned again: no failure
here); skipped; or what went wrong. "hangs": it did not end in time.
"""

import concurrent.futures
import os
import re
import sys
import time

import preload

THEMES = ("limits", "contents", "fork", "fork_free", "life", "threads", "misuse", "scarce",
          "numbers", "operators", "single", "refused", "dlopen", "jemalloc", "mallctl", "profile",
          "arenas", "conf", "fill", "replaced")
SECONDS = 60
VERDICT = re.compile(r"^(ok|late|failed|skipped) (\w+)(?:: (.*))?$", re.MULTILINE)


def program_of(chosen, theme):
    """The path of a theme's program."""
    return os.path.join(chosen.programs, f"corner_{theme}")


def names_of(program):
    """The subtests of a theme."""
    done = preload.run([program, "--list"])
    if done.code != 0:
        raise SystemExit(f"corners.py: {program} --list: exit {done.code}: {done.err.strip()}")
    return done.out.split()


def judge(done):
    """(verdict, why): the first failure counts; the exit status must also be right."""
    said = VERDICT.findall(done.out)
    if done.code is None:
        return "failed", "hangs"
    for verdict, _, why in said:
        if verdict == "failed":
            return verdict, why
    if said and said[-1][0] == "skipped":
        return "skipped", said[-1][2]
    err = done.err.strip().split("\n")[0]
    if done.code > 128:
        return "failed", f"signal {done.code - 128}" + (f"; {err}" if err else "")
    if done.code != 0 or not said:
        return "failed", f"exit {done.code}" + (f"; {err}" if err else "")
    return said[-1][0], said[-1][2]


def cell(verdict, why, notes):
    """The text of a cell."""
    if verdict == "ok":
        return f"ok: {why}" if notes and why else "ok"
    return f"{'**failed**' if verdict == 'failed' else verdict}: {why}"


def parse(argv):
    """The options."""
    result = preload.parser(__doc__)
    result.add_argument("--themes", type=preload.comma_list(THEMES), default=THEMES,
                        metavar="NAME,...", help=f"of {', '.join(THEMES)}")
    result.add_argument("--only", default="", metavar="TEXT", help="subtests with TEXT in them")
    result.add_argument("--notes", action="store_true", help="what a subtest that is ok says")
    result.add_argument("--jobs", type=int, default=1, metavar="N",
                        help="processes at once; many corners sleep (default: 1)")
    chosen = result.parse_args(argv)
    if chosen.jobs < 1:
        result.error(f"--jobs {chosen.jobs}: give at least 1")
    return chosen


def run_one(program, theme, name, allocator, library):
    """A corner with an allocator: (verdict, why)."""
    begin = time.monotonic()
    verdict, why = judge(preload.run([program, name], library, SECONDS))
    print(f"{theme} {name} {allocator} {verdict} {time.monotonic() - begin:.1f} s",
          file=sys.stderr, flush=True)
    return verdict, why


def main(argv):
    """The matrix."""
    chosen = parse(argv)
    found = preload.libraries(chosen)
    rows, counts, failed = [], {name: 0 for name in found}, []
    with concurrent.futures.ThreadPoolExecutor(chosen.jobs) as pool:
        corners = [(theme, name, {allocator: pool.submit(run_one, program_of(chosen, theme), theme,
                                                         name, allocator, library)
                                  for allocator, library in found.items()})
                   for theme in chosen.themes for name in names_of(program_of(chosen, theme))
                   if chosen.only in name]
    for theme, name, cells in corners:
        row = [f"{theme} {name}"]
        for allocator, done in cells.items():
            verdict, why = done.result()
            counts[allocator] += verdict == "failed"
            if verdict == "failed" and allocator == "pfs":
                failed.append(f"{theme} {name}: {why}")
            row.append(cell(verdict, why, chosen.notes))
        rows.append(row)
    rows.append(["failed"] + [str(counts[name]) for name in found])
    print(preload.table(["corner"] + list(found), rows))
    return preload.verdict(chosen, found, "corners.py: pfs failed", failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
