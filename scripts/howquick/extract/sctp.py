"""SCTP, over IP (RFC 9260) or in UDP datagrams (RFC 6951): chunks, streams and acknowledgements."""

from __future__ import annotations

import struct
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from howquick.capture.read import UDP, Frames
from howquick.extract.dissect import DISSECTED_BYTES
from howquick.extract.flow import Flow, Times, in_order
from howquick.extract.load import Ends

DATA, INIT, INIT_ACK, SACK, COOKIE_ECHO, COOKIE_ACK, I_DATA = 0, 1, 2, 3, 10, 11, 64
CHUNK_NAMES = {
    DATA: "DATA", INIT: "INIT", INIT_ACK: "INIT-ACK", SACK: "SACK", 4: "HEARTBEAT",
    5: "HEARTBEAT-ACK", 6: "ABORT", 7: "SHUTDOWN", 8: "SHUTDOWN-ACK", 9: "ERROR",
    COOKIE_ECHO: "COOKIE-ECHO", COOKIE_ACK: "COOKIE-ACK", 14: "SHUTDOWN-COMPLETE",
    I_DATA: "I-DATA", 130: "RE-CONFIG", 192: "FORWARD-TSN",
}  # fmt: skip
_UDP_HEADER_BYTES = 8
_COMMON_HEADER_BYTES = 12
_DATA_HEADER_BYTES = {DATA: 16, I_DATA: 20}


@dataclass(frozen=True)
class Chunk:
    """`body` is what follows the chunk's four bytes of header, as far as it was captured."""

    kind: int
    body: bytes
    length: int


def chunks(datagram: bytes) -> Iterator[Chunk]:
    """The chunks of a packet of SCTP; none if it is something else, or encrypted by DTLS."""
    at = _COMMON_HEADER_BYTES
    while at + 4 <= len(datagram):
        kind, _flags, length = struct.unpack_from(">BBH", datagram, at)
        if length < 4 or kind not in CHUNK_NAMES:
            return
        yield Chunk(kind, datagram[at + 4 : at + length], length)
        at += (length + 3) & ~3


@dataclass
class _Association:
    """One connection: what the server sent under which transmission sequence number (TSN)."""

    sent: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    waiting: set[int] = field(default_factory=set)
    ends: dict[int, int] = field(default_factory=dict)
    cumulative: int | None = None

    def send(self, tsn: int, stream: int, length: int) -> tuple[int, int, bool]:
        """The piece's place in its stream, its length, and whether it is sent for the first time."""
        if tsn in self.sent:
            _, start, length = self.sent[tsn]
            return start, length, False
        start = self.ends.get(stream, 0)
        self.ends[stream] = start + length
        self.sent[tsn] = (stream, start, length)
        self.waiting.add(tsn)
        return start, length, True

    def acknowledge(self, body: bytes) -> int:
        """How many more bytes a SACK says to have arrived."""
        cumulative, _window, gaps, _duplicates = struct.unpack_from(">IIHH", body)
        arrived = {tsn for tsn in self.waiting if (cumulative - tsn) & 0xFFFFFFFF < 1 << 31}
        # By what waits and not by what a block spans: that is up to 65536 for four bytes of a chunk.
        steps = sorted((tsn - cumulative) & 0xFFFFFFFF for tsn in self.waiting - arrived)
        for index in range(min(gaps, (len(body) - 12) // 4) if steps else 0):
            first, last = struct.unpack_from(">HH", body, 12 + 4 * index)
            inside = slice(bisect_left(steps, first), bisect_right(steps, last))
            arrived |= {(cumulative + step) & 0xFFFFFFFF for step in steps[inside]}
            del steps[inside]
        self.waiting -= arrived
        return sum(self.sent[tsn][2] for tsn in arrived)


def sctp_flow(server: Frames, ends: Ends) -> tuple[Flow, dict[int, str]]:
    """Streams and acknowledgements by the server's capture, and the path asked for on each stream.

    Only the first DISSECTED_BYTES of the capture are looked at. A stream's identifier counts within
    its association: after a reconnection the same identifier is another stream, which is told by
    adding 65536 for each association before.
    """
    associations = [_Association() for _ in ends.load.connections]
    pieces: list[tuple[int, int, int, int, int]] = []
    acked: list[tuple[int, int]] = []
    paths: dict[int, str] = {}
    for time_ns, down, row, connection, datagram in _datagrams(server, ends):
        association = associations[connection]
        for chunk in chunks(datagram):
            header = _DATA_HEADER_BYTES.get(chunk.kind)
            if header and len(chunk.body) >= header - 4:
                tsn, stream = struct.unpack_from(">IH", chunk.body)
                number = connection << 16 | stream
                if down:
                    start, length, new = association.send(tsn, number, chunk.length - header)
                    pieces.append((row, number, start, length, length if new else 0))
                elif path := _path(chunk.body[header - 4 :]):
                    paths.setdefault(number, path)
            elif chunk.kind == SACK and not down and len(chunk.body) >= 12:
                acked.append((time_ns, association.acknowledge(chunk.body)))
    return _flow(pieces, acked, _known_until(server)), paths


def _flow(
    pieces: list[tuple[int, int, int, int, int]], acked: list[tuple[int, int]], until_ns: int
) -> Flow:
    row, stream, start, length, new = np.array(pieces, np.int64).reshape(-1, 5).T
    times, gained = np.array(acked, np.int64).reshape(-1, 2).T
    parts: list[Times] = [(times, gained)]
    return Flow(row, stream, start, length, new, *in_order(parts), until_ns)


def _datagrams(server: Frames, ends: Ends) -> Iterator[tuple[int, bool, int, int, bytes]]:
    """(time, from the server, row of its direction, connection, packet of SCTP), by time."""
    places = []
    header = header_bytes(ends.load.transport)
    for down, way in ((False, ends.server_up), (True, ends.server_down)):
        rows = way.rows[way.rows["offset"] < DISSECTED_BYTES]
        for row, (frame, connection) in enumerate(zip(rows, way.connection, strict=False)):
            begin = int(frame["offset"]) + int(frame["transport_offset"]) + header
            end = int(frame["offset"]) + int(frame["captured"])
            places.append((int(frame["time_ns"]), down, row, int(connection), begin, end))
    for time_ns, down, row, connection, begin, end in sorted(places):
        yield time_ns, down, row, connection, bytes(server.data[begin:end])


def header_bytes(transport: int) -> int:
    """How far a packet of SCTP begins behind the IP header: it may be in a UDP datagram."""
    return _UDP_HEADER_BYTES if transport == UDP else 0


def _known_until(server: Frames) -> int:
    beyond = np.flatnonzero(server.table["offset"] >= DISSECTED_BYTES)
    return int(server.table["time_ns"][beyond[0]] if len(beyond) else np.iinfo(np.int64).max)


def _path(data: bytes) -> str | None:
    """The path of a request: the line `GET <path>[ <first byte>]`."""
    words = data.split()
    if len(words) >= 2 and words[0] == b"GET" and words[1].startswith(b"/"):
        return words[1].decode(errors="replace")
    return None


def first_chunk_names(datagram: bytes) -> str | None:
    """The names of a packet's chunks joined by +; None if it has none that are known."""
    names = [CHUNK_NAMES[chunk.kind] for chunk in chunks(datagram)]
    return "+".join(dict.fromkeys(names)) or None
