"""What a program under test can reach (docs/isolation.md) where its load runs in virtual time."""

from __future__ import annotations

import sys
from pathlib import Path

from howquick.errors import ROOT
from howquick.files import read_json
from howquick.guest.guest import START_NS
from workflow.looks import (
    ROLES,
    Look,
    has_no_rights,
    planned_look,
    saw_its_own_and_the_system_alone,
)

HOUR_S = 3600


def looked_around(look: Look, place: list[str | Path]) -> None:
    """Assert that the programs reached nothing, and that their load was in a guest."""
    reached = look.measured_in(place)
    # By the guest's own clock.
    assert 0 < read_json(look.run / "meta.json")["started"] - START_NS / 1e9 < HOUR_S
    for role in ROLES:
        has_no_rights(reached[role])
        saw_its_own_and_the_system_alone(reached[role])


def test_a_program_in_virtual_time_reaches_no_more_than_elsewhere(tmp_path: Path) -> None:
    """As loads are measured: the guest's runner has no threads, and its child confines itself."""
    with planned_look(tmp_path, clock="virtual") as look:
        looked_around(look, [])
        assert read_json(look.run / "meta.json")["clock"] == "virtual"


def test_a_program_of_the_runner_s_contract_in_virtual_time(tmp_path: Path) -> None:
    with planned_look(tmp_path, bridged=True, clock="virtual") as look:
        looked_around(look, [])


def test_a_program_of_a_block_in_a_guest_reaches_no_more_than_elsewhere(tmp_path: Path) -> None:
    """By the clock of its machine, which is a guest."""
    with planned_look(tmp_path) as look:
        looked_around(
            look,
            [sys.executable, ROOT / "scripts/guest.py", "--writable", look.results, "--"],
        )
