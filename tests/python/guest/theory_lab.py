"""Programs of test_theory.py, run in a guest: one TCP connection, or one frame, over a link of its own."""

from __future__ import annotations

import socket
import threading
import time
from pathlib import Path

from howquick.calibrate import packets
from howquick.testbed.link import Link
from howquick.testbed.testbed import Testbed

PORT = 5201
CHUNK = 1 << 20
SERVER = "10.0.2.1"

MSS = 1448
FRAMES = (60, 600, 1514)
ROUNDS = 4
INITIAL_WINDOW = 10
# What fills four rounds of slow start.
SEGMENTS = INITIAL_WINDOW * (2**ROUNDS - 1)
FULL = 2_000_000
SLOW = Link(2, 40, 0, 200)
LONG = Link(50, 200, 0, 200)
LOSSY = Link(100, 100, 1, 200)


def delays(link: Link, sizes: tuple[int, ...], scratch: Path) -> list[float]:
    """One-way delay of single frames of these lengths, each after a pause, in seconds."""
    with Testbed(link, scratch=scratch) as bed:
        return [
            float(packets.send_train((bed.client, bed.server), size, 1, 1.5, 1.0).delay_s[0])
            for size in sizes
        ]


def download(link: Link, size: int, congestion_control: str, scratch: Path) -> dict[str, float]:
    """A server sends `size` bytes as soon as it has a connection; seconds since connect() began."""
    with Testbed(link, scratch=scratch) as bed:
        bed.set_congestion_control(congestion_control)
        bed.seed(up=1, down=2)
        with bed.server.entered():
            listener = socket.create_server((SERVER, PORT))
        with bed.client.entered():
            client = socket.socket()
        server = threading.Thread(target=_serve, args=(listener, size))
        server.start()
        begin = time.monotonic_ns()
        client.connect((SERVER, PORT))
        connected = time.monotonic_ns()
        received = 0
        while data := client.recv(CHUNK):
            received += len(data)
            last = time.monotonic_ns()
        server.join()
        client.close()
        listener.close()
        assert received == size
        return {"connected_s": (connected - begin) / 1e9, "last_s": (last - begin) / 1e9}


def _serve(listener: socket.socket, size: int) -> None:
    connection, _ = listener.accept()
    with connection:
        connection.sendall(bytes(size))


def frames_after_a_pause(scratch: Path) -> list[float]:
    return delays(SLOW, FRAMES, scratch)


def slow_start(scratch: Path) -> dict[str, float]:
    return download(LONG, SEGMENTS * MSS, "reno", scratch)


def full_link(scratch: Path) -> dict[str, float]:
    return download(SLOW, FULL, "cubic", scratch)


def lossy_link(scratch: Path) -> dict[str, float]:
    return download(LOSSY, FULL * 10, "reno", scratch)
