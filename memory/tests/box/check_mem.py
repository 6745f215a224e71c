#!/usr/bin/python3
"""check_mem.py - pfs-mem on boxes that box_make makes: what it prints, what it changes, what it
refuses, and with which line and exit status.

usage: check_mem.py prints|changes|wrong|flips|foreign PFS_MEM BOX_MAKE
Exit 0: all as expected. 1: something was not.
"""

import csv
import io
import json
import os
import random
import re
import shutil
import socket
import stat
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from place import Place, expect, main

NUMBERS = ["COUNT_ALLOC", "COUNT_FREE", "SUM_NUMBER_OF_BYTES_ALLOC", "SUM_NUMBER_OF_BYTES_FREE",
           "LOW_COUNT_USED", "CURRENT_COUNT_USED", "HIGH_COUNT_USED", "LOW_NUMBER_OF_BYTES_USED",
           "CURRENT_NUMBER_OF_BYTES_USED", "HIGH_NUMBER_OF_BYTES_USED"]


class Boxes(Place):
    """A folder of boxes, and pfs-mem on it."""

    def __init__(self, tool, make):
        super().__init__(tool)
        self.make, self.living = make, []

    def dead(self, name):
        subprocess.run([self.make, self.path(name), "dead"], check=True)
        return self.path(name)

    def live(self, name):
        process = subprocess.Popen([self.make, self.path(name), "live"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        process.stdout.readline()
        self.living.append(process)
        return process

    def close(self):
        for process in self.living:
            process.kill()
            process.wait()
        super().close()


def prints(boxes):
    expect(json.loads(boxes.run("list", "--format", "json").stdout) == [], "no box is listed")
    boxes.dead("11-1.box")
    living = boxes.live("12-1.box")
    listed = json.loads(boxes.run("list", "--format", "json").stdout)
    expect([row["STATE"] for row in listed] == ["living", "died"], f"the newest first: {listed}")
    expect(listed[0]["PID"] == living.pid, "the living one's process")
    expect("living" in boxes.run("list").stdout, "list as text")
    text = boxes.run("show", "last", "account").stdout.split("\n")
    expect(text[0].split() == ["USER", "HOST", "EVENT_NAME"] + NUMBERS, f"columns: {text[0]}")
    rows = json.loads(boxes.run("show", str(living.pid), "thread", "--format=json").stdout)
    expect(len(rows) == 9, f"3 threads, 3 instruments: {len(rows)}")
    expect(list(rows[0]) == ["THREAD_ID", "EVENT_NAME"] + NUMBERS + ["HIGH_IS"],
           "columns of threads")
    expect([rows[0][name] for name in NUMBERS] == [5, 2, 5000, 2000, 0, 3, 5, 0, 3000, 5000],
           f"the first row: {rows[0]}")
    expect([rows[2][name] for name in NUMBERS] == [0] * 10, "zero rows are there")
    expect({row["HIGH_IS"] for row in rows} == {"exact"}, "HIGH of threads was reached")
    table = "memory_summary_global_by_event_name"
    read = list(csv.DictReader(io.StringIO(boxes.run("show", "last", table, "--format",
                                                     "csv").stdout)))
    expect([row["CURRENT_NUMBER_OF_BYTES_USED"] for row in read] == ["12000", "500", "0"],
           f"global: {read}")
    top = boxes.run("top", "last", "--once", "--count", "1").stdout
    expect("memory/server/net" in top and "sort" not in top, f"top: {top}")
    for by, first in (("thread", "3 nobody"), ("account", "app@web1"), ("user", "app"),
                      ("host", "web1"), ("instrument", "memory/server/net")):
        rows = json.loads(boxes.run("top", "last", "--once", "--by", by, "--format",
                                    "json").stdout)
        expect(rows[0]["WHO"] == first, f"top by {by}: {rows}")
    dead = boxes.run("top", boxes.path("11-1.box"))  # ends by itself
    expect("died between" in dead.stdout and "died between" in dead.stderr, "when it died")
    for words in (["--help"], ["--version"], ["top", "--help"], ["clean", "--help"]):
        expect(boxes.run(*words).stdout.count("pfs-mem") != 0, f"{words}")


def changes(boxes):
    living = boxes.live("12-1.box")
    target = str(living.pid)
    boxes.run("truncate", target, "host")
    rows = json.loads(boxes.run("show", target, "host", "--format", "json").stdout)
    expect([rows[0][name] for name in NUMBERS] == [3, 0, 3000, 0, 3, 3, 3, 3000, 3000, 3000],
           f"after TRUNCATE: {rows[0]}")
    rows = json.loads(boxes.run("show", target, "user", "--format", "json").stdout)
    expect(rows[0]["COUNT_FREE"] == 4, f"users are not inside hosts: {rows[0]}")
    boxes.run("disable", target, "memory/server/%")
    boxes.run("enable", target, "memory/server/sort")
    with open(boxes.path("12-1.box"), "rb") as file:
        file.seek(4096 + 64)
        expect(file.read(4) == b"\0\1\0\1", "what is enabled")
    boxes.run("check", boxes.path("12-1.box"))
    expect("1 of running" in boxes.run("clean").stdout, "a living one stays")
    boxes.dead("13-1.box")
    boxes.file("14-1.box", "no box")
    expect(boxes.run("clean").stdout.startswith("1 removed"), "the dead one goes")
    expect(os.path.exists(boxes.path("14-1.box")), "what is no box stays")
    expect(boxes.run("clean", "--all").stdout.startswith("1 removed"), "but for --all")
    boxes.live("15-1.box")
    watch = subprocess.Popen([boxes.tool, "top", boxes.path("15-1.box")], text=True,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    time.sleep(0.5)
    os.truncate(boxes.path("15-1.box"), 8192)
    line = watch.communicate(timeout=30)[1]
    expect(watch.returncode == 1 and line.count("\n") == 1 and "truncated" in line,
           f"truncated: {line}")
    os.unlink(boxes.path("15-1.box"))
    watch = subprocess.Popen([boxes.tool, "top", boxes.path("12-1.box")], text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(0.5)
    living.kill()
    living.wait()
    out, line = watch.communicate(timeout=30)
    expect(watch.returncode == 0 and "died between" in line, f"it died meanwhile: {line}")
    expect("is living" in out, "and was living before")
    boxes.run("truncate", boxes.path("12-1.box"), "host", status=1)
    expect(boxes.run("clean").stdout.startswith("1 removed"), "it goes, and its lock")
    expect(os.listdir(boxes.folder) == [], f"left: {os.listdir(boxes.folder)}")


def wrong(boxes):
    dead = boxes.dead("11-1.box")
    living = boxes.live("12-1.box")
    target = str(living.pid)

    def damaged(name, change):
        shutil.copyfile(dead, boxes.path(name))
        with open(boxes.path(name), "r+b") as file:
            change(file)
        return boxes.path(name)

    def of_version_9(file):
        file.seek(8)
        file.write(b"\x09")

    text = boxes.file("text", "SELECT 1;\n" * 1000)
    other = boxes.path("other.box") if os.geteuid() == 0 else "/etc/shadow"
    if os.geteuid() == 0:
        shutil.copyfile(dead, other)
        os.chown(other, 65534, 65534)
    cut = damaged("cut.box", lambda file: file.truncate(20000))
    version = damaged("version.box", of_version_9)
    # As their programs left them when they were killed, before and after the file had its size.
    started = [damaged("13-1.box", lambda file: file.truncate(0)),
               damaged("14-1.box", lambda file: file.write(b"\0" * 4096))]
    for words, status, line in (
            (["show", boxes.path("none.box"), "global"], 1, "cannot be opened"),
            (["show", text, "global"], 1, "is not a box"),
            (["check", boxes.folder], 1, "not a regular file"),
            (["show", version, "global"], 1, "version 9"),
            (["check", cut], 1, "it is truncated"),
            (["check", started[0]], 1, "was never completed"),
            (["check", started[1]], 1, "was never completed"),
            (["show", other, "global"], 1, "belongs to user"),
            (["show", target, "memory_summary"], 1, "no table 'memory_summary'"),
            (["top", target, "--once", "--count", "many"], 2, "whole number"),
            (["top", target, dead, "--once"], 2, "unexpected argument"),
            (["truncate", dead, "global"], 1, "is read-only"),
            (["enable", dead, "memory/server/net"], 1, "is read-only"),
            (["enable", target, "memory/server/nothing"], 1, "no instrument is named"),
            (["frobnicate", target], 2, "unknown command 'frobnicate'"),
            (["top", target, "--frobnicate"], 2, "unknown option '--frobnicate'"),
            (["top", target, "--by", "moon"], 2, "choose from instrument"),
            (["list", "--format", "xml"], 2, "choose from text"),
            (["show", target], 2, "an argument is missing"),
            (["top", "4194305"], 1, "there is no process"),
            (["top", "1"], 1, "process 1 "),
            ([], 2, "no command given")):
        done = boxes.run(*words, status=status)
        expect(done.stderr.count("\n") == 1 and line in done.stderr and done.stdout == "",
               f"{words}: {done.stderr!r}, {done.stdout!r}")


def flips(boxes):
    """Whole processes, for what the reader's own test does in one."""
    dead = boxes.dead("11-1.box")
    generator = random.Random(1)
    with open(dead, "rb") as file:
        good = file.read()
    used = [at for at in range(0, len(good), 4096) if good[at:at + 4096].strip(b"\0")]
    for _ in range(300):
        at = generator.choice(used) + generator.randrange(4096)
        with open(dead, "r+b") as file:
            file.seek(at)
            file.write(bytes([good[at] ^ 1 << generator.randrange(8)]))
        done = subprocess.run([boxes.tool, "check", dead], capture_output=True, text=True,
                              timeout=60, errors="replace", check=False)
        said = done.stdout + done.stderr
        expect(done.returncode in (0, 1) and said.count("\n") == 1, f"byte {at}: {said}")
        with open(dead, "r+b") as file:
            file.seek(at)
            file.write(good[at:at + 1])


def foreign(boxes):
    """A folder with all that is no box of this user's: nothing is opened but regular files, nothing
    waits, and one line names the first."""
    dead = boxes.dead("11-1.box")
    os.mkfifo(boxes.path("21-1.box"))
    os.symlink("/dev/zero", boxes.path("22-1.box"))
    os.symlink(dead, boxes.path("23-1.box"))
    os.symlink("25-1.box", boxes.path("25-1.box"))
    os.mkdir(boxes.path("26-1.box"))
    with open(boxes.path("27-1.box"), "wb") as file:
        file.write(b"no box" * 1000)
        file.truncate(1 << 40)
    count = 7
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(boxes.path("28-1.box"))
    if os.geteuid() == 0:
        os.mknod(boxes.path("31-1.box"), 0o600 | stat.S_IFCHR, os.makedev(1, 5))
        shutil.copyfile(dead, boxes.path("32-1.box"))
        os.chown(boxes.path("32-1.box"), 65534, 65534)
        count += 2
    began = time.monotonic()
    done = boxes.run("list", "--format", "json")
    expect([row["BOX"] for row in json.loads(done.stdout)] == [dead], f"listed: {done.stdout}")
    expect(re.fullmatch(r"pfs-mem: (\d+) files are not boxes; the first: '.*' .*\n", done.stderr),
           f"{done.stderr}")
    expect(done.stderr.startswith(f"pfs-mem: {count} files"), f"{count} of them: {done.stderr}")
    expect(boxes.run("show", "last", "global").stdout != "", "the box is read by name")
    for name, line in (("21-1.box", "not a regular file"), ("22-1.box", "not a regular file"),
                       ("28-1.box", "not a regular file"), ("27-1.box", "is not a box")):
        done = boxes.run("check", boxes.path(name), status=1)
        expect(line in done.stderr and done.stderr.count("\n") == 1, f"{name}: {done.stderr}")
    expect(boxes.run("check", boxes.path("23-1.box")).stdout != "", "a link that the user names")
    expect(time.monotonic() - began < 20, "nothing waits")


if __name__ == "__main__":
    main({"prints": prints, "changes": changes, "wrong": wrong, "flips": flips,
          "foreign": foreign},
         Boxes(*sys.argv[2:]))
