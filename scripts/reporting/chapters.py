"""chapters.py - the chapters of the report, all of one make: what was measured and how, in a
sentence; the figures; the bars, the tables, each with the command that makes it again.
"""

import base64
import os
from html import escape

from common import documents, judge
from reporting import (accounts_results, against, allocator_results, choice, claims,
                       profile_results, summary, svg, tables)
from reporting.front import distrust_html
from reporting.markup import (again, command_of, failed_html, fold, grid_html, named_bars,
                              tally_html, titles_html)

BARS_NOTE = ("Medians of ratios that are formed within a round of interleaved launches, with an "
             "interval that covers the true median with at least 95 %, whatever the distribution. "
             "Met: the whole interval is beyond the bar; undecided: it is not, or fewer than six "
             "rounds ran undisturbed. Counts: counted build, every launch.")
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
    return {"allocator": "allocator", "accounts": "accounts", "sim": "simulated"}.get(
        word, "policies")


def chips_html(found):
    """Which policies are in colour, to click; the boxes stand before everything else."""
    names = "".join(f'<label for="p{k}">{escape(p)}</label>' for k, p in picks(found))
    return f'<div class="chips"><span>In colour (click): </span>{names}</div>' if names else ""


def picks(found):
    """[(colour, policy)] of those that can be shown in colour or grey."""
    return [(k, p) for k, p in enumerate(found.policy_order[:len(svg.LIGHT)])]


def boxes_html(found):
    """The check boxes behind the chips; four are checked."""
    checked = choice.in_colour(found, choice.standings(found)) or found.policy_order[:4]
    return "".join(f'<input type="checkbox" class="pick" id="p{k}" aria-label="{escape(p)} in '
                   f'colour"{" checked" if p in checked else ""}>' for k, p in picks(found))


def policies_html(found, made):
    """The chapter of the containers: occupancy and tide, and the rest to unfold."""
    heroes = [f for name in HEROES for f in made if f.name == name]
    for hero in heroes:
        hero.canvas.wide = True
    rest = [f for f in made if f.name not in HEROES]
    known = {name for _, names in THEMES for name in names}
    folds = ""
    for theme, names in THEMES:
        chosen = [f for name in names for f in rest if f.name == name]
        if theme == THEMES[0][0]:
            chosen += [f for f in rest if f.name not in known]
        if chosen:
            folds += (f"<h3>{theme}</h3>{titles_html(chosen)}"
                      + fold(f"Figures: {theme.lower()}", grid_html(found, chosen),
                             f"({len(chosen)})"))
    if not found.is_real() or not (made or found.values):
        return ""
    numbers = (tables.html(found, "comparison", "Medians over process launches. Times and rates: "
                           "release build. Skips and needless pages: counted build, churn, worst "
                           "of its cases. M/s: million allocate + publish + free. "
                           f"{summary.UNSURE}"))
    bars = summary.bars(found)
    peers = against.bars(found)
    judged = (named_bars(found, "bars", bars)
              + (f'<h3 id="peers">Against the peers</h3>{named_bars(found, "peers", peers)}'
                 f'{tables.html(found, "gives-up")}' if peers else "")
              + f'<p class="lead">{BARS_NOTE} A bar that is not met stays here.</p>')
    return ('<section class="policies page"><h2 id="policies">The policies</h2>'
            f"{chips_html(found)}{grid_html(found, heroes, 'heroes')}{folds}<h3>Numbers</h3>"
            + fold("Comparison of all policies", numbers)
            + f'<div id="bars">{fold("Bars", judged, tally_html(bars + peers))}</div></section>')


def claims_html(found):
    """The table of what is said of the policies and what the simulated machine says to it."""
    rows = []
    for claim, measured, verdict in claims.judged(found):
        word = claims.WORDS[verdict].lower() if verdict != judge.NOT_MEASURED else "not simulated"
        rows.append(f"<tr><td>{escape(claim.says)}</td><td>{escape(claim.source)}</td>"
                    f'<td>{escape(measured)}</td><td class="{judge.CSS[verdict]}">{word}</td></tr>')
    return ('<div class="scroll"><table class="left"><tr><th>claim</th><th>of</th>'
            f'<th>simulated</th><th></th></tr>{"".join(rows)}</table></div>'
            f'{again(command_of(found, "scripts/report.py", "--print", "claims"))}')


def claims_tally(found):
    """How many claims hold, in words; empty where none was simulated."""
    judged = [verdict for _, _, verdict in claims.judged(found) if verdict != judge.NOT_MEASURED]
    if not judged:
        return ""
    undecided = judged.count(judge.UNDECIDED)
    return (f"{judged.count(judge.MET)} of {len(judged)} claims hold"
            + (f", {undecided} undecided" if undecided else ""))


def simulated_html(found, made):
    """The simulated machine, apart from what was measured and marked; empty without it."""
    if not claims.judged(found):
        return ""
    trace = claims.trace(found)
    shown = ("<details><summary>The schedule of the four pages, found by the search</summary>"
             f"<pre>{escape(trace)}</pre></details>") if trace else ""
    gap = f'<p class="missed">{found.missing} simulated runs failed.</p>' if found.missing else ""
    stamp = f"{escape(found.simulated().stamp)}; " if found.machines() else ""
    note = (f"{stamp}medians of the seeds; counts are exact. Efficiency: throughput / (threads × "
            "that of one thread).")
    return ('<section class="simulated policies page"><h2 id="simulated">The simulated machine'
            '<span class="badge">SIMULATED</span></h2>'
            '<p class="lead">The same container sources on virtual threads, in virtual time: a '
            "model, not a measurement. Nothing of it is in the numbers above.</p>"
            f"{titles_html(made)}"
            + fold("Figures", chips_html(found) + grid_html(found, made), f"({len(made)})")
            * bool(made)
            + fold("Claims", claims_html(found) + tables.html(found, "simulated", note) + shown,
                   claims_tally(found)) + gap + "</section>")


def _chapter(found, made, name, head, lead, bars, names, gone, note=""):
    """A chapter of memory systems."""
    first = made[:2]
    shown = "".join(f"{tables.html(found, table)}<br>" for table in names)
    said = f'<p class="lead">{note}</p>' if note else ""
    return (f'<section class="page"><h2 id="{name}">{head}</h2><p class="lead">{lead}</p>'
            f'<ul class="says">{gone}</ul>{grid_html(found, first)}'
            + (titles_html(made[2:]) + fold("More figures", grid_html(found, made[2:]),
                                            f"({len(made) - 2})") if made[2:] else "")
            + fold("Bars", named_bars(found, f"{name}-bars", bars), tally_html(bars)) * bool(bars)
            + fold("Tables", shown + said) + "</section>")


def _left_out(document):
    return "".join(f"<li>Left out: {escape(name)}: {escape(why)}</li>"
                   for name, why in document.get("missing", {}).items()) + failed_html(document)


def allocator_html(found, made):
    """The chapter "The allocator"; empty where none was measured."""
    suite = found.allocators
    if suite is None:
        return ""
    ours = allocator_results.OURS in suite.names
    versions = "; ".join(f"{name} {facts['version']}"
                         for name, facts in suite.document["allocators"].items())
    return _chapter(
        found, made, "allocator", "The allocator", "Whole programs with another malloc preloaded: "
        f"{escape(versions)}. CPU time is user and system time of the process. Measure again with "
        "<code>scripts/allocators.py</code>.",
        allocator_results.bars(suite) if ours else [],
        ("allocator-means", "allocator-ratios", "allocator-idle", "allocator-slabs",
         "allocator-instructions"), _left_out(suite.document),
        "Instructions: single-stepped, loop and PLT included (8 of a pair), locked ones in "
        "brackets; foreign: blocks of another thread.")


def accounts_html(found, made):
    """The chapter "The accounts"; empty where none were measured."""
    suite = found.accounts
    if suite is None:
        return ""
    return _chapter(
        found, made, "accounts", "The accounts", "Every block is counted for its thread, account "
        "and instrument. Rules: exact credits where it was debited; freer credits who "
        "frees (MySQL 5.7, MariaDB), global the thread or else nobody in particular (MySQL 8.0). "
        "Measure again with <code>scripts/accounts.py</code>.", accounts_results.bars(suite),
        ("accounts-cost", "accounts-instructions", "accounts-errors", "accounts-readers",
         "accounts-memory"), _left_out(suite.document),
        "CPU time is that of the threads that count: others that want the CPUs do not show in "
        "it. Instructions: single-stepped, loop and PLT included (8 of a pair), locked ones in "
        "brackets.")


def profile_html(found, made):
    """What belongs to it, of the heap profile; empty where none was measured."""
    suite = found.profile
    if suite is None:
        return ""
    return _chapter(
        found, made, "profile", "The heap profile", "Where memory in use was allocated: one sample "
        "per 512 KiB, with its stack. Variants alternate within a process, slice by slice. Measure "
        "again with <code>scripts/profile_cost.py</code>.", profile_results.bars(suite),
        ("profile-cost", "profile-intervals", "profile-errors"), failed_html(suite.document))


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
            value = svg.bytes_text(value)
        if isinstance(value, list):
            value = f"{len(value)}: " + ", ".join(str(v) for v in value[:16]) + \
                (" …" if len(value) > 16 else "")
        rows.append((text, str(value)))
    rows += [(text, f"{found.context[key]} ns") for text, key in CONTEXT_ROWS
             if key in found.context]
    build = found.machine.get("build", {})
    flags = f"{build.get('compiler', '')} {build.get('CMAKE_C_FLAGS_RELWITHDEBINFO', '')}".strip()
    return rows + ([("compiler", flags)] if flags else [])


def topology_html(found):
    """lstopo's drawing of the machine, embedded; empty if the folder has none."""
    path = os.path.join(found.folder or "", "topology.svg")
    if not found.folder or not os.path.exists(path):
        return ""
    with open(path, "rb") as file:
        data = base64.b64encode(file.read()).decode("ascii")
    return ('<figure id="topology" data-figure="topology"><img alt="Topology of the machine" '
            f'src="data:image/svg+xml;base64,{data}"><figcaption>The machine as hwloc sees it, '
            'restricted to the CPUs this run was allowed. Again, on that machine: '
            '<code>lstopo-no-graphics --no-io --restrict binding --of svg</code></figcaption>'
            '</figure>')


def machine_html(found):
    """The machine, and how far to trust what it measured."""
    rows = machine_rows(found)
    listed = "".join(f"<tr><td>{escape(a)}</td><td>{escape(b)}</td></tr>" for a, b in rows)
    facts = f'<table class="left">{listed}</table>' if rows else \
        "<p>These results have no machine.json.</p>"
    measured = found.is_real() or found.allocators or found.accounts or found.profile
    trust = f"<h3>How it was measured</h3>{distrust_html(found)}" if found.is_real() else ""
    is_packed = not os.path.isdir(os.path.join(found.folder or "", "raw"))
    where, plan = ("raw.tar.xz", "plan.json.xz") if is_packed else ("raw/", "plan.json")
    raw = (f'<p>Raw data: <a href="{where}">{where}</a>, <a href="{plan}">{plan}</a>, '
           '<a href="machine.json">machine.json</a> in the same folder. Each raw file is one '
           "process launch.</p>" if found.folder and found.is_real() else "")
    head = "The machine" if measured else "The machine that simulated"
    return (f'<section class="page"><h2 id="machine">{head}</h2><div class="grid"><div>{facts}'
            f"</div>{topology_html(found)}</div>{trust}{raw}</section>")
