"""mariadb_source.py - MariaDB's source of Debian, and the two servers that are built of it. Each
step that is done is not repeated, so a stopped build goes on where it was.
"""

import functools
import glob
import os
import re
import shutil
import subprocess
import sys

from common import documents
from measuring import launching

TOP = launching.TOP
PACKAGES = ("bison", "libpcre2-dev", "libfmt-dev", "libssl-dev", "libncurses-dev", "libaio-dev",
            "zlib1g-dev", "sysbench", "cmake", "ninja-build", "dpkg-dev", "perl", "g++")
SERIES = "10.11."  # which the adapter is for
LISTS = "/etc/apt/sources.list.d"
LIST = f"{LISTS}/pfslab-src.sources"
OFF = ("INNOBASE", "ROCKSDB", "MROONGA", "SPIDER", "OQGRAPH", "CONNECT", "SPHINX", "COLUMNSTORE",
       "S3", "FEDERATED", "FEDERATEDX")
FLAGS = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", *(f"-DPLUGIN_{name}=NO" for name in OFF),
         "-DPLUGIN_PERFSCHEMA=STATIC", "-DWITH_WSREP=OFF", "-DWITH_EMBEDDED_SERVER=OFF",
         "-DWITH_UNIT_TESTS=OFF", "-DWITH_SSL=system", "-DWITH_PCRE=system",
         "-DWITH_LIBFMT=system"]
# The server's WITH_ASAN does nothing in a build of type Release.
ASAN_FLAGS = ["-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DWITH_ASAN=ON"]
MARKER = "storage/perfschema/pfslab_container.h"  # in a source tree: it has the adapter


def say(text):
    """A line on what happens now."""
    print(f"mariadb: {text}", file=sys.stderr, flush=True)


def output(*command):
    """What a command prints; nothing where it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace",
                              stdin=subprocess.DEVNULL, check=False)
    except OSError:
        return ""
    return done.stdout if done.returncode == 0 else ""


def as_root():
    """What to put before a command that only root may run; None: nothing helps."""
    if os.geteuid() == 0:
        return []
    return ["sudo"] if shutil.which("sudo") else None


# ---- fetch ----

def missing_packages():
    """Those of PACKAGES that are not installed."""
    text = output("dpkg-query", "-W", "-f", "${Package} ${Status}\n")
    here = set(re.findall(r"^(\S+) \w+ ok installed$", text, re.MULTILINE))
    return [name for name in PACKAGES if name not in here]


def install_packages():
    """What a build and a run need."""
    missing = missing_packages()
    if not missing:
        return
    names = " ".join(missing)
    if as_root() is None or not shutil.which("apt-get"):
        raise documents.BadInput(f"not installed: {names}; ask for: apt-get install {names}")
    say(f"installing {names}")
    apt = [*as_root(), "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q"]
    subprocess.run([*apt, "update"], stdout=subprocess.DEVNULL, check=False)
    done = subprocess.run([*apt, "install", "-y", "--no-install-recommends", *missing],
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False)
    if done.returncode:
        raise documents.BadInput(f"apt-get install {names}: failed; install them by hand and run "
                                 "this again")


def source_list(texts):
    """The list of sources that corresponds to a machine's lists of packages, in deb822."""
    for text in texts:
        for part in re.split(r"\n\s*\n", text):
            if re.search(r"^URIs:.*debian", part, re.MULTILINE) and \
                    not re.search(r"security", part):
                return re.sub(r"^Types:.*$", "Types: deb-src", part.strip(), flags=re.MULTILINE) \
                    + "\n"
    return ("Types: deb-src\nURIs: http://deb.debian.org/debian\nSuites: bookworm "
            "bookworm-updates\nComponents: main\n"
            "Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n")


def newest_first(versions):
    """Versions in Debian's order."""
    def order(a, b):  # of two that differ
        return 1 if subprocess.call(["dpkg", "--compare-versions", a, "lt", b]) == 0 else -1
    return sorted(set(versions), key=functools.cmp_to_key(order))


def listed_versions():
    """The versions of the source package that apt knows, newest first."""
    found = re.findall(r"^Package: mariadb\n(?:.*\n)*?Version: (\S+)$",
                       output("apt-cache", "showsrc", "mariadb"), re.MULTILINE)
    return [one for one in newest_first(found)
            if one.rpartition(":")[2].startswith(SERIES)]


def known_versions():
    """The same, after adding a list of sources where apt has none."""
    found = listed_versions()
    if found:
        return found
    texts = []
    for path in sorted(glob.glob(f"{LISTS}/*.sources")):
        with open(path, encoding="utf-8") as file:
            texts.append(file.read())
    if not any("deb-src" in text for text in texts):
        if as_root() is None:
            raise documents.BadInput("apt: no list of sources; ask for a file in "
                                     f"{LISTS} with Types: deb-src")
        say(f"adding {LIST}")
        subprocess.run([*as_root(), "tee", LIST], input=source_list(texts), text=True,
                       stdout=subprocess.DEVNULL, check=True)
    subprocess.run([*(as_root() or []), "apt-get", "-q", "update"], stdout=subprocess.DEVNULL,
                   check=False)
    found = listed_versions()
    if not found:
        raise documents.BadInput(f"apt-cache showsrc mariadb: no version {SERIES}*; add a list "
                                 f"with Types: deb-src in {LISTS} for a Debian that has one")
    return found


def download(folder, versions):
    """The .dsc of the newest version that the mirror still has."""
    os.makedirs(folder, exist_ok=True)
    reason = ""
    for version in versions:
        say(f"fetching the source of mariadb {version}")
        done = subprocess.run(["apt-get", "-q", "source", "--download-only",
                               f"mariadb={version}"], cwd=folder, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, errors="replace", check=False)
        path = os.path.join(folder, f"mariadb_{version.rpartition(':')[2]}.dsc")
        if done.returncode == 0 and os.path.exists(path):
            return path
        lines = [line for line in done.stderr.splitlines() if line.startswith(("E:", "Err"))]
        reason = (lines or ["no message"])[0]
        say(f"{version} is not to be had: {reason}")
    raise documents.BadInput(f"apt-get source mariadb: none of {', '.join(versions)} ({reason}); "
                             "run apt-get update, or name a mirror that has one")


def fetch(folder):
    """The source, unpacked in folder/src."""
    src = os.path.join(folder, "src")
    install_packages()
    if os.path.exists(os.path.join(src, "CMakeLists.txt")):
        say(f"{src} is there")
        return
    launching.must_be_writable(folder)
    path = download(os.path.join(folder, "packages"), known_versions())
    partial = f"{src}.partial"
    shutil.rmtree(partial, ignore_errors=True)
    say(f"unpacking {os.path.basename(path)}")
    run(["dpkg-source", "--no-check", "-x", path, partial], os.path.join(folder, "unpack.log"))
    os.rename(partial, src)


# ---- build ----

def run(command, log, cwd=None):
    """A step with its output in a log; BadInput with its last lines where it fails."""
    before = os.path.getsize(log) if os.path.exists(log) else 0
    with open(log, "a", encoding="utf-8") as file:
        try:
            status = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=file,
                                    stderr=file, check=False).returncode
        except OSError as error:
            raise documents.BadInput(f"{command[0]}: {error.strerror}; run scripts/mariadb fetch, "
                                     "which installs it") from None
    if status:
        with open(log, encoding="utf-8", errors="replace") as file:
            file.seek(before)
            lines = [line.strip() for line in file if line.strip()]
        telling = [line for line in lines if re.search(r"error|Error|FAILED", line)] or lines
        name = command[1] if command[0] == "nice" else os.path.basename(command[0])
        raise documents.BadInput(f"{name}: failed: "
                                 f"{(telling or ['no message'])[-1][:300]}; see {log}")


def copied(path, target):
    """A copy in one step."""
    shutil.copy2(path, f"{target}.partial")
    os.replace(f"{target}.partial", target)


def launcher():
    """ccache where it is."""
    return [f"-DCMAKE_{one}_COMPILER_LAUNCHER=ccache" for one in ("C", "CXX")] \
        if shutil.which("ccache") else []


def configure(src, place, library, flags, log):
    """Configure the server once."""
    if not os.path.exists(os.path.join(place, "build.ninja")):
        say("configuring the server")
        run(["cmake", "-S", src, "-B", place, *FLAGS, *flags, *launcher(), f"-DPFSLAB_SOURCE={TOP}",
             f"-DPFSLAB_LIBRARY={library}"], log)


def build_library(preset, build_dir, log):
    """The containers and the accounts of a preset, which the server is linked with."""
    say(f"building the library, preset {preset}")
    binary = os.path.join(os.path.abspath(build_dir), preset)
    run(["cmake", "--preset", preset, "-B", binary], log, TOP)
    run(["cmake", "--build", binary, "--target", "pfslab_shared", "pfsaccounts_shared",
         *(["pfs-mem"] if preset == "release" else [])], log, TOP)


def insert(src, log):
    """The adapter into the source."""
    say("putting the adapter into the source")
    run([sys.executable, os.path.join(TOP, "server", "mariadb", "insert.py"), src, TOP], log)


def build_stock(src, build, ninja):
    """The server without the adapter, kept beside the place of the other."""
    kept = os.path.join(build, "sql", "mariadbd.stock")
    if os.path.exists(kept):
        say(f"{kept} is there")
        return
    if os.path.exists(os.path.join(src, MARKER)):
        raise documents.BadInput(f"{src}: has the adapter already, but {kept} is not there; remove "
                                 "the source, and run scripts/mariadb fetch and build again")
    say("building the server as it is: 1,166 steps, 20 minutes of CPU time")
    ninja()
    copied(os.path.join(build, "sql", "mariadbd"), kept)


def build(folder, build_dir, jobs=None, asan=False):
    """Both servers in folder/build, and the library for them. asan: only the one with the adapter,
    in folder/build-asan, with AddressSanitizer in server and library."""
    src = os.path.join(folder, "src")
    place = os.path.join(folder, "build-asan" if asan else "build")
    if not os.path.exists(os.path.join(src, "CMakeLists.txt")):
        raise documents.BadInput(f"{src}: no source; run scripts/mariadb fetch --dir {folder}")
    log = os.path.join(folder, "build.log")
    presets = ("asan",) if asan else ("release", "counted")
    library = os.path.join(os.path.abspath(build_dir), presets[0], "lib", "libpfslab.so")

    def ninja():
        run(["nice", "ninja", "-C", place, *(["-j", str(jobs)] if jobs else [])], log)

    if asan and not os.path.exists(os.path.join(src, MARKER)):
        raise documents.BadInput(f"{src}: is without the adapter; run scripts/mariadb build first")
    configure(src, place, library, ASAN_FLAGS if asan else [], log)
    if not asan:
        build_stock(src, place, ninja)
    for preset in presets:
        build_library(preset, build_dir, log)
    insert(src, log)
    say("building the server with the adapter")
    ninja()
    say(f"{os.path.join(place, 'sql', 'mariadbd')} is built")
