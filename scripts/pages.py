#!/usr/bin/python3
"""pages.py - the documentation as plain pages: docs/, the folders' READMEs, the public headers.

usage: scripts/pages.py OUT
Pages stand in OUT as their sources do in the project, index.html is the README. cmark-gfm (Debian)
makes HTML of Markdown; a header stands as it is, each name that it declares an anchor. A word in
`code` that names a page, a header or a public function becomes a link to it. The pages load nothing
from elsewhere and run no script. Exit 0: made. 1: not, in one line. 2: bad usage.
"""

import html
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from common import commandline

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FIRST = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
SKIPPED = ("build", "local", "node_modules") # folders
LINK = re.compile(r'(<a href="|<img src=")([^"]*)"')
CODE = re.compile(r"(?<!\">)<code>([\w./-]+)(\(\))?</code>")
HEADING = re.compile(r"<h([1-6])>(.*?)</h\1>", re.DOTALL)
# What a header declares: a function, a type, a macro.
DECLARED = re.compile(r"^([A-Za-z_][\w\s*]*?[\s*](?=\w+\s*\((?!\*))|(?:struct|enum|union)\s+"
                      r"(?=\w+\s*\{)|#define\s+(?=PFS_))(\w+)", re.MULTILINE)
STYLE = """:root{color-scheme:light dark;--ink:#1b1f24;--soft:#5c6570;--paper:#fff;--line:#dfe3e8;
--wash:#f5f7f9;--link:#0b5cad}
@media screen and (prefers-color-scheme:dark){:root{--ink:#eceff2;--soft:#a7b0ba;--paper:#15181c;
--line:#353b43;--wash:#1d2126;--link:#7cb8f2}}
*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);
font:16px/1.55 system-ui,'Segoe UI','Liberation Sans',Helvetica,Arial,sans-serif;
display:grid;grid-template-columns:230px minmax(0,1fr)}
nav{padding:24px 16px;border-right:1px solid var(--line);font-size:14px;min-height:100vh}
nav ul{list-style:none;margin:0 0 18px;padding:0}nav li{margin:3px 0}
nav b{color:var(--soft);font-weight:600}nav [aria-current]{font-weight:700;color:var(--ink)}
main{max-width:980px;padding:24px 36px 80px}a{color:var(--link)}img{max-width:100%;background:#fff}
h1{font-size:28px;line-height:1.25}h1 code{font-size:22px}
h2{font-size:21px;margin-top:40px;border-top:1px solid
var(--line);padding-top:18px}h3{font-size:17px;margin-top:30px}
code,pre{font:13.5px/1.5 ui-monospace,'DejaVu Sans Mono',monospace}
code{background:var(--wash);padding:1px 3px;border-radius:3px;overflow-wrap:anywhere}
pre{background:var(--wash);padding:10px 14px;overflow-x:auto;border-radius:4px}
pre code{background:none;padding:0;overflow-wrap:normal}
table{border-collapse:collapse;display:block;overflow-x:auto;font-size:14.5px}
th,td{border-bottom:1px solid var(--line);padding:6px 10px 6px 0;text-align:left;
vertical-align:top;min-width:64px}th{color:var(--soft)}:target{background:#fff3bf;color:#1b1f24}
@media(max-width:760px){body{display:block}nav{min-height:0;border:0;border-bottom:1px solid
var(--line)}main{padding:16px}}@media print{nav{display:none}body{display:block}}
"""


def page_of(path):
    """Where the page of a source stands; None: it has none."""
    if path == "README.md":
        return "index.html"
    if path.endswith((".md", ".h")):
        return path.rsplit(".", 1)[0] + ".html"
    return None


def sources():
    """The files that become pages, in the order of the list beside every page."""
    chapters, folders = [], []
    for folder, names, files in os.walk(TOP):
        names[:] = sorted(name for name in names if name not in SKIPPED and name[0] != ".")
        where = os.path.relpath(folder, TOP)
        for name in sorted(files):
            path = os.path.normpath(os.path.join(where, name))
            if where.split(os.sep)[0] == "docs" and name.endswith(".md"):
                if where.count(os.sep) < 2 or name == "README.md": # which links the others
                    chapters.append(path)
            elif name == "README.md" and where != ".":
                folders.append(path)
    headers = ["include/pfslab/" + name
               for name in sorted(os.listdir(os.path.join(TOP, "include", "pfslab")))]
    return list(FIRST), chapters, headers, folders


def anchor_of(text, taken):
    """A heading's anchor, as GitHub makes it."""
    plain = html.unescape(re.sub(r"<[^>]*>", "", text)).lower()
    anchor = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
    number = taken.get(anchor, 0)
    taken[anchor] = number + 1
    return f"{anchor}-{number}" if number else anchor


def header_page(text):
    """(body, names) of a public header."""
    names = []

    def mark(found):
        if found[2] in names:
            return found[0]
        names.append(found[2])
        return f'{found[1]}<b id="{found[2]}">{found[2]}</b>'
    return f"<pre>{DECLARED.sub(mark, html.escape(text, quote=False))}</pre>", names


class Site:
    """What is written where, and what names what."""

    def __init__(self, out):
        self.out = out
        self.groups = sources()
        self.known = {path: page_of(path) for group in self.groups for path in group}
        self.titles, self.words, self.bodies = {}, {}, {}
        self.copied = set()

    def read(self, path):
        """The text of a source."""
        return Path(os.path.join(TOP, path)).read_text("utf-8")

    def add(self, path):
        """Make the body of one page."""
        text = self.read(path)
        if path.endswith(".h"):
            title = os.path.basename(path)
            body, names = header_page(text)
            body = f"<h1><code>#include &lt;pfslab/{title}&gt;</code></h1>{body}"
            self.words.update({name: f"{page_of(path)}#{name}" for name in names})
        else:
            body = subprocess.run(
                ["cmark-gfm", "-e", "table", "-e", "autolink"], input=text, text=True, check=True,
                capture_output=True).stdout
            taken = {}
            body = HEADING.sub(lambda found: f'<h{found[1]} id="{anchor_of(found[2], taken)}">'
                               f"{found[2]}</h{found[1]}>", body)
            first = re.search(r"<h1[^>]*>(.*?)</h1>", body, re.DOTALL)
            title = re.sub(r"<[^>]*>", "", first[1]) if first else path
        if os.path.basename(path) == "README.md" and path not in self.groups[0] + self.groups[1]:
            title = os.path.dirname(path) + "/"
        self.titles[path], self.bodies[path] = title, body

    def link(self, path, target):
        """A link as the source has it, as its page has it."""
        if re.match(r"[a-z]+:|#", target):
            return target
        where, _, anchor = target.partition("#")
        there = os.path.normpath(os.path.join(os.path.dirname(path), where))
        if there.endswith(".md") and there not in self.known and \
                os.path.exists(os.path.join(TOP, there)):
            self.known[there] = page_of(there)
            self.add(there)
        page = self.known.get(there)
        if page is None:
            self.copied.add(there) # not there: checks/links.py says so
            page = there
        return self.relative(path, page) + ("#" + anchor if anchor else "")

    def relative(self, path, page):
        """From the page of a source to another page."""
        return os.path.relpath(page, os.path.dirname(page_of(path)) or ".")

    def name(self, path, found):
        """A word in `code`, linked if it names a page or a function."""
        word = found[1]
        beside = os.path.normpath(os.path.join(os.path.dirname(path), word))
        page = self.known.get(word) or self.known.get(beside) or self.words.get(word) or \
            self.known.get("include/" + word)
        if not page or page == page_of(path):
            return found[0]
        return f'<a href="{self.relative(path, page)}">{found[0]}</a>'

    def beside(self, path):
        """The list of pages."""
        parts = []
        for title, group in zip(("pfslab", "Chapters", "Headers", "Folders"), self.groups):
            items = []
            for other in group:
                mark = ' aria-current="page"' if other == path else ""
                shown = self.titles[other] if title != "Headers" else os.path.basename(other)
                items.append(f'<li><a href="{self.relative(path, page_of(other))}"{mark}>'
                             f"{shown}</a></li>")
            parts.append(f"<b>{title}</b><ul>{''.join(items)}</ul>")
        return "<nav>" + "".join(parts) + "</nav>"

    def write(self, path):
        """One page."""
        body = LINK.sub(lambda found: found[1] + self.link(path, html.unescape(found[2])) + '"',
                        self.bodies[path])
        blocks = re.split(r"(<pre>.*?</pre>|<a .*?</a>)", body, flags=re.DOTALL)
        body = "".join(block if block.startswith(("<pre", "<a ")) else
                       CODE.sub(lambda found: self.name(path, found), block) for block in blocks)
        style = self.relative(path, "style.css")
        out = os.path.join(self.out, page_of(path))
        os.makedirs(os.path.dirname(out), exist_ok=True)
        with open(out, "w", encoding="utf-8") as file:
            file.write('<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name='
                       '"viewport" content="width=device-width,initial-scale=1">'
                       f"<title>{self.titles[path]}</title>"
                       f'<link rel="stylesheet" href="{style}"></head><body>'
                       f"{self.beside(path)}<main>{body}</main></body></html>\n")

    def make(self):
        """Everything."""
        for group in self.groups:
            for path in group:
                self.add(path)
        done = set()
        while done != set(self.known): # a page that is linked may be one more
            for path in sorted(set(self.known) - done):
                self.write(path)
                done.add(path)
        Path(os.path.join(self.out, "style.css")).write_text(STYLE, "utf-8")
        for path in sorted(self.copied):
            source, out = os.path.join(TOP, path), os.path.join(self.out, path)
            if os.path.isfile(source):
                os.makedirs(os.path.dirname(out), exist_ok=True)
                shutil.copyfile(source, out)


def main(argv=None):
    """The command."""
    parser = commandline.Parser(prog="scripts/pages.py", description="The documentation as plain "
                                "pages, from docs/, the READMEs and the public headers.")
    parser.add_argument("out", metavar="OUT", help="the folder; its files are deleted")
    arguments = parser.parse_args(argv)
    if not shutil.which("cmark-gfm"):
        print("pages.py: cmark-gfm is not installed (package cmark-gfm)", file=sys.stderr)
        return 1
    if os.path.isdir(arguments.out) and os.listdir(arguments.out) and \
            not os.path.exists(os.path.join(arguments.out, "style.css")):
        print(f"pages.py: {arguments.out}: it is not empty and not a site; name another "
              "folder", file=sys.stderr)
        return 2
    shutil.rmtree(arguments.out, ignore_errors=True)
    Site(arguments.out).make()
    return 0


if __name__ == "__main__":
    commandline.run(main, "pages.py")
