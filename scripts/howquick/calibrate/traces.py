"""What calibration checks of a rate that follows a trace: what a full link delivers, window by window."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from howquick.calibrate import packets
from howquick.calibrate.checks import NONE, Check, Reading, make_check
from howquick.testbed import trace
from howquick.testbed.link import Link
from howquick.testbed.namespace import Namespace
from howquick.testbed.testbed import Testbed
from howquick.testbed.wire import MOST_GROWTH

# More than the trace ever lets pass, so that there is always a queue.
OVERLOAD = 1.1
# Of a longer trace so much of its beginning is looked at.
MOST_S = 60.0
# A step is off by less than a frame at either end of a window, and frames are counted whole.
WINDOW_FRAMES = 2
# Of all that came, beside as many frames: what most steps are off by is more here and less there. Only where
# the rate grows by much is it always more: by less than a frame.
SHARE = 0.002


class Delivered(NamedTuple):
    """Of each window of a trace that was looked at: seconds, bytes that are due, and bytes delivered."""

    span_s: np.ndarray
    due: np.ndarray
    came: np.ndarray


def trace_checks(bed: Testbed, way: str, ends: tuple[Namespace, Namespace]) -> list[Check]:
    """Replay the trace of a direction under a load above its peak, from its beginning."""
    side = bed.link.side(way)
    found = delivered(bed, side, ends)
    if not len(found.due):
        return [make_check("trace_mbit", way, side.bandwidth_mbit, NONE, 0)]
    to_mbit = 8 / 1e6 / float(found.span_s.sum())
    asked, measured = (float(one.sum()) * to_mbit for one in (found.due, found.came))
    whole = Reading(measured, measured, measured, len(found.due))
    worst = float(np.abs(found.came - found.due).max()) / side.frame_bytes
    window = Reading(worst, worst, worst, len(found.due))
    jumps = sum(
        MOST_GROWTH * before < after for before, after in pairwise(found.due / found.span_s)
    )
    tolerance = SHARE * asked + (WINDOW_FRAMES + jumps) * side.frame_bytes * to_mbit
    return [
        make_check("trace_mbit", way, asked, whole, tolerance),
        make_check("trace_window_frames", way, 0, window, WINDOW_FRAMES),
    ]


def delivered(bed: Testbed, side: Link, ends: tuple[Namespace, Namespace]) -> Delivered:
    """What came in each window in which the queue was never empty."""
    steps = trace.load(side.rate_trace).steps()
    looked_s = min(MOST_S, steps[-1][0] / 1e3)
    peak = max(mbit for _, mbit in steps) * 1e6 / 8 / side.frame_bytes
    drain_s = (side.rtt_ms / 2 + side.queue_delay_ms) / 1e3
    begin_ns = bed.replay()
    assert begin_ns is not None
    until_s = (begin_ns - time.time_ns()) / 1e9 + looked_s
    load = OVERLOAD * peak / (1 - side.loss_percent / 100)
    train = packets.send_train(ends, side.frame_bytes, load, until_s, drain_s)
    # What waits leaves the link by the mean rate.
    bed.seed(0, 0)
    time.sleep(drain_s)
    # Whole nanoseconds: what an outage has caught comes at its very end.
    at_ns = np.rint(train.received_s * 1e9).astype(np.int64) + train.begin_ns - begin_ns
    edges_ns = np.array([0, *(end_ms for end_ms, _ in steps)], dtype=np.int64) * 1_000_000
    rates = np.array([mbit * 1e6 / 8 for _, mbit in steps])
    first_ns = at_ns[0] if len(at_ns) else np.iinfo(np.int64).max
    counted = (edges_ns[:-1] >= first_ns) & (edges_ns[1:] <= looked_s * 1e9)
    came = np.array([np.count_nonzero((at_ns >= a) & (at_ns < b)) for a, b in pairwise(edges_ns)])
    span_s = np.diff(edges_ns) / 1e9
    due = rates * span_s
    return Delivered(span_s[counted], due[counted], came[counted] * side.frame_bytes)
