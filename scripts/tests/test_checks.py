"""test_checks.py - Each rule check accepts a good sample and refuses a bad one."""

import os
import shutil
import subprocess
import unittest

import fixture
from checks import circles, codegen, files, layers, ordering, sizes, sources

TABLE = """/*
 * good.h - a sample.
 *
 * Ordering:  [B1] take: CAS, acquire   <->   [B2] give: store, release
 * Source:    none.
 */
"""
GOOD = TABLE + """#include "atomic.h"
static inline void both(_Atomic(unsigned) *word, unsigned seen)
{
	seen = pfs_load_relaxed(word); /* relaxed: a guess, [B1] verifies it */
	/* [B1] acquire, pairs with [B2]: without it bytes mix. */
	(void)pfs_cas_acquire(word, &seen, 1);
	/* [B2] release, pairs with [B1]: hands over. */
	pfs_store_release(word, 0);
}
"""


class Checks(fixture.Case):
    def faults(self, check, tree):
        """What a check says of a small tree."""
        shutil.rmtree(self.folder)
        for name, text in tree.items():
            self.write(name, text)
        more = (False,) if check is files else ()
        return check.check(self.folder, *more)[0]

    def ordering(self, old="", new="", path="containers/good.h", **more):
        """Faults of the good sample with one change."""
        self.assertIn(old, GOOD)
        atomic = sources.read(sources.TOP, "containers/atomic.h")
        return self.faults(ordering, {path: GOOD.replace(old, new, 1),
                                            "containers/atomic.h": atomic, **more})

    def assert_fault(self, faults, *words):
        self.assertTrue(any(all(w in fault for w in words) for fault in faults), faults)

    def test_ordering_accepts_the_good_sample(self):
        self.assertEqual(self.ordering(), [])

    def test_ordering_refuses(self):
        for old, new, words in (
                (" /* relaxed: a guess, [B1] verifies it */", "", ("relaxed without",)),
                ("relaxed: a guess", "a guess", ("relaxed without",)),
                ("/* [B2] release, pairs with [B1]: hands over. */", "",
                 ("[B2]", "at no operation")),
                ("[B2] release, pairs with [B1]", "[B9] release, pairs with [B1]",
                 ("[B9] is in no",)),
                ("pairs with [B2]: without", "pairs with [B3]: without", ("[B3]",)),
                ("[B2] give: store, release", "none", ("[B2] is in no Ordering table",)),
                ("/* [B1] acquire, pairs with [B2]: without it bytes mix. */", "/* x */",
                 ("acquire without '[label] acquire",)),
                ("pfs_store_release(word, 0);", "pfs_exchange_seq(word, 0);",
                 ("seq without '[label] seq",)),
                ("pfs_store_release(word, 0);",
                 "pfs_store_release(word, 0);\n\tatomic_thread_fence(1);", ("fence",)),
                ('#include "atomic.h"', '#include "atomic.h"\n#include <stdatomic.h>',
                 ("outside containers/atomic.h",)),
                ("pfs_store_release(word, 0);",
                 "pfs_store_release(word, 0);\n\t__atomic_store_n(word, 0, 3);", ("__atomic_",)),
                ("pfs_store_release(word, 0);",
                 "pfs_store_release(word, 0);\n\tatomic_store(word, 0);", ("its order",))):
            with self.subTest(words=words, new=new):
                self.assert_fault(self.ordering(old, new), *words)

    def test_ordering_ignores_words_in_comments_and_strings(self):
        self.assertEqual(self.ordering("hands over.", "no atomic_thread_fence, no __atomic_x."),
                         [])

    def test_ordering_partner_is_named_both_ways(self):
        other = "/*\n * other.h - x.\n *\n * Ordering:  [D1] look: load, acquire\n */\n" \
                "/* [D1] acquire, pairs with [B1]: x. */\n"
        self.assert_fault(self.ordering(**{"containers/other.h": other}), "[D1] pairs with [B1]",
                          "does not name [D1]")

    @unittest.skipUnless(shutil.which("clang"), "clang is not installed")
    def test_ordering_refuses_plain_access(self):
        source = '#include "atomic.h"\nvoid f(_Atomic(int) *x);\n' \
                 "void f(_Atomic(int) *x) { *x = 1; }\n"
        self.assert_fault(self.ordering(**{"containers/plain.c": source}),
                          "atomic-implicit-seq-cst")

    def test_layers(self):
        tree = {"include/pfslab/a.h": "", "containers/b.h": '#include <pfslab/a.h>\n',
                "variants/c.h": '#include "b.h"\n', "bench/d.c": "#include <pfslab/a.h>\n",
                "stress/e_test.c": '#include "containers/b.h"\n#include "bench/d.c"\n',
                "memory/box/reader.h": "", "memory/box/box.h": "",
                "containers/y.h": '#include "b.h"\n', "check/machine/m.h": "",
                "check/search/s.h": '#include "check/machine/m.h"\n',
                "check/front/f.h": "", "sim/seams/e.h": "",
                "sim/cases/c.c": '#include "check/search/s.h"\n#include "sim/seams/e.h"\n',
                "memory/tool/f.c": '#include "memory/box/reader.h"\n#include <pfslab/a.h>\n',
                "scripts/run.py": "from reporting import r\n", "scripts/common/c.py": "import os\n",
                "scripts/reporting/r.py": "from common import c\nfrom common.c import x\n",
                "scripts/reporting/s.py": "from reporting import r\n"}
        self.assertEqual(self.faults(layers, tree), [])
        for path, text, words in (
                ("containers/x.c", '#include "c.h"\n', ("containers/ may not see variants/",)),
                ("bench/x.c", '#include "containers/b.h"\n', ("bench/ may not see containers/",)),
                ("bench/x.c", '#include "b.h"\n', ("bench/ may not see containers/",)),
                ("stress/x.c", '#include "../containers/b.h"\n', ("stress/ may not see",)),
                ("variants/x.c", '#include "bench/d.c"\n', ("variants/ may not see bench/",)),
                ("include/pfslab/x.h", '#include "containers/b.h"\n', ("include/ may not see",)),
                ("memory/tool/x.c", '#include "memory/box/box.h"\n', ("sees the box's reader",)),
                ("memory/tool/x.c", '#include "../box/box.h"\n', ("sees the box's reader",)),
                ("check/machine/x.c", '#include "check/search/s.h"\n',
                 ("check/machine/ may not see check/search/",)),
                ("check/x.c", '#include "check/search/s.h"\n', ("check/ has the rooms",)),
                ("sim/cases/x.c", '#include "check/front/f.h"\n',
                 ("sim/ may see only machine and search of check/",)),
                ("check/machine/x.c", '#include "sim/seams/e.h"\n', ("check/ may not see sim/",)),
                ("check/machine/m.h", '#include "check/machine/m.h"\n',
                 ("a circle of includes",)),
                ("containers/b.h", '#include "containers/y.h"\n', ("a circle of includes",)),
                ("scripts/common/x.py", "from reporting import r\n",
                 ("scripts/common/ may not see scripts/reporting/",)),
                ("scripts/common/c.py", "def f():\n    from reporting.r import x\n",
                 ("scripts/common/ may not see scripts/reporting/",)),
                ("scripts/reporting/x.py", "import run\n", ("a command, which no room sees",)),
                ("scripts/reporting/r.py", "from reporting.s import x\n",
                 ("a circle of includes",)),
                ("scripts/more/x.py", "import os\n", ("scripts/ has the rooms",)),
                ("bench/x.c", '#include "no_such.h"\n', ("names no file",))):
            with self.subTest(path=path, text=text):
                self.assert_fault(self.faults(layers, {**tree, path: text}), path, *words)

    def test_files(self):
        tree = {"bench/a.h": "/*\n * a.h - what a is. More.\n */\n", "bench/a.c": "int a;\n",
                "bench/README.md": "<!-- files: bench -->\n| file | what it is |\n|---|---|\n"
                                   "| `a.*` | what a is |\n<!-- end -->\n"}
        self.assertEqual(self.faults(files, tree), [])
        self.assert_fault(self.faults(files, {**tree, "bench/b.c": "int b;\n"}), "b.c: no head")
        self.assert_fault(self.faults(files, {**tree, "bench/b.c": "/* b.c - b. */\n"}),
                          "bench/README.md: a table of files is old")

    def test_sizes(self):
        body = "\tx();\n"
        tree = {"bench/a.c": "static int f(void)\n{\n" + body * 67 + "}\n"}
        self.assertEqual(self.faults(sizes, tree), [])
        self.assert_fault(self.faults(sizes, {
            "bench/a.c": "static int f(void)\n{\n" + body * 68 + "}\n"}), "function f has 71")
        self.assert_fault(self.faults(sizes, {
            "bench/a.c": "static int g(int a,\n\t int b)\n{\n" + body * 67 + "}\n"}), "g has 71")
        self.assert_fault(self.faults(sizes, {"stress/a.c": "\n" * 501}), "501 lines")
        self.assert_fault(self.faults(sizes, {"include/a.h": "\t" + "x" * 93 + "\n"}),
                          "101 columns")
        self.assert_fault(self.faults(sizes, {
            "scripts/a.py": "def h():\n" + "    x = 1\n" * 70}), "h has 71")

    def codegen(self, source, compiler="gcc", folder="variants/inner.dir"):
        """Faults of one compiled policy, beside one without any where the other kind lies."""
        shutil.rmtree(os.path.join(self.folder, "b"), ignore_errors=True)
        for name, text in (("variants/inner.dir", "int f;"), ("bench/pfs_calls_x.dir", "int f;"),
                           (folder, source)):
            place = os.path.join(self.folder, "b", name)
            os.makedirs(place, exist_ok=True)
            path = self.write("v.c", text)
            subprocess.run([compiler, "-O2", "-fPIC", "-c", path, "-o", place + "/v.c.o"],
                           check=True)
        return codegen.check([os.path.join(self.folder, "b")])[0]

    def test_codegen(self):
        hooks = "struct ops { int (*go)(int); }; int g(int); static int go(int x)" \
                "{ return g(x) + 1; }\n"
        use = "int f(int x) { return ops.go(x) + 1; } int tail(int x) { return ops.go(x); }\n"
        constant = hooks + "static const struct ops ops = { go };\n" + use
        forgotten = hooks + "struct ops ops = { go };\n" + use
        for compiler in ("gcc", "clang"):
            if not shutil.which(compiler):
                continue
            with self.subTest(compiler):
                self.assertEqual(self.codegen(constant, compiler), [])
                faults = self.codegen(forgotten, compiler)
                self.assert_fault(faults, "v.c.o: f: call")
                self.assert_fault(faults, "v.c.o: tail: jmp")
                faults = self.codegen(forgotten, compiler, "bench/pfs_calls_x.dir")
                self.assert_fault(faults, "pfs_calls_x.dir/v.c.o: f: call")
                self.assertEqual(self.codegen(forgotten, compiler, "bench/other.dir"), [])

    def test_codegen_without_waits(self):
        """A call of the waits, and a place of theirs."""
        for source in ("void pfs_delays_wait(void *); void f(void) { pfs_delays_wait(0); }",
                       "void g(void *); void f(void) { static int pfs_place_; g(&pfs_place_); }"):
            self.assert_fault(self.codegen(source), "has the waits of containers/delays.h")
        self.assertEqual(self.codegen("int pfs_placed;"), [])

    def test_codegen_without_objects(self):
        os.makedirs(os.path.join(self.folder, "empty"))
        faults = codegen.check([os.path.join(self.folder, "empty")])[0]
        self.assert_fault(faults, "no object file below variants/")
        self.assert_fault(faults, "no object file of pfs_calls_*")
        done = fixture.call("checks/codegen.py", os.path.join(self.folder, "none"))
        self.assertEqual(done.returncode, 2)

    def circles(self, **files):
        """Faults of compiled files: name, with _ for the slash, and text."""
        build = os.path.join(self.folder, "built")
        shutil.rmtree(build, ignore_errors=True)
        for name, text in files.items():
            place = os.path.join(build, "check", "CMakeFiles", "pfs-check.dir",
                                 name.replace("_", "/"))
            os.makedirs(os.path.dirname(place), exist_ok=True)
            subprocess.run(["cc", "-x", "c", "-c", "-", "-o", place + ".c.o"], input=text,
                           text=True, check=True)
        return circles.check(build)[0]

    def test_circles(self):
        ends, calls = "void c(void) {}", "void c(void); void b(void) { c(); }"
        self.assertEqual(self.circles(machine_a="void b(void); void a(void) { b(); }",
                                      machine_b=calls, machine_c=ends), [])
        by_data = "extern int x; int b; void c(void) { x = 1; }"
        self.assert_fault(self.circles(machine_a="extern int b; int x; int a(void) { return b; }",
                                       machine_c=by_data),
                          "check/machine/a.c: a circle: -> check/machine/c.c (b) -> "
                          "check/machine/a.c")
        self.assert_fault(self.circles(machine_a="void b(void); void a(void) { b(); }",
                                       machine_b=calls, machine_c="void a(void); void c(void)"
                                       "{ a(); }"), "a circle", "(a)", "(b)", "(c)")
        self.assert_fault(self.circles(machine_b=calls, search_c=ends),
                          "check/machine/b.c: needs c: check/machine/ may not see check/search/")
        self.assertEqual(self.circles(search_b=calls, machine_c=ends), [])
        done = fixture.call("checks/circles.py", os.path.join(self.folder, "none"))
        self.assertEqual(done.returncode, 2)

    def test_headers(self):
        licence = "/* SPDX-License-Identifier: BSD-2-Clause */\n"
        self.write("include/pfslab/good.h", licence + "#include <stdint.h>\n"
                   "uint32_t pfs_good(void);\n")
        self.assertEqual(fixture.call("checks/headers.sh", self.folder).returncode, 0)
        for text in ("uint32_t pfs_bad(void);\n", "int pfs_bad(int class);\n",
                     "struct pfs_bad { int x; };\n", None):
            with self.subTest(text):
                self.write("include/pfslab/bad.h", licence + text if text else
                           "int pfs_bad(void);\n")
                done = fixture.call("checks/headers.sh", self.folder)
                self.assertEqual(done.returncode, 1)
                self.assertIn("bad.h", done.stderr)

    def test_nothing_to_check_is_a_fault(self):
        for script in ("checks/layers.py", "checks/ordering.py", "checks/sizes.py",
                       "checks/headers.sh"):
            with self.subTest(script):
                self.assertEqual(fixture.call(script, self.folder).returncode, 1)


if __name__ == "__main__":
    unittest.main()
