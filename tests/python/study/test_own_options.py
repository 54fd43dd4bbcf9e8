"""Options of one end alone: what a study may ask, and what each program is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from howquick.environment.endpoints import load_endpoints
from howquick.errors import ConfigError
from howquick.measure.job import Job
from howquick.model import ROLES, Arm
from howquick.study.arms import resolve_arm
from howquick.study.cells import arm_in_cell

GIVEN = {"label": "x", "group": "g", "protocol": "h3", "server": "quiche", "client": "ngtcp2"}
DEFAULTS = {"congestion_control": "cubic", "connection": "cold"}
SHORT = {"server": {"initial_rtt_ms": 33}}


def arm(**own: dict[str, Any]) -> Arm:
    given = GIVEN | {"own_options": own}
    return resolve_arm(Path("study.yaml"), "x", given, DEFAULTS, load_endpoints())


def told(arm: Arm, role: str, option: str, folder: Path) -> str:
    job = Job(
        load_endpoints()[arm[role]], role, arm, "10.0.0.1", 4433, folder, folder, folder / "log"
    )
    return job.environment()[f"OPTION_{option.upper()}"]


def test_each_end_is_told_its_own(tmp_path: Path) -> None:
    mine = arm(**SHORT, client={"group": "P-256:X25519"})
    assert [told(mine, role, "initial_rtt_ms", tmp_path) for role in ROLES] == ["33", "333"]
    assert [told(mine, role, "group", tmp_path) for role in ROLES] == ["X25519", "P-256:X25519"]


def test_a_factor_means_both_ends(tmp_path: Path) -> None:
    cell: Any = {"name": "c", "options": {"initial_rtt_ms": 100}}
    there = arm_in_cell(cell, arm(**SHORT))
    assert [told(there, role, "initial_rtt_ms", tmp_path) for role in ROLES] == ["100", "100"]


@pytest.mark.parametrize(
    ("own", "key"),
    [
        (
            {"server": {"ack_packets": 3}},
            r"own_options\.server\.ack_packets: is no option of quiche",
        ),
        (
            {"client": {"on_move": "migrate"}},
            r"own_options\.client\.on_move: .* one end can have alone",
        ),
        (
            {"server": {"pacing": "slow"}},
            r"own_options\.server\.pacing: quiche has no value 'slow'",
        ),
    ],
)
def test_what_a_program_does_not_have_is_refused(own: dict[str, Any], key: str) -> None:
    with pytest.raises(ConfigError, match=rf"arms\.x\.{key}"):
        arm(**own)
