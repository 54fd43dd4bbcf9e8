"""What the workflow itself costs: blocks side by side, and its graph of jobs."""

from __future__ import annotations

import os
import shutil
import statistics
import time
from pathlib import Path
from typing import Any

from howquick.errors import UserError
from howquick.files import read_json
from howquick.workflow.command import snakemake

# Cells for the comparison of -j: short and long loads, with and without loss, slow and fast links.
PARALLEL_CELLS = (
    "2mbit-18ms-loss0-50obj-small",
    "2mbit-218ms-loss0-5obj-large",
    "2mbit-18ms-loss2-5obj-large",
    "10mbit-18ms-loss0-50obj-small",
    "10mbit-218ms-loss0-50obj-small",
    "10mbit-18ms-loss2-5obj-large",
    "50mbit-18ms-loss0-5obj-large",
    "50mbit-218ms-loss0-50obj-small",
)

PARALLEL_ARMS = ("h1-nginx-curl", "h2-nghttp2", "h3-quiche")


def parallel(folder: Path, jobs: list[int]) -> list[dict[str, Any]]:
    """The same cells at different -j: blocks per minute, and whether the page load times agree.

    The first entry of `jobs` is the reference of the ratios.
    """
    medians: dict[int, dict[tuple[str, str], float]] = {}
    rows = []
    for j in jobs:
        results = folder / f"j{j}"
        shutil.rmtree(results, ignore_errors=True)
        config = [
            "studies=how-quick",
            "clock=real",
            f"cells={','.join(PARALLEL_CELLS)}",
            f"arms={','.join(PARALLEL_ARMS)}",
        ]
        # Calibration and content first: they are not what is compared.
        snakemake(results, j, "prepare", config=config)
        begin = time.monotonic()
        snakemake(results, j, "measure", config=config)
        wall = time.monotonic() - begin
        metas = [read_json(path) for path in sorted(results.glob("runs/*/*/*/*/meta.json"))]
        medians[j] = _medians(metas)
        blocks = len(list(results.glob("blocks/*/*/*.json")))
        ratios = [
            medians[j][key] / medians[jobs[0]][key]
            for key in medians[j].keys() & medians[jobs[0]].keys()
        ]
        rows.append(
            {
                "jobs": j,
                "processors": len(os.sched_getaffinity(0)),
                "blocks": blocks,
                "loads": len(metas),
                "wall_s": round(wall, 1),
                "blocks_per_minute": round(blocks / wall * 60, 2),
                "invalid": sum(meta["status"] == "invalid" for meta in metas),
                "repeated": sum(meta["attempts"] > 1 for meta in metas),
                "median_plt_ratio": round(statistics.median(ratios), 4),
                "smallest_plt_ratio": round(min(ratios), 4),
                "largest_plt_ratio": round(max(ratios), 4),
            }
        )
    return rows


def _medians(metas: list[dict[str, Any]]) -> dict[tuple[str, str], float]:
    loads: dict[tuple[str, str], list[float]] = {}
    for meta in metas:
        if meta["status"] == "ok":
            loads.setdefault((meta["cell"], meta["arm"]), []).append(meta["network_s"])
    return {key: statistics.median(values) for key, values in loads.items()}


def dag(folder: Path) -> list[dict[str, Any]]:
    """Seconds of a dry run at each scale, and of finding that nothing is to do at paper scale."""
    rows = []
    for scale in ("smoke", "artifact", "paper"):
        shutil.rmtree(folder / scale, ignore_errors=True)
        rows.append(_timed(f"dry run, {scale}", folder / scale, [f"scale={scale}"], "--dry-run"))
    # Stand-ins for everything a finished study leaves: only the DAG is timed, nothing is measured.
    paper, config = folder / "paper", ["scale=paper"]
    for line in snakemake(paper, 8, config=config, more=["--summary"]).splitlines():
        output = Path(line.split("\t")[0])
        if output.is_relative_to(paper):
            # Folders are outputs without a suffix.
            folder_of = output.parent if output.suffix else output
            folder_of.mkdir(parents=True, exist_ok=True)
            if output.suffix:
                output.write_text("{}" if output.suffix == ".json" else "")
    snakemake(paper, 8, config=config, more=["--touch"])
    before = _newest(paper)
    rows.append(_timed("nothing to do, paper", paper, config))
    if _newest(paper) != before:
        raise UserError(
            f"{paper}: something was made although nothing was to do. Look at its logs/."
        )
    shutil.rmtree(folder)
    return rows


def _newest(folder: Path) -> float:
    """When the newest output below a results folder was made."""
    made = (path for path in folder.rglob("*") if path.is_file() and path.name != ".lock")
    return max(path.stat().st_mtime for path in made)


def _timed(what: str, results: Path, config: list[str], *more: str) -> dict[str, Any]:
    begin = time.monotonic()
    snakemake(results, 8, config=config, more=more)
    return {"what": what, "seconds": round(time.monotonic() - begin, 2)}
