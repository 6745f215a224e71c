"""given.py - what pfs-check says of a file that it is given. Part of check_test.py.

Sources, what an optimization level keeps, inline assembly, and programs that it must refuse with
one line.
"""

import os
import re
import shutil
import subprocess

from programs import Checked, EXAMPLE, PROGRAMS, TOP, equal, expect, run

FINE = r"steps, all there are: no violation"
RACE = r"found: data race on \S+( \d\+8)?: thread . writes at .*\(ring\.cc?:\d+\); " \
       r"thread . reads at .*\(ring\.cc?:\d+\)"


class Given(Checked):
    """One compiler."""

    def assembly(self):
        """What is not seen is said, and only then."""
        source = os.path.join(PROGRAMS, "assembly.c")
        words = r"pfs-check: `%s.*` at body \(assembly\.c:\d+\): assembly, or compiled without .*\n"
        for text, first in (("lock incl %0", "lock incl"), ("mfence", "mfence"),
                            ("xchg %%eax, %0", "xchg")):
            program = self.build(source, f'-DASSEMBLY=__asm__ volatile("{text}" : "+m"(count) : : '
                                         '"eax", "memory")')
            self.expect(text, self.run(program), 0, words % first)
        program = self.build(source, '-DASSEMBLY=__asm__ volatile("" : : : "memory")')
        self.expect("no assembly", self.run(program), 0, r"^one views")
        self.accesses(source)

    def accesses(self, source):
        """asm in sources that pfs-check compiles: a search that saw none of it is not complete."""
        os.environ["CC"] = self.compiler
        self.expect("rdtsc", self.run(source, "--complete", "--",
                                      "-DASSEMBLY=count = (int)__builtin_ia32_rdtsc()"), 2,
                    r"not all there are: no violation\n  instructions read the processor's clock "
                    r"or .* \(1 of them\), at assembly\.c:\d+\n")
        for text, seen in (("movl %%eax, %0", False), ("pause", True), ("# (%%rax)", True)):
            flags = ("--", f'-DASSEMBLY=__asm__ volatile("{text}" : "+m"(count) : : "eax")')
            self.expect(text, self.run(source, *flags), 0, FINE if seen else
                        r"not all there are: no violation\n  instructions in assembly access "
                        r"memory, which is not seen \(1 of them\), at assembly\.c:\d+\n")
            self.expect(text, self.run(source, "--complete", *flags), 0 if seen else 2, "^one ")
        del os.environ["CC"]

    def wrong(self):
        """What cannot be checked, and bad arguments: one line, exit 2."""
        source = self.path("wrong.c", "#include <pthread.h>\n#include <pfslab/check.h>\n"
                           "static void body(void *a)\n"
                           "{ (void)a; pthread_cancel(pthread_self()); }\n"
                           "PFS_CHECK_SCENARIO(one) { pfs_check_thread(body, 0); }\n")
        self.expect("pthread_cancel", self.run(self.build(source)), 2,
                    r"^pfs-check: \S+: calls pthread_cancel, which is not modelled\n$")
        source = self.path("wrong.c", "#include <unistd.h>\n#include <pfslab/check.h>\n"
                           "static void body(void *a) { (void)read(END, &a, 1); }\n"
                           "PFS_CHECK_SCENARIO(one) { pfs_check_thread(body, 0); }\n")
        ends = os.pipe()
        self.expect("sleeps", self.run(self.build(source, f"-DEND={ends[0]}"), "--patience=0.5",
                                       pass_fds=ends), 2,
                    r"^pfs-check: \S+: thread 0 sleeps in a call that is not modelled, before its "
                    r"first operation: leave the call out of the scenario\n$")
        os.close(ends[0])
        os.close(ends[1])
        source = self.path("wrong.c", "#include <dlfcn.h>\n#include <pfslab/check.h>\n"
                           "static void body(void *a) { (void)dlsym(a, \"free\"); }\n"
                           "PFS_CHECK_SCENARIO(one) { pfs_check_thread(body, 0); }\n")
        self.expect("dlsym", self.run(self.build(source)), 2, r": calls dlsym, which is not mod")
        source = self.path("wrong.c", "#include <pfslab/check.h>\n"
                           "static _Atomic struct { long a[WORDS]; } all;\n"
                           "static void body(void *a) { (void)a; all = all; }\n"
                           "PFS_CHECK_SCENARIO(one) { pfs_check_thread(body, 0); }\n")
        self.expect("24 bytes", self.run(self.build(source, "-DWORDS=3")), 2,
                    r"^pfs-check: \S+: calls __atomic_(load|store), which is not modelled\n$")
        source = os.path.join(EXAMPLE, "ring.c")
        program = self.build(source, "-fno-sanitize=thread")
        self.expect("not compiled so", self.run(program), 2, "was compiled with -fsanitize=thread")
        if self.compiler == "gcc":
            program = self.build(source, link=("-fsanitize=thread",))
            self.expect("libtsan", self.run(program), 2, r"linked with libtsan\S+, .* without it")
        program = self.build(source)
        for options, said in ((["--memory", "x"], "no such memory"), (["--search", "x"], "search"),
                              (["--scenario", "x"], "no such scenario"),
                              (["--seed", "x"], "whole number"),
                              (["--schedule", "/dev/null"], "not a schedule"), (["--x"], "option")):
            self.expect(str(options), self.run(program, *options), 2, rf"^pfs-check: .*{said}.*\n$")
        self.expect("object", self.run(program[:-2] + "o"), 2, "link it with")
        self.expect("no file", self.run("/none.so"), 2, "No such file")
        self.newcomer(source)

    def dropped(self):
        """What each level keeps, as the document says: a race by it is found, or not."""
        kept = {"-O0": ("small_memset", "unused_read"), "-O1 -fno-builtin": ("small_memset",),
                "-O1": ("small_memset",) if self.compiler == "clang" else ()}
        for flags, names in kept.items():
            program = self.build(os.path.join(PROGRAMS, "dropped.c"), *flags.split())
            for name in ("small_memset", "unused_read"):
                self.expect(f"{name} {flags}", self.run(program, "--scenario", name),
                            1 if name in names else 0,
                            "found: data race" if name in names else FINE)
        os.environ["CC"] = self.compiler
        gcc = self.compiler == "gcc"
        self.expect("unread_static", self.run(os.path.join(PROGRAMS, "dropped.c"), "--scenario",
                                              "unread_static"), 1 if gcc else 0,
                    "found: data race on shared" if gcc else FINE)
        del os.environ["CC"]

    def random_device(self):
        """C++'s is as little modelled as C's numbers at random."""
        source = self.path("random.cc", "#include <random>\nunsigned at;\n"
                           "void look() { at = std::random_device()(); }\n")
        self.expect("random_device", self.run(self.build(source)), 2, r"^pfs-check: \S+: calls "
                    r"_ZNSt\w*random_device\w*, which is not modelled\n$")

    def newcomer(self, source):
        """What somebody does who does it for the first time: one line names the mend."""
        def refused(what, program, said, *more):
            self.expect(what, self.run(program, *more), 2, rf"^pfs-check: \S+: {said}.*\n$")
        main = self.path("main.c", "int shared, helper(int *);\n#ifdef ALONE\n"
                         "#define helper(x) 0\n#endif\n"
                         "int main(void) { shared++; return helper(&shared); }\n")
        refused("no scenario", self.build(main, "-DALONE"), "no PFS_CHECK_SCENARIO in it")
        refused("undefined", self.build(main), "undefined symbol helper: add")
        refused("no extern C", self.build(main, "-Dhelper=_Z6helperPi"), 'undefined symbol '
                r'_Z6helperPi: .* declare it extern "C"')
        executable = self.path("executable")
        subprocess.run([self.compiler, "-w", "-DALONE", main, "-o", executable], check=True)
        refused("executable", executable, "an executable: link its objects with `cc -shared")
        subprocess.run([self.compiler, "-w", "-no-pie", "-DALONE", main, "-o", executable],
                       check=True)
        refused("executable, fixed", executable, "an executable: link its objects")
        refused("folder", self.folder, "not a shared object: give one")
        refused("header", os.path.join(TOP, "include", "pfslab", "check.h"), "not a shared object")
        cut = self.build(source)
        with open(cut, "r+b") as file:
            file.truncate(5000)
        refused("not whole", cut, "truncated: link it again")
        with open(cut, "r+b") as file:
            file.seek(18)
            file.write(b"\x08\x00")
        refused("other machine", cut, "made for another architecture")
        refused("two", cut, "one shared object at a time", cut)
        self.expect("no lines", self.run(self.build(source, "-g0")), 1,
                    r"found: data race(.*\n)*pfs-check: \S+: no source lines: compile it "
                    r"with -g\n$")

        path = os.environ["PATH"]
        program = self.build(source)
        os.environ["PATH"] = "/none"
        self.expect("no addr2line", self.run(program), 1, r"\npfs-check: addr2line: is not in the "
                    r"PATH, but is needed for source lines: install binutils\n$")
        os.environ["PATH"] = path

    def sources(self, source, relaxed):
        """Sources are compiled by pfs-check itself, and nothing of that stays."""
        folder = self.path("sources")
        os.mkdir(folder)
        os.environ.update(TMPDIR=folder, CC=self.compiler, CXX=self.compiler)
        self.expect("source", self.run(source, "--", f"-DPUBLISH={relaxed}"), 1, RACE)
        release = f"-DPUBLISH={relaxed.replace('relaxed', 'release')}"
        more = self.path("more" + os.path.splitext(source)[1], "extern int more; int more = 1;\n")
        self.expect("sources, mended", self.run(source, more, "--memory", "sc", "--", release), 0,
                    FINE)
        self.expect("--list", self.run(more, source, "--list"), 0, r"^ring\n$")
        self.expect("flag", self.run(source, "--", "-Dhead"), 2, r"error: (.*\n)*pfs-check: \S+: "
                    "compilation failed: see the compiler's messages above\n$")
        self.expect("no source", self.run("none" + os.path.splitext(source)[1]), 2,
                    "^pfs-check: none.*: No such file or directory\n$")
        os.environ.update(CC="no-such-cc", CXX="no-such-cc")
        self.expect("no compiler", self.run(source), 2, "no compiler found: install gcc or cl")
        os.environ.update(TMPDIR="/none/such")
        self.expect("no folder", self.run(source), 2, "^pfs-check: .*; set TMPDIR\n$")
        for name in ("TMPDIR", "CC", "CXX"):
            del os.environ[name]
        equal(os.listdir(folder), [], "what was compiled, and stays")
        self.expect("no headers", run(shutil.copy(self.pfs_check, folder), source), 2,
                    "not next to pfs-check, w")
        with open(os.path.join(EXAMPLE, "ring.c"), encoding="utf-8") as file:
            self.expect("--example", self.run("--example"), 0, f"^{re.escape(file.read())}$")
