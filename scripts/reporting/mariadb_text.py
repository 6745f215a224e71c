"""mariadb_text.py - what scripts/mariadb prints of its results: memory by policy, cost as a ratio
to the stock code within a round, and which tests of the server have another outcome.
"""

from common import stats
from common.columns import aligned

MIB = 1 << 20
STOCK = "stock"


def mib(numbers):
    """The median of some byte counts, in MiB; a dash where there are none."""
    return f"{stats.median(numbers) / MIB:.1f}" if numbers else "-"


def needless(entry):
    """Growths of a storm while a record was free, as counted from the server's start; None: not
    counted."""
    found = [counts["growths_needless"] for counts in entry["samples"][-1]["containers"].values()
             if counts.get("counted") and "growths_needless" in counts]
    return sum(found) if found else None


def storms(document):
    """A table of storms, the median of the rounds; of waves, the last one."""
    rows = []
    groups = {}
    for entry in document["storms"]:
        groups.setdefault((entry["kind"], entry["connections"], entry["policy"],
                           entry["wave"]), []).append(entry)
    order = {name: k for k, name in enumerate(document["policies"])}
    for key in sorted(groups, key=lambda key: (key[0], key[1], key[3], order[key[2]])):
        entries = groups[key]
        columns = [[e["samples"][k]["ps_bytes"] for e in entries] for k in (0, 1, -1)]
        added = [needless(e) for e in entries]
        rows.append([f"{key[1]} {key[0].replace('_', ' ')}" +
                     (f" {key[3] + 1}" if key[0] == "waves" else ""), key[2],
                     *map(mib, columns), mib([e["samples"][-1]["rss_bytes"] for e in entries]),
                     "-" if None in added else f"{max(added)}"])
    return aligned(["storm", "policy", "start\nMiB", "peak\nMiB", "after\nMiB", "RSS after\nMiB",
                    "needless\ngrowths"], rows) if rows else ""


def days(document):
    """A table of the days: memory at the highest tide and at the end."""
    rows = []
    for policy in document["policies"]:
        series = [entry["series"] for entry in document["days"] if entry["policy"] == policy]
        if series:
            rows.append([policy, mib([one[0]["ps_bytes"] for one in series]),
                         mib([max(point["ps_bytes"] for point in one) for one in series]),
                         mib([one[-1]["ps_bytes"] for one in series]),
                         mib([sum(p["ps_bytes"] for p in one) / len(one) for one in series])])
    headers = ["day", "start\nMiB", "peak\nMiB", "end\nMiB", "mean\nMiB"]
    return aligned(headers, rows) if rows else ""


def tables(document):
    """A table of the loads of tables and statements."""
    rows = []
    for policy in document["policies"]:
        found = [entry for entry in document["tables"] if entry["policy"] == policy]
        if found:
            rows.append([policy, *(mib([e[f"ps_bytes_{at}"] for e in found])
                                   for at in ("start", "peak", "after_10s")),
                         f"{stats.median([e['reader_rows'] for e in found]):.0f}",
                         str(sum(e["reader_errors"] for e in found))])
    return aligned(["tables", "start\nMiB", "peak\nMiB", "after\nMiB", "rows\nread",
                    "errors of\nreaders"], rows) if rows else ""


def speeds(document, workload, threads, policy):
    """Statements per second of each round."""
    return stats.Samples(stats.Value(e["round"], e["statements_per_second"], e["disturbed"])
                         for e in document["cost"] if (e["workload"], e["threads"], e["policy"]) ==
                         (workload, threads, policy))


def cost(document):
    """A table of statements per second, with the ratio to the stock code of the same build and its
    interval where six rounds were not disturbed."""
    rows = []
    for workload, threads in dict.fromkeys(sorted((e["workload"], e["threads"])
                                                  for e in document["cost"])):
        base = speeds(document, workload, threads, STOCK)
        for policy in ("off", *document["policies"]):
            own = speeds(document, workload, threads, policy)
            if not own:
                continue
            ratios = stats.paired(own, base)
            interval = stats.drawn_interval(ratios)
            rows.append([f"{workload}, {threads} threads", policy, f"{stats.median(own):.0f}",
                         f"{stats.median(ratios):.3f}" if ratios else "-",
                         f"{interval.low:.3f} to {interval.high:.3f}" if interval else
                         "not decided"])
    return aligned(["cost", "policy", "statements\nper second", "of stock", "95 %"],
                   rows) if rows else ""


def boxes(document):
    """A table of what a box says beside the server's own tables."""
    rows = []
    for entry in document.get("boxes", ()):
        kill = entry["kill"]
        rows += [[f"{entry['connections']} connections", side, mib([kill[side]["sums"]["global"]]),
                  mib([kill[side]["sums"]["account"]]), str(kill[side]["below_zero"]),
                  str(len(kill["missing"])) if side == "box" else "-"]
                 for side in ("server", "box")]
    return aligned(["kill -9", "says", "instruments\nMiB", "accounts\nMiB", "rows below\nzero",
                    "instruments\nmissing"], rows) if rows else ""


def summary(document):
    """All of these."""
    return "\n\n".join(text for text in (make(document) for make in
                                         (storms, days, tables, cost, boxes)) if text)


def suite(found):
    """The outcomes of the server's tests, and each test whose outcome differs from the first's."""
    rows = [[policy, str(len(one["passed"])), str(len(one["failed"])), str(len(one["skipped"])),
             str(len(one["differences"]))] for policy, one in found.items()]
    base = next(iter(found))
    lines = [aligned(["server", "passed", "failed", "skipped", f"other than\n{base}"], rows)]
    for policy, one in found.items():
        lines += [f"{policy}: {test}: {then} with {base}, {now} here"
                  for test, (then, now) in one["differences"].items()]
    return "\n".join(lines)
