"""A rate that follows a trace, in virtual time: what a full link delivers, and what calibration says."""

from __future__ import annotations

import json
from typing import Any

import pytest
import trace_lab as lab

from testbed.sandboxed import run_in_guest

FREE = ("--syscall-ns", "0", "--wakeup-ns", "0")
FRAME = 1514
WINDOWS_IN_A_SECOND = 10


@pytest.fixture(scope="module")
def found() -> Any:
    return run_in_guest(lab.windows, *FREE)


@pytest.mark.parametrize("way", ["up", "down"])
def test_a_full_link_delivers_what_the_trace_does(found: Any, way: str) -> None:
    due, came = found[way]["due"], found[way]["came"]
    assert len(due) == WINDOWS_IN_A_SECOND * len(lab.SECONDS)
    for expected, got in zip(due, came, strict=True):
        assert abs(got - expected) <= 2 * FRAME
    assert sum(came) == pytest.approx(sum(due), rel=0.001)
    carried = 0.0
    for expected, got in zip(due, came, strict=True):
        carried += got - expected
        assert abs(carried) <= len(lab.SECONDS) * FRAME


@pytest.mark.parametrize("way", ["up", "down"])
def test_nothing_passes_in_an_outage_and_nothing_is_made_up_for_after_it(
    found: Any, way: str
) -> None:
    begin = WINDOWS_IN_A_SECOND * lab.SECONDS.index(0)
    end = begin + WINDOWS_IN_A_SECOND * lab.SECONDS.count(0)
    assert found[way]["came"][begin:end] == [0] * (end - begin)
    after = found[way]["came"][end]
    assert after == pytest.approx(found[way]["due"][end], abs=2 * FRAME)


@pytest.mark.parametrize("way", ["up", "down"])
def test_no_packet_is_lost_but_by_the_full_queue_and_none_overtakes(found: Any, way: str) -> None:
    seen = found[way]["packets"]
    assert seen["came"] + seen["queue_dropped"] == seen["sent"] and seen["queue_dropped"]
    assert (seen["lost"], seen["reordered"]) == (0, 0)


def test_it_repeats_and_each_replay_begins_anew() -> None:
    for rates in run_in_guest(lab.rates_of_seconds, *FREE):
        assert rates == pytest.approx(lab.SHORT, abs=8 * 2 * FRAME / 1e6)


def test_until_it_is_replayed_the_rate_is_the_mean() -> None:
    before, after = run_in_guest(lab.rates_at_rest, *FREE)
    mean = sum(lab.SECONDS) / len(lab.SECONDS)
    assert (before, after) == pytest.approx((mean, mean), rel=0.001)


def test_a_frame_on_an_idle_link_takes_its_length_at_the_rate_of_the_moment() -> None:
    slow, fast = run_in_guest(lab.delays_of_single_frames, *FREE)
    for delay_s, rate in ((slow, lab.SHORT[0]), (fast, lab.SHORT[1])):
        assert delay_s == pytest.approx(FRAME * 8 / rate / 1e6, abs=2e-6)


@pytest.fixture(scope="module")
def judged() -> Any:
    return run_in_guest(lab.calibrated, *FREE)


def test_calibration_passes_a_link_that_follows_its_trace(judged: Any) -> None:
    right = judged["right"]
    assert right["verdict"] == "pass", json.dumps(right["checks"])
    seen = {(c["quantity"], c["direction"]) for c in right["checks"]}
    assert seen >= {
        (q, way) for q in ("trace_mbit", "trace_window_frames") for way in ("up", "down")
    }


@pytest.mark.parametrize("name", ["constant", "reversed"])
def test_calibration_fails_one_that_does_not(judged: Any, name: str) -> None:
    failed = {c["quantity"] for c in judged[name]["checks"] if c["verdict"] == "fail"}
    assert failed == {"trace_window_frames"}


def test_what_replays_ends_with_its_link_and_its_death_is_seen() -> None:
    seen = run_in_guest(lab.lives)
    assert seen == {"before": True, "killed": False, "left": 0}
