"""The choice of rates: BOLA by its published example and by hand, the throughput's by hand."""

from __future__ import annotations

import math

import pytest

from howquick.player.algorithms import ALGORITHMS, Fetch, bola, throughput
from howquick.player.video import Video

MBIT = 125_000  # bytes
# Section IV-A of BOLA's paper (ToN 2020): five rates, segments of 3 s, γp = 5, V = 0.93, utilities as there.
EXAMPLE = (0.331, 0.688, 1.427, 2.962, 6.0)
UTILITIES = (0.0, 0.732, 1.461, 2.192, 2.897)
V, SEGMENT_S = 0.93, 3.0


def example() -> Video:
    """V = (Q_max − 1) / (v of the highest rate + γp) says how large the buffer is: 25 s."""
    queue_max = V * (UTILITIES[-1] + 5) + 1
    return Video(EXAMPLE, SEGMENT_S, 33, queue_max * SEGMENT_S, "bola", 0)


def threshold_s(lower: int) -> float:
    """The level at which a rate and the next one have the same (Vv + Vγp − Q) / S, in seconds."""
    ours, theirs = (V * (UTILITIES[n] + 5) for n in (lower, lower + 1))
    low, high = EXAMPLE[lower], EXAMPLE[lower + 1]
    return SEGMENT_S * (ours * high - theirs * low) / (high - low)


def test_bola_changes_rates_where_its_paper_does():
    video = example()
    assert video.buffer_s == pytest.approx(25, abs=0.1)
    levels = [threshold_s(lower) for lower in range(4)]
    assert levels == sorted(levels) and levels[0] > SEGMENT_S
    for lower, level in enumerate(levels):
        # The paper's utilities have three decimals.
        assert bola(video, level - 0.02, []) == lower
        assert bola(video, level + 0.02, []) == lower + 1


def test_bola_by_hand():
    """Utilities 0 and 1, Q_max = 13, V = 12 / 6 = 2: 10 − Q against (12 − Q) / e, equal at 8.836."""
    video = Video((1.0, math.e), 1.0, 10, 13.0, "bola", 0)
    assert [bola(video, level, []) for level in (0, 5, 8.83, 8.84, 12)] == [0, 0, 0, 1, 1]
    # Twice as long segments in twice the seconds are the same buffer.
    longer = Video((1.0, math.e), 2.0, 10, 26.0, "bola", 0)
    assert [bola(longer, level, []) for level in (17.66, 17.68)] == [0, 1]


def test_bola_takes_the_highest_rate_where_it_has_waited_for_room():
    video = example()
    assert bola(video, video.buffer_s - SEGMENT_S, []) == 4


def fetched(*rungs_and_rates: tuple[int, float]) -> list[Fetch]:
    """Segments of a rung that came with a rate in Mbit/s."""
    return [Fetch(rung, MBIT, 1 / rate) for rung, rate in rungs_and_rates]


LADDER = Video((0.5, 1.0, 2.0, 4.0), 4.0, 50, 20.0, "throughput", 0)


@pytest.mark.parametrize(
    ("before", "rung"),
    [
        ([], 0),
        # 85 % of 4 is 3.4. From the first rung after one segment, from the second after two.
        ([(0, 4)], 1),
        ([(0, 4), (1, 4)], 1),
        ([(0, 4), (1, 4), (1, 4)], 2),
        # The fourth has 4, and 3.4 is not enough, however long.
        ([(2, 4)] * 9, 2),
        # 85 % of 5 is enough, after three.
        ([(2, 5)] * 2, 2),
        ([(2, 5)] * 3, 3),
        # 3 / (1/4 + 1/4 + 1/0.5) = 1.2, of which 85 % are 1.02: less than 2, and one rung at a time.
        ([(2, 4), (2, 4), (2, 0.5)], 1),
        ([(3, 0.5)], 2),
        ([(0, 0.1)], 0),
        # More than twenty ago is forgotten.
        ([(1, 0.01), *[(1, 4)] * 20], 2),
        ([(1, 0.01), *[(1, 4)] * 19], 0),
        # Nothing is above the highest.
        ([(3, 100)] * 9, 3),
    ],
)
def test_throughput_by_hand(before, rung):
    assert throughput(LADDER, 0, fetched(*before)) == rung


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_first_segment_is_of_the_lowest_rate(algorithm):
    for video in (example(), LADDER):
        assert ALGORITHMS[algorithm](video, 0.0, []) == 0
