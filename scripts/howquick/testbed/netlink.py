"""Messages to the kernel about queueing disciplines, for what tc does not know or is too slow for."""

from __future__ import annotations

import os
import socket
import struct

from howquick.testbed.errors import TestbedError

# linux/rtnetlink.h, linux/netlink.h
RTM_NEWQDISC, NLMSG_ERROR = 36, 2
REQUEST, ACK, CREATE_EXCLUSIVE = 0x001, 0x004, 0x400 | 0x200
NESTED = 0x8000
TCA_KIND, TCA_OPTIONS = 1, 2
MESSAGE = struct.Struct("=IHHII")
TRAFFIC = struct.Struct("=BBHiIII")
ATTRIBUTE = struct.Struct("=HH")
MOST_BYTES = 65536


def attribute(kind: int, value: bytes) -> bytes:
    """Of netlink: length, kind and value, filled up to four bytes."""
    length = ATTRIBUTE.size + len(value)
    return ATTRIBUTE.pack(length, kind) + value + bytes(-length % 4)


def handle(text: str) -> int:
    """`10:1` as the kernel has it: both numbers are hexadecimal."""
    major, _, minor = text.partition(":")
    return int(major, 16) << 16 | int(minor or "0", 16)


def qdisc_message(
    flags: int, index: int, places: tuple[str, str], kind: str, options: bytes
) -> bytes:
    """A message that adds or changes a queueing discipline.

    index: of the interface. places: its own handle and its parent's class. options: attributes of its kind.
    """
    own, parent = places
    body = TRAFFIC.pack(socket.AF_UNSPEC, 0, 0, index, handle(own), handle(parent), 0)
    body += attribute(TCA_KIND, kind.encode() + b"\0")
    body += attribute(TCA_OPTIONS | NESTED, options)
    return MESSAGE.pack(MESSAGE.size + len(body), RTM_NEWQDISC, REQUEST | flags, 1, 0) + body


def ask(asked: socket.socket, message: bytes, what: str) -> None:
    """Send one message with ACK and read the answer. Raises TestbedError, naming `what`, for a refusal."""
    asked.send(message)
    read_answer(asked, what)


def read_answer(asked: socket.socket, what: str) -> None:
    """Read what the kernel says of a message. Raises TestbedError, naming `what`, for a refusal."""
    answer = asked.recv(MOST_BYTES)
    _, kind, _, _, _ = MESSAGE.unpack_from(answer)
    (status,) = struct.unpack_from("=i", answer, MESSAGE.size)
    if kind != NLMSG_ERROR or status:
        raise TestbedError(f"the kernel refuses {what}: {os.strerror(-status)}")
