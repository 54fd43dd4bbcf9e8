"""What a load in virtual time costs: seconds of it per second of a processor."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from howquick.errors import ROOT, UserError
from howquick.files import read_json
from howquick.plan.plan import plan_study, write_plan
from howquick.study.cells import calibration_name
from howquick.study.resolve import Selection
from howquick.workflow.command import snakemake

STUDY, SEED = "how-quick", 1
# The page of 6.5 MB at each rate, and one that is nearly all fixed cost.
CELLS = (
    "2mbit-18ms-loss0-50obj-large",
    "10mbit-18ms-loss0-50obj-large",
    "50mbit-18ms-loss0-50obj-large",
    "10mbit-18ms-loss0-5obj-small",
)
ARMS = ("h1-nginx-curl", "spdy-node", "h2-nginx-curl", "h3-nginx-curl")
# By which guests at once are compared with one.
TWICE = ("10mbit-18ms-loss0-50obj-large", "h1-nginx-curl")


def virtual_time(folder: Path) -> list[dict[str, Any]]:
    """One load of each arm in each cell, captures and qlogs on, each alone; then two guests at once."""
    shutil.rmtree(folder, ignore_errors=True)
    config = [f"studies={STUDY}", "scale=smoke", f"seed={SEED}", "clock=virtual", "repetitions=1"]
    config += [f"cells={','.join(CELLS)}", f"arms={','.join(ARMS)}"]
    snakemake(folder, 1, "prepare", config=config)
    rows = [_row(folder, cell, arm, 1) for cell in CELLS for arm in ARMS]
    processors = min(2, len(os.sched_getaffinity(0)))
    return [*rows, _row(folder, *TWICE, processors)]


def _row(folder: Path, cell: str, arm: str, guests: int) -> dict[str, Any]:
    """So many of the same load at once, each into a folder of its own."""
    before, begin = _processor_s(), time.monotonic()
    places = [folder / "loads" / f"{cell}-{arm}-{guests}-{number}" for number in range(guests)]
    runs = [_start(folder, place, cell, arm) for place in places]
    for run in runs:
        if run.wait():
            raise UserError(
                f"{cell}, {arm}: measuring in virtual time ended with {run.returncode}."
            )
    wall, processor = time.monotonic() - begin, _processor_s() - before
    (meta,) = places[0].glob("runs/*/*/*/*/meta.json")
    load = read_json(meta)
    seconds = guests * load["network_s"]
    return {
        "cell": cell,
        "arm": arm,
        "guests": guests,
        "status": load["status"],
        "network_s": round(load["network_s"], 3),
        "processor_s": round(processor / guests, 2),
        "wall_s": round(wall, 2),
        "network_per_processor_s": round(seconds / processor, 2),
    }


def _start(folder: Path, results: Path, cell: str, arm: str) -> subprocess.Popen[bytes]:
    selection = Selection("smoke", SEED, (cell,), (arm,), clock="virtual", repetitions=1)
    plan = plan_study(STUDY, selection)
    results.mkdir(parents=True)
    write_plan(plan, results / "plan.json")
    (results / "content").symlink_to(folder / "content")
    calibration = folder / "calibration" / f"{calibration_name(plan['cells'][0])}.json"
    argv: list[str | Path] = [sys.executable, ROOT / "scripts/measure.py", "--cell", cell]
    argv += ["--plan", results / "plan.json", "--calibration", calibration, "--block", "0"]
    argv += ["--results", results, "--output", results / "block.json"]
    return subprocess.Popen(argv)


def _processor_s() -> float:
    """Processor seconds of all that was started here and has ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
