"""Processes on this machine, as the tests need to see them."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterable
from pathlib import Path

from workflow.flow import descendants


def kill_all(pids: Iterable[int]) -> None:
    """Kill processes with SIGKILL; those that are gone already do not matter."""
    for pid in list(pids):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def all_processes() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def name_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def host_namespace(pid: int) -> str:
    """The host-name namespace of a process: what makes processes those of one node."""
    try:
        return str(Path(f"/proc/{pid}/ns/uts").readlink())
    except OSError:
        return ""


def host_of(pid: int) -> str:
    """The host-name namespace of the daemon that a process started."""
    (daemon,) = (child for child in descendants(pid) if name_of(child) == "slurmd")
    return host_namespace(daemon)


def children(pid: int) -> set[int]:
    """PIDs of the living children of a process."""
    try:
        return {int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()}
    except OSError:
        return set()
