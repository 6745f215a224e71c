#!/usr/bin/python3
"""phases.py - a program whose memory moves from library to library, for the picture in docs/:

    pfs-mem run --for python --keep --tick-ms 50 -- python3 memory/tool/report/phases.py
    pfs-mem report --out docs/who-holds-the-memory.svg last
"""

import lzma
import os
import sqlite3
import threading
import time
import xml.dom.minidom


def main():
    """Each step for half a second or so."""
    # Of a program with one thread ticks come when it allocates; with two, each in its time.
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    texts = []
    for _ in range(20):
        texts += [os.urandom(8).hex() for _ in range(10000)]
        time.sleep(0.02)
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE words (word TEXT, bytes BLOB)")
    for begin in range(0, len(texts), 10000):
        base.executemany("INSERT INTO words VALUES (?, zeroblob(100))",
                         ((text,) for text in texts[begin:begin + 10000]))
        time.sleep(0.01)
    del texts
    time.sleep(0.3)
    packer = lzma.LZMACompressor(preset=1)
    for word, in base.execute("SELECT word FROM words LIMIT 200000"):
        packer.compress(word.encode())
    time.sleep(0.3)
    del packer
    trees = []
    for _ in range(6):
        trees.append(xml.dom.minidom.parseString("<a>" + "<b c='d'>text</b>" * 2500 + "</a>"))
        time.sleep(0.02)
    base.close()
    time.sleep(0.3)
    trees.clear()
    time.sleep(0.2)


if __name__ == "__main__":
    main()
