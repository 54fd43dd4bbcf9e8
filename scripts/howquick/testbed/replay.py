"""The process that makes a link follow its traces: started with the link, told when a load begins."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import Any

from howquick.errors import ROOT
from howquick.testbed import system, trace, wire
from howquick.testbed.errors import TestbedError
from howquick.testbed.link import Link
from howquick.testbed.namespace import Namespace

# Of packets, in the kernel.
PRIORITIES = 16
PROGRAM = ROOT / "scripts" / "replay_trace.py"


def describe(interface: str, side: Link) -> dict[str, Any]:
    """A direction of a link with a trace, as howquick.testbed.wire.Wire reads it."""
    steps = trace.load(side.rate_trace).steps()
    return {
        "interface": interface,
        "limit": side.queue_bytes,
        "frame_bytes": side.frame_bytes,
        "rate": round(side.bytes_per_second),
        "steps": [(end_ms, round(mbit * 1e6 / 8)) for end_ms, mbit in steps],
    }


def above_arguments(interface: str) -> list[list[str]]:
    """Argv for tc: what is above the netem of a direction whose rate follows a trace."""
    add = ["tc", "qdisc", "add", "dev", interface]
    first = ["root", "handle", wire.ABOVE, "prio", "bands", "2", "priomap", *["0"] * PRIORITIES]
    return [[*add, *first], [*add, "parent", wire.DROPPED, "blackhole"]]


class Replayer:
    """A process in the router which sets the rates of the directions that have a trace.

    Until it is told when to begin each has its mean rate.
    """

    def __init__(self, router: Namespace, sides: dict[str, Link]) -> None:
        """sides: by the router's interface; what is above their links is made. Raises TestbedError."""
        self._sides = sides
        for interface in sides:
            for argv in above_arguments(interface):
                router.run(argv)
        self._process = router.popen(
            [sys.executable, "-S", PROGRAM],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1,
        )  # fmt: skip
        self._replays = False

    def start(self) -> None:
        """Tell it of the links, once they are made. Raises TestbedError if it did not start."""
        described = [describe(interface, side) for interface, side in self._sides.items()]
        self._ask(json.dumps(described), "ready")

    def replay(self) -> int:
        """Let the traces begin with the next full second; says when, nanoseconds since 1970."""
        start_ns = (time.time_ns() // 10**9 + 1) * 10**9
        self._ask(f"replay {start_ns}", "")
        self._replays = True
        return start_ns

    def hold(self) -> None:
        """Set the mean rates, if anything else was set."""
        if self._replays:
            self._ask("hold", "held")
            self._replays = False

    def alive(self) -> bool:
        """Whether it runs."""
        return self._process.poll() is None

    def stop(self) -> None:
        """End it."""
        system.end_gently(self._process)

    def _ask(self, line: str, answer: str) -> None:
        """Write a line; with an answer, wait for it. Raises TestbedError where there is none."""
        assert self._process.stdin and self._process.stdout and self._process.stderr
        try:
            self._process.stdin.write(f"{line}\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            answer = "anything"
        if answer and self._process.stdout.readline().strip() != answer:
            self.stop()
            words = self._process.stderr.read().strip().splitlines()
            raise TestbedError(
                f"what replays the trace ended: {words[-1] if words else 'it said nothing'}"
            )
