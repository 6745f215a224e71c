"""chapter_command.py - the command line of those who measure a chapter of the report: accounts.py,
allocators.py, profile_cost.py.
"""

from common import commandline
from measuring import launching


def parser_of(prog, description, names, long, quick="a smoke run, each case once",
              rounds="launches of each case"):
    """A parser of --long, --quick, --out, --rounds, --only and --seed. names: of the cases."""
    parser = commandline.Parser(prog=prog, description=description)
    extent = parser.add_mutually_exclusive_group()
    extent.add_argument("--long", action="store_true", help=long + "; for conclusions")
    extent.add_argument("--quick", action="store_true", help=quick)
    parser.add_argument("--out", metavar="DIR", help="the result folder (default: "
                        "results/local/<time>-<host>)")
    parser.add_argument("--rounds", type=launching.positive, metavar="N", help=rounds)
    parser.add_argument("--only", metavar="CASE,CASE", help="of " + ", ".join(names))
    parser.add_argument("--seed", type=int, default=None, help="seed of the order (default: the "
                        "time)")
    return parser


def parse(parser, names, argv):
    """The arguments; only: a list of names, or None."""
    arguments = parser.parse_args(argv)
    arguments.only = arguments.only.split(",") if arguments.only else None
    for name in arguments.only or ():
        if name not in names:
            parser.error(f"unknown case '{name}'; see --help")
    return arguments
