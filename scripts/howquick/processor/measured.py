"""The samples of a study, measured: some loads of each arm, of which those that are there are kept."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from howquick.errors import DamagedFile, UserError
from howquick.files import read_json
from howquick.measure.block import Block
from howquick.measure.measurement import Measurement
from howquick.measure.told import Untold
from howquick.model import Plan
from howquick.testbed.sandbox import enter_sandbox

# Below the results: the run folders of samples, apart from those of the study.
FOLDER = "processor"


class SampleBlock(Block):
    """The loads of a sample; their run folders lie in `results/processor/STUDY/SAMPLE/ARM/`."""

    def folder(self, arm: str, repetition: int) -> Path:
        """The run folder of a load."""
        return (
            self.results
            / FOLDER
            / self.plan["study"]
            / self.cell["name"]
            / arm
            / f"{repetition:04}"
        )

    def metas(self, arm: str) -> Iterator[dict[str, Any]]:
        """What is known of the loads of an arm, as far as they are there."""
        for repetition in self.block["repetitions"]:
            try:
                yield read_json(self.folder(arm, repetition) / "meta.json")
            except (OSError, DamagedFile):
                continue


def sample_blocks(sampled: Plan, results: Path, session: str = "") -> list[SampleBlock]:
    """The blocks of all samples of a plan from `sample_plan`."""
    return [
        SampleBlock(sampled, block["cell"], block["block"], results, session)
        for block in sampled["blocks"]
    ]


def measure_samples(blocks: list[SampleBlock]) -> dict[tuple[str, str], str]:
    """Measure what is missing, arm by arm in a testbed of its own.

    Returns:
        Why there are no loads, by sample and arm: a testbed that cannot be made here, say. A load that
        fails is in its run folder. Nothing is raised for either.
    """
    missing = [(block, arm) for block in blocks for arm in _arms_missing(block)]
    if not missing:
        return {}
    try:
        scratch = enter_sandbox().scratch
    except UserError as error:
        return {(block.cell["name"], arm): str(error) for block, arm in missing}
    failed: dict[tuple[str, str], str] = {}
    for block, arm in missing:
        own = [load for load in block.missing() if load[2] == arm]
        folder = Path(tempfile.mkdtemp(dir=scratch))
        try:
            Measurement(block, folder, {}).run(own, Untold())
        except UserError as error:
            failed[block.cell["name"], arm] = str(error)
        # In memory, and with a copy of the page.
        shutil.rmtree(folder, ignore_errors=True)
    return failed


def _arms_missing(block: SampleBlock) -> list[str]:
    return list(dict.fromkeys(arm for _, _, arm in block.missing()))
