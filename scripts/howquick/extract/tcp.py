"""TCP sequence space: which bytes of a direction are seen for the first time."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np


def stream_positions(sequence: np.ndarray, base: int) -> np.ndarray:
    """Positions in the byte stream (int64) of wire sequence numbers, in capture order.

    `base` is the wire sequence number of the stream's first byte. The 32-bit numbers may wrap any
    number of times, as long as neighbours are less than 2^31 apart (RFC 9293, section 3.4).
    """
    if len(sequence) == 0:
        return np.empty(0, np.int64)
    steps = np.diff(sequence.astype(np.uint32), prepend=np.uint32(base)).astype(np.int32)
    return np.cumsum(steps, dtype=np.int64)


def new_bytes(start: np.ndarray, length: np.ndarray) -> np.ndarray:
    """How many bytes of each segment no earlier segment carried; shape as `start`.

    `start` are stream positions, `length` payload bytes. Bytes before position zero (keep-alive
    probes of an unused connection) are never new.
    """
    end = start + length
    new = length.astype(np.int64)
    highest = np.maximum.accumulate(np.concatenate(([0], end)))[:-1]
    # In-order segments, nearly all of them, are wholly new: only the others need a look.
    holes: list[tuple[int, int]] = []
    for index in np.flatnonzero(start != highest).tolist():
        first, last, top = int(start[index]), int(end[index]), int(highest[index])
        if first > top:
            holes.append((top, first))
        else:
            new[index] = max(last - top, 0) + _fill(holes, first, min(last, top))
    return new


def _fill(holes: list[tuple[int, int]], first: int, last: int) -> int:
    """Take [first, last) out of the sorted, disjoint `holes`; returns how many bytes it filled."""
    index = bisect_right(holes, (first, first))
    if index > 0 and holes[index - 1][1] > first:
        index -= 1
    filled = 0
    while index < len(holes) and holes[index][0] < last:
        low, high = holes.pop(index)
        begin, stop = max(low, first), min(high, last)
        filled += stop - begin
        remains = [(a, b) for a, b in ((low, begin), (stop, high)) if a < b]
        holes[index:index] = remains
        index += len(remains)
    return filled
