"""test_figures.py - a name has one look in all figures; what every figure file says of its data."""

import re
import unittest

import fixture
from measuring import malloc_peers
from reporting import allocator_figures, figures, looks, results

PLAIN = re.compile(r'<text class="f\d+"[^>]* fill="(#\w+)">(\w+)</text>')


def names_shown(figure):
    """{name: colour} of the names at the ends of lines or the beginnings of rows."""
    return {name: colour for colour, name in PLAIN.findall(
        figure.canvas.document(figure.title, True))}


def renamed(found, **names):
    """The results, with some policies under other names."""
    def new(case):
        return case._replace(policy=names.get(case.policy, case.policy))
    found.values = {(build, new(case)): metrics for (build, case), metrics in found.values.items()}
    found.rounds = {(build, new(case)): turns for (build, case), turns in found.rounds.items()}
    return found


class Looks(fixture.Case):
    def test_no_two_names_look_alike(self):
        known = range(len(looks.KNOWN))
        further = range(len(looks.KNOWN),
                        len(looks.KNOWN) + len(looks.FURTHER) * len(looks.KNOWN))
        for look in (looks.light, looks.dark, looks.dash):
            self.assertEqual(len({look(k) for k in known}), len(known))
        for colour in (looks.light, looks.dark):
            self.assertEqual({colour(k) for k in known} & {colour(k) for k in further}, set())
        pairs = {(looks.light(k), looks.dash(k)) for k in further}
        self.assertEqual(len(pairs), len(further))

    def test_a_new_name_never_looks_like_a_known_one(self):
        known = {looks.light(looks.of(name)) for name in looks.KNOWN}
        new = [f"policy_{k}" for k in range(2000)]
        self.assertEqual({looks.light(looks.of(name)) for name in new} & known, set())
        self.assertEqual({looks.light(looks.of(name)) for name in new},
                         {light for light, _ in looks.FURTHER})
        self.assertEqual(looks.of("lowest_first"), looks.of("lowest_first"))

    def test_all_policies_and_peers_of_a_result_are_known(self):
        with open(f"{fixture.SCRIPTS}/../variants/variants.def", encoding="utf-8") as file:
            policies = re.findall(r"^PFS_VARIANT\((\w+)\)", file.read(), re.MULTILINE)
        self.assertEqual([p for p in policies if p not in looks.KNOWN], [])
        allocators = {looks.of(name) for name in ("pfs", *malloc_peers.PEER_NAMES)}
        own = {looks.of(p) for p in policies if p != "malloc"}  # that is the allocator glibc
        self.assertEqual(allocators & own, set())
        self.assertGreater(len(allocators), 3)

    def test_a_policy_added_or_left_out_changes_no_other(self):
        whole = results.load([self.invented()])
        before = names_shown(figures.FIGURES["threads-pair"](whole))
        self.assertEqual(before["exact"], looks.light(looks.of("exact")))
        found = renamed(results.load([self.invented()]), local_scan="lowest_first")
        found.policy_order = ["lowest_first"] + [p for p in found.policy_order
                                                 if p not in ("original", "local_scan")]
        after = names_shown(figures.FIGURES["threads-pair"](found))
        self.assertIn("lowest_first", after)
        self.assertNotIn("original", after)
        self.assertNotIn(after["lowest_first"], before.values())
        for name in set(before) & set(after):
            self.assertEqual(before[name], after[name], name)

    def test_an_allocator_has_its_look_in_both_chapters(self):
        found = results.load([self.invented()])
        shown = names_shown(allocator_figures.mean(found))
        self.assertEqual(shown["glibc"], looks.light(looks.of("malloc")))
        self.assertNotEqual(shown["pfs"], looks.light(looks.of("original")))


if __name__ == "__main__":
    unittest.main()
