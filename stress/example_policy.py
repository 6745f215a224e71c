#!/usr/bin/python3
"""example_policy.py - adds the policy of docs/how-to/adding-a-policy.md to a copy of the sources,
builds it, and looks whether every part of the kit finds it by its one line.

usage: example_policy.py SOURCE_DIR C_COMPILER CXX_COMPILER
Exit 0: all do. 1: one does not.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scripts"))
from common.expect import expect, finish

NAME = "lowest_first"
TARGETS = ["pfs-bench", "bench_calls_test", "pfs-stress", "container_test", "pfs-sim"]


def call(*words, **options):
    return subprocess.run(words, capture_output=True, text=True, check=False, **options)


def add_policy(top):
    """The file and the line, as the document says."""
    text = Path(os.path.join(top, "docs", "how-to", "adding-a-policy.md")).read_text("utf-8")
    code = re.search(rf"`variants/{NAME}\.c`:\n\n```c\n(.*?)```", text, re.DOTALL).group(1)
    Path(os.path.join(top, "variants", NAME + ".c")).write_text(code, "utf-8")
    line = re.search(rf"`(PFS_VARIANT\({NAME}\))`", text).group(1)
    with open(os.path.join(top, "variants", "variants.def"), "a", encoding="utf-8") as file:
        file.write(line + "\n")


def build(top, compilers):
    """The folder of a build, or None and a fault."""
    folder = os.path.join(top, "build", "release")
    done = call("cmake", "-S", top, "-B", folder, "-G", "Ninja",
                "-DCMAKE_BUILD_TYPE=None", "-DCMAKE_C_FLAGS=-O1", "-DCMAKE_CXX_FLAGS=-O1",
                f"-DCMAKE_C_COMPILER={compilers[0]}",
                f"-DCMAKE_CXX_COMPILER={compilers[1]}")
    if done.returncode == 0:
        done = call("cmake", "--build", folder, "--target", *TARGETS)
    expect(done.returncode == 0, f"the build: {(done.stdout + done.stderr)[-2000:]}")
    return folder if done.returncode == 0 else None


def finds(what, words, said, cwd=None):
    """A command must succeed, and its output must say something."""
    done = call(*words, cwd=cwd)
    expect(done.returncode == 0 and re.search(said, done.stdout + done.stderr),
           f"{what}: exit {done.returncode}: {(done.stdout + done.stderr)[-600:]}")


def look(top, folder):
    """Every part of the kit, shortly."""
    bench = os.path.join(folder, "bench", "pfs-bench")
    sim = os.path.join(folder, "sim", "pfs-sim")
    scripts = os.path.join(top, "scripts")
    finds("pfs-bench", [bench, "--list-policies"], NAME)
    finds("the batches", [os.path.join(folder, "bench", "bench_calls_test")], "")
    for workload in ("pair", "scan", "tide"):
        finds(f"bench_{workload}", ["/usr/bin/python3", os.path.join(top, "bench", "check_json.py"),
                                    bench, "smoke", workload, NAME], "")
    finds("pfs-stress", [os.path.join(folder, "stress", "pfs-stress"), "--policy", NAME,
                         "--threads", "4", "--seconds", "1", "--seed", "1"], NAME)
    finds("unit tests", [os.path.join(folder, "stress", "unit", "container_test"), NAME],
          r"[1-9]\d* passed, 0 failed")
    finds("the search", [sim, "explore", "--policy", NAME, "--scenario", "share",
                         "--executions", "300"], NAME)
    finds("pfs-sim run", [sim, "run", "--machine", "numa:2 core:2 pu:1", "--threads", "4",
                          "--policy", NAME, "--ops", "500"], NAME)
    run_test = os.path.join(top, "sim", "tests", "run_test.py")
    finds("run_test.py", ["/usr/bin/python3", "-c", "import sys, runpy; sys.argv[1:] = "
                          f"['{sim}', 'none']; "
                          f"print(*runpy.run_path('{run_test}')['POLICIES'])"], NAME)
    finds("experiments.py", ["/usr/bin/python3", "-c", "import experiments; "
                             f"print(experiments.grids_of('short', "
                             f"experiments.policies_of('{sim}')))"], NAME, cwd=scripts)
    finds("checks/codegen.py", [os.path.join(scripts, "checks/codegen.py"), folder], "no fault")
    for object_file in (f"variants/CMakeFiles/pfslab_variants.dir/{NAME}.c.o",
                        f"bench/CMakeFiles/pfs_calls_{NAME}.dir/calls_inlined.c.o"):
        expect(os.path.exists(os.path.join(folder, object_file)), f"no {object_file}")


def main():
    with tempfile.TemporaryDirectory(prefix="pfs-example-") as folder:
        top = os.path.join(folder, "pfslab")
        shutil.copytree(sys.argv[1], top, symlinks=True, ignore=shutil.ignore_patterns(
            "build", ".git", "raw", "__pycache__"))
        add_policy(top)
        made = build(top, sys.argv[2:4])
        if made:
            look(top, made)
    finish()


if __name__ == "__main__":
    main()
