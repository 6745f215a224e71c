"""profile_programs.py - the programs that scripts/profile_cost.py runs to their end, beside its
loops and servers: scripts for interpreters, SQL for sqlite3, a Rust program, and the tests' C++
program.
"""

import os
import shutil
import subprocess
from collections import namedtuple

from measuring import launching

PYTHON = """
import json, re
kept = []
for i in range(AMOUNT):
    kept.append(json.loads(json.dumps({str(n): [n, "x" * n, {"n": n}] for n in range(300)})))
    re.sub("a+", "b", "aaa" * 1000)
    kept.append(bytearray(5000))
"""
PERL = """
my @kept;
for my $i (1 .. AMOUNT) {
    my %h = map { ("key $_" => "x" x $_) } 1 .. 300;
    push @kept, \\%h, join(",", sort keys %h), [ split /,/, "a,b,c" x 100 ];
    (my $t = "aaa" x 1000) =~ s/a+/b/g;
}
"""
NODE = """
const kept = [];
for (let i = 0; i < AMOUNT; i++) {
  kept.push(Buffer.alloc(20000), JSON.parse(JSON.stringify({n: Array(2000).fill("x" + i)})));
  kept.push(require("zlib").deflateSync(Buffer.alloc(50000, i)));
  kept.push(require("crypto").createHash("sha256").update("x".repeat(i)).digest("hex"));
}
"""
SQL = """
CREATE TABLE kept (id INTEGER PRIMARY KEY, name TEXT, body BLOB);
CREATE INDEX by_name ON kept (name);
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < AMOUNT)
  INSERT INTO kept SELECT i, 'name ' || (i * 7919 % 10007), zeroblob(i % 700) FROM n;
SELECT count(*), sum(length(body)) FROM kept
  JOIN (SELECT name AS other, group_concat(id) AS ids FROM kept GROUP BY name) ON name = other;
UPDATE kept SET name = upper(name) || hex(id), body = NULL WHERE id % 3 = 0;
SELECT count(DISTINCT substr(name, 3)) FROM kept;
"""
RUST = """
use std::collections::{BTreeMap, HashMap};
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
    for i in 0..AMOUNTu32 {
        kept.push(fill(i % 10));
        trees.insert(i, vec![0u8; 1000 + i as usize]);
    }
    let other = std::thread::spawn(|| (0..100u32).map(|i| fill(i % 5)).collect::<Vec<_>>());
    let more = other.join().unwrap();
    println!("{}", kept.len() + trees.len() + more.len());
}
"""

# command: what runs a file of this name with this text, in which AMOUNT is the amount of the run;
# needs: (program, Debian's package of it), or None. environment: more of it.
Program = namedtuple("Program", "command name text amount needs environment", defaults=({},))

# The system's python3: a build of one's own may differ.
PROGRAMS = {
    "python3": Program(["/usr/bin/python3"], "fill.py", PYTHON, 300,
                       ("/usr/bin/python3", "python3")),
    "python3-malloc": Program(["/usr/bin/python3"], "fill.py", PYTHON, 300,
                              ("/usr/bin/python3", "python3"), {"PYTHONMALLOC": "malloc"}),
    "sqlite3": Program(["sqlite3", "-batch", ":memory:", "-init"], "fill.sql", SQL, 80000,
                       ("sqlite3", "sqlite3")),
    "perl": Program(["perl"], "fill.pl", PERL, 1200, ("perl", "perl")),
    "node": Program(["node"], "fill.js", NODE, 800, ("node", "nodejs")),
    "rust": Program([], "fill.rs", RUST, 100, ("rustc", "rustc")),
    "c++": Program([], "", "", 0, None),  # of the build
}


def absent(name):
    """A line where a program is not installed."""
    needs = PROGRAMS[name].needs
    return None if needs is None or shutil.which(needs[0]) else \
        f"{os.path.basename(needs[0])} is not here; install {needs[1]}"


def command(name, folder, build_dir, share):
    """The command line of a run with a share of its amount; writes its file, or compiles it."""
    if name == "c++":
        return [launching.built(build_dir, "memory", "tests", "sampling", "sampling-share")]
    one = PROGRAMS[name]
    amount = max(1, round(one.amount * share))
    path = os.path.join(folder, f"{amount}-{one.name}")
    is_new = not os.path.exists(path)
    if is_new:
        with open(path, "w", encoding="utf-8") as file:
            file.write(one.text.replace("AMOUNT", str(amount)))
    if name != "rust":
        return [*one.command, path]
    if is_new:
        subprocess.run(["rustc", "-O", "-o", path + ".program", path], check=True, timeout=300,
                       capture_output=True)
    return [path + ".program"]
