"""allocator_servers.py - redis and MariaDB under the load of their own clients, for
scripts/allocators.py. They listen on sockets in a temporary folder; the clients have no allocator
preloaded.
"""

import os
import shutil
import subprocess
import time

WAIT_S = 30
IDLE_S = 3.0


class Failed(Exception):
    """Why a launch failed, in a line."""


def resident_bytes(pid):
    """What a process holds, exactly; None where it is gone."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
            for line in file:
                if line.startswith("Rss:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


def child_of(pid):
    """The only child of a process: the program behind pfs-malloc-run."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            children = file.read().split()
    except OSError:
        children = []
    return int(children[0]) if children else None


def call(command, seconds=120, environment=None):
    """Run a client to its end; Failed with its last line where it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace",
                              timeout=seconds, check=False, stdin=subprocess.DEVNULL,
                              env=environment)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Failed(f"{command[0]}: {error}") from None
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()[-1]
        raise Failed(f"{os.path.basename(command[0])}: {last}")
    return done.stdout


def answers(command):
    """Does a client's question get an answer?"""
    try:
        return subprocess.run(command, capture_output=True, timeout=10, check=False,
                              stdin=subprocess.DEVNULL).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


class Server:
    """A server: how it is started, asked, loaded, idled and stopped."""

    NEEDS = ()  # (program, Debian's package of it)

    def __init__(self, folder, amount):
        self.folder, self.amount = folder, amount

    @classmethod
    def absent(cls):
        """A line where a program is not installed."""
        return next((f"{program} is not here; install {package}" for program, package in cls.NEEDS
                     if not shutil.which(program)), None)

    def prepare(self):
        """Once, before all launches; a line where the server cannot be measured."""
        return None

    def place(self, allocator):
        """A folder for each allocator's server: one may still idle while another one starts."""
        path = os.path.join(self.folder, f"{type(self).__name__.lower()}-{allocator}")
        os.makedirs(path, exist_ok=True)
        return path

    def launch(self, start, allocator, quiet):
        """Start it by start(command), which gives a process; load it, say quiet(), let it idle;
        what it held then. Whoever called waits for the process."""
        place = self.place(allocator)
        process = start(self.command(place))
        end = time.monotonic() + WAIT_S
        while not answers(self.client(place) + self.ping):
            if process.poll() is not None or time.monotonic() > end:
                raise Failed("the server does not answer")
            time.sleep(0.05)
        self.load(place)
        quiet()
        time.sleep(IDLE_S)
        pid = child_of(process.pid)
        idle = resident_bytes(pid) if pid else None
        call(self.client(place) + self.stop)
        process.wait(timeout=WAIT_S)
        return {"idle_bytes": idle} if idle else {}


class Redis(Server):
    """Commands on values of 200 bytes, then all is deleted. Debian's redis-tools has the server,
    too: redis-check-rdb is the same file, which looks at the name it is called by."""

    NEEDS = tuple((program, "redis-tools") for program in ("redis-cli", "redis-benchmark",
                                                           "redis-check-rdb"))
    ping, stop = ["ping"], ["shutdown", "nosave"]
    tests = "set,get,lpush,lpop,sadd,spop,hset,zadd,zpopmin"

    def command(self, place):
        return [os.path.join(self.folder, "redis-server"), "--port", "0", "--save", "",
                "--unixsocket", os.path.join(place, "socket"), "--dir", place]

    def client(self, place):
        return ["redis-cli", "-s", os.path.join(place, "socket")]

    def prepare(self):
        if self.absent():
            return self.absent()
        os.symlink(shutil.which("redis-check-rdb"), os.path.join(self.folder, "redis-server"))
        return None

    def load(self, place):
        call(["redis-benchmark", "-s", os.path.join(place, "socket"), "-n", str(self.amount),
              "-c", "20", "-P", "8", "-r", "20000", "-d", "200", "-q", "-t", self.tests])
        call(self.client(place) + ["flushall", "sync"])


class Mariadb(Server):
    """Inserts and queries of 8 clients. One that starts removes the temporary tables of all that
    have the same folder for them, so each has its own."""

    NEEDS = (("mariadbd", "mariadb-server"), ("mariadb-install-db", "mariadb-server-core"),
             ("mysqlslap", "mariadb-client"))
    ping, stop = ["ping"], ["shutdown"]
    flags = ["--no-defaults", "--skip-networking", "--innodb-log-file-size=8M",
             "--innodb-buffer-pool-size=32M"]

    def prepare(self):
        if self.absent():
            return self.absent()
        try:
            call(["mariadb-install-db", *self.flags, f"--datadir={self.folder}/mariadb-data",
                  f"--user={user()}", "--auth-root-authentication-method=normal",
                  "--skip-test-db"], environment={**os.environ, "TMPDIR": self.folder})
        except Failed as problem:
            return str(problem)
        return None

    def place(self, allocator):
        path = os.path.join(self.folder, f"mariadb-{allocator}")
        if not os.path.exists(path):
            shutil.copytree(os.path.join(self.folder, "mariadb-data"), path)
            os.mkdir(f"{path}-tables")
        return path

    def command(self, place):
        return ["mariadbd", *self.flags, f"--user={user()}", f"--datadir={place}",
                f"--socket={place}/socket", f"--pid-file={place}/pid",
                f"--tmpdir={place}-tables",
                "--innodb-flush-log-at-trx-commit=0", "--performance-schema=off"]

    def client(self, place):
        return ["mariadb-admin", "--no-defaults", "-u", "root", "-S", f"{place}/socket"]

    def load(self, place):
        call(["mysqlslap", "--no-defaults", "-u", "root", "-S", f"{place}/socket",
              "--concurrency=8", f"--number-of-queries={self.amount}", "--auto-generate-sql",
              "--auto-generate-sql-load-type=mixed", "--number-char-cols=2",
              "--number-int-cols=2"])


def user():
    """Who runs this; a server that is started by root wants to be told so."""
    import pwd  # not everywhere
    return pwd.getpwuid(os.getuid()).pw_name


SERVERS = {"redis": Redis, "mariadb": Mariadb}
