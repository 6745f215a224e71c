"""profile_answers.py - parts of profile_test.py: who holds most of a running or killed program's
heap, by its own line, by rules, at the peak, by age, between two moments; and with what error.
"""

import json
import os
import re
import subprocess
from pathlib import Path

from common import browser
from place import equal, expect, skip

# Each phase ends with a line of output, and goes on with a line of input.
PHASES = r"""
#include <cstdio>
#include <map>
#include <string>
#include <vector>
static std::vector<std::string> names;
static std::map<int, std::vector<char>> rows;
static std::vector<char *> pages;
static volatile int after;
static void wait(const char *what)
{
	std::puts(what);
	std::fflush(stdout);
	(void)std::getchar();
}
__attribute__((noinline)) static void load_names()
{
	for (int i = 0; i < 8192; i++)
		names.push_back(std::string(1000, 'x')); /* names */
	after++;
}
__attribute__((noinline)) static void *wrapped(std::size_t bytes)
{
	char *block = new char[bytes];
	after++;
	return block;
}
__attribute__((noinline)) static void read_pages()
{
	for (int i = 0; i < 640; i++)
		pages.push_back(static_cast<char *>(wrapped(50000))); /* pages */
	after++;
}
__attribute__((noinline)) static void insert_rows()
{
	for (int i = 0; i < 4000; i++)
		rows[i].resize(1000); /* rows */
	after++;
}
int main()
{
	load_names();
	wait("loaded");
	read_pages();
	wait("read");
	for (char *page : pages)
		delete[] page;
	wait("freed");
	insert_rows();
	wait("inserted");
}
"""


class Phases:
    """The program under pfs-mem run, phase by phase."""

    def __init__(self, bench, *options):
        self.bench = bench
        source, program = bench.file("phases.cc", PHASES), bench.path("phases")
        subprocess.run(["c++", "-g", "-O2", "-fno-optimize-sibling-calls", "-o", program, source],
                       check=True)
        self.process = bench.start(program, options=("--lg-prof-sample", "14", *options))
        self.target = str(self.process.pid)
        self.lines = {name: 1 + PHASES.split("\n").index(line) for line in PHASES.split("\n")
                      for name in re.findall(r"/\* (\w+) \*/", line)}

    def reach(self, phase):
        line = self.process.stdout.readline().strip()
        equal(line, phase, "phase")

    def go_on(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def kill(self):
        self.process.kill()
        self.process.communicate()

    def rows(self, *options):
        return json.loads(self.bench.run("profile", self.target, "--format", "json",
                                         *options).stdout)


def owner(bench):
    """The line named is the program's own, not that of std:: or of a wrapper that rules skip; rules
    name stacks; a line that is no rule is refused."""
    program = Phases(bench)
    program.reach("loaded")
    program.go_on()
    program.reach("read")
    rows = program.rows()
    expect(not any(re.match(r"(std::|__gnu_cxx|operator new|void std::)", row["WHERE"])
                   for row in rows), f"of a library: {rows}")
    expect(not any(row["WHERE"].startswith("[cut]") for row in rows), f"of no function: {rows}")
    expect(rows[0]["WHERE"].startswith("wrapped phases.cc:") and
           f"from read_pages phases.cc:{program.lines['pages']}" in rows[0]["WHERE"], f"{rows[0]}")
    expect(f"load_names phases.cc:{program.lines['names']}" in rows[1]["WHERE"], f"{rows[1]}")
    rules = bench.file("phases.rules", "# wrappers\nskip function wrapped\n\n"
                       "name function read_* memory/phases/pages\n"
                       "name file phases.c* memory/rest\n")
    rows = program.rows("--rules", rules)
    expect(rows[0]["WHERE"].startswith(f"memory/phases/pages: read_pages phases.cc:"
                                       f"{program.lines['pages']} from main"), f"{rows[0]}")
    rows = program.rows("--rules", rules, "--by-name")
    equal([row["WHERE"] for row in rows[:2]], ["memory/phases/pages", "memory/rest"], "by name")
    program.kill()
    top = bench.run("top", program.target, "--once").stdout
    expect(f"load_names phases.cc:{program.lines['names']}" in top, f"top has no line: {top}")
    said = bench.run("profile", program.target).stderr
    equal(said.count("died"), 1, f"lines that say when it died: {said}")
    for text, fault in (("skip", "line 1 is not: skip KIND"),
                        ("hide function x", "neither name nor"),
                        ("# fine\nname module x", "line 2 is not: name KIND PATTERN NAME"),
                        ("skip line 7", "another kind than")):
        wrong = bench.file("wrong.rules", text)
        done = bench.run("profile", program.target, "--rules", wrong, status=1)
        expect(fault in done.stderr and "wrong.rules" in done.stderr, f"{text}: {done.stderr}")
    shipped = Path(bench.tool).parent / "rules"
    for file in sorted(shipped.glob("*.rules")):
        bench.run("profile", program.target, "--rules", str(file))


def peak(bench):
    """What was freed before the end stands at the peak, in the table, the graph and the documents;
    while a program grows, the peak is now."""
    program = Phases(bench)
    program.reach("loaded")
    rows = {name: sum(row["BYTES"] for row in program.rows(*options))
            for name, options in (("now", ()), ("peak", ("--at-peak",)))}
    expect(abs(rows["now"] - rows["peak"]) < 0.05 * rows["now"], f"while it grows: {rows}")
    program.go_on()
    program.reach("read")
    program.go_on()
    program.reach("freed")
    program.go_on()
    program.reach("inserted")
    program.kill()
    rows = program.rows()
    expect(not any("wrapped" in row["WHERE"] for row in rows), f"they are freed: {rows}")
    rows = program.rows("--at-peak")
    first = rows[0]
    expect("read_pages" in first["WHERE"], f"at the peak: {rows}")
    # 32,000,000 bytes; a mark may be 1/128 below the maximum, and an estimate 4 deviations off.
    expect(abs(first["BYTES"] - 32e6) < 32e6 / 128 + 4 * first["ERROR"], f"{first}")
    expect(any("load_names" in row["WHERE"] for row in rows), f"and what was there before: {rows}")
    expect(not any("insert_rows" in row["WHERE"] for row in rows), f"not what came later: {rows}")
    text = bench.run("profile", program.target, "--at-peak").stdout
    expect(re.search(r"in use, at the peak, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\n", text), f"{text}")
    lines = bench.run("pprof", program.target, "--at-peak", "--format", "collapsed").stdout
    expect("read_pages" in lines and "insert_rows" not in lines, f"collapsed: {lines}")
    graph = bench.run("flame", program.target, "--at-peak").stdout
    expect("read_pages" in graph and "at the peak, " in graph, "the graph")
    bench.run("pprof", program.target, "--at-peak", "--format", "proto", "--out", bench.path("p"))
    done = bench.run("profile", program.target, "--at-peak", "--older-than", "5", status=2)
    expect("--at-peak" in done.stderr and done.stderr.count("\n") == 1, f"{done.stderr}")


def ages(bench):
    """Blocks are chosen by age, of a living program and of a dead one."""
    program = Phases(bench)
    program.reach("loaded")
    subprocess.run(["sleep", "3"], check=True)
    program.go_on()
    program.reach("read")
    for _ in range(2):
        old, new = program.rows("--older-than", "2"), program.rows("--newer-than", "2s")
        expect(any("load_names" in row["WHERE"] for row in old) and
               not any("read_pages" in row["WHERE"] for row in old), f"older than 2 s: {old}")
        expect(any("read_pages" in row["WHERE"] for row in new) and
               not any("load_names" in row["WHERE"] for row in new), f"newer than 2 s: {new}")
        whole = program.rows()
        names = next(row for row in whole if "load_names" in row["WHERE"])
        expect(2 <= names["NEWEST"] <= names["OLDEST"] <= 60, f"ages: {names}")
        lines = bench.run("pprof", program.target, "--older-than", "2", "--format=collapsed").stdout
        expect("load_names" in lines and "read_pages" not in lines, f"collapsed: {lines}")
        program.kill()
    for age in ("x", "0", "5w", "-1"):
        done = bench.run("profile", program.target, "--older-than", age, status=2)
        expect(f"'{age}' is not an age" in done.stderr, f"{age}: {done.stderr}")


def between(bench):
    """What grew while a program was watched; of a dead one that is refused, with what to do."""
    program = Phases(bench)
    program.reach("loaded")
    watch = subprocess.Popen([bench.tool, "profile", program.target, "--seconds", "2", "--format",
                              "json"], text=True, env=bench.environment, stdout=subprocess.PIPE)
    subprocess.run(["sleep", "1"], check=True)
    program.go_on()
    program.reach("read")
    rows = json.loads(watch.communicate(timeout=60)[0])
    expect("read_pages" in rows[0]["WHERE"] and abs(rows[0]["CHANGE"] - 32e6) < 4e6, f"{rows}")
    expect(not any("load_names" in row["WHERE"] for row in rows), f"what did not change: {rows}")
    program.kill()
    done = bench.run("profile", program.target, "--seconds", "1", status=1)
    expect("--newer-than" in done.stderr, f"{done.stderr}")


def scaled(bench):
    """The lines of an instrument add up to what it has, to the byte; a block that is always sampled
    keeps its size; errors are those of shares. What other tools read, and compare, stays
    as it was sampled."""
    program = Phases(bench)
    program.reach("loaded")
    program.go_on()
    program.reach("read")
    program.kill()
    exact = {row["WHO"]: row["CURRENT"] for row in json.loads(
        bench.run("top", program.target, "--once", "--format", "json").stdout)}
    rows = program.rows()
    pages = next(row for row in rows if "wrapped" in row["WHERE"])
    held = sum(row["BYTES"] for row in rows)
    counted = sum(exact[name] for name in exact if name.startswith("memory/") and
                  name.endswith("/heap"))
    small = sum(size for name, size in exact.items() if name.endswith("/heap") and size < 1 << 18)
    expect(counted - small - len(rows) <= held <= counted + len(rows),
           f"{held} of {counted}, of which {small} may have no sample")
    expect(0 < pages["ERROR"] < 0.02 * pages["BYTES"], f"an error: {pages}")
    lines = bench.run("pprof", program.target, "--format", "collapsed").stdout
    plain = sum(int(line.rsplit(" ", 1)[1]) for line in lines.splitlines())
    sampled = bench.run("profile", program.target).stdout.split(" for ", 1)[1].split()[0]
    expect(abs(plain - int(sampled)) <= 1 and plain != held, f"{plain}, {sampled}, {held}")
    text = bench.run("profile", program.target).stdout
    expect("scaled to the exact bytes" in text and "\u00b1 " in text, f"{text}")


def keys(bench):
    """In the graph, arrows move the focus, Enter zooms, / searches and says how much was found."""
    if browser.CHROMIUM is None:
        skip("no chromium: the graph's script did not run")
    box, _, _ = bench.box("1-1.box")
    bench.run("flame", box, "--out", bench.path("f.html"))
    probe = """<script>addEventListener('load', function () {
      function key(to, name) {
        to.dispatchEvent(new KeyboardEvent('keydown', {key: name, bubbles: true})); }
      window.prompt = function () { return 'planted_leak'; };
      var first = document.querySelector('svg.f');
      first.focus();
      key(first, 'ArrowDown');
      var second = document.activeElement;
      key(second, 'Enter');
      var width = second.getAttribute('width');
      key(second, 'ArrowUp');
      var back = document.activeElement === first;
      key(document.body, 'Escape');
      key(document.body, '/');
      document.title = 'second ' + second.querySelector('text').textContent + ' width ' + width +
        ' back ' + back + ' hits ' + document.querySelectorAll('.hit').length + ' ' +
        document.querySelector('.found').textContent + ' stops ' +
        document.querySelectorAll('svg.f[tabindex="0"]').length;
    });</script>"""
    with open(bench.path("f.html"), "a", encoding="utf-8") as file:
        file.write(probe)
    title = re.findall("<title>(second.*)</title>", browser.browse(bench.path("f.html")))
    expect(title and re.fullmatch(r"second \S+.* width 100% back true hits 2 found: \d+\.\d % in "
                                  "frames with planted_leak stops 1", title[0]), f"{title}")


def debuginfod(bench):
    """A stripped program has its lines from where DEBUGINFOD_URLS says, and only if that is set."""
    program = Phases(bench)
    binary = bench.path("phases")
    program.reach("loaded")
    program.kill()
    found = bench.call(["readelf", "-n", binary]).stdout
    build_id = re.search(r"Build ID: ([0-9a-f]+)", found).group(1)
    folder = bench.path(f"server/buildid/{build_id}")
    os.makedirs(folder)
    bench.call(["objcopy", "--only-keep-debug", binary, os.path.join(folder, "debuginfo")])
    bench.call(["strip", binary])
    expect("phases.cc" not in program.rows()[0]["WHERE"], "it has lines without debug information")
    bench.environment.update(DEBUGINFOD_URLS="file://" + bench.path("server"),
                             DEBUGINFOD_CACHE_PATH=bench.path("cache"))
    where = program.rows()[0]["WHERE"]
    if "phases.cc" not in where and not os.path.exists(bench.path("cache")):
        skip("no libdebuginfod")
    expect(f"load_names phases.cc:{program.lines['names']}" in where, f"by debuginfod: {where}")


PARTS = {"debuginfod": debuginfod, "owner": owner, "peak": peak, "ages": ages, "between": between,
         "scaled": scaled, "keys": keys}
