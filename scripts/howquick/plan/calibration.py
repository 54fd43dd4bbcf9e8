"""What a calibration is valid for: the code that makes links, the code that probes them, the emulator."""

from __future__ import annotations

from functools import cache

from howquick.code import code_hash
from howquick.files import canonical_hash
from howquick.plan.fingerprint import emulator_hash, guest_hash

LINKS = (
    "scripts/calibrate.py",
    "scripts/replay_trace.py",
    "scripts/howquick/calibrate",
    "scripts/howquick/testbed",
)


@cache
def calibration_hash() -> str:
    """Changes when links must be calibrated again."""
    return canonical_hash([code_hash(*LINKS), emulator_hash()])


@cache
def virtual_calibration_hash() -> str:
    """The same for links of virtual time."""
    return canonical_hash([code_hash(*LINKS), guest_hash()])
