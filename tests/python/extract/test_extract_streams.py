"""Streams, acknowledgements and losses: of real loads by decryption, and of TCP by headers alone."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from test_extract_metrics import MSS, OWD, tcp_load, timing

from capture.recordings import Recording, Results, extract, rows
from howquick.capture.pack import pack
from howquick.capture.read import Frames, read_frames
from howquick.extract.arrivals import NEVER, find_arrivals
from howquick.extract.detail import (
    MOST_FRAMES,
    MOST_ROWS,
    event_rows,
    merge,
    retransmissions,
    window_rows,
)
from howquick.extract.flow import tcp_flow
from howquick.extract.http2 import decrypt_tcp
from howquick.extract.load import Ends, split
from howquick.extract.metrics import last_payload_ns
from howquick.extract.packets import MOST_PACKETS
from howquick.extract.quic import complete_paths, decrypt, stream_lengths
from howquick.extract.series import byte_series
from howquick.timing import read_timing

SIZE = 400_000


def real(recorded: Recording, name: str) -> tuple[Frames, Frames, Ends]:
    client, server = (read_frames(recorded.pcapng(name, end)) for end in ("client", "server"))
    return client, server, split(client, server, read_timing(recorded.timing(name)))


def test_quic_streams(recorded: Recording) -> None:
    client, server, ends = real(recorded, "h3")
    found = decrypt(server, ends)
    body = found.flow.stream == 0
    assert found.paths == {0: "/a.bin"}
    assert found.decrypts
    assert found.complete
    # The body and the frames of HTTP/3 around it.
    assert SIZE < found.flow.new[body].sum() < SIZE + 1000
    # A client that has everything may close before it acknowledges the last packets.
    assert 0.9 * found.flow.new.sum() < found.flow.acked_bytes.sum() <= found.flow.new.sum()
    assert (np.diff(found.flow.acked_ns) >= 0).all()
    assert found.packets["up"] >= len(ends.server_up.rows)
    lost = find_arrivals(client, server, ends).down == NEVER
    assert int(lost.sum()) == recorded.truth("h3")["dropped_down"]
    # What was sent again is what was lost, or more of it.
    again = found.flow.length[found.flow.again].sum()
    assert (again > 0) == (lost.sum() > 0)
    assert (found.cipher, found.group) == (0x1302, found.group)


def test_acknowledged_bytes_of_quic_grow_to_all(recorded: Recording) -> None:
    client, server, ends = real(recorded, "h3")
    last = last_payload_ns(ends, read_timing(recorded.timing("h3")), client)
    series = byte_series(ends, decrypt(server, ends).flow, last, 20)
    acknowledged = [row[2] for row in series]
    assert None not in acknowledged
    assert acknowledged == sorted(acknowledged)
    assert 0.8 * SIZE < acknowledged[-1] < 1.1 * SIZE


def test_http2_frames(recorded: Recording) -> None:
    client, _, ends = real(recorded, "h2")
    found = decrypt_tcp(client, ends)
    assert recorded.truth("h2")["dropped_down"] > 0
    assert sum(frame.size_bytes for frame in found.frames) == SIZE
    assert list(found.paths.values()) == ["/a.bin"]
    assert {frame.stream for frame in found.frames} == set(found.paths)
    places = [(frame.offset, frame.time_ns) for frame in found.frames]
    assert places == sorted(places)
    assert found.application
    assert found.cipher in (0x1301, 0x1302, 0x1303)


@pytest.mark.parametrize("name", ["h2", "h3"])
def test_captures_without_keys_are_told(results: Results, recorded: Recording, name: str) -> None:
    for end in ("client", "server"):
        pack(recorded.pcap(name, end), b"", results.run(name) / f"{end}.pcapng", interface=end)
    row = extract(results)[name]
    assert row["decrypts"] == "false"
    assert row["plt_capture_s"]
    assert (row["retransmitted_packets"] == "") == (name == "h3")


def test_columns_and_tables_of_the_detail(results: Results) -> None:
    table = extract(results)
    tables = results.folder / "tables"
    for arm in ("h1", "h2", "h3"):
        assert table[arm]["decrypts"] == "true"
        assert table[arm]["ttlb_s"] == table[arm]["plt_capture_s"]
        assert int(table[arm]["retransmitted_packets"]) > 0
        assert 0 <= int(table[arm]["first_retransmitted_offset"]) < 700_000
        assert table[arm]["negotiated_cipher"].startswith("TLS_")
        events = [row for row in rows(tables / "transport.csv") if row["arm"] == arm]
        totals = {row["event"]: int(row["total_bytes"]) for row in events}
        assert totals["sent"] > SIZE
        assert totals["acknowledged"] > 0.8 * SIZE
        assert totals["sent"] - totals["retransmitted"] >= totals["acknowledged"]
        window = [row for row in rows(tables / "window.csv") if row["arm"] == arm]
        assert max(int(row["bytes_in_flight"]) for row in window) > 10_000
        assert max(float(row["delivery_rate_mbit"]) for row in window) > 5
        opening = [row for row in rows(tables / "handshake.csv") if row["arm"] == arm]
        assert len(opening) == 20
        assert opening[0]["label"] == ("Initial" if arm == "h3" else "SYN")
        assert (float(opening[0]["time_s"]), opening[0]["direction"]) == (0, "up")
        times = [float(row["time_s"]) for row in opening]
        assert times == sorted(times)
    frames = rows(tables / "frames.csv")
    for arm in ("h2", "h3"):
        mine = [row for row in frames if row["arm"] == arm and row["path"] == "/a.bin"]
        ends = [int(row["offset"]) + int(row["bytes"]) for row in mine if row["time_s"]]
        # The headers of the response and, of each piece that the server sent at once, of its DATA frame.
        assert SIZE <= max(ends) < 1.02 * SIZE
    assert any(row["lost"] == "true" and not row["time_s"] for row in frames if row["arm"] == "h3")


def test_packets_as_both_ends_saw_them(results: Results) -> None:
    table = extract(results)
    packets = rows(results.folder / "tables" / "packets.csv")
    for arm in ("h1", "h2", "h3"):
        mine = [row for row in packets if row["arm"] == arm]
        assert 100 < len(mine) <= MOST_PACKETS
        sent = [float(row["sent_s"]) for row in mine]
        assert sent == sorted(sent) and mine[0]["direction"] == "up" and sent[0] == 0
        for row in mine:
            # What arrived has a place in the other capture and a time after it left; the rest has neither.
            came = row["fate"] == "arrived"
            assert came == bool(row["received_s"]) == bool(row["receiver_number"]), row
            assert not came or float(row["received_s"]) > float(row["sent_s"])
        lost = [row for row in mine if row["fate"] == "lost"]
        down = [row for row in lost if row["direction"] == "down"]
        assert len(down) == int(table[arm]["capture_lost_down"]) > 0
        assert any(row["again"] == "true" for row in mine)
    quic = [row for row in packets if row["arm"] == "h3" and row["direction"] == "down"]
    assert any(row["streams"] and "STREAM" in row["content"] for row in quic)
    assert any("CRYPTO" in row["content"] for row in quic)
    tcp = next(row for row in packets if row["arm"] == "h1")
    assert (tcp["label"], tcp["content"]) == ("SYN", "SYN, bytes 0 + 0")
    for row in (tcp, quic[-1]):
        # The number is the one by which others find the packet.
        end = "client" if row["direction"] == "up" else "server"
        argv = ["tshark", "-r", str(results.run(row["arm"]) / f"{end}.pcapng"), "-T", "fields"]
        argv += ["-e", "frame.len", "-Y", f"frame.number == {row['number']}"]
        shown = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
        assert shown.strip() == row["bytes"]


def test_only_the_first_repetitions_have_details(results: Results) -> None:
    extract(results, detail=0)
    for name in ("transport", "window", "frames", "handshake", "packets"):
        assert rows(results.folder / "tables" / f"{name}.csv") == []


def test_a_machine_without_tshark(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(results.folder))
    row = extract(results)["h2"]
    assert row["extract_note"] == "tshark is not installed: nothing was decrypted"
    assert row["decrypts"] == ""
    assert row["plt_capture_s"]
    assert row["retransmitted_packets"]


@pytest.mark.parametrize(("lose", "offset"), [(set(), None), ({3}, 3 * MSS), ({9, 4}, 4 * MSS)])
def test_first_retransmitted_offset(tmp_path: Path, lose: set[int], offset: int | None) -> None:
    client, server = tcp_load(tmp_path, lose=frozenset(lose))
    load = timing(0.5, 10 * MSS)
    ends = split(client, server, load)
    flow = tcp_flow(ends)
    last = int(server.table["time_ns"][-1])
    assert retransmissions(ends, flow, last) == {
        "retransmitted_packets": len(lose),
        "first_retransmitted_offset": offset,
    }
    assert flow.new.sum() == 10 * MSS


def test_bytes_in_flight(tmp_path: Path) -> None:
    """Ten segments go out within one delay: all are in flight until the first acknowledgement."""
    client, server = tcp_load(tmp_path)
    ends = split(client, server, timing(0.3, 10 * MSS))
    window = window_rows(ends, tcp_flow(ends), int(server.table["time_ns"][-1]), 2 * OWD * 1e3)
    assert [row["bytes_in_flight"] for row in window] == [n * MSS for n in range(9, -1, -1)]
    rate = 10 * MSS * 8 / (2 * OWD) / 1e6
    assert window[-1]["delivery_rate_mbit"] == pytest.approx(rate)


@pytest.mark.parametrize("count", [1, MOST_ROWS, MOST_ROWS + 1, 7 * MOST_ROWS + 3])
def test_many_events_share_rows(count: int) -> None:
    time = np.arange(count) / 1000
    found = event_rows(time, np.full(count, 10), "down", "sent", "capture")
    assert len(found) <= MOST_ROWS
    assert sum(row["packets"] for row in found) == count
    assert sum(row["bytes"] for row in found) == found[-1]["total_bytes"] == 10 * count
    assert found[-1]["time_s"] == time[-1]


def test_many_frames_share_rows() -> None:
    frames = [
        {
            "time_s": float(n),
            "stream": 4 * (n % 3),
            "offset": n // 3 * 10,
            "bytes": 10,
            "lost": False,
        }
        for n in range(10 * MOST_FRAMES)
    ]
    merged = merge(frames)
    assert len(merged) <= MOST_FRAMES
    for stream in (0, 4, 8):
        mine = [row for row in merged if row["stream"] == stream]
        reached = 0
        for row in mine:
            assert row["offset"] == reached
            reached += row["bytes"]
        assert reached == 10 * len([row for row in frames if row["stream"] == stream])


@pytest.mark.parametrize(
    ("known", "data", "lengths"),
    [
        (["5", "7"], [], [5, 7]),
        (["5"], ["00" * 5, "00" * 900], [5, 900]),
        (["5"], ["00" * 5], [5, 0]),
    ],
)
def test_a_frame_without_a_length_fills_its_packet(
    known: list[str], data: list[str], lengths: list[int]
) -> None:
    packet = {"quic.stream.stream_id": ["0", "4"], "quic.stream.length": known,
              "quic.stream_data": data}  # fmt: skip
    assert stream_lengths(packet) == lengths


@pytest.mark.parametrize(
    ("read", "asked", "found"),
    [
        ({}, ["/a", "/b"], {0: "/a", 4: "/b"}),
        ({4: "/b"}, ["/a", "/b"], {0: "/a", 4: "/b"}),
        ({4: "/a"}, ["/a", "/b"], {4: "/a"}),
        ({4: "/b"}, ["/a", "/b", "/c"], {4: "/b"}),
    ],
)
def test_paths_by_the_order_of_requests(
    read: dict[int, str], asked: list[str], found: dict[int, str]
) -> None:
    # Streams 3 and 7 are the server's own.
    assert complete_paths(read, np.array([4, 0, 3, 4, 7]), asked) == found
