"""Measure one block: what of it is missing, in a private testbed; then write its manifest."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from howquick.errors import UserError, run_program
from howquick.files import read_json, write_json
from howquick.guest.processors import take_processor
from howquick.measure.block import Block, locked
from howquick.measure.cpu_model import claim_processor
from howquick.measure.raw import SESSION
from howquick.measure.told import Progress
from howquick.measure.virtual import measure_in_guests
from howquick.study.cells import clock_of, find
from howquick.testbed.sandbox import enter_sandbox


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plan", type=Path, required=True, help="results/plan/<study>.json")
    parser.add_argument("--calibration", type=Path, required=True, help="of the cell's link")
    parser.add_argument("--cell", required=True)
    parser.add_argument("--block", type=int, required=True)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True, help="the block's manifest")
    parser.add_argument(
        "--again", default="", help="why it is measured again; kept in the manifest"
    )
    parser.add_argument("--fingerprint", default="", help="of what was asked; kept likewise")
    arguments = parser.parse_args()
    begin = time.monotonic()
    plan, results = read_json(arguments.plan), arguments.results.resolve()
    is_virtual = clock_of(find(plan["cells"], arguments.cell)) == "virtual"
    session = SESSION if is_virtual else _session()
    block = Block(plan, arguments.cell, arguments.block, results, session)
    name = f"{block.plan['study']}.{arguments.cell}.{arguments.block}"
    with locked(block.results / "progress" / f"{name}.lock"):
        missing = block.missing()
        parts: dict[str, float] = {}
        if missing:
            calibration = _calibration(arguments.calibration)
            if is_virtual:
                parts = _measure_in_virtual_time(block, missing, calibration)
            else:
                claim_processor(block)
                parts = _measure(block, missing, calibration)
        manifest = block.manifest(len(missing), parts, time.monotonic() - begin)
        asked = {"again": arguments.again, "fingerprint": arguments.fingerprint}
        write_json(arguments.output, manifest | asked)


def _session() -> str:
    """The name of this start of the workflow."""
    return os.environ.get("HOWQUICK_SESSION", time.strftime("%Y%m%dT%H%M%SZ", time.gmtime()))


def _calibration(path: Path) -> dict[str, Any]:
    calibration: dict[str, Any] = read_json(path)
    if calibration["verdict"] != "pass":
        failed = [c for c in calibration["checks"] if c["verdict"] != "pass"]
        what = "; ".join(
            f"{c['quantity']} {c['direction']}: asked {c['asked']}, measured {c['measured']}"
            for c in failed
        )
        raise UserError(
            f"{path}: the link is not what was asked for ({what}). Nothing is measured on it. Free the "
            "machine of other work and delete this file to calibrate again."
        )
    return calibration


def _measure(
    block: Block, missing: list[tuple[int, int, str]], calibration: dict[str, Any]
) -> dict[str, float]:
    # A polite end runs the clean-up; a SIGKILL ends the namespaces and everything in them.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sandbox = enter_sandbox()
    # Only now: a block of which nothing is missing need not load it.
    from howquick.measure.measurement import Measurement

    with _progress(block, missing) as progress:
        measurement = Measurement(block, sandbox.scratch, calibration)
        measurement.run(missing, progress)
    return measurement.parts


def _measure_in_virtual_time(
    block: Block, missing: list[tuple[int, int, str]], calibration: dict[str, Any]
) -> dict[str, float]:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    # Before the sandbox: what other guests have taken is not seen in it.
    processor = take_processor()
    enter_sandbox()
    with _progress(block, missing) as progress:
        return measure_in_guests(block, missing, calibration, processor, progress)


@contextmanager
def _progress(block: Block, missing: list[tuple[int, int, str]]) -> Iterator[Progress]:
    """The block's progress file, as long as it is measured."""
    study, cell, number = block.plan["study"], block.cell["name"], block.block["block"]
    total = len(block.wanted)
    progress = Progress(block.results, study, cell, number, total, total - len(missing))
    try:
        yield progress
    finally:
        progress.close()


if __name__ == "__main__":
    run_program(main)
