"""Bytes over time: what arrived at the client and what it acknowledged, on a regular grid."""

from __future__ import annotations

import numpy as np

from howquick.extract.flow import Flow
from howquick.extract.load import Ends


def byte_series(
    ends: Ends, flow: Flow | None, last_ns: int, points: int
) -> list[tuple[float, int, int | None]]:
    """`points` rows of (seconds since the first packet, bytes received, bytes acknowledged).

    Received: new payload at the client. Acknowledged: stream bytes, as the server got to know it;
    None where that cannot be seen (QUIC without decryption, or beyond what was decrypted). The last
    row is the arrival of the last payload.
    """
    grid = ends.load.first_ns + np.linspace(0, last_ns - ends.load.first_ns, points).astype(
        np.int64
    )
    received = _at(grid, ends.client_down.rows["time_ns"], ends.client_down.new)
    seconds = (grid - ends.load.first_ns) / 1e9
    acknowledged: list[int | None] = [None] * points
    if flow is not None:
        values = _at(grid, flow.acked_ns, flow.acked_bytes).tolist()
        known = (grid <= flow.known_until_ns).tolist()
        acknowledged = [value if k else None for value, k in zip(values, known, strict=True)]
    return list(zip(seconds.tolist(), received.tolist(), acknowledged, strict=True))


def _at(grid: np.ndarray, time: np.ndarray, gained: np.ndarray) -> np.ndarray:
    """The sum of `gained` up to each time of the grid."""
    order = np.argsort(time, kind="stable")
    total = np.concatenate(([0], np.cumsum(gained[order])))
    return np.asarray(total[np.searchsorted(time[order], grid, "right")])
