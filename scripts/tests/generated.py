"""generated.py - comparisons of invented results whose truth is known: how often is one wrong?

usage: scripts/tests/generated.py [COMPARISONS]    prints the table of docs/reference/metrics.md
"""

import math
import random
import sys
from collections import namedtuple
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from common import columns
from reporting import results, verdicts

# launches: of a case; noise: of a launch; spread: of rows around the drift; tails: freedom of
# Student's distribution for both, or 0 for a normal one; astray: baselines that were moved further
World = namedtuple("World", "rows baselines launches noise spread tails astray")
WORLDS = {
    "quiet": World(40, 20, 7, 0.01, 0.01, 0, 0),
    "noisy launches": World(40, 20, 7, 0.15, 0.01, 0, 0),
    "rows drift apart": World(40, 20, 7, 0.03, 0.15, 0, 0),
    "few baselines": World(40, 6, 7, 0.03, 0.05, 0, 0),
    "a stray baseline": World(40, 20, 7, 0.03, 0.05, 0, 1),
    "many rows": World(150, 80, 12, 0.03, 0.05, 0, 3),
    "heavy tails": World(40, 20, 7, 0.03, 0.05, 4, 0),
}
DRIFT, STRAY = 0.7, 0.165


def _chance(source, tails):
    """A number of a distribution with deviation 1, or near it."""
    normal = source.gauss(0, 1)
    if not tails:
        return normal
    return normal / math.sqrt(sum(source.gauss(0, 1) ** 2 for _ in range(tails)) / tails)


def comparison(world, source, factor=1.0):
    """verdicts.compare of two results; the second's own rows are so many times as fast."""
    sides = results.Results(), results.Results()
    names = [f"baseline{k}" for k in range(world.baselines)] + \
        [f"own{k}" for k in range(world.rows)]
    for k, name in enumerate(names):
        moved = math.log(DRIFT) + world.spread * _chance(source, world.tails)
        moved += math.log(STRAY) if k < world.astray else 0
        moved += math.log(factor) if name.startswith("own") else 0
        for side, shift in zip(sides, (0, moved)):
            side.policy_order.append(name)
            side.plan.setdefault("summaries", {})[name] = \
                "baseline" if name.startswith("baseline") else "own"
            for launch in range(world.launches):
                side.add_launch(
                    ("release", results.Case("pair", name, None, None, 1)),
                    {"items_per_second": 1e6 * math.exp(
                        shift + world.noise * _chance(source, world.tails))}, (0, launch))
    return verdicts.compare(*sides, "items_per_second", "release")["rows"]


def told(world, source, count, factor=1.0):
    """(comparisons with a row that is called better or worse, {verdict: rows}) of so many."""
    wrong, tally = 0, dict.fromkeys(verdicts.WORDS, 0)
    for _ in range(count):
        said = [row["verdict"] for row in comparison(world, source, factor)]
        wrong += verdicts.BETTER in said or verdicts.WORSE in said
        for word in said:
            tally[word] += 1
    return wrong, tally


def main(count):
    """The table."""
    rows = []
    for name, world in WORLDS.items():
        wrong, equal = told(world, random.Random(1), count)
        of = count * world.rows
        few = max(1, count // 10)
        _, slower = told(world, random.Random(2), few, 0.25)
        rows.append([name, f"{world.rows}, {world.baselines}, {world.launches}",
                     f"{100 * world.noise:g} %, {100 * world.spread:g} %",
                     f"{100 * wrong / count:.1f} %", f"{100 * equal[verdicts.SAME] / of:.0f} %",
                     f"{100 * slower[verdicts.WORSE] / (few * world.rows):.0f} %"])
    print(columns.aligned(["two results", "rows, baselines, launches", "noise, spread",
                           "equal: comparisons with better or worse", "equal: rows called same",
                           "a quarter as fast: rows called worse"], rows))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
