"""Which packets that left one end arrived at the other."""

from __future__ import annotations

import numpy as np

from howquick.capture.buffer import pick
from howquick.capture.read import ETHERNET_BYTES, SCTP, TCP, UDP, Frames

# Ports, sequence and acknowledgement numbers, flags and time stamps of TCP, or the UDP header and
# 32 bytes of payload, which reach into the encrypted part of every QUIC packet; of SCTP the common header and
# the first chunk's, which has a sequence number.
_HEAD_BYTES = 40
_IDENTIFICATION_OFFSET = ETHERNET_BYTES + 4
_CHECKSUMS = {TCP: slice(16, 18), UDP: slice(6, 8), SCTP: slice(8, 12)}
_HEAD = np.dtype((np.void, _HEAD_BYTES))
_FACTORS = np.array(
    [
        0x9E3779B97F4A7C15,
        0xC2B2AE3D27D4EB4F,
        0x165667B19E3779F9,
        0xD6E8FEB86659FD93,
        0xFF51AFD7ED558CCD,
        0x94D049BB133111EB,
    ],
    dtype=np.uint64,
)


def fingerprints(frames: Frames, rows: np.ndarray) -> np.ndarray:
    """A 64-bit number per frame of `rows` that is the same at both ends of the link (uint64, (n,)).

    Made of what routers leave alone: of the IP header only the identification, which tells a
    retransmission from its original, and no checksums, which a sender may leave to be filled in
    later.
    """
    at = rows["offset"] + rows["transport_offset"]
    head = pick(frames.data, at, _HEAD).view(np.uint8).reshape(len(rows), _HEAD_BYTES)
    inside = np.minimum(
        rows["captured"].astype(np.int64) - rows["transport_offset"],
        _HEAD_BYTES,
    )
    short = np.flatnonzero(inside < _HEAD_BYTES)
    head[short] *= np.arange(_HEAD_BYTES) < inside[short, None]
    for protocol, checksum in _CHECKSUMS.items():
        head[np.flatnonzero(rows["protocol"] == protocol), checksum] = 0
    identification = pick(frames.data, rows["offset"] + _IDENTIFICATION_OFFSET, np.dtype("<u2"))
    words = np.column_stack((head.view(np.uint64), identification.astype(np.uint64)))
    mixed = words * _FACTORS
    mixed ^= mixed >> np.uint64(29)
    total: np.ndarray = mixed.sum(axis=1, dtype=np.uint64)
    return total


def count_lost(sent: np.ndarray, received: np.ndarray) -> int:
    """How many of the fingerprints `sent` (in order) are not among `received`.

    What was sent after the last packet that arrived is left out: it may have been under way when
    the capture ended. Packets that look alike are counted as often as they occur.
    """
    arrived = _matched(sent, received)
    if not arrived.any():
        return 0
    decided = len(sent) - int(np.argmax(arrived[::-1]))
    return int(np.count_nonzero(~arrived[:decided]))


def count_unmatched(some: np.ndarray, others: np.ndarray) -> int:
    """How many of the fingerprints `some` have no equal among `others` (each used once)."""
    return len(some) - int(np.count_nonzero(_matched(some, others)))


def match(some: np.ndarray, others: np.ndarray) -> np.ndarray:
    """For each of `some` the index of its equal among `others`, -1 if there is none (int64, (n,)).

    Each of `others` is used once; of equal ones the first with the first, and so on.
    """
    place = np.full(len(some), -1, np.int64)
    if len(some) == 0 or len(others) == 0:
        return place
    order, other_order = np.argsort(some, kind="stable"), np.argsort(others, kind="stable")
    ordered, other_ordered = some[order], others[other_order]
    rank = np.arange(len(some)) - np.searchsorted(ordered, ordered, "left")
    at = np.searchsorted(other_ordered, ordered, "left") + rank
    inside = np.minimum(at, len(others) - 1)
    found = (at < len(others)) & (other_ordered[inside] == ordered)
    place[order[found]] = other_order[inside[found]]
    return place


def _matched(some: np.ndarray, others: np.ndarray) -> np.ndarray:
    """For each of `some` whether it has an equal among `others`; each of those is used once."""
    return np.asarray(match(some, others) >= 0)
