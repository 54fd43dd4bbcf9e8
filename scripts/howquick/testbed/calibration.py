"""Measure what a link really does, with probes that are not the backend's (docs, section 7)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from howquick.guard.machine import pressure_s
from howquick.testbed import packets, statistics
from howquick.testbed.link import Link
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
RTT_TOLERANCE_MS, RTT_TOLERANCE = 0.5, 0.01
# More than this is no property of the backend but a busy machine.
MOST_OFFSET_MS = 0.5
RATE_TOLERANCE = 0.01
QUEUE_TOLERANCE = 0.1
BURST_FRAMES = 2
BURST_TOLERANCE = 0.02
# What a bucket is emptied with, and how much more than it holds is sent.
BUCKET_PROBE_MBIT = 200
BUCKET_PROBE_SHARE = 1.2
LATE_S = 0.001  # how late a first packet may be


@dataclass(frozen=True)
class Check:
    """One quantity asked for and measured; low and high are a 99 % interval where there is one.

    runs_p: of a loss, the p value of the runs test for independence (None: too few losses).
    """

    quantity: str
    direction: str
    asked: float
    measured: float
    low: float
    high: float
    n: int
    tolerance: float
    verdict: str
    runs_p: float | None = None


def make_check(
    quantity: str,
    direction: str,
    asked: float,
    measured: float,
    interval: tuple[float, float],
    n: int,
    tolerance: float,
) -> Check:
    """A check that passes if what was measured is within `tolerance` of what was asked for."""
    passed = n > 0 and abs(measured - asked) <= tolerance
    low, high = interval
    return Check(quantity, direction, asked, measured, low, high, n, tolerance, verdict_of(passed))


def verdict_of(passed: bool) -> str:
    """As the file has it."""
    return "pass" if passed else "fail"


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

    def __init__(self, bed: Testbed) -> None:
        self.bed = bed
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
            checks += self._stage(f"saturated {way.name}", partial(self._saturate, way))
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
        tolerance = max(RTT_TOLERANCE_MS, RTT_TOLERANCE * self.link.rtt_ms)
        times = round_trip_times_ms(self.bed)
        if not len(times):
            return [make_check("rtt_ms", "both", self.link.rtt_ms, -1, (-1, -1), 0, tolerance)]
        interval = statistics.median_interval(times)
        median = float(np.median(times))
        asked = self.link.rtt_ms
        return [make_check("rtt_ms", "both", asked, median, interval, len(times), tolerance)]

    def _saturate(self, way: Way) -> list[Check]:
        """Offer more than the rate after idleness: rate, queue, burst, order."""
        link = self.link
        frames_per_s = link.bytes_per_second / link.frame_bytes
        # A bucket must be empty first; then the queue fills by what the load exceeds the rate.
        spare_s = link.burst_bytes / link.bytes_per_second
        duration = (link.queue_delay_ms / 1e3 + spare_s) / (OVERLOAD - 1) + STEADY_S
        offered = OVERLOAD * frames_per_s / (1 - link.loss_percent / 100)
        train = packets.send_train(
            way.source, way.target, link.frame_bytes, offered, duration, self._drain_s()
        )
        if len(train.sequence) < 4 * statistics.BATCHES:
            return [make_check("rate_mbit", way.name, link.bandwidth_mbit, 0, (0, 0), 0, 0)]
        in_order = make_check(
            "reordered", way.name, 0, train.reordered, (0, 0), len(train.sequence), 0
        )
        if link.burst_bytes:
            # Of seconds with a bucket only the last one has a full queue.
            steady = train.after(duration - STEADY_S)
            return [self._rate(way, steady), self._queue(way, steady, train), in_order]
        queue = self._queue(way, train, train)
        return [self._rate(way, train), queue, self._burst(way, train), in_order]

    def _drain_s(self) -> float:
        """How long the last packet may take, and then a little."""
        return (self.link.rtt_ms + self.link.queue_delay_ms) / 1e3 + SILENCE_S

    def _bucket(self, way: Way) -> list[Check]:
        """Send more than the bucket holds much faster than the rate, right after it was filled."""
        link = self.link
        load = max(BUCKET_PROBE_MBIT * 1e6 / 8, OVERLOAD * link.bytes_per_second)
        duration = BUCKET_PROBE_SHARE * link.burst_bytes / (load - link.bytes_per_second)
        train = packets.send_train(
            way.source,
            way.target,
            link.frame_bytes,
            load / link.frame_bytes,
            duration,
            self._drain_s(),
        )
        if not len(train.sequence):
            return [make_check("burst_bytes", way.name, link.burst_bytes, 0, (0, 0), 0, 0)]
        return [self._burst(way, train)]

    def _rate(self, way: Way, train: packets.Train) -> Check:
        """Bytes of frames per second between arrivals, from the first to the last packet.

        A UDP payload of p bytes is a frame of p + 42: 8 of UDP, 20 of IPv4, 14 of Ethernet.
        """
        edges = np.linspace(0, len(train.received_s) - 1, statistics.BATCHES + 1).astype(int)
        spans = np.diff(train.received_s[edges])
        batches = np.diff(edges) * train.frame_bytes * 8 / 1e6 / spans
        measured = float((edges[-1] - edges[0]) * train.frame_bytes * 8 / 1e6 / spans.sum())
        asked = self.link.bandwidth_mbit
        interval = statistics.batch_interval(batches)
        return make_check(
            "rate_mbit", way.name, asked, measured, interval, int(edges[-1]), RATE_TOLERANCE * asked
        )

    def _queue(self, way: Way, steady: packets.Train, train: packets.Train) -> Check:
        """One-way delay while the queue is full, less that of the first packet.

        steady: the part of the train at whose end the queue is full.
        """
        full = steady.delay_s[-len(steady.delay_s) // 4 :] - train.delay_s[0]
        waits_ms = full * 1e3
        asked = self.link.queue_delay_ms
        interval = statistics.median_interval(waits_ms)
        return make_check(
            "queue_ms",
            way.name,
            asked,
            float(np.median(waits_ms)),
            interval,
            len(waits_ms),
            # A queue holds whole frames, ten at least, so this is never less than one.
            QUEUE_TOLERANCE * asked,
        )

    def _burst(self, way: Way, train: packets.Train) -> Check:
        """How many bytes came earlier than the rate allows, in the first megabyte after idleness."""
        asked = self.link.burst_bytes
        first = len(train.received_s) if asked else max(2, BURST_PROBE_BYTES // train.frame_bytes)
        times = train.received_s[:first] - train.received_s[0]
        arrived = np.arange(len(times)) * train.frame_bytes
        excess = float((arrived - times * self.link.bytes_per_second).max())
        tolerance = BURST_FRAMES * train.frame_bytes + LATE_S * self.link.bytes_per_second
        tolerance += BURST_TOLERANCE * asked
        return make_check(
            "burst_bytes", way.name, asked, excess, (excess, excess), len(times), tolerance
        )

    def _loss(self, way: Way) -> list[Check]:
        """Count packets that are too few to fill any queue, and test their losses' independence."""
        link = self.link
        most = LOSS_TRAIN_LOAD * link.bytes_per_second / packets.SHORTEST_FRAME
        silence = link.rtt_ms / 1e3 + SILENCE_S
        train = packets.send_train(
            way.source,
            way.target,
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
        return [check]


def calibrate(link: Link, backend: str | None, scratch: Path) -> dict[str, Any]:
    """Make the link in a testbed of its own and measure it.

    First the backend's own latency is measured without delay and loss; the link proper is made
    with that taken off, and so must every testbed be that relies on the result. Gives the content
    of docs/formats.md, section 7, but for the name. Call it inside the sandbox.
    """
    bare = replace(link, rtt_ms=0, loss_percent=0)
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
    frame_ms = packets.SHORTEST_FRAME / bed.link.bytes_per_second * 1e3
    # tbf's tokens let the first frame on an idle link pass at once.
    return times * 1e3 - (2 * frame_ms if bed.backend.serialises else 0)
