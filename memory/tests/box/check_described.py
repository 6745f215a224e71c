#!/usr/bin/python3
"""check_described.py - pfs-mem as it is installed: every option that --help names is in the man
page and in the completion, and none else; what the completion offers where; --version everywhere.

usage: check_described.py BUILD BOX_MAKE
Exit 0: all as expected. 1: something was not.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from place import expect, finish

GENERAL = {"-h", "--help", "-V", "--version"}  # of every command, and said once
SYNTAX = re.compile(r"(?<![\w-])(--?[a-zA-Z0-9?][a-z-]*)")


def run(*words, **more):
    """Of a command that must work: what it prints."""
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False, **more)
    expect(done.returncode == 0, f"{words}: exit {done.returncode}: {done.stderr}")
    return done.stdout


def helped(tool, command):
    """The options that --help names, in its list of them."""
    lines = re.findall(r"^ {2}(?: {4})?(-.*?)(?: {2}|$)", run(tool, command, "--help"),
                       re.MULTILINE)
    return {option for line in lines for option in SYNTAX.findall(line)} - GENERAL


def manual(page):
    """{command: its options}, "" for those of all; as the tagged paragraphs name them."""
    text = re.sub(r"\\f[BIR]", "", Path(page).read_text("utf-8")).replace("\\-", "-")
    options, command = {}, None
    for tag in re.findall(r"^\.(SH .*|TP\n.*)", text, re.MULTILINE):
        words = tag.split("\n")[-1]
        names = SYNTAX.findall(words)
        if tag.startswith("SH"):
            command = {"SH COMMANDS": [], "SH OPTIONS": [""]}.get(tag)
        elif command is not None and names:
            for one in command:
                options[one] |= set(names)
        elif command is not None:
            command = re.findall(r"[a-z]+", words.split(" ", 1)[1])
            options.update({one: set() for one in command})
        if command == [""]:
            options.setdefault("", set())
    return options


def complete(bash, folder, *words):
    """What the completion offers for the last word."""
    script = (f"source {bash}; COMP_WORDS=({' '.join(repr(w) for w in words)}); "
              f"COMP_CWORD={len(words) - 1}; _pfs_mem; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
    return set(run("bash", "-c", script,
                   env={**os.environ, "PFS_MEM_DIR": folder}, cwd=folder).split("\n")) - {""}


def project_version(build):
    """As CMake has it."""
    with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as file:
        return re.search(r"^CMAKE_PROJECT_VERSION:STATIC=(.*)$", file.read(), re.MULTILINE)[1]


def options(tool, page, bash, folder, version):
    """All three say the same."""
    commands = {*re.findall(r"pfs-mem ([a-z]+) ", run(tool, "--help"))}
    expect(len(commands) == 17, f"commands: {commands}")
    described = manual(page)
    expect(set(described) == commands | {""}, f"the man page has {set(described)}")
    offered = complete(bash, folder, tool, "")
    expect(offered == commands | {"--help", "--version"}, f"offered: {offered}")
    general = described[""] - {"-f", "--format"}
    expect(general == {"-?", "-h", "--help", "-V", "--version"}, f"of all: {general}")
    for command in commands:
        names = helped(tool, command)
        known = described[command] | ({"-f", "--format"} & names)
        expect(names == known, f"{command}: --help has {names}, the man page {known}")
        offered = complete(bash, folder, tool, command, "-")
        wanted = {n for n in names if n.startswith("--")} | {"--help", "--version"}
        expect(offered == wanted, f"{command}: offered {offered}, --help has {wanted}")
        said = run(tool, command, "--version")
        expect(said == f"pfs-mem {version}\n", f"{command} --version: {said}")
    expect(run(tool, "-V") == f"pfs-mem {version}\n", "-V")
    expect(f'"pfslab {version}"' in Path(page).read_text("utf-8"), "the man page's version")


def words(tool, make, bash, folder):
    """Targets, tables, instruments, values."""
    box = os.path.join(folder, "11-1.box")
    run(make, box, "dead")
    pid = run(tool, "list", "--format", "tab", env={**os.environ, "PFS_MEM_DIR": folder})
    pid = pid.split("\n")[1].split("\t")[0]
    for line, wanted in (
            (("top", ""), {"last", pid, box, "11-1.box"}), (("report", "--out", "1"), {"11-1.box"}),
            (("report", "--out", "x.html", "l"), {"last"}), (("show", "last", "g"), {"global"}),
            (("truncate", "--", "last", ""), set()),
            (("enable", "last", "memory/server/n"), {"memory/server/net"}),
            (("top", "last", "--by", "t"), {"thread"}), (("run", "--by", ""), {"library", "site"}),
            (("run", "--rule", "f"), {"freer"}), (("sql", "--format", "c"), {"csv"})):
        offered = complete(bash, folder, tool, *line)
        if line[0] == "truncate":
            wanted = {"thread", "account", "user", "host", "global"}
        expect(offered == wanted, f"{line}: offered {offered}, not {wanted}")


def main():
    build, make = sys.argv[1:]
    folder = tempfile.mkdtemp(prefix="pfslab-described-")
    try:
        prefix = os.path.join(folder, "prefix")
        run("cmake", "--install", build, "--prefix", prefix, "--component", "pfs-mem")
        tool = os.path.join(prefix, "bin", "pfs-mem")
        page = os.path.join(prefix, "share", "man", "man1", "pfs-mem.1")
        bash = os.path.join(prefix, "share", "bash-completion", "completions", "pfs-mem")
        boxes = os.path.join(folder, "boxes")
        os.mkdir(boxes, 0o700)
        options(tool, page, bash, boxes, project_version(build))
        words(tool, make, bash, boxes)
        if os.path.exists(os.path.join(build, "memory", "libpfsmem.so")):
            expect(run(tool, "run", "--dir", boxes, "--", "echo", "it runs") == "it runs\n", "run")
        if shutil.which("mandoc"):
            said = run("mandoc", "-T", "lint", "-W", "warning", page)
            expect(said == "", f"the man page: {said}")
    finally:
        shutil.rmtree(folder)
    finish()


if __name__ == "__main__":
    main()
