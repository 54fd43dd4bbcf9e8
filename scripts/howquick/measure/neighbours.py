"""Blocks side by side on one machine: their loads at once, or one alone while the others wait."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from howquick.files import NO_LOCKS

POLL_S = 0.02
# A block that stands still must not stop the others for ever: they go on then, and the guard judges.
PATIENCE_S = 120.0


class Nobody:
    """Neighbours where none can disturb."""

    @contextlib.contextmanager
    def beside(self) -> Iterator[None]:
        """Wait for nobody."""
        yield

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Wait for nobody."""
        yield


class Neighbours:
    """The blocks that measure into one results folder on this machine.

    Two locks of the kernel's (flock(2)), which end with their process. Who measures holds `room`, with
    others or alone. Through `gate` goes one at a time, and who wants to be alone stays in it: nobody
    else enters meanwhile. On a file system without such locks nobody waits for anybody.
    """

    def __init__(self, results: Path, patience_s: float = PATIENCE_S) -> None:
        folder = results / "progress" / "neighbours" / os.uname().nodename
        folder.mkdir(parents=True, exist_ok=True)
        # For reading too: on NFS a lock to share is a lock to read, and the kernel refuses it otherwise.
        self._gate = (folder / "gate").open("a+")
        self._room = (folder / "room").open("a+")
        self._patience_s = patience_s

    @contextlib.contextmanager
    def beside(self) -> Iterator[None]:
        """Within this context others may measure too, but nobody measures alone."""
        with contextlib.ExitStack() as stack:
            with self._held(self._gate, fcntl.LOCK_EX):
                stack.enter_context(self._held(self._room, fcntl.LOCK_SH))
            yield

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Within this context no other block measures."""
        with self._held(self._gate, fcntl.LOCK_EX), self._held(self._room, fcntl.LOCK_EX):
            yield

    @contextlib.contextmanager
    def _held(self, lock: TextIO, how: int) -> Iterator[None]:
        deadline = time.monotonic() + self._patience_s
        while time.monotonic() < deadline:
            try:
                fcntl.flock(lock, how | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(POLL_S)
            except OSError as error:
                if error.errno not in NO_LOCKS:
                    raise
                break
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                fcntl.flock(lock, fcntl.LOCK_UN)
