"""One model of processor per cell: blocks of a cell that ran on different ones must not be compared."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from howquick.errors import DamagedFile, UserError
from howquick.files import read_json, try_lock
from howquick.measure.block import Block
from howquick.measure.host import describe_host

PIN = ".processor"


def claim_processor(block: Block) -> None:
    """Hold a cell to the model of processor that its first block had.

    The first to start writes the model down, by a link, which is atomic on a shared file system as well.
    Raises UserError if this machine has another model and valid repetitions of the cell depend on the first.
    """
    model = describe_host()["cpu"]
    pin = block.results / "runs" / block.plan["study"] / block.cell["name"] / PIN
    pin.parent.mkdir(parents=True, exist_ok=True)
    if not _write_once(pin, model):
        pinned = pin.read_text(encoding="utf-8").strip()
        if pinned == model:
            return
        if _is_in_use(block, pinned):
            raise UserError(
                f"cell {block.cell['name']} has been measured on '{pinned}', and this machine "
                f"({describe_host()['node']}) has '{model}'. Send its blocks to machines of one kind "
                "(a cluster's nodes by a constraint, docs/slurm.md), or measure into another folder "
                "(--config results=NAME)."
            )
        # Everything that depended on it is to be measured anew anyway.
        pin.unlink(missing_ok=True)
        claim_processor(block)


def _write_once(pin: Path, model: str) -> bool:
    """Create the file with its content, whole; False if it is there already."""
    descriptor, name = tempfile.mkstemp(dir=pin.parent, prefix=f"{PIN}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(f"{model}\n")
        os.link(name, pin)
    except FileExistsError:
        return False
    finally:
        Path(name).unlink()
    return True


def _is_measured_now(block: Block, name: str) -> bool:
    """Whether a block shows its progress and holds its lock."""
    progress = block.results / "progress" / f"{block.plan['study']}.{name}.json"
    if not progress.exists():
        return False
    try:
        with progress.with_suffix(".lock").open("a") as lock:
            return not try_lock(lock)
    except OSError:
        return True


def _is_in_use(block: Block, pinned: str) -> bool:
    """Whether a valid repetition of the cell was measured on `pinned`, or is being measured now."""
    cell = block.cell["name"]
    for number in (b["block"] for b in block.plan["blocks"] if b["cell"] == cell):
        other = Block(block.plan, cell, number, block.results)
        # What a killed start left of this very block says nothing: we hold its lock.
        if number != block.block["block"] and _is_measured_now(block, f"{cell}.{number}"):
            return True
        missing = set(other.missing())
        for repetition, _, arm in (wanted for wanted in other.wanted if wanted not in missing):
            with contextlib.suppress(OSError, DamagedFile):
                meta = read_json(other.folder(arm, repetition) / "meta.json")
                if meta["host"]["cpu"] == pinned:
                    return True
    return False
