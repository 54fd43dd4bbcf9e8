"""What the QUIC stacks' own logs say of a run, and how it agrees with the capture."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from howquick.capture.read import UDP, Frames
from howquick.extract.load import Ends, Way
from howquick.extract.qlog_file import SUFFIXES, Qlog, QlogError, is_amount, read_qlog
from howquick.extract.qlog_schema import validate_log
from howquick.foreign import NotReadable, open_regular

# Events of each name that are validated in every extraction; `extract.py qlog` looks at all.
VALIDATED_PER_NAME = 20
# A log names its connection in its head; what it carries comes later.
_HEAD_BYTES = 4096
_INITIAL_HEAD_BYTES = 26  # first byte, version, length of the connection ID, and at most 20 of it
# Coalesced packets: some datagrams of the handshake hold two or three.
_COALESCED_PACKETS = 12
# The last packets may not be in the log (a writer that was stopped), and some never reach it
# (duplicates, packets that came before their keys).
_PACKETS_SHARE = 0.01
_PACKETS_SLACK = 3
# Stacks count the padding of a datagram with its packet or not at all: that of the handshake's.
_BYTES_SHARE = 0.01
_BYTES_SLACK = 8 * 1500
SENT, RECEIVED, LOST = "packet_sent", "packet_received", "packet_lost"


@dataclass(frozen=True)
class PacketCounts:
    """Packets of one connection as one end logged them (several can share a datagram)."""

    sent: int
    received: int


@dataclass(frozen=True)
class Logged:
    """`columns` of the runs table, the `notes` on what is wrong, the server's log if there is one.

    whole: that log is the load's only connection's, and lists the packets that the capture has.
    """

    columns: dict[str, Any]
    notes: list[str]
    server: Qlog | None
    whole: bool = False


def count_packets(log: Qlog) -> PacketCounts:
    """Count the packets that a qlog lists."""
    return PacketCounts(len(log.of_kind(SENT)), len(log.of_kind(RECEIVED)))


def count_bytes(log: Qlog) -> PacketCounts | None:
    """Bytes of the packets that a qlog lists, headers included; None where it does not tell them.

    Raises QlogError for a record that is not JSON.
    """
    totals = []
    for kind in (SENT, RECEIVED):
        sizes = [_size(log.data(index)) for index in log.of_kind(kind)]
        if None in sizes or not sizes:
            return None
        totals.append(sum(size for size in sizes if size is not None))
    return PacketCounts(*totals)


def _size(data: dict[str, Any]) -> int | None:
    """A packet's length on the wire; an early draft had it in the header."""
    for part, key in (("raw", "length"), ("header", "packet_size")):
        found = data.get(part)
        value = found.get(key) if isinstance(found, dict) else None
        if isinstance(value, int) and is_amount(value):
            return int(value)
    return None


def find_qlog(folder: Path, connection_id: str) -> Path | None:
    """The log of a connection: that which names it, or the only one; None if there is none."""
    logs = sorted(path for path in folder.glob("*") if path.suffix in SUFFIXES)
    for path in logs:
        with suppress(NotReadable), open_regular(path) as stream:
            if connection_id in path.name or connection_id.encode() in stream.read(_HEAD_BYTES):
                return path
    return logs[0] if len(logs) == 1 else None


def original_connection_id(client: Frames, ends: Ends) -> str:
    """The destination connection ID of the client's first Initial (RFC 9000, 17.2), in hex."""
    first = ends.client_up.rows[0]
    at = int(first["offset"]) + int(first["transport_offset"]) + 8
    head = bytes(client.data[at : at + _INITIAL_HEAD_BYTES])
    return head[6 : 6 + head[5]].hex()


def read_logs(folder: Path, client: Frames, ends: Ends, full: bool) -> Logged:
    """Both ends' logs of the run: versions, validity, counts, and `qlog_verdict`.

    The verdict is `agrees`, `differs` (explained in the notes) or, without logs or with several
    connections, None. `full`: count bytes too, which takes a while.
    """
    columns: dict[str, Any] = {}
    notes: list[str] = []
    if ends.load.transport != UDP:
        return Logged(columns, notes, None)
    connection_id = original_connection_id(client, ends)
    logs: dict[str, Qlog] = {}
    differs: list[str] = []
    unreadable = whole = False
    for end in ("client", "server"):
        notes += [
            f"qlog/{end}/{path.name} is no regular file"
            for path in sorted((folder / end).glob("*"))
            if path.is_symlink() or not path.is_file()
        ]
        path = find_qlog(folder / end, connection_id)
        if path is None:
            continue
        try:
            log = logs[end] = read_qlog(path)
            report = validate_log(log, VALIDATED_PER_NAME)
            counts = count_packets(log)
            sizes = count_bytes(log) if full else None
        except QlogError as error:
            notes.append(f"qlog/{end}/{error}")
            unreadable = True
            continue
        where = f"qlog/{end}/{path.name}"
        if report.violation:
            notes.append(f"{where}: {report.violation}")
        columns |= {
            f"qlog_{end}_version": report.version,
            f"qlog_{end}_valid": report.valid,
            f"qlog_{end}_sent": counts.sent,
            f"qlog_{end}_received": counts.received,
            f"qlog_{end}_lost": len(log.of_kind(LOST)),
        }
        if len(ends.load.connections) == 1:
            found = _disagreements(end, counts, sizes, ends)
            whole = end == "server" and not found
            differs += [f"{where}: {text}" for text in found]
    if (logs or unreadable) and len(ends.load.connections) == 1:
        columns["qlog_verdict"] = "differs" if differs or unreadable else "agrees"
    return Logged(columns, notes + differs, logs.get("server"), whole)


def _disagreements(
    end: str, counts: PacketCounts, sizes: PacketCounts | None, ends: Ends
) -> list[str]:
    """What this end's log says differently from its capture."""
    if end == "client":
        sent, received = ends.client_up, ends.client_down
        # The client closes, with its last packet; what arrives after that it no longer reads.
        unread = _later(received, sent)
    else:
        sent, received = ends.server_down, ends.server_up
        unread = 0
    found = []
    for verb, way, packets, optional in (
        ("sent", sent, counts.sent, 0),
        ("received", received, counts.received, unread),
    ):
        if _packets_differ(packets, len(way.rows), optional):
            found.append(f"{packets} packets {verb}, but the capture has {len(way.rows)} datagrams")
        size = getattr(sizes, verb) if sizes else None
        wire = _payload(way)
        if size is not None and abs(size - wire) > _BYTES_SHARE * wire + _BYTES_SLACK:
            found.append(f"{size} bytes {verb}, but the capture has {wire}")
    return found


def _later(way: Way, other: Way) -> int:
    """How many packets of one direction are later than the last of the other."""
    return int(np.count_nonzero(way.rows["time_ns"] > other.rows["time_ns"].max(initial=0)))


def _packets_differ(packets: int, datagrams: int, optional: int) -> bool:
    """A datagram holds at least one packet, and outside of the handshake no more than one.

    `optional`: how many of the datagrams need not be in the log.
    """
    slack = _PACKETS_SHARE * datagrams + _PACKETS_SLACK
    return not datagrams - optional - slack <= packets <= datagrams + slack + _COALESCED_PACKETS


def _payload(way: Way) -> int:
    return int(np.sum(way.rows["payload"], dtype=np.int64))
