"""profile_real.py - parts of profile_test.py: profiles of running programs: under
libpfsmem.so, under Debian's jemalloc, killed, and switched while they run.
"""

import os
import re
import shutil
import signal
import subprocess
import xml.etree.ElementTree

from place import SVG, expect, skip

LIBRARY = "libjemalloc.so.2"

# With an argument it waits for input; with "killed" it leaks until it kills itself at 64 MiB, as
# the system would.
LEAKY = r"""
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void *keep[200000];
static int count;
static volatile int after;
__attribute__((noinline)) static void small(void)
{
	for (int i = 0; i < 60000; i++)
		keep[count++] = malloc(64);
	after++;
}
__attribute__((noinline)) static void big(void)
{
	for (int i = 0; i < 20; i++)
		keep[count++] = malloc(200000);
	after++;
}
static void *run(void *argument)
{
	small();
	after++;
	return argument;
}
static inline void leaks(size_t bytes)
{
	if ((keep[count++] = malloc(bytes)) == NULL) /* here it leaks */
		abort();
	after++;
}
__attribute__((noinline)) static void serve(void)
{
	for (size_t sum = 0; sum < 64u << 20; sum += 3000)
		leaks(3000);
	(void)raise(SIGKILL);
}
int main(int argc, char **argv)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, run, NULL) != 0)
		return 1;
	(void)pthread_join(thread, NULL);
	big();
	after++;
	if (argc > 1 && strcmp(argv[1], "killed") == 0)
		serve();
	if (argc > 1) {
		(void)puts("ready");
		(void)fflush(stdout);
		(void)getchar();
	}
	return 0;
}
"""


def find_library():
    for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib"):
        if os.path.exists(os.path.join(folder, LIBRARY)):
            return os.path.join(folder, LIBRARY)
    return skip(f"no {LIBRARY}")


def program_of(bench):
    source, program = bench.file("leaky.c", LEAKY), bench.path("leaky")
    subprocess.run(["cc", "-g", "-O1", "-fno-optimize-sibling-calls", "-o", program, source,
                    "-pthread"], check=True)
    return program


def start(bench, *words):
    """The program under libpfsmem.so, with a sample each 4 KiB."""
    return bench.start(*words, options=("--keep", "--lg-prof-sample", "12"))


def by_function(lines):
    """{name: bytes} of the leaf"""
    sums = {}
    for line in lines:
        stack, number = line.rsplit(" ", 1)
        name = stack.split(";")[-1]
        sums[name] = sums.get(name, 0) + int(number)
    return sums


def jemalloc(bench):
    """A dump of Debian's jemalloc is read as jeprof reads it, and as the program did; our own
    profile of the same program says the same, within the statistics."""
    library, program = find_library(), program_of(bench)
    subprocess.run([program], check=True, env={
        **os.environ, "LD_PRELOAD": library,
        "MALLOC_CONF": f"prof:true,lg_prof_sample:12,prof_final:true,prof_prefix:{program}"})
    dump, = [bench.path(name) for name in os.listdir(bench.folder) if name.endswith(".f.heap")]
    sums = by_function(bench.run("pprof", dump, "--format=collapsed").stdout.splitlines())
    # 937 samples of 60,000: 4 standard deviations are 13 %. jemalloc reports size classes.
    expect(0.87 < sums["small"] / (60000 * 64) < 1.13, f"small: {sums}")
    expect(sums["big"] == 20 * 229376, f"big: {sums}")
    if shutil.which("jeprof") is not None:
        text = bench.foreign("jeprof", "--text", "--inuse_objects", program, dump)
        objects = int(re.search(r"Total: (\d+) objects", text).group(1))
        ours = bench.run("pprof", dump).stdout
        expect(abs(int(ours.split()[2][:-1]) - objects) <= 1, f"{objects}, and {ours[:60]}")
        again = bench.file("again.heap", bench.run("pprof", dump, "--format=heap_v2",
                                                   "--symbolized").stdout)
        text = bench.foreign("jeprof", "--text", "--inuse_objects", "--thread=1", again)
        expect("small" in text and "big" not in text, f"its second thread: {text}")
    start(bench, program).communicate("\n")
    ours = by_function(bench.run("pprof", "last", "--format=collapsed").stdout.splitlines())
    expect(0.87 < ours["small"] / (60000 * 64) < 1.13, f"ours, small: {ours}")
    expect(ours["big"] == 20 * 200000, f"ours, big: {ours}")
    expect(0.81 < ours["small"] / sums["small"] < 1.19, f"both: {ours['small']}, {sums['small']}")
    print(f"small: {60000 * 64} bytes; jemalloc says {sums['small']}, we say {ours['small']}")


def killed(bench):
    """The leak of a program that was killed stands first in its flame graph, with its line, when
    its file is gone, too."""
    program = program_of(bench)
    process = start(bench, program, "killed")
    process.communicate("")
    expect(process.returncode == -signal.SIGKILL, f"it ended with {process.returncode}")
    bench.run("pprof", "last", "--symbolized", "--out", bench.path("named"))
    bench.run("flame", "last", "--out", bench.path("f.svg"))
    line = 1 + next(i for i, text in enumerate(LEAKY.split("\n")) if "here it leaks" in text)
    frames = [frame for frame in
              xml.etree.ElementTree.parse(bench.path("f.svg")).getroot().iter(SVG + "svg")
              if frame.get("class").startswith("f ")]
    deepest = next(frame for i, frame in enumerate(frames) if i + 1 == len(frames) or
                   int(frames[i + 1].get("y")) <= int(frame.get("y")))
    label = deepest.find(SVG + "text").text
    expect(label == f"leaks leaky.c:{line}", f"the first leaf is {label}")
    expect(float(deepest.get("width")[:-1]) > 80, f"its width: {deepest.get('width')}")
    os.remove(program)
    lines = bench.run("pprof", bench.path("named"), "--format=collapsed").stdout.splitlines()
    most = max(lines, key=lambda text: int(text.rsplit(" ", 1)[1]))
    expect(";main;serve;leaks " in most, f"without the program: {most}")


def living(bench):
    """Switched while the program runs, and each state is visible."""
    process = start(bench, program_of(bench), "wait")
    process.stdout.readline()
    target = str(process.pid)
    expect(bench.run("profile", target).stdout.startswith("on: a sample each 4096 bytes"), "on")
    bench.run("profile", target, "off")
    expect(bench.run("profile", target).stdout.startswith("off: a sample each 4096 "), "off")
    bench.run("profile", target, "on", "--lg-prof-sample", "16")
    expect(bench.run("profile", target).stdout.startswith("on: a sample each 65536 "), "16")
    bench.run("profile", target, "on")
    expect(bench.run("profile", target).stdout.startswith("on: a sample each 4096 "), "12")
    lines = bench.run("pprof", target, "--format=collapsed").stdout
    expect(";main;big 4000000\n" in lines, f"{lines}")
    process.communicate("\n")
    expect(process.returncode == 0, "it ended as it would")


PARTS = {"jemalloc": jemalloc, "killed": killed, "living": living}
