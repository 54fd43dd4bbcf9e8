"""Which rate the next segment is asked for with: one algorithm by the buffer, one by the throughput."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from howquick.player.video import Video

# BOLA's weight of an undisturbed playback: γp, as in all of its evaluation (section V).
GAMMA_P = 5.0
# FESTIVE's estimate: the harmonic mean of so many segments, of which this share counts as affordable.
SAMPLES = 20
SHARE = 0.85


@dataclass(frozen=True)
class Fetch:
    """A segment that was fetched: its rung, its size, and the seconds from asking to its last byte."""

    rung: int
    size_bytes: int
    seconds: float


Algorithm = Callable[[Video, float, Sequence[Fetch]], int]


def bola(video: Video, level_s: float, fetched: Sequence[Fetch]) -> int:
    """The rung of the next segment by the buffer alone; `level_s` seconds of video are in it.

    BOLA-BASIC of Spiteri, Urgaonkar, Sitaraman, BOLA: Near-Optimal Bitrate Adaptation for Online Videos
    (INFOCOM 2016; IEEE/ACM Transactions on Networking 28(4), 2020, sections IV and V): the rung with the
    largest (V·(v + γp) − Q) / S, where Q is the buffer in segments, S the size of a segment, and v the
    logarithm of S over the lowest rung's. V follows from the buffer's size: (Q_max − 1) / (v of the highest
    rung + γp).
    """
    del fetched
    queue = level_s / video.segment_s
    utilities = [math.log(rate / video.ladder_mbit[0]) for rate in video.ladder_mbit]
    v = (video.buffer_s / video.segment_s - 1) / (utilities[-1] + GAMMA_P)
    scores = [
        (v * (utility + GAMMA_P) - queue) / rate
        for utility, rate in zip(utilities, video.ladder_mbit, strict=True)
    ]
    return scores.index(max(scores))


def throughput(video: Video, level_s: float, fetched: Sequence[Fetch]) -> int:
    """The rung of the next segment by what was fetched before; the lowest one where nothing was.

    Estimate and stateful choice of FESTIVE (Jiang, Sekar, Zhang, Improving Fairness, Efficiency, and
    Stability in HTTP-based Adaptive Video Streaming with FESTIVE, CoNEXT 2012): affordable is a share of the
    harmonic mean of the last segments' throughputs; down by one rung where the current one is not, up by
    one from the k-th rung after k segments of it where the next one is. Without its delayed update and its
    randomised requests, which are there for several players on one link.
    """
    del level_s
    if not fetched:
        return 0
    last = fetched[-SAMPLES:]
    affordable = SHARE * len(last) / sum(one.seconds / (8e-6 * one.size_bytes) for one in last)
    current = fetched[-1].rung
    if video.ladder_mbit[current] > affordable:
        return max(current - 1, 0)
    above = current + 1
    if above == len(video.ladder_mbit) or video.ladder_mbit[above] > affordable:
        return current
    # The k-th rung, counted from 1, has the index k - 1.
    lately = fetched[-above:]
    stayed = len(lately) == above and all(one.rung == current for one in lately)
    return above if stayed else current


ALGORITHMS: dict[str, Algorithm] = {"bola": bola, "throughput": throughput}
