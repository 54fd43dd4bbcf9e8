"""Measure what a link really does, with probes that are not the backend's (docs, section 7)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from howquick.calibrate import features, packets, statistics
from howquick.calibrate.checks import NONE, Check, Reading, make_check, verdict_of
from howquick.calibrate.traces import trace_checks
from howquick.guard.machine import pressure_s
from howquick.testbed.link import DIRECTIONS, NO_TRACE, Link
from howquick.testbed.namespace import Namespace
from howquick.testbed.testbed import Testbed

ATTEMPTS = 3
ECHOES = 120
ECHO_GAP_S = 0.008
OVERLOAD = 1.5  # offered load of the saturating train, after losses, in rates of the link
STEADY_S = 1.0  # how long the train goes on once the queue is full
LOSS_TRAIN_S = 3.0
LOSS_TRAIN_LOAD = 0.3  # share of the rate that the packets which count losses use
LOSS_TRAIN_LIMIT = 2000  # packets per second
SILENCE_S = 0.1
RUNS_P = 0.001
BURST_PROBE_BYTES = 1_000_000
# More than this is no property of the backend but a busy machine.
MOST_OFFSET_MS = 0.5
BURST_FRAMES = 2
BURST_TOLERANCE = 0.02
# What a bucket is emptied with, and how much more than it holds is sent.
BUCKET_PROBE_MBIT = 200
BUCKET_PROBE_SHARE = 1.2
LATE_S = 0.001  # how late a first packet may be


@dataclass(frozen=True)
class Tolerance:
    """How far a link may be from what was asked for: round-trip time in milliseconds and as a share (the
    larger counts), rate and longest queue as shares; of a queue also as frames (the larger counts).
    """

    rtt_ms: float
    rtt: float
    rate: float
    queue: float
    queue_frames: int


# A queue holds ten frames at least, so a tenth of it is never less than one.
REAL = Tolerance(rtt_ms=0.5, rtt=0.01, rate=0.01, queue=0.1, queue_frames=0)
# Nothing comes late. What is left of a queue: a frame that does not fit, the one that is partly sent, and
# the time on the wire of the train's first, to which the others are compared.
VIRTUAL = Tolerance(rtt_ms=0.01, rtt=0.0, rate=0.001, queue=0.001, queue_frames=3)


@dataclass(frozen=True)
class Way:
    """A direction of the link."""

    name: str
    source: Namespace
    target: Namespace


class Calibration:
    """All measurements of one testbed's link, each repeated if it fails.

    A failure may come from other programs that take the processor away, so each stage gets
    three attempts; all of them are recorded with the machine's CPU pressure. Losses of several
    attempts are counted together, since picking the lucky one would make the interval a lie.
    """

    def __init__(self, bed: Testbed, tolerance: Tolerance = REAL) -> None:
        self.bed, self.tolerance = bed, tolerance
        self.link = bed.link
        self.attempts: list[dict[str, Any]] = []
        self._lost: dict[str, list[NDArray[np.bool_]]] = {"up": [], "down": []}

    def run(self) -> dict[str, Any]:
        """Measure everything; gives the file's content, but for the link's name."""
        ways = (
            Way("up", self.bed.client, self.bed.server),
            Way("down", self.bed.server, self.bed.client),
        )
        checks = self._stage("rtt", self._rtt)
        for way in ways if not self.link.unshaped else ():
            if self.link.burst_bytes:
                checks += self._stage(f"burst {way.name}", partial(self._bucket, way))
            if self.link.aqm != "none":
                # First: what it does follows from what it has seen.
                checks += self._stage(f"aqm {way.name}", partial(self._aqm, way))
            checks += self._stage(f"saturated {way.name}", partial(self._saturate, way))
            if self.link.side(way.name).rate_trace != NO_TRACE:
                replayed = partial(trace_checks, self.bed, way.name, (way.source, way.target))
                checks += self._stage(f"trace {way.name}", replayed)
        if self.link.path_mtu_bytes is not None:
            checks += self._stage("path_mtu", partial(features.path_mtu_checks, self.bed))
        for way in ways:
            checks += self._stage(f"loss {way.name}", partial(self._loss, way))
        return {
            "link": self.link.to_dict(),
            "backend": self.bed.backend.name,
            "backend_version": self.bed.backend.version(),
            "delay_offset_ms": self.bed.delay_offset_ms,
            "checks": [asdict(check) for check in checks],
            "attempts": self.attempts,
            "verdict": verdict_of(all(check.verdict == "pass" for check in checks)),
        }

    def _stage(self, name: str, measure: Callable[[], list[Check]]) -> list[Check]:
        """Measure until all checks pass, at most ATTEMPTS times; the last attempt counts."""
        checks: list[Check] = []
        for number in range(1, ATTEMPTS + 1):
            self.bed.seed(up=2 * number, down=2 * number + 1)
            before, start = pressure_s(), time.monotonic()
            checks = measure()
            wall, after = time.monotonic() - start, pressure_s()
            # None: this kernel does not tell.
            pressure = (
                None if before is None or after is None else round((after - before) / wall, 4)
            )
            passed = all(check.verdict == "pass" for check in checks)
            self.attempts.append(
                {
                    "stage": name,
                    "attempt": number,
                    "wall_s": round(wall, 3),
                    "cpu_pressure": pressure,
                    "measured": {check.quantity: check.measured for check in checks},
                    "emulator": self.bed.backend.counters(),
                    "verdict": verdict_of(passed),
                }
            )
            if passed:
                break
        return checks

    def _rtt(self) -> list[Check]:
        tolerance = max(self.tolerance.rtt_ms, self.tolerance.rtt * self.link.rtt_ms)
        times = round_trip_times_ms(self.bed)
        if not len(times):
            return [
                make_check("rtt_ms", "both", self.link.rtt_ms, Reading(-1, -1, -1, 0), tolerance)
            ]
        interval = statistics.median_interval(times)
        median = float(np.median(times))
        asked = self.link.rtt_ms
        if self.link.jitter_ms:
            return [features.varying_rtt(self.link, times, tolerance)]
        return [
            make_check("rtt_ms", "both", asked, Reading(median, *interval, len(times)), tolerance)
        ]

    def _saturate(self, way: Way) -> list[Check]:
        """Offer more than the rate after idleness: rate, queue, burst, order."""
        link = self.link.side(way.name)
        frames_per_s = link.bytes_per_second / link.frame_bytes
        # A bucket must be empty first; then the queue fills by what the load exceeds the rate.
        spare_s = link.burst_bytes / link.bytes_per_second
        duration = (link.queue_delay_ms / 1e3 + spare_s) / (OVERLOAD - 1) + STEADY_S
        offered = OVERLOAD * frames_per_s / (1 - link.loss_percent / 100)
        train = packets.send_train(
            (way.source, way.target), link.frame_bytes, offered, duration, self._drain_s(link)
        )
        if len(train.sequence) < 4 * statistics.BATCHES:
            return [make_check("rate_mbit", way.name, link.bandwidth_mbit, NONE, 0)]
        if link.aqm != "none":
            # Its queue is never full, and which packets it drops is its own affair.
            return [self._rate(way, features.before_signal(train))]
        in_order = make_check(
            "reordered", way.name, 0, Reading(train.reordered, 0, 0, len(train.sequence)), 0
        )
        if link.burst_bytes:
            # Of seconds with a bucket only the last one has a full queue.
            steady = train.after(duration - STEADY_S)
            return [self._rate(way, steady), self._queue(way, steady, train), in_order]
        queue = self._queue(way, train, train)
        if features.overtakes(link):
            # Which packet comes when is drawn: neither order nor what comes first is asked for.
            return [self._rate(way, train.after(duration - STEADY_S)), queue]
        return [self._rate(way, train), queue, self._burst(way, train), in_order]

    def _aqm(self, way: Way) -> list[Check]:
        """Offer a little more than the rate: the management speaks long before the queue is full."""
        link = self.link.side(way.name)
        checks = []
        for codepoint in features.codepoints(link):
            train = packets.send_train(
                (way.source, way.target),
                link.frame_bytes,
                features.AQM_LOAD * link.bytes_per_second / link.frame_bytes,
                features.AQM_TRAIN_S,
                self._drain_s(link),
                codepoint,
            )
            checks += features.aqm_checks(link, way.name, codepoint, train)
        return checks

    def _drain_s(self, link: Link) -> float:
        """How long the last packet may take in a direction of the link, and then a little."""
        return (link.rtt_ms + link.queue_delay_ms) / 1e3 + SILENCE_S

    def _bucket(self, way: Way) -> list[Check]:
        """Send more than the bucket holds much faster than the rate, right after it was filled."""
        link = self.link.side(way.name)
        load = max(BUCKET_PROBE_MBIT * 1e6 / 8, OVERLOAD * link.bytes_per_second)
        duration = BUCKET_PROBE_SHARE * link.burst_bytes / (load - link.bytes_per_second)
        train = packets.send_train(
            (way.source, way.target),
            link.frame_bytes,
            load / link.frame_bytes,
            duration,
            self._drain_s(link),
        )
        if not len(train.sequence):
            return [make_check("burst_bytes", way.name, link.burst_bytes, NONE, 0)]
        return [self._burst(way, train)]

    def _rate(self, way: Way, train: packets.Train) -> Check:
        """Bytes of frames per second between arrivals, from the first that no bucket lets pass early.

        A UDP payload of p bytes is a frame of p + 42: 8 of UDP, 20 of IPv4, 14 of Ethernet.
        """
        # What is sent beyond the rate empties the bucket within so many packets.
        first = math.ceil(BURST_FRAMES * OVERLOAD / (OVERLOAD - 1))
        edges = np.linspace(first, len(train.received_s) - 1, statistics.BATCHES + 1)
        edges = edges.astype(int)
        spans = np.diff(train.received_s[edges])
        batches = np.diff(edges) * train.frame_bytes * 8 / 1e6 / spans
        measured = float((edges[-1] - edges[0]) * train.frame_bytes * 8 / 1e6 / spans.sum())
        asked = self.link.side(way.name).bandwidth_mbit
        interval = statistics.batch_interval(batches)
        return make_check(
            "rate_mbit",
            way.name,
            asked,
            Reading(measured, *interval, int(edges[-1] - edges[0])),
            self.tolerance.rate * asked,
        )

    def _queue(self, way: Way, steady: packets.Train, train: packets.Train) -> Check:
        """One-way delay while the queue is full, less that of the first packet.

        steady: the part of the train at whose end the queue is full.
        """
        link = self.link.side(way.name)
        first = features.usual_delay_s(link) if features.overtakes(link) else train.delay_s[0]
        waits_ms = (steady.delay_s[-len(steady.delay_s) // 4 :] - first) * 1e3
        asked = link.queue_delay_ms
        frame_ms = train.frame_bytes / link.bytes_per_second * 1e3
        interval = statistics.median_interval(waits_ms)
        found = Reading(float(np.median(waits_ms)), *interval, len(waits_ms))
        if self.tolerance == VIRTUAL and not features.overtakes(link):
            # Nothing else holds a packet up. The train comes in bursts: the queue is full after each.
            longest = float(waits_ms.max())
            found = Reading(longest, longest, longest, len(waits_ms))
        return make_check(
            "queue_ms",
            way.name,
            asked,
            found,
            max(self.tolerance.queue * asked, self.tolerance.queue_frames * frame_ms)
            + link.jitter_ms,
        )

    def _burst(self, way: Way, train: packets.Train) -> Check:
        """How many bytes came earlier than the rate allows, in the first megabyte after idleness."""
        asked = self.link.burst_bytes
        first = len(train.received_s) if asked else max(2, BURST_PROBE_BYTES // train.frame_bytes)
        times = train.received_s[:first] - train.received_s[0]
        arrived = np.arange(len(times)) * train.frame_bytes
        rate = self.link.side(way.name).bytes_per_second
        excess = float((arrived - times * rate).max())
        tolerance = BURST_FRAMES * train.frame_bytes + LATE_S * rate
        tolerance += BURST_TOLERANCE * asked
        return make_check(
            "burst_bytes", way.name, asked, Reading(excess, excess, excess, len(times)), tolerance
        )

    def _loss(self, way: Way) -> list[Check]:
        """Count packets that are too few to fill any queue, and test their losses' independence."""
        link = self.link.side(way.name)
        most = LOSS_TRAIN_LOAD * link.bytes_per_second / packets.SHORTEST_FRAME
        silence = link.rtt_ms / 1e3 + SILENCE_S
        tolerance = max(self.tolerance.rtt_ms, self.tolerance.rtt * link.rtt_ms)
        train = packets.send_train(
            (way.source, way.target),
            packets.SHORTEST_FRAME,
            min(most, LOSS_TRAIN_LIMIT),
            LOSS_TRAIN_S,
            silence,
        )
        pooled = self._lost[way.name]
        pooled.append(train.lost)
        lost = sum(int(flags.sum()) for flags in pooled)
        sent = sum(len(flags) for flags in pooled)
        low, high = statistics.binomial_interval(lost, sent)
        chance = link.loss_percent / 100
        runs_p = statistics.runs_test(train.lost)
        more = features.delay_checks(
            self.link, way.name, train, tolerance, self.bed.backend.serialises
        )
        if link.loss_burst_packets:
            return more + features.burst_checks(link, way.name, pooled)
        passed = lost == 0 if chance == 0 else low <= chance <= high
        passed = passed and (runs_p is None or runs_p > RUNS_P)
        check = Check(
            "loss_percent",
            way.name,
            link.loss_percent,
            100 * lost / sent,
            100 * low,
            100 * high,
            sent,
            50 * (high - low),
            verdict_of(passed),
            runs_p,
        )
        return [*more, check]


def calibrate(
    link: Link, backend: str | None, scratch: Path, exact: bool = False
) -> dict[str, Any]:
    """Make the link in a testbed of its own and measure it.

    First the backend's own latency is measured without delay and loss; the link proper is made
    with that taken off, and so must every testbed be that relies on the result. Gives the content
    of docs/formats.md, section 7, but for the name. Call it inside the sandbox.

    exact: in virtual time, where the link needs no correction and the tolerances are small.
    """
    if exact:
        with Testbed(link, backend, scratch=scratch) as bed:
            return Calibration(bed, VIRTUAL).run()
    bare = features.without_delay(link)
    with Testbed(bare, backend, scratch=scratch) as bed:
        if link.unshaped:
            return Calibration(bed).run()
        times = round_trip_times_ms(bed)
    own = round(float(np.median(times)), 3) if len(times) else 0.0
    offset = min(max(own, 0.0), MOST_OFFSET_MS, link.rtt_ms)
    with Testbed(link, backend, scratch=scratch, delay_offset_ms=offset) as bed:
        return Calibration(bed).run()


def round_trip_times_ms(bed: Testbed) -> NDArray[np.float64]:
    """RTTs of the shortest packets, less the time that a serialising backend puts them on."""
    wait = bed.link.rtt_ms / 1e3 + SILENCE_S
    times = packets.echo_times(bed.client, bed.server, ECHOES, ECHO_GAP_S, wait)
    rates = [bed.link.side(direction).bytes_per_second for direction in DIRECTIONS]
    frames_ms = sum(packets.SHORTEST_FRAME / rate * 1e3 for rate in rates)
    # A bucket of tokens lets the first frame on an idle link pass at once.
    return times * 1e3 - (frames_ms if bed.backend.serialises else 0)
