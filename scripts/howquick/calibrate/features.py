"""What calibration checks of the properties of a link that not every link has."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from howquick.calibrate import packets, statistics
from howquick.calibrate.checks import NONE, Check, Reading, make_check, verdict_of
from howquick.testbed.link import ETHERNET_HEADER_BYTES, Link
from howquick.testbed.link_rules import DISTRIBUTIONS
from howquick.testbed.testbed import Testbed

# ECN's codepoints of packets that may be marked (RFC 3168, section 5).
ECT_0, ECT_1 = 2, 1
# A load under which queues grow slowly: what a management needs to speak is short then against its target.
AQM_LOAD = 1.1
AQM_TRAIN_S = 3.0
# A management speaks before so much of the queue is full.
AQM_SHARE = 0.9
# From where on dualpi2 marks packets of its low latency queue (net/sched/sch_dualpi2.c).
STEP_MS = 1.0
STEP_FRAMES = 4
# How long a router may take to say that a packet is too long, beside the delay.
ANSWER_S = 0.1
# Of a standard deviation, of which some thousand packets tell a hundredth.
JITTER_SHARE, JITTER_FLOOR_MS = 0.05, 0.1


def overtakes(link: Link) -> bool:
    """Whether packets of the link overtake each other."""
    return bool(link.jitter_ms or link.reorder_percent)


def without_delay(link: Link) -> Link:
    """The link without delay and loss, and without what needs them."""
    return replace(
        link, rtt_ms=0, loss_percent=0, delay_up_ms=None, loss_burst_packets=0, jitter_ms=0,
        reorder_percent=0,
    )  # fmt: skip


def usual_delay_s(link: Link) -> float:
    """Delay of one of the longest frames in either direction of a symmetric link, mean of what varies."""
    _, mean, _ = DISTRIBUTIONS[link.jitter_distribution]
    own = link.frame_bytes / link.bytes_per_second
    return (link.rtt_ms / 2 + mean * link.jitter_ms) / 1e3 + own


def varying_rtt(link: Link, times_ms: NDArray[np.float64], tolerance: float) -> Check:
    """The mean of round trips whose delays are drawn, with its 99 % interval."""
    _, mean, deviation = DISTRIBUTIONS[link.jitter_distribution]
    drawn = math.sqrt(2) * deviation * link.jitter_ms
    half = statistics.Z_99 * drawn / math.sqrt(len(times_ms))
    found = float(times_ms.mean())
    asked = link.rtt_ms + 2 * mean * link.jitter_ms
    reading = Reading(found, found - half, found + half, len(times_ms))
    return make_check("rtt_ms", "both", asked, reading, tolerance + half)


def delay_checks(
    link: Link, way: str, train: packets.Train, tolerance_ms: float, serialises: bool
) -> list[Check]:
    """Delay of a direction, how it varies, and how many packets have none, of a train that never queues."""
    side = link.side(way)
    if not len(train.sequence):
        return [make_check("delay_ms", way, side.rtt_ms / 2, NONE, 0)] if link.delay_up_ms else []
    own_ms = train.frame_bytes / side.bytes_per_second * 1e3 if serialises else 0.0
    delays = train.delay_s * 1e3 - own_ms
    checks = []
    if link.delay_up_ms is not None and not overtakes(link):
        found = float(delays.min())
        reading = Reading(found, found, float(delays.max()), len(delays))
        checks.append(make_check("delay_ms", way, side.rtt_ms / 2, reading, tolerance_ms))
    if link.jitter_ms:
        asked = DISTRIBUTIONS[link.jitter_distribution][2] * link.jitter_ms
        found = float(delays.std(ddof=1))
        half = statistics.Z_99 * found / math.sqrt(2 * len(delays))
        reading = Reading(found, found - half, found + half, len(delays))
        tolerance = JITTER_SHARE * asked + JITTER_FLOOR_MS
        checks.append(make_check("jitter_ms", way, asked, reading, tolerance))
    if link.reorder_percent:
        early = int((delays < side.rtt_ms / 4).sum())
        checks.append(_share("reorder_percent", way, link.reorder_percent, early, len(delays)))
    return checks


def path_mtu_checks(bed: Testbed) -> list[Check]:
    """The path MTU that each end learns from the router by sending one of the interfaces' longest packets."""
    asked = bed.link.path_mtu_bytes or bed.link.mtu_bytes
    frame = bed.link.mtu_bytes + ETHERNET_HEADER_BYTES
    wait_s = bed.link.rtt_ms / 1e3 + ANSWER_S
    checks = []
    for way, ends in (("up", (bed.client, bed.server)), ("down", (bed.server, bed.client))):
        learnt = packets.learnt_path_mtu(*ends, frame, wait_s)
        checks.append(
            make_check("path_mtu_bytes", way, asked, Reading(learnt, learnt, learnt, 1), 0)
        )
    return checks


def burst_checks(link: Link, way: str, trains: list[NDArray[np.bool_]]) -> list[Check]:
    """Mean loss, and how often a loss follows a loss, of the losses of all attempts.

    The mean's interval is that of the asked chain: its correlation from packet to packet is 1 - p - r, with
    the chances p and r to enter and leave the bad state, which stretches the variance of what it decides.
    """
    inside = link.loss_in_burst_percent / 100
    leave = 1 / link.loss_burst_packets
    bad = link.loss_percent / 100 / inside
    enter = leave * bad / (1 - bad)
    correlation = 1 - enter - leave
    chance = link.loss_percent / 100
    sent = sum(len(lost) for lost in trains)
    variance = inside**2 * bad * (1 - bad) * (1 + correlation) / (1 - correlation)
    variance += bad * inside * (1 - inside)
    half = statistics.Z_99 * math.sqrt(variance / sent)
    found = sum(int(lost.sum()) for lost in trains) / sent
    reading = Reading(100 * found, 100 * (found - half), 100 * (found + half), sent)
    mean = make_check("loss_percent", way, link.loss_percent, reading, 100 * half)
    before = sum(int(lost[:-1].sum()) for lost in trains)
    both = sum(int((lost[:-1] & lost[1:]).sum()) for lost in trains)
    if not before:
        return [mean, make_check("loss_after_loss_percent", way, 100 * chance, NONE, 0)]
    again = 100 * inside * (1 - leave)
    return [mean, _share("loss_after_loss_percent", way, again, both, before)]


def _share(quantity: str, way: str, asked: float, hits: int, trials: int) -> Check:
    """A check that passes if what was asked for lies in the 99 % interval of a share, in percent."""
    low, high = (100 * end for end in statistics.binomial_interval(hits, trials))
    found = 100 * hits / trials
    verdict = verdict_of(low <= asked <= high)
    return Check(quantity, way, asked, found, low, high, trials, (high - low) / 2, verdict)


def codepoints(link: Link) -> list[int]:
    """Of the trains that find out what a management does."""
    return [ECT_0, ECT_1] if link.aqm == "dualpi2" else [ECT_0]


def first_signal(train: packets.Train) -> int | None:
    """The place among the packets that arrived of the first that is marked, or behind a lost one."""
    signal = train.marked.copy()
    signal[1:] |= np.diff(train.sequence) > 1
    places = np.flatnonzero(signal)
    return int(places[0]) if len(places) else None


def before_signal(train: packets.Train) -> packets.Train:
    """The part of a train that came before the management spoke, if that is enough to tell the rate."""
    first = first_signal(train)
    if first is None or first < 4 * statistics.BATCHES:
        return train
    return replace(
        train, sequence=train.sequence[:first], sent_s=train.sent_s[:first],
        received_s=train.received_s[:first], marked=train.marked[:first],
    )  # fmt: skip


def aqm_checks(link: Link, way: str, codepoint: int, train: packets.Train) -> list[Check]:
    """How long the queue is when the management first speaks, and whether it marks or drops.

    link: a symmetric one. The queue must not be full then: what a plain queue does is no management.
    """
    name = "aqm_delay_ms" if codepoint == ECT_0 else "l4s_delay_ms"
    first = first_signal(train) if len(train.sequence) else None
    if first is None:
        return [make_check(name, way, link.queue_delay_ms, NONE, 0)]
    waited = float(train.delay_s[first] - train.delay_s[0]) * 1e3
    reading = Reading(waited, waited, waited, 1)
    if codepoint == ECT_1:
        frame_ms = link.frame_bytes / link.bytes_per_second * 1e3
        speaks = make_check(name, way, STEP_MS, reading, STEP_FRAMES * frame_ms)
    else:
        # Anything from an empty queue to most of the longest one.
        most = AQM_SHARE * link.queue_delay_ms
        verdict = verdict_of(waited <= most)
        speaks = Check(name, way, link.queue_delay_ms, *reading, most, verdict)
    marks = int(train.marked.sum())
    wanted = link.marks
    marked = Check(
        "marked", way, float(wanted), float(marks), float(marks), float(marks), len(train.sequence),
        0, verdict_of(bool(marks) == wanted),
    )  # fmt: skip
    return [speaks, marked]
