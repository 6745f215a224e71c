#!/usr/bin/python3
"""trace_test.py - memory_trace: the owners of a program that does what the test says (live.c),
their sums, and limits that are set from outside.

usage: trace_test.py SQL_LIVE PFS_MEM EXTENSION [unittest's arguments]
Exit 0: all is as it must be. 1: something is not. 77: this Python cannot load extensions.
"""

import sqlite3
import sys
import unittest

from harness import Case


class Trace(Case):
    """Living, and killed."""

    def test_trace(self):
        """memory_trace: owners, their sums; a limit from outside is kept, and read of the dead."""
        live, database = self.start()
        cache, other = live.do("owner", "cache", "-"), live.do("owner", "other", "-")
        blocks = live.do("owner", "blocks", cache)
        live.do("owner", "index", blocks)
        live.do("hold", cache, 40)
        live.do("hold", blocks, 700)
        rows = [("cache", None, 40, 740, 740, None, "REFUSE", 0, 0, 0),
                ("other", None, 0, 0, 0, None, "REFUSE", 0, 0, 0),
                ("blocks", "cache", 700, 700, 700, None, "REFUSE", 0, 0, 0),
                ("index", "cache/blocks", 0, 0, 0, None, "REFUSE", 0, 0, 0)]
        self.assertEqual(database.execute("SELECT * FROM memory_trace").fetchall(), rows)
        database.execute("UPDATE memory_trace SET LIMIT_BYTES = 750 WHERE NAME = 'cache'")
        self.assertEqual(live.do("hold", blocks, 11), 99)
        self.assertNotEqual(live.do("hold", blocks, 10), 99)
        ask = "SELECT SUM_BYTES, LIMIT_BYTES, REFUSED FROM memory_trace WHERE NAME = 'cache'"
        self.assertEqual(database.execute(ask).fetchall(), [(750, 750, 1)])
        database.execute("UPDATE memory_trace SET LIMIT_BYTES = NULL WHERE NAME = 'cache'")
        self.assertNotEqual(live.do("hold", blocks, 11), 99)
        self.assertEqual(database.execute(ask).fetchall(), [(761, None, 1)])
        for wrong in ("LIMIT_BYTES = -1", "LIMIT_BYTES = 'much'", "OWN_BYTES = 0", "NAME = 'x'"):
            with self.assertRaisesRegex(sqlite3.OperationalError, "memory_trace: "):
                database.execute(f"UPDATE memory_trace SET {wrong}")
        for wrong in ("DELETE FROM memory_trace", "INSERT INTO memory_trace (NAME) VALUES ('x')"):
            with self.assertRaisesRegex(sqlite3.OperationalError, "memory_trace: "):
                database.execute(wrong)
        self.assertEqual(live.do("hold", other, 1), 4)
        live.kill()
        self.assertEqual(database.execute(ask).fetchall(), [(761, None, 1)])
        with self.assertRaises(sqlite3.OperationalError):
            database.execute("UPDATE memory_trace SET LIMIT_BYTES = 1")


if __name__ == "__main__":
    if not hasattr(sqlite3.Connection, "enable_load_extension"):
        print("trace_test: this Python's sqlite3 loads no extensions")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
