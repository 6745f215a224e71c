#!/usr/bin/python3
"""check_sampling.py - programs under libpfsmem.so: do their boxes have the stacks that they
allocated with?

usage: check_sampling.py PART PFS_MEM DUMP PROGRAM [PLUGIN...]
Every block is sampled unless a part says otherwise. nm resolves addresses.
Exit 0: all as expected. 1: something was not.
"""

import bisect
import os
import re
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import place as places
from place import equal, expect


class Symbols:
    """The functions of a file, by address."""

    files = {}

    def __init__(self, path):
        text = subprocess.run(["nm", "-C", "--defined-only", path], capture_output=True, text=True,
                              check=False).stdout
        found = sorted((int(line.split()[0], 16), line.split(maxsplit=2)[2])
                       for line in text.splitlines() if line.split()[1] in "tTwWi")
        self.starts = [address for address, _ in found]
        self.names = [name for _, name in found]

    def name(self, address):
        at = bisect.bisect_right(self.starts, address) - 1
        return re.sub(r"\(.*", "", self.names[at]) if at >= 0 else "?"

    @classmethod
    def of(cls, path):
        if path not in cls.files:
            cls.files[path] = cls(path)
        return cls.files[path]


class Profile:
    """What sampling_dump prints."""

    def __init__(self, text):
        self.modules, self.stacks, self.contexts, self.samples = [], {}, [], []
        for line in text.splitlines():
            kind, *words = line.split(" ")
            if kind == "head":
                self.is_there, self.is_active, self.interval, self.missed = map(int, words)
            elif kind == "lost":
                self.lost = [int(word) for word in words]
            elif kind == "module":
                begin, end, offset = (int(word, 16) for word in words[:3])
                self.modules.append({"begin": begin, "end": end, "offset": offset,
                                     "loaded": int(words[3]), "gone": int(words[4]),
                                     "build_id": words[5].rstrip("-"),
                                     "path": " ".join(words[6:])})
            elif kind == "stack":
                self.stacks[int(words[0])] = {"is_cut": bool(int(words[1])), "made": int(words[2]),
                                              "frames": [int(word, 16) for word in words[3:]]}
            elif kind == "context":
                names = " ".join(words[9:]).split("'")
                self.contexts.append({"stack": int(words[1]), "thread_id": int(words[3]),
                                      "samples": int(words[5]), "objects": float(words[6]),
                                      "bytes": float(words[7]), "unwound": int(words[8]),
                                      "thread": names[1], "user": names[3], "live": 0,
                                      "live_bytes": 0})
            elif kind == "sample":
                context = self.contexts[int(words[0])]
                context["live"] += 1
                context["live_bytes"] += int(words[1])
                self.samples.append(words)

    def name(self, address, made):
        """The function at an address when a stack was made."""
        for module in self.modules:
            if module["begin"] < address <= module["end"] and module["loaded"] <= made and \
                    (not module["gone"] or made < module["gone"]):
                path = module["path"]
                if "libc.so" in path or "libpfs" in path:
                    return "<" + os.path.basename(path) + ">"
                return Symbols.of(path).name(address - 1 - module["begin"])
        return "?"

    def names(self, number):
        stack = self.stacks[number]
        return tuple(self.name(frame, stack["made"]) for frame in stack["frames"])

    def named(self):
        """{names of a stack: [samples ever, live ones, their bytes]}"""
        found = {}
        for context in self.contexts:
            sums = found.setdefault(self.names(context["stack"]), [0, 0, 0])
            sums[0] += context["samples"]
            sums[1] += context["live"]
            sums[2] += context["live_bytes"]
        return found


class Place(places.Place):
    """With the program, its plugins and what dumps a box's profile."""

    def __init__(self, tool, dump, program, *plugins):
        super().__init__(tool)
        self.dump, self.program, self.plugins = dump, program, plugins

    def start(self, *words, lg=1, options=(), more=None):
        return super().start(self.program, *words, options=("--lg-prof-sample", str(lg), *options),
                             more=more)

    def profile(self, target):
        return Profile(self.call([self.dump, str(target)]).stdout)

    def check(self, target):
        self.run("check", str(target))


def said(program):
    """The program waits: (process id, blocks that it keeps)."""
    words = program.stdout.readline().split()
    return int(words[1]), int(words[2])


def go_on(program):
    program.stdin.write("x")
    program.stdin.flush()


def end(program):
    program.stdin.close()
    program.stdout.read()
    equal(program.wait(timeout=60), 0, "exit status")


def at_end(names):
    """A main thread's stack ends so."""
    return names + ("main", "<libc.so.6>", "<libc.so.6>", "_start")


def check_stacks(place, part, wanted, per_round=200):
    """Those that begin so are the ones that are wanted, complete, each so many times a round."""
    program = place.start(part)
    pid, _ = said(program)
    profile = place.profile(pid)
    named = profile.named()
    for names, count in wanted.items():
        expect(names in named, f"no stack {names}")
        if names in named:
            equal(named[names][0], count * per_round, f"samples ever of {names}")
    firsts = {names[0] for names in wanted}
    for names in named:
        expect(names[0] not in firsts or names in wanted, f"a stack that is none: {names}")
    equal(profile.lost, [0, 0, 0, 0, 0], "lost")
    place.check(pid)
    end(program)


def plain(place):
    check_stacks(place, "plain", {
        at_end(("leaf", "middle", "middle", "middle", "part_plain")): 1,
        # calloc, malloc, realloc, aligned_alloc: from four places
        at_end(("other_leaf", "part_plain")): 4})


def sort(place):
    libc = "<libc.so.6>"
    program = place.start("sort")
    pid, _ = said(program)
    named = place.profile(pid).named()
    sorts = {names: sums for names, sums in named.items() if names[0] == "compare"}
    expect(sorts, "no stack of the comparison")
    for names in sorts:
        frames = [name for name in names if name != libc]
        equal(frames, ["compare", "sort_some", "part_sort", "main", "_start"], "the program's")
        expect(names[1] == libc, f"no frame of the library in {names}")
    equal(sum(sums[0] for sums in sorts.values()) % 200, 0, "as many each round")
    end(program)


def cxx(place):
    program = place.start("cxx")
    pid, _ = said(program)
    named = place.profile(pid).named()
    calls = {names: sums for names, sums in named.items() if names[0] == "called_back"}
    makes = {names: sums for names, sums in named.items() if names[0] == "cxx_room::Maker::make"}
    equal(sum(sums[0] for sums in calls.values()), 200, "samples in the call back")
    equal(sum(sums[0] for sums in makes.values()), 200, "samples of operator new")
    for names in calls:
        expect("cxx_room::visit" in names and names[-5:-3] == ("part_cxx", "main"),
               f"the call back's stack: {names}")
    for names in makes:
        equal(names, at_end(("cxx_room::Maker::make", "program_cxx", "part_cxx")), "stack")
    end(program)


def threads(place):
    """Four of them allocate, a fifth frees: each sample goes, each context stays."""
    program = place.start("threads")
    pid, kept = said(program)
    profile = place.profile(pid)
    wanted = ("in_thread", "thread_main", "<libc.so.6>", "<libc.so.6>")
    named = profile.named()
    equal(named.get(wanted), [kept, kept, 2000 * kept], "samples of threads")
    ids = {context["thread_id"] for context in profile.contexts
           if profile.names(context["stack"])[0] == "in_thread"}
    equal(len(ids), 4, "lives with samples")
    go_on(program)
    said(program)
    named = place.profile(pid).named()
    equal(named.get(wanted), [kept, 0, 0], "samples of threads, freed by another")
    place.check(pid)
    end(program)


def deep(place):
    program = place.start("deep")
    pid, _ = said(program)
    profile = place.profile(pid)
    found = [number for number in profile.stacks if profile.names(number)[0] == "deep"]
    equal(len(found), 1, "stacks")
    for number in found:
        expect(profile.stacks[number]["is_cut"], "the stack is cut")
        equal(profile.names(number), ("deep",) * 126, "names")
    lines = [line for line in place.run("pprof", str(pid), "--symbolized", "--format",
                                        "collapsed").stdout.splitlines() if "deep;deep" in line]
    equal([line.split(" ")[0] for line in lines], [";".join(["[cut]"] + ["deep"] * 126)],
          "collapsed")
    for words in (("flame", str(pid)), ("pprof", str(pid), "--symbolized")):
        expect("[cut]" in place.run(*words).stdout, f"{words[0]}: no frame says that it is cut")
    end(program)


def plugins(place):
    """Each is named while it is there, and is known as gone after."""
    program = place.start("plugins", *place.plugins, options=("--tick-ms", "50"))
    for number, path in enumerate(place.plugins):
        pid, kept = said(program)
        profile = place.profile(pid)
        wanted = at_end((f"plugin_{number}", "plugin", "part_plugins"))
        equal(profile.named().get(wanted), [200, 200, 120000], f"stack of plugin {number}")
        there = [module for module in profile.modules if module["path"] == path]
        equal([bool(module["gone"]) for module in there], [False], f"module {path}")
        equal(there and there[0]["build_id"], build_id(path), "build id")
        equal(kept, 200 * (number + 1), "kept")
        go_on(program)
    said(program)
    profile = place.profile(pid)
    gone = [module["path"] for module in profile.modules if module["gone"]]
    expect(set(gone) >= set(place.plugins[:-1]), f"gone: {gone}")
    equal(sum(1 for module in profile.modules if "plugin" in module["path"]), len(place.plugins),
          "plugins ever")
    end(program)


def killed(place):
    """A box of a program that was killed has its profile; as often as chance has it."""
    program = place.start("plain", lg=12)
    pid, _ = said(program)
    program.send_signal(signal.SIGKILL)
    program.wait(timeout=60)
    profile = place.profile(pid)
    equal((profile.is_there, profile.interval), (1, 4096), "interval")
    wanted = at_end(("leaf", "middle", "middle", "middle", "part_plain"))
    objects = sum(context["objects"] for context in profile.contexts
                  if profile.names(context["stack"]) == wanted)
    # 200 blocks of 1000 bytes: a sample in 4.6; five standard deviations are 135.
    expect(65 < objects < 335, f"{objects} objects, not about 200")


def off(place):
    """Without a profile there is none; exact accounts stay."""
    program = place.start("plain", options=("--no-profile",))
    pid, _ = said(program)
    profile = place.profile(pid)
    equal((profile.is_there, len(profile.contexts), len(profile.samples)), (0, 0, 0), "nothing")
    place.check(pid)
    end(program)
    program = place.start("plain", options=("--rule", "freer"))
    pid, _ = said(program)
    equal(place.profile(pid).is_there, 0, "a profile with the rule freer")
    end(program)


def share_of(profile):
    """The part of all samples whose stack was walked."""
    samples = sum(context["samples"] for context in profile.contexts)
    return 1 - sum(context["unwound"] for context in profile.contexts) / max(samples, 1)


WORKERS = ("in_array", "in_alloca", "in_aligned", "in_both", "in_plain")


def workers(place):
    """Two routines share workers: each has its own stacks, and nearly all are walked."""
    for path in (place.program, *place.plugins):
        place.program = path
        program = place.start()
        pid, rounds = said(program)
        profile = place.profile(pid)
        # gcc names a clone name.constprop.0
        named = {tuple(re.sub(r"^(\w+)\..*", r"\1", name) for name in names): sums
                 for names, sums in profile.named().items()}
        for routine in ("indexer", "session"):
            for worker in WORKERS:
                found = {names: sums for names, sums in named.items()
                         if names[0] == "leaf" and worker in names and routine in names}
                # malloc and realloc: two stacks that end in leaf
                wanted = ("leaf", worker, routine, "<libc.so.6>", "<libc.so.6>")
                equal(set(found), {wanted}, f"{path}: stacks of {worker} in {routine}")
                equal(sum(sums[0] for sums in found.values()), 2 * rounds,
                      f"{path}: samples of {worker} in {routine}")
                equal(sum(sums[1] for sums in found.values()), rounds, f"{path}: in use")
        strangers = [names for names in named if names[0] == "leaf" and
                     len(set(names) & {"indexer", "session"}) != 1]
        equal(strangers, [], f"{path}: stacks of no routine, or of both")
        share = share_of(profile)
        expect(share >= 0.95, f"{path}: {share:.1%} of the stacks were walked")
        place.check(pid)
        end(program)


def share(place):
    """A C++ program, in which functions with frame pointers and without alternate."""
    program = place.start(lg=8)
    pid, _ = said(program)
    profile = place.profile(pid)
    walked = share_of(profile)
    expect(walked >= 0.95, f"{walked:.1%} of the stacks were walked")
    firsts = {names[0] for names in profile.named()}
    for name in ("by_new", "by_array", "by_aligned", "by_nothrow", "by_realloc", "by_memalign",
                 "by_mallocx", "by_rallocx", "by_xallocx"):
        expect(name in firsts, f"no stack that begins in {name}")
        unwound = sum(context["unwound"] for context in profile.contexts
                      if profile.names(context["stack"])[0] == name)
        samples = sum(context["samples"] for context in profile.contexts
                      if profile.names(context["stack"])[0] == name)
        expect(unwound <= samples * 0.05, f"{unwound} of {samples} stacks of {name} were unwound")
    said_so = place.run("profile", str(pid)).stdout
    expect(f"{100 * walked:.1f} % walked" in said_so, f"pfs-mem profile: {said_so}")
    end(program)


def build_id(path):
    """Of a file, as readelf says; "": it has none."""
    notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True,
                           check=False).stdout
    found = re.search(r"Build ID: ([0-9a-f]+)", notes)
    return found.group(1) if found else ""


def gaps(place):
    """A program with gaps between its segments has names and its build id. When another file is
    there later, it has no names, and a line says why."""
    own, why = place.program, {True: "its build id differs", False: "changed after the program"}
    stays, copy = own, place.path("copy")
    for path in (own, *place.plugins):
        place.program = path
        plain(place)
        shutil.copy(path, copy)
        place.program = copy
        program = place.start("plain")
        pid, _ = said(program)
        there = [module for module in place.profile(pid).modules if module["path"] == copy]
        equal([module["build_id"] for module in there], [build_id(path)], f"{path}: build id")
        program.kill()
        program.wait(timeout=60)
        words = ("pprof", str(pid), "--symbolized", "--format", "collapsed")
        names = place.run(*words).stdout
        expect("part_plain;middle;middle;middle;leaf" in names, f"{path}: {names}")
        os.unlink(copy)
        shutil.copy2(stays if path != stays else place.plugins[0], copy)
        done = place.run(*words)
        lines = [line for line in done.stderr.splitlines() if copy in line and "ignored" in line]
        equal(len(lines), 1, f"{path}: lines about the other file: {done.stderr}")
        expect(why[build_id(path) != ""] in done.stderr, done.stderr)
        expect("part_plain" not in done.stdout and "leaf" not in done.stdout,
               f"{path}: names of another file: {done.stdout}")
        os.unlink(copy)


def starts(place):
    """The main thread's stack is walked from its first sample on, in each start."""
    for _ in range(20):
        program = place.start("plain")
        pid, _ = said(program)
        walked = share_of(place.profile(pid))
        expect(walked >= 0.95, f"{walked:.1%} of the stacks were walked")
        end(program)


PARTS = {part.__name__: part for part in (plain, sort, cxx, threads, deep, plugins, killed, off,
                                          workers, share, starts, gaps)}


if __name__ == "__main__":
    places.main(PARTS, Place(*sys.argv[2:]))
