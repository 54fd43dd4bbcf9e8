"""Find the page load in a capture: the server's end point, the connections, and their packets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from howquick.capture.read import ACK, FIN, RST, SCTP, SYN, TCP, UDP, Frames
from howquick.extract.tcp import new_bytes, stream_positions
from howquick.timing import Timing

# The client reads its clock just before it opens its first connection, so the first packet can be
# earlier only by the clock's own error. Its last object ends a little after the last packet came.
CLOCK_SLACK_NS = 2_000_000
# A busy browser reads its clock later still. A connection for a session ticket, which is not to be taken for
# the load's, was opened at least a round trip earlier: this share of it cannot reach that far.
_EARLY_SHARE = 0.25

_TRANSPORTS = {"h1": TCP, "h2": TCP, "spdy": TCP, "tls": TCP, "h3": UDP, "hq": UDP, "sctp": SCTP}
_QUIC = frozenset({"h3", "hq"})
# A QUIC connection opens with long headers: their first byte has the top bit set (RFC 8999).
_LONG_HEADER = 0x80
# The type of the chunk that opens an association (RFC 9260, section 3.2).
_INIT = 1


class Unusable(Exception):
    """A capture does not hold what it must; the message is for the column `extract_note`."""


@dataclass(frozen=True)
class PageLoad:
    """The connections of one page load.

    `connections` are the client's end points as address·2^16 + port, in the order they were opened;
    `first_ns` is the time of the first packet at the client, Unix nanoseconds.
    """

    transport: int
    address: int
    port: int
    connections: np.ndarray
    first_ns: int


@dataclass(frozen=True)
class Way:
    """The packets of a page load in one direction at one end, in capture order.

    `rows` are the frames (dtype FRAME), `connection` the index into PageLoad.connections, `new` the
    payload bytes that no earlier packet carried (UDP and SCTP: all; QUIC never sends a packet twice).
    """

    rows: np.ndarray
    connection: np.ndarray
    new: np.ndarray


def find_load(
    client: Frames, timing: Timing, rtt_ms: float = 0.0, address: int | None = None
) -> PageLoad:
    """Find the connections opened from the start of the load to its end.

    The start is less CLOCK_SLACK_NS or a share of the link's round-trip time, whichever is more.

    Connections that were opened earlier, to get a session ticket, are no part of it; one that
    migrates counts once for each address it is on. Where other flows share the link, `address` is that of the
    load's server. Raises Unusable if there is none.
    """
    table = client.table
    wanted = _TRANSPORTS.get(timing.protocol)
    early_ns = max(CLOCK_SLACK_NS, _EARLY_SHARE * rtt_ms * 1e6)
    in_time = (table["time_ns"] >= timing.start_ns - early_ns) & (table["time_ns"] <= timing.end_ns)
    if address is not None:
        in_time &= table["destination"] == address
    opening = table[in_time & _opens(table, timing.protocol, wanted)]
    if len(opening) == 0:
        raise Unusable(f"{client.path.name}: no connection opened within the page load")
    first = opening[0]
    to_server = (
        (opening["destination"] == first["destination"])
        & (opening["destination_port"] == first["destination_port"])
        & (opening["protocol"] == first["protocol"])
    )
    keys = _end_point(opening["source"], opening["source_port"])[to_server]
    if first["protocol"] == UDP:
        keys = np.concatenate((keys, _moved(table[in_time], table, first)))
    unique, where = np.unique(keys, return_index=True)
    return PageLoad(
        transport=int(first["protocol"]),
        address=int(first["destination"]),
        port=int(first["destination_port"]),
        connections=unique[np.argsort(where)],
        first_ns=int(first["time_ns"]),
    )


def _moved(within: np.ndarray, table: np.ndarray, first: np.void) -> np.ndarray:
    """End points from which the client goes on without opening a connection: it migrated.

    Those that it used before the load, for a session ticket, are not among them.
    """
    after = within["time_ns"] >= first["time_ns"]
    used = []
    for rows in (within[after], table[table["time_ns"] < first["time_ns"]]):
        mine = (rows["destination"] == first["destination"]) & (
            rows["destination_port"] == first["destination_port"]
        )
        used.append(_end_point(rows["source"], rows["source_port"])[mine])
    new: np.ndarray = used[0][~np.isin(used[0], used[1])]
    return new


def _opens(table: np.ndarray, protocol: str, wanted: int | None) -> np.ndarray:
    """Which frames open a connection: a SYN, an INIT of SCTP, or a UDP datagram that can be a QUIC Initial.

    SCTP may be in UDP datagrams too (RFC 6951).
    """
    syn = (table["protocol"] == TCP) & (table["flags"] & (SYN | ACK) == SYN)
    datagram = table["protocol"] == UDP
    init = (table["protocol"] == SCTP) & (table["first_byte"] == _INIT)
    if protocol in _QUIC:
        datagram &= table["first_byte"] & _LONG_HEADER != 0
    if wanted is None:
        return np.asarray(syn | datagram | init)
    return np.asarray({TCP: syn, UDP: datagram, SCTP: init if init.any() else datagram}[wanted])


def _end_point(address: np.ndarray, port: np.ndarray) -> np.ndarray:
    return np.asarray((address.astype(np.int64) << 16) | port)


def _upward(frames: Frames, load: PageLoad) -> Way:
    """Packets from the client to the server."""
    return _way(frames, load, "destination", "source")


def _downward(frames: Frames, load: PageLoad) -> Way:
    """Packets from the server to the client."""
    return _way(frames, load, "source", "destination")


@dataclass(frozen=True)
class Ends:
    """A page load as both ends saw it: packets `up` (to the server) and `down`, at each end."""

    load: PageLoad
    client_up: Way
    client_down: Way
    server_up: Way
    server_down: Way


def split(
    client: Frames,
    server: Frames,
    timing: Timing,
    rtt_ms: float = 0.0,
    address: int | None = None,
) -> Ends:
    """Find the page load in both captures (as `find_load`). Raises Unusable where it is not there."""
    load = find_load(client, timing, rtt_ms, address)
    return Ends(
        load,
        _upward(client, load),
        _downward(client, load),
        _upward(server, load),
        _downward(server, load),
    )


def _way(frames: Frames, load: PageLoad, server: str, client: str) -> Way:
    table = frames.table
    rows = table[
        (table["protocol"] == load.transport)
        & (table[server] == load.address)
        & (table[f"{server}_port"] == load.port)
    ]
    keys = _end_point(rows[client], rows[f"{client}_port"])
    order = np.argsort(load.connections)
    place = np.minimum(
        np.searchsorted(load.connections, keys, sorter=order), len(load.connections) - 1
    )
    known = load.connections[order][place] == keys
    rows, connection = rows[known], order[place][known]
    # A UDP port may have been used before for the connection that fetched the ticket.
    after = rows["time_ns"] >= load.first_ns
    rows, connection = rows[after], connection[after]
    return Way(rows, connection, _new(rows, connection, load))


def _new(rows: np.ndarray, connection: np.ndarray, load: PageLoad) -> np.ndarray:
    new = rows["payload"].astype(np.int64)
    if load.transport != TCP:
        return new
    for index in range(len(load.connections)):
        mine = np.flatnonzero((connection == index) & (rows["payload"] > 0))
        if len(mine):
            base = stream_base(rows[connection == index])
            start = stream_positions(rows["sequence"][mine], base)
            new[mine] = new_bytes(start, rows["payload"][mine].astype(np.int64))
    return new


def stream_base(rows: np.ndarray) -> int:
    """Wire sequence number of a TCP direction's first byte, by its SYN or else its first packet."""
    syn = rows[rows["flags"] & SYN != 0]
    return (int(syn["sequence"][0]) + 1) & 0xFFFFFFFF if len(syn) else int(rows["sequence"][0])


def closing_ns(up: Way, load: PageLoad) -> np.ndarray:
    """Per connection when the client's first FIN or RST left; the largest int64 if none did."""
    closing = np.full(len(load.connections), np.iinfo(np.int64).max)
    if load.transport == TCP:
        ends = up.rows["flags"] & (FIN | RST) != 0
        np.minimum.at(closing, up.connection[ends], up.rows["time_ns"][ends])
    return closing
