"""A player on links that are computed by hand, without a network."""

from __future__ import annotations

from typing import Any

import pytest

from howquick.measure.viewer import Viewer
from howquick.player.player import Player
from howquick.player.video import Video, rung_of, segment_path

BYTES_PER_MBIT = 125_000


def watched(video: Video, rate_mbit: float) -> list[tuple[float, int, float]]:
    """When each segment is asked for, in which rung, and when it is there, at a rate and without delay."""
    player, now, seen = Player(video), 0.0, []
    while not player.is_done:
        now += player.wait_s(now)
        rung = player.ask(now)
        megabits = video.ladder_mbit[rung] * video.segment_s
        end = now + megabits / rate_mbit
        player.arrived(end, round(megabits * BYTES_PER_MBIT))
        seen.append((round(now, 9), rung, round(end, 9)))
        now = end
    return seen


def test_a_full_buffer_is_waited_for():
    """Of 2.5 Mbit/s 2.125 count. A segment of 1 Mbit/s takes 1.6 s, one of 2 Mbit/s 3.2 s; both last 4 s."""
    video = Video((1.0, 2.0), 4.0, 4, 8.0, "throughput", 0)
    assert watched(video, 2.5) == [
        (0.0, 0, 1.6),
        (1.6, 1, 4.8),
        # 1.6 + 4 + 4 − 4.8 = 4.8 s are there, and room is for 4 beside another one.
        (5.6, 1, 8.8),
        (9.6, 1, 12.8),
    ]


def test_bola_keeps_the_lowest_rate_where_nothing_can_be_buffered():
    """At 0.5 Mbit/s a second of video takes two."""
    video = Video((1.0, 2.0), 2.0, 3, 8.0, "bola", 0)
    assert watched(video, 0.5) == [(0.0, 0, 4.0), (4.0, 0, 8.0), (8.0, 0, 12.0)]


def test_bola_climbs_while_the_buffer_fills():
    video = Video((1.0, 2.0, 4.0), 2.0, 40, 20.0, "bola", 0)
    rungs = [rung for _, rung, _ in watched(video, 8)]
    assert rungs == sorted(rungs) and rungs[0] == 0 and rungs[-1] == 2


def test_a_viewer_asks_for_urls_and_knows_what_was_asked_for():
    video = Video((1.0, 2.0), 4.0, 3, 8.0, "throughput", 0)
    page: list[dict[str, Any]] = [
        {"path": f"/{segment_path(rung, number)}", "bytes": (rung + 1) * 4 * BYTES_PER_MBIT}
        for rung in (0, 1)
        for number in range(3)
    ]
    viewer = Viewer(video, page, "https://host:1")
    assert viewer.ask(0.0) == "https://host:1/segments/0/000.m4s"
    assert viewer.arrived(1.6) == 0
    assert viewer.ask(1.6) == "https://host:1/segments/1/001.m4s"
    assert viewer.arrived(4.8) == pytest.approx(0.8)
    assert viewer.ask(5.6) == "https://host:1/segments/1/002.m4s"
    assert viewer.arrived(8.8) is None
    assert [entry["bytes"] for entry in viewer.asked] == [500_000, 1_000_000, 1_000_000]


def test_paths_tell_rungs():
    assert rung_of("/" + segment_path(12, 7)) == 12
    for path in ("/segments/004.m4s", "/page.html", "/segments/x/004.m4s"):
        with pytest.raises(ValueError, match="is no segment"):
            rung_of(path)
