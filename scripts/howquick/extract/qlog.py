"""Count what the QUIC stacks' own logs say, and hold it against the capture.

Formats: qlog 0.3 (`qlog_version`) and its later drafts (`file_schema`), as JSON (`.qlog`) and as
JSON text sequences (`.sqlog`, RFC 7464); draft-ietf-quic-qlog-main-schema.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from howquick.capture.read import UDP, Frames
from howquick.extract.load import Ends

# A quotation mark within a JSON text is escaped, so nothing but a name looks like this.
_PACKET = re.compile(rb'"name"\s*:\s*"(?:transport|quic):packet_(sent|received)"')
_RECORD_SEPARATOR = b"\x1e"
# A log names its connection in its head; what it carries comes later.
_HEAD_BYTES = 4096
_MARKS = (b'"qlog_version"', b'"file_schema"')
_INITIAL_HEAD_BYTES = 26  # first byte, version, length of the connection ID, and at most 20 of it


class QlogError(Exception):
    """A file is no qlog; the message says why."""


@dataclass(frozen=True)
class PacketCounts:
    """Packets of one connection as one end logged them (several can share a datagram)."""

    sent: int
    received: int


def count_packets(path: Path) -> PacketCounts:
    """Count the packets that a qlog lists. Raises QlogError if it is not a whole one."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise QlogError(f"{path.name}: {error.strerror}") from None
    try:
        # The last record, or the whole document: a log that was cut does not parse.
        last = json.loads(content.rpartition(_RECORD_SEPARATOR)[2])
    except ValueError:
        raise QlogError(f"{path.name}: cut short or no qlog") from None
    head = content[:_HEAD_BYTES]
    if not isinstance(last, dict) or not any(mark in head for mark in _MARKS):
        raise QlogError(f"{path.name}: no qlog")
    kinds = _PACKET.findall(content)
    return PacketCounts(kinds.count(b"sent"), kinds.count(b"received"))


def find_qlog(folder: Path, connection_id: str) -> Path | None:
    """The log of a connection: that which names it, or the only one; None if there is none."""
    logs = sorted(path for path in folder.glob("*") if path.suffix in (".qlog", ".sqlog"))
    for path in logs:
        with path.open("rb") as stream:
            if connection_id in path.name or connection_id.encode() in stream.read(_HEAD_BYTES):
                return path
    return logs[0] if len(logs) == 1 else None


def original_connection_id(client: Frames, ends: Ends) -> str:
    """The destination connection ID of the client's first Initial (RFC 9000, 17.2), in hex."""
    first = ends.client_up.rows[0]
    at = int(first["offset"]) + int(first["transport_offset"]) + 8
    head = bytes(client.data[at : at + _INITIAL_HEAD_BYTES])
    return head[6 : 6 + head[5]].hex()


def qlog_columns(
    folder: Path, client: Frames, ends: Ends, last_ns: int
) -> tuple[dict[str, int], str]:
    """The columns `qlog_<end>_sent` and `…_received`, and a note (empty: all is well).

    A log must have at least as many packets sent as the capture has datagrams that this end sent
    within the load; fewer mean that it is not complete. Without logs there are no columns.
    """
    columns: dict[str, int] = {}
    notes = []
    if ends.load.transport != UDP:
        return columns, ""
    connection_id = original_connection_id(client, ends)
    for end, sent in (("client", ends.client_up), ("server", ends.server_down)):
        path = find_qlog(folder / end, connection_id)
        if path is None:
            continue
        try:
            counts = count_packets(path)
        except QlogError as error:
            notes.append(f"qlog/{end}/{error}")
            continue
        columns |= {f"qlog_{end}_sent": counts.sent, f"qlog_{end}_received": counts.received}
        datagrams = int(np.count_nonzero(sent.rows["time_ns"] <= last_ns))
        if counts.sent < datagrams:
            notes.append(
                f"qlog/{end}/{path.name}: {counts.sent} packets sent, but the capture has "
                f"{datagrams} datagrams"
            )
    return columns, "; ".join(notes)
