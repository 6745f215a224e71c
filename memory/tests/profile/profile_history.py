"""profile_history.py - parts of profile_test.py: what has grown, and since when: --history and
--since, of a program that was killed, and of moments made by hand.
"""

import csv
import datetime
import json
import signal
import subprocess

from place import expect

# It holds a cache, and leaks slowly until it kills itself, as the system would. Its single thread
# ticks with its slow calls: every 2 ms at most, so a moment is kept each 120 ms.
GROWN = r"""
#include <signal.h>
#include <stdlib.h>
#include <time.h>
static void *keep[200000];
static int count;
static volatile int after;
__attribute__((noinline)) static void fill_cache(void)
{
	for (int i = 0; i < 1000; i++)
		keep[count++] = malloc(1000);
	after++;
}
__attribute__((noinline)) static void leak(void)
{
	for (int i = 0; i < 20; i++)
		keep[count++] = malloc(500); /* here it leaks */
	after++;
}
int main(void)
{
	const struct timespec rest = { .tv_nsec = 2000000 };
	fill_cache();
	for (int i = 0; i < 400; i++) {
		leak();
		(void)nanosleep(&rest, NULL);
	}
	return raise(SIGKILL);
}
"""


def table(bench, *words):
    """The rows of a CSV, and its columns."""
    lines = list(csv.reader(bench.run(*words, "--format=csv").stdout.splitlines()))
    return lines[0], lines[1:]


def grown(bench):
    """Of a program that was killed, the line that leaked stands first, with what it held at each
    moment; what another line held since the start has not changed."""
    source, program = bench.file("grown.c", GROWN), bench.path("grown")
    subprocess.run(["cc", "-g", "-O1", "-fno-optimize-sibling-calls", "-o", program, source],
                   check=True)
    process = bench.start(program, options=("--keep", "--tick-ms", "2", "--lg-prof-sample", "10"))
    process.communicate("")
    expect(process.returncode == -signal.SIGKILL, f"it ended with {process.returncode}")
    line = 1 + next(i for i, text in enumerate(GROWN.split("\n")) if "here it leaks" in text)
    columns, rows = table(bench, "profile", "last", "--history")
    expect(len(columns) >= 7, f"{len(columns) - 3} moments: {columns}")
    expect(rows[0][-1].startswith(f"leak grown.c:{line} from main"), f"the first: {rows[0][-1]}")
    held = [int(value) for value in rows[0][1:-1]]
    leaking = [value for value in held if value != 0]
    expect(held == sorted(held, reverse=True) and len(set(leaking)) == len(leaking),
           f"leak: {held}")
    expect(int(rows[0][0]) == held[0] - held[-1], f"its change: {rows[0][0]}")
    expect(2e6 < held[0] < 6e6, f"4,000,000 bytes leaked: {held[0]}")
    cache, = [row for row in rows if row[-1].startswith("fill_cache")]
    # The leak begins when the cache is full; the oldest moments may be earlier.
    full = cache[1:1 + len(leaking)]
    expect(len(set(full)) == 1 and 7e5 < int(full[0]) < 1.3e6, f"the cache: {cache}")
    # A moment in the middle: what was held there is what it is compared with.
    middle = len(columns) // 2
    two = table(bench, "profile", "last", "--since", columns[middle])[1]
    expect(two[0][:3] == [str(held[0] - int(rows[0][middle])), str(held[0]), rows[0][middle]],
           f"since {columns[middle]}: {two[0]}")
    expect(len(two) == 1, f"what did not change: {two[1:]}")
    text = bench.run("profile", "last", "--history").stdout
    expect(" moments kept, the oldest of 20" in text and "died" in text.split("\n", 1)[0], text)
    bench.run("flame", "last", "--since", "1d", "--out", bench.path("f.html"))
    with open(bench.path("f.html"), encoding="utf-8") as file:
        expect(f"leak grown.c:{line}" in file.read(), "it is in the flame graph")
    check_report(bench, f"leak grown.c:{line}", held, 1 + (cache[0] != "0"))
    bench.run("check", "last")


def check_report(bench, leak, held, count):
    """The page and its data have the lines that grew, so many; first the leak."""
    bench.run("report", "last", "--out", bench.path("r.html"))
    with open(bench.path("r.html"), encoding="utf-8") as file:
        text = file.read()
    chapter = text.split('<h2 id="grown">', 1)[1].split("</table>", 1)[0]
    expect(chapter.count("<tr>") == 1 + count and leak in chapter.split("</tr>")[1],
           f"what grew: {chapter}")
    expect('<a href="#grown"><b>' + leak in text, "it is said in front")
    bench.run("report", "last", "--out", bench.path("r.json"))
    with open(bench.path("r.json"), encoding="utf-8") as file:
        data = json.load(file)
    first = data["lines_by_growth"][0]
    expect([first["bytes"], *first["held"]] == held and len(data["moments"]) == len(held) - 1,
           f"as data: {first}")


def moments(bench):
    """Moments made by hand: each is there, a stack that did not fit is not known, and a moment is
    found by its age and by its time."""
    box, _, _ = bench.box("1-1.box", "history")
    columns, rows = table(bench, "profile", box, "--history")
    expect(columns[:2] + columns[-1:] == ["CHANGE", "NOW", "WHERE"], f"{columns}")
    times = [datetime.datetime.fromisoformat(text) for text in columns[2:-1]]
    expect([round((times[0] - one).total_seconds()) for one in times] == [0, 36000, 72000, 108000],
           f"the newest first: {columns}")
    # Two stacks end at its line: the first, and one that held 700.
    leak, = [row for row in rows if "planted_leak" in row[-1] and row[-2] == "1700"]
    expect(leak[2:-1] == ["4700", "3700", "2700", "1700"], f"{leak}")
    expect(int(leak[0]) == int(leak[1]) - 1700, f"its change: {leak}")
    blank, = [row for row in rows if row[-2] == ""]
    expect(blank[2:-1] == ["700", "700", "700", ""] and blank[0] == blank[1], f"{blank}")
    expect(rows[-1] == ["", "", "0", "0", "0", "650", "[stacks that did not fit]"], f"{rows[-1]}")
    changes = [int(row[0]) for row in rows[:-1]]
    expect(changes == sorted(changes, reverse=True), f"sorted by growth: {changes}")
    wide = json.loads(bench.run("profile", box, "--history", "--format=json").stdout)
    expect(wide[0].keys() == set(columns), f"{wide[0]}")
    text = bench.run("profile", box, "--history").stdout
    expect(times[3].strftime("%m-%d %H:%M") in text and "\u2264 " in text, text)
    check_sql(bench, box)
    check_since(bench, box, times)
    check_wrong(bench, box)


def check_sql(bench, box):
    """The same as a table, with places in files."""
    query = "SELECT MOMENT, BYTES, BLOCKS, FRAMES FROM memory_stacks_history WHERE {} ORDER BY 1"
    rows = table(bench, "sql", box, query.format("STACK = 0"))[1]
    expect([row[:3] for row in rows] == [[str(i), str(1000 * i), "1"] for i in (1, 2, 3, 4)],
           f"the first stack: {rows}")
    expect(all(row[3].startswith("planted+0x") and row[3].count(";") >= 2 for row in rows),
           f"its frames: {rows[0]}")
    rows = table(bench, "sql", box, query.format("STACK IS NULL"))[1]
    expect(rows == [["1", "650", "", "[stacks that did not fit]"]], f"{rows}")
    text = bench.run("sql", box, "SELECT count(*), count(DISTINCT TIME) FROM "
                     "memory_stacks_history", "--format=csv").stdout
    expect(text.splitlines()[1] == "24,4", f"{text}")


def check_since(bench, box, times):
    """The nearest moment, by an age and by a time of day."""
    for since, wanted in (("1", 4700), ("4h", 4700), ("6h", 3700), ("16h", 2700), ("2d", 1700),
                          (times[2].strftime("%Y-%m-%d %H:%M"), 2700),
                          (times[1].strftime("%H:%M:%S"), 3700)):
        done = bench.run("profile", box, "--since", since, "--format=csv")
        before = {row[2] for row in csv.reader(done.stdout.splitlines())}
        expect(str(wanted) in before, f"--since {since}: {done.stdout}")
        expect(("1 stacks with at most 650 bytes" in done.stderr) == (wanted == 1700),
               f"--since {since}: {done.stderr}")


def check_wrong(bench, box):
    """One line each that says what to do."""
    plain, _, _ = bench.box("2-2.box")
    dump = bench.path("dump")
    bench.run("pprof", box, "--out", dump)
    for target, words, status, says in (
            (box, ("--since", "soon"), 2, "neither an age nor a local time"),
            (box, ("--since", "25:00"), 2, "neither an age nor a local time"),
            (box, ("--history", "--since", "1h"), 2, "leave the other choices"),
            (box, ("--history", "--total"), 2, "leave the other choices"),
            (box, ("--since", "1h", "--base", plain), 2, "leave the other choices"),
            (plain, ("--history",), 1, "has kept no moment yet"),
            (dump, ("--since", "1h"), 1, "is a dump, of one moment")):
        done = bench.run("profile", target, *words, status=status)
        expect(says in done.stderr, f"{words}: {done.stderr}")


PARTS = {"grown": grown, "moments": moments}
