"""The buffer of a player: what has arrived is played in its order, and where nothing is there, it stalls."""

from __future__ import annotations

from collections.abc import Iterable


class Playback:
    """Playing begins, and after a stall goes on, as soon as one whole segment is there.

    startup_s: from the start until playing began; None before. stalls, stalled_s: how often and how long
    playing stood still since. Times are in seconds since the start of the load and never decrease.
    """

    def __init__(self, segment_s: float) -> None:
        self._segment_s = segment_s
        self._empty_at_s = 0.0
        self.startup_s: float | None = None
        self.stalls = 0
        self.stalled_s = 0.0

    def arrived(self, at_s: float) -> None:
        """One more segment is complete."""
        if self.startup_s is None:
            self.startup_s = at_s
        elif at_s > self._empty_at_s:
            self.stalls += 1
            self.stalled_s += at_s - self._empty_at_s
        self._empty_at_s = max(self._empty_at_s, at_s) + self._segment_s

    def level_s(self, at_s: float) -> float:
        """How much video is there and not yet played, seconds."""
        return max(0.0, self._empty_at_s - at_s)


def played(arrivals_s: Iterable[float], segment_s: float) -> Playback:
    """The playback of segments that were complete at these times, in their order."""
    playback = Playback(segment_s)
    for at_s in arrivals_s:
        playback.arrived(at_s)
    return playback
