"""Bytes over time: what arrived at the client and what it acknowledged, on a regular grid."""

from __future__ import annotations

import numpy as np

from howquick.capture.read import ACK, TCP
from howquick.extract.load import Ends, Way, stream_base
from howquick.extract.tcp import stream_positions


def byte_series(ends: Ends, last_ns: int, points: int) -> list[tuple[float, int, int | None]]:
    """`points` rows of (seconds since the first packet, bytes received, bytes acknowledged).

    Received: new payload at the client. Acknowledged: as the server got to know it; None for UDP,
    where acknowledgements are encrypted. The last row is the arrival of the last payload.
    """
    grid = ends.load.first_ns + np.linspace(0, last_ns - ends.load.first_ns, points).astype(
        np.int64
    )
    received = _at(grid, ends.client_down.rows["time_ns"], ends.client_down.new)
    seconds = (grid - ends.load.first_ns) / 1e9
    acknowledged: list[int | None] = [None] * points
    if ends.load.transport == TCP:
        time, gained = _acknowledged(ends.server_up, ends.server_down, len(ends.load.connections))
        acknowledged = list(_at(grid, time, gained).tolist())
    return list(zip(seconds.tolist(), received.tolist(), acknowledged, strict=True))


def _at(grid: np.ndarray, time: np.ndarray, gained: np.ndarray) -> np.ndarray:
    """The sum of `gained` up to each time of the grid."""
    order = np.argsort(time, kind="stable")
    total = np.concatenate(([0], np.cumsum(gained[order])))
    return np.asarray(total[np.searchsorted(time[order], grid, "right")])


def _acknowledged(up: Way, down: Way, connections: int) -> tuple[np.ndarray, np.ndarray]:
    """Times at the server, and how many more bytes were acknowledged then, over all connections."""
    times, gains = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for index in range(connections):
        sent = down.rows[down.connection == index]
        acks = up.rows[(up.connection == index) & (up.rows["flags"] & ACK != 0)]
        if len(sent) == 0 or len(acks) == 0:
            continue
        position = stream_positions(acks["acknowledgement"], stream_base(sent))
        # The acknowledgement of the FIN is one beyond the last byte.
        position = np.clip(position, 0, int(down.new[down.connection == index].sum()))
        highest = np.maximum.accumulate(position)
        times.append(acks["time_ns"])
        gains.append(np.diff(highest, prepend=0))
    return np.concatenate(times), np.concatenate(gains)
