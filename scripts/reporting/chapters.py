"""chapters.py - what stands in which chapter of the report: figures, facts, links."""

import base64
import os

from common import amounts, documents, judge
from reporting import against, claims, looks, results, summary, svg, tables

HEROES = ("occupancy", "tide-pages")
THEMES = (
    ("Speed", ("threads-pair", "threads-churn", "threads-handoff", "threads-storm", "floor",
               "calls", "replay", "scan")),
    ("Waiting", ("latency", "ebb", "growth-calls", "fairness")),
    ("Growth and memory", ("skips", "tide-resident", "memory", "growth-touched", "growth-fresh",
                           "refusal")))


def chapter_of(figure):
    """The chapter in which a figure stands; policies: that of the containers."""
    if figure.name.startswith("accounts-profile-"):
        return "profile"
    word = figure.name.split("-")[0]
    return {"allocator": "allocator", "accounts": "accounts", "server": "server",
            "sim": "simulated"}.get(word, "policies")


def picks(found):
    """[(look, policy)] of those that can be shown in colour or grey."""
    return [(looks.of(policy), policy) for policy in found.policy_order]


def heroes(made):
    """The figures that are never folded."""
    return [figure for name in HEROES for figure in made if figure.name == name]


def themes(made):
    """[(theme, its figures)] of the others; what is of none stands in the first."""
    known = {name for _, names in THEMES for name in names} | set(HEROES)
    found = [(theme, [f for name in names for f in made if f.name == name])
             for theme, names in THEMES]
    found[0][1].extend(f for f in made if f.name not in known)
    return [(theme, figures) for theme, figures in found if figures]


def claims_tally(found):
    """How many claims hold, in words; empty where none was simulated."""
    judged = [verdict for _, _, verdict in claims.judged(found) if verdict != judge.NOT_MEASURED]
    if not judged:
        return ""
    undecided = judged.count(judge.UNDECIDED)
    return (f"{judged.count(judge.MET)} of {len(judged)} claims hold"
            + (f", {undecided} undecided" if undecided else ""))


def has_chapters(found):
    """Is any chapter measured beside that of the policies?"""
    return any(getattr(found, part) for part in results.CHAPTERS)


def lead(found):
    """What was measured, the machine and the time, in one line."""
    cpu = found.machine.get("cpu_model", "unknown CPU")
    when = found.machine.get("time", "time unknown")[:16].replace("T", " ")
    if not found.values and has_chapters(found):
        what = "Allocators" if found.allocators else \
            "Accounts" if found.accounts or found.profile else "The real server"
        return f"{what}: {cpu}, {when}"
    if not found.is_real():
        return f"Simulated: {'; '.join(found.machines()) or 'searches only'}; on {when}"
    return f"{cpu}, {len(found.machine.get('cpus_allowed', [])) or '?'} CPUs, {when}"


def contents(found, body):
    """[(anchor, title)] of the chapters that are there, with what each comes to."""
    said = {"changes": "What changed", "policies": "Policies",
            "simulated": "Simulated machine: " + claims_tally(found), "machine": "Machine"}
    if found.is_real():
        said["bars"] = "Bars: " + judge.tally_text(judge.tally(
            summary.bars(found) + against.bars(found)))
    for part, title in (("allocators", "The allocator"), ("accounts", "The accounts"),
                        ("profile", "The heap profile"), ("server", "The real server")):
        suite = getattr(found, part)
        bars = judge.tally_text(judge.tally(results.CHAPTERS[part].bars(suite))) if suite else ""
        if suite:
            said[tables.PREFIX[part]] = title + (f": {bars}" if bars else "")
    order = ("changes", "policies", "bars", "simulated", "server", "allocator", "accounts",
             "profile", "machine")
    return [(name, said[name]) for name in order if name in said and f'id="{name}"' in body]


MACHINE_ROWS = (
    ("CPU", "cpu_model"), ("which of that name", "cpu_id"), ("microcode", "cpu_microcode"),
    ("L1 data cache", "cache_l1d_bytes"), ("L2 cache", "cache_l2_bytes"),
    ("L3 cache", "cache_l3_bytes"), ("CPUs allowed", "cpus_allowed"), ("SMT active", "smt"),
    ("NUMA nodes (list)", "numa_nodes_online"), ("virtual machine", "hypervisor"),
    ("governor", "governor"), ("memory", "memory_bytes"),
    ("huge pages", "transparent_hugepages"), ("kernel", "kernel"),
    ("distribution", "distribution"), ("clock", "clocksource"), ("revision", "revision"),
    ("measured at", "time"))
CONTEXT_ROWS = (("reading the clock", "timer_cost_ns"), ("a bare CAS and two stores", "floor_ns"),
                ("the clock's steps", "timer_step_ns"))


def machine_rows(found):
    """(name, fact): what decides how far the numbers carry."""
    rows = []
    for text, key in MACHINE_ROWS:
        value = found.machine.get(key)
        if value is None:
            continue
        if key.endswith("_bytes") and documents.is_number(value):
            value = amounts.bytes_text(value)
        if isinstance(value, list):
            value = f"{len(value)}: " + ", ".join(str(v) for v in value[:16]) + \
                (" …" if len(value) > 16 else "")
        rows.append((text, str(value)))
    rows += [(text, f"{found.context[key]} ns") for text, key in CONTEXT_ROWS
             if key in found.context]
    build = found.machine.get("build", {})
    flags = f"{build.get('compiler', '')} {build.get('CMAKE_C_FLAGS_RELWITHDEBINFO', '')}".strip()
    return rows + ([("compiler", flags)] if flags else [])


def topology(found):
    """lstopo's drawing of the machine, in base 64; empty if the folder has none."""
    path = os.path.join(found.folder or "", "topology.svg")
    if not found.folder or not os.path.exists(path):
        return ""
    with open(path, "rb") as file:
        return base64.b64encode(file.read()).decode("ascii")


def raw_of(found):
    """The names of the raw values and of the plan, packed or not."""
    is_packed = not os.path.isdir(os.path.join(found.folder, "raw"))
    return ("raw.tar.xz", "plan.json.xz") if is_packed else ("raw/", "plan.json")
