"""The machine as a whole: pressure, steal, clocks, and who used its processors."""

from __future__ import annotations

import os
import resource
import time
from dataclasses import dataclass
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
# Of the line `cpu` of /proc/stat: user, nice, system, irq, softirq. Guests are in user already.
_BUSY = (1, 2, 3, 6, 7)
_STEAL = 8
# Two clocks cannot be read at once. Whoever loses the processor in between reads them again.
_READ_WITHIN_S = 0.0002
_READINGS = 10


@dataclass(frozen=True)
class Machine:
    """Readings at one moment; seconds. None: this kernel does not tell. `own`: used by the measurement."""

    monotonic: float
    realtime: float
    pressure: float | None
    steal: float | None
    busy: float | None
    own: float


def read_machine(own_s: float = 0.0) -> Machine:
    """Read everything; `own_s`: CPU seconds of the measurement's processes but this one."""
    times = next((line.split() for line in lines("/proc/stat") if line.startswith("cpu ")), None)
    monotonic, realtime = _clocks()
    return Machine(
        monotonic,
        realtime,
        pressure_s(),
        int(times[_STEAL]) / _TICKS if times else None,
        sum(int(times[i]) for i in _BUSY) / _TICKS if times else None,
        _used_s() + own_s,
    )


def _clocks() -> tuple[float, float]:
    """Monotonic and realtime clock of one moment: of some readings, the one that took the shortest."""
    best = (float("inf"), 0.0, 0.0)
    for _ in range(_READINGS):
        before, realtime, after = time.monotonic(), time.time(), time.monotonic()
        best = min(best, (after - before, (before + after) / 2, realtime))
        if best[0] < _READ_WITHIN_S:
            break
    return best[1:]


def _used_s() -> float:
    """CPU seconds of this process."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def pressure_s() -> float | None:
    """Seconds since boot in which some task waited for a CPU (PSI); None where the kernel has no PSI."""
    for line in lines("/proc/pressure/cpu"):
        if line.startswith("some"):
            return int(line.rsplit("=", 1)[1]) / 1e6
    return None


def describe(begin: Machine, end: Machine) -> dict[str, float | None]:
    """What happened between two readings: shares of the elapsed time, and the step of the clock, seconds.

    `cpu_pressure`: some task waited; `steal`: kept from us by the hypervisor, of one processor;
    `foreign_cpu`: used by programs that do not belong to the measurement, of all processors.
    """
    elapsed = end.monotonic - begin.monotonic
    foreign = None
    if begin.busy is not None and end.busy is not None:
        spent = (end.busy - begin.busy) - (end.own - begin.own)
        foreign = round(max(0.0, spent) / elapsed / (os.cpu_count() or 1), 4)
    return {
        "cpu_pressure": _share(begin.pressure, end.pressure, elapsed),
        "steal": _share(begin.steal, end.steal, elapsed),
        "foreign_cpu": foreign,
        "clock_step_s": round((end.realtime - begin.realtime) - elapsed, 4),
    }


def _share(first: float | None, last: float | None, elapsed: float) -> float | None:
    return None if first is None or last is None else round((last - first) / elapsed, 4)


def lines(path: str) -> list[str]:
    """Lines of a file of the kernel's; none where it is not there."""
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []
