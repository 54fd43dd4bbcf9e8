"""Marks and queueing delay, of captures in which each packet's way is known."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from capture.synthetic import Capture
from howquick.capture.read import UDP, read_frames
from howquick.extract.crossing import crossing_columns, quickest_round_trip_ms
from howquick.extract.load import PageLoad

START_NS = Capture().start_ns
OWD_S = 0.02
TRAFFIC_CLASS = 15
ECT_0, CE = 2, 3


class Fate(NamedTuple):
    """ECN's bits of a datagram as sent and as they arrive (None: it does not), and how long it waits."""

    sent: int = 0
    arrives: int | None = 0
    wait_ms: float = 0.0


PLAIN = Fate()


def send(
    ends: tuple[Capture, Capture], at_s: float, name: int, fate: Fate = PLAIN, *, down: bool = True
) -> None:
    """A datagram from the first end to the second."""
    for capture, time_s, bits in (
        (ends[0], at_s, fate.sent),
        (ends[1], at_s + OWD_S + fate.wait_ms / 1e3, fate.arrives),
    ):
        if bits is not None:
            capture.udp(time_s, down=down, data=bytes([name]) * 100)
            time_ns, frame = capture.packets[-1]
            changed = frame[:TRAFFIC_CLASS] + bytes([bits]) + frame[TRAFFIC_CLASS + 1 :]
            capture.packets[-1] = (time_ns, changed)


@pytest.fixture
def columns(tmp_path: Path) -> dict[str, int | float | None]:
    client, server = Capture(), Capture()
    send((client, server), 0.0, 1, down=False)
    down = (server, client)
    send(down, 0.1, 2, Fate(ECT_0, ECT_0))
    send(down, 0.2, 3, Fate(ECT_0, CE, wait_ms=4))
    send(down, 0.3, 4, Fate(ECT_0, None))
    send(down, 0.4, 5, Fate(ECT_0, CE, wait_ms=2))
    # One that its sender marked, one that bears nothing, and one after the end of the load.
    send(down, 0.5, 6, Fate(CE, CE, wait_ms=1))
    send(down, 0.6, 7, Fate(wait_ms=3))
    send(down, 9.0, 8, Fate(ECT_0, CE, wait_ms=99))
    frames = [
        read_frames(capture.write(tmp_path / name))
        for name, capture in (("client.pcap", client), ("server.pcap", server))
    ]
    first = frames[0].table[0]
    load = PageLoad(UDP, int(first["destination"]), 4433, frames[0].table["time_ns"][:0], START_NS)
    return crossing_columns(frames[0], frames[1], load, START_NS + 10**9)


def test_marks_are_those_of_the_link(columns: dict[str, int | float | None]) -> None:
    assert (columns["ecn_capable_up"], columns["ecn_marked_up"]) == (0, 0)
    assert (columns["ecn_capable_down"], columns["ecn_marked_down"]) == (5, 2)


def test_queueing_is_the_delay_beyond_the_least(columns: dict[str, int | float | None]) -> None:
    # 0, 4, 2, 1 and 3 ms, and what is lost has none.
    assert columns["queueing_down_median_ms"] == pytest.approx(2, abs=1e-3)
    assert columns["queueing_down_p99_ms"] == pytest.approx(3.96, abs=1e-3)
    assert columns["queueing_up_median_ms"] == 0


def test_where_nothing_arrives_there_is_no_delay(tmp_path: Path) -> None:
    client, server = Capture(), Capture()
    send((client, server), 0.0, 1, Fate(arrives=None), down=False)
    server.udp(5, down=False, data=b"another")
    frames = [
        read_frames(capture.write(tmp_path / name))
        for name, capture in (("client.pcap", client), ("server.pcap", server))
    ]
    first = frames[0].table[0]
    load = PageLoad(UDP, int(first["destination"]), 4433, frames[0].table["time_ns"][:0], START_NS)
    found = crossing_columns(frames[0], frames[1], load, START_NS + 10**9)
    assert found["queueing_up_p99_ms"] is None and found["ecn_marked_up"] == 0


@pytest.mark.parametrize(
    ("link", "least"),
    [
        ({"rtt_ms": 40}, 40),
        ({}, 0),
        ({"rtt_ms": 40, "delay_up_ms": 30}, 60),
        ({"rtt_ms": 40, "jitter_ms": 2}, 24),
        ({"rtt_ms": 40, "jitter_ms": 2, "jitter_distribution": "uniform"}, 36),
        ({"rtt_ms": 40, "reorder_percent": 1}, 0),
    ],
)
def test_the_quickest_way_to_the_server_and_back(link: dict[str, object], least: float) -> None:
    assert quickest_round_trip_ms(link) == pytest.approx(least)
