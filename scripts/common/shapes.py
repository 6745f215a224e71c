"""shapes.py - what a JSON document must look like before anything is read from it.

A shape is an object of shapes by name, a list of one shape for all items, or a leaf, which is a
pair of what it is called and a test. EACH as the only name: all names, whatever they are.
"""

from common import documents

EACH = None
TEXT = ("a text", lambda value: isinstance(value, str))
FLAG = ("true or false", lambda value: isinstance(value, bool))
COUNT = ("a count", lambda value: documents.is_number(value) and value >= 0)
SOME = ("a count above 0", lambda value: documents.is_number(value) and value > 0)


def fault_of(value, shape, place=""):
    """The first place where a document has not the shape, and what should be there; or None."""
    if isinstance(shape, tuple):
        return None if shape[1](value) else f"{place} is not {shape[0]}"
    if not isinstance(value, type(shape)):
        return f"{place or 'it'} is not {'an object' if isinstance(shape, dict) else 'a list'}"
    if isinstance(shape, list):
        parts = [(item, shape[0], f"{place}[{k}]") for k, item in enumerate(value)]
    else:
        parts = [(value.get(key), shape.get(EACH, shape.get(key)), f"{place}.{key}".lstrip("."))
                 for key in (value if EACH in shape else shape)]
    return next(filter(None, (fault_of(*part) for part in parts)), None)


def read(path, shape, command, defaults=None):
    """The document of a file; None without the file; BadInput where it has not the shape. command:
    who writes such files. defaults: what may be missing in it."""
    if not documents.is_there(path):
        return None
    document = documents.read_json(path)
    if isinstance(document, dict):
        for name, value in (defaults or {}).items():
            document.setdefault(name, value)
    fault = fault_of(document, shape)
    if fault:
        raise documents.BadInput(f"{path}: {fault}; measure again ({command})")
    return document
