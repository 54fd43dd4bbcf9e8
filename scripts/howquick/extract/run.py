"""One run folder becomes one row of the runs table, its objects and its series."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from howquick.extract.columns import is_own
from howquick.extract.detail import Row
from howquick.extract.drops import beliefs
from howquick.extract.evaluate import Wanted, evaluate
from howquick.extract.flows import own_address, share_of_flows
from howquick.extract.reported_control import verdict
from howquick.extract.viewing import viewing_columns
from howquick.files import file_hash
from howquick.timing import Timing, TimingError, read_timing

TCP_PROTOCOLS = frozenset({"h1", "h2", "spdy", "tls"})
Series = list[tuple[float, int, int | None]]


@dataclass(frozen=True)
class Options:
    """How much of a run is extracted.

    `series_points` rows of its series (0: none); the detail tables for the first
    `detail_repetitions` repetitions of a cell. With `packets`, the table of packets whatever the repetition.
    """

    series_points: int = 50
    detail_repetitions: int = 1
    packets: bool = False


@dataclass
class Run:
    """`row` maps columns to values (None or absent: not known); `parameters` are the cell's.

    `metrics` are the names of further columns that the client filled; `detail` has the rows of the
    detail tables, `flows` of the table of flows that shared the link.
    """

    row: dict[str, Any]
    parameters: dict[str, Any] = field(default_factory=dict)
    timing: Timing | None = None
    series: Series = field(default_factory=list)
    metrics: set[str] = field(default_factory=set)
    detail: dict[str, list[Row]] = field(default_factory=dict)
    flows: list[Row] = field(default_factory=list)

    def note(self, text: str) -> None:
        """Add to the column `extract_note`."""
        known = self.row.get("extract_note")
        self.row["extract_note"] = f"{known}; {text}" if known else text


def extract_run(
    block: dict[str, Any], entry: dict[str, Any], folder: Path, options: Options
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
    given = _dict(meta, "link") | _dict(meta, "parameters")
    for name, reason in _dict(meta, "left_out").items():
        run.note(f"{name} {reason}: not kept")
    run.parameters = {k: v for k, v in given.items() if not isinstance(v, dict | list)}
    # A figure may ask for them although no load reported one.
    run.metrics |= {name for name in meta.get("metrics", []) if not is_own(name)}
    if row["status"] == "ok":
        _add_timing(folder, run, meta)
    if row["status"] == "ok":
        _add_costs(run, meta)
        _add_viewing(run, meta)
        captured = bool(_dict(meta, "observe").get("captures", True))
        if captured:
            _add_captures(folder, run, meta, options)
        shares = share_of_flows(folder, meta, captured)
        row |= shares.columns
        run.flows = shares.rows
        for note in shares.notes:
            run.note(note)
    sent_again = _sent_again(meta)
    row |= {"tcp_server_retransmitted": sent_again["down"]} | beliefs(row, sent_again)
    return run


def _fail(run: Run, reason: str) -> None:
    """A run that said `ok` is none; one that failed keeps its own reason."""
    if run.row["status"] == "ok":
        run.row["status"], run.row["reason"] = "failed", reason
    else:
        run.note(reason)


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
    row["clock"] = meta.get("clock", "real")
    row["machine"] = _dict(meta, "host").get("node")
    row |= {
        name: meta.get(name) for name in ("attempts", "timeout_s", "started", "wall_s", "network_s")
    }
    if row["clock"] == "virtual":
        # By a clock that stands while anything computes, what is around a load takes no time.
        row["wall_s"] = None
    for name in ("protocol", "server", "client", "congestion_control", "connection"):
        row[name] = arm.get(name)
    for role in ("server", "client"):
        row[f"{role}_version"] = _dict(meta, "programs", role).get("version")
    for way in ("up", "down"):
        row[f"loss_seed_{way}"] = _dict(meta, "seeds").get(way)
        row[f"link_lost_{way}"] = _dict(emulator, way).get("lost")
        row[f"queue_dropped_{way}"] = _dict(emulator, way).get("queue_dropped")
    guard = _dict(meta, "guard")
    row |= {name: guard.get(name) for name in ("cpu_pressure", "foreign_cpu")}
    for role in ("server", "client"):
        row[f"run_delay_{role}_s"] = _dict(guard, "run_delay_s").get(role)
    disturbed = meta.get("disturbed")
    row["disturbed"] = " | ".join(disturbed) if isinstance(disturbed, list) else None
    row["delays_judged"] = guard.get("judges_delays")
    row["moves_made"] = len(meta["moves"]) if isinstance(meta.get("moves"), list) else None
    row["udp_receive_errors"] = _increase(meta, "udp", "RcvbufErrors", "client", "server")
    for end in ("server", "client"):
        sizes = _dict(meta, "bulk", "buffers", end)
        row |= {
            f"{end}_{way}_buffer_bytes": sizes.get(f"{way}_bytes") for way in ("receive", "send")
        }
    kernel = _route_congestion(meta)
    if kernel is not None:
        row["server_congestion_control_seen"] = kernel
        row["congestion_control_verdict"] = verdict(arm.get("congestion_control"), kernel)
    return row


def _sent_again(meta: dict[str, Any]) -> dict[str, int | None]:
    """Segments that each direction's kernel sent again during the load.

    None where TCP carries nothing, and where the kernel's counter is of several flows.
    """
    if _dict(meta, "arm_definition").get("protocol") not in TCP_PROTOCOLS or meta.get("flows"):
        return {"up": None, "down": None}
    ends = {"up": "client", "down": "server"}
    return {way: _increase(meta, "tcp", "RetransSegs", end) for way, end in ends.items()}


def _increase(meta: dict[str, Any], protocol: str, counter: str, *ends: str) -> int | None:
    """By how much a counter of the kernel's grew during the load, at these ends together."""
    total = None
    for end in ends:
        before, after = (
            _dict(meta, "network", when, protocol, end).get(counter) for when in ("before", "after")
        )
        if isinstance(after, int):
            total = (total or 0) + after - (before if isinstance(before, int) else 0)
    return total


def _route_congestion(meta: dict[str, Any]) -> str | None:
    """TCP's congestion control as the runner read it back from the server's routes.

    None where something else than the kernel's TCP carries the arm.
    """
    if _dict(meta, "arm_definition").get("protocol") not in TCP_PROTOCOLS:
        return None
    routes = _dict(meta, "settings", "routes").get("server")
    for route in routes if isinstance(routes, list) else []:
        # To a single address goes a flow that was beside the load.
        beside = not isinstance(route, dict) or "/" not in str(route.get("dst", "default/0"))
        metrics = None if beside else route.get("metrics")
        for metric in metrics if isinstance(metrics, list) else []:
            if isinstance(metric, dict) and isinstance(metric.get("congestion"), str):
                return str(metric["congestion"])
    return None


def _add_timing(folder: Path, run: Run, meta: dict[str, Any]) -> None:
    try:
        # Its objects were verified when it was measured; that holds for that file alone.
        if meta.get("timing_sha256") not in (None, file_hash(folder / "timing.json")):
            raise TimingError("timing.json is not the file that was measured")
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
        "goodput_mbit": timing.body_bytes * 8 / timing.plt_s / 1e6,
        "largest_object_s": max(timing.objects, key=lambda entry: entry.size_bytes).end_s,
    }
    for name, value in timing.metrics.items():
        if is_own(name):
            run.note(f"timing.json: metrics: {name}: is the name of another column, left out")
        else:
            run.row[name] = value
            run.metrics.add(name)


def _add_costs(run: Run, meta: dict[str, Any]) -> None:
    """What the load cost the processors, and what a viewer waited for each segment."""
    assert run.timing is not None
    cpu = {end: _dict(meta, "cpu").get(f"{end}_s") for end in ("server", "client")}
    seconds = {end: value for end, value in cpu.items() if isinstance(value, int | float)}
    run.row |= {f"cpu_{end}_s": value for end, value in seconds.items()}
    gigabytes = run.timing.body_bytes / 1e9
    if gigabytes:
        run.row |= {f"cpu_{end}_s_per_gb": value / gigabytes for end, value in seconds.items()}
        if len(seconds) == len(cpu):
            run.row["cpu_s_per_gb"] = sum(seconds.values()) / gigabytes
        errors = run.row.get("udp_receive_errors")
        run.row["udp_receive_errors_per_gb"] = None if errors is None else errors / gigabytes
    for end in cpu:
        run.row |= _profile(end, _dict(meta, "bulk", "profile", end))
    if "segments" in _dict(meta, "workload"):
        waits = [e.end_s - e.start_s for e in run.timing.objects if e.start_s is not None]
        run.row["loading_delay_s"] = sum(waits) / len(waits) if waits else None


def _add_viewing(run: Run, meta: dict[str, Any]) -> None:
    """What a player showed; nothing where there was none."""
    assert run.timing is not None
    if player := _dict(meta, "workload", "segments", "player"):
        try:
            run.row |= viewing_columns(player, run.timing)
        except (LookupError, TypeError, ValueError) as error:
            run.note(f"meta.json: workload.segments.player: {error}")


def _profile(end: str, profile: dict[str, Any]) -> dict[str, float]:
    """The columns of one end's profile; none where there was none (docs/formats.md, section 4)."""
    user, kernel = profile.get("user_s"), profile.get("kernel_s")
    if (
        not isinstance(user, int | float)
        or not isinstance(kernel, int | float)
        or user + kernel <= 0
    ):
        return {}
    shares = {"kernel": kernel} | {
        name: share * user for name, share in _dict(profile, "categories").items()
    }
    return {
        f"profile_{end}_{name}_percent": 100 * seconds / (user + kernel)
        for name, seconds in shares.items()
    }


def _add_captures(folder: Path, run: Run, meta: dict[str, Any], options: Options) -> None:
    assert run.timing is not None
    repetition = run.row["repetition"]
    detail = isinstance(repetition, int) and repetition < options.detail_repetitions
    wanted = Wanted(options.series_points, detail, options.packets, own_address(meta))
    link, asked = _dict(meta, "link"), _dict(meta, "arm_definition")
    found = evaluate(folder, run.timing, link, asked, wanted)
    run.row |= found.columns
    run.series, run.detail = found.series, found.detail
    for key, column in (("cipher", "negotiated_cipher"), ("group", "negotiated_group")):
        # The program's own word first: a capture shows the offer's answer only in full.
        run.row[column] = run.timing.negotiated.get(key) or run.row.get(column)
    for note in found.notes:
        run.note(note)
