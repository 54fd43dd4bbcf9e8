"""Which congestion control a log shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from howquick.extract.qlog_file import read_qlog
from howquick.extract.reported_control import gather, seen, verdict

HEAD = {"qlog_format": "JSON-SEQ", "qlog_version": "0.3", "trace": {}}


def shown(folder: Path, events: list[tuple[str, dict[str, Any]]]) -> str | None:
    records = [HEAD, *({"time": n, "name": e[0], "data": e[1]} for n, e in enumerate(events))]
    path = folder / "a.sqlog"
    path.write_text("".join(f"\x1e{json.dumps(record)}\n" for record in records))
    return seen(gather(read_qlog(path)))


def sawtooth(factor: float, times: int) -> list[tuple[str, dict[str, Any]]]:
    events: list[tuple[str, dict[str, Any]]] = []
    for _ in range(times):
        for window in (80_000, 100_000, int(100_000 * factor)):
            events.append(("recovery:metrics_updated", {"congestion_window": window}))
        events.append(("recovery:packet_lost", {"header": {"packet_number": 1}}))
    return events


@pytest.mark.parametrize(("factor", "name"), [(0.7, "cubic"), (0.5, "reno"), (0.6, None)])
def test_what_a_loss_leaves_of_the_window(tmp_path: Path, factor: float, name: str | None) -> None:
    assert shown(tmp_path, sawtooth(factor, 5)) == name


def test_two_losses_say_nothing(tmp_path: Path) -> None:
    assert shown(tmp_path, sawtooth(0.5, 2)) is None


def test_a_window_that_losses_leave_alone(tmp_path: Path) -> None:
    steady = [("recovery:metrics_updated", {"congestion_window": 100_000})] * 5
    lost = [("recovery:packet_lost", {})] * 3
    assert shown(tmp_path, steady + lost) == "bbr"
    assert shown(tmp_path, steady) is None
    assert shown(tmp_path, lost) is None


def test_states_and_metrics_that_name_it(tmp_path: Path) -> None:
    assert shown(tmp_path, [("recovery:congestion_state_updated", {"new": "probe_bw"})]) == "bbr"
    metrics = {"cwnd": 1, "cubic-wmax": 2}
    assert shown(tmp_path, [("recovery:metrics_updated", metrics)]) == "cubic"


def test_quiche_counts_its_losses(tmp_path: Path) -> None:
    metrics = {"congestion_window": 100_000, "cf_lost_packets": {"total": 9, "delta": 1}}
    assert shown(tmp_path, [("quic:recovery_metrics_updated", metrics)] * 3) == "bbr"


@pytest.mark.parametrize(
    ("asked", "found", "result"),
    [
        ("cubic", "cubic", "agrees"),
        ("bbr2", "bbr", "agrees"),
        ("cubic", "reno", "differs"),
        ("bbr", "cubic", "differs"),
        ("cubic", "bbr", "differs"),
        ("reno", "cubic", "unknown"),
        ("bbr2", "cubic", "unknown"),
        ("cubic", None, "unknown"),
        (None, "cubic", "unknown"),
    ],
)
def test_verdict(asked: str | None, found: str | None, result: str) -> None:
    assert verdict(asked, found) == result
