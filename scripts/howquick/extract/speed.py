"""How fast captures are read and evaluated."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from howquick.errors import UserError
from howquick.extract.run import Options, extract_run
from howquick.files import read_json


@dataclass(frozen=True)
class Speed:
    """`capture_bytes` in `runs` run folders took `cpu_s` and `wall_s` seconds on one core.

    `evaluated` is how many of the runs gave a page load time from their captures.
    """

    runs: int
    evaluated: int
    capture_bytes: int
    cpu_s: float
    wall_s: float

    @property
    def mbyte_per_cpu_s(self) -> float:
        """Megabytes (10^6) of capture per second of CPU."""
        return self.capture_bytes / 1e6 / self.cpu_s


def measure_speed(runs: Path, options: Options) -> Speed:
    """Extract every run below `runs` and count. Raises UserError if there is none."""
    folders = sorted(path.parent for path in runs.rglob("meta.json"))
    folders = [folder for folder in folders if not folder.name.startswith(".")]
    if not folders:
        raise UserError(f"{runs}: no run folders below it. Measure something first.")
    size = sum(path.stat().st_size for folder in folders for path in folder.glob("*.pcapng"))
    cpu, wall = _cpu_s(), time.perf_counter()
    evaluated = 0
    for folder in folders:
        meta = read_json(folder / "meta.json")
        entry = {key: meta.get(key) for key in ("arm", "repetition", "status", "reason")}
        run = extract_run(meta, entry | {"path": str(folder)}, folder, options)
        evaluated += run.row.get("plt_capture_s") is not None
    return Speed(len(folders), evaluated, size, _cpu_s() - cpu, time.perf_counter() - wall)


def _cpu_s() -> float:
    """Processor seconds of this program and of the tsharks it has waited for."""
    own = os.times()
    return own.user + own.system + own.children_user + own.children_system
