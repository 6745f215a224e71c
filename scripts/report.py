#!/usr/bin/python3
"""report.py - writes a self-contained report.html from result folders or files.

usage: scripts/report.py RESULT... [--out FILE] [--table]
The report opens without a network, prints, and follows the reader's dark mode. A script in it
counts the figures that were drawn and says so in document.body.dataset.
Exit 0: written. 1: no figure could be drawn from this data. 2: bad usage.
"""

import base64
import os
import shlex
from html import escape

import accounts_results
import against
import allocator_results
import claims
import commandline
import figures
import judge
import malloc_instructions
import plot
import profile_results
import results
import summary
import svg

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

PAGE_STYLE = """
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#5c6570;--paper:#fff;--line:#dfe3e8;
--wash:#f5f7f9;--good:#00704f;--bad:#b23a00}
@media screen and (prefers-color-scheme:dark){:root{--ink:#eceff2;--soft:#a7b0ba;--paper:#15181c;
--line:#353b43;--wash:#1d2126;--good:#37c79b;--bad:#ff8a3d}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);line-height:1.5;font:15px/1.5 FONT}
main{max-width:1176px;margin:0 auto;padding:28px 28px 60px}
h1{font-size:27px;margin:0 0 2px;letter-spacing:-.01em}
h2{font-size:19px;margin:38px 0 10px;border-top:1px solid var(--line);padding-top:16px}
p.lead{color:var(--soft);margin:0 0 14px}
ul.says{margin:0;padding-left:20px}ul.says li{margin:5px 0}
a{color:inherit;text-decoration-color:var(--soft)}
table{border-collapse:collapse;width:100%;font-size:13.5px;font-variant-numeric:tabular-nums}
td.met,td.missed,td.unknown{white-space:nowrap}
th,td{padding:6px 7px;border-bottom:1px solid var(--line);text-align:right;vertical-align:bottom}
th{font-weight:600;color:var(--soft);font-size:12px;white-space:pre}
th:first-child,td:first-child{text-align:left}
table.left th,table.left td{text-align:left;vertical-align:top}
.page{break-before:page}
td.name{font-weight:600;white-space:nowrap}
.met{color:var(--good);font-weight:600}.missed{color:var(--bad);font-weight:600}
.unknown{color:var(--soft)}
.grid{display:grid;grid-template-columns:1fr 1fr;gap:22px 24px;align-items:start}
.wide{grid-column:1/-1}
figure{margin:0;break-inside:avoid;min-width:0}
figure svg,figure img{display:block;max-width:100%;height:auto}
figure img{background:#fff;border:1px solid var(--line);border-radius:4px;max-height:560px}
figcaption{font-size:12px;color:var(--soft);margin-top:4px}
code{font:12px ui-monospace,'DejaVu Sans Mono',monospace;background:var(--wash);padding:1px 4px;
border-radius:3px;overflow-wrap:anywhere}
.scroll{overflow-x:auto}
pre{font:11px ui-monospace,'DejaVu Sans Mono',monospace;overflow-x:auto;background:var(--wash)}
summary{cursor:pointer;margin:12px 0}
@media (max-width:900px){.grid{grid-template-columns:1fr}}
@media print{main{padding:0;max-width:none}h2{break-after:avoid}}
"""

SELF_TEST = """
(function () {
  var wanted = document.querySelectorAll('figure[data-figure]'), drawn = 0;
  wanted.forEach(function (figure) {
    var picture = figure.querySelector('img');
    if (picture) { drawn += picture.complete && picture.naturalWidth > 0 ? 1 : 0; return; }
    var box = figure.querySelector('svg').getBBox();
    var marks = figure.querySelectorAll('svg .mark').length;
    drawn += box.width > 100 && box.height > 60 && marks > 0 ? 1 : 0;
  });
  document.body.dataset.figures = wanted.length;
  document.body.dataset.drawn = drawn;
  document.body.dataset.ok = String(wanted.length > 0 && drawn === wanted.length);
})();
"""


def shown_path(path):
    """A path as a reader types it from the project's top."""
    full = os.path.abspath(path)
    return os.path.relpath(full, TOP) if full.startswith(TOP + os.sep) else path


BARS_NOTE = ("Medians of ratios that are formed within a round of interleaved launches, with an "
             "interval that covers the true median with at least 95 %, whatever the distribution. "
             "Met: the whole interval is beyond the bar; undecided: it is not, or fewer than six "
             "rounds ran undisturbed. Counts: counted build, every launch.")


def bars_html(bars):
    """Bars: what was asked, what was measured, met or not or undecided."""
    rows = [f'<tr><td>{escape(bar.says)}</td><td>{escape(bar.measured)}</td>'
            f'<td class="{judge.CSS[bar.verdict]}">{bar.verdict}</td></tr>' for bar in bars]
    return ('<table class="left"><tr><th>bar</th><th>measured</th><th></th></tr>'
            + "".join(rows) + "</table>")


def against_html(found):
    """The page "against the peers"; nothing where none of our own policies was measured."""
    bars = against.bars(found)
    if not bars:
        return ""
    headers, rows = against.gives_up(found)
    return ('<section class="page"><h2 id="peers">Against the peers</h2>'
            f"{bars_html(bars)}"
            f'<p class="lead">{BARS_NOTE} A bar that is not met stays here.</p>'
            f"{table_html(headers, rows) if rows else ''}</section>")


def table_html(headers, rows):
    """A table of text cells; the first column is a name."""
    head = "".join(f"<th>{escape(h)}</th>" for h in headers)
    body = "".join("<tr>" + "".join(
        f'<td{" class=" + chr(34) + "name" + chr(34) if k == 0 else ""}>{escape(cell)}</td>'
        for k, cell in enumerate(row)) + "</tr>" for row in rows)
    return f'<div class="scroll"><table><tr>{head}</tr>{body}</table></div>'


def claims_html(found):
    """The section of the simulated machine; empty where nothing was simulated."""
    judged = claims.judged(found)
    if not judged:
        return ""
    rows = []
    for claim, measured, verdict in judged:
        kind = judge.CSS[verdict]
        word = claims.WORDS[verdict].lower() if verdict != judge.NOT_MEASURED else "not simulated"
        rows.append(f"<tr><td>{escape(claim.says)}</td><td>{escape(claim.source)}</td>"
                    f'<td>{escape(measured)}</td><td class="{kind}">{word}</td></tr>')
    made = claims.table(found) if found.machines() else None
    table = (f"{table_html(*made)}<p class=\"lead\">{escape(found.simulated().stamp)}; medians of "
             "the seeds; counts are exact. Efficiency: throughput / (threads × that of one "
             "thread).</p>") if made else ""
    trace = claims.trace(found)
    shown = ("<details><summary>The schedule of the four pages, found by the search</summary>"
             f"<pre>{escape(trace)}</pre></details>") if trace else ""
    gap = f'<p class="missed">{found.missing} simulated runs failed.</p>' if found.missing else ""
    return ('<section class="page"><h2 id="simulated">The simulated machine</h2>'
            "<p>The same container sources on virtual threads, in virtual time: a model, not a "
            "measurement.</p>"
            '<table class="left"><tr><th>claim</th><th>of</th><th>simulated</th><th></th></tr>'
            f"{''.join(rows)}</table>{gap}<br>{table}{shown}</section>")


def allocator_html(found, made):
    """The chapter "The allocator"; empty where none was measured."""
    suite = found.allocators
    if suite is None:
        return ""
    ours = allocator_results.OURS in suite.names
    judged = bars_html(allocator_results.bars(suite)) if ours else ""
    tables = [allocator_results.mean_rows(suite), allocator_results.idle_rows(suite),
              allocator_results.slab_rows(suite)]
    if suite.document["instructions"]:
        tables.append(malloc_instructions.table(suite.document["instructions"]))
    shown = "".join(table_html(*table) for table in tables if table[1])
    names = "; ".join(f"{name} {facts['version']}"
                      for name, facts in suite.document["allocators"].items())
    gone = "".join(f"<li>Left out: {escape(name)}: {escape(why)}</li>"
                   for name, why in suite.document["missing"].items())
    failed = sum(1 for l in suite.document["launches"] if l["status"] != "done")
    gone += f'<li class="missed">{failed} launches failed.</li>' if failed else ""
    return ('<section class="page"><h2 id="allocator">The allocator</h2>'
            f'<p class="lead">Whole programs with another malloc preloaded: {escape(names)}. CPU '
            "time is user and system time of the process.</p>"
            f'{judged}<br><ul class="says">{gone}</ul>'
            f'<div class="grid">{drawn_html(found, made)}</div>'
            f'<br>{shown}<p class="lead">Instructions: single-stepped, loop and PLT included (8 of '
            "a pair), locked ones in brackets; foreign: blocks of another thread.</p></section>")


def drawn_html(found, made):
    """These figures, one after the other."""
    return "".join(figure_html(figure, found.paths) for figure in made)


def failed_html(document):
    """How many launches have no numbers, as an item."""
    failed = sum(1 for l in document["launches"] if l["status"] != "done")
    return f'<li class="missed">{failed} launches failed.</li>' if failed else ""


def accounts_html(found, made):
    """The chapter "The accounts"; empty where none were measured."""
    suite = found.accounts
    if suite is None:
        return ""
    shown = "<br>".join(table_html(*table) for table in accounts_results.tables(suite))
    gone = "".join(f"<li>Left out: {escape(name)}: {escape(why)}</li>"
                   for name, why in suite.document["missing"].items())
    gone += failed_html(suite.document)
    return ('<section class="page"><h2 id="accounts">The accounts</h2>'
            '<p class="lead">Every block counted for the thread, account and instrument whose it '
            "is. Rules: exact credits where it was debited; freer credits who frees (MySQL 5.7, "
            "MariaDB), global the thread or else nobody in particular (MySQL 8.0). Measured anew "
            "by <code>scripts/accounts.py</code>.</p>"
            f'{bars_html(accounts_results.bars(suite))}<br><ul class="says">{gone}</ul>'
            f'<div class="grid">{drawn_html(found, made)}</div>'
            f'<br>{shown}<p class="lead">CPU time is that of the threads that count: others that '
            "want the CPUs do not show in it. Instructions: single-stepped, loop and PLT included "
            "(8 of a pair), locked ones in brackets.</p></section>")


def profile_html(found, made):
    """What belongs to it, of the heap profile; empty where none was measured."""
    suite = found.profile
    if suite is None:
        return ""
    shown = "<br>".join(table_html(*table) for table in profile_results.tables(suite))
    return ('<section class="page"><h2 id="profile">The accounts: the heap profile</h2>'
            '<p class="lead">Where what is in use was allocated: a sample in 512 KiB, with its '
            "stack. Ways are switched within a process, slice by slice. Measured anew by "
            "<code>scripts/profile_cost.py</code>.</p>"
            f"{bars_html(profile_results.bars(suite))}<br>"
            f'<ul class="says">{failed_html(suite.document)}</ul>'
            f'<div class="grid">{drawn_html(found, made)}</div><br>{shown}</section>')


def chapter_of(figure):
    """The chapter in which a figure stands; none: among those of the containers."""
    if figure.name.startswith("accounts-profile-"):
        return "profile"
    word = figure.name.split("-")[0]
    return word if word in ("allocator", "accounts") else None


def figure_html(figure, paths):
    """One figure with its caption and the command that remakes it."""
    wide = " class=\"wide\"" if figure.canvas.width > 700 else ""
    command = shlex.join(["scripts/plot.py", *map(shown_path, paths), "--figure", figure.name])
    caption = f"{escape(figure.caption)} " if figure.caption else ""
    return (f'<figure id="{figure.name}" data-figure="{figure.name}"{wide}>'
            f"{figure.canvas.document(figure.title, standalone=False)}"
            f"<figcaption>{caption}Remade by <code>{escape(command)}</code></figcaption></figure>")


def topology_html(found):
    """lstopo's drawing of the machine, embedded; empty if the folder has none."""
    path = os.path.join(found.folder or "", "topology.svg")
    if not found.folder or not os.path.exists(path):
        return ""
    with open(path, "rb") as file:
        data = base64.b64encode(file.read()).decode("ascii")
    return ('<figure id="topology" data-figure="topology"><img alt="Topology of the machine" '
            f'src="data:image/svg+xml;base64,{data}"><figcaption>The machine as hwloc sees it, '
            'restricted to the CPUs this run was allowed. Remade by <code>lstopo-no-graphics '
            '--no-io --restrict binding --of svg</code></figcaption></figure>')


MACHINE_ROWS = (
    ("CPU", "cpu_model"), ("which of that name", "cpu_id"), ("microcode", "cpu_microcode"),
    ("L1 data cache", "cache_l1d_bytes"), ("L2 cache", "cache_l2_bytes"),
    ("L3 cache", "cache_l3_bytes"), ("CPUs allowed", "cpus_allowed"), ("SMT active", "smt"),
    ("NUMA nodes (list)", "numa_nodes_online"), ("virtual machine", "hypervisor"),
    ("governor", "governor"), ("memory", "memory_bytes"),
    ("huge pages", "transparent_hugepages"), ("kernel", "kernel"),
    ("distribution", "distribution"), ("clock", "clocksource"), ("revision", "revision"),
    ("measured at", "time"))


def machine_html(found):
    """The facts of machine.json that decide how far the numbers carry."""
    rows = []
    for text, key in MACHINE_ROWS:
        value = found.machine.get(key)
        if value is None:
            continue
        if key.endswith("_bytes") and results.is_number(value):
            value = svg.bytes_text(value)
        if isinstance(value, list):
            value = f"{len(value)}: " + ", ".join(str(v) for v in value[:16]) + \
                (" …" if len(value) > 16 else "")
        rows.append(f"<tr><td>{text}</td><td>{escape(str(value))}</td></tr>")
    if "timer_cost_ns" in found.context:
        rows.append("<tr><td>reading the clock</td><td>"
                    f"{escape(str(found.context['timer_cost_ns']))} ns</td></tr>")
    if "floor_ns" in found.context:
        rows.append("<tr><td>a bare CAS and two stores</td><td>"
                    f"{escape(str(found.context['floor_ns']))} ns</td></tr>")
    if "timer_step_ns" in found.context:
        rows.append("<tr><td>the clock's steps</td><td>"
                    f"{escape(str(found.context['timer_step_ns']))} ns</td></tr>")
    build = found.machine.get("build", {})
    flags = f"{build.get('compiler', '')} {build.get('CMAKE_C_FLAGS_RELWITHDEBINFO', '')}".strip()
    if flags:
        rows.append(f"<tr><td>compiler</td><td>{escape(flags)}</td></tr>")
    if not rows:
        return "<p>No machine.json stands beside these results.</p>"
    return f'<table class="left">{"".join(rows)}</table>'


def trust_html(found):
    """How it was measured, and what speaks against the numbers."""
    lines = []
    launches = found.plan.get("launches", [])
    if launches:
        fit = [launch for launch in launches if launch.get("status") != "unfit"]
        done = sum(1 for launch in fit if launch.get("status") == "done")
        lines.append(f"{done} of {len(fit)} process launches succeeded; policies alternate "
                     f"in a random order (seed {found.plan.get('seed')}).")
        lines += [f"{escape(policy)} cannot do {escape(label)} and is left out there."
                  for label, policy in sorted({(u["label"], u["policy"]) for u in launches
                                               if u.get("status") == "unfit"})]
        spent = sum(launch.get("seconds", 0) for launch in launches)
        lines.append(f"Measuring took {spent / 60:.1f} minutes.")
        if found.plan.get("quick"):
            lines.append("<b>This is a quick run: few launches and short windows. It shows that "
                         "all works; it supports no conclusion.</b>")
        pressures = [launch["cpu_pressure_before"] for launch in launches
                     if results.is_number(launch.get("cpu_pressure_before"))]
        if pressures:
            lines.append("Other work waited for the CPU for up to "
                         f"{max(pressures):.0f} % of the time before a launch, this suite's own "
                         "oversubscribed cases included.")
    shaken = summary.disturbed(found)
    lines.append(escape(summary.disturbed_text(found)))
    if shaken:
        lines.append("A trial whose threads did not run at the same time is disturbed and "
                     f"repeated: {shaken['repeated']} were repeated. The raw files mark what "
                     "stayed disturbed.")
    lines += [f"Not measured: {escape(name)}: {escape(message)}"
              for _, name, message in found.errors[:8]]
    return '<ul class="says"><li>' + "</li><li>".join(lines) + "</li></ul>"


def says_html(made, found):
    """The opening: the titles of the figures, and how many bars are met."""
    lines = [f'<li><a href="#{figure.name}">{escape(figure.title)}</a>.</li>' for figure in made]
    if found.is_real():
        bars = judge.tally(summary.bars(found) + against.bars(found))
        lines.append(f'<li><a href="#bars">Bars: {judge.tally_text(bars)}</a>.</li>')
    if found.allocators and allocator_results.OURS in found.allocators.names:
        bars = judge.tally(allocator_results.bars(found.allocators))
        lines.append(f'<li><a href="#allocator">Bars of the allocator: {judge.tally_text(bars)}'
                     "</a>.</li>")
    if found.accounts:
        bars = judge.tally(accounts_results.bars(found.accounts))
        lines.append(f'<li><a href="#accounts">Bars of the accounts: {judge.tally_text(bars)}'
                     "</a>.</li>")
    if found.profile:
        bars = judge.tally(profile_results.bars(found.profile))
        lines.append(f'<li><a href="#profile">Bars of the heap profile: {judge.tally_text(bars)}'
                     "</a>.</li>")
    judged = [verdict for _, _, verdict in claims.judged(found) if verdict != judge.NOT_MEASURED]
    if judged:
        held, open_ones = (judged.count(word) for word in (judge.MET, judge.UNDECIDED))
        undecided = f", {open_ones} undecided" if open_ones else ""
        lines.append(f'<li><a href="#simulated">{held} of {len(judged)} claims hold on '
                     f"the simulated machine{undecided}</a>.</li>")
    return f'<ul class="says">{"".join(lines)}</ul>'


def lead_html(found):
    """The machine and the time, in one line."""
    cpu = found.machine.get("cpu_model", "unknown CPU")
    when = found.machine.get("time", "time unknown")[:16].replace("T", " ")
    if not found.values and (found.allocators or found.accounts or found.profile):
        return escape(f"{'Allocators' if found.allocators else 'Accounts'}: {cpu}, {when}")
    if not found.is_real():
        return escape(f"Simulated: {'; '.join(found.machines()) or 'searches only'}; on {when}")
    return escape(f"{cpu}, {len(found.machine.get('cpus_allowed', [])) or '?'} CPUs, {when}")


def trust_line_html(found):
    """How much was disturbed, at the very top: what it decides about stands below."""
    if not found.is_real():
        return ""
    shaken = summary.disturbed(found)
    heavy = shaken and shaken["disturbed"] > summary.DISTURBED_LIMIT * shaken["cases"]
    quick = " This is a quick run: it supports no conclusion." if found.plan.get("quick") else ""
    return (f'<p class="{"missed" if heavy or quick else "lead"}" id="trust">'
            f"{escape(summary.disturbed_text(found))}{quick}</p>")


def measured_html(found):
    """Comparison and bars of what was measured; empty where all is simulated."""
    if not found.is_real():
        return ""
    return (f"<h2>Comparison</h2>{table_html(*summary.table(found))}"
            '<p class="lead">Medians over process launches. Times and rates: release build. Skips '
            "and needless pages: counted build, churn, worst of its cases. M/s: million "
            f"allocate + publish + free. {summary.UNSURE}</p>"
            f'<h2 id="bars">Bars</h2>{bars_html(summary.bars(found))}'
            f'<p class="lead">{BARS_NOTE}</p>{against_html(found)}')


def page(found, made, missing):
    """The whole document."""
    title = found.machine.get("host", "") or found.machine.get("cpu_model", "unknown CPU")
    chapters = {name: [figure for figure in made if chapter_of(figure) == name]
                for name in (None, "allocator", "accounts", "profile")}
    drawn = drawn_html(found, chapters[None])
    drawn = f'<h2>Figures</h2><div class="grid">{drawn}</div>' if drawn else ""
    style = PAGE_STYLE.replace("FONT", svg.FONT) + svg.style()
    raw = ('<p>Raw data: <a href="raw/">raw/</a>, <a href="plan.json">plan.json</a>, '
           '<a href="machine.json">machine.json</a> beside this file. Each raw file is one '
           "process launch.</p>" if found.folder and found.is_real() else "")
    gone = f"<p>No data for: {escape(', '.join(missing))}.</p>" if missing else ""
    trust = (f"<h2>How far to trust it</h2>{trust_html(found)}{raw}" if found.is_real() else "")
    is_real = found.is_real() or found.allocators or found.accounts or found.profile
    where = "The machine" if is_real else "The machine that simulated"
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>pfslab on {escape(title)}</title><style>{style}</style></head>
<body><main>
<h1>Lock-free record containers: allocation policies compared</h1>
<p class="lead">{lead_html(found)}</p>{trust_line_html(found)}
<h2>What the figures say</h2>{says_html(made, found)}
{measured_html(found)}{claims_html(found)}{allocator_html(found, chapters["allocator"])}
{accounts_html(found, chapters["accounts"])}{profile_html(found, chapters["profile"])}
{drawn}{gone}
<h2>{where}</h2><div class="grid"><div>{machine_html(found)}</div>{topology_html(found)}</div>
{trust}
</main><script>{SELF_TEST}</script></body></html>
"""


def print_tables(found):
    """The comparison, the bars, and the claims, on stdout."""
    if found.is_real():
        print(summary.disturbed_text(found))
        print()
        print(summary.table_text(found))
        print()
        for bar in summary.bars(found) + against.bars(found):
            word = {judge.NOT_MET: "NOT MET", judge.NOT_MEASURED: "–"}.get(bar.verdict, bar.verdict)
            print(f"{word:9} {bar.says}: {bar.measured}")
        print()
    if found.allocators:
        print(allocator_results.text(found.allocators))
    if found.accounts:
        print(accounts_results.text(found.accounts))
    if found.profile:
        print(profile_results.text(found.profile))
    made = claims.table(found) if found.machines() else None
    if made:
        print(f"{found.simulated().stamp}; medians of the seeds")
        print(summary.aligned(*made))
        print()
    judged = claims.judged(found)
    for claim, measured, holds in judged:
        print(f"{claims.WORDS[holds]:14} {claim.says}: {measured}")
    if judged:
        print()


def main(argv=None):
    """The command."""
    parser = commandline.Parser(prog="scripts/report.py", description="Write a "
                                     "self-contained HTML report with figures.")
    parser.add_argument("result", nargs="+", help="a result folder or a JSON file")
    parser.add_argument("--out", metavar="FILE", help="the report (default: RESULT/report.html, "
                        "for files ./report.html)")
    parser.add_argument("--table", action="store_true", help="print the comparison and the bars "
                        "too")
    arguments = parser.parse_args(argv)
    found = results.load(arguments.result)
    made, missing = figures.make(found)
    path = arguments.out or os.path.join(found.folder or ".", "report.html")
    try:
        results.write_text(path, page(found, made, missing))
    except OSError as error:
        raise results.BadInput(f"{path}: cannot be written ({error.strerror}); name another file "
                               "with --out") from None
    if found.folder and not arguments.out:
        plot.write_figures(made, os.path.join(found.folder, "figures"))
    if arguments.table:
        print_tables(found)
    print(f"report: {shown_path(path)}")
    return 0 if made or found.searches else 1


if __name__ == "__main__":
    commandline.run(main, "report.py")
