"""A processor for each guest: its kernel and programs take turns, which is slow across two."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass


@dataclass(frozen=True)
class Processor:
    """A processor that no other guest of this machine takes while this object lives.

    held: None if all were taken; then guests share it, which costs time and changes no result.
    """

    number: int
    held: socket.socket | None


def take_processor() -> Processor:
    """One of those that this process may use. Call it before the sandbox is entered.

    The claim is a name in the network namespace (unix(7), abstract): it ends with its process, leaves no
    file, and in a sandbox, which has a network of its own, nobody would see it.
    """
    allowed = sorted(os.sched_getaffinity(0))
    for number in allowed:
        claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            claim.bind(f"\0howquick-guest-on-processor-{number}")
        except OSError:
            claim.close()
            continue
        return Processor(number, claim)
    return Processor(allowed[os.getpid() % len(allowed)], None)
