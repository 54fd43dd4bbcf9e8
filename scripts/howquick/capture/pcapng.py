"""The blocks of a pcapng file that we write and read.

Format: https://datatracker.ietf.org/doc/draft-ietf-opsawg-pcapng/. Everything is written in little
endian; each block is padded to 32 bits and carries its length at both ends.
"""

from __future__ import annotations

import struct

import numpy as np

SECTION_HEADER = 0x0A0D0D0A
INTERFACE = 0x00000001
ENHANCED_PACKET = 0x00000006
DECRYPTION_SECRETS = 0x0000000A

BYTE_ORDER_MAGIC = 0x1A2B3C4D
TLS_KEY_LOG = 0x544C534B

OPT_COMMENT = 1
OPT_SHB_APPLICATION = 4
OPT_IF_NAME = 2
OPT_IF_TSRESOL = 9
OPT_IF_FILTER = 11

# An Enhanced Packet Block: 28 bytes, the packet padded to 4, and the length once more.
PACKET_HEADER_BYTES = 28
PACKET_OVERHEAD_BYTES = PACKET_HEADER_BYTES + 4
PACKET = np.dtype(
    [
        ("kind", "<u4"),
        ("length", "<u4"),
        ("interface", "<u4"),
        ("time_high", "<u4"),
        ("time_low", "<u4"),
        ("captured", "<u4"),
        ("original", "<u4"),
    ]
)


def padded(length: int) -> int:
    """`length` rounded up to a multiple of four bytes."""
    return (length + 3) & ~3


def block(kind: int, body: bytes) -> bytes:
    """A whole block around `body`."""
    body = body.ljust(padded(len(body)), b"\0")
    total = len(body) + 12
    return struct.pack("<II", kind, total) + body + struct.pack("<I", total)


def options(pairs: list[tuple[int, bytes]]) -> bytes:
    """The option list of a block: code, length, padded value; closed by opt_endofopt."""
    parts = []
    for code, value in pairs:
        parts.append(struct.pack("<HH", code, len(value)) + value.ljust(padded(len(value)), b"\0"))
    return b"".join(parts) + struct.pack("<HH", 0, 0)


def section_header(application: str, comment: str) -> bytes:
    """Section Header Block; an empty comment is left out. The section's length is not stated."""
    pairs = [(OPT_SHB_APPLICATION, application.encode())]
    if comment:
        pairs.insert(0, (OPT_COMMENT, comment.encode()))
    return block(SECTION_HEADER, struct.pack("<IHHq", BYTE_ORDER_MAGIC, 1, 0, -1) + options(pairs))


def interface(linktype: int, snaplen: int, name: str, capture_filter: str | None) -> bytes:
    """Interface Description Block with nanosecond stamps (if_tsresol 9)."""
    pairs = [(OPT_IF_NAME, name.encode()), (OPT_IF_TSRESOL, b"\x09")]
    if capture_filter:
        # The leading zero says: a filter in libpcap's own language.
        pairs.append((OPT_IF_FILTER, b"\0" + capture_filter.encode()))
    return block(INTERFACE, struct.pack("<HHI", linktype, 0, snaplen) + options(pairs))


def secrets(keys: bytes) -> bytes:
    """Decryption Secrets Block that holds a TLS key log (the SSLKEYLOGFILE format)."""
    return block(DECRYPTION_SECRETS, struct.pack("<II", TLS_KEY_LOG, len(keys)) + keys)
