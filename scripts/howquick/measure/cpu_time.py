"""CPU time of programs under test, and which processors they run on."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from howquick.guard.processes import members, read_process

# Of a clock's number: all threads of a process, living and dead, as the scheduler counts them
# (clock_getcpuclockid(3); CPUCLOCK_SCHED of Linux's include/linux/posix-timers.h).
_SCHEDULER = 2


def group_cpu_s(leader: int, fine: bool = False) -> float:
    """CPU seconds of all processes of a process group.

    Programs under test are started in process groups of their own; what left its group is not found.
    fine: by each process's clock, in nanoseconds; otherwise in the ticks of /proc.
    """
    found = members({leader})
    return sum(_clock_s(process.pid) if fine else process.cpu_s for process in found)


def process_cpu_s(pid: int, fine: bool = False) -> float:
    """CPU seconds of one process, as `group_cpu_s` counts them; 0 if it is gone."""
    if fine:
        return _clock_s(pid)
    process = read_process(Path(f"/proc/{pid}/stat"))
    return process.cpu_s if process else 0.0


def _clock_s(pid: int) -> float:
    try:
        return time.clock_gettime((~pid << 3) | _SCHEDULER)
    except OSError:
        return 0.0


@contextmanager
def on_cpus(cpus: frozenset[int]) -> Iterator[None]:
    """What is started in this context runs on these processors; on any if there are none."""
    before = os.sched_getaffinity(0)
    try:
        if cpus:
            os.sched_setaffinity(0, cpus)
        yield
    finally:
        os.sched_setaffinity(0, before)


def separate_cpus() -> dict[str, frozenset[int]]:
    """A processor for the server and one for the client; the same one where there is only one."""
    available = sorted(os.sched_getaffinity(0))
    return {"server": frozenset(available[-1:]), "client": frozenset(available[:1])}
