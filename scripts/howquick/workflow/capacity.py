"""What the machine has, what a block needs of it, and how long blocks take side by side."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable

from howquick.model import PlannedBlock

# CPU need of a block in percent of one processor: programs, captures and packing; and per Mbit/s of what
# its fastest arm can reach, the emulator, captures and both ends. On average a block needs less than half
# of it (`snakemake bench`), but it comes in bursts, and whoever has to wait for them is disturbed. On two
# processors it means four blocks at 2 Mbit/s side by side, where 1 % of the loads stayed disturbed, and so
# where loss or the window keeps the load as slow; two at 10 Mbit/s: of three there, every sixth did.
CPU_PERCENT_BASE = 37
CPU_PERCENT_PER_MBIT = 2.4
# A guest keeps one processor busy, and is not disturbed by whoever takes some of it.
GUEST_PERCENT = 90


def processors_percent() -> int:
    """What the machine has, in percent of one processor; a tenth is left to the machine itself."""
    return 90 * len(os.sched_getaffinity(0))


def cpu_percent(block: PlannedBlock) -> int:
    """What a block needs so that nobody waits, in percent of one processor, and never more than there is."""
    if block["alone"]:
        return processors_percent()
    if block.get("clock") == "virtual":
        return GUEST_PERCENT
    clients = 100 * max(block["cpu_s"] / block["seconds"], block["processors"])
    percent = CPU_PERCENT_BASE + CPU_PERCENT_PER_MBIT * block["peak_mbit"] + clients
    return min(round(percent), processors_percent())


def side_by_side_s(blocks: Iterable[tuple[float, int]], jobs: float = math.inf) -> float:
    """Wall seconds of blocks, at most `jobs` at once; of each its seconds and its need, cpu_percent."""
    blocks = list(blocks)
    busy = sum(seconds for seconds, _ in blocks)
    cpu = sum(seconds * percent for seconds, percent in blocks)
    longest = max((seconds for seconds, _ in blocks), default=0.0)
    return max(busy / jobs, cpu / processors_percent(), longest)
