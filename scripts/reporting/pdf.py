"""pdf.py - an SVG file as PDF, by the first program here that can do it."""

import math
import os
import re
import shutil
import subprocess
import tempfile

from common import browser, documents

# In order of preference: the program and its arguments.
PROGRAMS = (("rsvg-convert", ("--format=pdf", "--output={pdf}", "{svg}")),
            ("cairosvg", ("{svg}", "--output", "{pdf}")),
            ("inkscape", ("{svg}", "--export-filename={pdf}")))
PAGE = ('<!DOCTYPE html><meta charset="utf-8"><style>@page{{size:{0}px {1}px;margin:0}}'
        'body{{margin:0}}svg{{display:block}}</style>{2}')


def program():
    """The program that makes PDF here; BadInput says what to install."""
    found = next((name for name, _ in PROGRAMS if shutil.which(name)), browser.CHROMIUM)
    if not found:
        raise documents.BadInput("--for paper: no program here makes PDF; install Debian's "
                                 "librsvg2-bin")
    return found


def _words(name, svg, pdf, folder):
    """The command line; a browser prints a page of the figure's size."""
    if name in dict(PROGRAMS):
        return [name, *(word.format(svg=svg, pdf=pdf) for word in dict(PROGRAMS)[name])]
    text = documents.read_text(svg)
    width, height = re.search(r'width="([\d.]+)" height="([\d.]+)" role', text).groups()
    page = os.path.join(folder, "page.html")
    documents.write_text(page, PAGE.format(width, math.ceil(float(height)) + 1, text))
    return [name, "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer",
            f"--user-data-dir={folder}/profile", f"--print-to-pdf={os.path.abspath(pdf)}",
            "file://" + page]


def convert(svg):
    """The PDF beside an SVG file: its path."""
    name, pdf = program(), os.path.splitext(svg)[0] + ".pdf"
    with tempfile.TemporaryDirectory(prefix="pfs-pdf-") as folder:
        done = subprocess.run(_words(name, svg, pdf, folder), capture_output=True, text=True,
                              timeout=120, check=False)
    if done.returncode or not os.path.exists(pdf):
        said = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise documents.BadInput(f"{svg}: {os.path.basename(name)} made no PDF ({said}); install "
                                 "Debian's librsvg2-bin")
    return pdf
