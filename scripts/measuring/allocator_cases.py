"""allocator_cases.py - what scripts/allocators.py measures: the table, and the inputs of programs.

A case is one program, the same for every allocator: a workload of memory/bench/malloc, a program of
Debian with an input that is generated here, or a server under load (allocator_servers.py). Short
is for scripts/run, long for conclusions, and for servers, whose start takes most of their time.
"""

import os
import random
import shutil
import subprocess
from collections import namedtuple

from common import documents
from measuring import allocator_servers

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TRACES = os.path.join(TOP, "results", "traces")
IDLE_MS = 3000

# group: own, replay, program or server. words: of pfs-malloc-load, or of a program, with {n} for
# the short or the long amount, {threads} for one for each CPU, {in} for the input that make
# writes. judged: does its CPU time count in the means? program: what must be installed, and the
# package that has it.
Case = namedtuple("Case", "name group words short long judged program package make",
                  defaults=(True, "", "", None))


def _own(name, words, short, long, judged=True):
    return Case(name, "own", words, short, long, judged)


def _replay(trace, short, long):
    path = os.path.join(TRACES, trace + ".pfstrace")
    return Case("replay-" + trace, "replay", f"replay --count={{n}} --trace={path}", short, long)


# In a list are words that have spaces.
CASES = (
    _own("tiny", "tiny --count={n}", 40, 40, False),
    _own("pair-1", "pair --count={n}", 8000000, 40000000),
    _own("pair-all", "pair --threads={threads} --count={n}", 6000000, 40000000),
    _own("handoff", "handoff --count={n}", 800000, 5000000),
    _own("drain", "drain --count={n}", 40000, 200000),
    _own("server", "server --count={n} --trace=" + os.path.join(TRACES, "redis.pfstrace"),
         400000, 2500000),
    _own("burst", "burst --count={n}", 150, 900),
    _own("buffers", "buffers --count={n}", 700000, 5000000),
    _own("idle", f"idle --idle_ms={IDLE_MS} --count={{n}}", 32 << 20, 32 << 20),
    _own("idle-foreign", f"idle-foreign --idle_ms={IDLE_MS} --count={{n}}", 32 << 20, 32 << 20),
    _own("free-only", f"free-only --idle_ms={IDLE_MS} --count={{n}}", 250000, 500000),
    _own("dying", "dying --count={n}", 1500, 12000),
    _own("large", "large --count={n}", 30, 600),
    _own("mixed", "mixed --count={n}", 500000, 4000000),
    _own("tails", "tails --count={n}", 32, 2048, False),
    _replay("mariadb", 15, 100),
    _replay("redis", 40, 250),
    _replay("python3", 80, 400),
    _replay("sqlite3", 110, 500),
    Case("python", "program", "{program} -I {in}", 12000, 90000, True, "/usr/bin/python3",
         "python3", lambda path, n: _write(path, PYTHON.format(n=n))),
    Case("perl", "program", "{program} {in}", 60000, 500000, True, "perl", "perl",
         lambda path, n: _write(path, PERL.replace("COUNT", str(n)))),
    Case("lua", "program", "{program} {in}", 30, 200, True, "lua5.4", "lua5.4",
         lambda path, n: _write(path, LUA.replace("COUNT", str(n)))),
    Case("sqlite3", "program", "{program} :memory: .read\\ {in}", 60000, 400000, True, "sqlite3",
         "sqlite3", lambda path, n: _write(path, SQL.format(n=n))),
    Case("z3", "program", "{program} -T:60 {in}", 12, 60, True, "z3", "z3",
         lambda path, n: _write(path, smt(n))),
    Case("gcc", "program", "{program} -quiet -O1 {in} -o /dev/null", 20, 400, True, "cc1", "gcc",
         lambda path, n: _write(path, c_source(n), ".c")),
    Case("sort", "program", "{program} --parallel=2 -S 64M -n {in} -o /dev/null", 200000, 1500000,
         True, "sort", "coreutils", lambda path, n: _write(path, numbers(n))),
    Case("redis", "server", "", 20000, 150000, True, "redis-check-rdb", "redis-tools"),
    Case("mariadb", "server", "", 1000, 5000, True, "mariadbd", "mariadb-server-core"),
)
BY_NAME = {case.name: case for case in CASES}
SHORT_ROUNDS = {"own": 3, "replay": 3, "program": 3, "server": 1}

PYTHON = """import json
def rows(n):
    return [{{'key': i, 'list': [str(i), i / 7], 'tags': {{'a': (i, i + 1)}}}} for i in range(n)]
kept = []
for n in range(0, {n}, 199):
    kept.append(json.loads(json.dumps(rows(n % 700))))
    if len(kept) > 20:
        kept.pop(0)
print(sum(map(len, kept)))
"""

PERL = """my %h; my $s = 0;
for my $i (1..COUNT) {
    my $k = "key" . ($i * 7919 % 20011);
    push @{$h{$k}}, join(",", $i, $i * 3, "x" x ($i % 50));
    delete $h{"key" . ($i * 31 % 20011)} if $i % 3 == 0;
}
$s += scalar(@{$h{$_}}) for keys %h;
my @w = split / /, join(" ", map { "$_=" . scalar(@{$h{$_}}) } sort keys %h);
print scalar(@w), " $s\\n";
"""

LUA = """local function tree(d)
  if d == 0 then return {} end
  return {tree(d - 1), tree(d - 1)}
end
local function count(t) return t[1] and 1 + count(t[1]) + count(t[2]) or 1 end
local kept, sum, s = {}, 0, {}
for i = 1, COUNT do
  kept[i % 4] = tree(12)
  sum = sum + count(kept[i % 4])
  for k = 1, 1000 do s[#s % 20000 + 1] = ("%d:%s"):format(i, ("x"):rep(k % 60)) end
end
print(sum, #table.concat(s, ","))
"""

SQL = """create table t(a integer primary key, b text);
create index i on t(b);
with recursive c(x) as (select 1 union all select x + 1 from c where x < {n})
  insert into t select x, printf('row %d', x * 7919 % {n}) from c;
select count(*), max(b) from t where b like 'row 1%';
select a % 10, count(*) from t group by 1;
select sum(length(s)) from (select group_concat(b) s from t group by a % 1000);
delete from t where a % 3 = 0;
select count(*) from t;
"""


def smt(count):
    """So many words of 32 bits under equations that cannot all hold, for z3."""
    source = random.Random(1)

    def word():
        return f"#x{source.randrange(2 ** 32):08x}"

    lines = ["(set-logic QF_BV)"]
    lines += [f"(declare-const x{i} (_ BitVec 32))" for i in range(count)]
    lines += [f"(assert (= (bvadd (bvmul x{i} {word()}) (bvxor x{i + 1} {word()})) "
              f"(bvor x{i + 2} (bvand x{i} {word()}))))" for i in range(count - 2)]
    lines += [f"(assert (bvult x{i} x{i + 1}))" for i in range(0, count - 1, 2)]
    return "\n".join(lines + ["(check-sat)"]) + "\n"


def c_source(count):
    """So many structs and functions, preprocessed already, for gcc's compiler."""
    parts = ["int snprintf(char *, unsigned long, const char *, ...);"]
    for i in range(count):
        n = i % 7 + 1
        parts.append(f"""
struct s{i} {{ int a[{n}]; struct s{i} *next; double d; }};
static int f{i}(struct s{i} *p, int n)
{{
    int t = {i};
    for (int k = 0; k < n; k++) {{
        if (p->a[k % {n}] > k * {i % 13 + 1}) {{ t += p->a[0] ^ k; continue; }}
        t -= (int)p->d;
        switch (t & 3) {{ case 0: t += {i}; break; case 1: t *= 3; break; default: t ^= k; }}
    }}
    return p->next ? f{i}(p->next, n - 1) + t : t;
}}
int g{i}(char *s, int n)
{{
    struct s{i} x = {{ .d = n }};
    char b[64];
    return snprintf(b, sizeof b, "%d %s", f{i}(&x, n), s) + b[0];
}}""")
    return "\n".join(parts) + "\n"


def numbers(count):
    """So many lines for sort."""
    source = random.Random(1)
    return "".join(f"{source.randrange(10 ** 9)} {'x' * source.randrange(40)}\n"
                   for _ in range(count))


def _write(path, text, ending=""):
    documents.write_text(path + ending, text)
    return path + ending


def program_of(case):
    """Where the program of a case is, or None."""
    if case.program == "cc1":
        try:
            said = subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, text=True,
                                  check=False).stdout.strip()
        except OSError:
            return None
        return said if os.path.isabs(said) else None
    return shutil.which(case.program, path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/bin")


class Inputs:
    """The programs and their inputs, in a folder that is thrown away."""

    def __init__(self, folder, kind, load_program):
        self.folder, self.kind, self.load_program = folder, kind, load_program
        self.commands = {}  # name -> words
        self.servers = {}   # name -> server
        self.missing = {}   # name -> why it is left out

    def amount(self, case):
        """How much a case does in this suite."""
        return {"short": case.short, "long": case.long}.get(self.kind, max(1, case.short // 10))

    def prepare(self, case):
        """Find the program, write the input; a case that cannot run is named in missing."""
        if case.group in ("own", "replay"):
            words = case.words.format(n=self.amount(case), threads=len(os.sched_getaffinity(0)))
            self.commands[case.name] = [self.load_program, *words.split()]
            return
        program = program_of(case)
        if program is None:
            self.missing[case.name] = f"{case.program} is not here; install {case.package}"
        elif case.group == "server":
            server = allocator_servers.SERVERS[case.name](self.folder, self.amount(case))
            why = server.prepare()
            if why:
                self.missing[case.name] = why
            else:
                self.servers[case.name] = server
        else:
            path = case.make(os.path.join(self.folder, case.name), self.amount(case))
            words = case.words.replace("\\ ", "\0").split()
            self.commands[case.name] = [
                w.replace("\0", " ").format(program=program, **{"in": path}) for w in words]
