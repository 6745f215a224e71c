"""mariadb_loads.py - what scripts/mariadb measures: change it here. Each load runs on a server of
its own and gives entries of mariadb.json.
"""

import math
import os
import random
import re
import subprocess
import threading
import time
from collections import namedtuple

from measuring import mariadb_box, mariadb_server
from measuring.mariadb_client import Crowd, Failed

HERE = os.path.dirname(os.path.abspath(__file__))
STATEMENTS, SLEEP_S = 4, 0.3  # of each connection of a storm
WAVES, WAVE_CONNECTIONS = 3, 1500
TABLE_ROWS = 10000  # of sysbench's table

# after_s: when memory is looked at after a storm; hour_s: of a day; tables_s, cost_s: how long;
# storms: connections; threads: of sysbench.
Extent = namedtuple("Extent", "storms wave after_s hour_s tables_s cost_s threads")
EXTENTS = {
    "full": Extent((50, 200, 500, 1000, 1500, 2000), WAVE_CONNECTIONS, (1, 2, 5, 10), 5.0, 12.0,
                   5.0, (2, 8)),
    "quick": Extent((300,), 300, (1, 2, 6), 0.25, 1.0, 1.0, (2,)),
}


# ---- storms ----

class Storm:
    """Connections that come at once, ask a few statements that sleep, and leave as they finish.
    None leaves before all have come."""

    def __init__(self, server, connections):
        self.connections = connections
        self.may_leave = False
        self.began = set()
        self.crowd = Crowd(server.path("s"), self.when_idle)

    def when_idle(self, guest):
        """The next statement, or the end."""
        if guest.answers:
            self.began.add(guest)
        if guest.answers < STATEMENTS:
            guest.ask(f"select sleep({SLEEP_S})".encode())
        elif self.may_leave:
            self.crowd.close(guest)

    def rise(self):
        """Until all are here and have had an answer."""
        self.crowd.open(self.connections)
        self.crowd.serve_until(lambda: len(self.began) == self.connections, 120,
                               f"a storm of {self.connections} connections")

    def fall(self):
        """Until all have left."""
        self.may_leave = True
        for guest in list(self.crowd.guests):
            if guest.state == "idle":
                self.crowd.close(guest)
        self.crowd.serve_until(lambda: not self.crowd.guests, 60, "the end of a storm")


def one_storm(server, connections, after_s):
    """(its samples, was it disturbed?)."""
    samples, watch = [server.sample("start")], mariadb_server.Watch(server)
    storm = Storm(server, connections)
    try:
        storm.rise()
        samples.append(server.sample("peak"))
        storm.fall()
        disturbed = watch.disturbed()
    finally:
        storm.crowd.close_all()
    end = time.monotonic()
    for seconds in after_s:
        time.sleep(max(0.0, end + seconds - time.monotonic()))
        samples.append(server.sample("after", time.monotonic() - end))
    return samples, disturbed


def storm(server, cell, extent):
    """One storm."""
    samples, disturbed = one_storm(server, cell.size, extent.after_s)
    return {"storms": [{"connections": cell.size, "kind": "at_once", "wave": 0,
                        "samples": samples, "disturbed": disturbed}]}


def waves(server, cell, extent):
    """Storms one after the other; only the last is followed to its end."""
    found = []
    for wave in range(WAVES):
        after_s = extent.after_s if wave == WAVES - 1 else extent.after_s[:2]
        samples, disturbed = one_storm(server, cell.size, after_s)
        found.append({"connections": cell.size, "kind": "waves", "wave": wave, "samples": samples,
                      "disturbed": disturbed})
    return {"storms": found}


# ---- a day ----

def tide(hour):
    """Connections at an hour of the day: a peak before noon, a higher one in the evening."""
    return round(20 + 700 * math.exp(-((hour - 10.5) / 2) ** 2) +
                 1100 * math.exp(-((hour - 20) / 1.5) ** 2))


def day(server, cell, extent):
    """A day of tides, and as much of the next night as memory needs to return. Connections leave in
    random order, and in each tenth of a second one in fifty, at least one, is replaced: none stays
    for long."""
    crowd = Crowd(server.path("s"), lambda guest: guest.answers or guest.ask(b"select 1"))
    source, series, watch = random.Random(cell.size), [], mariadb_server.Watch(server)
    begin = time.monotonic()
    next_step = next_sample = begin
    try:
        while (now := time.monotonic()) < begin + 24 * extent.hour_s + extent.after_s[-1]:
            hour = (now - begin) / extent.hour_s
            if now >= next_step:
                next_step += 0.1
                want = tide(hour)
                idle = [guest for guest in crowd.guests if guest.state == "idle"]
                gone = max(0, len(crowd.guests) - want) + max(1, want // 50)
                for guest in source.sample(idle, min(gone, len(idle))):
                    crowd.close(guest)
                crowd.open(max(0, want - len(crowd.guests)))
            if now >= next_sample:
                next_sample += 0.5
                series.append({"hour": round(hour, 4), "connections": len(crowd.guests),
                               "ps_bytes": server.ps_bytes(), "rss_bytes": server.rss_bytes()})
            crowd.serve(min(next_step, next_sample) - time.monotonic())
        disturbed = watch.disturbed()
    finally:
        crowd.close_all()
    return {"days": [{"series": series, "containers": server.containers(),
                      "disturbed": disturbed}]}


# ---- tables and prepared statements ----

WRITERS, READERS = 6, 2
TABLES_OF_EACH, STATEMENTS_OF_EACH = 100, 100
READS = [f"select * from performance_schema.{name}" for name in
         ("threads", "mutex_instances", "events_statements_history", "table_handles", "accounts",
          "prepared_statements_instances", "metadata_locks",
          "table_io_waits_summary_by_index_usage")]


class Threads:
    """Clients that work at the same time; the first failure of one is that of all."""

    def __init__(self):
        self.problem = None
        self.stop = threading.Event()
        self.threads = []

    def start(self, work, *arguments):
        """One more: work(*arguments)."""
        def run():
            try:
                work(*arguments)
            except (Failed, OSError) as problem:
                self.problem = self.problem or problem
                self.stop.set()
        self.threads.append(threading.Thread(target=run, daemon=True))
        self.threads[-1].start()

    def end(self):
        """Wait for all; Failed where one failed."""
        self.stop.set()
        for thread in self.threads:
            thread.join()
        if self.problem:
            raise Failed(str(self.problem))


def write_tables(server, number, clients, cycles):
    """Tables and prepared statements come, all are open at once, and go again, until the end."""
    connection = server.connect(f"writer{number}")
    engine = ("Aria", "MyISAM")[number % 2]
    try:
        while not clients.stop.is_set():
            tables = [f"w{number}_{k}" for k in range(TABLES_OF_EACH)]
            for table in tables:
                connection.rows(f"create table {table} (id int primary key, v varchar(20), "
                                f"key (v)) engine={engine}")
                connection.rows(f"insert into {table} values (1, 'a'), (2, 'b')")
                connection.rows(f"select * from {table} where id = 2")
            for k in range(STATEMENTS_OF_EACH):
                connection.rows(f"prepare s{k} from 'select * from {tables[k]} where id = ?'")
                connection.rows(f"execute s{k} using 1")
            for k in range(STATEMENTS_OF_EACH):
                connection.rows(f"deallocate prepare s{k}")
            for table in tables:
                connection.rows(f"drop table {table}")
            cycles.append(number)
    finally:
        connection.close()


def read_tables(server, number, clients, tally):
    """Read tables of the Performance Schema, until the end."""
    connection = server.connect(f"reader{number}")
    try:
        while not clients.stop.is_set():
            for statement in READS:
                try:
                    tally["rows"] += len(connection.rows(statement))
                    tally["reads"] += 1
                except Failed:
                    if server.process.poll() is not None:
                        raise
                    tally["errors"] += 1
    finally:
        connection.close()


def tables(server, _cell, extent):
    """Tables and prepared statements under readers."""
    start, peak = server.ps_bytes(), 0
    clients, cycles = Threads(), []
    tallies = [{"rows": 0, "reads": 0, "errors": 0} for _ in range(READERS)]
    for number in range(WRITERS):
        clients.start(write_tables, server, number, clients, cycles)
    for number, tally in enumerate(tallies):
        clients.start(read_tables, server, number, clients, tally)
    try:
        while not clients.stop.wait(0.25) and extent.tables_s > 0:
            peak = max(peak, server.ps_bytes())
            extent = extent._replace(tables_s=extent.tables_s - 0.25)
    finally:
        clients.end()
    peak = max(peak, server.ps_bytes())
    server.control.rows("flush tables")
    time.sleep(extent.after_s[-1])
    return {"tables": [{
        "ps_bytes_start": start, "ps_bytes_peak": peak, "ps_bytes_after_10s": server.ps_bytes(),
        "after_s": extent.after_s[-1], "rss_bytes_after": server.rss_bytes(),
        "cycles": len(cycles), "reader_rows": sum(t["rows"] for t in tallies),
        "reader_reads": sum(t["reads"] for t in tallies),
        "reader_errors": sum(t["errors"] for t in tallies), "containers": server.containers()}]}


# ---- what it costs ----

WORKLOADS = {"point": ["oltp_point_select", f"--table-size={TABLE_ROWS}", "--tables=1",
                       "--db-ps-mode=disable"],
             "connect": [os.path.join(HERE, "mariadb_load.lua"), f"--table-size={TABLE_ROWS}"]}


def sysbench(server, workload, threads, seconds):
    """Statements per second of a workload."""
    done = subprocess.run(
        ["sysbench", *WORKLOADS[workload], "--db-driver=mysql", "--mysql-user=root",
         f"--mysql-socket={server.path('s')}", "--mysql-db=test", f"--threads={threads}",
         f"--time={seconds:g}", "--rand-type=uniform", "run"], capture_output=True, text=True,
        stdin=subprocess.DEVNULL, timeout=seconds + 60, check=False)
    found = re.search(r"queries:\s+\d+\s+\(([\d.]+) per sec", done.stdout)
    if done.returncode or not found:
        raise Failed(f"sysbench: {mariadb_server.last_line(done.stderr + done.stdout)}")
    return float(found[1])


def fill(server):
    """The table that sysbench reads; it would make the same, in more time."""
    server.control.rows("create table sbtest1 (id int primary key, k int not null, c char(120) not "
                        "null, pad char(60) not null, key (k)) engine=Aria transactional=0")
    server.control.rows("insert into sbtest1 select seq, seq, repeat('c', 119), repeat('p', 59) "
                        f"from seq_1_to_{TABLE_ROWS}")


def cost(server, cell, extent):
    """Statements per second and the server's CPU time, of each workload."""
    fill(server)
    sysbench(server, "point", 2, min(1, extent.cost_s))  # warm
    found = []
    cases = [(workload, threads) for workload in WORKLOADS for threads in extent.threads]
    random.Random(cell.size).shuffle(cases)
    for workload, threads in cases:
        watch, cpu = mariadb_server.Watch(server), server.cpu_seconds()
        speed = sysbench(server, workload, threads, extent.cost_s)
        found.append({"workload": workload, "threads": threads, "statements_per_second": speed,
                      "cpu_seconds": round(server.cpu_seconds() - cpu, 3),
                      "seconds": extent.cost_s, "disturbed": watch.disturbed()})
    return {"cost": found}


# ---- the box ----

def box(server, _cell, extent):
    """The server's tables and its box."""
    return {"boxes": [mariadb_box.compare(server, extent.wave)]}


# ---- the table of what is measured ----

# run(server, cell, extent) gives {key of mariadb.json: entries}; counted: with the library that
# counts; seconds(extent): about how long. The server of "box" has a box.
Experiment = namedtuple("Experiment", "run counted servers seconds")
EXPERIMENTS = {
    "storm": Experiment(storm, True, mariadb_server.SERVERS, lambda e: 4 + e.after_s[-1]),
    "waves": Experiment(waves, True, mariadb_server.SERVERS,
                        lambda e: 9 + 2 * e.after_s[1] + e.after_s[-1]),
    "day": Experiment(day, False, mariadb_server.SERVERS,
                      lambda e: 2 + 24 * e.hour_s + e.after_s[-1]),
    "tables": Experiment(tables, True, mariadb_server.SERVERS,
                         lambda e: 4 + e.tables_s + e.after_s[-1]),
    "cost": Experiment(cost, False, (mariadb_server.OFF, *mariadb_server.SERVERS),
                       lambda e: 4 + 2 * len(e.threads) * (e.cost_s + 0.3)),
    "box": Experiment(box, False, ("exact",), lambda _: 14),
}
# size: connections of storms and waves; for the others a seed.
Cell = namedtuple("Cell", "experiment size")


def cells(extent, names, number):
    """What a round consists of."""
    found = []
    for name in names:
        sizes = {"storm": extent.storms, "waves": (extent.wave,)}.get(name, (number,))
        found += [Cell(name, size) for size in sizes]
    return found


def plan(extent, names, policies, rounds, seed):
    """The launches in order: rounds (numbers), in each the cells shuffled, in each its servers
    shuffled."""
    source = random.Random(seed)
    launches = []
    for number in rounds:
        turn = cells(extent, names, number)
        source.shuffle(turn)
        for cell in turn:
            servers = [name for name in EXPERIMENTS[cell.experiment].servers
                       if name == mariadb_server.OFF or name in policies]
            source.shuffle(servers)
            launches += [{"round": number, "experiment": cell.experiment, "size": cell.size,
                          "policy": policy, "status": "planned"} for policy in servers]
    return launches
