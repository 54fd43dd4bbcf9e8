"""Links of virtual time with each property that not every link has, as functions that run in a guest."""

from __future__ import annotations

import hashlib
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from howquick.calibrate import calibration, packets
from howquick.testbed.link import Link
from howquick.testbed.testbed import Testbed

PLAIN = Link(10, 40, 0, 100)
LINKS = {
    "directions": replace(PLAIN, bandwidth_up_mbit=2, delay_up_ms=30),
    "codel": replace(PLAIN, aqm="codel"),
    "fq_codel": replace(PLAIN, aqm="fq_codel", ecn=True),
    "cake": replace(PLAIN, aqm="cake", ecn=True),
    "pie": replace(PLAIN, aqm="pie", queue_ms=200),
    "dualpi2": replace(PLAIN, aqm="dualpi2", ecn=True),
    "bursts": replace(PLAIN, loss_percent=2, loss_burst_packets=4, loss_in_burst_percent=80),
    "jitter": replace(PLAIN, jitter_ms=3, jitter_distribution="normal"),
    # Packets are sent by the millisecond: with a whole one, one without delay would meet another with it.
    "reorder": replace(PLAIN, rtt_ms=41.3, reorder_percent=3),
    "path-mtu": replace(PLAIN, path_mtu_bytes=1400),
}
# How each is not what was asked for.
WRONG = {
    "directions": {"delay_up_ms": 10},
    "codel": {"aqm": "none"},
    "fq_codel": {"ecn": False},
    "dualpi2": {"aqm": "codel"},
    "bursts": {"loss_burst_packets": 0, "loss_in_burst_percent": 100},
    "jitter": {"jitter_distribution": "uniform"},
    "reorder": {"reorder_percent": 0},
    "path-mtu": {"path_mtu_bytes": None},
}
SEEDS = (7, 8)
QUEUES = ("codel", "fq_codel", "cake", "pie", "dualpi2")
OTHERS = tuple(name for name in LINKS if name not in QUEUES)
# A quarter more than the rate of most.
RATE, TRAIN_S = 1000, 0.4
PACE_S = 10


def calibrated(names: tuple[str, ...], wrong: bool, scratch: Path) -> dict[str, Any]:
    """What calibration says of links that were made as asked for, or otherwise; of one attempt each."""
    calibration.ATTEMPTS = 1
    found = {}
    for name in names:
        made = replace(LINKS[name], **(WRONG[name] if wrong else {}))  # type: ignore[arg-type]
        with Testbed(made, "netem", scratch=scratch / name) as bed:
            bed.link = LINKS[name]
            found[name] = calibration.Calibration(bed, calibration.VIRTUAL).run()
    return found


def queues(scratch: Path) -> dict[str, Any]:
    """Those with a queue management, as they were asked for."""
    return calibrated(QUEUES, False, scratch)


def others(scratch: Path) -> dict[str, Any]:
    """The others."""
    return calibrated(OTHERS, False, scratch)


def other_queues(scratch: Path) -> dict[str, Any]:
    """Queues that are not what was asked for."""
    return calibrated(tuple(name for name in WRONG if name in QUEUES), True, scratch)


def other_others(scratch: Path) -> dict[str, Any]:
    """The others that are not what was asked for."""
    return calibrated(tuple(name for name in WRONG if name in OTHERS), True, scratch)


def arrivals(scratch: Path) -> dict[str, list[str]]:
    """Of each link, up and down, hashes of which packets arrived in which order, and of when and how marked.

    Twice from the same seeds: order, all, order, all of up, then of down, then once more.
    """
    found: dict[str, list[str]] = {}
    for name, link in LINKS.items():
        found[name] = []
        for _ in range(2):
            with Testbed(link, "netem", scratch=scratch / name) as bed:
                bed.seed(*SEEDS)
                for ends in ((bed.client, bed.server), (bed.server, bed.client)):
                    # As a load does: how long everything before took is no part of it.
                    time.sleep(PACE_S - time.time() % PACE_S)
                    train = packets.send_train(ends, link.frame_bytes, RATE, TRAIN_S, 0.2, ecn=2)
                    digest = hashlib.sha256(train.sequence.tobytes())
                    found[name].append(digest.hexdigest())
                    digest.update(np.round(train.delay_s * 1e9).astype(np.int64).tobytes())
                    digest.update(train.marked.tobytes())
                    found[name].append(digest.hexdigest())
    return found


def asks_for_ecn(scratch: Path) -> list[str]:
    """The client's tcp_ecn before, while, and after an arm asks for ECN."""
    seen = []
    with Testbed(PLAIN, "netem", scratch=scratch) as bed:
        for asked in (False, True, False):
            bed.set_ecn(asked)
            with bed.client.entered():
                seen.append(Path("/proc/sys/net/ipv4/tcp_ecn").read_text().strip())
    return seen
