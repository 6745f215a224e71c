"""printed_quotes.py - the numbers in results of scripts/keep.py, as documents quote them."""

import re

from common import documents
from common.stats import median

FORMS = {"median": median, "least": min, "most": max}


class Printed:
    """What a command printed, by expression."""

    def __init__(self, path):
        self.path = path
        document = documents.read_json(path)
        runs = document.get("runs") if isinstance(document, dict) else None
        if not isinstance(runs, list) or not runs or not all(isinstance(r, str) for r in runs):
            raise documents.BadInput(f"{path}: has no list \"runs\"; keep it again "
                                     "(scripts/keep.py)")
        self.runs = runs

    def value(self, expression):
        """runs, or FORM PATTERN: FORM (median, least or most), over all runs, of the number in the
        pattern's group. Each run must match the pattern exactly once."""
        form, _, pattern = expression.partition(" ")
        if form == "runs":
            return len(self.runs)
        if form not in FORMS:
            raise documents.BadInput(f"printed_quotes.py: '{form}' is none of runs, "
                                     f"{', '.join(FORMS)}")
        found = [re.findall(pattern, run, re.MULTILINE) for run in self.runs]
        if any(len(numbers) != 1 for numbers in found):
            raise documents.BadInput(f"{self.path}: '{pattern}' is there "
                                     f"{' and '.join(str(len(n)) for n in found)} times in its "
                                     "runs, not once in each")
        return FORMS[form]([float(numbers[0].replace(",", "")) for numbers in found])
