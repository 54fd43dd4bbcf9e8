"""Wires whose rate changes while packets pass: what a process in the router tells the kernel's tbf.

A wire is a tbf of the pinned kernel with a bucket too small for any frame (howquick.testbed.netem). It knows
when it began to send its first frame, and a new rate counts from then on: with twice the rate half of that
time is over, and what is more than a frame needs is credit for the next. So a rate that grows to more than
the double is set in two steps: a bucket of one frame lets that first frame pass at once and forgets when it
began, and then the wire is one again. By either way a step is off by less than a frame.

The kernel looks at its queue when a timer ends that it has set by the rate of before, or when a packet comes.
So that it looks at once one is sent that is dropped on its way in, beside the link.
"""

from __future__ import annotations

import os
import select
import socket
import struct
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TextIO

from howquick.testbed.netlink import MOST_BYTES, attribute, qdisc_message, read_answer

# The queueing disciplines of a direction; netem and tbf are called as those of a link without a trace.
ABOVE, DROPPED = "2:", "2:2"
NETEM_CLASS, TBF = "1:1", "10:"
# linux/pkt_sched.h
TCA_TBF_PARMS, TCA_TBF_BURST, LINKLAYER_ETHERNET = 1, 6, 1
RATE, QUEUE = struct.Struct("=BBHhHI"), struct.Struct("=III")
# tbf has no rate of nothing: a frame would take minutes by this.
OUTAGE_BYTES_PER_S = 1
WIRE_BYTES = 1
# More than the double in one step would let more than a frame pass at once.
MOST_GROWTH = 2
# To nobody, of no protocol.
NUDGE = bytes(14)
NS_PER_MS = 1_000_000


class Wire:
    """One direction of a link.

    description: `interface`; `limit`, of its queue in bytes; `frame_bytes`, of its longest frame; `rate`, its
    mean in bytes per second; `steps`, of one period: [until when in milliseconds, bytes per second].
    """

    def __init__(self, description: Mapping[str, Any]) -> None:
        self.mean: int = description["rate"]
        self._limit, self._frame = description["limit"], description["frame_bytes"]
        self._steps: Sequence[tuple[int, int]] = description["steps"]
        self._index = socket.if_nametoindex(description["interface"])
        self._nudges = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        major, _, minor = DROPPED.partition(":")
        self._nudges.setsockopt(
            socket.SOL_SOCKET, socket.SO_PRIORITY, int(major) << 16 | int(minor)
        )
        self._nudges.bind((description["interface"], 0))
        self._rate = self.mean
        self._changes: Iterator[tuple[int, int]] = iter(())
        self.next: tuple[int, int] | None = None

    def begin(self, start_ns: int) -> None:
        """Follow the trace from a time on, nanoseconds since 1970."""
        self._changes = changes(self._steps, start_ns)
        self.next = next(self._changes)

    def end(self) -> None:
        """Follow nothing."""
        self.next = None

    def advance(self) -> tuple[bytes, bytes]:
        """Go on to the next rate of the trace; messages as `set_rate` gives them."""
        assert self.next is not None
        _, rate = self.next
        self.next = next(self._changes)
        return self.set_rate(rate)

    def set_rate(self, rate: int) -> tuple[bytes, bytes]:
        """Messages that set a rate: one before the kernel looks at its queue, and one after, or nothing."""
        before, self._rate = self._rate, rate
        if rate == before:
            return b"", b""
        wire = self._message(rate, WIRE_BYTES)
        if rate > MOST_GROWTH * before:
            return self._message(rate, self._frame), wire
        return wire, b""

    def nudge(self) -> None:
        """Have the kernel look at its queue."""
        self._nudges.send(NUDGE)

    def _message(self, rate: int, burst: int) -> bytes:
        asked = max(rate, OUTAGE_BYTES_PER_S)
        parameters = RATE.pack(0, LINKLAYER_ETHERNET, 0, 0, 0, asked) + bytes(RATE.size)
        options = attribute(TCA_TBF_PARMS, parameters + QUEUE.pack(self._limit, 0, 0))
        options += attribute(TCA_TBF_BURST, struct.pack("=I", burst))
        return qdisc_message(0, self._index, (TBF, NETEM_CLASS), "tbf", options)


def changes(steps: Sequence[tuple[int, int]], start_ns: int) -> Iterator[tuple[int, int]]:
    """When a rate begins, nanoseconds since 1970, and the rate; period after period without end."""
    while True:
        begin_ns = start_ns
        for end_ms, rate in steps:
            yield begin_ns, rate
            begin_ns = start_ns + end_ms * NS_PER_MS
        start_ns = begin_ns


class Player:
    """Sets the rates of wires as they come due; asked by lines, `replay NANOSECONDS` or `hold`."""

    def __init__(self, wires: Sequence[Wire], asked: int, told: TextIO) -> None:
        """asked: a descriptor of what was not read before, in no buffer. told: where answers go."""
        self._wires, self._asked, self._told = wires, asked, told
        self._kernel = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
        self._timer = os.timerfd_create(time.CLOCK_REALTIME)

    def run(self) -> None:
        """Until nobody asks any more. Raises TestbedError where the kernel refuses a rate."""
        waited = select.poll()
        for descriptor in (self._asked, self._timer, self._kernel.fileno()):
            waited.register(descriptor, select.POLLIN)
        while True:
            ready = {descriptor for descriptor, _ in waited.poll()}
            if self._kernel.fileno() in ready:
                # Of what goes well it says nothing.
                read_answer(self._kernel, "a rate")
            if self._asked in ready:
                if not (said := os.read(self._asked, MOST_BYTES)):
                    return
                for line in said.decode().splitlines():
                    self._obey(line.split())
            elif self._timer in ready:
                self._step()

    def _obey(self, words: list[str]) -> None:
        if words[0] == "replay":
            for wire in self._wires:
                wire.begin(int(words[1]))
            self._set_timer()
            return
        for wire in self._wires:
            wire.end()
        self._set_timer()
        self._tell([(wire, wire.set_rate(wire.mean)) for wire in self._wires])
        self._told.write("held\n")
        self._told.flush()

    def _step(self) -> None:
        due = min(wire.next[0] for wire in self._wires if wire.next)
        self._tell([(w, w.advance()) for w in self._wires if w.next and w.next[0] == due])
        self._set_timer()

    def _set_timer(self) -> None:
        """Set it to the next step; it is silent without one."""
        due = min((wire.next[0] for wire in self._wires if wire.next), default=0)
        os.timerfd_settime_ns(self._timer, flags=os.TFD_TIMER_ABSTIME, initial=due)

    def _tell(self, messages: Sequence[tuple[Wire, tuple[bytes, bytes]]]) -> None:
        if first := b"".join(message for _, (message, _) in messages):
            self._kernel.send(first)
        for wire, (message, _) in messages:
            if message:
                wire.nudge()
        if then := b"".join(message for _, (_, message) in messages):
            self._kernel.send(then)
