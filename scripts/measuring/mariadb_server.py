"""mariadb_server.py - MariaDB servers that scripts/mariadb measures: start, ask, stop; what the
Performance Schema and its containers hold.
"""

import glob
import os
import re
import resource
import shutil
import signal
import subprocess
import time

from common import documents
from measuring import allocator_servers, launching
from measuring.mariadb_client import Connection, Failed

BINARY = "stock-binary"  # the server that was built without the adapter
OFF = "off"  # the same, without a performance schema
POLICIES = ("stock", "original", "local_scan", "random_start", "reclaiming", "exact", "magazine")
SERVERS = (BINARY, *POLICIES)
COUNTS = ("pages_peak", "pages_given_back", "pages", "growths_needless", "growths", "live", "lost",
          "page_skips", "record_skips", "resident_bytes", "overhead_bytes")
STATUS = re.compile(rf"Pfslab_(\w+?)_({'|'.join(COUNTS)})", re.IGNORECASE)
CONTAINER = re.compile(r"PFS_(?:buffer_scalable_container|\w*)<\s*(PFS_\w+)\s*,\s*([\d *]+),")
# What SHOW ENGINE calls a container whose name is not that of its records.
SHOWN = {"mutex_instances": "mutex", "rwlock_instances": "rwlock", "cond_instances": "cond",
         "file_instances": "file", "socket_instances": "socket", "metadata_locks":
         "metadata_lock", "setup_actors": "setup_actor", "setup_objects": "setup_object",
         "prepared_statements_instances": "prepared_stmt",
         "threads": "thread", "events_statements_summary_by_program": "program",
         "table_io_waits_summary_by_index_usage": "table_share_index",
         "table_lock_waits_summary_by_table": "table_share_lock"}
CONSUMERS = [f"events-{kind}-{extent}" for kind in ("stages", "statements", "transactions", "waits")
             for extent in ("current", "history", "history-long")]
CONNECTIONS_MOST = 4000
WAIT_S = 60


def options(policy, build, accounts):
    """What a server is started with, besides its places."""
    words = ["--no-defaults", "--skip-networking", "--skip-grant-tables", "--log-warnings=0",
             f"--user={allocator_servers.user()}", f"--lc-messages-dir={build}/sql/share",
             f"--max-connections={CONNECTIONS_MOST}", f"--back-log={CONNECTIONS_MOST}",
             "--default-storage-engine=Aria"]
    if policy == OFF:
        return [*words, "--performance-schema=OFF"]
    words += ["--performance-schema=ON", "--performance-schema-instrument=%=on",
              *(f"--performance-schema-consumer-{name}=ON" for name in CONSUMERS)]
    return words if policy == BINARY else [*words, f"--pfslab-policy={policy}",
                                           *(["--pfslab-accounts=ON"] if accounts else [])]


def page_sizes(header):
    """{container: records of a page}, from the text of the server's header."""
    sizes = {}
    for name, number in CONTAINER.findall(header):
        product = 1
        for factor in number.split("*"):
            product *= int(factor)
        sizes.setdefault(name[len("PFS_"):], product)
    return sizes


def raise_limit():
    """As many open files as this process may have; BadInput if they are too few for a storm."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    need = CONNECTIONS_MOST + 1000
    if most != resource.RLIM_INFINITY and most < need:
        raise documents.BadInput(f"ulimit -n {most}: too few open files for a storm; allow {need}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def containers_of_status(rows, counted):
    """{container: its counts}, of the adapter's status variables."""
    found = {}
    for name, number in rows:
        parts = STATUS.fullmatch(name)
        if parts:
            found.setdefault(parts[1].lower(), {"counted": counted})[parts[2].lower()] = int(number)
    return {name: counts for name, counts in found.items()
            if counts.get("pages") or counts.get("pages_peak")}


def containers_of_engine(rows, sizes):
    """The same of SHOW ENGINE PERFORMANCE_SCHEMA STATUS, which knows pages and no more."""
    found = {}
    for _, name, number in rows:
        parts = re.fullmatch(r"\(?(?:pfs_)?(\w+?)\)?\.(?:count|row_count)", name)
        name = SHOWN.get(parts[1], parts[1]) if parts else None
        if name in sizes and int(number):
            found[name] = {"pages": int(number) // sizes[name], "counted": False}
    return found


class Built:
    """The servers of a build folder and the libraries of the presets; asan: the one server of
    build-asan."""

    def __init__(self, folder, build_dir, asan=False):
        self.src, self.build = (os.path.join(os.path.abspath(folder), name)
                                for name in ("src", "build-asan" if asan else "build"))
        self.build_dir = os.path.abspath(build_dir)
        self.preset = "asan" if asan else "release"
        for name in ("mariadbd",) if asan else ("mariadbd", "mariadbd.stock"):
            if not os.path.exists(self.binary(name)):
                raise documents.BadInput(f"{self.binary(name)}: not built; run scripts/mariadb "
                                         f"build{' --asan' if asan else ''} --dir {folder}")
        self.libraries(self.preset)
        with open(os.path.join(self.src, "storage/perfschema/pfs_buffer_container.h"),
                  encoding="utf-8", errors="replace") as file:
            self.sizes = page_sizes(file.read())

    def binary(self, name):
        """A server program."""
        return os.path.join(self.build, "sql", name)

    def libraries(self, preset):
        """The folder of a preset's library; BadInput where it is not built."""
        place = os.path.join(self.build_dir, preset, "lib")
        if not glob.glob(os.path.join(place, "libpfslab.so*")):
            raise documents.BadInput(
                f"{place}/libpfslab.so: not built; run cmake --preset {preset} && cmake --build "
                f"--preset {preset} --target pfslab_shared")
        return place

    def tool(self):
        """pfs-mem, which reads a server's box."""
        return launching.built(self.build_dir, "memory", "pfs-mem")

    def facts(self):
        """What a result says of the server."""
        with open(os.path.join(self.src, "debian", "changelog"), encoding="utf-8") as file:
            debian = re.match(r"\S+ \((\S+)\)", file.readline())
        with open(os.path.join(self.build, "CMakeCache.txt"), encoding="utf-8") as file:
            kept = re.findall(r"^(CMAKE_BUILD_TYPE|CMAKE_CXX_FLAGS_RELEASE|PLUGIN_\w+)"
                              r":\w+=(NO|STATIC|\S+|-.*)$", file.read(), re.MULTILINE)
        return {"version": "", "debian": debian[1] if debian else "unknown",
                "flags": " ".join(f"{name}={value}" for name, value in kept
                                  if not value.startswith("DYN")),
                "instruments": "%=on"}

    def prepare(self, place):
        """A data folder, made once by the server without the adapter, and copied for each."""
        data, scripts = os.path.join(place, "data"), os.path.join(self.build, "scripts")
        os.makedirs(data)
        texts = ["create database mysql;\ncreate database test;\nuse mysql;\n"]
        for name in ("mysql_system_tables", "mysql_performance_tables", "mysql_system_tables_data"):
            with open(os.path.join(scripts, f"{name}.sql"), encoding="utf-8") as file:
                texts.append(file.read())
        done = subprocess.run(
            [self.binary("mariadbd.stock"), "--no-defaults", "--bootstrap",
             f"--user={allocator_servers.user()}", f"--datadir={data}", "--log-warnings=0",
             f"--lc-messages-dir={self.build}/sql/share", "--default-storage-engine=Aria"],
            input="\n".join(texts), capture_output=True, text=True, timeout=300, check=False)
        if done.returncode:
            raise Failed(f"mariadbd.stock --bootstrap: {last_line(done.stderr)}")
        return data


def last_line(text):
    """What a program said last."""
    return (text.strip().splitlines() or ["no message"])[-1]


class Server:
    """A running server, for a with statement. accounts: with a box, in the folder boxes."""

    def __init__(self, built, policy, work, counted=False, accounts=False):
        self.built, self.policy, self.counted, self.accounts = built, policy, counted, accounts
        self.place = os.path.join(work, f"server-{policy}")
        self.boxes = self.path("boxes")
        self.process = self.control = None
        self.data = os.path.join(work, "data")

    def __enter__(self):
        shutil.rmtree(self.place, ignore_errors=True)
        shutil.copytree(self.data, os.path.join(self.place, "data"))
        os.mkdir(self.path("tmp"))
        os.mkdir(self.boxes, 0o700)
        stock = self.policy in (BINARY, OFF)
        preset = "counted" if self.counted else self.built.preset
        with open(self.path("log"), "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [self.built.binary("mariadbd.stock" if stock else "mariadbd"),
                 *options(self.policy, self.built.build, self.accounts),
                 f"--datadir={self.path('data')}", f"--socket={self.path('s')}",
                 f"--pid-file={self.path('pid')}", f"--tmpdir={self.path('tmp')}"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env={
                    **os.environ, "PFS_MEM_DIR": self.boxes,
                    "LD_LIBRARY_PATH": self.built.libraries(preset)})
        try:
            self.wait()
            if not stock:
                self.check_library()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.control:
            self.control.close()
        self.process.terminate()
        try:
            self.process.wait(timeout=WAIT_S)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        shutil.rmtree(self.place, ignore_errors=True)

    def path(self, name):
        """A file of the server."""
        return os.path.join(self.place, name)

    def wait(self):
        """Until it answers."""
        end = time.monotonic() + WAIT_S
        while self.control is None:
            if self.process.poll() is not None or time.monotonic() > end:
                with open(self.path("log"), encoding="utf-8", errors="replace") as file:
                    raise Failed(f"the server does not start: {last_line(file.read())}")
            try:
                self.control = Connection(self.path("s"))
            except (OSError, Failed):
                time.sleep(0.05)

    def check_library(self):
        """The library of the chosen preset is the one in use, not that which was linked."""
        with open(f"/proc/{self.process.pid}/maps", encoding="utf-8") as file:
            found = re.search(r"(/\S*)/libpfslab\.so", file.read())
        want = self.built.libraries("counted" if self.counted else self.built.preset)
        if not found or os.path.realpath(found[1]) != os.path.realpath(want):
            raise Failed(f"the server uses {found[1] if found else 'no library'}, not {want}; link "
                         "it with a RUNPATH, not an RPATH")

    def connect(self, user="root"):
        """Another connection."""
        return Connection(self.path("s"), user)

    def ps_bytes(self):
        """What the Performance Schema says that it holds."""
        return int(self.control.value(
            "select sum(current_number_of_bytes_used) from "
            "performance_schema.memory_summary_global_by_event_name where event_name like "
            "'memory/performance\\_schema/%'") or 0)

    def rss_bytes(self):
        """What the process holds."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return int(re.search(r"VmRSS:\s+(\d+)", file.read())[1]) * 1024

    def cpu_seconds(self):
        """Of the process, so far."""
        with open(f"/proc/{self.process.pid}/stat", encoding="utf-8") as file:
            words = file.read().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def containers(self):
        """{container: its counts}."""
        if self.policy == BINARY:
            return containers_of_engine(
                self.control.rows("show engine performance_schema status"), self.built.sizes)
        return containers_of_status(self.control.rows("show global status like 'Pfslab%'"),
                                    self.counted or self.policy == "stock")

    def sample(self, at, seconds=0.0):
        """All of this at one moment."""
        return {"at": at, "seconds": round(seconds, 3), "ps_bytes": self.ps_bytes(),
                "rss_bytes": self.rss_bytes(), "containers": self.containers()}


class Watch:
    """Was anything else at work on this machine? Of the CPU time, what neither the server nor this
    process and its children used, and what the host took."""

    SHARE_MOST = 0.05

    def __init__(self, server):
        self.server = server
        self.begin = self.now()

    def now(self):
        """(wall, busy CPU time of the machine, ours)."""
        with open("/proc/stat", encoding="ascii") as file:
            ticks = [int(word) for word in file.readline().split()[1:9]]
        own = os.times()
        return (time.monotonic(), (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK"),
                sum(own[:4]) + self.server.cpu_seconds())

    def disturbed(self):
        """So far."""
        wall, busy, ours = (b - a for a, b in zip(self.begin, self.now()))
        return busy - ours > self.SHARE_MOST * wall * (os.cpu_count() or 1)
