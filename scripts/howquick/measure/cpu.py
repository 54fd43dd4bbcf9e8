"""CPU time of programs under test, and which processors they run on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def session_cpu_s(leader: int) -> float:
    """CPU seconds of all processes of a session, and of the children that they have waited for.

    Programs under test are started in sessions of their own; what left its session is not found.
    """
    found = [_session_and_cpu_s(stat) for stat in Path("/proc").glob("[0-9]*/stat")]
    return sum(seconds for session, seconds in found if session == leader)


def process_cpu_s(pid: int) -> float:
    """CPU seconds of one process and of the children that it has waited for, as wait4(2) tells them."""
    return _session_and_cpu_s(Path(f"/proc/{pid}/stat"))[1]


def _session_and_cpu_s(stat: Path) -> tuple[int, float]:
    """Of one process, by proc(5); (-1, 0) if it is gone."""
    try:
        # The name, in parentheses, may hold anything; fields are counted after it.
        fields = stat.read_text().rpartition(")")[2].split()
    except OSError:
        return -1, 0.0
    return int(fields[3]), sum(map(int, fields[11:15])) / _TICKS  # utime, stime, cutime, cstime


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
