"""Packing tcpdump's file into a pcapng with its keys."""

from __future__ import annotations

import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

from capture.recordings import PROTOCOLS, Recording, tshark
from capture.synthetic import Capture
from howquick.capture.errors import CaptureError
from howquick.capture.pack import pack
from howquick.capture.read import read_frames

GLOBAL_HEADER = 24


@pytest.mark.parametrize(
    ("name", "shows"), [("h1", "http"), ("h2", "http2.headers"), ("h3", "http3")]
)
def test_keys_decrypt(recorded: Recording, tmp_path: Path, name: str, shows: str) -> None:
    bare = tmp_path / "bare.pcapng"
    pack(recorded.pcap(name, "client"), b"", bare, interface="client")
    # nginx's port is not the one of HTTPS: tshark finds TLS and QUIC by what the packets look like.
    assert tshark(recorded.pcapng(name, "client"), "-Y", shows)
    assert not tshark(bare, "-Y", shows)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_packets_are_unchanged(recorded: Recording, name: str) -> None:
    fields = ["-T", "fields", "-e", "frame.time_epoch", "-e", "frame.len", "-e", "frame.cap_len"]
    source, packed = recorded.pcap(name, "client"), recorded.pcapng(name, "client")
    assert tshark(source, *fields) == tshark(packed, *fields)


def test_bytes_are_unchanged(recorded: Recording, tmp_path: Path) -> None:
    back = tmp_path / "back.pcap"
    subprocess.run(
        ["editcap", "-F", "nsecpcap", "--discard-all-secrets",
         str(recorded.pcapng("h1", "client")), str(back)],
        check=True,
    )  # fmt: skip
    assert (
        back.read_bytes()[GLOBAL_HEADER:]
        == recorded.pcap("h1", "client").read_bytes()[GLOBAL_HEADER:]
    )


def test_summary_and_description(recorded: Recording, tmp_path: Path) -> None:
    out = tmp_path / "out.pcapng"
    summary = pack(
        recorded.pcap("h2", "client"),
        b"",
        out,
        interface="veth7",
        filter="tcp port 1",
        comment="hello",
    )
    lengths = tshark(out, "-T", "fields", "-e", "frame.len")
    times = tshark(out, "-T", "fields", "-e", "frame.time_epoch")
    assert summary.packets == len(lengths)
    assert summary.wire_bytes == sum(map(int, lengths))
    assert summary.longest_frame_bytes == max(map(int, lengths))
    seconds, nanoseconds = times[0].split(".")
    assert summary.first_ns == int(seconds) * 10**9 + int(nanoseconds.ljust(9, "0"))
    assert not summary.truncated
    described = subprocess.run(["capinfos", str(out)], capture_output=True, text=True, check=True)
    for text in ("veth7", "tcp port 1", "hello", "nanoseconds (9)"):
        assert text in described.stdout


def test_cut_last_packet_is_reported_and_stays_known(recorded: Recording, tmp_path: Path) -> None:
    whole = recorded.pcap("h1", "client").read_bytes()
    cut, out = tmp_path / "cut.pcap", tmp_path / "out.pcapng"
    cut.write_bytes(whole[:-7])
    full = pack(recorded.pcap("h1", "client"), b"", out, interface="x")
    summary = pack(cut, b"", out, interface="x")
    assert summary.truncated
    assert summary.packets == full.packets - 1
    assert read_frames(out).truncated
    assert len(tshark(out)) == summary.packets


@pytest.mark.parametrize("rest", [1, 15, 16, 17, 200])
def test_any_cut_leaves_the_packets_before_it(tmp_path: Path, rest: int) -> None:
    capture = Capture()
    for index in range(3):
        capture.udp(index, down=False, data=bytes(300))
    whole = capture.write(tmp_path / "whole.pcap").read_bytes()
    record = 16 + 14 + 20 + 8 + 300
    (tmp_path / "cut.pcap").write_bytes(whole[: GLOBAL_HEADER + 2 * record + rest])
    summary = pack(tmp_path / "cut.pcap", b"", tmp_path / "out.pcapng", interface="x")
    assert (summary.packets, summary.cut_bytes) == (2, rest)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"GIF89a" * 20, "not a pcap capture"),
        (struct.pack("<I", 0xA1B23C4D), "not even a whole pcap header"),
    ],
)
def test_no_pcap(tmp_path: Path, content: bytes, message: str) -> None:
    source, out = tmp_path / "in.pcap", tmp_path / "out.pcapng"
    source.write_bytes(content)
    with pytest.raises(CaptureError, match=message) as raised:
        pack(source, b"", out, interface="x")
    assert str(source) in str(raised.value)
    assert not out.exists()


def test_missing_pcap(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="no such capture"):
        pack(tmp_path / "none.pcap", b"", tmp_path / "out.pcapng", interface="x")


def test_damage_in_the_middle(tmp_path: Path) -> None:
    capture = Capture()
    for index in range(3):
        capture.udp(index, down=False, data=bytes(100))
    source = capture.write(tmp_path / "in.pcap")
    content = bytearray(source.read_bytes())
    struct.pack_into("<I", content, GLOBAL_HEADER + 8, 0x7FFFFFFF)
    source.write_bytes(content)
    with pytest.raises(CaptureError, match="packet 1 at byte 24 claims"):
        pack(source, b"", tmp_path / "out.pcapng", interface="x")


@pytest.mark.parametrize("order", ["<", ">"])
def test_microseconds_and_byte_orders(tmp_path: Path, order: str) -> None:
    source, out = tmp_path / "in.pcap", tmp_path / "out.pcapng"
    content = struct.pack(order + "IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    content += struct.pack(order + "IIII", 1_790_000_000, 999_999, 5, 5) + b"hello"
    source.write_bytes(content)
    assert pack(source, b"", out, interface="x").first_ns == 1_790_000_000_999_999_000
    assert tshark(out, "-T", "fields", "-e", "frame.time_epoch") == ["1790000000.999999000"]


def test_packets_without_bytes_and_more_than_a_chunk(tmp_path: Path) -> None:
    source, out = tmp_path / "in.pcap", tmp_path / "out.pcapng"
    lengths = [0, 1, 2, 3, 4, 5, *[60_001] * 40, 0, 262_144, 7, 0]
    with source.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262_144, 1))
        for index, length in enumerate(lengths):
            file.write(struct.pack("<IIII", 1_790_000_000, index, length, length))
            file.write(bytes((index + k) & 255 for k in range(length)))
    pack(source, b"odd", out, interface="x")
    back = tmp_path / "back.pcap"
    subprocess.run(
        ["editcap", "-F", "nsecpcap", "--discard-all-secrets", str(out), str(back)], check=True
    )
    assert back.read_bytes()[GLOBAL_HEADER:] == source.read_bytes()[GLOBAL_HEADER:]


def test_nothing_is_left_when_the_disk_is_full(recorded: Recording, tmp_path: Path) -> None:
    script = (
        "import resource, signal, sys; from pathlib import Path; sys.path[:0] = sys.argv[3:]\n"
        "from howquick.capture.pack import pack\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "try: pack(Path(sys.argv[1]), b'', Path(sys.argv[2]), interface='x')\n"
        "except OSError: sys.exit(7)\n"
    )
    out = tmp_path / "out.pcapng"
    done = subprocess.run(
        [sys.executable, "-c", script, str(recorded.pcap("h1", "client")), str(out), *sys.path]
    )
    assert done.returncode == 7
    assert not out.exists()


def instructions(function: Callable[[], object]) -> int:
    """How many instructions of Python a call executes."""
    count = 0

    def trace(frame: FrameType, event: str, _: object) -> Callable[..., object]:
        nonlocal count
        frame.f_trace_opcodes = True
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function()
    finally:
        sys.settrace(before)
    return count


def test_no_loop_over_bytes(tmp_path: Path) -> None:
    """Packets of ten times the size cost no further work in Python."""
    counts = []
    for size in (115, 1150):
        capture = Capture()
        for index in range(300):
            capture.udp(index / 1000, down=True, data=bytes(size))
        source = capture.write(tmp_path / f"{size}.pcap")
        out = tmp_path / "out.pcapng"
        counts.append(instructions(lambda: pack(source, b"", out, interface="x")))  # noqa: B023
    assert counts[1] < 1.5 * counts[0], counts
