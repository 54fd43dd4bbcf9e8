"""Watching a repetition: readings before and after it, and looks at its processes during the load."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from howquick.guard.machine import describe, read_machine
from howquick.guard.processes import Role, members

# A look takes a fraction of a millisecond. Whoever stands still for longer than this is found.
LOOK_EVERY_S = 0.1


class Unwatched:
    """A watch of a load in virtual time: looking would take time there, and nothing can be found."""

    def load(self, groups: Callable[[], Mapping[int, str]]) -> None:
        """The load begins."""

    def look(self, first: bool = False) -> None:
        """Look at nothing."""

    def load_over(self) -> None:
        """The load has ended."""

    def stop(self) -> dict[str, Any]:
        """As `Watch.stop` has it; null where nothing was looked at."""
        return {
            "cpu_pressure": None,
            "steal": None,
            "foreign_cpu": None,
            "clock_step_s": 0.0,
            "run_delay_s": {},
            "stopped": [],
            "pause_s": 0.0,
        }


class Watch:
    """From construction to `stop()`; `load` and `load_over` mark the load within it.

    In between, a thread looks at the processes of the load every LOOK_EVERY_S. When its own looks
    are late, this program was not running either: stopped, or the whole machine was.
    """

    def __init__(self) -> None:
        self._roles: dict[str, Role] = {}
        self._groups: Callable[[], Mapping[int, str]] = dict
        self._begin = read_machine()
        self._pause_s = 0.0
        self._over = threading.Event()
        self._looking = threading.Lock()
        self._thread: threading.Thread | None = None

    def load(self, groups: Callable[[], Mapping[int, str]]) -> None:
        """The load begins. `groups` gives PIDs of leaders and their roles (`server`, `client`, …).

        It is asked at every look: a client without a gate does not run yet.
        """
        self._groups = groups
        self.look(first=True)
        self._begin = read_machine()
        self._thread = threading.Thread(target=self._keep_looking, daemon=True)
        self._thread.start()

    def look(self, first: bool = False) -> None:
        """Look at all processes of the load now; also for a client that has ended, before it is reaped."""
        with self._looking:
            groups = self._groups()
            for process in members(groups):
                role = self._roles.setdefault(groups[process.group], Role())
                role.see(process, first)

    def load_over(self) -> None:
        """The load has ended."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _keep_looking(self) -> None:
        due = time.monotonic() + LOOK_EVERY_S
        while not self._over.wait(max(0.0, due - time.monotonic())):
            self._pause_s = max(self._pause_s, time.monotonic() - due)
            self.look()
            due = time.monotonic() + LOOK_EVERY_S
        self._pause_s = max(self._pause_s, time.monotonic() - due)

    def stop(self) -> dict[str, Any]:
        """What was found: as `describe` has it, and of the load

        `run_delay_s`: {role: seconds that its most delayed thread waited for a processor, or null},
        `stopped`: roles that were found standing still, `pause_s`: how late the latest look came.
        """
        self.load_over()
        self.look()
        end = read_machine(sum(role.cpu_s for role in self._roles.values()))
        delays = {name: role.run_delay_s for name, role in self._roles.items()}
        return describe(self._begin, end) | {
            "run_delay_s": {k: None if v is None else round(v, 5) for k, v in delays.items()},
            "stopped": sorted(name for name, role in self._roles.items() if role.stopped),
            "pause_s": round(self._pause_s, 4),
        }
