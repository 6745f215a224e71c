"""profile_dumps.py - parts of profile_test.py: dumps of other tools, and invalid input."""

from place import expect

# From a page that explains a profile of jemalloc, with its omissions.
EXAMPLE = """heap_v2/524288
   t*: 28106: 56637512 [0: 0]
   t3: 352: 16777344 [0: 0]
   t121: 17754: 29341640 [0: 0]
@ 0x5629e1b96e20 0x5629e1b97401 0x7fe62a7ce083 0x5629dce516fe
  t*: 1: 67108864 [0: 0]
  t0: 1: 67108864 [0: 0]
@ 0x5629e1b96e20 0x5629e1b97401 0x7fe62a8c9353
  t*: 1: 4096 [0: 0]
  t5: 1: 4096 [0: 0]
@ 0x5629e1b96e20 0x5629e1b97401 0x5629e186553d 0x7fe62a7ce083 0x5629dce516fe
  t*: 1: 10485760 [0: 0]
  t0: 1: 10485760 [0: 0]
MAPPED_LIBRARIES:
5629dc5fb000-5629dcb71000 r--p 00000000 08:03 8041447                    /nowhere/tikv-server
5629dcb71000-5629e24bc000 r-xp 00576000 08:03 8041447                    /nowhere/tikv-server
5629e3c2e000-5629e3e97000 rw-p 00000000 00:00 0 
7fe61545c000-7fe61565c000 rw-p 00000000 00:00 0 
"""
NAMED = """--- symbol
binary=/nowhere/tikv-server
0x00005629e1b96e20 _rjem_je_prof_backtrace
0x00005629e1b97400 tikv::read_pool::build_yatp_read_pool_with_name::{{closure}}::h6881170ec4231a36
0x00005629e186553c outer::caller--inner::callee
---
--- heap
"""


def dumps(bench):
    """The published example, plain and with names; gperftools' own; all read back the same."""
    path = bench.file("example.heap", EXAMPLE)
    lines = bench.run("pprof", path, "--format=collapsed").stdout.splitlines()
    # One block of 4096 stands for 128.5 of them, as 1 / (1 - exp(-4096 / 524288)).
    expect(sorted(int(line.rsplit(" ", 1)[1]) for line in lines) == [526339, 10485760, 67108864],
           f"{lines}")
    expect(any("[unknown] tikv-server+0x" in line for line in lines), f"{lines}")
    named = bench.file("named.heap", NAMED + EXAMPLE)
    lines = bench.run("pprof", named, "--format=collapsed").stdout.splitlines()
    name = "tikv::read_pool::build_yatp_read_pool_with_name::{{closure}}::h6881170ec4231a36"
    expect(any(f";outer::caller;inner::callee;{name} 10485760" in line for line in lines),
           f"{lines}")
    text = bench.run("pprof", path, "--format=heap_v2").stdout
    again = bench.file("again.heap", text)
    expect(bench.run("pprof", again, "--format=heap_v2").stdout == text, "heap_v2 of heap_v2")
    lines = bench.file("lines.heap", "heap profile: 3: 300 [5: 500] @ heap_v2/1000\n"
                       "  1: 100 [2: 200] @ 0x10 0x20\n 2: 200 [ 3: 300] @ 0x10 0x30\n\n"
                       "MAPPED_LIBRARIES:\n")
    text = bench.run("pprof", lines).stdout
    expect("11: 1051 [21: 2102] @ 0x10 0x20\n" in text and
           "heap profile: 32: 3152 [53: 5254]" in text, f"{text}")
    again = bench.file("again.heap", text)
    expect(bench.run("pprof", again).stdout == text, "text of text")
    plain = bench.file("plain.heap", "heap profile: 1: 100 [1: 100] @ heapprofile\n"
                       "1: 100 [1: 100] @ 0x10 0x20\n")
    expect("1: 100 [1: 100] @ 0x10 0x20\n" in bench.run("pprof", plain).stdout, "as they are")


def wrong(bench):
    box, _, _ = bench.box("1-1.box")
    good = bench.run("pprof", box, "--format=heap_v2").stdout
    files = {
        "empty": ("", "it is empty"),
        "word": ("hello\n", "neither heap_v2/ nor"),
        "cut": (good[:len(good) // 2].rsplit(" ", 1)[0], "it is truncated"),
        "interval": ("heap_v2/many\n", "interval is not a number"),
        "huge": ("heap_v2/99999999999999999999999\n", "interval is not a number"),
        "counts": ("heap_v2/1\n@ 0x1\n  t*: 1: two [0: 0]\n", "no 'objects: bytes"),
        "counts2": ("heap_v2/1\n@ 0x1\n  t*: 1: 2\n", "no 'objects: bytes"),
        "address": ("heap_v2/1\n@ 0x1 [...] 0x2\n  t*: 1: 2 [0: 0]\n", "is no address"),
        "thread": ("heap_v2/1\n@ 0x1\n  tx: 1: 2 [0: 0]\n", "neither a stack nor"),
        "names": ("--- symbol\n0x1 a\n", "no profile follows the symbols"),
        "names2": ("--- symbol\n0x1 a\n---\n", "no profile follows"),
        "names3": ("--- symbol\nbad\n---\n", "no '0xADDRESS NAME'"),
        "lines": ("heap profile: 1: 2 [3: 4] @ heap_v2/x\n", "interval is not a number"),
        "lines2": ("heap profile: 1: 2 [3: 4] @ heapprofile\n1: 2 [3: 4] 0x1\n", "without '@'"),
        "lines3": ("heap profile: 1\n", "no 'objects: bytes"),
        "zero": ("heap_v2/1\n\0\n", "it is binary"),
    }
    cases = [(["pprof", bench.file(name, text)], 1, line) for name, (text, line) in files.items()]
    cases += [
        (["pprof", bench.path("none")], 1, "cannot be opened"),
        (["pprof", bench.folder], 1, "not a regular file"),
        (["pprof", box, "--format", "xml"], 2, "choose text, heap_v2, proto"),
        (["pprof", box, box], 2, "unexpected argument"),
        (["pprof"], 2, "an argument is missing"),
        (["pprof", box, "--base", bench.path("none"), "--format=proto"], 1, "cannot be opened"),
        (["pprof", box, "--out", bench.path("no/where")], 1, "cannot be written"),
        (["pprof", box, "--out", box], 1, "is a box: name another file"),
        (["flame", box, "--out", "/dev/full"], 1, "cannot be written"),
        (["flame", bench.path("word")], 1, "neither heap_v2/ nor"),
        (["profile", box, "maybe"], 2, "give on or off"),
        (["profile", box, "on", "--lg-prof-sample", "63"], 2, "from 1 to 62"),
        (["profile", box, "off", "--lg-prof-sample", "19"], 2, "is only for on"),
        (["profile", bench.path("none"), "on"], 1, "cannot be opened"),
    ]
    for words, status, line in cases:
        done = bench.run(*words, status=status)
        said = [one for one in done.stderr.splitlines() if "died" not in one]
        expect(len(said) == 1 and line in said[0] and done.stdout == "",
               f"{words}: {done.stderr!r}, {done.stdout[:200]!r}")


PARTS = {"dumps": dumps, "wrong": wrong}
