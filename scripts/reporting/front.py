"""front.py - the first screen of the report: which policy to take, how sure that is, on what
machine; and the matrix of policies and workloads under it.
"""

from html import escape

from common import documents, stats
from reporting import choice, markup, summary

GOOD, FAIR, BAD = "good", "fair", "bad"


def verdict_html(found, standings):
    """The card "take X if": from intervals only; grey where they do not decide."""
    says, chosen, why = choice.headline(found, standings)
    rows = []
    for need in choice.needs(found, standings):
        who = escape(choice.take_text(need)) or "–"
        sure = "" if need.sure else ' class="open"'
        kind = "" if need.sure or not need.take or need.why.startswith("at most") else \
            "undecided; " if len(need.take) > 1 else "not sure; "
        rows.append(f"<tr><td>if {escape(need.says)}</td><td{sure}><b>{who}</b></td>"
                    f'<td class="num{"" if need.sure else " open"}">{kind}{escape(need.why)}'
                    "</td></tr>")
    return (f'<section class="card take{"" if chosen else " unsure"}" id="verdict">'
            f'<p class="big">{escape(says)}</p>'
            f'<p class="why">{escape(why)}</p><table class="ifs">{"".join(rows)}</table></section>')


def grade(found):
    """(good, fair or bad; in a few words): may something be concluded from this?"""
    shaken = summary.disturbed(found)
    rounds = max((len(samples) for samples in found.rounds.values()), default=0)
    if found.plan.get("quick"):
        return BAD, "A quick run: supports no conclusion"
    if shaken and shaken["disturbed"] > summary.DISTURBED_LIMIT * shaken["cases"]:
        return BAD, "Disturbed: the machine did something else"
    if rounds < stats.LEAST:
        return BAD, f"Too few rounds: {rounds}, {stats.LEAST} are the least"
    if not shaken:
        return FAIR, "Does not say what was disturbed"
    if shaken["thin"]:
        return FAIR, f"Fit, but {shaken['thin']} of {shaken['measured']} cases decide nothing"
    return GOOD, "Fit to conclude from"


def machine_text(found):
    """The processor and how many of its CPUs, in a line."""
    cpu = found.machine.get("cpu_model") or found.context.get("cpu_model") or "unknown CPU"
    which = str(found.machine.get("cpu_id", "")).split(" ", 1)
    which = f" ({which[1]})" if len(which) > 1 and which[1] else ""
    return f"{cpu}{which}"


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


def trust_html(found, rows):
    """The badge: fit or not, the disturbed share, launches, what is decided, the machine."""
    kind, says = grade(found)
    shaken = summary.disturbed(found)
    facts = []
    if shaken:
        share = shaken["disturbed"] / shaken["cases"]
        limit = summary.DISTURBED_LIMIT
        bad = ' class="bad"' if share > limit else ""
        facts.append(("disturbed", f"{100 * share:.2g} % of {shaken['cases']:,} timed values"
                      f'<div class="meter" title="the mark: {100 * limit:.0f} %, from which on '
                      f'nothing is compared"><i{bad} style="width:{min(100, 400 * share):.0f}%">'
                      f'</i><b style="left:{400 * limit:.0f}%"></b></div>'))
    sure, cells = choice.decided(rows)
    if cells:
        facts.append(("decided", f"{sure} of {cells} cells of the matrix"))
    facts += [(a, escape(b)) for a, b in _launch_facts(found) + _machine_facts(found)]
    listed = "".join(f"<dt>{a}</dt><dd>{b}</dd>" for a, b in facts)
    return (f'<aside class="card trust" id="trust"><p class="grade {kind}">{escape(says)}</p>'
            f"<dl>{listed}</dl></aside>")


def _cell_html(found, standing, policy, cell):
    if cell is None:
        return "<td>–</td>"
    mark = ""
    if policy in standing.level:
        alone = standing.sure and len(standing.level) == 1
        mark = " best" if alone else " lead"
    return (f'<td class="{cell.tone}{mark}" title="{escape(cell.tip, quote=True)}">'
            f"<b>{escape(cell.text)}</b><small>{escape(cell.span)}</small></td>")


def _heads_html(columns):
    """Two rows of headings; equal neighbours of the upper one stand once."""
    upper, spans = [], []
    for column in columns:
        if upper and upper[-1] == column.head:
            spans[-1] += 1
        else:
            upper.append(column.head)
            spans.append(1)
    head = "".join(f'<th colspan="{n}">{escape(h)}</th>' for h, n in zip(upper, spans))
    under = "".join(f"<th>{escape(c.under)}</th>" for c in columns)
    return f"<thead><tr><th></th>{head}</tr><tr><th></th>{under}</tr></thead>"


def _again(found, what, name):
    command = markup.command_of(found, "scripts/report.py", "--print", name)
    return f"{what} again: <code>{escape(command)}</code>"


def matrix_html(found, matrix):
    """The matrix as a table, ours first, the yardsticks under them."""
    columns, standings, rows = matrix
    if not rows:
        return ""
    own, base = choice.ours(found), summary.base_policy(found)
    body, apart = "", False
    for policy, cells in rows:
        if policy not in own and not apart:
            apart = True
            body += (f'<tr class="label"><td></td><td colspan="{len(columns)}">yardsticks'
                     "</td></tr>")
        body += f'<tr><td class="name">{escape(policy)}</td>' + "".join(
            _cell_html(found, s, policy, c) for s, c in zip(standings, cells)) + "</tr>"
    key = (f'Throughput × {escape(base)}, which has million operations a second; under it the '
           '95 % interval of ratios within a round. <span class="key more">surely faster</span> '
           '<span class="key less">surely slower</span> <span class="key open">undecided</span> '
           f'than {escape(base)}; <span class="key best">surely the best of ours</span>, '
           '<span class="key lead">level with the best</span>. Of a hundred intervals some five '
           "do not hold.")
    return (f'<section id="matrix" class="policies"><div class="scroll"><table class="matrix">'
            f'{_heads_html(columns)}<tbody>{body}</tbody></table></div><p class="again">{key} '
            f'{_again(found, "The card", "verdict")} {_again(found, "The matrix", "matrix")}'
            "</p></section>")


def distrust_html(found):
    """How it was measured, and what speaks against the numbers, as a list."""
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
        if found.plan.get("quick"):
            lines.append("<b>This is a quick run: few launches and short windows. It shows that "
                         "all works; it supports no conclusion.</b>")
        pressures = [launch["cpu_pressure_before"] for launch in launches
                     if documents.is_number(launch.get("cpu_pressure_before"))]
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


def screen_html(found):
    """All of it; empty where nothing of policies was measured."""
    if not found.is_real() or not choice.columns(found):
        return ""
    matrix = choice.matrix(found)
    return (f'<div class="cards">{verdict_html(found, matrix[1])}{trust_html(found, matrix[2])}'
            f"</div>{matrix_html(found, matrix)}")


def summary_text(found):
    """The headline and the trust for a terminal."""
    standings = choice.standings(found)
    if not standings:
        return ""
    says, _, why = choice.headline(found, standings)
    return f"{says}. {why}\n{grade(found)[1]}; {machine_text(found)}"
