"""quotes.py - the measured numbers that documents quote, and what each of them is.

A region of a document between `<!-- measured: RESULT -->` and `<!-- end -->` quotes a result
folder, or a file that scripts/keep.py wrote. Every number in it, but for names in backquotes and
targets of links, stands in one of the phrases of quoted_numbers.py, so that no number is there that
nobody computes; a phrase's {} are numbers, each with its expression, and what else it says must
stand there word by word. A number holds where it is the computed one rounded as it is written.
"""

import functools
import re
from collections import namedtuple

from common import documents, stats
from reporting import accounts_quotes, allocator_quotes, choice, printed_quotes, profile_quotes
from reporting import results, server_quotes, summary

# expressions: what the {} of a phrase are, in the words of Of._computed().
Quote = namedtuple("Quote", "document result phrase expressions")
NUMBER = r"\d[\d,]*(?:\.\d+)?"
HAND = re.compile(r"<!-- by hand: \S.*? -->\n.*?<!-- end -->", re.DOTALL)
REGION = re.compile(r"<!-- measured: (\S+) -->\n(.*?)<!-- end -->", re.DOTALL)
RATE = "items_per_second"
CHAPTERS = {"accounts": accounts_quotes, "allocators": allocator_quotes, "profile": profile_quotes,
            "server": server_quotes}


def case_of(words):
    """The fields of `POLICY WORKLOAD [OCCUPANCY] [tTHREADS] [FIELD=VALUE]`; two threads, and `-`
    for no policy."""
    policy, workload, *more = words.split()
    case = {"workload": workload, "threads": 2}
    if policy != "-":
        case["policy"] = policy
    for word in more:
        if "=" in word:
            key, text = word.split("=")
            case[key] = int(text) if text.isdigit() else text
        elif word.startswith("t"):
            case["threads"] = int(word[1:])
        else:
            case["occupancy"] = float(word)
    return case


class Of:
    """Numbers of a result folder by expression."""

    def __init__(self, found):
        self.found = found
        self.standings = choice.standings(found)
        self.known = {}

    def _of(self, metric, words, build="release"):
        samples = self.found.of(build, metric, **case_of(words))
        if not samples:
            raise documents.BadInput(f"quotes.py: nothing was measured for '{words}'")
        return samples

    def ratios(self, words):
        """Of "A / B", within rounds."""
        one, other = words.split(" / ")
        return stats.paired(self._of(RATE, one), self._of(RATE, other))

    def value(self, expression):
        """As computed, once for each expression."""
        if expression not in self.known:
            self.known[expression] = self._computed(expression)
        return self.known[expression]

    def _computed(self, expression):
        """rate CASE (M/s), ns CASE (between two operations of all threads), times|low|high CASE /
        CASE (a ratio within rounds and its interval), lowest|highest POLICY WORKLOAD (M/s, over
        all fills but 0), METRIC CASE, returned POLICY (% of the tide), peak POLICY (of the tide, /
        ideal), counted METRIC POLICY (the most of any launch), cases POLICY (counted ones), wins
        POLICY, behind POLICY (of the matrix), workloads, rounds; in|us BUILD METRIC CASE (as it is,
        or ns in µs); CHAPTER ..., as the modules of CHAPTERS say."""
        word, _, rest = expression.partition(" ")
        if word in CHAPTERS:
            return CHAPTERS[word].quoted(getattr(self.found, word), rest)
        if word in ("in", "us"):
            build, metric, case = rest.split(" ", 2)
            return stats.median(self._of(metric, case, build)) / (1e3 if word == "us" else 1)
        if word in ("times", "low", "high"):
            ratios = self.ratios(rest)
            if word == "times":
                return stats.median(ratios)
            interval = stats.sure_interval(ratios)
            if interval is None:
                raise documents.BadInput(f"quotes.py: '{rest}' has no interval: fewer than "
                                         f"{stats.LEAST} undisturbed rounds")
            return getattr(interval, word)
        if word == "rate":
            return stats.median(self._of(RATE, rest)) / 1e6
        if word == "ns":
            return 1e9 / stats.median(self._of(RATE, rest))
        if word in ("lowest", "highest"):
            policy, workload = rest.split()
            rates = [self.found.mid("release", RATE, **c._asdict()) for c in self.found.cases(
                "release", workload=workload, policy=policy, threads=2) if c.occupancy]
            return (min if word == "lowest" else max)(rates) / 1e6
        return self._of_counts(word, rest)

    def _of_counts(self, word, rest):
        tally = choice.tally(self.standings)
        if word == "returned":
            return 100 * summary.returned_share(self.found, rest)
        if word == "peak":
            return max(max(p["pages"] for p in line) / max(p["ideal"] for p in line)
                       for c, lines in self.found.series.items() if c.policy == rest
                       for line in lines)
        if word == "counted":
            metric, policy = rest.split()
            return max(v for c in self.found.cases("counted", policy=policy, records=results.ANY)
                       for v in self.found.samples("counted", c, metric))
        if word == "cases":
            return sum(1 for c in self.found.cases("counted", policy=rest, records=results.ANY)
                       if c.threads >= 2)
        if word == "workloads":
            return len(self.standings)
        if word == "rounds":
            return max(launch["round"] for launch in self.found.plan["launches"])
        if word in ("wins", "behind"):
            return tally[rest][0 if word == "wins" else 2]
        return stats.median(self._of(word, rest))


def load(path):
    """What gives the numbers of a result: a folder, or a file of scripts/keep.py."""
    return printed_quotes.Printed(path) if path.endswith(".json") else Of(results.load([path]))


def written(text):
    """(value, half a unit of the last digit) of a number as it stands."""
    plain = text.replace(",", "")
    digits = len(plain.partition(".")[2])
    return float(plain), 0.5 * 10.0 ** -digits


@functools.cache
def pattern(phrase):
    """What finds a phrase whatever its lines, its numbers as groups."""
    parts = [r"\s+".join(map(re.escape, re.split(r"\s+", part))) for part in phrase.split("{}")]
    return re.compile(f"([+-]?{NUMBER})".join(parts))


def as_written(text, value):
    """The value with as many digits behind the point as the text has, and a sign where that has
    one."""
    sign, comma = "+" if text[0] in "+-" else "", "," if "," in text else ""
    return f"{value:{sign}{comma}.{len(text.partition('.')[2])}f}"


def blank(text):
    """The text with names in backquotes, targets of links and comments blanked out."""
    return re.sub(r"`[^`\n]*`|\]\([^)]*\)|<!--.*?-->", lambda m: " " * len(m.group(0)), text)


def _check_quote(regions, quote, of, edits):
    """[fault]; edits gets (begin, end, new text) of numbers that do not hold. Marks what the
    phrase covers. regions: those of its result, of which one has the phrase."""
    found = [(region, place) for region in regions
             for place in pattern(quote.phrase).finditer(region["text"])]
    if len(found) != 1:
        return [f"stands {len(found)} times, not once: {quote.phrase}"]
    (region, place), faults = found[0], []
    region["covered"].append(place.span())
    for k, expression in enumerate(quote.expressions, 1):
        try:
            text, value = place.group(k), of.value(expression)
        except documents.BadInput as problem:
            faults.append(str(problem))
            continue
        said, near = written(text)
        if abs(said - value) > near * 1.0001:
            faults.append(f"{text} is now {as_written(text, value)} ({expression}): "
                          f"{' '.join(place.group(0).split())}")
            begin, end = (region["at"] + at for at in place.span(k))
            edits.append((begin, end, as_written(text, value)))
    return faults


def outside(document):
    """[fault]: numbers that stand in no region, measured or by hand."""
    def away(found):
        return re.sub(r"[^\n]", " ", found.group(0))
    rest = blank(HAND.sub(away, REGION.sub(away, document)))
    return [f"line {rest.count(chr(10), 0, n.start()) + 1}: {n.group(0)} stands in no region "
            "<!-- measured: RESULT --> or <!-- by hand: COMMAND -->"
            for n in re.finditer(rf"(?<![\w.]){NUMBER}", rest)]


UNIT = r"(?:[nmµ]?s|%|[KMG]iB|[MG]B|M/s|×|times)(?!\w)"


def unquoted(document):
    """How many numbers with a unit, or in rows of tables, stand in no region and no block of code:
    measured ones are among them."""
    rest = re.sub(r"<!-- (?:simulated|table|files|pfs-sim).*?<!-- [^>]*end -->|(?ms:^```.*?^```)|"
                  r"(?m:^    [^\n]*$)", "", HAND.sub("", REGION.sub("", document)),
                  flags=re.DOTALL)
    return sum(len(re.findall(rf"(?<![\w.]){NUMBER}" + ("" if line.startswith("|") else
                                                        rf"\s?{UNIT}"), line))
               for line in blank(rest).split("\n"))


def check(document, name, quotes, loaded):
    """([fault], the document with the numbers of now) of a document's text; loaded(result) gives
    an Of."""
    faults, edits = [], []
    regions = [{"result": found.group(1), "text": found.group(2), "at": found.start(2),
                "covered": []} for found in REGION.finditer(document)]
    for quote in quotes:
        if quote.document == name:
            mine = [region for region in regions if region["result"] == quote.result]
            faults += _check_quote(mine, quote, loaded(quote.result), edits) if mine else \
                [f"no region <!-- measured: {quote.result} --> for: {quote.phrase}"]
    for region in regions:
        for number in re.finditer(rf"(?<![\w.]){NUMBER}", blank(region["text"])):
            if not any(a <= number.start() < b for a, b in region["covered"]):
                line = document.count("\n", 0, region["at"] + number.start()) + 1
                faults.append(f"line {line}: {number.group(0)} is of no quote in quotes.py")
    for begin, end, text in sorted(edits, reverse=True):
        document = document[:begin] + text + document[end:]
    return faults, document
