"""What a program under test can reach (docs/isolation.md) where its block runs in virtual time."""

from __future__ import annotations

import sys
from pathlib import Path

from howquick.errors import ROOT
from howquick.files import read_json
from howquick.guest.guest import START_NS
from workflow.looks import ROLES, has_no_rights, planned_look, saw_its_own_and_the_system_alone

HOUR_S = 3600


def test_a_program_in_a_guest_reaches_no_more_than_elsewhere(tmp_path: Path) -> None:
    guest: list[str | Path] = [
        sys.executable,
        ROOT / "scripts/guest.py",
        "--writable",
        tmp_path,
        "--",
    ]
    with planned_look(tmp_path) as look:
        reached = look.measured_in(guest)
    (meta,) = tmp_path.glob("runs/*/*/*/0000/meta.json")
    # By the guest's own clock.
    assert 0 < read_json(meta)["started"] - START_NS / 1e9 < HOUR_S
    for role in ROLES:
        has_no_rights(reached[role])
        saw_its_own_and_the_system_alone(reached[role])
