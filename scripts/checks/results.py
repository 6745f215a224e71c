#!/usr/bin/python3
"""results.py - do the files of a result folder keep to results/schema.json?

usage: scripts/checks/results.py FOLDER...
Every launch that the plan calls done must have its files; simulated.json is checked where it
is. The checker knows the part of JSON
Schema that our schema uses, and refuses a schema with more.
Exit 0: all keep to it. 1: one does not. 2: a file cannot be read.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from common import commandline, documents
from reporting import results

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
KNOWN = {"type", "required", "properties", "items", "enum", "const", "minimum", "minItems",
         "minLength", "$ref"}


def has_type(value, name):
    """JSON's types; true is no number."""
    if name == "number":
        return documents.is_number(value)
    if name == "integer":
        return documents.is_number(value) and value == int(value)
    return isinstance(value, TYPES[name])


def violations(value, rule, schema, place):
    """Each way in which a value breaks a rule, as a line."""
    unknown = set(rule) - KNOWN
    if unknown:
        raise documents.BadInput(f"results/schema.json: {', '.join(sorted(unknown))} is not known "
                                 "to checks/results.py; extend it")
    if "$ref" in rule:
        yield from violations(value, schema["$defs"][rule["$ref"].split("/")[-1]], schema, place)
    names = rule.get("type", [])
    names = [names] if isinstance(names, str) else names
    if names and not any(has_type(value, name) for name in names):
        yield f"{place} is not of type {' or '.join(names)}"
        return
    if "enum" in rule and value not in rule["enum"]:
        yield f"{place} is {value!r}, not one of {', '.join(rule['enum'])}"
    if "const" in rule and value != rule["const"]:
        yield f"{place} is {value!r}, not {rule['const']!r}"
    if documents.is_number(value) and value < rule.get("minimum", value):
        yield f"{place} is {value}, below {rule['minimum']}"
    if isinstance(value, (list, str)):
        least = rule.get("minItems", rule.get("minLength", 0))
        if len(value) < least:
            yield f"{place} is shorter than {least}"
    if isinstance(value, dict):
        for name in rule.get("required", []):
            if name not in value:
                yield f"{place} lacks {name}"
        for name, inner in rule.get("properties", {}).items():
            if name in value:
                yield from violations(value[name], inner, schema, f"{place}.{name}")
    if isinstance(value, list) and "items" in rule:
        for position, item in enumerate(value):
            yield from violations(item, rule["items"], schema, f"{place}[{position}]")


def check_folder(folder, schema):
    """(faults, number of files)"""
    faults, count = [], 0

    def check(name, kind):
        nonlocal count
        path = os.path.join(folder, name)
        document = documents.read_json(path)
        count += 1
        found = list(violations(document, {"$ref": f"#/$defs/{kind}"}, schema, name))
        faults.extend(f"{folder}: {line}" for line in found[:5])
        return document if not found else None

    simulated = documents.is_there(os.path.join(folder, results.SIMULATED_FILE))
    plan = None
    chapters = [(module.Suite.FILE, kind) for kind, module in results.CHAPTERS.items()
                if documents.is_there(os.path.join(folder, module.Suite.FILE))]
    if documents.is_there(os.path.join(folder, "plan.json")) or not (simulated or chapters):
        plan = check("plan.json", "plan")
    check("machine.json", "machine")
    if simulated:
        check(results.SIMULATED_FILE, "simulated_file")
    for name, kind in chapters:
        check(name, kind)
    for name in sorted(os.listdir(folder)):
        if name.endswith(".json") and "runs" in documents.read_json(os.path.join(folder, name)):
            check(name, "kept")
    for launch in plan["launches"] if plan else []:
        if launch["status"] == "done":
            check(launch["file"], "benchmark_file")
            if "series" in launch:
                check(launch["series"], "series")
    return faults, count


def main(argv=None):
    """The command."""
    parser = commandline.Parser(prog="scripts/checks/results.py", description="Check result "
                                "folders against results/schema.json.")
    parser.add_argument("folder", nargs="+")
    arguments = parser.parse_args(argv)
    schema = documents.read_json(os.path.join(TOP, "results", "schema.json"))
    faulty = False
    for folder in arguments.folder:
        faults, count = check_folder(folder, schema)
        for fault in faults:
            print(f"checks/results.py: {fault}", file=sys.stderr)
        faulty = faulty or bool(faults)
        if not faults:
            print(f"checks/results.py: {folder}: {count} files, no fault")
    return 1 if faulty else 0


if __name__ == "__main__":
    commandline.run(main, "checks/results.py")
