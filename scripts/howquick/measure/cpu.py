"""CPU time of programs under test, and which processors they run on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from howquick.guard.processes import members, read_process


def group_cpu_s(leader: int) -> float:
    """CPU seconds of all processes of a process group, and of the children that they have waited for.

    Programs under test are started in process groups of their own; what left its group is not found.
    """
    return sum(process.cpu_s for process in members({leader}))


def process_cpu_s(pid: int) -> float:
    """CPU seconds of one process and of the children that it has waited for, as wait4(2) tells them."""
    process = read_process(Path(f"/proc/{pid}/stat"))
    return process.cpu_s if process else 0.0


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
