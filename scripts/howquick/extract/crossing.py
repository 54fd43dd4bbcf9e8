"""What happened to packets on their way: marks of congestion, and how long they queued."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from howquick.capture.buffer import pick
from howquick.capture.read import ETHERNET_BYTES, Frames
from howquick.extract.compare import fingerprints, match
from howquick.extract.load import PageLoad
from howquick.extract.metrics import crossing_rows
from howquick.testbed.link_rules import DISTRIBUTIONS

# ECN's two bits (RFC 3168, section 5) of the traffic class, the second byte of the IPv4 header.
_TRAFFIC_CLASS_OFFSET = ETHERNET_BYTES + 1
_ECN, _CE = 3, 3


def crossing_columns(
    client: Frames, server: Frames, load: PageLoad, last_ns: int
) -> dict[str, int | float | None]:
    """Columns of each direction, of what was sent from the start of the load to its end (Unix nanoseconds).

    `ecn_capable_*`, `ecn_marked_*`: packets that were sent as capable of ECN, and packets that the link
    marked; a sender may mark one by itself, to see whether it arrives. `queueing_*_median_ms` and
    `queueing_*_p99_ms`: by how much the one-way delay exceeded the least of the direction; empty where
    nothing arrived.
    """
    ways = {"up": (client, server, "destination"), "down": (server, client, "source")}
    found: dict[str, int | float | None] = {}
    for way, (sender, receiver, address) in ways.items():
        sent, received = crossing_rows(sender, receiver, load, address)
        sent = sent[sent["time_ns"] <= last_ns]
        place = match(fingerprints(sender, sent), fingerprints(receiver, received))
        crossed = place >= 0
        arrived = received[place[crossed]]
        delay_ms = (arrived["time_ns"] - sent["time_ns"][crossed]) / 1e6
        codepoint = _ecn(sender, sent)
        marked = (_ecn(receiver, arrived) == _CE) & (codepoint[crossed] != _CE)
        found[f"ecn_capable_{way}"] = int(np.count_nonzero(codepoint))
        found[f"ecn_marked_{way}"] = int(np.count_nonzero(marked))
        waited = delay_ms - delay_ms.min() if len(delay_ms) else delay_ms
        for name, share in (("median", 50), ("p99", 99)):
            value = round(float(np.percentile(waited, share)), 6) if len(waited) else None
            found[f"queueing_{way}_{name}_ms"] = value
    return found


def _ecn(frames: Frames, rows: np.ndarray) -> np.ndarray:
    traffic_class = pick(frames.data, rows["offset"] + _TRAFFIC_CLASS_OFFSET, np.dtype("u1"))
    return np.asarray(traffic_class & _ECN)


def quickest_round_trip_ms(link: Mapping[str, Any]) -> float:
    """Twice the delay that a packet to the server has at least, by the description of the link."""
    rtt = link.get("rtt_ms", 0)
    up = link.get("delay_up_ms", rtt / 2 if isinstance(rtt, int | float) else 0)
    below, _, _ = DISTRIBUTIONS[link.get("jitter_distribution", "normal")]
    shortest = up - below * link.get("jitter_ms", 0)
    return 0.0 if link.get("reorder_percent") else 2 * max(0.0, float(shortest))
