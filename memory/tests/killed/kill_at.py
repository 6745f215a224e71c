#!/usr/bin/python3
"""kill_at.py - run a command, and kill it when it holds too much: what the system does when
there is no memory left.

usage: kill_at.py MIB COMMAND [ARGUMENT...]
SIGKILL is sent as soon as MIB are resident. Exit: as a shell says it, 137 of who was killed; 2: bad
usage.
"""

import os
import signal
import subprocess
import sys
import time

PAGE = os.sysconf("SC_PAGESIZE")
EACH_S = 0.002


def resident_bytes(pid):
    """What a process holds; 0 of one that ended."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * PAGE
    except (OSError, IndexError):
        return 0


def main():
    """The command."""
    if len(sys.argv) < 3 or not sys.argv[1].isdigit() or int(sys.argv[1]) == 0:
        print("kill_at.py: usage: kill_at.py MIB COMMAND [ARGUMENT...]", file=sys.stderr)
        return 2
    try:
        process = subprocess.Popen(sys.argv[2:])
    except OSError as error:
        print(f"kill_at.py: {sys.argv[2]}: {error.strerror}", file=sys.stderr)
        return 2
    while process.poll() is None:
        if resident_bytes(process.pid) >= int(sys.argv[1]) << 20:
            process.send_signal(signal.SIGKILL)
            process.wait()
            print("Killed", file=sys.stderr)
            break
        time.sleep(EACH_S)
    return process.returncode if process.returncode >= 0 else 128 - process.returncode


if __name__ == "__main__":
    sys.exit(main())
