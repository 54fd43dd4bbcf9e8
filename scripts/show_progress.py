"""Show on stderr how far a running workflow is, until it ends: bars on a terminal, else a line at times."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

from howquick.progress.pace import left_s
from howquick.progress.survey import Survey, survey
from howquick.progress.words import plain_line

EVERY_S = 20.0


class Watch:
    """Looks at a start again and again; it knows since when something is measured."""

    def __init__(self, results: Path, start: Path) -> None:
        self._results, self._start = results, start
        self._begun: float | None = None

    def look(self) -> tuple[Survey, float | None]:
        """How far it is, and the seconds left, if anything tells."""
        now = time.time()
        found = survey(self._results, self._start, now)
        if self._begun is None and found.running:
            self._begun = min(one.started for one in found.running)
        return found, None if self._begun is None else left_s(found, now - self._begun)


def main() -> None:
    """Command line: the results folder, the list of what is done, and the PID whose end is ours.

    On a terminal what others write to stderr meanwhile comes by our standard input.
    """
    results, start, owner = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    # Ctrl-C is the owner's to handle; we end with it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    watch = Watch(results, start)
    if sys.stderr.isatty():
        # Of no use without a terminal.
        from howquick.progress.bars import show

        show(watch.look, sys.stdin, lambda: _lives(owner))
        return
    shown = ""
    while _lives(owner):
        line = plain_line(*watch.look())
        if line and line != shown:
            print(f"howquick: {line}", file=sys.stderr, flush=True)
            shown = line
        deadline = time.monotonic() + EVERY_S
        while _lives(owner) and time.monotonic() < deadline:
            time.sleep(0.5)


def _lives(pid: int) -> bool:
    """Whether a process is there and is not just waiting to be reaped."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


if __name__ == "__main__":
    os.nice(10)
    main()
