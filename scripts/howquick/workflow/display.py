"""The progress display of one start: a process of its own, which owns the terminal meanwhile."""

from __future__ import annotations

import atexit
import contextlib
import os
import subprocess
import sys
import threading
from pathlib import Path

from howquick.errors import ROOT

PROGRAM = ROOT / "scripts" / "show_progress.py"
STDERR = 2
PATIENCE_S = 10.0
# What bars hide while they are drawn (ECMA-48 private mode of xterm).
SHOW_CURSOR = b"\x1b[?25h\n"


class Display:
    """Shows progress until `close`, or until this process ends however.

    On a terminal everything that is written to stderr, by this process and by its jobs, goes to the display,
    which writes it above its bars. It never fails a workflow: where it ends before us, we read in its place.
    """

    def __init__(self, results: str, start: Path) -> None:
        self.on_terminal = sys.stderr.isatty()
        self._terminal: int | None = None
        argv = [sys.executable, str(PROGRAM), results, str(start), str(os.getpid())]
        if not self.on_terminal:
            self._process = subprocess.Popen(argv, stdin=subprocess.DEVNULL)
            return
        self._reader, writer = os.pipe()
        self._process = subprocess.Popen(argv, stdin=self._reader)
        sys.stderr.flush()
        self._terminal = os.dup(STDERR)
        os.dup2(writer, STDERR)
        os.close(writer)
        atexit.register(self.close)
        threading.Thread(target=self._outlive, daemon=True).start()

    def _outlive(self) -> None:
        """Where the display ends before us, hand on what is written to it: nobody must wait for a reader."""
        self._process.wait()
        if (terminal := self._terminal) is None:
            return
        with contextlib.suppress(OSError):
            os.dup2(terminal, STDERR)
            os.write(terminal, SHOW_CURSOR)
            while part := os.read(self._reader, 1 << 16):
                os.write(terminal, part)

    def close(self) -> None:
        """End it; stderr is the terminal again, and the display has written all that it was given."""
        if self._terminal is not None:
            with contextlib.suppress(ValueError):
                sys.stderr.flush()
            # The last writer of the pipe, unless jobs live on: its end is the display's.
            os.dup2(self._terminal, STDERR)
            os.close(self._terminal)
            self._terminal = None
            try:
                self._process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                self._process.terminate()
            os.close(self._reader)
        elif not self.on_terminal:
            self._process.terminate()
        self._process.wait()
