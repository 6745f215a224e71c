"""test_day.py - a simulated day of a database's load: its series, figure and table."""

import json
import os
import re
import unittest

import fixture
from reporting import day, figures, page, results


HIGHEST_KEPT = 4 + 5 * 12 + 1  # the stand-in's pages at noon


class Days(fixture.Case):
    def simulated(self, *more):
        """A folder with the day of the size quick, by the stand-in."""
        out = os.path.join(self.folder, "out")
        done = fixture.call("experiments.py", "--size", "quick", "--only", "day", "--out", out,
                            "--program", os.path.join(fixture.TESTS, "fake_sim.py"), *more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return out

    def test_is_simulated_kept_and_shown(self):
        out = self.simulated()
        self.assertEqual(fixture.call("checks/results.py", out).returncode, 0)
        found = results.load([out])
        seen = day.Day(found)
        self.assertIn("exact", seen.policies)
        self.assertEqual(list(seen.at("exact", 12)), [4 + 5 * 12 + 1])
        self.assertEqual(list(seen.at("exact", 24)), [4 + 1])
        self.assertEqual(list(seen.at("original", 24)), [HIGHEST_KEPT])
        made = figures.FIGURES["sim-day"](found)
        self.assertIn(f"At {day.NIGHT}:00 of a database's day", made.title)
        self.assertIn("1 seed (1)", made.canvas.document("", True))
        headers, rows = day.table(found)
        self.assertEqual({len(row) for row in rows}, {len(headers)})
        kept = {row[0]: row[5] for row in rows}
        self.assertEqual((kept["original"], kept["exact"]), (str(HIGHEST_KEPT), "5"))
        text = page.render(found, [made], [])
        self.assertIn('id="sim-day"', text)
        self.assertIn("--print day", text)
        done = fixture.call("report.py", out, "--print", "day", "--policies", "exact,original")
        self.assertRegex(done.stdout, r"(?m)^exact ")
        self.assertNotRegex(done.stdout, r"(?m)^reclaiming ")

    def test_titles_need_seeds_that_agree(self):
        found = results.load([self.simulated()])
        for policy in ("exact", "reclaiming"):
            case = next(case for case in found.moved if case.policy == policy)
            lines = found.moved[case]
            half = dict(lines[1], pages=[count // 2 for count in lines[1]["pages"]])
            more = dict(lines[1], pages=[count * 2 for count in lines[1]["pages"]])
            for base in (c for c in found.moved if c.policy in ("original",)):
                found.moved[base][2] = found.moved[base][1]
            lines.update({1: half, 2: half if policy == "exact" else more})
        title = figures.FIGURES["sim-day"](found).title
        self.assertRegex(title, r"exact holds? fewer pages than original: exact 0\.")
        self.assertNotIn("reclaiming", title)

    def test_is_not_there_without_data(self):
        found = results.load([self.simulated()])
        found.moved.clear()
        self.assertIsNone(day.table(found))
        self.assertIsNone(figures.FIGURES["sim-day"](found))

    def test_a_lost_series_is_simulated_again(self):
        out = self.simulated()
        folder = os.path.join(out, "simulation")
        build = os.path.join(folder, os.listdir(folder)[0])
        lost = [name for name in os.listdir(build) if name.endswith(".series.json")]
        self.assertTrue(lost)
        os.unlink(os.path.join(build, lost[0]))
        self.simulated()
        with open(os.path.join(out, "simulated.json"), encoding="utf-8") as file:
            rows = json.load(file)["benchmarks"]
        self.assertEqual({len(row["series"]["pages"]) for row in rows}, {25})
        self.assertTrue(all(re.match("day/", row["name"]) for row in rows))


if __name__ == "__main__":
    unittest.main()
