"""Labels of the packets that open a connection."""

from __future__ import annotations

import pytest

from howquick.extract.opening import quic_label

ID = b"\x08" + bytes(8)


def long_header(kind: int, length: int, token: bytes | None = None) -> bytes:
    first = bytes([0xC0 | kind << 4]) + b"\x00\x00\x00\x01" + ID + ID
    if token is not None:
        first += bytes([len(token)]) + token
    return first + (0x4000 | length).to_bytes(2, "big") + bytes(length)


INITIAL = long_header(0, 100, b"")
EARLY = long_header(1, 50)
HANDSHAKE = long_header(2, 70)
SHORT = b"\x40" + bytes(30)


@pytest.mark.parametrize(
    ("datagram", "label"),
    [
        (INITIAL, "Initial"),
        (long_header(0, 100, b"token"), "Initial"),
        (INITIAL + bytes(1000), "Initial"),
        (INITIAL + HANDSHAKE + SHORT, "Initial+Handshake+1-RTT"),
        (INITIAL + EARLY, "Initial+0-RTT"),
        (long_header(3, 20), "Retry"),
        (SHORT, "1-RTT"),
        (b"", "other"),
        (b"\x00\x01", "other"),
        (b"\xc0\x00", "Initial"),
    ],
)
def test_quic(datagram: bytes, label: str) -> None:
    assert quic_label(datagram, len(datagram)) == label


def test_a_captured_head_says_that_more_may_follow() -> None:
    whole = INITIAL + HANDSHAKE
    assert quic_label(whole[:80], len(whole)) == "Initial+…"
