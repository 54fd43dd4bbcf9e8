"""Metrics: of synthetic captures in which all is known, and of real loads whose drops the kernel counted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capture.recordings import PROTOCOLS, Recording
from capture.synthetic import ACK, FIN, SYN, Capture, handshake
from howquick.capture.read import Frames, read_frames
from howquick.extract.checks import check_complete, check_frame_length, longest_frame_bytes
from howquick.extract.compare import count_lost
from howquick.extract.flow import tcp_flow
from howquick.extract.load import Unusable, split
from howquick.extract.metrics import last_payload_ns, load_metrics
from howquick.extract.series import byte_series
from howquick.timing import ObjectTiming, Timing, read_timing

MSS = 1000
ISN = 2**32 - 1500  # the stream wraps in its second segment
OWD = 0.05
START_S = 1_790_000_000.0


def timing(plt: float, size: int, protocol: str = "h1", start: float = START_S) -> Timing:
    entry = ObjectTiming("/x", size, 0.0, None, plt)
    return Timing(protocol, start, None, None, None, None, (entry,))


def tcp_load(
    folder: Path, *, lose: frozenset[int] = frozenset(), linger: bool = False
) -> list[Frames]:
    """Ten segments from the server; those in `lose` do not arrive and are sent again 0.2 s later."""
    client, server = Capture(), Capture()
    handshake(client, 0, 2 * OWD, ISN, 40000)
    server.tcp(OWD, down=False, flags=SYN, sequence=100)
    server.tcp(OWD, down=True, flags=SYN | ACK, sequence=ISN, ack=101)
    server.tcp(3 * OWD, down=False, sequence=101, ack=ISN + 1)
    request = {"down": False, "sequence": 101, "ack": ISN + 1, "data": b"GET"}
    client.tcp(2 * OWD, **request)
    server.tcp(3 * OWD, **request)
    sends = [(3 * OWD + 0.001 * i, i, i not in lose) for i in range(10)]
    sends += [(3 * OWD + 0.2 + 0.001 * i, i, True) for i in sorted(lose)]
    top = 0
    for identification, (time, index, arrives) in enumerate(sends):
        segment = {"down": True, "sequence": ISN + 1 + index * MSS, "ack": 104,
                   "data": bytes([index]) * MSS, "identification": identification}  # fmt: skip
        server.tcp(time, **segment)
        if arrives:
            client.tcp(time + OWD, **segment)
            top = max(top, index + 1)
            # Content does not matter here, only that each acknowledgement is another one.
            answer = {"down": False, "sequence": 104, "ack": ISN + 1 + top * MSS}
            client.tcp(time + OWD + 1e-5, **answer)
            server.tcp(time + 2 * OWD, **answer)
    if linger:
        again = {"down": True, "sequence": ISN + 1 + 9 * MSS, "ack": 104, "data": bytes([9]) * MSS}
        server.tcp(0.6, **again)
        client.tcp(0.65, **again)
        late = {"down": True, "sequence": ISN + 1 + 10 * MSS, "ack": 104, "data": b"close_notify"}
        server.tcp(0.7, **late)
        client.tcp(0.75, **late)
        client.tcp(0.8, down=False, flags=FIN | ACK, sequence=104, ack=ISN + 1 + 10 * MSS)
    return [
        read_frames(capture.write(folder / f"{name}.pcap"))
        for name, capture in (("client", client), ("server", server))
    ]


def test_known_page_load_time(tmp_path: Path) -> None:
    client, server = tcp_load(tmp_path)
    load = timing(0.2095, 10 * MSS)
    values = load_metrics(client, server, split(client, server, load), load, 100)
    assert values["plt_capture_s"] == pytest.approx(4 * OWD + 0.009, abs=1e-9)
    assert values["plt_disagreement_s"] == pytest.approx(-0.0005, abs=1e-9)
    assert values["retransmitted_bytes"] == 0
    assert values["packets_down"] == 11
    assert values["wire_bytes_down"] == 10 * (MSS + 54) + 54
    assert values["largest_packet_down_bytes"] == MSS + 40
    # Up to the last segment: SYN, ACK, request and nine acknowledgements; the tenth comes after it.
    assert values["packets_up"] == 12
    assert values["wire_bytes_up"] == 12 * 54 + 3
    assert values["first_flight_bytes"] == 10 * MSS
    assert values["connections_capture"] == 1
    assert (values["capture_lost_up"], values["capture_lost_down"]) == (0, 0)


@pytest.mark.parametrize("lose", [{3}, {0, 4, 5}, {9}])
def test_known_losses_and_retransmissions(tmp_path: Path, lose: set[int]) -> None:
    client, server = tcp_load(tmp_path, lose=frozenset(lose))
    plt = 4 * OWD + 0.2 + 0.001 * max(lose)
    load = timing(plt, 10 * MSS)
    values = load_metrics(client, server, split(client, server, load), load, 100)
    assert values["retransmitted_bytes"] == len(lose) * MSS
    assert values["capture_lost_down"] == len(lose)
    assert values["capture_lost_up"] == 0
    assert values["plt_capture_s"] == pytest.approx(plt, abs=1e-9)


def test_what_comes_after_the_load_does_not_count(tmp_path: Path) -> None:
    client, server = tcp_load(tmp_path, linger=True)
    load = timing(0.2092, 10 * MSS)
    values = load_metrics(client, server, split(client, server, load), load, 100)
    assert values["plt_capture_s"] == pytest.approx(4 * OWD + 0.009, abs=1e-9)
    assert values["late_payload_bytes"] == len(b"close_notify")
    assert values["retransmitted_bytes"] == 0


def test_a_packet_that_never_arrives_is_not_the_largest(tmp_path: Path) -> None:
    """As one that is longer than the path bears, and as what comes after the load."""
    captures = {}
    for name, sizes in (("client", (600, 700)), ("server", (600, 1400, 700))):
        capture = Capture()
        handshake(capture, 0, 2 * OWD, 0, 40000)
        for number, size in enumerate(sizes):
            time = 3 * OWD + 0.01 * size / 100
            capture.tcp(time, down=True, sequence=1 + 600 * number, ack=101, data=b"x" * size)
        captures[name] = read_frames(capture.write(tmp_path / f"{name}.pcap"))
    load = timing(3 * OWD + 0.065, 600)
    ends = split(captures["client"], captures["server"], load)
    values = load_metrics(captures["client"], captures["server"], ends, load, 100)
    assert values["largest_packet_down_bytes"] == 640


def test_a_late_retransmission_within_the_load_does_not_count(tmp_path: Path) -> None:
    """The client says 0.66 s; the last new byte came long before: the disagreement must show."""
    client, server = tcp_load(tmp_path, linger=True)
    load = timing(0.66, 10 * MSS)
    values = load_metrics(client, server, split(client, server, load), load, 100)
    assert values["plt_disagreement_s"] == pytest.approx(4 * OWD + 0.009 - 0.66, abs=1e-9)


def test_a_client_that_stops_too_early_is_refused(tmp_path: Path) -> None:
    client, server = tcp_load(tmp_path)
    load = timing(0.15, 10 * MSS)
    with pytest.raises(Unusable, match="holds 0 bytes of payload"):
        load_metrics(client, server, split(client, server, load), load, 100)


def test_priming_connection_is_left_out(tmp_path: Path) -> None:
    client = Capture()
    handshake(client, -1.0, 0.1, 5, 39999)
    client.tcp(-0.5, down=True, sequence=6, data=b"ticket" * 100, client_port=39999)
    # Its last packet comes when the page load has begun already.
    client.tcp(0.01, down=True, sequence=606, data=b"bye", client_port=39999)
    handshake(client, 0.0, 0.1, 7, 40000)
    client.tcp(0.3, down=True, sequence=8, data=bytes(500))
    frames = read_frames(client.write(tmp_path / "client.pcap"))
    load = timing(0.3, 500)
    ends = split(frames, frames, load)
    assert len(ends.load.connections) == 1
    values = load_metrics(frames, frames, ends, load, 0)
    assert values["packets_down"] == 2
    assert values["plt_capture_s"] == pytest.approx(0.3, abs=1e-9)


def test_connections_are_counted_in_order(tmp_path: Path) -> None:
    client = Capture()
    for index, port in enumerate((50000, 41000, 45000)):
        handshake(client, 0.01 * index, 0.1, 7, port)
        client.tcp(0.3, down=True, sequence=8, data=bytes(100), client_port=port)
    frames = read_frames(client.write(tmp_path / "client.pcap"))
    ends = split(frames, frames, timing(0.3, 300))
    assert [int(key) & 0xFFFF for key in ends.load.connections] == [50000, 41000, 45000]
    received = byte_series(ends, None, last_payload_ns(ends, timing(0.3, 300), frames), 2)[-1][1]
    assert received == 300


def quic_load(folder: Path) -> list[Frames]:
    client, server = Capture(), Capture()
    packets = [
        (0.0, False, b"\xc3" + b"i" * 1199),
        (OWD, True, b"\xc1" + b"s" * 1199),
        (OWD, True, b"\xe1" + b"h" * 900),
        # Left the client before the server's first packet came: no answer to it.
        (0.08, False, b"\xd0" + b"0" * 500),
        (2 * OWD, False, b"\xe2" + b"a" * 60),
        (0.14, True, b"\x41" + b"n" * 700),
        (3 * OWD + 0.01, True, b"\x41" + b"d" * 1100),
        (3 * OWD + 0.03, True, b"\x42" + b"e" * 1100),
        (0.5, True, b"\x43" + b"c" * 30),
    ]
    for time, down, data in packets:
        sender, receiver = (server, client) if down else (client, server)
        sender.udp(time, down=down, data=data)
        receiver.udp(time + OWD, down=down, data=data)
    return [
        read_frames(capture.write(folder / f"{name}.pcap"))
        for name, capture in (("client", client), ("server", server))
    ]


def test_quic(tmp_path: Path) -> None:
    client, server = quic_load(tmp_path)
    load = timing(0.231, 2900, "h3")
    values = load_metrics(client, server, split(client, server, load), load, 2000 * OWD)
    assert values["plt_capture_s"] == pytest.approx(4 * OWD + 0.03, abs=1e-9)
    assert values["retransmitted_bytes"] is None
    assert values["first_flight_bytes"] == 1200 + 901 + 701
    assert values["late_payload_bytes"] == 31
    assert (values["capture_lost_up"], values["capture_lost_down"]) == (0, 0)


def test_a_capture_of_something_else(tmp_path: Path) -> None:
    client, _ = tcp_load(tmp_path)
    with pytest.raises(Unusable, match=r"client\.pcap: no connection"):
        split(client, client, timing(0.2, 1000, "h3"))
    with pytest.raises(Unusable, match="no connection"):
        split(client, client, timing(0.2, 1000, start=START_S + 0.01))
    # A clock that is read late, but by less than a connection for a ticket would need.
    assert split(client, client, timing(0.2, 1000, start=START_S + 0.01), 100).load.connections.size


def without(frames: Frames, index: int, folder: Path) -> Frames:
    """The same capture less one packet."""
    return Frames(folder / frames.path.name, np.delete(frames.table, index), frames.data, False, 0)


def test_complete_captures_are_accepted(tmp_path: Path) -> None:
    client, server = tcp_load(tmp_path, lose=frozenset({2}), linger=True)
    check_complete(client, server, split(client, server, timing(0.5, 10 * MSS)))


def test_a_packet_missing_at_the_server_is_noticed(tmp_path: Path) -> None:
    client, server = tcp_load(tmp_path)
    down = np.flatnonzero(server.table["payload"] == MSS)
    up = np.flatnonzero(server.table["payload"] == 3)
    short = without(server, int(down[-1]), tmp_path)
    with pytest.raises(Unusable, match=r"server\.pcap: lacks 1 packets"):
        check_complete(client, short, split(client, short, timing(0.2095, 9 * MSS)))
    # One that the server did not receive is a loss: nothing is wrong with the capture.
    check_complete(client, without(server, int(up[0]), tmp_path),
                   split(client, server, timing(0.2095, 9 * MSS)))  # fmt: skip


def test_a_packet_missing_at_the_client_is_noticed(tmp_path: Path) -> None:
    client, server = tcp_load(tmp_path)
    last = int(np.flatnonzero(client.table["payload"] == MSS)[-1])
    short = without(client, last, tmp_path)
    # The objects' bytes are all there, as bodies are shorter than what TLS makes of them.
    load = timing(0.2095, 9 * MSS - 50)
    ends = split(short, server, load)
    with pytest.raises(Unusable, match=r"client\.pcap: lacks 999 bytes that the client ack"):
        check_complete(short, server, ends)


def test_offload_is_noticed(tmp_path: Path) -> None:
    client, _ = tcp_load(tmp_path)
    assert longest_frame_bytes(client) == MSS + 54
    check_frame_length(1514, 1500)
    with pytest.raises(Unusable, match="offload"):
        check_frame_length(1515, 1500)


@given(st.lists(st.tuples(st.integers(0, 6), st.booleans()), max_size=60))
def test_lost_packets_are_counted_as_often_as_they_occur(packets: list[tuple[int, bool]]) -> None:
    sent = np.array([key for key, _ in packets], dtype=np.uint64)
    received = np.array([key for key, arrives in packets if arrives], dtype=np.uint64)
    lost = count_lost(sent, received)
    # Without regard to the packets that may have been under way in the end:
    missing = len(sent) - len(received)
    assert 0 <= lost <= missing
    assert count_lost(np.append(sent, np.uint64(99)), np.append(received, np.uint64(99))) == missing


@pytest.mark.parametrize("name", PROTOCOLS)
def test_real_losses_are_what_the_kernel_dropped(recorded: Recording, name: str) -> None:
    client, server = (read_frames(recorded.pcapng(name, end)) for end in ("client", "server"))
    load = read_timing(recorded.timing(name))
    ends = split(client, server, load)
    check_complete(client, server, ends)
    values = load_metrics(client, server, ends, load, 0)
    dropped = recorded.truth(name)["dropped_down"]
    assert dropped > 0
    assert values["capture_lost_down"] == dropped
    assert values["capture_lost_up"] == 0
    if name != "h3":
        # Each dropped packet had at most one MSS, and none was lost in the other direction.
        assert 0 < values["retransmitted_bytes"] <= dropped * 1460 * 1.5


def test_real_page_load_time_over_two_connections(recorded: Recording) -> None:
    client, server = (read_frames(recorded.pcapng("h1", end)) for end in ("client", "server"))
    load = read_timing(recorded.timing("h1"))
    values = load_metrics(client, server, split(client, server, load), load, 0)
    assert values["connections_capture"] == 2
    # The client can only be late, by as long as the machine kept it waiting.
    assert values["plt_disagreement_s"] <= 0.002
    # It lingered for 0.1 s before it closed.
    assert values["plt_capture_s"] < load.plt_s + 0.01
    assert values["wire_bytes_down"] > load.body_bytes


@pytest.mark.parametrize("name", ["h2", "h3"])
def test_real_page_load_time_is_what_curl_says(recorded: Recording, name: str) -> None:
    client, server = (read_frames(recorded.pcapng(name, end)) for end in ("client", "server"))
    load = read_timing(recorded.timing(name))
    values = load_metrics(client, server, split(client, server, load), load, 0)
    # curl's clock starts before its first packet and stops after its last: it can only be late, and most of
    # what it says is the load.
    assert values["plt_capture_s"] <= recorded.truth(name)["time_total"] + 0.002


@pytest.mark.parametrize("name", PROTOCOLS)
def test_series_end_with_everything(recorded: Recording, name: str) -> None:
    client, server = (read_frames(recorded.pcapng(name, end)) for end in ("client", "server"))
    load = read_timing(recorded.timing(name))
    ends = split(client, server, load)
    last = last_payload_ns(ends, load, client)
    series = byte_series(ends, tcp_flow(ends) if name != "h3" else None, last, 30)
    received = [row[1] for row in series]
    assert received == sorted(received)
    assert received[0] == 0
    assert received[-1] >= load.body_bytes
    assert series[-1][0] == pytest.approx((last - ends.load.first_ns) / 1e9, abs=1e-9)
    acknowledged = [row[2] for row in series]
    if name == "h3":
        assert acknowledged == [None] * 30
    else:
        assert acknowledged == sorted(acknowledged)
        assert all(a <= r for a, r in zip(acknowledged, received, strict=True))
        assert acknowledged[-1] > 0.9 * received[-1]


def test_a_connection_that_migrates_is_followed(tmp_path: Path) -> None:
    """The client goes on from another port without a long header; one from before is not followed."""
    capture = Capture()
    capture.udp(-0.5, down=False, data=b"\xc0 for a ticket", client_port=39000)
    capture.udp(0, down=False, data=b"\xc0 Initial")
    capture.udp(0.1, down=True, data=bytes(100))
    capture.udp(0.15, down=False, data=b"\x40 late", client_port=39000)
    capture.udp(0.2, down=False, data=b"\x40 moved", client_port=40001)
    capture.udp(0.3, down=True, data=bytes(200), client_port=40001)
    frames = read_frames(capture.write(tmp_path / "a.pcap"))
    ends = split(frames, frames, timing(0.3, 300, protocol="h3"))
    assert [key & 0xFFFF for key in ends.load.connections.tolist()] == [40000, 40001]
    assert int(ends.client_down.new.sum()) == 300
