#!/usr/bin/python3
"""check_test.py - programs of a user, compiled as docs/reference/check.md says, and what
pfs-check must say.

usage: check_test.py PFS_CHECK COMPILER   (gcc, clang, g++ or clang++)
Exit 77: no such compiler.
"""

import json
import os
import platform
import re
import shutil
import sys
import tempfile

from given import FINE, RACE, Given
from programs import EXAMPLE, PROGRAMS, equal, expect, finish, skip

REFUSED = "cannot be checked: "

# What a scenario says, by program; a scenario that is not here must be fine.
THREADS = {
    "no_join": r"found: data race on counter: thread 0 reads at start_and_look \(threads\.c:\d+\); "
               r"thread 1 writes at count \(threads\.c:\d+\)",
    "crosswise": r"found: deadlock: thread 0 waits forever for pthread_mutex_lock "
                 r"\(threads\.c:\d+\) of other, which thread 1 holds; thread 1 waits forever for "
                 r"pthread_mutex_lock \(threads\.c:\d+\) of one, which thread 0 holds\n",
    "one_of_two_told": r"found: deadlock: thread \d waits forever for pthread_cond_wait "
                       r"\(threads\.c:\d+\) of ready\n",
    "awaits_once": r"found: assertion is_ready .*\nby itself: number 0 of thread 0",
    "weak": r"found: assertion atomic_compare_exchange_weak",
    "plain_spin": r"found: thread 0 reaches no atomic access after its plain ones: .* "
                  r"\(threads\.c:\d+\)",
}
BLOCKS = {
    "looked_at": r"found: (use after free|data race on block): .*\(blocks\.c:\d+\)",
    "late": r"found: use after free: write at use_late \(blocks\.c:\d+\) of a block that was freed "
            r"at use_late \(blocks\.c:\d+\), allocated at use_late \(blocks\.c:\d+\)",
    "twice": r"found: double free: at free_both \(blocks\.c:\d+\)",
    "lost": r"found: leak: nothing points to 16 bytes that were allocated at put \(blocks\.c:",
    "beyond": r"found: out of bounds: write of 1 bytes at overrun \(blocks\.c:\d+\)",
}
C11 = {
    "keys_lost": r"found: leak: nothing points to 4 bytes that were allocated at keep_own \(thr",
}
LOCKS = {
    "rwlock_upgrade": r"found: deadlock: thread 0 waits forever for pthread_rwlock_wrlock "
                      r"\(locks\.c:\d+\) of rwlock, which thread [01] holds",
    "rwlock_not_had": r"found: thread 0 unlocks a reader-writer lock that it does not hold, at "
                      r"unlock_alone \(locks\.c:\d+\)",
    "semaphores_stuck": r"found: deadlock: thread 0 waits forever for sem_wait \(locks\.c:\d+\) of "
                        r"rooms; thread 1 waits forever for sem_wait \(locks\.c:\d+\) of items\n",
    "barrier_of_three": r"found: deadlock: thread 0 waits forever for pthread_barrier_wait "
                        r"\(locks\.c:\d+\) of barrier; thread 1 ",
    "no_limit": r"found: deadlock: thread 0 waits forever for pthread_mutex_lock "
                r"\(locks\.c:\d+\) of mutex, which thread 1 holds; thread 1 waits forever for "
                r"pthread_rwlock_rdlock \(locks\.c:\d+\) of rwlock, which thread 0 holds\n",
}
NO_END = "found: deadlock: thread {} waits forever for {} .*"
FUTEX = {
    "mutex_untold": NO_END.format(r"\d", "a futex"),
    "one_too_few": NO_END.format(r"\d", "a futex"),
    "told_early": NO_END.format(0, "a futex"),
    "other_bits": NO_END.format(1, "a futex"),
    "other_system_call": REFUSED + r"system call \d+ at other_call \(futex\.c:\d+\) is not "
                         r"modelled",
}
WAITS = {
    "untold": NO_END.format(0, "std::atomic::wait"),
    "one_too_few": NO_END.format(r"\d", "std::atomic::wait"),
    "semaphore_missing": NO_END.format(0, "std::atomic::wait"),
    "semaphore_shared": NO_END.format(r"\d", "std::atomic::wait"),
    "latch_of_three": NO_END.format(0, "std::atomic::wait"),
    "told_by_release": {"sc": FINE},
    "latch": {"sc": FINE, "tso": FINE},
}
LOOPS = {
    "yield_once_fails": "found: assertion .*it is still busy",
    "try_twice_fails": "found: data race on counter: ",
    "adaptive_untold": NO_END.format(1, "a futex"),
    "looks_often_untold": NO_END.format(1, "sem_wait"),
    "wrong_waiter": NO_END.format(1, "pthread_cond_wait"),
    "woken_in_vain": NO_END.format(r"\d", "pthread_cond_wait"),
    "waits_for_nothing": r"found: livelock: thread 0 calls its loop \(loops\.c:\d+\) forever",
}
M = r" \(misuse\.c:\d+\)"
MISUSE = {
    "fails_mutex": rf"found: pthread_mutex_lock: the mutex mutex is used at locks_late{M}, after "
                   rf"it was destroyed at destroys{M}",
    "fails_condition": "found: pthread_cond_signal: the condition variable condition is used .*, a",
    "fails_rwlock": "found: pthread_rwlock_wrlock: the reader-writer lock rwlock is used .*, after",
    "fails_spin": "found: pthread_spin_lock: the spin lock is used .*, after it was destroyed",
    "fails_barrier": "found: pthread_barrier_wait: the barrier barrier is used .*, after it w",
    "fails_new_barrier": "found: pthread_barrier_wait: the barrier barrier .*, but was not ini",
    "fails_new_semaphore": "found: sem_post: the semaphore semaphore is used .*, but was not initi",
    "fails_new_mutex": r"found: pthread_mutex_lock: the mutex block 0\+0 is used .*, but was not",
    "fails_twice": rf"found: pthread_mutex_init: the mutex mutex is initialized at fails_twice_body"
                   rf"{M}, but was already initialized at fails_twice_body{M} and not destroyed",
    "fails_join": rf"found: pthread_join: thread 1 is detached, so it cannot be joined at .*{M}",
    "fails_join_created": "found: pthread_join: thread 1 is detached",
    "fails_detach": "found: pthread_detach: thread 1 was already joined",
    "fails_read_twice": "found: pthread_rwlock_rdlock: thread 0 holds a read lock already, .* if a",
    "fails_returned": rf"found: use after return: read at reads_returned{M} of a variable of a "
                      "function of thread 0 that has returned",
    "fails_scenarios_own": rf"found: use after return: write at sets{M} of a variable of the "
                           "scenario's function that has returned",
}
TWICE = {"reads_twice": "found: pthread_rwlock_rdlock: thread 0 holds a read lock already, and "
                        "takes another at .*: a std::shared_mutex does not allow that"}
CHOSEN = {
    "four": FINE + r"\n  4 outcomes, .*\n +\d+  0 0\n +1  1 0\n +1  2 0\n +1  3 0\n",
    "six": FINE + r"\n  6 outcomes, .*\n( +1  [01] [0-2]\n){6}$",
    "one_of_four": FINE + r"\n  \d+ of these executions do not count: .*\n"
                   r"  1 outcomes, .*\n +1  3 0\n$",
    "three_of_four": FINE + r"\n  \d+ of these executions do not count: ",
    "none_left": r"(\d+) executions .* no execution ended that counts, so nothing is known\n  \1 o",
    "too_many_values": REFUSED + r"pfs_check_choose\(17\) at too_many \(chosen\.c:\d+\): choose",
    "too_many_late": REFUSED + r"pfs_check_choose\(17\) at chooses_late \(chosen\.c:\d+\): ch",
    "second_value_fails": r"found: assertion atomic_load\(&shared\) != 2",
    "beside_fails": r"found: assertion atomic_load\(&shared\) != 2",
}
OWN = r" \(messages\.cc:\d+\)"
MESSAGES = {
    "alike": r"found: data race on box<\.\.>::content: thread \d writes at void fill<\.\.>\(\.\.\)"
             rf"{OWN}; thread \d writes at void fill<\.\.>\(\.\.\)#2{OWN}; ",
    "accounts": rf"found: deadlock: thread 0 waits forever for pthread_mutex_lock{OWN} of block 0"
                r"\+8 \(allocated at messages\.cc:\d+\), which thread 1 holds; thread 1 .* 1\+8",
    "on_stack": rf"found: deadlock: thread 0 .*{OWN} of locals\(void\*\)\+(\d+) on T0's stack, "
                r"which thread 1 holds; .* of locals\(void\*\)\+(?!\1 )\d+ on T0's stack, which t",
    "uncaught": rf"found: std::terminate was called: nothing catches what raise\(\){OWN} throws",
    "not_joined": r"found: thread 0: std::terminate was called, perhaps by the destructor of a "
                  r"std::thread that was not joined, after its operation at messages\.cc:",
}
AFTER = r", after its operation at ends\.c:\d+"
ENDS = {
    "into_nowhere": "found: thread 0: plain access to a bad address" + AFTER,
    "loads_nowhere": "found: thread 0: plain access to a bad address" + AFTER,
    "trap": "found: thread 0: a trap, or an illegal instruction" + AFTER,
    "shows_values": "found: thread 0: a trap, or an illegal instruction" + AFTER,
    "begins_nowhere": "found: thread 1: plain access to a bad address, before its first operation",
    "division": "found: thread 0: an arithmetic fault, such as a division by zero" + AFTER,
    "turns": r"found: thread 0 reaches no atomic access after its plain ones",
    "turns_without_access": r"found: thread 0: it reaches no further operation .*" + AFTER,
    "deep": "found: thread 0: stack overflow",
    "frees_global": r"found: free at frees_global_body \(ends\.c:\d+\) of flag, which malloc",
    "frees_inside": r"found: free at frees_inside_body \(ends\.c:\d+\) of a pointer that",
    "unseen_behind": r"found: out of bounds: byte 0 after a block of 8 bytes was written by code",
    "unseen_behind_kept": r"found: out of bounds: byte 15 after a block of 8 bytes was written",
    "unseen_after_free": r"found: use after free: byte 7 of a block was written by .* after it "
                         r"was freed at unseen_after_free_body \(ends\.c:\d+\)",
}
NO_ORDER = r"found: not linearizable: no order of the \d calls gives their results"
CALLS = {
    "torn_fails": NO_ORDER, "apart_fails": NO_ORDER, "none_fails": NO_ORDER,
    "inserted_fails": NO_ORDER,
    "unsaid_misused": "cannot be checked: a call without a specification: ",
    "nested_misused": REFUSED + "call of INSERT inside a call of HAS, which has not returned: ",
    "many_misused": "cannot be checked: more than 64 calls of a specification in one execution",
    "large_misused": REFUSED + "pfs_check_specification: the state has 4097 bytes, the most",
}


def rising(lows, highs):
    """All sequences of numbers, none less than the one before it, between these."""
    found = [()]
    for low, high in zip(lows, highs):
        found = [one + (value,) for one in found
                 for value in range(max(low, *one[-1:]) if one else low, high + 1)]
    return found


def reads_of_ring(items):
    """What both threads of a ring of two can read, as ring_reads of loops.c prints it: each reads
    its index's values in their order; an item is taken after it was put."""
    every = range(items)
    for heads in rising([max(0, at - 1) for at in every], every):
        for tails in rising([at + 1 for at in every], [items] * items):
            if all(heads[at] == 0 or tails[heads[at] - 1] <= at for at in every):
                yield "".join(map(str, heads)) + " " + "".join(map(str, tails))


class Test(Given):
    """One compiler."""

    def scenarios(self, program, said, *options):
        """Each scenario of a program; fails says which must, and how."""
        listed = self.run(program, "--list")
        self.expect(f"{program} --list", listed, 0, r"\w")
        for name in listed.stdout.split():
            pattern = said.get(name, r": data race|assertion" if name.endswith("_fails") else FINE)
            self.expect(f"{program} {name}",
                        self.run(program, "--scenario", name, "--quiet", *options),
                        0 if "no violation" in pattern or pattern.startswith(FINE) else
                        1 if "found: " in pattern or name.endswith("_fails") else 2, pattern)

    def waits(self, program, said):
        """The same with each memory, for which a scenario may say other things."""
        for memory in ("sc", "tso", "views"):
            now = {name: words if isinstance(words, str)
                   else words.get(memory, NO_END.format(r"\d", "std::atomic::wait"))
                   for name, words in said.items()}
            self.scenarios(program, now, "--memory", memory)

    def volatile(self, source):
        """Volatile accesses as relaxed atomics, as pfs-check compiles them; and saved."""
        variable = "CXX" if self.compiler.endswith("++") else "CC"
        os.environ[variable] = self.compiler
        found = {"fails_without": "found: data race on data",
                 "fails_adds": "found: assertion other == 2"}
        for memory, both_0 in (("sc", ""), ("tso", " +1  0 0\n"), ("views", " +1  0 0\n")):
            done = self.run(source, "--volatile", "--quiet", "--memory", memory)
            self.expect(f"volatile {memory}", done, 1, rf"outcomes, .*\n{both_0} +\d+  0 1\n")
            for name in ("fences", "loop"):
                self.expect(f"volatile {memory}", done, 1, rf"(?m)^{name} {memory} .*{FINE}$")
            for name, said in found.items():
                self.expect(f"volatile {memory}", done, 1, rf"(?m)^{name} .*FAILED\n{said}")
        self.expect("no --volatile", self.run(source, "--scenario", "fences"), 1, "race on flag")
        saved = self.path("volatile")
        options = ("--scenario", "fails_adds", "--volatile")
        program = self.build(source, *(("-mllvm", "-tsan-distinguish-volatile=1")
                                       if self.compiler == "clang"
                                       else ("--param=tsan-distinguish-volatile=1",)))
        self.expect("volatile, saved", self.run(program, *options, "--save", saved), 1, "assertion")
        self.expect("volatile, again", self.run(program, "--schedule", saved), 1,
                    "fails_adds: assertion other == 2")
        self.expect("not told apart", self.run(self.build(source), *options), 1,
                    "compiled without --param=tsan-distinguish-volatile=1")
        del os.environ[variable]

    def misuse(self, program):
        """Right uses, and wrong ones; and what an option finds, again from a saved schedule."""
        self.scenarios(program, MISUSE)
        saved, unwritten = self.path("unwritten"), ("--scenario", "unwritten", "--uninitialized")
        pattern = rf"uninitialized read: of 8 bytes at unwritten_body{M}, in a block that was alloc"
        self.expect("unwritten", self.run(program, *unwritten, "--save", saved), 1,
                    "found: " + pattern)
        self.expect("unwritten, again", self.run(program, "--schedule", saved), 1, pattern)

    def wide(self, source):
        """Atomics of 16 bytes, which clang makes calls of with -mcx16 alone."""
        if platform.machine() != "x86_64":
            return
        program = self.build(source, "-mcx16")
        for memory in ("sc", "tso"):
            self.scenarios(program, {}, "--memory", memory)
        self.expect("16 bytes", self.run(program, "--scenario", "adds"), 2,
                    REFUSED + r"an atomic access of 16 bytes at add \(wide\.c:\d+\): --memory v")
        program = self.build(source, "-mcx16", "-DTAG=0")
        self.expect("no tag", self.run(program, "--scenario", "stack", "--memory", "sc"), 1,
                    r"found: assertion now\.head")
        if self.compiler == "clang":
            self.expect("libatomic", self.run(self.build(source)), 2, r"calls __atomic_\w+_16, ")

    def ring(self, source, relaxed):
        """The first success: the race with file and line, then all executions."""
        program = self.build(source, f"-DPUBLISH={relaxed}")
        for memory in ("sc", "tso", "views"):
            self.expect(f"{source} relaxed {memory}", self.run(program, "--memory", memory), 1,
                        RACE)
        saved = self.path("saved")
        self.expect("--save", self.run(program, "--save", saved), 1, r"schedule: \d+x\d+")
        self.expect("--schedule", self.run(program, "--schedule", saved), 1,
                    r"step \| T0 .*\n(.*\n)*ring: data race on ")
        program = self.build(source, f"-DPUBLISH={relaxed.replace('relaxed', 'release')}")
        for memory in ("sc", "tso", "views"):
            self.expect(f"{source} {memory}", self.run(program, "--memory", memory), 0, FINE)
        self.expect("--preemptions", self.run(program, "--preemptions", "1"), 0,
                    "every schedule of up to 1 preemptions: no violation")
        self.expect("--executions", self.run(program, "--executions", "3"), 0,
                    r"not all there are: no violation\n(  .*\n)*  stopped after 3 exec")
        self.expect("--steps", self.run(program, "--steps", "16"), 0,
                    r"not all there are: no violation\n(  .*\n)*.* had more than --steps")
        self.expect("mended", self.run(program, "--schedule", saved), 0, r"step \| T0")

    def loops(self, source):
        """Yields, and loops that wait, give up or count."""
        cut = r"not all there are: no violation\n(  .*\n)*  a loop was cut after \d+ iterations " \
              r"that only read and count \(--looks\), at loops\.c:\d+\n"
        program = self.build(source)
        for memory in ("sc", "tso", "views"):
            self.scenarios(program, LOOPS | {"looks_often": cut, "backs_off": cut},
                           "--memory", memory, "--spurious", "0")
        self.scenarios(self.build(os.path.join(PROGRAMS, "counts.c"), name="counts"),
                       {"frees_undestroyed_fails": "found: use after free: ",
                        "waits_beside_end_fails": "found: data race",
                        "ends_beside_wait_fails": "found: (data race|pthread_barrier_wait)"})
        self.scenarios(self.build(source, "-DNO_TRIALS", "-O0", name="plain"),
                       LOOPS | {"looks_often": cut, "backs_off": cut}, "--spurious", "0")
        sections = self.build(source, "-DSECTIONS", name="sections")
        self.expect("sections", self.run(sections, "--steps", "200", "--scenario",
                                         "sees_sections_fails"), 1, "found: assertion !\"held th")
        done = self.run(program, "--scenario", "four_loads")
        equal(re.findall(r"^ +\d+  (\d) (\d)$", done.stdout, re.MULTILINE),
              [("0", str(n)) for n in range(5)] + [("1", "0")], "outcomes of four loads")
        for memory in ("sc", "tso", "views"):
            done = self.run(program, "--scenario", "ring_reads", "--memory", memory)
            equal(re.findall(r"^ +\d+  (\d{4} \d{4})$", done.stdout, re.MULTILINE),
                  sorted(reads_of_ring(4)), f"what a ring's threads read, {memory}")
        # A bound is said by all: the text, the data, and what COMPLETE looks at.
        self.run(program, "--scenario", "looks_often", "--json", self.path("data"))
        with open(self.path("data"), encoding="utf-8") as file:
            search, = json.load(file)["scenarios"]
        reason, = search["reasons"]
        equal((search["complete"], search["extent"], reason["option"], reason["file"],
               reason["line"] > 0), (False, "not all there are", "looks", source, True),
              "json of what was cut")
        self.expect("--looks", self.run(program, "--scenario", "looks_often", "--looks", "20000",
                                        "--executions", "9"), 0, "not all there are")
        # Hundreds of thousands, if each iteration in vain counted.
        for name, most in (("sense", 6), ("two_swaps", 3)):
            found = re.search(r": (\d+) executions \((\d+) repeated",
                              self.run(program, "--scenario", name, "--spurious", "0").stdout)
            classes = int(found.group(1)) - int(found.group(2))
            expect(0 < classes <= most, f"{name} has {classes} classes, more than {most}")

    def calls(self, program):
        """Structures against their specifications, with each memory."""
        self.scenarios(program, CALLS)
        self.scenarios(program, CALLS, "--memory", "sc")
        # Both stores are in buffers yet: neither call has ended.
        self.scenarios(program, CALLS | {"buffering": NO_ORDER}, "--memory", "tso")
        known = ("--calls", "known", "--scenario")
        self.expect("buffering, known", self.run(program, *known, "buffering"), 1, NO_ORDER)
        self.expect("told, known", self.run(program, *known, "told"), 0, FINE)
        self.expect("none, known", self.run(program, *known, "none_fails"), 0, FINE)
        self.expect("torn", self.run(program, "--scenario", "torn_fails", "--memory", "sc"), 1,
                    r"\] READ = .*\n(.*\n)*calls, by time:\n  T. +\|-+\| +\S.*\n(  T.*\n){2}"
                    r"the longest order that gives their results: (none|WRITE|READ).*\n"
                    r"  behind it READ\(0\) = \d+ would have to be \d+\n")
        saved = self.path("calls")
        self.expect("--save", self.run(program, *known, "buffering", "--save", saved), 1, NO_ORDER)
        self.expect("--schedule", self.run(program, "--schedule", saved), 1,
                    r"calls, by time; a call follows only calls")
        self.expect("--calls x", self.run(program, "--calls", "x"), 2, "no such order of calls")
        self.expect("sc, known", self.run(program, *known, "set", "--memory", "sc"), 2, "views")


def main():
    pfs_check, compiler = sys.argv[1:3]
    if shutil.which(compiler) is None:
        skip(f"no {compiler}")
    with tempfile.TemporaryDirectory() as folder:
        test = Test(pfs_check, compiler, folder)
        if compiler.endswith("++"):
            test.ring(os.path.join(PROGRAMS, "ring.cc"), "std::memory_order_relaxed")
            test.sources(os.path.join(PROGRAMS, "ring.cc"), "std::memory_order_relaxed")
            test.scenarios(test.build(os.path.join(PROGRAMS, "modern.cc")), {})
            for name in ("locks.cc", "locals.cc"):
                test.scenarios(test.build(os.path.join(PROGRAMS, name), "-std=c++17"), TWICE)
            test.scenarios(test.build(os.path.join(PROGRAMS, "kinds.cc"), "-std=c++20"), {})
            test.scenarios(test.build(os.path.join(PROGRAMS, "messages.cc")), MESSAGES)
            test.waits(test.build(os.path.join(PROGRAMS, "waits.cc"), "-std=c++20"), WAITS)
            test.expect("no lines", test.run(test.build(os.path.join(PROGRAMS, "waits.cc"),
                                                        "-std=c++20", "-g0")), 2, "with -g\n$")
            test.random_device()
        else:
            test.ring(os.path.join(EXAMPLE, "ring.c"), "memory_order_relaxed")
            test.sources(os.path.join(EXAMPLE, "ring.c"), "memory_order_relaxed")
            said = dict(THREADS)
            if compiler == "clang":
                del said["weak"]  # it says of none that it is weak
            test.scenarios(test.build(os.path.join(PROGRAMS, "threads.c")), said)
            test.scenarios(test.build(os.path.join(PROGRAMS, "main.c")), {})
            program = test.build(os.path.join(PROGRAMS, "spin.c"))
            for memory in ("sc", "tso", "views"):
                test.scenarios(program, {}, "--memory", memory)
            test.loops(os.path.join(PROGRAMS, "loops.c"))
            test.scenarios(test.build(os.path.join(PROGRAMS, "locks.c")), LOCKS)
            test.scenarios(test.build(os.path.join(PROGRAMS, "threads_c11.c")), C11)
            test.wide(os.path.join(PROGRAMS, "wide.c"))
            program = test.build(os.path.join(PROGRAMS, "sizes.c"))
            test.scenarios(program, {}, "--memory", "sc")
            for memory in ("tso", "views"):
                test.scenarios(program, {
                    "overlap": REFUSED + r"atomic accesses of \d bytes at whole "
                                         r"\(sizes\.c:\d+\) and of \d to one place"},
                    "--memory", memory)
            test.waits(test.build(os.path.join(PROGRAMS, "futex.c")), FUTEX)
            test.scenarios(test.build(os.path.join(PROGRAMS, "blocks.c")), BLOCKS)
            test.scenarios(test.build(os.path.join(PROGRAMS, "written.c")), {})
            test.volatile(os.path.join(PROGRAMS, "volatile.c"))
            test.misuse(test.build(os.path.join(PROGRAMS, "misuse.c")))
            program = test.build(os.path.join(PROGRAMS, "chosen.c"))
            for memory in ("sc", "tso", "views"):
                test.scenarios(program, CHOSEN, "--memory", memory)
            test.scenarios(test.build(os.path.join(PROGRAMS, "ends.c")), ENDS, "--patience", "0.2")
            peer = os.path.join(os.path.dirname(PROGRAMS), "gallery", "peers", "lastzero.c")
            test.expect("--search optimal", test.run(test.build(peer, "-DN=10"), "--memory", "sc",
                        "--search", "optimal"), 0, r" 3328 executions \(0 repeated.*all there are")
            fences = test.build(os.path.join(PROGRAMS, "fences.c"))
            test.scenarios(fences, {})
            test.expect("own_store tso", test.run(fences, "--scenario", "own_store", "--memory",
                                                  "tso"), 0, FINE)
            test.calls(test.build(os.path.join(PROGRAMS, "calls.c")))
            test.dropped()
            test.wrong()
            if platform.machine() == "x86_64":
                test.assembly()
    finish()


if __name__ == "__main__":
    main()
