"""What measuring cells took: minutes and bytes, from the blocks that were measured."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from howquick.files import read_json
from howquick.workflow import cpu_percent, manifest_path, processors_percent


@dataclass(frozen=True)
class Cost:
    """Of some cells of one study: wall time on this machine, size of the run folders, number of loads."""

    minutes: float
    megabytes: float
    loads: int


def block_seconds(block: dict[str, Any], manifest: dict[str, Any]) -> float:
    """Seconds that a block took; what was planned for one that was measured in several starts."""
    measured: float = manifest["wall_s"]
    return float(block["seconds"]) if manifest["kept"] else measured


def cost_of(results: Path, plan: dict[str, Any], cells: Collection[str]) -> Cost:
    """What the blocks of these cells cost, side by side as far as this machine's processors go."""
    busy, longest, size, loads = 0.0, 0.0, 0, 0
    for block in plan["blocks"]:
        if block["cell"] not in cells:
            continue
        manifest = read_json(manifest_path(str(results), plan["study"], block))
        seconds = block_seconds(block, manifest)
        busy += seconds * cpu_percent(block) / processors_percent()
        longest = max(longest, seconds)
        loads += len(manifest["runs"])
        for run in manifest["runs"]:
            size += sum(f.stat().st_size for f in (results / run["path"]).rglob("*") if f.is_file())
    return Cost(max(busy, longest) / 60, size / 1e6, loads)
