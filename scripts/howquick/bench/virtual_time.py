"""What a load in virtual time costs: seconds of it per second of a processor."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
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
# A block of a study has some forty loads. What one adds is what a block with two takes beyond one with one.
# Each is measured so often, in turn; the medians count.
ROUNDS = 3


def virtual_time(folder: Path) -> list[dict[str, Any]]:
    """Each arm in each cell, captures and qlogs on, each alone; then two guests at once.

    processor_s is that of a block with one load, its start and the start of the guest that is copied
    among it; further_processor_s what each load adds that follows in the same block.
    """
    shutil.rmtree(folder, ignore_errors=True)
    config = [f"studies={STUDY}", "scale=smoke", f"seed={SEED}", "clock=virtual"]
    config += [f"cells={','.join(CELLS)}", f"arms={','.join(ARMS)}"]
    snakemake(folder, 1, "prepare", config=config)
    rows = [_row(folder, cell, arm, 1) for cell in CELLS for arm in ARMS]
    processors = min(2, len(os.sched_getaffinity(0)))
    return [*rows, _row(folder, *TWICE, processors)]


def _row(folder: Path, cell: str, arm: str, guests: int) -> dict[str, Any]:
    """So many of the same block at once, each into a folder of its own."""
    measured = [
        [_measure(folder, cell, arm, guests, loads) for loads in (1, 2)] for _ in range(ROUNDS)
    ]
    one = median(alone[0] for alone, _ in measured)
    further = median(both[0] - alone[0] for alone, both in measured)
    load = measured[0][0][2]
    seconds = load["network_s"]
    return {
        "cell": cell,
        "arm": arm,
        "guests": guests,
        "status": load["status"],
        "network_s": round(seconds, 3),
        "processor_s": round(one, 2),
        "wall_s": round(median(alone[1] for alone, _ in measured), 2),
        "network_per_processor_s": round(seconds / one, 2),
        "further_processor_s": round(further, 2),
        "network_per_further_processor_s": round(seconds / further, 2),
    }


def _measure(
    folder: Path, cell: str, arm: str, guests: int, loads: int
) -> tuple[float, float, dict[str, Any]]:
    """Processor seconds of a block, wall seconds of all that ran at once, and meta.json of a first load."""
    before, begin = _processor_s(), time.monotonic()
    places = [folder / "loads" / str(number) for number in range(guests)]
    for place in places:
        shutil.rmtree(place, ignore_errors=True)
    for run in [_start(folder, place, cell, arm, loads) for place in places]:
        if run.wait():
            raise UserError(
                f"{cell}, {arm}: measuring in virtual time ended with {run.returncode}."
            )
    processor, wall = (_processor_s() - before) / guests, time.monotonic() - begin
    measured = sorted(places[0].glob("runs/*/*/*/*/meta.json"))
    assert len(measured) == loads, measured
    return processor, wall, read_json(measured[0])


def _start(folder: Path, results: Path, cell: str, arm: str, loads: int) -> subprocess.Popen[bytes]:
    selection = Selection("smoke", SEED, (cell,), (arm,), clock="virtual", repetitions=loads)
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
