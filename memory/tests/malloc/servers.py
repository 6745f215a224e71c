"""servers.py - redis and MariaDB under load, each in a folder of its own, over a socket only."""

import os
import pwd
import shutil
import signal
import subprocess
import time
from contextlib import contextmanager

import preload

START_SECONDS = 60
FILL = ("for i = 1, 20000 do local v = string.rep('v', i % 300) "
        "redis.call('set', 's' .. i, v) redis.call('hset', 'h' .. i % 100, 'f' .. i, v) "
        "redis.call('rpush', 'l' .. i % 50, v) redis.call('zadd', 'z' .. i % 20, i, 'm' .. i) "
        "redis.call('append', 's' .. i % 1000, v) end return redis.call('dbsize')")


class Failed(Exception):
    """A program gave a wrong result."""


def which(name):
    """The path of a command; servers are found in sbin, too."""
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


@contextmanager
def server(place, command, ready, stop, more=None):
    """A server while the body runs; ready tells when it answers; stop must end it with status 0."""
    with open(place.path("log"), "wb") as log, \
            subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                             env=preload.environment(place.library, more), cwd=place.folder,
                             start_new_session=True) as process:
        try:
            end = time.monotonic() + START_SECONDS
            while not ready():
                if process.poll() is not None or time.monotonic() > end:
                    raise Failed(f"no start: {last_line(place)}")
                time.sleep(0.1)
            yield process
            if process.poll() is not None:
                raise Failed(f"it ended under load: {last_line(place)}")
            stop()
            if process.wait(timeout=START_SECONDS) != 0:
                raise Failed(f"it ended with {process.returncode}: {last_line(place)}")
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def last_line(place):
    """The end of the log."""
    with open(place.path("log"), encoding="utf-8", errors="replace") as file:
        lines = file.read().strip().split("\n")
    return lines[-1][:150]


def redis(place):
    """redis-benchmark; then the data that a script made, before and after a save and a load. The
    server is in redis-tools, too: redis-check-rdb is the same file, by another name."""
    socket, program = place.path("s"), place.path("redis-server")
    os.symlink(which("redis-check-rdb"), program)

    def call(*arguments):
        return place.run("redis-cli", "-s", socket, *arguments)

    def ready():
        return os.path.exists(socket) and preload.run(["redis-cli", "-s", socket, "ping"]).out == \
            "PONG\n"

    def stop():
        preload.run(["redis-cli", "-s", socket, "shutdown", "nosave"])

    command = [program, "--port", "0", "--unixsocket", socket, "--save", "",
               "--enable-debug-command", "yes", "--dir", place.folder, "--activedefrag", "no"]
    with server(place, command, ready, stop):
        count = "200000" if place.long else "20000"
        out = place.run("redis-benchmark", "-s", socket, "-q", "-n", count, "-c", "20", "-d",
                        "200", "-t", "set,get,incr,lpush,lpop,sadd,hset,lrange_100", "-r", "5000")
        if "LRANGE_100" not in out or "rror" in out:
            raise Failed("redis-benchmark does not end")
        call("flushall")
        said = call("eval", FILL, "0") + call("debug", "digest")
        call("bgsave")
        for _ in range(100):
            if "rdb_bgsave_in_progress:0" in call("info", "persistence"):
                break
            time.sleep(0.1)
        if "rdb_last_bgsave_status:ok" not in call("info", "persistence"):
            raise Failed("bgsave")
        call("debug", "reload")
        return said + call("debug", "digest") + call("dbsize")


def mariadb(place):
    """A database of its own, mysqlslap with mixed load, then queries whose answers are known."""
    socket, data = place.path("s"), place.path("data")
    user = pwd.getpwuid(os.getuid()).pw_name
    # A server that starts removes the temporary tables of all servers that share their folder.
    more = {"TMPDIR": place.folder}
    place.run("mariadb-install-db", "--no-defaults", f"--datadir={data}", f"--user={user}",
              "--auth-root-authentication-method=normal", "--skip-test-db", seconds=180,
              more=more)
    client = ["--no-defaults", f"--socket={socket}", "-u", "root"]

    def ready():
        return preload.run(["mariadb-admin", *client, "ping"]).code == 0

    def stop():
        preload.run(["mariadb-admin", *client, "shutdown"])

    command = [which("mariadbd"), "--no-defaults", f"--datadir={data}", f"--socket={socket}",
               "--skip-networking", f"--user={user}", "--innodb-buffer-pool-size=64M",
               f"--pid-file={place.path('pid')}"]
    with server(place, command, ready, stop, more):
        place.run("mysqlslap", *client, "--concurrency=8", "--auto-generate-sql",
                  f"--number-of-queries={40000 if place.long else 2000}", "--auto-generate-sql-"
                  "load-type=mixed", "--number-char-cols=5", "--number-int-cols=3",
                  "--auto-generate-sql-add-autoincrement", seconds=600)
        return place.run("mariadb", *client, "-N", text=(
            "create database d; use d; create table t (id int primary key, name varchar(200), "
            "body text, key (name)); insert into t select seq, concat('n', seq * 7919 % 10007), "
            "repeat('b', seq % 500) from seq_1_to_30000;\n"
            "select count(*), sum(length(name)), sum(length(body)) from t;\n"
            "select name, count(*) c from t group by name order by c desc, name limit 5;\n"
            "select count(*) from t a join t b on a.name = b.name where a.id < b.id;\n"
            "select md5(group_concat(x)) from (select concat(id, upper(name)) x from t order by "
            "body, id limit 300) y;\nupdate t set name = reverse(name) where id % 2;\n"
            "delete from t where id % 7 = 0; check table t extended;\nselect count(*), "
            "sum(crc32(concat(id, name))) from t; drop database d;\n"), seconds=300)
