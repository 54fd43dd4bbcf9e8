"""Each property of a link in virtual time: calibrated, missed where it is missing, the same on each run."""

from __future__ import annotations

import json
from typing import Any

import link_lab as lab
import pytest

from testbed.sandboxed import run_in_guest

FREE = ("--syscall-ns", "0", "--wakeup-ns", "0")
# Of which netem draws from the seeds, packet by packet. (Jitter too: who overtakes whom hangs on when they
# are sent as well.)
DRAWN = ("bursts", "reorder")
FAILED_BY = {
    "directions": {"delay_ms"},
    "codel": {"aqm_delay_ms"},
    "fq_codel": {"marked"},
    "dualpi2": {"l4s_delay_ms"},
    "bursts": {"loss_after_loss_percent"},
    "jitter": {"jitter_ms"},
    "reorder": {"reorder_percent"},
    "path-mtu": {"path_mtu_bytes"},
}


@pytest.fixture(scope="module")
def found() -> Any:
    return run_in_guest(lab.queues, *FREE) | run_in_guest(lab.others, *FREE)


@pytest.mark.parametrize("name", lab.LINKS)
def test_calibration_passes_what_was_asked_for(found: Any, name: str) -> None:
    for check in found[name]["checks"]:
        assert check["verdict"] == "pass", json.dumps(check)


@pytest.fixture(scope="module")
def wrong() -> Any:
    return run_in_guest(lab.other_queues, *FREE) | run_in_guest(lab.other_others, *FREE)


@pytest.mark.parametrize("name", lab.WRONG)
def test_calibration_fails_what_is_otherwise(wrong: Any, name: str) -> None:
    failed = {c["quantity"] for c in wrong[name]["checks"] if c["verdict"] == "fail"}
    assert wrong[name]["verdict"] == "fail"
    assert failed >= FAILED_BY[name], failed


def test_a_direction_is_as_fast_and_as_long_as_it_was_asked_for(found: Any) -> None:
    checks = {(c["quantity"], c["direction"]): c for c in found["directions"]["checks"]}
    assert checks["rate_mbit", "up"]["measured"] == pytest.approx(2, rel=0.001)
    assert checks["rate_mbit", "down"]["measured"] == pytest.approx(10, rel=0.001)
    assert checks["delay_ms", "up"]["measured"] == pytest.approx(30, abs=0.01)
    assert checks["delay_ms", "down"]["measured"] == pytest.approx(10, abs=0.01)


def test_the_low_latency_queue_marks_from_a_millisecond_on(found: Any) -> None:
    checks = {(c["quantity"], c["direction"]): c for c in found["dualpi2"]["checks"]}
    for way in ("up", "down"):
        assert 1 <= checks["l4s_delay_ms", way]["measured"] <= 2.5
        assert checks["aqm_delay_ms", way]["measured"] > 5


def test_two_guests_are_the_same_bit_by_bit_and_seeds_start_netem_anew() -> None:
    first, again = (run_in_guest(lab.arrivals, *FREE) for _ in range(2))
    assert first == again
    for name in DRAWN:
        up, down, up_anew, down_anew = first[name][::2]
        assert (up, down) == (up_anew, down_anew) and up != down, name
    ways = {name: tuple(hashes[:4]) for name, hashes in first.items()}
    assert len(set(ways.values())) == len(ways)


def test_tcp_asks_for_ecn_while_an_arm_does() -> None:
    before, asked, after = run_in_guest(lab.asks_for_ecn)
    assert asked == "1" and before == after != "1"
