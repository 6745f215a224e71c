"""test_server_rows.py - server_rows.py: what it says of what it saw, refusals, a real server."""

import shutil
import unittest

import fixture
import server_rows


class Text(unittest.TestCase):
    def test_says_each_table_and_the_totals(self):
        seen = server_rows.Seen({"thread": (2, -34816), "global": (0, 0)}, 623 << 20,
                                212 << 20, ("memory/innodb/trx0undo", -69360),
                                ("memory/pool", 512 << 20))
        text = server_rows.text_of("now", seen)
        self.assertIn("now: the server's total 623 MiB, of which 512 MiB memory/pool; resident "
                      "212 MiB", text)
        self.assertRegex(text, r"thread +rows below zero +2, the lowest +-34816")
        self.assertIn("the lowest of an account is memory/innodb/trx0undo", text)
        self.assertNotIn("lowest of an account", server_rows.text_of(
            "now", seen._replace(lowest=("memory/x", 0))))


class Command(fixture.Case):
    def test_wrong_input(self):
        self.assert_refused(fixture.call("server_rows.py", "--queries", "0"), "0")
        self.assert_refused(fixture.call("server_rows.py", "pear"), "'pear'")
        self.assert_refused(fixture.call("server_rows.py", "--counted", "--build-dir",
                                         self.folder), "build first")

    @unittest.skipUnless(shutil.which("mariadb-install-db") and shutil.which("mysqlslap"),
                         "MariaDB is not installed")
    def test_a_server_that_does_not_start_is_one_line(self):
        done = fixture.call("server_rows.py", "--server", "/bin/false")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, "server_rows: /bin/false does not answer\n")

    @unittest.skipUnless(shutil.which("mariadbd") and shutil.which("mysqlslap"),
                         "MariaDB is not installed")
    def test_reads_a_real_server(self):
        done = fixture.call("server_rows.py", "--queries", "200")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for moment in ("at the start", "after 200 queries", "was resized from 256 to 512 MiB"):
            self.assertIn(moment, done.stdout)
        self.assertEqual(done.stdout.count("rows below zero"), 3 * len(server_rows.TABLES))


if __name__ == "__main__":
    unittest.main()
