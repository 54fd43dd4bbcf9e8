"""The netem backend on a kernel that has netem: this one, or that of virtual time."""

from __future__ import annotations

import json

import numpy as np
import pytest
from test_testbed import lossy_trains

from howquick.calibrate import packets
from howquick.calibrate.calibration import Calibration
from howquick.environment.manifest import prefix_of
from howquick.testbed import probe
from howquick.testbed.link import Link
from howquick.testbed.testbed import Testbed
from testbed.sandboxed import run_in_guest, run_inside

pytestmark = pytest.mark.usefixtures("namespaces")


def has_netem(_scratch):
    return probe.probe_netem().works


@pytest.fixture(scope="module")
def run_with_netem(namespaces):
    """Runs a function in the sandbox of a kernel with netem."""
    if run_inside(has_netem):
        return run_inside
    if prefix_of("kernel") is None:
        pytest.skip("neither this kernel nor another one of this environment has netem")
    return run_in_guest


def calibrate(scratch):
    with Testbed(Link(5, 30, 2, 100), "netem", scratch=scratch) as bed:
        return Calibration(bed).run()


def test_netem_makes_the_link_that_was_asked_for(run_with_netem):
    result = run_with_netem(calibrate)
    assert result["backend"] == "netem"
    for check in result["checks"]:
        assert check["verdict"] == "pass", json.dumps(check)


def test_netem_loses_the_same_packets_from_the_same_seed(run_with_netem):
    first, again, swapped = run_with_netem(lossy_trains)
    assert first["up"] == again["up"]
    assert first["down"] == again["down"]
    assert first["up"] != swapped["up"]
    for run in (first, again, swapped):
        for way in ("up", "down"):
            assert 130 <= len(run[way]) <= 270
            assert run["counted"][way]["entered"] == run["sent"]
            assert run["counted"][way]["lost"] == len(run[way])


def burst_after_idleness(scratch):
    """Arrival times of 60 packets sent at once into an idle link of 5 Mbit/s."""
    with Testbed(Link(5, 10, 0, 1000), "netem", scratch=scratch) as bed:
        train = packets.send_train((bed.client, bed.server), 1514, 1e6, 6e-5, 0.3)
        counted = bed.counters()["emulator"]["up"]
    return {"received": train.received_s.tolist(), "counted": counted}


def test_netem_lets_no_burst_pass(run_with_netem):
    seen = run_with_netem(burst_after_idleness)
    times = np.array(seen["received"])
    assert len(times) == 60
    assert seen["counted"]["queue_dropped"] == 0
    # Two frames of tokens and the first frame itself need not wait.
    assert times[-1] - times[0] >= 57 * 1514 * 8 / 5e6
