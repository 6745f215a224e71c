"""place.py - what tests of pfs-mem share: a folder of boxes, pfs-mem and programs on it."""

import os
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "scripts"))
# pylint: disable=wrong-import-position,unused-import
from common.expect import equal, expect, faults, finish, run, show, skip

SVG = "{http://www.w3.org/2000/svg}"


class Place:
    """A folder, in memory where that is, as boxes are without being asked; and pfs-mem on it."""

    def __init__(self, tool, **environment):
        self.tool = os.path.abspath(tool)
        shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.folder = tempfile.mkdtemp(prefix="pfslab-mem-", dir=shared)
        self.environment = {**os.environ, "PFS_MEM_DIR": self.folder, "LC_ALL": "C", **environment}
        for name in ("LD_PRELOAD", "PFS_MEM_LG_PROF_SAMPLE", "PFS_MEM_PROFILE"):
            self.environment.pop(name, None)

    def path(self, name):
        """Of a file in the folder."""
        return os.path.join(self.folder, name)

    def file(self, name, text):
        """A file in the folder; its path."""
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def call(self, words, status=0, **more):
        """Any command, which must end so; what subprocess.run gives."""
        done = run(*words, **{"env": self.environment, "timeout": 120, **more})
        expect(done.returncode == status,
               f"{words}: exit {done.returncode}, not {status}: {done.stderr}")
        return done

    def run(self, *words, status=0, **more):
        """pfs-mem, likewise."""
        return self.call([self.tool, *words], status, **more)

    def start(self, *words, options=(), more=None):
        """A program under pfs-mem run, with pipes."""
        if not os.path.exists(os.path.join(os.path.dirname(self.tool), "libpfsmem.so")):
            skip("no libpfsmem.so in this build")
        return subprocess.Popen([self.tool, "run", *options, "--", *words], text=True,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                env={**self.environment, **(more or {})})

    def close(self):
        """Nothing stays."""
        shutil.rmtree(self.folder, ignore_errors=True)


def main(parts, place, *words, part=None):
    """The part that the command line names, in a place, with more words for it; never returns."""
    try:
        parts[part or sys.argv[1]](place, *words)
    finally:
        place.close()
        show()
    sys.exit(1 if faults else 0)
