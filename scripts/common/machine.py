"""machine.py - describes the machine that results come from, and says what is absent."""

import glob
import os
import platform
import re
import shutil
import subprocess
import time

ABSENT = "absent"


def _read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ABSENT


def _say(*command):
    """The output of a command, or absent."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ABSENT
    return done.stdout.strip() if done.returncode == 0 else ABSENT


def _cpuinfo(field):
    found = re.search(rf"^{field}\s*: (.*)$", _read("/proc/cpuinfo"), re.MULTILINE)
    return found.group(1) if found else ABSENT


CPU_ID = (("vendor_id", ""), ("cpu family", "family "), ("model", "model "),
          ("stepping", "stepping "), ("CPU implementer", "implementer "),
          ("CPU variant", "variant "), ("CPU part", "part "), ("CPU revision", "revision "))


def _cpu_id():
    """What tells processors of one name apart, in the words of pfs-bench's context."""
    parts = [(label, _cpuinfo(field)) for field, label in CPU_ID]
    return " ".join(label + value for label, value in parts if value != ABSENT) or ABSENT


def _caches():
    """The sizes of the caches of the first CPU that is allowed."""
    found = {f"cache_{name}_bytes": ABSENT for name in ("l1d", "l2", "l3")}
    place = f"/sys/devices/system/cpu/cpu{min(os.sched_getaffinity(0))}/cache/index*"
    for index in sorted(glob.glob(place)):
        level, kind = _read(os.path.join(index, "level")), _read(os.path.join(index, "type"))
        size = re.fullmatch(r"(\d+)([KM])", _read(os.path.join(index, "size")))
        if size and kind != "Instruction":
            found[f"cache_l{level}{'d' if level == '1' else ''}_bytes"] = int(size.group(1)) * (
                1 << (10 if size.group(2) == "K" else 20))
    return found


def pressure():
    """The share of the last 10 s in which some task waited for a CPU, in percent."""
    found = re.search(r"some avg10=([\d.]+)", _read("/proc/pressure/cpu"))
    return float(found.group(1)) if found else None


def _memory_bytes():
    found = re.search(r"MemTotal:\s+(\d+) kB", _read("/proc/meminfo"))
    return int(found.group(1)) * 1024 if found else ABSENT


def _build_facts(build_dir):
    cache = _read(os.path.join(build_dir, "release", "CMakeCache.txt"))
    facts = {}
    for name in ("CMAKE_BUILD_TYPE", "CMAKE_C_COMPILER", "CMAKE_C_FLAGS",
                 "CMAKE_C_FLAGS_RELWITHDEBINFO"):
        found = re.search(rf"^{name}:\w+=(.*)$", cache, re.MULTILINE)
        facts[name] = found.group(1) if found else ABSENT
    compiler = facts["CMAKE_C_COMPILER"]
    version = _say(compiler, "--version") if os.path.exists(compiler) else ABSENT
    facts["compiler"] = version.splitlines()[0] if version else ABSENT
    return facts


def _packages():
    return {name: _say("dpkg-query", "-W", "-f", "${Version}", name)
            for name in ("libbenchmark-dev", "libck-dev", "libhwloc-dev", "libc6")}


TIMING_OPTIONS = ("mitigations", "isolcpus", "nohz", "nohz_full", "rcu_nocbs", "idle", "cpuidle",
                  "intel_pstate", "amd_pstate", "processor", "nosmt", "maxcpus", "nr_cpus",
                  "transparent_hugepage", "hugepages", "numa_balancing", "numa", "tsc",
                  "clocksource", "preempt", "threadirqs", "skew_tick", "psi")


def _timing_options(command_line):
    """What a kernel command line says about timing; the rest is left out as private."""
    kept = [word for word in command_line.split()
            if word.split("=")[0].split(".")[0] in TIMING_OPTIONS]
    return " ".join(kept) if kept else ABSENT


def revision(folder):
    """That of the repository that a folder is in."""
    return _say("git", "-C", folder, "describe", "--always", "--dirty", "--abbrev=12")


def describe(top, build_dir):
    """The facts that a reader needs to judge the numbers, and to repeat them."""
    boost = _read("/sys/devices/system/cpu/cpufreq/boost")
    no_turbo = _read("/sys/devices/system/cpu/intel_pstate/no_turbo")
    system = "/sys/devices/system/cpu/"
    vulnerable = {os.path.basename(p): _read(p) for p in
                  sorted(glob.glob(system + "vulnerabilities/*"))}
    return {
        "time": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "host": platform.node(),
        "cpu_model": _cpuinfo("model name"),
        "cpu_id": _cpu_id(),
        "cpu_microcode": _cpuinfo("microcode"),
        **_caches(),
        "architecture": platform.machine(),
        "cpus_allowed": sorted(os.sched_getaffinity(0)),
        "cpus_online": _read(system + "online"),
        "smt": _read(system + "smt/active"),
        "numa_nodes_online": _read("/sys/devices/system/node/online"),
        "hypervisor": "yes" if " hypervisor" in _cpuinfo("flags") else "no",
        "governor": _read(system + "cpu0/cpufreq/scaling_governor"),
        "boost": boost, "no_turbo": no_turbo,
        "isolated": _read(system + "isolated") or "none",
        "nohz_full": _read(system + "nohz_full") or "none",
        "memory_bytes": _memory_bytes(),
        "transparent_hugepages": _read("/sys/kernel/mm/transparent_hugepage/enabled"),
        "numa_balancing": _read("/proc/sys/kernel/numa_balancing"),
        "aslr": _read("/proc/sys/kernel/randomize_va_space"),
        "perf_event_paranoid": _read("/proc/sys/kernel/perf_event_paranoid"),
        "clocksource": _read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "kernel": platform.release(),
        "kernel_command_line": _timing_options(_read("/proc/cmdline")),
        "cgroup_cpu_max": _read("/sys/fs/cgroup/cpu.max"),
        "distribution": platform.freedesktop_os_release().get("PRETTY_NAME", ABSENT)
        if os.path.exists("/etc/os-release") else ABSENT,
        "mitigations": vulnerable,
        "load_average": _read("/proc/loadavg"),
        "cpu_pressure_some_avg10": pressure(),
        "revision": revision(top),
        "build": _build_facts(build_dir),
        "packages": _packages(),
    }


def export_topology(folder):
    """Write topology.xml and topology.svg; the names of those that could be made."""
    made = []
    lstopo = shutil.which("lstopo-no-graphics") or shutil.which("lstopo")
    for kind in ("xml", "svg") if lstopo else ():
        path = os.path.join(folder, f"topology.{kind}")
        # Devices are left out: the containers meet CPUs, caches and memory only.
        said = _say(lstopo, "--no-io", "--restrict", "binding", "--force", "--of", kind, path)
        if said != ABSENT and os.path.exists(path):
            made.append(os.path.basename(path))
    return made
