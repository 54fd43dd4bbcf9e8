"""The sender's own view from its qlog: window, bytes in flight, round-trip time, losses."""

from __future__ import annotations

from typing import Any

import numpy as np

from howquick.extract.detail import MOST_ROWS, Row, event_rows
from howquick.extract.load import Ends
from howquick.extract.qlog import RECEIVED, SENT
from howquick.extract.qlog_file import Qlog, is_amount

# The tables' columns, and under which keys the stacks log them (with the factor to the column's unit).
_METRICS = {
    "cwnd_bytes": (("congestion_window", "cwnd"), 1.0),
    "bytes_in_flight": (("bytes_in_flight",), 1.0),
    "ssthresh_bytes": (("ssthresh",), 1.0),
    "smoothed_rtt_ms": (("smoothed_rtt",), 1.0),
    "delivery_rate_mbit": (("delivery_rate", "estimated_bandwidth", "cf_delivery_rate"), 1e-6),
    "pacing_rate_mbit": (("pacing_rate",), 1e-6),
}
# Rates are bits per second (draft-ietf-quic-qlog-quic-events, recovery_metrics_updated). A log with this
# field, quiche's own, has bytes: its first sample is what was acknowledged first over a round-trip time.
_IN_BYTES = "cf_delivery_rate"
_RATES = ("delivery_rate_mbit", "pacing_rate_mbit")
# "No limit yet", as some stacks write it.
_UNLIMITED = 2**62


def sender_rows(log: Qlog, ends: Ends, last_ns: int) -> tuple[list[Row], list[Row]]:
    """(transport events, window) by the server's log up to `last_ns`, with `source` qlog.

    Metrics that an event does not repeat keep their value. Raises QlogError for a record that is not JSON.
    """
    names = [name.partition(":")[2] for name in log.names]
    seconds = log_seconds(log, ends)
    end = (last_ns - ends.load.first_ns) / 1e9
    lost = [i for i, name in enumerate(names) if name == "packet_lost" and seconds[i] <= end]
    events = event_rows(seconds[lost], np.zeros(len(lost), np.int64), "down", "lost", "qlog")
    # A log does not tell how long the packets were that it gave up.
    events = [row | {"bytes": None, "total_bytes": None} for row in events]
    return events, _window(log, names, seconds, end)


def log_seconds(log: Qlog, ends: Ends) -> np.ndarray:
    """Of each event of a server's log the seconds since the load's first packet; shape (n,).

    Its clock is set to the capture's by the first packet that it says to have received, or else sent.
    Raises QlogError for a record that is not JSON.
    """
    names = [name.partition(":")[2] for name in log.names]
    times = np.array(log.milliseconds())
    return times / 1e3 - _clock_offset(names, times, ends)


def _clock_offset(names: list[str], times: np.ndarray, ends: Ends) -> float:
    """What to take off the log's seconds to get seconds since the load's first packet."""
    for kind, way in ((RECEIVED, ends.server_up), (SENT, ends.server_down)):
        if kind in names and len(way.rows):
            captured = (int(way.rows["time_ns"][0]) - ends.load.first_ns) / 1e9
            return float(times[names.index(kind)] / 1e3 - captured)
    return float(times[0] / 1e3) if len(times) else 0.0


def _window(log: Qlog, names: list[str], seconds: np.ndarray, end: float) -> list[Row]:
    rows: list[Row] = []
    known: Row = {"source": "qlog"}
    in_bytes = False
    for index, name in enumerate(names):
        if not name.endswith("metrics_updated") or seconds[index] > end:
            continue
        data = log.data(index)
        in_bytes = in_bytes or _IN_BYTES in data
        found = _metrics(data)
        if in_bytes:
            found |= {name: 8 * found[name] for name in _RATES if name in found}
        known = known | found | {"time_s": float(seconds[index])}
        rows.append(known)
    return rows[:: -(-len(rows) // MOST_ROWS)] if rows else []


def _metrics(data: dict[str, Any]) -> Row:
    found: Row = {}
    for column, (keys, factor) in _METRICS.items():
        for key in keys:
            value = data.get(key)
            if is_amount(value) and value < _UNLIMITED:
                found[column] = value if factor == 1.0 else value * factor
    return found
