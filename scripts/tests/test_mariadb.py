"""test_mariadb.py - scripts/mariadb without a server: answers, plans, what a stopped build or run
repeats, refusals; with a built server, which PFS_MARIADB names, also a quick run."""

import json
import os
import stat
import struct
import unittest

import fixture
from common import documents
from measuring import mariadb_client, mariadb_loads, mariadb_server, mariadb_source, mariadb_suite
from reporting import mariadb_text

BUILT = os.environ.get("PFS_MARIADB", os.path.join(os.path.dirname(fixture.SCRIPTS), "build",
                                                   "mariadb"))
MIB = 1 << 20
TEXT = "".join(f"{line}\n" for line in (
    "perfschema.a                             w1 [ pass ]     12",
    "perfschema.b 'mix'                       w2 [ fail ]",
    "perfschema.b 'mix'                       w2 [ retry-fail ]",
    "perfschema.b 'row'                       w2 [ pass ]      3",
    "perfschema.c                             w1 [ fail ]",
    "perfschema.c                             w1 [ retry-pass ]     9",
    "perfschema.d                             [ disabled ]  todo",
    "perfschema.e                             w1 [ skipped ]  Need InnoDB"))


def row(*fields):
    """A row as a server sends it."""
    return mariadb_client.packet(b"".join(
        b"\xfb" if f is None else bytes([len(f)]) + f.encode() for f in fields))


def document(change=None):
    """An invented result of three servers."""
    def sample(at, mib, needless):
        return {"at": at, "seconds": 0.0, "ps_bytes": mib * MIB, "rss_bytes": 2 * mib * MIB,
                "containers": {"thread": {"pages": 3, "growths_needless": needless,
                                          "counted": True}}}
    found = {"format": 1, "policies": ["stock", "exact"], "storms": [], "days": [], "tables": [],
             "cost": [], "suite": {}}
    for number in range(6):
        for policy, after, speed in (("stock", 300, 100.0), ("exact", 130, 99.0)):
            found["storms"].append({
                "round": number, "policy": policy, "connections": 1500, "kind": "at_once",
                "wave": 0, "disturbed": False, "samples": [
                    sample("start", 120, 0), sample("peak", 300, 1), sample("after", after, 2)]})
            found["cost"].append({"round": number, "policy": policy, "workload": "point",
                                  "threads": 2, "statements_per_second": speed + number,
                                  "cpu_seconds": 1.0, "disturbed": False})
    if change:
        change(found)
    return found


class Client(unittest.TestCase):
    def answers(self, data, step):
        stream, found = mariadb_client.Stream(), []
        for at in range(0, len(data), step):
            for payload in stream.packets(data[at:at + step]):
                if stream.is_answered(payload):
                    found.append([mariadb_client.fields_of(r) for r in stream.next_answer()])
        return found

    def test_answers_are_found_wherever_the_bytes_are_cut(self):
        end = mariadb_client.packet(b"\xfe\0\0\2\0")
        table = (mariadb_client.packet(b"\2") + row("def") + row("def") + end + row("a", None) +
                 row("", "bc") + end)
        done = mariadb_client.packet(b"\0\0\0\2\0\0\0")
        for step in (1, 3, 7, 1000):
            self.assertEqual(self.answers(table + done + table, step),
                             [[["a", None], ["", "bc"]], [], [["a", None], ["", "bc"]]])

    def test_a_long_value_has_a_length_of_more_bytes(self):
        text = b"x" * 300
        self.assertEqual(mariadb_client.fields_of(b"\xfc" + struct.pack("<H", 300) + text + b"\1y"),
                         ["x" * 300, "y"])

    def test_an_error_is_a_line(self):
        with self.assertRaisesRegex(mariadb_client.Failed, "^Too many connections$"):
            self.answers(mariadb_client.packet(b"\xff\x10\x04#08004Too many connections"), 50)


class Containers(unittest.TestCase):
    def test_pages_come_from_the_header_and_the_engine(self):
        sizes = mariadb_server.page_sizes(
            "typedef PFS_buffer_scalable_container<PFS_mutex, 1024, 1024> A;\n"
            "typedef PFS_buffer_scalable_container<PFS_file, 4 * 1024, 4 * 1024> B;\n"
            "typedef PFS_buffer_scalable_container<PFS_account,\n  128, 128, X> C;\n")
        self.assertEqual(sizes, {"mutex": 1024, "file": 4096, "account": 128})
        found = mariadb_server.containers_of_engine(
            [["performance_schema", name, number] for name, number in (
                ("mutex_instances.count", "3072"), ("(pfs_account).count", "128"),
                ("(pfs_mutex_class).count", "210"), ("file_instances.size", "704"),
                ("(account_hash).count", "9"))], sizes)
        self.assertEqual({name: one["pages"] for name, one in found.items()},
                         {"mutex": 3, "account": 1})

    def test_status_variables_are_taken_apart(self):
        found = mariadb_server.containers_of_status(
            [["Pfslab_mutex_1_pages", "2"], ["Pfslab_mutex_1_pages_given_back", "7"],
             ["Pfslab_table_share_lock_growths_needless", "1"],
             ["Pfslab_table_share_lock_pages_peak", "4"], ["Pfslab_cond_pages", "0"]], True)
        self.assertEqual(found, {
            "mutex_1": {"counted": True, "pages": 2, "pages_given_back": 7},
            "table_share_lock": {"counted": True, "growths_needless": 1, "pages_peak": 4}})


class Suite(unittest.TestCase):
    def test_a_test_failed_if_it_never_passed(self):
        found = mariadb_suite.outcomes(TEXT)
        self.assertEqual(found, {
            "passed": ["perfschema.a", "perfschema.b 'row'", "perfschema.c"],
            "failed": ["perfschema.b 'mix'"], "unstable": ["perfschema.c"],
            "skipped": ["perfschema.d", "perfschema.e"]})
        other = mariadb_suite.outcomes(TEXT.replace("w1 [ pass ]", "w1 [ fail ]"))
        other["differences"] = mariadb_suite.differences(found, other)
        self.assertEqual(other["differences"], {"perfschema.a": ("passed", "failed")})
        found["differences"] = {}
        self.assertIn("exact: perfschema.a: passed with stock-binary, failed here",
                      mariadb_text.suite({"stock-binary": found, "exact": other}))


class Plan(unittest.TestCase):
    def plan(self, seed=3):
        return mariadb_loads.plan(mariadb_loads.EXTENTS["full"], ["storm", "cost"],
                                  ["stock", "exact"], range(2), seed)

    def test_servers_alternate_within_each_cell_of_each_round(self):
        launches = self.plan()
        self.assertEqual(len(launches), 2 * (6 * 2 + 3))
        self.assertEqual(launches, self.plan())
        self.assertNotEqual(launches, self.plan(4))
        for first, second in zip(launches, launches[1:]):
            if first["experiment"] == second["experiment"] == "storm" and \
                    first["size"] == second["size"]:
                self.assertNotEqual(first["policy"], second["policy"])
        self.assertEqual({l["policy"] for l in launches if l["experiment"] == "cost"},
                         {"off", "stock", "exact"})

    def test_a_day_has_two_peaks(self):
        tides = [mariadb_loads.tide(hour) for hour in range(24)]
        peaks = [h for h in range(1, 23) if tides[h - 1] < tides[h] >= tides[h + 1]]
        self.assertEqual(len(peaks), 2)
        self.assertLess(max(tides), mariadb_server.CONNECTIONS_MOST)


class Text(unittest.TestCase):
    def test_says_memory_counts_and_ratios(self):
        text = mariadb_text.summary(document())
        self.assertRegex(text, r"1500 at once +exact +120.0 +300.0 +130.0 +260.0 +2")
        self.assertRegex(text, r"point, 2 threads +exact +102 +0.990 +0.990 to 0.990")

    def test_disturbed_rounds_decide_nothing(self):
        def disturb(found):
            for entry in found["cost"]:
                entry["disturbed"] = True
        self.assertIn("not decided", mariadb_text.summary(document(disturb)))


class Source(fixture.Case):
    def stand_ins(self):
        """Programs in a folder at the head of PATH that log what they are asked, and make what a
        build makes."""
        bin_dir, log = os.path.join(self.folder, "bin"), os.path.join(self.folder, "calls")
        programs = {"cmake": 'case "$*" in *PFSLAB*) mkdir -p "$4"; touch "$4/build.ninja";; esac',
                    "ninja": 'mkdir -p "$2/sql"; echo $(wc -l < LOG) > "$2/sql/mariadbd"; '
                             '[ ! -e FOLDER/fail ]',
                    "nice": 'exec "$@"'}
        for name, body in programs.items():
            body = body.replace("LOG", log).replace("FOLDER", self.folder)
            said = "" if name == "nice" else f'echo {name} "$*" >> {log}\n'
            os.chmod(self.write(os.path.join(bin_dir, name), f"#!/bin/sh\n{said}{body}\n"),
                     stat.S_IRWXU)
        before = os.environ["PATH"]
        os.environ["PATH"] = f"{bin_dir}:{before}"
        self.addCleanup(os.environ.__setitem__, "PATH", before)
        self.write("src/CMakeLists.txt", "")
        return log

    def test_a_stopped_build_goes_on(self):
        log = self.stand_ins()
        self.write("fail", "")
        with self.assertRaisesRegex(documents.BadInput, "^ninja: failed"):
            mariadb_source.build(self.folder, self.folder)
        os.remove(os.path.join(self.folder, "fail"))
        # The adapter does not fit an empty source, which is found after the stock server is kept.
        with self.assertRaisesRegex(documents.BadInput, "insert.py: .*pfs_buffer_container.h"):
            mariadb_source.build(self.folder, self.folder)
        self.assertTrue(os.path.exists(os.path.join(self.folder, "build/sql/mariadbd.stock")))
        with open(log, encoding="utf-8") as file:
            calls = file.read().splitlines()
        self.assertEqual(sum("-DPFSLAB_LIBRARY" in call for call in calls), 1)
        self.write(f"src/{mariadb_source.MARKER}", "")
        self.write("src/sql/x", "")
        mariadb_source.build(self.folder, self.folder)
        with open(log, encoding="utf-8") as file:
            again = file.read().splitlines()[len(calls):]
        self.assertEqual([call.split()[0] for call in again], ["cmake"] * 4 + ["ninja"])

    def test_an_edited_source_makes_no_stock_server(self):
        self.stand_ins()
        self.write(f"src/{mariadb_source.MARKER}", "")
        with self.assertRaisesRegex(documents.BadInput, "has the adapter already"):
            mariadb_source.build(self.folder, self.folder)

    def test_builds_of_asan_have_a_folder_and_libraries_of_their_own(self):
        log = self.stand_ins()
        with self.assertRaisesRegex(documents.BadInput, "without the adapter; run scripts/mariadb"):
            mariadb_source.build(self.folder, self.folder, asan=True)
        self.write(f"src/{mariadb_source.MARKER}", "")
        self.write("src/sql/x", "")
        mariadb_source.build(self.folder, self.folder, asan=True)
        with open(log, encoding="utf-8") as file:
            calls = file.read()
        self.assertRegex(calls, "-DCMAKE_BUILD_TYPE=RelWithDebInfo -DWITH_ASAN=ON "
                         ".*/asan/lib/libpfslab.so")
        self.assertIn("--target pfslab_shared pfsaccounts_shared", calls)
        self.assertTrue(os.path.exists(os.path.join(self.folder, "build-asan/sql/mariadbd")))
        self.assertFalse(os.path.exists(os.path.join(self.folder, "build")))

    def test_versions_are_tried_newest_first(self):
        self.assertEqual(mariadb_source.newest_first(["1:10.11.9-1", "1:10.11.18-1", "1:10.11.9-1",
                                                      "1:10.11.18-1~a"]),
                         ["1:10.11.18-1", "1:10.11.18-1~a", "1:10.11.9-1"])
        log = os.path.join(self.folder, "asked")
        os.chmod(self.write("bin/apt-get", f'#!/bin/sh\necho "$*" >> {log}\ncase "$*" in *.18-*) '
                            'touch mariadb_10.11.18-1.dsc;; *) echo "E: 404" >&2; exit 100;; esac'),
                 stat.S_IRWXU)
        before = os.environ["PATH"]
        os.environ["PATH"] = f"{self.folder}/bin:{before}"
        self.addCleanup(os.environ.__setitem__, "PATH", before)
        place = os.path.join(self.folder, "packages")
        self.assertTrue(mariadb_source.download(place, ["1:10.11.19-1", "1:10.11.18-1"])
                        .endswith("mariadb_10.11.18-1.dsc"))
        with open(log, encoding="utf-8") as file:
            self.assertEqual(len(file.readlines()), 2)
        with self.assertRaisesRegex(documents.BadInput, "none of 1:10.11.19-1 .E: 404"):
            mariadb_source.download(place, ["1:10.11.19-1"])

    def test_the_list_of_sources_is_made_of_that_of_packages(self):
        text = "Types: deb\nURIs: http://here/debian\nSuites: bookworm\nSigned-By: /key\n"
        self.assertEqual(mariadb_source.source_list(["Types: deb\nURIs: http://x/node\n", text]),
                         text.replace("deb\n", "deb-src\n", 1))


class Command(fixture.Case):
    def test_wrong_input(self):
        self.assert_refused(fixture.call("mariadb"), "no command")
        self.assert_refused(fixture.call("mariadb", "pear"), "'pear'")
        self.assert_refused(fixture.call("mariadb", "run", "--rounds", "0"), "'0'")
        self.assert_refused(fixture.call("mariadb", "run", "--dir", self.folder), "not built",
                            "scripts/mariadb build")
        self.assert_refused(fixture.call("mariadb", "suite", "--policies", "pear"), "'pear'",
                            "magazine")
        self.assert_refused(fixture.call("mariadb", "build", "--dir", self.folder), "no source",
                            "scripts/mariadb fetch")

    @unittest.skipUnless(os.path.exists(os.path.join(BUILT, "build/sql/mariadbd.stock")),
                         "no server is built (scripts/mariadb fetch, build)")
    def test_a_server_is_measured_and_a_stopped_run_goes_on(self):
        out = os.path.join(self.folder, "out")
        words = ("run", "--dir", BUILT)
        done = fixture.call("mariadb", *words, "--quick", "--only", "storm", "--policies",
                            "stock-binary,exact", "--out", out)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        path = os.path.join(out, "mariadb.json")
        found = documents.read_json(path)
        self.assertTrue(found["complete"])
        for entry in found["storms"]:
            self.assertGreater(entry["samples"][1]["ps_bytes"], entry["samples"][0]["ps_bytes"])
            self.assertIn("thread", entry["samples"][0]["containers"])
        self.assert_refused(fixture.call("mariadb", *words, "--out", out), "--resume")
        self.assert_refused(fixture.call("mariadb", *words, "--resume", self.folder), "--out")
        self.write("pear/mariadb.json", '{"kind": "pear"}')
        self.assert_refused(fixture.call("mariadb", *words, "--resume",
                                         os.path.join(self.folder, "pear")), "begin a new run")
        found["launches"][0]["status"] = "failed"
        found["storms"] = found["storms"][1:]
        self.write(path, json.dumps(found))
        self.assertEqual(fixture.call("mariadb", *words, "--resume", out).returncode, 0)
        self.assertEqual(len(documents.read_json(path)["storms"]), 2)
        self.assertEqual(fixture.call("mariadb", *words, "--resume", out, "--only", "storm",
                                      "--policies", "exact").returncode, 0)
        self.assertEqual([(one["round"], one["policy"]) for one in
                          documents.read_json(path)["storms"][2:]], [(1, "exact")])


if __name__ == "__main__":
    unittest.main()
