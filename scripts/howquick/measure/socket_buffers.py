"""How large the kernel made the sockets' buffers of programs under test, whatever they asked for."""

from __future__ import annotations

import ctypes
import os
import socket
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

from howquick.guard.processes import members

# pidfd_getfd(2): the same number on every architecture; neither Python nor older C libraries have it.
PIDFD_GETFD = 438
# Sockets of a client are there only while it loads, and small loads take some milliseconds.
EVERY_S = 0.002
PATIENCE_S = 2.0
INTERNET = (socket.AF_INET, socket.AF_INET6)
BUFFERS = {"receive_bytes": socket.SO_RCVBUF, "send_bytes": socket.SO_SNDBUF}
_libc = ctypes.CDLL(None, use_errno=True)

Sizes = dict[str, int]


class SocketBuffers:
    """Looks at the Internet sockets of some process groups from now until `finish`.

    leaders: by the end's name, the leader of its process group. A look takes processor time: loads that are
    measured must have none.
    """

    def __init__(self, leaders: Mapping[str, int]) -> None:
        self._leaders = dict(leaders)
        self._found: dict[str, Sizes] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def finish(self) -> dict[str, Sizes]:
        """By end `{"receive_bytes", "send_bytes"}`: of each the largest at the last look that saw sockets.

        They are what getsockopt(2) tells: twice what was asked for where that was granted, for the kernel
        counts its own overhead (socket(7)). An end without sockets, or that may not be looked at, is missing.
        """
        self._over.set()
        self._thread.join(PATIENCE_S)
        return dict(self._found)

    def _look(self) -> None:
        while True:
            for end, leader in self._leaders.items():
                if sizes := buffers_of(leader):
                    self._found[end] = sizes
            if self._over.wait(EVERY_S):
                return


def buffers_of(leader: int) -> Sizes:
    """The largest buffers of the Internet sockets of a process group; empty where there are none."""
    sizes: Sizes = {}
    for process in members({leader}):
        for own in _sockets(process.pid):
            with own:
                if own.family in INTERNET:
                    for name, option in BUFFERS.items():
                        size = own.getsockopt(socket.SOL_SOCKET, option)
                        sizes[name] = max(size, sizes.get(name, 0))
    return sizes


def _sockets(pid: int) -> Iterator[socket.socket]:
    """Copies of a process's sockets; what it closes meanwhile is left out."""
    try:
        there = [fd for fd in Path(f"/proc/{pid}/fd").iterdir() if _is_socket(fd)]
        process = os.pidfd_open(pid)
    except OSError:
        return
    try:
        for fd in there:
            copy = _libc.syscall(PIDFD_GETFD, process, int(fd.name), 0)
            if copy >= 0:
                yield socket.socket(fileno=copy)
    finally:
        os.close(process)


def _is_socket(fd: Path) -> bool:
    try:
        return str(fd.readlink()).startswith("socket:")
    except OSError:
        return False
