"""programs.py - what the tests of pfs-check share: a program is compiled as docs/reference/check.md
says, pfs-check is run, and what it says is looked at.
"""

import os
import re
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "scripts"))
# pylint: disable=wrong-import-position,unused-import
from common.expect import equal, expect, finish, part_of, run, skip

PROGRAMS = os.path.join(TOP, "check", "programs")
EXAMPLE = os.path.join(TOP, "check", "example")


def build(compiler, source, path, *flags, link=()):
    """PATH.so of a source; its path."""
    subprocess.run([compiler, "-g", "-O1", "-fsanitize=thread", "-fPIC", "-w", "-I",
                    os.path.join(TOP, "include"), *flags, "-c", "-o", path + ".o", source],
                   check=True)
    subprocess.run([compiler, "-shared", *link, "-o", path + ".so", path + ".o"], check=True)
    return path + ".so"


class Checked:
    """pfs-check, a compiler, and a folder for what it makes."""

    def __init__(self, pfs_check, compiler, folder):
        self.pfs_check, self.compiler, self.folder = pfs_check, compiler, folder

    def path(self, name, text=None):
        """A file in the folder, of this text if there is one."""
        path = os.path.join(self.folder, name)
        if text is not None:
            with open(path, "wb") as file:
                file.write(text.encode() if isinstance(text, str) else text)
        return path

    def build(self, source, *flags, link=(), name="program"):
        """The path of a program's shared object."""
        return build(self.compiler, source, self.path(name), *flags, link=link)

    def run(self, *options, **more):
        """pfs-check at its end."""
        return run(self.pfs_check, *options, **more)

    def expect(self, what, done, status, pattern):
        """Status and words."""
        said = done.stdout + done.stderr
        expect(done.returncode == status and re.search(pattern, said),
               f"{what}: exit {done.returncode}, expected {status} and {pattern}:\n{said}")
