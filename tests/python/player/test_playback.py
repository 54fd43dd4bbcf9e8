"""The buffer of a player, by traces that are computed by hand."""

from __future__ import annotations

import pytest

from howquick.player.playback import Playback, played


@pytest.mark.parametrize(
    ("arrivals", "startup", "stalls", "stalled"),
    [
        # Each is there before the one before has been played for its four seconds.
        ([1, 3, 9, 13], 1, 0, 0),
        # Played until 5, 9; the third comes at 10, is played until 14, and the fourth comes at 20.
        ([1, 3, 10, 20], 1, 2, 1 + 6),
        # At the very moment at which the one before ends.
        ([2, 6, 10], 2, 0, 0),
        ([7.5], 7.5, 0, 0),
    ],
)
def test_playing_stands_still_where_nothing_is_there(arrivals, startup, stalls, stalled):
    playback = played(arrivals, 4)
    assert (playback.startup_s, playback.stalls) == (startup, stalls)
    assert playback.stalled_s == pytest.approx(stalled)


def test_the_buffer_holds_what_is_not_yet_played():
    playback = Playback(4)
    assert playback.level_s(0) == playback.level_s(9) == 0
    playback.arrived(1)
    playback.arrived(3)
    assert [playback.level_s(at) for at in (3, 5, 8.5, 12)] == [6, 4, 0.5, 0]


def test_nothing_that_has_not_begun_has_stalled():
    playback = played([], 4)
    assert playback.startup_s is None and playback.stalls == 0
