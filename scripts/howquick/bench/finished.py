"""What finished results tell of the pipeline's cost: read, not measured."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import Any

from howquick.files import read_json


def provisioning() -> list[dict[str, Any]]:
    """Seconds per part of the environment, as `enter` noted them when it built them."""
    file = Path(os.environ.get("HOWQUICK_CACHE", ".")) / "timing.csv"
    if not file.exists():
        return [{"part": "not built by enter", "seconds": "", "started": ""}]
    with file.open(newline="") as stream:
        return list(csv.DictReader(stream))


def overhead(results: Path) -> list[dict[str, Any]]:
    """Per repetition: load, wall, and every part of the difference, seconds."""
    metas = [read_json(path) for path in sorted(results.glob("runs/*/*/*/*/meta.json"))]
    parts = list(dict.fromkeys(part for meta in metas for part in meta["overhead"]))
    return [
        {
            key: meta[key]
            for key in ("study", "cell", "arm", "repetition", "status", "network_s", "wall_s")
        }
        | {part: meta["overhead"].get(part, "") for part in parts}
        for meta in metas
    ]


def network_share(results: Path) -> list[dict[str, Any]]:
    """Per freshly measured block: which share of its wall time the network had."""
    rows = []
    for path in sorted(results.glob("blocks/*/*/*.json")):
        block = read_json(path)
        if block["kept"]:
            continue  # partly measured in another run: its wall time says nothing
        rows.append(
            {
                "study": block["study"],
                "cell": block["cell"],
                "block": block["block"],
                "loads": len(block["runs"]),
                "mean_load_s": round(block["network_s"] / len(block["runs"]), 4),
                "wall_s": block["wall_s"],
                "network_s": block["network_s"],
                "network_share": round(block["network_s"] / block["wall_s"], 4),
            }
        )
    return rows


def accuracy(results: Path) -> list[dict[str, Any]]:
    """Every check of every calibrated link: asked, measured, verdict."""
    rows = []
    for path in sorted(results.glob("calibration/*.json")):
        calibration = read_json(path)
        for check in calibration["checks"]:
            rows.append(
                {"link": path.stem, "backend": calibration["backend"]}
                | {
                    key: check.get(key, "")
                    for key in (
                        "quantity",
                        "direction",
                        "asked",
                        "measured",
                        "low",
                        "high",
                        "n",
                        "verdict",
                    )
                }
            )
    return rows
