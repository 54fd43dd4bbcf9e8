"""Which packets the link dropped: the truth that the stacks' beliefs are compared with."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

COLUMNS = ("direction", "index", "cause", "bytes", "time_s")


def write_drops(path: Path, drops: dict[str, list[list[Any]]]) -> None:
    """Write the drops of both directions (`Testbed.drops`) as CSV (docs/formats.md, section 4)."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(COLUMNS)
        for direction, entries in drops.items():
            for index, cause, size, microseconds in entries:
                writer.writerow([direction, index, cause, size, f"{microseconds / 1e6:.6f}"])
