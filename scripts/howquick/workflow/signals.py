"""What a start does when it is told to end."""

from __future__ import annotations

import signal
import threading
from queue import SimpleQueue
from typing import Any


def end_gently_when_told(scheduler: Any) -> None:
    """On SIGTERM let the running jobs end and start no more; `scheduler` is Snakemake's.

    Its own handler takes a lock that the code which it interrupts may hold, and both wait for ever: as where
    a job's end is just noted, which is when a signal comes to a whole group of processes. So the handler only
    tells a thread, by the one queue that a handler may use.
    """
    told: SimpleQueue[None] = SimpleQueue()

    def end() -> None:
        while True:
            told.get()
            scheduler.exit_gracefully()

    threading.Thread(target=end, name="end-gently", daemon=True).start()
    signal.signal(signal.SIGTERM, lambda *_: told.put(None))
