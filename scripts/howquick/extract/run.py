"""One run folder becomes one row of the runs table, its objects and its series."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from howquick.capture.errors import CaptureError
from howquick.capture.read import Frames, read_frames
from howquick.extract.checks import check_complete, check_frame_length, longest_frame_bytes
from howquick.extract.load import Unusable, split
from howquick.extract.metrics import last_payload_ns, load_metrics
from howquick.extract.qlog import qlog_columns
from howquick.extract.series import byte_series
from howquick.extract.timing import Timing, TimingError, read_timing

Series = list[tuple[float, int, int | None]]


@dataclass
class Run:
    """`row` maps columns to values (None or absent: not known); `parameters` are the cell's."""

    row: dict[str, Any]
    parameters: dict[str, Any] = field(default_factory=dict)
    timing: Timing | None = None
    series: Series = field(default_factory=list)


def extract_run(
    block: dict[str, Any], entry: dict[str, Any], folder: Path, series_points: int
) -> Run:
    """Read a run folder; `block` is the manifest and `entry` the run in it.

    Never raises for what is in the folder: a run that cannot be read becomes a row with the status
    `failed` and the reason; a capture that cannot be used leaves its columns empty and is explained
    in `extract_note`.
    """
    row = {
        "study": block["study"],
        "cell": block["cell"],
        "arm": entry["arm"],
        "block": block["block"],
        "repetition": entry["repetition"],
        "status": entry["status"],
        "reason": entry.get("reason"),
        "path": entry["path"],
    }
    run = Run(row)
    meta = _read_meta(folder, run)
    if meta is None:
        return run
    row |= _from_meta(meta)
    run.parameters = _dict(meta, "link") | _dict(meta, "parameters")
    if row["status"] == "ok":
        _add_timing(folder, run)
    if row["status"] == "ok":
        _add_captures(folder, run, meta, series_points)
    return run


def _fail(run: Run, reason: str) -> None:
    """A run that said `ok` is none; one that failed keeps its own reason."""
    if run.row["status"] == "ok":
        run.row["status"], run.row["reason"] = "failed", reason
    else:
        run.row["extract_note"] = reason


def _read_meta(folder: Path, run: Run) -> dict[str, Any] | None:
    try:
        meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
    except OSError as error:
        _fail(run, f"meta.json: {error.strerror}")
        return None
    except ValueError as error:
        _fail(run, f"meta.json is not JSON: {error}")
        return None
    for key in ("study", "cell", "arm", "block", "repetition"):
        found = meta.get(key) if isinstance(meta, dict) else None
        if found != run.row[key]:
            _fail(run, f"meta.json: {key}: is {found!r}, but the block says {run.row[key]!r}")
            return None
    if meta.get("status") not in ("ok", "failed", "timeout", "invalid"):
        _fail(run, f"meta.json: status: is {meta.get('status')!r}")
        return None
    return dict(meta)


def _dict(value: Any, *keys: str) -> dict[str, Any]:
    """The object at a path of keys; empty where there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _from_meta(meta: dict[str, Any]) -> dict[str, Any]:
    arm = _dict(meta, "arm_definition")
    emulator = _dict(meta, "network", "after", "emulator")
    row = {name: meta.get(name) for name in ("order", "session", "status", "reason")}
    row |= {
        name: meta.get(name) for name in ("attempts", "timeout_s", "started", "wall_s", "network_s")
    }
    for name in ("protocol", "server", "client", "congestion_control", "connection"):
        row[name] = arm.get(name)
    for role in ("server", "client"):
        row[f"{role}_version"] = _dict(meta, "programs", role).get("version")
    for way in ("up", "down"):
        row[f"loss_seed_{way}"] = _dict(meta, "seeds").get(way)
        row[f"link_lost_{way}"] = _dict(emulator, way).get("lost")
        row[f"queue_dropped_{way}"] = _dict(emulator, way).get("queue_dropped")
    row["cpu_pressure"] = _dict(meta, "guard").get("cpu_pressure")
    return row


def _add_timing(folder: Path, run: Run) -> None:
    try:
        timing = read_timing(folder / "timing.json")
    except TimingError as error:
        _fail(run, str(error))
        return
    run.timing = timing
    run.row |= {
        "plt_s": timing.plt_s,
        "protocol": timing.protocol,
        "handshake_s": timing.handshake_s,
        "ttfb_s": timing.objects[0].first_byte_s,
        "bytes": timing.body_bytes,
        "connections": timing.connections,
        "resumed": timing.resumed,
        "early_data": timing.early_data,
    }


def _add_captures(folder: Path, run: Run, meta: dict[str, Any], series_points: int) -> None:
    assert run.timing is not None
    link = _dict(meta, "link")
    try:
        client, server = (_whole(folder / f"{end}.pcapng") for end in ("client", "server"))
        longest = longest_frame_bytes(client, server)
        run.row["longest_frame_bytes"] = longest
        check_frame_length(longest, _number(link, "mtu_bytes", 1500))
        ends = split(client, server, run.timing)
        check_complete(client, server, ends)
        metrics = load_metrics(client, server, ends, run.timing, _number(link, "rtt_ms", 0))
        last = last_payload_ns(ends, run.timing, client)
        logged, note = qlog_columns(folder / "qlog", client, ends, last)
        if series_points:
            run.series = byte_series(ends, last, series_points)
        run.row |= metrics | logged | {"extract_note": note or None}
    except (CaptureError, Unusable) as error:
        run.row["extract_note"] = str(error).replace(f"{folder}/", "")


def _whole(path: Path) -> Frames:
    frames = read_frames(path)
    if frames.truncated:
        raise Unusable(f"{path.name}: cut short, its end is missing")
    return frames


def _number(values: dict[str, Any], key: str, default: float) -> float:
    value = values.get(key)
    return float(value) if isinstance(value, int | float) else default
