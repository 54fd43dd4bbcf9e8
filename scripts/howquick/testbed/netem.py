"""The link made by the kernel: netem for loss and delay, tbf for queue and rate.

On each of the router's interfaces a packet that leaves passes

    netem (root, 1:): loss, then delay    →    tbf (10:, child of netem): queue of bytes, rate

netem hands a packet to its child when its delay is over, so the order is loss, delay, queue and
rate. The limit of netem counts packets, those in tbf included, and must never be reached: it is
set for the smallest packets at the highest rate that an end can send. tbf's burst is two of the
longest frames: enough that a late timer costs no rate, and no more.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from howquick.testbed import system
from howquick.testbed.errors import TestbedError
from howquick.testbed.link import Link
from howquick.testbed.namespace import Namespace

NETEM_LIMIT_PACKETS = 1_000_000
BURST_FRAMES = 2
# The interface at which packets of a direction leave the router.
INTERFACES = {"up": "to-server", "down": "to-client"}


def netem_arguments(interface: str, link: Link, seed: int, verb: str = "add") -> list[str]:
    """Argv for tc: loss and delay of one direction. `verb` is add or change.

    A change restarts the sequence of losses from the seed, so it doubles as reseeding.
    """
    argv = ["tc", "qdisc", verb, "dev", interface, "root", "handle", "1:", "netem"]
    argv += ["limit", str(NETEM_LIMIT_PACKETS), "delay", f"{link.rtt_ms * 500:.0f}us"]
    if link.loss_percent:
        argv += ["loss", "random", f"{link.loss_percent:.6f}%", "seed", str(seed)]
    return argv


def tbf_arguments(interface: str, link: Link, verb: str = "add") -> list[str]:
    """Argv for tc: queue and rate of one direction, in bytes of frames.

    A change fills the bucket of tokens.
    """
    argv = ["tc", "qdisc", verb, "dev", interface, "parent", "1:1", "handle", "10:", "tbf"]
    argv += ["rate", f"{round(link.bandwidth_mbit * 1e6)}bit"]
    burst = link.burst_bytes or BURST_FRAMES * link.frame_bytes
    return [*argv, "burst", f"{burst}b", "limit", f"{link.queue_bytes}b"]


class Netem:
    """Backend in which the router forwards IP and the kernel shapes."""

    name = "netem"
    bridged = False
    serialises = False

    def __init__(self) -> None:
        self._router: Namespace | None = None
        self._link: Link | None = None
        self._before: dict[str, dict[str, int]] = {}

    def start(self, spaces: dict[str, Namespace], link: Link) -> None:
        """Add the qdiscs to both interfaces of the router."""
        router = spaces["router"]
        self._router, self._link = router, link
        for interface in INTERFACES.values():
            router.run(netem_arguments(interface, link, seed=0))
            router.run(tbf_arguments(interface, link))
        self._before = self._totals()

    def stop(self) -> None:
        """The qdiscs go with the namespaces."""
        self._router = None

    def alive(self) -> bool:
        """Whether it was started: the kernel does not stop by itself."""
        return self._router is not None

    def seed(self, up: int, down: int) -> None:
        """Restart the losses of both directions from seeds and zero the counts."""
        router, link = self._running()
        if link.loss_percent:
            for direction, seed in (("up", up), ("down", down)):
                router.run(netem_arguments(INTERFACES[direction], link, seed, "change"))
        if link.burst_bytes:
            for interface in INTERFACES.values():
                router.run(tbf_arguments(interface, link, "change"))
        self._before = self._totals()

    def counters(self) -> dict[str, Any]:
        """What totals_of tells, for each direction, since the last seed."""
        now = self._totals()
        return {
            direction: {name: now[direction][name] - before[name] for name in before}
            for direction, before in self._before.items()
        }

    def drops(self) -> None:
        """The kernel counts its drops and does not tell which they were."""

    def version(self) -> str:
        """Kernel and tc."""
        kernel = system.run(["uname", "-r"]).strip()
        return f"netem and tbf of Linux {kernel}, {system.run(['tc', '-V']).strip()}"

    def _running(self) -> tuple[Namespace, Link]:
        if self._router is None or self._link is None:
            raise TestbedError("the link is not set up")
        return self._router, self._link

    def _totals(self) -> dict[str, dict[str, int]]:
        router, _ = self._running()
        qdiscs = json.loads(router.run(["tc", "-s", "-j", "qdisc", "show"]).stdout)
        return {
            direction: totals_of(qdiscs, interface) for direction, interface in INTERFACES.items()
        }


def totals_of(qdiscs: list[Mapping[str, Any]], interface: str) -> dict[str, int]:
    """Counts of one direction since the start, from the output of `tc -s -j qdisc show`.

    netem counts its child's drops as its own, so the losses are the difference. What entered is
    what left, was dropped, or still waits.
    """
    by_kind = {qdisc["kind"]: qdisc for qdisc in qdiscs if qdisc.get("dev") == interface}
    netem, tbf = by_kind["netem"], by_kind["tbf"]
    return {
        "entered": netem["packets"] + netem["drops"] + netem["qlen"],
        "lost": netem["drops"] - tbf["drops"],
        "queue_dropped": tbf["drops"],
        "sent": netem["packets"],
    }
