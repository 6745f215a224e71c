#!/usr/bin/python3
"""allocators.py - compares allocators as malloc of whole programs: CPU time and memory.

usage: scripts/allocators.py [--long | --quick] [--out DIR] [--only CASE,CASE] [--allocators A,B]
Each case of allocator_cases.py is launched with each allocator preloaded, in rounds, cases and
allocators in random order. Writes allocators.json (every launch's raw numbers) into the result
folder and prints ratios; scripts/report.py draws the chapter "The allocator". scripts/run measures
the short suite. Exit 0: every launch succeeded. 1: some failed. 2: bad usage or no build.
"""

import hashlib
import os
import subprocess
import sys
import tempfile
import threading

import malloc_instructions
from common import commandline, documents
from measuring import allocator_cases, allocator_servers, chapter, malloc_peers
from reporting import allocator_results, instruction_table

LIMIT_S = 300
ESTIMATE_S = {"own": 0.25, "replay": 0.15, "program": 0.35, "server": 2.0}


def plan_of(cases, allocators, rounds, seed):
    """The launches in order. rounds: {group: how many}."""
    names = [one.name for one in allocators]
    return chapter.make_plan(cases, rounds, seed, lambda case: names, "allocator")


def facts_of(text):
    """{name: number} of the lines that a workload or an allocator says of itself."""
    words = [line.split() for line in text.splitlines()]
    return {w[0]: int(w[1]) for w in words if len(w) == 2 and w[1].isdigit()}


class Suite:
    """What all launches share. One launch at a time works; others may idle meanwhile."""

    def __init__(self, folder, runner, inputs, allocators):
        self.folder, self.runner, self.inputs = folder, runner, inputs
        self.libraries = {one.name: one.library for one in allocators}
        self.processes = set()
        self.places = {}  # (case, allocator) -> lock: one server at a time

    @staticmethod
    def environment():
        """The same for all."""
        environment = {**os.environ, "LC_ALL": "C", "PYTHONMALLOC": "malloc"}
        environment.pop("LD_PRELOAD", None)
        return environment

    def start(self, launch, command, **pipes):
        """A process with the launch's allocator in the command; its numbers go to a file."""
        library = self.libraries[launch["allocator"]]
        preload = [f"--preload={library}"] if library else []
        process = subprocess.Popen(
            [self.runner, *preload, f"--out={self.out(launch)}", "--", *command],
            stdin=subprocess.DEVNULL, env=self.environment(), cwd=self.folder, **pipes)
        self.processes.add(process)
        return process

    def slabs(self, case):
        """{name: number} that our allocator says of a program at its end, which is not timed."""
        done = subprocess.run(
            [self.runner, f"--preload={self.libraries[malloc_peers.OURS]}", "--out=/dev/null",
             "--", *self.inputs.commands[case]], stdin=subprocess.DEVNULL, capture_output=True,
            text=True, errors="replace", cwd=self.folder, timeout=LIMIT_S, check=False,
            env={**self.environment(), "PFS_MALLOC_CONF": "stats_print:true"})
        return {name: value for name, value in facts_of(done.stderr).items()
                if name.startswith("slabs")}

    def out(self, launch):
        """Where the numbers of a launch go."""
        return os.path.join(self.folder, f"{launch['number']}.json")

    def run(self, launch, quiet):
        """Measure one launch; quiet() is called when it works no more, at its end at the latest."""
        server = self.inputs.servers.get(launch["case"])
        try:
            with self.places.setdefault((launch["case"], launch["allocator"]), threading.Lock()):
                chapter.launch(launch, lambda: self.serve(launch, server, quiet) if server else
                               self.finish(launch, quiet))
        finally:
            quiet()

    def numbers(self, launch, process):
        """What pfs-malloc-run wrote of a process that ended."""
        self.processes.discard(process)
        try:
            document = documents.read_json(self.out(launch))
        except documents.BadInput:
            raise allocator_servers.Failed(f"{self.out(launch)}: has not got the numbers; is the "
                                           "disk full?") from None
        os.remove(self.out(launch))
        if document["exit"] != 0:
            raise allocator_servers.Failed(f"ended by signal {document['signal']}" if
                                           document["signal"] else f"exit {document['exit']}")
        return {**{key: document[key] for key in
                   ("user_s", "system_s", "wall_s", "peak_bytes", "mean_bytes", "minor_faults")},
                "cpu_s": round(document["user_s"] + document["system_s"], 6)}

    def serve(self, launch, server, quiet):
        """A server under load; then it idles."""
        log = os.path.join(self.folder, f"{launch['number']}.log")
        started = []
        with open(log, "w", encoding="utf-8") as file:
            def start(command):
                started.append(self.start(launch, command, stdout=file, stderr=file))
                return started[0]
            try:
                found = server.launch(start, launch["allocator"], quiet)
            finally:
                for process in started:
                    process.terminate()
                    process.wait()
        return {**self.numbers(launch, started[0]), **found}

    def finish(self, launch, quiet):
        """A program that ends by itself; it may say that it idles."""
        own = allocator_cases.BY_NAME[launch["case"]].group in ("own", "replay")
        with tempfile.TemporaryFile("w+", dir=self.folder) as errors:
            process = self.start(launch, self.inputs.commands[launch["case"]],
                                 stdout=subprocess.PIPE, stderr=errors, text=True)
            timer = threading.Timer(LIMIT_S, process.terminate)
            timer.start()
            said = ""
            for line in process.stdout:
                said += line
                if own and line.startswith("idle "):
                    quiet()
            process.wait()
            timer.cancel()
            process.stdout.close()
            try:
                found = self.numbers(launch, process)
            except (allocator_servers.Failed, documents.BadInput) as problem:
                errors.seek(0)
                lines = errors.read().strip().splitlines()
                raise allocator_servers.Failed(f"{problem}: {lines[-1]}" if lines else
                                               str(problem)) from None
        if own:
            return {**found, **facts_of(said)}
        return {**found, "output": hashlib.sha256(said.encode()).hexdigest()[:16]}

    def end(self):
        """Nothing stays behind."""
        for process in list(self.processes):
            process.terminate()
            process.wait()


def check_outputs(launches):
    """A program that says something else than with glibc has failed."""
    right = {l["case"]: l["output"] for l in launches
             if l["allocator"] == "glibc" and l["status"] == "done" and "output" in l}
    for launch in launches:
        if launch["status"] == "done" and "output" in launch and \
                launch["output"] != right.get(launch["case"], launch["output"]):
            launch.update(status="failed", reason="its output differs from that with glibc")
            print(f"allocators: {launch['case']} with {launch['allocator']}: "
                  f"{launch['reason']}", file=sys.stderr)


def run_plan(suite, launches):
    """All launches, each as soon as the one before it works no more."""
    threads = []

    def run(launch):
        quiet = threading.Event()
        threads.append(threading.Thread(target=suite.run, args=(launch, quiet.set), daemon=True))
        threads[-1].start()
        quiet.wait()

    try:
        chapter.run_plan("allocators", launches, [
            ESTIMATE_S[allocator_cases.BY_NAME[l["case"]].group] for l in launches], run,
            lambda: [thread.join() for thread in threads])
    finally:
        suite.end()


def measure_suite(folder, kind, build_dir, seed, rounds=None, only=None, allocators=None):
    """Measure and write allocators.json; the document. rounds: None, or as many for all."""
    found, missing = allocators or malloc_peers.available(build_dir)
    runner, load = (malloc_peers.program(build_dir, name) for name in ("run", "load"))
    cases = [c for c in allocator_cases.CASES if (not only or c.name in only) and
             (c.group != "server" or kind == "long" or only)]
    groups = {group: rounds or {"short": short, "long": 7}.get(kind, 1)
              for group, short in allocator_cases.SHORT_ROUNDS.items()}
    with chapter.document_in(
            folder, allocator_results.Suite.FILE, kind, seed, build_dir, tempfile.gettempdir(),
            allocators={one.name: {"library": one.library, "version": malloc_peers.version(one)}
                        for one in found}, missing=missing, cases={}, launches=[],
            instructions={}) as (document, work):
        inputs = allocator_cases.Inputs(work, kind, load)
        for case in cases:
            inputs.prepare(case)
        document["missing"] = {**missing, **inputs.missing}
        cases = [case for case in cases if case.name not in inputs.missing]
        document["cases"] = {case.name: {
            "group": case.group, "judged": case.judged, "amount": inputs.amount(case),
            "command": " ".join(map(os.path.basename, inputs.commands.get(case.name, [])))}
            for case in cases}
        suite = Suite(work, runner, inputs, found)
        document["launches"] = plan_of(cases, found, groups, seed)
        run_plan(suite, document["launches"])
        check_outputs(document["launches"])
        if malloc_peers.OURS in suite.libraries:
            document["slabs"] = {case.name: suite.slabs(case.name) for case in cases
                                 if case.name in inputs.commands and
                                 "idle" not in case.name}
        if not only:
            malloc_instructions.count_into(
                document, build_dir, found,
                instruction_table.CASES if kind == "long" else malloc_instructions.SHORT)
    return document


def main(argv=None):
    """The command."""
    parser = chapter.parser_of(
        "scripts/allocators.py", "Measure allocators as malloc of whole programs.",
        allocator_cases.BY_NAME, "larger loads, servers, 7 rounds (20 minutes)",
        quick="a smoke run: a tenth of the load, once",
        rounds="launches of each case and allocator")
    malloc_peers.add_arguments(parser)
    arguments = chapter.parse(parser, allocator_cases.BY_NAME, argv)
    return chapter.command("allocators", arguments, measure_suite, allocator_results,
                           malloc_peers.chosen(parser, arguments))


if __name__ == "__main__":
    commandline.run(main, "allocators")
