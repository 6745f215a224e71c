"""resume.py - scripts/run continues a stopped run: what a result folder already has."""

import os

from common import documents

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LOCAL = os.path.join(TOP, "results", "local")
# What must be the same for the numbers to belong to one result.
SAME = ("cpu_model", "cpus_allowed", "kernel", "revision", "build")
SETTLED = ("done", "unfit")  # of launches; others are launched again


def plan_of(folder):
    """The plan of a result folder; BadInput without one."""
    path = os.path.join(folder, "plan.json")
    if not documents.is_there(path):
        raise documents.BadInput(f"--resume {folder}: no run was started there (no plan.json); "
                                 f"begin one with --out {folder}")
    if os.path.exists(os.path.join(folder, "raw.tar.xz")):
        raise documents.BadInput(f"--resume {folder}: is packed, so its run has ended; begin a new "
                                 "run")
    plan = documents.read_json(path)
    if not isinstance(plan, dict) or not isinstance(plan.get("launches"), list):
        raise documents.BadInput(f"--resume {path}: is not a plan; begin a new run")
    return plan


def is_over(folder):
    """Did the run of a folder end by itself?"""
    return os.path.exists(os.path.join(folder, "report.html"))


def newest(local=LOCAL):
    """The folder of the newest run that was stopped; BadInput without one."""
    names = sorted(os.listdir(local), reverse=True) if os.path.isdir(local) else []
    for name in names:
        folder = os.path.join(local, name)
        if os.path.exists(os.path.join(folder, "plan.json")) and not is_over(folder):
            return folder
    raise documents.BadInput(f"--resume: no run in {os.path.relpath(local)} was stopped; name its "
                             "folder")


def must_be_same(folder, now):
    """BadInput if the machine or the build differs from that of the folder."""
    path = os.path.join(folder, "machine.json")
    if not os.path.exists(path):
        return  # stopped before anything was measured
    before = documents.read_json(path)
    for name in SAME:
        if before.get(name) != now.get(name):
            raise documents.BadInput(f"--resume {folder}: its {name} was {before.get(name)!r}, and "
                                     f"is {now.get(name)!r} now; begin a new run")


def settle(plan, folder):
    """Launches that need not be repeated stay; the number of them. Others are planned again."""
    kept = 0
    for launch in plan["launches"]:
        there = all(os.path.exists(os.path.join(folder, launch[key]))
                    for key in ("file", "series") if launch.get(key))
        if launch["status"] == "unfit" or (launch["status"] == "done" and there):
            kept += 1
            continue
        launch["status"] = "planned"
        launch.pop("reason", None)
    return kept


def has_chapter(folder, name):
    """Was a chapter measured to its end? Launches that failed are not repeated."""
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        return False
    launches = documents.read_json(path).get("launches", [])
    return all(launch.get("status") in ("done", "failed") for launch in launches)
