"""profile_quotes.py - the numbers of profile.json that documents quote."""

from common import documents, stats
from common.stats import median
from measuring.profile_cases import NONE, ORDINARY, WALKED
from reporting.profile_results import CPU, Suite

UNITS = {"ns": 1, "us": 1e3, "ms": 1e6}


def samples_for(suite, word, rest):
    """The samples behind a quoted number: see quoted()."""
    if word == "more":
        return suite.more(*rest)
    if word == "sample":
        return suite.sample_ns(*rest)
    if word in UNITS:
        return stats.mapped(suite.samples(*rest, CPU), lambda ns: ns / UNITS[word])
    if word in ("taken", "walked"):
        return suite.samples(*rest, WALKED, "samples" if word == "taken" else "percent")
    raise documents.BadInput(f"profile_quotes.py: '{word}' is no number of profile.json")


def end_of(found, what):
    """The median of samples, or an end of its interval."""
    return median(found) if what is None else getattr(stats.median_interval(found), what)


def error_of(errors, what):
    """A number of the errors of estimates, [(mix, samples, error, theory, seeds)]."""
    mix = [one for one in errors if one[0] == errors[0][0]]
    first = next(one for one in mix if round(one[1]) == 100)
    ratios = [error / theory for _, _, error, theory, _ in errors]
    return {"seeds": first[4], "mixes": len({one[0] for one in errors}),
            "fewest": min(one[1] for one in mix), "most": max(one[1] for one in mix),
            "lowest": min(ratios), "highest": max(ratios), "seen": 100 * first[2],
            "theory": 100 * first[3], "samples": round(first[1])}[what]


def quoted(suite, expression):
    """A number of profile.json that a document quotes.

    more CASE WAY BASE      % of CPU time that a way takes more than another one
    ns|us|ms CASE WAY       CPU time of a pair, a run or a request
    sample CASE             CPU time of a sample at 1 KiB, ns
    taken CASE              stacks that were taken
    walked CASE             % of them walked
    rounds CASE             its launches of each way
    cases GROUPS            how many there are of groups, like program,server
    error WHAT              of estimates: seeds, mixes, lowest|highest (error / theory); of the
                            first mix fewest|most (samples), and with 100 samples|seen|theory (%)
    below GROUPS PERCENT    of how many the profile at 512 KiB takes at most this much

    A last word low or high is that end of the interval; without one it is the median.
    """
    if suite is None:
        raise documents.BadInput("profile_quotes.py: the result has no profile.json; measure "
                                 f"again ({Suite.COMMAND})")
    word, *rest = expression.split()
    what = rest.pop() if rest[-1] in ("low", "high") else None
    if word == "rounds":
        return len(suite.more(rest[0], ORDINARY, NONE))
    if word == "error":
        return error_of(suite.errors(), *rest)
    if word in ("cases", "below"):
        cases = suite.of_group(*rest[0].split(","))
        return len(cases) if word == "cases" else sum(
            end_of(suite.more(case, ORDINARY, NONE), what) <= float(rest[1]) for case in cases)
    found = samples_for(suite, word, rest)
    if not found:
        raise documents.BadInput(f"profile_quotes.py: nothing was measured for '{expression}'")
    return end_of(found, what)
