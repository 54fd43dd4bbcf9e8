"""Measure one load of a block; run by measure.py, in a guest of its own (docs/virtual-time.md)."""

from __future__ import annotations

import os
import sys

from howquick.environment.endpoints import adopt_endpoints
from howquick.errors import run_program
from howquick.files import read_json
from howquick.guest.guest import await_prepared, handed_over, place
from howquick.measure.block import Block, HandedOver
from howquick.measure.measurement import Measurement
from howquick.measure.raw import (
    ASKED,
    CALIBRATION,
    ENDPOINTS,
    LOAD,
    MEASURED,
    PLAN,
    RESULTS,
    SESSION,
)  # fmt: skip
from howquick.measure.told import Untold
from howquick.testbed.sandbox import adopt_guest


def main() -> None:
    """What is to be measured is handed over as a file: a guest pays for reading a command line, too."""
    asked, plan, calibration, endpoints = (
        read_json(handed_over() / name) for name in (ASKED, PLAN, CALIBRATION, ENDPOINTS)
    )
    adopt_endpoints(endpoints)
    known = {(asked["arm"], asked["repetition"]): asked["fingerprint"]}
    guest = HandedOver(known, place(MEASURED) / LOAD)
    block = Block(plan, asked["cell"], asked["block"], place(RESULTS), SESSION, guest)
    measurement = Measurement(block, adopt_guest().scratch, calibration)
    await_prepared()
    measurement.run([(asked["repetition"], asked["order"], asked["arm"])], Untold())
    # What is left ends with the guest: tidying up would take as long as a tenth of a short load.
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    run_program(main)
