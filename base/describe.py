#!/usr/bin/python3
"""describe.py - makes man pages and bash completions from what --help says of each program.

usage: base/describe.py BUILD [--write]
Of each program in PROGRAMS the files NAME.1 and NAME.bash beside its sources are compared with what
its --help in the build folder BUILD gives; --write writes them. Exit 0: they are the same, or
written. 1: one differs. 2: a program is not there, or its --help cannot be read.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DATE = "2026-11-23"
PROGRAMS = {"pfs-bench": "bench", "pfs-sim": "sim", "pfs-stress": "stress",
            "pfs-trace": "recorder",
            "pfs-check": "check"}  # name: its folder, in the sources and in the build
DOCUMENTATION = "/usr/share/doc/pfslab/html/index.html, of the package pfslab\\-doc."
EXAMPLES = {
    "pfs-bench": ["pfs-bench --workloads=churn --policies=exact,original --threads=2",
                  "pfs-bench --list-policies",
                  "pfs-bench --workloads=pair --benchmark_repetitions=9 --benchmark_format=json"],
    "pfs-sim": ["pfs-sim explore --policy original --scenario four_pages",
                'pfs-sim run --machine "numa:8 core:32 pu:1" --threads 256 --policy exact',
                "pfs-sim list"],
    "pfs-stress": ["pfs-stress --policy exact --threads 64 --seconds 10",
                   "pfs-stress --policy magazine --faults all"],
    "pfs-trace": ["pfs-trace info redis.pfstrace",
                  "pfs-trace cut redis.pfstrace short.pfstrace --from=1000 --events=5000"],
    "pfs-check": ["pfs-check --example > ring.c", "pfs-check ring.c",
                  "pfs-check my_check.cc my_queue.cc --complete -- -std=c++20 -Isrc",
                  "cp -r /usr/share/pfslab/examples/check project  # with CMake, Make, a workflow",
                  "pfs-check ring.so --memory=tso --save=failing"]}
LAYOUTS = "in-record side-by-side bare bare-words own-word"
POLICIES = "$(\"$1\" --list-policies 2>/dev/null | awk '{ print $1 }')"
SEEN = "$(\"$1\" list 2>/dev/null | awk '/^scenarios/ { exit } /^  / { print $1 }')"
SCENARIOS = "$(\"$1\" list 2>/dev/null | awk '/^scenarios/ { s = 1; next } s { print $1 }')"
WORKLOADS = "$(%s --list-workloads 2>/dev/null | awk '{ print $1 }')"
# "PROGRAM COMMAND --option" or "PROGRAM --option": words that may follow.
VALUES = {
    "pfs-check --calls": "clock known",
    "pfs-bench --policies": POLICIES, "pfs-bench --workloads": WORKLOADS % '"$1"',
    "pfs-bench --apis": "inlined public cxx", "pfs-bench --layout": LAYOUTS,
    "pfs-bench --placements": "none compact scatter",
    "pfs-bench --memory": "first-touch local interleave",
    "pfs-bench --page-memory": "fresh touched", "pfs-bench --peer": "jemalloc mimalloc",
    "pfs-sim --policy": SEEN, "pfs-sim --policies": SEEN, "pfs-sim --scenario": SCENARIOS,
    "pfs-sim --layout": LAYOUTS,
    "pfs-sim --workload": WORKLOADS % "pfs-bench",
    "pfs-sim run --memory": "first-touch local interleave", "pfs-sim --format": "text json",
    "pfs-sim --placement": "compact scatter",
    "pfs-sim --preset": "two-socket desktop epyc graviton",
    "pfs-sim --costs": "two-socket desktop epyc graviton",
    "pfs-stress --policy": "$(\"$1\" --list-policies 2>/dev/null | awk '{ print $1 }')",
    "pfs-stress --layout": f"{LAYOUTS} both",
    "pfs-stress --workload": "plain optimistic history all",
    "pfs-stress --faults": "memory maximum parked reader wrap all none"}
LIBRARY = ("benchmark_filter", "benchmark_format", "benchmark_list_tests", "benchmark_min_time",
           "benchmark_out", "benchmark_out_format", "benchmark_repetitions")  # Google Benchmark's
OPTION = re.compile(r"^  (?:-(\w),|   ) --([\w-]+)(?:=(\S+))?(?:  +(.*))?$")


class Help:
    """What --help says: usage, about, options [(letter, name, value, text)], after."""

    def __init__(self, program, *command):
        done = subprocess.run([program, *command, "--help"], capture_output=True, text=True,
                              timeout=60, check=False)
        if done.returncode or not done.stdout.startswith("usage: "):
            sys.exit(f"describe.py: {program} {' '.join(command)} --help: {done.stderr}")
        head, listed, *rest = done.stdout.rstrip("\n").split("\n\n")
        self.usage, *about = head.removeprefix("usage: ").split("\n")
        self.about, self.after, self.commands = " ".join(about), "\n\n".join(rest), []
        if OPTION.match(listed.split("\n")[0]) is None:  # of a program with commands
            self.commands = re.findall(r"^  (\w+)", listed, re.MULTILINE)
            listed, self.after = rest[0], "\n\n".join(rest[1:])
        self.options = []
        for line in listed.split("\n"):
            found = OPTION.match(line)
            if found:
                self.options.append([found[1], found[2], found[3], found[4] or ""])
            else:
                self.options[-1][3] = (self.options[-1][3] + " " + line.strip()).strip()


def roff(text):
    """Text as troff reads it."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)


def sentence(text):
    """With a capital letter and a full stop."""
    return roff(text[0].upper() + text[1:] + ("" if text.endswith((".", "?")) else "."))


def tagged(option):
    """An option as a tagged paragraph."""
    letter, name, value, text = option
    tag = (f"\\fB\\-{letter}\\fR, " if letter else "") + f"\\fB\\-\\-{roff(name)}\\fR"
    tag += f"=\\fI{roff(value)}\\fR" if value else ""
    return f".TP\n{tag}\n{roff(text)}\n"


def own(options):
    """Without those that all have."""
    return [o for o in options if o[1] not in ("help", "version")]


def manual(name, version, top, commands):
    """The man page. commands: {name: Help}."""
    title = roff(name.upper())
    page = [f'.TH {title} 1 {DATE} "pfslab {version}" "User Commands"\n',
            f".SH NAME\n{roff(name)} \\- {roff(top.about)}\n.SH SYNOPSIS\n"]
    uses = [text.usage for text in commands.values()] or [top.usage]
    for i, use in enumerate(uses):
        words = use.split(" ")
        head = 2 if commands else 1
        page.append((".br\n" if i else "") + f".B {roff(' '.join(words[:head]))}\n"
                    f"\\fI{roff(' '.join(words[head:]))}\\fR\n")
    page.append(f".SH DESCRIPTION\n{sentence(top.about)}\n")
    if commands:
        page.append(".SH COMMANDS\n")
    for command, text in commands.items():
        page.append(f".SS {roff(command)}\n{sentence(text.about)}\n")
        page += [tagged(option) for option in own(text.options)]
        if text.after and text.after != top.after:
            page.append(f".PP\n{roff(text.after)}\n")
    page.append(".SH OPTIONS\n" + "".join(tagged(option) for option in top.options))
    if name == "pfs-bench":
        page.append(".PP\nOptions of Google Benchmark, which are written with\n.BR = ,\n"
                    "are handed on.\n")
    page.append(f".SH NOTES\n.nf\n{roff(top.after)}\n.fi\n.SH EXAMPLES\n.nf\n"
                f"{roff(chr(10).join(EXAMPLES[name]))}\n.fi\n.SH SEE ALSO\n")
    others = [other for other in (*PROGRAMS, "pfs-mem") if other != name]
    page.append(",\n".join(f".BR {roff(other)} (1)" for other in others) + "\n")
    page.append(f".PP\nTutorials, how\\-tos and references: {DOCUMENTATION}\n")
    return "".join(page).replace(",\n.BR", " ,\n.BR")


def value_case(name, commands):
    """The cases of values, the narrower first."""
    lines, files = [], set()
    for text in commands:
        command = text.usage.split(" ")[1] if len(commands) > 1 else ""
        for _, option, value, said in text.options:
            listed = re.findall(r"(?:^|; )([\w-]+) \([^)]*\)(?=; )", said)
            if value == "on|off":
                lines.append((f'*" --{option}"', "on off"))
            elif listed and said.startswith(listed[0]):  # "NAME (what it is); NAME (...); ..."
                lines.append((f'"{command} --{option}"', " ".join(listed)))
            elif value in ("FILE", "PAGE"):
                files.add(option)
    for key, words in VALUES.items():
        program, *command, option = key.split(" ")
        if program == name:
            lines.append((f'"{command[0]} {option}"' if command else f'*" {option}"', words))
    lines.sort(key=lambda line: line[0].startswith("*"))
    text = "".join(f"\t{pattern}) words=\"{words.replace(chr(34), chr(92) + chr(34))}\" ;;\n"
                   if "$" not in words else f"\t{pattern}) words={words} ;;\n"
                   for pattern, words in dict(lines).items())
    return text, sorted(files)


def completion(name, top, commands):
    """The completion for bash."""
    function = "_" + name.replace("-", "_")
    helps = list(commands.values()) or [top]
    cases, files = value_case(name, helps)
    listed = "".join(
        f"\t{command or '*'}) echo \"{' '.join('--' + o[1] for o in text.options)}"
        f"{''.join(' --' + o for o in LIBRARY) if name == 'pfs-bench' else ''}\" ;;\n"
        for command, text in (commands or {"": top}).items())
    takes = sorted({o[1] for text in helps for o in text.options if o[2]})
    command = "${COMP_WORDS[1]}" if commands else ""
    first = (f"\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n\t\tmapfile -t COMPREPLY < <(compgen -W "
             f"\"{' '.join(commands)} --help --version\" -- \"$word\")\n\t\treturn\n\tfi\n"
             if commands else "")
    named = (f"\t{' | '.join('--' + f for f in files)})\n\t\tmapfile -t COMPREPLY < <(compgen -f "
             "-- \"$word\")\n\t\treturn ;;\n" if files else "")
    return f"""# {name}.bash - completion of {name} for bash; made by base/describe.py.

{function}_options() {{
	case $1 in
{listed}	esac
}}

# What follows an option: words; nothing for any, 1 for none.
{function}_values() {{
	local words
	case "$2 $3" in
{cases}	*) return 1 ;;
	esac
	echo $words
}}

{function}() {{
	local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} values
	COMPREPLY=()
	if [ "$word" = "=" ]; then
		word=
	elif [ "$before" = "=" ]; then
		before=${{COMP_WORDS[COMP_CWORD - 2]}}
	fi
{first}	if values=$({function}_values "${{COMP_WORDS[0]}}" "{command}" "$before"); then
		mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
		return
	fi
	case $before in
	{' | '.join('--' + o for o in takes if o not in files)}) return ;;
{named}	esac
	if [[ $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$({function}_options "{command}")" -- "$word")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
	fi
}}

complete -o filenames -F {function} {name}
"""


def describe(build, name):
    """{ending: text} of a program."""
    program = os.path.join(build, PROGRAMS[name], name)
    if not os.path.exists(program):
        sys.exit(f"describe.py: {program}: not there; build it")
    version = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=60,
                             check=True).stdout.split()[1]
    top = Help(program)
    commands = {command: Help(program, command) for command in top.commands}
    return {"1": manual(name, version, top, commands), "bash": completion(name, top, commands)}


def main():
    """Compare, or write."""
    build, *more = sys.argv[1:]
    differ = 0
    for name, folder in PROGRAMS.items():
        for ending, text in describe(build, name).items():
            path = os.path.join(TOP, folder, f"{name}.{ending}")
            if more == ["--write"]:
                Path(path).write_text(text, "utf-8")
                continue
            there = ""
            if os.path.exists(path):
                there = Path(path).read_text("utf-8")
            if there != text:
                differ = 1
                print(f"describe.py: {os.path.relpath(path, TOP)}: is not what --help says; run "
                      "base/describe.py BUILD --write", file=sys.stderr)
    return differ


if __name__ == "__main__":
    sys.exit(main())
