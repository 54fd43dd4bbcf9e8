"""A player that watches one video: told what arrives and when, it says what to ask for and when."""

from __future__ import annotations

from howquick.player.algorithms import ALGORITHMS, Fetch
from howquick.player.playback import Playback
from howquick.player.video import Video


class Player:
    """One segment is on its way at a time. Times are seconds since the start of the load."""

    def __init__(self, video: Video) -> None:
        self._video = video
        self._playback = Playback(video.segment_s)
        self._fetched: list[Fetch] = []
        self._rung = 0
        self._asked_s = 0.0

    @property
    def number(self) -> int:
        """The number of the segment that is on its way, or comes next."""
        return len(self._fetched)

    @property
    def is_done(self) -> bool:
        """Whether the whole video has arrived."""
        return self.number == self._video.segments

    def wait_s(self, at_s: float) -> float:
        """Seconds until the buffer has room for a further segment."""
        room_at = self._video.buffer_s - self._video.segment_s
        return max(0.0, self._playback.level_s(at_s) - room_at)

    def ask(self, at_s: float) -> int:
        """The rung in which the next segment is asked for now."""
        choose = ALGORITHMS[self._video.algorithm]
        self._rung = choose(self._video, self._playback.level_s(at_s), self._fetched)
        self._asked_s = at_s
        return self._rung

    def arrived(self, at_s: float, size_bytes: int) -> None:
        """What was asked for is complete."""
        self._playback.arrived(at_s)
        self._fetched.append(Fetch(self._rung, size_bytes, at_s - self._asked_s))
