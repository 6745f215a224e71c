#!/usr/bin/python3
"""profile_served.py - heap profiles as pfs-mem serve sends them: the same documents that pfs-mem
pprof writes, read remotely by the tools they are made for, without the program's file.

usage: profile_served.py PART PFS_MEM MADE
MADE: profile_made. Exit 0: all as expected. 1: something was not. 77: a tool is missing, which is
named.
"""

import http.client
import json
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

from profile_test import (Bench, expect, go_pprof, need, places, read_proto, skip,
                          sums_of_lines)
from common import browser

ROOT = "/boxes/1-1/"


class Served:
    """The box of profile_made, and a server of it."""

    def __init__(self, bench):
        self.bench = bench
        self.box, self.objects, self.bytes = bench.box("1-1.box")
        self.process = subprocess.Popen(
            [bench.tool, "serve", "--http", "127.0.0.1:0", self.box], stderr=subprocess.PIPE,
            text=True, env=bench.environment)
        line = self.process.stderr.readline()
        said = re.search(r":(\d+)/\?token=(\S+)", line)
        if said is None:  # the server would keep the test's output open
            self.close()
            sys.exit(f"profile_served.py: the server said {line!r}")
        self.port, self.token = int(said[1]), said[2]

    def ask(self, path, method="GET", body=None):
        """status, headers, bytes"""
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        client.request(method, path, body, {"Authorization": f"Bearer {self.token}"})
        answer = client.getresponse()
        found = answer.status, dict(answer.getheaders()), answer.read()
        client.close()
        return found

    def get(self, path):
        status, _, text = self.ask(path)
        expect(status == 200, f"{path}: {status}: {text[:200]}")
        return text

    def url(self, path):
        return f"http://any:{self.token}@127.0.0.1:{self.port}{path}"

    def close(self):
        self.process.terminate()
        expect(self.process.wait(timeout=20) == 0, "it ends at SIGTERM")
        expect(self.process.stderr.read() == "", "it has nothing to say")
        self.process.stderr.close()
        self.bench.close()


def documents(served):
    """They are what pfs-mem pprof writes."""
    bench = served.bench
    for root in ("/", ROOT):
        text = served.get(root + "pprof/heap").decode()
        expect(text == bench.run("pprof", served.box).stdout, f"{root}pprof/heap: {text[:300]}")
        head, rows = sums_of_lines(text)
        expect(head[:2] == [served.objects, served.bytes] and rows == head, f"{head}")
        expect(served.get(root + "debug/pprof/heap?debug=1").decode() == text, "?debug=1")
        lines = bench.run("pprof", served.box, "--format=collapsed").stdout
        expect(served.get(root + "pprof/collapsed").decode() == lines, "collapsed")
        Path(bench.path("served")).write_bytes(served.get(root + "debug/pprof/heap"))
        proto = read_proto(bench.path("served"))
        expect(sum(one[1][3] for one in proto["samples"]) == served.bytes, "proto")
        expect(any(line[0] == "planted_leak" for one in proto["samples"] for place in one[0]
                   for line in place), "proto has names")
        expect(served.get(root + "pprof/cmdline").split(b"\0")[0].decode() == bench.program,
               "cmdline")
        status, headers, page = served.ask(root + "flame")
        expect(status == 200 and b"planted_leak" in page, "flame")
        expect("sandbox allow-scripts;" in headers["Content-Security-Policy"], f"{headers}")
    Path(bench.path("total")).write_bytes(served.get(ROOT + "debug/pprof/heap?total=1"))
    expect(read_proto(bench.path("total"))["default"] == "alloc_space", "?total=1")
    page = served.get("/").decode()
    expect(f'src="{ROOT}flame"' in page, "the page has the flame graph")
    numbers = dict(re.findall(r"^pfs_memory_profile_(\w+)\{.*\} (\d+)$",
                              served.get("/metrics").decode(), re.M))
    expect(numbers["interval_bytes"] == "4096" and int(numbers["samples"]) > 100 and
           abs(int(numbers["bytes"]) - served.bytes) <= 1, f"metrics: {numbers}")


def lines(served):
    """The lines that hold most: those of pfs-mem report, by page and as a table; the page loads
    them, and names the share of stacks that were walked."""
    bench = served.bench
    bench.run("report", served.box, "--out", bench.path("report.html"))
    report = Path(bench.path("report.html")).read_text(encoding="utf-8")
    whole = re.search(r'<h2 id="lines">.*?</table>', report, re.S)[0]
    expect("planted_leak" in whole, whole)
    expect(re.search(r"Stacks: \d+ taken, [\d.]+ % walked", whole), whole)
    for root in ("/", ROOT):
        part = served.get(root + "lines").decode()
        expect(whole in part, f"{root}lines: {part[:2000]}")
    page = served.get(ROOT).decode()
    expect(f'data-from="{ROOT}lines"' in page and "planted_leak" not in page, "the page is quick")
    table = json.loads(served.get(ROOT + "api/tables/memory_lines"))
    said = json.loads(bench.run("profile", served.box, "--format", "json").stdout)
    rows = [dict(zip(table["columns"], row)) for row in table["rows"]]
    expect([(row["BYTES"], row["ERROR_BYTES"], row["BLOCKS"]) for row in rows] ==
           [(one["BYTES"], one["ERROR"], one["BLOCKS"]) for one in said], f"{rows} {said}")
    expect(rows[0]["LINE"] in said[0]["WHERE"], f"{rows[0]}")
    expect(rows[0]["CALLER"] in said[0]["WHERE"], f"{rows[0]}")
    answers = bench.run("sql", served.box, "SELECT VARIABLE_VALUE FROM global_status WHERE "
                        "VARIABLE_NAME = 'Pfs_profile_stacks_taken'", "--format", "csv").stdout
    expect(int(answers.split()[-1]) > 0, answers)
    if browser.CHROMIUM:
        seen = browser.browse(f"http://127.0.0.1:{served.port}{ROOT}?token={served.token}")
        expect(re.search(r'data-lines="[1-9]', seen) and "planted_leak" in seen and
               "data-failed" not in seen, f"in a browser: {seen[:500]}")


def symbols(served):
    """GET, HEAD, POST; addresses as each tool sends them, and invalid ones."""
    for root in ("/pprof/", ROOT + "pprof/", "/debug/pprof/"):
        count = re.fullmatch(rb"num_symbols: (\d+)\n", served.get(root + "symbol"))
        expect(count and 3 < int(count.group(1)) < 1000, f"GET: {count}")
        status, _, text = served.ask(root + "symbol", "HEAD")
        expect((status, text) == (200, b""), f"HEAD: {status}")
    text = served.get("/pprof/heap").decode()
    stacks = re.findall(r"@((?: 0x[0-9a-f]+)+)$", text, re.M)
    leaves = {stack.split()[0] for stack in stacks}
    asked = "+".join(leaves)
    status, _, answer = served.ask("/pprof/symbol", "POST", asked)
    lines = dict(line.split("\t") for line in answer.decode().splitlines())
    expect(status == 200 and set(lines) == leaves, f"{lines}")
    expect("planted_leak" in lines.values(), f"{lines}")
    some = sorted(leaves)[:20]
    asked = served.get("/pprof/symbol?" + "+".join(some)).decode()
    expect(dict(line.split("\t") for line in asked.splitlines()) ==
           {leaf: lines[leaf] for leaf in some}, f"GET of addresses: {asked}")
    for step in (1, -1):
        moved = "+".join(hex(int(one, 16) + step) for one in leaves)
        named = served.ask("/pprof/symbol", "POST", moved)[2].decode()
        expect("\tplanted_leak\n" in named, f"{step}: {named}")
    caller = hex(int(stacks[0].split()[1], 16) - 1)
    expect("[unknown]" not in served.ask("/pprof/symbol", "POST", caller)[2].decode(), "a caller")
    for odd in ("0x12", "0x", "x", "0x+", "0xg", "0xffffffffffffffffffff", "<b>+0x1", "0x1\n0x2",
                "-0x5"):
        status, _, answer = served.ask("/pprof/symbol", "POST", odd)
        expect(status == 200 and all(re.fullmatch(rb"0x[0-9a-f]+\t0x[0-9a-f]+", line)
                                     for line in answer.splitlines()), f"{odd}: {answer}")
    status, headers, _ = served.ask("/pprof/symbol", "PUT", "0x1")
    expect((status, headers["Allow"]) == (405, "GET, HEAD, POST"), f"{status}")
    client = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
    client.putrequest("POST", "/pprof/symbol")
    client.putheader("Content-Length", str(2 << 20))
    client.putheader("Authorization", f"Bearer {served.token}")
    client.endheaders()
    expect(client.getresponse().status == 413, "too much")
    client.close()


def heap_v2(served):
    """jemalloc's dialect, with a line for each thread, and names beside it."""
    text = served.get("/heap_v2/pprof/heap").decode()
    expect(text == served.bench.run("pprof", served.box, "--format=heap_v2").stdout, text[:300])
    rows = re.findall(r"^  t(\*|\d+): (\d+): (\d+) \[(\d+): (\d+)\]$", text, re.M)
    expect(text.startswith("heap_v2/1\n  t*: ") and {row[0] for row in rows} > {"*"}, text[:300])
    expect(served.get(ROOT + "heap_v2/pprof/heap").decode() == text, "of a named box")
    need("jeprof")
    read = served.bench.foreign("jeprof", "--text", "--inuse_objects",
                                served.url("/heap_v2/pprof/heap"))
    expect(f"Total: {served.objects} objects" in read and "planted_leak" in read, read)


LEAK = """
import sys, time
kept = [bytearray(1 << 16) for _ in range(1600)]  # 100 MiB
gone = [bytearray(1 << 16) for _ in range(480)]   # 30 MiB
print("ready", flush=True)
sys.stdin.readline()
kept += [bytearray(1 << 16) for _ in range(800)]  # 50 MiB
del gone
print("done", flush=True)
sys.stdin.readline()
"""


def windows(served, bench, program, server):
    """The requests of `difference`."""
    paths = {"text": "/pprof/heap?seconds=4", "proto": "/debug/pprof/heap?seconds=4",
             "allocs": "/debug/pprof/allocs?seconds=4"}
    got = {}

    def fetch(kind):
        got[kind] = served.ask(paths[kind])
    threads = [threading.Thread(target=fetch, args=(kind,)) for kind in paths]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    time.sleep(1.5)
    for path in ("/pprof/heap", "/metrics"):
        served.get(path)
    expect(time.monotonic() - began < 3.5, "other requests do not wait")
    program.stdin.write("\n")
    program.stdin.flush()
    expect(program.stdout.readline() == "done\n", "it allocated")
    for thread in threads:
        thread.join()
    expect(3.9 < time.monotonic() - began < 20, "they took 4 seconds")
    mib = {}
    for kind in ("proto", "allocs"):
        status, _, text = got[kind]
        expect(status == 200, f"{kind}: {status}: {text[:200]}")
        Path(bench.path(kind)).write_bytes(text)
        proto = read_proto(bench.path(kind))
        mib[kind] = [sum(one[1][i] for one in proto["samples"]) / 2**20 for i in range(4)]
        expect(proto["default"] == ("inuse_space" if kind == "proto" else "alloc_space"), kind)
    head, rows = sums_of_lines(got["text"][2].decode())
    expect(head == rows, f"{head} {rows}")
    expect(46 < mib["proto"][1] < 54 and 17 < mib["proto"][3] < 23, f"{mib}")
    expect(46 < mib["allocs"][1] < 54, f"{mib}")
    expect(46 < head[3] / 2**20 < 54 and head[1] <= head[3], f"{head}")
    whole = sums_of_lines(served.get("/pprof/heap").decode())[0]
    expect(whole[1] / 2**20 > 120, f"{whole}")
    for odd in ("-1", "x", "3601"):
        status, _, text = served.ask(f"/pprof/heap?seconds={odd}")
        expect(status == 400 and b"seconds" in text, f"{odd}: {status}")
    asked = threading.Thread(target=lambda: got.update(left=1) if served.ask(
        "/pprof/heap?seconds=60") else None, daemon=True)
    asked.start()
    time.sleep(0.5)
    server.terminate()
    expect(server.wait(timeout=20) == 0, "it ends while a difference is awaited")


def difference(served):
    """?seconds=N: what came and went in N seconds, while other requests are answered.

    Samples are 16 KiB apart, so 98 % of the blocks of 64 KiB are samples, and an estimate of 50 MiB
    has a standard deviation of 0.3 MiB."""
    bench = served.bench
    script = Path(bench.path("leak.py"))
    script.write_text(LEAK, encoding="utf-8")
    program = subprocess.Popen([bench.tool, "run", "--dir", bench.folder, "--", "/usr/bin/python3",
                                str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               text=True, env={**bench.environment, "PFS_MEM_LG_PROF_SAMPLE": "14"})
    expect(program.stdout.readline() == "ready\n", "the program runs")
    server = subprocess.Popen([bench.tool, "serve", "--http", "127.0.0.1:0", str(program.pid)],
                              stderr=subprocess.PIPE, text=True, env=bench.environment)
    said = re.search(r":(\d+)/\?token=(\S+)", server.stderr.readline())
    served.port, served.token = int(said[1]), said[2]
    try:
        windows(served, bench, program, server)
    finally:
        for process in (server, program):
            process.kill()
            process.wait()
        server.stderr.close()
        program.stdin.close()
        program.stdout.close()


def hidden(bench, *words):
    """Run where the program's file is empty; None: impossible here."""
    script = f'mount --bind /dev/null {bench.program} && exec "$@"'
    place = ["unshare", "-rm", "sh", "-c", script, "sh"]
    if subprocess.run([*place, "true"], capture_output=True, check=False).returncode != 0:
        return None
    return bench.foreign(*place, *words)


def remote(served):
    """jeprof, google-pprof, go tool pprof, without the program's file."""
    bench, went = served.bench, []
    for tool in ("jeprof", "google-pprof"):
        need(tool)
        text = hidden(bench, tool, "--text", "--inuse_objects", served.url(ROOT + "pprof/heap"))
        if text is None:
            skip("no unshare that may mount")
        expect(f"Total: {served.objects} objects" in text, f"{tool}: {text}")
        for name in ("planted_leak", "planted_tiny", "deep"):
            expect(name in text, f"{tool}: no {name}: {text}")
        went.append(tool)
    pprof = go_pprof()
    if pprof is None:
        skip(f"no go, and no PFS_GO_PPROF; {' and '.join(went)} read it")
    for path, words in (("pprof/heap", ["-symbolize=remote"]), ("debug/pprof/heap", [])):
        text = hidden(bench, *pprof, "-top", "-unit=B", "-nodefraction=0", *words,
                      served.url(ROOT + path))
        of = re.search(r"100% of (\d+)", text)
        expect(of and int(of.group(1)) == served.bytes, f"{path}: {text}")
        expect("planted_leak" in text, f"{path}: {text}")


PARTS = {one.__name__: one for one in (documents, lines, symbols, heap_v2, difference, remote)}


if __name__ == "__main__":
    places.main(PARTS, Served(Bench(*sys.argv[2:])))
