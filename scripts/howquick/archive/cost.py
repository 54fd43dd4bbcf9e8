"""What measuring took: minutes, bytes and machines, from the blocks that were measured."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from howquick.errors import UserError
from howquick.extract.packing import run_sizes
from howquick.files import read_json
from howquick.model import Plan, PlannedBlock
from howquick.workflow.capacity import cpu_percent, side_by_side_s
from howquick.workflow.manifests import manifest_path


@dataclass(frozen=True)
class MeasuredBlock:
    """A block as it was measured: wall time (s), need of the processors (percent of one), run folders, host.

    seconds: what was planned for a block that was measured in several starts.
    """

    cell: str
    seconds: float
    cpu_percent: int
    loads: int
    bytes: int
    host: dict[str, Any]


@dataclass(frozen=True)
class Cost:
    """Of some blocks: wall time on this machine, size of the run folders, number of loads."""

    minutes: float
    megabytes: float
    loads: int


def measured_blocks(results: Path, plan: Plan) -> list[MeasuredBlock]:
    """All blocks of a study. Raises UserError if one is not measured."""
    return [_measured(results, plan["study"], block) for block in plan["blocks"]]


def _measured(results: Path, study: str, block: PlannedBlock) -> MeasuredBlock:
    path = manifest_path(str(results), study, block)
    if not path.exists():
        raise UserError(f"{path}: this block is not measured. Run snakemake first, to the end.")
    manifest = read_json(path)
    return MeasuredBlock(
        block["cell"],
        block["seconds"] if manifest["kept"] else manifest["wall_s"],
        cpu_percent(block),
        len(manifest["runs"]),
        sum(run_sizes(manifest, results)),
        read_json(results / manifest["runs"][0]["path"] / "meta.json")["host"],
    )


def cost_of(blocks: Iterable[MeasuredBlock]) -> Cost:
    """What blocks cost, side by side as far as this machine's processors go."""
    blocks = list(blocks)
    seconds = side_by_side_s((block.seconds, block.cpu_percent) for block in blocks)
    size = sum(block.bytes for block in blocks)
    return Cost(seconds / 60, size / 1e6, sum(block.loads for block in blocks))
