"""Active queue management of the kernel, in place of the queue in front of the rate.

As the kernel has them by default, but for two things: how long the queue can be, and whether packets that
are capable of ECN are marked. The length counts in packets, of cake in memory.
"""

from __future__ import annotations

import os
import socket
import struct

from howquick.testbed.errors import TestbedError
from howquick.testbed.link import Link
from howquick.testbed.namespace import Namespace

PARENT, HANDLE = "10:1", "20:"
# What the kernel takes of memory for a frame, beside its bytes: cake counts it.
FRAME_OVERHEAD_BYTES = 800
DUALPI2 = "dualpi2"
ANY_ECT = "dualpi2-any-ect"

# linux/rtnetlink.h, linux/netlink.h
RTM_NEWQDISC, NLMSG_ERROR = 36, 2
REQUEST_ACK_CREATE_EXCLUSIVE = 0x001 | 0x004 | 0x400 | 0x200
NESTED = 0x8000
TCA_KIND, TCA_OPTIONS = 1, 2
# linux/pkt_sched.h
TCA_DUALPI2_LIMIT, TCA_DUALPI2_ECN_MASK, ECN_MASK_ANY_ECT = 1, 14, 3
WITHOUT = (
    "Leave `aqm` out of the link, or measure it by --config clock=virtual, whose kernel has it."
)
MESSAGE = struct.Struct("=IHHII")
TRAFFIC = struct.Struct("=BBHiIII")
ATTRIBUTE = struct.Struct("=HH")


def add(router: Namespace, interface: str, link: Link) -> None:
    """Put the queue management of a link's direction below its rate. Raises TestbedError if that fails."""
    if link.aqm in (DUALPI2, ANY_ECT):
        _add_dualpi2(router, interface, link.queue_packets, link.aqm == ANY_ECT)
        return
    done = router.run(aqm_arguments(interface, link), check=False)
    if done.returncode:
        words = " ".join(done.stderr.split()).rstrip(".")
        raise TestbedError(f"the kernel refuses {link.aqm}: {words}. {WITHOUT}")


def aqm_arguments(interface: str, link: Link) -> list[str]:
    """Argv for tc: the queue management of one direction, of those that tc knows."""
    argv = ["tc", "qdisc", "add", "dev", interface, "parent", PARENT, "handle", HANDLE, link.aqm]
    if link.aqm == "cake":
        memory = link.queue_packets * (link.frame_bytes + FRAME_OVERHEAD_BYTES)
        return [*argv, "unlimited", "besteffort", "memlimit", str(memory)]
    argv += ["limit", str(link.queue_packets)]
    return [*argv, "ecn" if link.marks else "noecn"]


def dualpi2_message(index: int, limit: int, any_ect: bool) -> bytes:
    """The netlink message that adds dualpi2, which tc of the distribution does not know."""
    options = _attribute(TCA_DUALPI2_LIMIT, struct.pack("=I", limit))
    if any_ect:
        options += _attribute(TCA_DUALPI2_ECN_MASK, struct.pack("=B", ECN_MASK_ANY_ECT))
    body = TRAFFIC.pack(socket.AF_UNSPEC, 0, 0, index, _handle(HANDLE), _handle(PARENT), 0)
    body += _attribute(TCA_KIND, DUALPI2.encode() + b"\0")
    body += _attribute(TCA_OPTIONS | NESTED, options)
    length = MESSAGE.size + len(body)
    return MESSAGE.pack(length, RTM_NEWQDISC, REQUEST_ACK_CREATE_EXCLUSIVE, 1, 0) + body


def _add_dualpi2(router: Namespace, interface: str, limit: int, any_ect: bool) -> None:
    with router.entered():
        asked = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
        index = socket.if_nametoindex(interface)
    with asked:
        asked.send(dualpi2_message(index, limit, any_ect))
        answer = asked.recv(65536)
    _, kind, _, _, _ = MESSAGE.unpack_from(answer)
    (status,) = struct.unpack_from("=i", answer, MESSAGE.size)
    if kind != NLMSG_ERROR or status:
        raise TestbedError(f"the kernel refuses dualpi2: {os.strerror(-status)}. {WITHOUT}")


def _attribute(kind: int, value: bytes) -> bytes:
    """Of netlink: length, kind and value, filled up to four bytes."""
    length = ATTRIBUTE.size + len(value)
    return ATTRIBUTE.pack(length, kind) + value + bytes(-length % 4)


def _handle(text: str) -> int:
    """`10:1` as the kernel has it: both numbers are hexadecimal."""
    major, _, minor = text.partition(":")
    return int(major, 16) << 16 | int(minor or "0", 16)
