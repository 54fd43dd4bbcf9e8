"""The classic pcap file: its header and where its packets are.

Format: https://datatracker.ietf.org/doc/draft-ietf-opsawg-pcap/ (a 24-byte file header, then per
packet a 16-byte record header and the captured bytes).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from howquick.capture.buffer import Bytes, pick
from howquick.capture.errors import CaptureError

FILE_HEADER_BYTES = 24
RECORD_HEADER_BYTES = 16
# libpcap never writes more of one packet (MAXIMUM_SNAPLEN): a longer one is a damaged file.
MAXIMUM_CAPTURED_BYTES = 262_144

_NANOSECOND_MAGIC = 0xA1B23C4D
_MICROSECOND_MAGIC = 0xA1B2C3D4
_MAGICS = (_NANOSECOND_MAGIC, _MICROSECOND_MAGIC)


@dataclass(frozen=True)
class PcapHeader:
    """`order` is the struct byte order ('<' or '>'); `tick_ns` the length of a time unit in ns."""

    order: str
    tick_ns: int
    snaplen: int
    linktype: int


@dataclass(frozen=True)
class PcapRecords:
    """Arrays of length n, one entry per whole packet; `offset` is where its bytes start."""

    offset: np.ndarray
    timestamp_ns: np.ndarray
    captured: np.ndarray
    original: np.ndarray
    cut_bytes: int
    """Bytes of an unfinished last record (0: the file ends with a whole packet)."""


def is_pcap(data: Bytes) -> bool:
    """Whether `data` begins with the magic number of a classic pcap file."""
    if len(data) < 4:
        return False
    return any(struct.unpack_from(order + "I", data)[0] in _MAGICS for order in "<>")


def read_header(data: Bytes, path: Path) -> PcapHeader:
    """Read the file header; CaptureError, which names `path`, if `data` does not begin with one."""
    size = len(data)
    if size == 0:
        raise CaptureError(f"{path}: the capture is empty; tcpdump ended before it wrote anything")
    if not is_pcap(data):
        raise CaptureError(f"{path}: not a pcap capture (no pcap magic number in its first bytes)")
    if size < FILE_HEADER_BYTES:
        raise CaptureError(f"{path}: only {size} bytes, not even a whole pcap header")
    order = "<" if struct.unpack_from("<I", data)[0] in _MAGICS else ">"
    magic, _major, _minor, _zone, _sigfigs, snaplen, network = struct.unpack_from(
        order + "IHHiIII", data
    )
    tick_ns = 1 if magic == _NANOSECOND_MAGIC else 1000
    return PcapHeader(order, tick_ns, snaplen, network & 0xFFFF)


def read_records(data: Bytes, header: PcapHeader, path: Path) -> PcapRecords:
    """Find every packet.

    A last record that is not whole is left out and reported in `cut_bytes`; a record that cannot be
    one anywhere else is a CaptureError.
    """
    starts, end = _walk(data, header, path)
    first = np.array(starts, dtype=np.int64)
    record = np.dtype(
        [(name, header.order + "u4") for name in ("seconds", "fraction", "captured", "original")]
    )
    fields = pick(data, first, record)
    timestamp = fields["seconds"].astype(np.int64) * 1_000_000_000
    timestamp += fields["fraction"].astype(np.int64) * header.tick_ns
    return PcapRecords(
        offset=first + RECORD_HEADER_BYTES,
        timestamp_ns=timestamp,
        captured=fields["captured"].astype(np.int64),
        original=fields["original"].astype(np.int64),
        cut_bytes=len(data) - end,
    )


def _walk(data: Bytes, header: PcapHeader, path: Path) -> tuple[list[int], int]:
    """Offsets of the record headers of whole packets, and where the last of them ends."""
    length_at = struct.Struct(header.order + "I").unpack_from
    starts: list[int] = []
    size = len(data)
    at = FILE_HEADER_BYTES
    last_header = size - RECORD_HEADER_BYTES
    while at <= last_header:
        (captured,) = length_at(data, at + 8)
        following = at + RECORD_HEADER_BYTES + captured
        if captured > MAXIMUM_CAPTURED_BYTES:
            raise CaptureError(
                f"{path}: packet {len(starts) + 1} at byte {at} claims {captured} bytes; "
                "the capture is damaged from there on"
            )
        if following > size:
            break
        starts.append(at)
        at = following
    return starts, at
