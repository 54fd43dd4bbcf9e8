"""What the machine that measures cannot give, whatever the programs ask for."""

from __future__ import annotations

import socket
from functools import cache
from pathlib import Path

from howquick.model import Cell

# The option by which programs ask for socket buffers (docs/formats.md, section 2).
BUFFERS = "socket_buffer_bytes"
LIMITS = tuple(Path("/proc/sys/net/core", name) for name in ("rmem_max", "wmem_max"))


def beyond_host(cell: Cell) -> str | None:
    """Why this machine cannot measure a cell at all; None if it can.

    Buffers larger than the kernel grants would be a cell of smaller ones under a wrong name (socket(7)). In
    virtual time the guest's kernel decides, and not this machine's.
    """
    asked = cell.get("options", {}).get(BUFFERS)
    if not isinstance(asked, int) or "clock" in cell:
        return None
    for limit in LIMITS:
        granted = int(limit.read_text()) if limit.exists() else asked
        if granted < asked:
            return f"this machine's net.core.{limit.name} grants {granted} bytes, and {asked} are asked for"
    return None


def lacks(transport: str, cell: Cell) -> str | None:
    """Why this machine's kernel cannot carry an arm in a cell; None if it can, or need not."""
    if transport != "sctp-kernel" or "clock" in cell or has_sctp():
        return None
    return "this machine's kernel has no SCTP; that of virtual time has it"


@cache
def has_sctp() -> bool:
    """Whether the kernel has SCTP; where that is a module, asking loads it."""
    try:
        socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_SCTP).close()
    except OSError:
        return False
    return True
