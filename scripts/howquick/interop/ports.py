"""Let a server that insists on port 443 listen on another one, so that several can share a network.

The contract fixes the port. A seccomp filter hands every bind(2) of the server to this process, which does
it in its stead with the other port (seccomp_unotify(2), pidfd_getfd(2)). Packets are not touched, so
nothing is slower for it; it works for any program, also in a container.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import platform
import socket
import struct
import threading
from pathlib import Path

# Machine: AUDIT_ARCH, number of bind(2), number of seccomp(2).
MACHINES = {"x86_64": (0xC000003E, 49, 317), "aarch64": (0xC00000B7, 200, 277)}
PIDFD_GETFD = 438
PR_SET_NO_NEW_PRIVS = 38
SET_MODE_FILTER, NEW_LISTENER = 1, 1 << 3
RET_ALLOW, RET_USER_NOTIF = 0x7FFF0000, 0x7FC00000
LOAD, JUMP_EQUAL, RETURN = 0x20, 0x15, 0x06
RECEIVE, SEND = 0xC0502100, 0xC0182101
CONTINUE = 1
NOTICE = struct.Struct("=QIIiIQ6Q")
ANSWER = struct.Struct("=QqiI")
CONTRACT_PORT = 443
ADDRESS_BYTES = 128

_libc = ctypes.CDLL(None, use_errno=True)


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


def _filter(machine: str) -> bytes:
    """The BPF program: bind(2) is asked about, all else allowed."""
    architecture, bind, _ = MACHINES[machine]
    instructions = [
        (LOAD, 0, 0, 4),
        (JUMP_EQUAL, 0, 3, architecture),
        (LOAD, 0, 0, 0),
        (JUMP_EQUAL, 0, 1, bind),
        (RETURN, 0, 0, RET_USER_NOTIF),
        (RETURN, 0, 0, RET_ALLOW),
    ]
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in instructions)


def install(channel: socket.socket) -> None:
    """In the process that will exec the server: install the filter, send its listener through `channel`.

    Raises OSError where the kernel or the machine has no such thing.
    """
    machine = platform.machine()
    if machine not in MACHINES:
        raise OSError(errno.ENOSYS, f"no seccomp filter for {machine}")
    text = _filter(machine)
    program = _Program(len(text) // 8, text)
    _libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    listener = _libc.syscall(
        MACHINES[machine][2], SET_MODE_FILTER, NEW_LISTENER, ctypes.byref(program)
    )
    if listener < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"seccomp: {os.strerror(code)}")
    socket.send_fds(channel, [b"l"], [listener])
    os.close(listener)


def redirected(address: bytes, port: int) -> bytes | None:
    """The socket address with `port` instead of 443; None if it is no Internet address with 443."""
    if len(address) < 4:
        return None
    family = int.from_bytes(address[:2], "little")
    if family not in (socket.AF_INET, socket.AF_INET6):
        return None
    if int.from_bytes(address[2:4], "big") != CONTRACT_PORT:
        return None
    return address[:2] + port.to_bytes(2, "big") + address[4:]


def _leader(thread: int) -> int:
    """The process of a thread."""
    for line in Path(f"/proc/{thread}/status").read_text().splitlines():
        if line.startswith("Tgid:"):
            return int(line.split()[1])
    return thread


def _bind_for(pid: int, descriptor: int, address: bytes) -> int:
    """bind(2) on a descriptor of another process; returns 0 or a negative errno."""
    handle = os.pidfd_open(_leader(pid))
    try:
        mine = _libc.syscall(PIDFD_GETFD, handle, descriptor, 0)
        if mine < 0:
            return -ctypes.get_errno()
        with socket.socket(fileno=mine):
            return -ctypes.get_errno() if _libc.bind(mine, address, len(address)) else 0
    finally:
        os.close(handle)


def _answer(notice: bytes, port: int) -> bytes:
    identity, pid, _, _, _, _, descriptor, where, length, *_ = NOTICE.unpack(notice)
    with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
        address = os.pread(memory.fileno(), min(length, ADDRESS_BYTES), where)
    other = redirected(address, port)
    if other is None:
        return ANSWER.pack(identity, 0, 0, CONTINUE)
    return ANSWER.pack(identity, 0, _bind_for(pid, descriptor, other), 0)


def _watch(listener: int, port: int) -> None:
    while True:
        notice = bytearray(NOTICE.size)
        try:
            fcntl.ioctl(listener, RECEIVE, notice)
            fcntl.ioctl(listener, SEND, _answer(bytes(notice), port))
        except OSError as error:
            # ENOENT, ESRCH: the process that asked is gone.
            if error.errno not in (errno.ENOENT, errno.ESRCH, errno.EINTR):
                return


def watch(channel: socket.socket, port: int) -> None:
    """In the process that watches: answer for the filter whose listener comes through `channel`."""
    _, descriptors, _, _ = socket.recv_fds(channel, 1, 1)
    if descriptors:
        threading.Thread(target=_watch, args=(descriptors[0], port), daemon=True).start()
