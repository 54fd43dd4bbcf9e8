"""What a running block tells the progress display: a small file per block, rewritten as it goes on."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Protocol


class Display(Protocol):
    """Who is told how far a block is."""

    def now(self, arm: str, repetition: int) -> None:
        """Say what is being measured."""

    def done(self, status: str) -> None:
        """Count a finished repetition."""

    def again(self) -> None:
        """Count one that was disturbed and comes again."""


class Untold:
    """A display of nothing: for a load whose block is told by somebody else."""

    def now(self, arm: str, repetition: int) -> None:
        """Say nothing."""

    def done(self, status: str) -> None:
        """Count nothing."""

    def again(self) -> None:
        """Count nothing."""


class Progress:
    """The progress file of one block; gone when the block is finished."""

    def __init__(
        self, results: Path, study: str, cell: str, block: int, total: int, kept: int
    ) -> None:
        self._file = results / "progress" / f"{study}.{cell}.{block}.json"
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._state = {
            "study": study,
            "cell": cell,
            "block": block,
            "pid": os.getpid(),
            "total": total,
            "done": kept,
            "not_ok": 0,
            "disturbed": 0,
            "running": "",
            "started": time.time(),
        }

    def now(self, arm: str, repetition: int) -> None:
        """Say what is being measured."""
        self._state["running"] = f"{arm} #{repetition}"
        self._write()

    def done(self, status: str) -> None:
        """Count a finished repetition."""
        self._state["done"] += 1  # type: ignore[operator]
        if status != "ok":
            self._state["not_ok"] += 1  # type: ignore[operator]
        self._write()

    def again(self) -> None:
        """Count one that was disturbed and comes again."""
        self._state["disturbed"] += 1  # type: ignore[operator]
        self._write()

    def close(self) -> None:
        """Remove the file."""
        self._file.unlink(missing_ok=True)

    def _write(self) -> None:
        # Only a display reads it: no sync, but never half a file.
        temporary = self._file.with_suffix(".tmp")
        temporary.write_text(json.dumps(self._state))
        temporary.replace(self._file)
