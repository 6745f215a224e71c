#!/usr/bin/python3
"""links.py - every link and picture of the site's pages leads somewhere, every page is found.

usage: scripts/checks/links.py SITE
A link to a missing file or anchor is a fault, and so is a page that no path of links from
index.html reaches. Links to other hosts are not followed.
Exit 0: no fault. 1: each fault in a line. 2: bad usage.
"""

import html.parser
import os
import sys
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from common import commandline


class Page(html.parser.HTMLParser):
    """Anchors and links of a page."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links = set(), []
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id":
                self.anchors.add(value)
            elif name in ("href", "src"):
                self.links.append(value)


def pages_of(site):
    """{path below the site: Page}"""
    found = {}
    for folder, _, names in os.walk(site):
        for name in names:
            if name.endswith(".html"):
                path = os.path.join(folder, name)
                found[os.path.relpath(path, site)] = Page(path)
    return found


def faults_of(site):
    """(faults, how many links were looked at)."""
    pages, faults, looked = pages_of(site), [], 0
    leads = {path: set() for path in pages}
    for path, page in sorted(pages.items()):
        for link in page.links:
            if urllib.parse.urlsplit(link).scheme:
                continue
            looked += 1
            where, _, anchor = link.partition("#")
            there = path
            if where:
                there = os.path.normpath(os.path.join(os.path.dirname(path),
                                                      urllib.parse.unquote(where)))
            leads[path].add(there)
            if there not in pages and not os.path.isfile(os.path.join(site, there)):
                faults.append(f"{path}: link to {link}: there is no such file")
            elif anchor and there in pages and anchor not in pages[there].anchors:
                faults.append(f"{path}: link to {link}: the page has no such anchor")
    seen, new = set(), {"index.html"}
    while new:
        seen |= new
        new = {there for path in new for there in leads.get(path, ())} - seen
    faults += [f"{path}: no link leads here" for path in sorted(set(pages) - seen)]
    return faults, looked


def main(argv=None):
    """The command."""
    parser = commandline.Parser(prog="scripts/checks/links.py", description="Does every link of "
                                "the site lead somewhere?")
    parser.add_argument("site", metavar="SITE", help="the folder that scripts/pages.py made")
    site = parser.parse_args(argv).site
    faults, looked = faults_of(site)
    for fault in faults:
        print(f"checks/links.py: {fault}")
    if not looked:
        print(f"checks/links.py: no link was found in {site}")
        return 1
    if not faults:
        print(f"checks/links.py: {looked} links looked at, no fault")
    return 1 if faults else 0


if __name__ == "__main__":
    commandline.run(main, "checks/links.py")
