"""A TCP forwarder that notes when a client connects and what it sends before it has heard anything."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator

from patience import HANG_S

TLS_APPLICATION_DATA = 23
HEADER_BYTES = 5


class Forwarder:
    """Forwards loopback connections from ``port`` to ``target`` and holds the first answer back.

    ``accepted`` holds the Unix time of each connection, ``unprompted`` the bytes each client sent
    before the first answer was let through.
    """

    def __init__(self, target: int, hold_s: float = 0.0) -> None:
        self._target = target
        self._hold_s = hold_s
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.accepted: list[float] = []
        self.unprompted: list[bytearray] = []

    def run(self) -> None:
        """Accept until the listener is closed."""
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self.accepted.append(time.time())
                server = socket.create_connection(("127.0.0.1", self._target))
                unprompted, answered = bytearray(), threading.Event()
                self.unprompted.append(unprompted)
                for work in (
                    lambda c=client, s=server, u=unprompted, a=answered: self._up(c, s, u, a),
                    lambda c=client, s=server, a=answered: self._down(s, c, a),
                ):
                    threading.Thread(target=work, daemon=True).start()

    def stop(self) -> None:
        """Accept no more connections."""
        # close() alone does not wake a thread that waits in accept().
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    @staticmethod
    def _up(
        client: socket.socket,
        server: socket.socket,
        unprompted: bytearray,
        answered: threading.Event,
    ) -> None:
        with contextlib.suppress(OSError):
            while data := client.recv(65536):
                if not answered.is_set():
                    unprompted += data
                server.sendall(data)
            server.shutdown(socket.SHUT_WR)

    def _down(
        self, server: socket.socket, client: socket.socket, answered: threading.Event
    ) -> None:
        with contextlib.suppress(OSError), client, server:
            while data := server.recv(65536):
                if not answered.is_set():
                    time.sleep(self._hold_s)
                    answered.set()
                client.sendall(data)


@contextlib.contextmanager
def forwarding(target: int, hold_s: float = 0.0) -> Iterator[Forwarder]:
    """Forward to port ``target`` for the time of a ``with`` block."""
    forwarder = Forwarder(target, hold_s)
    thread = threading.Thread(target=forwarder.run, daemon=True)
    thread.start()
    try:
        yield forwarder
    finally:
        forwarder.stop()
        thread.join(timeout=HANG_S)


def record_types(data: bytes | bytearray) -> list[int]:
    """Return the content types of the TLS records in ``data`` (RFC 8446, section 5.1)."""
    types, position = [], 0
    while position + HEADER_BYTES <= len(data):
        types.append(data[position])
        position += HEADER_BYTES + int.from_bytes(data[position + 3 : position + 5])
    return types
