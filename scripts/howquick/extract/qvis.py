"""Rewrite a qlog so that the viewer qvis loads it: qvis knows versions up to 0.3.

Later versions differ in the head, in the names of events, and in where a frame keeps its length.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from howquick.extract.qlog_file import Qlog

VERSION = "0.3"
_CATEGORIES = {
    "recovery": ("metrics_updated", "packet_lost", "congestion_state_updated", "loss_timer_updated"),
    "connectivity": ("connection_started", "connection_closed", "connection_state_updated",
                     "spin_bit_updated"),
    "security": ("key_updated", "key_retired"),
}  # fmt: skip
_RENAMED = {
    "recovery_metrics_updated": "metrics_updated",
    "recovery_parameters_set": "parameters_set",
    "stream_data_moved": "data_moved",
    "udp_datagrams_sent": "datagrams_sent",
    "udp_datagrams_received": "datagrams_received",
    "timer_updated": "loss_timer_updated",
    "key_discarded": "key_retired",
}


def write_for_qvis(log: Qlog, folder: Path) -> Path:
    """Write the log as qlog 0.3, a text sequence, into `folder`; returns its path.

    Times become milliseconds since the first event, in order. Raises QlogError for a record that is
    not JSON.
    """
    folder.mkdir(parents=True, exist_ok=True)
    vantage = log.trace.get("vantage_point")
    kind = vantage.get("type") if isinstance(vantage, dict) else None
    # It becomes part of a file's name.
    end = kind if kind in ("client", "server", "network") else "unknown"
    path = folder / f"{log.path.stem}-{end}.sqlog"
    with path.open("w", encoding="utf-8") as stream:
        for record in _records(log):
            stream.write(f"\x1e{json.dumps(record, separators=(',', ':'))}\n")
    return path


def _records(log: Qlog) -> Iterator[dict[str, Any]]:
    vantage = log.trace.get("vantage_point") or {"type": "unknown"}
    yield {
        "qlog_version": VERSION,
        "qlog_format": "JSON-SEQ",
        "title": log.path.name,
        "trace": {
            "vantage_point": vantage,
            "common_fields": {"time_format": "relative", "reference_time": 0},
        },
    }
    times = log.milliseconds()
    # qvis wants them ordered, and stacks stamp some events late.
    order = sorted(range(len(times)), key=times.__getitem__)
    for index in order:
        event = log.event(index)
        if isinstance(event, dict) and isinstance(event.get("data"), dict):
            name = _name(str(event.get("name", "")))
            yield {
                "time": times[index] - times[order[0]],
                "name": name,
                "data": _data(event["data"]),
            }


def _name(name: str) -> str:
    """An event's name in version 0.3."""
    space, _, kind = name.partition(":")
    if space == "http3":
        return f"http:{kind}"
    if space != "quic":
        return name
    category = "recovery" if kind.startswith("recovery_") else "transport"
    kind = _RENAMED.get(kind, kind)
    for candidate, kinds in _CATEGORIES.items():
        if kind in kinds:
            category = candidate
    return f"{category}:{kind}"


def _data(data: dict[str, Any]) -> dict[str, Any]:
    """An event's data in version 0.3."""
    data = dict(data)
    if "initiator" in data:
        data["owner"] = data.pop("initiator")
    frames = data.get("frames")
    if isinstance(frames, list):
        data["frames"] = [_frame(frame) if isinstance(frame, dict) else frame for frame in frames]
    return data


def _frame(frame: dict[str, Any]) -> dict[str, Any]:
    """A frame in version 0.3, in which a length stands beside the offset, and zero is written."""
    frame = {"offset": 0} | frame if frame.get("frame_type") == "stream" else dict(frame)
    raw = frame.get("raw")
    if "length" not in frame and isinstance(raw, dict):
        length = raw.get("payload_length", raw.get("length"))
        if length is not None:
            del frame["raw"]
            frame["length"] = length
    return frame
