"""SCTP over UDP and over IP: chunks of synthetic associations of which all is known."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from test_extract_metrics import START_S

from capture.synthetic import Capture
from howquick.capture.read import Frames, read_frames
from howquick.extract.compare import fingerprints
from howquick.extract.load import split
from howquick.extract.opening import opening_packets
from howquick.extract.sctp import chunks, sctp_flow
from howquick.timing import ObjectTiming, Timing

SIZE = 1000
OWD = 0.05
CARRIED = pytest.mark.parametrize("carried", ["udp", "sctp"])
FIRST_TSN = 2**32 - 3  # the sequence numbers wrap


def chunk(kind: int, body: bytes) -> bytes:
    return struct.pack(">BBH", kind, 0, 4 + len(body)) + body + bytes(-len(body) % 4)


def packet(*parts: bytes) -> bytes:
    return struct.pack(">HHII", 5000, 5000, 7, 0) + b"".join(parts)


def data(number: int, stream: int, content: bytes) -> bytes:
    head = struct.pack(">IHHI", (FIRST_TSN + number) % 2**32, stream, number, 0)
    return chunk(0, head + content)


def sack(cumulative: int, *blocks: tuple[int, int]) -> bytes:
    head = struct.pack(">IIHH", (FIRST_TSN + cumulative) % 2**32, 1 << 20, len(blocks), 0)
    return chunk(3, head + b"".join(struct.pack(">HH", *block) for block in blocks))


def association(folder: Path, carried: str) -> list[Frames]:
    """Six packets on two streams; number 2 is lost and sent again."""
    client, server = Capture(), Capture()

    def send(time: float, payload: bytes, *, down: bool, arrives: bool = True) -> None:
        getattr(server if down else client, carried)(time, down=down, data=payload)
        if arrives:
            getattr(client if down else server, carried)(time + OWD, down=down, data=payload)

    send(0, packet(chunk(1, bytes(16))), down=False)
    send(0.05, packet(chunk(2, bytes(16))), down=True)
    send(0.1, packet(chunk(10, b"cookie"), data(0, 4, b"GET /a.bin 500\n")), down=False)
    send(0.15, packet(chunk(11, b"")), down=True)
    for number in range(6):
        payload = packet(data(number, number % 2 + 4, bytes([number]) * SIZE))
        send(0.2 + 0.001 * number, payload, down=True, arrives=number != 2)
    send(0.26, packet(sack(1)), down=False)
    send(0.27, packet(sack(1, (2, 4))), down=False)
    send(0.35, packet(data(2, 4, bytes([2]) * SIZE)), down=True)
    send(0.41, packet(sack(5)), down=False)
    return [
        read_frames(capture.write(folder / f"{name}.pcap"))
        for name, capture in (("client", client), ("server", server))
    ]


def load() -> Timing:
    entry = ObjectTiming("/a.bin", 6 * SIZE, 0.0, None, 0.41)
    return Timing("sctp", START_S, None, None, None, None, (entry,))


@CARRIED
def test_streams_and_acknowledgements(carried: str, tmp_path: Path) -> None:
    client, server = association(tmp_path, carried)
    ends = split(client, server, load())
    flow, paths = sctp_flow(server, ends)
    assert paths == {4: "/a.bin"}
    assert flow.stream.tolist() == [4, 5, 4, 5, 4, 5, 4]
    assert flow.start.tolist() == [0, 0, SIZE, SIZE, 2 * SIZE, 2 * SIZE, SIZE]
    assert flow.new.tolist() == [SIZE] * 6 + [0]
    assert flow.again.tolist() == [False] * 6 + [True]
    assert flow.acked_bytes.tolist() == [2 * SIZE, 3 * SIZE, SIZE]
    assert (flow.acked_ns / 1e9 - START_S).tolist() == pytest.approx([0.31, 0.32, 0.46], abs=1e-6)


@CARRIED
def test_how_it_opens(carried: str, tmp_path: Path) -> None:
    client, server = association(tmp_path, carried)
    found = opening_packets(client, split(client, server, load()), "sctp")
    labels = [label for _, _, _, label in found]
    assert labels[:4] == ["INIT", "INIT-ACK", "COOKIE-ECHO+DATA", "COOKIE-ACK"]
    assert labels[-1] == "SACK"


@CARRIED
def test_what_arrived_is_found_at_the_other_end(carried: str, tmp_path: Path) -> None:
    client, server = association(tmp_path, carried)
    ends = split(client, server, load())
    assert (len(ends.server_down.rows), len(ends.client_down.rows)) == (9, 8)
    sent = fingerprints(server, ends.server_down.rows).tolist()
    # Number 2 twice, which nothing tells apart here: the identification is always 0.
    assert sorted(fingerprints(client, ends.client_down.rows).tolist()) == sorted(set(sent))


def test_a_checksum_that_is_left_to_be_filled_in_later_is_no_difference(tmp_path: Path) -> None:
    prints = []
    for name, checksum in (("sender", 0), ("receiver", 77)):
        capture = Capture()
        head = struct.pack(">HHII", 5000, 5000, 7, checksum)
        capture.sctp(0, down=True, data=head + data(0, 4, b"x" * SIZE))
        frames = read_frames(capture.write(tmp_path / name))
        prints += fingerprints(frames, frames.table).tolist()
    assert len(prints) == 2 and len(set(prints)) == 1


@pytest.mark.parametrize(
    "payload", [b"", b"\x16\xfe\xfd" + bytes(60), packet(b"\x00\x00\x00\x02"), packet(b"\x03")]
)
def test_what_is_no_chunk(payload: bytes) -> None:
    assert list(chunks(payload)) == []
