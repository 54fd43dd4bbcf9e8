"""Processes of a load as the kernel's scheduler saw them: how long they waited, whether they stood still."""

from __future__ import annotations

import os
from collections.abc import Container
from dataclasses import dataclass, field
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
# Stopped by a signal, or by a tracer: proc(5).
STOPPED = ("T", "t")


@dataclass(frozen=True)
class Process:
    """One line of /proc: PID, state as a letter, process group, CPU seconds of its own threads."""

    pid: int
    state: str
    group: int
    cpu_s: float


def read_process(stat: Path) -> Process | None:
    """Of one `/proc/<pid>/stat`; None if the process is gone."""
    try:
        text = stat.read_text()
    except OSError:
        return None
    # The name, in parentheses, may hold anything; fields are counted after it.
    fields = text.rpartition(")")[2].split()
    ticks = sum(map(int, fields[11:13]))  # utime, stime
    return Process(int(stat.parent.name), fields[0], int(fields[2]), ticks / _TICKS)


def members(leaders: Container[int]) -> list[Process]:
    """All processes of the process groups that these lead."""
    found = map(read_process, Path("/proc").glob("[0-9]*/stat"))
    return [process for process in found if process and process.group in leaders]


def run_delays_s(pid: int) -> dict[int, float]:
    """Seconds that each thread of a process, by its number, was ready to run and did not; since its start.

    The second number of schedstat (Documentation/scheduler/sched-stats.rst). Empty where the kernel
    does not count it, and when the process is gone.
    """
    found: dict[int, float] = {}
    for file in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        try:
            found[int(file.parent.name)] = int(file.read_text().split()[1]) / 1e9
        except (OSError, IndexError):
            continue
    return found


# By the number of a thread or process, (first, last) value of an account of the kernel's, seconds.
Accounts = dict[int, tuple[float, float]]


@dataclass
class Role:
    """All processes of one process group: a server, a client, the link's emulator, a capture.

    waited: run-queue delays of the threads; used: CPU times of the processes; stopped: how often one
    of the processes was found standing still. A browser's processes end one by one and their accounts
    with them, so the last values seen are kept.
    """

    waited: Accounts = field(default_factory=dict)
    used: Accounts = field(default_factory=dict)
    stopped: int = 0

    def see(self, process: Process, first: bool) -> None:
        """Take in what one look found; what was not there at the first began with 0."""
        self.stopped += process.state in STOPPED
        for thread, now in run_delays_s(process.pid).items():
            _note(self.waited, thread, now, first)
        _note(self.used, process.pid, process.cpu_s, first)

    @property
    def cpu_s(self) -> float:
        """CPU seconds that its processes used since the first look."""
        return sum(last - begin for begin, last in self.used.values())

    @property
    def run_delay_s(self) -> float | None:
        """Of the thread that waited longest: threads wait side by side. None: not counted here."""
        if not self.waited:
            return None
        return max(last - first for first, last in self.waited.values())


def _note(accounts: Accounts, number: int, now: float, first: bool) -> None:
    begin, _ = accounts.get(number, (now if first else 0.0, now))
    accounts[number] = (begin, now)
