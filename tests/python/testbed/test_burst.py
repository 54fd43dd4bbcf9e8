"""A token bucket lets a burst pass at once, and is full again for every load."""

from __future__ import annotations

from dataclasses import replace

import pytest

from howquick.calibrate import packets
from howquick.calibrate.calibration import Calibration, calibrate
from howquick.testbed.link import Link
from howquick.testbed.testbed import Testbed
from testbed.sandboxed import run_inside

pytestmark = pytest.mark.usefixtures("namespaces")
LINK = Link(2, 10, 0, 50, burst_bytes=400_000)
FRAMES = 600  # more than the bucket holds


def excess_bytes(bed):
    """How far a train of frames got ahead of the rate."""
    train = packets.send_train((bed.server, bed.client), 1514, 10_000, FRAMES / 10_000, 0.3)
    times = train.received_s - train.received_s[0]
    return max(1514 * n - seconds * LINK.bytes_per_second for n, seconds in enumerate(times))


def bursts(scratch):
    with Testbed(LINK, scratch=scratch) as bed:
        first = excess_bytes(bed)
        again = excess_bytes(bed)
        bed.seed(1, 2)
        return [first, again, excess_bytes(bed), bed.counters()["emulator"]["down"]]


def test_the_bucket_empties_and_is_filled_by_the_seed():
    first, again, refilled, counted = run_inside(bursts)
    for full in (first, refilled):
        assert abs(full - LINK.burst_bytes) < 0.03 * LINK.burst_bytes
    assert again < 0.5 * LINK.burst_bytes
    assert counted["entered"] == FRAMES == counted["sent"] + counted["queue_dropped"]


def calibrated(scratch):
    return calibrate(LINK, None, scratch)


def test_calibration_measures_the_burst():
    result = run_inside(calibrated)
    assert result["verdict"] == "pass", result
    found = {c["direction"]: c for c in result["checks"] if c["quantity"] == "burst_bytes"}
    assert {c["asked"] for c in found.values()} == {LINK.burst_bytes}
    assert set(found) == {"up", "down"}


def wrong(scratch):

    with Testbed(replace(LINK, burst_bytes=500_000), scratch=scratch) as bed:
        bed.link = LINK
        result = Calibration(bed).run()
    return sorted({c["quantity"] for c in result["checks"] if c["verdict"] == "fail"})


def test_calibration_fails_a_wrong_burst():
    assert "burst_bytes" in run_inside(wrong)
