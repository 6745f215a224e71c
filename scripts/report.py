#!/usr/bin/python3
"""report.py - writes a self-contained report.html from result folders or files.

usage: scripts/report.py RESULT... [--against OLD] [--out FILE] [--table] [--print TABLE] [--csv]
                         [--policies P,..] [--workloads W,..]
The first screen says which policy to take, how sure that is, and on what machine. The report opens
without a network and without a script, prints, and follows the reader's dark mode. A script in it
counts the figures that were drawn and says so in document.body.dataset.
Exit 0: written. 1: no figure could be drawn from this data. 2: bad usage.
"""

import os
import sys

import plot
from common import columns, commandline, documents, judge
from reporting import (against, change, claims, figures, front, markup, page, results,
                       steadiness, summary, tables, tidy)


def print_tables(found):
    """The verdict, the comparison, the bars, and the claims, on stdout."""
    if found.is_real():
        print(summary.disturbed_text(found))
        print(front.summary_text(found))
        print()
        print(summary.table_text(found))
        print()
        for bar in summary.bars(found) + against.bars(found):
            word = {judge.NOT_MET: "NOT MET", judge.NOT_MEASURED: "–"}.get(bar.verdict,
                                                                           bar.verdict)
            print(f"{word:9} {bar.says}: {bar.measured}")
        print()
    for part, module in results.CHAPTERS.items():
        if getattr(found, part):
            print(module.text(getattr(found, part)))
    made = claims.table(found) if found.machines() else None
    if made:
        print(f"{found.simulated().stamp}; medians of the seeds; rates without the start-up")
        print(*steadiness.sentences(found.simulated()), sep="\n")
        print(columns.aligned(*made))
        print()
    judged = claims.judged(found)
    for claim, measured, holds in judged:
        print(f"{claims.WORDS[holds]:14} {claim.says}: {measured}")
    if judged:
        print()


def print_one(found, name):
    """One table on stdout; what the command does."""
    table = tables.of(found, name)
    if table is None:
        raise documents.BadInput(f"{found.paths[0]}: no measurements for the table '{name}'")
    print(markup.text_of(table))
    return 0


def arguments_of(argv):
    """The parsed command line."""
    parser = commandline.Parser(prog="scripts/report.py", description="Write a "
                                     "self-contained HTML report with figures.")
    parser.add_argument("result", nargs="+", help="a result folder or a JSON file")
    parser.add_argument("--against", metavar="OLD", help="an earlier result of this machine: adds "
                        "a chapter on what changed beyond noise")
    parser.add_argument("--out", metavar="FILE", help="the report (default: RESULT/report.html, "
                        "for files ./report.html)")
    parser.add_argument("--table", action="store_true", help="also print the comparison and the "
                        "bars")
    known = [*tables.TABLES, "changes"]
    parser.add_argument("--print", dest="only", metavar="TABLE", choices=known,
                        help=f"write nothing, print one table of the report: {', '.join(known)}")
    parser.add_argument("--csv", action="store_true", help="write nothing, print all "
                        "measurements: a row for each launch and value")
    commandline.add_selection(parser)
    arguments = parser.parse_args(argv)
    if arguments.csv and (arguments.only or arguments.table or arguments.against or arguments.out):
        parser.error("--csv prints the measurements alone; leave the other options out")
    if arguments.only == "changes" and not arguments.against:
        parser.error("--print changes compares two results; give the earlier one with --against")
    return arguments


def main(argv=None):
    """The command."""
    arguments = arguments_of(argv)
    chosen = arguments.policies, arguments.workloads
    found = results.load(arguments.result).select(*chosen)
    if arguments.csv:
        tidy.write(sys.stdout, arguments.result, *chosen)
        return 0
    old = results.load([arguments.against]) if arguments.against else None
    if old:
        why = change.refusal(found, old)
        if why:
            more = f"; and {len(why) - 1} more" if len(why) > 1 else ""
            print(f"report.py: not compared with {arguments.against}: {why[0]}{more}",
                  file=sys.stderr)
    if arguments.only == "changes":
        print(change.text(found, old))
        return 0
    if arguments.only:
        return print_one(found, arguments.only)
    made, missing = figures.make(found)
    path = arguments.out or os.path.join(found.folder or ".", "report.html")
    try:
        documents.write_text(path, page.render(found, made, missing, old))
    except OSError as error:
        raise documents.BadInput(f"{path}: cannot be written ({error.strerror}); name another file "
                                 "with --out") from None
    if found.folder and not arguments.out:
        plot.write_figures(made, os.path.join(found.folder, "figures"))
    if arguments.table:
        print_tables(found)
    if old:
        print(change.text(found, old))
    print(f"report: {shown_path(path)}")
    return 0 if made or found.searches else 1


def shown_path(path):
    """A path for the terminal: within the project's folder as it is typed there, else whole."""
    full = os.path.abspath(path)
    return os.path.relpath(full, markup.TOP) if full.startswith(markup.TOP + os.sep) else path


if __name__ == "__main__":
    commandline.run(main, "report.py")
