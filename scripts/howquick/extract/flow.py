"""What a server sent and what it got to know to have arrived, alike for TCP, QUIC and SCTP."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from howquick.capture.read import ACK
from howquick.extract.load import Ends, stream_base
from howquick.extract.tcp import new_bytes, stream_positions

Times = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Pieces:
    """The pieces of streams that a server sent, in order; all of shape (n,).

    `row` is the packet that carries a piece (index into Ends.server_down, or of the log's event), `stream`
    the TCP connection's number, the QUIC stream's ID or the SCTP stream's identifier, `start` and `length`
    its place in the stream, `new` those of its bytes that were sent for the first time.
    """

    row: np.ndarray
    stream: np.ndarray
    start: np.ndarray
    length: np.ndarray
    new: np.ndarray

    @property
    def again(self) -> np.ndarray:
        """Which pieces carry bytes that were sent before; shape (n,)."""
        return np.asarray(self.new < self.length)


@dataclass(frozen=True)
class Flow(Pieces):
    """What the server sent, and the acknowledgements it got.

    `acked_ns` (Unix nanoseconds, at the server) and `acked_bytes` tell when how many more bytes were
    acknowledged; shape (m,). What was captured later than `known_until_ns` was not looked at.
    """

    acked_ns: np.ndarray
    acked_bytes: np.ndarray
    known_until_ns: int = int(np.iinfo(np.int64).max)


def new_per_stream(stream: np.ndarray, start: np.ndarray, length: np.ndarray) -> np.ndarray:
    """How many bytes of each piece no earlier piece of the same stream had; shape as `start`."""
    new = np.zeros(len(start), np.int64)
    order = np.argsort(stream, kind="stable")
    for mine in np.split(order, np.flatnonzero(np.diff(stream[order])) + 1):
        if len(mine):
            new[mine] = new_bytes(start[mine], length[mine])
    return new


def tcp_flow(ends: Ends) -> Flow:
    """By sequence and acknowledgement numbers, from headers alone: no decryption is needed."""
    down = ends.server_down
    start = np.zeros(len(down.rows), np.int64)
    acked: list[Times] = []
    for index in range(len(ends.load.connections)):
        mine = np.flatnonzero(down.connection == index)
        if len(mine) == 0:
            continue
        base = stream_base(down.rows[mine])
        start[mine] = stream_positions(down.rows["sequence"][mine], base)
        acked.append(_acknowledged(ends, index, base, int(down.new[mine].sum())))
    row = np.flatnonzero(down.rows["payload"] > 0)
    return Flow(
        row,
        down.connection[row].astype(np.int64),
        start[row],
        down.rows["payload"][row].astype(np.int64),
        down.new[row],
        *in_order(acked),
    )


def _acknowledged(ends: Ends, index: int, base: int, sent_bytes: int) -> Times:
    """Of one connection: times at the server, and how many more bytes were acknowledged then."""
    up = ends.server_up
    acks = up.rows[(up.connection == index) & (up.rows["flags"] & ACK != 0)]
    # The acknowledgement of the FIN is one beyond the last byte.
    position = np.clip(stream_positions(acks["acknowledgement"], base), 0, sent_bytes)
    return acks["time_ns"], np.diff(np.maximum.accumulate(position), prepend=0)


def in_order(parts: list[Times]) -> Times:
    """Several (times, bytes) as one, by time; parts without bytes are left out."""
    time = np.concatenate([np.empty(0, np.int64), *(part[0] for part in parts)])
    gained = np.concatenate([np.empty(0, np.int64), *(part[1] for part in parts)])
    order = np.argsort(time, kind="stable")
    order = order[gained[order] > 0]
    return time[order], gained[order]
