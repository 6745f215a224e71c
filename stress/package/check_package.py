#!/usr/bin/python3
"""check_package.py - the Debian packages of a build folder: made, looked at, unpacked, used.

usage: check_package.py SOURCE_FOLDER BUILD_FOLDER VERSION
Each is unpacked into a folder of its own, with a space in its name, and is used from there.
What only an installation shows (apt, ldconfig, man, purge) is seen by scripts/checks/package.sh.
Exit 0: as promised. 1: not, each fault in a line. 77: no Debian here.
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

FAULTS = []
PROGRAMS = ("pfs-bench", "pfs-sim", "pfs-stress", "pfs-trace", "pfs-check", "pfs-mem")
# package: what it depends on, among others; what it does not.
OF_KIT = ("libbenchmark", "libhwloc15", "libstdc++6")
OF_MEM = ("libsqlite3", "libmicrohttpd", "libdw1", "zlib1g")
NEEDS = {"pfslab-kit": (("libc6", "libjansson4") + OF_KIT, OF_MEM),
         "pfs-check": (("libc6",), OF_KIT + OF_MEM + ("libjansson4",)),
         "pfs-mem": (("libc6",) + OF_MEM, OF_KIT + ("libjansson4",)),
         "pfslab-doc": ((), ("lib",))}
# All that pfs-check has: nothing may be missing, and nothing else is needed.
CHECK_FILES = """bin/pfs-check
include/pfslab/check.h
include/pfslab/check_copies.h
lib/MULTIARCH/cmake/pfs-check/pfs-checkConfig.cmake
lib/MULTIARCH/cmake/pfs-check/pfs-checkConfigVersion.cmake
lib/MULTIARCH/cmake/pfs-check/pfs-checkRun.cmake
lib/MULTIARCH/pkgconfig/pfs-check.pc
share/bash-completion/completions/pfs-check
share/doc/pfs-check/changelog.Debian.gz
share/doc/pfs-check/copyright
share/lintian/overrides/pfs-check
share/man/man1/pfs-check.1.gz
share/pfslab/gdb.py"""
WALK = """#include <pfslab/malloc.h>
#include <stdio.h>
static bool count(const struct pfs_malloc_block *block, void *context)
{
	(void)block;
	++*(int *)context;
	return true;
}
int main(void)
{
	int blocks = 0;
	void *mine = pfs_malloc(100);
	pfs_malloc_walk(count, &blocks);
	pfs_block_free(mine);
	return blocks < 1;
}
"""
ACCOUNTS = """cmake_minimum_required(VERSION 3.20)
project(example LANGUAGES C)
find_package(pfs-mem REQUIRED COMPONENTS static)
foreach(kind accounts accounts_static)
  add_executable(${kind} trace_example.c)
  target_link_libraries(${kind} PRIVATE pfslab::${kind})
endforeach()
"""


def expect(is_so, what):
    """Remember what is not so."""
    if not is_so:
        FAULTS.append(what)
        print(f"failed: {what}", flush=True)


def run(*command, **options):
    """The output of a command that must succeed."""
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False, **options)
    expect(done.returncode == 0, f"{' '.join(command[:3])}: {done.stdout.strip()[-400:]}")
    return done.stdout


def packages(build, out):
    """{name: file} of the packages, as cpack makes them."""
    run("cpack", "--config", os.path.join(build, "CPackConfig.cmake"), "-B", out)
    return {os.path.basename(path).split("_")[0]: path for path in glob.glob(out + "/*.deb")}


def fields(path):
    """The control fields."""
    said = run("dpkg-deb", "--field", path)
    return dict(line.split(": ", 1) for line in said.splitlines() if ": " in line[1:])


def control(made, version):
    """What the packages say of themselves."""
    for package, path in made.items():
        said = fields(path)
        needs = said.get("Depends", "")
        expect(said["Version"] == f"{version}-1", f"{package}: {said['Version']}")
        expect(int(said["Installed-Size"]) > 100, f"{package}: Installed-Size")
        needed, strange = NEEDS[package]
        for name in needed:
            expect(name in needs, f"{package}: {name} is not among {needs}")
        for name in strange:
            expect(name not in needs, f"{package} needs {name}: {needs}")
    check = fields(made["pfs-check"])
    expect(re.fullmatch(r"libc6 \(>= [\d.]+\)", check["Depends"]),
           f"pfs-check needs more than libc: {check['Depends']}")
    expect(check.get("Recommends") == "g++ | clang, binutils",
           f"pfs-check recommends no compiler: {check.get('Recommends')}")
    soname = version.rsplit(".", 1)[0]
    for package, library in (("pfslab-kit", "libpfslab"), ("pfs-mem", "libpfsaccounts")):
        shlibs = run("dpkg-deb", "--info", made[package], "shlibs")
        expect(shlibs.startswith(f"{library} {soname} {package} (>= "), f"shlibs: {shlibs}")


def contents(source, roots, multiarch):
    """What is in them: all that must be, at its place, each once, nothing of this machine."""
    where = {}
    for package, root in roots.items():
        for folder, _, names in os.walk(root):
            for name in names:
                path = os.path.join(folder, name)
                expect(os.path.islink(path) or os.stat(path).st_mode & 0o022 == 0,
                       f"{name} may be written by others")
                where.setdefault(os.path.relpath(path, root), []).append(package)
    for name, packages_of in where.items():
        expect(len(packages_of) == 1, f"{name} is in {packages_of}")
        expect(not name.startswith("usr/lib/") or name.startswith(f"usr/lib/{multiarch}/"),
               f"{name} is not below lib/{multiarch}")
    example = os.listdir(os.path.join(source, "check", "example"))
    files = CHECK_FILES.replace("MULTIARCH", multiarch).split("\n")
    files += [f"share/pfslab/examples/check/{name}" for name in example]
    expect({"usr/" + name for name in files} ==
           {name for name, packages_of in where.items() if packages_of == ["pfs-check"]},
           "pfs-check has other files than CHECK_FILES and those of check/example/")
    wanted = [f"doc/{package}/{name}" for package in roots
              for name in ("copyright", "changelog.Debian.gz")]
    wanted += [f"man/man1/{name}.1.gz" for name in PROGRAMS]
    wanted += [f"bash-completion/completions/{name}" for name in PROGRAMS]
    wanted += ["pfslab/traces/redis.pfstrace", "pfslab/examples/check/CMakeLists.txt",
               "pfslab/examples/systemd/pfs-mem.conf"]
    if shutil.which("cmark-gfm"):
        wanted += ["doc/pfslab/html/index.html", "doc/pfslab/html/include/pfslab/container.html"]
    wanted = ["share/" + name for name in wanted] + ["bin/" + name for name in PROGRAMS]
    wanted += [f"lib/{multiarch}/{name}" for name in
               ("libpfsmalloc.so", "libpfsmem.so", "pfs_mem_sqlite.so", "pkgconfig/pfslab.pc",
                "pkgconfig/pfs-check.pc", "pkgconfig/pfs-mem.pc")]
    wanted += [f"include/pfslab/{name}" for name in
               os.listdir(os.path.join(source, "include", "pfslab"))]
    for name in wanted:
        expect("usr/" + name in where, f"{name} is missing")


def use_kit(source, usr):
    """pfs-bench finds the traces; the README's example is built by what is there."""
    traces = os.path.join(usr, "share", "pfslab", "traces")
    shutil.copy(os.path.join(traces, "redis.pfstrace"), os.path.join(traces, "mine.pfstrace"))
    said = run(os.path.join(usr, "bin", "pfs-bench"), "--workloads=replay", "--policies=exact",
               "--benchmark_list_tests=true")
    expect("replay_mine/" in said, f"pfs-bench finds no trace beside it: {said}")
    run(os.path.join(source, "stress", "readme_example.sh"), source, "--prefix", usr)


def use_mem(source, usr, lib, folder):
    """pfs-mem preloads its library; a program walks the allocator's blocks, one has accounts."""
    boxes = os.path.join(folder, "boxes")
    os.mkdir(boxes, 0o700)
    said = run(os.path.join(usr, "bin", "pfs-mem"), "run", "--dir", boxes, "--", "echo", "it runs")
    expect(said == "it runs\n", f"pfs-mem run: {said}")
    shutil.copy(os.path.join(source, "memory", "tests", "accounts", "trace_example.c"), folder)
    for name, text in (("walk.c", WALK), ("CMakeLists.txt", ACCOUNTS)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    walk = os.path.join(folder, "walk")
    run("cc", "-Wall", "-Wextra", "-Werror", "-I", os.path.join(usr, "include"), walk + ".c",
        "-o", walk, "-L", lib, "-lpfsmalloc")
    run("sh", "-c", "eval cc -Wall -Wextra -Werror trace_example.c -o by_pkg_config "
        "$(pkg-config --cflags --libs pfs-mem)", cwd=folder,
        env={**os.environ, "PKG_CONFIG_PATH": os.path.join(lib, "pkgconfig")})
    run("cmake", "-S", folder, "-B", folder, f"-DCMAKE_PREFIX_PATH={usr}")
    run("cmake", "--build", folder)
    for program in ("walk", "by_pkg_config", "accounts", "accounts_static"):
        run(os.path.join(folder, program),
            env={**os.environ, "LD_LIBRARY_PATH": lib, "PFS_MEM_DIR": boxes})


def main():
    """The command."""
    source, build, version = sys.argv[1:]
    if not shutil.which("dpkg-shlibdeps") or not shutil.which("file"):
        print("skipped: no dpkg-shlibdeps or file here (packages dpkg-dev, file)")
        return 77
    multiarch = run("dpkg-architecture", "-qDEB_HOST_MULTIARCH").strip()
    folder = tempfile.mkdtemp(prefix="pfslab-package-")
    try:
        made = packages(build, os.path.join(folder, "out"))
        expect(set(made) == set(NEEDS), f"packages: {sorted(made)}")
        roots = {package: os.path.join(folder, "a root", package) for package in made}
        for package, path in made.items():
            os.makedirs(roots[package])
            run("dpkg-deb", "-x", path, roots[package])
        control(made, version)
        contents(source, roots, multiarch)
        kit, check, mem = (os.path.join(roots[package], "usr") for package in
                           ("pfslab-kit", "pfs-check", "pfs-mem"))
        for program in PROGRAMS:
            home = {"pfs-check": check, "pfs-mem": mem}.get(program, kit)
            run(os.path.join(home, "bin", program), "--help")
        expect(".debug_info" in run("readelf", "-SW", os.path.join(check, "bin", "pfs-check")),
               "pfs-check is stripped: --gdb would refuse it")
        use_kit(source, kit)
        run(sys.executable, os.path.join(source, "check", "tests", "installed_test.py"), source,
            "--prefix", check)
        use_mem(source, mem, os.path.join(mem, "lib", multiarch), os.path.join(folder, "out"))
    finally:
        shutil.rmtree(folder)
    return bool(FAULTS)


if __name__ == "__main__":
    sys.exit(main())
