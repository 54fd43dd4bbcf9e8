"""Which packets that left one end arrived at the other."""

from __future__ import annotations

import numpy as np

from howquick.capture.buffer import pick
from howquick.capture.read import TCP, Frames

# Ports, sequence and acknowledgement numbers, flags and time stamps of TCP, or the UDP header and
# 32 bytes of payload, which reach into the encrypted part of every QUIC packet.
_HEAD_BYTES = 40
_HEAD = np.dtype((np.void, _HEAD_BYTES))
_FACTORS = np.array(
    [
        0x9E3779B97F4A7C15,
        0xC2B2AE3D27D4EB4F,
        0x165667B19E3779F9,
        0xD6E8FEB86659FD93,
        0xFF51AFD7ED558CCD,
    ],
    dtype=np.uint64,
)


def fingerprints(frames: Frames, rows: np.ndarray) -> np.ndarray:
    """A 64-bit number per frame of `rows` that is the same at both ends of the link (uint64, (n,)).

    Made of what routers leave alone: neither the IP header nor the checksums, which a sender may
    leave to be filled in later.
    """
    at = rows["offset"] + rows["transport_offset"]
    head = pick(frames.data, at, _HEAD).view(np.uint8).reshape(len(rows), _HEAD_BYTES)
    inside = np.minimum(
        rows["captured"].astype(np.int64) - rows["transport_offset"],
        _HEAD_BYTES,
    )
    short = np.flatnonzero(inside < _HEAD_BYTES)
    head[short] *= np.arange(_HEAD_BYTES) < inside[short, None]
    is_tcp = rows["protocol"] == TCP
    head[np.flatnonzero(is_tcp), 16:18] = 0
    head[np.flatnonzero(~is_tcp), 6:8] = 0
    mixed = head.view(np.uint64) * _FACTORS
    mixed ^= mixed >> np.uint64(29)
    total: np.ndarray = mixed.sum(axis=1, dtype=np.uint64)
    return total


def count_lost(sent: np.ndarray, received: np.ndarray) -> int:
    """How many of the fingerprints `sent` (in order) are not among `received`.

    What was sent after the last packet that arrived is left out: it may have been under way when
    the capture ended. Packets that look alike are counted as often as they occur.
    """
    if len(sent) == 0 or len(received) == 0:
        return 0
    order = np.argsort(sent, kind="stable")
    ordered = sent[order]
    starts = np.searchsorted(ordered, ordered, "left")
    rank = np.empty(len(sent), np.int64)
    rank[order] = np.arange(len(sent)) - starts
    values, counts = np.unique(received, return_counts=True)
    place = np.minimum(np.searchsorted(values, sent), len(values) - 1)
    available = np.where(values[place] == sent, counts[place], 0)
    arrived = rank < available
    if not arrived.any():
        return 0
    decided = len(sent) - int(np.argmax(arrived[::-1]))
    return int(np.count_nonzero(~arrived[:decided]))
