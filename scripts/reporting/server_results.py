"""server_results.py - the bars and the tables of the chapter "The real server": what policies are
held to inside MariaDB's Performance Schema. See server_suite.py for the samples.
"""

from common import judge, stats
from common.stats import median
from reporting import server_suite as server, suites
from reporting.server_suite import Suite  # the chapter's, as results.py asks for it
from reporting.suites import with_interval
from common.amounts import number

MIB = server.MIB
LARGEST = 20  # instruments of a box that are compared, as in measuring/mariadb_box.py


def needless_bar(suite, policy):
    """One page added while a record was free, in any launch, is enough to miss it."""
    says = f"{policy}: no page is added while a record is free, under any load"
    found = server.needless_anywhere(suite, policy)
    if not found:
        return judge.unmeasured(says)
    guilty = [value for value in found if value]
    told = f"none in {len(found)} launches" if not guilty else \
        f"in {len(guilty)} of {len(found)} launches, at most {max(guilty):g}"
    return judge.Bar(says, told, judge.NOT_MET if guilty else judge.MET)


def pages_apart(suite):
    """([(container, samples of original, of stock)] where a median is outside the other's range,
    or None where one of them was not measured; the fewest launches)."""
    names = server.containers_of(suite, server.STOCK)
    pairs = [(name, server.storm_counts(suite, server.ORIGINAL, "pages", name),
              server.storm_counts(suite, server.STOCK, "pages", name)) for name in names]
    pairs = [pair for pair in pairs if pair[1] and pair[2]]
    if not pairs:
        return None, 0

    def inside(one, other):
        return min(other) <= median(one) <= max(other)
    return ([pair for pair in pairs if not (inside(*pair[1:]) and inside(pair[2], pair[1]))],
            min(len(samples) for pair in pairs for samples in pair[1:]))


def pages_bar(suite):
    """Do the kit's original and the server's own code need the same pages?"""
    says = (f"original and stock agree in pages after {suite.size:,} connections, each container: "
            "each median is within the other's range")
    apart, rounds = pages_apart(suite)
    if apart is None:
        return judge.unmeasured(says)
    totals = [(policy, server.storm_counts(suite, policy, "pages"))
              for policy in (server.ORIGINAL, server.STOCK)]
    told = "pages in all: " + ", ".join(f"{policy} {median(found):g} ({min(found):g} to "
                                        f"{max(found):g})" for policy, found in totals)
    told += f"; {rounds} round{'' if rounds == 1 else 's'}"
    if apart:
        told += "; they differ in " + ", ".join(name for name, *_ in apart)
    return judge.Bar(says, told, judge.UNDECIDED if rounds < stats.LEAST else
                     judge.NOT_MET if apart else judge.MET)


def differences(suite, policy):
    """(tests that only this policy fails, tests that only the base fails, tests passed more) in the
    perfschema suite; None where one of them did not run."""
    ran = suite.document["suite"]
    base = suite.base("suite")
    if base is None or policy not in ran:
        return None
    own, other = set(ran[policy]["failed"]), set(ran[base]["failed"])
    return sorted(own - other), sorted(other - own), ran[policy]["passed"] - ran[base]["passed"]


def suite_bar(suite):
    """The server's own tests."""
    ran = suite.document["suite"]
    base = suite.base("suite")
    says = f"perfschema suite: the same tests pass with every policy as with {base or 'stock'}"
    others = [p for p in ran if p != base]
    if base is None or not others:
        return judge.unmeasured(says)
    apart = [p for p in others if any(differences(suite, p))]
    told = f"{ran[base]['passed']:g} passed with {base}; " + (
        f"{', '.join(apart)} differ{'s' if len(apart) == 1 else ''}" if apart else
        f"the same with {', '.join(others)}")
    return judge.Bar(says, told, judge.NOT_MET if apart else judge.MET)


def reader_bar(suite):
    """Readers of P_S tables while pages come and go."""
    says = "readers of P_S tables meet no error while tables come and go"
    found = {p: errors for p in suite.policies if (errors := suite.of_tables(p, "reader_errors"))}
    if not found:
        return judge.unmeasured(says)
    guilty = [f"{p} {max(errors):g}" for p, errors in found.items() if max(errors)]
    rows = sum(sum(suite.of_tables(p, "reader_rows")) for p in found)
    return judge.Bar(says, f"{', '.join(guilty) or 'none'} in {rows:,.0f} rows",
                     judge.NOT_MET if guilty else judge.MET)


def bars(suite):
    """What the policies are held to inside the server."""
    made = []
    for policy in server.HELD:
        kept = suite.kept(policy)
        detail = ", ".join(f"{median(s) / MIB:.1f} MiB {word}" for at, word in
                           (("start", "at the start"), ("peak", "at the peak"))
                           if (s := suite.memory(policy, at)))
        made.append(judge.bar(f"{policy}: {suite.last} s after {suite.size:,} connections, P_S "
                              f"memory is at most {server.WITHIN:g} × the start", kept,
                              most=server.WITHIN,
                              form="{:.3f} ×", detail=detail))
        made.append(needless_bar(suite, policy))
    made.append(pages_bar(suite))
    for case in suite.cases():
        for policy in server.HELD:
            made.append(judge.bar(f"{policy}: statements per second at least those of "
                                  f"{suite.base('cost')}, {server.case_text(case)}",
                                  suite.relative(policy, case), least=1, form="{:.3f} ×"))
    return made + [suite_bar(suite), reader_bar(suite), box_bar(suite)]


def mebibytes(samples):
    """Median and interval in MiB."""
    return with_interval(stats.mapped(samples, lambda v: v / MIB), "{:.1f}")


def spread(samples):
    """Counts: the median and the range of the launches, or one number where they agree."""
    if not samples:
        return "–"
    middle, low, high = (number(value) if value >= 1e5 else f"{value:g}"
                         for value in (median(samples), min(samples), max(samples)))
    return middle if low == high else f"{middle} ({low} to {high})".replace(" ", "\u00a0")


def verdict_of(samples, **limit):
    """met, not met or undecided; a dash without numbers."""
    return judge.verdict(samples, **limit) if samples else "–"


def memory_rows(suite):
    """(headers, rows): P_S memory through a storm, and whether it returns."""
    rows = []
    for policy in suite.policies:
        if suite.memory(policy, "start"):
            kept = suite.kept(policy)
            rows.append([policy, *(mebibytes(suite.memory(policy, at))
                                   for at in ("start", "peak", suite.last)),
                         with_interval(kept, "{:.3f}"), verdict_of(kept, most=server.WITHIN),
                         str(len(suite.memory(policy, "start")))])
    return [f"{suite.size:,} connections,\nP_S memory, MiB", "start", "peak",
            f"{suite.last} s after", "after × start", "within 10 %\nof the start", "launches"], rows


COLUMNS = (("pages", "pages at\nthe end"), ("pages_given_back", "pages\ngiven back"),
           ("growths", "pages\nadded"), ("growths_needless", "of them\nneedless"),
           ("page_skips", "full pages\nskipped"), ("record_skips", "records\nskipped"))


def page_rows(suite):
    """(headers, rows): pages of all containers through a storm."""
    rows = [[policy, *(spread(server.storm_counts(suite, policy, name)) for name, _ in COLUMNS)]
            for policy in suite.policies]
    return [f"{suite.size:,} connections, {suite.last} s after:\nmedian and range",
            *(text for _, text in COLUMNS)], [row for row in rows if set(row[1:]) != {"–"}]


def container_rows(suite):
    """(headers, rows): needless growths of each container that has some, in any launch."""
    names = list(dict.fromkeys(n for p in suite.policies for n in server.containers_of(suite, p)))
    found = {(n, p): server.storm_counts(suite, p, "growths_needless", n)
             for n in names for p in suite.policies}
    known = [p for p in suite.policies if any(found[n, p] for n in names)]
    return ["pages added while\na record was free", *known], \
        [[n, *(spread(found[n, p]) for p in known)] for n in names
         if any(found[n, p] and max(found[n, p]) for p in known)]


def wave_rows(suite):
    """(headers, rows): P_S memory after each wave."""
    waves = suite.waves()
    if not waves:
        return [], []
    size, wave, _ = waves[0]
    rows = [[policy, mebibytes(suite.memory(policy, "start", size, kind=server.WAVES, wave=wave)),
             *(mebibytes(suite.memory(policy, last, size, kind=server.WAVES, wave=wave))
               for size, wave, last in waves)] for policy in suite.policies]
    return [f"waves of {size:,} connections,\nP_S memory, MiB", "start",
            *(f"{last} s after\nwave {wave + 1}" for _, wave, last in waves)], \
        [row for row in rows if set(row[1:]) - {"–"}]


def day_rows(suite):
    """(headers, rows): P_S memory over a day of tides."""
    rows = []
    for policy in suite.policies:
        days = suite.days(policy)
        if days:
            first, last = (suite.at_hour(policy, k) for k in (0, -1))
            most = [max(point["ps_bytes"] for point in series) for series in days]
            rows.append([policy, mebibytes(first), mebibytes(stats.samples_of(most)),
                         mebibytes(last), with_interval(stats.paired(last, first), "{:.3f}"),
                         str(len(days))])
    return ["a day of tides,\nP_S memory, MiB", "first hour", "most", "last hour",
            "last × first", "days"], rows


def tables_rows(suite):
    """(headers, rows): many tables and prepared statements, read meanwhile."""
    rows = []
    for policy in suite.policies:
        start, peak, after = (suite.of_tables(policy, f"ps_bytes_{at}")
                              for at in ("start", "peak", "after_10s"))
        if start:
            rows.append([policy, *map(mebibytes, (start, peak, after)),
                         with_interval(stats.paired(after, start), "{:.3f}"),
                         *(spread(suite.of_tables(policy, name))
                           for name in ("reader_rows", "reader_errors"))])
    return ["many tables,\nP_S memory, MiB", "start", "peak", "after", "after × start",
            "rows that\nreaders saw", "reader\nerrors"], rows


def cost_rows(suite):
    """(headers, rows): statements per second, and relative to the base."""
    base = suite.base("cost")
    rows = []
    for case in suite.cases():
        for policy in [server.OFF, *suite.policies]:
            rates, ratios = suite.rates(policy, case), suite.relative(policy, case)
            if rates:
                compared = policy not in (base, server.OFF)
                rows.append([f"{server.case_text(case)}: {shown(policy)}",
                             with_interval(rates, "{:,.0f}"),
                             with_interval(ratios, "{:.3f}") if policy != base else "1",
                             verdict_of(ratios, least=1) if compared else "–"])
    return ["statements per second", "median", f"× {base}", f"at least those\nof {base}"], rows


def shown(policy):
    """How rows call the server without its Performance Schema."""
    return "P_S off" if policy == server.OFF else policy


def suite_rows(suite):
    """(headers, rows): the server's perfschema tests with each policy."""
    rows = []
    for policy, ran in suite.document["suite"].items():
        found = differences(suite, policy)
        told = "–" if found is None else ", ".join(
            [f"fails here only: {name}" for name in found[0]]
            + [f"passes here only: {name}" for name in found[1]]) or (
                f"{found[2]:+g} passed" if found[2] else "none")
        rows.append([policy, f"{ran['passed']:g}", f"{len(ran['failed'])}",
                     f"{ran.get('skipped', 0):g}", ", ".join(ran.get("unstable", [])) or "none",
                     told])
    return ["perfschema suite", "passed", "failed", "skipped", "passed when\nrepeated",
            f"differences\nfrom {suite.base('suite')}"], rows


def below_zero(side):
    """Rows below zero of one side: a count, or the rows."""
    found = side["below_zero"]
    return found if isinstance(found, (int, float)) else len(found)


def box_bar(suite):
    """What is left of a server that was killed."""
    says = (f"kill -9 during a storm: the box names the {LARGEST} largest instruments and all "
            "accounts of the server's own tables a second before")
    found = suite.document["boxes"]
    if not found:
        return judge.unmeasured(says)
    missing = sorted({row["name"] for one in found for row in one["kill"]["missing"]})
    unnamed = sorted({str(who) for one in found for who in
                      names_of(one["kill"]["server"]) - names_of(one["kill"]["box"])})
    told = ", ".join(missing + unnamed)
    return judge.Bar(says, f"missing: {told}" if told else f"none is missing in {len(found)} "
                     f"kill{'' if len(found) == 1 else 's'}",
                     judge.NOT_MET if told else judge.MET)


def names_of(side):
    """The accounts of one side."""
    return {f"{one['user']}@{one['host']}" for one in side["accounts"] if one["user"]}


def box_rows(suite):
    """(headers, rows): the server's own tables and its box at the same moments."""
    rows = []
    found = suite.document["boxes"]
    for moment, when in (("after", "after it"), ("kill", "a second before kill -9, and the box "
                                                         "after it")):
        for side in ("server", "box") if found else ():
            sides = [one[moment][side] for one in found]
            more = [one["too_much"]["bytes"] / MIB for one in sides if "too_much" in one]
            rows.append([f"{when}: {'own tables' if side == 'server' else side}",
                         *(spread(stats.samples_of([round(one["sums"][name] / MIB, 1)
                                                    for one in sides]))
                           for name in ("global", "account")),
                         spread(stats.samples_of([below_zero(one) for one in sides])),
                         spread(stats.samples_of([round(m, 2) for m in more])) if more else "–"])
    size = found[0]["connections"] if found else 0
    return [f"storm of {size:,} connections", "all instruments,\nMiB", "all accounts,\nMiB",
            "rows below\nzero", "accounts above\nall, MiB"], rows



TABLES = {"memory": memory_rows, "pages": page_rows, "needless": container_rows,
          "waves": wave_rows, "day": day_rows, "tables": tables_rows, "cost": cost_rows,
          "box": box_rows, "suite": suite_rows}


def text(suite):
    """All of it for a terminal."""
    return suites.text_of(suite, TABLES, bars(suite))
