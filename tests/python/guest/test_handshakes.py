"""Handshakes of the stacks of how-quick in virtual time: as many round trips as their protocol has."""

from __future__ import annotations

from pathlib import Path

from loads import measured, prepared

from howquick.errors import ROOT
from howquick.extract.run import Options, extract_run
from howquick.files import read_json

CELL = "10mbit-218ms-loss0-5obj-small"
RTT_S = 0.218
# TCP has one, and TLS 1.3 another (RFC 8446, 2); QUIC has one for both (RFC 9001, 4).
ROUND_TRIPS = {
    "h1-nginx-curl": 2,
    "h2-nginx-curl": 2,
    "h2-nghttp2": 2,
    "spdy-node": 2,
    "h3-quiche": 1,
    "h3-quiche-0rtt": 1,
    "h3-aioquic": 1,
    "h3-nginx-curl": 1,
}
# A handshake is shorter than so many frames at this rate; the rest is system calls of 10 µs.
FRAMES = 6
FRAME_S = 1514 * 8 / 10e6
CALLS_S = 0.005


def test_a_handshake_takes_the_round_trips_of_its_protocol(tmp_path: Path) -> None:
    """One more is a key that the server does not take, or a certificate beyond three datagrams."""
    calibration = prepared(ROOT, tmp_path, tuple(ROUND_TRIPS), CELL)
    measured(ROOT, tmp_path, calibration, CELL)
    block = read_json(tmp_path / "block.json")
    rows = [extract_run(block, run, tmp_path / run["path"], Options()).row for run in block["runs"]]
    taken = {row["arm"]: row["handshake_s"] - ROUND_TRIPS[row["arm"]] * RTT_S for row in rows}
    assert taken.keys() == ROUND_TRIPS.keys()
    late = {
        arm: seconds
        for arm, seconds in taken.items()
        if not 0 < seconds < FRAMES * FRAME_S + CALLS_S
    }
    assert not late, late
