"""accounts_quotes.py - the numbers of accounts.json that documents quote."""

from common import documents, stats
from common.stats import median
from reporting.accounts_results import Suite


def quoted(suite, expression):
    """A number of accounts.json that a document quotes, the median of its launches.

    NAME CASE WAY           what the launches counted, such as wrong, below, open, left
    share NAME CASE WAY     the same / what is in use
    launches CASE WAY       how many there are
    """
    if suite is None:
        raise documents.BadInput("accounts_quotes.py: the result has no accounts.json; measure "
                                 f"again ({Suite.COMMAND})")
    name, *rest = expression.split()
    share, (name, *rest) = name == "share", rest if name == "share" else (name, *rest)
    found = suite.samples(*rest, "wrong" if name == "launches" else name)
    if share:
        found = stats.paired(found, suite.samples(*rest, "in_use"))
    if not found:
        raise documents.BadInput(f"accounts_quotes.py: nothing was measured for '{expression}'")
    return len(found) if name == "launches" else median(found)
