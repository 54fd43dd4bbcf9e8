"""Probe packets through the link: UDP trains and ICMP echoes, stamped by the kernel.

Both ends live on one machine and share its clock, so one-way delays can be read directly.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from howquick.testbed.namespace import Namespace

PORT = 7007
HEADERS = 14 + 20 + 8  # Ethernet, IPv4, UDP (or ICMP)
STAMP = struct.Struct("!IQ")  # sequence number, time of sending in nanoseconds
SHORTEST_FRAME = HEADERS + STAMP.size
SO_TIMESTAMPNS = 35
SO_RCVBUFFORCE = 33
IP_RECVTOS = 13
IP_MTU_DISCOVER, IP_PMTUDISC_DO, IP_MTU = 10, 2, 14
# Both bits of ECN in the traffic class: congestion was experienced.
CE = 3
RECEIVE_BUFFER = 32 << 20
TICK_S = 0.0005
ECHO = struct.Struct("!BBHHH")
ECHO_REQUEST = 8


class Arrival(NamedTuple):
    """A packet that arrived: its payload, when the kernel got it, and whether it bears a mark."""

    data: bytes
    time_ns: int
    marked: bool


@dataclass(frozen=True)
class Train:
    """What came of a train of packets.

    sent: number sent; frame_bytes: length of each as an Ethernet frame;
    sequence, sent_s, received_s: one entry for each packet received, in order of arrival;
    times in seconds since the first was sent; marked: whether each came with a mark of congestion
    (ECN's codepoint CE, RFC 3168). begin_ns: when that was, nanoseconds since 1970.
    """

    sent: int
    frame_bytes: int
    sequence: NDArray[np.int64]
    sent_s: NDArray[np.float64]
    received_s: NDArray[np.float64]
    marked: NDArray[np.bool_]
    begin_ns: int

    @property
    def lost(self) -> NDArray[np.bool_]:
        """For each packet sent, in order, whether it did not arrive."""
        missing = np.ones(self.sent, dtype=np.bool_)
        missing[self.sequence] = False
        return missing

    @property
    def delay_s(self) -> NDArray[np.float64]:
        """One-way delay of each packet received."""
        delay: NDArray[np.float64] = self.received_s - self.sent_s
        return delay

    def after(self, begin_s: float) -> Train:
        """The packets that arrived after a time, in seconds since the first was sent."""
        late = self.received_s >= begin_s
        return replace(
            self, sequence=self.sequence[late], sent_s=self.sent_s[late],
            received_s=self.received_s[late], marked=self.marked[late],
        )  # fmt: skip

    @property
    def reordered(self) -> int:
        """How many packets arrived before one that was sent earlier."""
        return int((np.diff(self.sequence) < 0).sum())


def send_train(
    ends: tuple[Namespace, Namespace],
    frame_bytes: int,
    packets_per_s: float,
    duration_s: float,
    silence_s: float,
    ecn: int = 0,
) -> Train:
    """Send UDP packets of equal size at a steady rate and receive what arrives.

    ends: who sends, and to whom. ecn: the packets' codepoint (RFC 3168, section 5): 0 is not capable, 1 and 2
    are ECT(1) and ECT(0).
    The train is over when nothing arrived for `silence_s` after the last was sent.
    """
    source, target = ends
    count = max(1, round(packets_per_s * duration_s))
    receiver = _receiving_socket(target, socket.IPPROTO_UDP)
    receiver.bind((target.address, PORT))
    arrivals: list[Arrival] = []
    done = threading.Event()
    thread = threading.Thread(target=_receive, args=(receiver, arrivals, done, silence_s))
    with source.entered():
        sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with sender, receiver:
        sender.connect((target.address, PORT))
        sender.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, ecn)
        thread.start()
        with contextlib.suppress(ConnectionRefusedError):
            _send(sender, bytes(frame_bytes - SHORTEST_FRAME), count, packets_per_s)
        done.set()
        thread.join()
    return _train(count, frame_bytes, arrivals)


def _send(sender: socket.socket, padding: bytes, count: int, packets_per_s: float) -> None:
    start = time.monotonic()
    sent = 0
    while sent < count:
        due = min(count, int((time.monotonic() - start) * packets_per_s) + 1)
        while sent < due:
            sender.send(STAMP.pack(sent, time.time_ns()) + padding)
            sent += 1
        time.sleep(TICK_S)


def _receive(
    receiver: socket.socket,
    arrivals: list[Arrival],
    done: threading.Event,
    silence_s: float,
) -> None:
    receiver.settimeout(silence_s)
    while True:
        finished = done.is_set()
        try:
            arrivals.append(_receive_stamped(receiver))
        except TimeoutError:
            if finished:
                return


def _receive_stamped(receiver: socket.socket) -> Arrival:
    """One packet, the time at which the kernel got it, and its mark."""
    data, messages, _, _ = receiver.recvmsg(9216, 128)
    control = {(level, kind): value for level, kind, value in messages}
    stamp = control[socket.SOL_SOCKET, SO_TIMESTAMPNS]
    seconds, nanoseconds = struct.unpack("qq", stamp[:16])
    traffic_class = control.get((socket.IPPROTO_IP, socket.IP_TOS), b"\0")[0]
    return Arrival(data, seconds * 1_000_000_000 + nanoseconds, traffic_class & CE == CE)


def _train(count: int, frame_bytes: int, arrivals: list[Arrival]) -> Train:
    stamps = np.array([STAMP.unpack_from(arrival.data) for arrival in arrivals], dtype=np.int64)
    stamps = stamps.reshape(-1, 2)
    received = np.array([arrival.time_ns for arrival in arrivals], dtype=np.int64)
    origin = stamps[:, 1].min() if len(stamps) else 0
    return Train(
        sent=count,
        frame_bytes=frame_bytes,
        sequence=stamps[:, 0],
        sent_s=(stamps[:, 1] - origin) / 1e9,
        received_s=(received - origin) / 1e9,
        marked=np.array([arrival.marked for arrival in arrivals], dtype=np.bool_),
        begin_ns=int(origin),
    )


def _receiving_socket(space: Namespace, protocol: int) -> socket.socket:
    with space.entered():
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM, protocol)
    made.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    made.setsockopt(socket.IPPROTO_IP, IP_RECVTOS, 1)
    try:
        made.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, RECEIVE_BUFFER)
    except PermissionError:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
    return made


def echo_times(
    source: Namespace, target: Namespace, count: int, gap_s: float, wait_s: float
) -> NDArray[np.float64]:
    """RTTs in seconds of ICMP echoes, which the far end's kernel answers by itself.

    `wait_s`: how long to wait for an answer after the last was sent.
    """
    times: list[float] = []
    with _receiving_socket(source, socket.IPPROTO_ICMP) as pinger:
        pinger.connect((target.address, 0))
        for number in range(count):
            header = ECHO.pack(ECHO_REQUEST, 0, 0, 0, number)
            pinger.send(header + STAMP.pack(number, time.time_ns()))
            times += _collect_echoes(pinger, gap_s)
        times += _collect_echoes(pinger, wait_s)
    return np.array(times)


def _collect_echoes(pinger: socket.socket, for_s: float) -> Iterator[float]:
    end = time.monotonic() + for_s
    while (left := end - time.monotonic()) > 0:
        pinger.settimeout(left)
        try:
            data, received, _ = _receive_stamped(pinger)
        except TimeoutError:
            return
        yield (received - STAMP.unpack_from(data, ECHO.size)[1]) / 1e9


def learnt_path_mtu(source: Namespace, target: Namespace, frame_bytes: int, wait_s: float) -> int:
    """The path MTU that the kernel has learnt (RFC 1191) a while after it was to send so long a frame."""
    with source.entered():
        asker = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with asker:
        asker.connect((target.address, PORT))
        asker.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO)
        with contextlib.suppress(OSError):
            # It is refused where the path is known already, or answered later.
            asker.send(bytes(frame_bytes - HEADERS))
        time.sleep(wait_s)
        return asker.getsockopt(socket.IPPROTO_IP, IP_MTU)
