#!/usr/bin/python3
"""gallery_weaken.py - which memory orders of a program of the gallery its scenario needs.

usage: gallery_weaken.py PFS_CHECK COMPILER NAME...
Each order of the right program is made weaker, one at a time, in steps: seq_cst to acq_rel, acquire
or release, those to relaxed. Printed is what pfs-check then finds, with views: an order of which no
weaker one fails is not needed by this scenario; another one may need it. Exit status 1: a right
program does not hold, or one needs none of its orders; 77: no such compiler.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import gallery_test

ORDER = re.compile(r"memory_order_(seq_cst|acq_rel|acquire|release)")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
OPERATION = re.compile(r"atomic_(load|store|thread_fence|exchange|compare_exchange|fetch)")


def weaker(order, before):
    """The orders below one, strongest first, of an operation that begins in the text before it."""
    operations = OPERATION.findall(before)
    if order in ("acquire", "release"):
        return ["relaxed"]
    if operations and operations[-1] == "load":
        return ["acquire", "relaxed"]
    if operations and operations[-1] == "store":
        return ["release", "relaxed"]
    below = ["acquire", "release", "relaxed"]
    return below if order == "acq_rel" else ["acq_rel"] + below


def preprocessed(compiler, path):
    """What the compiler sees."""
    return subprocess.run([compiler, "-E", "-P", "-DBUG=0", "-I",
                           os.path.join(gallery_test.TOP, "include"), "-I",
                           gallery_test.GALLERY, path],
                          check=True, capture_output=True, text=True).stdout


def try_one(pfs_check, compiler, folder, text):
    """What is found in this program, or None: it is the right one."""
    path = os.path.join(folder, "weaker.c")
    Path(path).write_text(text, "utf-8")
    seen = preprocessed(compiler, path)
    program = gallery_test.build(compiler, folder, path, "BUG=0")
    status, _, _, incomplete, extent, _, words = gallery_test.run(pfs_check, program, "views")
    if status == 1 and extent == "FAILED":
        return seen, re.search(r"found: (.*)", words).group(1)
    if (status, extent, incomplete) == (0, "all there are", 0):
        return seen, "holds"
    return seen, f"exit {status}: {words}"


def weaken(pfs_check, compiler, name):
    """Prints what is found for each order of a program; does it hold, and need any of them?"""
    needed = 0
    text = Path(os.path.join(gallery_test.GALLERY, name + ".c")).read_text("utf-8")
    code = COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)
    with tempfile.TemporaryDirectory() as folder:
        right, result = try_one(pfs_check, compiler, folder, text)
        if result != "holds":
            print(f"{name}.c: {result}")
            return False
        for found in ORDER.finditer(code):
            line = code.count("\n", 0, found.start()) + 1
            for order in weaker(found.group(1), code[:found.start()]):
                seen, result = try_one(pfs_check, compiler, folder, text[:found.start()] +
                                       "memory_order_" + order + text[found.end():])
                if seen != right:
                    needed += result != "holds"
                    print(f"{name}.c:{line}: {found.group(1)} -> {order}: {result}", flush=True)
    return needed > 0


def main():
    """The exit status."""
    pfs_check, compiler, *names = sys.argv[1:]
    if shutil.which(compiler) is None:
        return 77
    return 0 if all([weaken(pfs_check, compiler, name) for name in names]) else 1


if __name__ == "__main__":
    sys.exit(main())
