"""workloads.py - the workloads of bench/workloads.def, and what each says of itself."""

import os
import re

BENCH = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))),
                     "bench")
SUMMARY = re.compile(r'\.summary = "([^"]*)",')


def _read(name):
    with open(os.path.join(BENCH, name), encoding="utf-8") as file:
        return file.read()


def summaries():
    """{workload: its summary}, in the order of workloads.def."""
    names = re.findall(r"^PFS_WORKLOAD\((\w+)\)", _read("workloads.def"), re.MULTILINE)
    return {name: SUMMARY.search(_read(f"workload_{name}.c")).group(1) for name in names}
