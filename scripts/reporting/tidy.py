"""tidy.py - a result as tidy data: one row for each launch and metric, for other programs.

The columns are COLUMNS. A cell that does not apply is empty. docs/how-to/own-figures.md has the
meaning of each column and examples that read the table.
"""

import csv
import os

from common.documents import is_number
from reporting import results

PARAMETERS = ("threads", "occupancy", "placement", "api", "pages_each", "records", "memory",
              "page_records", "connections")
COLUMNS = ("run", "machine", "date", "part", "build", "workload", "policy", *PARAMETERS, "variant",
           "round", "disturbed", "metric", "unit", "value")
# What Google Benchmark says of a run as such, and what a column says.
NO_METRICS = ("family_index", "per_family_instance_index", "repetitions", "repetition_index",
              "threads", "iterations", "occupancy", "records", "seed", "page_records",
              "disturbed", "pages_each")
UNITS = (("_per_second", "1/s"), ("_per_s", "1/s"), ("_per_cpu_s", "1/s"), ("_ns", "ns"),
         ("_us", "us"), ("_ms", "ms"), ("_s", "s"), ("seconds", "s"), ("_bytes", "bytes"),
         ("_percent", "%"))
TIMES_NS = ("real_time", "cpu_time")
CHAPTERS = ("allocators", "accounts", "profile")
SERVER = ("storms", "tables", "cost")


def unit_of(metric):
    """The unit of a metric by its name; 1 for counts and shares."""
    if metric in TIMES_NS or metric.startswith("ns_") and metric != "ns_samples":
        return "ns"
    if "_bytes_" in metric or metric == "bytes":
        return "bytes"
    return next((unit for end, unit in UNITS if metric.endswith(end)), "1")


def _of_containers(found):
    """Rows of the policies, measured and simulated."""
    for (build, case), metrics in found.values.items():
        about = {key: value for key, value in case._asdict().items()
                 if value is not None and key != "machine"}
        about.update({"part": "containers", "build": build})
        if build == "simulated":
            about.update({"part": "simulated", "machine": case.machine})
        shaken = metrics.get("disturbed", [])
        for position, turn in enumerate(found.rounds[build, case]):
            about["round"] = turn[1]
            about["disturbed"] = int(shaken[position]) if shaken and shaken[position] is not None \
                else None
            for metric, values in metrics.items():
                if metric not in NO_METRICS and is_number(values[position]):
                    yield {**about, "metric": metric, "value": values[position]}


def _of_chapter(name, suite):
    """Rows of the launches of allocators, accounts or the profile: a way is a policy there."""
    for (case, way, metric), values in suite.values.items():
        for one in values:
            yield {"part": name, "build": "release", "workload": case, "policy": way,
                   "threads": suite.cases[case].get("threads"), "round": one.round,
                   "metric": metric, "value": one.value}


def _numbers(value, name=""):
    """(name, number) of the numbers inside an object, names joined by a dot."""
    if is_number(value):
        yield name, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _numbers(inner, f"{name}.{key}" if name else key)


def _of_server(suite):
    """Rows of storms, tables and cost."""
    for part in SERVER:
        for launch in suite.document.get(part, []):
            about = {"part": "server", "build": "release", "policy": launch["policy"],
                     "workload": launch.get("workload", part), "round": launch["round"],
                     "threads": launch.get("threads"), "connections": launch.get("connections"),
                     "disturbed": int(launch.get("disturbed", False))}
            for moment in launch.get("samples", [launch]):
                at = moment.get("at", "")
                where = f"{at} {moment['seconds']:g} s" if at == "after" else at
                kind = launch.get("kind", "")
                for metric, value in _numbers({key: value for key, value in moment.items()
                                               if key not in about and key not in COLUMNS}):
                    yield {**about, "variant": f"{kind} {where}".strip(), "metric": metric,
                           "value": value}


def rows(paths, policies=None, workloads=None):
    """All rows of some results, as dictionaries."""
    for path in paths:
        found = results.load([path])
        about = {"run": os.path.basename(os.path.realpath(path)),
                 "machine": found.machine.get("cpu_model", found.context.get("cpu_model")),
                 "date": found.machine.get("time", found.context.get("date", ""))[:10]}
        made = [_of_containers(found)]
        made += [_of_chapter(name, getattr(found, name)) for name in CHAPTERS
                 if getattr(found, name)]
        made += [_of_server(found.server)] if found.server else []
        for row in (row for part in made for row in part):
            if (policies is None or row.get("policy") in (None, *policies)) and (
                    workloads is None or results.is_of(row["workload"], workloads)):
                yield {**about, **row, "unit": unit_of(row["metric"].rpartition(".")[2])}


def write(file, paths, policies=None, workloads=None):
    """The table as CSV."""
    writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows(paths, policies, workloads))
