#!/usr/bin/python3
"""instrumented_test.py - UPDATE threads SET INSTRUMENTED switches whose allocations are counted.

usage: instrumented_test.py SQL_LIVE PFS_MEM EXTENSION [unittest's arguments]
Exit 0: all is as it must be. 1: something is not.
"""

import sys
import unittest

from harness import Case, table


class Instrumented(Case):
    """By pfs_mem_sqlite.so."""

    def test_instrumented(self):
        """Switched by thread in a living program."""
        live, database = self.start()
        one = live.do("begin", "one", "u", "h", "YES")
        two = live.do("begin", "two", "u", "h", "NO")
        first = live.do("alloc", one, "memory/a/x", 10)
        live.do("alloc", two, "memory/a/x", 10)
        sums = f"SELECT COUNT_ALLOC, COUNT_FREE FROM {table('thread')} ORDER BY THREAD_ID"
        self.assertEqual(database.execute(sums).fetchall(), [(1, 0), (0, 0)])
        database.execute("UPDATE threads SET INSTRUMENTED = 'NO' WHERE NAME = 'one'")
        database.execute("UPDATE threads SET INSTRUMENTED = 'yes', HISTORY = 'YES' "
                         "WHERE NAME = 'two'")
        shown = "SELECT NAME, INSTRUMENTED FROM threads ORDER BY THREAD_ID"
        self.assertEqual(database.execute(shown).fetchall(), [("one", "NO"), ("two", "YES")])
        uncounted = live.do("alloc", one, "memory/a/x", 10)
        live.do("alloc", two, "memory/a/x", 10)
        live.do("free", one, first)
        live.do("free", one, uncounted)
        self.assertEqual(database.execute(sums).fetchall(), [(1, 1), (1, 0)])
        live.do("end", two)
        live.do("begin", "three", "u", "h", "NO")
        self.assertEqual(database.execute(shown).fetchall(), [("one", "NO"), ("three", "NO")])
        database.execute("UPDATE threads SET INSTRUMENTED = 'YES'")
        live.do("alloc", one, "memory/a/x", 10)
        self.assertEqual(database.execute(sums).fetchall()[0], (2, 1))
        self.refused(database, "UPDATE threads SET INSTRUMENTED = 'MAYBE'", "'YES' or 'NO'")
        self.refused(database, "UPDATE threads SET NAME = 'x'", "only INSTRUMENTED")
        live.kill()
        self.refused(database, "UPDATE threads SET INSTRUMENTED = 'NO'", "its program died")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
