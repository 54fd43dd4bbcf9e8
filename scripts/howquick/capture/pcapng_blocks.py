"""Find the packets of a pcapng file, ours or any other little-endian one."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from howquick.capture import pcapng as ng
from howquick.capture.buffer import Bytes, pick
from howquick.capture.errors import CaptureError
from howquick.capture.pack import CUT_MARK
from howquick.capture.pcap import PcapRecords

_UNREAD_PACKET_KINDS = (0x00000002, 0x00000003)
_MINIMUM_BLOCK_BYTES = 12


@dataclass(frozen=True)
class Blocks:
    """The packets of a pcapng; `linktype` has one entry per packet."""

    records: PcapRecords
    linktype: np.ndarray
    truncated: bool


@dataclass
class _Walk:
    """What one pass over the block headers found."""

    packets: list[int] = field(default_factory=list)
    linktypes: list[int] = field(default_factory=list)
    ticks_ns: list[int] = field(default_factory=list)
    truncated: bool = False


def read_blocks(data: Bytes, path: Path) -> Blocks:
    """Find every Enhanced Packet Block.

    A last block that is not whole, or our own mark of a capture that was cut short, sets
    `truncated`; any other disorder is a CaptureError.
    """
    if len(data) < 28 or struct.unpack_from("<I", data)[0] != ng.SECTION_HEADER:
        raise CaptureError(f"{path}: neither pcapng nor pcap: its first bytes are of no capture")
    if struct.unpack_from("<I", data, 8)[0] != ng.BYTE_ORDER_MAGIC:
        raise CaptureError(f"{path}: a big-endian pcapng; only little-endian ones are read")
    walk = _walk(data, path)
    first = np.array(walk.packets, dtype=np.int64)
    fields = pick(data, first, ng.PACKET)
    interface = fields["interface"].astype(np.int64)
    if len(first) and (not walk.linktypes or interface.max() >= len(walk.linktypes)):
        raise CaptureError(f"{path}: damaged: a packet names an interface that is not described")
    captured = fields["captured"].astype(np.int64)
    if np.any(captured + ng.PACKET_OVERHEAD_BYTES > fields["length"]):
        raise CaptureError(f"{path}: damaged: a packet is longer than the block around it")
    ticks = np.array(walk.ticks_ns, np.int64)
    linktypes = np.array(walk.linktypes, np.int64)
    stamp = (fields["time_high"].astype(np.int64) << 32) | fields["time_low"]
    records = PcapRecords(
        offset=first + ng.PACKET_HEADER_BYTES,
        timestamp_ns=stamp * ticks[interface],
        captured=captured,
        original=fields["original"].astype(np.int64),
        cut_bytes=0,
    )
    return Blocks(records, linktypes[interface], walk.truncated)


def _walk(data: Bytes, path: Path) -> _Walk:
    """Step from block to block."""
    found = _Walk()
    at, size = 0, len(data)
    block_at = struct.Struct("<II").unpack_from
    last = size - _MINIMUM_BLOCK_BYTES
    packets = found.packets
    while at <= last:
        kind, length = block_at(data, at)
        if length < _MINIMUM_BLOCK_BYTES or length & 3:
            raise CaptureError(f"{path}: damaged at byte {at}: a block of {length} bytes")
        if at + length > size:
            break
        if kind == ng.ENHANCED_PACKET:
            packets.append(at)
        else:
            _note(found, data, at, kind, length, path)
        at += length
    found.truncated |= at != size
    return found


def _note(found: _Walk, data: Bytes, at: int, kind: int, length: int, path: Path) -> None:
    """Take what is needed from a block that is not a packet."""
    if kind == ng.SECTION_HEADER:
        if at > 0:
            raise CaptureError(f"{path}: several sections in one pcapng are not read")
        for code, value in _options(data, at + 24, at + length - 4):
            found.truncated |= code == ng.OPT_COMMENT and CUT_MARK.encode() in value
    elif kind == ng.INTERFACE:
        found.linktypes.append(struct.unpack_from("<H", data, at + 8)[0])
        found.ticks_ns.append(_tick_ns(data, at, length, path))
    elif kind in _UNREAD_PACKET_KINDS:
        raise CaptureError(
            f"{path}: holds packets in an old kind of block ({kind}) that is not read"
        )


def _tick_ns(data: Bytes, at: int, length: int, path: Path) -> int:
    """Nanoseconds per unit of time of an interface; microseconds where it does not say."""
    exponent = 6
    for code, value in _options(data, at + 16, at + length - 4):
        if code == ng.OPT_IF_TSRESOL and value:
            exponent = value[0]
    if exponent > 9:
        raise CaptureError(
            f"{path}: time stamps in units other than 10^-9 s or coarser are not read"
        )
    return int(10 ** (9 - exponent))


def _options(data: Bytes, at: int, end: int) -> list[tuple[int, bytes]]:
    """The options between two places, as far as they are whole."""
    found = []
    while at + 4 <= end:
        code, length = struct.unpack_from("<HH", data, at)
        if code == 0:
            break
        found.append((code, bytes(data[at + 4 : at + 4 + length])))
        at += 4 + ng.padded(length)
    return found
