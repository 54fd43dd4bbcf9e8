"""Active queue management of the kernel, in place of the queue in front of the rate.

As the kernel has them by default, but for two things: how long the queue can be, and whether packets that
are capable of ECN are marked. The length counts in packets, of cake in memory.
"""

from __future__ import annotations

import socket
import struct

from howquick.testbed.errors import TestbedError
from howquick.testbed.link import Link
from howquick.testbed.namespace import Namespace
from howquick.testbed.netlink import ACK, CREATE_EXCLUSIVE, ask, attribute, qdisc_message

PARENT, HANDLE = "10:1", "20:"
# What the kernel takes of memory for a frame, beside its bytes: cake counts it.
FRAME_OVERHEAD_BYTES = 800
DUALPI2 = "dualpi2"
ANY_ECT = "dualpi2-any-ect"

# linux/pkt_sched.h
TCA_DUALPI2_LIMIT, TCA_DUALPI2_ECN_MASK, ECN_MASK_ANY_ECT = 1, 14, 3
WITHOUT = (
    "Leave `aqm` out of the link, or measure it by --config clock=virtual, whose kernel has it."
)


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
    options = attribute(TCA_DUALPI2_LIMIT, struct.pack("=I", limit))
    if any_ect:
        options += attribute(TCA_DUALPI2_ECN_MASK, struct.pack("=B", ECN_MASK_ANY_ECT))
    return qdisc_message(ACK | CREATE_EXCLUSIVE, index, (HANDLE, PARENT), DUALPI2, options)


def _add_dualpi2(router: Namespace, interface: str, limit: int, any_ect: bool) -> None:
    with router.entered():
        asked = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
        index = socket.if_nametoindex(interface)
    with asked:
        try:
            ask(asked, dualpi2_message(index, limit, any_ect), DUALPI2)
        except TestbedError as refused:
            raise TestbedError(f"{refused}. {WITHOUT}") from None
