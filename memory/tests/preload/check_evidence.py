#!/usr/bin/python3
"""check_evidence.py - whose box says what: of programs that make processes in every way, become
other programs, go by another name than their file's, or are another user's.

usage: check_evidence.py PART PFS_MEM KNOWN
Exit 0: all as expected. 1: something was not. 77: only root can try it.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time

from check_preload import Place, end, equal, expect, go_on, places, said
from place import TOP, skip

NOBODY = 65534
EXECS = ("execve", "execv", "execvp", "execvpe", "execl", "execlp", "execle", "execveat", "fexecve",
         "syscall")


def forker(place):
    return os.path.join(os.path.dirname(place.known), "forker")


def listed(place, pid):
    """The row of a process's box; None: it has no box."""
    rows = [row for row in json.loads(place.mem("list", "--format", "json"))
            if row["PID"] == int(pid)]
    return rows[0] if rows else None


def held(place, target):
    """Bytes by what the program itself allocated."""
    return sum(row["CURRENT_NUMBER_OF_BYTES_USED"] for row in place.rows(target, "global")
               if row["EVENT_NAME"] == "memory/forker/heap")


def children(place):
    """Neither's stores reach the other's box; a child without a box says why."""
    for how in ("fork", "_Fork", "clone"):
        program = place.start(forker(place), how)
        for is_dead in (False, True):
            _, size, child, pid = said(program)
            equal(held(place, pid), int(size), f"{how}: bytes of the parent")
            place.mem("check", pid)
            row = listed(place, child)
            expect(row is not None, f"{how}: the child has no box")
            if how == "fork":
                equal(held(place, child), 1000000 + 1000000 - 100000, "bytes of the child")
                equal(row["STATE"], "died" if is_dead else "living", "state of the child")
            else:
                equal((row["STATE"], row["PARENT"]), ("uncounted", int(pid)),
                      f"{how}: state and parent of the child")
                equal(held(place, "last"), int(size), "last is the parent")
                expect("not by fork" in row["KEPT"], f"{how}: {row}")
                expect("was not counted" in place.mem("top", child, "--once", status=1),
                       f"{how}: what top says")
            go_on(program)
        equal(program.wait(timeout=60), 0, "exit status")
    program = place.start(forker(place), "vfork")
    _, size, _, pid = said(program)
    equal(held(place, pid), int(size), "vfork: bytes of the parent")
    end(program)


def short(place):
    """A child without memory for its copy goes on, and is said not to be counted."""
    program = place.start(forker(place), "short")
    words = said(program)
    expect(len(words) == 4, "the child did not go on")
    _, size, child, pid = words
    equal(held(place, pid), int(size), "bytes of the parent")
    place.mem("check", pid)
    row = listed(place, child)
    expect(row is not None and row["STATE"] == "uncounted" and "no memory" in row["KEPT"],
           f"the child: {row}")
    end(program)


def child_thread(place):
    """The child has a box, although its first call comes from a second thread."""
    program = place.start(forker(place), "thread")
    _, size, child, _ = said(program)
    expect(listed(place, child) is not None, "the child has no box")
    equal(held(place, child), int(size), "bytes of the child")
    end(program)


def execs(place):
    """A program that became another one did not die. A failed exec changes nothing."""
    for how in EXECS:
        program = place.start(forker(place), "exec", how)
        words = said(program)
        go_on(program)
        for _ in range(100):
            state = listed(place, words[3])["STATE"]
            if state != "living":
                break
            time.sleep(0.05)
        equal(state, "execed", f"state after {how}")
        program.kill()
        program.wait()
        if how != "syscall":
            equal(listed(place, words[3])["STATE"], "execed", f"state after {how}, and its end")
    program = place.start(forker(place), "exec", "nothing")
    words = said(program)
    go_on(program)
    said(program)
    equal(listed(place, words[3])["STATE"], "living", "state after a failed exec")
    end(program)


def age(place):
    """All boxes become older than what is never removed."""
    for box in place.boxes():
        before = os.stat(box).st_mtime
        os.utime(box, (before - 100, before - 100))


def trivia(place):
    """A killed program's box stays, however many programs of no weight come and go."""
    leak = place.start(forker(place), "leak", "50000000")
    leak.wait()
    small = place.start(forker(place), "leak", "100")
    small.wait()
    more = {"PFS_MEM_KEEP_DEAD": "5"}
    for _ in range(4):
        age(place)
        done = place.start("sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 0; do env -i /bin/true; "
                           "done", more=more)
        equal(done.wait(timeout=60), 0, "exit status")
    age(place)
    place.start("/bin/true", more=more).wait()
    expect(len(place.boxes()) <= 6, f"{len(place.boxes())} boxes are left")
    done = place.run("list", "--format", "json")
    rows = {row["PID"]: row for row in json.loads(done.stdout)}
    expect(leak.pid in rows, "the leak's box is gone")
    expect(rows[leak.pid]["HELD"] >= 50000000, f"held: {rows[leak.pid]}")
    expect("last that were killed" in rows[leak.pid]["KEPT"], f"kept: {rows[leak.pid]}")
    expect(small.pid in rows and "room" in rows[small.pid]["KEPT"], f"the small one: {rows}")
    expect("boxes of dead programs were removed" in done.stderr, f"said: {done.stderr}")
    equal(json.loads(place.mem("top", "last", "--once", "--format", "json")) != [], True,
          "last is a killed program's")


STORM = """
import os
for _ in range(120):
    pid = os.fork()
    if pid == 0:
        kept = [bytearray(900) for _ in range(50)]
        os.execve("/bin/true", ["true"], {})
    os.waitpid(pid, 0)
"""


def storm(place):
    """Hundreds of programs that become ones without the library: their boxes stay few at once, a
    leak's box stays, and so do the living ones."""
    leak = place.start(forker(place), "leak", "50000000")
    leak.wait()
    living = place.start(forker(place), "vfork")
    said(living)
    for words in (("sh", "-c", "i=0; while [ $i -lt 120 ]; do env -i /bin/true; i=$((i+1)); done"),
                  (sys.executable, "-c", STORM)):
        equal(place.start(*words).wait(timeout=60), 0, "exit status")
        boxes = place.boxes()
        # 32 stay, and 16 may come before the next look; more if a looker waits for a processor.
        expect(len(boxes) <= 2 * (32 + 16 + 4), f"{len(boxes)} boxes after {words[0]}")
        size = sum(os.stat(box).st_blocks * 512 for box in boxes)
        expect(size < 24 << 20, f"{size} bytes of boxes after {words[0]}")
        expect(any(f"/{leak.pid}-" in box for box in boxes), "the leak's box is gone")
        expect(any(f"/{living.pid}-" in box for box in boxes), "the living program's box is gone")
    end(living)


FULL = """
import threading
kept = []
def work():
    kept.append([bytes(size) for size in range(600, 2000)])
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("survived")
"""


def pid_in(line):
    """The process in the name of a line's box; empty: it names none."""
    found = re.search(r"/([0-9]+)-[0-9]+[.]box", line)
    return found[1] if found else ""


def full(place):
    """On a full file system the program goes on, and one line says what is not counted."""
    if os.geteuid() != 0 or shutil.which("unshare") is None or subprocess.run(
            ["unshare", "-m", "mount", "-t", "tmpfs", "none", place.folder], check=False,
            stderr=subprocess.DEVNULL).returncode != 0:
        skip("no file system can be mounted here")
    mount = 'mount -t tmpfs -o "size=$1k,mode=700" none "$2" && shift 2 && exec "$@"'
    seen = {}
    for size in (8, 32, 64, 96, 128, 160, 192, 256, 4096):
        done = place.call(["unshare", "-m", "sh", "-c", mount, "sh", str(size), place.folder,
                           "env", f"LD_PRELOAD={os.path.dirname(place.tool)}/libpfsmem.so",
                           sys.executable, "-S", "-c", FULL])
        equal(done.stdout, "survived\n", f"{size} KiB: stdout")
        lines = [line for line in done.stderr.splitlines() if f"/{pid_in(line)}-" in line]
        expect(all("make room there, or set PFS_MEM_DIR" in line for line in lines),
               f"{size} KiB: {lines}")
        boxes = [pid_in(line) for line in lines]
        equal(len(boxes), len(set(boxes)), f"{size} KiB: one line for each box: {lines}")
        for word in ("no memory for the box", "cannot grow"):
            seen.setdefault(word, []).extend(size for line in lines if word in line)
    expect(8 in seen["no memory for the box"], f"not made: {seen}")
    expect(seen["cannot grow"], f"not grown: {seen}")
    expect(not any(4096 in sizes for sizes in seen.values()), f"there was room: {seen}")


def names(place):
    """A program is known by what it calls itself and by its file; an unused limit is reported."""
    alias = place.path("redis-server")
    os.symlink(forker(place), alias)
    query = "SELECT USER, IS_USED FROM memory_limits WHERE SCOPE = 'ACCOUNT' AND USER <> '%'"
    for limit, is_used in (("redis-server", "YES"), ("forker", "YES"), ("other", "NO")):
        program = subprocess.Popen(
            [place.tool, "run", "--limit", f"account:{limit}@localhost=5M", "--", alias, "vfork"],
            text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=place.environment)
        pid = said(program)[3]
        users = {row["USER"] for row in place.rows(pid, "account")}
        equal(users, {"redis-server"}, "accounts")
        equal(listed(place, pid)["NAME"], "redis-server", "name")
        expect(listed(place, pid)["PROGRAM"].endswith("/forker"), "its file")
        rows = place.mem("sql", pid, "--format", "csv", query).split("\n")[1:2]
        equal(rows, [f"{limit},{is_used}"], "limits")
        title = f"/forker as redis-server ({pid})"
        for command in ("profile", "top"):
            done = place.run(command, pid, *["--once"][:command == "top"])
            expect(title in done.stdout, f"{command}: {done.stdout}")
        expect("memory of redis-server?" in place.run("report", "--out", "-", pid).stdout, "report")
        seen = done.stderr
        equal(f"account {limit}@localhost" in seen, is_used == "NO", f"top: {seen}")
        go_on(program)
        _, line = program.communicate(timeout=60)
        equal(f"account:{limit}@localhost" in line, is_used == "NO", f"stderr: {line}")


def as_nobody(words, environment, **more):
    return subprocess.Popen(["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
                             *words], text=True, env=environment, stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, **more)


def users(place):
    """Root finds the boxes of every user, and trusts none of their folders; others see theirs."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None or not os.path.isdir("/dev/shm"):
        skip("only root can try it")
    plain = {name: value for name, value in place.environment.items() if name != "PFS_MEM_DIR"}
    build = shutil.copytree(os.path.dirname(place.tool), place.path("build"), ignore=lambda _, all_:
                            [one for one in all_ if one not in ("pfs-mem", "libpfsmem.so")])
    shutil.copy(forker(place), build)
    for one in (place.folder, build):
        os.chmod(one, 0o755)
    tool, program = os.path.join(build, "pfs-mem"), os.path.join(build, "forker")
    theirs = f"/dev/shm/pfslab-{NOBODY}"
    killed = as_nobody([tool, "run", "--", program, "leak", "9000000"], plain)
    killed.wait(timeout=60)
    living = as_nobody([tool, "run", "--", program, "vfork"], plain)
    said(living)
    try:
        for pid, state in ((killed.pid, "died"), (living.pid, "living")):
            rows = json.loads(place.mem_of(plain, "list", "--format", "json").stdout)
            row = [one for one in rows if one["PID"] == pid]
            expect(len(row) == 1 and row[0]["USER"] == "nobody" and row[0]["STATE"] == state,
                   f"root's list: {rows}")
            text = place.mem_of(plain, "top", str(pid), "--once").stdout
            expect("memory/forker/heap" in text, f"root's top: {text}")
        line = place.mem_of(plain, "truncate", str(living.pid), "host", status=1).stderr
        expect("run pfs-mem as that user" in line, f"root does not write there: {line}")
        os.symlink("/root", f"/dev/shm/pfslab-{NOBODY - 1}")
        place.mem_of(plain, "list")
        os.truncate(os.path.join(theirs, [name for name in os.listdir(theirs) if name.startswith(
            f"{killed.pid}-")][0]), 5000)
        place.mem_of(plain, "top", str(killed.pid), "--once", status=1)
        mine = as_nobody([tool, "list", "--format", "json"], plain)
        out, _ = mine.communicate(timeout=60)
        equal({row["USER"] for row in json.loads(out)}, {"nobody"}, "users in nobody's list")
    finally:
        living.kill()
        living.wait()
        for folder, _, files in os.walk(theirs):
            for name in files:
                if name.split("-")[0] in (str(killed.pid), str(living.pid)):
                    os.remove(os.path.join(folder, name))
        if os.path.islink(f"/dev/shm/pfslab-{NOBODY - 1}"):
            os.remove(f"/dev/shm/pfslab-{NOBODY - 1}")


def drops(place):
    """After setuid a child's box is in the new user's folder."""
    if os.geteuid() != 0 or not os.path.isdir("/dev/shm"):
        skip("only root can try it")
    program = place.start(forker(place), "drop")
    _, _, child, pid = said(program)
    theirs = f"/dev/shm/pfslab-{NOBODY}"
    boxes = [name for name in os.listdir(theirs) if name.startswith(f"{child}-")] \
        if os.path.isdir(theirs) else []
    equal(len(boxes), 1, "boxes of the child")
    path = os.path.join(theirs, boxes[0])
    equal(os.stat(path).st_uid, NOBODY, "owner")
    equal(held(place, path), 2000, "bytes of the child")
    equal(held(place, pid), 1000, "bytes of the parent")
    end(program)
    os.remove(path)


def service(place):
    """systemd understands the drop-in, and complains about it if a word is wrong."""
    if shutil.which("systemd-analyze") is None:
        skip("no systemd-analyze")
    unit = place.file("counted.service", "[Service]\nExecStart=/bin/sleep 60\n")
    os.mkdir(unit + ".d")
    with open(os.path.join(TOP, "memory", "tool", "service.conf"), encoding="utf-8") as file:
        text = file.read()
    for wrong, has_fault in (("", False), ("RuntimeDirectoryPreserve=maybe\n", True)):
        place.file("counted.service.d/pfs-mem.conf", text + wrong)
        done = subprocess.run(["systemd-analyze", "verify", unit], text=True, capture_output=True,
                              env={**os.environ, "SYSTEMD_UNIT_PATH": place.folder + ":"},
                              timeout=60, check=False)
        equal("pfs-mem.conf" in done.stderr, has_fault, f"systemd-analyze: {done.stderr}")


class Evidence(Place):
    """With pfs-mem in another environment."""

    def mem_of(self, environment, *words, status=0):
        return self.call([self.tool, *words], status, env=environment)


if __name__ == "__main__":
    places.main({part.__name__: part for part in
                 (children, short, child_thread, execs, trivia, storm, full, names, users, drops,
                  service)},
                Evidence(*sys.argv[2:4]))
