"""What one start of the workflow does: the list that progress is counted on, and where results are."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypedDict

from howquick.files import write_json
from howquick.measure.block import Block
from howquick.workflow.manifests import manifest_path
from howquick.workflow.questions import Workflow

# From so many files of one folder on, only the folder is named.
MANY = 3


class Task(TypedDict):
    """A file that this start makes: what it is of, and when that which is there now was made.

    before: its time of change in nanoseconds, null where there is none; another one means that it is done.
    """

    file: str
    before: int | None


class BlockTask(Task):
    """A block: how many of its loads are not measured yet, and how long that is expected to take."""

    study: str
    cell: str
    block: int
    loads: int
    seconds: float
    alone: bool


def start_file(results: str | Path) -> Path:
    """The list of what the present start does."""
    return Path(results, ".start.json")


def write_start(hq: Workflow, jobs: Iterable[Any]) -> None:
    """Note the blocks and links that this start makes.

    jobs: Snakemake's, those that are to run. The plans of their blocks are written before.
    """
    links: list[Task] = []
    blocks: list[BlockTask] = []
    for job in jobs:
        if job.rule.name == "calibrate__link":
            links.append(_task(Path(hq.results, "calibration", f"{job.wildcards.link}.json")))
        elif job.rule.name == "measure__block":
            blocks.append(_block_task(hq, job.wildcards))
    write_json(start_file(hq.results), {"links": links, "blocks": blocks})


def _task(file: Path) -> Task:
    return {"file": str(file), "before": file.stat().st_mtime_ns if file.exists() else None}


def _block_task(hq: Workflow, wildcards: Any) -> BlockTask:
    study, block = wildcards.study, hq.block(wildcards)
    loads = len(block["repetitions"]) * block["arms"]
    missing = loads
    # Whatever is there of its cell may be valid still, and is not measured again.
    if Path(hq.results, "runs", study, block["cell"]).exists():
        session = os.environ.get("HOWQUICK_SESSION", "")
        done = Block(hq.plans[study], block["cell"], block["block"], Path(hq.results), session)
        missing = len(done.missing())
    return {
        **_task(manifest_path(hq.results, study, block)),
        "study": study,
        "cell": block["cell"],
        "block": block["block"],
        "loads": missing,
        "seconds": block["seconds"] * missing / loads,
        "alone": block["alone"],
    }


def where(jobs: Iterable[Any]) -> str:
    """Where that is which was asked for: files by name, many of one folder by their folder.

    jobs: Snakemake's targets; of those that only collect others, what they collect.
    """
    files = [
        Path(file) for job in jobs for file in (job.output or job.input) if Path(file).exists()
    ]
    folders: dict[Path, list[Path]] = {}
    for file in files:
        folders.setdefault(file.parent, []).append(file)
    told = []
    for folder, inside in folders.items():
        many = len(inside) >= MANY
        told += [f"{folder}/ ({len(inside)} files)"] if many else [str(file) for file in inside]
    return ", ".join(dict.fromkeys(told))
