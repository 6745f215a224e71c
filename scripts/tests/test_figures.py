"""test_figures.py - a name has one look in all figures; what every figure file says of its data."""

import os
import re
import unittest
from pathlib import Path
from unittest import mock

import fixture
import invented_allocators
from common import browser, documents, stats
from measuring import malloc_peers
from reporting import (allocator_figures, allocator_results, charts, figure_parts as parts, figures,
                       looks, pdf, results)

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



class Files(fixture.Case):
    def test_each_names_machine_date_and_n(self):
        out = os.path.join(self.folder, "figures")
        done = fixture.call("plot.py", self.invented(), "--out", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        machine = documents.read_json(os.path.join(self.invented(), "machine.json"))
        names = sorted(os.listdir(out))
        self.assertGreater(len(names), 40)
        for name in names:
            with self.subTest(name):
                text = re.sub(r"<[^>]*>", " ", Path(os.path.join(out, name)).read_text("utf-8"))
                self.assertIn("simulated, " if name.startswith("sim-") else machine["cpu_model"],
                              text)
                self.assertIn(machine["time"][:10], text)
                self.assertRegex(text, r"\d+\s+(launch|seed|round)")

    def test_a_paper_gets_no_title_and_a_pdf(self):
        tool = self.write("bin/rsvg-convert", '#!/bin/sh\ncp "$3" "${2#--output=}"\n')
        os.chmod(tool, 0o755)
        path = os.path.dirname(tool) + os.pathsep + os.environ["PATH"]
        made = {}
        for words in ([], ["--for", "paper"]):
            done = fixture.call("plot.py", self.invented(), "--figure", "latency", "--out",
                                self.folder, *words, environment={"PATH": path})
            self.assertEqual(done.returncode, 0, done.stderr)
            made[len(words)] = Path(self.folder, "latency.svg").read_text("utf-8")
        self.assertEqual(Path(self.folder, "latency.pdf").read_text("utf-8"), made[2])
        self.assertIn(">Latency of one allocate", made[0])
        self.assertNotIn(">Latency of one allocate", made[2])
        self.assertNotIn("<style>", made[2])
        heights = [float(re.search(r'height="([\d.]+)" role', made[k]).group(1)) for k in (0, 2)]
        self.assertLess(heights[1], heights[0] - 30)
        for text in (">original</text>", "each point the median of"):
            self.assertIn(text, made[2])

    def test_without_a_program_for_pdf_a_line_says_what_to_install(self):
        before, pdf.browser.CHROMIUM = pdf.browser.CHROMIUM, None
        self.addCleanup(setattr, pdf.browser, "CHROMIUM", before)
        with mock.patch.object(pdf.shutil, "which", return_value=None):
            with self.assertRaisesRegex(documents.BadInput, "librsvg2-bin"):
                pdf.program()

    @unittest.skipUnless(browser.CHROMIUM, "chromium is not installed")
    def test_a_browser_makes_one_page(self):
        with mock.patch.object(pdf.shutil, "which", return_value=None):
            svg = self.write("a.svg", '<svg xmlns="http://www.w3.org/2000/svg" width="548" '
                             'height="333.5" role="img"><rect width="9" height="9"/></svg>')
            data = Path(pdf.convert(svg)).read_bytes()
        self.assertTrue(data.startswith(b"%PDF-"))
        self.assertEqual(len(re.findall(rb"/Type\s*/Page\b", data)), 1)


class Words(unittest.TestCase):
    def test_names_stand_only_where_intervals_decide(self):
        low, high = [1, 1.1, 1.05, 0.95, 1, 1.02], [9, 9.1, 9.2, 8.9, 9, 9.05]
        shaken = [1, 9, 2, 8, 1, 9]

        def said(**found):
            return parts.order({name: stats.samples_of(values) for name, values in
                                found.items()}, "least", "most")
        self.assertEqual(said(a=low, b=high), "least with a, most with b (8.3–9.4 × a)")
        self.assertIn("order undecided, fewer than 6", said(a=low[:3], b=high[:3]))
        self.assertEqual(said(a=low, b=low[::-1]), "order undecided")
        self.assertIn("least with a and c", said(a=low, c=low[::-1], b=high))
        self.assertEqual(said(a=low, b=shaken), "order undecided")
        self.assertEqual(said(a=low), "measured with a only")

    def test_a_span_is_of_intervals(self):
        values = [stats.samples_of([3, 1, 2, 4, 5, 6]), stats.samples_of([7.04] * 6)]
        self.assertEqual(parts.sure_span(values, "{:.1f}".format), "1.0 to 7.0")
        self.assertEqual(parts.sure_span(values[1:], "{:.1f}".format), "7.0")
        self.assertIsNone(parts.sure_span([*values, stats.samples_of([1] * 5)], str))
        self.assertIsNone(parts.sure_span([], str))

    def test_few_launches_of_allocators_decide_nothing(self):
        def title(name, launches):
            document = invented_allocators.document()
            document["launches"] = [{**launch, "round": number + 1}
                                    for number in range(launches) for launch in
                                    document["launches"] if launch["round"] == 1]
            found = results.Results()
            found.allocators = allocator_results.Suite(document)
            return figures.FIGURES[name](found).title
        for name in ("allocator-mean", "allocator-mean-peak", "allocator-idle", "allocator-tails"):
            self.assertIn("undecided", title(name, 3), name)
            self.assertNotIn("undecided", title(name, 6), name)
        self.assertIn("less than the best peer in 0 of", title("allocator-cpu", 3))
        self.assertNotIn("less than the best peer in 0 of", title("allocator-cpu", 6))

    def test_the_number_at_the_end_is_of_one_metric(self):
        points = [(1.0, None, None, "", "circle", []), (5.0, None, None, "", "square", [])]
        spec = {"title": "", "x_name": "", "zero": True,
                "rows": [{"name": "a", "index": 0, "points": points},
                         {"name": "b", "index": 1, "points": points[1:]}]}
        ends = re.compile(r'halo"[^>]*>([^<]*)<')
        for told, wanted in (("circle", ["1", "5"]), ("square", ["5", "5"]), (None, ["5"])):
            text = charts.row_chart({**spec, "told": told}).document("", True)
            self.assertEqual(ends.findall(text), wanted)


if __name__ == "__main__":
    unittest.main()
