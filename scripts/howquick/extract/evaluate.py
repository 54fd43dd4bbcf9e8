"""Everything that the captures and the logs of a run tell: columns, series and detail tables."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from howquick.capture.errors import CaptureError
from howquick.capture.read import TCP, Frames, read_frames
from howquick.extract.arrivals import Arrivals, find_arrivals
from howquick.extract.checks import check_complete, check_frame_length, longest_frame_bytes
from howquick.extract.crossing import crossing_columns, quickest_round_trip_ms
from howquick.extract.detail import (
    Row,
    frame_rows,
    http2_rows,
    retransmissions,
    transport_events,
    window_rows,
)
from howquick.extract.dissect import is_full
from howquick.extract.drops import compare_drops
from howquick.extract.flow import Flow, tcp_flow
from howquick.extract.http2 import Http2, decrypt_tcp
from howquick.extract.load import Ends, Unusable, split
from howquick.extract.metrics import last_payload_ns, load_metrics
from howquick.extract.opening import opening_packets
from howquick.extract.packets import Contents, Pair, packet_rows
from howquick.extract.qlog import Logged, read_logs
from howquick.extract.qlog_detail import sender_rows
from howquick.extract.qlog_file import QlogError
from howquick.extract.qlog_streams import logged_retransmissions, retransmissions_differ
from howquick.extract.quic import Decrypted, complete_paths, decrypt
from howquick.extract.reported_control import gather, seen, verdict
from howquick.extract.sctp import sctp_flow
from howquick.extract.series import byte_series
from howquick.extract.tls_names import cipher_name, group_name
from howquick.timing import Timing

DETAIL_TABLES = ("transport", "window", "frames", "handshake", "packets")


@dataclass(frozen=True)
class Wanted:
    """How much to extract: rows of the series, and whether the detail tables, or of them the packets.

    address: of the load's server, where other flows share the link.
    """

    series_points: int
    detail: bool
    packets: bool = False
    address: int | None = None


@dataclass
class Evaluation:
    """`columns` of the runs table, the `series`, and the rows of each of DETAIL_TABLES."""

    columns: dict[str, Any] = field(default_factory=dict)
    series: list[tuple[float, int, int | None]] = field(default_factory=list)
    detail: dict[str, list[Row]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Seen:
    """A load as both captures and the client have it."""

    client: Frames
    server: Frames
    ends: Ends
    timing: Timing

    @property
    def full(self) -> bool:
        """Whether both captures hold whole packets."""
        return is_full(self.client) and is_full(self.server)


@dataclass(frozen=True)
class _Streams:
    """`flow` is None where streams cannot be seen; `decrypts` where decryption was not tried."""

    flow: Flow | None = None
    paths: dict[int, str] = field(default_factory=dict)
    http2: Http2 | None = None
    decrypts: bool | None = None
    cipher: int | None = None
    group: int | None = None
    contents: Contents = field(default_factory=dict)


def evaluate(
    folder: Path, timing: Timing, link: dict[str, Any], asked: dict[str, Any], wanted: Wanted
) -> Evaluation:
    """Read the captures and logs in `folder`.

    `link` is the link's description, `asked` the arm's definition with `congestion_control`. Never
    raises for what is in the folder: what cannot be used leaves its columns empty and is explained
    in `notes`.
    """
    found = Evaluation()
    try:
        client, server = (_whole(folder / f"{end}.pcapng") for end in ("client", "server"))
        longest = longest_frame_bytes(client, server)
        found.columns["longest_frame_bytes"] = longest
        if link.get("offloads", "off") == "off":
            check_frame_length(longest, number(link, "mtu_bytes", 1500))
        ends = split(client, server, timing, number(link, "rtt_ms", 0), wanted.address)
        check_complete(client, server, ends)
        seen = _Seen(client, server, ends, timing)
        _evaluate(found, seen, link, asked, wanted, folder)
    except (CaptureError, Unusable, QlogError) as error:
        found.notes.append(str(error).replace(f"{folder}/", ""))
    return found


def _evaluate(
    found: Evaluation,
    seen: _Seen,
    link: dict[str, Any],
    asked: dict[str, Any],
    wanted: Wanted,
    folder: Path,
) -> None:
    client, server, ends, timing = seen.client, seen.server, seen.ends, seen.timing
    rtt_ms = number(link, "rtt_ms", 0)
    metrics = load_metrics(client, server, ends, timing, quickest_round_trip_ms(link))
    last = last_payload_ns(ends, timing, client)
    found.columns |= metrics | {"ttlb_s": metrics["plt_capture_s"]}
    found.columns |= crossing_columns(client, server, ends.load, last)
    if wanted.address is None:
        found.columns["drops_verdict"], wrong = compare_drops(folder, client, server, ends.load)
        found.notes += wrong
    logged = read_logs(folder / "qlog", client, ends, seen.full)
    found.columns |= logged.columns
    found.notes += logged.notes
    _add_congestion(found, ends, logged, asked)
    streams = _streams(found, seen)
    _add_retransmissions(found, seen, streams.flow, logged, last)
    found.columns |= {
        "decrypts": streams.decrypts,
        "negotiated_cipher": cipher_name(streams.cipher),
        "negotiated_group": group_name(streams.group),
    }
    if wanted.series_points:
        found.series = byte_series(ends, streams.flow, last, wanted.series_points)
    if not (wanted.detail or wanted.packets):
        return
    arrivals = find_arrivals(client, server, ends)
    if wanted.detail:
        found.detail = _detail(ends, streams, arrivals, logged, last, rtt_ms)
        opening = opening_packets(client, ends, timing.protocol)
        names = ("time_s", "direction", "bytes", "label")
        found.detail["handshake"] = [dict(zip(names, row, strict=True)) for row in opening]
    pair = Pair(client, server, ends, timing.protocol)
    found.detail["packets"] = packet_rows(pair, arrivals, streams.flow, streams.contents, folder)


def _add_retransmissions(
    found: Evaluation, seen: _Seen, flow: Flow | None, logged: Logged, last_ns: int
) -> None:
    """By the capture where streams can be seen in it, and else by the server's log; the two must agree."""
    by_log: dict[str, int | None] = {}
    if logged.server is not None and logged.whole:
        by_log = logged_retransmissions(logged.server, seen.ends, last_ns)
    if flow is None:
        found.columns |= by_log
        return
    by_capture = retransmissions(seen.ends, flow, last_ns)
    found.columns |= by_capture
    if (
        logged.server is not None
        and by_log
        and (text := retransmissions_differ(by_log, by_capture))
    ):
        found.columns["qlog_verdict"] = "differs"
        found.notes.append(f"qlog/server/{logged.server.path.name}: {text}")


def _streams(found: Evaluation, seen: _Seen) -> _Streams:
    """What is in the streams: for TCP by headers, for the others of whole packets only."""
    ends, timing = seen.ends, seen.timing
    try:
        if timing.protocol == "sctp":
            flow, paths = sctp_flow(seen.server, ends)
            readable = seen.full and len(flow.row) > 0
            return _Streams(flow if readable else None, paths)
        if ends.load.transport == TCP:
            flow = tcp_flow(ends)
            if not seen.full:
                return _Streams(flow)
            return _tcp(flow, decrypt_tcp(seen.client, ends), timing)
        return _quic(decrypt(seen.server, ends), timing) if seen.full else _Streams()
    except Unusable as error:
        found.notes.append(str(error))
        return _Streams(tcp_flow(ends) if ends.load.transport == TCP else None)


def _tcp(flow: Flow, http2: Http2, timing: Timing) -> _Streams:
    # Of the other protocols over TLS tshark shows no frames that would tell.
    decrypts = bool(http2.frames) if timing.protocol == "h2" else http2.application
    return _Streams(flow, {}, http2, decrypts, http2.cipher, http2.group)


def _quic(quic: Decrypted, timing: Timing) -> _Streams:
    flow = quic.flow if quic.decrypts else None
    started = sorted(timing.objects, key=lambda entry: entry.start_s or 0)
    paths = complete_paths(quic.paths, quic.flow.stream, [entry.path for entry in started])
    return _Streams(flow, paths, None, quic.decrypts, quic.cipher, quic.group, quic.contents)


def _add_congestion(found: Evaluation, ends: Ends, logged: Logged, asked: dict[str, Any]) -> None:
    """QUIC's congestion control by the server's log; TCP's is the kernel's, read back by the runner."""
    if ends.load.transport == TCP:
        return
    shown = seen(gather(logged.server)) if logged.server else None
    found.columns["server_congestion_control_seen"] = shown
    found.columns["congestion_control_verdict"] = verdict(asked.get("congestion_control"), shown)


def _detail(
    ends: Ends,
    streams: _Streams,
    arrivals: Arrivals,
    logged: Logged,
    last_ns: int,
    rtt_ms: float,
) -> dict[str, list[Row]]:
    tables: dict[str, list[Row]] = {name: [] for name in DETAIL_TABLES}
    if streams.flow is not None:
        tables["transport"] = transport_events(ends, streams.flow, arrivals, last_ns)
        tables["window"] = window_rows(ends, streams.flow, last_ns, rtt_ms)
        if ends.load.transport != TCP:
            tables["frames"] = frame_rows(ends, streams.flow, arrivals, streams.paths, last_ns)
    if streams.http2 is not None:
        tables["frames"] = http2_rows(streams.http2.frames, streams.http2.paths, ends)
    if logged.server is not None:
        try:
            events, window = sender_rows(logged.server, ends, last_ns)
        except QlogError:
            return tables
        tables["transport"] += events
        tables["window"] += window
    return tables


def _whole(path: Path) -> Frames:
    frames = read_frames(path)
    if frames.truncated:
        raise Unusable(f"{path.name}: cut short, its end is missing")
    return frames


def number(values: dict[str, Any], key: str, default: float) -> float:
    """A number of a description, or the default where there is none."""
    value = values.get(key)
    return float(value) if isinstance(value, int | float) else default
