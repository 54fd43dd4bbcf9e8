"""The table of packets of single loads: what each end saw of every packet, and what became of it."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from howquick.capture.read import ACK, FIN, PSH, RST, SYN, TCP, Frames
from howquick.extract.arrivals import NEVER, Arrivals
from howquick.extract.drops import FILE
from howquick.extract.flow import Flow
from howquick.extract.load import Ends, Way, stream_base
from howquick.extract.opening import packet_label
from howquick.extract.tcp import stream_positions

# Rows per load. Those that were lost come first, then the first ones: a sequence is read from its beginning.
MOST_PACKETS = 1000
# A drop is told by the emulator's clock, a departure by the capture's: both are this machine's.
_CLOCKS_APART_NS = 50_000_000
_FLAGS = ((SYN, "SYN"), (FIN, "FIN"), (RST, "RST"), (PSH, "PSH"), (ACK, "ACK"))
_UNDER_WAY = np.iinfo(np.int64).max

Row = dict[str, Any]
# Of packets by their place in a capture's table: what they hold, and the streams whose data they carry.
Contents = Mapping[int, tuple[str, Sequence[int]]]


@dataclass(frozen=True)
class Pair:
    """Both captures of a load, and what is in them."""

    client: Frames
    server: Frames
    ends: Ends
    protocol: str


def packet_rows(
    pair: Pair, arrivals: Arrivals, flow: Flow | None, contents: Contents, folder: Path
) -> list[Row]:
    """One row per packet of both directions, by time of sending; at most MOST_PACKETS.

    `contents` belongs to the server's capture; `flow` tells what was sent again, where it is known;
    `folder` may have the list of dropped packets.
    """
    causes = _causes(folder)
    again = set() if flow is None else set(flow.row[flow.again].tolist())
    ends = pair.ends
    ways = (
        _Direction("down", pair.server, ends.server_down, pair.client, ends.client_down, again),
        _Direction("up", pair.client, ends.client_up, pair.server, ends.server_up, set()),
    )
    times, places = (arrivals.down, arrivals.up), (arrivals.down_place, arrivals.up_place)
    rows: list[Row] = []
    for way, arrived, place in zip(ways, times, places, strict=True):
        rows += _rows(way, arrived, place, pair, contents, causes.get(way.name, {}))
    rows.sort(key=lambda row: row["sent_s"])
    return _most_telling(rows)


@dataclass(frozen=True)
class _Direction:
    """Packets from one end to the other; `again`: rows that carry bytes that were sent before."""

    name: str
    sender: Frames
    sent: Way
    receiver: Frames
    got: Way
    again: set[int]


def _rows(
    way: _Direction,
    arrived: np.ndarray,
    place: np.ndarray,
    pair: Pair,
    contents: Contents,
    causes: Mapping[int, list[tuple[int, str]]],
) -> Iterator[Row]:
    first = pair.ends.load.first_ns
    numbers = _numbers(way.sender, way.sent)
    received = _numbers(way.receiver, way.got)
    positions = _positions(way.sent, pair.ends)
    at_server = numbers if way.name == "down" else None
    kept = _kept(arrived)
    for index in kept.tolist():
        frame = way.sent.rows[index]
        time_ns, length = int(frame["time_ns"]), int(frame["length"])
        other = int(received[place[index]]) if place[index] >= 0 else None
        at = int(at_server[index]) if at_server is not None else other
        said, streams = contents.get(at - 1, (None, ())) if at is not None else (None, ())
        yield {
            "number": int(numbers[index]),
            "receiver_number": other,
            "direction": way.name,
            "connection": int(way.sent.connection[index]),
            "sent_s": (time_ns - first) / 1e9,
            "received_s": (int(arrived[index]) - first) / 1e9 if other is not None else None,
            "bytes": length,
            "payload": int(frame["payload"]),
            "label": packet_label(way.sender, frame, pair.ends.load.transport, pair.protocol),
            "content": said or (None if positions is None else _segment(frame, positions[index])),
            "streams": " ".join(map(str, streams)) or None,
            "again": index in way.again,
            "fate": _fate(int(arrived[index]), time_ns, causes.get(length, [])),
        }


def _kept(arrived: np.ndarray) -> np.ndarray:
    """Which packets of a direction can be among the rows: see MOST_PACKETS."""
    lost = np.flatnonzero(arrived == NEVER)[:MOST_PACKETS]
    return np.union1d(lost, np.arange(min(len(arrived), MOST_PACKETS)))


def _most_telling(rows: list[Row]) -> list[Row]:
    lost = [index for index, row in enumerate(rows) if row["received_s"] is None][:MOST_PACKETS]
    others = sorted(set(range(len(rows))) - set(lost))[: MOST_PACKETS - len(lost)]
    return [rows[index] for index in sorted({*lost, *others})]


def _numbers(frames: Frames, way: Way) -> np.ndarray:
    """What Wireshark calls the packets of a direction: their place in the capture, from 1; shape (n,)."""
    return np.searchsorted(frames.table["offset"], way.rows["offset"]) + 1


def _positions(way: Way, ends: Ends) -> np.ndarray | None:
    """TCP: where in its connection's stream each segment begins, from 0; shape (n,)."""
    if ends.load.transport != TCP:
        return None
    found = np.zeros(len(way.rows), np.int64)
    for index in range(len(ends.load.connections)):
        mine = np.flatnonzero(way.connection == index)
        if len(mine):
            base = stream_base(way.rows[mine])
            found[mine] = stream_positions(way.rows["sequence"][mine], base)
    return found


def _segment(frame: np.void, position: int) -> str:
    flags = int(frame["flags"])
    names = " ".join(name for bit, name in _FLAGS if flags & bit)
    return f"{names}, bytes {max(int(position), 0)} + {int(frame['payload'])}"


def _causes(folder: Path) -> dict[str, dict[int, list[tuple[int, str]]]]:
    """By direction and bytes: (Unix nanoseconds, cause) of each dropped packet; empty without a list."""
    found: dict[str, dict[int, list[tuple[int, str]]]] = defaultdict(lambda: defaultdict(list))
    try:
        with (folder / FILE).open(encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream):
                time_ns = round(float(row["time_s"]) * 1e9)
                found[row["direction"]][int(row["bytes"])].append((time_ns, row["cause"]))
    except (OSError, ValueError, KeyError, TypeError, csv.Error):
        # What is wrong with the list is said where it is held against the captures (drops.py).
        return {}
    return found


def _fate(arrived_ns: int, sent_ns: int, dropped: list[tuple[int, str]]) -> str:
    """`arrived`; `loss` or `queue`: so the link says; `lost`: nobody does; `unknown`: the capture ended."""
    if arrived_ns != NEVER:
        return "unknown" if arrived_ns == _UNDER_WAY else "arrived"
    near = [(abs(time_ns - sent_ns), index) for index, (time_ns, _) in enumerate(dropped)]
    distance, index = min(near, default=(_UNDER_WAY, -1))
    return dropped.pop(index)[1] if distance < _CLOCKS_APART_NS else "lost"
