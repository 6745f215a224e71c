"""test_peers.py - Peers: which are there, how they are launched, what the table says of them."""

import os
import stat
import tempfile
import unittest

import fixture  # noqa: F401  (the path to the scripts)
from measuring import peers

PROGRAM = """#!/usr/bin/python3
import os, sys
preload = os.environ.get("LD_PRELOAD", "")
peer = [a[7:] for a in sys.argv if a.startswith("--peer=")]
if peer and peer[0] not in preload:
    sys.exit(2)
if peer and peer[0] == "mimalloc":
    sys.exit(2)  # its library is not installed
if "--list_policies" in sys.argv:
    print(f"{peer[0]}   baseline: lib{peer[0]} 1.2" if peer else "exact  ours")
if "--list_traits" in sys.argv:
    print("exact  words index grow reclaim exact bounded c11\\nmalloc  grow c11\\n"
          "ck_stack words index bounded")
"""


class Peers(unittest.TestCase):
    """With a stand-in that believes in jemalloc only."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.program = os.path.join(self.folder.name, "pfs-bench")
        with open(self.program, "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        os.chmod(self.program, stat.S_IRWXU)

    def tearDown(self):
        self.folder.cleanup()

    def test_only_peers_that_take_effect_are_available(self):
        self.assertEqual(peers.available(self.program), {"jemalloc": "baseline: libjemalloc 1.2"})

    def test_a_program_that_is_not_there_has_no_peers(self):
        self.assertEqual(peers.available(self.program + ".none"), {})

    def test_a_peer_is_launched_as_malloc_with_its_library(self):
        self.assertEqual(peers.arguments("exact"), ["--policies=exact"])
        self.assertIsNone(peers.environment("exact"))
        self.assertIsNone(peers.environment(None))
        self.assertEqual(peers.arguments("jemalloc"), ["--policies=malloc", "--peer=jemalloc"])
        self.assertEqual(peers.environment("jemalloc")["LD_PRELOAD"], "libjemalloc.so.2")

    def test_the_table_says_what_each_gives_up(self):
        found = peers.traits(self.program)
        self.assertEqual(list(found), ["exact", "malloc", "ck_stack", "jemalloc"])
        rows = peers.table(found).splitlines()
        self.assertIn("| `exact` | yes | yes | yes | yes | yes | yes |", rows)
        self.assertIn("| `jemalloc` | own | yes | own | no | no | no |", rows)
        self.assertIn("| `ck_stack` | fixed | no | no | yes | yes | yes |", rows)
        self.assertEqual(peers.gives_up(found["exact"]), [])
        self.assertEqual(len(peers.gives_up(found["jemalloc"])), 3)


if __name__ == "__main__":
    unittest.main()
