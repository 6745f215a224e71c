#!/usr/bin/python3
"""results_test.py - what pfs-check does with what it found, and with bad input.

usage: results_test.py PFS_CHECK PART
  jobs      several processes find and count what one does; outcomes and what fails by itself, too
  replay    a saved schedule is shortened, and fails again as it did; one that does not fit says so
  data      the result as JSON: the same as the text, and by several processes
  gdb       a saved schedule in gdb: the stacks of all threads, where it fails and where all wait
  progress  a terminal sees how far a search is, a file does not; a bounded search says so
  wrong     damaged schedules and programs, options that exclude each other: one line, exit 2
Exit 0: passed. 1: not. 77: no compiler, or no gdb.
"""

import json
import os
import pty
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from schema import faults_of
from programs import Checked, EXAMPLE, PROGRAMS, TOP, equal, expect, finish, part_of, run, skip

RING = os.path.join(EXAMPLE, "ring.c")  # with its mistake
SCHEMA = json.loads(Path(TOP, "docs", "reference", "check.schema.json").read_text("utf-8"))
MENDED = "-DPUBLISH=memory_order_release"


class Test(Checked):
    """With programs of check/programs/, and the ring."""

    def build(self, name, *flags):
        source = RING if name == "ring" else os.path.join(PROGRAMS, name + ".c")
        return super().build(source, *flags, name=name)

    def saved(self, program, name, *options):
        """A failing schedule of it: the path, and its text."""
        path = self.path(name)
        self.expect(name, self.run(program, "--quiet", "--save", path, *options), 1, "found: ")
        return path, Path(path).read_text("utf-8")

    def jobs(self):
        """One process, then three."""
        program, said = self.build("late"), []
        for jobs in ("1", "3"):
            path = self.path("late" + jobs)
            done = self.run(program, "--jobs", jobs, "--quiet", "--save", path)
            self.expect("late " + jobs, done, 1, "found: assertion")
            said.append((done.stdout, Path(path).read_text("utf-8")))
        equal(said[0], said[1], "by one process, and by three")
        for line in (r"turns .* all there are: no violation\n  3 outcomes",
                     r"backwards_fails .*FAILED", r"swapped .*: no violation\n  with up to 1 spu"):
            self.expect("jobs", done, 1, line)
        counts = re.findall(r"^(?:turns|backwards).*: (\d+) exec", said[0][0], re.MULTILINE)
        expect(len(counts) == 2 and min(int(count) for count in counts) >= 501,
               f"jobs: {counts} executions, done in one part")
        program = self.build("counts")
        for spurious, status, said in (("1", 0, "all there are"), ("2", 1, "found: .*both fail")):
            for jobs in ("1", "2"):
                self.expect(f"--spurious {spurious}", self.run(
                    program, "--scenario", "chance_of_chance", "--spurious", spurious,
                    "--jobs", jobs), status, said)

    def replay(self):
        """Of the ring, with its mistake and without."""
        program = self.build("ring")
        path, text = self.saved(program, "ring.schedule")
        said = r"step \| T0 .*\n(.*\n)*.*ring\.c:\d+\nring: data race on .*\nschedule: 0x9 1x2\n$"
        expect(re.search(r"\n0x9 1x2 \ndata race on ", text),
               f"not shortened, or without its message: {text}")
        self.expect("replay", self.run(program, "--schedule", path), 1, said)
        other = self.path("other", text.replace("0x9 1x2", "0x2 1x1 0x9"))
        self.expect("does not fit", self.run(program, "--schedule", other), 1,
                    "the program did not follow this schedule")
        program = self.build("ring", MENDED)
        self.expect("mended", self.run(program, "--schedule", path), 0,
                    "it did not fail; when it was saved: data race on ")
        self.expect("another program", self.run(self.build("late"), "--schedule", path), 2,
                    "^pfs-check: .*ring.schedule: this program does not have the schedule's "
                    "scenario")
        program = self.build("stepless")
        path, text = self.saved(program, "stepless.schedule")
        expect("\nnone\nassertion told == 1 " in text, f"a schedule without steps: {text}")
        done = self.run(program, "--schedule", path)
        self.expect("no steps", done, 1, r"\nstepless: assertion told == 1 \(.*\)\nschedule:")
        equal(done.stderr, "", "stderr where no line was asked for")

    def json(self, *options):
        """(status, scenarios, the run) of a run that writes a document, as its schema says."""
        path = self.path("result.json", "of an earlier run")
        done = self.run(*options, "--json", path)
        said = json.loads(Path(path).read_text("utf-8"))
        equal(faults_of(said, SCHEMA, SCHEMA), [], f"{options}: faults by the schema")
        equal(said["status"], done.returncode, f"{options}: status")
        equal([f"pfs-check: {line}" for line in said["warnings"]], done.stderr.splitlines(),
              f"{options}: warnings")
        for search in said["scenarios"]:
            expect(search["complete"] or search["finding"] or search["reasons"],
                   f"{options}: not complete, without a reason: {search}")
        return done.returncode, said["scenarios"], done

    def data(self):
        """The same as one document of JSON, by one process and by three."""
        program = super().build(RING, name="ring (1)")
        saved = self.path("saved")
        code, (search,), done = self.json(program, "--save", saved)
        found = search["finding"]
        equal((code, search["verdict"], search["memory"], search["search"], search["complete"],
               found["kind"], found["schedule"], len(found["steps"])),
              (1, "failed", "views", "exhaustive", False, "data race", "0x9 1x2", 11), "json")
        equal([(side["thread"], side["does"], side["function"], side["file"], side["line"] > 0)
               for side in found["sides"]], [(0, "writes", "push", RING, True),
                                             (1, "reads", "pop", RING, True)], "json: sides")
        for line in (f"found: {found['message']}", *found["columns"], "schedule: 0x9 1x2"):
            self.expect("json as text", done, 1, rf"(?m)^{re.escape(line)}$")
        self.expect("--save", self.run(program, "--schedule", saved), 1, "data race on")
        program = self.build("late")
        both = [[{key: value for key, value in search.items() if key != "seconds"}
                 for search in self.json(program, "--jobs", jobs)[1]] for jobs in ("1", "3")]
        equal(both[0], both[1], "json, by one process and by three")
        turns, fails, _ = both[0]
        equal((turns["verdict"], turns["complete"], turns["extent"], turns["finding"]),
              ("no violation", True, "all there are", None), "json: turns")
        expect(sum(outcome["executions"] for outcome in turns["outcomes"]) >= 501, f"{turns}")
        expect(fails["finding"]["kind"] == "assertion" and
               fails["finding"]["sides"][0]["line"] >= 1, f"json: {fails['finding']}")
        _, (search,), _ = self.json(program, "--scenario", "turns", "--executions", "9")
        equal((search["complete"], search["reasons"][0]["option"], search["executions"]),
              (False, "executions", 9), "json, stopped")
        turns = (program, "--scenario", "turns", "--complete")
        self.expect("--complete, cut", self.run(*turns, "--executions", "9"), 2,
                    r"not all there are: no violation\n(.*\n)*  these were not all executions")
        self.expect("--complete", self.run(*turns), 0, "all there are: no violation")
        for more in (["--json", self.folder], ["--json", "x", "--list"],
                     ["--json", "x", "--schedule", saved]):
            self.line(str(more), "--json", program, *more)
        equal(self.json(program, "--scenario", "none")[:2], (2, []), "json, refused")
        reader, writer = os.pipe()
        self.expect("descriptor", self.run(program, "--scenario", "turns", "--json",
                                           f"/dev/fd/{writer}", pass_fds=(writer,)), 0, "no viol")
        os.close(writer)
        with os.fdopen(reader) as file:
            equal(json.load(file)["pfs-check"], 2, "json, by a descriptor")
        self.status()
        self.after()

    def after(self):
        """Failures without a place of their own name the thread's last operation."""
        program = self.build("ends")
        for name, kind in (("into_nowhere", "bad access"), ("trap", "failure"),
                           ("division", "failure")):
            _, (search,), _ = self.json(program, "--scenario", name)
            found = search["finding"]
            equal((found["kind"], [side["does"] for side in found["sides"]]),
                  (kind, ["after"]), name)
        self.expect("values", self.run(program, "--scenario", "shows_values"), 1,
                    r"store tagged 0->0x500000003 .*\n.* store tagged 0x500000003->\.\.fffff ")
        self.expect("a thread's begin", self.run(program, "--scenario", "begins_nowhere"), 1,
                    r"await begin of T1 = 1 \(T0#0\) +\| thread\n")

    def status(self):
        """What cannot be checked is neither right nor wrong; what was left out has a reason."""
        program = self.build("refused")
        listed = self.run(program, "--list").stdout.split()
        expect(len(listed) >= 5, f"scenarios: {listed}")
        for name in listed:
            status, (search,), done = self.json(program, "--scenario", name, "--steps", "100")
            if not name.startswith("bounded_"):
                equal((status, search["verdict"], search["finding"]["kind"]),
                      (2, "not checked", "not checked"), name)
                self.expect(name, done, 2, r"\ncannot be checked: ")
                continue
            reason = search["reasons"][0]
            none = name == "bounded_loop"
            equal((status, search["verdict"], search["extent"]),
                  (2 if none else 0, "none ended" if none else "no violation",
                   "not all there are"), name)
            self.expect(name, done, status, rf"(?m)^  {re.escape(reason['text'])}")
            equal((reason["option"], reason.get("line", 0) > 0),
                  {"bounded_loop": ("steps", True), "bounded_limit": ("spurious", True),
                   "bounded_choices": (None, False)}[name], name)

    def gdb(self):
        """The ring's race, and threads that wait for each other."""
        if shutil.which("gdb") is None or os.uname().machine != "x86_64":
            skip("no gdb for x86-64")
        program = self.build("ring")
        path, _ = self.saved(program, "ring.schedule")
        got = self.run(program, "--schedule", path, "--gdb", input="pfs-bt all\n")
        for said in (r"(?m)^Breakpoint 1, .*pfs_machine_fail",
                     r"(?m)^thread 0: parked before .* in (producer|push) \(ring\.c:\d+\)",
                     r"(?m)^thread 1: runs, at or after .* \(ring\.c:\d+\)",
                     r"(?m)^#\d+ .*producer \(.* at .*ring\.c:\d+", r"#\d+ .*consumer \("):
            self.expect("gdb", got, 0, said)
        stripped = self.path("stripped")
        subprocess.run(["strip", "-o", stripped, self.pfs_check], check=True)
        self.expect("gdb, stripped", run(stripped, program, "--schedule", path, "--gdb"), 2,
                    "^pfs-check: --gdb: this pfs-check is stripped, .*\n$")
        program = self.build("threads")
        path, _ = self.saved(program, "dead.schedule", "--scenario", "crosswise")
        got = self.run(program, "--gdb", "--schedule", path, input="pfs-bt all\n")
        for said in (r"(?m)^Breakpoint 2, .*pfs_check_stopped",
                     r"thread 0: parked before pthread_mutex_lock in \w+ \(threads\.c:\d+\)",
                     r"thread 1: parked before pthread_mutex_lock in \w+ \(threads\.c:\d+\)"):
            self.expect("gdb, deadlock", got, 0, said)

    def progress(self):
        """A terminal as stderr."""
        program = self.build("late")
        search = [program, "--scenario", "swapped", "--search", "random", "--seconds", "1.5"]
        self.expect("no terminal", self.run(*search), 0,
                    r"^swapped views random: .* steps, not all there are: no violation\n")
        ours, theirs = pty.openpty()
        with subprocess.Popen([self.pfs_check, *search], stdout=subprocess.DEVNULL,
                              stderr=theirs) as process:
            process.wait(timeout=100)
        os.close(theirs)
        text = os.read(ours, 65536).decode()
        os.close(ours)
        expect(re.search(r"\rswapped: \d+ executions, \d+ s ", text), f"progress: {text!r}")
        program = self.build("long")
        for scenario in ("accesses", "steps", "set_up"):
            self.expect(f"{scenario} without an end",
                        self.run(program, "--scenario", scenario, "--seconds", "0.2", "--jobs",
                                 "1" if scenario == "accesses" else "2", "--steps", "100000000"), 2,
                        r": ([01]) executions \(0 repeated a class, \1 incomplete\), \d+ steps, "
                        r"not all there are: no execution ended that counts, .*\n"
                        r"  stopped after \d+\.\d s "
                        r"\(--seconds\), in which no execution ended: ")
        program = self.build("late")
        for options, said in ((["--preemptions", "1"], "every schedule of up to 1 preemptions"),
                              (["--executions", "40"], "40 executions .*, not all there are")):
            self.expect(str(options), self.run(program, "--scenario", "turns", *options), 0,
                        said + ": no violation")
        for options, status, said in (
                ([], 0, "all there are: no violation"),
                (["--preemptions", "1"], 0, "every schedule of up to 1 preemptions: no violation"),
                (["--executions", "40"], 2, "these were not all executions, as --complete"),
                (["--search", "pct", "--executions", "40"], 2, "these were not all executions")):
            self.expect(f"complete {options}", self.run(program, "--scenario", "turns",
                                                        "--complete", *options), status, said)

    def wrong(self):
        """Each is one line that names what is wrong."""
        program = self.build("ring")
        path, text = self.saved(program, "ring.schedule")
        head, options, steps, message = text.split("\n")[:4]
        damaged = ["", head + "\n", "hello\n", text[:-3], "\0" * 100, head + "\n" + options,
                   "\n".join((head, options, steps + " and more", message, "")),
                   "\n".join((head, options, "", message, ""))]
        damaged += ["\n".join((head, line, steps, message, "")) for line in (
            "--scenario ring", "--scenario ring --memory weak", options + " --slots 99",
            options + " --fault 99.1", options + " --meets 99.1", options + " --meets 1.0",
            options + " --x", options + " --looks", options + " y.so")]
        for number, content in enumerate(damaged):
            self.line(f"damaged {number}", "not a schedule .* or damaged", program, "--schedule",
                      self.path("damaged", content))
        self.line("no file", "No such file", program, "--schedule", self.path("none"))
        for more, said in ((["--search", "states"], "--search 'states': .* is not for"),
                           (["--search", "dpor", "--preemptions", "1"], "--preemptions"),
                           (["--executions", "3", "--jobs", "2"], "--executions with --jobs"),
                           (["--jobs", "0"], "--jobs '0'"), (["--gdb"], "add --schedule"),
                           (["--schedule", path, "--memory", "sc"], "--memory with --schedule"),
                           (["--schedule", path, "--save", "x"], "--save with --schedule"),
                           (["--schedule", path, "--search", "pct"], "--search with --schedule"),
                           (["--schedule", path, "--complete"], "--complete with --schedule"),
                           (["--schedule", path, "--scenario", "ring"], "--scenario with")):
            self.line(str(more), said, program, *more)
        self.expect("--save /dev/full", self.run(program, "--quiet", "--save", "/dev/full"), 2,
                    r"found: .*\npfs-check: /dev/full: No space left.*\n$")
        for target, said in ((os.path.join(self.path("none"), "x"), "No such file"),
                             (self.folder, "Is a directory")):
            self.line(f"--save {target}", f"{target}: {said}", program, "--save", target)
        few = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (5, 5))}
        self.expect("no descriptors", self.run(program, "--jobs", "1", **few), 1,
                    r"found: data race (.*\n)*pfs-check: addr2line: is needed for source lines, "
                    r"but could not be started: Too many open files\n$")
        mended = self.build("ring", MENDED)
        unsaved = self.path("unsaved")
        self.expect("nothing to save", self.run(mended, "--no-races", "--save", unsaved), 0,
                    r"steps, all there are unless it has a data race, which was not looked for "
                    r"\(--no-races\): no violation\n$")
        expect(not [name for name in os.listdir(self.folder) if name.startswith("unsaved")],
               "an empty file of nothing that was found")
        self.expect("some, no races", self.run(mended, "--no-races", "--executions", "3"), 0,
                    r"not all there are; data races were not looked for \(--no-races\): no viol")
        whole = Path(program).read_bytes()
        for length in (0, 10, 64, 1000, len(whole) // 2, len(whole) - 100):
            self.line(f"{length} bytes of a program", "cut.so: ",
                      self.path("cut.so", whole[:length]))
        self.line("a folder", self.folder, self.folder)

    def line(self, what, said, *options):
        """Exit 2, nothing but one line."""
        done = self.run(*options)
        expect(done.returncode == 2 and not done.stdout and
               re.fullmatch(rf"pfs-check: .*{said}.*\n", done.stderr),
               f"{what}: exit {done.returncode}, expected 2 and {said}:\n{done}")


def main():
    if shutil.which("cc") is None:
        skip("no compiler")
    with tempfile.TemporaryDirectory() as folder:
        test = Test(sys.argv[1], "cc", folder)
        part_of({"jobs": test.jobs, "replay": test.replay, "gdb": test.gdb,
                 "progress": test.progress, "wrong": test.wrong, "data": test.data})()
    finish()


if __name__ == "__main__":
    main()
