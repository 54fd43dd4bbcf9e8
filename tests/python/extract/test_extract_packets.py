"""Which loads get a table of packets, which packets are in it, and where one was lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from howquick.extract import packets
from howquick.extract.arrivals import NEVER
from howquick.extract.run import Run
from howquick.extract.tables import slowest

UNDER_WAY = 2**63 - 1


def run(arm: str, seconds: float | None, listed: bool = False) -> Run:
    return Run({"arm": arm, "plt_s": seconds}, detail={"packets": []} if listed else {})


def test_the_slowest_of_each_arm_that_has_no_packets_yet() -> None:
    runs = [
        run("a", 1.0, True), run("b", 5.0, True), run("a", 3.0), run("b", 2.0), run("a", 2.0),
        run("c", None), run("a", 3.0),
    ]  # fmt: skip
    assert slowest(runs) == [2]
    assert slowest([]) == []


@pytest.mark.parametrize(
    ("arrived", "fate", "left"),
    [(120, "arrived", 2), (UNDER_WAY, "unknown", 2), (NEVER, "queue", 1)],
)
def test_the_fate_of_a_packet(arrived: int, fate: str, left: int) -> None:
    dropped = [(90, "loss"), (100, "queue")]
    assert packets._fate(arrived, 101, dropped) == fate
    assert len(dropped) == left


def test_a_drop_far_away_is_another_packets() -> None:
    assert packets._fate(NEVER, 100, [(100 + 60_000_000, "loss")]) == "lost"
    assert packets._fate(NEVER, 100, []) == "lost"


def test_a_list_of_drops_that_is_none_tells_nothing(tmp_path: Path) -> None:
    assert packets._causes(tmp_path) == {}
    (tmp_path / "drops.csv").write_text("direction,index,cause,bytes,time_s\ndown,1,loss,x,y\n")
    assert packets._causes(tmp_path) == {}
    (tmp_path / "drops.csv").write_text("direction,index,cause,bytes,time_s\ndown,1,loss,80,1.5\n")
    assert packets._causes(tmp_path) == {"down": {80: [(1_500_000_000, "loss")]}}


def test_those_lost_stay_in_a_table_that_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packets, "MOST_PACKETS", 4)
    rows: list[dict[str, Any]] = [
        {"at": at, "received_s": None if at in (7, 9) else 1.0} for at in range(10)
    ]
    assert [row["at"] for row in packets._most_telling(rows)] == [0, 1, 7, 9]
