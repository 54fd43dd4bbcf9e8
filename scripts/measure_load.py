"""Measure loads of a block, each in a copy of the guest that this runs in (docs/virtual-time.md)."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

from howquick.environment.endpoints import adopt_endpoints
from howquick.errors import run_program
from howquick.files import read_json
from howquick.guest.copies import wait_to_be_copied
from howquick.guest.guest import await_prepared, handed_over, place
from howquick.measure.block import Block, HandedOver
from howquick.measure.measurement import Measurement, Tcp
from howquick.measure.raw import (
    ASKED,
    CALIBRATION,
    ENDPOINTS,
    LOAD,
    MEASURED,
    PLAN,
    READY,
    RESULTS,
    SESSION,
)  # fmt: skip
from howquick.measure.told import Untold
from howquick.testbed.sandbox import adopt_guest


def main() -> None:
    """What is to be measured is handed over as files: a guest pays for reading a command line, too."""
    ready, plan, calibration, endpoints = (
        read_json(handed_over() / name) for name in (READY, PLAN, CALIBRATION, ENDPOINTS)
    )
    adopt_endpoints(endpoints)
    known: dict[tuple[str, int], str] = {}
    guest = HandedOver(known, place(MEASURED) / LOAD)
    block = Block(plan, ready["cell"], 0, place(RESULTS), SESSION, guest)
    measurement = Measurement(block, adopt_guest().scratch, calibration)
    await_prepared()
    measurement.run(_asked(block, known), Untold(), Tcp(*ready["tcp"]))
    # What is left ends with the guest: tidying up would take as long as a tenth of a short load.
    sys.stderr.flush()
    os._exit(0)


def _asked(block: Block, known: dict[tuple[str, int], str]) -> Iterator[tuple[int, int, str]]:
    """The one load of each copy; what has been done so far is the same for all."""
    if not wait_to_be_copied():
        return
    asked = read_json(handed_over() / ASKED)
    block.plan.update(asked["plan"])
    block.block["block"] = asked["block"]
    known[asked["arm"], asked["repetition"]] = asked["fingerprint"]
    yield asked["repetition"], asked["order"], asked["arm"]


if __name__ == "__main__":
    run_program(main)
