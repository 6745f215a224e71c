"""progress.py - how far a long command is: one line on stderr."""

import os
import sys
import time


class Progress:
    """One line that is rewritten on a terminal; elsewhere a line for each tenth."""

    def __init__(self, total, estimate_s):
        self.total, self.estimate_s = total, estimate_s
        self.begin = time.monotonic()
        self.live = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self.tenth = -1

    def show(self, done, done_s, text):
        """done steps of total are over, which were estimated at done_s."""
        spent = time.monotonic() - self.begin
        # The estimate of the table, corrected by how the launches so far went.
        pace = spent / done_s if done_s > 5 else 1
        left = max(0, (self.estimate_s - done_s) * pace)
        line = f"[{done:3}/{self.total}] {clock(spent)} spent, about {clock(left)} to go  {text}"
        if self.live:
            sys.stderr.write("\r\x1b[K" + line[:110])
            sys.stderr.flush()
        elif done * 10 // max(1, self.total) > self.tenth:
            self.tenth = done * 10 // max(1, self.total)
            print(line, file=sys.stderr, flush=True)

    def end(self):
        """Leave the line as it is."""
        if self.live:
            sys.stderr.write("\n")

    def say(self, text):
        """A line that stays."""
        if self.live:
            sys.stderr.write("\r\x1b[K")
        print(text, file=sys.stderr, flush=True)


def clock(seconds):
    """Seconds as m:ss."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
