"""The tables' columns, their order and how a value is written (docs/formats.md, section 6)."""

from __future__ import annotations

from typing import Any

from howquick.cpu_categories import CATEGORIES

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
    "ttlb_s",
    "plt_capture_s",
    "plt_disagreement_s",
    "connections_capture",
    "packets_up",
    "packets_down",
    "wire_bytes_up",
    "wire_bytes_down",
    "retransmitted_bytes",
    "retransmitted_packets",
    "first_retransmitted_offset",
    "first_flight_bytes",
    "late_payload_bytes",
    "longest_frame_bytes",
    "largest_packet_down_bytes",
    "capture_lost_up",
    "capture_lost_down",
    "ecn_capable_up",
    "ecn_capable_down",
    "ecn_marked_up",
    "ecn_marked_down",
    "queueing_up_median_ms",
    "queueing_up_p99_ms",
    "queueing_down_median_ms",
    "queueing_down_p99_ms",
    "decrypts",
)
# Of each end's processor time: what a sampled pilot transfer spent it on, percent.
PROFILE_COLUMNS = tuple(
    f"profile_{end}_{part}_percent"
    for end in ("server", "client")
    for part in ("kernel", *CATEGORIES)
)
# Socket buffers as the kernel granted them.
BUFFER_COLUMNS = tuple(
    f"{end}_{way}_buffer_bytes" for end in ("server", "client") for way in ("receive", "send")
)
# Of loads with flows beside the arm: how they share the link.
SHARE_COLUMNS = ("flow_share", "flow_mbit", "jain_index", "flows_overlap_s")
_FURTHER = (
    "clock", "machine", "protocol", "server", "client", "congestion_control", "connection",
    "handshake_s", "ttfb_s", "bytes", "connections", "resumed", "early_data",
    "goodput_mbit", "largest_object_s", "loading_delay_s",
    "startup_s", "stalls", "stalled_s", "mean_bitrate_mbit", "cpu_server_s", "cpu_client_s", "cpu_s_per_gb",
    "cpu_server_s_per_gb", "cpu_client_s_per_gb", *PROFILE_COLUMNS,
    "udp_receive_errors", "udp_receive_errors_per_gb", *BUFFER_COLUMNS, "moves_made",
    *SHARE_COLUMNS,
    *_CAPTURE,
    "negotiated_cipher", "negotiated_group", "server_congestion_control_seen",
    "congestion_control_verdict",
    "qlog_client_version", "qlog_client_valid", "qlog_client_sent", "qlog_client_received",
    "qlog_client_lost",
    "qlog_server_version", "qlog_server_valid", "qlog_server_sent", "qlog_server_received",
    "qlog_server_lost", "qlog_verdict", "tcp_server_retransmitted",
    "loss_seed_up", "loss_seed_down", "link_lost_up", "link_lost_down",
    "queue_dropped_up", "queue_dropped_down", "drops_verdict",
    "believed_lost_up", "believed_lost_down", "belief_error_up", "belief_error_down",
    "cpu_pressure", "foreign_cpu", "delays_judged",
    "run_delay_server_s", "run_delay_client_s", "attempts", "disturbed", "timeout_s",
    "server_version", "client_version", "started", "wall_s", "network_s", "extract_note", "path",
)  # fmt: skip
OBJECT_COLUMNS = (*RUN_KEY, "path", "bytes", "start_s", "first_byte_s", "end_s", "protocol")
SERIES_COLUMNS = (*RUN_KEY, "time_s", "received_bytes", "acknowledged_bytes")
FLOW_COLUMNS = (
    *RUN_KEY, "flow", "name", "protocol", "status", "start_s", "first_s", "last_s", "plt_s", "bytes",
    "goodput_mbit", "wire_bytes", "mbit", "share",
)  # fmt: skip
DETAIL_COLUMNS = {
    "transport": (
        *RUN_KEY, "time_s", "direction", "event", "packets", "bytes", "total_bytes", "source",
    ),
    "window": (
        *RUN_KEY, "time_s", "cwnd_bytes", "bytes_in_flight", "ssthresh_bytes", "smoothed_rtt_ms",
        "delivery_rate_mbit", "pacing_rate_mbit", "source",
    ),
    "frames": (*RUN_KEY, "sent_s", "time_s", "stream", "path", "offset", "bytes", "lost"),
    "handshake": (*RUN_KEY, "time_s", "direction", "bytes", "label"),
    "packets": (
        *RUN_KEY, "number", "receiver_number", "direction", "connection", "sent_s", "received_s",
        "bytes", "payload", "label", "content", "streams", "again", "fate",
    ),
}  # fmt: skip

# A float in seconds is written to the microsecond, which is what the clients' clocks give.
_SECONDS_SUFFIX = "_s"
_SECONDS_COLUMNS = frozenset({"started"})


def is_own(name: str) -> bool:
    """Whether the runs table has a column of this name whatever the study."""
    return name in (*RUN_KEY, *_RESULT, *_FURTHER)


def run_columns(parameters: set[str], metrics: set[str]) -> list[str]:
    """The columns of the runs table when the cells have these parameters and clients these metrics."""
    known = [name for name in PARAMETERS if name in parameters]
    others = sorted(name for name in parameters - set(known) if not is_own(name))
    return [*RUN_KEY, *_RESULT, *known, *others, *_FURTHER[:-2], *sorted(metrics), *_FURTHER[-2:]]


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
    text = str(value)
    if not text.isprintable():
        # Nobody who reads tables needs control characters, and some readers stop at them.
        text = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(text.split())
