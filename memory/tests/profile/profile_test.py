#!/usr/bin/python3
"""profile_test.py - heap profiles as pfs-mem shows them: from boxes made by hand with known
contents, and from dumps; read back by the tools they are made for.

usage: profile_test.py PART PFS_MEM MADE
MADE: profile_made. Exit 0: all as expected. 1: something was not. 77: a tool is missing, which is
named.
"""

import gzip
import html.parser
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import place as places
from place import SVG, expect, skip
from common import browser


class Bench(places.Place):
    """A folder, pfs-mem, and a program that makes boxes of itself."""

    def __init__(self, tool, made):
        super().__init__(tool)
        self.program = self.path("planted")
        shutil.copyfile(made, self.program)
        os.chmod(self.program, 0o755)

    def box(self, name, *words):
        """(path, objects, bytes) that are in use in it"""
        done = subprocess.run([self.program, self.path(name), *words], check=True, text=True,
                              capture_output=True)
        return (self.path(name), *map(int, done.stdout.split()))

    def without_program(self):
        os.rename(self.program, self.program + ".away")

    def with_program(self):
        os.rename(self.program + ".away", self.program)

    def foreign(self, *words):
        """Another tool's standard output."""
        return self.call(words, env={**os.environ, "HOME": self.folder, "JEPROF_TMPDIR":
                                     self.folder, "PPROF_TMPDIR": self.folder}).stdout


# ---- profile.proto, read by its own rules ----

def varint(data, at):
    value, shift = 0, 0
    while True:
        value |= (data[at] & 0x7F) << shift
        at, shift, more = at + 1, shift + 7, data[at] & 0x80
        if not more:
            return value, at


def fields(data):
    """(number, value) of a message"""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        else:
            assert tag & 7 == 2, tag
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
        yield tag >> 3, value


def packed(data):
    values, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        values.append(value - (1 << 64) if value >> 63 else value)
    return values


def read_proto(path):
    """{types, samples: [(frames, values, labels)], default}"""
    with gzip.open(path) as file:
        whole = list(fields(file.read()))
    texts = [value.decode() for number, value in whole if number == 6]
    expect(texts[0] == "", "the first string is empty")
    functions, places = {}, {}
    for number, value in whole:
        if number == 5:
            one = dict(fields(value))
            functions[one[1]] = (texts[one.get(2, 0)], texts[one.get(4, 0)])
    for number, value in whole:
        if number == 4:
            one = list(fields(value))
            lines = [dict(fields(line)) for key, line in one if key == 4]
            places[dict(one)[1]] = [(*functions[line[1]], line.get(2, 0)) for line in lines]
    samples = []
    for number, value in whole:
        if number != 2:
            continue
        one = list(fields(value))
        frames = [places[i] for key, part in one if key == 1 for i in packed(part)]
        labels = {}
        for key, part in one:
            label = dict(fields(part)) if key == 3 else None
            if label:
                labels[texts[label[1]]] = texts[label[2]] if 2 in label else label[3]
        samples.append((frames, packed(dict(one)[2]), labels))
    return {"types": [texts[dict(fields(value))[1]] for number, value in whole if number == 1],
            "samples": samples, "default": texts[dict(whole)[14]], "period": dict(whole)[12]}


# ---- documents in text ----

def sums_of_lines(text):
    """(the header's four numbers, the sums of the lines')"""
    head = re.match(r"heap profile: (\d+): (\d+) \[(\d+): (\d+)\] @ heapprofile\n", text)
    rows = re.findall(r"^(\d+): (\d+) \[(\d+): (\d+)\] @( 0x[0-9a-f]+)+$", text, re.M)
    return ([int(n) for n in head.groups()],
            [sum(int(row[i]) for row in rows) for i in range(4)])


def formats(bench):
    """Each document equals the box, to the last byte; so does the one without a file."""
    box, objects, count = bench.box("1-1.box")
    truth = [objects, count]
    head, rows = sums_of_lines(bench.run("pprof", box).stdout)
    expect(head[:2] == truth and rows == head, f"text: {truth}, {head}, {rows}")
    total = head[2:]
    text = bench.run("pprof", box, "--format", "heap_v2").stdout
    expect(text.startswith("heap_v2/1\n  t*: "), f"heap_v2: {text[:100]}")
    # Sums are of jeprof's numbers for each line; only the block of 2 bytes is changed by it.
    sums = {"*": 0.0, "1": 0.0, "2": 0.0}
    for thread, number, size in re.findall(r"^  t(\S+): (\d+): (\d+) \[", text.split("@", 1)[1],
                                           re.M):
        ratio = int(size) / int(number)
        sums[thread] += int(size) / (1 - 2.718281828459045 ** -ratio)
    expect(abs(sums["*"] - count) < 2 and abs(sums["1"] + sums["2"] - count) < 2,
           f"heap_v2: {sums}, not {count}")
    expect(round(sums["2"]) == 500000, f"of the other thread: {sums}")
    lines = bench.run("pprof", box, "--format=collapsed").stdout.splitlines()
    expect(sum(int(line.rsplit(" ", 1)[1]) for line in lines) == count, f"collapsed: {lines}")
    lines = bench.run("pprof", box, "--format=collapsed", "--total").stdout.splitlines()
    expect(sum(int(line.rsplit(" ", 1)[1]) for line in lines) == total[1], "collapsed, total")
    bench.run("pprof", box, "--format", "proto", "--out", bench.path("p.pb.gz"))
    proto = read_proto(bench.path("p.pb.gz"))
    expect(proto["types"] == ["alloc_objects", "alloc_space", "inuse_objects", "inuse_space"],
           f"types: {proto['types']}")
    expect(proto["default"] == "inuse_space" and proto["period"] == 4096, "what is shown first")
    got = [sum(sample[1][i] for sample in proto["samples"]) for i in range(4)]
    expect(got == total + truth, f"proto: {got}, not {total + truth}")
    labels = [sample[2] for sample in proto["samples"] if sample[1][3] != 0]
    expect({label["bytes"] for label in labels} == {2, 64, 1024, 8192, 131072}, f"{labels}")
    expect({label["instrument"] for label in labels} == {"memory/planted/heap"}, f"{labels}")
    workers = [label for label in labels if label["thread"] == "worker"]
    expect(all(label["account"] == "pool@localhost" and label["user"] == "pool" and
               label["thread_id"] == 1 for label in workers) and len(workers) == 5, f"{workers}")
    other = bench.run("pprof", box, "--format", "proto", "--total", text=False).stdout
    Path(bench.path("t.pb.gz")).write_bytes(other)
    expect(read_proto(bench.path("t.pb.gz"))["default"] == "alloc_space", "--total")


def need(*tools):
    for tool in tools:
        if shutil.which(tool) is None:
            skip(f"no {tool}")


def readers(bench):
    """jeprof and google-pprof, with the program and without it."""
    need("jeprof", "google-pprof")
    box, objects, _ = bench.box("1-1.box")
    for kind in ("text", "heap_v2"):
        for named in ([], ["--symbolized"]):
            path = bench.path(kind + ("".join(named)))
            bench.run("pprof", box, "--format", kind, *named, "--out", path)
            for tool in ("jeprof", "google-pprof"):
                if kind == "heap_v2" and tool == "google-pprof":
                    continue  # it reads no heap_v2
                if named:
                    bench.without_program()
                what = [path] if named else [bench.program, path]
                text = bench.foreign(tool, "--text", "--inuse_objects", *what)
                if named:
                    bench.with_program()
                expect(f"Total: {objects} objects" in text, f"{tool} {kind} {named}: {text}")
                for name in ("planted_leak", "planted_tiny", "deep", " main\n"):
                    expect(name in text, f"{tool} {kind} {named}: no {name}: {text}")
    text = bench.foreign("jeprof", "--text", "--thread=2", "--inuse_objects",
                         bench.path("heap_v2--symbolized"))
    expect("Total (t2): 5 objects" in text and "planted_leak" in text, f"--thread: {text}")


def go_pprof():
    """The command line of Go's pprof; None if it is not installed."""
    if os.environ.get("PFS_GO_PPROF"):
        return [os.environ["PFS_GO_PPROF"]]
    if shutil.which("go") is not None:
        return ["go", "tool", "pprof"]
    return None


def go(bench):
    """go tool pprof reads text and proto, local and with the program gone."""
    pprof = go_pprof()
    if pprof is None:
        skip("no go, and no PFS_GO_PPROF")
    box, objects, count = bench.box("1-1.box")
    bench.run("pprof", box, "--out", bench.path("text"))
    bench.run("pprof", box, "--format=proto", "--symbolized", "--out", bench.path("proto"))
    bench.run("pprof", box, "--format=proto", "--out", bench.path("bare"))
    for name in ("text", "bare", "proto"):
        if name == "proto":
            bench.without_program()
        for index, value in (("inuse_objects", objects), ("inuse_space", count)):
            text = bench.foreign(*pprof, "-top", "-unit=B", f"-sample_index={index}",
                                 "-nodefraction=0", bench.path(name))
            of = re.search(r"100% of (\d+)", text)
            expect(of and int(of.group(1)) == value, f"{name} {index}: {text}")
            expect("planted_leak" in text and "File: planted\n" in text, f"{name}: {text}")
    text = bench.foreign(*pprof, "-top", "-tagfocus=account=pool@localhost", "-unit=B",
                         bench.path("proto"))
    expect(f"of {count}B total" in text and f"{count - 500000}B" in text, f"by account: {text}")
    bench.with_program()


def names(bench):
    """Inlined frames, files, lines; another file in its place is reported and not used."""
    box, _, _ = bench.box("1-1.box")
    bench.run("pprof", box, "--format=proto", "--symbolized", "--out", bench.path("p"))
    stacks = {}
    for frames, values, _ in read_proto(bench.path("p"))["samples"]:
        flat = tuple(line for place in frames for line in place)
        stacks[flat] = stacks.get(flat, 0) + values[3]
    by_leaf = {stack[0][0]: stack for stack in stacks}
    leak = by_leaf["planted_leak"][0]
    line = Path(leak[1]).read_text("utf-8").split("\n")[leak[2] - 1]
    expect("the leak's line" in line, f"{leak}: {line}")
    inlined = by_leaf["(anonymous namespace)::inlined_in_fill"]
    leak = "(anonymous namespace)::Cache::leak<unsigned long>"  # whatever compiler
    expect(inlined[1][0] == leak and inlined[2][0] == "planted_cxx", f"{inlined}")
    deep = by_leaf["(anonymous namespace)::deep"]
    expect(sum("::deep" in frame[0] for frame in deep) == 6, "recursion")
    debug = bench.path("kept.symbols")
    subprocess.run(["objcopy", "--only-keep-debug", bench.program, debug], check=True)
    # Stripped: exported names or none, but never a neighbour's name.
    subprocess.run(["strip", bench.program], check=True)
    lines = bench.run("pprof", box, "--format=collapsed").stdout
    expect("[unknown] planted+0x" in lines and "planted_leak" not in lines, f"stripped: {lines}")
    subprocess.run(["objcopy", f"--add-gnu-debuglink={debug}", bench.program], check=True)
    lines = bench.run("pprof", box, "--format=collapsed").stdout
    expect(f"planted_cxx;{leak}" in lines, f"with what was stripped: {lines}")
    # Another program in its place.
    shutil.copyfile("/bin/true", bench.program)
    done = bench.run("pprof", box, "--format=collapsed")
    expect("not the file that the program ran" in done.stderr and
           "[unknown] planted+0x" in done.stdout, f"another build id: {done}")
    bench.without_program()
    done = bench.run("pprof", box, "--format=collapsed")
    expect("is missing" in done.stderr and "[unknown] planted+0x" in done.stdout, f"{done}")


def compare(bench):
    """Two boxes, a box and a dump of another moment: what grew and what shrank."""
    before, _, before_bytes = bench.box("1-1.box")
    now, _, now_bytes = bench.box("2-1.box", "more")
    bench.run("pprof", before, "--symbolized", "--out", bench.path("before.heap"))
    for base in (before, bench.path("before.heap")):
        lines = bench.run("pprof", now, "--base", base, "--format=collapsed").stdout.splitlines()
        numbers = [line.rsplit(" ", 2)[1:] for line in lines]
        expect(sum(int(pair[0]) for pair in numbers) == before_bytes and
               sum(int(pair[1]) for pair in numbers) == now_bytes, f"{lines}")
        leak = [line.split()[-2:] for line in lines if "planted_leak" in line]
        expect(sorted(leak) == [["2000000", "6000000"], ["500000", "500000"]], f"leak: {leak}")
        bench.run("pprof", now, "--base", base, "--format=proto", "--symbolized", "--out",
                  bench.path("p"))
        samples = read_proto(bench.path("p"))["samples"]
        by = sum(sample[1][3] for sample in samples)
        expect(abs(by - (now_bytes - before_bytes)) <= 2, f"{by}: {samples}")
        expect(not any("planted_cxx" in line[0] for sample in samples for place in sample[0]
                       for line in place), f"what did not change is in it: {samples}")
        expect(any("account" in sample[2] for sample in samples) == base.endswith(".box"), "whose")
        bench.run("flame", now, "--base", base, "--out", bench.path("d.svg"))
        text = frames_of(bench.path("d.svg"))
        expect(text[0][2].startswith("all\ngrew by 3.81 MiB, shrank by 55"), f"{text[0]}")
        kinds = {frame[1].split()[0]: frame[3][0] for frame in text}
        expect(kinds["planted_leak"] == "g" and kinds["planted_shrinks"] == "s", f"{kinds}")
        expect("planted_cxx" not in kinds, "what did not change is not there")
    done = bench.run("pprof", now, "--base", before, status=1)
    expect("cannot show what shrank" in done.stderr, f"{done}")


# ---- flame graphs ----

def frames_of(path):
    """[(left, label, title, class)] of the frames, as drawn"""
    tree = xml.etree.ElementTree.parse(path)
    return [(float(frame.get("x")[:-1]), frame.find(SVG + "text").text,
             frame.find(SVG + "title").text, frame.get("class").split()[1])
            for frame in tree.getroot().iter(SVG + "svg") if frame.get("class", "")[:1] == "f"
            and frame.get("class") != "flame"]


class Page(html.parser.HTMLParser):
    """What a page loads from elsewhere."""

    def __init__(self):
        super().__init__()
        self.outside, self.cells = [], []

    def handle_starttag(self, tag, attrs):
        self.outside += [value for name, value in attrs if name in ("src", "href")]

    def handle_data(self, data):
        self.cells.append(data)


def flame(bench):
    box, _, _ = bench.box("1-1.box")
    bench.run("flame", box, "--out", bench.path("f.svg"))
    frames = frames_of(bench.path("f.svg"))
    expect(frames[0][1] == "all", f"the first frame: {frames[0]}")
    leak = [frame for frame in frames if frame[1].startswith("planted_leak made_test.c:")]
    expect(len(leak) == 2 and "1.91 MiB (2000000 bytes) in 20 objects, 31.7" in leak[0][2],
           f"leak: {leak}")
    tree = xml.etree.ElementTree.parse(bench.path("f.svg")).getroot()
    text = "".join(tree.itertext())
    expect("6.01 MiB in use, 27509 objects; estimated from a sample each 4.00 KiB" in text, "head")
    expect("://" not in text.replace("http://www.w3.org/2000/svg", ""), "nothing from outside")
    expect(bench.run("flame", box).stdout.encode() == open(bench.path("f.svg"), "rb").read(),
           "to standard output")
    bench.run("flame", box, "--total", "--out", bench.path("f.html"))
    with open(bench.path("f.html"), encoding="utf-8") as file:
        page = Page()
        page.feed(file.read())
    expect(page.outside == [], f"asks for {page.outside}")
    expect(any("12.0 MiB allocated since the beginning" in cell for cell in page.cells), "total")
    if browser.CHROMIUM is None:
        skip("no chromium: the graph's script did not run")
    probe = """<script>addEventListener('load', function () {
      var f = [].filter.call(document.querySelectorAll('svg.f'), function (f) {
        return f.querySelector('text').textContent.indexOf('planted_leak') === 0; })[0];
      f.dispatchEvent(new MouseEvent('click', {bubbles: true}));
      document.title = 'width ' + f.getAttribute('width') + ' shown ' + [].filter.call(
        document.querySelectorAll('svg.f'), function (f) {
          return f.style.display !== 'none'; }).length;
    });</script>"""
    with open(bench.path("f.html"), "a", encoding="utf-8") as file:
        file.write(probe)
    text = browser.browse(bench.path("f.html"))
    expect("<title>width 100% shown 6</title>" in text,
           f"a click: {re.findall('<title>.*</title>', text)[:1]}")


def switch(bench):
    box, objects, count = bench.box("1-1.box")
    text = bench.run("profile", box).stdout
    expect(text.startswith("on: a sample each 4096 bytes; 828 in use, for "
                           f"{count} bytes in {objects} blocks; 6 stacks"), f"{text}")
    done = bench.run("profile", box, "off", status=1)
    expect("is read-only" in done.stderr, f"{done}")


if __name__ == "__main__":
    import profile_answers
    import profile_dumps
    import profile_history
    import profile_real
    places.main({"formats": formats, "readers": readers, "go": go, "names": names,
                 "compare": compare, "flame": flame, "switch": switch, **profile_answers.PARTS,
                 **profile_dumps.PARTS, **profile_history.PARTS, **profile_real.PARTS},
                Bench(*sys.argv[2:4]), *sys.argv[4:])
