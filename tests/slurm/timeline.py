"""What happened when, for the one who reads a test's output."""

import time


class Timeline:
    """Prints lines with the seconds since it was made."""

    def __init__(self):
        self.begin = time.monotonic()

    def say(self, what):
        print(f"{time.monotonic() - self.begin:6.1f} s  {what}", flush=True)
