#!/usr/bin/python3
"""plot.py - writes the figures of result folders or files as SVG.

usage: scripts/plot.py RESULT... [--figure NAME] [--out DIR] [--policies P,..] [--workloads W,..]
                       [--for paper]
Exit 0: written. 1: no figure could be drawn from this data. 2: bad usage.
"""

import os
import sys

from common import commandline, documents
from reporting import figures, pdf, results


def write_figures(made, folder, paper=False):
    """Write each figure as a file of its own, and for a paper as PDF, too; the paths."""
    try:
        os.makedirs(folder, exist_ok=True)
        paths = []
        for figure in made:
            path = os.path.join(folder, figure.name + ".svg")
            documents.write_text(path, figure.canvas.document(figure.title, standalone=True,
                                                              paper=paper))
            paths += [path, pdf.convert(path)] if paper else [path]
    except OSError as error:
        raise documents.BadInput(f"{folder}: cannot be written ({error.strerror}); name another "
                                 "folder with --out") from None
    return paths


def main(argv=None):
    """The command."""
    parser = commandline.Parser(prog="scripts/plot.py", description="Draw the figures of "
                                     "result folders or benchmark JSON files as SVG.")
    parser.add_argument("result", nargs="+", help="a result folder or a JSON file")
    parser.add_argument("--figure", action="append", choices=list(figures.FIGURES),
                        help="draw only this one; may be repeated")
    parser.add_argument("--out", metavar="DIR", help="where to write (default: RESULT/figures, "
                        "for files the current folder)")
    parser.add_argument("--for", dest="medium", choices=["paper"], help="figures without title, "
                        "as SVG and as PDF")
    commandline.add_selection(parser)
    arguments = parser.parse_args(argv)
    found = results.load(arguments.result).select(arguments.policies, arguments.workloads)
    if arguments.medium == "paper":
        pdf.program()  # before anything is written
    made, missing = figures.make(found, arguments.figure)
    folder = arguments.out or (os.path.join(found.folder, "figures") if found.folder else ".")
    for path in write_figures(made, folder, arguments.medium == "paper"):
        print(path)
    if missing:
        print(f"plot.py: no data for {', '.join(missing)}", file=sys.stderr)
    return 0 if made and not (arguments.figure and missing) else 1


if __name__ == "__main__":
    commandline.run(main, "plot.py")
