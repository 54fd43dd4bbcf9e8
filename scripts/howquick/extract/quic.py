"""A QUIC connection's streams and acknowledgements, from the server's decrypted capture."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from howquick.capture.read import Frames
from howquick.extract.dissect import Dissection, dissect
from howquick.extract.flow import Flow, Times, in_order, new_per_stream
from howquick.extract.load import Ends, Unusable, Way

FIELDS = (
    "quic.header_form",
    "quic.packet_number",
    "quic.frame_type",
    "quic.stream.stream_id",
    "quic.stream.offset",
    "quic.stream.length",
    "quic.ack.largest_acknowledged",
    "quic.ack.first_ack_range",
    "quic.ack.ack_range_count",
    "quic.ack.gap",
    "quic.ack.ack_range",
    "http3.headers.path",
    "tls.handshake.type",
    "tls.handshake.ciphersuite",
    "tls.handshake.extensions_key_share_group",
)
# Only where frames do not tell their length: hex digits, twice as many bytes as the capture has.
DATA_FIELD = "quic.stream_data"
_SHORT_HEADER = "0"
_STREAM_FRAMES = range(0x08, 0x10)
_HAS_OFFSET, _HAS_END = 0x04, 0x01
_SERVER_HELLO = "2"
# RFC 9000, 19, and RFC 9221. PADDING is everywhere and tells nothing.
_FRAME_NAMES = {
    0x00: "", 0x01: "PING", 0x02: "ACK", 0x03: "ACK", 0x04: "RESET_STREAM", 0x05: "STOP_SENDING",
    0x06: "CRYPTO", 0x07: "NEW_TOKEN", **dict.fromkeys(_STREAM_FRAMES, "STREAM"), 0x10: "MAX_DATA",
    0x11: "MAX_STREAM_DATA", 0x12: "MAX_STREAMS", 0x13: "MAX_STREAMS", 0x14: "DATA_BLOCKED",
    0x15: "STREAM_DATA_BLOCKED", 0x16: "STREAMS_BLOCKED", 0x17: "STREAMS_BLOCKED",
    0x18: "NEW_CONNECTION_ID", 0x19: "RETIRE_CONNECTION_ID", 0x1A: "PATH_CHALLENGE",
    0x1B: "PATH_RESPONSE", 0x1C: "CONNECTION_CLOSE", 0x1D: "CONNECTION_CLOSE",
    0x1E: "HANDSHAKE_DONE", 0x30: "DATAGRAM", 0x31: "DATAGRAM",
}  # fmt: skip


@dataclass(frozen=True)
class Decrypted:
    """What decryption of the server's capture added.

    `paths` maps stream IDs to the paths asked for; `packets` counts the QUIC packets of each
    direction (`up`, `down`); `cipher` and `group` are TLS code points of the Server Hello; `contents`
    has, by its place in the capture, what a datagram holds in words and the streams whose data it has.
    """

    flow: Flow
    paths: dict[int, str]
    packets: dict[str, int]
    complete: bool
    cipher: int | None
    group: int | None
    contents: dict[int, tuple[str, list[int]]] = field(default_factory=dict)

    @property
    def decrypts(self) -> bool:
        """Whether frames of streams were found, so that the keys fit."""
        return len(self.flow.row) > 0


Packet = dict[str, list[str]]


def table_index(frames: Frames, way: Way) -> np.ndarray:
    """Where the rows of a direction are in the capture's table; shape (n,)."""
    return np.searchsorted(frames.table["offset"], way.rows["offset"])


def decrypt(server: Frames, ends: Ends) -> Decrypted:
    """Dissect the server's capture. Raises Unusable if tshark cannot."""
    dissection = dissect(server, FIELDS)
    down = _packets(dissection, server, ends.server_down)
    if any(_length_is_missing(packet) for packet in down):
        dissection = dissect(server, (*FIELDS, DATA_FIELD))
    return understand(dissection, server, ends)


def understand(dissection: Dissection, server: Frames, ends: Ends) -> Decrypted:
    """What the dissected FIELDS, and perhaps DATA_FIELD, say. Raises Unusable where they say nothing."""
    try:
        return _understand(dissection, server, ends)
    except (ValueError, OverflowError) as error:
        raise Unusable(f"{server.path.name}: tshark shows what is no QUIC: {error}") from None


def _understand(dissection: Dissection, server: Frames, ends: Ends) -> Decrypted:
    down = _packets(dissection, server, ends.server_down)
    up = _packets(dissection, server, ends.server_up)
    pieces, number = _pieces(down)
    row, stream, start, length = (pieces[:, column] for column in range(4))
    # Small integers of Python are cheap to look up, and most packets carry one piece.
    by_number: dict[int, list[int]] = {}
    for index, value in enumerate(number.tolist()):
        by_number.setdefault(value, []).append(index)
    order, times = _acknowledged(up, ends.server_up, by_number)
    gained = new_per_stream(stream[order], start[order], length[order])
    known = np.iinfo(np.int64).max
    if not dissection.complete:
        known = server.table["time_ns"][len(dissection.packets) - 1]
    new = new_per_stream(stream, start, length)
    acked: Times = in_order([(times, gained)])
    flow = Flow(row, stream, start, length, new, *acked, int(known))
    cipher, group = _server_hello(down)
    counts = {"up": _count(up), "down": _count(down)}
    contents = {
        place: words
        for way in (ends.server_up, ends.server_down)
        for place in table_index(server, way).tolist()
        if place < len(dissection.packets) and (words := _content(dissection.packets[place]))
    }
    return Decrypted(flow, _paths(up), counts, dissection.complete, cipher, group, contents)


def _packets(dissection: Dissection, frames: Frames, way: Way) -> list[Packet]:
    """The fields of a direction's packets, as far as they were dissected."""
    places = table_index(frames, way).tolist()
    known = [dissection.packets[place] for place in places if place < len(dissection.packets)]
    fields = (*FIELDS, DATA_FIELD)
    return [dict(zip(fields, values, strict=False)) for values in known]


def _content(values: list[list[str]]) -> tuple[str, list[int]]:
    """A datagram in words, its packet numbers and frames, and the streams whose data it carries."""
    packet = dict(zip(FIELDS, values, strict=False))
    kinds = [int(kind, 16) for kind in packet["quic.frame_type"]]
    names = dict.fromkeys(_FRAME_NAMES.get(kind, f"frame 0x{kind:x}") for kind in kinds)
    numbers = " ".join(f"#{number}" for number in packet["quic.packet_number"])
    words = f"{numbers} {', '.join(name for name in names if name)}".strip()
    streams = dict.fromkeys(int(stream) for stream in packet["quic.stream.stream_id"])
    return words, list(streams)


def _count(packets: list[Packet]) -> int:
    return sum(len(packet["quic.header_form"]) for packet in packets)


def _pieces(down: list[Packet]) -> tuple[np.ndarray, np.ndarray]:
    """(row, stream, start, length) of each STREAM frame, shape (n, 4), and its packet's number.

    STREAM frames to the client are in 1-RTT packets only, which come last in a datagram (RFC 9000,
    12.2). A frame without an offset field starts at 0.
    """
    pieces, numbers = [], []
    for row, packet in enumerate(down):
        streams = packet["quic.stream.stream_id"]
        if not streams or not packet["quic.packet_number"]:
            continue
        kinds, lengths = _stream_kinds(packet), stream_lengths(packet)
        offsets = iter(packet["quic.stream.offset"])
        if not len(kinds) == len(streams) == len(lengths):
            raise Unusable(f"tshark does not tell the length of {len(streams)} STREAM frames")
        number = int(packet["quic.packet_number"][-1])
        for kind, stream, length in zip(kinds, streams, lengths, strict=True):
            start = int(next(offsets, "0")) if kind & _HAS_OFFSET else 0
            pieces.append((row, int(stream), start, length))
            numbers.append(number)
    table = np.array(pieces, np.int64).reshape(-1, 4)
    return table, np.array(numbers, np.int64)


def _stream_kinds(packet: Packet) -> list[int]:
    """The types of a datagram's STREAM frames; their low bits tell what they have."""
    kinds = [int(kind, 16) for kind in packet["quic.frame_type"]]
    return [kind for kind in kinds if kind in _STREAM_FRAMES]


def _length_is_missing(packet: Packet) -> bool:
    streams, lengths = packet["quic.stream.stream_id"], packet["quic.stream.length"]
    return len(lengths) < len(streams)


def stream_lengths(packet: Packet) -> list[int]:
    """The lengths of a datagram's STREAM frames.

    A frame without a length fills its packet (RFC 9000, 19.8), so there is one at most, the last:
    its data are counted, two digits a byte.
    """
    lengths = [int(length) for length in packet["quic.stream.length"]]
    if _length_is_missing(packet):
        data = packet.get(DATA_FIELD, [])
        # One that only ends its stream has no data at all.
        full = len(data) == len(packet["quic.stream.stream_id"])
        lengths.append(len(data[-1]) // 2 if full else 0)
    return lengths


def _acknowledged(
    up: list[Packet], way: Way, pieces: dict[int, list[int]]
) -> tuple[np.ndarray, np.ndarray]:
    """Pieces in the order in which the server got to know that their packets arrived, and when."""
    # By rank: a packet's number may be any up to 2^62, and numbers need not be close to each other.
    numbers = np.array(sorted(pieces), np.int64)
    waiting = np.ones(len(numbers), bool)
    order: list[int] = []
    times: list[int] = []
    for packet, time_ns in zip(up, way.rows["time_ns"].tolist(), strict=False):
        for low, high in _ranges(packet):
            first = int(np.searchsorted(numbers, low, "left"))
            stop = int(np.searchsorted(numbers, high, "right"))
            arrived = np.flatnonzero(waiting[first:stop]) + first
            waiting[first:stop] = False
            for number in numbers[arrived].tolist():
                order += pieces[number]
                times += [time_ns] * len(pieces[number])
    return np.array(order, np.int64), np.array(times, np.int64)


def _ranges(packet: Packet) -> list[tuple[int, int]]:
    """The packet numbers (first, last) that a datagram's 1-RTT ACK frames name (RFC 9000, 19.3.1).

    In a datagram with packets of several kinds it is not told which frame is whose: the frames are
    left out unless there is one per packet. What is missed is acknowledged again soon.
    """
    forms, largest = packet["quic.header_form"], packet["quic.ack.largest_acknowledged"]
    if not largest or _SHORT_HEADER not in forms:
        return []
    mixed = len(forms) > 1
    if mixed and len(largest) != len(forms):
        return []
    # How many ranges there are is believed of the ranges, not of the number in front of them.
    ranges_left = iter(
        list(zip(packet["quic.ack.gap"], packet["quic.ack.ack_range"], strict=False))
    )
    first, counts = packet["quic.ack.first_ack_range"], packet["quic.ack.ack_range_count"]
    found = []
    for index, (top, span, count) in enumerate(zip(largest, first, counts, strict=False)):
        ranges = [(int(top) - int(span), int(top))]
        for gap, length in islice(ranges_left, min(int(count), sys.maxsize)):
            high = ranges[-1][0] - int(gap) - 2
            ranges.append((high - int(length), high))
        if not mixed or forms[index] == _SHORT_HEADER:
            found += [(max(low, 0), high) for low, high in ranges if high >= 0]
    return found


def _paths(up: list[Packet]) -> dict[int, str]:
    """The path asked for on each stream, by HTTP/3."""
    paths: dict[int, str] = {}
    for packet in up:
        asked = packet["http3.headers.path"]
        if not asked:
            continue
        requests = _requests(packet)
        # A request may be spread over packets; its path shows where it ends.
        ended = [stream for stream, ends in requests if ends]
        for streams in ([stream for stream, _ in requests], ended):
            if len(streams) == len(asked):
                paths |= {s: p for s, p in zip(streams, asked, strict=True) if s not in paths}
                break
    return paths


def _requests(packet: Packet) -> list[tuple[int, bool]]:
    """Streams of the packet that can carry a request, and whether they end in it.

    Those are the bidirectional ones that the client opened: their two low bits are zero.
    """
    pairs = zip(packet["quic.stream.stream_id"], _stream_kinds(packet), strict=False)
    return [(int(s), bool(kind & _HAS_END)) for s, kind in pairs if int(s) % 4 == 0]


def _server_hello(down: list[Packet]) -> tuple[int | None, int | None]:
    for packet in down:
        cipher = packet["tls.handshake.ciphersuite"]
        if _SERVER_HELLO in packet["tls.handshake.type"] and cipher:
            group = packet["tls.handshake.extensions_key_share_group"]
            return int(cipher[0], 16), int(group[0]) if group else None
    return None, None


def complete_paths(
    paths: dict[int, str], streams: np.ndarray, asked: Sequence[str]
) -> dict[int, str]:
    """The paths of all request streams, where some could not be read (HTTP/0.9, late QPACK tables).

    Clients open streams in the order of their requests, which `asked` has. That is believed only if
    there are as many streams as requests and every path that was read is where it must be.
    """
    requests = [stream for stream in np.unique(streams).tolist() if stream % 4 == 0]
    if len(requests) != len(asked):
        return paths
    by_order = dict(zip(requests, asked, strict=True))
    return by_order if all(by_order.get(s) == p for s, p in paths.items()) else paths
