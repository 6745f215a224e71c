"""mariadb_suite.py - the server's own tests of the Performance Schema, by its mysql-test-run.pl,
with the server as it is and with each policy; what differs.
"""

import os
import re
import shutil
import subprocess

from common import documents
from measuring.mariadb_server import BINARY

# A worker's lines: name, sometimes a combination and the worker, and the result.
LINE = re.compile(r"^(\w+\.[\w-]+(?: '[^']*')?)(?: +w\d+)? +\[ ([\w-]+) \]", re.MULTILINE)
RETRIES = 3  # a test that fails is repeated; it has failed where it does so each time


def outcomes(log):
    """{"passed", "failed", "unstable", "skipped": sorted names} of the text of a run. A test that
    failed and then passed is unstable, and passed."""
    seen = {}
    for name, result in LINE.findall(log):
        seen.setdefault(name, set()).add(result.rpartition("-")[2])
    passed = {name for name, found in seen.items() if "pass" in found}
    failed = {name for name, found in seen.items() if "fail" in found}
    return {"passed": sorted(passed), "failed": sorted(failed - passed),
            "unstable": sorted(failed & passed), "skipped": sorted(set(seen) - passed - failed)}


def differences(stock, other):
    """{test: (with the stock server, with the other)} of those whose outcome is another one."""
    def of(found):
        return {name: word for word in ("passed", "failed", "skipped") for name in found[word]}
    one, two = of(stock), of(other)
    return {name: (one.get(name, "not run"), two.get(name, "not run"))
            for name in sorted(one.keys() | two.keys()) if one.get(name) != two.get(name)}


def counts(found):
    """What mariadb.json says of a run."""
    return {"passed": len(found["passed"]), "failed": found["failed"],
            "unstable": found["unstable"], "skipped": len(found["skipped"])}


def view_of(built, place):
    """A build folder of links in which mariadbd is the stock server: the test program takes the
    server of its build folder, and keeps its files in mysql-test."""
    shutil.rmtree(place, ignore_errors=True)
    for folder in ("", "sql", "mysql-test"):
        os.makedirs(os.path.join(place, folder), exist_ok=True)
        for name in os.listdir(os.path.join(built.build, folder)):
            target = os.path.join(place, folder, name)
            if name not in ("sql", "mysql-test", "var", "mariadbd", "mysqld"):
                os.symlink(os.path.join(built.build, folder, name), target)
    return place


def run(built, policy, work, tests=(), parallel=2, suite="perfschema"):
    """The outcomes of the suite, or of some tests."""
    view = view_of(built, os.path.join(work, f"view-{policy}"))
    server = built.binary("mariadbd.stock" if policy == BINARY else "mariadbd")
    for name in ("mariadbd", "mysqld"):
        os.symlink(server, os.path.join(view, "sql", name))
    command = ["perl", "./mariadb-test-run.pl", f"--parallel={parallel}", "--mem", "--force",
               "--max-test-fail=0", f"--retry={RETRIES}", f"--retry-failure={RETRIES}",
               f"--suite={suite}", *tests]
    if policy != BINARY:
        command.append(f"--mysqld=--pfslab-policy={policy}")
    log = os.path.join(work, f"suite-{policy}.log")
    with open(log, "w", encoding="utf-8") as file:
        subprocess.run(["nice", *command], cwd=os.path.join(built.src, "mysql-test"), stdout=file,
                       stderr=file, stdin=subprocess.DEVNULL, check=False, env={
                           **os.environ, "MTR_BINDIR": view,
                           "LD_LIBRARY_PATH": built.libraries(built.preset)})
    shutil.rmtree(os.path.realpath(os.path.join(view, "mysql-test", "var")), ignore_errors=True)
    with open(log, encoding="utf-8", errors="replace") as file:
        found = outcomes(file.read())
    if not any(found.values()):
        raise documents.BadInput(f"{log}: no test ran; read its last lines")
    return found
