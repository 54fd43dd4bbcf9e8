"""What watching a load costs: the guard's looks at the processes."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from howquick.guard.watch import LOOK_EVERY_S, Watch

LOOKS = 200


def guard() -> list[dict[str, Any]]:
    """Processor time of a look, and of all looks per second of a load, with this machine's processes."""
    watch = Watch()
    watch.load(lambda: {os.getpgrp(): "client"})
    watch.load_over()
    begin = time.process_time()
    for _ in range(LOOKS):
        watch.look()
    look_s = (time.process_time() - begin) / LOOKS
    watch.stop()
    return [
        {
            "processes": len(list(Path("/proc").glob("[0-9]*"))),
            "look_ms": round(1000 * look_s, 3),
            "looks_per_s": round(1 / LOOK_EVERY_S, 1),
            "cpu_s_per_s": round(look_s / LOOK_EVERY_S, 4),
        }
    ]
