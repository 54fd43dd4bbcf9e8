"""What the machine is."""

from __future__ import annotations

import os
import platform
from functools import cache
from typing import Any

from howquick.guard.machine import lines

# In place of a machine's name: guests have none.
GUEST_NAME = "guest"


@cache
def describe_host() -> dict[str, Any]:
    """Node, kernel, processor and number of processors."""
    model = next(
        (
            line.split(":", 1)[1].strip()
            for line in lines("/proc/cpuinfo")
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
