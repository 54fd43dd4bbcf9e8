"""Shares of a link, of a capture in which each flow's packets are known."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest

from capture.synthetic import CLIENT, SECOND_NS, Capture, ip_packet
from howquick.extract.flows import jain_index, own_address, share_of_flows
from howquick.extract.run import _route_congestion
from howquick.files import file_hash

START_S = Capture().start_ns / SECOND_NS
PORT = 4433
OWN, OTHER = "10.0.2.1", "10.0.2.101"


@pytest.mark.parametrize(
    ("rates", "index"),
    [
        ([3, 3, 3], 1),
        ([5, 0, 0, 0], 1 / 4),
        ([3, 1], 16 / 20),
        ([7], 1),
        ([0, 0], None),
    ],
)
def test_jain_index(rates: list[float], index: float | None) -> None:
    assert jain_index(rates) == (None if index is None else pytest.approx(index))


def datagram(capture: Capture, time_s: float, server: str, *, down: bool, size: int) -> None:
    """A datagram between a server and the client whose frame has so many bytes."""
    ports = (PORT, 40000) if down else (40000, PORT)
    ends = (server, CLIENT) if down else (CLIENT, server)
    data = bytes(size - 42)
    head = struct.pack(">HHHH", *ports, 8 + len(data), 0)
    capture.add(time_s, ip_packet(*ends, 17, head + data))


def flow(number: int, address: str, started: float, ended: float, **more: Any) -> dict[str, Any]:
    return {
        "number": number, "arm": f"arm-{number}", "protocol": "h3", "address": address, "port": PORT,
        "start_s": started, "background": False, "status": "cut", "timing_sha256": None,
        "started": START_S + started, "ended": START_S + ended,
    } | more  # fmt: skip


@pytest.fixture
def capture() -> Capture:
    """Own: from 0 s to 4 s each 0.1 s 1000 bytes; the other: from 1 s to 6 s each 0.1 s 250 bytes."""
    made = Capture()
    datagram(made, 0, OWN, down=False, size=100)
    datagram(made, 1, OTHER, down=False, size=100)
    for tenth in range(41):
        datagram(made, tenth / 10, OWN, down=True, size=1000)
    for tenth in range(10, 61):
        datagram(made, tenth / 10 + 0.05, OTHER, down=True, size=250)
    return made


def test_shares_are_of_the_time_in_which_all_are_active(tmp_path: Path, capture: Capture) -> None:
    capture.write(tmp_path / "client.pcapng")
    meta = {"flows": [flow(0, OWN, 0, 9), flow(1, OTHER, 1, 9)]}
    found = share_of_flows(tmp_path, meta, captured=True)
    assert found.notes == []
    # From the other's first packet at 1 s to the own last payload at 4 s: 31 frames and 30.
    own, other = found.rows
    assert (own["wire_bytes"], other["wire_bytes"]) == (31_000, 7500)
    assert found.columns["flows_overlap_s"] == pytest.approx(3)
    assert found.columns["flow_share"] == own["share"] == pytest.approx(31 / 38.5)
    assert found.columns["flow_mbit"] == pytest.approx(31_000 * 8 / 3e6)
    x, y = own["mbit"], other["mbit"]
    assert found.columns["jain_index"] == pytest.approx((x + y) ** 2 / (2 * (x * x + y * y)))
    assert (other["first_s"], other["last_s"]) == (pytest.approx(1), pytest.approx(6.05))
    assert own_address(meta) == int.from_bytes(bytes(map(int, OWN.split("."))))


def test_what_came_before_a_flow_began_or_after_it_was_cut_off_does_not_count(
    tmp_path: Path, capture: Capture
) -> None:
    capture.write(tmp_path / "client.pcapng")
    meta = {"flows": [flow(0, OWN, 0, 9), flow(1, OTHER, 0.5, 2.5)]}
    datagram(capture, 0.2, OTHER, down=False, size=100)
    capture.write(tmp_path / "client.pcapng")
    found = share_of_flows(tmp_path, meta, captured=True)
    assert found.rows[1]["first_s"] == pytest.approx(1)
    assert found.rows[1]["last_s"] == pytest.approx(2.45)
    assert found.columns["flows_overlap_s"] == pytest.approx(1.45)


def test_flows_that_never_meet_have_no_shares(tmp_path: Path, capture: Capture) -> None:
    capture.write(tmp_path / "client.pcapng")
    meta = {"flows": [flow(0, OWN, 0, 0.9), flow(1, OTHER, 1, 9)]}
    found = share_of_flows(tmp_path, meta, captured=True)
    assert "flow_share" not in found.columns and "never all active" in found.notes[0]
    unstarted = flow(1, OTHER, 1, 9) | {"started": None, "ended": None, "status": "not started"}
    found = share_of_flows(tmp_path, {"flows": [flow(0, OWN, 0, 9), unstarted]}, captured=True)
    assert "jain_index" not in found.columns and len(found.rows) == 2


def test_a_flow_that_ended_has_its_own_times(tmp_path: Path, capture: Capture) -> None:
    capture.write(tmp_path / "client.pcapng")
    file = tmp_path / "flows/1-arm-1/timing.json"
    file.parent.mkdir(parents=True)
    timing = {
        "protocol": "h3", "start": START_S + 1, "handshake_s": None, "resumed": False,
        "early_data": False, "connections": 1,
        "objects": [{"path": "/o", "status": 200, "bytes": 1000, "sha256": None, "start_s": 0.0,
                     "first_byte_s": 0.1, "end_s": 2.0}],
    }  # fmt: skip
    file.write_text(json.dumps(timing))
    ended = flow(1, OTHER, 1, 9, status="ok", timing_sha256=file_hash(file))
    found = share_of_flows(tmp_path, {"flows": [flow(0, OWN, 0, 9), ended]}, captured=True)
    row = found.rows[1]
    assert (row["plt_s"], row["bytes"], row["goodput_mbit"]) == (2, 1000, pytest.approx(0.004))
    # Until its last object was there, not until its client was gone.
    assert row["last_s"] == pytest.approx(2.95)
    file.write_text(json.dumps(timing | {"connections": 2}))
    found = share_of_flows(tmp_path, {"flows": [flow(0, OWN, 0, 9), ended]}, captured=True)
    assert "flows/1-arm-1/timing.json is not the file that was measured" in found.notes[0]


def test_a_load_without_company_has_nothing_of_the_kind(tmp_path: Path) -> None:
    found = share_of_flows(tmp_path, {}, captured=True)
    assert (found.columns, found.rows, found.notes) == ({}, [], [])
    missing = share_of_flows(tmp_path, {"flows": [flow(0, OWN, 0, 9)]}, captured=True)
    assert missing.notes and missing.columns == {}


def test_the_route_of_another_flow_says_nothing_of_the_arm() -> None:
    routes = [
        {"dst": "10.0.1.101", "metrics": [{"congestion": "bbr"}]},
        {"dst": "10.0.1.0/24", "metrics": [{"congestion": "cubic"}]},
    ]
    meta = {"arm_definition": {"protocol": "h2"}, "settings": {"routes": {"server": routes}}}
    assert _route_congestion(meta) == "cubic"
