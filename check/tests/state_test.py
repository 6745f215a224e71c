#!/usr/bin/python3
"""state_test.py - a checked program's state is restored before each execution, or refused by name.

usage: state_test.py PFS_CHECK COMPILER   (gcc or clang, with its C++)
Exit 77: no such compiler.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile

from programs import Checked, PROGRAMS, equal, expect, finish, skip

FINE = "all there are: no violation"
REFUSED = r"^pfs-check: \S+: {} \S*:\d+, whose effect cannot be undone before the next execution"
HEAD = "#define _GNU_SOURCE\n#include <pfslab/check.h>\n"
TAIL = "static void body(void *argument) { (void)argument; CALL; }\n" \
       "PFS_CHECK_SCENARIO(one) { pfs_check_thread(body, 0); pfs_check_thread(body, 0); }\n"
CALLS = {
    "mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)": "sys/mman.h",
    "system(\"exit 3\")": "stdlib.h",
    "fopen(\"/dev/null\", \"r\")": "stdio.h",
    "setenv(\"a\", \"b\", 1)": "stdlib.h",
    "lrand48()": "stdlib.h",
    "pipe((int[2]){ 0, 0 })": "unistd.h",
}
# A library that was not compiled for pfs-check: what it keeps is restored, page by page.
LIBRARY = """#include <stdlib.h>
static char *kept, large[1 << 20];
static int calls;
static __thread int own;
int call(void)
{
	free(kept);
	kept = malloc(64);
	large[calls * 5000]++;
	own++;
	return ++calls * 100 + own * 10 + large[5000];
}
"""
CALLER = f"""{HEAD}#include <pthread.h>
int call(void);
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void body(void *argument)
{{
	(void)argument;
	pthread_mutex_lock(&mutex);
	int said = call();
	pthread_mutex_unlock(&mutex);
	pfs_check_assert(said == 110 || said == 211);
}}
PFS_CHECK_SCENARIO(one) {{ pfs_check_thread(body, 0); pfs_check_thread(body, 0); }}
"""
# libstdc++ calls them, too: what it allocates here is freed there.
OWN_NEW = """#include <atomic>
#include <cstdlib>
#include <string>
#include <pfslab/check.h>
static std::atomic<int> news;
void *operator new(std::size_t size) { news++; return (char *)std::malloc(size + 16) + 16; }
void operator delete(void *block) noexcept { std::free((char *)block - 16); }
void operator delete(void *block, std::size_t) noexcept { std::free((char *)block - 16); }
static void body(void *) { std::string text(100, 'a'); text.append(200, 'b'); }
static void count(void *) { pfs_check_assert(news == 4); }
PFS_CHECK_SCENARIO(one) { pfs_check_thread(body, nullptr); pfs_check_thread(body, nullptr);
	pfs_check_at_rest(count, nullptr); }
"""


class Test(Checked):
    """One compiler."""

    def scenarios(self, program, *flags):
        """All of a program in one run: races and bounds where the name says so."""
        listed = self.run(program, "--list").stdout.split()
        done = self.run(program, "--quiet", "--steps", "100", "--", *flags)
        said = re.findall(r"^(\w+) views exhaustive: .*?, (FAILED|(?:not )?all there are.*)\n"
                          r"(?:  .*\n)*(found: data race)?", done.stdout, re.M)
        what = f"{os.path.basename(program)} {flags}:\n{done.stdout}{done.stderr}"
        equal([name for name, _, _ in said], listed, f"scenarios of {what}")
        equal(done.returncode, 1, what)
        for name, end, found in said:
            race = name.endswith("_race")
            expected = f"not {FINE}" if name.endswith("_bounded") else FINE
            expect(bool(found) == race and end == ("FAILED" if race else expected),
                   f"{name} of {what}")

    def refused(self):
        """What cannot be restored."""
        for call, header in CALLS.items():
            source = self.path("call.c", f"{HEAD}#include <{header}>\n"
                               f"#define CALL (void)!{call}\n{TAIL}")
            self.expect(call, self.run(source), 2,
                        REFUSED.format("thread 0 calls " + call.split("(", maxsplit=1)[0] + " at"))
        source = self.path("early.c", f"{HEAD}#include <assert.h>\n#define CALL\n{TAIL}"
                           "__attribute__((constructor)) static void early(void) { assert(0); }\n")
        self.expect("constructor", self.run(source), 2,
                    r"^pfs-check: \S+: a constructor of a global has a failed assertion: 0 \(")
        source = self.path("abort.c", f"{HEAD}extern void __libc_free(void *);\n"
                           f"#define CALL __libc_free((char *)&body + 1)\n{TAIL}")
        self.expect("abort of libc", self.run(source), 2,
                    r"^(free|munmap_chunk)\(\): .*\npfs-check: \S+: thread 0 has libc abort")

    def others(self):
        """Libraries of the program."""
        library = self.path("libkept.so")
        subprocess.run([self.compiler, "-O1", "-fPIC", "-shared", "-o", library,
                        self.path("library.c", LIBRARY)], check=True)
        self.expect("library", self.run(self.path("caller.c", CALLER), "--", library), 0, FINE)
        self.expect("operator new", self.run(self.path("new.cc", OWN_NEW)), 0, FINE)

    def models(self, program):
        """Thread-local variables that are found in other ways."""
        if platform.machine() == "x86_64" and self.compiler == "gcc":
            self.expect("descriptors", self.run(program, "--scenario", "local_lock", "--",
                                                "-mtls-dialect=gnu2"), 0, FINE)
        self.expect("initial-exec", self.run(program, "--", "-ftls-model=initial-exec"), 2,
                    "of the model initial-exec: compile without")


def main():
    pfs_check, compiler = sys.argv[1:3]
    cxx = "g++" if compiler == "gcc" else "clang++"
    if shutil.which(compiler) is None or shutil.which(cxx) is None:
        skip(f"no {compiler}")
    os.environ.update(CC=compiler, CXX=cxx)
    with tempfile.TemporaryDirectory() as folder:
        test = Test(pfs_check, compiler, folder)
        program = os.path.join(PROGRAMS, "state.c")
        test.scenarios(program)
        test.scenarios(program, "-O2", "-D_FORTIFY_SOURCE=2")
        test.scenarios(os.path.join(PROGRAMS, "state.cc"), "-O2")
        test.models(program)
        test.refused()
        test.others()
    finish()


if __name__ == "__main__":
    main()
