"""Cells of how-quick measured in virtual time, by the scripts of a checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from howquick.content.pages import make_page
from howquick.files import file_hash, read_json
from howquick.plan.plan import plan_study, write_plan
from howquick.study.cells import calibration_name
from howquick.study.resolve import Selection
from howquick.study.workload import page_name

SEED = 7
FILES = ("client.pcapng", "server.pcapng", "timing.json")
LIMIT_S = 1200


def run(root: Path, program: str, *words: str | Path) -> None:
    """Run a script of a checkout."""
    argv = [sys.executable, root / "scripts" / program, *words]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        argv, capture_output=True, text=True, check=False, timeout=LIMIT_S, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr


def prepared(root: Path, results: Path, arms: tuple[str, ...], cell: str) -> Path:
    """A results folder in which a cell of how-quick can be measured in virtual time."""
    selection = Selection("smoke", SEED, (cell,), arms, clock="virtual", repetitions=1)
    plan = plan_study("how-quick", selection)
    write_plan(plan, results / "plan.json")
    (only,) = plan["cells"]
    make_page(only["workload"], SEED, results / "content" / page_name(only["workload"]))
    certificates = results / "content/certificates-virtual"
    run(root, "make_content.py", "certificates", "--clock", "virtual", "--seed", str(SEED),
        "--output", certificates)  # fmt: skip
    calibration = results / "calibration" / f"{calibration_name(only)}.json"
    asked = results / "link.json"
    asked.write_text(json.dumps(only["link"]))
    run(root, "calibrate.py", "link", asked, "--clock", "virtual", "--output", calibration)
    return calibration


def measured(root: Path, results: Path, calibration: Path, cell: str) -> dict[str, str]:
    """Measure the cell; hashes of what it left, by arm and file."""
    run(root, "measure.py", "--plan", results / "plan.json", "--calibration", calibration,
        "--cell", cell, "--block", "0", "--results", results, "--output", results / "block.json")  # fmt: skip
    block = read_json(results / "block.json")
    assert block["statuses"] == {"ok": len(block["runs"])}, block["runs"]
    return {
        f"{one['arm']} {name}": file_hash(results / one["path"] / name)
        for one in block["runs"]
        for name in FILES
    }
