"""judge.py - bars and claims are judged on intervals: met, not met, or undecided.

A bar is met if the whole interval is beyond it, and not met if the whole interval is short of it.
Otherwise, or with fewer than six undisturbed launches, it is undecided.
"""

from collections import namedtuple

from common import stats

MET, NOT_MET, UNDECIDED, NOT_MEASURED = "met", "not met", "undecided", "not measured"
CSS = {MET: "met", NOT_MET: "missed", UNDECIDED: "unknown", NOT_MEASURED: "unknown"}

Bar = namedtuple("Bar", "says measured verdict")


def unmeasured(says):
    """A bar for which there are no numbers."""
    return Bar(says, "not measured", NOT_MEASURED)


def verdict(samples, least=None, most=None):
    """The verdict of the samples' interval on a bar: at least or at most this much."""
    interval = stats.sure_interval(samples)
    if interval is None:
        return UNDECIDED
    if least is not None:
        return MET if interval.low >= least else NOT_MET if interval.high < least else UNDECIDED
    return MET if interval.high <= most else NOT_MET if interval.low > most else UNDECIDED


def every(values):
    """The verdict of launches or seeds that each say yes or no: met if all say yes, undecided if
    they differ."""
    values = list(values)
    if not values:
        return NOT_MEASURED
    return MET if all(values) else UNDECIDED if any(values) else NOT_MET


def percent(share):
    """96.9 %, 99.95 %: as many digits as tell it from 100."""
    return f"{100 * share:.1f} %" if share < 0.999 else f"{100 * share:.3g} %" \
        if share < 0.9995 else "over 99.9 %"


def spread_text(samples, form="{:.3g}"):
    """The interval in words, (1.04 to 2.06, covers 96.9 %, 6 rounds), or why it is missing. form:
    of numbers, or a function that writes one."""
    say = form if callable(form) else form.format
    noun = "seed" if getattr(samples, "seeds", False) else "round"
    count = f"{len(samples)} {noun}{'' if len(samples) == 1 else 's'}"
    low, high = say(min(samples)), say(max(samples))
    if getattr(samples, "shaken", 0):
        return (f"{low} to {high} in {count}, {samples.shaken} of them disturbed: fewer than "
                f"{stats.LEAST} are not")
    if getattr(samples, "seeds", False):
        return f"{low} to {high} in {count}" if len(samples) > 1 else count
    if len(samples) < stats.LEAST:
        return f"{low} to {high} in {count}: {stats.LEAST} are the least for an interval"
    interval = stats.median_interval(samples)
    return (f"{say(interval.low)} to {say(interval.high)}, covers "
            f"{percent(interval.coverage)}, {count}")


def bar(says, samples, least=None, most=None, form="{:.3g} ×", detail="", reason=""):
    """A bar on the median of samples, one per round. reason: why it may be out of reach; it is told
    if the interval is not wholly beyond the bar."""
    if not samples:
        return unmeasured(says)
    short = form.split(" ")[0]
    text = (f"{form.format(stats.median(samples))} ({spread_text(samples, short)})"
            + (f"; {detail}" if detail else ""))
    found = verdict(samples, least, most)
    if reason and found != MET and stats.sure_interval(samples):
        text += f". {reason[0].upper()}{reason[1:]}."
    return Bar(says, text, found)


def tally(bars):
    """{verdict: how many}, every verdict named."""
    return {word: sum(1 for b in bars if b[2] == word)
            for word in (MET, NOT_MET, UNDECIDED, NOT_MEASURED)}


def tally_text(counts):
    """5 met, 1 not met, 2 undecided: what there is of each."""
    return ", ".join(f"{count} {word}" for word, count in counts.items() if count)
