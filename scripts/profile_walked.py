#!/usr/bin/python3
"""profile_walked.py - which share of a program's stacks the heap profile walks: a table for the
programs that are installed here.

usage: scripts/profile_walked.py [--build DIR] [--lg N] [PROGRAM...]
redis and MariaDB under the load of their clients; python3, perl and node with a script; a Rust
program, if rustc is there; and the tests' C++ program. One sample per 2^N bytes, 12 if not given:
the more samples, the more stacks that are met for the first time. A minute. Exit 0: 95 % or more of
each. 1: less, or a program failed. 2: bad usage or no build.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from common import commandline
from measuring import allocator_servers, launching

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WANTED = 95.0
WAIT_S = 30
AMOUNTS = {"redis": 20000, "mariadb": 20000}

PYTHON = """
import json, re, sys
kept = []
for i in range(300):
    kept.append(json.loads(json.dumps({str(n): [n, "x" * n, {"n": n}] for n in range(300)})))
    re.sub("a+", "b", "aaa" * 1000)
    kept.append(bytearray(5000))
print("ready", flush=True)
sys.stdin.read()
"""
PERL = """
my @kept;
for my $i (1 .. 200) {
    my %h = map { ("key $_" => "x" x $_) } 1 .. 300;
    push @kept, \\%h, join(",", sort keys %h), [ split /,/, "a,b,c" x 100 ];
    (my $t = "aaa" x 1000) =~ s/a+/b/g;
}
$| = 1; print "ready\\n"; <STDIN>;
"""
NODE = """
const kept = [];
for (let i = 0; i < 800; i++) {
  kept.push(Buffer.alloc(20000), JSON.parse(JSON.stringify({n: Array(2000).fill("x" + i)})));
  kept.push(require("zlib").deflateSync(Buffer.alloc(50000, i)));
  kept.push(require("crypto").createHash("sha256").update("x".repeat(i)).digest("hex"));
}
console.log("ready");
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
"""
RUST = """
use std::collections::{BTreeMap, HashMap};
use std::io::Read;
fn fill(depth: u32) -> HashMap<String, Vec<String>> {
    if depth > 0 {
        let mut m = fill(depth - 1);
        m.insert(depth.to_string(), vec!["d".repeat(50)]);
        return m;
    }
    (0..300).map(|n| (n.to_string(), (0..n % 20).map(|i| "x".repeat(i * 30)).collect())).collect()
}
fn main() {
    let mut kept = Vec::new();
    let mut trees = BTreeMap::new();
    for i in 0..200u32 { kept.push(fill(i % 10)); trees.insert(i, vec![0u8; 1000 + i as usize]); }
    let other = std::thread::spawn(|| (0..100u32).map(|i| fill(i % 5)).collect::<Vec<_>>());
    let more = other.join().unwrap();
    println!("ready");
    std::io::stdin().read_to_string(&mut String::new()).unwrap();
    println!("{}", kept.len() + trees.len() + more.len());
}
"""


class Walked:
    """pfs-mem, and a folder to work in."""

    def __init__(self, build_dir, lg, folder):
        self.build_dir, self.folder = build_dir, folder
        self.tool = launching.built(build_dir, "memory", "pfs-mem")
        library = os.path.join(os.path.dirname(self.tool), "libpfsmem.so")
        self.environment = {**os.environ, "PFS_MEM_DIR": folder, "LC_ALL": "C",
                            "PFS_MEM_LG_PROF_SAMPLE": str(lg), "LD_PRELOAD": library}

    def start(self, command, **more):
        """A program that is counted."""
        return subprocess.Popen(command, env=self.environment, stderr=subprocess.DEVNULL, **more)

    def of(self, pid):
        """(samples, % of them walked) of a process."""
        said = subprocess.run([self.tool, "profile", str(pid)], capture_output=True, text=True,
                              check=True, timeout=WAIT_S,
                              env={**os.environ, "PFS_MEM_DIR": self.folder}).stdout
        found = re.search(r"(\d+) taken, ([\d.]+) % walked", said)
        return (int(found.group(1)), float(found.group(2))) if found else (0, 0.0)

    def waiting(self, command):
        """Of a program that prints a line and waits for the end of its input."""
        process = self.start(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            if not process.stdout.readline():
                raise ValueError(f"{command[0]} ended at once")
            return self.of(process.pid)
        finally:
            process.stdin.close()
            process.stdout.close()
            process.wait(timeout=WAIT_S)

    def server(self, name):
        """Of a server after a run of its client."""
        folder = os.path.join(self.folder, f"{name}-files")
        os.mkdir(folder)
        server = allocator_servers.SERVERS[name](folder, AMOUNTS[name])
        refused = server.prepare()
        if refused:
            raise ValueError(refused)
        place = server.place("walked")
        process = self.start(server.command(place), stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL)
        try:
            end = time.monotonic() + WAIT_S
            while not allocator_servers.answers(server.client(place) + server.ping):
                if process.poll() is not None or time.monotonic() > end:
                    raise ValueError("the server does not answer")
                time.sleep(0.05)
            server.load(place)
            return self.of(process.pid)
        finally:
            process.kill()
            process.wait()


def script_of(walked, name, text):
    """A file with a text; its path."""
    path = os.path.join(walked.folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def rust(walked):
    """A program that rustc builds."""
    source, program = script_of(walked, "fill.rs", RUST), os.path.join(walked.folder, "fill")
    subprocess.run(["rustc", "-O", "-o", program, source], check=True, timeout=300,
                   capture_output=True)
    return walked.waiting([program])


PROGRAMS = {
    "redis-server": lambda w: w.server("redis"),
    "mariadbd": lambda w: w.server("mariadb"),
    # the system's: a build of one's own may differ
    "python3": lambda w: w.waiting(["/usr/bin/python3", script_of(w, "fill.py", PYTHON)]),
    "python3, PYTHONMALLOC=malloc": lambda w: w.waiting(
        ["/usr/bin/env", "PYTHONMALLOC=malloc", "/usr/bin/python3",
         script_of(w, "fill.py", PYTHON)]),
    "perl": lambda w: w.waiting(["perl", script_of(w, "fill.pl", PERL)]),
    "node": lambda w: w.waiting(["node", script_of(w, "fill.js", NODE)]),
    "Rust": rust,
    "C++": lambda w: w.waiting([launching.built(w.build_dir, "memory", "tests", "sampling",
                                                "sampling-share")]),
}
NEEDS = {"redis-server": "redis-cli", "mariadbd": "mariadbd", "Rust": "rustc", "C++": "sh",
         "python3, PYTHONMALLOC=malloc": "python3"}


def main(argv=None):
    """The command."""
    parser = argparse.ArgumentParser(prog="scripts/profile_walked.py",
                                     description="Which share of stacks is walked.")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=", ".join(PROGRAMS))
    parser.add_argument("--build", default=os.path.join(TOP, "build"), metavar="DIR")
    parser.add_argument("--lg", type=int, default=12, choices=range(1, 41), metavar="N")
    arguments = parser.parse_args(argv)
    for name in arguments.programs:
        if name not in PROGRAMS:
            parser.error(f"'{name}': give one of {', '.join(PROGRAMS)}")
    status = 0
    print("| program | stacks taken | walked |\n|---|---|---|")
    for name in arguments.programs or PROGRAMS:
        if not shutil.which(NEEDS.get(name, name)):
            print(f"| {name} | not installed | |")
            continue
        folder = tempfile.mkdtemp(prefix="pfslab-walked-")
        try:
            samples, share = PROGRAMS[name](Walked(arguments.build, arguments.lg, folder))
            print(f"| {name} | {samples:,} | {share} % |", flush=True)
            status |= share < WANTED
        except (ValueError, OSError, subprocess.SubprocessError,
                allocator_servers.Failed) as problem:
            print(f"profile_walked: {name}: {problem}", file=sys.stderr)
            status = 1
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return int(status)


if __name__ == "__main__":
    commandline.run(main, "profile_walked")
