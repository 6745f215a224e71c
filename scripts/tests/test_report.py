"""report.py and plot.py: self-contained, every figure drawn, claims that follow the data."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
import xml.dom.minidom

import fixture
import against
import figures
import results
import summary
import svg

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or \
    shutil.which("google-chrome")

FIGURES = [name for name in figures.FIGURES if name != "sim-threads-storm" and
           (fixture.PARALLEL or not name.startswith("sim-"))]


def browse(path):
    """The page as a browser leaves it after its scripts ran."""
    profile = tempfile.mkdtemp(prefix="pfs-chromium-")
    try:
        return subprocess.run(
            [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu",
             "--disable-background-networking", "--virtual-time-budget=5000",
             f"--user-data-dir={profile}", "--dump-dom", "file://" + path],
            capture_output=True, text=True, timeout=120, check=False).stdout
    finally:
        shutil.rmtree(profile, ignore_errors=True)


class Report(fixture.Case):
    def test_holds_every_figure_and_no_reference(self):
        with open(os.path.join(self.invented(), "report.html"), encoding="utf-8") as file:
            page = file.read()
        for name in FIGURES:
            self.assertIn(f'data-figure="{name}"', page)
        outside = [u for u in re.findall(r'(?:src|href|url\()\s*=?\s*["\']?([^"\')> ]+)', page)
                   if not u.startswith(("#", "data:", "raw/", "plan.json", "machine.json"))]
        self.assertEqual(outside, [])
        for word in ("nan", "None", "inf ns"):
            self.assertNotRegex(page, rf"[> ]{word}[< ]")

    @unittest.skipUnless(CHROMIUM, "chromium is not installed")
    def test_browser_draws_every_figure(self):
        page = browse(os.path.join(self.invented(), "report.html"))
        body = re.search(r"<body[^>]*>", page)
        self.assertIsNotNone(body, page[:300])
        self.assertIn('data-ok="true"', body.group(0))
        drawn = int(re.search(r'data-drawn="(\d+)"', body.group(0)).group(1))
        self.assertGreaterEqual(drawn, len(FIGURES))

    @unittest.skipUnless(CHROMIUM, "chromium is not installed")
    def test_browser_notices_a_figure_that_is_not_drawn(self):
        with open(os.path.join(self.invented(), "report.html"), encoding="utf-8") as file:
            page = file.read()
        broken = re.sub(r'(data-figure="floor".*?<svg[^>]*>).*?</svg>', r"\1</svg>", page,
                        count=1, flags=re.DOTALL)
        self.assertNotEqual(page, broken)
        self.assertIn('data-ok="false"', browse(self.write("broken.html", broken)))

    def test_svg_files_are_well_formed_and_stand_alone(self):
        folder = os.path.join(self.folder, "figures")
        done = fixture.call("plot.py", self.invented(), "--out", folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        names = sorted(os.listdir(folder))
        self.assertEqual(names, sorted(n + ".svg" for n in FIGURES))
        for name in names:
            with self.subTest(name):
                xml.dom.minidom.parse(os.path.join(folder, name))

    def test_claims_follow_the_data(self):
        found = results.load([self.invented()])
        before = {f.name: f.title for f in figures.make(found)[0]}
        for (_, case), metrics in found.values.items():
            if case.policy == "original":
                for metric in ("page_skips", "record_skips", "needless_growths"):
                    metrics[metric] = [0] * len(metrics.get(metric, []))
                metrics["items_per_second"] = [1e12] * len(metrics["items_per_second"])
        after = {f.name: f.title for f in figures.make(found)[0]}
        self.assertIn("Only original skips", before["skips"])
        self.assertIn("needless pages: original", before["skips"])
        self.assertIn("No policy skipped", after["skips"])
        self.assertIn("original is fastest", after["threads-pair"])
        self.assertNotIn("original is fastest", before["threads-pair"])
        bars = {bar: met for bar, _, met in summary.bars(found)}
        self.assertFalse(next(met for bar, met in bars.items() if bar.startswith("random_start")))
        self.assertFalse(next(met for bar, met in bars.items() if bar.startswith("original")))

    def test_bars_without_data_are_not_met(self):
        empty = results.Results()
        self.assertTrue(all(met is None for _, _, met in summary.bars(empty)))

    def test_bars_can_fail(self):
        found = results.load([self.invented()])
        for (build, case), metrics in found.values.items():
            if build == "counted" and case.policy == "local_scan":
                metrics["record_skips"][0] = 1
            if case.policy == "local_scan" and case.workload == "pair":
                metrics["items_per_second"] = [1e6] * len(metrics["items_per_second"])
        for case, lines in found.series.items():
            if case.policy == "reclaiming":
                for line in lines:
                    for point in line[20:]:
                        point["pages"] = max(p["pages"] for p in line)
        failed = [bar for bar, _, met in summary.bars(found) if met is False]
        self.assertEqual([bar.split(" ")[0].strip(",") for bar in failed],
                         ["local_scan", "reclaiming", "strict"])

    def test_reclaim_must_have_happened_to_be_judged(self):
        def judged(ns_during, gone):
            found = results.Results()
            found.policy_order, found.context = ["exact"], {"timer_cost_ns": "20.0"}
            case = results.Case("ebb", "exact", None, "compact", 2)
            for build, ns, pages in (("reclaiming", ns_during, gone), ("still", 50, 0)):
                found.values[(build, case)] = {"ns_p999": [ns], "ns_max": [9000],
                                               "reclaimed_timed": [pages]}
            return next(met for bar, _, met in against.bars(found) if bar.startswith("exact, ebb"))
        self.assertTrue(judged(79, 100))
        self.assertFalse(judged(81, 100))  # 61 without the timer, more than twice 30
        self.assertIsNone(judged(50, 0))   # no page went: nothing was shown

    def test_part_of_the_data(self):
        row = {"name": "pair/policy:new_one/placement:none/threads:1/manual_time",
               "items_per_second": 5e6}
        path = self.write("one.json", json.dumps({"context": {}, "benchmarks": [row]}))
        out = os.path.join(self.folder, "r.html")
        done = fixture.call("report.py", path, "--out", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(out, encoding="utf-8") as file:
            self.assertIn("new_one", file.read())

    def test_wrong_input(self):
        self.assert_refused(fixture.call("report.py", "/no/such"), "/no/such")
        self.assert_refused(fixture.call("plot.py", self.invented(), "--figure", "x"), "'x'")
        self.assert_refused(fixture.call("report.py", self.invented(), "--out", "/no/r.html"),
                            "/no/r.html", "written")
        blocked = self.write("file", "")
        self.assert_refused(fixture.call("plot.py", self.invented(), "--out", blocked + "/x"),
                            "written")

    def test_names_are_escaped(self):
        row = {"name": "pair/policy:<b>&x/placement:none/threads:1", "items_per_second": 5e6}
        path = self.write("one.json", json.dumps({"context": {}, "benchmarks": [row]}))
        out = os.path.join(self.folder, "r.html")
        fixture.call("report.py", path, "--out", out)
        with open(out, encoding="utf-8") as file:
            self.assertNotIn("<b>", file.read())


class Drawing(unittest.TestCase):
    def test_spread_keeps_gap_and_order(self):
        placed = svg.spread([10, 11, 12, 50, 51], 14, 0, 200)
        self.assertEqual(placed, sorted(placed))
        self.assertTrue(all(b - a >= 14 - 1e-9 for a, b in zip(placed, placed[1:])), placed)

    def test_spread_stays_inside(self):
        placed = svg.spread([100, 100, 100], 14, 0, 100)
        self.assertLessEqual(max(placed), 100)
        self.assertGreaterEqual(min(placed), 70)

    def test_numbers(self):
        self.assertEqual([svg.number(v) for v in (0, 0.5, 20, 3000, 12e6)],
                         ["0", "0.5", "20", "3k", "12M"])
        self.assertEqual([svg.time_text(v) for v in (7.9, 25100, 4.2e6)],
                         ["7.9 ns", "25.1 µs", "4.2 ms"])

    def test_ticks_cover(self):
        for low, high in ((0, 7), (3, 4), (0, 0.003), (1e6, 9.7e8)):
            ticks = svg.linear_ticks(low, high)
            self.assertLessEqual(ticks[0], low)
            self.assertGreaterEqual(ticks[-1], high * 0.999)
            self.assertLess(len(ticks), 12)


if __name__ == "__main__":
    unittest.main()
