"""What makes a load invalid, and what is only recorded where delays do not decide."""

import pytest

from howquick.guard.bounds import MAX_CLOCK_STEP_S, MAX_PAUSE_S, MAX_STEAL, Load, disturbances

CALM = {
    "foreign_cpu": 0.0, "steal": 0.0, "clock_step_s": 0.0, "run_delay_s": {}, "stopped": [],
    "pause_s": 0.0,
}  # fmt: skip


def found(judged, capture_drops=0, **seen):
    return disturbances(Load(CALM | seen, {}, capture_drops, "", 0, 2.0, True, judged))


def test_a_calm_load_counts():
    assert found(True) == found(False) == []


@pytest.mark.parametrize(
    "seen",
    [
        {"pause_s": 2 * MAX_PAUSE_S},
        {"pause_s": 5.0},
        {"steal": 2 * MAX_STEAL},
        {"clock_step_s": -2 * MAX_CLOCK_STEP_S},
        {"run_delay_s": {"server 1": 1.0}, "foreign_cpu": None},
    ],
)
def test_what_a_machine_does_decides_only_where_it_is_judged(seen):
    assert len(found(True, **seen)) == 1
    assert found(False, **seen) == []


@pytest.mark.parametrize(
    "seen", [{"clock_step_s": 0.5}, {"stopped": ["server"]}, {"capture_drops": 1}]
)
def test_what_falsifies_a_number_always_decides(seen):
    assert len(found(True, **seen)) == len(found(False, **seen)) == 1
