"""test_docs.py - The checks of the documentation refuse what is broken; the pages are as their
sources say."""

import html
import os
import re
import shutil
import unittest

import fixture
import pages
from checks import examples, links

EXAMPLES = """A `scripts/nothing.py`, and {good}:

    scripts/compare.py --buildz OLD NEW
    build/nopreset/bench/pfs-bench

```console
$ scripts/compare.py --bilds OLD NEW
```

```c
int main(void) {{ return nothing; }}
```

```c part
pfs_malloc(1, 2);
```

```cpp
int main() {{ return 0 }}
```

```python
lines = [
```

```cmake
project(example)
```
"""
GOOD = """`scripts/compare.py --builds`

```c
int main(void) { return 0; }
```

<!-- c: struct pfs_config config; -->
```c part
pfs_config_init(&config);
```

    $ scripts/compare.py OLD NEW --json
"""
HEADER = """/*
 * sample.h - what it is.
 *
 *	pfs_take(thread);
 */
#ifndef PFSLAB_SAMPLE_H
#define PFSLAB_SAMPLE_H

/*
 * pfs_take - take <one>.
 *
 * Returns   a record, or
 *           none.
 */
void *pfs_take(struct pfs_thread *thread);

/* A pair. */
struct pfs_pair {
	int (*call)(void *context); /* of the pair */
};
#endif
"""


class Examples(fixture.Case):
    def faults(self, text):
        check = examples.Check(self.folder)
        check.page(self.write("page.md", text))
        return check

    def test_good_ones(self):
        check = self.faults(GOOD)
        self.assertEqual((check.faults, check.looked), ([], 4))

    def test_each_bad_one(self):
        said = "\n".join(self.faults(EXAMPLES.format(good="`scripts/compare.py`")).faults)
        for expected in ("scripts/nothing.py: there is no such file", "does not know --buildz",
                         "no preset nopreset", "does not know --bilds", "nothing",
                         "too many arguments", "the cpp block", "the python block",
                         "'cmake', which nothing checks"):
            self.assertIn(expected, said)
        self.assertEqual(len(said.splitlines()), 9)


class Links(fixture.Case):
    def site(self, index, other='<h1 id="top">x</h1><a href="../index.html">back</a>'):
        self.write("site/index.html", index)
        self.write("site/docs/other.html", other)
        return links.faults_of(os.path.join(self.folder, "site"))

    def test_good(self):
        self.assertEqual(self.site('<a href="docs/other.html#top">o</a><a href="https://x/">'),
                         ([], 2))

    def test_broken(self):
        for link, expected in (("docs/none.html", "no such file"),
                               ("docs/other.html#none", "no such anchor"),
                               ("#none", "no such anchor"), ("docs/none.svg", "no such file")):
            faults, _ = self.site(f'<a href="docs/other.html">o</a><a href="{link}">x</a>')
            self.assertEqual(len(faults), 1)
            self.assertIn(f"index.html: link to {link}: ", faults[0])
            self.assertIn(expected, faults[0])

    def test_page_that_nothing_leads_to(self):
        self.assertEqual(self.site('<a href="#a" id="a">a</a>')[0],
                         ["docs/other.html: no link leads here"])


class Headers(unittest.TestCase):
    def test_page(self):
        body, names = pages.header_page(HEADER)
        self.assertEqual(names, ["pfs_take", "pfs_pair"])
        for part in ("pfs_take(thread);", "take &lt;one&gt;.", 'void *<b id="pfs_take">pfs_take</b>'
                     "(struct", 'struct <b id="pfs_pair">'):
            self.assertIn(part, body)
        self.assertEqual(re.sub(r"</?(?:b|pre)[^>]*>", "", body), html.escape(HEADER, quote=False))


@unittest.skipUnless(shutil.which("cmark-gfm"), "cmark-gfm is not installed")
class Site(fixture.Case):
    def test_planted_link_is_caught(self):
        out = os.path.join(self.folder, "out")
        self.assertEqual(pages.main([out]), 0)
        self.assertEqual(links.faults_of(out)[0], [])
        made = pages.Site(out)
        made.read = lambda path: "# A\n\n[b](docs/none.md) [c](docs/explanation/malloc.md#none)\n" \
            if path == "README.md" else pages.Site.read(made, path)
        made.make()
        faults = links.faults_of(out)[0]
        self.assertEqual(len(faults), 2)
        self.assertIn("docs/none.md: there is no such file", faults[0])
        self.assertIn("no such anchor", faults[1])

    def test_folder_of_others_is_left_alone(self):
        kept = self.write("mine/letter.txt", "dear")
        done = fixture.call("pages.py", os.path.dirname(kept))
        self.assertEqual((done.returncode, os.path.exists(kept)), (2, True))
        self.assertEqual(len(done.stderr.splitlines()), 1)


if __name__ == "__main__":
    unittest.main()
