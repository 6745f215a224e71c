"""test_server.py - what is made of mariadb.json: samples, bars, tables, the chapter and its
figures, quoted numbers, partial and damaged files."""

import json
import lzma
import os
import unittest
from pathlib import Path

import fixture
import invented_server
from common import documents, judge
from reporting import (figures, looks, page, quotes, results, server_figures, server_quotes,
                       server_results, server_suite)

MIB = 1 << 20


def suite(change=None, **how):
    """The invented suite, with a change to the document."""
    document = invented_server.document(**how)
    if change:
        change(document)
    return server_suite.Suite({**server_suite.DEFAULTS, **document})


def found_of(change=None, **how):
    """Results with nothing but the invented suite."""
    found = results.Results()
    found.server = suite(change, **how)
    found.machine = {"cpu_model": "Model 7", "cpus_allowed": [0, 1], "time": "2026-11-24T10:00"}
    return found


def verdict(words, change=None, **how):
    """The verdict of the only bar that has these words."""
    made = [bar for bar in server_results.bars(suite(change, **how)) if words in bar.says]
    assert len(made) == 1, (words, [bar.says for bar in made])
    return made[0].verdict


def storms_of(document, policy, connections=1500):
    """The storms of a policy, at once."""
    return [s for s in document["storms"] if (s["policy"], s["connections"], s["kind"]) ==
            (policy, connections, "at_once")]


class Samples(unittest.TestCase):
    def test_a_storm_is_read_at_each_moment(self):
        found = suite()
        self.assertEqual(set(found.memory("stock", "start")), {136 * MIB})
        self.assertEqual(len(found.memory("exact", 10)), invented_server.ROUNDS)
        self.assertAlmostEqual(found.kept("exact")[0], 1.01, 6)
        self.assertGreater(min(found.kept("stock")), 2)
        self.assertEqual(found.sizes, list(invented_server.SIZES))

    def test_counts_that_rise_are_those_of_the_storm(self):
        found = suite()
        self.assertEqual(list(server_suite.storm_counts(found, "exact", "pages_given_back",
                                                        "thread")), [15] * 8)
        self.assertEqual(set(server_suite.storm_counts(found, "stock", "growths_needless",
                                                       "cond")), {2, 3})
        self.assertEqual(set(server_suite.storm_counts(found, "exact", "growths_needless")), {0})

    def test_what_is_not_counted_is_unknown_and_not_zero(self):
        found = suite()
        for policy, name in (("stock-binary", "growths_needless"), ("stock", "page_skips")):
            self.assertEqual(server_suite.storm_counts(found, policy, name), [])

        def uncounted(document):
            for storm in document["storms"]:
                for sample in storm["samples"]:
                    for counts in sample["containers"].values():
                        counts["counted"] = False
            document["tables"] = []
        found = suite(uncounted)
        self.assertEqual(server_suite.storm_counts(found, "exact", "growths_needless"), [])
        self.assertNotEqual(server_suite.storm_counts(found, "stock", "growths_needless"), [])
        self.assertEqual(verdict("exact: no page is added", uncounted), judge.NOT_MEASURED)

    def test_disturbed_launches_are_left_out_of_rates_where_six_others_stay(self):
        def shaken(document):
            for entry in document["storms"] + document["cost"]:
                entry["disturbed"] = entry["round"] < 2
        found = suite(shaken)
        rates = found.rates("exact", ("point", 2))
        self.assertEqual((len(rates), rates.left_out), (6, 2))
        self.assertEqual(len(found.memory("exact", 10)), invented_server.ROUNDS)

    def test_the_unpatched_server_is_the_base_where_it_was_measured(self):
        self.assertEqual(suite().base("cost"), "stock-binary")
        self.assertEqual(suite(policies=("exact", "stock")).base("cost"), "stock")
        self.assertIsNone(suite(policies=("exact",)).base())


    def test_a_container_without_a_page_has_none(self):
        def empty(document):
            del storms_of(document, "stock")[0]["samples"][-1]["containers"]["cond"]
        self.assertEqual(sorted(server_suite.storm_counts(suite(empty), "stock", "pages",
                                                          "cond"))[0], 0)

    def test_a_quick_run_ends_earlier(self):
        def quick(document):
            for storm in document["storms"]:
                del storm["samples"][-2:]
        found = suite(quick)
        self.assertEqual(found.last, 2)
        self.assertEqual(len(found.kept("exact")), 8)
        self.assertIn("2 s after 1,500", server_results.bars(found)[0].says)


class Bars(unittest.TestCase):
    def test_follow_the_data(self):
        found = {bar.says: bar.verdict for bar in server_results.bars(suite())}
        open_ones = [says for says, word in found.items() if word != judge.MET]
        self.assertEqual(open_ones, [says for says in found if "statements per second" in says])
        self.assertEqual({found[says] for says in open_ones}, {judge.UNDECIDED})

    def test_memory_that_stays_misses_its_bar(self):
        def stays(document):
            for storm in storms_of(document, "exact"):
                storm["samples"][-1]["ps_bytes"] = round(136 * MIB * 1.11)
        self.assertEqual(verdict("exact: 10 s after", stays), judge.NOT_MET)
        self.assertEqual(verdict("magazine: 10 s after", stays), judge.MET)

    def test_few_rounds_decide_nothing(self):
        self.assertEqual(verdict("exact: 10 s after", rounds=5), judge.UNDECIDED)
        self.assertEqual(verdict("original and stock", rounds=5), judge.UNDECIDED)

    def test_one_needless_page_in_any_load_is_enough(self):
        def in_a_wave(document):
            wave = next(s for s in document["storms"] if s["kind"] == "waves" and
                        s["policy"] == "magazine")
            wave["samples"][2]["containers"]["cond"]["growths_needless"] = 1
        def among_tables(document):
            found = next(t for t in document["tables"] if t["policy"] == "magazine")
            found["containers"]["thread"]["growths_needless"] = 1
        for change in (in_a_wave, among_tables):
            self.assertEqual(verdict("magazine: no page", change), judge.NOT_MET)
            self.assertEqual(verdict("exact: no page", change), judge.MET)

    def test_pages_of_original_and_stock_are_compared_for_each_container(self):
        def apart(document):
            for storm in storms_of(document, "original"):
                storm["samples"][-1]["containers"]["cond"]["pages"] += 9
                storm["samples"][-1]["containers"]["thread"]["pages"] -= 9
        self.assertEqual(verdict("original and stock", apart), judge.NOT_MET)

    def test_a_slower_policy_misses_its_bar_and_a_faster_one_meets_it(self):
        for factor, word in ((0.9, judge.NOT_MET), (1.1, judge.MET)):
            def change(document, factor=factor):
                for cost in document["cost"]:
                    if cost["policy"] == "exact":
                        cost["statements_per_second"] *= factor
            self.assertEqual(verdict("exact: statements per second at least those of "
                                     "stock-binary, point selects, 16 threads", change), word)

    def test_a_test_that_only_one_policy_fails_is_named(self):
        def fails(document):
            document["suite"]["exact"] = {"passed": 254, "skipped": 7, "failed": [
                "perfschema.innodb", "perfschema.digest"]}
        self.assertEqual(verdict("perfschema suite", fails), judge.NOT_MET)
        rows = {row[0]: row[-1] for row in server_results.suite_rows(suite(fails))[1]}
        self.assertEqual(rows["exact"], "fails here only: perfschema.digest")
        self.assertEqual(rows["magazine"], "none")

    def test_what_a_box_does_not_name_is_said(self):
        def lost(document):
            document["boxes"][1]["kill"]["missing"] = [{"name": "memory/sql/thd", "bytes": 9}]
        def stranger(document):
            document["boxes"][0]["kill"]["box"]["accounts"].pop()
        for change in (lost, stranger):
            self.assertEqual(verdict("kill -9 during a storm", change), judge.NOT_MET)
        self.assertIn("batch@localhost", server_results.box_bar(suite(stranger)).measured)

    def test_an_error_of_a_reader_is_seen(self):
        def errs(document):
            document["tables"][3]["reader_errors"] = 1
        self.assertEqual(verdict("readers of P_S tables", errs), judge.NOT_MET)


class Tables(unittest.TestCase):
    def test_say_what_was_measured(self):
        found = suite()
        rows = {row[0]: row for row in server_results.memory_rows(found)[1]}
        self.assertEqual([rows[p][5] for p in ("stock", "exact")], [judge.NOT_MET, judge.MET])
        self.assertTrue(rows["exact"][3].startswith("137.4"))
        pages = {row[0]: row for row in server_results.page_rows(found)[1]}
        self.assertEqual(pages["stock-binary"][2:], ["–"] * 5)
        self.assertEqual(pages["exact"][2:5], ["45", "45", "0"])
        self.assertEqual(pages["stock"][5:], ["–", "–"])
        first = server_results.cost_rows(found)[1][0]
        self.assertTrue(first[0].endswith("P_S off"))
        self.assertEqual(first[-1], "–")
        self.assertEqual([row[0] for row in server_results.container_rows(found)[1]],
                         ["thread", "cond"])
        waves = server_results.wave_rows(found)
        self.assertEqual(waves[0][2:], ["2 s after\nwave 1", "2 s after\nwave 2",
                                        "10 s after\nwave 3"])
        self.assertEqual({row[0] for row in waves[1]}, set(invented_server.POLICIES))
        boxes = [row[1:] for row in server_results.box_rows(found)[1]]
        self.assertEqual(boxes, [["450", "300", "4", "3"], ["449", "299", "0", "0"],
                                 ["460", "310", "4", "–"], ["461", "311", "0", "–"]])

    def test_text_has_all_of_them(self):
        said = server_results.text(suite())
        for words in ("perfschema suite", "a day of tides", "many tables", "P_S off",
                      "met           exact: no page"):
            self.assertIn(words, said)


class Figures(unittest.TestCase):
    def titles(self, change=None, **how):
        found = found_of(change, **how)
        made = {name: make(found) for name, make in server_figures.FIGURES.items()}
        return {name: figure.title for name, figure in made.items() if figure}

    def test_titles_say_what_intervals_decide(self):
        said = self.titles()
        self.assertEqual(said["server-storm"], "10 s after 1,500 connections P_S memory is within "
                         "10 % of the start with exact and magazine, and with no other policy")
        self.assertIn("exact and magazine hold less P_S memory than stock-binary: exact 0.36 ×",
                      said["server-connections"])
        self.assertIn("At the end of a day of tides exact and magazine", said["server-day"])
        self.assertIn("exact and magazine add no needless page in 16 launches; stock, original,",
                      said["server-needless"])
        self.assertEqual(said["server-point"],
                         "Point selects: no policy is shown to be slower than stock-binary")

    def test_titles_of_few_rounds_state_nothing(self):
        said = self.titles(rounds=3)
        for name in ("storm", "connections", "day", "needless", "point", "connect"):
            self.assertIn("undecided", said[f"server-{name}"])

    def test_a_slower_policy_stands_in_the_title(self):
        def slow(document):
            for cost in document["cost"]:
                if cost["policy"] == "magazine" and cost["threads"] == 16:
                    cost["statements_per_second"] *= 0.9
        self.assertEqual(self.titles(slow)["server-connect"],
                         "Connections, one select each: magazine is slower than stock-binary")

    def test_nothing_returns(self):
        def keeps(document):
            for storm in document["storms"]:
                storm["samples"][-1]["ps_bytes"] = 300 * MIB
        self.assertIn("not within 10 % of the start with any", self.titles(keeps)["server-storm"])

    def test_colours_follow_the_name(self):
        drawn = server_figures.storm(found_of(policies=("magazine", "stock", "exact")))
        text = drawn.canvas.document(drawn.title, True)
        for policy in ("exact", "magazine", "stock"):
            self.assertIn(f'fill="{looks.light(looks.of(policy))}">{policy}</text>', text)

    def test_each_names_machine_date_launches_and_version(self):
        found = found_of()
        for figure in figures.make(found, list(server_figures.FIGURES))[0]:
            name = figure.name
            text = figure.canvas.document(figure.title, True).replace("</text>", " ")
            for words in ("Model 7", "2 CPUs", "2026-11-24", "10.11.18-MariaDB", "8"):
                self.assertIn(words, text, name)

    def test_the_first_row_of_rates_is_without_the_performance_schema(self):
        figure = server_figures.FIGURES["server-connect"](found_of())
        text = figure.canvas.document(figure.title, True)
        self.assertLess(text.index(">P_S off<"), text.index(">stock<"))
        self.assertNotIn('text-anchor="end" fill="#7a7a7a">stock-binary', text)  # the line at 1


class Partial(fixture.Case):
    def test_each_part_alone_is_shown(self):
        for part in server_suite.NAMES:
            document = invented_server.document(rounds=2)
            for other in server_suite.NAMES:
                if other != part:
                    del document[other]
            found = results.Results()
            self.write(f"{part}/mariadb.json", json.dumps(document))
            found.add(os.path.join(self.folder, part))
            made = [figure for make in server_figures.FIGURES.values() if (figure := make(found))]
            self.assertEqual(bool(made), part in ("storms", "days", "cost"), part)
            shown = page.render(found, made, [])
            for other, name in server_suite.NAMES.items():
                said = f"Left out: {name}: not measured".replace("'", "&#39;")
                self.assertEqual(said in shown, other != part, (part, other))
            server_results.text(found.server)

    def test_nothing_measured_is_a_chapter_without_figures(self):
        document = invented_server.document(rounds=0)
        document["suite"] = {}
        path = self.write("none/mariadb.json", json.dumps(document))
        done = fixture.call("report.py", os.path.dirname(path))
        self.assertEqual((done.returncode, done.stderr), (1, ""))

    def test_a_compressed_file_is_read(self):
        path = self.write("packed/mariadb.json", "")
        os.remove(path)
        with lzma.open(f"{path}.xz", "wt") as file:
            json.dump(invented_server.document(rounds=1), file)
        self.assertIsNotNone(server_suite.Suite.load(os.path.dirname(path)))

    def test_what_is_damaged_is_named(self):
        def wrong_count(document):
            document["storms"][9]["samples"][1]["containers"] = {"thread": {"pages": "7"}}
        for change, word in (
                (lambda d: d.pop("policies"), "policies is not a list"),
                (lambda d: d["server"].pop("version"), "server.version is not a text"),
                (lambda d: d["storms"][2].pop("samples"), "storms[2].samples is not a list"),
                (lambda d: d["cost"][1].update(threads="7"), "cost[1].threads is not a count"),
                (lambda d: d["tables"][0].update(containers=[]),
                 "tables[0].containers is not an object"),
                (wrong_count, "storms[9].samples[1].containers.thread.pages is not a number")):
            damaged = invented_server.document(rounds=2)
            change(damaged)
            path = self.write("bad/mariadb.json", json.dumps(damaged))
            self.assert_refused(fixture.call("report.py", os.path.dirname(path)), path, word,
                                "scripts/mariadb")


class Chapter(fixture.Case):
    def test_stands_in_the_report(self):
        whole = Path(os.path.join(self.invented(), "report.html")).read_text("utf-8")
        chapter = whole[whole.index('<section class="page"><h2 id="server">'):]
        chapter = chapter[:chapter.index("</section>")]
        for name in server_figures.FIGURES:
            self.assertIn(f'<figure id="{name}"', chapter)
            self.assertIn(f"--figure {name}</code>", chapter)
        for name in server_results.TABLES:
            self.assertIn(f'id="table-server-{name}"', chapter)
        for words in ("10.11.18-MariaDB", "1:10.11.18-0+deb12u1", "scripts/mariadb", "%=on"):
            self.assertIn(words, chapter)
        self.assertRegex(whole, '<a href="#server">The real server: [0-9]+ met')

    def test_a_table_is_printed_alone_and_the_folder_has_no_fault(self):
        done = fixture.call("report.py", self.invented(), "--print", "server-memory")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("137.4", done.stdout)
        self.assertEqual(fixture.call("checks/results.py", self.invented()).returncode, 0)

    def test_is_not_there_without_data(self):
        found = results.load([self.invented()])
        found.server = None
        self.assertNotIn('id="server"', page.render(found, [], []))
        self.assertEqual({make(found) for make in server_figures.FIGURES.values()}, {None})


PAGE = """# x

<!-- measured: results/r -->
From 136.0 MiB to 324.1; ten seconds later 324.1 with stock code, 137.4 with `exact`, with 1,500
connections. Up to 3 pages of conditions were needless, 0 with `exact`. 1.000 times (0.994 to
1.006).
<!-- end -->
"""
PHRASES = (
    ("From {} MiB to {}; ten seconds later {} with stock code, {} with `exact`, with {} "
     "connections",
     ["server start stock-binary", "server peak stock-binary", "server after stock-binary",
      "server after exact", "server storm"]),
    ("Up to {} pages of conditions were needless, {} with `exact`",
     ["server growths_needless stock cond most", "server needless exact"]),
    ("{} times ({} to {})", ["server times exact point t16", "server times exact point t16 low",
                             "server times exact point t16 high"]))


class Quoted(unittest.TestCase):
    def check(self, text, change=None):
        quoted = [quotes.Quote("x.md", "results/r", *row) for row in PHRASES]
        of = quotes.Of(found_of(change))
        return quotes.check(text, "x.md", quoted, lambda _: of)

    def test_numbers_of_the_server_hold_or_are_written_anew(self):
        self.assertEqual(self.check(PAGE), ([], PAGE))
        faults, written = self.check(PAGE.replace("137.4", "139.4"))
        self.assertEqual(len(faults), 1)
        self.assertIn("139.4 is now 137.4 (server after exact)", faults[0])
        self.assertEqual(written, PAGE)

    def test_every_kind_of_number(self):
        found = suite()
        for expression, value in (
                ("rounds", 8), ("storm", 1500), ("passed exact", 255), ("kept exact", 1.01),
                ("start exact 200", 136), ("pages exact", 6), ("pages_given_back exact thread", 15),
                ("growths exact", 45), ("growths_needless stock least", 3),
                ("needless stock", 5), ("rate stock-binary point t2 least", 20000)):
            self.assertAlmostEqual(server_quotes.quoted(found, expression), value, 5, expression)

    def test_what_was_not_measured_is_refused(self):
        found = suite(rounds=3)
        for expression in ("after pear", "pear exact", "after exact 77", "passed pear",
                           "needless stock-binary", "rate exact point t99", "after exact low"):
            with self.assertRaises(documents.BadInput, msg=expression):
                server_quotes.quoted(found, expression)
        with self.assertRaises(documents.BadInput):
            server_quotes.quoted(None, "storm")


if __name__ == "__main__":
    unittest.main()
