"""looks.py - the look of a name in every figure: its colour, dash and marker.

A look is a number. It depends on the name alone, so it stays the same whatever else is shown.
Known names have a look of their own. A new name gets one of the further colours, by a hash of the
name; no known name has any of these. Lines without a name of their own use looks from 0 on.
"""

import zlib

# name: (colour, colour on dark screens, dash). Okabe and Ito's colours, Paul Tol's and more. The
# policies that a report shows in colour have the strongest, far apart. No two share colour or dash.
KNOWN = {
    "original": ("#d55e00", "#ff8a3d", ""),
    "local_scan": ("#56b4e9", "#8fd0f7", "7 3"),
    "random_start": ("#e69f00", "#f2b84b", "2 3"),
    "reclaiming": ("#009e73", "#37c79b", "10 3 2 3"),
    "exact": ("#0072b2", "#5aa9e6", "4 2"),
    "magazine": ("#a8327e", "#e879c8", "12 4"),
    "malloc": ("#7a7a7a", "#a8a8a8", "1 2"),  # glibc's, among the policies
    "ck_stack": ("#1b1f24", "#f0f0f0", "14 2 1 2"),
    "mutex_list": ("#999933", "#c9c95a", "6 2 2 2"),
    "boost_stack": ("#e0808a", "#ffb0b8", "2 2 8 2"),
    # Other allocators.
    "jemalloc": ("#5f9ea0", "#86c5c8", "3 3"),
    "mimalloc": ("#117733", "#5cc46e", "16 3 4 3"),
    "tcmalloc": ("#b8860b", "#e0c060", "3 1 1 1"),
    "pfs": ("#332288", "#9d8cff", "9 2 1 2 1 2"),
    # The real server without a policy.
    "stock-binary": ("#a0522d", "#d9a07a", "5 1"),
    "stock": ("#cc79a7", "#e3a6c6", "8 6"),
    "off": ("#882255", "#d0709c", "1 4"),
    # Not a policy: limits, keys, the load.
    "": ("#5c6570", "#a7b0ba", "4 3"),
}
SAME = {"glibc": "malloc"}
FURTHER = (("#3b5b92", "#8aa8dc"), ("#17a2b8", "#5fd3e4"), ("#6a8f1f", "#a9d05a"),
           ("#9467bd", "#c3a0e8"), ("#8c564b", "#c4958b"), ("#e34a6f", "#ff8fa8"),
           ("#2f6f5e", "#78bfa9"), ("#c05a9f", "#f0a0d6"))
_NAMES = list(KNOWN)
_LOOKS = list(KNOWN.values())
_DASHES = [dash for _, _, dash in _LOOKS]
NEUTRAL = _NAMES.index("")
SHAPES = ("circle", "square", "triangle", "diamond")


def of(name):
    """The look of a name."""
    name = SAME.get(name, name)
    if name in KNOWN:
        return _NAMES.index(name)
    return len(KNOWN) + zlib.crc32(name.encode()) % (len(FURTHER) * len(_DASHES))


def _colours(look):
    return _LOOKS[look] if look < len(KNOWN) else FURTHER[(look - len(KNOWN)) % len(FURTHER)]


def light(look):
    """Its colour on paper."""
    return _colours(look)[0]


def dark(look):
    """Its colour on a dark screen."""
    return _colours(look)[1]


def dash(look):
    """The dash of its lines; of further looks no two have the same colour and dash."""
    return _DASHES[look if look < len(KNOWN) else (look - len(KNOWN)) // len(FURTHER) %
                   len(_DASHES)]


def shape(look):
    """The marker of its points."""
    return SHAPES[look % len(SHAPES)]
