"""Programs of test_traces.py, run in a guest: links whose rate follows traces that are made here."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from howquick.calibrate import calibration, packets, traces
from howquick.testbed import trace
from howquick.testbed.link import Link
from howquick.testbed.testbed import Testbed

# Rates in Mbit/s, a second each: growth and fall by much and by little, an outage, few opportunities.
SECONDS = (3, 12, 1.2, 0, 0, 4.8, 5.1, 0.24, 9.6, 6)
SHORT = (1.2, 6)
FRAME = 1514


def write(folder: Path, name: str, rates: tuple[float, ...]) -> float:
    """Write a trace of so many seconds among those that are known; its mean, Mbit/s."""
    times = [
        second * 1000 + round((k + 1) * 1000 / count)
        for second, rate in enumerate(rates)
        for count in [round(rate * 1e6 / 8 / trace.OPPORTUNITY_BYTES)]
        for k in range(count)
    ]
    trace.FOLDER = folder / "traces"
    trace.FOLDER.mkdir(exist_ok=True)
    trace.file_of(name).write_text("\n".join(map(str, times)))
    return trace.load(name).mean_mbit


def made(scratch: Path, rates: tuple[float, ...] = SECONDS) -> Link:
    """A link that follows such a trace in both directions."""
    return Link(write(scratch, "made", rates), 40, 0, 100, rate_trace="made")


def windows(scratch: Path) -> dict[str, Any]:
    """Of each direction bytes due and delivered in each window; then what became of each packet."""
    found: dict[str, Any] = {}
    link = made(scratch)
    with Testbed(link, "netem", scratch=scratch) as bed:
        for way, ends in (("up", (bed.client, bed.server)), ("down", (bed.server, bed.client))):
            bed.seed(1, 2)
            got = traces.delivered(bed, link.side(way), ends)
            found[way] = {"due": got.due.tolist(), "came": got.came.tolist()}
            bed.seed(1, 2)
            bed.replay()
            train = packets.send_train(ends, FRAME, 900, 9, 1)
            counts = bed.counters()["emulator"][way]
            found[way]["packets"] = {
                "sent": train.sent, "came": len(train.sequence), "reordered": train.reordered,
                "lost": counts["lost"], "queue_dropped": counts["queue_dropped"],
            }  # fmt: skip
    return found


def _rate(train: packets.Train, begin_s: float, end_s: float) -> float:
    """Mbit/s of what arrived in a time, seconds since 1970."""
    at_s = train.received_s + train.begin_ns / 1e9
    return float(np.count_nonzero((at_s > begin_s) & (at_s <= end_s)) * FRAME * 8 / 1e6)


def rates_of_seconds(scratch: Path) -> list[list[float]]:
    """Rates in the seconds of a short trace: of its first and its second period, and of another replay."""
    found = []
    with Testbed(made(scratch, SHORT), "netem", scratch=scratch) as bed:
        for periods in (2, 1):
            bed.seed(1, 2)
            begin_ns = bed.replay()
            assert begin_ns is not None
            train = packets.send_train((bed.server, bed.client), FRAME, 600, 2 * periods + 1, 1)
            seconds = [begin_ns / 1e9 + k for k in range(2 * periods)]
            rates = [_rate(train, at, at + 1) for at in seconds]
            found += [rates[at : at + 2] for at in range(0, len(rates), 2)]
    return found


def rates_at_rest(scratch: Path) -> list[float]:
    """The rate before a replay, and after the next seed."""
    found = []
    with Testbed(made(scratch), "netem", scratch=scratch) as bed:
        bed.replay()
        for _ in range(2):
            bed.seed(1, 2)
            train = packets.send_train((bed.server, bed.client), FRAME, 1000, 2, 0.5)
            spent_s = float(train.received_s[-1] - train.received_s[0])
            found.append((len(train.received_s) - 1) * FRAME * 8 / 1e6 / spent_s)
            bed.replay()
            time.sleep(2.5)
    return found


def delays_of_single_frames(scratch: Path) -> list[float]:
    """Of a frame in the middle of each second of a short trace, seconds beyond the link's delay."""
    link = made(scratch, SHORT)
    with Testbed(link, "netem", scratch=scratch) as bed:
        bed.seed(1, 2)
        begin_ns = bed.replay()
        assert begin_ns is not None
        time.sleep((begin_ns - time.time_ns()) / 1e9 + 0.52)
        train = packets.send_train((bed.server, bed.client), FRAME, 1, 1.5, 1)
        return [float(delay_s) - link.rtt_ms / 2e3 for delay_s in train.delay_s]


def calibrated(scratch: Path) -> dict[str, Any]:
    """What calibration says, in one attempt, of links that follow the trace, none, or another like it."""
    calibration.ATTEMPTS = 1
    asked = made(scratch)
    write(scratch, "reversed", SECONDS[::-1])
    found = {}
    for name, followed in (("right", "made"), ("constant", "none"), ("reversed", "reversed")):
        with Testbed(replace(asked, rate_trace=followed), "netem", scratch=scratch / name) as bed:
            bed.link = asked
            if followed == "none":
                bed.replay = lambda: (time.time_ns() // 10**9 + 1) * 10**9  # type: ignore[method-assign]
            found[name] = calibration.Calibration(bed, calibration.VIRTUAL).run()
    return found


def lives(scratch: Path) -> dict[str, Any]:
    """Whether the link lives before and after what replays is killed, and how many such are left."""
    link = made(scratch)
    with Testbed(link, "netem", scratch=scratch / "first") as bed:
        bed.replay()
        before = bed.alive()
    left = _replayers()
    with Testbed(link, "netem", scratch=scratch / "second") as bed:
        (pid,) = _replayers()
        os.kill(pid, signal.SIGKILL)
        time.sleep(0.1)
        killed = bed.alive()
    return {"before": before, "killed": killed, "left": len(left)}


def _replayers() -> list[int]:
    done = subprocess.run(
        ["pgrep", "-f", "replay_trace[.]py"], capture_output=True, text=True, check=False
    )
    return [int(word) for word in done.stdout.split()]
