"""The link made by the kernel: netem for loss and delay, tbf for queue and rate.

On each of the router's interfaces a packet that leaves passes

    netem (root, 1:): loss, then delay    →    tbf (10:, child of netem): queue of bytes, rate

An active queue management is a child of tbf (20:), in place of its queue of bytes. Where the rate follows a
trace, netem is a class of a prio (root, 2:), whose other class drops all: howquick.testbed.wire says why.
netem hands a packet to its child when its delay is over, so the order is loss, delay, queue and
rate. The limit of netem counts packets, those in tbf included, and must never be reached: it is
set for the smallest packets at the highest rate that an end can send. tbf's burst is two of the
longest frames: enough that a late timer costs no rate, and no more. In virtual time no timer is late, and
the pinned kernel's tbf makes a wire of a bucket too small for any frame: each takes its length divided by
the rate (environment/kernel/patches/wire.patch).

netem's own reordering lets a packet pass beside its child, so beside the rate. Here a packet that
overtakes is one without delay: a table of two delays, of which netem draws.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from howquick.testbed import aqm, network, readings, system
from howquick.testbed.abilities import LATE_STEPS
from howquick.testbed.backend import Qdiscs
from howquick.testbed.errors import TestbedError
from howquick.testbed.link import NO_TRACE, Link
from howquick.testbed.namespace import Namespace

if TYPE_CHECKING:
    from howquick.testbed.replay import Replayer

NETEM_LIMIT_PACKETS = 1_000_000
BURST_FRAMES = 2
# The smallest burst that tc knows.
WIRE_BYTES = 1
# Where the netem is of a direction whose rate follows a trace.
TRACED = "2:1"
# Only the pinned kernel's tbf has it.
SERIALISES = Path("/sys/module/sch_tbf/parameters/serialises")
# The interface at which packets of a direction leave the router.
INTERFACES = {"up": "to-server", "down": "to-client"}
# A table of delays: its name, how many it holds, and how far below the mean its least is, in its own units
# of 1/8192 of the jitter (the lowest number of 16 bits).
REORDER_TABLE, TABLE_LENGTH = "howquick-reorder", 10_000
NO_DELAY, NO_DELAY_JITTERS = -32768, 4


def netem_arguments(interface: str, link: Link, seed: int, verb: str = "add") -> list[str]:
    """Argv for tc: loss and delay of one direction of a symmetric link. `verb` is add or change.

    A change restarts the sequence of losses and delays from the seed, so it doubles as reseeding.
    """
    place = ["root"] if link.rate_trace == NO_TRACE else ["parent", TRACED]
    argv = ["tc", "qdisc", verb, "dev", interface, *place, "handle", "1:", "netem"]
    argv += ["limit", str(NETEM_LIMIT_PACKETS), "delay", f"{link.rtt_ms * 500:.0f}us"]
    if link.jitter_ms:
        argv += [f"{link.jitter_ms * 1000:.0f}us"]
        if link.jitter_distribution != "uniform":
            argv += ["distribution", link.jitter_distribution]
    if link.reorder_percent:
        argv += [f"{link.rtt_ms * 500 / NO_DELAY_JITTERS:.3f}us", "distribution", REORDER_TABLE]
    if link.loss_burst_packets:
        argv += ["loss", "gemodel", *(f"{percent:.6f}%" for percent in gilbert_percents(link))]
    elif link.loss_percent:
        argv += ["loss", "random", f"{link.loss_percent:.6f}%"]
    return [*argv, "seed", str(seed)] if draws(link) else argv


def draws(link: Link) -> bool:
    """Whether netem draws anything for a packet."""
    return bool(link.loss_percent or link.jitter_ms or link.reorder_percent)


def gilbert_percents(link: Link) -> tuple[float, float, float]:
    """Chances in percent to enter and to leave the bad state, and of a loss there.

    The mean loss is the share of time in the bad state, p / (p + r), times the loss there; 1 / r packets
    pass in it on average.
    """
    leave = 1 / link.loss_burst_packets
    bad = link.loss_percent / link.loss_in_burst_percent
    return 100 * leave * bad / (1 - bad), 100 * leave, link.loss_in_burst_percent


def reorder_table(link: Link) -> str:
    """A table for netem of delays (iproute2, netem/*.dist) of which a share is no delay at all."""
    without = round(link.reorder_percent / 100 * TABLE_LENGTH)
    values = [NO_DELAY] * without + [0] * (TABLE_LENGTH - without)
    lines = (values[i : i + 8] for i in range(0, TABLE_LENGTH, 8))
    return "".join(" ".join(map(str, line)) + "\n" for line in lines)


def makes_wires(link: Link) -> bool:
    """Whether this kernel's tbf can put each frame on the link for its length divided by the rate.

    A link with a bucket of its own is none.
    """
    return not link.burst_bytes and SERIALISES.exists()


def tbf_arguments(interface: str, link: Link, wire: bool, verb: str = "add") -> list[str]:
    """Argv for tc: queue and rate of one direction, in bytes of frames.

    wire: with no bucket of tokens. A change fills the bucket.
    """
    argv = ["tc", "qdisc", verb, "dev", interface, "parent", "1:1", "handle", "10:", "tbf"]
    argv += ["rate", f"{round(link.bandwidth_mbit * 1e6)}bit"]
    burst = link.burst_bytes or (WIRE_BYTES if wire else BURST_FRAMES * link.frame_bytes)
    return [*argv, "burst", f"{burst}b", "limit", f"{link.queue_bytes}b"]


def tc(space: Namespace, lines: Sequence[Sequence[str]], **options: Any) -> None:
    """Run several commands of tc in one start of it; each begins with `tc`. Raises TestbedError."""
    text = "".join(f"{' '.join(words[1:])}\n" for words in lines)
    space.run(["tc", "-batch", "-"], input=text, **options)


class Netem:
    """Backend in which the router forwards IP and the kernel shapes."""

    name = "netem"
    bridged = False

    def __init__(self) -> None:
        self.serialises = False
        self._router: Namespace | None = None
        self._link: Link | None = None
        self._ends: list[Namespace] = []
        self._before: dict[str, dict[str, int]] = {}
        self._replayer: Replayer | None = None

    def start(self, spaces: dict[str, Namespace], link: Link) -> None:
        """Add the qdiscs to both interfaces of the router."""
        router = spaces["router"]
        self._router, self._link = router, link
        self._ends = [spaces[end.name] for end in network.ENDS]
        self.serialises = makes_wires(link)
        sides = {interface: link.side(direction) for direction, interface in INTERFACES.items()}
        traced = {name: side for name, side in sides.items() if side.rate_trace != NO_TRACE}
        if traced and not self.serialises:
            raise TestbedError(f"this link cannot be made here: {LATE_STEPS}")
        if traced:
            self._replayer = _replayer(router, traced)
        self._make_netems(dict.fromkeys(INTERFACES, 0), "add")
        tc(router, [tbf_arguments(interface, link.side(direction), self.serialises)
                    for direction, interface in INTERFACES.items()])  # fmt: skip
        for direction, interface in INTERFACES.items():
            side = link.side(direction)
            if side.aqm != "none":
                aqm.add(router, interface, side)
        if link.path_mtu_bytes is not None:
            network.limit_path_mtu(router, link.path_mtu_bytes)
        if self._replayer:
            self._replayer.start()
        self._before = self._totals()

    def stop(self) -> None:
        """The qdiscs go with the namespaces."""
        self._router = None
        if self._replayer:
            self._replayer.stop()

    def alive(self) -> bool:
        """Whether it was started: the kernel does not stop by itself, what replays a trace may."""
        return self._router is not None and (self._replayer is None or self._replayer.alive())

    def seed(self, up: int, down: int) -> None:
        """Restart the losses of both directions from seeds and zero the counts; a trace stands still."""
        router, link = self._running()
        if self._replayer:
            self._replayer.hold()
        if draws(link):
            self._make_netems({"up": up, "down": down}, "change")
        if link.burst_bytes:
            tc(router, [tbf_arguments(interface, link.side(direction), self.serialises, "change")
                        for direction, interface in INTERFACES.items()])  # fmt: skip
        if link.path_mtu_bytes is not None:
            # What a load learns of the path is no other load's.
            for end in self._ends:
                end.run(["ip", "route", "flush", "cache"])
        self._before = self._totals()

    def replay(self) -> int | None:
        """Let traces begin with the next full second, nanoseconds since 1970; None without a trace."""
        return self._replayer.replay() if self._replayer else None

    def counters(self, qdiscs: Qdiscs | None = None) -> dict[str, Any]:
        """What totals_of tells, for each direction, since the last seed."""
        now = self._totals(qdiscs)
        return {
            direction: {name: now[direction][name] - before[name] for name in before}
            for direction, before in self._before.items()
        }

    def drops(self) -> None:
        """The kernel counts its drops and does not tell which they were."""

    def version(self) -> str:
        """Kernel and tc."""
        return f"netem and tbf of Linux {os.uname().release}, {system.run(['tc', '-V']).strip()}"

    def _make_netems(self, seeds: Mapping[str, int], verb: str) -> None:
        router, link = self._running()
        lines = [
            netem_arguments(INTERFACES[direction], link.side(direction), seed, verb)
            for direction, seed in seeds.items()
        ]
        if not link.reorder_percent:
            tc(router, lines)
            return
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, f"{REORDER_TABLE}.dist").write_text(reorder_table(link), encoding="ascii")
            tc(router, lines, env={**os.environ, "TC_LIB_DIR": folder})

    def _running(self) -> tuple[Namespace, Link]:
        if self._router is None or self._link is None:
            raise TestbedError("the link is not set up")
        return self._router, self._link

    def _totals(self, qdiscs: Qdiscs | None = None) -> dict[str, dict[str, int]]:
        router, _ = self._running()
        if qdiscs is None:
            qdiscs = readings.qdisc_counters(router)
        return {
            direction: totals_of(qdiscs, interface) for direction, interface in INTERFACES.items()
        }


def _replayer(router: Namespace, sides: dict[str, Link]) -> Replayer:
    # Only here: loads without a trace are begun as if there were none.
    from howquick.testbed.replay import Replayer

    return Replayer(router, sides)


def totals_of(qdiscs: Sequence[Mapping[str, Any]], interface: str) -> dict[str, int]:
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
