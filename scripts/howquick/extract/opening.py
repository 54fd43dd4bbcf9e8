"""How a connection opens: its first packets, named by what their headers show."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import islice

import numpy as np

from howquick.capture.read import ACK, FIN, RST, SYN, TCP, UDP, Frames
from howquick.extract.load import Ends, Way
from howquick.extract.sctp import first_chunk_names

OPENING_PACKETS = 20
# RFC 9000, 17.2: the packet type of a long header, which header protection leaves readable.
_LONG_TYPES = ("Initial", "0-RTT", "Handshake", "Retry")
_INITIAL, _RETRY = 0, 3
_TLS_RECORDS = {20: "ChangeCipherSpec", 21: "Alert", 23: "ApplicationData"}
_TLS_HANDSHAKES = {1: "ClientHello", 2: "ServerHello"}

Row = tuple[float, str, int, str]


def opening_packets(client: Frames, ends: Ends, protocol: str) -> list[Row]:
    """(seconds since the first packet, `up` or `down`, UDP or TCP payload bytes, label).

    The first OPENING_PACKETS at the client, of all connections. Labels come from what is not
    encrypted, so that captures of headers alone have them too.
    """
    ways = (_rows(client, ends, way, protocol) for way in ("up", "down"))
    return list(islice(heapq.merge(*ways), OPENING_PACKETS))


def _rows(client: Frames, ends: Ends, direction: str, protocol: str) -> Iterator[Row]:
    way: Way = ends.client_up if direction == "up" else ends.client_down
    for frame in way.rows[:OPENING_PACKETS]:
        label = packet_label(client, frame, ends.load.transport, protocol)
        seconds = (int(frame["time_ns"]) - ends.load.first_ns) / 1e9
        yield seconds, direction, int(frame["payload"]), label


def packet_label(frames: Frames, frame: np.void, transport: int, protocol: str) -> str:
    """What a packet's unencrypted bytes show: `SYN`, `Initial+Handshake`, `1-RTT`, `DATA+SACK`, …"""
    header = 8 if transport == UDP else 0
    begin = int(frame["offset"]) + int(frame["transport_offset"]) + header
    content = bytes(frames.data[begin : int(frame["offset"]) + int(frame["captured"])])
    if transport == TCP:
        return _tcp_label(int(frame["flags"]), int(frame["payload"]), content)
    if protocol == "sctp":
        return first_chunk_names(content) or "encrypted"
    return quic_label(content, int(frame["payload"]))


def _tcp_label(flags: int, payload: int, segment: bytes) -> str:
    if flags & SYN:
        return "SYN-ACK" if flags & ACK else "SYN"
    if flags & RST:
        return "RST"
    if payload == 0:
        return "FIN" if flags & FIN else "ACK"
    return _tls_label(segment[4 * (segment[12] >> 4) :] if len(segment) > 12 else b"")


def _tls_label(payload: bytes) -> str:
    """The first TLS record in a segment; `data` where a segment does not start with one."""
    if len(payload) >= 6 and payload[1] == 3 and payload[2] <= 4:
        if payload[0] == 22:
            return _TLS_HANDSHAKES.get(payload[5], "Handshake")
        if payload[0] in _TLS_RECORDS:
            return _TLS_RECORDS[payload[0]]
    return "data"


def quic_label(datagram: bytes, length: int) -> str:
    """The packets of a datagram, such as `Initial+Handshake`, as far as it was captured (then `…`).

    `length` is the datagram's payload on the wire. Padding behind the last packet is no packet.
    """
    names, at = [], 0
    while at < min(length, len(datagram)):
        if not datagram[at] & 0x80:
            if datagram[at] & 0x40:
                names.append("1-RTT")
            break
        kind = datagram[at] >> 4 & 3
        names.append(_LONG_TYPES[kind])
        following = _next_packet(datagram, at, kind)
        if following is None:
            break
        at = following
    else:
        names += ["…"] if at < length else []
    return "+".join(names) or "other"


def _next_packet(datagram: bytes, at: int, kind: int) -> int | None:
    """Where the packet after the long-header one at `at` starts; None if that cannot be told."""
    try:
        at += 6 + datagram[at + 5]
        at += 1 + datagram[at]
        if kind == _RETRY:
            return None
        if kind == _INITIAL:
            token, at = _variable(datagram, at)
            at += token
        length, at = _variable(datagram, at)
    except IndexError:
        return None
    return at + length


def _variable(data: bytes, at: int) -> tuple[int, int]:
    """A variable-length integer and where it ends (RFC 9000, 16)."""
    size = 1 << (data[at] >> 6)
    if at + size > len(data):
        raise IndexError
    return int.from_bytes(data[at : at + size]) & (1 << (8 * size - 2)) - 1, at + size
