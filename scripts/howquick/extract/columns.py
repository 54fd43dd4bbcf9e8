"""The tables' columns, their order and how a value is written (docs/formats.md, section 6)."""

from __future__ import annotations

from typing import Any

# Parameters in the order of the columns; a study with others appends them by name.
PARAMETERS = (
    "bandwidth_mbit",
    "rtt_ms",
    "loss_percent",
    "queue_ms",
    "mtu_bytes",
    "objects",
    "object_size",
)

RUN_KEY = ("study", "cell", "arm", "block", "repetition")
_RESULT = ("order", "session", "status", "reason", "plt_s")
_CAPTURE = (
    "plt_capture_s",
    "plt_disagreement_s",
    "connections_capture",
    "packets_up",
    "packets_down",
    "wire_bytes_up",
    "wire_bytes_down",
    "retransmitted_bytes",
    "first_flight_bytes",
    "late_payload_bytes",
    "longest_frame_bytes",
    "capture_lost_up",
    "capture_lost_down",
)
_FURTHER = (
    "protocol", "server", "client", "congestion_control", "connection",
    "handshake_s", "ttfb_s", "bytes", "connections", "resumed", "early_data",
    *_CAPTURE,
    "qlog_client_sent", "qlog_client_received", "qlog_server_sent", "qlog_server_received",
    "loss_seed_up", "loss_seed_down", "link_lost_up", "link_lost_down",
    "queue_dropped_up", "queue_dropped_down", "cpu_pressure", "attempts", "timeout_s",
    "server_version", "client_version", "started", "wall_s", "network_s", "extract_note", "path",
)  # fmt: skip
OBJECT_COLUMNS = (*RUN_KEY, "path", "bytes", "start_s", "first_byte_s", "end_s")
SERIES_COLUMNS = (*RUN_KEY, "time_s", "received_bytes", "acknowledged_bytes")

# A float in seconds is written to the microsecond, which is what the clients' clocks give.
_SECONDS_SUFFIX = "_s"
_SECONDS_COLUMNS = frozenset({"started"})


def run_columns(parameters: set[str]) -> list[str]:
    """The columns of the runs table when the cells have these parameters."""
    known = [name for name in PARAMETERS if name in parameters]
    return [*RUN_KEY, *_RESULT, *known, *sorted(parameters - set(known)), *_FURTHER]


def field(column: str, value: Any) -> str:
    """A value as it stands in the table: empty for None, text in one line, times with decimals."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        if column.endswith(_SECONDS_SUFFIX) or column in _SECONDS_COLUMNS:
            # A limit of 60 s is 60, but a measured time always has its decimals.
            return f"{value:.6f}" if isinstance(value, float) else str(value)
        return str(value) if isinstance(value, int) else f"{value:.10g}"
    return " ".join(str(value).split())
