"""The tables of single runs: transport events, sender's window, and the arrival of every resource."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from howquick.capture.read import TCP
from howquick.extract.arrivals import NEVER, Arrivals
from howquick.extract.flow import Flow, Pieces
from howquick.extract.http2 import DataFrame
from howquick.extract.load import Ends

# Rows per run and kind of event, so that tables stay small beside the captures they come from.
MOST_ROWS = 500
# A run's frames are drawn one by one: enough for a page of 1.5 MB in full.
MOST_FRAMES = 2000

Row = dict[str, Any]


def transport_events(ends: Ends, flow: Flow, arrivals: Arrivals, last_ns: int) -> list[Row]:
    """What happened to the packets up to `last_ns`, at most MOST_ROWS rows per event.

    `sent`, `retransmitted`: stream bytes leave the server; `lost`: so did a packet that never
    arrived; `received`: they arrive at the client; `acknowledged`: the server gets to know. A row
    stands for `packets` consecutive packets, its time is the last one's.
    """
    sent = ends.server_down.rows["time_ns"][flow.row]
    arrived = arrivals.down[flow.row]
    came = (arrived != NEVER) & (arrived <= last_ns)
    order = np.flatnonzero(came)[np.argsort(arrived[came], kind="stable")]
    whole = ends.server_down.rows
    gone = np.flatnonzero(arrivals.down == NEVER)
    gone_up = np.flatnonzero(arrivals.up == NEVER)
    up = ends.client_up.rows
    repeats = flow.length - flow.new
    found = {
        ("down", "sent"): (sent, flow.length),
        ("down", "retransmitted"): (sent[flow.again], repeats[flow.again]),
        ("down", "received"): (arrived[order], flow.length[order]),
        ("down", "acknowledged"): (flow.acked_ns, flow.acked_bytes),
        ("down", "lost"): (whole["time_ns"][gone], whole["payload"][gone].astype(np.int64)),
        ("up", "lost"): (up["time_ns"][gone_up], up["payload"][gone_up].astype(np.int64)),
    }
    rows: list[Row] = []
    until = min(last_ns, flow.known_until_ns)
    for (direction, event), (time_ns, size) in found.items():
        within = time_ns <= until
        rows += event_rows(
            (time_ns[within] - ends.load.first_ns) / 1e9, size[within], direction, event, "capture"
        )
    return rows


def event_rows(
    time_s: np.ndarray, size: np.ndarray, direction: str, event: str, source: str
) -> list[Row]:
    """One row per event, or per some consecutive ones where there are more than MOST_ROWS."""
    if len(time_s) == 0:
        return []
    each = -(-len(time_s) // MOST_ROWS)
    first = np.arange(0, len(time_s), each)
    last = np.minimum(first + each, len(time_s)) - 1
    total = np.cumsum(size)
    names = {"direction": direction, "event": event, "source": source}
    return [
        names | {"time_s": time, "packets": packets, "bytes": size, "total_bytes": so_far}
        for time, packets, size, so_far in zip(
            time_s[last].tolist(),
            (last - first + 1).tolist(),
            np.add.reduceat(size, first).tolist(),
            total[last].tolist(),
            strict=True,
        )
    ]


def window_rows(ends: Ends, flow: Flow, last_ns: int, rtt_ms: float) -> list[Row]:
    """The sender's bytes in flight and delivery rate, by the server's capture.

    In flight is what was sent and not yet acknowledged, at the times of acknowledgements; a
    sender's own window is not in a capture. The delivery rate is what was acknowledged within the
    RTT before, at least 20 ms.
    """
    until = min(last_ns, flow.known_until_ns)
    inside = flow.acked_ns <= until
    time, gained = flow.acked_ns[inside], flow.acked_bytes[inside]
    if len(time) == 0:
        return []
    sent_ns = ends.server_down.rows["time_ns"][flow.row]
    sent = np.concatenate(([0], np.cumsum(flow.new)))[np.searchsorted(sent_ns, time, "right")]
    acked = np.cumsum(gained)
    span = round(max(rtt_ms, 20) * 1_000_000)
    before = np.searchsorted(time, time - span, "right")
    earlier = np.concatenate(([0], acked))[before]
    rate = (acked - earlier) * 8 / (span / 1e9) / 1e6
    keep = np.arange(0, len(time), -(-len(time) // MOST_ROWS))
    return [
        {"time_s": when, "bytes_in_flight": flight, "delivery_rate_mbit": mbit, "source": "capture"}
        for when, flight, mbit in zip(
            ((time[keep] - ends.load.first_ns) / 1e9).tolist(),
            np.maximum(sent - acked, 0)[keep].tolist(),
            rate[keep].tolist(),
            strict=True,
        )
    ]


def frame_rows(
    ends: Ends, flow: Flow, arrivals: Arrivals, paths: Mapping[int, str], last_ns: int
) -> list[Row]:
    """Each piece of a stream in the order of sending: when it left, when it arrived, whose it is.

    An empty arrival: it did not. Where there are more than MOST_FRAMES, pieces of one stream within
    some consecutive packets share a row.
    """
    sent = ends.server_down.rows["time_ns"][flow.row]
    count = int(np.searchsorted(sent, min(last_ns, flow.known_until_ns), "right"))
    arrived = arrivals.down[flow.row[:count]]
    first = ends.load.first_ns
    never = (arrived == NEVER) | (arrived == np.iinfo(np.int64).max)
    rows: list[Row] = [
        {
            "sent_s": (left - first) / 1e9,
            "time_s": None if lost else (came - first) / 1e9,
            "stream": stream,
            "path": paths.get(stream),
            "offset": start,
            "bytes": length,
            "lost": lost,
        }
        for left, came, lost, stream, start, length in zip(
            sent[:count].tolist(),
            arrived.tolist(),
            never.tolist(),
            flow.stream[:count].tolist(),
            flow.start[:count].tolist(),
            flow.length[:count].tolist(),
            strict=True,
        )
    ]
    return merge(rows)


def http2_rows(frames: Iterable[DataFrame], paths: Mapping[int, str], ends: Ends) -> list[Row]:
    """HTTP/2's DATA frames as they were complete at the client; see `frame_rows`."""
    return merge(
        [
            {
                "time_s": (frame.time_ns - ends.load.first_ns) / 1e9,
                "stream": frame.stream,
                "path": paths.get(frame.stream),
                "offset": frame.offset,
                "bytes": frame.size_bytes,
                "lost": False,
            }
            for frame in frames
            if frame.size_bytes > 0
        ]
    )


def merge(rows: list[Row]) -> list[Row]:
    """At most MOST_FRAMES rows, by joining neighbours of the same stream and fate.

    Of joined rows bytes add up, the offset is the first one's and times are the last one's.
    """
    each, merged = 1, rows
    while len(merged) > MOST_FRAMES and each < len(rows):
        each *= 2
        merged = []
        for begin in range(0, len(rows), each):
            groups: dict[tuple[int, bool], Row] = {}
            for row in rows[begin : begin + each]:
                key = (row["stream"], row["lost"])
                if known := groups.get(key):
                    row = row | {"offset": known["offset"], "bytes": known["bytes"] + row["bytes"]}
                groups[key] = row
            merged += groups.values()
    return merged


def retransmissions(ends: Ends, flow: Flow, last_ns: int) -> dict[str, int | None]:
    """`retransmitted_packets`, and `first_retransmitted_offset` in the response, within the load.

    TCP's streams hold the handshake too: it is taken off the offset: what the first connection's server sent
    before the client's next flight, with the request.
    """
    inside = ends.server_down.rows["time_ns"][flow.row] <= last_ns
    return sent_again(flow, inside, _handshake_bytes(ends, flow))


def sent_again(pieces: Pieces, inside: np.ndarray, handshake: int = 0) -> dict[str, int | None]:
    """The two columns of `retransmissions`.

    inside: which pieces count as repeats, shape (n,). handshake: bytes before the response. The offset is
    how many bytes of responses the server had sent for the first time before those that it had to send
    again; None if none were.
    """
    stream, start, length = pieces.stream, pieces.start, pieces.length
    again = np.flatnonzero(pieces.again & inside)
    values: dict[str, int | None] = {
        "retransmitted_packets": len(np.unique(pieces.row[again])),
        "first_retransmitted_offset": None,
    }
    before = np.cumsum(pieces.new) - pieces.new
    for index in again.tolist():
        same = np.flatnonzero(
            (stream[:index] == stream[index])
            & (start[:index] + length[:index] > start[index])
            & (start[:index] < start[index] + length[index])
        )
        if len(same) == 0:
            continue
        first = int(same[0])
        inner = max(int(start[index] - start[first]), 0)
        offset = int(before[first]) + inner - handshake
        if offset >= 0:
            values["first_retransmitted_offset"] = offset
            break
    return values


def _handshake_bytes(ends: Ends, flow: Flow) -> int:
    if ends.load.transport != TCP:
        return 0
    mine = flow.stream == 0
    if not mine.any():
        return 0
    sent = ends.server_down.rows["time_ns"][flow.row]
    up = ends.server_up
    payload = (up.rows["payload"] > 0) & (up.connection == 0)
    # A Client Hello can take two segments: the next flight is what comes after an answer to it.
    answers = up.rows["time_ns"][payload & (up.rows["time_ns"] > sent[mine][0])]
    return int(flow.new[mine & (sent < answers[0])].sum()) if len(answers) else 0
