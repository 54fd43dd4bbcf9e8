"""What a server sent again, by its own log: captures of headers cannot be decrypted."""

from __future__ import annotations

from typing import Any

import numpy as np

from howquick.extract.detail import sent_again
from howquick.extract.flow import Pieces, new_per_stream
from howquick.extract.load import Ends
from howquick.extract.qlog import SENT
from howquick.extract.qlog_detail import log_seconds
from howquick.extract.qlog_file import Qlog, is_amount

# Where the stacks write how long a STREAM frame's data are: the later drafts in its `raw`.
_LENGTH_KEYS = (("length",), ("raw", "payload_length"), ("raw", "length"))

# As many packets as stacks send in one go at the end.
END_SLACK_PACKETS = 3


def logged_retransmissions(log: Qlog, ends: Ends, last_ns: int) -> dict[str, int | None]:
    """`retransmitted_packets` and `first_retransmitted_offset` within the load, as the server's log has them.

    Empty where the log does not tell what its packets carry. Raises QlogError for a record that is not JSON.
    """
    found = _pieces(log)
    if found is None:
        return {}
    row, stream, start, length = (found[:, column] for column in range(4))
    new = new_per_stream(stream, start, length)
    inside = log_seconds(log, ends)[row] <= (last_ns - ends.load.first_ns) / 1e9
    return sent_again(Pieces(row, stream, start, length, new), inside)


def retransmissions_differ(log: dict[str, int | None], capture: dict[str, int | None]) -> str:
    """What log and capture say differently of what was sent again; empty if nothing.

    Those at the very end of the load may be on either side of it: the log's clock is another.
    """
    ours, theirs = (values["retransmitted_packets"] or 0 for values in (log, capture))
    if abs(ours - theirs) > END_SLACK_PACKETS:
        return f"{ours} packets sent again, but the capture has {theirs}"
    first, other = (values["first_retransmitted_offset"] for values in (log, capture))
    if None not in (first, other) and first != other:
        return f"the first byte sent again is {first}, but by the capture {other}"
    return ""


def _pieces(log: Qlog) -> np.ndarray | None:
    """(event, stream, start, length) of each STREAM frame sent, shape (n, 4); None if one does not tell."""
    pieces = []
    for index in log.of_kind(SENT):
        frames = log.data(index).get("frames")
        for frame in frames if isinstance(frames, list) else []:
            if not isinstance(frame, dict) or frame.get("frame_type") != "stream":
                continue
            stream, length = frame.get("stream_id"), _length(frame)
            start = frame.get("offset", 0)
            if not (is_amount(stream) and is_amount(start)) or length is None:
                return None
            pieces.append((index, int(stream), int(start), length))
    return np.array(pieces, np.int64).reshape(-1, 4) if pieces else None


def _length(frame: dict[str, Any]) -> int | None:
    for keys in _LENGTH_KEYS:
        value: Any = frame
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        if is_amount(value):
            return int(value)
    return None
