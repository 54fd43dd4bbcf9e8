"""A client that is steered through a video: what its player asks for, URL by URL, while it loads."""

from __future__ import annotations

import math
import select
import time
from typing import Any

from howquick.measure.children import ProgramFailed, read_line
from howquick.measure.client import Client
from howquick.measure.job import Job
from howquick.player.player import Player
from howquick.player.video import Video, segment_path
from howquick.testbed.namespace import Namespace


class Viewer:
    """What is asked for next, and what was asked for. Times are seconds since the client was let go.

    page: entries of the video's files; origin: what their URLs begin with.
    """

    def __init__(self, video: Video, page: list[dict[str, Any]], origin: str) -> None:
        self._player = Player(video)
        self._origin = origin
        self._entries = {entry["path"]: entry for entry in page}
        self.asked: list[dict[str, Any]] = []

    def ask(self, at_s: float) -> str:
        """The URL that is asked for now."""
        path = f"/{segment_path(self._player.ask(at_s), self._player.number)}"
        self.asked.append(self._entries[path])
        return f"{self._origin}{path}"

    def arrived(self, at_s: float) -> float | None:
        """What was asked for is complete: seconds until there is room for more, None after the last one."""
        self._player.arrived(at_s, self.asked[-1]["bytes"])
        return None if self._player.is_done else self._player.wait_s(at_s)


class SteeredClient(Client):
    """A client with FETCH=steered: it was told the first URL, says `done`, and is told the next one.

    viewer: has asked for the first URL already.
    """

    def __init__(self, job: Job, namespace: Namespace, viewer: Viewer) -> None:
        super().__init__(job, namespace)
        self.is_talked_to = True
        self._viewer = viewer
        self.chosen = viewer.asked
        self._went = 0.0  # monotonic
        self._next_at = math.inf  # when the next URL is to be asked for, monotonic
        self._fetches = True  # or has said that it is done

    def go(self) -> None:
        """Let the load begin."""
        self._went = time.monotonic()
        super().go()

    def _ended(self, descriptor: int, deadline: float) -> bool:
        """Wait for the end (true), for a line, or for room in the buffer; TimeoutError at the deadline."""
        assert self.process is not None
        sources: list[Any] = [descriptor]
        if not self.is_silent:
            sources.append(self.process.stdout)
        until = min(deadline, self._next_at)
        ready, _, _ = select.select(sources, [], [], max(0.0, until - time.monotonic()))
        now = time.monotonic()
        if descriptor in ready:
            return True
        if now >= deadline:
            self.out_of_time()
        if not ready:
            self._fetch_next()
        elif (line := read_line(self.process, deadline - now)) == b"done":
            self._fetched(now)
        elif line == b"":
            self.is_silent = True
        return False

    def _fetched(self, at: float) -> None:
        """What was asked for is complete; `at` is when, monotonic."""
        assert self.process is not None and self.process.stdin is not None
        if not self._fetches:
            self.kill()
            raise ProgramFailed(f"client {self.job.endpoint.name} was done with nothing to fetch")
        self._fetches = False
        wait_s = self._viewer.arrived(at - self._went)
        if wait_s is None:
            self.process.stdin.close()
        elif wait_s:
            self._next_at = at + wait_s
        else:
            self._fetch_next()

    def _fetch_next(self) -> None:
        self._next_at, self._fetches = math.inf, True
        self.say(f"fetch {self._viewer.ask(time.monotonic() - self._went)}", last=False)
