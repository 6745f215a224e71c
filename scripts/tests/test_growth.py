"""test_growth.py - Growth: figures and bars of fill and refuse, judged by the data, unfinished
fills included."""

import unittest

import fixture
from common import judge
from reporting import against, figures, results


def cases_of(found, workload, policy=None, **fields):
    return [(build, case) for build, case in found.values
            if case.workload == workload and policy in (None, case.policy) and
            all(getattr(case, field) == value for field, value in fields.items())]


def growth_bars(found):
    return {bar.says: bar for bar in against.bars(found) if "16 Mi" in bar.says
            or "refusal" in bar.says}


class Growth(fixture.Case):
    def setUp(self):
        super().setUp()
        self.found = results.load([self.invented()])

    def change(self, workload, policy, metric, change, **fields):
        for key in cases_of(self.found, workload, policy, **fields):
            metrics = self.found.values[key]
            metrics[metric] = [change(v) for v in metrics[metric]]

    def copy(self, key, **fields):
        other = (key[0], key[1]._replace(**fields))
        self.found.values[other] = {m: list(v) for m, v in self.found.values[key].items()}
        self.found.rounds[other] = self.found.rounds[key]

    def test_sizes_are_cases_of_their_own(self):
        names = ("fill/policy:a/records:64/memory:touched/placement:none/threads:1/manual_time",
                 "storm/policy:a/page_records:32/machine:m/threads:256")
        filled, storm = (results.parse_name(name) for name in names)
        self.assertEqual((filled.records, filled.memory, storm.page_records), (64, "touched", 32))
        self.assertIsNone(results.parse_name("fill/policy:a/records:many/threads:1"))
        self.assertEqual(self.found.cases("release", workload="fill"), [])
        every = self.found.cases("release", workload="fill", records=results.ANY,
                                 memory=results.ANY)
        self.assertGreater(len({(c.records, c.memory) for c in every}), 5)

    def test_cost_by_size_is_of_every_policy_that_grows(self):
        figure = figures.FIGURES["growth-touched"](self.found)
        drawn = figure.canvas.document(figure.title, True)
        for policy in ("original", "local_scan", "random_start", "reclaiming", "exact",
                       "magazine", "mutex_list"):
            self.assertIn(f">{policy}<", drawn)
        for word in (">16 Ki<", ">1 Mi<", ">16 Mi<", "covers 96.9 %"):
            self.assertIn(word, drawn)
        self.assertRegex(
            figure.title, r"grows to 1 Mi records: a record costs original \d+–\d+ ×, .*, "
            r"exact [01][.\d]*–[.\d]+ × and magazine [01][.\d]*–[.\d]+ × what it costs up to 16 Ki")
        fresh = figures.FIGURES["growth-fresh"](self.found)
        self.assertIn(">malloc<", fresh.canvas.document("", True))

    def test_a_fill_that_did_not_end_is_shown_and_said(self):
        figure = figures.FIGURES["growth-touched"](self.found)
        self.assertIn("random_start did not finish in time", figure.title)
        drawn = figure.canvas.document(figure.title, True)
        # Of 256 Ki and 1 Mi records a third came: it stands there, and once.
        self.assertEqual(drawn.count('paper mark"'), 1)
        self.assertIn("random_start, not finished: 85.3 Ki of 256 Ki records", drawn)
        self.assertNotIn(">85.3 Ki<", drawn)
        self.change("fill", "random_start", "finished", lambda v: 1)
        figure = figures.FIGURES["growth-touched"](self.found)
        self.assertNotIn("did not finish", figure.title)
        self.assertNotIn('paper mark"', figure.canvas.document(figure.title, True))

    def test_places_are_by_logarithm(self):
        from reporting import charts
        places = charts._by_logarithm([1, 10, 1000], 0, 300)
        self.assertEqual([round(places[x]) for x in (1, 10, 1000)], [0, 100, 300])
        self.assertEqual(charts._by_logarithm([5], 10, 20), {5: 10})

    def test_calls_and_refusals(self):
        title = figures.FIGURES["growth-calls"](self.found).title
        self.assertRegex(title, r"grows to 128 Ki records, the longest call: "
                         r"shortest with magazine, longest with original \(")
        title = figures.FIGURES["refusal"](self.found).title
        self.assertRegex(title, r"of 4 Ki pages are in use, compared with 64: original .* ×")

    def test_bars_are_judged_and_can_fail(self):
        before = growth_bars(self.found)
        self.assertEqual([bar.verdict for bar in before.values()],
                         [judge.MET] * 2 + [judge.NOT_MEASURED] * 2)
        self.change("fill", "exact", "items_per_second", lambda v: v / 2, records=1 << 24)
        for key in cases_of(self.found, "refuse", records=4096):
            self.copy(key, records=1 << 20)
        self.change("refuse", "magazine", "items_per_second", lambda v: v / 4, records=1 << 20)
        after = growth_bars(self.found)
        self.assertEqual({says.split()[0].strip(",:"): bar.verdict for says, bar in after.items()
                          if "16 Mi" in says}, {"exact": judge.NOT_MET, "magazine": judge.MET})
        self.assertEqual({says.split(":")[0]: bar.verdict for says, bar in after.items()
                          if "refusal" in says}, {"exact": judge.MET, "magazine": judge.NOT_MET})

    def exact_bar(self):
        return next(bar for says, bar in growth_bars(self.found).items()
                    if says.startswith("exact, fill"))

    def test_what_did_not_end_meets_no_bar(self):
        self.change("fill", "exact", "finished", lambda v: 0, records=1 << 24)
        bar = self.exact_bar()
        self.assertEqual(bar.verdict, judge.UNDECIDED)
        self.assertIn("6 of 6 fills did not end", bar.measured)
        self.change("fill", "exact", "items_per_second", lambda v: v / 2, records=1 << 24)
        self.assertEqual(self.exact_bar().verdict, judge.NOT_MET)

    def test_bars_against_the_peers(self):
        for key in list(self.found.values):
            build, case = key
            if case.policy == "malloc" and build == "release":
                for peer in ("jemalloc", "mimalloc"):
                    self.copy(key, policy=peer)

        def verdicts():
            return {bar.says: bar.verdict for bar in against.bars(self.found)
                    if "0.9 × jemalloc" in bar.says or "mimalloc" in bar.says
                    or "public calls" in bar.says}
        self.assertEqual(list(verdicts().values()), [judge.MET] * 3, verdicts())
        for _, case in list(self.found.values):
            if case.policy in ("jemalloc", "mimalloc"):
                metrics = self.found.values["release", case]
                metrics["items_per_second"] = [v * 100 for v in metrics["items_per_second"]]
        self.assertEqual(list(verdicts().values()), [judge.NOT_MET] * 3, verdicts())

    def test_overhead_stands_in_the_comparison(self):
        from reporting import summary
        headers, rows = summary.table(self.found)
        column = headers.index("overhead\nbytes a\nrecord")
        self.assertEqual({row[column] for row in rows if row[0] == "exact"}, {"21.5"})


if __name__ == "__main__":
    unittest.main()
