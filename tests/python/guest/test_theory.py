"""Times that theory gives, in virtual time: frames on a wire, TCP from handshake to full link, loss."""

from __future__ import annotations

import math

import pytest
import theory_lab as lab

from howquick.testbed.link import Link
from testbed.sandboxed import run_in_guest

# Ethernet header, IPv4, TCP with timestamps; a SYN has 8 bytes of options more.
HEADERS = 14 + 20 + 32
SYN = HEADERS + 8
FREE = ("--syscall-ns", "0", "--wakeup-ns", "0")
# A timer of the kernel ends up to so many nanoseconds late; of those that a packet meets.
GRAIN_S = 250e-9


def on_the_wire(link: Link, frame_bytes: int) -> float:
    """Seconds that a frame takes."""
    return frame_bytes / link.bytes_per_second


def connected_after(link: Link) -> float:
    """SYN and its answer."""
    return link.rtt_ms / 1e3 + 2 * on_the_wire(link, SYN)


def test_a_frame_takes_its_length_after_a_pause_too() -> None:
    for size, delay in zip(lab.FRAMES, run_in_guest(lab.frames_after_a_pause, *FREE), strict=True):
        expected = lab.SLOW.rtt_ms / 2e3 + on_the_wire(lab.SLOW, size)
        assert delay == pytest.approx(expected, abs=8 * GRAIN_S)


def test_slow_start_doubles_each_round() -> None:
    """RFC 5681, 3.1, and the initial window of RFC 6928; an acknowledgement for each segment."""
    taken = run_in_guest(lab.slow_start, *FREE)
    link = lab.LONG
    rtt = link.rtt_ms / 1e3
    assert taken["connected_s"] == pytest.approx(connected_after(link), abs=20 * GRAIN_S)
    segment, ack = (on_the_wire(link, length) for length in (HEADERS + lab.MSS, HEADERS))
    # The server begins with the handshake's last packet; a round with the first acknowledgement of its
    # predecessor.
    begin = connected_after(link) + rtt / 2 + ack + (lab.ROUNDS - 1) * (segment + rtt + ack)
    last = begin + lab.INITIAL_WINDOW * 2 ** (lab.ROUNDS - 1) * segment + rtt / 2
    assert taken["last_s"] == pytest.approx(last, abs=1e-3)


def test_a_full_link_carries_its_rate() -> None:
    taken = run_in_guest(lab.full_link, *FREE)
    payload = lab.MSS / (HEADERS + lab.MSS) * lab.SLOW.bytes_per_second
    began = connected_after(lab.SLOW) + 2 * lab.SLOW.rtt_ms / 1e3
    assert taken["last_s"] == pytest.approx(began + lab.FULL / payload, rel=0.01)


def test_loss_limits_a_flow_as_the_model_says() -> None:
    """Padhye, Firoiu, Towsley, Kurose, Modeling TCP Throughput, SIGCOMM 1998, the approximate model."""
    taken = run_in_guest(lab.lossy_link, *FREE)
    rtt, loss, least_timeout, per_ack = lab.LOSSY.rtt_ms / 1e3, lab.LOSSY.loss_percent / 100, 0.2, 1
    fast = rtt * math.sqrt(2 * per_ack * loss / 3)
    slow = (
        (rtt + least_timeout)
        * min(1, 3 * math.sqrt(3 * per_ack * loss / 8))
        * loss
        * (1 + 32 * loss**2)
    )
    modelled = lab.MSS / (fast + slow)
    assert 10 * lab.FULL / taken["last_s"] == pytest.approx(modelled, rel=0.25)
