"""server_quotes.py - the numbers of the real server that documents quote."""

from common import documents, stats
from common.stats import median
from reporting import server_suite as server
from reporting.server_suite import MIB


def samples_for(suite, word, rest):
    """The samples behind a quoted number: see quoted()."""
    policy, *more = rest
    if word in ("start", "peak", "after", "kept"):
        size = int(more[0]) if more else None
        if word == "kept":
            return suite.kept(policy, size)
        return stats.mapped(suite.memory(policy, suite.last if word == "after" else word, size),
                            lambda v: v / MIB)
    if word == "night":
        return stats.mapped(suite.at_hour(policy, -1), lambda v: v / MIB)
    if word in ("rate", "times"):
        case = (more[0], int(more[1].lstrip("t")))
        return suite.rates(policy, case) if word == "rate" else suite.relative(policy, case)
    if word in ("pages", "growths", "growths_needless", "pages_given_back"):
        return server.storm_counts(suite, policy, word, *more)
    raise documents.BadInput(f"server_quotes.py: '{word}' is no number of the real server")


def quoted(suite, expression):
    """A number of the real server that a document quotes. Without CONNECTIONS the storm is the one
    of the chapter.

    start|peak|after POLICY [CONNECTIONS]       P_S memory, MiB (after: at the end, 10 s)
    kept POLICY [CONNECTIONS]                   after / start
    night POLICY                                P_S memory after a day of tides, MiB
    pages|growths|growths_needless|pages_given_back POLICY [CONTAINER]
    rate POLICY WORKLOAD tTHREADS               statements per second
    times POLICY WORKLOAD tTHREADS              the same / those of the unpatched server
    passed POLICY                               tests of the perfschema suite
    needless POLICY                             the most needless growths of a launch, any load
    storm, rounds                               connections of the storm, its launches, at least

    A last word says what of the launches: low and high of the interval, least and most of the
    range; without one it is the median.
    """
    if suite is None:
        raise documents.BadInput("server_quotes.py: the result has no mariadb.json; measure "
                                 f"again ({server.Suite.COMMAND})")
    word, *rest = expression.split()
    what = rest.pop() if rest and rest[-1] in ("low", "high", "least", "most") else "median"
    if word == "storm":
        return suite.size
    if word == "rounds":
        return min(len(s) for p in suite.policies if (s := suite.memory(p, "start")))
    if word == "passed" and rest[0] in suite.document["suite"]:
        return suite.document["suite"][rest[0]]["passed"]
    if word == "needless" and (found := server.needless_anywhere(suite, rest[0])):
        return max(found)
    found = samples_for(suite, word, rest) if word not in ("passed", "needless") else None
    if not found:
        raise documents.BadInput(f"server_quotes.py: nothing was measured for '{expression}'")
    if what in ("low", "high"):
        interval = stats.sure_interval(found)
        if interval is None:
            raise documents.BadInput(f"server_quotes.py: '{expression}': {len(found)} undisturbed "
                                     f"launches, {stats.LEAST} are the least for an interval")
        return getattr(interval, what)
    return {"median": median, "least": min, "most": max}[what](found)
