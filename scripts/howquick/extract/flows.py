"""How the flows of a load share its link: by the client's capture, behind the bottleneck of a download."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from howquick.capture.errors import CaptureError
from howquick.capture.read import Frames, read_frames
from howquick.extract.load import CLOCK_SLACK_NS
from howquick.files import file_hash
from howquick.timing import Timing, TimingError, read_timing

Row = dict[str, Any]


@dataclass
class Shares:
    """`columns` of the runs table, `rows` of the table of flows, and what is wrong."""

    columns: Row = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Active:
    """When a flow was active, Unix nanoseconds, and its frames to the client: times and bytes."""

    first_ns: int
    last_ns: int
    times_ns: np.ndarray
    sizes: np.ndarray


def jain_index(rates: Sequence[float]) -> float | None:
    """Jain's fairness index of rates x of n flows: (sum x)^2 / (n sum x^2); None where nothing came.

    1 where all are equal, 1/n where one has everything. R. Jain, D. Chiu, W. Hawe, A Quantitative Measure of
    Fairness and Discrimination for Resource Allocation in Shared Computer Systems, DEC-TR-301, 1984.
    """
    squares = sum(rate * rate for rate in rates)
    return sum(rates) ** 2 / (len(rates) * squares) if squares else None


def own_address(meta: dict[str, Any]) -> int | None:
    """The address of the arm's own server as a number; None where the arm was alone on the link."""
    flows = meta.get("flows")
    return _address(flows[0]) if flows else None


def share_of_flows(folder: Path, meta: dict[str, Any], captured: bool) -> Shares:
    """Read what the flows of a load did; nothing where the arm was alone.

    captured: there is a capture of the client's. Never raises for what is in the folder: what cannot be used
    leaves its columns empty and is explained in `notes`.
    """
    found = Shares()
    flows: list[dict[str, Any]] = meta.get("flows") or []
    if not flows:
        return found
    timings = [_timing(folder, flow, found) for flow in flows]
    found.rows = [_row(flow, timing) for flow, timing in zip(flows, timings, strict=True)]
    if not captured:
        return found
    try:
        client = read_frames(folder / "client.pcapng")
    except CaptureError as error:
        found.notes.append(str(error).replace(f"{folder}/", ""))
        return found
    active = [_active(client, flow, timing) for flow, timing in zip(flows, timings, strict=True)]
    begin = flows[0]["started"]
    for row, one in zip(found.rows, active, strict=True):
        if one is not None:
            row["first_s"] = one.first_ns / 1e9 - begin
            row["last_s"] = one.last_ns / 1e9 - begin
    _add_shares(found, active)
    return found


def _add_shares(found: Shares, active: Sequence[_Active | None]) -> None:
    there = [one for one in active if one is not None]
    first = max((one.first_ns for one in there), default=0)
    last = min((one.last_ns for one in there), default=0)
    overlap_s = max(0, last - first) / 1e9 if len(there) == len(active) else 0.0
    found.columns["flows_overlap_s"] = overlap_s
    if not overlap_s:
        found.notes.append("flows: never all active at one time, so there are no shares")
        return
    sizes = [
        int(one.sizes[(one.times_ns >= first) & (one.times_ns <= last)].sum()) for one in there
    ]
    for row, size in zip(found.rows, sizes, strict=True):
        row["wire_bytes"], row["mbit"] = size, size * 8 / overlap_s / 1e6
        row["share"] = size / sum(sizes) if sum(sizes) else None
    own = found.rows[0]
    found.columns |= {"flow_share": own["share"], "flow_mbit": own["mbit"]}
    found.columns["jain_index"] = jain_index([row["mbit"] for row in found.rows])


def _row(flow: dict[str, Any], timing: Timing | None) -> Row:
    row = {
        "flow": flow["number"], "name": flow["arm"], "protocol": flow["protocol"],
        "status": flow["status"], "start_s": flow["start_s"],
    }  # fmt: skip
    if timing is not None:
        row |= {
            "plt_s": timing.plt_s,
            "bytes": timing.body_bytes,
            "goodput_mbit": timing.body_bytes * 8 / timing.plt_s / 1e6,
        }
    return row


def _timing(folder: Path, flow: dict[str, Any], found: Shares) -> Timing | None:
    """What a flow's client wrote, None where it was cut off.

    With a note, where that is not the file that was measured.
    """
    if flow["status"] != "ok":
        return None
    below = f"flows/{flow['number']}-{flow['arm']}/" if flow["number"] else ""
    file = folder / below / "timing.json"
    try:
        timing = read_timing(file)
        if flow["timing_sha256"] != file_hash(file):
            raise TimingError("timing.json is not the file that was measured")
    except TimingError as error:
        found.notes.append(f"{below}{error}")
        return None
    return timing


def _active(client: Frames, flow: dict[str, Any], timing: Timing | None) -> _Active | None:
    """From the first packet that a flow's client sent to the last payload that came before its end.

    The end is that of its last object, or the moment at which it was cut off.
    """
    if flow["started"] is None or flow["ended"] is None:
        return None
    table, address = client.table, _address(flow)
    # What was sent before, for a session ticket, is none of the load's.
    begin_ns, end_ns = (int(flow[key] * 1e9) for key in ("started", "ended"))
    if timing is not None:
        end_ns = timing.end_ns + CLOCK_SLACK_NS
    within = (table["time_ns"] >= begin_ns - CLOCK_SLACK_NS) & (table["time_ns"] <= end_ns)
    up = within & (table["destination"] == address) & (table["destination_port"] == flow["port"])
    down = within & (table["source"] == address) & (table["source_port"] == flow["port"])
    carries = down & (table["payload"] > 0)
    if not up.any() or not carries.any():
        return None
    return _Active(
        int(table["time_ns"][up][0]),
        int(table["time_ns"][carries][-1]),
        table["time_ns"][down],
        table["length"][down].astype(np.int64),
    )


def _address(flow: dict[str, Any]) -> int:
    return int(ipaddress.IPv4Address(flow["address"]))
