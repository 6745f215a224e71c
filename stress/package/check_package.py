#!/usr/bin/python3
"""check_package.py - the Debian packages of a build folder: made, looked at, unpacked, used.

usage: check_package.py SOURCE_FOLDER BUILD_FOLDER VERSION
They are unpacked into a folder with a space in its name, and what is in them is used from there.
What only an installation shows (apt, ldconfig, man, purge) is seen by scripts/checks/package.sh.
Exit 0: as promised. 1: not, each fault in a line. 77: no Debian here.
"""

import glob
import os
import shutil
import subprocess
import sys
import tempfile

FAULTS = []
PROGRAM = """#include <pfslab/malloc.h>
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


def expect(is_so, what):
    """Remember what is not so."""
    if not is_so:
        FAULTS.append(what)
        print(f"not so: {what}", flush=True)


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


def control(made, soname, version):
    """What the packages say of themselves."""
    library, dev, tools = (fields(made[name]) for name in
                           (f"libpfslab{soname}", "libpfslab-dev", "pfslab"))
    for field in (library, dev, tools):
        expect(field["Version"] == f"{version}-1", f"{field['Package']}: {field['Version']}")
        expect(int(field["Installed-Size"]) > 100, f"{field['Package']}: Installed-Size")
    for needed in ("libc6", "libhwloc15"):
        expect(needed in library["Depends"], f"{needed} is not among {library['Depends']}")
    for stranger in ("sqlite", "benchmark", "stdc++", "microhttpd"):
        expect(stranger not in library["Depends"], f"the library needs {library['Depends']}")
    expect(f"libpfslab{soname} (= {version}-1)" in dev["Depends"], f"dev: {dev['Depends']}")
    for needed in ("libbenchmark", "libsqlite3-0", "libmicrohttpd", "libdw1", "libjansson4"):
        expect(needed in tools["Depends"], f"{needed} is not among {tools['Depends']}")
    shlibs = run("dpkg-deb", "--info", made[f"libpfslab{soname}"], "shlibs")
    expect(shlibs.startswith(f"libpfslab {soname} libpfslab{soname} (>= "), f"shlibs: {shlibs}")


def contents(root, made, multiarch, programs):
    """What is in them: all that must be, at its place, and nothing of this machine."""
    def there(*parts):
        expect(os.path.exists(os.path.join(root, "usr", *parts)), f"{'/'.join(parts)} is missing")
    for package in made:
        there("share", "doc", package, "copyright")
        there("share", "doc", package, "changelog.Debian.gz")
    for program in programs:
        there("bin", program)
        there("share", "man", "man1", program + ".1.gz")
        there("share", "bash-completion", "completions", program)
    for library in ("libpfsmalloc.so", "libpfsmem.so", "pfs_mem_sqlite.so", "pkgconfig/pfslab.pc"):
        there("lib", multiarch, library)
    there("share", "pfslab", "traces", "redis.pfstrace")
    there("share", "pfslab", "examples", "check", "CMakeLists.txt")
    if shutil.which("cmark-gfm"):
        there("share", "doc", "pfslab-doc", "html", "index.html")
        there("share", "doc", "pfslab-doc", "html", "include", "pfslab", "container.html")
    expect(os.listdir(os.path.join(root, "usr", "lib")) == [multiarch], "not only multiarch in lib")
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            expect(os.path.islink(path) or os.stat(path).st_mode & 0o022 == 0,
                   f"{name} may be written by others")


def use(root, multiarch, programs, folder):
    """The programs run, and find what they need; the allocator's own calls can be linked with."""
    usr = os.path.join(root, "usr")
    lib = os.path.join(usr, "lib", multiarch)
    for program in programs:
        run(os.path.join(usr, "bin", program), "--help")
    boxes = os.path.join(folder, "boxes")
    os.mkdir(boxes, 0o700)
    said = run(os.path.join(usr, "bin", "pfs-mem"), "run", "--dir", boxes, "--", "echo", "it runs")
    expect(said == "it runs\n", f"pfs-mem run: {said}")
    traces = os.path.join(usr, "share", "pfslab", "traces")
    shutil.copy(os.path.join(traces, "redis.pfstrace"), os.path.join(traces, "mine.pfstrace"))
    said = run(os.path.join(usr, "bin", "pfs-bench"), "--workloads=replay", "--policies=exact",
               "--benchmark_list_tests=true")
    expect("replay_mine/" in said, f"pfs-bench finds no trace beside it: {said}")
    with open(os.path.join(folder, "walk.c"), "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    walk = os.path.join(folder, "walk")
    run("cc", "-Wall", "-Wextra", "-Werror", "-I", os.path.join(usr, "include"), walk + ".c",
        "-o", walk, "-L", lib, "-lpfsmalloc")
    run(walk, env={**os.environ, "LD_LIBRARY_PATH": lib})


def main():
    """The command."""
    source, build, version = sys.argv[1:4]
    programs = sys.argv[4:]
    if not shutil.which("dpkg-shlibdeps") or not shutil.which("file"):
        print("skipped: no dpkg-shlibdeps or file here (packages dpkg-dev, file)")
        return 77
    multiarch = run("dpkg-architecture", "-qDEB_HOST_MULTIARCH").strip()
    soname = version.rsplit(".", 1)[0]
    folder = tempfile.mkdtemp(prefix="pfslab-package-")
    try:
        made = packages(build, os.path.join(folder, "out"))
        expect(sorted(made) == sorted([f"libpfslab{soname}", "libpfslab-dev", "pfslab",
                                       "pfslab-doc"]), f"packages: {sorted(made)}")
        root = os.path.join(folder, "a root")
        for path in made.values():
            run("dpkg-deb", "-x", path, root)
        control(made, soname, version)
        contents(root, made, multiarch, programs)
        use(root, multiarch, programs, folder)
        run(os.path.join(source, "stress", "readme_example.sh"), source, "--prefix",
            os.path.join(root, "usr"))
    finally:
        shutil.rmtree(folder)
    return bool(FAULTS)


if __name__ == "__main__":
    sys.exit(main())
