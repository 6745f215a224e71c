"""suites.py - what allocators.json, accounts.json and profile.json share: launches as samples, by
case, way and name; their tables and bars for a terminal.
"""

import os

from common import columns, documents, judge, shapes, stats
from common.shapes import COUNT, EACH, SOME, TEXT
from common.stats import median

COUNTED = {EACH: {EACH: {"calls": SOME, "instructions": COUNT, "locked": COUNT}}}


class Suite:
    """The launches of a document as samples. Each kind of suite names its file, the command that
    writes it, what a launch has besides its case, and the shape of the rest of the document."""

    FILE = COMMAND = ""
    WAY = "way"
    SHAPE, DEFAULTS = {}, {}

    def __init__(self, document):
        self.document, self.cases = document, document["cases"]
        self.failed = sum(1 for launch in document["launches"] if launch["status"] != "done")
        self.values = {}  # (case, way, name) -> [stats.Value]
        for launch in document["launches"]:
            for way, found in self.found(launch).items() if launch["status"] == "done" else ():
                for name, value in found.items():
                    self.values.setdefault((launch["case"], way, name), []).append(
                        stats.Value(launch["round"], value, False))

    @staticmethod
    def found(launch):
        """{way: {name: number}} of a launch that is done."""
        return launch.get("values")

    @classmethod
    def load(cls, folder):
        """The suite in a result folder, or None."""
        path = os.path.join(folder, cls.FILE)
        document = shapes.read(path, {"kind": TEXT, **cls.SHAPE, "launches": [
            {"case": TEXT, cls.WAY: TEXT, "round": SOME, "status": TEXT}]}, cls.COMMAND,
            cls.DEFAULTS)
        for position, launch in enumerate(document["launches"] if document else ()):
            fault = launch["status"] == "done" and shapes.fault_of(  # else there are no numbers
                cls.found(launch), {EACH: {EACH: COUNT}}, f"launches[{position}].values")
            if not fault and launch["case"] not in document["cases"]:
                fault = f"launches[{position}].case is not one of its cases"
            if fault:
                raise documents.BadInput(f"{path}: {fault}; measure again ({cls.COMMAND})")
        return document and cls(document)

    def samples(self, case, way, name):
        """One value for each launch."""
        return stats.Samples(self.values.get((case, way, name), []))

    def mid(self, case, way, name):
        """Median of the launches, or None."""
        found = self.samples(case, way, name)
        return median(found) if found else None

    def of_group(self, *groups):
        """The cases of these groups, in the document's order."""
        return [case for case, facts in self.cases.items() if facts["group"] in groups]

    def added(self, case, way, base, name="cpu_ns"):
        """What a way takes more than another one, one for each round."""
        return stats.paired(self.samples(case, way, name), self.samples(case, base, name),
                            lambda one, other: one - other)

    def more(self, case, way, base, name="cpu_ns"):
        """The same in percent."""
        return stats.paired(self.samples(case, way, name), self.samples(case, base, name),
                            lambda one, other: 100 * (one / other - 1) if other else None)


def with_interval(samples, form="{:+.1f}"):
    """A median and its interval, where there is one; never broken into lines."""
    if not samples:
        return "–"
    interval = stats.drawn_interval(samples)
    text = form.format(median(samples))
    if interval is not None:
        text += f" ({form.format(interval.low)} to {form.format(interval.high)})"
    return text.replace(" ", "\u00a0")


def text_of(suite, tables, bars):
    """The tables that have rows, and the bars, for a terminal. tables: {name: what makes it}."""
    made = [make(suite) for make in tables.values()]
    parts = [columns.aligned(*table) for table in made if table[1]]
    parts += ["\n".join(f"{bar.verdict:13} {bar.says}: {bar.measured}" for bar in bars
                        if bar.verdict != judge.NOT_MEASURED)] * bool(bars)
    return "\n\n".join(parts) + "\n"
