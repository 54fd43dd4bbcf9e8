"""What is measured already: the manifests of blocks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from howquick.files import read_json
from howquick.model import Plan, PlannedBlock
from howquick.plan.fingerprint import block_fingerprint


def block_plan(results: str, study: str) -> Path:
    """The copy of a plan for its blocks."""
    return Path(results, "plan", "blocks", f"{study}.json")


def manifest_path(results: str, study: str, block: PlannedBlock) -> Path:
    """Where the manifest of a block is once it was measured."""
    return Path(results, "blocks", study, block["cell"], f"{block['block']}.json")


def is_measured(plan: Plan, block: PlannedBlock, path: Path) -> bool:
    """Whether the manifest `path` is of the block as it is planned, with no load to repeat."""
    if not path.exists():
        return False
    manifest = read_json(path)
    same = manifest.get("fingerprint") == block_fingerprint(plan, block)
    return same and not has_invalid(manifest)


def has_invalid(manifest: dict[str, Any]) -> bool:
    """Whether loads of a block are to be measured again because they were disturbed."""
    return bool(manifest.get("statuses", {}).get("invalid"))
