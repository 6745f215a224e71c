#!/usr/bin/python3
"""check_cost.py - scripts/profile_cost.py on the programs of a build, in its quick mode: every
launch succeeds, each way is there, also of an older build, and the stacks of loops are walked. No
time is judged.

usage: check_cost.py SCRIPTS BUILD_FOLDER
"""

import json
import os
import subprocess
import sys
import tempfile

LOOPS = [f"loop-{way}-{frames}" for way in ("malloc", "new", "realloc")
         for frames in ("kept", "omitted")]
WAYS = {"malloc", "none", "10", "13", "16", "19", "20", "21", "before-none", "before-19", "walked"}


def main():
    """The check."""
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.abspath(sys.argv[2]), os.path.join(folder, "release"))
        done = subprocess.run(
            [os.path.join(sys.argv[1], "profile_cost.py"), "--quick", "--build-dir", folder,
             "--against", folder, "--only", ",".join(LOOPS + ["python3"]), "--out",
             os.path.join(folder, "out")], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        with open(os.path.join(folder, "out", "profile.json"), encoding="utf-8") as file:
            document = json.load(file)
    found = {}
    for launch in document["launches"]:
        found.setdefault(launch["case"], {}).update(launch["values"])
    assert document["complete"] and set(found) >= set(LOOPS), sorted(found)
    for case in LOOPS:
        values = found[case]
        assert set(values) == WAYS, (case, sorted(values))
        assert all(values[way]["cpu_ns"] > 0 for way in WAYS - {"walked"}), (case, values)
        # 200,000 pairs of 264 bytes, a quarter with realloc, an eighth where it is walked
        assert values["walked"]["samples"] > 300, (case, values["walked"])
        assert values["walked"]["percent"] >= 95, (case, values["walked"])
        assert f"{values['walked']['percent']:g} %" in done.stdout, done.stdout
    assert "samples" in found.get("python3", {}).get("walked", {"samples": 0}), found["python3"]
    assert json.loads(done.stdout.splitlines()[-1])["seconds"] > 0, done.stdout


main()
