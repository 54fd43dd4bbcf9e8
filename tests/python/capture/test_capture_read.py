"""What the reader says about a capture is what tshark says."""

from __future__ import annotations

import ipaddress
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from capture.recordings import PROTOCOLS, Recording
from capture.synthetic import Capture, ip_packet
from howquick.capture import pcapng as ng
from howquick.capture.errors import CaptureError
from howquick.capture.pack import pack
from howquick.capture.read import TCP, UDP, read_frames

FIELDS = [
    "frame.time_epoch", "frame.len", "frame.cap_len", "ip.proto", "ip.src", "ip.dst",
    "tcp.srcport", "tcp.dstport", "tcp.seq_raw", "tcp.ack_raw", "tcp.flags", "tcp.window_size_value",
    "tcp.len", "udp.srcport", "udp.dstport", "udp.length",
]  # fmt: skip


def tshark_rows(path: Path) -> list[dict[str, str]]:
    arguments = ["-T", "fields", "-E", "occurrence=f"]
    for name in FIELDS:
        arguments += ["-e", name]
    done = subprocess.run(
        ["tshark", "-n", "-r", str(path), *arguments], capture_output=True, text=True, check=True
    )
    return [dict(zip(FIELDS, line.split("\t"), strict=True)) for line in done.stdout.splitlines()]


def number(text: str) -> int:
    return int(text, 0) if text else 0


def expected(row: dict[str, str]) -> dict[str, int]:
    seconds, nanoseconds = row["frame.time_epoch"].split(".")
    values = {
        "time_ns": int(seconds) * 10**9 + int(nanoseconds),
        "length": number(row["frame.len"]),
        "captured": number(row["frame.cap_len"]),
    }
    protocol = number(row["ip.proto"])
    if protocol not in (TCP, UDP):
        # As the ICMP message that answers a packet for a program that has ended.
        addresses = {"source": row["ip.src"], "destination": row["ip.dst"]}
        known = {name: int(ipaddress.ip_address(text)) for name, text in addresses.items() if text}
        return values | {"protocol": 0, "source": 0, "destination": 0, "payload": 0} | known
    kind = "tcp" if protocol == TCP else "udp"
    return values | {
        "protocol": protocol,
        "source": int(ipaddress.ip_address(row["ip.src"])),
        "destination": int(ipaddress.ip_address(row["ip.dst"])),
        "source_port": number(row[f"{kind}.srcport"]),
        "destination_port": number(row[f"{kind}.dstport"]),
        "payload": number(row["tcp.len"]) if kind == "tcp" else number(row["udp.length"]) - 8,
        "sequence": number(row["tcp.seq_raw"]),
        "acknowledgement": number(row["tcp.ack_raw"]),
        "flags": number(row["tcp.flags"]) & 0xFF,
        "window": number(row["tcp.window_size_value"]),
    }


@pytest.mark.parametrize("end", ["client", "server"])
@pytest.mark.parametrize("name", PROTOCOLS)
def test_same_as_tshark(recorded: Recording, name: str, end: str) -> None:
    path = recorded.pcapng(name, end)
    rows = tshark_rows(path)
    table = read_frames(path).table
    assert len(table) == len(rows) > 100
    for frame, row in zip(table, rows, strict=True):
        for column, value in expected(row).items():
            assert frame[column] == value, (column, row)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_pcap_and_pcapng_read_the_same(recorded: Recording, name: str) -> None:
    one = read_frames(recorded.pcap(name, "client")).table
    other = read_frames(recorded.pcapng(name, "client")).table
    columns = [column for column in one.dtype.names or () if column != "offset"]
    assert np.array_equal(one[columns], other[columns])


def test_headers_are_enough(recorded: Recording, tmp_path: Path) -> None:
    """A capture of the first 128 bytes of each packet gives the same numbers."""
    short = tmp_path / "short.pcap"
    subprocess.run(
        ["editcap", "-F", "nsecpcap", "-s", "128", str(recorded.pcap("h3", "client")), str(short)],
        check=True,
    )
    one, other = read_frames(recorded.pcap("h3", "client")).table, read_frames(short).table
    columns = [name for name in one.dtype.names or () if name not in ("offset", "captured")]
    assert np.array_equal(one[columns], other[columns])
    assert other["captured"].max() == 128


def test_first_byte_of_quic(recorded: Recording) -> None:
    table = read_frames(recorded.pcapng("h3", "client")).table
    first = table[table["protocol"] == UDP][0]
    # QUIC version 1, long header, Initial (RFC 9000, 17.2.2).
    assert first["first_byte"] & 0xF0 == 0xC0


def test_other_frames_are_counted(tmp_path: Path) -> None:
    capture = Capture()
    capture.udp(0, down=False, data=b"data")
    capture.add(1, bytes(12) + b"\x08\x06" + bytes(28))
    capture.add(2, bytes(12) + b"\x86\xdd" + bytes(60))
    capture.add(3, ip_packet("10.0.0.1", "10.0.0.2", 1, bytes(8)))
    capture.add(4, ip_packet("10.0.0.1", "10.0.0.2", TCP, bytes(8)))
    later_fragment = bytearray(ip_packet("10.0.0.1", "10.0.0.2", UDP, bytes(40)))
    later_fragment[20:22] = b"\x00\x10"
    capture.add(5, bytes(later_fragment))
    capture.add(6, b"\x01")
    frames = read_frames(capture.write(tmp_path / "in.pcap"))
    assert frames.others == 6
    assert frames.table["protocol"].tolist() == [UDP, 0, 0, 0, 0, 0, 0]


def test_ip_options_move_the_ports(tmp_path: Path) -> None:
    transport = struct.pack(">HHHH", 1111, 2222, 8 + 3, 0) + b"\xc1ab"
    packet = bytearray(ip_packet("10.0.0.1", "10.0.0.2", UDP, bytes(8) + transport))
    packet[14] = 0x47
    capture = Capture()
    capture.add(0, bytes(packet))
    frame = read_frames(capture.write(tmp_path / "in.pcap")).table[0]
    assert (frame["source_port"], frame["destination_port"], frame["payload"]) == (1111, 2222, 3)
    assert frame["first_byte"] == 0xC1


@pytest.mark.parametrize("cut", [1, 3, 4, 8, 40])
def test_cut_pcapng_is_known_as_such(recorded: Recording, tmp_path: Path, cut: int) -> None:
    path = tmp_path / "cut.pcapng"
    path.write_bytes(recorded.pcapng("h1", "client").read_bytes()[:-cut])
    frames = read_frames(path)
    assert frames.truncated
    assert len(frames.table) == len(read_frames(recorded.pcapng("h1", "client")).table) - 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "of no capture"),
        (b"no capture at all, but long enough to be one", "of no capture"),
        (struct.pack(">IIIHHq", ng.SECTION_HEADER, 28, ng.BYTE_ORDER_MAGIC, 1, 0, -1) + bytes(4),
         "big-endian"),
        (ng.section_header("x", "") + struct.pack("<III", 6, 3, 0), "damaged at byte"),
        (ng.section_header("x", "") + ng.block(6, bytes(20)), "not described"),
        (ng.section_header("x", "") + ng.block(3, bytes(20)), "old kind of block"),
        (ng.section_header("x", "") + ng.interface(1, 0, "x", None)
         + ng.block(6, struct.pack("<IIIII", 0, 0, 0, 5000, 5000)), "longer than the block"),
    ],
)  # fmt: skip
def test_damaged(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "in.pcapng"
    path.write_bytes(content)
    with pytest.raises(CaptureError, match=message) as raised:
        read_frames(path)
    assert str(path) in str(raised.value)


@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(where=st.integers(0, 20_000), value=st.integers(0, 255))
def test_any_flipped_byte_is_read_or_refused(
    recorded: Recording, tmp_path: Path, where: int, value: int
) -> None:
    content = bytearray(recorded.pcapng("h1", "client").read_bytes()[:20_001])
    content[where] = value
    path = tmp_path / "in.pcapng"
    path.write_bytes(content)
    try:
        frames = read_frames(path)
    except CaptureError as error:
        assert str(path) in str(error)
    else:
        assert frames.truncated


@settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(frames=st.lists(st.binary(max_size=120), max_size=30))
def test_any_frames_survive_packing(tmp_path: Path, frames: list[bytes]) -> None:
    capture = Capture()
    for index, frame in enumerate(frames):
        capture.add(index / 7, frame)
    source = capture.write(tmp_path / "in.pcap")
    pack(source, b"", tmp_path / "out.pcapng", interface="x")
    read = read_frames(tmp_path / "out.pcapng")
    table = read.table
    got = [
        bytes(read.data[at : at + n])
        for at, n in zip(table["offset"], table["captured"], strict=True)
    ]
    assert got == frames
    assert table["time_ns"].tolist() == [time for time, _ in capture.packets]
