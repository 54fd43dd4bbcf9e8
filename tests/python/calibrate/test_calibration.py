"""Calibration passes links that are as asked for, and fails others."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from howquick.calibrate.calibration import Calibration
from howquick.testbed.link import Link
from howquick.testbed.testbed import Testbed
from patience import HANG_S
from testbed.sandboxed import SCRIPTS, environment, run_inside

pytestmark = pytest.mark.usefixtures("namespaces")
LINK = Link(10, 30, 2, 60)


def calibrate(tmp_path, link, clock="real", **more):
    where = ["--output", tmp_path / "some-link.json", "--clock", clock]
    return subprocess.run(
        [sys.executable, SCRIPTS / "calibrate.py", "link", json.dumps(link), *where],
        env=environment(**more),
        capture_output=True,
        text=True,
        timeout=HANG_S,
        check=False,
    )


def described(tmp_path):
    """The file of a calibration, once it names its link and all that is looked at."""
    result = json.loads((tmp_path / "some-link.json").read_text())
    assert result["name"] == "some-link"
    assert result["link"] == LINK.to_dict()
    seen = {(check["quantity"], check["direction"]) for check in result["checks"]}
    both = {"rate_mbit", "queue_ms", "burst_bytes", "reordered", "loss_percent"}
    assert seen == {("rtt_ms", "both")} | {(q, way) for q in both for way in ("up", "down")}
    return result


def test_a_good_link_passes(tmp_path):
    """In virtual time, where nothing can disturb it."""
    done = calibrate(tmp_path, LINK.to_dict(), "virtual")
    assert done.returncode == 0, done.stderr
    result = described(tmp_path)
    assert result["verdict"] == "pass"
    for check in result["checks"]:
        assert check["low"] <= check["measured"] <= check["high"] or check["quantity"] == "queue_ms"


def test_a_link_in_real_time_is_described_and_each_failure_is_told(tmp_path):
    """Whether it passes is the machine's affair: other work delays packets."""
    done = calibrate(tmp_path, LINK.to_dict())
    result = described(tmp_path)
    assert 0 <= result["delay_offset_ms"] <= 0.5
    failed = [check for check in result["checks"] if check["verdict"] != "pass"]
    assert (done.returncode, result["verdict"]) == ((1, "fail") if failed else (0, "pass"))
    told = done.stderr.splitlines()
    assert len(told) == len(failed)
    for check, line in zip(failed, told, strict=True):
        assert f"{check['quantity']} ({check['direction']})" in line
    lost = {
        c["direction"]: c["verdict"] for c in result["checks"] if c["quantity"] == "loss_percent"
    }
    assert lost == {"up": "pass", "down": "pass"}


def measure_wrong_link(scratch, **wrong):
    """What calibration says of a link that was made with one property wrong."""
    with Testbed(replace(LINK, **wrong), scratch=scratch) as bed:
        bed.link = LINK
        result = Calibration(bed).run()
    failed = {check["quantity"] for check in result["checks"] if check["verdict"] == "fail"}
    return {"verdict": result["verdict"], "failed": sorted(failed), "attempts": result["attempts"]}


def wrong_delay(scratch):
    return measure_wrong_link(scratch, rtt_ms=31)


def wrong_rate(scratch):
    return measure_wrong_link(scratch, bandwidth_mbit=9.8)


def wrong_loss(scratch):
    return measure_wrong_link(scratch, loss_percent=3)


def unasked_loss(scratch):
    global LINK
    LINK = replace(LINK, loss_percent=0)
    return measure_wrong_link(scratch, loss_percent=0.5)


def wrong_queue(scratch):
    return measure_wrong_link(scratch, queue_ms=75)


@pytest.mark.parametrize(
    ("scenario", "quantity"),
    [
        (wrong_delay, "rtt_ms"),
        (wrong_rate, "rate_mbit"),
        (wrong_loss, "loss_percent"),
        (unasked_loss, "loss_percent"),
        (wrong_queue, "queue_ms"),
    ],
)
def test_a_wrong_link_fails(scenario, quantity):
    seen = run_inside(scenario)
    assert seen["verdict"] == "fail"
    assert quantity in seen["failed"]
    assert max(attempt["attempt"] for attempt in seen["attempts"]) == 3


@pytest.mark.parametrize(
    ("link", "more", "word"),
    [
        ({**LINK.to_dict(), "rtt_ms": -5}, {}, "rtt_ms"),
        (LINK.to_dict(), {"HOWQUICK_MANIFEST": "/nowhere"}, "/nowhere"),
    ],
)
def test_what_cannot_be_made_is_one_line(tmp_path, link, more, word):
    done = calibrate(tmp_path, link, **more)
    if "HOWQUICK_MANIFEST" in more and done.returncode == 0:
        assert '"netem"' in (tmp_path / "some-link.json").read_text()
        return
    assert done.returncode == 1
    assert word in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_the_probe_gives_its_reasons():
    done = subprocess.run(
        [sys.executable, SCRIPTS / "calibrate.py", "probe"],
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    probed = json.loads(done.stdout)
    assert probed["backend"] in ("netem", "rattan")
    names = {finding["name"] for finding in probed["findings"]}
    assert names == {"namespaces", "netem", "rattan", "real_time", "cubic", "bbr", "reno"}
    for finding in probed["findings"]:
        assert finding["why"].endswith(".")
