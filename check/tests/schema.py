"""schema.py - does a value match a JSON schema?

Knows the words that check.schema.json uses, and refuses others.
"""

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int,
         "number": (int, float), "null": type(None)}
NOTES = {"$schema", "$defs", "title", "description"}


def is_of(value, kind):
    """Is it of this type? True and False are no numbers."""
    return isinstance(value, TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def faults_of_object(value, schema, whole, path):
    """Missing and unknown keys, and what is wrong with the others."""
    known = schema.get("properties", {})
    faults = [f"{path}: no {key}" for key in schema.get("required", []) if key not in value]
    if schema.get("additionalProperties") is False:
        faults += [f"{path}: unknown key {key}" for key in value if key not in known]
    for key, one in known.items():
        if key in value:
            faults += faults_of(value[key], one, whole, f"{path}.{key}")
    return faults


def faults_of(value, schema, whole, path="$"):
    """Lines, one for each fault; none: the value is as the schema says."""
    words = set(schema) - NOTES - {"type", "const", "enum", "minimum", "items", "$ref", "anyOf",
                                   "properties", "required", "additionalProperties"}
    faults = [f"{path}: the schema has an unknown word {word}" for word in words]
    if "$ref" in schema:
        faults += faults_of(value, whole["$defs"][schema["$ref"].rsplit("/", 1)[1]], whole, path)
    if "anyOf" in schema and all(faults_of(value, one, whole, path) for one in schema["anyOf"]):
        faults.append(f"{path}: none of {len(schema['anyOf'])} forms")
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(is_of(value, kind) for kind in kinds):
        return faults + [f"{path}: {value!r} is not {kinds}"]
    if value not in schema.get("enum", [schema.get("const", value)]):
        faults.append(f"{path}: {value!r} is not allowed")
    if "minimum" in schema and value < schema["minimum"]:
        faults.append(f"{path}: {value!r} is too small")
    if isinstance(value, dict):
        faults += faults_of_object(value, schema, whole, path)
    for number, item in enumerate(value if "items" in schema else []):
        faults += faults_of(item, schema["items"], whole, f"{path}[{number}]")
    return faults
