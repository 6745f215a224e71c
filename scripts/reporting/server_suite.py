"""server_suite.py - mariadb.json as samples: the policies inside MariaDB's Performance Schema in
storms, tides, many tables, statements per second and the server's own tests.

P_S memory is what the server reports for its Performance Schema. Ratios are formed within a round;
intervals are of order statistics (stats.py). "stock-binary" is the unpatched server, which tells
its pages and nothing else; "stock" is the patched server that runs its own container code.
"""

import os

from common import documents, shapes, stats
from common.shapes import COUNT, EACH, TEXT

UNPATCHED, STOCK, ORIGINAL, OFF = "stock-binary", "stock", "original", "off"
HELD = ("exact", "magazine")  # the policies that the bars hold
STORM, AT_ONCE, WAVES = 1500, "at_once", "waves"
AFTER = (1, 2, 5, 10)  # seconds after a storm
MIB = 1 << 20
WITHIN = 1.1
WORKLOADS = {"point": "point selects", "connect": "connections, one select each"}
NAMES = {"storms": "storms of connections", "days": "a day of tides",
         "tables": "many tables and prepared statements", "cost": "statements per second",
         "boxes": "the server's tables beside its box",
         "suite": "the server's perfschema test suite"}
_LAUNCH = {"round": COUNT, "policy": TEXT}
_SIGNED = ("a number", documents.is_number)  # the server's own sums fall below zero
_SIDE = {"sums": {EACH: _SIGNED}, "accounts": [{"bytes": _SIGNED}]}
_ANY = ("a number, true, false or null",
        lambda value: value is None or isinstance(value, bool) or documents.is_number(value))
SHAPE = {"server": {"version": TEXT}, "policies": [TEXT], "missing": {EACH: TEXT},
         "storms": [{**_LAUNCH, "connections": COUNT, "kind": TEXT, "samples": [
             {"at": TEXT, "seconds": COUNT, "ps_bytes": COUNT}]}],
         "days": [{**_LAUNCH, "series": [{"hour": COUNT, "connections": COUNT,
                                          "ps_bytes": COUNT}]}],
         "tables": [_LAUNCH], "cost": [{**_LAUNCH, "workload": TEXT, "threads": COUNT,
                                        "statements_per_second": COUNT}],
         "boxes": [{**_LAUNCH, "connections": COUNT,
                    "after": {"server": _SIDE, "box": _SIDE},
                    "kill": {"server": _SIDE, "box": _SIDE, "missing": [{"name": TEXT}],
                             "seconds_before": COUNT}}],
         "suite": {EACH: {"passed": COUNT, "failed": [TEXT]}}}
DEFAULTS = {"missing": {}, "storms": [], "days": [], "tables": [], "cost": [], "boxes": [],
            "suite": {}}


def place_of(sample):
    """"start", "peak", or the nearest of the seconds after."""
    if sample["at"] != "after":
        return sample["at"]
    return min(AFTER, key=lambda second: abs(second - sample["seconds"]))


class Suite:
    """The document's launches as samples, by policy."""

    FILE, COMMAND = "mariadb.json", "scripts/mariadb"

    def __init__(self, document):
        missing = {NAMES[part]: "not measured" for part in NAMES if not document[part]}
        self.document = {**document, "missing": {**missing, **document["missing"]}}
        self.failed = 0
        self.version = document["server"]["version"]
        measured = {launch["policy"] for part in ("storms", "days", "tables", "cost")
                    for launch in document[part]} | set(document["suite"])
        self.policies = [p for p in document["policies"] if p in measured and p != OFF]
        sizes = [s["connections"] for s in document["storms"] if s["kind"] == AT_ONCE]
        self.sizes = sorted(set(sizes))
        self.size = STORM if STORM in sizes else max(sizes, default=STORM)
        self.last = self.last_of(s for s in document["storms"] if s["kind"] == AT_ONCE)

    @classmethod
    def load(cls, folder):
        """The suite in a result folder, or None."""
        path = os.path.join(folder, cls.FILE)
        document = shapes.read(path, SHAPE, cls.COMMAND, DEFAULTS)
        if not document:
            return None
        launches = [(f"storms[{k}].samples[{n}]", sample) for k, s in enumerate(document["storms"])
                    for n, sample in enumerate(s["samples"])]
        launches += [(f"tables[{k}]", launch) for k, launch in enumerate(document["tables"])]
        for place, launch in launches:
            fault = shapes.fault_of(launch.setdefault("containers", {}), {EACH: {EACH: _ANY}},
                                    f"{place}.containers")
            if fault:
                raise documents.BadInput(f"{path}: {fault}; measure again ({cls.COMMAND})")
        return cls(document)

    def select(self, policies):
        """Keep these policies, and the server without a policy, which others are compared with."""
        self.policies = [p for p in self.policies if p in (*policies, UNPATCHED, STOCK)]

    @staticmethod
    def last_of(storms):
        """The last of AFTER at which memory was looked at; a quick run stops early."""
        return max((place_of(sample) for storm in storms for sample in storm["samples"]
                    if sample["at"] == "after"), default=AFTER[-1])

    def base(self, part="storms"):
        """The server that others are compared with: the unpatched one where it was measured."""
        there = set(self.document["suite"]) if part == "suite" else {
            launch["policy"] for launch in self.document[part]}
        return next((p for p in (UNPATCHED, STOCK) if p in there), None)

    def storms(self, policy, connections=None, kind=AT_ONCE, wave=0):
        """The storms of a policy; by default those of self.size connections at once."""
        return [s for s in self.document["storms"]
                if (s["policy"], s["connections"], s["kind"], s.get("wave", 0)) ==
                (policy, connections or self.size, kind, wave)]

    def memory(self, policy, at, connections=None, **storm):
        """P_S bytes of each storm. at: "start", "peak" or one of AFTER. They are no time, so a
        disturbed launch counts."""
        return stats.Samples(
            stats.Value(s["round"], sample["ps_bytes"], False)
            for s in self.storms(policy, connections, **storm) for sample in s["samples"]
            if place_of(sample) == at)

    def kept(self, policy, connections=None):
        """P_S memory at the end of a storm / before it, one for each round."""
        return stats.paired(self.memory(policy, self.last, connections),
                            self.memory(policy, "start", connections))

    def waves(self):
        """[(connections, wave, its last second)] of the storms in waves."""
        found = {}
        for storm in self.document["storms"]:
            if storm["kind"] == WAVES:
                found.setdefault((storm["connections"], storm.get("wave", 0)), []).append(storm)
        return [(*key, self.last_of(found[key])) for key in sorted(found)]

    def rates(self, policy, case):
        """Statements per second. case: (workload, threads)."""
        return stats.Samples(
            stats.Value(c["round"], c["statements_per_second"], c.get("disturbed", False))
            for c in self.document["cost"]
            if (c["policy"], (c["workload"], c["threads"])) == (policy, case))

    def relative(self, policy, case):
        """The same / the base's, one for each round."""
        return stats.paired(self.rates(policy, case), self.rates(self.base("cost"), case))

    def cases(self):
        """[(workload, threads)] of the statements per second, in the document's order."""
        return list(dict.fromkeys((c["workload"], c["threads"]) for c in self.document["cost"]))

    def of_tables(self, policy, name):
        """A number of each launch with many tables."""
        return stats.Samples(stats.Value(t["round"], t.get(name), t.get("disturbed", False))
                             for t in self.document["tables"] if t["policy"] == policy)

    def days(self, policy):
        """[series] of a policy, one for each round."""
        return [d["series"] for d in self.document["days"] if d["policy"] == policy and d["series"]]

    def at_hour(self, policy, position):
        """P_S bytes at a position of each day's series: 0 is the first hour, -1 the last."""
        return stats.Samples(stats.Value(d["round"], d["series"][position]["ps_bytes"],
                                         False)
                             for d in self.document["days"]
                             if d["policy"] == policy and d["series"])


def case_text(case):
    """point selects, 16 threads"""
    return (f"{WORKLOADS.get(case[0], case[0])}, {case[1]:g} "
            f"thread{'' if case[1] == 1 else 's'}")


KNOWN_OF_STOCK = ("growths_needless",)  # the adapter counts them itself
COUNTED = ("growths_needless", "page_skips", "record_skips")


def is_known(policy, name, counts):
    """Is a count of a container one that the server counts? Without the library's counting build
    some are 0 that are not counted, and the stock code counts no skips."""
    if counts.get(name) is None:
        return False
    if name not in COUNTED:
        return True
    if policy == STOCK:
        return name in KNOWN_OF_STOCK
    return counts.get("counted") is not False


def count_of(containers, policy, name, only=None):
    """The sum of a count over all containers, or of one; None where it is not known. A container
    without a page is not listed: it has 0."""
    known = {container: counts[name] for container, counts in containers.items()
             if is_known(policy, name, counts)}
    if only is None or only not in containers:
        return (sum(known.values()) if only is None else 0) if known else None
    return known.get(only)


LEVELS = ("pages", "live", "pages_peak")  # all other counts only rise


def storm_counts(suite, policy, name, only=None):
    """A count after each storm of suite.size; what only rises, less what it was at the start."""
    values = []
    for storm in suite.storms(policy):
        found = {place_of(s): count_of(s["containers"], policy, name, only)
                 for s in storm["samples"]}
        end, start = found.get(suite.last), found.get("start") or 0
        values.append(stats.Value(storm["round"], end if end is None or name in LEVELS
                                  else end - start, False))
    return stats.Samples(values)


def containers_of(suite, policy):
    """The names of the containers in the storms of a policy."""
    return list(dict.fromkeys(name for storm in suite.storms(policy)
                              for sample in storm["samples"] for name in sample["containers"]))


def needless_anywhere(suite, policy):
    """[needless growths since the server's start] of every launch under any load."""
    found = [[count_of(s["containers"], policy, "growths_needless") for s in storm["samples"]]
             for storm in suite.document["storms"] if storm["policy"] == policy]
    found += [[count_of(t["containers"], policy, "growths_needless")]
              for t in suite.document["tables"] if t["policy"] == policy]
    known = [[value for value in values if value is not None] for values in found]
    return [max(values) for values in known if values]
