#!/usr/bin/python3
"""sweep.py - runs a grid of simulated runs on all cores, many hosts, or a Slurm cluster.

usage: scripts/sweep.py [GRID.json] --out FOLDER [grid options] [--sshloginfile FILE | --slurm |
                        --list | --merge]
A grid becomes a list of independent jobs, FOLDER/jobs.tsv, one a line; GNU parallel runs them.
A result appears whole or not at all. The same command goes on where a killed one stopped: a job
whose result is there and whole is not run again. At the end FOLDER/simulated.json holds
all results; scripts/report.py FOLDER draws them.
Exit 0: every job has its result. 1: a job failed. 2: bad usage. 130: interrupted.
"""

import argparse
import csv
import fcntl
import hashlib
import os
import re
import shlex
import signal
import subprocess
import sys
import time

from common import commandline, documents, machine
from common.progress import Progress
from measuring import grid as grids

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MERGED = "simulated.json"

# Runs on every host, so it needs no more than a shell. The lock makes a job that outlived a
# killed sweep finish first; the job that waited for it then finds the result and does nothing.
# pfs-sim inherits the lock: where only its shell was killed, nobody else writes before it ended.
JOB_SCRIPT = """#!/bin/sh
# job.sh ID WORD... - one job of a sweep; its result appears whole or not at all.
program=${{PFS_SIM:-{program}}}
id=$1
shift
mkdir -p raw || exit
case $1 in run) result=raw/$id.json ;; *) result=raw/$id.txt ;; esac
exec 9>>"$result.partial"
flock 9
if [ -s "$result" ]; then
	rm -f "$result.partial"
	echo "$id"
	exit 0
fi
: >"$result.partial"
"$program" "$@" >>"$result.partial" </dev/null
status=$?
# A search that found what it looked for exits with 1.
if [ "$1" = explore ] && [ $status -le 1 ]; then
	echo "exit $status" >>"$result.partial"
	status=0
fi
[ $status -eq 0 ] || exit $status
mv "$result.partial" "$result" && echo "$id"
"""

SLURM_SCRIPT = """#!/bin/sh
#SBATCH --job-name=pfs-sweep
#SBATCH --array=0-{last}
#SBATCH --ntasks=1 --cpus-per-task=1
#SBATCH --output={folder}/slurm-%A_%a.log
# {count} jobs, {chunk} for each task of the array. The folder must be seen by all hosts. When
# the array is over: scripts/sweep.py --merge --out {folder}
cd {quoted} || exit
first=$((SLURM_ARRAY_TASK_ID * {chunk} + 1))
sed -n "$first,$((first + {chunk} - 1))p" jobs.tsv | (
	failed=0
	while IFS='	' read -r id words; do
		eval "sh job.sh $id $words" || {{
			echo "job $id failed: pfs-sim $words" >&2
			failed=1
		}}
	done
	exit $failed
)
"""
SLURM_TASKS_MAX = 1000  # MaxArraySize is 1001 where nobody changed it


class Busy(documents.BadInput):
    """Another sweep works in the folder."""


def hold(folder):
    """Make the folder ours until this process ends; the open lock file."""
    try:
        os.makedirs(os.path.join(folder, "raw"), exist_ok=True)
        lock = open(os.path.join(folder, ".lock"), "w", encoding="utf-8")
    except OSError as error:
        raise documents.BadInput(f"--out {folder}: cannot be written ({error.strerror}); name a "
                                 "folder that you may write") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise Busy(f"--out {folder}: another sweep is at work there; wait for it, or name "
                   "another folder") from None
    return lock


def program_of(arguments):
    """The path of pfs-sim, as the hosts know it; of several builds the newest."""
    if arguments.program:
        return os.path.abspath(arguments.program) if os.path.exists(arguments.program) \
            else arguments.program
    places = [os.path.join(TOP, "build", preset, "sim", "pfs-sim")
              for preset in ("sim", "release")]
    there = [place for place in places if os.path.exists(place)]
    return max(there, key=os.path.getmtime) if there else places[0]


def fingerprint(program):
    """What tells one pfs-sim from another; None where it stands on other hosts only."""
    try:
        with open(program, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()[:16]
    except OSError:
        return None


def check_program(folder, program, source, anew):
    """Refuse to mix results of two builds of pfs-sim in one folder; record ours."""
    path = os.path.join(folder, "sweep.json")
    mark = fingerprint(program)
    before = documents.read_json(path) if os.path.exists(path) else {}
    if not isinstance(before, dict):
        raise documents.BadInput(f"{path}: damaged; give --anew to start again")
    theirs = before.get("program")
    if mark and theirs and mark != theirs:
        if not anew:
            raise documents.BadInput(f"--out {folder}: holds results of a pfs-sim other than "
                                     f"{program}; give --anew to drop them, or name another folder")
        for name in os.listdir(os.path.join(folder, "raw")):
            if re.fullmatch(r"[0-9a-f]{12}\.(json|txt)(\.partial)?", name):
                os.remove(os.path.join(folder, "raw", name))
    documents.write_json(path, {"program": mark or theirs, "grid": source})


def missing_jobs(folder, jobs, say):
    """The jobs without a whole result; damaged ones are taken away, each with a line."""
    missing = []
    for job in jobs:
        path = os.path.join(folder, grids.file_of(job))
        if os.path.exists(path):
            try:
                grids.read_result(folder, job)
                continue
            except documents.BadInput as problem:
                say(f"sweep.py: {problem}; run again")
                os.remove(path)
        missing.append(job)
    return missing


def write_list(folder, jobs, program):
    """The job list and the script that runs one line of it."""
    documents.write_text(os.path.join(folder, "jobs.tsv"), "".join(map(grids.line_of, jobs)))
    documents.write_text(os.path.join(folder, "job.sh"), JOB_SCRIPT.format(
        program=shlex.quote(program)))


def parallel_command(arguments, folder):
    """The command line of GNU parallel for FOLDER/todo.tsv."""
    command = ["parallel", "--will-cite", "--arg-file", "todo.tsv", "--colsep", "\\t",
               "--joblog", "+joblog", "--tagstring", "{1}"]
    enter = ""
    if arguments.jobs:
        command += ["--jobs", str(arguments.jobs)]
    if arguments.sshloginfile:
        # A folder of its own on each host, below the home there: even where the home is shared,
        # parallel then never takes away a file of ours when it cleans up.
        mark = hashlib.sha256(folder.encode("utf-8")).hexdigest()[:8]
        command += ["--sshloginfile", os.path.abspath(arguments.sshloginfile),
                    "--workdir", f".pfs-sweep/{os.path.basename(folder)}-{mark}",
                    "--basefile", "job.sh", "--return", "{3}", "--cleanup"]
        enter = f'test "$PARALLEL_SSHLOGIN" != : || cd {shlex.quote(folder)}; '
    return command + [enter + "sh job.sh {1} {=2 uq() =}"]


def require_program(program):
    """BadInput where pfs-sim cannot be run."""
    if not os.access(program, os.X_OK):
        raise documents.BadInput(f"{program}: cannot be run; build it (cmake --preset sim && "
                               "cmake --build --preset sim) or name it by --program")


def require_parallel():
    """BadInput where GNU parallel is missing; another program of that name is common."""
    try:
        said = subprocess.run(["parallel", "--version"], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=30, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        said = ""
    if "GNU parallel" not in said:
        raise documents.BadInput("GNU parallel is missing; install the package parallel")


def log_length(folder):
    """How many jobs have ended, by the job log."""
    try:
        with open(os.path.join(folder, "joblog"), "rb") as file:
            return sum(1 for _ in file)
    except FileNotFoundError:
        return 0


def run_parallel(arguments, folder, todo):
    """Run the jobs; {id: last line that a job wrote to stderr}. Progress goes to stderr."""
    require_parallel()
    documents.write_text(os.path.join(folder, "todo.tsv"), "".join(
        grids.line_of(job).rstrip("\n") + f"\t{grids.file_of(job)}\n" for job in todo))
    progress = Progress(len(todo), len(todo))
    errors_path = os.path.join(folder, "errors.log")
    before = log_length(folder)
    # Here and there the jobs are a shell's, whatever SHELL says, or is not set, as in a service.
    environment = {**os.environ, "PARALLEL_SHELL": "/bin/sh"}
    # No pipe to us: if we are killed, parallel goes on, and whoever goes on later waits for the
    # jobs at work.
    with open(errors_path, "w", encoding="utf-8") as errors, subprocess.Popen(
            parallel_command(arguments, folder), cwd=folder, env=environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors) as process:
        try:
            while process.poll() is None:
                done = min(len(todo), log_length(folder) - before)
                progress.show(done, done, "simulating")
                time.sleep(0.1)
        except KeyboardInterrupt:
            process.send_signal(signal.SIGTERM)  # twice: do not wait for running jobs
            process.send_signal(signal.SIGTERM)
            process.wait()
            raise
    progress.show(len(todo), len(todo), "simulated")
    progress.end()
    said = {}
    with open(errors_path, encoding="utf-8", errors="replace") as file:
        for line in file:
            name, _, text = line.rstrip("\n").partition("\t")
            if text:
                said[name] = text
            elif name.strip():
                said[""] = name
    return said


def exit_values(folder):
    """{words of the command: exit status} of the last run of each job, from the job log."""
    found = {}
    try:
        with open(os.path.join(folder, "joblog"), encoding="utf-8", errors="replace",
                  newline="") as file:
            for row in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
                if len(row) >= 9 and row[6].lstrip("-").isdigit():
                    words = row[8].split("sh job.sh ", 1)[-1].split(" ", 1)
                    found[words[0]] = (int(row[6]), row[7])
    except FileNotFoundError:
        pass
    return found


def tell_failures(folder, failed, said, ran=True):
    """One line for each of the first jobs without result, with its arguments and its reason."""
    exits = exit_values(folder)
    for job in failed[:10]:
        status, killed = exits.get(job.id, ("none", "0"))
        how = f"signal {killed}" if killed not in ("0", "") else f"exit {status}"
        reason = said.get(job.id) or said.get("") or "no message"
        what = f"failed ({how}: {reason})" if ran else "has no result"
        print(f"sweep.py: job {job.id} {what}: pfs-sim {shlex.join(job.words)}", file=sys.stderr)
    if len(failed) > 10:
        print(f"sweep.py: and {len(failed) - 10} more jobs", file=sys.stderr)


def finish(folder, jobs):
    """Merge what is there; the jobs that have no result."""
    missing = missing_jobs(folder, jobs, lambda line: print(line, file=sys.stderr))
    gone = {job.id for job in missing}
    here = [job for job in jobs if job.id not in gone]
    if here:
        documents.write_json(os.path.join(folder, MERGED), grids.merge(folder, here, len(missing)))
    return missing


def sweep(jobs, folder, program, arguments, source):
    """Run what has no result yet and merge: the jobs that failed. Others call this, too."""
    folder = os.path.abspath(folder)
    with hold(folder):
        check_program(folder, program, source, arguments.anew)
        write_list(folder, jobs, program)
        todo = missing_jobs(folder, jobs, lambda line: print(line, file=sys.stderr))
        if todo and not arguments.sshloginfile:
            require_program(program)
        said = run_parallel(arguments, folder, todo) if todo else {}
        missing = finish(folder, jobs)
        tell_failures(folder, missing, said)
        if not missing:
            clean(folder)
        return missing


def clean(folder):
    """Take away what only a sweep that goes on would need."""
    for name in ("todo.tsv", "errors.log"):
        if os.path.exists(os.path.join(folder, name)):
            os.remove(os.path.join(folder, name))
    for name in os.listdir(os.path.join(folder, "raw")):
        if name.endswith(".partial"):
            os.remove(os.path.join(folder, "raw", name))


def slurm_text(folder, count):
    """The batch script of an array that does all jobs."""
    chunk = -(-count // SLURM_TASKS_MAX)
    return SLURM_SCRIPT.format(last=-(-count // chunk) - 1, count=count, chunk=chunk,
                               folder=folder, quoted=shlex.quote(folder))


def list_of(convert, name):
    """A parser of comma-separated values; for counts also ranges such as 1-8."""
    def parse(text):
        values = []
        for part in text.split(","):
            low, dash, high = part.partition("-")
            try:
                if dash and convert is int and low:
                    values += range(int(low), int(high) + 1)
                else:
                    values.append(convert(part))
            except ValueError:
                raise argparse.ArgumentTypeError(f"'{part}' is not {name}") from None
        return values
    return parse


def arguments_of(argv):
    """The parsed command line."""
    parser = commandline.Parser(prog="scripts/sweep.py", description="Run a grid of simulated "
                                "runs and merge the results.")
    parser.add_argument("grid", nargs="?", help="a grid as a JSON file; options replace its "
                        "fields (scripts/measuring/grid.py says which there are)")
    parser.add_argument("--out", metavar="FOLDER", required=True, help="where results go")
    parser.add_argument("--machine", action="append", metavar="SPEC", dest="machines",
                        help="an hwloc synthetic string or an lstopo XML file; may be repeated")
    parser.add_argument("--costs", type=list_of(str, "a name"), help="presets of costs, "
                        "separated by commas")
    parser.add_argument("--policies", type=list_of(str, "a name"))
    parser.add_argument("--workloads", type=list_of(str, "a name"))
    parser.add_argument("--threads", type=list_of(int, "a count"), help="such as 1,8,256")
    parser.add_argument("--occupancies", type=list_of(float, "an occupancy"))
    parser.add_argument("--seeds", type=list_of(int, "a count"), help="such as 1-5")
    parser.add_argument("--ops", type=int, help="operations of a run")
    parser.add_argument("--jobs", type=int, metavar="N", help="parallel jobs (default: one per "
                        "core of a host)")
    parser.add_argument("--sshloginfile", metavar="FILE", help="hosts, as GNU parallel reads "
                        "them; results come back by rsync")
    parser.add_argument("--program", metavar="PATH", help="pfs-sim, as the hosts know it "
                        "(default: the one of build/)")
    parser.add_argument("--anew", action="store_true", help="drop the results of another build "
                        "of pfs-sim")
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--slurm", action="store_true", help="print a script for sbatch and "
                        "run nothing")
    action.add_argument("--list", action="store_true", help="print the jobs and run nothing")
    action.add_argument("--merge", action="store_true", help="run nothing, only merge")
    arguments = parser.parse_args(argv)
    if arguments.jobs is not None and arguments.jobs < 1:
        parser.error(f"--jobs {arguments.jobs}: give at least 1")
    if arguments.sshloginfile and not os.path.exists(arguments.sshloginfile):
        parser.error(f"--sshloginfile {arguments.sshloginfile}: no such file")
    return arguments


def grid_of(arguments):
    """(grid document, its name): the file's fields, replaced by those of the command line; with
    neither, the list that the folder holds."""
    given = {key: getattr(arguments, key) for key in grids.LISTS + ("ops",)
             if getattr(arguments, key) is not None}
    source = arguments.grid or "the command line"
    if not arguments.grid and not given:
        path = os.path.join(arguments.out, "sweep.json")
        if not os.path.exists(path):
            raise documents.BadInput("no grid; give a file, or --policies and --threads")
        document = documents.read_json(path)
        return document.get("grid") if isinstance(document, dict) else None, path
    document = documents.read_json(arguments.grid) if arguments.grid else {}
    if given and isinstance(document, dict) and "grids" in document:
        raise documents.BadInput(f"{source}: it holds several grids, and options would change all "
                                 "of them; edit the file")
    return ({**document, **given} if isinstance(document, dict) else document), source


def main(argv=None):
    """The command."""
    arguments = arguments_of(argv)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    document, source = grid_of(arguments)
    jobs = grids.jobs_of(document, source)
    if arguments.list:
        sys.stdout.writelines(map(grids.line_of, jobs))
        return 0
    folder, program = os.path.abspath(arguments.out), program_of(arguments)
    if arguments.slurm:
        with hold(folder):
            check_program(folder, program, document, arguments.anew)
            write_list(folder, jobs, program)
        sys.stdout.write(slurm_text(folder, len(jobs)))
        return 0
    if arguments.merge:
        with hold(folder):
            missing = finish(folder, jobs)
            tell_failures(folder, missing, {}, ran=False)
    else:
        missing = sweep(jobs, folder, program, arguments, document)
    merged = os.path.join(folder, MERGED)
    if os.path.exists(merged):
        documents.write_json(os.path.join(folder, "machine.json"),
                             machine.describe(TOP, os.path.join(TOP, "build")))
        print(f"sweep: {len(jobs) - len(missing)} of {len(jobs)} jobs in {merged}")
    return 1 if missing else 0


if __name__ == "__main__":
    commandline.run(main, "sweep.py")
