"""What the machine was and how busy it was."""

from __future__ import annotations

import os
import platform
import time
from functools import cache
from pathlib import Path
from typing import Any


@cache
def describe_host() -> dict[str, Any]:
    """Node, kernel, processor and number of processors."""
    model = next(
        (
            line.split(":", 1)[1].strip()
            for line in _lines("/proc/cpuinfo")
            if line.startswith(("model name", "Model"))
        ),
        platform.machine(),
    )
    return {
        "node": platform.node(),
        "kernel": platform.release(),
        "cpu": model,
        "cpus": len(os.sched_getaffinity(0)),
    }


class Guard:
    """Takes the disturbance of a repetition: from construction to `stop()`."""

    def __init__(self) -> None:
        self._begin = self._sample()

    def stop(self) -> dict[str, float | None]:
        """Shares of the elapsed time: `cpu_pressure` (some task waited), `steal`; clock step, seconds."""
        begin, end = self._begin, self._sample()
        elapsed = end["monotonic"] - begin["monotonic"]

        def share(name: str) -> float | None:
            first, last = begin[name], end[name]
            if first is None or last is None:
                return None
            return round((last - first) / elapsed, 4)

        step = (end["realtime"] - begin["realtime"]) - elapsed
        return {
            "cpu_pressure": share("pressure"),
            "steal": share("steal"),
            "clock_step_s": round(step, 4),
        }

    @staticmethod
    def _sample() -> dict[str, Any]:
        return {
            "monotonic": time.monotonic(),
            "realtime": time.time(),
            "pressure": _pressure_s(),
            "steal": _steal_s(),
        }


def _pressure_s() -> float | None:
    """Seconds since boot in which some task waited for a CPU (PSI); None where the kernel has no PSI."""
    for line in _lines("/proc/pressure/cpu"):
        if line.startswith("some"):
            return int(line.rsplit("=", 1)[1]) / 1e6
    return None


def _steal_s() -> float | None:
    """Seconds since boot that the hypervisor kept from us, summed over processors."""
    for line in _lines("/proc/stat"):
        if line.startswith("cpu "):
            return int(line.split()[8]) / os.sysconf("SC_CLK_TCK")
    return None


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []
