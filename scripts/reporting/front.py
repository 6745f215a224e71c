"""front.py - what the first screen of the report says beside choice.py: how far to trust it, on
what machine it was measured; and how it was measured."""

import itertools

from common import documents, stats
from reporting import choice, summary

GOOD, FAIR, BAD = "good", "fair", "bad"


QUICK = ("This is a quick run: few launches and short windows. It shows that all works; it "
         "supports no conclusion.")


def grade(found):
    """(good, fair or bad; in a few words): may something be concluded from this?"""
    shaken = summary.disturbed(found)
    rounds = max((len(samples) for samples in found.rounds.values()), default=0)
    if found.plan.get("quick"):
        return BAD, "A quick run: supports no conclusion"
    if shaken and shaken["disturbed"] > summary.DISTURBED_LIMIT * shaken["cases"]:
        return BAD, "Disturbed: other work took the CPUs"
    if rounds < stats.LEAST:
        return BAD, f"Too few rounds: {rounds}; an interval needs {stats.LEAST}"
    if not shaken:
        return FAIR, "Does not say what was disturbed"
    if shaken["thin"]:
        return FAIR, (f"Usable; {shaken['thin']} of {shaken['measured']} cases have too few "
                      "undisturbed rounds to decide")
    return GOOD, "Usable: supports conclusions"


def _processor(machine, context):
    cpu = machine.get("cpu_model") or context.get("cpu_model") or "unknown CPU"
    which = str(machine.get("cpu_id", "")).split(" ", 1)
    which = f" ({which[1]})" if len(which) > 1 and which[1] else ""
    return f"{cpu}{which}"


def machine_text(found):
    """The processor, in a line."""
    return _processor(found.machine, found.context)


def source_text(found, simulated=False):
    """Where a figure's numbers are from: machines and dates, in a line."""
    lines = []
    for machine in found.sources or [found.machine]:
        cpus = len(machine.get("cpus_allowed", [])) or found.context.get("num_cpus")
        when = str(machine.get("time") or found.context.get("date") or "date unknown")[:12]
        when = when if when == "date unknown" else when[:10]
        lines.append(f"simulated, {when}" if simulated else _processor(machine, found.context)
                     + (f", {cpus} CPU{'s' * (cpus != 1)}" if cpus else "") + f", {when}")
    return "; ".join(dict.fromkeys(lines))


def _machine_facts(found):
    machine = found.machine
    count = len(machine.get("cpus_allowed", [])) or found.context.get("num_cpus") or "?"
    virtual = ", virtual machine" if machine.get("hypervisor") == "yes" else ""
    nodes = machine.get("numa_nodes_online")
    nodes = f", NUMA nodes {nodes}" if nodes not in (None, "0", "absent") else ""
    rows = [("machine", machine_text(found)), ("", f"{count} CPUs{virtual}{nodes}")]
    if machine.get("kernel"):
        rows.append(("system", f"Linux {machine['kernel']}"))
    when = machine.get("time", "")[:16].replace("T", " ")
    revision = machine.get("revision")
    rows.append(("when", (when or "unknown") + (f", revision {revision}" if revision else "")))
    return rows


def _launch_facts(found):
    launches = [l for l in found.plan.get("launches", []) if l.get("status") != "unfit"]
    if not launches:
        return []
    done = sum(1 for l in launches if l.get("status") == "done")
    rounds = max((l.get("round", 0) for l in launches), default=0)
    spent = sum(l.get("seconds", 0) for l in launches) / 60
    failed = f", {len(launches) - done} failed" if done < len(launches) else ""
    return [("launches", f"{done:,} in up to {rounds} rounds{failed}; {spent:.0f} minutes")]


def facts(found, rows):
    """[(name, fact)] of the badge: what is decided, launches, the machine."""
    sure, cells = choice.decided(rows)
    decided = [("decided", f"{sure} of {cells} cells of the matrix")] if cells else []
    return decided + _launch_facts(found) + _machine_facts(found)


def mark(standing, policy):
    """How a cell is framed: of the best policy of a column, of one that is level with it."""
    if policy not in standing.level:
        return ""
    return " best" if standing.sure and len(standing.level) == 1 else " lead"


def heads(columns):
    """[(upper heading, over how many columns)]: equal neighbours stand once."""
    return [(head, len(list(run))) for head, run in itertools.groupby(c.head for c in columns)]


def distrust(found):
    """Lines on how it was measured, and on what casts doubt on the numbers."""
    lines = []
    launches = found.plan.get("launches", [])
    if launches:
        fit = [launch for launch in launches if launch.get("status") != "unfit"]
        done = sum(1 for launch in fit if launch.get("status") == "done")
        lines.append(f"{done} of {len(fit)} process launches succeeded; policies alternate "
                     f"in a random order (seed {found.plan.get('seed')}).")
        lines += [f"{policy} cannot do {label} and is left out there."
                  for label, policy in sorted({(u["label"], u["policy"]) for u in launches
                                               if u.get("status") == "unfit"})]
        if found.plan.get("quick"):
            lines.append(QUICK)
        pressures = [launch["cpu_pressure_before"] for launch in launches
                     if documents.is_number(launch.get("cpu_pressure_before"))]
        if pressures:
            lines.append("Other work waited for the CPU for up to "
                         f"{max(pressures):.0f} % of the time before a launch, this suite's own "
                         "oversubscribed cases included.")
    shaken = summary.disturbed(found)
    lines.append(summary.disturbed_text(found))
    if shaken:
        lines.append("A trial whose threads did not run at the same time is disturbed and "
                     f"repeated: {shaken['repeated']} were repeated. The raw files mark what "
                     "stayed disturbed.")
    return lines + [f"Not measured: {name}: {message}" for _, name, message in found.errors[:8]]


def summary_text(found):
    """The headline and the trust for a terminal."""
    standings = choice.standings(found)
    if not standings:
        return ""
    says, _, why = choice.headline(found, standings)
    return f"{says}. {why}\n{grade(found)[1]}; {machine_text(found)}"
